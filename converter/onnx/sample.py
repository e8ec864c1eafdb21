"""Elements of images at computed coordinates: GridSample, RoiAlign, MaxRoiPool, DeformConv.

A place becomes, for each axis, some indices with weights; the elements at all combinations of them
are gathered from the image laid out as rows of channels, and added up.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from ..lowering.moves import (
    as_type,
    extent,
    int32s,
    reshaped,
    slice_along,
    to_channels_first,
    to_channels_last,
    transposed,
)
from .offsets import as_rows, positions_along
from .offsets import product as product_of
from .registry import lower
from .term import (
    Number,
    Term,
    both,
    ceil,
    clip,
    floor,
    greater_equal,
    length_of,
    less,
    maximum,
    minimum,
    operand_of,
    where,
)

if TYPE_CHECKING:
    from ..ir.builder import Builder
    from ..ir.graph import Tensor


SMALLEST_STEP = 1e-6
"""Between samples of a region; one of no length has none."""


@dataclass
class Tap:
    """One of the elements around a place along an axis.

    Attributes:
        index: where it is, as a float; inside of the axis.
        weight: what it counts; 0 for one that is outside and is not to count.
    """

    index: Number
    weight: Number


def linear_taps(x: Number) -> list[tuple[Number, Number]]:
    """The two elements around a place, each by how near it is."""
    low = floor(x)
    return [(low, 1.0 - (x - low)), (low + 1.0, x - low)]


def nearest_taps(x: Number) -> list[tuple[Number, Number]]:
    """The nearest element, of two the even one."""
    return [(x.op("ROUND", x), 1.0)]


def cubic_taps(x: Number, a: float = -0.75) -> list[tuple[Number, Number]]:
    """Four elements, weighted by Keys' kernel."""
    low = floor(x)
    t = x - low
    far, near = t + 1.0, 1.0 - t
    weights = [
        ((a * far - 5.0 * a) * far + 8.0 * a) * far - 4.0 * a,
        ((a + 2.0) * t - (a + 3.0)) * t * t + 1.0,
        ((a + 2.0) * near - (a + 3.0)) * near * near + 1.0,
    ]
    last = near + 1.0
    weights.append(((a * last - 5.0 * a) * last + 8.0 * a) * last - 4.0 * a)
    return [(low + float(i - 1), weight) for i, weight in enumerate(weights)]


MODES = {
    "bicubic": cubic_taps,
    "bilinear": linear_taps,
    "cubic": cubic_taps,
    "linear": linear_taps,
    "nearest": nearest_taps,
}


def reflected(x: Number, low: Number, high: Number) -> Number:
    """A place mirrored at both ends until it lies between them."""
    extent = maximum(high - low, TINY)
    offset = x.op("FLOOR_MOD", x - low, 2.0 * extent)
    return minimum(offset, 2.0 * extent - offset) + low


def gathered(b: Builder, x: Tensor, taps: list[list[Tap]], batch: Any) -> Tensor:
    """The sum over all combinations of taps of the elements of [n, *spatial, c] there."""
    lengths = [length_of(b, x, axis) for axis in range(2, len(x.dims) - 1)]
    rows = as_rows(b, x, extent(x, len(x.dims) - 1, b))
    total = None
    for combination in product(*taps):
        flat = combination[0].index
        for length, tap in zip(lengths, combination[1:], strict=True):
            flat = flat * length + tap.index
        index = b.CAST(flat.tensor, dtype=np.int32)
        index = index if batch is None else b.ADD(index, batch)
        weights = [tap.weight for tap in combination if tap.weight is not ONE]
        values = b.GATHER(rows, index)
        if weights:
            weight = operand_of(b, reduce(lambda u, v: u * v, weights))
            values = b.MUL(values, b.EXPAND_DIMS(weight, np.int32(weight.rank)))
        total = values if total is None else b.ADD(total, values)
    assert total is not None
    return total


