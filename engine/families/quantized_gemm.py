"""Matrix products and convolutions of quantized operands, with the roundings of TFLite.

Each function is the one of the same name in gemm.py with a `scheme` in place of the clamp: it
subtracts the zero points of the operands and requantizes the sums.
"""

from __future__ import annotations

from math import prod

import numpy as np

from ..plan.buffer import arena, constant, zeros
from ..plan.view import View
from . import depthwise_i8, gemm_i8, gemm_i16
from .gemm import as_matrices, filters_of, matrix_of, permute, steps, swap_last_two
from .layout import move
from .multipliers import quantize_multiplier

_TILED = (gemm_i8, gemm_i16)
"""Modules with kernels faster than plain_int, where they fit."""


class Quantized:
    """Quantized results of quantized operands: full integer quantization.

    Attributes:
        scales: what the sums of each output channel, or of all, are multiplied by.
        zero_points: of input, weights and result.
        limits: the lowest and highest result.
        accumulator: dtype of the sums, np.int32 or np.int64.
        rounding: "narrow" (int32 sums by fixed-point numbers, twice rounded), "half_up" (the same
            with halves up), "wide" (int64 sums, once) or "exact" (float64).
    """

    __slots__ = ("accumulator", "limits", "rounding", "scales", "zero_points")
    is_hybrid = False

    def __init__(
        self, scales, zero_points, limits, accumulator: type = np.int32, rounding="narrow"
    ):
        self.scales, self.zero_points, self.limits = scales, zero_points, limits
        self.accumulator, self.rounding = accumulator, rounding

    def int8_input(self, program, x, rows, depth, pitch=0):
        """`x` as int8."""
        return gemm_i8.to_int8(program, x, self.zero_points[0])

    def int16_input(self, program, x, rows):
        """`x` as int16 without its zero point, and no scales."""
        return subtract_zero_point(program, x, self.zero_points[0]), None

    def int16_weights(self, program, weights):
        """`weights` as int16 without their zero point."""
        return subtract_zero_point(program, weights, self.zero_points[1])

    def initial_sums(self, bias, n):
        """What each sum of products starts from."""
        return _zeros(n, self.accumulator) if bias is None else bias.ravel()

    def requantize(self, program, sums, scales, bias, out):
        """Appends the instruction that makes results of the sums."""
        n = out.shape[-1]
        rows = (out.size // n, n)
        scales = [constant(np.broadcast_to(self.scales, (n,)).astype(np.float64))]
        if self.rounding != "exact":
            multipliers = np.array(
                [quantize_multiplier(scale) for scale in self.scales.tolist()], np.int32
            )
            scales = [constant(row.copy()) for row in np.broadcast_to(multipliers, (n, 2)).T]
        program.call(
            f"requantize.{self.rounding}",
            sums.reshape(rows),
            *scales,
            out.reshape(rows),
            split=rows[0],
            zero_point=self.zero_points[2],
            low=self.limits[0],
            high=self.limits[1],
        )


class Hybrid:
    """float32 results of float32 inputs and quantized weights: dynamic range quantization.

    The input is quantized to 8 bits as the model runs; the weights have no zero point.

    Attributes:
        scales: of each output channel's weights, or of all.
        asymmetric: whether the quantized inputs have zero points.
        clamp: limits of the result.
    """

    __slots__ = ("asymmetric", "clamp", "scales")
    accumulator: type = np.int32
    zero_points = (0, 0, 0)
    is_hybrid = True

    def __init__(self, scales, asymmetric, clamp):
        self.scales, self.asymmetric, self.clamp = scales, asymmetric, clamp

    def int8_input(self, program, x, rows, depth, pitch=0):
        """`x` as int8, each of `rows` quantized by itself; `depth` is the length of their padding.

        The rows begin `pitch` bytes apart if that is not 0.
        """
        return gemm_i8.quantize_rows(program, x, rows, depth, self.asymmetric, pitch)

    def int16_input(self, program, x, rows):
        """`x` as int16, each of `rows` quantized by itself, and their scales."""
        return gemm_i8.quantize_rows_i16(program, x, rows, self.asymmetric)

    def int16_weights(self, program, weights):
        """`weights` as int16."""
        return subtract_zero_point(program, weights, 0)

    def initial_sums(self, bias, n):
        """What each sum of products starts from."""
        return _zeros(n, self.accumulator)

    def requantize(self, program, sums, scales, bias, out):
        """Appends the instruction that makes results of the sums."""
        n = out.shape[-1]
        rows = (out.size // n, n)
        program.call(
            "requantize.to_float32",
            sums.reshape(rows),
            scales,
            constant(np.broadcast_to(self.scales, (n,)).astype(np.float32)),
            _zeros(n, np.float32) if bias is None else bias.ravel(),
            out.reshape(rows),
            split=rows[0],
            n_rows=rows[0] // scales.size,
            low=self.clamp[0],
            high=self.clamp[1],
        )


def matmul(program, a, b, bias, out, *, scheme, transpose_a=False, transpose_b=False):
    """out = a @ b + bias, as in gemm.py; each row of `a` of float32 is quantized by itself."""
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
    for module in _TILED:
        if module.fits_matmul(a, b, bias, out, scheme):
            b = b if transpose_b else swap_last_two(program, b)
            batch_indices = matrix_of(batch, a.shape[:-2]), matrix_of(batch, b.shape[:-2])
            module.matmul(
                program,
                as_matrices(a),
                as_matrices(b),
                bias,
                *batch_indices,
                as_matrices(out),
                scheme,
            )
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


def conv2d(program, x, weights, bias, out, *, scheme, stride, before, dilation=(1, 1), groups=1):
    """`gemm.conv2d`; each image of float32 is quantized by itself."""
    if not out.size:
        return
    for module in _TILED:
        if not module.fits_convolution(x, weights, bias, out, scheme):
            continue
        if weights.shape[1:3] == tuple(stride) == (1, 1) and groups == 1 and not scheme.is_hybrid:
            rows, n = prod(out.shape[:-1]), out.shape[3]
            pixels, results = x.reshape((rows, x.shape[3])), out.reshape((rows, n))
            filters = weights.reshape((n, x.shape[3]))
            matmul(program, pixels, filters, bias, results, scheme=scheme, transpose_b=True)
            return
        module.convolution(
            program, x, weights, bias, out, scheme=scheme, stride=stride, before=before,
            dilation=dilation, groups=groups,
        )  # fmt: skip
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
        **steps("stride", stride),
        **steps("dilation", dilation),
        **steps("before", before),
    )
    scheme.requantize(program, sums, scales, bias, out)


def transpose_conv2d(program, x, weights, bias, out, *, scheme, stride, before):
    """`gemm.transpose_conv2d`."""
    if not out.size:
        return
    for module in _TILED:
        if module.fits_convolution(x, weights, bias, out, scheme):
            module.transposed_convolution(
                program, x, weights, bias, out, scheme=scheme, stride=stride, before=before
            )
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
        **steps("stride", stride),
        **steps("before", before),
    )
    scheme.requantize(program, sums, scales, bias, out)


