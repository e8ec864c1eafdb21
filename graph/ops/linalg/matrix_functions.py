"""Square roots and logarithms of matrices, by way of their triangular Schur form."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ...core.registry import op
from .matmul import adjoint, square

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Complex = NDArray[np.complex128]

_SWEEPS = 60
"""QR steps for each eigenvalue before the matrix is given up; two or three are usual."""
_NEAR_ONE = 0.25
"""How far from 1 a matrix is whose logarithm 12 points of Gauss integrate exactly enough."""


def _schur(a: Complex) -> tuple[Complex, Complex]:
    """Triangular t and unitary z with a = z t z^H, by QR steps with Wilkinson's shift."""
    t, z = a.copy(), np.eye(len(a), dtype=a.dtype)
    end, steps = len(a) - 1, 0
    while end > 0:
        left = np.abs(t[end, :end]).sum()
        if left <= np.finfo(float).eps * (np.abs(t[end, end]) + np.abs(t[end - 1, end - 1])):
            t[end, :end] = 0
            end, steps = end - 1, 0
            continue
        if steps == _SWEEPS or not np.isfinite(t).all():
            return np.full_like(t, np.nan), z
        size = end + 1
        shift = _shift(t[end - 1 : size, end - 1 : size], steps) * np.eye(size)
        q, _ = np.linalg.qr(t[:size, :size] - shift)
        t[:size] = adjoint(q) @ t[:size]
        t[:, :size] = t[:, :size] @ q
        z[:, :size] = z[:, :size] @ q
        steps += 1
    return np.triu(t), z


def _shift(corner: Complex, steps: int) -> complex:
    """The eigenvalue of the last two rows that is nearer the last number; sometimes another."""
    if steps % 10 == 9:
        return complex(np.abs(corner).sum())
    values = np.linalg.eigvals(corner)
    return complex(values[np.argmin(np.abs(values - corner[1, 1]))])


def _triangular_root(t: Complex) -> Complex:
    """The upper triangular r with r r = t, diagonal after diagonal (Bjorck, Hammarling, 1983)."""
    root = np.diag(np.sqrt(np.diag(t)))
    for j in range(len(t)):
        for i in range(j - 1, -1, -1):
            inner = t[i, j] - root[i, i + 1 : j] @ root[i + 1 : j, j]
            root[i, j] = 0 if inner == 0 else inner / (root[i, i] + root[j, j])
    return root


def _triangular_log(t: Complex) -> Complex:
    """The logarithm of triangular t: that of a root near 1, as an integral, as often doubled."""
    eye, doublings = np.eye(len(t)), 0
    while np.abs(t - eye).sum(-1).max() > _NEAR_ONE and doublings < 100:
        t, doublings = _triangular_root(t), doublings + 1
    points, weights = np.polynomial.legendre.leggauss(12)
    near = t - eye
    parts = [
        w / 2 * np.linalg.solve(eye + (x + 1) / 2 * near, near)
        for x, w in zip(points, weights, strict=True)
    ]
    return np.sum(parts, 0) * 2.0**doublings


def _each(x: np.ndarray, of_triangle: Callable[[Complex], Complex]) -> Complex:
    """A function of each matrix of a stack, through its triangular form."""
    if not x.size:
        return x.astype(np.complex128)
    stack = x.reshape(-1, *x.shape[-2:]).astype(np.complex128)
    results = np.empty_like(stack)
    for i, matrix in enumerate(stack):
        t, z = _schur(matrix)
        with np.errstate(all="ignore"):
            results[i] = z @ of_triangle(t) @ adjoint(z)
    return results.reshape(x.shape)


@op("MatrixSquareRoot", shape=square)
def matrix_square_root(x: np.ndarray) -> np.ndarray:
    """The y of y y = x whose eigenvalues have real parts >= 0; NaN where a real x has none."""
    root = _each(x, _triangular_root)
    if x.dtype.kind == "c":
        return root
    size = np.abs(root).max((-1, -2), initial=0, keepdims=True)
    is_real = np.abs(root.imag).max((-1, -2), initial=0, keepdims=True) <= 1e-6 * size
    return np.where(is_real, root.real, np.nan)


@op("MatrixLogarithm", shape=square)
def matrix_logarithm(x: np.ndarray) -> np.ndarray:
    """The principal logarithm of each matrix."""
    return _each(x, _triangular_log)
