"""Runs passes over a graph until none of them changes anything."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from time import perf_counter
from typing import NamedTuple

from ...schema.errors import ConverterError, noted
from ..ir.graph import Graph, Op

Change = Callable[[Graph, Op], bool]
Pass = Callable[[Graph], int]
"""What takes a graph and gives the number of its changes; those of one op are Rewrites."""
FAULTS = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""Errors of Python's, which are ours where a pass raises them."""

ROUNDS = 32
"""More rounds than any model needs: every round but the last makes the graph simpler."""


class Run(NamedTuple):
    """One run of a pass over one graph."""

    name: str
    graph: Graph
    changes: int
    seconds: float


Observer = Callable[[Run], None]


class PassStatistics(NamedTuple):
    """What a pass did in one conversion: how often it ran, what it changed, and for how long."""

    runs: int = 0
    changes: int = 0
    seconds: float = 0.0

    def after(self, run: Run) -> PassStatistics:
        """These and one more run."""
        return PassStatistics(self.runs + 1, self.changes + run.changes, self.seconds + run.seconds)


class Rewrite:
    """A pass that changes the graph around one op at a time.

    Called with a graph, it looks at all ops of its kinds in the order of the graph, those that are
    added meanwhile excepted, and gives the number of changes.

    Attributes:
        kinds: the ops it looks at; empty for all.
        change: changes the graph around one op, and says whether it did.
    """

    def __init__(self, change: Change, kinds: Collection[str]) -> None:
        self.kinds = frozenset(kinds)
        self.change = change
        self.__name__ = change.__name__
        self.__doc__ = change.__doc__

    def __call__(self, graph: Graph) -> int:
        """The number of changes made to a graph; raises ConverterError naming the op at fault."""
        count, op = 0, None
        try:
            for op in [op for op in graph.ops if not self.kinds or op.kind in self.kinds]:
                if _is_fixed(op):
                    continue
                count += self.change(graph, op)
        except FAULTS as error:
            raise fault(
                self.__name__, f" at {op.kind} '{op.origin}'" if op else "", error
            ) from error
        return count


def _is_fixed(op: Op) -> bool:
    """Whether an op was removed, or writes a variable, which no other tensor can stand for."""
    is_removed = bool(op.outputs) and op.outputs[0].producer is not op
    return is_removed or any(tensor.is_variable for tensor in op.outputs)


def rewrite(*kinds: str) -> Callable[[Change], Rewrite]:
    """Makes a pass of a function that changes the graph around an op, and says whether it did.

    Args:
        kinds: the ops it is called with; all where none are given.
    """
    return lambda change: Rewrite(change, kinds)


def run_until_settled(
    graph: Graph, passes: Sequence[Pass], observer: Observer | None = None
) -> None:
    """Runs passes in their order, again and again, until each has seen what the others left."""
    unchanged, kinds = 0, _kinds(graph)
    for _ in range(ROUNDS):
        for pass_ in passes:
            if unchanged == len(passes):
                return
            changes = 0
            pass_kinds = pass_.kinds if isinstance(pass_, Rewrite) else ()
            if not pass_kinds or not kinds.isdisjoint(pass_kinds):
                changes = run_once(graph, [pass_], observer)
            unchanged = 0 if changes else unchanged + 1
            kinds = _kinds(graph) if changes else kinds


def run_once(graph: Graph, passes: Iterable[Pass], observer: Observer | None = None) -> int:
    """Runs passes in their order; gives the number of changes."""
    total = 0
    for pass_ in passes:
        start = perf_counter()
        try:
            changes = pass_(graph)
        except ConverterError as error:
            raise noted(error, f"(in the pass {pass_.__name__})") from error.__cause__
        except FAULTS as error:
            raise fault(pass_.__name__, "", error) from error
        total += changes
        if observer is not None:
            observer(Run(pass_.__name__, graph, changes, perf_counter() - start))
    return total


def fault(name: str, location: str, error: Exception) -> ConverterError:
    """What is said of an error in a pass, which is ours."""
    return ConverterError(
        f"internal error in the pass {name}{location} ({type(error).__name__}: {error}); "
        "please report it"
    )


def _kinds(graph: Graph) -> set[str]:
    return {op.kind for op in graph.ops}
