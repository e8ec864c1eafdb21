"""Sums of products: matrix products and convolutions of float32.

`clamp` is the pair of limits the result is held in.
"""

from __future__ import annotations

from functools import lru_cache
from math import ceil, inf, prod

import numpy as np

from ..plan.buffer import arena, constant, zeros
from ..plan.view import View
from . import gemm_f32
from .layout import move

NO_CLAMP = (-inf, inf)
_ROWS_OF_ITEM = 16
"""Rows of a matrix product that one call does in the same scratch row."""


def matmul(program, a, b, bias, out, *, transpose_a=False, transpose_b=False, clamp=NO_CLAMP):
    """out = clamp(a @ b + bias).

    The last two dimensions are matrices, swapped first where `transpose_a` or `transpose_b` say so;
    the others are repeated by numpy's rule. `bias` is None or has an element for each column.
    """
    n_rows, n = out.shape[-2:]
    batch = out.shape[:-2]
    if not out.size:
        return
    a = swapped(program, a) if transpose_a else a
    numbers = matrix_of(batch, a.shape[:-2]), matrix_of(batch, b.shape[:-2])
    if transpose_b and gemm_f32.fits_dots(a):
        x, weights, results = matrices(a), matrices(b), matrices(out)
        if gemm_f32.fits_packed_dots(b):
            panels = gemm_f32.packed(program, weights, bias, by_columns=True)
            gemm_f32.packed_dot_products(program, x, panels, *numbers, results, clamp)
            return
        gemm_f32.dot_products(program, x, weights, bias, *numbers, results, clamp)
        return
    if gemm_f32.fits_matmul(a, b, out):
        panels = gemm_f32.packed(program, matrices(b), bias, by_columns=transpose_b)
        gemm_f32.matmul(program, matrices(a), panels, *numbers, matrices(out), clamp)
        return
    b = swapped(program, b) if transpose_b else b
    if not a.shape[-1]:  # sums of nothing: the bias
        a, b = _zeros((*a.shape[:-1], 1)), _zeros((*b.shape[:-2], 1, n))
    n_rows_of_item = min(_ROWS_OF_ITEM, n_rows)
    items = prod(batch) * ceil(n_rows / n_rows_of_item)
    program.call(
        "plain_float.matmul",
        matrices(a),
        matrices(b),
        _bias(bias, n),
        *numbers,
        matrices(out),
        arena((items, n), np.float64),
        split=items,
        n_rows=n_rows_of_item,
        **_limits(clamp),
    )


def conv2d(
    program, x, weights, bias, out, *, stride, before, dilation=(1, 1), groups=1, clamp=NO_CLAMP
):
    """out = clamp(bias + x under each position of the filter).

    Args:
        program: where the rows go.
        x: [batch, height, width, channels].
        weights: [n, height, width, channels of a group].
        bias: [n], or None.
        out: [batch, height, width, n].
        stride: steps of the filter over height and width.
        before: rows and columns of padding before the first.
        dilation: distances between taps of the filter.
        groups: parts of the channels that are convolved by themselves.
        clamp: the limits of the result.
    """
    if weights.shape[1:3] == tuple(stride) == (1, 1) and groups == 1:
        rows, n = prod(out.shape[:-1]), out.shape[3]
        pixels, results = x.reshape((rows, x.shape[3])), out.reshape((rows, n))
        filters = weights.reshape((n, x.shape[3]))
        matmul(program, pixels, filters, bias, results, transpose_b=True, clamp=clamp)
        return
    if gemm_f32.fits_convolution(weights, out):
        gemm_f32.convolution(
            program,
            x,
            weights,
            bias,
            out,
            stride=stride,
            before=before,
            dilation=dilation,
            groups=groups,
            clamp=clamp,
        )
        return
    filters = permuted(program, weights, (1, 2, 3, 0))
    convolution(
        program,
        _deep(x),
        filters.reshape((1, *filters.shape)),
        bias,
        _deep(out),
        stride=(1, *stride),
        before=(0, *before),
        dilation=(1, *dilation),
        groups=groups,
        clamp=clamp,
    )


