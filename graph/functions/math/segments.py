"""TF1's sums, means and the like of the rows of each segment."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ...core.build import ops
from ...core.composite.ragged_dispatch import with_ragged
from ...core.create import convert_to_tensor
from ...core.graph import Tensor
from ...core.scopes import name_scope
from ..rows import functions
from .arithmetic import truediv

if TYPE_CHECKING:
    from ...core.typing import DTypeLike, TensorLike

ONE_TO_ONE = """
segment_max      SegmentMax        data segment_ids \
    # The largest of the slices of each segment; 0 where there are none
segment_mean     SegmentMean       data segment_ids \
    # The mean of the slices of each segment; 0 where there are none
segment_min      SegmentMin        data segment_ids \
    # The smallest of the slices of each segment; 0 where there are none
segment_prod     SegmentProd       data segment_ids \
    # The product of the slices of each segment; 1 where there are none
segment_sum      SegmentSum        data segment_ids \
    # The sum of the slices of each segment; `segment_ids`, [n], rise from 0
unsorted_segment_max  UnsortedSegmentMax  data segment_ids num_segments \
    # The largest of the slices of each segment; the lowest number where there are none
unsorted_segment_min  UnsortedSegmentMin  data segment_ids num_segments \
    # The smallest of the slices of each segment; the highest number where there are none
unsorted_segment_prod UnsortedSegmentProd data segment_ids num_segments \
    # The product of the slices of each segment; 1 where there are none
unsorted_segment_sum  UnsortedSegmentSum  data segment_ids num_segments \
    # The sum of the slices of each segment; slices of negative ids are left out
"""
globals().update(functions(ONE_TO_ONE, __name__))


@with_ragged
def unsorted_segment_mean(
    data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, name: str | None = None
) -> Tensor:
    """The mean of the slices of each segment; 0 where there are none.

    Args:
        data: Floats or complex numbers, [ids..., ...]; integers give floats, as `truediv` does.
            Also ragged.
        segment_ids: int32 or int64, of a shape that begins that of `data`, from 0 to
            `num_segments` - 1, in any order; slices of negative ones are left out.
        num_segments: How many, a scalar.
        name: Of the operations.

    Returns [num_segments, ...].

    Raises ValueError for shapes that do not fit; when it runs, InvalidArgumentError for ids out of
    range.
    """
    with name_scope(name, "UnsortedSegmentMean", [data, segment_ids]):
        return _over_counts(data, segment_ids, num_segments, lambda n: n)


@with_ragged
def unsorted_segment_sqrt_n(
    data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, name: str | None = None
) -> Tensor:
    """The sum of the slices of each segment over the root of their number; 0 where there are none.

    Args:
        data: Floats or complex numbers, [ids..., ...]; also ragged.
        segment_ids: int32 or int64, of a shape that begins that of `data`, from 0 to
            `num_segments` - 1, in any order; slices of negative ones are left out.
        num_segments: How many, a scalar.
        name: Of the operations.

    Returns [num_segments, ...].

    Raises TypeError for integers as `data`, ValueError for shapes that do not fit; when it runs,
    InvalidArgumentError for ids out of range.
    """
    with name_scope(name, "UnsortedSegmentSqrtN", [data, segment_ids]):
        return _over_counts(data, segment_ids, num_segments, lambda n: ops.Sqrt(n))


def _over_counts(
    data: TensorLike,
    segment_ids: TensorLike,
    num_segments: TensorLike,
    divisor: Callable[[Tensor], Tensor],
) -> Tensor:
    """Sums over what `divisor` makes of the counts, which broadcast; integers become floats."""
    data, ids = convert_to_tensor(data), convert_to_tensor(segment_ids)
    counts = segment_counts(ids, num_segments, data.dtype)
    sums = ops.UnsortedSegmentSum(data, ids, num_segments)
    n_inner = ops.Reshape(ops.Sub(ops.Rank(data), ops.Rank(ids)), [1])
    shape = ops.ConcatV2([ops.Shape(counts), ops.Fill(n_inner, np.int32(1))], np.int32(0))
    return truediv(sums, divisor(ops.Reshape(counts, shape)))


def segment_counts(segment_ids: TensorLike, num_segments: TensorLike, dtype: DTypeLike) -> Tensor:
    """How many rows each segment has, one at least."""
    ids = convert_to_tensor(segment_ids)
    ones = ops.Fill(ops.Shape(ids), np.ones((), dtype))
    return ops.Maximum(ops.UnsortedSegmentSum(ones, ids, num_segments), np.ones((), dtype))
