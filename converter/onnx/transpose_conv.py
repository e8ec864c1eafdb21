"""Transposed convolution, and pixels moved between channels and the image."""

from __future__ import annotations

import numpy as np

from ..lowering.moves import (
    dimension,
    int32s,
    reshaped,
    to_channels_first,
    to_channels_last,
    transposed,
)
from .registry import lower


@lower("ConvTranspose")
def conv_transpose(node, b):
    """Each element times the filters, added up in a larger image, of which the padding is cut."""
    x, filters, bias = node.inputs[0], node.inputs[1], node.input(2)
    sizes, group = node.shape()[2:], node.attr("group", 1)
    _, _, *size = node.shape(1)
    n = len(sizes)
    node.require(n in (1, 2, 3), f"an image must have 1 to 3 dimensions, got {n}")
    node.require(None not in size, "the sizes of the filters must be known")
    strides, dilations = (node.attr(name, [1] * n) for name in ("strides", "dilations"))
    filters = _dilated(b, filters, dilations)
    effective_sizes = [(k - 1) * d + 1 for k, d in zip(size, dilations, strict=True)]
    pads, extra = _cut(node, sizes, strides, effective_sizes)
    if n == 1:
        x, filters = (b.EXPAND_DIMS(y, np.int32(2)) for y in (x, filters))
        sizes, strides, effective_sizes = (1, *sizes), [1, *strides], [1, *effective_sizes]
        pads, extra = [(0, 0), *pads], [0, *extra]
    x, n_axes = to_channels_last(x, b), len(strides) + 2
    parts = [(x, filters)]
    if group > 1:
        last = np.int32(n_axes - 1)
        parts = zip(
            b.SPLIT(last, x, num_splits=group),
            b.SPLIT(np.int32(0), filters, num_splits=group),
            strict=True,
        )
    full = [
        None if length is None else (length - 1) * s + k
        for length, s, k in zip(sizes, strides, effective_sizes, strict=True)
    ]
    full_sizes = [
        b.ADD(b.MUL(dimension(x, i, b), np.int32(s)), np.int32(k - s)) if length is None else length
        for i, (length, s, k) in enumerate(zip(full, strides, effective_sizes, strict=True), 1)
    ]
    outs = [_grown(b, part, kernels, full_sizes, strides) for part, kernels in parts]
    out = outs[0] if len(outs) == 1 else b.CONCATENATION(*outs, axis=n_axes - 1)
    out = _without_padding(b, out, full, pads, extra)
    out = to_channels_first(out if bias is None else b.ADD(out, bias), b)
    return b.SQUEEZE(out, squeeze_dims=int32s([2])) if n == 1 else out


def _dilated(b, filters, dilations):
    """Filters with zeros between their elements."""
    for axis, d in enumerate(dilations, 2):
        if d == 1:
            continue
        sizes = list(filters.dims)
        if filters.value is not None:
            shape = [*sizes[:axis], (sizes[axis] - 1) * d + 1, *sizes[axis + 1 :]]
            spread = np.zeros(shape, filters.dtype)
            spread[(slice(None),) * axis + (slice(None, None, d),)] = filters.value
            filters = b.constant(spread)
            continue
        pairs = np.zeros((len(sizes) + 1, 2), np.int32)
        pairs[axis + 1, 1] = d - 1
        padded_filters = b.PAD(b.EXPAND_DIMS(filters, np.int32(axis + 1)), pairs)
        shape = [*sizes[:axis], sizes[axis] * d, *sizes[axis + 1 :]]
        begin, size = np.zeros(len(sizes), np.int32), np.full(len(sizes), -1, np.int32)
        size[axis] = (sizes[axis] - 1) * d + 1
        filters = b.SLICE(reshaped(padded_filters, shape, b), begin, size)
    return filters


