"""Sums of products of integers, with the roundings of TFLite.

Each function is the one of the same name in gemm.py with a `scheme` in place of the clamp: it
centres the operands and turns the sums into results.
"""

from __future__ import annotations

from math import prod

import numpy as np

from ..plan.buffer import arena, constant, zeros
from ..plan.view import View
from . import depthwise_i8, gemm_i8, gemm_i16
from .gemm import filters_of, matrices, matrix_of, permuted, steps, swapped
from .layout import move
from .multipliers import fixed_scale

_TILES = (gemm_i8, gemm_i16)
"""What is faster than plain kernels, where it fits."""


class Stored:
    """Stored integers from stored integers.

    Attributes:
        scales: what the sums of each output channel, or of all, are multiplied by.
        zero_points: of input, weights and result.
        limits: the lowest and highest result.
        sums: dtype of the sums, int32 or int64.
        rounding: "narrow" (int32 sums by fixed-point numbers, twice rounded), "half_up" (the same
            with halves up), "wide" (int64 sums, once) or "exact" (float64).
    """

    __slots__ = ("limits", "rounding", "scales", "sums", "zero_points")
    real = False

    def __init__(self, scales, zero_points, limits, sums: type = np.int32, rounding="narrow"):
        self.scales, self.zero_points, self.limits = scales, zero_points, limits
        self.sums, self.rounding = sums, rounding

    def signed(self, program, x, rows, depth, pitch=0):
        """`x` as signed bytes."""
        return gemm_i8.signed(program, x, self.zero_points[0])

    def centred(self, program, x, rows):
        """`x` without its zero point, and no scales."""
        return centred(program, x, self.zero_points[0]), None

    def weights(self, program, weights):
        """`weights` without their zero point."""
        return centred(program, weights, self.zero_points[1])

    def start(self, bias, n):
        """What the sums start from."""
        return _zeros(n, self.sums) if bias is None else bias.ravel()

    def finish(self, program, sums, scales, bias, out):
        """Adds the row that makes results of sums."""
        n = out.shape[-1]
        rows = (out.size // n, n)
        scales = [constant(np.broadcast_to(self.scales, (n,)).astype(np.float64))]
        if self.rounding != "exact":
            fixed = np.array([fixed_scale(scale) for scale in self.scales.tolist()], np.int32)
            scales = [constant(row.copy()) for row in np.broadcast_to(fixed, (n, 2)).T]
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
    """Reals from reals and stored weights without zero point; the reals become 8 bits first.

    Attributes:
        scales: of each output channel's weights, or of all.
        asymmetric: whether the rounded reals have a zero point of their own.
        clamp: limits of the result.
    """

    __slots__ = ("asymmetric", "clamp", "scales")
    sums = np.int32
    zero_points = (0, 0, 0)
    real = True

    def __init__(self, scales, asymmetric, clamp):
        self.scales, self.asymmetric, self.clamp = scales, asymmetric, clamp

    def signed(self, program, x, rows, depth, pitch=0):
        """`x` as signed bytes, cut in `rows`; up to `depth` of each may stand for 0.

        The rows begin `pitch` bytes apart if that is not 0.
        """
        return gemm_i8.rounded(program, x, rows, depth, self.asymmetric, pitch)

    def centred(self, program, x, rows):
        """`x` cut into `rows` parts that are rounded each by itself, and their scales."""
        return gemm_i8.centred(program, x, rows, self.asymmetric)

    def weights(self, program, weights):
        """`weights` as they are."""
        return centred(program, weights, 0)

    def start(self, bias, n):
        """What the sums start from."""
        return _zeros(n, self.sums)

    def finish(self, program, sums, scales, bias, out):
        """Adds the row that makes results of sums."""
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
    """out = a @ b + bias, as in gemm.py; each row of `a` is rounded by itself."""
    if not out.size:
        return
    a = swapped(program, a) if transpose_a else a
    n_rows, n = out.shape[-2:]
    if not a.shape[-1]:  # sums of nothing: one product with 0 instead
        sides = (n, 1) if transpose_b else (1, n)
        nothing = np.full((*a.shape[:-1], 1), scheme.zero_points[0], a.dtype)
        a, b = constant(nothing), zeros((*b.shape[:-2], *sides), b.dtype)
    batch = out.shape[:-2]
    if isinstance(scheme, Hybrid) and prod(a.shape[:-2]) < prod(batch):
        repeated = arena((*batch, *a.shape[-2:]), a.dtype)
        move(program, View.of(a).broadcast(repeated.shape), View.of(repeated))
        a = repeated
    for tiles in _TILES:
        if tiles.fits_matmul(a, b, bias, out, scheme):
            b = b if transpose_b else swapped(program, b)
            numbers = matrix_of(batch, a.shape[:-2]), matrix_of(batch, b.shape[:-2])
            tiles.matmul(program, matrices(a), matrices(b), bias, *numbers, matrices(out), scheme)
            return
    b = swapped(program, b) if transpose_b else b
    a, scales = scheme.centred(program, a, a.size // a.shape[-1])
    b = scheme.weights(program, b)
    sums = arena(out.shape, scheme.sums)
    program.call(
        "plain_int.matmul",
        matrices(a),
        matrices(b),
        scheme.start(bias, n),
        matrix_of(batch, a.shape[:-2]),
        matrix_of(batch, b.shape[:-2]),
        sums.reshape((prod(batch), n_rows, n)),
        split=prod(batch) * n_rows,
    )
    scheme.finish(program, sums, scales, bias, out)


def conv2d(program, x, weights, bias, out, *, scheme, stride, before, dilation=(1, 1), groups=1):
    """`products.conv2d`; each image is rounded by itself."""
    if not out.size:
        return
    for tiles in _TILES:
        if not tiles.fits_convolution(x, weights, bias, out, scheme):
            continue
        if weights.shape[1:3] == tuple(stride) == (1, 1) and groups == 1 and not scheme.real:
            rows, n = prod(out.shape[:-1]), out.shape[3]
            pixels, results = x.reshape((rows, x.shape[3])), out.reshape((rows, n))
            filters = weights.reshape((n, x.shape[3]))
            matmul(program, pixels, filters, bias, results, scheme=scheme, transpose_b=True)
            return
        tiles.convolution(
            program, x, weights, bias, out, scheme=scheme, stride=stride, before=before,
            dilation=dilation, groups=groups,
        )  # fmt: skip
        return
    batch, height, width, channels = x.shape
    n, *taps, of_group = weights.shape
    x, scales = scheme.centred(program, x, batch)
    filters = permuted(program, scheme.weights(program, weights), (1, 2, 3, 0))
    sums = arena(out.shape, scheme.sums)
    program.call(
        "plain_int.convolution",
        x.reshape((batch, height, width * channels)),
        filters.reshape((taps[0], taps[1] * of_group, n)),
        scheme.start(bias, n),
        sums,
        split=out.shape[0] * out.shape[1],
        channels=channels,
        groups=groups,
        **steps("stride", stride),
        **steps("dilation", dilation),
        **steps("before", before),
    )
    scheme.finish(program, sums, scales, bias, out)


def transpose_conv2d(program, x, weights, bias, out, *, scheme, stride, before):
    """`products.transpose_conv2d`."""
    if not out.size:
        return
    for tiles in _TILES:
        if tiles.fits_convolution(x, weights, bias, out, scheme):
            tiles.transposed_convolution(
                program, x, weights, bias, out, scheme=scheme, stride=stride, before=before
            )
            return
    x, scales = scheme.centred(program, x, x.shape[0])
    filters = permuted(program, scheme.weights(program, weights), (1, 2, 3, 0))
    sums = arena(out.shape, scheme.sums)
    program.call(
        "plain_int.transposed_convolution",
        x,
        filters,
        scheme.start(bias, out.shape[3]),
        sums,
        split=out.shape[0] * out.shape[1],
        **steps("stride", stride),
        **steps("before", before),
    )
    scheme.finish(program, sums, scales, bias, out)


def depthwise(program, x, weights, bias, out, *, scheme, stride, before, dilation=(1, 1)):
    """`products.depthwise`; each image is rounded by itself."""
    if not out.size:
        return
    how = {"stride": stride, "before": before, "dilation": dilation}
    if x.shape[3] == 1 and not depthwise_i8.in_strips(weights.shape, stride, dilation):
        conv2d(program, x, filters_of(program, weights), bias, out, scheme=scheme, **how)
        return
    if depthwise_i8.fits(x, weights, bias, scheme):
        depthwise_i8.depthwise(program, x, weights, bias, out, scheme=scheme, **how)
        return
    x, scales = scheme.centred(program, x, x.shape[0])
    weights = scheme.weights(program, weights)
    sums = arena(out.shape, scheme.sums)
    program.call(
        "plain_int.depthwise",
        x,
        weights,
        scheme.start(bias, out.shape[3]),
        sums,
        split=out.shape[0] * out.shape[1],
        **steps("stride", stride),
        **steps("dilation", dilation),
        **steps("before", before),
    )
    scheme.finish(program, sums, scales, bias, out)


def centred(program, x, zero_point):
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
