"""The best of boxes that overlap, and how often numbers appear."""

from __future__ import annotations

import heapq
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from ..core.registry import op
from ..core.shapes import Dim, Shape, integers, known, merge_dims, require, require_size, shown

if TYPE_CHECKING:
    from ..core.dtype import DType
    from ..core.protocols import OperationView


def _overlap(box: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Intersection over union of a box with others; corners may come in any order."""
    low, high = np.minimum(box[:2], box[2:]), np.maximum(box[:2], box[2:])
    lows, highs = np.minimum(others[:, :2], others[:, 2:]), np.maximum(others[:, :2], others[:, 2:])
    area, areas = np.prod(high - low), np.prod(highs - lows, axis=1)
    sides = np.maximum(np.minimum(high, highs) - np.maximum(low, lows), 0)
    shared = np.prod(sides, axis=1)
    with np.errstate(all="ignore"):
        return np.where((area > 0) & (areas > 0), shared / (area + areas - shared), 0)


def suppressed(
    boxes: np.ndarray, scores: np.ndarray, limit: int, overlap: float, least: float, sigma: float
) -> tuple[list[int], list[float]]:
    """The boxes chosen, and their scores: those of overlapping boxes shrink where sigma is not 0.

    Source: Bodla et al., Soft-NMS: Improving Object Detection With One Line of Code, 2017.
    """
    if not 0 <= overlap <= 1:
        raise ValueError(f"iou_threshold must be in [0, 1], got {overlap}")
    scale = -0.5 / sigma if sigma > 0 else 0.0
    waiting = [(-float(s), i, 0) for i, s in enumerate(scores.tolist()) if s > least]
    heapq.heapify(waiting)
    chosen: list[int] = []
    chosen_scores: list[float] = []
    while waiting and len(chosen) < limit:
        negative, i, first = heapq.heappop(waiting)
        score, is_out = -negative, False
        for shared in _overlap(boxes[i], boxes[chosen[first:]])[::-1].tolist():
            is_out = shared > overlap and sigma <= 0
            if is_out:
                break
            score *= float(np.exp(scale * shared * shared))
            if score <= least:
                break
        if is_out or score <= least:
            continue
        if score == -negative:
            chosen.append(i)
            chosen_scores.append(score)
        else:
            heapq.heappush(waiting, (-score, i, len(chosen)))
    return chosen, chosen_scores


def _chosen_shape(op: OperationView) -> Shape:
    merge_dims(known(op, 0, 2)[0], known(op, 1, 1)[0])
    require_size(op, 0, 1, 4)
    return (None,)


@op("NonMaxSuppression", shape=_chosen_shape)
def non_max_suppression(
    boxes: np.ndarray, scores: np.ndarray, limit: np.ndarray, *, iou_threshold: float
) -> list[int]:
    """The boxes with the highest scores that do not overlap one chosen before."""
    return suppressed(boxes, scores, int(limit), iou_threshold, -np.inf, 0.0)[0]


@op("NonMaxSuppressionV2", "NonMaxSuppressionV3", shape=_chosen_shape)
def non_max_suppression_v3(
    boxes: np.ndarray, scores: np.ndarray, limit: np.ndarray, *thresholds: np.ndarray
) -> np.ndarray:
    """The same, of the boxes whose score exceeds a threshold."""
    overlap, least = (*(float(x) for x in thresholds), -np.inf)[:2]
    return np.array(suppressed(boxes, scores, int(limit), overlap, least, 0.0)[0], np.int32)


def _padded_size(op: OperationView) -> Dim:
    _chosen_shape(op)
    sizes = integers(op, 2)
    if not op.get_attr("pad_to_max_output_size") or sizes is None:
        return None
    return sizes[0]


@op("NonMaxSuppressionV4", shape=lambda op: [(_padded_size(op),), ()])
def non_max_suppression_v4(
    boxes: np.ndarray,
    scores: np.ndarray,
    limit: np.ndarray,
    overlap: np.ndarray,
    least: np.ndarray,
    *,
    pad_to_max_output_size: bool,
) -> tuple[np.ndarray, int]:
    """The boxes chosen, maybe with zeros up to the limit, and how many they are."""
    chosen, _ = suppressed(boxes, scores, int(limit), float(overlap), float(least), 0.0)
    zeros = [0] * (int(limit) - len(chosen)) * pad_to_max_output_size
    return np.array(chosen + zeros, np.int32), len(chosen)


@op("NonMaxSuppressionV5", shape=lambda op: [(_padded_size(op),), (_padded_size(op),), ()])
def non_max_suppression_v5(
    boxes: np.ndarray,
    scores: np.ndarray,
    limit: np.ndarray,
    overlap: np.ndarray,
    least: np.ndarray,
    sigma: np.ndarray,
    *,
    pad_to_max_output_size: bool,
) -> tuple[np.ndarray, np.ndarray, int]:
    """The boxes chosen, their scores, which overlap makes smaller, and how many they are."""
    numbers = (float(x) for x in (overlap, least, sigma))
    chosen, values = suppressed(boxes, scores, int(limit), *numbers)
    n = (int(limit) - len(chosen)) * pad_to_max_output_size
    return (
        np.array(chosen + [0] * n, np.int32),
        np.array(values + [0.0] * n, np.float32),
        len(chosen),
    )


def _bins_shape(op: OperationView) -> Shape:
    sizes = integers(op, 2 if op.type == "HistogramFixedWidth" else 1)
    size = None if sizes is None else sizes[0]
    require(op, size is None or size >= 0, f"size ({size}) must be non-negative")
    return (size,)


@op("Bincount", shape=_bins_shape)
def bincount(x: np.ndarray, size: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """How often each number up to a size appears, or the sum of the weights of where it does."""
    return _counts(x.ravel(), int(size), weights.ravel(), weights.dtype, False)


@op("HistogramFixedWidth", shape=_bins_shape)
def histogram_fixed_width(
    values: np.ndarray, limits: np.ndarray, count: np.ndarray, *, dtype: DType
) -> np.ndarray:
    """How many values lie in each of `count` intervals of equal width between two limits.

    Those outside count in the nearest interval.
    """
    low, high = limits
    if count < 1 or low >= high:
        raise ValueError(f"nbins must be positive and value_range rise, got {count} and {limits}")
    width = ((high - low) / count).astype(values.dtype)
    steps = np.floor((np.maximum(values.ravel(), low) - low) / width)
    indices = np.minimum(steps, int(count) - 1).astype(np.int64)
    return np.bincount(indices, minlength=int(count)).astype(np.dtype(dtype))


def _counts(
    x: np.ndarray, size: int, weights: np.ndarray, dtype: np.dtype, binary: bool
) -> np.ndarray:
    if weights.size and weights.shape != x.shape:
        raise ValueError(
            "`weights` must be the same shape as `arr` or a length-0 `Tensor`, in which case it "
            f"acts as all weights equal to 1. Received {shown(weights.shape)}"
        )
    if x.size and x.min() < 0:
        raise ValueError("Input must be non-negative")
    inside = x < size
    if binary:
        return (np.bincount(x[inside], minlength=size) > 0).astype(dtype)
    used = weights[inside] if weights.size else None
    return np.bincount(x[inside], used, size).astype(dtype)


def _dense_bins_shape(op: OperationView) -> Shape:
    return (*known(op, 0)[:-1], *(_bins_shape(op) or ()))


@op("DenseBincount", shape=_dense_bins_shape)
def dense_bincount(
    x: np.ndarray, size: np.ndarray, weights: np.ndarray, *, binary_output: bool
) -> np.ndarray:
    """How often each number appears in a vector, or in each row of a matrix."""
    rows = x.reshape(prod(x.shape[:-1]), x.shape[-1])
    parts = weights.reshape(rows.shape) if weights.size else [weights.ravel()] * len(rows)
    counts = [
        _counts(row, int(size), part, weights.dtype, binary_output)
        for row, part in zip(rows, parts, strict=True)
    ]
    return np.array(counts).reshape((*x.shape[:-1], int(size)))


def _sparse_bins_shape(op: OperationView) -> Shape:
    shape, size = op.inputs[2].value, op.inputs[3].value
    bins = None if size is None or size.size != 1 else int(size.ravel()[0])
    rank = op.inputs[2].sizes
    if rank == (1,):
        return (bins,)
    rows = None if shape is None or shape.size != 2 or shape[0] is None else int(shape[0])
    return (rows, bins) if rank == (2,) else None


@op("SparseBincount", shape=_sparse_bins_shape)
def sparse_bincount(
    indices: np.ndarray,
    values: np.ndarray,
    shape: np.ndarray,
    size: np.ndarray,
    weights: np.ndarray,
    *,
    binary_output: bool,
) -> np.ndarray:
    """How often each number is among the elements that are there, or among those of each row."""
    n = int(size)
    if len(shape) == 1:
        return _counts(values, n, weights, weights.dtype, binary_output)
    rows = [indices[:, 0] == row for row in range(int(shape[0]))]
    counts = [
        _counts(values[row], n, weights[row] if weights.size else weights, weights.dtype,
                binary_output)
        for row in rows
    ]  # fmt: skip
    return np.array(counts, weights.dtype).reshape(int(shape[0]), n)


@op("LowerBound", "UpperBound", shape=lambda op: op.inputs[1].sizes)
def bound(rows: np.ndarray, values: np.ndarray, *, op: OperationView) -> np.ndarray:
    """Where in each sorted row the values would go."""
    if len(rows) != len(values):
        raise ValueError("Leading dim_size of both tensors must match.")
    if (np.diff(rows) < 0).any():
        raise ValueError("rows must be sorted")
    side = "left" if op.type == "LowerBound" else "right"
    result = np.empty(values.shape, np.int64)
    for i, (row, value) in enumerate(zip(rows, values, strict=True)):
        result[i] = np.searchsorted(row, value, side)
    return result
