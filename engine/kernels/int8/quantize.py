"""float32 as integers with a scale, and back."""

import numpy as np
from numba import float32, int32, int64

from ...build.fixedpoint import scaled
from ...build.kernel import inline, kernel

QUANTIZED = ("int8", "uint8", "int16")
_BELOW_HALF = float32(0.49999997)


@inline
def rounded(value):
    """`value` rounded to nearest, halves away from zero."""
    return np.trunc(value + np.copysign(_BELOW_HALF, value))


@kernel(
    "x:float32[*,c,*] scales:float32[1] zero_points:int32[1] out~x:T3 low:float32 high:float32",
    T=QUANTIZED,
)
def quantize(x, scales, zero_points, out, low, high, first, last, fault):
    """out = round(x / scale) + zero_point within [low, high]; an item is one slice of a channel."""
    channels = x.shape[1]
    for item in range(first, last):
        n = item // channels
        c = item - n * channels
        scale, zero_point = scales[c], float32(zero_points[c])
        source, target = x[n, c], out[n, c]
        for i in range(source.size):
            value = rounded(source[i] / scale) + zero_point
            value = value if value > low else low
            target[i] = int64(value if value < high else high)


@kernel("x:T3 scales:float32[1] zero_points:int32[1] out~x:float32[3]", T=QUANTIZED)
def dequantize(x, scales, zero_points, out, first, last, fault):
    """out = (x - zero_point) * scale; an item is one slice of a channel."""
    channels = x.shape[1]
    for item in range(first, last):
        n = item // channels
        c = item - n * channels
        scale, zero_point = scales[c], zero_points[c]
        source, target = x[n, c], out[n, c]
        for i in range(source.size):
            target[i] = scale * float32(int32(source[i] - zero_point))


@kernel("x:float32[1] out~x:float32[1] low:float32 high:float32 scale:float32")
def round_to_steps(x, out, low, high, scale, first, last, fault):
    """x within [low, high], rounded to low plus a multiple of scale"""
    inverse = float32(1) / scale
    for i in range(first, last):
        value = x[i] if x[i] > low else low
        value = value if value < high else high
        out[i] = rounded((value - low) * inverse) * scale + low


@kernel("x:T1 out~x:int32[1] x_zero:i multiplier:i shift:i left:i", T=QUANTIZED)
def rescale(x, out, x_zero, multiplier, shift, left, first, last, fault):
    """out = ((x - x_zero) << left) * multiplier * 2 ** (shift - 31), rounded"""
    for i in range(first, last):
        out[i] = scaled((int64(x[i]) - x_zero) << left, multiplier, shift)


@kernel(
    "x:S1 out~x:T1 x_zero:i multiplier:i shift:i out_zero:i low:i high:i",
    S=(*QUANTIZED, "int32"),
    T=(*QUANTIZED, "int32"),
)
def requantize(x, out, x_zero, multiplier, shift, out_zero, low, high, first, last, fault):
    """out = (x - x_zero) * multiplier * 2 ** (shift - 31) + out_zero within [low, high]"""
    for i in range(first, last):
        value = scaled(int64(x[i]) - x_zero, multiplier, shift) + out_zero
        out[i] = min(max(value, low), high)
