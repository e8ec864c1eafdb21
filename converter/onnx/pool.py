"""Pooling over windows of any number of dimensions."""

from __future__ import annotations

from functools import reduce
from itertools import product
from math import prod

import numpy as np

from ..lowering.moves import (
    as_int32,
    extent,
    int32s,
    like,
    reshaped,
    slice_along,
    to_channels_first,
    to_channels_last,
)
from .conv import Span, image_of, padded, result_of, slides_of, spans_of, window_of
from .registry import lower

MAX_IMAGE = 2
"""Dimensions of an image that TFLite's operators pool."""


def _is_general(node):
    """Whether TFLite's pooling has none such: dilated, in 3 dimensions, of integers, norms."""
    n_dims = len(node.attr("kernel_shape"))
    is_dilated = any(d != 1 for d in node.attr("dilations", [1] * n_dims))
    is_norm = node.type == "LpPool"
    return is_norm or is_dilated or n_dims > MAX_IMAGE or node.inputs[0].dtype.kind != "f"


def _lowest(node):
    dtype = node.inputs[0].dtype
    return -np.inf if dtype.kind == "f" else np.iinfo(dtype).min


def padded_by(b, x, spans, value):
    """`x` with a value around its axes from the third on."""
    pairs = np.asarray([(0, 0), (0, 0), *((s.before, s.after) for s in spans)], np.int32)
    if not pairs.any():
        return x
    return b.PADV2(x, pairs, like(x, value, b)) if value else b.PAD(x, pairs)


def taps(b, x, axis, span):
    """The elements of all windows along one axis: a slice for each element of a window."""
    begin, end, stride = (np.full(x.rank, n, np.int32) for n in (0, 0, 1))
    others = sum(1 << i for i in range(x.rank) if i != axis)
    stride[axis] = span.stride
    for i in range(span.size):
        begin[axis] = i * span.dilation
        end[axis] = begin[axis] + 1 - span.reach  # of the last window, from the end
        is_last = end[axis] == 0
        yield b.STRIDED_SLICE(
            x, begin.copy(), end.copy(), stride, begin_mask=others,
            end_mask=others | is_last << axis,
        )  # fmt: skip


def combined(b, x, spans, function):
    """The elements of each window combined, along one axis after the other."""
    for axis, span in enumerate(spans, 2):
        if span.size > 1 or span.stride > 1:
            x = reduce(function, taps(b, x, axis, span))
    return x


@lower("MaxPool")
def max_pool(node, b):
    """The largest element of each window."""
    if node.has_output(1):
        return _max_pool_with_indices(node, b)
    if _rounds_up(node):
        return _rounded_up(node, b)
    if _is_general(node):
        spans = spans_of(node, node.attr("kernel_shape"), node.shape()[2:])
        return combined(b, padded_by(b, node.inputs[0], spans, _lowest(node)), spans, b.MAXIMUM)
    window = window_of(node, node.attr("kernel_shape"), node.shape()[2:])
    x, padding = image_of(node, b), window.padding
    if not padding:
        x, padding = padded(b, x, window, np.asarray(-np.inf, x.dtype)), "VALID"
    return result_of(node, b, _pooled(b.MAX_POOL_2D, x, window, padding))


@lower("AveragePool")
def average_pool(node, b):
    """The mean of each window; of its part inside the image unless count_include_pad."""
    if _rounds_up(node):
        return _rounded_up(node, b)
    if _is_general(node):
        return _general_average(node, b)
    window = window_of(node, node.attr("kernel_shape"), node.shape()[2:])
    is_padded = node.attr("auto_pad", "NOTSET") != "NOTSET" or any(node.attr("pads", []))
    include = is_padded and node.attr("count_include_pad", 0)
    is_known = None not in window.sizes
    if window.padding and not (include and window.padding == "SAME"):
        x = image_of(node, b)
        return result_of(node, b, _pooled(b.AVERAGE_POOL_2D, x, window, window.padding))
    if not is_known and not include:
        return _general_average(node, b)
    out = _pooled(b.AVERAGE_POOL_2D, padded(b, image_of(node, b), window), window, "VALID")
    if is_known:  # else no window is longer than the source's padding makes it
        counts = _counts(node, window, bool(include))
        if (counts != prod(window.size)).any():
            out = b.MUL(out, (prod(window.size) / counts[None, :, :, None]).astype(np.float32))
    return result_of(node, b, out)


def _rounds_up(node):
    """Whether ceil_mode adds windows to an unknown size in another way than TFLite's SAME."""
    if not node.attr("ceil_mode", 0) or node.attr("auto_pad", "NOTSET") != "NOTSET":
        return False
    sizes = node.shape()[2:]
    stride, _, pads = slides_of(node, node.attr("kernel_shape"), sizes, rounds_later=True)
    columns = zip(stride, pads, sizes, strict=True)
    is_general = _is_general(node)
    return any(n is None and s > 1 and (is_general or pair is not None) for s, pair, n in columns)


