"""Sparse tensors, as index tuples and values: with dense ones, reduced, sorted, reshaped."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..lowering.moves import as_int32, as_type, element, like, positions
from .registry import lower

if TYPE_CHECKING:
    from ..ir.builder import Builder
    from ..ir.graph import Tensor
    from .registry import Node

FIRST = np.array([0], np.int32)
ALL = np.array([-1], np.int32)


def sparse_rank(node: Node, position: int = 0) -> int:
    """The length of index tuples."""
    shape = node.shape(position)
    rank = None if shape is None else shape[-1]
    if rank is None:
        node.fail("the length of its index tuples must be known")
    return rank


def column(indices: Tensor, axis: int, b: Builder) -> Tensor:
    """One element of each index tuple."""
    return b.GATHER(indices, np.int32(axis), axis=1)


def numbers(indices: Tensor, sizes: Tensor, axes: list[int], b: Builder) -> tuple[Tensor, Tensor]:
    """The elements of index tuples at some axes as one number each; how many numbers there are."""
    ids, count = None, None
    for axis in axes:
        size, part = element(sizes, axis, b), column(indices, axis, b)
        ids = part if ids is None else b.ADD(b.MUL(ids, size), part)
        count = size if count is None else b.MUL(count, size)
    if ids is None or count is None:
        ids = b.MUL(column(indices, 0, b), np.int32(0))
        count = b.constant(np.int32(1))
    return ids, count


@lower("SparseTensorDenseAdd")
def sparse_tensor_dense_add(node: Node, b: Builder) -> Tensor:
    """A dense tensor, with values added at index tuples."""
    indices, values, _, dense = node.inputs
    added = b.SCATTER_ND(as_int32(indices, b), values, b.SHAPE(dense, out_type="INT32"))
    return b.ADD(dense, added)


@lower("SparseTensorDenseMatMul")
def sparse_tensor_dense_mat_mul(node: Node, b: Builder) -> Tensor:
    """The rows of a matrix that each value meets, times the value, summed for each row."""
    indices, values, shape, dense = node.inputs
    rows, columns = (1, 0) if node.attr("adjoint_a") else (0, 1)
    if node.attr("adjoint_b"):
        dense = b.TRANSPOSE(dense, np.array([1, 0], np.int32))
    pairs, sizes = as_int32(indices, b), as_int32(shape, b)
    picked = b.GATHER(dense, column(pairs, columns, b), axis=0)
    terms = b.MUL(picked, b.EXPAND_DIMS(values, np.int32(1)))
    return b.UNSORTED_SEGMENT_SUM(terms, column(pairs, rows, b), element(sizes, rows, b))


@lower("SparseDenseCwiseAdd", "SparseDenseCwiseMul", "SparseDenseCwiseDiv")
def sparse_dense_cwise(node: Node, b: Builder) -> Tensor:
    """Each value with what a dense tensor, broadcast, has in its place."""
    indices, values, shape, dense = node.inputs
    whole = b.BROADCAST_TO(dense, as_int32(shape, b))
    picked = b.GATHER_ND(whole, as_int32(indices, b))
    kind = node.type.removeprefix("SparseDenseCwise").upper()
    return getattr(b, kind)(values, picked)


@lower("SparseReduceSum", "SparseReduceMax")
def sparse_reduce(node: Node, b: Builder) -> Tensor:
    """The sum or the largest of the values along axes; 0 where there are none."""
    indices, values, shape = node.inputs[:3]
    rank = sparse_rank(node)
    listed = np.asarray(node.constant(3)).ravel().tolist()
    reduced = {int(axis) % rank for axis in listed} if listed else set(range(rank))
    keep = [axis for axis in range(rank) if axis not in reduced]
    sizes = as_int32(shape, b)
    ids, count = numbers(as_int32(indices, b), sizes, keep, b)
    if node.type == "SparseReduceSum":
        result = b.UNSORTED_SEGMENT_SUM(values, ids, count)
    else:
        ones = b.FILL(b.SHAPE(ids, out_type="INT32"), np.int32(1))
        is_occupied = b.GREATER(b.UNSORTED_SEGMENT_SUM(ones, ids, count), np.int32(0))
        largest = b.UNSORTED_SEGMENT_MAX(values, ids, count)
        result = b.SELECT_V2(is_occupied, largest, like(values, 0, b))
    if node.attr("keep_dims"):
        parts = [b.constant(np.int32(1)) if i in reduced else element(sizes, i, b)
                 for i in range(rank)]  # fmt: skip
        return b.RESHAPE(result, b.PACK(*parts, axis=0, values_count=rank))
    if not keep:
        return b.RESHAPE(result, np.zeros(0, np.int32))
    return b.RESHAPE(result, b.GATHER(sizes, np.array(keep, np.int32), axis=0))


@lower("SparseSoftmax")
def sparse_softmax(node: Node, b: Builder) -> Tensor:
    """exp(x) over its sum along the last axis, among the values that are there."""
    indices, values, shape = node.inputs
    sizes = as_int32(shape, b)
    ids, count = numbers(as_int32(indices, b), sizes, list(range(sparse_rank(node) - 1)), b)
    largest = b.UNSORTED_SEGMENT_MAX(values, ids, count)
    weights = b.EXP(b.SUB(values, b.GATHER(largest, ids, axis=0)))
    totals = b.UNSORTED_SEGMENT_SUM(weights, ids, count)
    return b.DIV(weights, b.GATHER(totals, ids, axis=0))


@lower("SparseReorder")
def sparse_reorder(node: Node, b: Builder) -> list[Tensor]:
    """Index tuples and values by rising index."""
    indices, values, shape = node.inputs
    pairs, sizes = as_int32(indices, b), as_int32(shape, b)
    ids, _ = numbers(pairs, sizes, list(range(sparse_rank(node))), b)
    count = element(b.SHAPE(ids, out_type="INT32"), 0, b)
    _, order = b.TOPK_V2(b.NEG(ids), count)
    return [b.GATHER(indices, order, axis=0), b.GATHER(values, order, axis=0)]


@lower("SparseReshape")
def sparse_reshape(node: Node, b: Builder) -> list[Tensor]:
    """Index tuples into a tensor of another shape; that shape, with what -1 stands for."""
    indices, shape, new_shape = node.inputs
    pairs, sizes, target_sizes = (as_int32(x, b) for x in (indices, shape, new_shape))
    rank = node.shape(2)[0]
    if rank is None:
        node.fail("the length of its new shape must be known")
    ids, count = numbers(pairs, sizes, list(range(sparse_rank(node))), b)
    is_open = b.LESS(target_sizes, np.int32(0))
    known = b.REDUCE_PROD(b.SELECT_V2(is_open, np.int32(1), target_sizes), FIRST)
    result = b.SELECT_V2(is_open, b.FLOOR_DIV(count, known), target_sizes)
    columns = []
    for axis in reversed(range(rank)):
        size = element(result, axis, b)
        columns.insert(0, b.FLOOR_MOD(ids, size))
        ids = b.FLOOR_DIV(ids, size)
    packed = b.PACK(*columns, axis=1, values_count=rank)
    return [as_type(packed, np.int64, b), as_type(result, np.int64, b)]


@lower("SparseFillEmptyRows")
def sparse_fill_empty_rows(node: Node, b: Builder) -> list[Tensor]:
    """A default as the first element of rows that have none; they, and where each element went."""
    indices, values, shape, default = node.inputs
    rank, n_rows = sparse_rank(node), b.GATHER(as_int32(shape, b), FIRST, axis=0)
    node.require(values.dtype.kind != "O", "its values must be numbers")
    rows = column(as_int32(indices, b), 0, b)
    ones = b.FILL(b.SHAPE(rows, out_type="INT32"), np.int32(1))
    counts = b.UNSORTED_SEGMENT_SUM(ones, rows, b.RESHAPE(n_rows, np.zeros(0, np.int32)))
    is_empty = b.EQUAL(counts, np.int32(0))
    added = b.RESHAPE(b.WHERE(is_empty, dtype=np.int64), ALL)
    n_added = b.SHAPE(added, out_type="INT32")
    pairs = [[0, 0], [0, rank - 1]]
    tuples = b.PAD(b.EXPAND_DIMS(added, np.int32(1)), np.array(pairs, np.int32))
    all_indices = b.CONCATENATION(indices, tuples, axis=0)
    all_values = b.CONCATENATION(values, b.FILL(n_added, default), axis=0)
    all_rows = as_type(column(all_indices, 0, b), np.int64, b)
    row_positions = positions(all_rows, 0, b)
    count = b.SHAPE(all_rows, out_type="INT32")
    size = as_type(b.RESHAPE(count, np.zeros(0, np.int32)), np.int64, b)
    keys = b.ADD(b.MUL(all_rows, size), as_type(row_positions, np.int64, b))
    _, order = b.TOPK_V2(b.NEG(keys), b.RESHAPE(count, np.zeros(0, np.int32)))
    moved = b.SCATTER_ND(b.EXPAND_DIMS(order, np.int32(1)), row_positions, count)
    moved = b.SLICE(moved, FIRST * 0, b.SHAPE(rows, out_type="INT32"))
    return [
        b.GATHER(all_indices, order, axis=0),
        b.GATHER(all_values, order, axis=0),
        is_empty,
        as_type(moved, np.int64, b),
    ]


@lower("SparseFillEmptyRowsGrad")
def sparse_fill_empty_rows_grad(node: Node, b: Builder) -> list[Tensor]:
    """The gradients of the elements that were there, and the sum of those of the added ones."""
    moved, dy = node.inputs
    values = b.GATHER(dy, as_int32(moved, b), axis=0)
    return [values, b.SUB(b.SUM(dy, FIRST), b.SUM(values, FIRST))]
