"""Arithmetic of two quantized operands, with the rounding of TFLite's reference kernels.

`geometry` is that of _broadcast.py. `terms` has for a, b and the result the rows zero point,
multiplier, shift, and then the limits: low, high, and left, how far the operands are shifted left
before they are scaled.
"""

from numba import int64

from ...build.fixedpoint import far_rounding_shift, high_product, leading_zeros, reciprocal, scaled
from ...build.kernel import inline, kernel, set_fault
from ...run.faults import DIVISION_BY_ZERO
from ..elementwise._broadcast import of_module, walking

QUANTIZED = ("int8", "uint8", "int16")
_A, _B, _OUT, _LIMITS = range(4)  # the rows of terms
_ZERO_POINT, _MULTIPLIER, _SHIFT = range(3)  # the columns of all but the limits
_LOW, _HIGH, _LEFT = range(3)  # and of these


@inline
def operand(value, terms, row):
    """An operand on the scale both have in common."""
    value = (value - terms[row, _ZERO_POINT]) << terms[_LIMITS, _LEFT]
    return scaled(value, terms[row, _MULTIPLIER], terms[row, _SHIFT])


@inline
def sum_of(a, b, terms):
    """a + b"""
    total = operand(a, terms, _A) + operand(b, terms, _B)
    return scaled(total, terms[_OUT, _MULTIPLIER], terms[_OUT, _SHIFT])


@inline
def difference_of(a, b, terms):
    """a - b"""
    total = operand(a, terms, _A) - operand(b, terms, _B)
    return scaled(total, terms[_OUT, _MULTIPLIER], terms[_OUT, _SHIFT])


@inline
def squared_difference_of(a, b, terms):
    """(a - b) ** 2"""
    difference = operand(a, terms, _A) - operand(b, terms, _B)
    return scaled(difference * difference, terms[_OUT, _MULTIPLIER], terms[_OUT, _SHIFT])


@inline
def product_of(a, b, terms):
    """a * b"""
    product = (a - terms[_A, _ZERO_POINT]) * (b - terms[_B, _ZERO_POINT])
    return scaled(product, terms[_OUT, _MULTIPLIER], terms[_OUT, _SHIFT])


@inline
def quotient_of(a, b, terms):
    """a / b"""
    numerator, denominator = a - terms[_A, _ZERO_POINT], b - terms[_B, _ZERO_POINT]
    if denominator < 0:
        numerator, denominator = -numerator, -denominator
    inverse, inverse_shift = reciprocal(denominator)
    magnitude = numerator if numerator >= 0 else -2 * numerator - 1
    headroom = leading_zeros(magnitude) - (1 if numerator >= 0 else 0)
    quotient = high_product(numerator << headroom, inverse)
    shift = inverse_shift + headroom - terms[_OUT, _SHIFT]
    return far_rounding_shift(high_product(quotient, terms[_OUT, _MULTIPLIER]), shift & 63)


def quantized(formula, divides=False):
    """The function of a kernel for `out = formula(a, b)`."""

    def line(a, b, out, p, q, item, count, a_step, b_step, numbers):
        terms, fault = numbers
        zero = terms[_OUT, _ZERO_POINT]
        low, high = terms[_LIMITS, _LOW], terms[_LIMITS, _HIGH]
        for c in range(count):
            x, y = a[p + c * a_step], b[q + c * b_step]
            if divides and y == terms[_B, _ZERO_POINT]:
                set_fault(fault, DIVISION_BY_ZERO, q + c * b_step, 0)
                return
            value = formula(int64(x), int64(y), terms) + zero
            out[item + c] = min(max(value, low), high)

    walk = walking(line)

    def run(a, b, out, geometry, terms, first, last, fault):
        walk(a, b, out, geometry, (terms, fault), first, last)

    return of_module(formula, run)


_WORDS = "a:T1 b:T1 {out}:T1 geometry:int64[2] terms:int64[4,3]"
for _name, _formula in (
    ("sum", sum_of),
    ("difference", difference_of),
    ("squared_difference", squared_difference_of),
    ("product", product_of),
):
    kernel(_WORDS.format(out="out~a~b"), name=_name, T=QUANTIZED)(quantized(_formula))
_quotient = quantized(quotient_of, divides=True)
kernel(_WORDS.format(out="out"), name="quotient", T=QUANTIZED)(_quotient)
