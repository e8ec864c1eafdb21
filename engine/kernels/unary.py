"""Functions of one element. Transcendental ones are computed in float64 and rounded once."""

import math

import numpy as np
from numba import float32, float64, int16, int32, int64

from ..kernel import inline, kernel
from ._exp import exp, fma

_SMALL = 0.02
_SIXTH = np.float32(1 / 6)
_SQRT_HALF = math.sqrt(0.5)
_SQRT_2_OVER_PI = math.sqrt(2 / math.pi)


def rounded(function):
    """float32 in, `function` of it in float64, float32 out."""
    function = inline(function)

    def through(x):
        return float32(function(float64(x)))

    return inline(through)


@rounded
def logistic(x):
    """1 / (1 + exp(-x))"""
    return 1.0 / (1.0 + exp(-x))


@rounded
def tanh(x):
    """1 - 2 / (1 + exp(2 |x|)) with the sign of x, or a polynomial near 0"""
    far = 1.0 - 2.0 / (1.0 + exp(2.0 * abs(x)))
    near = abs(x) * (1.0 - x * x * (1 / 3 - x * x * (2 / 15)))
    return math.copysign(near if abs(x) < _SMALL else far, x)


@rounded
def elu(x):
    """x, or exp(x) - 1 where x is negative"""
    near = x * (1.0 + x * (0.5 + x * (1 / 6 + x * (1 / 24))))
    far = exp(x) - 1.0
    y = near if x > -_SMALL else far
    return y if x < 0.0 else x


@rounded
def gelu(x):
    """x * P(normal variable < x)

    P is 1 - q / 2 or q / 2, with q = erfc(|x| / sqrt(2)) = t * exp(a polynomial of t - x^2 / 2),
    t = 1 / (1 + |x| / sqrt(8)), which is off by 1.2e-7 of q at most.
    """
    t = 1.0 / (1.0 + 0.5 * _SQRT_HALF * abs(x))
    y = fma(t, 0.17087277, -0.82215223)
    y = fma(t, y, 1.48851587)
    y = fma(t, y, -1.13520398)
    y = fma(t, y, 0.27886807)
    y = fma(t, y, -0.18628806)
    y = fma(t, y, 0.09678418)
    y = fma(t, y, 0.37409196)
    y = fma(t, y, 1.00002368)
    y = fma(t, y, -1.26551223)
    half = 0.5 * t * exp(y - 0.5 * x * x)
    return x * (half if x < 0.0 else 1.0 - half)


@rounded
def gelu_tanh(x):
    """x * (1 + tanh(u)) / 2 = x / (1 + exp(-2 u)), u = sqrt(2 / pi) * (x + 0.044715 x^3)"""
    u = _SQRT_2_OVER_PI * (x + 0.044715 * x * x * x)
    return x / (1.0 + exp(-2.0 * u))


@rounded
def rsqrt(x):
    """1 / sqrt(x)"""
    return 1.0 / math.sqrt(x)


@inline
def hard_swish(x):
    """x * clamp(x + 3, 0, 6) / 6"""
    y = x + float32(3.0)
    y = float32(0.0) if y < float32(0.0) else y
    y = float32(6.0) if y > float32(6.0) else y
    return x * y * _SIXTH


def float_function(function):
    """The rounded form of a function of math."""

    def apply(x):
        return function(x)

    return rounded(apply)


def each(function):
    """The kernel out = function(x)."""

    def apply(x, out, first, last, fault):
        for i in range(first, last):
            out[i] = function(x[i])

    return apply


FLOAT = {
    "cos": float_function(math.cos),
    "elu": elu,
    "exp": float_function(exp),
    "gelu": gelu,
    "gelu_tanh": gelu_tanh,
    "hard_swish": hard_swish,
    "log": float_function(math.log),
    "logistic": logistic,
    "rsqrt": rsqrt,
    "sin": float_function(math.sin),
    "sqrt": float_function(math.sqrt),
    "tanh": tanh,
    "ceil": inline(lambda x: np.ceil(x)),
    "floor": inline(lambda x: np.floor(x)),
    "round": inline(lambda x: np.rint(x)),
}
for _name, _function in FLOAT.items():
    kernel("x:float32[n] out:float32[n]", name=_name)(each(_function))

SIGNED = {
    "absolute": inline(lambda x: abs(x)),
    "negative": inline(lambda x: -x),
    "sign": inline(lambda x: np.sign(x)),
    "square": inline(lambda x: x * x),
}
for _name, _function in SIGNED.items():
    kernel("x:T[n] out:T[n]", name=_name, T=(float32, int16, int32, int64))(each(_function))


@kernel("x:uint8[n] out:uint8[n]")
def logical_not(x, out, first, last, fault):
    """out = 1 where x is 0, else 0"""
    for i in range(first, last):
        out[i] = x[i] == 0


@kernel("x:float32[n] out:float32[n] low:float32 high:float32")
def clamp(x, out, low, high, first, last, fault):
    """out = min(max(x, low), high); nan stays nan"""
    for i in range(first, last):
        y = low if x[i] < low else x[i]
        out[i] = high if y > high else y


@kernel("x:float32[n] out:float32[n] alpha:float32")
def leaky(x, out, alpha, first, last, fault):
    """out = x where x is positive, else x * alpha"""
    for i in range(first, last):
        out[i] = x[i] if x[i] > float32(0.0) else x[i] * alpha


@kernel("x:float32[rows,n] alpha:float32[n] out:float32[rows,n]")
def leaky_rows(x, alpha, out, first, last, fault):
    """out[r, i] = x[r, i] where it is not negative, else x[r, i] * alpha[i]"""
    for r in range(first, last):
        row, target = x[r], out[r]
        for i in range(row.size):
            target[i] = row[i] if row[i] >= float32(0.0) else row[i] * alpha[i]
