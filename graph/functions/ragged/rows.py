"""Rows of ragged tensors: their numbers and lengths, and dimensions of size 1 around them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...core.build import ops
from ...core.composite.ragged_tensor import RaggedTensor
from ...core.composite.row_partition import RowPartition, checked, counted
from ...core.graph import Tensor

if TYPE_CHECKING:
    from ...core.typing import DTypeLike

_ZERO = np.int32(0)


def positions(partition: RowPartition, starts: Tensor) -> Tensor:
    """For rows that begin at `starts` among other values: where each of their values is there."""
    return ops.AddV2(ops.GatherV2(starts, partition.rowids(), _ZERO), partition.columns())


def of_lengths(lengths: Tensor) -> RowPartition:
    """Rows of these lengths."""
    dtype = np.dtype(lengths.dtype)
    splits = ops.ConcatV2([np.zeros(1, dtype), ops.Cumsum(lengths, _ZERO)], _ZERO)
    return RowPartition(splits, lengths=lengths)


def numbers(x: Tensor | RaggedTensor, dtype: DTypeLike = np.int64) -> Tensor:
    """0, 1, ... for the rows of a tensor."""
    if isinstance(x, RaggedTensor):
        return counted(x.rows.nrows(dtype))
    return counted(ops.Cast(size_along(x, 0), DstT=np.dtype(dtype)))


def size_along(x: Tensor, axis: int) -> Tensor:
    """The size of a dimension, in int64."""
    sizes = ops.Shape(x, out_type=np.dtype(np.int64))
    return ops.StridedSlice(sizes, [axis], [axis + 1], [1], shrink_axis_mask=1)


def long(x: Tensor) -> Tensor:
    """Numbers in int64."""
    return x if x.dtype == np.int64 else ops.Cast(x, DstT=np.dtype(np.int64))


def expanded(x: Tensor | RaggedTensor, axis: int) -> Tensor | RaggedTensor:
    """A dimension of size 1 before `axis`, which is not negative."""
    if isinstance(x, Tensor):
        return ops.ExpandDims(x, np.int32(axis))
    if axis > 1:
        return x.with_values(expanded(x.values, axis - 1))
    count, one = x.rows.nrows(), x.rows.dtype.type(1)
    length, n = (count, one) if axis == 0 else (one, count)
    return RaggedTensor.from_uniform_row_length(x, length, n, validate=False)


def squeezed(x: Tensor | RaggedTensor, axis: int) -> Tensor | RaggedTensor:
    """Without a dimension of size 1."""
    if isinstance(x, Tensor):
        return ops.Squeeze(x, squeeze_dims=[axis])
    if axis > 1:
        return x.with_values(squeezed(x.values, axis - 1))
    one = x.rows.dtype.type(1)
    sizes = ops.ExpandDims(x.rows.nrows(), _ZERO) if axis == 0 else x.rows.lengths()
    are_one = ops.All(ops.Equal(sizes, one), _ZERO)
    words = f"Expected size of dimension {axis} to be 1"
    values = x.values
    if isinstance(values, Tensor):
        return checked(values, [are_one], words)
    return values.with_flat_values(checked(values.flat_values, [are_one], words))
