"""Resize and Upsample: by TFLite's operators where these sample where ONNX does, else by indices
for the nearest element, or a matrix of weights along each axis.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..ir.dims import divide_exactly
from ..lowering.moves import (
    dimension,
    extent,
    int32s,
    to_channels_first,
    to_channels_last,
    transposed,
)
from .registry import lower
from .term import (
    Number,
    Term,
    both,
    ceil,
    clip,
    either,
    equal,
    floor,
    greater_equal,
    length_of,
    less,
    maximum,
    minimum,
    operand_of,
    where,
)

MAX_COUNT = 1 << 24
"""Elements of an axis whose coordinates are computed: numbers of float32 beyond are not exact."""
WIDEST = 256
"""Scales and their denominators up to which sizes are computed with integers."""
LINEAR_PADDING, CUBIC_PADDING = 1, 2  # elements beyond the edges that a kernel reaches
IMAGE_RANK = 4
INT32_MAX = 2**31 - 1


@dataclass(frozen=True)
class Axis:
    """One axis that is resized.

    Attributes:
        index: of the axis.
        length: the old size; None where unknown, a term once it is computed.
        count: the new size, a number or an int32 tensor.
        scale: new size / old size, as stated.
        region: first and last position that are sampled, as parts of the axis.
    """

    index: int
    length: Any
    count: Any
    scale: Number
    region: tuple[Number, Number] = (0.0, 1.0)


@lower("Resize", "Upsample")
def resize(node, b):
    """The tensor sampled at other coordinates along some axes."""
    x, mode = node.inputs[0], node.attr("mode", "nearest")
    modes = ("nearest", "linear", "cubic")
    mode = "linear" if mode == "bilinear" else mode
    node.require(mode in modes, f"mode must be one of {modes}, got '{mode}'")
    transformation = "asymmetric"
    if node.type == "Resize" and node.opset >= 11:
        transformation = node.attr("coordinate_transformation_mode", "half_pixel")
    axes = [axis for axis in _axes(node, b) if not _is_identity(axis, transformation)]
    builtin = _by_builtin(node, b, x, mode, transformation, axes)
    if builtin is not None:
        return builtin
    outside = None
    for axis in axes:
        old_size = extent(x, axis.index, b)
        axis = replace(axis, length=length_of(b, x, axis.index))
        coordinates = _source_coordinates(node, b, axis, mode, transformation)
        if mode == "nearest":
            indices = _nearest(node, coordinates, axis.length)
            if isinstance(coordinates, Term) and _is_floor(node, transformation):
                indices = minimum(coordinates, axis.length - 1.0)  # CAST drops the fraction
            x = b.GATHER(x, b.CAST(operand_of(b, indices), dtype=np.int32), axis=axis.index)
        else:
            x = _weighted(b, x, axis.index, _weights(node, b, coordinates, axis, old_size, mode))
        if transformation == "tf_crop_and_resize":
            beyond = _reshaped(b, _beyond(coordinates, axis.length), axis.index, x.rank)
            outside = beyond if outside is None else either(outside, beyond)
    if outside is not None:
        value = np.asarray(node.attr("extrapolation_value", 0.0), x.dtype)
        x = b.SELECT_V2(operand_of(b, outside), b.constant(value), x)
    return x


def _is_identity(axis, transformation):
    """Whether an axis stays as it is; one of unknown size does where its scale is 1."""
    is_same = isinstance(axis.scale, float) and axis.scale == 1
    is_same = is_same and axis.length in (None, axis.count)
    return is_same and transformation != "tf_crop_and_resize"


def _axes(node, b):
    """The axes that are resized, from scales or sizes, which may be computed."""
    rank, shape = node.rank(), node.shape()
    axes = node.axes(node.attr("axes", None) or range(rank)) if node.opset >= 18 else range(rank)
    is_new = node.type == "Resize" and node.opset >= 11
    scales, sizes = (node.input(2), node.input(3)) if is_new else (node.input(1), None)
    if scales is not None and scales.shape == (0,):
        scales = None
    regions = _regions(node, b, len(axes)) if is_new else [(0.0, 1.0)] * len(axes)
    if sizes is not None:
        columns = _sized(node, b, axes, sizes)
    else:
        scale_values = node.attr("scales", None) if scales is None else None
        if scale_values is None:
            node.require(scales is not None, "scales or sizes must be given")
            scale_values = _numbers(b, scales, len(axes), np.float64)
        columns = [
            (_count(b, node.inputs[0], i, s), s) for i, s in zip(axes, scale_values, strict=True)
        ]
    return [
        Axis(i, shape[i], *column, region)
        for i, column, region in zip(axes, columns, regions, strict=True)
    ]


def _numbers(b, vector, n, dtype):
    """The elements of a vector: numbers where known, else terms."""
    if vector.value is not None:
        return vector.value.astype(dtype).tolist()
    known = [None] * n if vector.elements is None else vector.elements.extents.tolist()
    vector = b.CAST(vector, dtype=np.float32) if vector.dtype != np.float32 else vector
    terms = [Term(b, x) for x in b.UNPACK(vector, axis=0, num=n)]
    return [
        dtype(x).item() if isinstance(x, int | float) else term
        for x, term in zip(known, terms, strict=True)
    ]


def _regions(node, b, n):
    if node.attr("coordinate_transformation_mode", "half_pixel") != "tf_crop_and_resize":
        return [(0.0, 1.0)] * n
    numbers = _numbers(b, node.inputs[1], 2 * n, np.float64)
    return list(zip(numbers[:n], numbers[n:], strict=True))


def _count(b, x, axis, scale):
    """The new size: the old one times the scale in float32, as in ONNX Runtime, rounded down."""
    if x.dims[axis] is None and isinstance(scale, float) and 0 < scale < WIDEST:
        whole, denominator = scale.as_integer_ratio()
        if denominator <= WIDEST:  # integers hold it exactly
            scaled = b.MUL(dimension(x, axis, b), np.int32(whole))
            return scaled if denominator == 1 else b.FLOOR_DIV(scaled, np.int32(denominator))
    length = length_of(b, x, axis)
    if isinstance(length, float) and isinstance(scale, float):
        return int(np.float32(length) * np.float32(scale))
    return _as_size(b, floor(length * scale))


def _as_size(b, count):
    return b.CAST(count.tensor, dtype=np.int32) if isinstance(count, Term) else int(count)


def _sized(node, b, axes, sizes):
    """(new size, scale) for each axis, of sizes that may have to keep the aspect ratio."""
    x, policy = node.inputs[0], node.attr("keep_aspect_ratio_policy", "stretch")
    targets = _numbers(b, sizes, len(axes), np.int64)
    scales = [n / length_of(b, x, i) for n, i in zip(targets, axes, strict=True)]
    if policy == "stretch":
        wholes = [_whole_scale(sizes, k, x.sizes[i]) for k, i in enumerate(axes)]
        return [
            (_as_size(b, n), scale if whole is None else whole)
            for n, scale, whole in zip(targets, scales, wholes, strict=True)
        ]
    common = scales[0]
    for scale in scales[1:]:
        common = (minimum if policy == "not_larger" else maximum)(common, scale)
    return [(_as_size(b, floor(length_of(b, x, i) * common + 0.5)), common) for i in axes]


def _whole_scale(sizes, k, length):
    """How many times the old size, whatever that is, element `k` of the new sizes is; or None."""
    if sizes.elements is None:
        return None
    scale = divide_exactly(sizes.elements.extents.flat[k], length)
    return float(scale) if isinstance(scale, int) else None


def _source_coordinates(node, b, axis, mode, transformation):
    """Where along the old axis each new element lies.

    Ties of the nearest elements are those of float32, in which ONNX Runtime computes.
    """
    modes = [*TRANSFORMATIONS]
    node.require(
        transformation in modes,
        f"coordinate_transformation_mode must be one of {modes}, got '{transformation}'",
    )
    if isinstance(axis.count, int):
        node.require(
            axis.count <= MAX_COUNT,
            f"axis {axis.index} must have at most {MAX_COUNT} elements, got {axis.count}",
        )
    steps = _steps(b, axis.count)
    if mode == "nearest" and not isinstance(steps, Term):
        steps = steps.astype(np.float32)
    return TRANSFORMATIONS[transformation](steps, axis)


def _new_length(axis):
    """(the new size, not rounded, whether it is 1, the distance of its ends, not 0)."""
    length = axis.scale * axis.length
    return length, less(abs(length - 1.0), 1e-4), maximum(length - 1.0, 1e-6)


def _align_corners(steps, axis):
    return steps * (axis.length - 1.0) / _new_length(axis)[2]


def _crop(steps, axis):
    """From the first to the last position of a region; its middle where there is but one."""
    (first, last), extent = axis.region, axis.length - 1.0
    _, is_one, distance = _new_length(axis)
    line = steps * ((last - first) * extent) / distance + first * extent
    return where(is_one, (first + last) * (extent / 2.0) + 0.0 * steps, line)


def _half_pixel(steps, axis):
    return (steps + 0.5) / axis.scale - 0.5


def _half_pixel_symmetric(steps, axis):
    """Half pixels, the centres of old and new axis at one place."""
    length = _new_length(axis)[0]
    count = float(axis.count) if isinstance(axis.count, int) else floor(length)
    return axis.length / 2.0 * (1.0 - count / length) + (steps + 0.5) / axis.scale - 0.5


def _torch_half_pixel(steps, axis):
    return where(_new_length(axis)[1], 0.0 * steps - 0.5, _half_pixel(steps, axis))


TRANSFORMATIONS = {
    "align_corners": _align_corners,
    "asymmetric": lambda steps, axis: steps / axis.scale,
    "half_pixel": _half_pixel,
    "half_pixel_symmetric": _half_pixel_symmetric,
    "pytorch_half_pixel": _torch_half_pixel,
    "tf_crop_and_resize": _crop,
    "tf_half_pixel_for_nn": lambda steps, axis: (steps + 0.5) / axis.scale,
}


ROUNDINGS = {
    "round_prefer_floor": lambda x: ceil(x - 0.5),
    "round_prefer_ceil": lambda x: floor(x + 0.5),
    "floor": floor,
    "ceil": ceil,
}


def _nearest_mode(node):
    """How a place between elements is rounded."""
    if node.type == "Upsample" or node.opset < 11:
        return "floor"
    return node.attr("nearest_mode", "round_prefer_floor")


def _is_floor(node, transformation):
    """Whether coordinates, none of which is negative, are rounded down."""
    is_positive = transformation in ("asymmetric", "tf_half_pixel_for_nn")
    return is_positive and _nearest_mode(node) == "floor"


def _nearest(node, coordinates, length):
    mode = _nearest_mode(node)
    node.require(mode in ROUNDINGS, f"nearest_mode must be one of {[*ROUNDINGS]}, got '{mode}'")
    return clip(ROUNDINGS[mode](coordinates), 0.0, length - 1.0)


def _beyond(coordinates, length):
    return either(less(coordinates, 0.0), less(length - 1.0, coordinates))


def _reshaped(b, x, axis, rank):
    """A vector along one of several axes."""
    shape = [1] * rank
    shape[axis] = -1
    return _as_shape(b, x, shape)


def _as_shape(b, x, shape):
    if isinstance(x, Term):
        return Term(b, b.RESHAPE(x.tensor, np.asarray(shape, np.int32)))
    return np.reshape(x, shape)


def _linear(distance):
    return maximum(1.0 - abs(distance), 0.0)


def _cubic(distance, a):
    """Keys' kernel: two cubics, joined smoothly at distance 1."""
    x = abs(distance)
    near = ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0
    far = ((a * x - 5.0 * a) * x + 8.0 * a) * x - 4.0 * a
    return where(less(x, 1.0), near, where(less(x, 2.0), far, 0.0 * x))