LOWEST = np.finfo(np.float32).min
"""In the place of elements that a maximum is not taken of."""
TINY = float(np.finfo(np.float32).tiny)
"""The extent of an axis of one element, which nothing can be divided by."""
ONE = 1.0
"""The weight of what counts as it is."""


def _batch_offsets(b, x, rank):
    """Where each image's rows start, in the rank of the coordinates."""
    if x.dims[0] == 1:
        return None
    return b.MUL(positions_along(b, x, 0, rank), product_of(b, pixels_of(b, x)))


def pixels_of(b, x):
    """The sizes of [n, *spatial, c] but the first and the last, as int32 scalars."""
    return [extent(x, axis, b) for axis in range(1, x.rank - 1)]


@lower("GridSample")
def grid_sample(node, b):
    """The image at a grid's coordinates, from -1 to 1 along each axis, the last first."""
    x, grid = to_channels_last(node.inputs[0], b), node.inputs[1]
    align = node.attr("align_corners", 0)
    mode, padding = node.attr("mode", "linear"), node.attr("padding_mode", "zeros")
    paddings = ("zeros", "border", "reflection")
    node.require(mode in MODES, f"mode must be one of {[*MODES]}, got '{mode}'")
    node.require(padding in paddings, f"padding_mode must be one of {paddings}, got '{padding}'")
    columns = b.UNPACK(grid, axis=grid.rank - 1, num=len(x.dims) - 2)
    taps = []
    for axis, column in enumerate(columns[::-1], 1):
        size, coordinate = length_of(b, x, axis), Term(b, column) + 1.0
        coordinate = coordinate * ((size - 1.0) * 0.5) if align else (coordinate * size - 1.0) * 0.5
        ends = (0.0, size - 1.0) if align else (-0.5, size - 0.5)
        taps.append(_taps(coordinate, size, MODES[mode], padding, ends))
    out = gathered(b, x, taps, _batch_offsets(b, x, columns[0].rank))
    return to_channels_first(out, b)


def _taps(coordinate, size, around, padding, ends):
    """The elements around a place, those outside of the axis replaced as the padding says."""
    if padding == "border" and around is not cubic_taps:
        coordinate = clip(coordinate, 0.0, size - 1.0)
    elif padding == "reflection":
        coordinate = reflected(coordinate, *ends)
    taps = []
    for index, weight in around(coordinate):
        if padding == "reflection":
            index = reflected(index, *ends)
        inside = clip(floor(index) if padding == "reflection" else index, 0.0, size - 1.0)
        if padding == "zeros":
            is_inside = both(less(-1.0, index), less(index, size))
            weight = where(is_inside, weight, 0.0)
        taps.append(Tap(inside, weight))
    return taps


