"""Gradients of convolutions, pooling and normalisation, for signatures that train."""

from collections.abc import Callable
from itertools import product
from math import prod
from typing import Any, cast

import numpy as np

from ...graph.core.registry import kernel_of
from ..lowering.moves import like, slice_along
from .pool import geometry, padded, windows
from .registry import lower


def channels_last(node):
    """Raises ConverterError unless images are [batch, height, width, channels]."""
    node.require(node.text("data_format") == "NHWC", "data_format must be NHWC")


def _windows(node, b, x, window, strides, rates=(1, 1), outside=0.0):
    """Slices of images of known sizes, one for each place of a window."""
    geometry(node, x.dims[1:3], window, strides, rates)
    borders = padded(node, b, x, window, strides, rates, outside)
    return windows(b, borders, window, strides, rates)


@lower("Conv2DBackpropFilter", "DepthwiseConv2dNativeBackpropFilter")
def conv2d_backprop_filter(node, b):
    """For each place of the filter the products of its pixels with the gradients, summed."""
    channels_last(node)
    x, _, dy = node.inputs
    sizes = [int(n) for n in node.constant(1)]
    strides, rates = node.attr("strides")[1:3], node.attr("dilations")[1:3]
    slices = _windows(node, b, x, sizes[:2], strides, rates)
    if node.type == "Conv2DBackpropFilter":
        rows = [b.RESHAPE(part, np.array([-1, sizes[2]], np.int32)) for part in slices]
        stacked = b.PACK(*rows, axis=0, values_count=len(rows))
        dy = b.RESHAPE(dy, np.array([1, -1, sizes[3]], np.int32))
        return b.RESHAPE(b.BATCH_MATMUL(stacked, dy, adj_x=True), np.array(sizes, np.int32))
    dy = b.RESHAPE(dy, np.array([-1, *sizes[2:]], np.int32))
    sums = []
    for part in slices:
        pixels = b.RESHAPE(part, np.array([-1, sizes[2], 1], np.int32))
        sums.append(b.SUM(b.MUL(pixels, dy), np.array([0], np.int32)))
    return b.RESHAPE(b.PACK(*sums, axis=0, values_count=len(sums)), np.array(sizes, np.int32))


def dilate(x, outputs, strides, b):
    """Images with zeros between their pixels."""
    channels = x.dims[3]
    for axis, stride in enumerate(strides):
        if stride == 1:
            continue
        inner = channels if axis else outputs[1] * channels
        rows = b.RESHAPE(x, np.array([-1, outputs[axis], 1, inner], np.int32))
        pairs = np.array([[0, 0], [0, 0], [0, stride - 1], [0, 0]], np.int32)
        sizes = [(n - 1) * s + 1 for n, s in zip(outputs, strides, strict=True)]
        padded_sizes = (
            [outputs[0] * stride, outputs[1]] if axis == 0 else [sizes[0], outputs[1] * stride]
        )
        x = b.RESHAPE(b.PAD(rows, pairs), np.array([-1, *padded_sizes, channels], np.int32))
        x = slice_along(x, axis + 1, 0, sizes[axis], b)
    return x


def put_back(node, b, parts, sizes, window, strides, rates=(1, 1)):
    """The sum of images at the pixels that each place of a window takes.

    Args:
        node: says how images are padded.
        b: the builder.
        parts: an image for each place of the window, one number for each window.
        sizes: height and width of the result.
        window: height and width of the window.
        strides: of the windows.
        rates: distances of pixels within the window.
    """
    outputs, pads = geometry(node, sizes, window, strides, rates)
    padded = [n + sum(pair) for n, pair in zip(sizes, pads, strict=True)]
    dilated_parts = {id(part): dilate(part, outputs, strides, b) for part in parts}
    total: Any = None
    for tap, part in zip(product(*map(range, window)), parts, strict=True):
        pairs = [(0, 0)]
        for i, rate, n, n_out, stride in zip(tap, rates, padded, outputs, strides, strict=True):
            pairs.append((i * rate, n - i * rate - (n_out - 1) * stride - 1))
        term = b.PAD(dilated_parts[id(part)], np.array([*pairs, (0, 0)], np.int32))
        total = term if total is None else b.ADD(total, term)
    for axis, (n, (before, _)) in enumerate(zip(sizes, pads, strict=True), 1):
        if total.dims[axis] != n:
            total = slice_along(total, axis, before, n, b)
    return total


