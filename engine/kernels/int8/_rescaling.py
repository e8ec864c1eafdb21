"""What makes a total of two quantized operands a result, as rescaled_simd.py does in vectors."""

from numba import int64

from ...build.kernel import inline

MULTIPLIER, START, SHIFT, LIMIT, LOW, HIGH, RESCALING = range(7)
"""What `rescaling` has, and how many numbers that is.

A total is negative below the limit; the others are of the result.
"""


@inline
def exact(total, rescaling):
    """The result of a total."""
    product = 2 * total * rescaling[MULTIPLIER] + rescaling[START]
    value = (product >> 32) - int64(total < rescaling[LIMIT])
    return min(max(value >> rescaling[SHIFT], rescaling[LOW]), rescaling[HIGH])