def _rounded_up(node, b):
    """Pooling that pads as much more behind unknown sizes as the last windows reach out there."""
    is_largest, is_norm, p = node.type == "MaxPool", node.type == "LpPool", node.attr("p", 2)
    size, sizes = node.attr("kernel_shape"), node.shape()[2:]
    columns = zip(size, *slides_of(node, size, sizes, rounds_later=True), sizes, strict=True)
    spans = [Span(k, s, d, *(pair or (0, 0)), length) for k, s, d, pair, length in columns]
    is_general, n = _is_general(node), len(spans)
    x = node.inputs[0] if is_general else image_of(node, b)
    x = powers(b, x, p) if is_norm else x
    rank = node.rank() if is_general else MAX_IMAGE + 2
    first = 2 if is_general else rank - 1 - n
    around = [np.zeros((m, 2), np.int32) for m in (first, rank - first - n) if m]
    added = _added_behind(node, b, x, first, spans)

    def pooled(x, value, before, after):
        pairs = b.PACK(int32s(before), b.ADD(added, int32s(after)), axis=1, values_count=2)
        pairs = b.CONCATENATION(around[0], pairs, *around[1:], axis=0)
        x = b.PADV2(x, pairs, like(x, value, b)) if value else b.PAD(x, pairs)
        if is_general:
            return combined(b, x, spans, b.MAXIMUM if is_largest else b.ADD)
        window = [1] * (MAX_IMAGE - n) + size, [1] * (MAX_IMAGE - n) + [s.stride for s in spans]
        kind = b.MAX_POOL_2D if is_largest else b.AVERAGE_POOL_2D
        return _windows_of(kind, x, *window, "VALID")

    before, after = (np.array([getattr(s, side) for s in spans]) for side in ("before", "after"))
    out = pooled(x, _lowest(node) if is_largest else 0, before, after)
    if is_norm:
        return root(b, out, p)
    if not is_largest:
        no_pads = [0] * (2 * n)
        pads = node.attr("pads", no_pads) if node.attr("count_include_pad", 0) else no_pads
        begin, end = np.reshape(pads, (2, n))
        ones = _ones(b, x, rank, first, begin + end)
        out = b.DIV(out, pooled(ones, 0, before - begin, after - end))
    return out if is_general else result_of(node, b, out)


def _ones(b, x, rank, first, added):
    """Ones in the sizes of an image and so many more, and 1 along the other axes."""
    parts = [np.int32(1)] * rank
    for axis, n in enumerate(added, first):
        parts[axis] = b.ADD(extent(x, axis, b), np.int32(n))
    return b.FILL(b.PACK(*parts, axis=0, values_count=rank), like(x, 1, b))


def _added_behind(node, b, x, first, spans):
    """How much the last windows reach behind each axis, if they begin before its end."""
    n = len(spans)
    sizes = b.STRIDED_SLICE(
        b.SHAPE(x, out_type="INT32"), int32s([first]), int32s([first + n]), int32s([1])
    )
    stride = int32s([s.stride for s in spans])
    filled = int32s([s.reach - s.before - s.after for s in spans])
    node.require(
        all(s.after < s.reach for s in spans), "pads must be smaller than the window in ceil_mode=1"
    )
    added = b.FLOOR_MOD(b.SUB(b.constant(filled), sizes), stride)
    limits = [min(s.stride, s.reach - s.after) for s in spans]
    if limits == stride.tolist():
        return added
    return b.SELECT_V2(b.LESS(added, int32s(limits)), added, like(added, 0, b))


def _counts(node, window, include):
    """How many elements of each window count: those inside the image, or in its own padding."""
    counted_pads = node.attr("pads", [0, 0, 0, 0]) if include else [0, 0, 0, 0]
    half = len(counted_pads) // 2
    counted_pads = [(0, 0)] * (2 - half) + list(
        zip(counted_pads[:half], counted_pads[half:], strict=True)
    )
    counts = []
    for k, s, (before, after), (pad, end), size in zip(
        window.size, window.stride, window.pads, counted_pads, window.sizes, strict=True
    ):
        starts = np.arange(0, size + before + after - k + 1, s) - before
        first, last = np.maximum(starts, -pad), np.minimum(starts + k, size + end)
        counts.append(last - first)
    return counts[0][:, None] * counts[1][None, :]


def _pooled(kind, x, window, padding):
    return _windows_of(kind, x, window.size, window.stride, padding)


def _windows_of(kind, x, size, stride, padding):
    return kind(
        x, padding=padding, filter_height=size[0], filter_width=size[1],
        stride_h=stride[0], stride_w=stride[1],
    )  # fmt: skip


