"""Decompositions of matrices, on stacks of matrices."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ...core.registry import op
from ...core.shapes import Shape, known, merged_shapes, require
from .matmul import adjoint, square, wide

if TYPE_CHECKING:
    from ...core.protocols import OperationView


def _svd_shape(op: OperationView) -> list[Shape]:
    *batch, m, n = known(op, 0)
    least = None if m is None or n is None else min(m, n)
    first: Shape = (*batch, least)
    if not op.get_attr("compute_uv"):
        return [first, None, None]
    if op.get_attr("full_matrices"):
        return [first, (*batch, m, m), (*batch, n, n)]
    return [first, (*batch, m, least), (*batch, n, least)]


@op("Svd", shape=_svd_shape)
def svd(x: np.ndarray, *, compute_uv: bool, full_matrices: bool) -> tuple[np.ndarray, ...]:
    """Singular values, and the vectors u and v: x = u s v^H; NaN for a matrix that has NaN."""
    has_none = np.asarray(~np.isfinite(x).all((-2, -1)))
    x = np.where(np.expand_dims(has_none, (-2, -1)), 0, x)
    if not compute_uv:
        none = np.zeros(0, x.dtype)
        return _marked(np.linalg.svd(x, compute_uv=False), has_none), none, none
    u, s, v = np.linalg.svd(x, full_matrices=full_matrices)
    return _marked(s, has_none), _marked(u, has_none), _marked(adjoint(v), has_none)


def _marked(results: np.ndarray, has_none: np.ndarray) -> np.ndarray:
    """Results with NaN for the matrices that have none."""
    axes = tuple(range(has_none.ndim, results.ndim))
    return np.where(np.expand_dims(has_none, axes), np.nan, results) if has_none.any() else results


def _eigen_shape(op: OperationView) -> list[Shape]:
    shape = square(op)
    return [shape[:-1], shape if op.get_attr("compute_v") else None]


@op("SelfAdjointEigV2", shape=_eigen_shape)
def self_adjoint_eig(x: np.ndarray, *, compute_v: bool) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues in rising order, and the eigenvectors as columns."""
    if not compute_v:
        return np.linalg.eigvalsh(x), np.zeros(0, x.dtype)
    values, vectors = np.linalg.eigh(x)
    return values, vectors


def _qr_shape(op: OperationView) -> list[Shape]:
    *batch, m, n = known(op, 0)
    least = None if m is None or n is None else min(m, n)
    if op.get_attr("full_matrices"):
        return [(*batch, m, m), (*batch, m, n)]
    return [(*batch, m, least), (*batch, least, n)]


@op("Qr", shape=_qr_shape)
def qr(x: np.ndarray, *, full_matrices: bool) -> tuple[np.ndarray, np.ndarray]:
    """q with orthogonal columns, and r with zeros below its diagonal: x = q r."""
    x = x.astype(np.float32) if x.dtype.itemsize == 2 else x
    q, r = np.linalg.qr(x, mode="complete" if full_matrices else "reduced")
    return q, r


@op("LogMatrixDeterminant", shape=lambda op: [square(op)[:-2]] * 2)
def log_matrix_determinant(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sign and logarithm of the absolute value of the determinant."""
    sign, log = np.linalg.slogdet(x)
    return sign, log


def _lu_shape(op: OperationView) -> list[Shape]:
    shape = square(op)
    return [shape, shape[:-1]]


@op("Lu", shape=_lu_shape)
def lu(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """L without its diagonal of ones and U in one matrix, and the rows p of x with x[p] = L U."""
    whole = wide(x)
    factors = whole.reshape(math.prod(x.shape[:-2]), *x.shape[-2:]).copy()
    n = x.shape[-1]
    positions: np.ndarray = np.arange(n, dtype=np.int64)
    order = np.tile(positions, (len(factors), 1))
    stack: np.ndarray = np.arange(len(factors), dtype=np.int64)
    arrays: list[np.ndarray] = [factors, order]
    for i in range(n):
        best = i + np.abs(factors[:, i:, i]).argmax(-1)
        for array in arrays:
            row = array[:, i].copy()
            array[:, i] = array[stack, best]
            array[stack, best] = row
        if (factors[:, i, i] == 0).any():
            raise ValueError("Input is not invertible.")
        factors[:, i + 1 :, i] /= factors[:, i, i, None]
        factors[:, i + 1 :, i + 1 :] -= factors[:, i + 1 :, i, None] * factors[:, i, None, i + 1 :]
    return factors.reshape(x.shape), order.reshape(x.shape[:-1])


def _cross_shape(op: OperationView) -> Shape:
    a, b = known(op, 0), known(op, 1)
    merged_shapes(op, a, b)
    require(op, len(a) > 0, "Shape must be at least rank 1 but is rank 0")
    require(op, a[-1] in (3, None), f"Dimension must be 3 but is {a[-1]}")
    return a


@op("Cross", shape=_cross_shape)
def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The cross product of vectors of three numbers."""
    if a.shape != b.shape or not a.shape or a.shape[-1] != 3:
        raise ValueError(f"inputs must have the same shape [..., 3], got {a.shape} and {b.shape}")
    return np.cross(a, b)
