"""CUDA kernels in their plainest form: one thread for each result, arrays flat and float32.

Every kernel is kernel(out, *inputs, sizes, *numbers): `sizes` are integers in one tuple, the
first of them the number of results. A thread takes every gridsize-th result, so that any launch
is right; numba's simulator is given a single thread. Shapes of five dimensions are filled up with
ones in front.
"""

from __future__ import annotations

import math

import numpy as np
from numba import cuda

ZERO = np.float32(0)
ONE = np.float32(1)


@cuda.jit(device=True)
def _limited(x, low, high):
    """`x` within two limits; nan stays, which `min` and `max` of a GPU drop."""
    return low if x < low else high if x > high else x


@cuda.jit
def convolution(out, x, weights, bias, sizes, low, high):
    """Sums of a window of `x` times filters, within two limits.

    sizes: results, height and width and channels of x, height and width and channels of out,
    height and width of the filter, channels of a filter, filters in a group, stride (2),
    dilation (2), padding before (2), steps in the weights of filter, height, width and channel.
    """
    h, w, c = sizes[1], sizes[2], sizes[3]
    out_h, out_w, n = sizes[4], sizes[5], sizes[6]
    taps_h, taps_w, depth, group_filters = sizes[7], sizes[8], sizes[9], sizes[10]
    stride_h, stride_w, dilation_h, dilation_w = sizes[11], sizes[12], sizes[13], sizes[14]
    before_h, before_w = sizes[15], sizes[16]
    step_n, step_h, step_w, step_c = sizes[17], sizes[18], sizes[19], sizes[20]
    for i in range(cuda.grid(1), sizes[0], cuda.gridsize(1)):
        o = i % n
        column = i // n % out_w
        row = i // n // out_w % out_h
        batch = i // n // out_w // out_h
        first = o // group_filters * depth
        total = bias[o]
        for tap_h in range(taps_h):
            y = row * stride_h - before_h + tap_h * dilation_h
            if y < 0 or y >= h:
                continue
            for tap_w in range(taps_w):
                z = column * stride_w - before_w + tap_w * dilation_w
                if z < 0 or z >= w:
                    continue
                x_start = ((batch * h + y) * w + z) * c + first
                weights_start = o * step_n + tap_h * step_h + tap_w * step_w
                for k in range(depth):
                    total += x[x_start + k] * weights[weights_start + k * step_c]
        out[i] = _limited(total, low, high)


@cuda.jit
def average_pool(out, x, sizes, low, high):
    """The mean of a window of `x`, padding left out.

    sizes: results, height and width and channels of x, height and width of out, height and width
    of the window, stride (2), padding before (2).
    """
    h, w, c, out_h, out_w = sizes[1], sizes[2], sizes[3], sizes[4], sizes[5]
    taps_h, taps_w, stride_h, stride_w = sizes[6], sizes[7], sizes[8], sizes[9]
    for i in range(cuda.grid(1), sizes[0], cuda.gridsize(1)):
        top = i // c // out_w % out_h * stride_h - sizes[10]
        left = i // c % out_w * stride_w - sizes[11]
        image = i // c // out_w // out_h * h
        total = ZERO
        count = 0
        for y in range(max(top, 0), min(top + taps_h, h)):
            for z in range(max(left, 0), min(left + taps_w, w)):
                total += x[((image + y) * w + z) * c + i % c]
                count += 1
        out[i] = _limited(np.float32(total / np.float32(count)), low, high)


@cuda.jit
def max_pool(out, x, sizes, low, high):
    """The largest element of a window of `x`; sizes as for `average_pool`."""
    h, w, c, out_h, out_w = sizes[1], sizes[2], sizes[3], sizes[4], sizes[5]
    taps_h, taps_w, stride_h, stride_w = sizes[6], sizes[7], sizes[8], sizes[9]
    for i in range(cuda.grid(1), sizes[0], cuda.gridsize(1)):
        top = i // c // out_w % out_h * stride_h - sizes[10]
        left = i // c % out_w * stride_w - sizes[11]
        image = i // c // out_w // out_h * h
        maximum = low
        for y in range(max(top, 0), min(top + taps_h, h)):
            for z in range(max(left, 0), min(left + taps_w, w)):
                maximum = max(maximum, x[((image + y) * w + z) * c + i % c])
        out[i] = min(maximum, high)


