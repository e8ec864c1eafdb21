"""Functions along a dimension of ragged tensors: `cumsum`, `softmax`."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from ...core.build import ops
from ...core.composite.ragged_dispatch import ragged
from ...core.composite.ragged_tensor import RaggedTensor
from ...core.graph import Tensor
from ...core.scopes import name_scope
from .arithmetic import reduce_ragged
from .operands import as_ragged, positive_axis, rank_of

if TYPE_CHECKING:
    from ...core.composite.row_partition import RowPartition
    from ...core.typing import TensorLike

_ZERO = np.int32(0)


@ragged("cumsum")
def cumsum(
    x: TensorLike | RaggedTensor,
    axis: TensorLike = 0,
    exclusive: bool = False,
    reverse: bool = False,
    name: str | None = None,
) -> RaggedTensor:
    """Sums of the elements up to each along `axis`; see `tf.cumsum`."""
    with name_scope(name, "RaggedCumSum"):
        tensor = cast("RaggedTensor", as_ragged(x))
        place = positive_axis(axis, rank_of(tensor))
        depth = tensor.ragged_rank
        flat = tensor.flat_values
        if place > depth:
            sums = ops.Cumsum(flat, np.int32(place - depth), exclusive=exclusive, reverse=reverse)
            return tensor.with_flat_values(sums)
        if place == depth:
            rows = tensor.nested_rows[-1]
            return tensor.with_flat_values(_within_rows(flat, rows, exclusive, reverse))
        sums = ops.Cumsum(tensor.to_tensor(), np.int32(place), exclusive=exclusive, reverse=reverse)
        lengths = tensor.nested_row_lengths()
        return RaggedTensor.from_tensor(sums, lengths=lengths, row_splits_dtype=tensor.rows.dtype)


def _within_rows(flat: Tensor, rows: RowPartition, exclusive: bool, reverse: bool) -> Tensor:
    """Sums that begin anew in each row."""
    sums = ops.Cumsum(flat, _ZERO, exclusive=exclusive, reverse=reverse)
    whole = ops.Cumsum(flat, _ZERO, reverse=reverse)
    nothing = ops.ZerosLike(ops.Sum(flat, _ZERO, keep_dims=True))
    bounds = ops.ConcatV2([whole, nothing] if reverse else [nothing, whole], _ZERO)
    edges = rows.limits() if reverse else rows.starts()
    outside = ops.GatherV2(bounds, ops.GatherV2(edges, rows.rowids(), _ZERO), _ZERO)
    return ops.Sub(sums, outside)


@ragged("softmax")
def softmax(
    logits: TensorLike | RaggedTensor,
    axis: int | None = None,
    name: str | None = None,
    dim: int | None = None,
) -> Tensor | RaggedTensor:
    """exp(x) over its sum along `axis`, the last one by default."""
    with name_scope(name, "RaggedSoftmax"):
        x = cast("RaggedTensor", as_ragged(logits))
        chosen = dim if axis is None else axis
        place = -1 if chosen is None else chosen
        highest = reduce_ragged("Max", x, place, keepdims=True, name=None)
        lowered = cast("RaggedTensor", as_ragged(x - highest))
        powers = lowered.with_flat_values(ops.Exp(lowered.flat_values))
        return powers / reduce_ragged("Sum", powers, place, keepdims=True, name=None)
