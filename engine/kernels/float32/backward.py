"""Gradients: of activations, pooling, softmax cross-entropy; and what optimizers do with them."""

import math

import numpy as np
from numba import float32, float64

from ...build.kernel import address, inline, kernel, set_fault
from ...records import PoolWindow
from ...run.faults import INDEX_OUT_OF_RANGE
from ..elementwise._broadcast import PLAIN, plain
from ..reduction._sums import largest_of
from ._exponentials import SHRINK, exponentials


@inline
def relu_of(dy, x):
    """dy where x > 0, else 0"""
    return dy if x > 0 else float32(0.0)


@inline
def relu6_of(dy, x):
    """dy where 0 < x < 6, else 0"""
    return dy if 0 < x < 6 else float32(0.0)


@inline
def elu_of(dy, y):
    """dy where the result y >= 0, else dy * (y + 1)"""
    return dy if y >= 0 else dy * (y + float32(1.0))


@inline
def tanh_of(y, dy):
    """dy * (1 - y * y)"""
    return dy * (float32(1.0) - y * y)


@inline
def sigmoid_of(y, dy):
    """dy * y * (1 - y)"""
    return dy * y * (float32(1.0) - y)


@inline
def sqrt_of(y, dy):
    """dy / (2 * y)"""
    return dy * float32(0.5) / y


@inline
def rsqrt_of(y, dy):
    """dy * -y^3 / 2"""
    return dy * float32(-0.5) * y * y * y


for _name, _formula in (
    ("relu", relu_of),
    ("relu6", relu6_of),
    ("elu", elu_of),
    ("tanh", tanh_of),
    ("sigmoid", sigmoid_of),
    ("sqrt", sqrt_of),
    ("rsqrt", rsqrt_of),
):
    kernel(PLAIN, name=_name, T=("float32",))(plain(_formula))


@inline
def reach(position, size, stride, before, n):
    """Begin and end of the input positions under the window of output `position`."""
    start = position * stride - before
    return max(start, 0), min(start + size, n)


MIN_VECTOR_CHANNELS = 16
"""Channels below which each is taken through its window by itself."""


@kernel(
    "x:float32[batch,h,w,c] y:float32[batch,oh,ow,c] dy:float32[batch,oh,ow,c]"
    " inout:float32[batch,h,w,c] scratch:float32[batch,c] window:PoolWindow",
    PoolWindow=PoolWindow,
)
def max_pool(x, y, dy, inout, scratch, window, first, last, fault):
    """inout[i] += sum of dy over the windows in which x[i] is the first to equal the result y."""
    unassigned, channels = scratch[first], x.shape[3]
    for n in range(first, last):
        for row in range(y.shape[1]):
            top, bottom = reach(row, window.size_h, window.stride_h, window.before_h, x.shape[1])
            for column in range(y.shape[2]):
                left, right = reach(
                    column, window.size_w, window.stride_w, window.before_w, x.shape[2]
                )
                if channels < MIN_VECTOR_CHANNELS:
                    for c in range(channels):
                        best, gradient = y[n, row, column, c], dy[n, row, column, c]
                        for i in range(top, bottom):
                            for j in range(left, right):
                                equal = x[n, i, j, c] == best
                                inout[n, i, j, c] += gradient if equal else float32(0.0)
                                gradient = float32(0.0) if equal else gradient
                    continue
                best_row, gradients = y[n, row, column], dy[n, row, column]
                for c in range(unassigned.size):
                    unassigned[c] = gradients[c]
                for i in range(top, bottom):
                    for j in range(left, right):
                        pixel, target = x[n, i, j], inout[n, i, j]
                        for c in range(unassigned.size):
                            equal = pixel[c] == best_row[c]
                            target[c] += unassigned[c] if equal else float32(0.0)
                            unassigned[c] = float32(0.0) if equal else unassigned[c]


@kernel(
    "dy:float32[batch,oh,ow,c] inout:float32[batch,h,w,c] window:PoolWindow",
    PoolWindow=PoolWindow,
)
def average_pool(dy, inout, window, first, last, fault):
    """inout[i] += sum over the windows that hold i of dy over the window's number of elements."""
    for n in range(first, last):
        for row in range(dy.shape[1]):
            top, bottom = reach(
                row, window.size_h, window.stride_h, window.before_h, inout.shape[1]
            )
            for column in range(dy.shape[2]):
                left, right = reach(
                    column, window.size_w, window.stride_w, window.before_w, inout.shape[2]
                )
                gradients = dy[n, row, column]
                factor = float32(1.0) / float32((bottom - top) * (right - left))
                for i in range(top, bottom):
                    for j in range(left, right):
                        target = inout[n, i, j]
                        for c in range(gradients.size):
                            target[c] += gradients[c] * factor


