"""Arithmetic of two quantized operands, with the rounding of TFLite's reference kernels.

`geometry` is that of _broadcast.py. `terms` has for a, b and the result the rows zero point,
multiplier, shift, and then low, high, left: the limits of the result, and how far the operands
are shifted left before they are scaled.
"""

from numba import int64

from ...build.fixedpoint import high_product, leading_zeros, reciprocal, rounding_shift, scaled
from ...build.kernel import inline, kernel, set_fault
from ...run.faults import DIVISION_BY_ZERO
from ..elementwise._broadcast import of_module, walking

QUANTIZED = ("int8", "uint8", "int16")


@inline
def operand(value, terms, row):
    """An operand on the scale both have in common."""
    return scaled((value - terms[row, 0]) << terms[3, 2], terms[row, 1], terms[row, 2])


@inline
def sum_of(a, b, terms):
    """a + b"""
    total = operand(a, terms, 0) + operand(b, terms, 1)
    return scaled(total, terms[2, 1], terms[2, 2])


@inline
def difference_of(a, b, terms):
    """a - b"""
    total = operand(a, terms, 0) - operand(b, terms, 1)
    return scaled(total, terms[2, 1], terms[2, 2])


@inline
def squared_difference_of(a, b, terms):
    """(a - b) ** 2"""
    rest = operand(a, terms, 0) - operand(b, terms, 1)
    return scaled(rest * rest, terms[2, 1], terms[2, 2])


@inline
def product_of(a, b, terms):
    """a * b"""
    return scaled((a - terms[0, 0]) * (b - terms[1, 0]), terms[2, 1], terms[2, 2])


@inline
def quotient_of(a, b, terms):
    """a / b"""
    above, below = a - terms[0, 0], b - terms[1, 0]
    if below < 0:
        above, below = -above, -below
    inverse, bits = reciprocal(below)
    size = above if above >= 0 else -2 * above - 1
    headroom = leading_zeros(size) - (1 if above >= 0 else 0)
    rough = high_product(above << headroom, inverse)
    places = bits + headroom - terms[2, 2]
    return rounding_shift(high_product(rough, terms[2, 1]), places)


def quantized(formula, divides=False):
    """The function of a kernel for `out = formula(a, b)`."""

    def line(a, b, out, p, q, item, count, a_step, b_step, numbers):
        terms, fault = numbers
        zero, low, high = terms[2, 0], terms[3, 0], terms[3, 1]
        for c in range(count):
            x, y = a[p + c * a_step], b[q + c * b_step]
            if divides and y == terms[1, 0]:
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