@lower("DepthwiseConv2dNativeBackpropInput")
def depthwise_backprop_input(node, b):
    """The gradient by each channel's filters, put back where their pixels are."""
    channels_last(node)
    _, filters, dy = node.inputs
    sizes = [int(n) for n in node.constant(0)]
    height, width, channels, multiplier = shape = node.shape(1)
    node.require(None not in shape, f"the shape of the filters must be known, got {shape}")
    strides, rates = node.attr("strides")[1:3], node.attr("dilations")[1:3]
    outputs, _ = geometry(node, sizes[1:3], (height, width), strides, rates)
    split = b.RESHAPE(dy, np.array([-1, prod(outputs), channels, multiplier], np.int32))
    flat = b.RESHAPE(filters, np.array([height * width, channels, multiplier], np.int32))
    parts = []
    for i in range(height * width):
        products = b.SUM(b.MUL(split, slice_along(flat, 0, i, 1, b)), np.array([3], np.int32))
        parts.append(b.RESHAPE(products, np.array([-1, *outputs, channels], np.int32)))
    return put_back(node, b, parts, sizes[1:3], (height, width), strides, rates)


@lower("AvgPoolGrad")
def avg_pool_grad(node, b):
    """The gradient over how many pixels each window has, at these pixels."""
    channels_last(node)
    dy, sizes = node.inputs[1], [int(n) for n in node.constant(0)][1:3]
    node.require(None not in node.shape(1)[1:], f"its shape must be known, got {node.shape(1)}")
    window, strides = node.attr("ksize")[1:3], node.attr("strides")[1:3]
    outputs, pads = geometry(node, sizes, window, strides)
    counts = []
    for n, k, stride, n_out, (before, _) in zip(sizes, window, strides, outputs, pads, strict=True):
        first = np.arange(n_out) * stride - before
        counts.append(np.minimum(first + k, n) - np.maximum(first, 0))
    share = b.DIV(dy, b.constant(np.outer(*counts).astype(dy.dtype)[:, :, None]))
    return put_back(node, b, [share] * prod(window), sizes, window, strides)


@lower("MaxPoolGrad", "MaxPoolGradV2")
def max_pool_grad(node, b):
    """The gradient at the first largest pixel of each window."""
    channels_last(node)
    x, y, dy = node.inputs[:3]
    node.require(None not in node.shape()[1:], f"its shape must be known, got {node.shape()}")
    if node.type == "MaxPoolGrad":
        window, strides = node.attr("ksize")[1:3], node.attr("strides")[1:3]
    else:
        window, strides = (node.constant(i).tolist()[1:3] for i in (3, 4))
    lowest = float(np.finfo(np.float32).min)
    slices = _windows(node, b, x, window, strides, outside=lowest)
    stacked = b.PACK(*slices, axis=4, values_count=len(slices))
    best = b.ARG_MAX(stacked, np.int32(4), dtype=np.int32, output_type="INT32")
    is_largest = b.EQUAL(b.REDUCE_MAX(stacked, np.array([4], np.int32)), y)
    dy = b.SELECT_V2(is_largest, dy, like(dy, 0, b))
    zero = like(dy, 0, b)
    parts = [b.SELECT_V2(b.EQUAL(best, np.int32(i)), dy, zero) for i in range(len(slices))]
    return put_back(node, b, parts, x.dims[1:3], window, strides)


@lower("FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3")
def fused_batch_norm_grad(node, b):
    """The gradients of input, scale and offset, from the statistics that were used."""
    channels_last(node)
    dy, x, scale, mean, variance = node.inputs[:5]
    axes = np.array([0, 1, 2], np.int32)
    ratio = b.RSQRT(b.ADD(variance, like(variance, node.attr("epsilon"), b)))
    normal = b.MUL(b.SUB(x, mean), ratio)
    d_offset, d_scale = b.SUM(dy, axes), b.SUM(b.MUL(dy, normal), axes)
    if node.attr("is_training"):
        dy = b.SUB(b.SUB(dy, b.MEAN(dy, axes)), b.MUL(normal, b.MEAN(b.MUL(dy, normal), axes)))
    unused = b.constant(np.zeros((), np.float32))
    return b.MUL(dy, b.MUL(scale, ratio)), d_scale, d_offset, unused, unused


