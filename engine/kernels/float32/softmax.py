"""What is normalised along the last dimension. An item is one row."""

import math

from llvmlite import ir
from numba import float32, float64, types

from ...build.kernel import address, inline, kernel, microkernel
from ...build.vector import DOUBLE, Writer
from ..elementwise import _float32
from ..elementwise._formula import elementwise
from ..reduction._sums import largest_of, squares_of
from ._exponentials import SHRINK, exponentials
from ._gemm_f32_tile import vector_width


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


@microkernel(types.void(*[types.int64] * 4, types.float64, types.float64))
def scaled_squares(builder, simd, x, out, count, radius, bias, alpha):
    """out[i] = bias + alpha * sum of x[j]^2 for |j - i| <= radius, all of which are there."""
    w = Writer(builder, simd)
    x, out, kind = w.pointer(x), w.pointer(out), ir.VectorType(DOUBLE, simd.width)
    bias, alpha = w.repeat(bias), w.repeat(alpha)
    begin, nbytes = w.mul(radius, -4), w.mul(count, 4)
    end = w.add(w.mul(radius, 4), 4)
    with w.loop(0, nbytes, w.bytes) as (at, _):
        with w.loop(begin, end, 4, [ir.Constant(kind, None)]) as (shift, values):
            value = builder.fpext(w.load(x, w.add(at, shift)), kind)
            values[0] = builder.fadd(values[0], builder.fmul(value, value))
        total = builder.fadd(builder.fmul(w.results[0], alpha), bias)
        w.store(builder.fptrunc(total, w.vector), out, at)


@inline
def neighbours(row, i, radius):
    """The sum of squares of what lies up to `radius` from `i`."""
    total = 0.0
    for j in range(max(i - radius, 0), min(i + radius + 1, row.size)):
        total += float64(row[j]) * float64(row[j])
    return total


def by_root(t, x):
    """x / t ^ (1 / 2)"""
    return x / t.sqrt()


def by_three_quarters(t, x):
    """x / t ^ (3 / 4)"""
    root = t.sqrt()
    return x / (root * root.sqrt())


def by_itself(t, x):
    """x / t"""
    return x / t


def by_power(t, x, exponent):
    """x * t ^ exponent"""
    return x * _float32.power(t, exponent)


def is_normal(t):
    """Whether t is positive, normal and finite."""
    return t.is_normal()


_by_root, _by_three_quarters, _by_itself = (
    elementwise(formula, 2, within=is_normal) for formula in (by_root, by_three_quarters, by_itself)
)
_by_power = elementwise(by_power, 2, 1, within=is_normal, unroll=1)


@inline
def divided(x, out, beta):
    """out = x / out ^ beta; gives whether all of `out` was normal, as it must be."""
    source, target, count = address(x), address(out), out.size
    if beta == 0.5:
        return _by_root(target, source, target, count)
    if beta == 0.75:
        return _by_three_quarters(target, source, target, count)
    if beta == 1.0:
        return _by_itself(target, source, target, count)
    return _by_power(target, source, target, count, float32(-beta))


@kernel("x:float32[rows,n] out:float32[rows,n] radius:i bias:f alpha:f beta:f")
def local_response(x, out, radius, bias, alpha, beta, first, last, fault):
    """out[r, i] = x[r, i] / (bias + alpha * sum of x[r, j]^2 for |j - i| <= radius) ^ beta"""
    n, width = x.shape[1], vector_width()
    inner = max(n - 2 * radius, 0) // width * width
    for r in range(first, last):
        row, target = x[r], out[r]
        if inner > 0:
            scaled_squares(
                address(row[radius:]), address(target[radius:]), inner, radius, bias, alpha
            )
        for i in range(min(radius, n) if inner > 0 else n):
            target[i] = float32(bias + alpha * neighbours(row, i, radius))
        for i in range(radius + inner if inner > 0 else n, n):
            target[i] = float32(bias + alpha * neighbours(row, i, radius))
        if divided(row, target, beta) == 0:
            for i in range(n):
                total = bias + alpha * neighbours(row, i, radius)
                target[i] = float32(float64(row[i]) * math.pow(total, -beta))


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
