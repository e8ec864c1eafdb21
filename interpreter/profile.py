"""Where the time of an invoke goes, operator by operator."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral
from typing import TYPE_CHECKING

from ..engine.run.times import OperatorTime, Times, medians

if TYPE_CHECKING:
    from ..engine.run.times import Run
    from .delegation.partition import Partition
    from .interpreter import Interpreter
    from .plan.node import Node


def profile(interpreter: Interpreter, repeats: int = 1) -> list[OperatorTime]:
    """Runs an allocated interpreter `repeats` times and times its operators.

    Operators that were folded when the model was prepared, and those that only change a shape, do
    not run and are not listed. Subgraphs count for the operator that calls them. Elementwise
    operators that `invoke` runs together, a piece of each at a time, run one after the other here.

    Raises RuntimeError as `Interpreter.invoke` does, TypeError for what is no integer, ValueError
    for none above 0.
    """
    if isinstance(repeats, bool) or not isinstance(repeats, Integral):
        raise TypeError(f"repeats must be an integer, got {repeats!r}")
    if repeats < 1:
        raise ValueError(f"repeats must be at least 1, got {repeats}")
    return medians([interpreter._profiled() for _ in range(repeats)])


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