def _weights(node, b, coordinates, axis, old_size, mode):
    """What each old element counts in each new one: [new size, old size].

    Elements beyond the edges are those at the edges, unless they are excluded.
    """
    antialias, length = node.attr("antialias", 0), axis.length
    padding = CUBIC_PADDING if mode == "cubic" else LINEAR_PADDING
    widths = (2 * padding + 1, 2 * padding) if antialias else (1, 2 * padding)
    padding = padding * (length + 1.0) if antialias else padding
    positions = _steps(b, _line(b, old_size, *widths)) - padding
    distance = _as_shape(b, coordinates, (-1, 1)) - positions
    if antialias:
        distance = distance * minimum(axis.scale, 1.0)
    if mode == "cubic":
        weights = _cubic(distance, node.attr("cubic_coeff_a", -0.75))
    else:
        weights = _linear(distance)
    if node.attr("exclude_outside", 0):
        inside = both(greater_equal(positions, 0.0), less(positions, length))
        weights = where(inside, weights, 0.0)
    if antialias or node.attr("exclude_outside", 0):
        weights = weights / _row_sums(b, weights)
    elements = _as_shape(b, _steps(b, _line(b, old_size, 1, 0)), (-1, 1))
    edges = equal(elements, clip(positions, 0.0, length - 1.0))  # [old size, positions]
    if isinstance(weights, Term):
        is_edge = operand_of(b, where(edges, 1.0, 0.0))
        return b.FULLY_CONNECTED(weights.tensor, is_edge, None)
    return b.constant((weights @ edges.T).astype(np.float32))


