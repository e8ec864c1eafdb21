"""Sparse tensors in queues: as strings, of which a batch is made again."""

from __future__ import annotations

from ..graph.core.build import ops
from ..graph.core.composite.sparse_tensor import SparseTensor
from ..graph.core.elements import Tensor


def serialized(part: Tensor | SparseTensor, has_many: bool) -> Tensor:
    """A tensor for a sparse one: three strings, or three for each row where there are several."""
    if not isinstance(part, SparseTensor):
        return part
    serialize = ops.SerializeManySparse if has_many else ops.SerializeSparse
    tensor = serialize(part.indices, part.values, part.dense_shape)
    tensor.set_shape([None, 3] if has_many else [3])
    return tensor


def restored(part: Tensor | SparseTensor, taken: Tensor, has_many: bool) -> Tensor | SparseTensor:
    """What was taken for several times `part`."""
    if not isinstance(part, SparseTensor):
        return taken
    indices, values, shape = ops.DeserializeManySparse(taken, dtype=part.dtype.dtype)
    rank = part.shape.ndims
    if rank is not None:
        rank += 0 if has_many else 1
    indices.set_shape([None, rank])
    values.set_shape([None])
    shape.set_shape([rank])
    return SparseTensor(indices, values, shape)
