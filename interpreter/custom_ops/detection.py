"""TFLite_Detection_PostProcess: boxes from what a detector says of anchors.

Source: LiteRT's operator of this name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...schema.dtypes import tf_name
from ..checks import rank
from ..numpy_calls import by_numpy
from .options import Options
from .registry import custom, exactly

if TYPE_CHECKING:
    from ..plan.node import HostCall, Node, Operand

_PER_CLASS = 100
_MOST = 1 << 20


class _Settings(NamedTuple):
    """The options."""

    max_detections: int
    max_classes: int
    per_class: int
    is_regular: bool
    threshold: np.float32
    overlap: np.float32
    n_classes: int
    scales: np.ndarray


def _settings(node: Node) -> _Settings:
    options = Options(node)
    settings = _Settings(
        options.positive("max_detections"),
        options.positive("max_classes_per_detection"),
        options.integer("detections_per_class", _PER_CLASS),
        options.flag("use_regular_nms"),
        np.float32(options.number("nms_score_threshold")),
        np.float32(options.number("nms_iou_threshold")),
        options.positive("num_classes"),
        np.array([options.number(f"{axis}_scale") for axis in "yxhw"], np.float32),
    )
    node.require(
        0 < settings.overlap <= 1,
        f"option nms_iou_threshold must be in (0, 1], got {settings.overlap}",
    )
    node.require(settings.scales.all(), "the scales must not be 0")
    node.require(settings.per_class > 0, "option detections_per_class must be positive")
    node.require(
        settings.max_detections * settings.max_classes <= _MOST,
        f"there must be at most {_MOST} detections",
    )
    return settings


@custom("TFLite_Detection_PostProcess")
def detection_postprocess(node: Node) -> HostCall:
    """Boxes (y, x, y, x), their classes and scores, the best first, and how many there are.

    With use_regular_nms each class keeps the boxes that overlap none better of the class; else each
    box has its best classes, and keeps clear of better ones of any class. What is left over is 0.
    """
    encodings, scores, anchors = exactly(node, 3)
    settings = _settings(node)
    for name, operand, n in (
        ("boxes", encodings, 3),
        ("scores", scores, 3),
        ("anchors", anchors, 2),
    ):
        rank(node, name, operand, n)
        node.require(
            operand.dtype == np.float32
            or (operand.dtype == np.uint8 and operand.quantization is not None),
            f"{name} must be float32, or uint8 with a scale, got {tf_name(operand.dtype)}",
        )
    n_boxes, background = encodings.shape[1], scores.shape[2] - settings.n_classes
    node.require(
        encodings.shape[0] == scores.shape[0] == 1
        and encodings.shape[2] >= 4
        and scores.shape[1] == n_boxes
        and anchors.shape[0] >= n_boxes
        and anchors.shape[1] == 4,
        "there must be scores and an anchor for each box of one image, got boxes "
        f"{encodings.shape}, scores {scores.shape}, anchors {anchors.shape}",
    )
    node.require(
        background in (0, 1),
        f"num_classes must be {scores.shape[2]} or one less, got {settings.n_classes}",
    )
    count = settings.max_detections * settings.max_classes
    choose = _regular if settings.is_regular else _fast

    def run(*arrays: np.ndarray) -> list[np.ndarray]:
        boxes, scores, corners = (
            _real(array, operand)
            for array, operand in zip(arrays, node.inputs, strict=True)
            if operand is not None
        )
        decoded = _decoded(boxes[0, :, :4], corners[:n_boxes], settings.scales)
        valid = (decoded[:, 0] <= decoded[:, 2]) & (decoded[:, 1] <= decoded[:, 3])
        node.require(valid.all(), "boxes must not be turned inside out")
        indices, classes, values, n_detections = choose(
            decoded, scores[0, :, background:], settings
        )
        results = (np.zeros((1, count, 4)), np.zeros((1, count)), np.zeros((1, count)))
        for result, value in zip(results, (decoded[indices], classes, values), strict=True):
            result[0, : len(value)] = value
        return [*results, np.array([n_detections])]

    return by_numpy(
        node,
        run,
        ((1, count, 4), np.float32),
        ((1, count), np.float32),
        ((1, count), np.float32),
        ((1,), np.float32),
    )


def _real(array: np.ndarray, operand: Operand) -> np.ndarray:
    """The numbers that an array stands for."""
    params = operand.quantization
    if array.dtype == np.float32 or params is None:
        return array
    return (array.astype(np.float32) - np.float32(params.zero_point)) * np.float32(params.scale)


def _decoded(boxes: np.ndarray, anchors: np.ndarray, scales: np.ndarray) -> np.ndarray:
    """The corners of boxes that are said by centre and size against their anchors'."""
    encoded, anchors = (
        boxes.astype(np.float64) / scales.astype(np.float64),
        anchors.astype(np.float64),
    )
    centre = (encoded[:, :2] * anchors[:, 2:] + anchors[:, :2]).astype(np.float32)
    half = (0.5 * np.exp(encoded[:, 2:]) * anchors[:, 2:]).astype(np.float32)
    return np.concatenate([centre - half, centre + half], 1)


def _suppressed(boxes: np.ndarray, scores: np.ndarray, settings: _Settings, most: int) -> list[int]:
    """At most `most` boxes that overlap none with a better score, the best first."""
    candidates = np.nonzero(scores >= settings.threshold)[0]
    order = candidates[np.argsort(-scores[candidates], kind="stable")]
    size = np.maximum(boxes[:, 2:] - boxes[:, :2], -np.inf)
    areas = size[:, 0] * size[:, 1]
    chosen: list[int] = []
    while order.size and len(chosen) < most:
        best, order = int(order[0]), order[1:]
        chosen.append(best)
        low = np.maximum(boxes[best, :2], boxes[order, :2])
        high = np.minimum(boxes[best, 2:], boxes[order, 2:])
        common = np.maximum(high - low, np.float32(0)).prod(1)
        shares = common / (areas[best] + areas[order] - common)
        shares = np.where((areas[best] <= 0) | (areas[order] <= 0), np.float32(0), shares)
        order = order[~(shares > settings.overlap)]
    return chosen


def _regular(
    boxes: np.ndarray, scores: np.ndarray, settings: _Settings
) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """The best boxes of all classes, each suppressed for itself."""
    most = min(settings.per_class, settings.max_detections)
    pairs = [
        (box, label)
        for label in range(settings.n_classes)
        for box in _suppressed(boxes, scores[:, label], settings, most)
    ]
    anchors, classes = np.array(pairs, np.int64).reshape(-1, 2).T
    values = scores[anchors, classes]
    order = np.argsort(-values, kind="stable")[: settings.max_detections]
    return anchors[order], classes[order], values[order], len(order)


def _fast(
    boxes: np.ndarray, scores: np.ndarray, settings: _Settings
) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """The boxes whose best class is the best there, each with its best classes."""
    n = min(settings.max_classes, settings.n_classes)
    best = np.argsort(-scores, axis=1, kind="stable")[:, :n]
    top = np.take_along_axis(scores, best[:, :1], 1)[:, 0]
    chosen = _suppressed(boxes, top, settings, settings.max_detections)
    # A box has room for max_classes, of which those that there are not stay empty.
    anchors = np.repeat(chosen, settings.max_classes).astype(np.int64)
    labels = np.resize(np.arange(settings.max_classes), anchors.size)
    classes = np.zeros(anchors.size, np.int64)
    real = labels < n
    classes[real] = best[anchors[real], labels[real]]
    values = np.where(real, scores[anchors, classes], 0)
    return anchors, classes, values, len(chosen)
