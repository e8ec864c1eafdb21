"""Derivatives of matrix products and other linear algebra."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from ..core.build import ops
from ..core.graph import Operation, Tensor
from .broadcasting import unbroadcast_batch
from .elementwise import conj
from .registry import gradient

Product: TypeAlias = Callable[[Tensor, Tensor, bool, bool], Tensor]


@gradient("MatMul")
def matmul(op: Operation, dy: Tensor) -> tuple[Tensor, Tensor]:
    """Of `a @ b`: dy @ b' and a' @ dy."""
    a, b = (conj(tensor) for tensor in op.inputs)
    of_a, of_b = op.get_attr("transpose_a"), op.get_attr("transpose_b")
    return _products(a, b, of_a, of_b, dy, _product)


def _product(a: Tensor, b: Tensor, of_a: bool, of_b: bool) -> Tensor:
    return ops.MatMul(a, b, transpose_a=of_a, transpose_b=of_b)


def _products(
    a: Tensor, b: Tensor, of_a: bool, of_b: bool, dy: Tensor, product: Product
) -> tuple[Tensor, Tensor]:
    """The gradients of a product whose factors may be transposed; `product(x, y, tx, ty)`."""
    if of_a:
        da = product(b, dy, of_b, True)
    else:
        da = product(dy, b, False, not of_b)
    if of_b:
        db = product(dy, a, True, of_a)
    else:
        db = product(a, dy, not of_a, False)
    return da, db


@gradient("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3")
def batch_matmul(op: Operation, dy: Tensor) -> list[Tensor]:
    """Of `a @ b` for each matrix of a batch; summed where the batch was repeated."""
    a, b = op.inputs
    of_a, of_b = op.get_attr("adj_x"), op.get_attr("adj_y")
    da, db = _products(a, b, of_a, of_b, dy, _batch_product)
    return unbroadcast_batch(a, b, da, db)


def _batch_product(a: Tensor, b: Tensor, of_a: bool, of_b: bool) -> Tensor:
    return ops.BatchMatMulV2(a, b, adj_x=of_a, adj_y=of_b)


@gradient("MatrixInverse")
def matrix_inverse(op: Operation, dy: Tensor) -> Tensor:
    """-y' dy y', and -y dy' y where y is the inverse of the adjoint."""
    y, of_adjoint = op.outputs[0], op.get_attr("adjoint")
    right = _batch_product(dy, y, of_adjoint, not of_adjoint)
    return -_batch_product(y, right, not of_adjoint, False)


@gradient("MatrixDeterminant")
def matrix_determinant(op: Operation, dy: Tensor) -> Tensor:
    """Dy det(x) inverse(x)'."""
    inverse = ops.MatrixInverse(op.inputs[0], adjoint=True)
    columns = ops.ExpandDims(ops.ExpandDims(dy * op.outputs[0], np.int32(-1)), np.int32(-1))
    return columns * inverse


@gradient("Cholesky")
def cholesky(op: Operation, dy: Tensor) -> Tensor:
    """As Murray, Differentiation of the Cholesky decomposition, 2016."""
    y = op.outputs[0]
    size = ops.StridedSlice(ops.Shape(y), [-1], [0], [1], shrink_axis_mask=1)
    ones = ops.Fill(ops.ExpandDims(size, np.int32(0)), np.ones((), y.dtype))
    eye = ops.MatrixDiag(ones) + ops.ZerosLike(y)
    inverse = ops.MatrixTriangularSolve(y, eye, lower=True)
    middle = _batch_product(y, dy, True, False)
    middle = ops.MatrixSetDiag(middle, ops.MatrixDiagPart(middle) / 2)
    middle = ops.MatrixBandPart(middle, np.int64(-1), np.int64(0))
    half = _batch_product(_batch_product(inverse, middle, True, False), inverse, False, False)
    return (half + _batch_product(eye, half, False, True)) / 2
