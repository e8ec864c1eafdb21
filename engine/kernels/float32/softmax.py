"""What is normalised along the last dimension. An item is one row."""

import math

from numba import float32, float64

from ...build.kernel import address, kernel
from ..reduction._sums import largest_of, squares_of
from ._exponentials import SHRINK, exponentials


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
        total = exponentials(row, target, top, float32(1.0)) * SHRINK
        shift = float64(top) + math.log(total)
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


@kernel("x:float32[rows,n] gain:float32[n] out:float32[rows,n] share:f epsilon:f")
def scale_rows(x, gain, out, share, epsilon, first, last, fault):
    """out[r] = x[r] * gain / sqrt(share * sum of squares of x[r] + epsilon)"""
    for r in range(first, last):
        row, target = x[r], out[r]
        squares = float64(squares_of(address(row), row.size, 0.0))
        part = float32(1.0 / math.sqrt(squares * share + epsilon))
        for i in range(row.size):
            target[i] = row[i] * part * gain[i]


@kernel(
    "x:float32[rows,n] mask:float32[*,n] out:float32[rows,n] "
    "heads:i steps:i mask_batch:i mask_heads:i mask_steps:i scale:float32 cap:float32"
)
def attention(
    x, mask, out, heads, steps, mask_batch, mask_heads, mask_steps, scale, cap, first, last, fault
):
    """out[r] = softmax(cap * tanh(x[r] * scale / cap) + mask), without the cap where that is 0.

    Rows are those of [batch, heads, steps], masks of the same with 1 for what is the same for all.
    """
    for r in range(first, last):
        row, target = x[r], out[r]
        step, head, batch = r % steps, r // steps % heads, r // (steps * heads)
        at = (batch % mask_batch * mask_heads + head % mask_heads) * mask_steps + step % mask_steps
        if cap > float32(0.0):
            for i in range(row.size):
                target[i] = cap * float32(math.tanh(float64(row[i] * scale / cap))) + mask[at, i]
        else:
            for i in range(row.size):
                target[i] = row[i] * scale + mask[at, i]
        top = largest_of(address(target), target.size, target[0])
        part = float32(1.0 / exponentials(target, target, top, float32(1.0)))
        for i in range(row.size):
            target[i] = target[i] * part
