"""Matrix products and convolutions of quantized operands, with the roundings of TFLite.

Each function is the one of the same name in gemm.py with a `scheme` in place of the clamp: it
subtracts the zero points of the operands and requantizes the sums.
"""

from __future__ import annotations

from functools import cache
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from ..plan.buffer import Buffer, arena, constant, zeros
from ..plan.view import View
from .convolutions import reads_runs
from .layout import move
from .products import (
    as_matrices,
    columns_as_channels,
    columns_as_rows,
    columns_meet,
    filters_of,
    matrix_of,
    permute,
    steps,
    swap_last_two,
)
from .quantization import Hybrid, Scheme

if TYPE_CHECKING:
    from types import ModuleType

    from ..plan.program import Program
    from .parameters import Sliding


@cache
def _tiled(dtype: np.dtype) -> ModuleType:
    """The module with kernels faster than plain_int for inputs of a dtype, where they fit."""
    if dtype == np.int16:
        from . import gemm_i16

        return gemm_i16
    from . import gemm_i8

    return gemm_i8


def matmul(
    program: Program,
    a: Buffer,
    b: Buffer,
    bias: Buffer | None,
    out: Buffer,
    *,
    scheme: Scheme,
    transpose_a: bool = False,
    transpose_b: bool = False,
) -> None:
    """out = a @ b + bias, as in gemm.py; each float32 row of `a` is quantized separately."""
    if not out.size:
        return
    a = swap_last_two(program, a) if transpose_a else a
    n_rows, n = out.shape[-2:]
    if not a.shape[-1]:  # sums of nothing: one product with 0 instead
        sizes = (n, 1) if transpose_b else (1, n)
        zero = np.full((*a.shape[:-1], 1), scheme.zero_points[0], a.dtype)
        a, b = constant(zero), zeros((*b.shape[:-2], *sizes), b.dtype)
    batch = out.shape[:-2]
    if isinstance(scheme, Hybrid) and prod(a.shape[:-2]) < prod(batch):
        repeated = arena((*batch, *a.shape[-2:]), a.dtype)
        move(program, View.of(a).broadcast(repeated.shape), View.of(repeated))
        a = repeated
    module = _tiled(a.dtype)
    if module.fits_matmul(a, b, bias, out, scheme):
        b = b if transpose_b else swap_last_two(program, b)
        batch_indices = matrix_of(batch, a.shape[:-2]), matrix_of(batch, b.shape[:-2])
        matrices = as_matrices(a), as_matrices(b), bias, *batch_indices, as_matrices(out)
        module.matmul(program, *matrices, scheme)
        return
    b = swap_last_two(program, b) if transpose_b else b
    a, scales = scheme.int16_input(program, a, a.size // a.shape[-1])
    b = scheme.int16_weights(program, b)
    sums = arena(out.shape, scheme.accumulator)
    program.call(
        "plain_int.matmul",
        as_matrices(a),
        as_matrices(b),
        scheme.initial_sums(bias, n),
        matrix_of(batch, a.shape[:-2]),
        matrix_of(batch, b.shape[:-2]),
        sums.reshape((prod(batch), n_rows, n)),
        split=prod(batch) * n_rows,
    )
    scheme.requantize(program, sums, scales, bias, out)


def conv2d(
    program: Program,
    x: Buffer,
    weights: Buffer,
    bias: Buffer | None,
    out: Buffer,
    sliding: Sliding,
    *,
    scheme: Scheme,
    groups: int = 1,
) -> None:
    """`gemm.conv2d`; each float32 image is quantized separately."""
    if not out.size:
        return
    x, weights, out, sliding = columns_as_rows(x, weights, out, sliding)
    if groups > 1 and weights.shape[3] == 1:
        filters = permute(program, weights.reshape(weights.shape[:3]), (1, 2, 0))
        depthwise(program, x, filters, bias, out, sliding, scheme=scheme)
        return
    if groups == 1 and weights.shape[1:3] == (3, 3) and x.dtype != np.int16:
        from . import winograd_i8

        if winograd_i8.fits(x, weights, bias, out, scheme, sliding):
            winograd_i8.convolution(program, x, weights, bias, out, sliding, scheme)
            return
    module, runs = _tiled(x.dtype), reads_runs(weights, sliding, groups)
    if module.fits_convolution(x, weights, bias, out, scheme, runs):
        is_pointwise = weights.shape[1:3] == tuple(sliding.stride) == (1, 1) and groups == 1
        if is_pointwise and isinstance(scheme, Hybrid):
            _pointwise(program, x, weights, bias, out, scheme)
            return
        if is_pointwise:
            rows, n = prod(out.shape[:-1]), out.shape[3]
            pixels, results = x.reshape((rows, x.shape[3])), out.reshape((rows, n))
            filters = weights.reshape((n, x.shape[3]))
            matmul(program, pixels, filters, bias, results, scheme=scheme, transpose_b=True)
            return
        module.convolution(program, x, weights, bias, out, sliding, scheme=scheme, groups=groups)
        return
    batch, height, width, channels = x.shape
    n, *taps, group_channels = weights.shape
    x, scales = scheme.int16_input(program, x, batch)
    filters = permute(program, scheme.int16_weights(program, weights), (1, 2, 3, 0))
    sums = arena(out.shape, scheme.accumulator)
    program.call(
        "plain_int.convolution",
        x.reshape((batch, height, width * channels)),
        filters.reshape((taps[0], taps[1] * group_channels, n)),
        scheme.initial_sums(bias, n),
        sums,
        split=out.shape[0] * out.shape[1],
        channels=channels,
        groups=groups,
        window=sliding.window,
    )
    scheme.requantize(program, sums, scales, bias, out)


def _pointwise(
    program: Program,
    x: Buffer,
    weights: Buffer,
    bias: Buffer | None,
    out: Buffer,
    scheme: Hybrid,
) -> None:
    """A convolution by 1x1 without steps as products of matrices, the images of float32."""
    from . import gemm_i8

    (batch, height, width, depth), n = x.shape, out.shape[3]
    gemm_i8.matmul(
        program,
        x.reshape((batch, height * width, depth)),
        weights.reshape((1, n, depth)),
        bias,
        matrix_of((batch,), (batch,)),
        matrix_of((batch,), ()),
        out.reshape((batch, height * width, n)),
        scheme,
        scale_per_matrix=True,
    )


def transpose_conv2d(
    program: Program,
    x: Buffer,
    weights: Buffer,
    bias: Buffer | None,
    out: Buffer,
    sliding: Sliding,
    *,
    scheme: Scheme,
) -> None:
    """`gemm.transpose_conv2d`."""
    if not out.size:
        return
    x, weights, out, sliding = columns_as_rows(x, weights, out, sliding)
    if columns_meet(x, weights, bias, out, sliding):
        scheme = scheme.repeated(weights.shape[2])
        weights, bias, out, sliding = columns_as_channels(program, weights, bias, out, sliding)
    module = _tiled(x.dtype)
    if module.fits_convolution(x, weights, bias, out, scheme):
        module.transposed_convolution(program, x, weights, bias, out, sliding, scheme=scheme)
        return
    x, scales = scheme.int16_input(program, x, x.shape[0])
    filters = permute(program, scheme.int16_weights(program, weights), (1, 2, 3, 0))
    sums = arena(out.shape, scheme.accumulator)
    program.call(
        "plain_int.transposed_convolution",
        x,
        filters,
        scheme.initial_sums(bias, out.shape[3]),
        sums,
        split=out.shape[0] * out.shape[1],
        **steps("stride", sliding.stride),
        **steps("before", sliding.before),
    )
    scheme.requantize(program, sums, scales, bias, out)


def depthwise(
    program: Program,
    x: Buffer,
    weights: Buffer,
    bias: Buffer | None,
    out: Buffer,
    sliding: Sliding,
    *,
    scheme: Scheme,
) -> None:
    """`gemm.depthwise`; each float32 image is quantized separately."""
    if not out.size:
        return
    from . import depthwise_i8

    x, weights, out, sliding = columns_as_rows(x, weights, out, sliding, first_axis=0)
    if x.shape[3] == 1 and not depthwise_i8.in_strips(weights.shape, sliding):
        filters = filters_of(program, weights)
        conv2d(program, x, filters, bias, out, sliding, scheme=scheme)
        return
    if depthwise_i8.fits(x, weights, bias, scheme):
        depthwise_i8.depthwise(program, x, weights, bias, out, sliding, scheme)
        return
    x, scales = scheme.int16_input(program, x, x.shape[0])
    weights = scheme.int16_weights(program, weights)
    sums = arena(out.shape, scheme.accumulator)
    program.call(
        "plain_int.depthwise",
        x,
        weights,
        scheme.initial_sums(bias, out.shape[3]),
        sums,
        split=out.shape[0] * out.shape[1],
        window=sliding.window,
    )
    scheme.requantize(program, sums, scales, bias, out)