@lower("RoiAlign")
def roi_align(node, b):
    """Regions of images in one size: the mean or largest of samples in each cell of a region."""
    x, rois, images = to_channels_last(node.inputs[0], b), *node.inputs[1:3]
    cells = [node.attr(f"output_{name}", 1) for name in ("height", "width")]
    ratio, scale = node.attr("sampling_ratio", 0), node.attr("spatial_scale", 1.0)
    is_mean = node.attr("mode", "avg") == "avg"
    node.require(ratio > 0 or is_mean, "mode max needs a sampling_ratio: 0 depends on each region")
    is_half = node.opset >= 16 and (
        node.attr("coordinate_transformation_mode", "half_pixel") == "half_pixel"
    )
    shift = 0.5 if is_half else 0.0
    columns = [Term(b, c) * scale - shift for c in b.UNPACK(rois, axis=1, num=4)]
    starts = [columns[1], columns[0]]
    lengths = [end - start for end, start in zip((columns[3], columns[2]), starts, strict=True)]
    lengths = lengths if is_half else [maximum(length, 1.0) for length in lengths]
    if ratio <= 0:
        sizes = x.dims[1:3]
        node.require(None not in x.dims[1:], f"the image's sizes must be known, got {x.shape}")
        rows, columns = map(_weights_of_cells, starts, lengths, cells, sizes)
        return to_channels_first(_weighted(b, x, images, rows, columns), b)
    taps = []
    for axis, n_cells in enumerate(cells):
        size = length_of(b, x, axis + 1)
        start, length = starts[axis], lengths[axis]
        steps = (np.arange(n_cells * ratio) + 0.5) / (n_cells * ratio)
        coordinate = _column(b, start) + _column(b, length) * steps[None, :]
        outside = 1.0 * where(less(coordinate, -1.0), coordinate * 0.0 + 1.0, 0.0)
        outside = where(less(size, coordinate), coordinate * 0.0 + 1.0, outside)
        coordinate = clip(coordinate, 0.0, size - 1.0)
        taps.append(
            [
                Tap(
                    _broadcast_along(b, minimum(i, size - 1.0), axis),
                    _broadcast_along(b, w * (1.0 - outside), axis),
                )
                for i, w in linear_taps(coordinate)
            ]
        )
    batch = b.MUL(as_type(images, np.int32, b), product_of(b, pixels_of(b, x)))
    batch = b.RESHAPE(batch, int32s([-1, 1, 1]))
    channels, split = x.dims[-1], [cells[0], ratio, cells[1], ratio]
    if is_mean:
        samples = gathered(b, x, taps, batch)
        samples = b.RESHAPE(samples, np.asarray([-1, *split, channels], np.int32))
        return to_channels_first(b.MEAN(samples, int32s([2, 4])), b)
    parts = [gathered(b, x, [[p] for p in pair], batch) for pair in product(*taps)]
    samples = reduce(b.MAXIMUM, parts)
    samples = b.RESHAPE(samples, np.asarray([-1, *split, channels], np.int32))
    return to_channels_first(b.REDUCE_MAX(samples, int32s([2, 4])), b)


def _weights_of_cells(start, length, n_cells, size):
    """[regions, cells, size]: how much of each element is in the mean of a cell's samples.

    There are as many samples, at equal steps, as elements in a cell. Each is interpolated between
    two elements, so that an element has an arithmetic series of samples before it and one after it.
    """
    b = start.b
    start, length = (Term(b, b.RESHAPE(x.tensor, int32s([-1, 1, 1]))) for x in (start, length))
    n_samples = maximum(ceil(length / n_cells), 0.0)
    step = maximum(length / (maximum(n_samples, 1.0) * n_cells), SMALLEST_STEP)
    first = start + length * (np.arange(n_cells)[:, None] / n_cells) + step * 0.5
    coordinates = np.arange(size, dtype=np.float32)
    low, middle, high = ((coordinates + i - first) / step for i in (-1, 0, 1))
    # samples at the image's outer bounds count: below the first, and up to the last of the three
    bounds = [
        minimum(maximum(bound, 0.0), n_samples)
        for bound in (ceil(low), ceil(middle), floor(high) + 1.0)
    ]
    weights = 0.0
    for low, high, sign in zip(bounds, bounds[1:], (1.0, -1.0), strict=False):
        middle = first + step * ((low + high - 1.0) * 0.5)
        is_outside = np.arange(size) == (0 if sign > 0 else size - 1)
        share = (middle - coordinates) * (sign * ~is_outside) + 1.0
        weights = (high - low) * share + weights
    return weights / maximum(n_samples, 1.0)


def _weighted(b, x, images, rows, columns):
    """[regions, cells of rows, cells of columns, channels]: sums of the images' elements."""
    _, height, width, channels = x.dims
    n_rows, n_columns = rows.tensor.dims[1], columns.tensor.dims[1]
    shape = [height, width * channels]
    if x.dims[0] == 1:
        image = b.RESHAPE(x, int32s(shape))
        lines = b.BATCH_MATMUL(b.RESHAPE(rows.tensor, int32s([-1, height])), image)
    else:
        image = b.GATHER(b.RESHAPE(x, int32s([-1, *shape])), as_type(images, np.int32, b))
        lines = b.BATCH_MATMUL(rows.tensor, image)
    lines = b.RESHAPE(lines, int32s([-1, n_rows, width, channels]))
    weights = b.RESHAPE(columns.tensor, int32s([-1, 1, n_columns, width]))
    return b.BATCH_MATMUL(weights, lines)


