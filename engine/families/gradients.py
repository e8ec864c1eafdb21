"""The backward forms of products and windows, and the forward ones as training has them.

Filters are [height, width, channels, n], and change in every run.
"""

from __future__ import annotations

from math import ceil, prod

import numpy as np

from ..buffer import arena, constant
from ..view import View
from . import tiled
from .layout import fill, move
from .products import NO_CLAMP, conv2d, matmul, permuted, transpose_conv2d

_PANEL = tiled.PANEL


def convolve(program, x, filters, out, *, stride, before, dilation):
    """out = x under each position of the filter; as products.conv2d."""
    if not out.size:
        return
    height, width, channels, n = filters.shape
    if (height, width) == tuple(stride) == (1, 1) and before == (0, 0):
        rows = prod(out.shape[:-1])
        weights = filters.reshape((channels, n))
        matmul(program, x.reshape((rows, channels)), weights, None, out.reshape((rows, n)))
    elif filters.size and height * width < tiled.TABLES:
        tiled.convolution(
            program,
            x,
            filters,
            None,
            out,
            stride=stride,
            before=before,
            dilation=dilation,
            groups=1,
            clamp=NO_CLAMP,
            n_last=True,
        )
    else:
        weights = permuted(program, filters, (3, 0, 1, 2))
        conv2d(
            program, x, weights, None, out, stride=stride, before=before, dilation=dilation
        )


def input_gradient(program, filters, dy, out, *, stride, before):
    """What flows back through `convolve` to its input."""
    if not out.size:
        return
    weights = permuted(program, filters, (2, 0, 1, 3))
    transpose_conv2d(program, dy, weights, None, out, stride=stride, before=before)


def filter_gradient(program, x, dy, out, *, stride, before, dilation):
    """What flows back through `convolve` to the filter: the patches of `x`, times `dy`.

    One of both is the matrix whose columns are packed: that which leaves fewer of them unused.
    """
    if not out.size:
        return
    height, width, channels, n = out.shape
    taps, positions = height * width * channels, prod(dy.shape[:3])
    if not positions:
        fill(program, constant(np.zeros(1, np.float32)), out)
        return
    view = patches(program, x, (height, width), dy.shape[1:3], stride, before, dilation)
    results = dy.reshape((positions, n))
    if taps * ceil(n / _PANEL) <= n * ceil(taps / _PANEL):
        rows = arena((taps, positions), np.float32)
        order = (3, 4, 5, 0, 1, 2)
        target = View.of(rows, (height, width, channels, *dy.shape[:3]))
        move(program, view.transpose(order), target)
        matmul(program, rows, results, None, out.reshape((taps, n)))
        return
    columns = arena((positions, taps), np.float32)
    move(program, view, View.of(columns, view.shape))
    swapped = arena((n, taps), np.float32)
    matmul(program, permuted(program, results, (1, 0)), columns, None, swapped)
    move(program, View.of(swapped).transpose((1, 0)), View.of(out, (taps, n)))


def patches(program, x, taps, counts, stride, before, dilation):
    """The view [batch, *counts, *taps, channels] of `x`, amid zeros where the filter reaches."""
    batch, *sizes, channels = x.shape
    spans = [
        (count - 1) * step + (tap - 1) * gap + 1
        for count, step, tap, gap in zip(counts, stride, taps, dilation, strict=True)
    ]
    padded = [max(p, n + b) for p, n, b in zip(spans, sizes, before, strict=True)]
    if padded != sizes:
        framed = arena((batch, *padded, channels), np.float32)
        program.call(
            "packing.frame",
            x.reshape((batch, sizes[0], sizes[1] * channels)),
            framed.reshape((batch, padded[0], padded[1] * channels)),
            split=batch * padded[0],
            top=before[0],
            left=before[1] * channels,
        )
        x = framed
    image, row, pixel = padded[0] * padded[1] * channels, padded[1] * channels, channels
    strides = (
        *(image, row * stride[0], pixel * stride[1]),
        *(row * dilation[0], pixel * dilation[1], 1),
    )
    return View(x, (batch, *counts, *taps, channels), strides)


def max_pool_gradient(program, x, y, dy, out, *, size, stride, before):
    """What flows back through a pooling whose results `y` are the largest of `x`."""
    if out.size:
        batch, channels = x.shape[0], x.shape[3]
        scratch = arena((batch, channels), np.float32)
        numbers = _window(size, stride, before)
        program.call("backward.max_pool", x, y, dy, out, scratch, split=batch, **numbers)


def average_pool_gradient(program, dy, out, *, size, stride, before):
    """What flows back through a pooling whose results are means."""
    if out.size:
        numbers = _window(size, stride, before)
        program.call("backward.average_pool", dy, out, split=out.shape[0], **numbers)


def _window(size, stride, before):
    pairs = {"size": size, "stride": stride, "before": before}
    return {f"{name}_{axis}": pair[i] for name, pair in pairs.items() for i, axis in enumerate("hw")}
