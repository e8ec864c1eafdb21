"""exp along a row, and the sum of it: what softmax and its losses begin with."""

from ...build.kernel import address, inline
from ..elementwise import _float32
from ..elementwise._formula import elementwise


def exponential(x, top, beta):
    """exp(beta * (x - top))"""
    return _float32.exp_nonpositive((x - top) * beta)


_exponentials = elementwise(exponential, numbers=2, total=True, unroll=2)


@inline
def exponentials(row, target, top, beta):
    """target[i] = exp(beta * (row[i] - top)); gives their sum."""
    return _exponentials(address(row), address(target), row.size, top, beta)
