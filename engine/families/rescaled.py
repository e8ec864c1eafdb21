"""Arithmetic of two quantized operands, in kernels/int8/rescaled.py and rescaled_simd.py."""

from __future__ import annotations

from math import ceil, floor, log2
from typing import TYPE_CHECKING

import numpy as np

from ..plan.buffer import constant
from ..tiling import FORM
from .elementwise import elementwise

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..plan.buffer import Buffer
    from ..plan.program import Program
    from .multipliers import Terms

KERNELS = {
    "sum": ("sum", "sum"),
    "difference": ("difference", "reversed"),
    "product": ("product", "product"),
    "squared_difference": ("squared", "squared"),
}
"""Kernel of rescaled.py -> forms of rescaled_simd.py: for operands in their order, and reversed."""
_FORMS = ("sum", "difference", "reversed", "squared", "product")
"""The forms in the order of kernels/int8/rescaled_simd.py."""
_SIGNS = {"sum": (1, 1), "difference": (1, -1), "reversed": (-1, 1)}
"""Form -> the signs of its operands in the total."""
_MIN_FIT_SIZE = 1 << 10  # elements for which it pays to look for a short form
_MAX_BITS = 24  # of the fraction of a line
_MAX_SUM = 127 * 128  # of a line, without limits: factors in units of 2 ** -8 have 16 bits
_FINE_ERROR, _FINE_CUT = 1.5, 1.0  # of totals in units of 2 ** -16, to both sides, and cut off
_TO_WHOLE, _MAX_WHOLE = 1.5 * 2.0**23, 2.0**21
"""What products in float32 are added to, and how large they may be."""
_NO_SHORT_FORM = constant(np.zeros(FORM + 1, np.int64))
_LINE_SCRATCH = 256, "int64"
_PRODUCT_SCRATCH = 513, "int8"
"""Size and dtype of what the two `fit` work in."""
_HALF = (1 << 30, 0)  # the larger of two scales: half of the scale of both operands


def pair(program: Program, kind: str, a: Buffer, b: Buffer, out: Buffer, terms: Terms) -> None:
    """out = the `kind` of a and b, named as its plain kernel."""
    vectorized = simd_form(kind, out.dtype, terms)
    if vectorized is None:
        table = constant(np.array(terms, np.int64))
        elementwise(program, f"rescaled.{kind}", (a, b), out, table)
        return
    name, numbers, swapped = vectorized
    operands = (b, a) if swapped else (a, b)
    short = _NO_SHORT_FORM
    if out.dtype.itemsize == 1 and out.size >= _MIN_FIT_SIZE:
        first, second, *others = terms
        rows = _of_int8([second, first, *others] if swapped else terms, out.dtype)
        if name in _SIGNS:
            short = _line(program, _SIGNS[name], rows, numbers)
        elif name == "product":
            short = _product(program, rows)
    kernel = f"rescaled_simd.pairs_{'u' if out.dtype == np.uint8 else ''}{8 * out.itemsize}"
    table = constant(np.array(numbers, np.int64))
    elementwise(program, kernel, operands, out, table, short, form=_FORMS.index(name))


def _of_int8(terms: Terms, dtype: np.dtype) -> Terms:
    """Terms whose zero points and limits are those of int8, where uint8 are 128 more."""
    if dtype != np.uint8:
        return terms
    *scaled, (low, high, left) = terms
    return [*((zero - 128, *others) for zero, *others in scaled), (low - 128, high - 128, left)]


def _line(program: Program, signs: tuple[int, int], terms: Terms, numbers: Sequence[int]) -> Buffer:
    """The numbers of a line that gives the same results, fitted when the program is closed."""
    (a_zero, *_), (b_zero, *b_scale), (zero, multiplier, shift), (low, high, left) = terms
    factor = multiplier * 2.0 ** (shift - 31)
    p, q = signs[0] * 2.0 ** (left - 1) * factor, signs[1] * 2.0**left * factor
    q *= b_scale[0] * 2.0 ** (b_scale[1] - 31)
    c = zero + 0.5 - a_zero * p - b_zero * q
    reach = 128 * (abs(p) + abs(q)) + abs(c)
    if reach >= _MAX_SUM:
        return _NO_SHORT_FORM
    # a sum is rounded as the sum of its operands and as a result
    rounding = factor + 2.0**shift
    fine = _fine_factors(p, q, c, rounding)
    bits = min(floor(log2((1 << 30) / reach)), _MAX_BITS)
    p, q = (round(number * (1 << bits)) for number in (p, q))
    c = round((zero + 0.5) * (1 << bits)) - a_zero * p - b_zero * q
    limit = signs[0] * (a_zero << (left - 1))
    rescale = [multiplier, _start(zero, multiplier, -shift, limit), -shift, limit, low, high]
    # of p, q and c half a unit each
    error = (256 + abs(a_zero) + abs(b_zero)) / 2 + rounding * 2.0**bits + 2
    guess = [p, q, c, bits, a_zero, b_zero, ceil(error), *(sign >> 1 for sign in signs), *fine]
    row = (*rescale, *guess, left, *b_scale, *numbers)
    return program.batched("rescaled_sum.fit", row, _LINE_SCRATCH, FORM + 8 + len(numbers))


