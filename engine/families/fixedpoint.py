"""fixedpoint.py for numpy arrays: tables are made with it when a plan is made, without numba."""

from __future__ import annotations

import numpy as np

_LOWEST, _HIGHEST = -(1 << 31), (1 << 31) - 1


def high_product(a, b):
    """a * b / 2 ** 31, rounded to nearest, halves up."""
    return (np.asarray(a, np.int64) * b + (1 << 30)) >> 31


def rounding_shift(values, places):
    """values / 2 ** places, rounded to nearest, halves away from zero."""
    if places <= 0:
        return values
    return (values + (1 << (places - 1)) - (values < 0)) >> places


def widened(values, places):
    """values * 2 ** places, held within int32."""
    return np.clip(np.asarray(values, np.int64) << places, _LOWEST, _HIGHEST)


def scaled(values, multiplier, shift):
    """values * multiplier * 2 ** (shift - 31), rounded as MultiplyByQuantizedMultiplier does.

    >>> scaled(np.array([-30, 5, 30]), 1 << 30, -3).tolist()
    [-2, 0, 2]
    """
    left = np.asarray(values, np.int64) << max(shift, 0)
    left = left.astype(np.int32).astype(np.int64)
    return rounding_shift(high_product(left, multiplier), max(-shift, 0))


_EIGHTH, _EXP_OF_EIGHTH, _THIRD = 1 << 28, 1895147668, 715827883
_POWERS = (1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242)
"""exp(-1/4), exp(-1/2), exp(-1), ... exp(-16), times 2 ** 31."""


def exp_of_negative(values):
    """exp(values / 2 ** 26) * 2 ** 31 of values in [-2 ** 31, 0], as gemmlowp computes it."""
    values = np.asarray(values, np.int64)
    quarter = 1 << 24
    rest = (values & (quarter - 1)) - quarter
    x = widened(rest, 5) + _EIGHTH
    square = high_product(x, x)
    cube, fourth = high_product(square, x), high_product(square, square)
    tail = high_product(rounding_shift(fourth, 2) + cube, _THIRD) + square
    result = _EXP_OF_EIGHTH + high_product(_EXP_OF_EIGHTH, x + rounding_shift(tail, 1))
    remainder = rest - values
    for place, power in enumerate(_POWERS, 24):
        result = np.where(remainder >> place & 1, high_product(result, power), result)
    return np.where(values == 0, _HIGHEST, result)


def inverse_root(value):
    """(inverse, places) with 1 / sqrt(value) = inverse * 2 ** (-31 - places), of a whole number.

    Five steps of Newton's method on numbers with three bits before the point, as TFLite does.
    """
    if value <= 1:
        return _HIGHEST, 0
    places = 11
    while value >= 1 << 29:
        value, places = value >> 2, places + 1
    pairs = (31 - value.bit_length()) // 2 - 1
    places -= pairs
    whole = (value << 2 * pairs) >> 1
    half, x = int(rounding_shift(whole, 1)), 1 << 28
    for _ in range(5):
        cube = widened(high_product(high_product(x, x), x), 6)
        x = int(widened(high_product(3 << 27, x) - high_product(half, cube), 3))
    x = int(high_product(x, 1518500250))
    return (x << -places, 0) if places < 0 else (x, places)