def convolution(
    program, x, weights, bias, out, *, stride, before, dilation, groups=1, clamp=NO_CLAMP
):
    """`conv2d` over depth, height and width; `weights` are [*taps, channels of a group, n]."""
    if not out.size:
        return
    batch, depth, height, width, channels = x.shape
    *taps, columns, of_group, n = weights.shape
    items = prod(out.shape[:3])
    program.call(
        "plain_float.convolution",
        x.reshape((batch, depth, height, width * channels)),
        weights.reshape((*taps, columns * of_group, n)),
        _bias(bias, n),
        out,
        arena((items, n), np.float64),
        split=items,
        channels=channels,
        groups=groups,
        **steps("stride", stride),
        **steps("dilation", dilation),
        **steps("before", before),
        **_limits(clamp),
    )


def transpose_conv2d(program, x, weights, bias, out, *, stride, before, clamp=NO_CLAMP):
    """What `conv2d` would take to `x`: each element of `x` spread over `out` by the filter.

    `weights` are [n, height, width, channels]; `before` are rows and columns cut off at the front.
    """
    if gemm_f32.fits_convolution(weights, out):
        gemm_f32.transposed_convolution(
            program, x, weights, bias, out, stride=stride, before=before, clamp=clamp
        )
        return
    filters = permuted(program, weights, (1, 2, 3, 0))
    transposed_convolution(
        program,
        _deep(x),
        filters.reshape((1, *filters.shape)),
        bias,
        _deep(out),
        stride=(1, *stride),
        before=(0, *before),
        dilation=(1, 1, 1),
        clamp=clamp,
    )


def transposed_convolution(
    program, x, weights, bias, out, *, stride, before, dilation, clamp=NO_CLAMP
):
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
        **steps("stride", stride),
        **steps("dilation", dilation),
        **steps("before", before),
        **_limits(clamp),
    )


def depthwise(program, x, weights, bias, out, *, stride, before, dilation=(1, 1), clamp=NO_CLAMP):
    """out[.., c] = clamp(bias[c] + x[.., c // m] under the filter), m outputs for each channel.

    `weights` are [height, width, channels * m]; the rest is as in `conv2d`.
    """
    how = {"stride": stride, "before": before, "dilation": dilation, "clamp": clamp}
    if not out.size:
        return
    if x.shape[3] == 1:
        conv2d(program, x, filters_of(program, weights), bias, out, **how)
        return
    if gemm_f32.fits_depthwise(x, weights):
        x = _repeated(program, x, out.shape[3] // x.shape[3])
        gemm_f32.depthwise(program, x, weights, bias, out, **how)
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
        **steps("stride", stride),
        **steps("dilation", dilation),
        **steps("before", before),
        **_limits(clamp),
    )


def filters_of(program, weights):
    """What `depthwise` takes to one channel, as filters of `conv2d`."""
    return permuted(program, weights, (2, 0, 1)).reshape((weights.shape[2], *weights.shape[:2], 1))


def _repeated(program, x, times):
    """`x` with each channel `times` times."""
    if times == 1:
        return x
    out = arena((*x.shape, times), x.dtype)
    move(program, View.of(x).insert(x.ndim, times), out)
    return out.reshape((*x.shape[:-1], x.shape[-1] * times))


def permuted(program, x, order):
    """`x` with its dimensions in `order`; done once when `x` is constant."""
    out = arena(tuple(x.shape[i] for i in order), x.dtype)
    move(program, View.of(x).transpose(order), View.of(out))
    return out


def swapped(program, matrices):
    """`matrices` with their last two dimensions swapped."""
    rank = matrices.ndim
    return permuted(program, matrices, (*range(rank - 2), rank - 1, rank - 2))


def matrices(x):
    """`x` with all dimensions but the last two as one."""
    return x.reshape((prod(x.shape[:-2]), *x.shape[-2:]))


def matrix_of(batch, own):
    """For each index of the dimensions `batch`, which matrix of those with dimensions `own`."""
    return _matrix_of(tuple(batch), tuple(own))


@lru_cache(256)
def _matrix_of(batch, own):
    numbers = np.arange(prod(own), dtype=np.int32).reshape(own)
    return constant(np.broadcast_to(numbers, batch).ravel())


def _bias(bias, n):
    return _zeros((n,)) if bias is None else bias.ravel()


def _zeros(shape):
    return zeros(shape, np.float32)


def _deep(x):
    """A batch of images as a batch of volumes of depth 1."""
    return x.reshape((x.shape[0], 1, *x.shape[1:]))


def _limits(clamp):
    return {"low": clamp[0], "high": clamp[1]}


def steps(name, values):
    """Numbers of a kernel, one for each of the last dimensions of depth, height and width."""
    return {f"{name}_{axis}": v for axis, v in zip("dhw"[-len(values) :], values, strict=True)}