def depthwise(program, x, weights, bias, out, *, scheme, stride, before, dilation=(1, 1)):
    """`gemm.depthwise`; each image of float32 is quantized by itself."""
    if not out.size:
        return
    geometry = {"stride": stride, "before": before, "dilation": dilation}
    if x.shape[3] == 1 and not depthwise_i8.in_strips(weights.shape, stride, dilation):
        conv2d(program, x, filters_of(program, weights), bias, out, scheme=scheme, **geometry)
        return
    if depthwise_i8.fits(x, weights, bias, scheme):
        depthwise_i8.depthwise(program, x, weights, bias, out, scheme=scheme, **geometry)
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
        **steps("stride", stride),
        **steps("dilation", dilation),
        **steps("before", before),
    )
    scheme.requantize(program, sums, scales, bias, out)


def subtract_zero_point(program, x, zero_point):
    """`x` as int16 without its zero point; done once when `x` is constant."""
    if x.dtype == np.int16 and not zero_point:
        return x
    out = arena(x.shape, np.int16)
    if x.size:
        program.call(
            "plain_int.subtract_zero_point",
            x.ravel(),
            out.ravel(),
            split=x.size,
            zero_point=zero_point,
        )
    return out


def _zeros(n, dtype):
    return zeros((n,), dtype)
