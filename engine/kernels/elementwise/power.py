"""Powers of float32 of two operands (_broadcast.py)."""

import math

import numpy as np
from numba import float32

from ...build.kernel import address, inline, kernel
from . import _float32
from ._broadcast import walking
from ._formula import elementwise

_BLOCK = 256  # elements looked over at a time
_LEAST_NORMAL, _LARGEST = float32(2.0**-126), float32(np.finfo(np.float32).max)
_powers = elementwise(_float32.power, operands=2)
_powers_of_scalar = elementwise(_float32.power, numbers=1)


@inline
def _is_plain(x, y):
    """Whether the vectors find x ** y."""
    return x >= _LEAST_NORMAL and x <= _LARGEST and abs(y) <= _LARGEST


def _line(a, b, out, p, q, item, count, a_step, b_step, numbers):
    """out = a ** b, _BLOCK elements at a time"""
    start = 0
    while start < count:
        n, plain = min(count - start, _BLOCK), a_step > 0
        x, y, target = a[p + start * a_step :], b[q + start * b_step :], out[item + start :]
        if b_step:
            for c in range(n):
                plain &= _is_plain(x[c * a_step], y[c])
        else:
            for c in range(n):
                plain &= _is_plain(x[c * a_step], y[0])
        if a_step and not b_step and y[0] == 2:
            for c in range(n):
                target[c] = x[c] * x[c]
            plain = True
        elif a_step and b_step:
            _powers(address(x), address(y), address(target), n)
        elif a_step:
            _powers_of_scalar(address(x), address(target), n, y[0])
        if not plain:
            for c in range(n):
                if not (a_step and _is_plain(x[c * a_step], y[c * b_step])):
                    target[c] = math.pow(x[c * a_step], y[c * b_step])
        start += n


_walk = walking(_line)


@kernel("a:float32[1] b:float32[1] out:float32[1] geometry:int64[2]")
def power(a, b, out, geometry, first, last, fault):
    """out = a ** b: in vectors, but with libm where `a` is not positive or a number not finite."""
    _walk(a, b, out, geometry, 0, first, last)
