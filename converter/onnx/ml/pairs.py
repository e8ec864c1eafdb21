"""ai.onnx.ml: classes whose pairs a support vector machine decides, and their probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from ...lowering.formulas import clip
from ...lowering.moves import int32s, like, reshaped, slice_along, transposed
from ...tf.decompositions import over_rows

if TYPE_CHECKING:
    from ...ir.builder import Builder
    from ...ir.graph import Tensor
    from ..registry import Node

MAX_ITERATIONS = 100
STEP = 0.005
"""What the largest error times the number of classes must be below."""
MARGIN = 1e-7
"""How far probabilities of pairs are from 0 and 1."""


def pairs_of(counts: Sequence[int], coefficients: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(weights of the kernels in each pair of classes, what a pair's vote adds to each class)."""
    starts = np.cumsum([0, *counts])
    pairs = list(combinations(range(len(counts)), 2))
    weights = np.zeros((len(pairs), starts[-1]), np.float32)
    votes = np.zeros((len(counts), len(pairs)), np.float32)
    for row, (i, j) in enumerate(pairs):
        of_i, of_j = (slice(starts[k], starts[k + 1]) for k in (i, j))
        weights[row, of_i] = coefficients[j - 1, of_i]
        weights[row, of_j] = coefficients[i, of_j]
        votes[i, row], votes[j, row] = 1, -1
    return weights, votes


def pair_probabilities(node: Node, b: Builder, scores: Tensor, n_classes: int) -> Tensor:
    """Probabilities of the classes from the scores of their pairs, [rows, pairs].

    Those of pairs are sigmoids of the scores; what agrees best with all of them is the p of sum 1
    with the least p^T q p, which libsvm (Wu, Lin and Weng, 2004) reaches class by class.
    """
    factor, offset = (
        b.constant(np.asarray(node.attr(name), np.float32)) for name in ("prob_a", "prob_b")
    )
    of_pairs = b.LOGISTIC(b.NEG(b.ADD(b.MUL(scores, factor), offset)))
    of_pairs = clip(b, of_pairs, like(scores, MARGIN, b), like(scores, 1 - MARGIN, b))
    q = _disagreement(b, of_pairs, n_classes)
    zeros = b.MUL(slice_along(of_pairs, 1, 0, 1, b), like(scores, 0, b))
    start = b.ADD(zeros, b.constant(np.full((1, n_classes), 1 / n_classes, np.float32)))
    is_open = b.EQUAL(zeros, like(scores, 0, b))
    out, *_ = over_rows(
        node, b, [start, is_open, q], MAX_ITERATIONS, _iteration,
        lambda inner, values: inner.REDUCE_ANY(values[1], int32s([0, 1]), keep_dims=False),
    )  # fmt: skip
    return out


def _disagreement(b: Builder, of_pairs: Tensor, n: int) -> Tensor:
    """q, [rows, n, n]: minus the product of both probabilities of a pair; sums of squares."""
    weights, offset = np.zeros((n * n, n * (n - 1) // 2), np.float32), np.zeros(n * n, np.float32)
    for pair, (i, j) in enumerate(combinations(range(n), 2)):
        weights[i * n + j, pair], weights[j * n + i, pair], offset[j * n + i] = 1, -1, 1
    flat = b.FULLY_CONNECTED(of_pairs, b.constant(weights), b.constant(offset))
    of_first = reshaped(flat, (-1, n, n), b)
    squares = b.SUM(b.SQUARE(of_first), int32s([1]), keep_dims=True)
    diagonal = b.MUL(squares, b.constant(np.eye(n, dtype=np.float32)[None]))
    return b.SUB(diagonal, b.MUL(of_first, transposed(of_first, (0, 2, 1), b)))


def _iteration(b: Builder, _: Tensor, values: Sequence[Tensor]) -> list[Tensor]:
    """Each probability moved in turn to where the sum is least; of rows that have settled, none."""
    p, is_open, q = values
    n = p.dims[1]
    assert n is not None
    one, two = like(p, 1, b), like(p, 2, b)
    slopes = b.SUM(b.MUL(q, b.EXPAND_DIMS(p, np.int32(1))), int32s([2]))
    total = b.SUM(b.MUL(p, slopes), int32s([1]), keep_dims=True)
    errors = b.REDUCE_MAX(b.ABS(b.SUB(slopes, total)), int32s([1]), keep_dims=True)
    is_open = b.LOGICAL_AND(is_open, b.GREATER_EQUAL(errors, like(p, STEP / n, b)))
    moved = p
    for i in range(n):
        row = reshaped(slice_along(q, 1, i, 1, b), (-1, n), b)
        pivot, slope = (slice_along(x, 1, i, 1, b) for x in (row, slopes))
        step = b.DIV(b.SUB(total, slope), pivot)
        scale = b.ADD(step, one)
        unit = b.constant(np.eye(n, dtype=np.float32)[i : i + 1])
        moved = b.DIV(b.ADD(moved, b.MUL(step, unit)), scale)
        gain = b.MUL(step, b.ADD(b.MUL(step, pivot), b.MUL(slope, two)))
        total = b.DIV(b.DIV(b.ADD(total, gain), scale), scale)
        slopes = b.DIV(b.ADD(slopes, b.MUL(step, row)), scale)
    return [b.SELECT_V2(is_open, moved, p), is_open, q]
