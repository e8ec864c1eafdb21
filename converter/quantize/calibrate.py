"""The range each tensor takes while the float model runs on the representative dataset."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...schema.errors import CalibrationError
from ..ir.graph import Tensor
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
) -> list[dict[Tensor, Range]]:
    """The range of each float32 tensor that is not constant, for each function.

    Args:
        functions: what to run: the functions of one float flatbuffer.
        tensors: the IR tensors behind the tensor indices of each function.
        samples: (number of the function, what to call the sample, arrays in input order).
        advance: called after each sample.
        calibrator: what makes a range of the values.

    Raises CalibrationError, naming sample and tensor, when a value is not finite.
    """
    observers: list[dict[Tensor, Observer]] = [{} for _ in functions]
    observed = [
        [
            (k, tensor)
            for k, tensor in enumerate(row)
            if is_float32(tensor) and not tensor.is_constant
        ]
        for row in tensors
    ]
    interpreter = functions[0].interpreter(preserve=True)
    for i, label, arrays in samples:
        functions[i].run(interpreter, arrays)
        for index, tensor in observed[i]:
            array = interpreter.get_tensor(index, functions[i].subgraph)
            low, high = value_range(array, tensor, label)
            if tensor not in observers[i]:
                observers[i][tensor] = calibrator.observer()
            observers[i][tensor].add(array, low, high)
        advance()
    return [{tensor: seen.range() for tensor, seen in row.items()} for row in observers]


def value_range(array: np.ndarray, tensor: Tensor, label: str) -> tuple[float, float]:
    """The smallest and the largest element of a tensor after a run."""
    if not array.size:
        return 0.0, 0.0
    low, high = float(array.min()), float(array.max())
    if not (np.isfinite(low) and np.isfinite(high)):
        kind = tensor.producer.kind if tensor.producer is not None else "input"
        raise CalibrationError(
            f"{label}: {kind} '{tensor.name}' must stay finite, got values from {low} to {high}; "
            "is the sample preprocessed as in training, or does the float model divide by zero?"
        )
    return low, high
