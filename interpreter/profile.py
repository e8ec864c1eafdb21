"""Where the time of an invoke goes, operator by operator."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from typing import TypeAlias

    from .interpreter import Interpreter
    from .node import Node
    from .partition import Partition

    Run: TypeAlias = dict[tuple[int, str, str], float]
    """Seconds by (position, kind, name) of the operators that ran."""

MOST_RUNS = 1000


class OperatorTime(NamedTuple):
    """Seconds one operator takes.

    Attributes:
        position: where the operator stands in the model.
        kind: its name in the schema, or the custom code.
        name: name of its first output.
        seconds: median over the repeated runs.
    """

    position: int
    kind: str
    name: str
    seconds: float


def profile(interpreter: Interpreter, repeats: int = 1) -> list[OperatorTime]:
    """Runs an allocated interpreter `repeats` times and times its operators.

    Operators that were folded when the model was prepared, and those that only change a shape, do
    not run and are not listed. Subgraphs count for the operator that calls them. Elementwise
    operators that `invoke` runs together, a piece of each at a time, run one after the other here.

    Raises RuntimeError as `Interpreter.invoke` does.
    """
    if repeats < 1:
        raise ValueError(f"repeats must be at least 1, got {repeats}")
    return medians([interpreter._profiled() for _ in range(repeats)])


class Times(deque["Run"]):
    """The times of the last invokes."""

    def __init__(self) -> None:
        super().__init__(maxlen=MOST_RUNS)


def recorded(times: Times | None) -> list[OperatorTime]:
    """The operators with the medians of what invokes took; raises RuntimeError without any."""
    if not times:
        raise RuntimeError(
            "no invoke was timed yet: make the interpreter with profile=True and invoke it, or "
            "call profile(repeats)"
        )
    return medians(times)


def by_operator(times: Iterable[tuple[Node | Partition, float]]) -> Run:
    """The sums of the times of each operator's instructions and steps, in the order they ran."""
    run: Run = {}
    for node, seconds in times:
        key = node.index, node.kind, node.name
        run[key] = run.get(key, 0.0) + seconds
    return run


def medians(runs: Sequence[Run]) -> list[OperatorTime]:
    """The operators of the last run, with the medians of their times in all."""
    return [
        OperatorTime(*key, float(np.median([run.get(key, 0.0) for run in runs])))
        for key in runs[-1]
    ]
