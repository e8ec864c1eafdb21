"""Arithmetic and reductions of ragged tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...core.build import ops
from ...core.create import convert_to_tensor
from ...core.graph import Tensor
from ...core.ragged_tensor import RaggedTensor
from ...core.scopes import name_scope

if TYPE_CHECKING:
    from ...core.typing import TensorLike

_SEGMENTS = {
    "Sum": ops.UnsortedSegmentSum,
    "Prod": ops.UnsortedSegmentProd,
    "Max": ops.UnsortedSegmentMax,
    "Min": ops.UnsortedSegmentMin,
}
"""Reduction -> the operation that does it for the values of each segment."""


def reduce_ragged(
    kind: str, x: RaggedTensor, axis: TensorLike | None, keepdims: bool, name: str | None
) -> Tensor | RaggedTensor:
    """A reduction along one or several of the dimensions of a ragged tensor.

    Args:
        kind: The reduction's operation: "Sum", "Mean", "Prod", "Max", "Min", "All", "Any".
        x: The ragged tensor.
        axis: A dimension or a list of them; None for all.
        keepdims: Whether they stay as dimensions of size 1.
        name: Of the operations.

    Raises:
        ValueError: `axis` is not known, or is a dimension of rows whose values are rows.
    """
    with name_scope(name, f"RaggedReduce{kind}"):
        if axis is None:
            values = x.flat_values
            every = ops.Range(np.int32(0), ops.Rank(values), np.int32(1))
            whole: Tensor = getattr(ops, kind)(values, every)
            return _kept(whole, x) if keepdims else whole
        numbers = np.asarray(convert_to_tensor(axis).value).ravel().tolist()
        if kind == "Mean" and len(numbers) > 1:
            ones = x.with_flat_values(ops.OnesLike(x.flat_values))
            total, counts = (reduce_ragged("Sum", y, axis, keepdims, None) for y in (x, ones))
            if isinstance(total, RaggedTensor) or isinstance(counts, RaggedTensor):
                raise ValueError(f"a mean along several axes takes all of {_rank(x)}, got {axis}")
            return total / counts
        rank = _rank(x)
        result: Tensor | RaggedTensor = x
        for place in sorted((int(n) % rank if rank else int(n) for n in numbers), reverse=True):
            result = _along(kind, result, place, keepdims)
        return result


def _kept(result: Tensor, x: RaggedTensor) -> Tensor:
    return ops.Reshape(result, np.ones(_rank(x) or 1, np.int32))


def _rank(x: RaggedTensor) -> int | None:
    inner = x.flat_values.sizes
    return None if inner is None else x.ragged_rank + len(inner)


def _along(kind: str, x: Tensor | RaggedTensor, axis: int, keepdims: bool) -> Tensor | RaggedTensor:
    """The reduction along one dimension."""
    if isinstance(x, Tensor):
        return getattr(ops, kind)(x, np.int32(axis), keep_dims=keepdims)
    values = x.values
    if axis > 1:
        return RaggedTensor(_along(kind, values, axis - 1, keepdims), x.row_splits)
    if isinstance(values, RaggedTensor):
        raise ValueError(
            f"reductions of rows of rows take axis >= {x.ragged_rank} or None, got {axis}"
        )
    rows = x.value_rowids()
    if axis == 1:
        segments, count = rows, x.nrows()
    else:
        starts = ops.GatherV2(x.row_starts(), rows, np.int32(0))
        number = ops.Reshape(ops.Shape(rows, out_type=np.dtype(np.int64)), np.zeros(0, np.int32))
        segments = ops.Range(np.int64(0), number, np.int64(1)) - starts
        lengths = ops.ConcatV2([np.zeros(1, np.int64), x.row_lengths()], np.int32(0))
        count = ops.Max(lengths, np.int32(0))
    result = _segmented(kind, values, segments, count)
    return ops.ExpandDims(result, np.int32(axis)) if keepdims else result


def _segmented(kind: str, values: Tensor, segments: Tensor, count: Tensor) -> Tensor:
    """The reduction of the values of each segment."""
    if kind == "Mean":
        total = ops.UnsortedSegmentSum(values, segments, count)
        ones = ops.Cast(ops.OnesLike(values), DstT=np.dtype(values.dtype))
        return total / ops.UnsortedSegmentSum(ones, segments, count)
    if kind in ("All", "Any"):
        numbers = ops.Cast(values, DstT=np.dtype(np.int32))
        segmented = ops.UnsortedSegmentProd if kind == "All" else ops.UnsortedSegmentSum
        return ops.NotEqual(segmented(numbers, segments, count), np.int32(0))
    return _SEGMENTS[kind](values, segments, count)


def concat_rows(parts: Sequence[Tensor | RaggedTensor]) -> Tensor | RaggedTensor:
    """Tensors and ragged tensors behind each other along their first dimension."""
    if all(isinstance(part, Tensor) for part in parts):
        return ops.ConcatV2(list(parts), np.int32(0))
    ragged = [part if isinstance(part, RaggedTensor) else RaggedTensor.from_tensor(part)
              for part in parts]  # fmt: skip
    lengths = ops.ConcatV2([part.row_lengths() for part in ragged], np.int32(0))
    return RaggedTensor.from_row_lengths(concat_rows([part.values for part in ragged]), lengths)
