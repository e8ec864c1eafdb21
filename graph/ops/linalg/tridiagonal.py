"""Products and equations of matrices with few diagonals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...core.registry import op
from ...core.shapes import Shape, broadcast_ranked, known, require
from .matmul import triangular_solve, wide

if TYPE_CHECKING:
    from ...core.protocols import OperationView


@op("TridiagonalMatMul", shape=lambda op: op.inputs[3].sizes)
def tridiagonal_mat_mul(
    above: np.ndarray, middle: np.ndarray, below: np.ndarray, x: np.ndarray
) -> np.ndarray:
    """The matrix of the three diagonals, each [..., 1, m], by x."""
    above, middle, below = (np.swapaxes(d, -1, -2) for d in (above, middle, below))
    result = middle * x
    result[..., :-1, :] += above[..., :-1, :] * x[..., 1:, :]
    result[..., 1:, :] += below[..., 1:, :] * x[..., :-1, :]
    return result


def _solve_shape(op: OperationView) -> Shape:
    diagonals, rhs = known(op, 0), known(op, 1)
    require(op, len(diagonals) >= 2, f"diagonals must have rank >= 2, got {diagonals}")
    require(op, diagonals[-2] in (None, 3), f"Expected 3 diagonals got {diagonals[-2]}")
    return rhs


@op("TridiagonalSolve", shape=_solve_shape)
def tridiagonal_solve(
    diagonals: np.ndarray, rhs: np.ndarray, *, partial_pivoting: bool, perturb_singular: bool
) -> np.ndarray:
    """The x of `a @ x = rhs`, where diagonals [..., 3, m] are those above, on and below a's.

    Singular matrices give NaN; with `perturb_singular` pivots of 0 become small numbers.
    """
    d, x = wide(diagonals), wide(rhs).copy()
    m = d.shape[-1]
    if x.size == 0:
        return x
    # Row i has its numbers of columns i, i + 1 and i + 2.
    rows = np.stack([d[..., 1, :], d[..., 0, :], np.zeros_like(d[..., 0, :])], -1)
    rows[..., -1, 1] = 0
    with np.errstate(all="ignore"):
        for i in range(m - 1):
            _eliminate(rows, d[..., 2, i + 1], x, i, partial_pivoting)
        pivots = rows[..., 0]
        tiny = np.abs(pivots) < np.finfo(diagonals.dtype).tiny
        if perturb_singular:
            largest = np.abs(rows).max((-1, -2))[..., None]
            pivots[...] = np.where(tiny, np.finfo(diagonals.dtype).eps * largest, pivots)
        for i in range(m - 1, -1, -1):
            for k in range(1, min(3, m - i)):
                x[..., i, :] -= rows[..., i, k, None] * x[..., i + k, :]
            x[..., i, :] /= pivots[..., i, None]
    if not perturb_singular:
        x[tiny.any(-1)] = np.nan
    return x


def _eliminate(rows: np.ndarray, below: np.ndarray, x: np.ndarray, i: int, pivoting: bool) -> None:
    """Takes from row i + 1 what makes its number below the diagonal 0."""
    row, after = rows[..., i, :].copy(), rows[..., i + 1, :].copy()
    after = np.stack([below, after[..., 0], after[..., 1]], -1)
    upper, lower = x[..., i, :].copy(), x[..., i + 1, :].copy()
    if pivoting:
        swaps = (np.abs(below) > np.abs(row[..., 0]))[..., None]
        row, after = np.where(swaps, after, row), np.where(swaps, row, after)
        upper, lower = np.where(swaps, lower, upper), np.where(swaps, upper, lower)
    pivot = row[..., 0]
    factor = np.divide(after[..., 0], pivot, out=np.zeros_like(pivot), where=pivot != 0)[..., None]
    rows[..., i, :], rows[..., i + 1, :2] = row, after[..., 1:] - factor * row[..., 1:]
    x[..., i, :], x[..., i + 1, :] = upper, lower - factor * upper


def _banded_shape(op: OperationView) -> Shape:
    bands, rhs = known(op, 0), known(op, 1)
    require(op, min(len(bands), len(rhs)) >= 2, f"ranks must be >= 2, got {bands} and {rhs}")
    return broadcast_ranked(bands[:-2], rhs[:-2]) + (bands[-1], rhs[-1])


@op("BandedTriangularSolve", shape=_banded_shape)
def banded_triangular_solve(
    bands: np.ndarray, rhs: np.ndarray, *, lower: bool, adjoint: bool
) -> np.ndarray:
    """The x of `a @ x = rhs`, a triangular with the diagonals [..., k, m] from its edge."""
    return triangular_solve(_of_bands(bands, lower), rhs, lower, adjoint)


def _of_bands(bands: np.ndarray, lower: bool) -> np.ndarray:
    """The matrices with these diagonals: the main one first where they go down, else last."""
    k, m = (int(size) for size in bands.shape[-2:])
    result = np.zeros((*bands.shape[:-2], m, m), bands.dtype)
    at: np.ndarray = np.arange(m, dtype=np.int64)
    for i in range(k):
        n = i if lower else k - 1 - i
        if lower:
            result[..., at[n:], at[: m - n]] = bands[..., i, n:]
        else:
            result[..., at[: m - n], at[n:]] = bands[..., i, : m - n]
    return result
