"""TF1's changes of dtype."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..build import ops
from ..create import convert_to_tensor
from ..graph import Tensor
from ..indexed_slices import IndexedSlices
from ..scopes import name_scope
from .rows import functions

ONE_TO_ONE = """
bitcast             Bitcast          input type
"""
globals().update(functions(ONE_TO_ONE, __name__))


def cast(x, dtype, name=None) -> Any:
    """`x` in another dtype; `x` itself when it has that one already."""
    dtype = np.dtype(dtype)
    if isinstance(x, IndexedSlices):
        return IndexedSlices(cast(x.values, dtype, name), x.indices, x.dense_shape)
    if isinstance(x, Tensor) and x.dtype == dtype:
        return x
    with name_scope(name, "Cast", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        return x if x.dtype == dtype else ops.Cast(x, DstT=dtype, name=scope)


def _cast_to(dtype, default: str, own_name: str):
    def function(x, name=default):
        return cast(x, dtype, name)

    function.__name__ = function.__qualname__ = own_name
    function.__doc__ = f"`x` as {np.dtype(dtype).name}."
    return function


to_float = _cast_to(np.float32, "ToFloat", "to_float")
to_double = _cast_to(np.float64, "ToDouble", "to_double")
to_int32 = _cast_to(np.int32, "ToInt32", "to_int32")
to_int64 = _cast_to(np.int64, "ToInt64", "to_int64")


def saturate_cast(value, dtype, name=None) -> Tensor:
    """`value` in another dtype, held within its range."""
    with name_scope(name, "saturate_cast", [value]) as scope:
        value, dtype = convert_to_tensor(value, name="value"), np.dtype(dtype)
        if dtype.kind in "iu" and value.dtype.kind in "iuf":
            low, high = _limits_within(value.dtype, np.iinfo(dtype))
            with name_scope("clamp"):
                value = ops.Maximum(ops.Minimum(value, high), low)
        return cast(value, dtype, scope)


def _limits_within(dtype: np.dtype, limits) -> tuple:
    """The range of an integer type as numbers of `dtype` that lie within it."""
    if dtype.kind in "iu":
        own = np.iinfo(dtype)
        return dtype.type(max(own.min, limits.min)), dtype.type(min(own.max, limits.max))
    high = dtype.type(limits.max)
    if int(high) > limits.max:
        high = np.nextafter(high, dtype.type(0))
    return dtype.type(limits.min), high
