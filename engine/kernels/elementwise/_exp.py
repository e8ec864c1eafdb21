"""exp without a call, so that LLVM makes vectors of the loops it stands in."""

import math

from numba import types

from ...build.kernel import inline, microkernel
from ...build.vector import DOUBLE, WORD, Writer

_LOG2_E, _LN_2 = 1 / math.log(2), math.log(2)
_MAX_ARGUMENT = 700.0
_TERMS = (
    1.0000000005546121,
    1.0000000363447175,
    0.4999999207499611,
    0.16666420072112978,
    0.0416682262101997,
    0.00837482405099014,
    0.0013836834574928098,
)
"""A polynomial off by at most 1.9e-9 of exp between -log(2) / 2 and log(2) / 2."""
_TO_WHOLE = 1.5 * 2.0**52  # what is added to this is rounded to a whole number in the low bits


@microkernel(types.int64(types.float64), inline=True)
def bits_of(builder, simd, value):
    """The bits of a float64 as an int64."""
    return builder.bitcast(value, WORD)


@microkernel(types.float64(types.int64), inline=True)
def of_bits(builder, simd, bits):
    """The float64 with these bits."""
    return builder.bitcast(bits, DOUBLE)


@microkernel(types.float64(types.float64, types.float64, types.float64), inline=True)
def fma(builder, simd, a, b, c):
    """a * b + c, rounded once where the processor can."""
    return Writer(builder, simd).fma(a, b, c)


@inline
def exp(x):
    """The exponential to 2e-9; less than 1e-300 stands for 0."""
    clamped = -_MAX_ARGUMENT if x < -_MAX_ARGUMENT else x
    clamped = _MAX_ARGUMENT if clamped > _MAX_ARGUMENT else clamped
    power = fma(clamped, _LOG2_E, _TO_WHOLE)
    r = fma(_TO_WHOLE - power, _LN_2, clamped)
    y = fma(r, _TERMS[6], _TERMS[5])
    y = fma(r, y, _TERMS[4])
    y = fma(r, y, _TERMS[3])
    y = fma(r, y, _TERMS[2])
    y = fma(r, y, _TERMS[1])
    y = fma(r, y, _TERMS[0])
    y = of_bits(bits_of(y) + (bits_of(power) << 52))
    return math.inf if x > _MAX_ARGUMENT else y
