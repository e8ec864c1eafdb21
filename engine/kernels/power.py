"""Powers of float32 of two operands (_pairs.py)."""

import math

import numpy as np
from numba import float32

from ..kernel import address, inline, kernel
from . import _float32
from ._formula import over_elements
from ._pairs import starts

_BLOCK = 256  # elements looked over at a time
_LEAST_NORMAL, _LARGEST = float32(2.0**-126), float32(np.finfo(np.float32).max)
_powers = over_elements(_float32.power, operands=2)
_powers_of_one = over_elements(_float32.power, numbers=1)


@inline
def _is_plain(x, y):
    """Whether the vectors find x ** y."""
    return x >= _LEAST_NORMAL and x <= _LARGEST and abs(y) <= _LARGEST


@kernel("a:float32[1] b:float32[1] out:float32[1] geometry:int64[2]")
def power(a, b, out, geometry, first, last, fault):
    """out = a ** b: in vectors, but with libm where `a` is not positive or a number not finite."""
    k = geometry.shape[1] - 1
    columns, a_step, b_step = geometry[0, k], geometry[1, k], geometry[2, k]
    item = first
    while item < last:
        row = item // columns
        start = item - row * columns
        count = min(columns - start, last - item, _BLOCK)
        a_start, b_start = starts(geometry, row)
        p, q = a[a_start + start * a_step :], b[b_start + start * b_step :]
        target, plain = out[item:], a_step > 0
        if b_step:
            for c in range(count):
                plain &= _is_plain(p[c * a_step], q[c])
        else:
            for c in range(count):
                plain &= _is_plain(p[c * a_step], q[0])
        if a_step and not b_step and q[0] == 2:
            for c in range(count):
                target[c] = p[c] * p[c]
            plain = True
        elif a_step and b_step:
            _powers(address(p), address(q), address(target), count)
        elif a_step:
            _powers_of_one(address(p), address(target), count, q[0])
        if not plain:
            for c in range(count):
                x, y = p[c * a_step], q[c * b_step]
                if not (a_step and _is_plain(x, y)):
                    target[c] = math.pow(x, y)
        item += count
