"""TF1's gathers of batches and at index tuples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...core.build import ops, shape_of
from ...core.composite.ragged_dispatch import with_ragged
from ...core.create import convert_to_tensor
from ...core.scopes import name_scope
from .array import gather, reshape, unstack
from .casting import cast
from .creation import range

if TYPE_CHECKING:
    from ...core.graph import Tensor
    from ...core.typing import TensorLike


@with_ragged
def batch_gather(params: TensorLike, indices: TensorLike, name: str | None = None) -> Tensor:
    """Slices of each batch of `params` at the indices of that batch; `gather` with `batch_dims`.

    Args:
        params: [batch..., n, ...], of any type; also ragged.
        indices: [batch..., m], int32 or int64, from 0 to n - 1.
        name: Of the operations.

    Returns [batch..., m, ...].

    Raises ValueError for indices of unknown rank.
    """
    with name_scope(name, "BatchGather", [params, indices]):
        positions = convert_to_tensor(indices, name="indices")
        if positions.sizes is None:
            raise ValueError("batch_gather does not allow indices with unknown shape.")
        axis = len(positions.sizes) - 1
        return gather(
            convert_to_tensor(params, name="params"), positions, axis=axis, batch_dims=axis
        )


@with_ragged
def gather_nd(
    params: TensorLike,
    indices: TensorLike,
    name: str | None = None,
    batch_dims: int = 0,
    bad_indices_policy: str = "",
) -> Tensor:
    """Slices of `params`; the last axis of `indices` has the place of each.

    Args:
        params: Of any type.
        indices: [batch..., ..., places].
        name: Of the operation.
        batch_dims: How many axes of both are batches, whose places count within the batch.
        bad_indices_policy: IGNORE gives zeros for places outside of `params`; else an error.

    Raises ValueError for `batch_dims` that are not less than both ranks.
    """
    if batch_dims == 0:
        return ops.GatherNd(params, indices, name=name, bad_indices_policy=bad_indices_policy)
    with name_scope(name, "BatchGatherNd", [params, indices]) as scope:
        source = convert_to_tensor(params, name="params")
        positions = convert_to_tensor(indices, name="indices")
        for label, tensor in (("indices", positions), ("params", source)):
            rank = None if tensor.sizes is None else len(tensor.sizes)
            if rank is None or not 0 <= batch_dims < rank:
                words = f"must be less than rank(`{label}`) = {rank}"
                raise ValueError(f"Argument `batch_dims` = {batch_dims} {words}")
        sizes = shape_of(positions)
        whole = ops.ConcatV2([sizes[:-1], np.array([1], np.int32)], np.int32(0))
        batches: list[Tensor] = []
        for axis, n in enumerate(unstack(sizes[:batch_dims], batch_dims)):
            along = [1] * len(positions.get_shape())
            along[axis] = -1
            batches.append(ops.BroadcastTo(reshape(range(n), along), whole))
        numbers = [cast(batch, positions.dtype) for batch in batches]
        full_indices = ops.ConcatV2([*numbers, positions], np.int32(-1))
        return ops.GatherNd(source, full_indices, name=scope, bad_indices_policy=bad_indices_policy)
