"""Pooling in three dimensions, with positions, and windows that are moved or compared."""

from itertools import product
from math import prod

import numpy as np

from ..lowering.moves import cropped, extent, int32s, like, regrouped, slice_along, transposed
from .nn import channels_last
from .registry import lower


def pool_3d(kind):
    """The lowering of a 3-D pooling: over height and width, then over depth.

    Means of means are the means of all, as windows count alike along each axis.
    """

    def lowered(node, b):
        is_first = node.text("data_format") == "NCDHW"
        x = transposed(node.inputs[0], (0, 2, 3, 4, 1), b) if is_first else node.inputs[0]
        node.rank()
        window, strides = (
            list(node.attr(name)[2:] if is_first else node.attr(name)[1:4])
            for name in ("ksize", "strides")
        )
        for outer in (window, strides):
            node.require(len(outer) == 3, "ksize and strides must have 5 numbers")
        options = {"padding": node.text("padding")}
        depth, height, width, channels = (extent(x, axis, b) for axis in (1, 2, 3, 4))
        images = getattr(b, kind)(
            regrouped(x, [-1, height, width, channels], b),
            filter_height=window[1],
            filter_width=window[2],
            stride_h=strides[1],
            stride_w=strides[2],
            **options,
        )
        height, width = (extent(images, axis, b) for axis in (1, 2))
        columns = getattr(b, kind)(
            regrouped(images, [-1, depth, b.MUL(height, width), channels], b),
            filter_height=window[0],
            filter_width=1,
            stride_h=strides[0],
            stride_w=1,
            **options,
        )
        y = regrouped(columns, [-1, extent(columns, 1, b), height, width, channels], b)
        return transposed(y, (0, 4, 1, 2, 3), b) if is_first else y

    return lowered


lower("MaxPool3D")(pool_3d("MAX_POOL_2D"))
lower("AvgPool3D")(pool_3d("AVERAGE_POOL_2D"))


@lower("MaxPoolV2")
@channels_last
def max_pool_v2(node, b, x, spatial):
    """The largest element of each window; sizes are inputs."""
    height, width = (int(n) for n in spatial(node.constant(1).tolist()))
    stride_h, stride_w = (int(n) for n in spatial(node.constant(2).tolist()))
    return b.MAX_POOL_2D(
        x,
        padding=node.text("padding"),
        filter_height=height,
        filter_width=width,
        stride_h=stride_h,
        stride_w=stride_w,
    )


