"""Scales as the integers that fixedpoint.py multiplies by."""

from __future__ import annotations

from math import floor, frexp

import numpy as np

from ..buffer import constant

_ONE = 1 << 31
_MOST = 30
"""The largest shift, for scales no sound model has: the kernels shift int64."""


def fixed_scale(scale):
    """(multiplier, shift) with scale = multiplier * 2 ** (shift - 31), as TFLite rounds it.

    >>> fixed_scale(1.0)
    (1073741824, 1)
    """
    fraction, shift = frexp(scale)
    multiplier = floor(fraction * _ONE + 0.5)
    if multiplier == _ONE:
        multiplier, shift = multiplier // 2, shift + 1
    if shift < -31:
        return 0, 0
    if shift > _MOST:
        return _ONE - 1, _MOST
    return multiplier, shift


def common_terms(a, b, out, limits, left, power=1):
    """The `terms` of a kernel of kernels/scaled.py that brings a and b to one scale.

    Args:
        a, b, out: (scale, zero point) of the operands and the result.
        limits: the lowest and highest stored result.
        left: how far the operands are shifted left first.
        power: 2 when the kernel squares.
    """
    widest = 2 * max(a[0], b[0])
    scale = widest**power / ((1 << left * power) * out[0])
    rows = [(a[1], *fixed_scale(a[0] / widest)), (b[1], *fixed_scale(b[0] / widest))]
    return _terms(rows, out[1], scale, limits, left)


def product_terms(a, b, out, limits, scale):
    """The `terms` of a kernel that multiplies or divides: `scale` is applied to its result."""
    return _terms([(a[1], 0, 0), (b[1], 0, 0)], out[1], scale, limits, 0)


def _terms(rows, zero_point, scale, limits, left):
    return constant(np.array([*rows, (zero_point, *fixed_scale(scale)), (*limits, left)], np.int64))
