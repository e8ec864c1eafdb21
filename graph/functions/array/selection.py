"""TF1's functions that choose elements: by strides, the different ones, the largest."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...core.build import ops
from ...core.graph import Tensor
from ...core.named_results import with_names
from .creation import ones_like

if TYPE_CHECKING:
    from ...core.typing import DTypeLike, TensorLike
    from ...variables.variables import Variable


def strided_slice(
    input_: TensorLike,
    begin: TensorLike,
    end: TensorLike,
    strides: TensorLike | None = None,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
    var: Variable | None = None,
    name: str | None = None,
) -> Tensor:
    """The elements from `begin` to `end` in `strides`; bits of the masks say what is left out.

    Args:
        input_: Of any type and shape.
        begin, end, strides: Vectors of int32 or int64 of one length, a number for each dimension
            from the first on; negative numbers count from the end. Strides are 1 by default and
            never 0.
        begin_mask, end_mask: Bit i set: dimension i from its start, or to its end.
        ellipsis_mask: The one bit that stands for all dimensions not named.
        new_axis_mask: Bit i set: a dimension of size 1 is put there.
        shrink_axis_mask: Bit i set: the element at `begin` alone, without the dimension.
        var: The variable that `assign` of the result sets a part of.
        name: Of the operation.

    Raises ValueError where lengths are known to differ, or a stride is 0.
    """
    return ops.StridedSlice(
        input_,
        begin,
        end,
        ones_like(begin) if strides is None else strides,
        begin_mask=begin_mask,
        end_mask=end_mask,
        ellipsis_mask=ellipsis_mask,
        new_axis_mask=new_axis_mask,
        shrink_axis_mask=shrink_axis_mask,
        name=name,
    )


@with_names("Unique")
def unique(x: TensorLike, out_idx: DTypeLike = np.int32, name: str | None = None) -> list[Tensor]:
    """The different elements of a vector in order, and for each element which of them it is.

    Args:
        x: [n], of any type.
        out_idx: The type of the places, int32 or int64.
        name: Of the operation.

    Returns two tensors: [m] of type x, the elements as they first come, and [n], the place of each
    element of `x` among these.
    """
    return ops.Unique(x, out_idx=out_idx, name=name)


@with_names("ListDiff")
def setdiff1d(
    x: TensorLike, y: TensorLike, index_dtype: DTypeLike = np.int32, name: str | None = None
) -> list[Tensor]:
    """The elements of `x` that are not in `y`, in their order, and where they stand in `x`.

    Args:
        x: [n], of any type; what comes twice stays twice.
        y: [m], of the same type.
        index_dtype: Of the places, int32 or int64.
        name: Of the operation.

    Returns a named tuple of `out` and `idx`, [k] each. Raises ValueError for another rank.
    """
    return ops.ListDiff(x, y, out_idx=index_dtype, name=name)


def top_k(
    input: TensorLike,
    k: TensorLike = 1,
    sorted: bool = True,
    index_type: DTypeLike = np.int32,
    name: str | None = None,
) -> TopKV2:
    """The `k` largest elements of each row, and where they stand, as `index_type`.

    Args:
        input: [..., n], numbers.
        k: From 0 to n, a scalar.
        sorted: Whether the largest comes first.
        index_type: The type of the places, int32 or int64; of equal elements the first counts.
        name: Of the operation.

    Returns a named tuple of `values` and `indices`, [..., k] each.

    Raises InvalidArgumentError or ValueError where a row has fewer than `k` elements.
    """
    attrs = {"sorted": sorted, "index_type": index_type}
    return TopKV2(*ops.TopKV2(input, k, name=name, **attrs))


class TopKV2(NamedTuple):
    """What `top_k` gives."""

    values: Tensor
    indices: Tensor


def in_top_k(
    predictions: TensorLike, targets: TensorLike, k: TensorLike, name: str | None = None
) -> Tensor:
    """Whether each target is among the `k` largest of its row.

    Args:
        predictions: [batch, classes], float32.
        targets: [batch], classes, int32 or int64; one out of range is in no `k` largest.
        k: How many, a scalar.
        name: Of the operation.

    Returns [batch], bool: what ties with the last of the largest is among them.
    """
    return ops.InTopKV2(predictions, targets, k, name=name)
