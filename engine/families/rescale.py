"""Scales as the integers that fixedpoint.py multiplies by."""

from __future__ import annotations

from math import floor, frexp

import numpy as np

from ..buffer import constant

_ONE = 1 << 31
_MOST = 30
"""The largest shift, for scales no sound model has: the kernels shift int64."""

MOST_LEFT = 14
"""The largest shift to the left of int64 sums that are rounded once."""

BLOCK, _TERMS = 16, 6  # channels of a block, and arrays of 64 bytes; as in kernels/_requantize.py
_QUICK, _GENERAL, _REAL = range(3)  # as QUICK, GENERAL, REAL there
_LARGEST = 1 << 30  # what sums must stay below for the first of these


def fixed_scale(scale):
    """(multiplier, shift) with scale = multiplier * 2 ** (shift - 31), as TFLite rounds it.

    >>> fixed_scale(1.0)
    (1073741824, 1)
    """
    fraction, shift = frexp(scale)
    multiplier = floor(fraction * _ONE + 0.5)
    if multiplier == _ONE:
        multiplier, shift = multiplier // 2, shift + 1
    if shift < -31:
        return 0, 0
    if shift > _MOST:
        return _ONE - 1, _MOST
    return multiplier, shift


def fixed_scales(scales):
    """`fixed_scale` of each element: int64 arrays of multipliers and shifts.

    >>> fixed_scales(np.array([1.0, 0.75]))
    (array([1073741824, 1610612736]), array([1, 0]))
    """
    fractions, shifts = np.frexp(scales)
    multipliers = np.floor(fractions * _ONE + 0.5).astype(np.int64)
    shifts = shifts.astype(np.int64)
    over = multipliers == _ONE
    if over.any():
        multipliers[over] //= 2
        shifts += over
    if shifts.size and not -31 <= shifts.min() <= shifts.max() <= _MOST:
        multipliers[shifts > _MOST] = _ONE - 1
        multipliers[shifts < -31] = 0
        shifts = np.where(shifts < -31, 0, np.minimum(shifts, _MOST))
    return multipliers, shifts


def byte_terms(scales, n, zero_point, limits, dtype, *, largest=None, real=False):
    """What kernels need to make 8-bit results of int32 sums (kernels/_requantize.py).

    Args:
        scales: float64, one or `n`, what sums are multiplied by.
        n: how many channels there are.
        zero_point: added to the products.
        limits: the lowest and highest result.
        dtype: int8 or uint8.
        largest: what the size of no sum exceeds; None when that is not known.
        real: whether to round products of float64 instead of fixed-point numbers.

    Returns the terms, int64 [blocks of 16 channels, 48], and the kernel's numbers by name.
    """
    blocks = -(-n // BLOCK)
    terms = np.zeros((blocks, _TERMS, 8), np.int64)
    flip = 128 if np.dtype(dtype) == np.uint8 else 0
    numbers = {
        "zero_point": zero_point - flip,
        "low": limits[0] - flip,
        "high": limits[1] - flip,
        "flip": flip,
    }
    padded = np.zeros(blocks * BLOCK)
    padded[:n] = scales
    if real:
        terms[:, :2] = _by_parity(padded.view(np.int64), blocks)
        return constant(terms.reshape(blocks, -1)), {"rounding": _REAL, **numbers}
    multipliers, shifts = fixed_scales(padded)
    shifts[multipliers == 0] = -1
    least, most = shifts.min(), shifts.max()
    quick = largest is not None and largest < _LARGEST and -128 <= numbers["zero_point"] <= 127
    quick = bool(quick and -20 <= least <= most < 0)
    right = -shifts if most <= 0 else np.maximum(-shifts, 0)
    terms[:, 0:2] = _by_parity(multipliers, blocks)
    if quick:
        starts = (1 << 31) + ((1 << right >> 1) + (numbers["zero_point"] << right) << 32)
        terms[:, 2:4] = _by_parity(starts, blocks)
    short = terms.view(np.int32).reshape(blocks, _TERMS, BLOCK)
    short[:, 4] = right.reshape(blocks, BLOCK)
    if most > 0:
        short[:, 5] = np.maximum(shifts, 0).reshape(blocks, BLOCK)
    numbers = {"rounding": _QUICK if quick else _GENERAL, **numbers}
    return constant(terms.reshape(blocks, -1)), numbers


def _by_parity(values, blocks):
    """Values of channels in blocks: those of even channels, then of odd ones."""
    return values.reshape(blocks, BLOCK // 2, 2).transpose(0, 2, 1)


def wide_terms(scales, bias, zero_point):
    """Three int64 rows for channels: results of int64 sums are (sum * factor + start) >> shift.

    That is what MultiplyByQuantizedMultiplier does with sums to which int64 `bias` is added: it
    rounds once, with 15 bits of the multiplier. Shifts to the left must not exceed MOST_LEFT.
    """
    multipliers, shifts = fixed_scales(np.broadcast_to(scales, bias.shape))
    factors = np.minimum((multipliers + (1 << 15)) >> 16, 0x7FFF)
    places = 15 - shifts
    starts = (1 << (places - 1)) + (np.int64(zero_point) << places) + bias * factors
    return np.stack([factors, starts, places])


def parity_terms(rows):
    """Rows of numbers for whole blocks of channels as terms: a row for each block, with of each
    row the numbers of even channels before those of odd ones.
    """
    blocks = rows.shape[1] // BLOCK
    parted = rows.reshape(len(rows), blocks, BLOCK // 2, 2).transpose(1, 0, 3, 2)
    return parted.reshape(blocks, -1)


def common_terms(a, b, out, limits, left, power=1):
    """The `terms` of a kernel of kernels/scaled.py that brings a and b to one scale.

    Args:
        a, b, out: (scale, zero point) of the operands and the result.
        limits: the lowest and highest stored result.
        left: how far the operands are shifted left first.
        power: 2 when the kernel squares.
    """
    widest = 2 * max(a[0], b[0])
    scale = widest**power / ((1 << left * power) * out[0])
    rows = [(a[1], *fixed_scale(a[0] / widest)), (b[1], *fixed_scale(b[0] / widest))]
    return _terms(rows, out[1], scale, limits, left)


def product_terms(a, b, out, limits, scale):
    """The `terms` of a kernel that multiplies or divides: `scale` is applied to its result."""
    return _terms([(a[1], 0, 0), (b[1], 0, 0)], out[1], scale, limits, 0)


def _terms(rows, zero_point, scale, limits, left):
    return constant(np.array([*rows, (zero_point, *fixed_scale(scale)), (*limits, left)], np.int64))
