"""Logistic and tanh of 16-bit fixed-point numbers as gemmlowp computes them, bit for bit.

Numbers are int16 in the type int32. The instructions are written out, as numba would make int64 of
them, which half as many fit a vector.
"""

from numba import types

from ...build.kernel import microkernel
from ...build.vector import INT
from ...tiling import EXP_POWERS

_LOWEST, _HIGHEST = -(1 << 15), (1 << 15) - 1


def _in_15_bits(value):
    """31 bits of a constant as 15, rounded."""
    return (value + (1 << 15)) >> 16


_EXP_OF_EIGHTH, _THIRD = _in_15_bits(1895147668), _in_15_bits(715827883)
_48_OVER_17, _NEGATIVE_32_OVER_17 = _in_15_bits(1515870810), _in_15_bits(-1010580540)


class _Fixed:
    """Writes instructions on int32 numbers; Python's numbers are constants."""

    def __init__(self, builder):
        self.builder = builder

    def number(self, value):
        return INT(value) if isinstance(value, int) else value

    def add(self, a, b):
        return self.builder.add(self.number(a), self.number(b))

    def subtract(self, a, b):
        return self.builder.sub(self.number(a), self.number(b))

    def where(self, comparison, a, b, chosen, other):
        is_so = self.builder.icmp_signed(comparison, self.number(a), self.number(b))
        return self.builder.select(is_so, self.number(chosen), self.number(other))

    def saturate(self, value):
        """`value` within int16."""
        value = self.where("<", value, _LOWEST, _LOWEST, value)
        return self.where(">", value, _HIGHEST, _HIGHEST, value)

    def high(self, a, b):
        """a * b / 2 ** 15, rounded to nearest, halves up."""
        product = self.builder.mul(self.number(a), self.number(b))
        return self.builder.ashr(self.add(product, 1 << 14), INT(15))

    def saturating_shift(self, value, bits):
        """value * 2 ** places within int16."""
        return self.saturate(self.builder.shl(value, self.number(bits)))

    def rounding_shift(self, value, bits):
        """value / 2 ** places, rounded to nearest, halves away from zero."""
        sign = self.builder.ashr(value, INT(31))  # -1 of what is negative
        half = self.builder.shl(INT(1), self.subtract(bits, 1))
        return self.builder.ashr(self.add(self.add(value, half), sign), self.number(bits))

    def abs(self, value):
        """|value|"""
        return self.where("<", value, 0, self.subtract(0, value), value)

    def exp(self, value, bits):
        """exp of a value <= 0 with `bits` bits before the point, with none after."""
        builder, after = self.builder, self.subtract(15, bits)
        quarter = builder.shl(INT(1), self.subtract(after, 2))
        fraction = builder.and_(value, self.subtract(quarter, 1))
        fraction = self.subtract(fraction, quarter)
        result = self._exp_near_zero(self.saturating_shift(fraction, bits))
        remainder = self.subtract(fraction, value)
        for exponent, power in enumerate(EXP_POWERS, -2):
            bit = builder.shl(INT(1), self.add(after, exponent))
            smaller = self.high(result, _in_15_bits(power))
            result = self.where("!=", builder.and_(remainder, bit), 0, smaller, result)
        least = builder.shl(INT(-1), self.subtract(20, bits))
        least = self.where(">", bits, 5, least, 2 * _LOWEST)
        result = self.where("<", value, least, 0, result)
        return self.where("==", value, 0, _HIGHEST, result)

    def _exp_near_zero(self, value):
        """exp of a value in [-1/4, 0): a Taylor series around -1/8."""
        x = self.add(value, 1 << 12)
        square = self.high(x, x)
        cube, fourth = self.high(square, x), self.high(square, square)
        tail = self.high(self.add(self.rounding_shift(fourth, 2), cube), _THIRD)
        tail = self.rounding_shift(self.add(tail, square), 1)
        return self.saturate(self.add(_EXP_OF_EIGHTH, self.high(_EXP_OF_EIGHTH, self.add(x, tail))))

    def inverse(self, value):
        """2 / (1 + value) of a value in [0, 1], with two bits before the point."""
        half = self.builder.ashr(self.add(value, _HIGHEST + 1), INT(1))
        x = self.add(_48_OVER_17, self.high(half, _NEGATIVE_32_OVER_17))
        for _ in range(3):
            error = self.subtract(1 << 13, self.high(half, x))
            x = self.add(x, self.saturating_shift(self.high(x, error), 2))
        return x


@microkernel(types.int32(types.int32), inline=True)
def logistic(builder, simd, value):
    """1 / (1 + exp(-value)) of a value with 3 bits before the point."""
    fixed = _Fixed(builder)
    low = fixed.subtract(0, fixed.abs(value))
    result = fixed.saturating_shift(fixed.inverse(fixed.exp(low, 3)), 1)
    result = fixed.where(">", value, 0, result, fixed.subtract(_HIGHEST, result))
    return fixed.where("==", value, 0, 1 << 14, result)


@microkernel(types.int32(types.int32, types.int32), inline=True)
def tanh(builder, simd, value, bits):
    """tanh of a value with `bits` bits before the point."""
    fixed = _Fixed(builder)
    low = fixed.subtract(0, fixed.abs(value))
    small = fixed.inverse(fixed.exp(low, fixed.add(bits, 1)))
    result = fixed.saturating_shift(fixed.subtract(small, 1 << 13), 2)
    result = fixed.where("<", value, 0, fixed.subtract(0, result), result)
    return fixed.where("==", value, 0, 0, result)


@microkernel(types.int32(types.int32, types.int32, types.int32), inline=True)
def product(builder, simd, a, b, bits):
    """a * b / 2 ** places, rounded to nearest, halves away from zero."""
    fixed = _Fixed(builder)
    return fixed.rounding_shift(builder.mul(a, b), bits)


@microkernel(types.int32(types.int32, types.int32), inline=True)
def total(builder, simd, a, b):
    """a + b within int16."""
    fixed = _Fixed(builder)
    return fixed.saturate(fixed.add(a, b))


@microkernel(types.int32(types.int32, types.int32), inline=True)
def high(builder, simd, a, b):
    """a * b / 2 ** 15, rounded to nearest, halves up."""
    return _Fixed(builder).high(a, b)
