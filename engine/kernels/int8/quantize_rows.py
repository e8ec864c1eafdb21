"""Rows of float32 as int8, each row with a scale of its own, as TFLite's dynamic range has it.

First come the `extremes` of rows, which may be cut in parts, then the numbers that `symmetric` or
`asymmetric` makes of them, then `rounded`. `out_padding` gets what stands for 0.
"""

import math

from llvmlite import ir
from numba import float32, float64, int64, types

from ...build.kernel import address, inline, kernel, microkernel
from ...build.vector import BYTE, FLOAT, INT, WORD
from .._int32 import Integers
from ..reduction._sums import largest_of, smallest_of

_UNROLL = 4  # vectors at a time
_LEAST, _GREATEST = range(2)  # what extremes are
_NUMBERS = (
    "extremes:float32[rows,parts,2] out_scales:float32[rows] out_inverses:float32[rows] "
    "out_zeros:int32[rows] out_padding:int8[rows,*]"
)


@microkernel(types.void(*[types.int64] * 3, types.float32, *[types.int64] * 2), inline=True)
def int8_of(builder, simd, x, out, count, inverse, zero, low):
    """out = round(x * inverse) + zero as bytes from `low`, a constant, to 127.

    Halves go away from zero, before `zero` is added; what float32 makes a half of counts as one.
    """
    w = Integers(builder, simd)
    x, out = w.pointer(x), w.pointer(out)
    zero, low = builder.trunc(zero, INT), builder.trunc(low, INT)

    def quantized(value):
        n = value.type.count
        ints = ir.VectorType(INT, n)
        value = builder.fmul(value, w.splat(inverse, FLOAT, n))
        half = ir.Constant(value.type, [0.5] * n)
        half = w.call(f"llvm.copysign.v{n}f32", value.type, [half, value])
        quantized = builder.fptosi(builder.fadd(value, half), ints)
        quantized = builder.add(quantized, w.splat(zero, INT, n))
        quantized = w.clamp_int(quantized, w.splat(low, INT, n), w.splat(127, INT, n))
        return builder.trunc(quantized, ir.VectorType(BYTE, n))

    unrolled = _UNROLL * w.width
    vector_end = builder.and_(count, WORD(-unrolled))
    with w.loop(0, vector_end, unrolled) as (at, _):
        w.write(quantized(w.load(x, w.mul(at, 4), ir.VectorType(FLOAT, unrolled))), out, at)
    with w.loop(vector_end, count, w.width) as (at, _):
        mask = w.mask(builder.sub(count, at))
        w.write_masked(quantized(w.load_masked(x, mask, w.mul(at, 4))), w.move(out, at), mask)


@inline
def part_of(item, parts, count):
    """(row, part, start, end) of an item."""
    if parts == 1:
        return item, int64(0), int64(0), count
    row = item // parts
    part = item - row * parts
    return row, part, count * part // parts, count * (part + 1) // parts


@kernel("x:float32[rows,k] out:float32[rows,parts,2]")
def extremes(x, out, first, last, fault):
    """The least and the greatest of each part of a row, which is an item, and 0.

    nan does not count.
    """
    for item in range(first, last):
        row, part, start, end = part_of(item, out.shape[1], x.shape[1])
        at = address(x) + 4 * (row * x.shape[1] + start)
        out[row, part, _LEAST] = smallest_of(at, end - start, float32(0.0))
        out[row, part, _GREATEST] = largest_of(at, end - start, float32(0.0))


@inline
def least_and_greatest(extremes, row):
    """Those of a whole row."""
    low, high = extremes[row, 0, _LEAST], extremes[row, 0, _GREATEST]
    for part in range(1, extremes.shape[1]):
        low = min(low, extremes[row, part, _LEAST])
        high = max(high, extremes[row, part, _GREATEST])
    return low, high


@inline
def symmetric_numbers(low, high):
    """(scale, its inverse, zero point) for bytes round(127 * x / max |x|) of x in [low, high]."""
    reach, scale, inverse = max(-low, high), float32(1.0), float32(0.0)
    if reach > float32(0.0):
        scale, inverse = reach / float32(127.0), float32(127.0) / reach
    return scale, inverse, int64(0)


@inline
def asymmetric_numbers(low, high):
    """(scale, its inverse, zero point) for 256 steps from low to high, which 0 is between."""
    least, greatest = float64(low), float64(high)
    scale = float64(high - low) / 255.0 if least != greatest else 1.0
    from_low, from_high = -128.0 - least / scale, 127.0 - greatest / scale
    low_error, high_error = 128.0 + abs(least / scale), 127.0 + abs(greatest / scale)
    value = from_low if low_error < high_error else from_high
    zero = min(max(int64(value + math.copysign(0.5, value)), -128), 127)
    return float32(scale), float32(1.0) / float32(scale), zero


@kernel(_NUMBERS)
def symmetric(extremes, out_scales, out_inverses, out_zeros, out_padding, first, last, fault):
    """For bytes round(127 * x[r] / max |x[r]|)."""
    for row in range(first, last):
        low, high = least_and_greatest(extremes, row)
        out_scales[row], out_inverses[row], out_zeros[row] = symmetric_numbers(low, high)
        for i in range(out_padding.shape[1]):
            out_padding[row, i] = 0


@kernel(_NUMBERS)
def asymmetric(extremes, out_scales, out_inverses, out_zeros, out_padding, first, last, fault):
    """For bytes round(x[r] / scale) + zero with 256 steps between the extremes of x[r]."""
    for row in range(first, last):
        low, high = least_and_greatest(extremes, row)
        scale, inverse, zero = asymmetric_numbers(low, high)
        out_scales[row], out_inverses[row], out_zeros[row] = scale, inverse, zero
        for i in range(out_padding.shape[1]):
            out_padding[row, i] = zero


@kernel("x:float32[rows,k] inverses:float32[rows] zeros:int32[rows] out:int8[rows,*] low:i parts:i")
def rounded(x, inverses, zeros, out, low, parts, first, last, fault):
    """out[r] = round(x[r] * inverse) + zero, at least `low`; each row has `parts`, the items."""
    count = x.shape[1]
    for item in range(first, last):
        row, _, start, end = part_of(item, parts, count)
        source = address(x) + 4 * (row * count + start)
        target = address(out) + row * out.shape[1] + start
        inverse, zero = inverses[row], int64(zeros[row])
        if low == -128:
            int8_of(source, target, end - start, inverse, zero, -128)
        else:
            int8_of(source, target, end - start, inverse, zero, -127)


@kernel("x:int8[rows,k] zeros:int32[rows] out:int16[rows,k] parts:i")
def subtract_zero_point(x, zeros, out, parts, first, last, fault):
    """out = x - zero of its row; each row is cut in `parts`, which are items."""
    for item in range(first, last):
        row, _, start, end = part_of(item, parts, x.shape[1])
        source, target, zero = x[row, start:end], out[row, start:end], int64(zeros[row])
        for i in range(target.size):
            target[i] = source[i] - zero
