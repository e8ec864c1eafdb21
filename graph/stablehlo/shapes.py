"""Types of the values of a module as arrays have them."""

from __future__ import annotations

import numpy as np

from ...schema.errors import ConverterError
from ...schema.mlir.module import TensorType, Value
from ...schema.mlir.vhlo import dtype_of


def dtype_at(value: Value) -> np.dtype:
    """The dtype of a value; ConverterError for one that tensors cannot have."""
    dtype = dtype_of(value.type.element) if isinstance(value.type, TensorType) else None
    if dtype is None:
        raise ConverterError(f"StableHLO's type {value.type} has no form in TFLite")
    return dtype


def shape_at(value: Value) -> tuple[int | None, ...]:
    """The sizes of a value, None for unknown ones."""
    shape = value.type.shape if isinstance(value.type, TensorType) else None
    if shape is None:
        raise ConverterError(f"StableHLO's type {value.type} must have a known rank")
    return shape
