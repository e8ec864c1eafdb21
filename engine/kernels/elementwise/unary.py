"""Functions of one element."""

import math

import numpy as np
from numba import float32, float64, int16, int32, int64, types

from ...build.kernel import address, inline, kernel, microkernel
from ...build.vector import WORD
from . import _float32
from ._formula import elementwise, has_pieces

MAX_ANGLE = float32(_float32.MAX_ANGLE)
_BLOCK = 1024  # elements at a time of functions that have a form for the usual numbers
_SIXTH = np.float32(1 / 6)
_THIRD = 1 / 3


@inline
def hard_swish(x):
    """x * clamp(x + 3, 0, 6) / 6"""
    y = x + float32(3.0)
    y = float32(0.0) if y < float32(0.0) else y
    y = float32(6.0) if y > float32(6.0) else y
    return x * y * _SIXTH


def each(function):
    """The kernel out = function(x)."""

    def apply(x, out, first, last, fault):
        for i in range(first, last):
            out[i] = function(x[i])

    return apply


def in_vectors(formula, **choices):
    """The kernel out = formula(x), a formula of vectors, with `choices` of `elementwise`."""
    vectors = elementwise(formula, **choices)

    def apply(x, out, first, last, fault):
        vectors(address(x[first:]), address(out[first:]), last - first)

    return apply


def in_blocks(usual, within, other):
    """The kernel out = usual(x), a formula of vectors; other(x) in blocks that are not within it.

    `within` gives the mask of numbers that it is for, `other` is a function of arrays x and out and
    a number of elements.
    """
    vectors = elementwise(usual, within=within)

    def apply(x, out, first, last, fault):
        while first < last:
            count = min(_BLOCK, last - first)
            if vectors(address(x[first:]), address(out[first:]), count) == 0:
                other(x[first:], out[first:], count)
            first += count

    return apply


@microkernel(types.int64(), inline=True)
def _has_pieces(builder, simd):
    """Whether vectors look up polynomials of pieces (_pieces.py)."""
    return WORD(int(has_pieces(simd)))


def in_stages(first, second, within, far, whole):
    """The kernel out = second(x, first(x)), or far(x, first(x)) in blocks that are not `within`.

    A processor looks ahead over some dozens of instructions only: long formulas wait for
    themselves less in two loops. Where it has pieces, `whole` does it at once, a microkernel.
    """
    begin = elementwise(first, within=within)
    finish, finish_far = (elementwise(f, operands=2, few=2) for f in (second, far))

    def apply(x, out, first, last, fault):
        if _has_pieces():
            whole(address(x[first:]), address(out[first:]), last - first)
            return
        while first < last:
            count = min(_BLOCK, last - first)
            source, target = address(x[first:]), address(out[first:])
            if begin(source, target, count):
                finish(source, target, target, count)
            else:
                finish_far(source, target, target, count)
            first += count

    return apply


def where_far(scalar):
    """out = scalar(x) in float64 where |x| is beyond MAX_ANGLE, as a function of arrays."""

    @inline
    def apply(x, out, count):
        for i in range(count):
            if not abs(x[i]) <= MAX_ANGLE:
                out[i] = float32(scalar(float64(x[i])))

    return apply


def up_to(limit):
    """The formula |x| <= limit."""
    return lambda x: x.is_up_to(limit)


def normal(x):
    """Whether x is positive, normal and finite."""
    return x.is_normal()


_X_OUT = "x:float32[n] out:float32[n]"
for _name, _few in (("elu", 4), ("logistic", 4), ("tanh", 2)):
    kernel(_X_OUT, name=_name)(in_vectors(getattr(_float32, _name), few=_few))
for _name, _within, _few in (
    ("exp", up_to(_float32.USUAL_EXP), 4),
    ("log", normal, 4),
    ("rsqrt", normal, 4),
):
    _usual = getattr(_float32, f"{_name}_{'normal' if _within is normal else 'usual'}")
    _other = elementwise(getattr(_float32, _name), few=_few)
    _function = in_vectors(_usual, within=_within, otherwise=_other, few=_few)
    kernel(_X_OUT, name=_name)(_function)
for _name, _near, _within in (
    ("gelu", "gelu_near", _float32.is_usual_gelu),
    ("gelu_tanh", "gelu_tanh_far", _float32.is_any),
):
    _first, _second, _far = (
        getattr(_float32, f) for f in (f"{_name}_power", _near, f"{_name}_far")
    )
    _whole = elementwise(
        getattr(_float32, f"{_name}_pieces"),
        within=getattr(_float32, f"is_in_{_name}_pieces"),
        otherwise=elementwise(getattr(_float32, _name)),
    )
    kernel(_X_OUT, name=_name)(in_stages(_first, _second, _within, _far, _whole))
for _name, _scalar in (("cos", math.cos), ("sin", math.sin)):
    _function = in_blocks(getattr(_float32, _name), up_to(_float32.MAX_ANGLE), where_far(_scalar))
    kernel(_X_OUT, name=_name)(_function)

FLOAT = {
    "cbrt": inline(lambda x: math.copysign(math.pow(abs(float64(x)), _THIRD), x)),
    "ceil": inline(lambda x: np.ceil(x)),
    "floor": inline(lambda x: np.floor(x)),
    "hard_swish": hard_swish,
    "round": inline(lambda x: np.rint(x)),
    "sqrt": inline(lambda x: np.sqrt(x)),
}
for _name, _function in FLOAT.items():
    kernel("x:float32[n] out~x:float32[n]", name=_name)(each(_function))

SIGNED = {
    "absolute": inline(lambda x: abs(x)),
    "negative": inline(lambda x: -x),
    "sign": inline(lambda x: np.sign(x) if x != 0 else x * x),  # -0.0 gives 0.0
    "square": inline(lambda x: x * x),
}
for _name, _function in SIGNED.items():
    kernel("x:T[n] out~x:T[n]", name=_name, T=(float32, int16, int32, int64))(each(_function))


@kernel("x:uint8[n] out~x:uint8[n]")
def logical_not(x, out, first, last, fault):
    """out = 1 where x is 0, else 0"""
    for i in range(first, last):
        out[i] = x[i] == 0


@kernel("x:float32[n] out~x:float32[n] low:float32 high:float32")
def clamp(x, out, low, high, first, last, fault):
    """out = min(max(x, low), high); nan stays nan"""
    for i in range(first, last):
        y = low if x[i] < low else x[i]
        out[i] = high if y > high else y


@kernel("x:float32[n] out~x:float32[n] alpha:float32")
def leaky(x, out, alpha, first, last, fault):
    """out = x where x is positive, else x * alpha"""
    for i in range(first, last):
        out[i] = x[i] if x[i] > float32(0.0) else x[i] * alpha


@kernel("x:float32[rows,n] alpha:float32[n] out~x:float32[rows,n]")
def leaky_rows(x, alpha, out, first, last, fault):
    """out[r, i] = x[r, i] where it is not negative, else x[r, i] * alpha[i]"""
    for r in range(first, last):
        row, target = x[r], out[r]
        for i in range(row.size):
            target[i] = row[i] if row[i] >= float32(0.0) else row[i] * alpha[i]