def _column(b, x):
    return Term(b, b.EXPAND_DIMS(x.tensor, np.int32(1)))


def _broadcast_along(b, x, axis):
    """[regions, samples] along the first or second axis of the samples' grid."""
    return Term(b, b.EXPAND_DIMS(x.tensor, np.int32(1 if axis else 2)))


@lower("MaxRoiPool")
def max_roi_pool(node, b):
    """The largest element in each of some cells of each region; 0 in a cell that is outside."""
    x, rois = node.inputs
    sizes, cells = node.sizes_of(x)[2:], node.attr("pooled_shape")
    scale = node.attr("spatial_scale", 1.0)
    image, *columns = b.UNPACK(rois, axis=1, num=5)
    corners = [floor(Term(b, column) * scale + 0.5) for column in columns]
    values = b.EXPAND_DIMS(b.GATHER(x, as_type(image, np.int32, b)), np.int32(1))
    for axis, (size, n_cells) in enumerate(zip(sizes, cells, strict=True)):
        start, end = _column(b, corners[1 - axis]), _column(b, corners[3 - axis])
        length = maximum(end - start + 1.0, 1.0) * (1 / n_cells)
        low = floor(length * np.arange(n_cells)[None, :]) + start
        high = ceil(length * np.arange(1, n_cells + 1)[None, :]) + start
        coordinates = np.arange(size, dtype=np.float32)
        ends = [Term(b, b.EXPAND_DIMS(bound.tensor, np.int32(2))) for bound in (low, high)]
        inside = both(greater_equal(coordinates, ends[0]), less(coordinates, ends[1])).tensor
        shape = [-1, 1, n_cells, 1, size] if axis else [-1, n_cells, 1, size, 1]
        inside = b.RESHAPE(inside, int32s(shape))
        values = b.EXPAND_DIMS(values, np.int32(2)) if axis else values
        values = b.SELECT_V2(inside, values, b.constant(LOWEST))
        values = b.REDUCE_MAX(values, int32s([4 if axis else 3]), keep_dims=False)
    is_empty = b.EQUAL(values, b.constant(LOWEST))
    values = b.SELECT_V2(is_empty, b.constant(np.float32(0)), values)
    return transposed(values, (0, 3, 1, 2), b)


