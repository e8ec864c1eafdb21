"""Where the time of an invoke goes, operator by operator."""

from __future__ import annotations

from statistics import median
from typing import NamedTuple

from .interpreter import Interpreter


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
    runs = [interpreter._profiled() for _ in range(repeats)]
    return [
        OperatorTime(position, kind, name, median(run.get(key, 0.0) for run in runs))
        for key in runs[-1]
        for position, kind, name in [key]
    ]
