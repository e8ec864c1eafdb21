"""Decompositions of matrices, on stacks of matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..core.registry import op
from ..core.shapes import Shape, known, same

if TYPE_CHECKING:
    from ..core.protocols import OperationView


def _adjoint(x: np.ndarray) -> np.ndarray:
    return np.conj(np.swapaxes(x, -1, -2))


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
    """Singular values, and the vectors u and v: x = u s v^H."""
    if not compute_uv:
        none = np.zeros(0, x.dtype)
        return np.linalg.svd(x, compute_uv=False), none, none
    u, s, v = np.linalg.svd(x, full_matrices=full_matrices)
    return s, u, _adjoint(v)


def _eigen_shape(op: OperationView) -> list[Shape]:
    *batch, n, _ = known(op, 0)
    return [(*batch, n), (*batch, n, n) if op.get_attr("compute_v") else None]


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
    q, r = np.linalg.qr(x, mode="complete" if full_matrices else "reduced")
    return q, r


@op("LogMatrixDeterminant", shape=lambda op: [known(op, 0)[:-2]] * 2)
def log_matrix_determinant(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sign and logarithm of the absolute value of the determinant."""
    sign, log = np.linalg.slogdet(x)
    return sign, log


@op("Cross", shape=same)
def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The cross product of vectors of three numbers."""
    if a.shape != b.shape or not a.shape or a.shape[-1] != 3:
        raise ValueError(f"inputs must have the same shape [..., 3], got {a.shape} and {b.shape}")
    return np.cross(a, b)
