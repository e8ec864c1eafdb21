"""Indices of scatter_nd for updates whose leading dimensions are those of the variable."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..core.build import ops
from ..core.create import convert_to_tensor

if TYPE_CHECKING:
    from ..core.graph import Tensor
    from ..core.typing import TensorLike


def batch_positions(indices: TensorLike) -> Tensor:
    """(i, ..., indices[i, ..., j]) for each element of `indices`: shape [*indices.shape, rank].

    Raises ValueError when the rank of `indices` is not known.
    """
    last_axis = convert_to_tensor(indices, name="indices")
    if last_axis.sizes is None:
        raise ValueError("batch_gather does not allow indices with unknown shape.")
    rank, sizes = len(last_axis.sizes), ops.Shape(last_axis)
    last = ops.ExpandDims(last_axis, np.int32(-1))
    columns: list[Tensor] = []
    for axis in range(rank - 1):
        size = ops.StridedSlice(sizes, [axis], [axis + 1], [1], shrink_axis_mask=1)
        shape: list[TensorLike] = [1] * (rank + 1)
        shape[axis] = size
        numbers = ops.Reshape(ops.Range(np.int32(0), size, np.int32(1)), shape)
        if numbers.dtype != last.dtype:
            numbers = ops.Cast(numbers, DstT=last.dtype)
        columns.append(ops.Mul(numbers, ops.OnesLike(last)))
    return ops.ConcatV2([*columns, last], np.int32(-1)) if columns else last
