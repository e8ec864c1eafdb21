"""Derivatives of decompositions of matrices and of what solves equations with them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..core.build import number, ops, same_attrs
from ..core.graph import Operation, Tensor
from .broadcasting import unbroadcast_batch
from .elementwise import conj
from .registry import gradient

_LEAST = 1e-20
"""What keeps the inverse of a difference of equal eigenvalues finite."""


def product(a: Tensor, b: Tensor, adj_a: bool = False, adj_b: bool = False) -> Tensor:
    """`a @ b` for each matrix, of their adjoints where it is said."""
    return ops.BatchMatMulV2(a, b, adj_x=adj_a, adj_y=adj_b)


def transposed(x: Tensor) -> Tensor:
    """Each matrix transposed."""
    rank = ops.Rank(x)
    order = ops.Range(np.int32(0), rank - 2, np.int32(1))
    last = ops.Pack([rank - 1, rank - 2])
    return ops.Transpose(x, ops.ConcatV2([order, last], np.int32(0)))


def adjoint(x: Tensor) -> Tensor:
    """Each matrix transposed and conjugated."""
    return conj(transposed(x))


def _lower(x: Tensor) -> Tensor:
    return ops.MatrixBandPart(x, np.int64(-1), np.int64(0))


def _upper(x: Tensor) -> Tensor:
    return ops.MatrixBandPart(x, np.int64(0), np.int64(-1))


def _inverse(x: Tensor) -> Tensor:
    """1 / x, and 0 where x is 0."""
    return x * ops.Reciprocal(x * x + number(_LEAST, x))


def _inverse_differences(e: Tensor) -> Tensor:
    """f[i, j] = 1 / (e[j] - e[i]), 0 on the diagonal."""
    differences = ops.ExpandDims(e, np.int32(-2)) - ops.ExpandDims(e, np.int32(-1))
    return ops.MatrixSetDiag(_inverse(differences), ops.ZerosLike(e))


def _scaled_columns(x: Tensor, s: Tensor) -> Tensor:
    """X diag(s)."""
    return x * ops.ExpandDims(s, np.int32(-2))


@gradient("SelfAdjointEigV2", fills_zeros=True)
def self_adjoint_eig(op: Operation, de: Tensor, dv: Tensor) -> Tensor:
    """V (diag(de) + f * (v^H dv)) v^H, in the lower triangle, which alone is looked at."""
    if op.get_attr("compute_v"):
        e, v = op.outputs
        middle = ops.MatrixDiag(de) + _inverse_differences(e) * product(v, dv, True)
    else:
        _, v = ops.SelfAdjointEigV2(op.inputs[0], compute_v=True)
        middle = ops.MatrixDiag(de)
    whole = product(v, product(middle, v, False, True))
    lower = _lower(whole + adjoint(whole))
    return ops.MatrixSetDiag(lower, ops.MatrixDiagPart(lower) / 2)


@gradient("LogMatrixDeterminant", fills_zeros=True)
def log_matrix_determinant(op: Operation, dsign: Tensor, dlog: Tensor) -> Tensor:
    """Dlog inverse(x)^H; the sign does not change."""
    inverse = ops.MatrixInverse(op.inputs[0], adjoint=True)
    return ops.ExpandDims(ops.ExpandDims(dlog, np.int32(-1)), np.int32(-1)) * inverse


def _sizes(op: Operation, x: Tensor) -> tuple[int, int]:
    """Rows and columns; NotImplementedError when they are not known."""
    shape = x.sizes
    rows, columns = shape[-2:] if shape is not None else (None, None)
    if rows is None or columns is None:
        words = f"must be matrices of known size for a gradient, got {x.get_shape()}"
        raise NotImplementedError(f"{op.type} '{op.name}': the input {words}")
    return rows, columns


@gradient("Qr", fills_zeros=True)
def qr(op: Operation, dq: Tensor, dr: Tensor) -> Tensor:
    """As Roberts and Roberts, QR and LQ decomposition matrix backpropagation, 2020."""
    q, r = op.outputs
    rows, columns = _sizes(op, op.inputs[0])
    if rows > columns and op.get_attr("full_matrices"):
        raise NotImplementedError(
            f"QrGrad not implemented when nrows > ncols and full_matrices is true, got {rows} rows "
            f"and {columns} columns"
        )
    if rows >= columns:
        return _tall_qr(q, r, dq, dr)
    square, tail = r[..., :, :rows], op.inputs[0][..., :, rows:]
    d_square, d_tail = dr[..., :, :rows], dr[..., :, rows:]
    left = _tall_qr(q, square, dq + product(tail, d_tail, False, True), d_square)
    return ops.ConcatV2([left, product(q, d_tail)], np.int32(-1))


def _tall_qr(q: Tensor, r: Tensor, dq: Tensor, dr: Tensor) -> Tensor:
    """Where there are as many rows as columns at least."""
    of_q, of_r = product(q, dq, True), product(r, dr, False, True)
    middle = _lower(of_q - adjoint(of_q) + of_r - adjoint(of_r))
    inside = product(q, dr + _over(middle, r))
    outside = _over(dq - product(q, of_q), r)
    result = inside + outside
    if q.dtype.kind != "c":
        return result
    diagonal = ops.MatrixDiagPart(of_r - adjoint(of_q))
    zeros = ops.ZerosLike(ops.Imag(diagonal, Tout=_real_dtype(q)))
    turns = ops.Complex(zeros, ops.Imag(diagonal, Tout=_real_dtype(q)), Tout=q.dtype)
    return result + _over(product(q, ops.MatrixDiag(turns), False, True), r)


def _real_dtype(x: Tensor) -> np.dtype:
    return np.dtype(f"f{x.dtype.itemsize // 2}")


def _over(x: Tensor, r: Tensor) -> Tensor:
    """X inverse(r)^H, r upper triangular."""
    return adjoint(ops.MatrixTriangularSolve(r, adjoint(x), lower=False))


@gradient("Svd", fills_zeros=True)
def svd(op: Operation, ds: Tensor, du: Tensor, dv: Tensor) -> Tensor:
    """As Giles, Collected matrix derivative results, 2008, and Townsend, 2016."""
    a = op.inputs[0]
    ds = _as(ds, a)
    if not op.get_attr("compute_uv"):
        _, u, v = ops.Svd(a, compute_uv=True)
        return product(_scaled_columns(u, ds), v, False, True)
    rows, columns = _sizes(op, a)
    s, u, v = op.outputs
    if rows > columns:
        return adjoint(_wide_svd(op, (columns, rows), (_as(s, a), v, u), (ds, dv, du)))
    return _wide_svd(op, (rows, columns), (_as(s, a), u, v), (ds, du, dv))


def _as(x: Tensor, like: Tensor) -> Tensor:
    return x if x.dtype == like.dtype else ops.Cast(x, DstT=like.dtype)


def _wide_svd(
    op: Operation,
    sizes: tuple[int, int],
    values: tuple[Tensor, Tensor, Tensor],
    gradients: tuple[Tensor, Tensor, Tensor],
) -> Tensor:
    """Where there are as many columns as rows at least."""
    (m, n), (s, u, v), (ds, du, dv) = sizes, values, gradients
    is_full = op.get_attr("full_matrices")
    if is_full and n - m > 1:
        raise NotImplementedError(
            "svd gradient is not implemented for abs(m - n) > 1 when full_matrices is True, got "
            f"{m} and {n}"
        )
    v1, dv1 = v[..., :, :m], dv[..., :, :m]
    f = _inverse_differences(ops.Square(s))
    of_u, of_v = product(u, du, True), product(v1, dv1, True)
    from_u, from_v = f * of_u, f * of_v
    middle = ops.MatrixDiag(ds) + _scaled_columns(from_u + adjoint(from_u), s)
    middle += ops.ExpandDims(s, np.int32(-1)) * (from_v + adjoint(from_v))
    result = product(u, product(middle, v1, False, True))
    inverse = _inverse(s)
    if m < n:
        beside = adjoint(dv1) - product(product(dv1, v1, True), v1, False, True)
        if is_full:
            v2, dv2 = v[..., :, m:], dv[..., :, m:]
            beside -= product(product(v1, dv2, True), v2, False, True)
        result += product(_scaled_columns(u, inverse), beside)
    if s.dtype.kind == "c":
        turns = ops.MatrixDiagPart(of_v)
        turns = inverse * (conj(turns) - turns) * number(0.5, s)
        result += product(_scaled_columns(u, turns), v1, False, True)
    return result


@gradient("MatrixSquareRoot")
def matrix_square_root(op: Operation, dy: Tensor) -> Tensor:
    """The x of y^T x + x y^T = dy, as one equation in all numbers of x."""
    y = op.outputs[0]
    shape = ops.Shape(y)
    n = shape[-1]
    eye = ops.MatrixDiag(ops.OnesLike(ops.MatrixDiagPart(y)))
    batch = shape[:-2]
    sum_ = _kronecker(eye, transposed(y), batch, n) + _kronecker(y, eye, batch, n)
    column = ops.ConcatV2([batch, ops.Pack([n * n, 1])], np.int32(0))
    x = ops.MatrixSolve(sum_, ops.Reshape(transposed(dy), column))
    return transposed(ops.Reshape(x, shape))


def _kronecker(a: Tensor, b: Tensor, batch: Tensor, n: Tensor) -> Tensor:
    """Each number of a by the whole of b."""
    outer = ops.ConcatV2([batch, ops.Pack([n, 1, n, 1])], np.int32(0))
    inner = ops.ConcatV2([batch, ops.Pack([1, n, 1, n])], np.int32(0))
    whole = ops.ConcatV2([batch, ops.Pack([n * n, n * n])], np.int32(0))
    return ops.Reshape(ops.Reshape(a, outer) * ops.Reshape(b, inner), whole)


@gradient("MatrixTriangularSolve")
def matrix_triangular_solve(op: Operation, dx: Tensor) -> list[Tensor]:
    """As of any equation, in the triangle that is looked at."""
    a, b = op.inputs
    lower = bool(op.get_attr("lower"))
    da, db = _solved(op, dx, ops.MatrixTriangularSolve, lower=lower)
    da = _lower(da) if lower else _upper(da)
    return unbroadcast_batch(a, b, da, db)


def _solved(
    op: Operation, dx: Tensor, solve: Callable[..., Tensor], **attrs: bool
) -> tuple[Tensor, Tensor]:
    """The gradients of the x of `a @ x = b`: b's solves with a^H, a's is its product with x."""
    a, x, of_adjoint = op.inputs[0], op.outputs[0], op.get_attr("adjoint")
    db = solve(a, dx, adjoint=not of_adjoint, **attrs)
    return -(product(x, db, False, True) if of_adjoint else product(db, x, False, True)), db


@gradient("BandedTriangularSolve")
def banded_triangular_solve(op: Operation, dx: Tensor) -> list[Tensor]:
    """As of any equation, in the diagonals that there are."""
    a, b = op.inputs
    lower = bool(op.get_attr("lower"))
    da, db = _solved(op, dx, ops.BandedTriangularSolve, lower=lower)
    last = ops.Shape(a)[-2] - 1
    k = ops.Pack([-last, 0]) if lower else ops.Pack([0, last])
    bands = ops.MatrixDiagPartV3(da, k, number(0, da), align="LEFT_RIGHT")
    return unbroadcast_batch(a, b, bands, db)


@gradient("MatrixSolve")
def matrix_solve(op: Operation, dx: Tensor) -> tuple[Tensor, Tensor]:
    """Of the x of `a @ x = b`: b gets the solution with a', a its product with x'."""
    return _solved(op, dx, ops.MatrixSolve)


@gradient("MatrixSolveLs")
def matrix_solve_ls(op: Operation, dx: Tensor) -> tuple[Tensor, Tensor, None]:
    """Of the normal equations, whose matrix is a^H a, or a a^H where a has fewer rows."""
    if not op.get_attr("fast"):
        raise ValueError("Gradient not defined for fast=False")
    a, b, l2 = op.inputs
    x = op.outputs[0]
    rows, columns = _sizes(op, a)
    if rows >= columns:
        z = ops.MatrixSolve(_gramian(a, l2, True), dx)
        both = product(x, z, False, True)
        da = product(b, z, False, True) - product(a, both + adjoint(both))
        return da, product(a, z), None
    gramian = _gramian(a, l2, False)
    db = ops.MatrixSolve(gramian, product(a, dx))
    z = ops.MatrixSolve(gramian, b)
    residual = dx - product(a, db, True)
    return product(z, residual, False, True) - product(db, product(z, a, True)), db, None


def _gramian(a: Tensor, l2: Tensor, of_columns: bool) -> Tensor:
    gramian = product(a, a, of_columns, not of_columns)
    diagonal = ops.MatrixDiagPart(gramian)
    return ops.MatrixSetDiag(gramian, diagonal + ops.Cast(l2, DstT=a.dtype))


@gradient("TridiagonalMatMul")
def tridiagonal_mat_mul(op: Operation, dy: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Each diagonal gets what it was multiplied by; x the product with the transpose."""
    above, middle, below = (adjoint(diagonal) for diagonal in op.inputs[:3])
    x = conj(op.inputs[3])
    factors = _shifted(x, -1), x, _shifted(x, 1)
    rows = [ops.ExpandDims(ops.Sum(f * dy, np.int32(-1)), np.int32(-2)) for f in factors]
    dx = _shifted(above * dy, 1) + middle * dy + _shifted(below * dy, -1)
    return rows[0], rows[1], rows[2], dx


