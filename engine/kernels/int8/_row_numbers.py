"""How a row of float32 becomes int8: its numbers, and the bytes that they give."""

import math

from llvmlite import ir
from numba import float32, float64, int64, types

from ...build.kernel import inline, microkernel
from ...build.vector import BYTE, FLOAT, INT, WORD
from .._int32 import Integers

_UNROLL = 4  # vectors at a time


@microkernel(types.void(*[types.int64] * 3, types.float32, *[types.int64] * 3), inline=True)
def int8_of(builder, simd, x, out, count, inverse, zero, low, flip):
    """out = round(x * inverse) + zero as bytes from `low`, a constant, to 127, bits turned over.

    Halves go away from zero, before `zero` is added; what float32 makes a half of counts as one.
    """
    w = Integers(builder, simd)
    x, out = w.pointer(x), w.pointer(out)
    zero, low = builder.trunc(zero, INT), builder.trunc(low, INT)
    flip = builder.trunc(flip, BYTE)

    def quantized(value):
        n = value.type.count
        ints = ir.VectorType(INT, n)
        value = builder.fmul(value, w.splat(inverse, FLOAT, n))
        half = ir.Constant(value.type, [0.5] * n)
        half = w.call(f"llvm.copysign.v{n}f32", value.type, [half, value])
        quantized = builder.fptosi(builder.fadd(value, half), ints)
        quantized = builder.add(quantized, w.splat(zero, INT, n))
        quantized = w.clamp_int(quantized, w.splat(low, INT, n), w.splat(127, INT, n))
        return builder.xor(builder.trunc(quantized, ir.VectorType(BYTE, n)), w.splat(flip, BYTE, n))

    unrolled = _UNROLL * w.width
    vector_end = builder.and_(count, WORD(-unrolled))
    with w.loop(0, vector_end, unrolled) as (at, _):
        w.write(quantized(w.load(x, w.mul(at, 4), ir.VectorType(FLOAT, unrolled))), out, at)
    with w.loop(vector_end, count, w.width) as (at, _):
        mask = w.mask(builder.sub(count, at))
        w.write_masked(quantized(w.load_masked(x, mask, w.mul(at, 4))), w.move(out, at), mask)


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
