"""GPTQ: each column of the weights makes up for the rounding of those before it.

Frantar et al. 2022, GPTQ: Accurate Post-Training Quantization for Generative Pre-trained
Transformers, arXiv 2210.17323.
"""

from __future__ import annotations

import numpy as np


def gptq(
    weights: np.ndarray,
    scales: np.ndarray,
    limits: tuple[int, int],
    rows: np.ndarray,
    damping: float = 0.01,
    reorder: bool = True,
) -> np.ndarray:
    """Weights on their grid that minimize the squared error of rows @ weights.T.

    Column by column: w_q = round(w / s) s, the error (w - w_q) / U_jj times row j of U is taken
    from the columns behind, where U is the upper Cholesky factor of the inverse of
    H = X^T X + damping mean(diag H) I.

    Args:
        weights: [groups, outputs, taps].
        scales: of the grid, [groups, outputs, 1].
        limits: the smallest and the largest integer.
        rows: inputs X, [groups, rows, taps].
        damping: what is added to the diagonal, of its mean.
        reorder: whether the columns of the largest inputs come first.

    Returns:
        The rounded weights, in the form of `weights`.
    """
    done = [
        gptq_group(*parts, limits, damping, reorder)
        for parts in zip(weights, scales, rows, strict=True)
    ]
    return np.stack(done)


def gptq_group(
    weights: np.ndarray,
    scales: np.ndarray,
    rows: np.ndarray,
    limits: tuple[int, int],
    damping: float,
    reorder: bool,
) -> np.ndarray:
    """That of one group, without the first dimension."""
    hessian = rows.T.astype(np.float64) @ rows
    diagonal = hessian.diagonal().copy()
    is_dead = diagonal == 0
    hessian[is_dead, is_dead] = 1.0
    hessian[np.diag_indices_from(hessian)] += damping * max(diagonal.mean(), 1e-12)
    order = np.argsort(-diagonal, kind="stable") if reorder else np.arange(len(diagonal))
    inverse = np.linalg.inv(hessian[np.ix_(order, order)])
    upper = np.linalg.cholesky((inverse + inverse.T) / 2).T
    left, rounded = weights[:, order].astype(np.float64), np.empty(weights.shape)
    steps = scales[:, 0]
    for j in range(left.shape[1]):
        rounded[:, j] = np.clip(np.rint(left[:, j] / steps), *limits) * steps
        error = (left[:, j] - rounded[:, j]) / upper[j, j]
        left[:, j + 1 :] -= error[:, np.newaxis] * upper[j, j + 1 :]
    result = np.empty(weights.shape)
    result[:, order] = rounded
    return result