def _shifted(x: Tensor, by: int) -> Tensor:
    """The rows of each matrix moved up (-1) or down (1), zeros behind them."""
    part = x[..., 1:, :] if by < 0 else x[..., :-1, :]
    zeros = ops.ZerosLike(x[..., :1, :])
    return ops.ConcatV2([part, zeros] if by < 0 else [zeros, part], np.int32(-2))


@gradient("TridiagonalSolve")
def tridiagonal_solve(op: Operation, dx: Tensor) -> tuple[Tensor, Tensor]:
    """The equation with the transposed matrix, and its product with x on three diagonals."""
    diagonals, x = op.inputs[0], op.outputs[0]
    none = ops.ZerosLike(diagonals[..., 0, :1])
    above = ops.ConcatV2([diagonals[..., 2, 1:], none], np.int32(-1))
    below = ops.ConcatV2([none, diagonals[..., 0, :-1]], np.int32(-1))
    turned = ops.Pack([above, diagonals[..., 1, :], below], axis=-2)
    db = ops.TridiagonalSolve(turned, dx, **same_attrs(op, "partial_pivoting", "perturb_singular"))
    parts = [ops.Sum(db * other, np.int32(-1)) for other in (_shifted(x, -1), x, _shifted(x, 1))]
    return -ops.Pack(parts, axis=-2), db


@gradient("Cross")
def cross(op: Operation, dy: Tensor) -> tuple[Tensor, Tensor]:
    """B x dy and dy x a."""
    a, b = op.inputs
    return ops.Cross(b, dy), ops.Cross(dy, a)
