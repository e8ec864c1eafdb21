"""How a row of float32 becomes int8: its numbers, and the bytes that they give."""

import math

from numba import float32, float64, int64, types

from ...build.kernel import inline, microkernel
from ...build.vector import BYTE, INT, WORD
from .._int32 import Integers


@microkernel(types.void(*[types.int64] * 3, types.float32, *[types.int64] * 3), inline=True)
def int8_of(builder, simd, x, out, count, inverse, zero, low, flip):
    """out = round(x * inverse) + zero as bytes from `low`, a constant, to 127, bits turned over.

    Halves go away from zero, before `zero` is added; what float32 makes a half of counts as one.
    """
    w = Integers(builder, simd)
    x, out = w.pointer(x), w.pointer(out)
    zero, low, flip = builder.trunc(zero, INT), builder.trunc(low, BYTE), builder.trunc(flip, BYTE)

    def rounded(value):
        value = builder.fmul(value, w.repeat(inverse))
        name = f"llvm.copysign.v{w.width}f32"
        half = w.call(name, value.type, [w.repeat(0.5), value])
        rounded = builder.fptosi(builder.fadd(value, half), w.i32_vector)
        return builder.add(rounded, w.splat(zero))

    def limited(values):
        n = values.type.count
        return builder.xor(w.maximum(values, w.splat(low, BYTE, n)), w.splat(flip, BYTE, n))

    unrolled = w.BLOCK * w.width
    vector_end = builder.and_(count, WORD(-unrolled))
    with w.loop(0, vector_end, unrolled) as (at, _):
        row = w.move(x, w.mul(at, 4))
        vectors = [rounded(w.load(row, i * w.bytes)) for i in range(w.BLOCK)]
        w.write(limited(w.block_in_order(w.saturated_bytes(vectors))), out, at)
    with w.loop(vector_end, count, w.width) as (at, _):
        mask = w.mask(builder.sub(count, at))
        values = w.saturated_bytes([rounded(w.load_masked(x, mask, w.mul(at, 4)))])
        w.write_masked(limited(values), w.move(out, at), mask)


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
