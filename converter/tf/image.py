"""Images: resized, cut out, in other colours; boxes that overlap."""

from typing import Any

import numpy as np

from ...graph.core.registry import kernel_of
from ..lowering.boxes import beyond, with_areas
from ..lowering.moves import (
    as_int32,
    as_type,
    extent,
    regrouped,
    slice_along,
    transposed,
)
from .registry import lower

RESIZES = {"ResizeBilinear": "RESIZE_BILINEAR", "ResizeNearestNeighbor": "RESIZE_NEAREST_NEIGHBOR"}
NO_THRESHOLD = np.finfo(np.float32).min
"""A score that every box exceeds."""


@lower(*RESIZES)
def resize(node, b):
    """Images resized to `size`; TFLite has the same two sampling options."""
    images, size = node.inputs
    if node.known(1) is not None:
        size = b.constant(node.constant(1).astype(np.int32))
    options = {name: node.attr(name) for name in ("align_corners", "half_pixel_centers")}
    if node.type == "ResizeBilinear" and images.dtype != np.float32:
        images = b.CAST(images, dtype=np.float32)
    return getattr(b, RESIZES[node.type])(images, size, **options)


@lower("ResizeBicubic", "ResizeArea", "ScaleAndTranslate")
def resample(node, b):
    """Images times the matrix of their rows' weights, and that of their columns'."""
    x = as_type(node.inputs[0], np.float32, b)
    factors = [node.constant(i) for i in range(2, len(node.inputs))]  # a scale, a translation
    names = ("align_corners", "half_pixel_centers", "kernel_type", "antialias")
    options = {name: node.attr(name) for name in names if name in node.op.signature.attrs}
    kernel: Any = kernel_of(node.type)
    for axis, new in zip((1, 2), node.constant(1).tolist(), strict=True):
        old: Any = x.dims[axis]
        node.require(old is not None, f"height and width must be known, got {x.dims}")
        unit = np.eye(old, dtype=np.float32).reshape(1, old, 1, old)
        alone = [np.array([pair[axis - 1], 1 - i], np.float32) for i, pair in enumerate(factors)]
        weights = kernel(unit, np.array([new, 1], np.int32), *alone, **options)
        weights = b.constant(np.float32(weights).reshape(new, old))
        order = (0, 3 - axis, 3, axis)  # the axis comes last, the other one stays before channels
        rows = b.FULLY_CONNECTED(transposed(x, order, b), weights, keep_num_dims=True)
        x = transposed(rows, np.argsort(order).tolist(), b)
    return x


@lower("CropAndResize")
def crop_and_resize(node, b):
    """Boxes, in parts of the image's size, cut out: four gathered pixels for each new one."""
    images, boxes, which, _ = node.inputs
    sizes = [int(n) for n in node.constant(3)]
    is_nearest = node.text("method") == "nearest"
    x = as_type(images, np.float32, b)
    channels = extent(x, 3, b)
    pixels = regrouped(x, [-1, channels], b)
    extents = [extent(x, axis, b) for axis in (1, 2)]
    lines = []
    for axis, new in enumerate(sizes):
        ends = [slice_along(boxes, 1, axis + k, 1, b) for k in (0, 2)]
        lines.append(sampled(ends, extents[axis], new, is_nearest, b))
    rows, columns = (
        [b.EXPAND_DIMS(t, np.int32(2 - k)) for t in line] for k, line in enumerate(lines)
    )
    image = b.MUL(as_int32(which, b), b.MUL(*extents))
    image = b.RESHAPE(image, np.array([-1, 1, 1], np.int32))

    def gathered(row, column):
        index = b.ADD(b.ADD(b.MUL(row, extents[1]), column), image)
        return b.GATHER(pixels, index, axis=0)

    if is_nearest:
        y = gathered(rows[0], columns[0])
    else:
        shares = [b.EXPAND_DIMS(t, np.int32(-1)) for t in (rows[2], columns[2])]
        upper, lower_ = (
            mixed(gathered(r, columns[0]), gathered(r, columns[1]), shares[1], b) for r in rows[:2]
        )
        y = mixed(upper, lower_, shares[0], b)
    is_inside = b.EXPAND_DIMS(b.LOGICAL_AND(rows[3], columns[3]), np.int32(-1))
    return b.SELECT_V2(is_inside, y, np.float32(node.attr("extrapolation_value")))


