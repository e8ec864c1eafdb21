"""Depthwise convolution of int8, uint8 and int16: instructions for kernels/int8/depthwise_i8.py.

`fits...` says whether the kernels support it; all else is for kernels/plain/plain_int.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, prod
from typing import TYPE_CHECKING

import numpy as np

from ..plan.buffer import Buffer, arena, constant
from ..records import Int8Epilogue
from ..tiling import SQUARE_STRIPS
from .layout import repeat_channels
from .multipliers import (
    fits_int32,
    requantize_terms_i8,
    requantize_terms_i16,
    value_of,
)
from .quantization import Hybrid, Quantized, Scheme

if TYPE_CHECKING:
    from ..plan.program import Program
    from .parameters import Sliding

_ROWS = 252  # of taps; as in kernels/int8/depthwise_i8.py, of whole groups
_BLOCK = 16  # channels that share a block of terms
_STRIPS = {(3, 1), (3, 2), (5, 1), (5, 2)}  # filter widths and strides with a kernel of their own
_ANY = "1_1"  # the variant that goes tap by tap


def fits(x: Buffer, weights: Buffer, bias: Buffer | None, scheme: Scheme) -> bool:
    """Whether there is a kernel for these operands with the roundings of `scheme`.

    There must be room for the taps, and int32 for the sums of products without the bias.
    """
    bias_is_constant = bias is None or bias.is_constant
    fits_filter = 0 < prod(weights.shape[:2]) <= _ROWS and weights.itemsize == 1
    if not (bias_is_constant and fits_filter and x.size):
        return False
    if isinstance(scheme, Hybrid):
        return True
    zero, weights_zero = scheme.zero_points[:2]
    if x.itemsize == 1:
        limits = np.iinfo(x.dtype.name)
        zero_points_fit = limits.min <= zero <= limits.max and -128 <= weights_zero <= 255
        return zero_points_fit and scheme.accumulator is np.int32
    symmetric = scheme.rounding == "round_int64_half_up" and zero == weights_zero == 0
    return symmetric and fits_int32(scheme.scales, prod(weights.shape[:2]), bias)


def in_strips(taps: Sequence[int], sliding: Sliding) -> bool:
    """Whether the kernel computes several results of a row at once."""
    return (taps[1], sliding.stride[1]) in _STRIPS and sliding.dilation[1] == 1


def depthwise(
    program: Program,
    x: Buffer,
    weights: Buffer,
    bias: Buffer | None,
    out: Buffer,
    sliding: Sliding,
    scheme: Scheme,
) -> None:
    """`quantized_gemm.depthwise`."""
    is_int16 = x.itemsize == 2
    is_hybrid = isinstance(scheme, Hybrid)
    fits_int8 = weights.dtype == np.int8 and (is_hybrid or scheme.zero_points[1] == 0)
    int16_weights = not (is_int16 or is_hybrid or fits_int8)
    layer = _Layer(weights.shape[:2], sliding, int16_weights, is_int16)
    if not fits_int8:
        weights = scheme.int16_weights(program, weights)
    if isinstance(scheme, Hybrid):
        _hybrid(program, layer, x, weights, bias, out, scheme)
    elif is_int16:
        terms = _int16_terms(scheme, bias, out.shape[3]), scheme.limits
        _quantized(program, layer, "int16", x, 0, weights, None, out, terms)
    else:
        operand = scheme.int8_input(program, x, x.shape[0], out.shape[3])
        x, zero = operand.values.reshape(x.shape), operand.zero_point
        assert zero is not None
        terms, epilogue = _int8_terms(scheme, weights, bias, out)
        if not layer.int16_weights:
            terms = layer.ordered(program, "int8", terms, out.shape[3])
        _quantized(program, layer, "int8", x, zero, weights, bias, out, (terms, epilogue))


def _quantized(
    program: Program,
    layer: _Layer,
    kernel: str,
    x: Buffer,
    zero: int,
    weights: Buffer,
    bias: Buffer | None,
    out: Buffer,
    terms: tuple[Buffer, Sequence[int]],
) -> None:
    """Appends the instructions for an input with one zero point.

    `terms` are the `terms` and `numbers` of the kernel.
    """
    n = out.shape[3]
    start = constant(np.zeros(n, np.int32)) if bias is None else bias.ravel()
    packed, start, _ = layer.pack(program, weights, start, zero)
    no_scales = constant(np.zeros(x.shape[0], np.int8))
    padding = constant(np.full((1, n), zero, x.dtype))
    epilogue = (start, terms[0], constant(np.array(terms[1])), no_scales, padding)
    layer.run(program, kernel, x, packed, epilogue, out)


def _hybrid(
    program: Program,
    layer: _Layer,
    x: Buffer,
    weights: Buffer,
    bias: Buffer | None,
    out: Buffer,
    scheme: Hybrid,
) -> None:
    """Appends the instructions for a float32 input, quantized to int8 image by image."""
    n = out.shape[3]
    operand = scheme.int8_input(program, x, x.shape[0], n)
    scales, zero_points, padding = operand.row_terms
    terms = np.zeros((2, _padded_channels(n)), np.float32)
    terms[0, :n] = scheme.scales
    if bias is not None:
        terms[1, :n] = value_of(bias)
    packed, start, totals = layer.pack(program, weights, constant(np.zeros(n, np.int32)), 0)
    starts = arena((x.shape[0], _padded_channels(n)), np.int32)
    program.call("depthwise_i8.begin_at", start, totals, zero_points, starts)
    limits = constant(np.array(scheme.clamp, np.float32))
    ordered = layer.ordered(program, "float32", constant(terms), n)
    epilogue = (starts, ordered, limits, scales, padding)
    layer.run(program, "float32", operand.values.reshape(x.shape), packed, epilogue, out)


class _Layer:
    """Shape and strides of a filter, and the variant of the kernel for it.

    Attributes:
        int16_weights: whether the weights are int16 and the input is not.
        int16_input: whether the input is int16.
        is_square: whether kernels may have strips for square filters.
        kind: the variant of the kernel.
        taps: rows and columns of the filter.
        window: how it slides over the input.
    """

    __slots__ = ("int16_input", "int16_weights", "is_square", "kind", "taps", "window")

    def __init__(
        self,
        taps: Sequence[int],
        sliding: Sliding,
        int16_weights: bool,
        int16_input: bool,
    ) -> None:
        self.int16_weights, self.int16_input = int16_weights, int16_input
        self.kind = "pairs" if int16_weights else _ANY
        if not int16_weights and in_strips(taps, sliding):
            self.kind = f"{taps[1]}_{sliding.stride[1]}"
        fits_square = taps[0] == taps[1] and (taps[1], sliding.stride[1]) in SQUARE_STRIPS
        in_bytes = not (int16_weights or int16_input)
        self.is_square = fits_square and in_bytes and self.kind != _ANY
        self.taps, self.window = taps, sliding.window

    def pack(
        self, program: Program, weights: Buffer, start: Buffer, zero: int
    ) -> tuple[Buffer, Buffer, Buffer]:
        """The filter as the kernels read it, what sums start from, and the sums of its weights."""
        rows, columns, n = weights.shape
        if self.kind in ("pairs", _ANY):
            rows, columns = rows * columns, 1
        packed = arena((ceil(rows / 2), columns, _padded_channels(n), 4), np.uint8)
        starts = arena((1, _padded_channels(n)), np.int32)
        totals = arena((_padded_channels(n),), np.int32)
        program.call(
            "depthwise_i8.pack",
            weights.reshape((rows, columns, n)),
            start,
            packed,
            starts,
            totals,
            x_zero=zero,
            pairs=int(self.int16_weights or self.int16_input),
            square=int(self.is_square),
        )
        return packed, starts, totals

    def ordered(self, program: Program, kind: str, terms: Buffer, n: int) -> Buffer:
        """The terms of `n` channels as the kernels read them."""
        ordered, square = arena(terms.shape, terms.dtype), int(self.is_square)
        program.call(f"depthwise_i8.order_{kind}", terms, ordered, n=n, square=square)
        return ordered

    def run(
        self,
        program: Program,
        kernel: str,
        x: Buffer,
        packed: Buffer,
        epilogue: Sequence[Buffer],
        out: Buffer,
    ) -> None:
        """Appends the instruction of `kernel`; `epilogue`: its arguments from weights to result."""
        program.call(
            f"depthwise_i8.{kernel}_{self.kind}",
            repeat_channels(program, x, out.shape[3] // x.shape[3]),
            packed,
            *epilogue,
            out,
            split=out.shape[0] * out.shape[1],
            taps_h=self.taps[0],
            taps_w=self.taps[1],
            window=self.window,
        )


def _int8_terms(
    scheme: Quantized, weights: Buffer, bias: Buffer | None, out: Buffer
) -> tuple[Buffer, Int8Epilogue]:
    """The terms of 8-bit results, and the numbers that go with them."""
    largest = prod(weights.shape[:2]) * 255 * 383
    if bias is not None:
        largest += int(np.abs(value_of(bias).astype(np.int64)).max())
    return requantize_terms_i8(
        scheme.scales,
        out.shape[3],
        scheme.zero_points[2],
        scheme.limits,
        out.dtype,
        largest=largest,
        exact=scheme.rounding == "exact",
    )


def _int16_terms(scheme: Quantized, bias: Buffer | None, n: int) -> Buffer:
    """The terms of int16 results of int64 sums."""
    offsets = np.zeros(n, np.int64) if bias is None else value_of(bias).astype(np.int64)
    rows = requantize_terms_i16(scheme.scales, offsets, scheme.zero_points[2])
    factors, starts, right_shifts = rows
    terms = np.zeros((2, _padded_channels(n)), np.int64)
    terms[:, :n] = starts, factors | (right_shifts << 32)
    return constant(terms)


def _padded_channels(n: int) -> int:
    return _BLOCK * ceil(n / _BLOCK)
