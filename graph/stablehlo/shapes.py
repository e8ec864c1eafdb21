"""Types of the values of a module as arrays have them."""

from __future__ import annotations

import numpy as np

from ...schema.errors import ConverterError, ModelError
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


def known_shape_at(value: Value) -> tuple[int, ...]:
    """The sizes of a value; ModelError where one is not known."""
    shape = shape_at(value)
    sizes = tuple(n for n in shape if n is not None)
    if len(sizes) != len(shape):
        raise ModelError(f"StableHLO's type {value.type} must have known sizes")
    return sizes