GLOBAL = {"GlobalAveragePool": "MEAN", "GlobalMaxPool": "REDUCE_MAX"}


@lower(*GLOBAL)
def global_pool(node, b):
    """The mean or the largest element of each channel."""
    axes = np.arange(2, node.rank(), dtype=np.int32)
    return getattr(b, GLOBAL[node.type])(node.inputs[0], axes, keep_dims=True)


def _counted(spans, counted):
    """How many elements of each window lie in the axes, or in that padding which counts."""
    counts = []
    for span, (before, after) in zip(spans, counted, strict=True):
        starts = np.arange(span.count) * span.stride - span.before
        positions = starts[:, None] + np.arange(span.size) * span.dilation
        counts.append(((positions >= -before) & (positions < span.length + after)).sum(1))
    return reduce(np.multiply.outer, counts)


def _general_average(node, b):
    """The sum of each window, divided by how many of its elements count."""
    x, n = node.inputs[0], node.rank() - 2
    spans = spans_of(node, node.attr("kernel_shape"), node.shape()[2:])
    total = combined(b, padded_by(b, x, spans, 0), spans, b.ADD)
    counted = [(0, 0)] * n
    if node.attr("count_include_pad", 0):
        pads = node.attr("pads", [0] * (2 * n))
        counted = list(zip(pads[:n], pads[n:], strict=True))
    if all(pair == (s.before, s.after) for pair, s in zip(counted, spans, strict=True)):
        return b.MUL(total, like(x, 1 / prod(s.size for s in spans), b))
    if None not in (s.length for s in spans):
        return b.MUL(total, b.constant((1 / _counted(spans, counted)).astype(x.dtype)))
    sizes = b.PACK(*(extent(x, axis, b) for axis in range(2, x.rank)), axis=0, values_count=n)
    ones = b.FILL(b.CONCATENATION(int32s([1, 1]), sizes, axis=0), like(x, 1, b))
    return b.DIV(total, combined(b, padded_by(b, ones, spans, 0), spans, b.ADD))


def _max_pool_with_indices(node, b):
    """The largest element of each window and its place in the tensor laid out as one row."""
    x, sizes = node.inputs[0], node.shape()
    node.require(None not in sizes, f"the sizes must be known for the indices, got {sizes}")
    spans = spans_of(node, node.attr("kernel_shape"), sizes[2:])
    positions = _window_positions(sizes, bool(node.attr("storage_order", 0)))
    positions = np.pad(positions, [(0, 0), (0, 0), *((s.before, s.after) for s in spans)])
    tall = padded_by(b, x, spans, _lowest(node))
    best = best_position = None
    for offsets in product(*(range(s.size) for s in spans)):
        begin = [0, 0, *(o * s.dilation for o, s in zip(offsets, spans, strict=True))]
        ends = [f + (s.count - 1) * s.stride + 1 for f, s in zip(begin[2:], spans, strict=True)]
        corners = (begin, [*sizes[:2], *ends], [1, 1, *(s.stride for s in spans)])
        value = b.STRIDED_SLICE(tall, *(np.asarray(v, np.int32) for v in corners))
        position = b.constant(positions[tuple(map(slice, *corners))])
        if best is None:
            best, best_position = value, position
            continue
        best_position = b.SELECT_V2(b.GREATER(value, best), position, best_position)
        best = b.MAXIMUM(best, value)
    return best, best_position


def _window_positions(sizes, by_columns):
    """Where each element lies in its tensor as one row, the image's columns after one another."""
    order = list(range(len(sizes)))
    if by_columns:
        order[2:] = order[:1:-1]
    return np.arange(prod(sizes)).reshape([sizes[i] for i in order]).transpose(order)


@lower("LpPool")
def lp_pool(node, b):
    """The p-norm of each window."""
    if _rounds_up(node):
        return _rounded_up(node, b)
    x, p = node.inputs[0], node.attr("p", 2)
    spans = spans_of(node, node.attr("kernel_shape"), node.shape()[2:])
    total = combined(b, padded_by(b, powers(b, x, p), spans, 0), spans, b.ADD)
    return root(b, total, p)


@lower("GlobalLpPool")
def global_lp_pool(node, b):
    """The p-norm of each channel."""
    x, p, axes = node.inputs[0], node.attr("p", 2), np.arange(2, node.rank(), dtype=np.int32)
    return root(b, b.SUM(powers(b, x, p), axes, keep_dims=True), p)


@lower("LpNormalization")
def lp_normalization(node, b):
    """x divided by its p-norm along an axis; 0 where that is 0."""
    x, p, axis = node.inputs[0], node.attr("p", 2), node.axis(node.attr("axis", -1))
    norm = root(b, b.SUM(powers(b, x, p), int32s([axis]), keep_dims=True), p)
    zero = like(x, 0, b)
    is_zero = b.EQUAL(norm, zero)
    return b.SELECT_V2(is_zero, zero, b.DIV(x, b.SELECT_V2(is_zero, like(x, 1, b), norm)))


