"""What is normalised along the last dimension. An item is one row."""

import math

from numba import float32, float64

from ..kernel import inline, kernel
from ._exp import exp


@inline
def largest(x):
    """The largest element; nan only when it comes first."""
    top = x[0]
    for i in range(x.size):
        top = x[i] if top < x[i] else top
    return float64(top)


@inline
def sum_of(x):
    """The sum of all elements, four sums at a time."""
    a = b = c = d = 0.0
    i = 0
    while i + 4 <= x.size:
        a += float64(x[i])
        b += float64(x[i + 1])
        c += float64(x[i + 2])
        d += float64(x[i + 3])
        i += 4
    while i < x.size:
        a += float64(x[i])
        i += 1
    return (a + b) + (c + d)


@kernel("x:float32[rows,n] out:float32[rows,n] beta:f")
def softmax(x, out, beta, first, last, fault):
    """out[r, i] = exp(beta * (x[r, i] - max)) / sum of the same over i"""
    for r in range(first, last):
        row, target = x[r], out[r]
        top = largest(row)
        for i in range(row.size):
            target[i] = float32(exp((float64(row[i]) - top) * beta))
        total = sum_of(target)
        for i in range(row.size):
            target[i] = float32(float64(target[i]) / total)


@kernel("x:float32[rows,n] out:float32[rows,n]")
def log_softmax(x, out, first, last, fault):
    """out[r, i] = x[r, i] - max - log(sum of exp(x[r, j] - max) over j)"""
    for r in range(first, last):
        row, target = x[r], out[r]
        top, total = largest(row), 0.0
        for i in range(row.size):
            total += math.exp(float64(row[i]) - top)
        shift = top + math.log(total)
        for i in range(row.size):
            target[i] = float32(float64(row[i]) - shift)


@kernel("x:float32[rows,n] out:float32[rows,n] smallest:f")
def l2_normalize(x, out, smallest, first, last, fault):
    """out[r] = x[r] / max(sqrt(sum of squares of x[r]), smallest)"""
    for r in range(first, last):
        row, target = x[r], out[r]
        total = 0.0
        for i in range(row.size):
            total += float64(row[i]) * float64(row[i])
        length = math.sqrt(total)
        length = smallest if length < smallest else length
        for i in range(row.size):
            target[i] = float32(float64(row[i]) / length)


@kernel("x:float32[rows,n] out:float32[rows,n] radius:i bias:f alpha:f beta:f")
def local_response(x, out, radius, bias, alpha, beta, first, last, fault):
    """out[r, i] = x[r, i] / (bias + alpha * sum of x[r, j]^2 for |j - i| <= radius) ^ beta"""
    for r in range(first, last):
        row, target = x[r], out[r]
        for i in range(row.size):
            total = 0.0
            for j in range(max(i - radius, 0), min(i + radius + 1, row.size)):
                total += float64(row[j]) * float64(row[j])
            target[i] = float32(float64(row[i]) * math.pow(bias + alpha * total, -beta))
