"""Fixed-point arithmetic as TFLite's reference kernels do it, bit for bit. Imports numba.

A scale is `multiplier * 2 ** (shift - 31)` with a multiplier of 31 bits (families/multipliers.py
makes them). Products are rounded twice: first to 31 bits, then by the right shift. Values are int32
held in int64.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from llvmlite import ir
from numba import int32, int64, types
from numba.core import cgutils

from .kernel import inline, microkernel

if TYPE_CHECKING:
    from .simd import Simd

WORD = ir.IntType(64)

HIGHEST = (1 << 31) - 1
NEAREST_SHIFT = -31
"""The farthest shift to the right of `scaled_near`."""


@inline
def rounding_shift(value: int, shift: int) -> int:
    """value / 2 ** places, rounded to nearest, halves away from zero."""
    if shift <= 0:
        return value
    return (value + (int64(1) << (shift - 1)) - int64(value < 0)) >> shift


@inline
def far_rounding_shift(value: int, shift: int) -> int:
    """`rounding_shift` of int32, by any number of places.

    More than 31 are what gemmlowp makes of them: as scalars, from 64 on as vectors do it.
    """
    if shift > 63:
        mask = (int64(1) << (shift - 64)) - 1 if shift < 96 else int64(-1)
        threshold = (mask >> 1) + int64(value < 0)
        return (value >> 63) + int64((value & mask) > threshold)
    if shift > 31:
        return (value >> (shift & 31)) + int64(value >= 0)
    return rounding_shift(value, shift)


@inline
def high_product(a: int, b: int) -> int:
    """a * b / 2 ** 31, rounded to nearest, halves up."""
    return (a * b + (int64(1) << 30)) >> 31


@inline
def scaled(value: int, multiplier: int, shift: int) -> int:
    """value * multiplier * 2 ** (shift - 31), rounded as MultiplyByQuantizedMultiplier does."""
    left = max(shift, 0)
    return far_rounding_shift(high_product(int64(int32(value << left)), multiplier), left - shift)


@inline
def scaled_near(value: int, multiplier: int, shift: int) -> int:
    """`scaled` by a shift of NEAREST_SHIFT or more, in code that LLVM makes vectors of."""
    left = max(shift, 0)
    return rounding_shift(high_product(int64(int32(value << left)), multiplier), left - shift)


@inline
def scaled_wide(value: int, multiplier: int, shift: int) -> int:
    """value * multiplier * 2 ** (shift - 31) as int32, rounded once.

    What MultiplyByQuantizedMultiplier does with int64 values, and 15 bits of the multiplier.
    """
    short = (multiplier + (1 << 15)) >> 16 if multiplier < 0x7FFF0000 else int64(0x7FFF)
    right_shift = 15 - shift
    rounded = (value * short + (int64(1) << ((right_shift - 1) & 63))) >> (right_shift & 63)
    return int64(int32(rounded))


@microkernel(types.int64(types.int64), inline=True)
def leading_zeros(builder: ir.IRBuilder, simd: Simd, value: ir.Value) -> ir.Value:
    """Zero bits above the highest set one of 32; 32 for 0. The value must not be negative."""
    kind = ir.FunctionType(WORD, [WORD, ir.IntType(1)])
    count = cgutils.get_or_insert_function(builder.module, kind, "llvm.ctlz.i64")
    zeros = builder.call(count, [value, ir.IntType(1)(0)])
    return builder.sub(zeros, WORD(32))


@inline
def _saturating_shift(value: int, shift: int) -> int:
    """value * 2 ** places, held within int32."""
    return min(max(value << shift, -HIGHEST - 1), HIGHEST)


@inline
def _inverse_above_one(x: int) -> int:
    """1 / (1 + x) in 31 bits of x in [0, 1).

    Three steps of Newton's method on numbers with two bits before the point.
    """
    half = (x + HIGHEST + 1) >> 1
    y = int64(1515870810) + high_product(half, int64(-1010580540))
    for _ in range(3):
        error = (int64(1) << 29) - high_product(half, y)
        y += _saturating_shift(high_product(y, error), 2)
    return _saturating_shift(y, 1)


@inline
def reciprocal(value: int) -> tuple[int, int]:
    """(inverse, shift) with 1 / value = inverse * 2 ** (-31 - shift), of a positive value.

    The digits are those of gemmlowp's one_over_one_plus_x_for_x_in_0_1.
    """
    zeros = leading_zeros(value)
    return _inverse_above_one((value << zeros) - (int64(1) << 31)), 31 - zeros


@inline
def inverse_root(value: int) -> tuple[int, int]:
    """(inverse, places) with 1 / sqrt(value) = inverse * 2 ** (-31 - places); 0 counts as 1.

    Five steps of Newton's method on numbers with three bits before the point.
    """
    if value <= 1:
        return int64(HIGHEST), int64(0)
    shift = int64(11)
    while value >= 1 << 29:
        value >>= 2
        shift += 1
    pairs = (leading_zeros(value) - 1) // 2 - 1
    shift -= pairs
    normalized = (value << (2 * pairs)) >> 1
    half = rounding_shift(normalized, 1)
    x = int64(1) << 28
    for _ in range(5):
        cube = _saturating_shift(high_product(high_product(x, x), x), 6)
        x = _saturating_shift(high_product((1 << 28) + (1 << 27), x) - high_product(half, cube), 3)
    x = high_product(x, 1518500250)
    if shift < 0:
        x, shift = x << -shift, int64(0)
    return x, shift


@inline
def logarithm(value: int) -> int:
    """log(value / 2 ** 19) * 2 ** 26 of value / 2 ** 19 >= 1, as TFLite's LOG_SOFTMAX takes it."""
    zeros = leading_zeros(value)
    a = _saturating_shift(high_product(_saturating_shift(value, zeros - 1), 1518500250), 1)
    a_power = _saturating_shift(12 - zeros, 25) + (1 << 23)
    b_places = leading_zeros(high_product(value, 1518500250)) - 1
    b = _saturating_shift(value, b_places)
    b_power = _saturating_shift(12 - b_places, 25) - (1 << 23)
    r, power = min(a, b), max(a_power, b_power)
    fourth_root = int64(1805811301)
    p = (r + fourth_root + 1) >> 1
    q = 2 * (r - fourth_root)
    square = high_product(q, q)
    above = high_product(q, r) + high_product(high_product(q, square), 117049297)
    below = high_product(p, 1057819769 + q + high_product(127690142, square))
    below += high_product(638450708, q)
    ratio = high_product(rounding_shift(above, 6), _inverse_above_one(below))
    return _saturating_shift(high_product(power, 1488522236) + ratio, 1)
