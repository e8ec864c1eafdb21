"""Scales as the fixed-point multipliers and shifts of TFLite, and tables of them for kernels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import floor, frexp, isfinite
from typing import TYPE_CHECKING

import numpy as np

from ..plan.buffer import Buffer, constant
from ..records import Int8Epilogue
from ..tiling import CHANNEL_BLOCK

if TYPE_CHECKING:
    import numpy.typing as npt

Scale = tuple[float, int]
"""A scale and its zero point."""
_ONE = 1 << 31
_MAX_SHIFT = 30
INT32_SHIFT, INT64_SHIFT, ALL_OF_SHIFT = 31, 63, -1
"""The bits of a shift to the left that count: LiteRT leaves larger ones to the processor."""

MAX_LEFT_SHIFT = 14
"""The largest shift to the left of int64 sums that are rounded once."""

_TERMS = 6  # arrays of 64 bytes; as in kernels/int8/_requantize.py
_QUICK, _GENERAL, _EXACT, _RECTIFIED = range(4)  # as QUICK, GENERAL, EXACT, RECTIFIED there
_LARGEST = 1 << 30  # what sums must stay below for the first of these


def value_of(buffer: Buffer) -> np.ndarray:
    """The elements of a constant buffer."""
    value = buffer.value
    assert value is not None
    return value


def quantize_multiplier(
    scale: float | np.floating, shift_bits: int = INT32_SHIFT
) -> tuple[int, int]:
    """(multiplier, shift) with scale = multiplier * 2 ** (shift - 31), as TFLite rounds it.

    Of a shift beyond what any sound model has only `shift_bits` are left; what is infinite gives 0.

    >>> quantize_multiplier(1.0)
    (1073741824, 1)
    """
    if not isfinite(scale):
        return 0, 0
    fraction, shift = frexp(scale)
    multiplier = floor(fraction * _ONE + 0.5)
    if multiplier == _ONE:
        multiplier, shift = multiplier // 2, shift + 1
    if shift < -31:
        return 0, 0
    if shift > _MAX_SHIFT:
        shift &= shift_bits
    return multiplier, shift


def cyclic_shift(shift: int) -> int:
    """A shift of int32 as a processor does it: to the left five bits count, to the right six."""
    return shift & INT32_SHIFT if shift > 0 else -(-shift & INT64_SHIFT)


def quantize_multipliers(scales: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """`quantize_multiplier` of each element: int64 arrays of multipliers and shifts.

    >>> quantize_multipliers(np.array([1.0, 0.75]))
    (array([1073741824, 1610612736]), array([1, 0]))
    """
    if not np.logical_and.reduce(np.isfinite(scales), axis=None):
        scales = np.where(np.isfinite(scales), scales, 0)
    fractions, exponents = np.frexp(scales)
    multipliers = np.floor(fractions * _ONE + 0.5).astype(np.int64)
    shifts = exponents.astype(np.int64)
    if np.maximum.reduce(multipliers, axis=None, initial=0) == _ONE:
        overflow = multipliers == _ONE
        multipliers[overflow] //= 2
        shifts += overflow
    lowest, highest = _ends(shifts)
    if not -31 <= lowest <= highest <= _MAX_SHIFT:
        multipliers[shifts < -31] = 0
        shifts = np.where(shifts > _MAX_SHIFT, shifts & INT32_SHIFT, shifts)
        shifts = np.where(shifts < -31, 0, shifts)
    return multipliers, shifts


def largest_size(values: np.ndarray) -> int:
    """The largest of the absolute values of integers, of which there is one at least."""
    lowest, highest = (f.reduce(values, axis=None) for f in (np.minimum, np.maximum))
    return max(int(highest), -int(lowest))


def _ends(shifts: np.ndarray) -> tuple[int, int]:
    """The least and the largest of some shifts; 0 and 0 of none."""
    if not shifts.size:
        return 0, 0
    return int(np.minimum.reduce(shifts, axis=None)), int(np.maximum.reduce(shifts, axis=None))


def requantize_terms_i8(
    scales: np.ndarray,
    n: int,
    zero_point: int,
    limits: Sequence[int],
    dtype: npt.DTypeLike,
    *,
    largest: int | None = None,
    exact: bool = False,
) -> tuple[Buffer, Int8Epilogue]:
    """What kernels need to requantize int32 sums to 8 bits (kernels/int8/_requantize.py).

    Args:
        scales: float64, one or `n`, what sums are multiplied by.
        n: how many channels there are.
        zero_point: added to the products.
        limits: the lowest and highest result.
        dtype: int8 or uint8.
        largest: what the size of no sum exceeds; None when that is not known.
        exact: whether to round products of float64 instead of fixed-point numbers.

    Returns the terms, int64 [blocks of 16 channels, 48], and the kernel's other numbers.
    """
    blocks = -(-n // CHANNEL_BLOCK)
    terms = np.zeros((blocks, _TERMS, 8), np.int64)
    flip = 128 if np.dtype(dtype) == np.uint8 else 0
    zero_point, low, high = (number - flip for number in (zero_point, *limits))
    padded = scales
    if scales.size != blocks * CHANNEL_BLOCK:
        padded = np.zeros(blocks * CHANNEL_BLOCK)
        padded[:n] = scales
    if exact:
        terms[:, :2] = _by_parity(padded.view(np.int64), blocks)
        epilogue = Int8Epilogue(_EXACT, zero_point, low, high, flip)
        return constant(terms.reshape(blocks, -1)), epilogue
    multipliers, shifts = quantize_multipliers(padded)
    shifts[multipliers == 0] = -1
    lowest, highest = _ends(shifts)
    quick = largest is not None and largest < _LARGEST and -128 <= zero_point <= 127
    quick = bool(quick and -20 <= lowest <= highest < 0)
    right = -shifts if highest <= 0 else np.maximum(-shifts, 0)
    rectified = quick and low >= zero_point
    terms[:, 0:2] = _by_parity(multipliers, blocks)
    if quick:
        starts = (1 << 30) + ((1 << right >> 1) + (zero_point << right) << 31)
        terms[:, 2:4] = _by_parity(starts if rectified else 2 * starts, blocks)
    right = right - 1 if rectified else right
    int32_terms = terms.view(np.int32).reshape(blocks, _TERMS, CHANNEL_BLOCK)
    int32_terms[:, 4] = right.reshape(blocks, CHANNEL_BLOCK)
    if highest > 0:
        int32_terms[:, 5] = np.maximum(shifts, 0).reshape(blocks, CHANNEL_BLOCK)
    rounding = _RECTIFIED if rectified else _QUICK if quick else _GENERAL
    return constant(terms.reshape(blocks, -1)), Int8Epilogue(rounding, zero_point, low, high, flip)


def _by_parity(values: np.ndarray, blocks: int) -> np.ndarray:
    """Values of channels in blocks: those of even channels, then of odd ones."""
    return values.reshape(blocks, CHANNEL_BLOCK // 2, 2).transpose(0, 2, 1)


def fits_int32(scales: np.ndarray, n_terms: int, bias: Buffer | None) -> bool:
    """Whether sums of as many products of int16 and int8 stay int32 when they are scaled."""
    scale, largest = float(np.maximum.reduce(scales, axis=None)), n_terms * 2.0**22
    if bias is not None and bias.size:
        largest += largest_size(value_of(bias))
    return scale * largest < 2.0**31 and quantize_multiplier(scale)[1] <= MAX_LEFT_SHIFT


def requantize_terms_i16(scales: np.ndarray, bias: np.ndarray, zero_point: int) -> np.ndarray:
    """Three int64 rows for channels: results of int64 sums are (sum * factor + start) >> shift.

    That is what MultiplyByQuantizedMultiplier does with sums to which int64 `bias` is added: it
    rounds once, with 15 bits of the multiplier. Shifts to the left must not exceed MAX_LEFT_SHIFT.
    """
    rows = np.empty((3, bias.size), np.int64)
    factors, starts, right_shifts = rows
    multipliers, shifts = quantize_multipliers(scales)
    factors[:] = np.minimum((multipliers + (1 << 15)) >> 16, 0x7FFF)
    right_shifts[:] = 15 - shifts
    starts[:] = (1 << (right_shifts - 1)) + (np.int64(zero_point) << right_shifts) + bias * factors
    return rows


def parity_terms(rows: np.ndarray) -> np.ndarray:
    """Rows of numbers for whole blocks of channels as terms: a row for each block, with of each
    row the numbers of even channels before those of odd ones.
    """
    blocks = rows.shape[1] // CHANNEL_BLOCK
    by_parity = rows.reshape(len(rows), blocks, CHANNEL_BLOCK // 2, 2).transpose(1, 0, 3, 2)
    return by_parity.reshape(blocks, -1)


Terms = Sequence[Sequence[int]]
"""The `terms` of kernels/int8/rescaled.py: a row each for a, b, the result and the limits."""
Rounding = Callable[[int, int], tuple[int, int]]
"""What a kernel makes of a (multiplier, shift)."""


def right_shift_only(multiplier: int, shift: int) -> tuple[int, int]:
    """A multiplier and shift for vectors of TFLite's kernels that know shifts to the right alone.

    They take one to the left for one to the right by less than nothing, of which six bits count;
    64 more mark it (build/fixedpoint.py).
    """
    return multiplier, -(64 + (-shift & INT64_SHIFT)) if shift > 0 else shift


def right_shift_of_scalars(multiplier: int, shift: int) -> tuple[int, int]:
    """`right_shift_only` where the kernel has no vectors."""
    return multiplier, -(-shift & INT64_SHIFT) if shift > 0 else shift


def right_shift_or_sign(multiplier: int, shift: int) -> tuple[int, int]:
    """`right_shift_only` of vectors whose shifts end at 63: the sign is left of a number."""
    return multiplier, -(2 * INT64_SHIFT + 1) if shift > 0 else shift


def common_terms(
    a: Scale,
    b: Scale,
    out: Scale,
    limits: Sequence[int],
    left: int,
    power: int = 1,
    rounding: Rounding | None = None,
) -> Terms:
    """The terms of a kernel that brings a and b to one scale.

    Args:
        a, b, out: (scale, zero point) of the operands and the result.
        limits: the lowest and highest quantized result.
        left: how far the operands are shifted left first.
        power: 2 when the kernel squares.
        rounding: how the result's shift is done where it may be any.
    """
    widest = 2 * max(a[0], b[0])
    scale = widest**power / ((1 << left * power) * out[0])
    rows = [
        (a[1], *quantize_multiplier(a[0] / widest)),
        (b[1], *quantize_multiplier(b[0] / widest)),
    ]
    bits = INT32_SHIFT if rounding is None else ALL_OF_SHIFT
    return _terms(rows, out[1], scale, limits, left, bits, rounding)


def product_terms(
    a: Scale,
    b: Scale,
    out: Scale,
    limits: Sequence[int],
    scale: float,
    shift_bits: int = INT32_SHIFT,
) -> Terms:
    """The terms of a kernel that multiplies or divides: `scale` is applied to its result."""
    return _terms([(a[1], 0, 0), (b[1], 0, 0)], out[1], scale, limits, 0, shift_bits)


def _terms(
    rows: list[tuple[int, int, int]],
    zero_point: int,
    scale: float,
    limits: Sequence[int],
    left: int,
    shift_bits: int,
    rounding: Rounding | None = None,
) -> Terms:
    scaling = quantize_multiplier(scale, shift_bits)
    if rounding is not None:
        scaling = rounding(*scaling)
    return [*rows, (zero_point, *scaling), (*limits, left)]
