"""Sums of products as quantized integers or float32.

An item is one row. Products of int32 are rounded twice, those of int64 once, as in TFLite.
"""

import math

from numba import float32, float64, int32, int64

from ...build.fixedpoint import NEAREST_SHIFT, high_product, scaled, scaled_near, scaled_wide
from ...build.kernel import inline, kernel

QUANTIZED = ("int8", "uint8", "int16")
HALF_RANGE = 2.0**31 - 0.5  # of int32, that numbers are rounded to
SUMS = ("int32", "int64")
_TERMS = "multipliers:int32[n] shifts:int32[n] out~sums:T[rows,n] zero_point:i low:i high:i"


def finish(product):
    """The kernel out[r, c] = product(sums[r, c], scale of c) + zero_point within [low, high]."""

    def requantize(sums, multipliers, shifts, out, zero_point, low, high, first, last, fault):
        for r in range(first, last):
            row, target = sums[r], out[r]
            for c in range(target.size):
                value = product(int64(row[c]), int64(multipliers[c]), int64(shifts[c]))
                target[c] = min(max(value + zero_point, low), high)

    return requantize


@inline
def scaled_half_up(value, multiplier, shift):
    """value * multiplier * 2 ** (shift - 31), rounded twice, both times halves up."""
    left_shift = max(shift, int64(0))
    right_shift = left_shift - shift
    product = high_product(int64(int32(value << left_shift)), multiplier)
    return (product + ((int64(1) << right_shift) >> 1)) >> right_shift


kernel(f"sums:int32[rows,n] {_TERMS}", name="round_half_up", T=("int16",))(finish(scaled_half_up))
kernel(f"sums:int64[rows,n] {_TERMS}", name="round_int64_half_up", T=("int16",))(
    finish(scaled_wide)
)


@kernel(f"sums:S[rows,n] {_TERMS}", S=SUMS, T=QUANTIZED)
def round_half_away(sums, multipliers, shifts, out, zero_point, low, high, first, last, fault):
    """out[r, c] = scaled(sums[r, c], scale of c) within [low, high]"""
    are_near = True
    for c in range(shifts.size):
        are_near &= shifts[c] >= NEAREST_SHIFT
    for r in range(first, last):
        row, target = sums[r], out[r]
        if are_near:
            for c in range(target.size):
                value = scaled_near(int64(row[c]), int64(multipliers[c]), int64(shifts[c]))
                target[c] = min(max(value + zero_point, low), high)
        else:
            for c in range(target.size):
                value = scaled(int64(row[c]), int64(multipliers[c]), int64(shifts[c]))
                target[c] = min(max(value + zero_point, low), high)


@inline
def nearest(value):
    """`value` rounded to nearest, halves away from zero."""
    return math.trunc(value + math.copysign(0.5, value))


@kernel(
    "sums:S[rows,n] scales:float64[n] out~sums:T[rows,n] zero_point:i low:i high:i",
    S=SUMS,
    T=QUANTIZED,
)
def exact(sums, scales, out, zero_point, low, high, first, last, fault):
    """out[r, c] = sums[r, c] * scales[c] + zero_point within [low, high], rounded from float64"""
    for r in range(first, last):
        row, target = sums[r], out[r]
        for c in range(target.size):
            value = float64(row[c]) * scales[c]
            rounded = nearest(value if abs(value) < HALF_RANGE else -(2.0**31))
            target[c] = min(max(int64(int32(int64(rounded) + zero_point)), low), high)


@kernel(
    "sums:int32[rows,n] row_scales:float32[*] scales:float32[n] bias:float32[n] "
    "out~sums:float32[rows,n] n_rows:i low:float32 high:float32"
)
def to_float32(sums, row_scales, scales, bias, out, n_rows, low, high, first, last, fault):
    """out[r, c] = clamp(sums[r, c] * row_scales[r // n_rows] * scales[c] + bias[c])"""
    for r in range(first, last):
        row, target, scale = sums[r], out[r], row_scales[r // n_rows]
        for c in range(target.size):
            y = float32(row[c]) * (scale * scales[c]) + bias[c]
            y = low if y < low else y
            target[c] = high if y > high else y