def powers(b, x, p):
    """|x| ** p."""
    if p == 2:
        return b.SQUARE(x)
    size = b.ABS(x)
    return size if p == 1 else b.POW(size, like(x, p, b))


def root(b, x, p):
    """x ** (1 / p)."""
    if p == 1:
        return x
    return b.SQRT(x) if p == 2 else b.POW(x, like(x, 1 / p, b))


@lower("MaxUnpool")
def max_unpool(node, b):
    """Zeros, but the elements at their offsets in the tensor laid out as one row."""
    x, positions = node.inputs[:2]
    shape = _unpooled(node)
    count = np.asarray([prod(shape)], np.int32)
    indices = b.EXPAND_DIMS(as_int32(reshaped(positions, (-1,), b), b), np.int32(1))
    row = b.SCATTER_ND(indices, reshaped(x, (-1,), b), count)
    out = b.RESHAPE(row, np.asarray(shape, np.int32))
    if node.input(2) is None:
        return out
    missing = b.SUB(as_int32(node.inputs[2], b), np.asarray(shape, np.int32))
    return b.PAD(out, b.PACK(b.MUL(missing, np.int32(0)), missing, axis=1, values_count=2))


def _unpooled(node):
    """The shape that pooling has made the input of."""
    size, sizes = node.attr("kernel_shape"), node.shape()
    node.require(None not in sizes, f"the sizes must be known, got {sizes}")
    n = len(size)
    strides, pads = node.attr("strides", [1] * n), node.attr("pads", [0] * (2 * n))
    lengths = [(sizes[i + 2] - 1) * strides[i] + size[i] - pads[i] - pads[n + i] for i in range(n)]
    return [*sizes[:2], *lengths]


@lower("LRN")
def local_response_normalization(node, b):
    """x / (bias + alpha / size * sum of the squares of channels around) ** beta."""
    x, size = node.inputs[0], node.attr("size")
    alpha, beta = node.attr("alpha", 1e-4) / size, node.attr("beta", 0.75)
    bias = node.attr("bias", 1.0)
    if size % 2 and node.rank() == 4:
        out = b.LOCAL_RESPONSE_NORMALIZATION(
            to_channels_last(x, b), radius=size // 2, bias=bias, alpha=alpha, beta=beta
        )
        return to_channels_first(out, b)
    pairs, channels = np.zeros((node.rank(), 2), np.int32), node.shape()[1]
    node.require(channels is not None, "the number of channels must be known")
    pairs[1] = (size - 1) // 2, size // 2
    squares = b.PAD(b.SQUARE(x), pairs)
    parts = [slice_along(squares, 1, i, channels, b) for i in range(size)]
    total = b.ADD(b.MUL(reduce(b.ADD, parts), like(x, alpha, b)), like(x, bias, b))
    return b.DIV(x, b.POW(total, like(x, beta, b)))


@lower("Col2Im")
def col2im(node, b):
    """Images of which blocks are given as columns; where blocks overlap they are added."""
    x, sizes = node.inputs[0], node.shape()
    n_dims = node.shape(1)[0]
    image, block = (node.constant(i).tolist() for i in (1, 2))
    node.require(sizes[1] is not None, "the number of channels must be known")
    strides, dilations = (node.attr(name, [1] * n_dims) for name in ("strides", "dilations"))
    pads = node.attr("pads", [0] * (2 * n_dims))
    full = [image[i] + pads[i] + pads[n_dims + i] for i in range(n_dims)]
    positions = np.zeros((1, 1), np.int64)  # [elements of a block, blocks] in the padded image
    for i in range(n_dims):
        count = (full[i] - (block[i] - 1) * dilations[i] - 1) // strides[i] + 1
        inside, starts = np.arange(block[i]) * dilations[i], np.arange(count) * strides[i]
        along = inside[:, None] + starts
        positions = positions[:, None, :, None] * full[i] + along[None, :, None, :]
        positions = positions.reshape(positions.shape[0] * block[i], -1)
    columns = b.RESHAPE(x, int32s([-1, positions.size]))
    updates = b.TRANSPOSE(columns, int32s([1, 0]))
    shape = b.PACK(np.int32(prod(full)), extent(updates, 1, b), axis=0, values_count=2)
    row = b.SCATTER_ND(positions.reshape(-1, 1).astype(np.int32), updates, shape)
    out = b.RESHAPE(b.TRANSPOSE(row, int32s([1, 0])), int32s([-1, sizes[1] // prod(block), *full]))
    begin = np.asarray([0, 0, *pads[:n_dims]], np.int32)
    return b.SLICE(out, begin, np.asarray([-1, -1, *image], np.int32)) if any(pads) else out