def geometry(node, sizes, window, strides, rates=(1, 1)):
    """For height and width: how many windows there are, and what is padded before and after."""
    is_same = node.text("padding") == "SAME"
    node.require(node.text("padding") != "EXPLICIT", "explicit padding is not supported here")
    node.require(None not in sizes, f"height and width must be known, got {tuple(sizes)}")
    outputs, pads = [], []
    for n, k, stride, rate in zip(sizes, window, strides, rates, strict=True):
        effective_size = (k - 1) * rate + 1
        n_out = -(-n // stride) if is_same else (n - effective_size) // stride + 1
        total = max((n_out - 1) * stride + effective_size - n, 0) if is_same else 0
        outputs.append(n_out)
        pads.append((total // 2, total - total // 2))
    node.require(min(outputs) > 0, f"the window {tuple(window)} must fit into {tuple(sizes)}")
    return outputs, pads


def padded(node, b, x, window, strides, rates=(1, 1), outside=0.0):
    """`x` with what its windows read beyond its edges; computed when the model runs for sizes that
    are not known.
    """
    if None not in x.dims[1:3]:
        _, pads = geometry(node, x.dims[1:3], window, strides, rates)
        borders = int32s([(0, 0), *pads, (0, 0)])
        return b.PADV2(x, borders, like(x, outside, b)) if borders.any() else x
    if node.text("padding") == "VALID":
        return x
    node.require(node.text("padding") == "SAME", "explicit padding is not supported here")
    borders = [b.constant(int32s([0, 0]))] * 4
    for axis, k, stride, rate in zip((1, 2), window, strides, rates, strict=True):
        remainder = b.FLOOR_MOD(b.SUB(extent(x, axis, b), int32s(1)), int32s(stride))
        total = b.MAXIMUM(b.SUB(int32s((k - 1) * rate), remainder), int32s(0))
        before = b.FLOOR_DIV(total, int32s(2))
        borders[axis] = b.PACK(before, b.SUB(total, before), axis=0, values_count=2)
    return b.PADV2(x, b.PACK(*borders, axis=0, values_count=4), like(x, outside, b))


def windows(b, x, window, strides, rates=(1, 1)):
    """Slices of a padded `x`, one for each place of a window."""
    slices = []
    for tap in product(*map(range, window)):
        begin = [i * rate for i, rate in zip(tap, rates, strict=True)]
        end = [(i + 1 - k) * rate for i, k, rate in zip(tap, window, rates, strict=True)]
        corners = ([0, *begin, 0], [0, *end, 0], [1, *strides, 1])
        mask = 9 + sum((n == 0) << axis for axis, n in enumerate(end, 1))
        corners = (b.constant(int32s(corner)) for corner in corners)
        slices.append(b.STRIDED_SLICE(x, *corners, begin_mask=9, end_mask=mask))
    return slices


@lower("MaxPoolWithArgmax")
def max_pool_with_argmax(node, b):
    """The largest element of each window, and where it stands in its image."""
    x, window, strides = node.inputs[0], node.attr("ksize")[1:3], node.attr("strides")[1:3]
    batch, _, width, channels = node.shape()
    node.require(width and channels, f"width and channels must be known, got {node.shape()}")
    lowest = float(np.finfo(np.float32).min)
    outputs, pads = geometry(node, x.dims[1:3], window, strides)
    slices = windows(b, padded(node, b, x, window, strides, outside=lowest), window, strides)
    stacked = b.PACK(*slices, axis=4, values_count=len(slices))
    best = b.ARG_MAX(stacked, np.int32(4), dtype=np.int64, output_type="INT64")
    offsets = np.array([i * width + j for i, j in product(*map(range, window))]) * channels
    rows, columns = (
        np.arange(n) * s - before for n, s, (before, _) in zip(outputs, strides, pads, strict=True)
    )
    first = (rows[:, None, None] * width + columns[:, None]) * channels + np.arange(channels)
    index = b.ADD(b.GATHER(b.constant(np.int64(offsets)), best, axis=0), np.int64(first))
    if node.attr("include_batch_in_index"):
        node.require(batch is not None, "the batch must be known to be part of an index")
        images = np.arange(batch).reshape(-1, 1, 1, 1) * (prod(node.shape()[1:]))
        index = b.ADD(index, np.array(images, np.int64))
    dtype = node.attr("Targmax")
    return b.REDUCE_MAX(stacked, np.array([4], np.int32)), index if dtype == np.int64 else b.CAST(
        index, dtype=dtype
    )


@lower("Dilation2D")
def dilation_2d(node, b):
    """max over the window of x + filter."""
    x, filters = node.inputs
    window = node.shape(1)[:2]
    node.require(None not in window, f"the size of the filter must be known, got {window}")
    strides, rates = node.attr("strides")[1:3], node.attr("rates")[1:3]
    lowest = float(np.finfo(np.float32).min)
    parts = windows(b, padded(node, b, x, window, strides, rates, lowest), window, strides, rates)
    result = None
    for (i, j), part in zip(product(*map(range, window)), parts, strict=True):
        row = b.RESHAPE(
            slice_along(slice_along(filters, 0, i, 1, b), 1, j, 1, b), np.array([-1], np.int32)
        )
        term = b.ADD(part, row)
        result = term if result is None else b.MAXIMUM(result, term)
    return result


def blocks(node, b, x, window):
    """The pixels of windows that lie side by side, one after the other, as channels."""
    x = padded(node, b, x, window, window)
    if None in x.dims[1:3]:
        sizes = [extent(x, axis, b) for axis in (1, 2)]
        ends = [b.SUB(n, b.FLOOR_MOD(n, int32s(k))) for n, k in zip(sizes, window, strict=True)]
        zero = b.constant(int32s(0))
        ends = b.PACK(zero, *ends, zero, axis=0, values_count=4)
        x = b.STRIDED_SLICE(x, int32s([0] * 4), ends, int32s([1] * 4), end_mask=9)
    else:
        over = [n % k for n, k in zip(x.dims[1:3], window, strict=True)]
        x = cropped(x, [(0, 0), *((0, n) for n in over), (0, 0)], b)
    if is_square(x, window):
        return b.SPACE_TO_DEPTH(x, block_size=window[0])
    (height, width), depth = window, x.dims[3]
    rows, columns = x.dims[1] // height, x.dims[2] // width
    parts = b.RESHAPE(x, np.array([-1, rows, height, columns, width * depth], np.int32))
    parts = transposed(parts, (0, 1, 3, 2, 4), b)
    return b.RESHAPE(parts, np.array([-1, rows, columns, height * width * depth], np.int32))


def is_square(x, window):
    """Whether SPACE_TO_DEPTH makes channels of such windows."""
    return window[0] == window[1] and x.dtype in (np.float32, np.int32, np.int64, np.uint8)


@lower("ExtractImagePatches")
def extract_image_patches(node, b):
    """The pixels of each window one after the other, as channels."""
    x = node.inputs[0]
    window, strides, rates = (
        [int(n) for n in node.attr(name)[1:3]] for name in ("ksizes", "strides", "rates")
    )
    is_known = None not in x.dims[1:3] or is_square(x, window)
    if window == strides and rates == [1, 1] and x.dims[3] is not None and is_known:
        return blocks(node, b, x, window)
    parts = windows(b, padded(node, b, x, window, strides, rates), window, strides, rates)
    return parts[0] if len(parts) == 1 else b.CONCATENATION(*parts, axis=3)
