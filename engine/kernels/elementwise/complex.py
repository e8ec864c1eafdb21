"""Functions of complex numbers, which are pairs of floats."""

import math

from numba import float64

from ...build.kernel import kernel


@kernel("x:T[n,2] out:T[n]", T=("float32", "float64"))
def magnitude(x, out, first, last, fault):
    """out = |x|, computed in float64"""
    for i in range(first, last):
        out[i] = math.hypot(float64(x[i, 0]), float64(x[i, 1]))