@lower("DeformConv")
def deform_conv(node, b):
    """A convolution whose window's elements are moved by offsets of their own, and weighted."""
    x, filters, offsets = node.inputs[:3]
    bias, mask = node.input(3), node.input(4)
    n, channels, height, width = node.shape()
    n_out, group_channels, *size = node.shape(1)
    node.require(None not in (n, channels, height, width), "the shape of the image must be known")
    groups, offset_groups = node.attr("group", 1), node.attr("offset_group", 1)
    strides, dilations = (node.attr(name, [1, 1]) for name in ("strides", "dilations"))
    pads = node.attr("pads", [0] * 4)
    out_size = node.shape(2)[2:]
    rows, columns = (
        np.arange(k)[:, None] * d + np.arange(m)[None, :] * s - p
        for k, d, m, s, p in zip(size, dilations, out_size, strides, pads[:2], strict=True)
    )
    n_taps, (out_h, out_w) = prod(size), out_size
    shape = (n, offset_groups, n_taps, 2, out_h, out_w)
    moved = b.UNPACK(b.RESHAPE(offsets, np.asarray(shape, np.int32)), axis=3, num=2)
    grid = (1, 1, size[0], size[1], out_h, out_w)
    bases = [
        np.broadcast_to(rows[None, None, :, None, :, None], grid),
        np.broadcast_to(columns[None, None, None, :, None, :], grid),
    ]
    coordinates = [
        Term(b, y) + base.reshape(1, 1, n_taps, out_h, out_w)
        for y, base in zip(moved, bases, strict=True)
    ]
    parts = b.SPLIT(np.int32(1), x, num_splits=offset_groups) if offset_groups > 1 else [x]
    sampled = []
    for g, part in enumerate(parts):
        image = to_channels_last(part, b)
        group_coordinates = [
            Term(b, b.GATHER(coordinate.tensor, np.int32(g), axis=1)) for coordinate in coordinates
        ]
        taps = [
            _taps(coordinate, length, linear_taps, "zeros", (0.0, 0.0))
            for coordinate, length in zip(group_coordinates, (height, width), strict=True)
        ]
        values = gathered(
            b, image, taps, _batch_offsets(b, image, group_coordinates[0].tensor.rank)
        )
        if mask is not None:
            tall = b.RESHAPE(
                mask, np.asarray([n, offset_groups, n_taps, out_h, out_w, 1], np.int32)
            )
            values = b.MUL(values, b.GATHER(tall, np.int32(g), axis=1))
        sampled.append(values)
    columns_ = sampled[0] if len(sampled) == 1 else b.CONCATENATION(*sampled, axis=4)
    columns_ = transposed(columns_, (0, 2, 3, 4, 1), b)  # n, h, w, channels, taps
    weights = reshaped(filters, (n_out, group_channels * n_taps), b)
    outs = []
    for g in range(groups):
        cut = columns_
        group_weights = weights
        if groups > 1:
            cut = b.SPLIT(np.int32(3), columns_, num_splits=groups)[g]
            group_weights = b.SPLIT(np.int32(0), weights, num_splits=groups)[g]
        flat = b.RESHAPE(cut, np.asarray([n, out_h, out_w, group_channels * n_taps], np.int32))
        outs.append(b.FULLY_CONNECTED(flat, group_weights, None, keep_num_dims=True))
    out = outs[0] if groups == 1 else b.CONCATENATION(*outs, axis=3)
    return to_channels_first(out if bias is None else b.ADD(out, bias), b)


@lower("AffineGrid")
def affine_grid(node, b):
    """The coordinates in an image that an affine map gives for each element of another one."""
    theta, size = node.inputs
    n_axes = theta.dims[1] or size.dims[0] - 2
    is_aligned = bool(node.attr("align_corners", 0))
    columns = [
        reshaped(slice_along(theta, 2, k, 1, b), (-1, *[1] * n_axes, n_axes), b)
        for k in range(n_axes + 1)
    ]
    total = columns[n_axes]
    for axis in range(n_axes):
        length = b.CAST(b.GATHER(size, np.int32(2 + axis)), dtype=np.float32)
        coordinates = _normalized_coordinates(b, length, is_aligned)
        if is_aligned:  # of a single element ONNX Runtime has the last place, not the first
            coordinates = b.SELECT_V2(b.LESS(length, np.float32(2)), np.float32(1), coordinates)
        shape = [-1 if i == axis + 1 else 1 for i in range(n_axes + 2)]
        factor = columns[n_axes - 1 - axis]  # that of x comes first, the axis of x last
        total = b.ADD(
            total, b.MUL(factor, as_type(reshaped(coordinates, shape, b), theta.dtype, b))
        )
    return total


def _normalized_coordinates(b, length, is_aligned):
    """-1 to 1: the coordinates of `length` elements, whose centers or edges are at the ends."""
    one, two = np.float32(1), np.float32(2)
    coordinates = b.RANGE(np.float32(0), length, one)
    if is_aligned:
        return b.SUB(b.DIV(b.MUL(coordinates, two), b.MAXIMUM(b.SUB(length, one), one)), one)
    return b.SUB(b.DIV(b.ADD(b.MUL(coordinates, two), one), length), one)