def _fine_factors(p: float, q: float, c: float, rounding: float) -> list[int]:
    """What the line multiplies, adds and is not sure below with 16 bits of fraction.

    Factors are in units of 2 ** -8, and then, for what these lack, in units of 2 ** -23.
    """
    coarse = [round(factor * (1 << 8)) for factor in (p, q)]
    fine = [
        round((factor * (1 << 8) - whole) * (1 << 15))
        for factor, whole in zip((p, q), coarse, strict=True)
    ]
    error = _FINE_ERROR + rounding * (1 << 16)
    below = ceil(_FINE_CUT + error)
    return [*coarse, *fine, round(c * (1 << 16)) + below, ceil(below + error)]


def _product(program: Program, terms: Terms) -> Buffer:
    """The numbers of a product in float32 with the same results, fitted when the program closes."""
    (a_zero, *_), (b_zero, *_), (zero, multiplier, shift), (low, high, _) = terms
    scale = multiplier * 2.0 ** (shift - 31)
    if (1 << 16) * scale + abs(zero) >= _MAX_WHOLE:
        return _NO_SHORT_FORM
    *bits, bias = (
        np.array([scale, _TO_WHOLE + zero, 2.0 ** (shift - 1)], np.float32).view(np.int32).tolist()
    )
    rescale = [multiplier, _start(zero, multiplier, -shift, 0), -shift, 0, low, high]
    row = (*rescale, *bits, a_zero, b_zero, bias)
    return program.batched("rescaled_product.fit", row, _PRODUCT_SCRATCH, 8)


def simd_form(kind: str, dtype: np.dtype, terms: Terms) -> tuple[str, list[int], bool] | None:
    """The form of the SIMD kernel for `terms`, their numbers, and whether operands are swapped.

    None where there is none for such terms.
    """
    a, b, (zero, multiplier, shift), (low, high, left) = terms
    levels, flip = 1 << 8 * dtype.itemsize, 128 if dtype == np.uint8 else 0
    lowest = 0 if dtype.kind == "u" else -levels // 2
    swapped = kind != "product" and tuple(a[1:]) != _HALF
    if swapped:
        a, b = b, a
    zeros, right = (a[0] - flip, b[0] - flip), -shift
    zero, low, high = zero - flip, low - flip, high - flip
    highest = lowest + levels
    if (
        kind not in KERNELS
        or not (lowest <= a[0] < highest and lowest <= b[0] < highest)
        or (dtype.itemsize == 2 and any(zeros))
        or right < 1
    ):
        return None
    name = KERNELS[kind][swapped]
    largest = levels * levels
    b_multiplier, b_right, limit, left_shifts = 0, 0, 0, (0, 0)
    if kind != "product":
        if tuple(a[1:]) != _HALF or b[2] > 0:
            return None
        b_multiplier, b_right, left_shifts = b[1], -b[2], (left - 1, left + 1)
        largest = (2 * levels << (left - 1)) ** (2 if kind == "squared_difference" else 1)
        if kind != "squared_difference":
            limit = (zeros[0] << left_shifts[0]) * (-1 if name == "reversed" else 1)
    if min(largest, 1 << 30) + (1 << right >> 1) + (abs(zero) << right) >= 1 << 31:
        return None
    b_start = (1 << 31) + (1 << b_right >> 1 << 32) - (zeros[1] << left_shifts[1]) * b_multiplier
    start = _start(zero, multiplier, right, limit)
    numbers = [flip, *zeros, *left_shifts, b_multiplier, b_start, b_right, -1 if b_right else 0]
    numbers += [limit, multiplier, start, right, -1, low, high]
    numbers += [b_multiplier] * 8 + [multiplier] * 8
    return name, numbers, swapped


def _start(zero: int, multiplier: int, right: int, limit: int) -> int:
    """What is added to twice a total times `multiplier`: halves and zero points."""
    return (1 << 31) + ((1 << right >> 1) + (zero << right) << 32) - 2 * limit * multiplier
