"""Rows of tables combined as sparse or ragged ids name them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias
from typing import cast as typed

import numpy as np

from ...core.build import ops
from ...core.composite.ragged_tensor import RaggedTensor
from ...core.composite.sparse_tensor import SparseTensor
from ...core.create import convert_to_tensor
from ...core.graph import Tensor
from ...core.scopes import name_scope
from ...core.shapes import merge
from ...variables.partitioned import PartitionedVariable
from ...variables.variables import Variable
from ..array import array
from ..array.casting import cast
from ..nn.embedding import table_rows
from .tensors import reshape as reshape_sparse

if TYPE_CHECKING:
    from ...core.typing import TensorLike

Ids: TypeAlias = "SparseTensor | RaggedTensor"
_ZERO = np.int32(0)
_COMBINERS = ("mean", "sqrtn", "sum")
_NARROW = ("float16", "bfloat16")
"""Types whose sums are taken in float32."""


class Entries(NamedTuple):
    """Ids, the row of the result that each belongs to, and their weights."""

    ids: Tensor
    rows: Tensor
    weights: Tensor | None


class Lookup(NamedTuple):
    """A table, or its parts, and how rows are looked up in it; see `embedding_lookup`."""

    params: TensorLike | Sequence[TensorLike]
    partition_strategy: str
    max_norm: float | None

    def rows(self, ids: TensorLike) -> Tensor:
        """The rows of some ids."""
        return table_rows(self.params, ids, self.partition_strategy, None, self.max_norm)


def embedding_lookup_sparse(
    params: TensorLike | Sequence[TensorLike],
    sp_ids: Ids,
    sp_weights: Ids | None,
    partition_strategy: str = "mod",
    name: str | None = None,
    combiner: str | None = None,
    max_norm: float | None = None,
    allow_fast_lookup: bool = False,
) -> Tensor:
    """For each row of `sp_ids` the rows of `params` that it names, combined.

    Args:
        params: [n, ...], or a list of its parts.
        sp_ids: [rows, places] of int32 or int64, sparse or ragged.
        sp_weights: Of the same places and kind, or None.
        partition_strategy: Which rows each part has; see `embedding_lookup`.
        name: Of the operations.
        combiner: "sum", "mean" (the default) or "sqrtn".
        max_norm: The length to which rows are cut first.
        allow_fast_lookup: Taken for TensorFlow's sake.

    Raises:
        ValueError: `combiner` is not known, or ids and weights have other places.
        TypeError: `sp_ids` is neither sparse nor ragged, or weights are of the other kind.
    """
    combiner = combiner or "mean"
    if combiner not in _COMBINERS:
        raise ValueError(f"combiner must be one of 'mean', 'sqrtn' or 'sum', got {combiner}")
    entries = _entries(sp_ids, sp_weights)
    lookup = Lookup(params, partition_strategy, max_norm)
    return _embedded(lookup, entries, None, combiner, name)


def _entries(ids: Ids, weights: Ids | None) -> Entries:
    if not isinstance(ids, (SparseTensor, RaggedTensor)):
        raise TypeError(f"sp_ids must be SparseTensor, got {type(ids)}")
    if weights is not None and type(weights) is not type(ids):
        raise TypeError(
            f"sp_ids and sp_weights must be of the same type, got {type(ids).__name__} and "
            f"{type(weights).__name__}"
        )
    if isinstance(ids, SparseTensor):
        parts = [(ids, weights)] if isinstance(weights, SparseTensor) else []
        for a, b in parts:
            for one, other in ((a.values, b.values), (a.indices, b.indices)):
                merge(one.sizes, other.sizes)
            merge(a.dense_shape.sizes, b.dense_shape.sizes)
        rows = cast(ids.indices[:, 0], np.int32)
        return Entries(ids.values, rows, None if not parts else parts[0][1].values)
    rows = cast(ids.value_rowids(), np.int32)
    if not isinstance(weights, RaggedTensor):
        return Entries(ids.flat_values, rows, None)
    merge(ids.flat_values.sizes, weights.flat_values.sizes)
    merge(ids.row_splits.sizes, weights.row_splits.sizes)
    return Entries(ids.flat_values, rows, weights.flat_values)


def _sums(values: Tensor, rows: Tensor, n_rows: Tensor | None) -> Tensor:
    if n_rows is None:
        return ops.SegmentSum(values, rows)
    return ops.UnsortedSegmentSum(values, rows, n_rows)


def _embedded(
    lookup: Lookup, entries: Entries, n_rows: Tensor | None, combiner: str, name: str | None
) -> Tensor:
    """The combined rows; as many as `n_rows`, without it as the last of `entries.rows` says."""
    with name_scope(name, "embedding_lookup_sparse"):
        picked = lookup.rows(entries.ids)
        dtype = np.dtype(typed("np.dtype", picked.dtype))
        if dtype.name in _NARROW:
            picked = cast(picked, np.float32)
        weights = entries.weights
        if weights is None:
            weights = ops.Fill(ops.Shape(entries.ids), np.ones((), picked.dtype))
        factors = cast(weights, picked.dtype)
        n_inner = 1 if picked.sizes is None else len(picked.sizes) - 1
        spread = array.reshape(factors, [-1, *[1] * n_inner])
        sums = _sums(ops.Mul(picked, spread), entries.rows, n_rows)
        if combiner != "sum":
            squares = ops.Square(spread) if combiner == "sqrtn" else spread
            totals = _sums(squares, entries.rows, n_rows)
            sums = ops.DivNoNan(sums, ops.Sqrt(totals) if combiner == "sqrtn" else totals)
        return cast(sums, dtype)


def safe_embedding_lookup_sparse(
    embedding_weights: TensorLike | Sequence[TensorLike] | None,
    sparse_ids: Ids,
    sparse_weights: Ids | None = None,
    combiner: str = "mean",
    default_id: int | None = None,
    name: str | None = None,
    partition_strategy: str = "div",
    max_norm: float | None = None,
    allow_fast_lookup: bool = False,
) -> Tensor:
    """As embedding_lookup_sparse, without negative ids and weights that are not positive.

    A row without ids gives the row `default_id`, zeros when that is None. Sparse ids may have more
    than two dimensions: the last one is combined. With `combiner` "sum" all weights count.

    Args:
        embedding_weights: [ids, ...], the table, or a list of parts of it.
        sparse_ids: A SparseTensor of int32 or int64, [..., n].
        sparse_weights: A SparseTensor of floats at the same places; ones by default.
        combiner: "mean", "sqrtn" or "sum".
        default_id: See above.
        name: Of the operations.
        partition_strategy: "div" or "mod": how rows lie in parts of the table.
        max_norm: To what norm rows are cut, if any.
        allow_fast_lookup: Taken for TensorFlow's sake.

    Raises:
        ValueError: There is no table, or a part of it is not of the type of the weights.
        TypeError: See embedding_lookup_sparse.
    """
    is_several = isinstance(embedding_weights, (list, tuple, PartitionedVariable))
    parts = list(embedding_weights) if is_several else [embedding_weights]
    if embedding_weights is None or not parts:
        raise ValueError(f"Missing embedding_weights {embedding_weights}.")
    if sparse_weights is not None:
        for part in parts:
            if not isinstance(part, Variable):
                convert_to_tensor(typed("TensorLike", part), sparse_weights.dtype)
    _entries(sparse_ids, sparse_weights)
    with name_scope(name, "embedding_lookup") as scope:
        sizes = None
        if isinstance(sparse_ids, SparseTensor):
            sizes = sparse_ids.dense_shape
            sparse_ids, sparse_weights = _as_matrix(sparse_ids, sparse_weights)
            n_rows = cast(sparse_ids.dense_shape[0], np.int32)
        else:
            n_rows = cast(sparse_ids.nrows(), np.int32)
        entries = _usable(_entries(sparse_ids, sparse_weights), combiner)
        lookup = Lookup(typed("Sequence[TensorLike]", parts), partition_strategy, max_norm)
        rows = _embedded(lookup, entries, n_rows, combiner, None)
        if default_id is not None:
            ones = ops.Fill(ops.Shape(entries.rows), np.int32(1))
            is_empty = ops.Equal(ops.UnsortedSegmentSum(ones, entries.rows, n_rows), _ZERO)
            default = lookup.rows(np.int32(default_id))
            rows = ops.SelectV2(array.expand_dims(is_empty, 1), default, rows)
        return rows if sizes is None else _in_shape(rows, sizes, scope)


def _as_matrix(ids: SparseTensor, weights: Ids | None) -> tuple[SparseTensor, SparseTensor | None]:
    """Ids and weights with all dimensions but the last one as rows."""
    rank = ids.dense_shape.sizes
    if rank != (2,):
        outer = ops.Prod(ids.dense_shape[:-1], _ZERO)
        ids = reshape_sparse(ids, ops.Pack([outer, ids.dense_shape[-1]]))
    if not isinstance(weights, SparseTensor):
        return ids, None
    return ids, SparseTensor(ids.indices, weights.values, ids.dense_shape)


def _usable(entries: Entries, combiner: str) -> Entries:
    """What is left without negative ids and, but in sums, without weights that are not positive."""
    usable = ops.GreaterEqual(entries.ids, np.zeros((), entries.ids.dtype))
    if entries.weights is not None and combiner != "sum":
        positive = ops.Greater(entries.weights, np.zeros((), entries.weights.dtype))
        usable = ops.LogicalAnd(usable, positive)
    weights = None if entries.weights is None else array.boolean_mask(entries.weights, usable)
    ids, rows = (array.boolean_mask(x, usable) for x in (entries.ids, entries.rows))
    return Entries(ids, rows, weights)


def _in_shape(rows: Tensor, sizes: Tensor, scope: str) -> Tensor:
    """The rows with the outer dimensions of the ids."""
    rank = sizes.sizes
    if rank == (2,):
        return ops.Identity(rows, name=scope)
    outer = cast(sizes[:-1], np.int32)
    result = ops.Reshape(rows, ops.ConcatV2([outer, ops.Shape(rows)[1:]], _ZERO), name=scope)
    if rank is not None and rank[0] is not None and rows.sizes is not None:
        result.set_shape((*[None] * (rank[0] - 1), *rows.sizes[1:]))
    return result
