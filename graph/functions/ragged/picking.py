"""Rows of ragged tensors by their numbers: `gather`, `gather_nd`, `batch_gather`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...core.build import ops
from ...core.composite.ragged_dispatch import ragged
from ...core.composite.ragged_tensor import RaggedTensor
from ...core.composite.row_partition import RowPartition, checked, counted
from ...core.graph import Tensor
from ...core.scopes import name_scope
from .operands import as_ragged, positive_axis, rank_of
from .rows import expanded, numbers, of_lengths, positions, squeezed
from .values import same_splits

if TYPE_CHECKING:
    from ...core.typing import TensorLike

_ZERO = np.int32(0)
_FLAT = np.array([-1], np.int32)


def gather_rows(x: Tensor | RaggedTensor, rows: Tensor) -> Tensor | RaggedTensor:
    """The rows of `x` with these numbers, a vector of them."""
    if isinstance(x, Tensor):
        return ops.GatherV2(x, rows, _ZERO)
    partition = of_lengths(ops.GatherV2(x.rows.lengths(), rows, _ZERO))
    starts = ops.GatherV2(x.rows.starts(), rows, _ZERO)
    known = x.rows.uniform
    picked = RowPartition(partition.splits, partition.lengths(), uniform=known)
    return RaggedTensor(gather_rows(x.values, positions(partition, starts)), picked)


def row(x: RaggedTensor, number: Tensor) -> Tensor | RaggedTensor:
    """One row, by its number."""
    return slice_rows(
        x.values,
        ops.GatherV2(x.rows.starts(), number, _ZERO),
        ops.GatherV2(x.rows.limits(), number, _ZERO),
    )


def slice_rows(x: Tensor | RaggedTensor, begin: Tensor, end: Tensor) -> Tensor | RaggedTensor:
    """The rows from `begin` to `end`."""
    if isinstance(x, Tensor):
        bounds = [ops.ExpandDims(bound, _ZERO) for bound in (begin, end)]
        return ops.StridedSlice(x, *bounds, np.ones(1, np.dtype(begin.dtype)))
    one = x.rows.dtype.type(1)
    bounds = [ops.Cast(bound, DstT=x.rows.dtype) for bound in (begin, end)]
    edges = [ops.ExpandDims(bound, _ZERO) for bound in (bounds[0], ops.AddV2(bounds[1], one))]
    splits = ops.StridedSlice(x.row_splits, *edges, np.ones(1, x.rows.dtype))
    first = ops.StridedSlice(splits, [0], [1], [1], shrink_axis_mask=1)
    last = ops.StridedSlice(splits, [-1], [0], [1], end_mask=1, shrink_axis_mask=1)
    rows = RowPartition(ops.Sub(splits, first), uniform=x.rows.uniform)
    return RaggedTensor(slice_rows(x.values, first, last), rows)


@ragged("gather")
def gather(
    params: TensorLike | RaggedTensor,
    indices: TensorLike | RaggedTensor,
    validate_indices: bool | None = None,
    name: str | None = None,
    axis: TensorLike | None = None,
    batch_dims: int = 0,
) -> Tensor | RaggedTensor:
    """The rows, or further in the items, with these numbers."""
    with name_scope(name, "RaggedGather"):
        x = as_ragged(params)
        index_tensor = as_ragged(indices, preferred_dtype=np.int32)
        rank = rank_of(index_tensor)
        n_batch = positive_axis(batch_dims, None if rank is None else rank + 1, "batch_dims")
        if batch_dims < 0 and rank is not None:
            n_batch = positive_axis(batch_dims, rank, "batch_dims")
        gather_axis = n_batch if axis is None else positive_axis(axis, rank_of(x))
        if gather_axis < n_batch:
            raise ValueError(f"axis must be >= batch_dims, got {gather_axis} and {n_batch}")
        if rank == 0 and gather_axis > 0:
            return squeezed(_gather(x, expanded(index_tensor, 0), gather_axis, 0), gather_axis)
        if n_batch and n_batch == rank:
            return squeezed(
                _gather(x, expanded(index_tensor, n_batch), gather_axis, n_batch), gather_axis
            )
        return _gather(x, index_tensor, gather_axis, n_batch)


def _gather(
    x: Tensor | RaggedTensor, indices: Tensor | RaggedTensor, axis: int, n_batch: int
) -> Tensor | RaggedTensor:
    if isinstance(x, Tensor) and isinstance(indices, Tensor):
        return ops.GatherV2(x, indices, np.int32(axis), batch_dims=n_batch)
    if n_batch > 0:
        x, indices = _as_rows(x), _as_rows(indices)
        return _gather_batch(x, indices, axis, n_batch)
    if axis > 0:
        x = _as_rows(x)
        if axis > 1:
            return x.with_values(_gather(x.values, indices, axis - 1, 0))
        return _gather_batch(x, _repeated(indices, x), 1, 1)
    if isinstance(indices, RaggedTensor):
        return indices.with_values(_gather(x, indices.values, 0, 0))
    assert isinstance(x, RaggedTensor)
    if indices.sizes is None:
        raise ValueError("rank(indices) must be known statically")
    if not indices.sizes:
        return row(x, indices)
    picked = gather_rows(x, ops.Reshape(indices, _FLAT))
    return like_dense(picked, indices, len(indices.sizes))


def like_dense(values: Tensor | RaggedTensor, x: Tensor, rank: int) -> Tensor | RaggedTensor:
    """Values, one for each element of the first `rank` dimensions of `x`, in that shape."""
    sizes = ops.Shape(x, out_type=np.dtype(np.int64))
    for axis in np.arange(rank - 1, 0, -1).tolist():
        size = ops.StridedSlice(sizes, [axis], [axis + 1], [1], shrink_axis_mask=1)
        count = ops.Prod(ops.StridedSlice(sizes, [0], [axis], [1]), _ZERO)
        if isinstance(values, RaggedTensor):
            size, count = (ops.Cast(n, DstT=values.rows.dtype) for n in (size, count))
        values = RaggedTensor.from_uniform_row_length(values, size, count, validate=False)
    return values


def _as_rows(x: Tensor | RaggedTensor) -> RaggedTensor:
    return x if isinstance(x, RaggedTensor) else RaggedTensor.from_tensor(x)


def _repeated(indices: Tensor | RaggedTensor, x: RaggedTensor) -> RaggedTensor:
    """The same numbers for each row of `x`."""
    n_rows = x.rows.nrows()
    rows = numbers(indices, x.rows.dtype)
    n_indices = ops.Size(rows, out_type=x.rows.dtype)
    repeated = ops.Tile(rows, ops.ExpandDims(n_rows, _ZERO))
    return RaggedTensor.from_uniform_row_length(
        gather_rows(indices, repeated), n_indices, n_rows, validate=False
    )


def _gather_batch(x: RaggedTensor, indices: RaggedTensor, axis: int, n_batch: int) -> RaggedTensor:
    """Items of each row of `x` with the numbers in the same row of `indices`."""
    if x.rows.dtype != indices.rows.dtype:
        x, indices = (part.with_row_splits_dtype(np.int64) for part in (x, indices))
    if n_batch > 1:
        words = "params and indices must have the same batch dimensions"
        rows = RowPartition(
            checked(indices.row_splits, [same_splits(x.row_splits, indices.row_splits)], words)
        )
        values, inner = x.values, indices.values
        return RaggedTensor(_gather(values, inner, axis - 1, n_batch - 1), rows)
    if axis > 1:
        repeated = gather_rows(indices, x.rows.rowids())
        return x.with_values(_gather(x.values, repeated, axis - 1, 1))
    dtype = x.rows.dtype
    inner = indices.values
    flat = inner.flat_values if isinstance(inner, RaggedTensor) else inner
    wide = ops.Cast(flat, DstT=dtype)
    rows = _row_of_items(indices, dtype)
    if flat.sizes is None or len(flat.sizes) != 1:
        sizes = ops.Shape(wide)
        shape = ops.ConcatV2([ops.Shape(rows), ops.OnesLike(sizes[1:])], _ZERO)
        rows = ops.Reshape(rows, shape)
    counts = [ops.ExpandDims(part.rows.nrows(), _ZERO) for part in (x, indices)]
    words = "params and indices must have the same number of rows"
    rows = checked(rows, [ops.All(ops.Equal(counts[0], counts[1]), _ZERO)], words)
    length = ops.GatherV2(x.rows.lengths(), rows, _ZERO)
    inside = ops.LogicalAnd(ops.GreaterEqual(wide, dtype.type(0)), ops.Less(wide, length))
    within = ops.All(ops.Reshape(inside, _FLAT), _ZERO)
    wide = checked(wide, [within], "indices must lie within the rows of params")
    at = ops.AddV2(ops.GatherV2(x.rows.starts(), rows, _ZERO), wide)
    picked = gather_rows(x.values, ops.Reshape(at, _FLAT))
    if at.sizes is not None and len(at.sizes) > 1:
        picked = like_dense(picked, at, len(at.sizes))
    return indices.with_flat_values(picked)


def _row_of_items(indices: RaggedTensor, dtype: np.dtype) -> Tensor:
    """The outermost row of each of the innermost items."""
    rows = indices.nested_rows
    ids = rows[-1].rowids()
    for level in reversed(rows[:-1]):
        ids = ops.GatherV2(level.rowids(), ids, _ZERO)
    return ops.Cast(ids, DstT=dtype)


@ragged("batch_gather")
def batch_gather(
    params: TensorLike | RaggedTensor,
    indices: TensorLike | RaggedTensor,
    name: str | None = None,
) -> Tensor | RaggedTensor:
    """Items of each batch of `params` at the indices of that batch."""
    with name_scope(name, "RaggedBatchGather"):
        index_tensor = as_ragged(indices, preferred_dtype=np.int32)
        x, rank = as_ragged(params), rank_of(index_tensor)
        if rank is None:
            raise ValueError(
                "batch_dims=-1 may only be negative if rank(indices) is statically known."
            )
        if rank == 0:
            raise ValueError("batch_dims=-1 out of bounds: expected 0<=batch_dims<0")
        batch, shape = rank - 1, x.get_shape()
        if shape.rank is not None and batch >= shape.rank:
            raise ValueError(
                f"batch_dims must be less than rank(params), got {batch} and {shape.rank}"
            )
        expected = index_tensor.get_shape()[:batch]
        if not shape[:batch].is_compatible_with(expected):
            raise ValueError(
                f"batch shape from indices {expected} does not match params shape {shape}"
            )
        return _gather(x, index_tensor, batch, batch)


@ragged("gather_nd")
def gather_nd(
    params: TensorLike | RaggedTensor,
    indices: TensorLike | RaggedTensor,
    name: str | None = None,
    batch_dims: int = 0,
    bad_indices_policy: str = "",
) -> Tensor | RaggedTensor:
    """What stands in `params` at the places that the innermost rows of `indices` name."""
    with name_scope(name, "RaggedGatherNd"):
        x = as_ragged(params)
        index_tensor = as_ragged(indices, preferred_dtype=np.int32)
        if bad_indices_policy:
            raise ValueError(
                "non-default bad_indices_policy not supported for ragged gather, got "
                f"{bad_indices_policy!r}"
            )
        if batch_dims:
            raise ValueError(
                f"batch_dims != 0 is not supported for ragged gather yet: {batch_dims}"
            )
        rank = rank_of(index_tensor)
        if rank is None:
            raise ValueError("indices.rank be statically known.")
        if rank == 0:
            raise ValueError("indices.rank must be at least 1.")
        if isinstance(index_tensor, RaggedTensor) and rank == index_tensor.ragged_rank + 1:
            raise ValueError("The innermost dimension of indices may not be ragged")
        size = index_tensor.get_shape().as_list()[-1]
        if size is None:
            raise ValueError("indices.shape[-1] must be statically known.")
        if isinstance(index_tensor, RaggedTensor):
            return index_tensor.with_flat_values(_gather_nd(x, index_tensor.flat_values, size))
        return _gather_nd(x, index_tensor, size)


def _gather_nd(x: Tensor | RaggedTensor, indices: Tensor, size: int) -> Tensor | RaggedTensor:
    """`gather_nd` at the places [..., size]."""
    if isinstance(x, Tensor):
        return ops.GatherNd(x, indices)
    rank = len(indices.sizes or ())
    flat = ops.Reshape(indices, np.array([-1, size], np.int32))
    if size == 0:
        n = ops.Shape(flat, out_type=x.rows.dtype)[0]
        row_numbers = ops.Tile(numbers(x, x.rows.dtype), ops.ExpandDims(n, _ZERO))
        picked: Tensor | RaggedTensor = RaggedTensor.from_uniform_row_length(
            gather_rows(x, row_numbers), x.rows.nrows(), n, validate=False
        )
    else:
        columns = [ops.Cast(flat[:, i], DstT=x.rows.dtype) for i in np.arange(size).tolist()]
        picked = _at(x, columns[0], columns[1:])
    if rank > 2:
        return like_dense(picked, indices, rank - 1)
    if rank == 2:
        return picked
    zero = np.zeros((), x.rows.dtype)
    if isinstance(picked, RaggedTensor):
        return row(picked, as_dense(zero))
    return ops.GatherV2(picked, zero, _ZERO)


def as_dense(value: TensorLike) -> Tensor:
    """A tensor of a number."""
    tensor = as_ragged(value)
    assert isinstance(tensor, Tensor)
    return tensor


def _at(x: Tensor | RaggedTensor, rows: Tensor, columns: list[Tensor]) -> Tensor | RaggedTensor:
    """The items at rows, and at columns within them."""
    if not columns:
        return gather_rows(x, rows)
    if isinstance(x, Tensor):
        return ops.GatherNd(x, ops.Pack([rows, *columns], axis=1))
    column = columns[0]
    length = ops.GatherV2(x.rows.lengths(), rows, _ZERO)
    zero = x.rows.dtype.type(0)
    inside = ops.LogicalAnd(ops.GreaterEqual(column, zero), ops.Less(column, length))
    column = checked(column, [ops.All(inside, _ZERO)], "indices must lie within the rows of params")
    return _at(x.values, ops.AddV2(ops.GatherV2(x.rows.starts(), rows, _ZERO), column), columns[1:])


def rows_in_steps(x: RaggedTensor, first: Tensor, step: Tensor, count: Tensor) -> RaggedTensor:
    """Of each row `count` items from `first` on in steps."""
    partition = of_lengths(count)
    ids = partition.rowids()
    offset = ops.Mul(partition.columns(), step)
    begin = ops.GatherV2(ops.AddV2(x.rows.starts(), first), ids, _ZERO)
    return RaggedTensor(gather_rows(x.values, ops.AddV2(begin, offset)), partition)


def reversed_numbers(n: Tensor) -> Tensor:
    """n - 1, ... 1, 0."""
    return ops.Sub(ops.Sub(n, np.dtype(n.dtype).type(1)), counted(n))