def _steps(b, count):
    """0, 1, ... up to a number or an int32 scalar."""
    if isinstance(count, int):
        return np.arange(count, dtype=np.float64)
    return Term(b, b.CAST(b.RANGE(np.int32(0), count, np.int32(1)), dtype=np.float32))


def _line(b, size, factor, offset):
    """size * factor + offset, a number where the size is constant."""
    if size.value is not None:
        return int(size.value) * factor + offset
    size = b.MUL(size, np.int32(factor)) if factor != 1 else size
    return b.ADD(size, np.int32(offset)) if offset else size


def _row_sums(b, weights):
    if isinstance(weights, Term):
        return Term(b, b.SUM(weights.tensor, int32s([1]), keep_dims=True))
    return weights.sum(1, keepdims=True)


def _weighted(b, x, axis, weights):
    """Sums along an axis of what a matrix of weights says."""
    order = [*(i for i in range(x.rank) if i != axis), axis]
    last = transposed(x, order, b)
    out = b.FULLY_CONNECTED(last, weights, None, keep_num_dims=x.rank != 2)
    return transposed(out, np.argsort(order).tolist(), b)


BUILTINS = {
    "asymmetric": {"align_corners": False, "half_pixel_centers": False},
    "align_corners": {"align_corners": True, "half_pixel_centers": False},
    "half_pixel": {"align_corners": False, "half_pixel_centers": True},
    "pytorch_half_pixel": {"align_corners": False, "half_pixel_centers": True},
    "tf_half_pixel_for_nn": {"align_corners": False, "half_pixel_centers": True},
}
"""The options with which TFLite samples where a transformation says."""


