"""Boxes of several classes and images that overlap, of which the best remain."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..lowering.boxes import beyond, with_areas
from ..lowering.moves import element, int32s
from .registry import Node, lower

if TYPE_CHECKING:
    from ..ir.builder import Builder
    from ..ir.graph import Tensor

MAX_RUNS = 256
"""Operators that look for overlaps in a file, one for each class of each image."""
NOTHING = np.float32(np.finfo(np.float32).min)
"""The score of no box."""


@lower("CombinedNonMaxSuppression")
def combined_non_max_suppression(node, b):
    """The best boxes of each image, of all its classes: corners, scores, classes, and how many."""
    boxes, scores, *_ = node.inputs
    n_images, n_boxes = node.shape(1)[:2]
    n_sets, n_classes = node.shape(0)[2], node.shape(1)[2]
    node.require(
        None not in (n_images, n_boxes, n_sets, n_classes) and n_images * n_classes <= MAX_RUNS,
        f"images, boxes and classes must be known, and images times classes at most {MAX_RUNS}, "
        f"got {node.shape(0)} and {node.shape(1)}",
    )
    per_class, total = int(node.constant(2)), int(node.constant(3))
    size = min(total, n_classes * per_class) if node.attr("pad_per_class") else total
    by_class = b.TRANSPOSE(scores, int32s([0, 2, 1]))
    sets = b.TRANSPOSE(boxes, int32s([0, 2, 1, 3]))
    images = []
    for i in range(n_images):
        rows = [
            _best_of_class(node, b, _part(sets, i, c % n_sets, b), _part(by_class, i, c, b))
            for c in range(n_classes)
        ]
        images.append(_merged(node, b, rows, per_class, size))
    n = len(images)
    return tuple(b.PACK(*column, axis=0, values_count=n) for column in zip(*images, strict=True))


def _part(x: Tensor, i: int, j: int, b: Builder) -> Tensor:
    """x[i, j]."""
    return element(element(x, i, b), j, b)


def _best_of_class(node: Node, b: Builder, boxes: Tensor, scores: Tensor) -> list[Tensor]:
    """The boxes and scores of one class, as many as there may be of it."""
    limit = int(node.constant(2))
    indices, count = b.NON_MAX_SUPPRESSION_V4(
        with_areas(boxes, b), scores, np.int32(limit), beyond(node.inputs[4], b), node.inputs[5]
    )
    is_box = b.LESS(np.arange(limit, dtype=np.int32), count)
    best = b.SELECT_V2(is_box, b.GATHER(scores, indices, axis=0), NOTHING)
    return [b.GATHER(boxes, indices, axis=0), best]


def _merged(
    node: Node, b: Builder, rows: list[list[Tensor]], per_class: int, size: int
) -> list[Tensor]:
    """The best boxes of all classes of an image, and zeros for those that are missing."""
    boxes, scores = (b.CONCATENATION(*column, axis=0) for column in zip(*rows, strict=True))
    count = min(size, per_class * len(rows))
    scores, positions = b.TOPK_V2(scores, np.int32(count))
    is_box = b.GREATER(scores, NOTHING)
    zero = np.float32(0)
    boxes = b.SELECT_V2(
        b.EXPAND_DIMS(is_box, np.int32(1)), b.GATHER(boxes, positions, axis=0), zero
    )
    if node.attr("clip_boxes"):
        boxes = b.MINIMUM(b.MAXIMUM(boxes, zero), np.float32(1))
    classes = b.CAST(b.FLOOR_DIV(positions, np.int32(per_class)), dtype=np.float32)
    results = [boxes, *(b.SELECT_V2(is_box, t, zero) for t in (scores, classes))]
    if count < size:
        pads = [[[0, size - count], [0, 0]], [[0, size - count]], [[0, size - count]]]
        results = [b.PAD(t, int32s(pad)) for t, pad in zip(results, pads, strict=True)]
    return [*results, b.SUM(b.CAST(is_box, dtype=np.int32), int32s([0]))]
