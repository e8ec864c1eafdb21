"""The times of a Session's runs, operation by operation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...engine.run.times import OperatorTime, Times
from ..core.graph import Operation
from .delegated import DelegatedPart

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...engine.run.times import Run
    from .delegated import Step
    from .executor import Times as RunTimes


def by_operation(times: RunTimes, positions: Mapping[Step, int]) -> Run:
    """The sums of the times of each operation's instructions and steps, in the order they ran."""
    run: Run = {}
    for op, seconds in times:
        if isinstance(op, (Operation, DelegatedPart)):
            key = positions.get(op, -1), op.type, op.name
            run[key] = run.get(key, 0.0) + seconds
    return run


def recorded(times: Times | None) -> list[OperatorTime]:
    """The operations of all runs with the medians of what they took in the runs they are of.

    Raises RuntimeError when no run was timed.
    """
    if not times:
        raise RuntimeError(
            "no run was timed yet: make the session with profile=True and run something"
        )
    seconds: dict[tuple[int, str, str], list[float]] = {}
    for run in times:
        for key, amount in run.items():
            seconds.setdefault(key, []).append(amount)
    return [OperatorTime(*key, float(np.median(amounts))) for key, amounts in seconds.items()]