def _by_builtin(node, b, x, mode, transformation, axes):
    """An image by RESIZE_BILINEAR or RESIZE_NEAREST_NEIGHBOR; None where they sample elsewhere."""
    options = BUILTINS.get(transformation)
    if mode == "cubic" or options is None or x.rank != IMAGE_RANK or not axes:
        return None
    if any(axis.index < 2 for axis in axes) or (mode == "linear" and node.attr("antialias", 0)):
        return None
    if not all(_samples_equal(node, b, axis, mode, transformation) for axis in axes):
        return None
    by_index = {axis.index: axis.count for axis in axes}
    counts = [by_index[i] if i in by_index else x.dims[i] for i in (2, 3)]
    counts = [dimension(x, i + 2, b) if n is None else n for i, n in enumerate(counts)]
    if all(isinstance(n, int) for n in counts):
        size = b.constant(np.asarray(counts, np.int32))
    else:
        counts = [b.constant(np.int32(n)) if isinstance(n, int) else n for n in counts]
        size = b.PACK(*counts, axis=0, values_count=2)
    image = to_channels_last(x, b)
    if transformation == "pytorch_half_pixel" and any(map(_may_shrink_to_one, axes)):
        image = _cut_where_one(b, image, size)
    kind = b.RESIZE_BILINEAR if mode == "linear" else b.RESIZE_NEAREST_NEIGHBOR
    return to_channels_first(kind(image, size, **options), b)


