"""Convolution of each channel by itself."""

from numba import float32, float64

from ...build.kernel import inline, kernel
from ...records import ConvWindow


@inline
def add_tap(pixel, weights, sums):
    """sums[c * m + i] += pixel[c] * weights[c * m + i], with m outputs for each channel"""
    multiplier = sums.size // pixel.size
    if multiplier == 1:
        for c in range(pixel.size):
            sums[c] += float64(pixel[c]) * float64(weights[c])
        return
    for c in range(pixel.size):
        x, start = float64(pixel[c]), c * multiplier
        tap_weights = weights[start : start + multiplier]
        channel_sums = sums[start : start + multiplier]
        for i in range(multiplier):
            channel_sums[i] += x * float64(tap_weights[i])


@kernel(
    "x:float32[batch,*,*,*] weights:float32[*,*,n] bias:float32[n] out:float32[batch,*,*,n] "
    "scratch:float64[items,n] window:ConvWindow low:float32 high:float32",
    ConvWindow=ConvWindow,
)
def depthwise(x, weights, bias, out, scratch, window, low, high, first, last, fault):
    """out[n, y, x, c] = clamp(bias[c] + sum of input[.., c // m] * weights[.., c]).

    m = channels of `out` for each channel of `x`. An item is one row of `out`.
    """
    rows, columns = out.shape[1], out.shape[2]
    sums = scratch[first]
    for item in range(first, last):
        n = item // rows
        row = item - n * rows
        for column in range(columns):
            for c in range(sums.size):
                sums[c] = float64(bias[c])
            for i in range(weights.shape[0]):
                y = row * window.stride_h - window.before_h + i * window.dilation_h
                if not 0 <= y < x.shape[1]:
                    continue
                for j in range(weights.shape[1]):
                    at = column * window.stride_w - window.before_w + j * window.dilation_w
                    if 0 <= at < x.shape[2]:
                        add_tap(x[n, y, at], weights[i, j], sums)
            target = out[n, row, column]
            for c in range(sums.size):
                y = float32(sums[c])
                y = low if y < low else y
                target[c] = high if y > high else y
