"""Sums of products: matrix products and convolutions of float32.

`clamp` is the pair of limits of the result (a fused activation).
"""

from __future__ import annotations

from math import ceil, prod
from typing import TYPE_CHECKING

import numpy as np

from ..plan.buffer import Buffer, arena, zeros
from . import gemm_f32
from .layout import repeat_channels
from .products import (
    NO_CLAMP,
    as_matrices,
    columns_as_channels,
    columns_as_rows,
    columns_meet,
    filters_of,
    matrix_of,
    permute,
    swap_last_two,
)

if TYPE_CHECKING:
    from ..plan.program import Program
    from .parameters import Clamp, Sliding

_ROWS_PER_ITEM = 16
"""Rows of a matrix product that share a scratch row."""


def matmul(
    program: Program,
    a: Buffer,
    b: Buffer,
    bias: Buffer | None,
    out: Buffer,
    *,
    transpose_a: bool = False,
    transpose_b: bool = False,
    clamp: Clamp = NO_CLAMP,
) -> None:
    """out = clamp(a @ b + bias).

    The last two dimensions are matrices, first transposed where `transpose_a` or `transpose_b` say
    so; the others are broadcast. `bias` is None or has an element for each column.
    """
    n_rows, n = out.shape[-2:]
    batch = out.shape[:-2]
    if not out.size:
        return
    a = swap_last_two(program, a) if transpose_a else a
    batch_indices = matrix_of(batch, a.shape[:-2]), matrix_of(batch, b.shape[:-2])
    if transpose_b and gemm_f32.fits_dots(a):
        x, weights, results = as_matrices(a), as_matrices(b), as_matrices(out)
        if gemm_f32.fits_packed_dots(b):
            panels = gemm_f32.pack(program, weights, bias, by_columns=True, for_rows=True)
            gemm_f32.packed_dot_products(program, x, panels, *batch_indices, results, clamp)
            return
        gemm_f32.dot_products(program, x, weights, bias, *batch_indices, results, clamp)
        return
    if gemm_f32.fits_matmul(a, b, out):
        panels = gemm_f32.pack(program, as_matrices(b), bias, by_columns=transpose_b)
        gemm_f32.matmul(program, as_matrices(a), panels, *batch_indices, as_matrices(out), clamp)
        return
    b = swap_last_two(program, b) if transpose_b else b
    if not a.shape[-1]:  # sums of nothing: the bias
        a, b = _zeros((*a.shape[:-1], 1)), _zeros((*b.shape[:-2], 1, n))
    rows_per_item = min(_ROWS_PER_ITEM, n_rows)
    items = prod(batch) * ceil(n_rows / rows_per_item)
    program.call(
        "plain_float.matmul",
        as_matrices(a),
        as_matrices(b),
        _bias(bias, n),
        *batch_indices,
        as_matrices(out),
        arena((items, n), np.float64),
        split=items,
        n_rows=rows_per_item,
        **_limits(clamp),
    )


def conv2d(
    program: Program,
    x: Buffer,
    weights: Buffer,
    bias: Buffer | None,
    out: Buffer,
    sliding: Sliding,
    *,
    groups: int = 1,
    clamp: Clamp = NO_CLAMP,
) -> None:
    """out = clamp(bias + x under each position of the filter).

    Args:
        program: where the instructions go.
        x: [batch, height, width, channels].
        weights: [n, height, width, channels of a group].
        bias: [n], or None.
        out: [batch, height, width, n].
        sliding: how the filter slides over height and width.
        groups: number of groups of channels, which are convolved separately.
        clamp: the limits of the result.
    """
    x, weights, out, sliding = columns_as_rows(x, weights, out, sliding)
    if weights.shape[1:3] == tuple(sliding.stride) == (1, 1) and groups == 1:
        rows, n = prod(out.shape[:-1]), out.shape[3]
        pixels, results = x.reshape((rows, x.shape[3])), out.reshape((rows, n))
        filters = weights.reshape((n, x.shape[3]))
        matmul(program, pixels, filters, bias, results, transpose_b=True, clamp=clamp)
        return
    if groups > 1 and weights.shape[3] == 1:
        filters = permute(program, weights.reshape(weights.shape[:3]), (1, 2, 0))
        depthwise(program, x, filters, bias, out, sliding, clamp=clamp)
        return
    if groups == 1 and weights.shape[1:3] == (3, 3):
        from . import winograd_f32

        if winograd_f32.fits(weights, out, sliding):
            winograd_f32.convolution(program, x, weights, bias, out, sliding, clamp)
            return
    runs = gemm_f32.reads_runs(weights.shape[2], weights.shape[3], sliding, groups)
    if gemm_f32.fits_convolution(weights, out, runs):
        gemm_f32.convolution(program, x, weights, bias, out, sliding, groups=groups, clamp=clamp)
        return
    filters = permute(program, weights, (1, 2, 3, 0))
    convolution(
        program,
        _as_volumes(x),
        filters.reshape((1, *filters.shape)),
        bias,
        _as_volumes(out),
        sliding.with_depth(),
        groups=groups,
        clamp=clamp,
    )


