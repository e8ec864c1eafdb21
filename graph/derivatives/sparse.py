"""Derivatives of operations on sparse tensors: to their elements alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..core.build import ops, same_attrs
from .elementwise import conj
from .registry import constant, gradient

if TYPE_CHECKING:
    from ..core.graph import Operation, Tensor

_ZERO = np.int32(0)
_LAST = np.array([-1], np.int32)


@gradient("SparseReorder")
def sparse_reorder(op: Operation, _: None, dy: Tensor) -> tuple[None, Tensor, None]:
    """In the order the elements had."""
    indices, _values, shape = op.inputs
    numbers = ops.Range(np.int32(0), ops.Shape(indices)[0], np.int32(1))
    _sorted, order = ops.SparseReorder(indices, numbers, shape)
    return None, ops.GatherV2(dy, ops.InvertPermutation(order), _ZERO), None


@gradient("SparseAdd")
def sparse_add(op: Operation, _: None, dy: Tensor, _shape: None) -> list[Tensor | None]:
    """To the elements of either side whose sum is there."""
    a, b, total = op.inputs[0], op.inputs[3], op.outputs[0]
    d_a, d_b = ops.SparseAddGrad(dy, a, b, total)
    return [None, d_a, None, None, d_b, None, None]


@gradient("SparseTensorDenseAdd")
def sparse_tensor_dense_add(op: Operation, dy: Tensor) -> list[Tensor | None]:
    """To the elements what is at their places, to the whole tensor all of it."""
    return [None, ops.GatherNd(dy, op.inputs[0]), None, dy]


@gradient("SparseReduceSum")
def sparse_reduce_sum(op: Operation, dy: Tensor) -> list[Tensor | None]:
    """To each element that of the sum it is in."""
    indices, _values, shape, axes = op.inputs
    reduced = _with_ones(shape, axes)
    whole = ops.Reshape(dy, reduced)
    tiles = ops.FloorDiv(shape, reduced)
    return [None, ops.GatherNd(whole, ops.FloorDiv(indices, tiles)), None, None]


def _with_ones(shape: Tensor, axes: Tensor) -> Tensor:
    """`shape` with 1 for each of `axes`."""
    rank = ops.Size(shape)
    along = ops.Reshape(ops.FloorMod(axes + rank, rank), _LAST)
    positions = ops.Range(np.int32(0), rank, np.int32(1))
    merged = ops.DynamicStitch([positions, along], [shape, ops.Fill(ops.Shape(along), np.int64(1))])
    return merged


@gradient("SparseSlice")
def sparse_slice(op: Operation, _: None, dy: Tensor, _shape: None) -> list[Tensor | None]:
    """To the elements that were taken."""
    indices, _values, _sizes, start, _size = op.inputs
    return [None, ops.SparseSliceGrad(dy, indices, start, op.outputs[0]), None, None, None]


@gradient("SparseTensorDenseMatMul")
def sparse_tensor_dense_matmul(op: Operation, dy: Tensor) -> list[Tensor | None]:
    """To the elements the products of rows of `dy` and of the whole matrix that meet there."""
    indices, values, shape, right = op.inputs
    adjoint_a, adjoint_b = op.get_attr("adjoint_a"), op.get_attr("adjoint_b")
    d_right = ops.SparseTensorDenseMatMul(indices, values, shape, dy, adjoint_a=not adjoint_a)
    if adjoint_b:
        d_right = conj(ops.Transpose(d_right, np.array([1, 0], np.int32)))
    rows, columns = (_column(indices, i) for i in (0, 1))
    whole = conj(ops.Transpose(right, np.array([1, 0], np.int32))) if adjoint_b else right
    left = ops.GatherV2(dy, columns if adjoint_a else rows, _ZERO)
    opposite = ops.GatherV2(whole, rows if adjoint_a else columns, _ZERO)
    product = conj(left) * opposite if adjoint_a else left * conj(opposite)
    return [None, ops.Sum(product, np.array([1], np.int32)), None, d_right]


def _column(indices: Tensor, i: int) -> Tensor:
    begin, size = np.array([0, i], np.int32), np.array([-1, 1], np.int32)
    return ops.Reshape(ops.Slice(indices, begin, size), _LAST)


@gradient("SparseDenseCwiseMul")
def sparse_dense_cwise_mul(op: Operation, dy: Tensor) -> list[Tensor | None]:
    """To the elements dy times what stands in the whole tensor, to that dy times the elements."""
    indices, values, shape, dense = op.inputs
    dx = dy * _at(indices, shape, dense)
    return [None, dx, None, _to_dense(indices, dy * values, shape, dense)]


@gradient("SparseDenseCwiseDiv")
def sparse_dense_cwise_div(op: Operation, dy: Tensor) -> list[Tensor | None]:
    """To the elements dy over what stands in the whole tensor, to that -dy x / y**2."""
    indices, values, shape, dense = op.inputs
    y = _at(indices, shape, dense)
    d_dense = dy * ops.Div(-values, ops.Square(y))
    return [None, ops.Div(dy, y), None, _to_dense(indices, d_dense, shape, dense)]


def _at(indices: Tensor, shape: Tensor, dense: Tensor) -> Tensor:
    """What stands at places of a tensor that broadcasts to `shape`."""
    return ops.GatherNd(ops.BroadcastTo(dense, shape), indices)


def _to_dense(indices: Tensor, values: Tensor, shape: Tensor, dense: Tensor) -> Tensor:
    """Gradients at places of `shape`, summed to the tensor that broadcasts to it."""
    whole = ops.ScatterNd(indices, values, shape)
    sizes = ops.Shape(dense, out_type=np.dtype(np.int64))
    axes = ops.BroadcastGradientArgs(sizes, shape)
    return ops.Reshape(ops.Sum(whole, axes[0]), sizes)


@gradient("SparseSoftmax")
def sparse_softmax(op: Operation, dy: Tensor) -> list[Tensor | None]:
    """(dy - the sum of dy * y along the last dimension) * y."""
    indices, _values, shape = op.inputs
    y = op.outputs[0]
    sums = ops.SparseReduceSum(indices, y * dy, shape, _LAST, keep_dims=True)
    parts = [indices, dy, shape, -sums]
    return [None, ops.SparseDenseCwiseAdd(*parts) * y, None]


@gradient("SparseFillEmptyRows")
def sparse_fill_empty_rows(
    op: Operation, _: None, dy: Tensor, _empty: None, _moved: None
) -> list[Tensor | None]:
    """To the old elements theirs, to the default the sum of the others."""
    values, default = ops.SparseFillEmptyRowsGrad(op.outputs[3], dy)
    return [None, values, None, default]


@gradient("SparseMatMul")
def sparse_matmul(op: Operation, dy: Tensor) -> list[Tensor]:
    """As of any product of matrices, in the inputs' types."""
    a, b = op.inputs
    attrs = same_attrs(op, "transpose_a", "transpose_b")
    first, second = bool(attrs["transpose_a"]), bool(attrs["transpose_b"])
    of_a = (b, dy, second, True) if first else (dy, b, False, not second)
    of_b = (dy, a, True, first) if second else (a, dy, not first, False)
    return [
        ops.Cast(ops.SparseMatMul(x, y, transpose_a=t, transpose_b=u), DstT=like.dtype)
        for (x, y, t, u), like in ((of_a, a), (of_b, b))
    ]


constant(
    *("SparseAddGrad", "SparseConcat", "SparseSparseMaximum", "SparseSparseMinimum"),
    *("SparseReshape", "SparseSplit", "EditDistance", "SparseReduceMax", "SparseReduceMaxSparse"),
)
