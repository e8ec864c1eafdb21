"""float32 as small integers by one scale, in vectors."""

from llvmlite import ir
from numba import float32, types

from ...build.kernel import address, kernel, microkernel
from ...build.vector import FLOAT, INT, WORD
from .._int32 import Integers

_BELOW_HALF = 0.49999997  # the largest float32 below it: with a half, numbers below halves go up


def _nearest(w, value):
    """float32 rounded to int32, halves away from zero; they must be within its range."""
    builder = w.builder
    half = w.call(f"llvm.copysign.v{w.width}f32", w.vector, [w.splat(_BELOW_HALF, FLOAT), value])
    return builder.fptosi(builder.fadd(value, half), w.i32_vector)


def _clamped(w, value, low, high):
    """`value` within [low, high]; nan is low."""
    builder = w.builder
    value = builder.select(builder.fcmp_ordered(">", value, low), value, low)
    return builder.select(builder.fcmp_ordered("<", value, high), value, high)


def _each_vector(w, x, out, nbytes, count, make):
    """Writes the integers of `nbytes` bytes that `make` gives for vectors of float32."""
    builder, kind = w.builder, ir.VectorType(ir.IntType(8 * nbytes), w.width)
    x, out = w.pointer(x), w.pointer(out)
    vector_end = builder.and_(count, WORD(-w.width))
    with w.loop(0, vector_end, w.width) as (at, _):
        value = builder.trunc(make(w.load(x, w.mul(at, 4))), kind)
        w.write(value, out, w.mul(at, nbytes))
    n_last = builder.sub(count, vector_end)
    with builder.if_then(builder.icmp_signed(">", n_last, WORD(0))):
        mask = w.mask(n_last)
        value = builder.trunc(make(w.load_masked(w.move(x, w.mul(vector_end, 4)), mask)), kind)
        w.write_masked(value, w.move(out, w.mul(vector_end, nbytes)), mask)


def quantizer_of(nbytes):
    """The microkernel out[i] = round(x[i] / scale) + zero within [low, high].

    What is beyond `reach` is clamped to it. The quotient takes no division: a product with the
    inverse, corrected by its remainder, twice.
    """

    def emit(builder, simd, x, out, count, scale, inverse, reach, zero, low, high):
        w = Integers(builder, simd)
        lowest, scale, inverse, reach = (
            w.repeat(number) for number in (builder.fneg(reach), scale, inverse, reach)
        )
        zero, low, high = (w.splat(builder.trunc(number, INT)) for number in (zero, low, high))

        def make(value):
            value = _clamped(w, value, lowest, reach)
            if simd.fused:
                quotient = w.mul(value, inverse)
                for _ in range(2):
                    remainder = w.fma(builder.fneg(quotient), scale, value)
                    quotient = w.fma(remainder, inverse, quotient)
            else:
                quotient = builder.fdiv(value, scale)
            return w.clamp_int(builder.add(_nearest(w, quotient), zero), low, high)

        _each_vector(w, x, out, nbytes, count, make)

    emit.__name__ = f"steps_{nbytes}"
    numbers = [types.int64] * 3 + [types.float32] * 3 + [types.int64] * 3
    return microkernel(types.void(*numbers))(emit)


steps_1, steps_2 = quantizer_of(1), quantizer_of(2)


@kernel(
    "x:float32[1] out~x:T[1] scale:float32 reach:float32 zero:i low:i high:i",
    T=("int8", "uint8", "int16"),
)
def quantize(x, out, scale, reach, zero, low, high, first, last, fault):
    """out = round(x / scale) + zero within [low, high]; beyond `reach` that is one of these"""
    inverse, nbytes = float32(1.0) / scale, out.itemsize
    source, target = address(x) + 4 * first, address(out) + nbytes * first
    if nbytes == 1:
        steps_1(source, target, last - first, scale, inverse, reach, zero, low, high)
    else:
        steps_2(source, target, last - first, scale, inverse, reach, zero, low, high)
