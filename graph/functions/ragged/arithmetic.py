"""Reductions and sums of segments of ragged tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from ...core.build import ops
from ...core.composite.ragged_dispatch import ragged
from ...core.composite.ragged_tensor import RaggedTensor
from ...core.composite.row_partition import checked
from ...core.create import convert_to_tensor
from ...core.graph import Tensor
from ...core.scopes import name_scope
from ...core.shapes import whole
from .operands import as_ragged, positive_axis, rank_of
from .rows import expanded, of_lengths, positions
from .values import same_splits

if TYPE_CHECKING:
    from ...core.typing import TensorLike

_ZERO = np.int32(0)
Reduced = Tensor | RaggedTensor


def _mean(values: Tensor, ids: Tensor, n: Tensor) -> Tensor:
    total, counts = _total_and_counts(values, ids, n)
    return total / counts


def _sqrt_n(values: Tensor, ids: Tensor, n: Tensor) -> Tensor:
    total, counts = _total_and_counts(values, ids, n)
    return ops.RealDiv(total, ops.Sqrt(counts))


def _total_and_counts(values: Tensor, ids: Tensor, n: Tensor) -> tuple[Tensor, Tensor]:
    ones = ops.Cast(ops.OnesLike(values), DstT=np.dtype(values.dtype))
    return ops.UnsortedSegmentSum(values, ids, n), ops.UnsortedSegmentSum(ones, ids, n)


def _all(values: Tensor, ids: Tensor, n: Tensor) -> Tensor:
    numbers = ops.Cast(values, DstT=np.dtype(np.int32))
    return ops.NotEqual(ops.UnsortedSegmentProd(numbers, ids, n), np.int32(0))


def _any(values: Tensor, ids: Tensor, n: Tensor) -> Tensor:
    numbers = ops.Cast(values, DstT=np.dtype(np.int32))
    return ops.NotEqual(ops.UnsortedSegmentSum(numbers, ids, n), np.int32(0))


SEGMENTS: dict[str, Callable[..., Tensor]] = {
    "Sum": ops.UnsortedSegmentSum,
    "Prod": ops.UnsortedSegmentProd,
    "Max": ops.UnsortedSegmentMax,
    "Min": ops.UnsortedSegmentMin,
    "Mean": _mean,
    "SqrtN": _sqrt_n,
    "All": _all,
    "Any": _any,
}
"""Reduction -> what does it for the values of each segment."""


def _numbers_of(axis: TensorLike, what: str) -> list[object]:
    """The axes, whose numbers must be known."""
    if isinstance(axis, Tensor):
        value = whole(axis.value)
        if value is None:
            raise ValueError(
                f"axis must be known at graph construction time, got {axis} for {what}"
            )
        return cast("list[object]", value.ravel().tolist())
    if isinstance(axis, (list, tuple, np.ndarray)):
        return [*cast("Sequence[object]", axis)]
    return [axis]


def reduce_ragged(
    kind: str,
    x: TensorLike | RaggedTensor,
    axis: TensorLike | None,
    keepdims: bool,
    name: str | None,
    segmented: Callable[..., Tensor] | None = None,
) -> Reduced:
    """A reduction along one or several of the dimensions of a ragged tensor.

    Args:
        kind: The reduction's operation: "Sum", "Mean", "Prod", "Max", "Min", "All", "Any".
        x: The ragged tensor.
        axis: A dimension or a list of them; None for all.
        keepdims: Whether they stay as dimensions of size 1.
        name: Of the operations.
        segmented: What does it for the values of each segment, where `kind` is none of these.

    Raises:
        TypeError: An axis is no integer.
        ValueError: `axis` is not known.
    """
    with name_scope(name, f"RaggedReduce{kind}"):
        tensor = cast("RaggedTensor", as_ragged(x))
        if kind == "Mean":
            ones = tensor.with_flat_values(ops.OnesLike(tensor.flat_values))
            total, counts = (reduce_ragged("Sum", y, axis, keepdims, None) for y in (tensor, ones))
            return _quotient(total, counts)
        if axis is None:
            values = tensor.flat_values
            every: TensorLike = ops.Range(np.int32(0), ops.Rank(values), np.int32(1))
            if values.sizes is not None:
                every = np.arange(len(values.sizes), dtype=np.int32)
            whole_value: Tensor = getattr(ops, kind)(values, every)
            if not keepdims:
                return whole_value
            return ops.Reshape(whole_value, np.ones(rank_of(tensor) or 1, np.int32))
        rank = rank_of(tensor)
        axes = {positive_axis(item, rank) for item in _numbers_of(axis, kind)}
        result: Reduced = tensor
        for place in sorted(axes, reverse=True):
            result = _along(kind, result, place, segmented)
        for place in sorted(axes) if keepdims else ():
            result = expanded(result, place)
        return result


def _quotient(total: Reduced, counts: Reduced) -> Reduced:
    """Sums over counts in the same rows; of integers as floats."""
    if isinstance(total, RaggedTensor) and isinstance(counts, RaggedTensor):
        return total.with_flat_values(total.flat_values / counts.flat_values)
    return cast("Tensor", total) / cast("Tensor", counts)


def _unsorted(kind: str) -> Callable[..., Reduced]:
    """The function of unsorted segments that a reduction is."""

    def of_segments(
        data: TensorLike | RaggedTensor,
        segment_ids: TensorLike | RaggedTensor,
        num_segments: TensorLike,
        name: str | None = None,
    ) -> Reduced:
        return segment(kind, data, segment_ids, num_segments, name)

    return of_segments


for _words, _kind in (
    ("max", "Max"), ("mean", "Mean"), ("min", "Min"), ("prod", "Prod"), ("sqrt_n", "SqrtN"),
    ("sum", "Sum"),
):  # fmt: skip
    ragged(f"unsorted_segment_{_words}")(_unsorted(_kind))


def _along(kind: str, x: Reduced, axis: int, segmented: Callable[..., Tensor] | None) -> Reduced:
    """The reduction along one dimension."""
    if isinstance(x, Tensor):
        return getattr(ops, kind)(x, np.int32(axis))
    if axis > 1:
        return x.with_values(_along(kind, x.values, axis - 1, segmented))
    aggregate = segmented or SEGMENTS[kind]
    ids, n = (
        (x.rows.rowids(), x.rows.nrows()) if axis == 1 else (x.rows.columns(), x.rows.longest())
    )
    return aggregated(aggregate, x.values, ids, n)


def aggregated(aggregate: Callable[..., Tensor], x: Reduced, ids: Tensor, n: Tensor) -> Reduced:
    """What `aggregate` gives for the rows of each segment, ragged ones column by column."""
    if isinstance(x, Tensor):
        return aggregate(x, ids, n)
    lengths = ops.UnsortedSegmentMax(x.rows.lengths(), ids, n)
    rows = of_lengths(ops.Maximum(lengths, x.rows.dtype.type(0)))
    starts = ops.GatherV2(rows.starts(), ids, _ZERO)
    inner = positions(x.rows, starts)
    return RaggedTensor(aggregated(aggregate, x.values, inner, rows.nvals()), rows)


def segment(
    kind: str,
    data: TensorLike | RaggedTensor,
    segment_ids: TensorLike | RaggedTensor,
    num_segments: TensorLike,
    name: str | None = None,
) -> Reduced:
    """The sum, or another reduction, of the values of each segment.

    Raises ValueError, or InvalidArgumentError when it runs, unless the shape of `segment_ids` is
    that of the first dimensions of `data`.
    """
    with name_scope(name, f"RaggedSegment{kind}"):
        x, ids = as_ragged(data), as_ragged(segment_ids)
        n = convert_to_tensor(num_segments)
        while isinstance(ids, RaggedTensor):
            if not isinstance(x, RaggedTensor):
                raise ValueError(
                    "segment_ids.shape must be a prefix of data.shape, but segment_ids is ragged "
                    "and data is not."
                )
            words = "segment_ids.shape must be a prefix of data.shape"
            same = same_splits(x.row_splits, ids.row_splits)
            x, ids = x.values, ids.values
            if isinstance(ids, Tensor):
                ids = checked(ids, [same], words)
            else:
                ids = ids.with_flat_values(checked(ids.flat_values, [same], words))
        if isinstance(x, RaggedTensor) and ids.sizes is not None and len(ids.sizes) > 1:
            raise ValueError("segment_ids.shape must be a prefix of data.shape, got "
                             f"{ids.get_shape()} and {x.shape}")  # fmt: skip
        return aggregated(SEGMENTS[kind], x, ids, n)