@lower("LRNGrad")
def lrn_grad(node, b):
    """dy s**-beta - 2 alpha beta x sum(dy y / s) over the channels around: x / s**beta was y."""
    dy, x, y = node.inputs
    channels, radius = node.shape(1)[-1], node.attr("depth_radius")
    node.require(channels is not None, "the number of channels must be known")
    i = np.arange(cast("int", channels))
    band = b.constant((abs(i[:, None] - i) <= radius).astype(np.float32))

    def around(t):
        return b.FULLY_CONNECTED(t, band, keep_num_dims=True)

    alpha, beta = node.attr("alpha"), node.attr("beta")
    scale = b.ADD(b.MUL(around(b.SQUARE(x)), like(x, alpha, b)), like(x, node.attr("bias"), b))
    shares = b.MUL(b.MUL(x, around(b.DIV(b.MUL(dy, y), scale))), like(x, 2 * alpha * beta, b))
    return b.SUB(b.MUL(dy, b.POW(scale, like(x, -beta, b))), shares)


@lower("ResizeBilinearGrad", "ResizeNearestNeighborGrad")
def resize_grad(node, b):
    """Each new pixel's gradient at the old ones it came from: products with two matrices."""
    sizes = node.shape(0)
    old = node.shape(1)[1:3] if node.type == "ResizeBilinearGrad" else node.constant(1).tolist()
    known = [*old, *sizes[1:]]
    node.require(None not in known, f"heights, widths and channels must be known, got {known}")
    options = {name: node.attr(name) for name in ("align_corners", "half_pixel_centers")}
    x, kernel = node.inputs[0], cast("Callable[..., np.ndarray]", kernel_of(node.type))
    for order, size, n_old in (((0, 1, 3, 2), sizes[2], old[1]), ((0, 2, 3, 1), sizes[1], old[0])):
        units = np.eye(size, dtype=np.float32)[:, :, None, None]
        like_old = np.zeros((size, n_old, 1, 1), np.float32)
        target = like_old if node.type == "ResizeBilinearGrad" else np.array([n_old, 1], np.int32)
        matrix = kernel(units, target, **options)[:, :, 0, 0]
        rows = b.TRANSPOSE(x, np.array(order, np.int32))
        rows = b.FULLY_CONNECTED(rows, np.ascontiguousarray(matrix.T), keep_num_dims=True)
        x = b.TRANSPOSE(rows, np.argsort(order).astype(np.int32))
    return x


@lower(*(f"FakeQuantWithMinMax{kind}Gradient" for kind in ("Args", "Vars", "VarsPerChannel")))
def fake_quant_grad(node, b):
    """The gradient where the input lies in the range; what is outside goes to the range's ends."""
    dy, x = node.inputs[:2]
    if node.type == "FakeQuantWithMinMaxArgsGradient":
        low, high = (b.constant(np.float32(node.attr(name))) for name in ("min", "max"))
    else:
        low, high = node.inputs[2:]
    first, last = int(node.attr("narrow_range")), 2 ** node.attr("num_bits") - 1
    is_range = b.LOGICAL_OR(*(b.NOT_EQUAL(end, like(end, 0, b)) for end in (low, high)))
    scale = b.DIV(b.SUB(high, low), like(low, last - first, b))
    zero = b.SUB(like(low, first, b), b.DIV(low, scale))
    zero = b.FLOOR(b.ADD(zero, like(low, 0.5, b)))
    zero = b.MINIMUM(b.MAXIMUM(zero, like(low, first, b)), like(low, last, b))
    low, high = (b.MUL(b.SUB(like(zero, end, b), zero), scale) for end in (first, last))
    nothing = like(dy, 0, b)
    below, above = (
        b.LOGICAL_AND(outside, is_range) for outside in (b.LESS(x, low), b.GREATER(x, high))
    )
    dx = b.SELECT_V2(b.LOGICAL_OR(below, above), nothing, dy)
    if node.type == "FakeQuantWithMinMaxArgsGradient":
        return dx
    n_axes = node.rank(1) - (node.type == "FakeQuantWithMinMaxVarsPerChannelGradient")
    axes = np.arange(n_axes, dtype=np.int32)
    ends = [b.SUM(b.SELECT_V2(outside, dy, nothing), axes) for outside in (below, above)]
    return dx, *ends
