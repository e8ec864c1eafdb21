"""Functions of quantized integers: slopes, means and norms."""

import math

from numba import float32, float64, int32, int64

from ...build.fixedpoint import (
    HIGHEST,
    NEAREST_SHIFT,
    inverse_root,
    leading_zeros,
    logarithm,
    reciprocal,
    rounding_shift,
    scaled,
    scaled_near,
    scaled_wide,
)
from ...build.kernel import inline, kernel
from ...records import FixedPoint, Output

QUANTIZED = ("int8", "uint8", "int16")
_EXP, _RECIPROCAL = range(2)  # the tables of `softmax_16`


@kernel(
    "x:T[rows,n] alpha:T[n] out~x:T[rows,n] x_zero:i alpha_zero:i scale:FixedPoint "
    "slope_scale:FixedPoint output:Output",
    T=("int8", "uint8"),
    FixedPoint=FixedPoint,
    Output=Output,
)
def leaky_rows(x, alpha, out, x_zero, alpha_zero, scale, slope_scale, output, first, last, fault):
    """out[r, i] = x[r, i] where that is not negative, else x[r, i] * alpha[i]; on out's scale"""
    for r in range(first, last):
        row, target = x[r], out[r]
        for i in range(row.size):
            value = int64(row[i]) - x_zero
            if value >= 0:
                value = scaled(value, scale.multiplier, scale.shift)
            else:
                value *= int64(alpha[i]) - alpha_zero
                value = scaled(value, slope_scale.multiplier, slope_scale.shift)
            target[i] = min(max(value + output.zero_point, output.low), output.high)


@kernel(
    "sums:int64[n] out~sums:T[n] offset:i multiplier:i shift:i out_zero:i low:i high:i", T=QUANTIZED
)
def rescale_sums(sums, out, offset, multiplier, shift, out_zero, low, high, first, last, fault):
    """out = (sums - offset) * multiplier * 2 ** (shift - 31) + out_zero"""
    if shift >= NEAREST_SHIFT:
        for i in range(first, last):
            value = scaled_near(sums[i] - offset, multiplier, shift) + out_zero
            out[i] = min(max(value, low), high)
        return
    for i in range(first, last):
        value = scaled(sums[i] - offset, multiplier, shift) + out_zero
        out[i] = min(max(value, low), high)


@kernel(
    "sums:int64[n] out~sums:T[n] scale:float32 bias:float32 out_zero:i low:i high:i", T=QUANTIZED
)
def round_sums(sums, out, scale, bias, out_zero, low, high, first, last, fault):
    """out = round(sums * scale + bias) + out_zero, in float32"""
    for i in range(first, last):
        value = float64(float32(sums[i]) * scale + bias)
        value += math.copysign(0.5, value)
        value = value if abs(value) < 2.0**31 else -(2.0**31)
        out[i] = min(max(int64(int32(int32(value) + int32(out_zero))), low), high)


@kernel(
    "x:T[rows,n] out:T[rows] x_zero:i multiplier:i shift:i out_zero:i low:i high:i",
    T=("int8", "int16"),
)
def product(x, out, x_zero, multiplier, shift, out_zero, low, high, first, last, fault):
    """out[r] = product of x[r], scaled after each factor; it wraps where int32 ends"""
    for r in range(first, last):
        row = x[r]
        value = int64(row[0]) - x_zero
        for i in range(1, row.size):
            value = scaled_wide(value * (int64(row[i]) - x_zero), multiplier, shift)
        value = scaled_wide(value, multiplier, shift) + out_zero
        out[r] = min(max(value, low), high)


@kernel("x:T[rows,n] out:T[rows,n] x_zero:i left:i out_zero:i low:i high:i", T=("int8", "uint8"))
def l2_normalize(x, out, x_zero, left, out_zero, low, high, first, last, fault):
    """out[r] = 128 * x[r] / length of x[r], where x is shifted `left` before it is rounded"""
    for r in range(first, last):
        row, target = x[r], out[r]
        total = int64(0)
        for i in range(row.size):
            value = int64(row[i]) - x_zero
            total += value * value
        inverse, shift = inverse_root(total)
        for i in range(row.size):
            value = scaled((int64(row[i]) - x_zero) << left, inverse, 7 - left - shift)
            target[i] = min(max(value + out_zero, low), high)


@inline
def largest(row):
    """The largest element."""
    top = int64(row[0])
    for i in range(row.size):
        top = max(top, int64(row[i]))
    return top


@kernel(
    "x:S[rows,n] exps:int32[1,256] out:T[rows,n] low:i high:i bits:i",
    S=("int8", "uint8"),
    T=QUANTIZED,
)
def softmax(x, exps, out, low, high, bits, first, last, fault):
    """out[r, i] = exps[max - x[r, i]] / sum of the same over i, in `bits` bits from `low` on"""
    for r in range(first, last):
        row, target = x[r], out[r]
        top, total = largest(row), int64(0)
        for i in range(row.size):
            total += rounding_shift(int64(exps[0, top - int64(row[i])]), 12)
        inverse, shift = reciprocal(min(total, HIGHEST))
        shift += 12 - bits
        for i in range(row.size):
            value = (inverse * exps[0, top - int64(row[i])] + (int64(1) << 30)) >> 31
            target[i] = min(rounding_shift(value, shift) + low, high)


@kernel("x:int16[rows,n] tables:int16[2,65536] out:int16[rows,n]")
def softmax_16(x, tables, out, first, last, fault):
    """out[r, i] = exp(x[r, i] - max) / sum of the same over i, by the tables of exp and 1 / x

    That of exp is for differences from the largest, in steps of x.
    """
    for r in range(first, last):
        row, target = x[r], out[r]
        top, total = largest(row), int64(0)
        for i in range(row.size):
            value = tables[_EXP, top - int64(row[i])]
            target[i] = value
            total += value
        total = min(total, HIGHEST)
        free = leading_zeros(total)
        step = (((total << (free - 1)) + (1 << 13)) >> 14) - 65536
        inverse = int64(tables[_RECIPROCAL, min(max(step, 0), 65535)])
        shift = 31 - free
        half = (int64(1) << shift) >> 1
        for i in range(row.size):
            value = (target[i] * inverse + half) >> shift
            target[i] = min(max(value, 0), 32767)


@kernel(
    "x:T[rows,n] steps:int32[1,256] exps:int32[1,256] out:T[rows,n] radius:i reverse:i "
    "reverse_shift:i low:i high:i",
    T=("int8", "uint8"),
)
def log_softmax(x, steps, exps, out, radius, reverse, reverse_shift, low, high, first, last, fault):
    """out[r, i] = x[r, i] - max - log(sum of exps), in steps of 1 / 16 down from `high`"""
    for r in range(first, last):
        row, target = x[r], out[r]
        top, total = largest(row), int64(0)
        for i in range(row.size):
            total += rounding_shift(int64(exps[0, top - int64(row[i])]), 12)
        offset = logarithm(min(total, HIGHEST))
        lowest = scaled(offset - (int64(1) << 31), reverse, reverse_shift)
        lowest = max(-radius - 1, lowest)
        for i in range(row.size):
            down = int64(row[i]) - top
            value = rounding_shift(int64(steps[0, -down]) - offset, 22) + high
            target[i] = min(max(value, low), high) if down > lowest else low
