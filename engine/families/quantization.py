"""Quantization schemes: how operands become integers, and sums of products results."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from ..plan.buffer import Buffer, arena, constant, zeros
from .multipliers import INT32_SHIFT, INT64_SHIFT, quantize_multiplier

if TYPE_CHECKING:
    from ..plan.program import Program
    from .parameters import Clamp

_PARTITION = 1 << 13
"""float32 of a row that are quantized at a time: the L1 cache holds them."""


class Int8Operand:
    """An operand as int8, with its zero point.

    Attributes:
        values: int8.
        zero_point: of all of them; None when each row has its own.
        row_terms: scales, zero points and padding values of the rows, when each has its own.
    """

    __slots__ = ("row_terms", "values", "zero_point")

    def __init__(
        self, values: Buffer, zero_point: int | None = None, row_terms: tuple[Buffer, ...] = ()
    ) -> None:
        self.values, self.zero_point, self.row_terms = values, zero_point, row_terms


def to_int8(program: Program, x: Buffer, zero_point: int) -> Int8Operand:
    """int8 or uint8 as int8: the sign bit of uint8 is flipped."""
    if x.dtype == np.int8:
        return Int8Operand(x, zero_point)
    out = arena(x.shape, np.int8)
    program.call("gemm_i8_input.signed", x.ravel(), out.ravel(), split=x.size)
    return Int8Operand(out, zero_point - 128)


def quantize_rows(
    program: Program, x: Buffer, rows: int, depth: int, asymmetric: bool, pitch: int = 0
) -> Int8Operand:
    """float32 quantized to int8, each of `rows` separately; `depth` is the length of the padding.

    The rows begin `pitch` bytes apart if that is not 0.
    """
    (scales, zero_points, padding), inverses = row_numbers(program, x, rows, depth, asymmetric)
    count = x.size // rows
    n_parts = ceil(count / _PARTITION)
    out = arena((rows, pitch or count), np.int8)
    program.call(
        "quantize_rows.rounded",
        x.reshape((rows, count)),
        inverses,
        zero_points,
        out,
        split=rows * n_parts,
        low=-128 if asymmetric else -127,
        parts=n_parts,
    )
    return Int8Operand(out, row_terms=(scales, zero_points, padding))


def row_numbers(
    program: Program, x: Buffer, rows: int, depth: int, asymmetric: bool
) -> tuple[tuple[Buffer, Buffer, Buffer], Buffer]:
    """What `quantize_rows` quantizes rows by: their terms, and the inverses of their scales."""
    count = x.size // rows
    n_parts = ceil(count / _PARTITION)
    x, extremes = x.reshape((rows, count)), arena((rows, n_parts, 2), np.float32)
    program.call("quantize_rows.extremes", x, extremes, split=rows * n_parts)
    scales, inverses = (arena((rows,), np.float32) for _ in range(2))
    zero_points, padding = arena((rows,), np.int32), arena((rows, depth), np.int8)
    name = "asymmetric" if asymmetric else "symmetric"
    program.call(
        f"quantize_rows.{name}", extremes, scales, inverses, zero_points, padding, split=rows
    )
    return (scales, zero_points, padding), inverses


def quantize_rows_i16(
    program: Program, x: Buffer, rows: int, asymmetric: bool
) -> tuple[Buffer, Buffer]:
    """float32 quantized as by `quantize_rows`, as int16 without zero points, and the scales."""
    operand = quantize_rows(program, x, rows, 0, asymmetric)
    scales, zero_points, _ = operand.row_terms
    out, n_parts = arena(x.shape, np.int16), ceil(x.size // rows / _PARTITION)
    values = out.reshape(operand.values.shape)
    program.call(
        "quantize_rows.subtract_zero_point",
        operand.values,
        zero_points,
        values,
        split=rows * n_parts,
        parts=n_parts,
    )
    return out, scales


def subtract_zero_point(program: Program, x: Buffer, zero_point: int) -> Buffer:
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


class Quantized:
    """Quantized results of quantized operands: full integer quantization.

    Attributes:
        scales: what the sums of each output channel, or of all, are multiplied by.
        zero_points: of input, weights and result.
        limits: the lowest and highest result.
        accumulator: dtype of the sums, np.int32 or np.int64.
        rounding: "round_half_away" (int32 sums by fixed-point numbers, twice rounded),
            "round_half_up" (the same with halves up), "round_int64_half_up" (int64 sums, once) or
            "exact" (float64).
    """

    __slots__ = ("accumulator", "limits", "rounding", "scales", "zero_points")

    def __init__(
        self,
        scales: np.ndarray,
        zero_points: tuple[int, int, int],
        limits: Sequence[int],
        accumulator: type = np.int32,
        rounding: str = "round_half_away",
    ) -> None:
        self.scales, self.zero_points, self.limits = scales, zero_points, limits
        self.accumulator, self.rounding = accumulator, rounding

    def repeated(self, times: int) -> Quantized:
        """The same for `times` the channels, which have the scales in turns."""
        scales = np.tile(self.scales, times) if self.scales.size > 1 else self.scales
        return Quantized(scales, self.zero_points, self.limits, self.accumulator, self.rounding)

    def int8_input(
        self, program: Program, x: Buffer, rows: int, depth: int, pitch: int = 0
    ) -> Int8Operand:
        """`x` as int8."""
        return to_int8(program, x, self.zero_points[0])

    def int16_input(self, program: Program, x: Buffer, rows: int) -> tuple[Buffer, None]:
        """`x` as int16 without its zero point, and no scales."""
        return subtract_zero_point(program, x, self.zero_points[0]), None

    def int16_weights(self, program: Program, weights: Buffer) -> Buffer:
        """`weights` as int16 without their zero point."""
        return subtract_zero_point(program, weights, self.zero_points[1])

    def initial_sums(self, bias: Buffer | None, n: int) -> Buffer:
        """What each sum of products starts from."""
        return _zeros(n, self.accumulator) if bias is None else bias.ravel()

    def requantize(
        self,
        program: Program,
        sums: Buffer,
        scales: Buffer | None,
        bias: Buffer | None,
        out: Buffer,
    ) -> None:
        """Appends the instruction that makes results of the sums."""
        n = out.shape[-1]
        rows = (out.size // n, n)
        columns = [constant(np.broadcast_to(self.scales, (n,)).astype(np.float64))]
        if self.rounding != "exact":
            bits = INT64_SHIFT if self.accumulator is np.int64 else INT32_SHIFT
            multipliers = np.array(
                [quantize_multiplier(scale, bits) for scale in self.scales.tolist()], np.int32
            )
            columns = [constant(row.copy()) for row in np.broadcast_to(multipliers, (n, 2)).T]
        program.call(
            f"requantize.{self.rounding}",
            sums.reshape(rows),
            *columns,
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

    def __init__(self, scales: np.ndarray, asymmetric: bool, clamp: Clamp) -> None:
        self.scales, self.asymmetric, self.clamp = scales, asymmetric, clamp

    def repeated(self, times: int) -> Hybrid:
        """The same for `times` the channels, which have the scales in turns."""
        scales = np.tile(self.scales, times) if self.scales.size > 1 else self.scales
        return Hybrid(scales, self.asymmetric, self.clamp)

    def int8_input(
        self, program: Program, x: Buffer, rows: int, depth: int, pitch: int = 0
    ) -> Int8Operand:
        """`x` as int8, each of `rows` quantized separately; `depth` is the length of their padding.

        The rows begin `pitch` bytes apart if that is not 0.
        """
        return quantize_rows(program, x, rows, depth, self.asymmetric, pitch)

    def int16_input(self, program: Program, x: Buffer, rows: int) -> tuple[Buffer, Buffer]:
        """`x` as int16, each of `rows` quantized separately, and their scales."""
        return quantize_rows_i16(program, x, rows, self.asymmetric)

    def int16_weights(self, program: Program, weights: Buffer) -> Buffer:
        """`weights` as int16."""
        return subtract_zero_point(program, weights, 0)

    def initial_sums(self, bias: Buffer | None, n: int) -> Buffer:
        """What each sum of products starts from."""
        return _zeros(n, self.accumulator)

    def requantize(
        self,
        program: Program,
        sums: Buffer,
        scales: Buffer | None,
        bias: Buffer | None,
        out: Buffer,
    ) -> None:
        """Appends the instruction that makes results of the sums."""
        assert scales is not None
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


class Blockwise:
    """float32 results of float32 inputs and weights with a scale for each block of a row.

    The input is quantized to 8 bits, each row with a zero point, as the model runs.

    Attributes:
        scales: float32 or float16 [n, blocks of a row].
        block: how many weights share one.
        bits: of a weight, 4 or 8.
        clamp: limits of the result.
    """

    __slots__ = ("bits", "block", "clamp", "scales")
    asymmetric = True

    def __init__(self, scales: Buffer, block: int, bits: int, clamp: Clamp) -> None:
        self.scales, self.block, self.bits, self.clamp = scales, block, bits, clamp


Scheme = Quantized | Hybrid


def _zeros(n: int, dtype: type) -> Buffer:
    return zeros((n,), dtype)
