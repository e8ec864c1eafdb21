"""Windows over height and width, each channel by itself. An item is one row of the result."""

import numpy as np
from numba import float32, float64

from ...build.kernel import inline, kernel
from ...records import PoolWindow
from .._windows import reach

_ARRAYS = "x:float32[batch,*,*,c] out:float32[batch,*,*,c]"


@inline
def clamp(y, low, high):
    """`y` within [low, high]; nan stays nan."""
    y = low if y < low else y
    return high if y > high else y


@inline
def identity(y):
    """y"""
    return y


@inline
def square(y):
    """y * y"""
    return y * y


@inline
def root(y):
    """sqrt(y)"""
    return np.sqrt(y)


def mean_of(term, finish):
    """The kernel whose result is finish(mean of term(x) in the window)."""

    def pool(x, out, scratch, window, low, high, first, last, fault):
        rows = out.shape[1]
        sums = scratch[first]
        for item in range(first, last):
            n = item // rows
            row = item - n * rows
            top, bottom = reach(row, window.size_h, window.stride_h, window.before_h, x.shape[1])
            for column in range(out.shape[2]):
                left, right = reach(
                    column, window.size_w, window.stride_w, window.before_w, x.shape[2]
                )
                for c in range(sums.size):
                    sums[c] = 0.0
                for i in range(top, bottom):
                    for j in range(left, right):
                        pixel = x[n, i, j]
                        for c in range(sums.size):
                            sums[c] += term(float64(pixel[c]))
                target, count = out[n, row, column], float64((bottom - top) * (right - left))
                for c in range(sums.size):
                    target[c] = clamp(float32(finish(sums[c] / count)), low, high)

    return pool


for _name, _functions in (("average", (identity, identity)), ("root_mean_square", (square, root))):
    kernel(
        f"{_ARRAYS} scratch:float64[items,c] window:PoolWindow low:float32 high:float32",
        name=_name,
        PoolWindow=PoolWindow,
    )(mean_of(*_functions))


@kernel(
    "x:T[batch,*,*,c] out:T[batch,*,*,c] scratch:int64[items,c] window:PoolWindow low:i high:i",
    T=("int8", "uint8", "int16"),
    PoolWindow=PoolWindow,
)
def average_quantized(x, out, scratch, window, low, high, first, last, fault):
    """out = clamp(mean of the window), rounded to nearest, halves away from zero."""
    rows = out.shape[1]
    sums = scratch[first]
    for item in range(first, last):
        n = item // rows
        row = item - n * rows
        top, bottom = reach(row, window.size_h, window.stride_h, window.before_h, x.shape[1])
        for column in range(out.shape[2]):
            left, right = reach(column, window.size_w, window.stride_w, window.before_w, x.shape[2])
            for c in range(sums.size):
                sums[c] = 0
            for i in range(top, bottom):
                for j in range(left, right):
                    pixel = x[n, i, j]
                    for c in range(sums.size):
                        sums[c] += pixel[c]
            target, count = out[n, row, column], (bottom - top) * (right - left)
            for c in range(sums.size):
                magnitude = (abs(sums[c]) + count // 2) // count
                target[c] = min(max(-magnitude if sums[c] < 0 else magnitude, low), high)


@kernel(
    "x:T[batch,*,*,c] out:T[batch,*,*,c] window:PoolWindow low:T high:T",
    T=("float32", "int8", "uint8", "int16"),
    PoolWindow=PoolWindow,
)
def maximum(x, out, window, low, high, first, last, fault):
    """out = clamp(largest element of the window); nan counts as smallest."""
    rows = out.shape[1]
    for item in range(first, last):
        n = item // rows
        row = item - n * rows
        top, bottom = reach(row, window.size_h, window.stride_h, window.before_h, x.shape[1])
        for column in range(out.shape[2]):
            left, right = reach(column, window.size_w, window.stride_w, window.before_w, x.shape[2])
            target = out[n, row, column]
            for c in range(target.size):
                target[c] = low
            for i in range(top, bottom):
                for j in range(left, right):
                    pixel = x[n, i, j]
                    for c in range(target.size):
                        target[c] = pixel[c] if target[c] < pixel[c] else target[c]
            for c in range(target.size):
                target[c] = high if target[c] > high else target[c]
