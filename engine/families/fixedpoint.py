"""build/fixedpoint.py for numpy arrays, and samples: the planner's lookup tables, without numba."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..tiling import EXP_POWERS

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

_LOWEST, _HIGHEST = -(1 << 31), (1 << 31) - 1
_INT32_BITS = 31


def rounding_doubling_high_mul(a: ArrayLike, b: ArrayLike) -> np.ndarray:
    """a * b / 2 ** 31, rounded to nearest, halves up."""
    product = np.multiply(a, b, dtype=np.int64)
    product += 1 << 30  # in place, as all here: each new array of a table of 16 bits is 128 pages
    product >>= 31
    return product


def rounding_divide_by_pot(values: np.ndarray, exponent: int) -> np.ndarray:
    """values / 2 ** exponent, rounded to nearest, halves away from zero."""
    if exponent <= 0:
        return values
    quotient = values + (1 << (exponent - 1))
    quotient -= values < 0
    quotient >>= exponent
    return quotient


def saturating_left_shift(values: ArrayLike, exponent: int) -> np.ndarray:
    """values * 2 ** exponent, saturated to int32."""
    shifted = np.asarray(values, np.int64) << exponent
    return np.minimum(np.maximum(shifted, _LOWEST), _HIGHEST)


def multiply_by_quantized_multiplier(
    values: ArrayLike, multiplier: ArrayLike, shift: int
) -> np.ndarray:
    """values * multiplier * 2 ** (shift - 31), rounded as MultiplyByQuantizedMultiplier does.

    >>> multiply_by_quantized_multiplier(np.array([-30, 5, 30]), 1 << 30, -3).tolist()
    [-2, 0, 2]
    """
    left = np.left_shift(values, max(shift, 0), dtype=np.int64).astype(np.int32)
    product = rounding_doubling_high_mul(left, multiplier)
    if -shift > _INT32_BITS:  # as in build/fixedpoint.py
        return (product >> (-shift & _INT32_BITS)) + (product >= 0)
    return rounding_divide_by_pot(product, max(-shift, 0))


_EIGHTH, _EXP_OF_EIGHTH, _THIRD = 1 << 28, 1895147668, 715827883


def exp_on_negative_values(values: ArrayLike) -> np.ndarray:
    """exp(values / 2 ** 26) * 2 ** 31 of values in [-2 ** 31, 0], as gemmlowp computes it."""
    values = np.asarray(values, np.int64)
    quarter = 1 << 24
    fraction = (values & (quarter - 1)) - quarter
    x = saturating_left_shift(fraction, 5) + _EIGHTH
    square = rounding_doubling_high_mul(x, x)
    cube, fourth = rounding_doubling_high_mul(square, x), rounding_doubling_high_mul(square, square)
    tail = rounding_doubling_high_mul(rounding_divide_by_pot(fourth, 2) + cube, _THIRD) + square
    result = _EXP_OF_EIGHTH + rounding_doubling_high_mul(
        _EXP_OF_EIGHTH, x + rounding_divide_by_pot(tail, 1)
    )
    remainder = fraction - values
    for bit, power in enumerate(EXP_POWERS, 24):
        result = np.where(remainder >> bit & 1, rounding_doubling_high_mul(result, power), result)
    return np.where(values == 0, _HIGHEST, result)


_SQRT_OF_HALF = 1518500250
_LARGEST_MANTISSA = 29  # bits


def inverse_sqrt(values: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """(inverses, shifts) with 1 / sqrt(values) = inverses * 2 ** (-31 - shifts), of integers.

    Five steps of Newton's method on numbers with three bits before the point, as TFLite does.
    """
    values = np.asarray(values, np.int64)
    bits = np.frexp(values.astype(np.float64))[1].astype(np.int64)
    surplus_pairs = np.maximum(bits - _LARGEST_MANTISSA + 1, 0) // 2
    bit_pairs = (31 - (bits - 2 * surplus_pairs)) // 2 - 1
    shifts = 11 + surplus_pairs - bit_pairs
    half = rounding_divide_by_pot((values >> 2 * surplus_pairs << 2 * bit_pairs) >> 1, 1)
    x = np.full_like(values, 1 << 28)
    for _ in range(5):
        square = rounding_doubling_high_mul(x, x)
        cube = saturating_left_shift(rounding_doubling_high_mul(square, x), 6)
        step = rounding_doubling_high_mul(3 << 27, x) - rounding_doubling_high_mul(half, cube)
        x = saturating_left_shift(step, 3)
    x = rounding_doubling_high_mul(x, _SQRT_OF_HALF) << np.maximum(-shifts, 0)
    is_one = values <= 1
    return np.where(is_one, _HIGHEST, x), np.where(is_one, 0, np.maximum(shifts, 0))


_INTERVALS = 512
"""Of a function of 16 bits."""


def rounded(values: np.ndarray) -> np.ndarray:
    """Floats rounded to nearest, halves away from zero."""
    values64 = values.astype(np.float64)
    return np.trunc(values64 + np.copysign(0.5, values64)).astype(values.dtype)


def sampled(
    function: Callable[[np.ndarray], np.ndarray],
    low: np.floating,
    high: np.floating,
    inverse: float | np.floating,
) -> np.ndarray:
    """inverse * function at 65536 steps from `low` to `high`, as int16 in rising order.

    The function is taken at 513 points; between them is a line, as in TFLite's LUTLookup. A point
    is moved by half the error in the middle of its interval. `low` and `high` say the precision.
    """
    kind = low.dtype.type
    with np.errstate(over="ignore", invalid="ignore"):
        step = (high - low) / kind(_INTERVALS)
        x = low + np.arange(_INTERVALS, dtype=kind) * step
        following = low + np.arange(1, _INTERVALS + 1, dtype=kind) * step
        here, after, middle = (function(v) * inverse for v in (x, following, x + step / kind(2)))
        point = rounded(here)
        error = rounded((after + point) / kind(2)) - rounded(middle)
        last = rounded(function(np.array([high])) * inverse)
        points = np.append(point - rounded(error / kind(2)), last)
    points = np.where(np.isnan(points), 0, np.clip(points, -32768, 32767)).astype(np.int16)
    slopes = np.diff(points).astype(np.int32)  # of int16, as TFLite's
    rises = slopes[:, None] * np.arange(128, dtype=np.int32)
    rises += 64
    rises >>= 7
    rises += points[:-1, None]
    return rises.astype(np.int16).ravel()
