"""exp along a row, and the sum of it: what softmax and its losses begin with."""

from numba import float32

from ...build.kernel import address, inline
from ..elementwise import _float32
from ..elementwise._formula import elementwise

SHRINK = 2.0**-64
"""What makes sums of `exponentials` those of exp."""


def exponential(x, top):
    """exp(x - top) / SHRINK"""
    return _float32.exp_nonpositive(x - top)


def exponential_of_multiple(x, top, beta):
    """exp(beta * (x - top)) / SHRINK"""
    return _float32.exp_nonpositive((x - top) * beta)


_exponentials = elementwise(exponential, numbers=1, total=True)
_exponentials_of_multiples = elementwise(exponential_of_multiple, numbers=2, total=True)


@inline
def exponentials(row, target, top, beta):
    """target[i] = exp(beta * (row[i] - top)) / SHRINK; gives their sum."""
    if beta == float32(1.0):
        return _exponentials(address(row), address(target), row.size, top)
    return _exponentials_of_multiples(address(row), address(target), row.size, top, beta)
