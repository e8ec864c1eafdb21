"""What is normalised along the last dimension. An item is one row."""

import math

from numba import float32, float64

from ...build.kernel import address, inline, kernel
from ..elementwise import _float32
from ..elementwise._formula import elementwise
from ..reduction._sums import largest_of, squares_of


def exponential(x, top, beta):
    """exp(beta * (x - top))"""
    return _float32.exp_nonpositive((x - top) * beta)


_exponentials = elementwise(exponential, numbers=2, total=True)


@inline
def exponentials(row, target, top, beta):
    """target[i] = exp(beta * (row[i] - top)); gives their sum."""
    return _exponentials(address(row), address(target), row.size, top, beta)


@kernel("x:float32[rows,n] out:float32[rows,n] beta:f")
def softmax(x, out, beta, first, last, fault):
    """out[r, i] = exp(beta * (x[r, i] - max)) / sum of the same over i"""
    for r in range(first, last):
        row, target = x[r], out[r]
        top = largest_of(address(row), row.size, row[0])
        part = float32(1.0 / exponentials(row, target, top, float32(beta)))
        for i in range(row.size):
            target[i] = target[i] * part


@kernel("x:float32[rows,n] out:float32[rows,n]")
def log_softmax(x, out, first, last, fault):
    """out[r, i] = x[r, i] - max - log(sum of exp(x[r, j] - max) over j)"""
    for r in range(first, last):
        row, target = x[r], out[r]
        top = largest_of(address(row), row.size, row[0])
        shift = float64(top) + math.log(exponentials(row, target, top, float32(1.0)))
        for i in range(row.size):
            target[i] = float32(float64(row[i]) - shift)


@kernel("x:float32[rows,n] out:float32[rows,n] smallest:f")
def l2_normalize(x, out, smallest, first, last, fault):
    """out[r] = x[r] / max(sqrt(sum of squares of x[r]), smallest)"""
    for r in range(first, last):
        row, target = x[r], out[r]
        squares = float32(squares_of(address(row), row.size, 0.0))  # beyond float32: infinite
        length = math.sqrt(float64(squares))
        part = 1.0 / (smallest if length < smallest else length)
        for i in range(row.size):
            target[i] = float32(float64(row[i]) * part)


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
