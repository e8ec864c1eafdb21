"""Gradients of matrix products, convolutions and pooling, and the forward ops as training has them.

Filters are [height, width, channels, n], and change in every run.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, prod
from typing import TYPE_CHECKING

import numpy as np

from ..plan.buffer import Buffer, arena, constant
from ..plan.view import View
from ..records import PoolWindow
from ..tiling import OUTER_BLOCK
from . import gemm_f32
from .convolutions import pad_input
from .gemm import conv2d, matmul, transpose_conv2d
from .layout import move
from .products import NO_CLAMP, permute, steps

if TYPE_CHECKING:
    from ..plan.program import Program
    from .parameters import Clamp, Sliding

_SCATTER_COST = 24  # products that take as long as scattering one element
_MIN_ROWS, _MIN_RATIO = 16, 4
_MAX_SCATTER_BYTES = 64 << 20  # of rows to be scattered


def convolve(
    program: Program,
    x: Buffer,
    filters: Buffer,
    out: Buffer,
    sliding: Sliding,
    *,
    bias: Buffer | None = None,
    clamp: Clamp = NO_CLAMP,
) -> None:
    """out = clamp(bias + x under each position of the filter); as gemm.conv2d."""
    if not out.size:
        return
    height, width, channels, n = filters.shape
    is_pixelwise = tuple(sliding.stride) == (1, 1) and tuple(sliding.before) == (0, 0)
    if is_pixelwise and (height, width) == (1, 1):
        rows = prod(out.shape[:-1])
        pixels, results = x.reshape((rows, channels)), out.reshape((rows, n))
        matmul(program, pixels, filters.reshape((channels, n)), bias, results, clamp=clamp)
    elif filters.size and height * width < gemm_f32.TABLES:
        gemm_f32.convolution(
            program, x, filters, bias, out, sliding, groups=1, clamp=clamp, n_last=True
        )
    else:
        weights = permute(program, filters, (3, 0, 1, 2))
        conv2d(program, x, weights, bias, out, sliding, clamp=clamp)


def product(
    program: Program,
    a: Buffer,
    b: Buffer,
    out: Buffer,
    *,
    transpose_a: bool = False,
    transpose_b: bool = False,
) -> None:
    """out = a @ b of two matrices, as gemm.matmul.

    With few rows in `a` and many in a transposed `b`, out.T = b @ a.T, which packs the smaller one.
    """
    rows, n = out.shape
    swap_operands = rows >= _MIN_ROWS and n >= rows * _MIN_RATIO
    if not (transpose_b and not transpose_a and swap_operands) or b.is_constant:
        matmul(program, a, b, None, out, transpose_a=transpose_a, transpose_b=transpose_b)
        return
    transposed = arena((n, rows), np.float32)
    matmul(program, b, a, None, transposed, transpose_b=True)
    move(program, View.of(transposed).transpose((1, 0)), View.of(out))


def input_gradient(
    program: Program,
    filters: Buffer,
    dy: Buffer,
    out: Buffer,
    sliding: Sliding,
) -> None:
    """The gradient of `convolve` with respect to its input.

    It is the transposed `convolve`, or the matrix product of `dy` and the filters, of which
    each row is then scattered over the window it came from; the latter does nothing at the border
    and leaves no columns unused, but writes and reads the rows once more.
    """
    if not out.size:
        return
    taps, (channels, n) = filters.shape[:2], filters.shape[2:]
    positions, size = prod(dy.shape[:3]), prod(taps) * channels
    direct_cost = prod(out.shape[:3]) * prod(taps) * ceil(channels / OUTER_BLOCK) * OUTER_BLOCK * n
    scatter_cost = positions * size * (n + _SCATTER_COST)
    if (
        not positions
        or scatter_cost >= direct_cost * max(sliding.stride)
        or 4 * positions * size > _MAX_SCATTER_BYTES
    ):
        weights = permute(program, filters, (2, 0, 1, 3))
        transpose_conv2d(program, dy, weights, None, out, sliding)
        return
    rows = arena((positions, size), np.float32)
    weights = filters.reshape((size, n))
    matmul(program, dy.reshape((positions, n)), weights, None, rows, transpose_b=True)
    _clear(program, out)
    batch, height, width, _ = out.shape
    program.call(
        "outer.spread",
        rows.reshape((*dy.shape[:3], taps[0], taps[1] * channels)),
        out.reshape((batch, height, width * channels)),
        split=batch,
        channels=channels,
        dilation_h=1,
        **steps("stride", sliding.stride),
        **steps("before", sliding.before),
    )


def filter_gradient(
    program: Program,
    x: Buffer,
    dy: Buffer,
    out: Buffer,
    sliding: Sliding,
) -> None:
    """The gradient of `convolve` with respect to the filter."""
    if not out.size:
        return
    height, width, channels, n = out.shape
    x = pad_input(program, x, dy.shape[1:3], (height, width), sliding)
    in_row = width if sliding.dilation[1] > 1 else 1
    runs, run = height * in_row, width * channels // in_row
    items = runs * ceil(n / OUTER_BLOCK)
    program.call(
        "outer.filters",
        x,
        dy,
        out.reshape((runs, run, n)),
        arena((items, run, OUTER_BLOCK), np.float32),
        split=items,
        runs_w=in_row,
        **steps("stride", sliding.stride),
        **steps("dilation", sliding.dilation),
    )


def max_pool_gradient(
    program: Program,
    x: Buffer,
    y: Buffer,
    dy: Buffer,
    out: Buffer,
    *,
    size: Sequence[int],
    stride: Sequence[int],
    before: Sequence[int],
) -> None:
    """The gradient of max pooling with respect to `x`; `y` are its results."""
    if out.size:
        batch, channels = x.shape[0], x.shape[3]
        scratch = arena((batch, channels), np.float32)
        _clear(program, out)
        window = PoolWindow.of(size, stride, before)
        program.call("backward.max_pool", x, y, dy, out, scratch, split=batch, window=window)


def average_pool_gradient(
    program: Program,
    dy: Buffer,
    out: Buffer,
    *,
    size: Sequence[int],
    stride: Sequence[int],
    before: Sequence[int],
) -> None:
    """The gradient of average pooling with respect to its input."""
    if out.size:
        window = PoolWindow.of(size, stride, before)
        _clear(program, out)
        program.call("backward.average_pool", dy, out, split=out.shape[0], window=window)


def _clear(program: Program, out: Buffer) -> None:
    zero = constant(np.zeros(1, np.float32))
    program.call("copy.fill", zero, out.ravel(), split=out.size)
