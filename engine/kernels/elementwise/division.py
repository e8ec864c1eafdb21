"""Quotients, remainders, powers of integers and angles of two operands (_broadcast.py)."""

import math

import numpy as np
from numba import float64, int32, int64

from ...build.kernel import inline, kernel
from ._broadcast import CHECKED, PLAIN, checked, nonnegative, plain, strided

INTEGERS = ("int8", "int16", "int32", "int64")
_MAX_INT32 = 2147483647


def negation(dtype):
    """-a, and the highest number of `dtype` for the lowest: the quotient of a and -1."""
    highest = np.iinfo(dtype).max

    def negative_of(a):
        return -a if a >= -highest else int64(highest)

    return inline(negative_of)


def division(dtype):
    """a / b of integers, rounded towards zero."""
    negative_of = negation(dtype)

    def divide_of(a, b):
        if b == -1:
            return negative_of(a)
        quotient = a // b
        if quotient < 0 and quotient * b != a:
            quotient += 1
        return quotient

    return inline(divide_of)


def floor_division(dtype):
    """floor(a / b) of integers."""
    negative_of = negation(dtype)

    def floor_divide_of(a, b):
        return negative_of(a) if b == -1 else a // b

    return inline(floor_divide_of)


@inline
def divide_int32_of(a, b):
    """a / b, rounded towards zero; the highest number for the lowest divided by -1"""
    return int32(min(float64(a) / float64(b), float64(_MAX_INT32)))


@inline
def floor_divide_int32_of(a, b):
    """floor(a / b); float64 has room for what int32 divide to"""
    return int64(np.floor(float64(a) / float64(b)))


@inline
def floor_modulo_of(a, b):
    """a - floor(a / b) * b"""
    if b == -1:
        return a - a
    return a % b


@inline
def floor_divide_float_of(a, b):
    """floor(a / b), not of a quotient that was rounded up to the next number before"""
    return np.floor(float64(a) / float64(b))


@inline
def floor_modulo_float_of(a, b):
    """The remainder of a / b with the sign of b."""
    return a % b


@inline
def power_integer_of(a, b):
    """a ** b through float64, as C does it; what does not fit gives the lowest int32."""
    value = math.pow(float64(a), float64(b))
    if not abs(value) <= _MAX_INT32:
        return int64(-_MAX_INT32 - 1)
    return int64(value)


@inline
def quotient_of(a, b):
    """a / b of integers, rounded towards zero; -1 where b is 0"""
    if b == 0:
        return b - 1
    if b == -1:
        return b - b - a
    quotient = a // b
    return quotient + 1 if quotient < 0 and quotient * b != a else quotient


@inline
def remainder_of(a, b):
    """a - quotient_of(a, b) * b; a where b is 0"""
    if b == 0:
        return a
    if b == -1:
        return b - b
    remainder = a % b
    return remainder - b if remainder != 0 and (a < 0) != (b < 0) else remainder


@inline
def float_remainder_of(a, b):
    """a - b * n for the whole n next to a / b towards zero; with the sign of a"""
    return math.copysign(abs(a) % abs(b), a)


@inline
def angle_of(a, b):
    """The angle of the point (b, a)"""
    return math.atan2(a, b)


kernel(CHECKED, name="divide_int64", T=("int64",))(checked(division("int64")))
kernel(CHECKED, name="divide_int32", T=("int32",))(checked(divide_int32_of, plain))
for _type in ("int8", "int16", "int64"):
    kernel(CHECKED, name=f"floor_divide_{_type}", T=(_type,))(checked(floor_division(_type)))
kernel(CHECKED, name="floor_modulo", T=INTEGERS)(checked(floor_modulo_of))

kernel(CHECKED, name="floor_divide_int32", T=("int32",))(checked(floor_divide_int32_of, plain))
for _name, _formula, _types in (
    ("floor_divide_float", floor_divide_float_of, ("float32",)),
    ("floor_modulo_float", floor_modulo_float_of, ("float32",)),
    ("angle", angle_of, ("float32", "float64")),
    ("quotient", quotient_of, ("int32", "int64")),
    ("remainder", remainder_of, ("int32", "int64")),
    ("float_remainder", float_remainder_of, ("float32",)),
):
    kernel(PLAIN, name=_name, T=_types)(strided(_formula))

kernel(CHECKED, name="power_integer", T=("int32",))(nonnegative(power_integer_of))