def mixed(first, second, share, b):
    """`first` and a share of the way to `second`."""
    return b.ADD(first, b.MUL(b.SUB(second, first), share))


def sampled(ends, size, new, is_nearest, b):
    """The pixels before and after each place between two ends, the share, and what is inside."""
    last = as_type(b.SUB(size, np.int32(1)), np.float32, b)
    low, high = ends
    if new > 1:
        step = b.DIV(b.MUL(b.SUB(high, low), last), np.float32(new - 1))
        coordinates = b.ADD(
            b.MUL(low, last), b.MUL(step, b.constant(np.arange(new, dtype=np.float32)))
        )
    else:
        coordinates = b.MUL(b.MUL(b.ADD(low, high), np.float32(0.5)), last)
    zero = np.float32(0)
    is_inside = b.LOGICAL_AND(b.GREATER_EQUAL(coordinates, zero), b.LESS_EQUAL(coordinates, last))
    coordinates = b.SELECT_V2(is_inside, coordinates, zero)
    if is_nearest:
        nearest = as_type(b.FLOOR(b.ADD(coordinates, np.float32(0.5))), np.int32, b)
        return nearest, nearest, coordinates, is_inside
    before = b.FLOOR(coordinates)
    after = b.MINIMUM(b.ADD(before, np.float32(1)), last)
    indices = [as_type(t, np.int32, b) for t in (before, after)]
    return *indices, b.SUB(coordinates, before), is_inside


@lower("NonMaxSuppression", "NonMaxSuppressionV2")
def old_non_max_suppression(node, b):
    """The best of boxes that overlap, as TensorFlow chooses them: its converter has none."""
    boxes, scores, limit, *thresholds = node.inputs
    overlap = thresholds[0] if thresholds else b.constant(np.float32(node.attr("iou_threshold")))
    indices, count = b.NON_MAX_SUPPRESSION_V4(
        with_areas(boxes, b), scores, limit, beyond(overlap, b), NO_THRESHOLD
    )
    return first_of(indices, count, b)


@lower("NonMaxSuppressionV3", "NonMaxSuppressionV4")
def non_max_suppression(node, b):
    """The best of boxes that overlap, as TFLite chooses them: TensorFlow's converter's operator."""
    indices, count = b.NON_MAX_SUPPRESSION_V4(*node.inputs)
    if node.type == "NonMaxSuppressionV3":
        return first_of(indices, count, b)
    if not node.attr("pad_to_max_output_size"):
        indices = first_of(indices, count, b)
    return indices, count


@lower("NonMaxSuppressionV5")
def non_max_suppression_v5(node, b):
    """The best of boxes that overlap, with scores that overlap makes smaller.

    TensorFlow has no threshold of overlap where scores shrink, TFLite has.
    """
    *inputs, overlap, least, sigma = node.inputs
    is_soft = b.GREATER(sigma, np.float32(0))
    overlap = b.SELECT_V2(is_soft, np.float32(1), overlap)
    indices, scores, count = b.NON_MAX_SUPPRESSION_V5(*inputs, overlap, least, sigma)
    if not node.attr("pad_to_max_output_size"):
        indices, scores = (first_of(t, count, b) for t in (indices, scores))
    return indices, scores, count


def first_of(x, count, b):
    """As many elements of a vector as a scalar says."""
    return b.SLICE(x, np.array([0], np.int32), b.RESHAPE(count, np.array([1], np.int32)))