def _may_shrink_to_one(axis):
    """Whether a new size of 1 may come of more, of which it is to be the first element."""
    is_larger = isinstance(axis.scale, float) and axis.scale >= 1
    return not is_larger and (axis.count == 1 or not isinstance(axis.count, int))


def _cut_where_one(b, image, size):
    """An image of the first row, or column, alone where there is to be but one."""
    whole = np.asarray([INT32_MAX], np.int32)
    end = b.SELECT_V2(b.EQUAL(size, np.int32(1)), np.int32(1), whole)
    end = b.CONCATENATION(whole, end, whole, axis=0)
    return b.STRIDED_SLICE(image, int32s([0] * IMAGE_RANK), end, int32s([1] * IMAGE_RANK))


def _samples_equal(node, b, axis, mode, transformation):
    """Whether TFLite, which goes by the sizes alone, takes the same elements with the same weights.

    Of an unknown size that is so where the new one is a multiple of it.
    """
    if not isinstance(axis.scale, float) or axis.length is None:
        is_whole = isinstance(axis.scale, float) and axis.scale.is_integer() and axis.scale >= 1
        is_stretched = node.attr("keep_aspect_ratio_policy", "stretch") == "stretch"
        by_sizes = node.input(3) is not None and is_stretched
        if mode == "nearest":
            rounding = _nearest_mode(node)
            is_half = transformation == "half_pixel" and rounding.startswith("round")
            return is_whole and (is_half or _is_floor(node, transformation))
        is_shifted = transformation == "tf_half_pixel_for_nn"
        return not is_shifted and (by_sizes or (is_whole and axis.length is None))
    coordinates = _source_coordinates(node, b, axis, mode, transformation)
    ratio = axis.length / axis.count
    steps = np.arange(axis.count, dtype=np.float32)
    if mode == "nearest":
        if transformation == "align_corners":
            ratio = (axis.length - 1) / (axis.count - 1) if axis.count > 1 else 0.0
            litert_coordinates = np.floor(steps * np.float32(ratio) + np.float32(0.5))
        else:
            shift = 0.5 if BUILTINS[transformation]["half_pixel_centers"] else 0.0
            litert_coordinates = np.floor((steps + np.float32(shift)) * np.float32(ratio))
        onnx_indices = _nearest(node, coordinates, axis.length)
        return bool(np.array_equal(onnx_indices, litert_coordinates.clip(0, axis.length - 1)))
    if transformation == "align_corners":
        litert_coordinates = steps * (
            (axis.length - 1) / (axis.count - 1) if axis.count > 1 else 0.0
        )
    elif transformation == "asymmetric":
        litert_coordinates = steps * ratio
    else:
        litert_coordinates = (steps + 0.5) * ratio - 0.5
    last = axis.length - 1
    return bool(
        np.allclose(coordinates.clip(0, last), litert_coordinates.clip(0, last), 1e-6, 1e-6)
    )