def convolution(
    program: Program,
    x: Buffer,
    weights: Buffer,
    bias: Buffer | None,
    out: Buffer,
    sliding: Sliding,
    *,
    groups: int = 1,
    clamp: Clamp = NO_CLAMP,
) -> None:
    """`conv2d` over depth, height and width; `weights` are [*taps, channels of a group, n]."""
    if not out.size:
        return
    batch, depth, height, width, channels = x.shape
    *taps, columns, group_channels, n = weights.shape
    items = prod(out.shape[:3])
    program.call(
        "plain_float.convolution",
        x.reshape((batch, depth, height, width * channels)),
        weights.reshape((*taps, columns * group_channels, n)),
        _bias(bias, n),
        out,
        arena((items, n), np.float64),
        split=items,
        channels=channels,
        groups=groups,
        window=sliding.window_3d,
        **_limits(clamp),
    )


def transpose_conv2d(
    program: Program,
    x: Buffer,
    weights: Buffer,
    bias: Buffer | None,
    out: Buffer,
    sliding: Sliding,
    *,
    clamp: Clamp = NO_CLAMP,
) -> None:
    """What `conv2d` would take to `x`: each element of `x` spread over `out` by the filter.

    `weights` are [n, height, width, channels]; padding is cut off at the front.
    """
    x, weights, out, sliding = columns_as_rows(x, weights, out, sliding)
    if columns_meet(x, weights, bias, out, sliding):
        weights, bias, out, sliding = columns_as_channels(program, weights, bias, out, sliding)
    if gemm_f32.fits_convolution(weights, out):
        gemm_f32.transposed_convolution(program, x, weights, bias, out, sliding, clamp)
        return
    filters = permute(program, weights, (1, 2, 3, 0))
    transposed_convolution(
        program,
        _as_volumes(x),
        filters.reshape((1, *filters.shape)),
        bias,
        _as_volumes(out),
        sliding.with_depth(),
        clamp=clamp,
    )


def transposed_convolution(
    program: Program,
    x: Buffer,
    weights: Buffer,
    bias: Buffer | None,
    out: Buffer,
    sliding: Sliding,
    *,
    clamp: Clamp = NO_CLAMP,
) -> None:
    """`transpose_conv2d` over depth, height and width; `weights` are [*taps, channels, n]."""
    if not out.size:
        return
    items = prod(out.shape[:3])
    program.call(
        "plain_float.transposed_convolution",
        x,
        weights,
        _bias(bias, out.shape[-1]),
        out,
        arena((items, out.shape[-1]), np.float64),
        split=items,
        window=sliding.window_3d,
        **_limits(clamp),
    )


def depthwise(
    program: Program,
    x: Buffer,
    weights: Buffer,
    bias: Buffer | None,
    out: Buffer,
    sliding: Sliding,
    *,
    clamp: Clamp = NO_CLAMP,
) -> None:
    """out[.., c] = clamp(bias[c] + x[.., c // m] under the filter), m outputs for each channel.

    `weights` are [height, width, channels * m]; the rest is as in `conv2d`.
    """
    if not out.size:
        return
    x, weights, out, sliding = columns_as_rows(x, weights, out, sliding, first_axis=0)
    if x.shape[3] == 1:
        conv2d(program, x, filters_of(program, weights), bias, out, sliding, clamp=clamp)
        return
    if gemm_f32.fits_depthwise(x, weights):
        x = repeat_channels(program, x, out.shape[3] // x.shape[3])
        gemm_f32.depthwise(program, x, weights, bias, out, sliding, clamp)
        return
    items = out.shape[0] * out.shape[1]
    program.call(
        "depthwise.depthwise",
        x,
        weights,
        _bias(bias, out.shape[3]),
        out,
        arena((items, out.shape[3]), np.float64),
        split=items,
        window=sliding.window,
        **_limits(clamp),
    )


def _bias(bias: Buffer | None, n: int) -> Buffer:
    return _zeros((n,)) if bias is None else bias.ravel()


def _zeros(shape: tuple[int, ...]) -> Buffer:
    return zeros(shape, np.float32)


def _as_volumes(x: Buffer) -> Buffer:
    """A batch of images as a batch of volumes of depth 1."""
    return x.reshape((x.shape[0], 1, *x.shape[1:]))


def _limits(clamp: Clamp) -> dict[str, float]:
    return {"low": clamp[0], "high": clamp[1]}
