"""Boxes in images: drawn, and the best of those that overlap, by given overlaps or by class."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...core.registry import add_row, op
from ...core.shapes import (
    Shape,
    integers,
    known,
    merge_dims,
    require,
    require_rank,
    require_size,
    times,
)
from ..detection import suppressed

if TYPE_CHECKING:
    from ...core.protocols import OperationView

COLOURS = np.array(
    [
        [1, 1, 0, 1],
        [0, 0, 1, 1],
        [1, 0, 0, 1],
        [0, 1, 0, 1],
        [0.5, 0, 0.5, 1],
        [0.5, 0.5, 0, 1],
        [0.5, 0, 0, 1],
        [0, 0, 0.5, 1],
        [0, 1, 1, 1],
        [1, 0, 1, 1],
    ],
    np.float32,
)
"""RGBA of the first, second, ... box where none are given: yellow, blue, red, lime, purple, olive,
maroon, navy, aqua, fuchsia."""


def _images_shape(op: OperationView) -> Shape:
    require_rank(op, 0, 4)
    require_rank(op, 1, 3)
    return op.inputs[0].sizes


@op("DrawBoundingBoxes", "DrawBoundingBoxesV2", shape=_images_shape)
def draw_bounding_boxes(
    images: np.ndarray, boxes: np.ndarray, colors: np.ndarray | None = None
) -> np.ndarray:
    """Images with the edges of boxes, one pixel wide."""
    colours = COLOURS if colors is None or not colors.size else colors
    depth = images.shape[3]
    if depth == 1:
        colours = np.ones((len(colours), 1), colours.dtype)
    if colours.shape[1] < depth:
        raise ValueError(f"colors must have at least {depth} channels, got {colours.shape[1]}")
    drawn = images.copy()
    for image, rows in zip(drawn, boxes, strict=True):
        for i, box in enumerate(rows):
            _draw(image, box, colours[i % len(colours), :depth].astype(images.dtype))
    return drawn


def _draw(image: np.ndarray, box: np.ndarray, colour: np.ndarray) -> None:
    """Draws the edges that lie inside."""
    last = np.array(image.shape[:2] * 2) - 1
    corners = np.trunc(box * last.astype(np.float32)).astype(np.int64)
    if (corners[:2] > corners[2:]).any() or (corners[:2] > last[:2]).any() or min(corners[2:]) < 0:
        return
    top, left, bottom, right = np.clip(corners, 0, last).tolist()
    inside = (corners == (top, left, bottom, right)).tolist()
    rows, columns = slice(top, bottom + 1), slice(left, right + 1)
    edges = ((top, columns), (rows, left), (bottom, columns), (rows, right))
    for edge, is_inside in zip(edges, inside, strict=True):
        if is_inside:
            image[edge] = colour


def _overlaps_shape(op: OperationView) -> Shape:
    rows, columns = known(op, 0, 2)
    merge_dims(merge_dims(rows, columns), known(op, 1, 1)[0])
    return (None,)


@op("NonMaxSuppressionWithOverlaps", shape=_overlaps_shape)
def non_max_suppression_with_overlaps(
    overlaps: np.ndarray,
    scores: np.ndarray,
    max_output_size: np.ndarray,
    overlap_threshold: np.ndarray,
    score_threshold: np.ndarray,
) -> np.ndarray:
    """The best boxes, none of which overlaps another one by more than a threshold."""
    if overlaps.ndim != 2 or overlaps.shape[0] != overlaps.shape[1]:
        raise ValueError(f"overlaps must be square, got {list(overlaps.shape)}")
    chosen: list[int] = []
    for i in np.argsort(-scores, kind="stable").tolist():
        if len(chosen) >= max_output_size or not scores[i] > score_threshold:
            break
        if (overlaps[i, chosen] <= overlap_threshold).all():
            chosen.append(i)
    return np.array(chosen, np.int32)


def _combined_shape(op: OperationView) -> list[Shape]:
    boxes, scores = known(op, 0, 4), known(op, 1, 3)
    total, each = integers(op, 3), integers(op, 2)
    of_all = boxes[2] in (None, 1, scores[2]) or scores[2] is None
    words = "third dimension of boxes must be either 1 or equal to the third dimension of scores"
    require(op, of_all, words)
    size = total[0] if total else None
    if op.get_attr("pad_per_class"):
        most = times(each[0] if each else None, scores[2])
        size = None if size is None or most is None else min(size, most)
    return [(boxes[0], size, 4), (boxes[0], size), (boxes[0], size), (boxes[0],)]


@op("CombinedNonMaxSuppression", shape=_combined_shape)
def combined_non_max_suppression(
    boxes: np.ndarray,
    scores: np.ndarray,
    size_per_class: np.ndarray,
    total_size: np.ndarray,
    iou_threshold: np.ndarray,
    score_threshold: np.ndarray,
    *,
    pad_per_class: bool,
    clip_boxes: bool,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The best boxes of each class, and the best of these; what is left over is 0."""
    batch, _, n_boxes, _ = boxes.shape
    classes = scores.shape[2]
    if n_boxes not in (1, classes):
        raise ValueError(
            f"third dimension of boxes must be either 1 or num classes, got {n_boxes} and {classes}"
        )
    size = int(total_size)
    if pad_per_class:
        size = min(size, int(size_per_class) * classes)
    best_boxes = np.zeros((batch, size, 4), np.float32)
    best_scores, best_classes = (np.zeros((batch, size), np.float32) for _ in range(2))
    valid = np.zeros(batch, np.int32)
    for i in range(batch):
        rows: list[tuple[float, int, int]] = []
        for k in range(classes):
            of_class = boxes[i, :, min(k, n_boxes - 1)], scores[i, :, k]
            limits = int(size_per_class), float(iou_threshold), float(score_threshold)
            chosen, chosen_scores = suppressed(*of_class, *limits, 0.0)
            rows += [(score, k, j) for score, j in zip(chosen_scores, chosen, strict=True)]
        rows.sort(key=lambda row: -row[0])
        valid[i] = min(len(rows), size)
        for place, (score, k, j) in enumerate(rows[:size]):
            best_boxes[i, place] = boxes[i, j, min(k, n_boxes - 1)]
            best_scores[i, place], best_classes[i, place] = score, k
    if clip_boxes:
        best_boxes = np.clip(best_boxes, 0, 1)
    return best_boxes, best_scores, best_classes, valid


def _part_shape(op: OperationView) -> list[Shape]:
    require_rank(op, 0, 1)
    require_size(op, 0, 0, 3)
    require_rank(op, 1, 3)
    require_size(op, 1, 2, 4)
    return [(3,), (3,), (1, 1, 4)]


add_row("SampleDistortedBoundingBox", None, _part_shape)
add_row("SampleDistortedBoundingBoxV2", None, _part_shape)
add_row("StatelessSampleDistortedBoundingBox", None, _part_shape)