@inline
def shifted(row, target):
    """target = exp(row - max) / SHRINK; gives the maximum and the sum of target."""
    top = largest_of(address(row), row.size, row[0])
    return float64(top), float64(exponentials(row, target, top, float32(1.0)))


@kernel("x:float32[rows,n] labels:float32[rows,n] out_loss:float32[rows] out:float32[rows,n]")
def cross_entropy(x, labels, out_loss, out, first, last, fault):
    """out_loss = -sum(labels * log(softmax(x))), out = softmax(x) - labels, row by row."""
    for r in range(first, last):
        row, target, label = x[r], out[r], labels[r]
        top, total = shifted(row, target)
        shift, loss, part = top + math.log(total * SHRINK), 0.0, float32(1.0 / total)
        for i in range(row.size):
            loss += float64(label[i]) * (shift - float64(row[i]))
            target[i] = target[i] * part - label[i]
        out_loss[r] = float32(loss)


@kernel(
    "x:float32[rows,n] labels:I[rows] out_loss:float32[rows] out:float32[rows,n]",
    I=("int32", "int64"),
)
def sparse_cross_entropy(x, labels, out_loss, out, first, last, fault):
    """Like cross_entropy, of labels that are the number of the right class."""
    for r in range(first, last):
        row, target, label = x[r], out[r], labels[r]
        if label < 0 or label >= row.size:
            set_fault(fault, INDEX_OUT_OF_RANGE, r, label, row.size)
            return
        top, total = shifted(row, target)
        part = float32(1.0 / total)
        for i in range(row.size):
            target[i] = target[i] * part
        target[label] -= float32(1.0)
        out_loss[r] = float32(top + math.log(total * SHRINK) - float64(row[label]))


@kernel("inout:T[n] rate:T[1] grad:T[n]", T=("float32", "float64"))
def gradient_descent(inout, rate, grad, first, last, fault):
    """inout -= rate * grad"""
    step = rate[0]
    for i in range(first, last):
        inout[i] -= grad[i] * step


@kernel(
    "inout:T[n] inout_accum:T[n] rate:T[1] grad:T[n] momentum:T[1] nesterov:i",
    T=("float32", "float64"),
)
def momentum(inout, inout_accum, rate, grad, momentum, nesterov, first, last, fault):
    """accum = momentum * accum + grad; inout -= rate * accum (or grad + momentum * accum)"""
    step, decay = rate[0], momentum[0]
    for i in range(first, last):
        total = inout_accum[i] * decay + grad[i]
        inout_accum[i] = total
        inout[i] -= (grad[i] + total * decay if nesterov else total) * step


@kernel(
    "inout:T[n] inout_m:T[n] inout_v:T[n] beta1_power:T[1] beta2_power:T[1] rate:T[1]"
    " beta1:T[1] beta2:T[1] epsilon:T[1] grad:T[n] nesterov:i",
    T=("float32", "float64"),
)
def adam(
    inout, inout_m, inout_v, beta1_power, beta2_power, rate, beta1, beta2, epsilon, grad,
    nesterov, first, last, fault,
):  # fmt: skip
    """m and v are running means of grad and its square; inout -= step * m / (sqrt(v) + epsilon).

    step = rate * sqrt(1 - beta2_power) / (1 - beta1_power)
    """
    one = inout.dtype.type(1)
    step = rate[0] * np.sqrt(one - beta2_power[0]) / (one - beta1_power[0])
    decay, decay_square, eps = beta1[0], beta2[0], epsilon[0]
    for i in range(first, last):
        g = grad[i]
        m = inout_m[i] + (g - inout_m[i]) * (one - decay)
        v = inout_v[i] + (g * g - inout_v[i]) * (one - decay_square)
        inout_m[i], inout_v[i] = m, v
        mean = g * (one - decay) + decay * m if nesterov else m
        inout[i] -= mean * step / (np.sqrt(v) + eps)