def _cut(node, sizes, strides, effective_sizes):
    """((before, after) that is cut of each axis, what comes to its end)."""
    n = len(sizes)
    extra = list(node.attr("output_padding", [0] * n))
    mode, shape = node.attr("auto_pad", "NOTSET"), node.attr("output_shape", None)
    if shape is not None:
        node.require(None not in sizes, "with output_shape, the sizes of the image must be known")
        full = [(m - 1) * s + k for m, s, k in zip(sizes, strides, effective_sizes, strict=True)]
        beyond = [m - target for m, target in zip(full, shape[-n:], strict=True)]
    elif mode.startswith("SAME"):  # the new size is the old one times the stride
        beyond = [k - s for k, s in zip(effective_sizes, strides, strict=True)]
    else:
        pads = node.attr("pads", [0] * (2 * n)) if mode == "NOTSET" else [0] * (2 * n)
        return list(zip(pads[:n], pads[n:], strict=True)), extra
    pairs = []
    for m, more in zip(beyond, extra, strict=True):
        total = max(m + more, 0)
        small, large = total // 2, total - total // 2
        is_upper = total % 2 == 0 if mode == "NOTSET" else mode == "SAME_UPPER"
        pairs.append((small, large) if is_upper else (large, small))
    if shape is None:  # strides beyond the filters leave gaps that no padding fills
        return pairs, extra
    return pairs, [sum(pair) - m for m, pair in zip(beyond, pairs, strict=True)]


def _grown(b, x, filters, full, strides):
    """The whole larger image, of sizes that are numbers or int32 scalars."""
    batch = dimension(x, 0, b) if x.dims[0] is None else x.dims[0]
    sizes = [batch, *full, filters.dims[1]]
    if all(isinstance(n, int) for n in sizes):
        shape = b.constant(np.asarray(sizes, np.int32))
    else:
        sizes = [b.constant(np.int32(n)) if isinstance(n, int) else n for n in sizes]
        shape = b.PACK(*sizes, axis=0, values_count=len(sizes))
    if len(full) == 3:
        options = {f"stride_{axis}": s for axis, s in zip("dhw", strides, strict=True)}
        options |= {f"dilation_{axis}_factor": 1 for axis in "dhw"}
        kernels = transposed(filters, (2, 3, 4, 1, 0), b)
        return b.CONV_3D_TRANSPOSE(shape, kernels, x, padding="VALID", **options)
    return b.TRANSPOSE_CONV(
        shape,
        transposed(filters, (1, 2, 3, 0), b),
        x,
        padding="VALID",
        stride_h=strides[0],
        stride_w=strides[1],
    )


def _without_padding(b, x, full, pads, extra):
    """The image without its padding, and with zeros at its end."""
    ends = [after - more for (_, after), more in zip(pads, extra, strict=True)]
    grown = np.asarray([(0, 0), *((0, max(-n, 0)) for n in ends), (0, 0)], np.int32)
    x = b.PAD(x, grown) if grown.any() else x
    if not any(before for before, _ in pads) and all(n <= 0 for n in ends):
        return x
    begin = np.asarray([0, *(before for before, _ in pads), 0], np.int32)
    if None in full:
        stops = [0, *(-max(n, 0) for n in ends), 0]
        is_open = sum(1 << i for i, stop in enumerate(stops) if stop == 0)
        steps = np.ones(len(stops), np.int32)
        return b.STRIDED_SLICE(x, begin, np.asarray(stops, np.int32), steps, end_mask=is_open)
    sizes = [
        length - before - end for length, (before, _), end in zip(full, pads, ends, strict=True)
    ]
    return b.SLICE(x, begin, np.asarray([-1, *sizes, -1], np.int32))


@lower("DepthToSpace")
def depth_to_space(node, b):
    """Blocks of pixels out of the channels, in which they lie first (DCR) or last (CRD)."""
    x, size = node.inputs[0], node.attr("blocksize")
    if node.attr("mode", "DCR") == "CRD":
        channels = node.shape()[1]
        node.require(channels is not None, "the number of channels must be known")
        order = np.arange(channels).reshape(-1, size * size).T.ravel()
        x = b.GATHER(x, order.astype(np.int32), axis=1)
    out = b.DEPTH_TO_SPACE(to_channels_last(x, b), block_size=size)
    return to_channels_first(out, b)


@lower("SpaceToDepth")
def space_to_depth(node, b):
    """Blocks of pixels into the channels, in which they lie first (DCR) or last (CRD)."""
    size = node.attr("blocksize")
    out = b.SPACE_TO_DEPTH(to_channels_last(node.inputs[0], b), block_size=size)
    out = to_channels_first(out, b)
    if node.attr("mode", "DCR") == "CRD":
        channels = node.shape()[1]
        node.require(channels is not None, "the number of channels must be known")
        order = np.arange(channels * size * size).reshape(size * size, -1).T.ravel()
        out = b.GATHER(out, order.astype(np.int32), axis=1)
    return out
