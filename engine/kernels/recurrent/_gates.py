"""What the gates of recurrent networks do to their sums, in float32, without calls.

LLVM makes vectors of the loops these stand in. They are off by 3e-7 of the result at most.
"""

import math

from numba import float32, types

from ...build.kernel import inline, microkernel
from ...build.vector import INT

NONE, RELU, RELU_N1_TO_1, RELU6, TANH, SIGN_BIT = range(6)
"""Activations, numbered as in the schema."""

_TO_WHOLE = float32(1.5 * 2.0**23)  # what is added to this is rounded to a whole number
_LOG2_E, _LN_2, _LN_2_LOW = float32(1.44269504), float32(0.693359375), float32(-2.12194440e-4)
_LOWEST, _HIGHEST = float32(-87.0), float32(88.0)
_EXP = (1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1)
_E0, _E1, _E2, _E3, _E4 = (float32(c) for c in _EXP)
"""exp(r) = 1 + r + r^2 (1/2 + r (E4 + r (E3 + ...))) between -log(2) / 2 and log(2) / 2."""
_TANH = (
    -5.70498872745e-3,
    2.06390887954e-2,
    -5.37397155531e-2,
    1.33314422036e-1,
    -3.33332819422e-1,
)
_T0, _T1, _T2, _T3, _T4 = (float32(c) for c in _TANH)
"""tanh(x) = x + x^3 (T4 + x^2 (T3 + ...)) below _NEAR."""
_SMALL = float32(0.625)
_HALF, _ONE, _TWO, _SIX, _ZERO = (float32(c) for c in (0.5, 1.0, 2.0, 6.0, 0.0))


@microkernel(types.float32(types.float32, types.float32, types.float32), inline=True)
def fma(builder, simd, a, b, c):
    """a * b + c, rounded once where the processor can."""
    if simd.fused:
        return builder.fma(a, b, c)
    return builder.fadd(builder.fmul(a, b), c)


@microkernel(types.float32(types.float32, types.float32), inline=True)
def _times_power(builder, simd, value, power):
    """value * 2 ** n, where `power` is n + _TO_WHOLE."""
    exponent = builder.shl(builder.bitcast(power, INT), INT(23))
    return builder.bitcast(builder.add(builder.bitcast(value, INT), exponent), value.type)


@inline
def exp(x):
    """The exponential of x, held within [-87, 88]."""
    clamped = _LOWEST if x < _LOWEST else x
    clamped = _HIGHEST if clamped > _HIGHEST else clamped
    power = fma(clamped, _LOG2_E, _TO_WHOLE)
    n = power - _TO_WHOLE
    r = fma(n, -_LN_2_LOW, fma(n, -_LN_2, clamped))
    y = fma(r, _E0, _E1)
    y = fma(r, y, _E2)
    y = fma(r, y, _E3)
    y = fma(r, y, _E4)
    y = fma(r, y, _HALF)
    y = fma(r * r, y, r) + _ONE
    return _times_power(y, power)


@inline
def logistic(x):
    """1 / (1 + exp(-x))"""
    return _ONE / (_ONE + exp(-x))


@inline
def tanh(x):
    """1 - 2 / (1 + exp(2 |x|)) with the sign of x, or a polynomial near 0"""
    magnitude = abs(x)
    large = _ONE - _TWO / (_ONE + exp(_TWO * magnitude))
    square = x * x
    y = fma(square, _T0, _T1)
    y = fma(square, y, _T2)
    y = fma(square, y, _T3)
    y = fma(square, y, _T4)
    small = fma(y * square, magnitude, magnitude)
    return math.copysign(small if magnitude < _SMALL else large, x)


@inline
def each_logistic(x):
    """x = logistic(x)"""
    for i in range(x.size):
        x[i] = logistic(x[i])


@inline
def activate(x, activation, out):
    """out = the activation of that number, of x"""
    if activation == TANH:
        for i in range(x.size):
            out[i] = tanh(x[i])
        return
    low, high = float32(-math.inf), float32(math.inf)
    if activation != NONE:
        low = -_ONE if activation == RELU_N1_TO_1 else _ZERO
    if activation == RELU_N1_TO_1:
        high = _ONE
    if activation == RELU6:
        high = _SIX
    if activation == SIGN_BIT:
        for i in range(x.size):
            out[i] = _ONE if math.copysign(_ONE, x[i]) < _ZERO else _ZERO
        return
    for i in range(x.size):
        y = low if x[i] < low else x[i]
        out[i] = high if y > high else y
