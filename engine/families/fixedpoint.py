"""build/fixedpoint.py for numpy arrays: the planner makes lookup tables with it, without numba."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..tiling import EXP_POWERS

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

_LOWEST, _HIGHEST = -(1 << 31), (1 << 31) - 1
_INT32_BITS = 31


def rounding_doubling_high_mul(a: ArrayLike, b: ArrayLike) -> np.ndarray:
    """a * b / 2 ** 31, rounded to nearest, halves up."""
    return (np.asarray(a, np.int64) * np.asarray(b, np.int64) + (1 << 30)) >> 31


def rounding_divide_by_pot(values: np.ndarray, exponent: int) -> np.ndarray:
    """values / 2 ** exponent, rounded to nearest, halves away from zero."""
    if exponent <= 0:
        return values
    return (values + (1 << (exponent - 1)) - (values < 0)) >> exponent


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
    left = np.asarray(values, np.int64) << max(shift, 0)
    left = left.astype(np.int32).astype(np.int64)
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
