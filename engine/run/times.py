"""Times of operators: those of each run, and their medians."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from typing import TypeAlias

    Run: TypeAlias = dict[tuple[int, str, str], float]
    """Seconds by (position, kind, name) of the operators that ran."""

MOST_RUNS = 1000


class OperatorTime(NamedTuple):
    """Seconds one operator takes.

    Attributes:
        position: where the operator stands in the model, or in the run of a Session.
        kind: its name in the schema, its type in a graph, or the custom code.
        name: name of its first output, or its own in a graph.
        seconds: median over the repeated runs.
    """

    position: int
    kind: str
    name: str
    seconds: float


class Times(deque["Run"]):
    """The times of the last runs."""

    def __init__(self) -> None:
        super().__init__(maxlen=MOST_RUNS)


def medians(runs: Sequence[Run]) -> list[OperatorTime]:
    """The operators of the last run, with the medians of their times in all."""
    return [
        OperatorTime(*key, float(np.median([run.get(key, 0.0) for run in runs])))
        for key in runs[-1]
    ]
