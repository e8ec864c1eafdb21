"""The range each tensor takes while the float model runs on the representative dataset."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...interpreter.plan.observation import HIGH, LOW, SEEN, observe_ranges
from ...schema.errors import CalibrationError
from ..callers import caller
from ..ir.graph import Tensor
from .calibration_workers import Workers
from .rules import is_float32
from .statistics import MINMAX, Calibrator, Observer

if TYPE_CHECKING:
    from ..api.samples import Sample
    from ..verify.verification import Function
    from .ranges import Range


def calibrate(
    functions: Sequence[Function],
    tensors: Sequence[Sequence[Tensor]],
    samples: Iterable[Sample],
    advance: Callable[[], None] = lambda: None,
    calibrator: Calibrator = MINMAX,
    n_workers: int = 1,
) -> list[dict[Tensor, Range]]:
    """The range of each float32 tensor that is not constant, for each subgraph.

    The model measures its tensors itself, those of loops and branches in every iteration. What no
    sample came to has no range.

    Args:
        functions: what to run: the functions of one float flatbuffer.
        tensors: the IR tensors behind the tensor indices of each subgraph; those of the functions
            come first, then those that are called.
        samples: (number of the function, what to call the sample, arrays in input order).
        advance: called after each sample.
        calibrator: what makes a range of the values.
        n_workers: how many processes run the model, this one among them; the ranges are the same.

    Raises CalibrationError, naming sample and tensor, when a value is not finite.
    """
    reason = reason_for_one_process(tensors, calibrator)
    if n_workers > 1 and reason:
        warnings.warn(
            f"calibration_workers: one process calibrates, as {reason}", stacklevel=caller()
        )
    n_processes = 1 if reason else n_workers
    interpreter = functions[0].interpreter()
    observation = observe_ranges(interpreter, calibrator.takes_histograms)
    accumulates = calibrator.is_cumulative and n_processes == 1
    measured = [
        Measured(observation.rows(i), row, calibrator, accumulates) for i, row in enumerate(tensors)
    ]

    def run(sample: Sample) -> np.ndarray:
        i, _, arrays = sample
        if not accumulates:
            observation.table[...] = 0
        functions[i].run(interpreter, arrays)
        return observation.table

    with Workers(n_processes - 1, functions) as workers:
        for label, table in workers.measure(samples, run):
            if table is not observation.table:
                observation.table[...] = table
            for subgraph in measured:
                subgraph.add(label)
            advance()
    return [subgraph.ranges() for subgraph in measured]


def reason_for_one_process(tensors: Sequence[Sequence[Tensor]], calibrator: Calibrator) -> str:
    """Why samples must be run one after the other; empty where they need not."""
    if calibrator.takes_histograms:
        return "it counts values in one histogram"
    everything = [tensor for row in tensors for tensor in row]
    if any(tensor.is_variable for tensor in everything):
        return "the model keeps something from sample to sample"
    if any(t.producer is not None and t.producer.kind == "CUSTOM" for t in everything):
        return "custom operators are known in this one only"
    return ""


class Measured:
    """What was measured of the tensors of one subgraph.

    Args:
        table: the rows of its tensors, filled by each run.
        tensors: the IR tensors behind the tensor indices.
        calibrator: what makes a range of the values.
        accumulates: whether the table goes on from sample to sample.
    """

    def __init__(
        self,
        table: np.ndarray,
        tensors: Sequence[Tensor],
        calibrator: Calibrator,
        accumulates: bool,
    ) -> None:
        self._tensors = {
            index: tensor
            for index, tensor in enumerate(tensors)
            if is_float32(tensor) and not tensor.is_constant
        }
        self._table, self._indices = table, np.array([*self._tensors], int)
        self._observers: dict[int, Observer] = {}
        self._calibrator, self._accumulates = calibrator, accumulates

    def add(self, label: str) -> None:
        """Takes what the run on a sample has measured."""
        is_finite = np.isfinite(self._table[self._indices, LOW : HIGH + 1]).all(1)
        if not is_finite.all():
            self._refuse(int(self._indices[~is_finite][0]), label)
        if not self._accumulates:
            self._observe()

    def _observe(self) -> None:
        for index in self._indices[self._table[self._indices, SEEN] > 0].tolist():
            if index not in self._observers:
                self._observers[index] = self._calibrator.observer()
            self._observers[index].add(self._table[index])

    def _refuse(self, index: int, label: str) -> None:
        tensor, (low, high) = self._tensors[index], self._table[index, LOW : HIGH + 1].tolist()
        kind = tensor.producer.kind if tensor.producer is not None else "input"
        raise CalibrationError(
            f"{label}: {kind} '{tensor.name}' must stay finite, got values from {low} to {high}; "
            "is the sample preprocessed as in training, or does the float model divide by zero?"
        )

    def ranges(self) -> dict[Tensor, Range]:
        """The ranges of those that were seen."""
        if self._accumulates:
            self._observe()
        return {self._tensors[i]: observer.range() for i, observer in self._observers.items()}
