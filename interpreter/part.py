"""Parts: what a delegate takes, and how its answer takes part in a program.

A delegate is any object with a `name`, with `parts(ops)`, which gives a Partition, and with
`compile(part)`, which gives `run(*inputs)`; flatlite.lite.Delegate is the base class to use.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

import numpy as np

from .node import Lost, Node, NodeError, Operand

Run = Callable[..., Sequence[Any]]


class Partition(NamedTuple):
    """What a delegate answers when it is shown operators.

    Attributes:
        groups: the operators of each part.
        reasons: index of every other operator -> a sentence that says why it is in no part.
    """

    groups: Sequence[Sequence[Node]]
    reasons: dict[int, str]


class Part:
    """Operators that a delegate runs as one step.

    Attributes:
        ops: the Nodes, in an order in which they can run.
        inputs: the Operands from outside whose values are known only when the model runs.
        outputs: the Operands that somebody outside needs.
        constants: the Operands whose values are known beforehand.
        delegate: whose part it is.
        number: counted from 0 among the parts of a stage.
        name: of the delegate and its number.
        index: of the first operator.
        read: the inputs that come from host memory.
        copied: the outputs that go to host memory.
        shared: the outputs that other parts of the same delegate take as the delegate gave them.
    """

    kind = "DELEGATE"
    caller = None  # subgraphs that join their caller's program have no parts

    def __init__(self, delegate: Any, number: int, ops: Sequence[Node], needed: Collection[int]):
        self.delegate = delegate
        self.number = number
        self.ops = tuple(sorted(ops, key=lambda op: op.index))
        self.index = self.ops[0].index
        self.name = f"{delegate.name} {number}"
        made = dict.fromkeys(result for op in self.ops for result in op.results)
        read = dict.fromkeys(x for op in self.ops for x in op.inputs if x is not None)
        self.inputs = [x for x in read if x.value is None and x not in made]
        self.outputs = [x for x in made if id(x) in needed]
        self.constants = [x for x in read if x.value is not None]
        self.stateful = any(op.stateful for op in self.ops)
        self.read: list[Operand] = []
        self.copied: list[Operand] = []
        self.shared: list[Operand] = []

    @property
    def results(self) -> list[Operand]:
        """The outputs, under the name they have in a Node."""
        return self.outputs


class Handed:
    """What the parts of a stage hand on to one another without a way through host memory.

    Attributes:
        values: Operand -> what its delegate gave.
        steps: the steps of all parts.
    """

    def __init__(self):
        self.values: dict[Operand, Any] = {}
        self.steps: list[PartStep] = []


class PartStep:
    """A part as a Python step of a program: step(*arrays of part.read, *arrays of part.copied).

    Args:
        part: the part.
        run: what its delegate compiled.
        handed: shared by all steps of a stage.
        engine: gives a function like `run` that the CPU executes, for when `run` fails.
    """

    def __init__(self, part: Part, run: Run, handed: Handed, engine: Callable[[Part], Run]):
        self.part = part
        self._run = run
        self._handed = handed
        self._engine = engine
        self._delegated = True
        handed.steps.append(self)

    def __call__(self, *arrays: np.ndarray) -> None:
        """Runs the part; on the CPU from the first failure on.

        Raises Lost, with all parts of the delegate given to the CPU, when that needs a result
        that the delegate can no longer give: the stage has to run from its start.
        """
        part = self.part
        for array in arrays[: len(part.read)]:
            array.flags.writeable = False
        values = dict(zip(part.read, arrays, strict=False))
        inputs = [values[x] if x in values else self._handed.values[x] for x in part.inputs]
        if self._delegated:
            try:
                self._put(self._run(*inputs), arrays)
                return
            except Exception as error:  # a delegate is foreign code, whatever it raises
                failure = failure_of(part.delegate, part, "run", error)
            take_over(part.delegate, failure)
            self.withdraw()
        try:
            inputs = [np.asarray(x) for x in inputs]
        except Exception as error:  # as above
            for step in self._handed.steps:
                if step.part.delegate is part.delegate:
                    step.withdraw()
            raise Lost(
                f"delegate '{part.delegate.name}' has lost results: {error}", part
            ) from error
        self._put(self._run(*inputs), arrays)

    def withdraw(self) -> None:
        """Gives the part to the CPU."""
        if self._delegated:
            self._delegated = False
            self._run = self._engine(self.part)

    def _put(self, results: Sequence[Any], arrays: Sequence[np.ndarray]) -> None:
        """Stores the results of a run: in the arrays, and as they are for other parts."""
        part, n = self.part, len(self.part.read)
        if len(results) != len(part.outputs):
            raise ValueError(f"it gave {len(results)} results, must give {len(part.outputs)}")
        given = dict(zip(part.outputs, results, strict=True))
        for operand, result in given.items():
            if tuple(result.shape) != operand.shape or result.dtype != operand.dtype:
                raise ValueError(
                    f"'{operand.name}' must be {operand.dtype} {operand.shape}, "
                    f"got {result.dtype} {tuple(result.shape)}"
                )
        for operand, array in zip(part.copied, arrays[n:], strict=True):
            array[...] = np.asarray(given[operand])
        for operand in part.shared:
            result = given[operand]
            if isinstance(result, np.ndarray) and any(
                np.may_share_memory(result, array) for array in arrays[:n]
            ):
                result = result.copy()  # the program uses its inputs' memory again
            self._handed.values[operand] = result


def take_over(delegate: Any, failure: NodeError) -> None:
    """Warns that the CPU runs what a delegate could not, or raises if the delegate wants that."""
    if not getattr(delegate, "fallback", True):
        raise failure
    warnings.warn(f"{failure}; the CPU runs its operators", RuntimeWarning, stacklevel=2)


def failure_of(delegate: Any, part: Part | None, verb: str, error: Exception) -> NodeError:
    """What to say when a delegate failed to compile or run a part, or to choose its parts."""
    what = "" if part is None else f" part {part.number} ({counted(len(part.ops), 'operator')})"
    text = f"delegate '{delegate.name}' failed to {verb}{what}: {type(error).__name__}: {error}"
    failure = NodeError(text, part)
    failure.__cause__ = error
    return failure


def counted(n: int, what: str) -> str:
    """A number and what it counts."""
    return f"{n} {what}" if n == 1 else f"{n} {what}s"