@cuda.jit
def mean(out, x, sizes):
    """The mean along some dimensions.

    sizes: results, elements in each mean, dimensions of out (5), dimensions that are folded (5),
    steps in x (5).
    """
    count = sizes[1]
    for i in range(cuda.grid(1), sizes[0], cuda.gridsize(1)):
        x_start, index = 0, i
        for k in range(5):
            x_start += index % sizes[6 - k] * sizes[16 - k]
            index //= sizes[6 - k]
        total = ZERO
        for j in range(count):
            x_index, index = x_start, j
            for k in range(5):
                x_index += index % sizes[11 - k] * sizes[16 - k]
                index //= sizes[11 - k]
            total += x[x_index]
        out[i] = total / np.float32(count)


@cuda.jit
def softmax(out, x, sizes, beta):
    """exp(beta * x) over its sum in each row; sizes: rows, elements of a row."""
    n = sizes[1]
    for row in range(cuda.grid(1), sizes[0], cuda.gridsize(1)):
        first = row * n
        maximum = x[first] * beta
        for j in range(n):
            maximum = max(maximum, x[first + j] * beta)
        total = ZERO
        for j in range(n):
            total += np.float32(math.exp(x[first + j] * beta - maximum))
        for j in range(n):
            out[first + j] = np.float32(math.exp(x[first + j] * beta - maximum)) / total


@cuda.jit
def pad(out, x, sizes, value):
    """`x` with a border; sizes: results, dimensions of out (5), of x (5), borders before (5)."""
    for i in range(cuda.grid(1), sizes[0], cuda.gridsize(1)):
        x_index, step, index, inside = 0, 1, i, True
        for k in range(5):
            j = index % sizes[5 - k] - sizes[15 - k]
            index //= sizes[5 - k]
            inside = inside and j >= 0 and j < sizes[10 - k]
            x_index += j * step
            step *= sizes[10 - k]
        out[i] = x[x_index] if inside else value


@cuda.jit
def concat_rows(out, x, sizes):
    """Rows of `x` into longer rows; sizes: elements of x, of its row, of out's row, first."""
    short, long, first = sizes[1], sizes[2], sizes[3]
    for i in range(cuda.grid(1), sizes[0], cuda.gridsize(1)):
        out[i // short * long + first + i % short] = x[i]


def binary_kernel(function):
    """The kernel of a function of two elements, within two limits.

    sizes: results, dimensions of out (5), steps in a (5), steps in b (5), 0 where repeated.
    """

    @cuda.jit
    def kernel(out, a, b, sizes, low, high):
        for i in range(cuda.grid(1), sizes[0], cuda.gridsize(1)):
            a_index, b_index, index = 0, 0, i
            for k in range(5):
                j = index % sizes[5 - k]
                index //= sizes[5 - k]
                a_index += j * sizes[10 - k]
                b_index += j * sizes[15 - k]
            out[i] = _limited(function(a[a_index], b[b_index]), low, high)

    return kernel


def unary_kernel(function):
    """The kernel of a function of one element; sizes: results."""

    @cuda.jit
    def kernel(out, x, sizes):
        for i in range(cuda.grid(1), sizes[0], cuda.gridsize(1)):
            out[i] = function(x[i])

    return kernel


@cuda.jit(device=True)
def _add(a, b):
    return a + b


@cuda.jit(device=True)
def _subtract(a, b):
    return a - b


@cuda.jit(device=True)
def _multiply(a, b):
    return a * b


@cuda.jit(device=True)
def _divide(a, b):
    return a / b


@cuda.jit(device=True)
def _tanh(x):
    return np.float32(math.tanh(x))


@cuda.jit(device=True)
def _logistic(x):
    exp_minus_abs = np.float32(math.exp(-abs(x)))  # at most 1, whatever the sign of x
    return (ONE if x >= ZERO else exp_minus_abs) / (ONE + exp_minus_abs)


@cuda.jit(device=True)
def _hard_swish(x):
    return x * min(max(x + np.float32(3), ZERO), np.float32(6)) / np.float32(6)


@cuda.jit
def clamp(out, x, sizes, low, high):
    """`x` within two limits; sizes: results."""
    for i in range(cuda.grid(1), sizes[0], cuda.gridsize(1)):
        out[i] = _limited(x[i], low, high)


@cuda.jit
def leaky_relu(out, x, sizes, alpha):
    """`x`, those below 0 times alpha; sizes: results."""
    for i in range(cuda.grid(1), sizes[0], cuda.gridsize(1)):
        out[i] = x[i] if x[i] >= ZERO else x[i] * alpha


add, subtract, multiply, divide = map(binary_kernel, (_add, _subtract, _multiply, _divide))
tanh, logistic, hard_swish = map(unary_kernel, (_tanh, _logistic, _hard_swish))
