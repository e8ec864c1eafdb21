"""What is measured of tensors while a model runs: their extent, and how their values are spread."""

import math

from numba import float32, float64

from ...build.kernel import address, inline, kernel
from ...tiling import HISTOGRAM
from ._sums import largest_of, smallest_of, sum_of

BLOCK = 4096  # elements that stay in the first cache while they are read three times
_SEEN, _LOW, _HIGH, _START, _WIDTH, _COUNT, _FIRST = range(7)
"""Columns of a row; from _FIRST on the intervals of a histogram, of which there are _COUNT."""


@inline
def _extent(x, low, high):
    """(the smallest of `low` and x, the largest of `high` and x); NaN when an element is."""
    for start in range(0, x.size, BLOCK):
        count = min(BLOCK, x.size - start)
        block = address(x) + 4 * start
        low, high = smallest_of(block, count, low), largest_of(block, count, high)
        total = sum_of(block, count)
        if total != total:  # NaN, or infinities of both signs
            for i in range(start, start + count):
                if x[i] != x[i]:
                    low = high = x[i]
    return low, high


@kernel("x:float32[n] inout:float32[columns]")
def extent(x, inout, first, last, fault):
    """inout = [1, the smallest of inout[1] and x, the largest of inout[2] and x, ...]

    A first element of 0 says that nothing was seen before. No elements count as 0.
    """
    low, high = float32(0.0), float32(0.0)
    if inout[_SEEN] > 0:
        low, high = inout[_LOW], inout[_HIGH]
    elif x.size:
        low, high = x[0], x[0]
    low, high = _extent(x, low, high)
    if x.size == 0:
        low, high = min(low, float32(0.0)), max(high, float32(0.0))
    inout[_SEEN], inout[_LOW], inout[_HIGH] = float32(1.0), low, high


@kernel("x:float32[n] inout:float64[columns]")
def histogram(x, inout, first, last, fault):
    """As `extent`, and how many elements lie in each of some intervals of equal width.

    There are HISTOGRAM of them over the first elements that are seen. They are continued where
    others lie outside, up to twice as many, then each two become one.
    """
    low, high = float32(0.0), float32(0.0)
    if x.size:
        low, high = _extent(x, x[0], x[0])
    if inout[_SEEN] > 0:
        inout[_LOW] = min(inout[_LOW], float64(low))
        inout[_HIGH] = max(inout[_HIGH], float64(high))
    else:
        inout[_LOW], inout[_HIGH] = low, high
    inout[_SEEN] = 1
    least, most = float64(low), float64(high)
    if not math.isfinite(most - least):
        inout[_LOW], inout[_HIGH] = least, most
        return
    counts = inout[_FIRST:]
    if inout[_COUNT] == 0:
        size = max(most - least, 1e-6 * max(abs(least), abs(most)), 1e-12)
        inout[_START], inout[_WIDTH], inout[_COUNT] = least, size / HISTOGRAM, HISTOGRAM
    begin, width, n = inout[_START], inout[_WIDTH], int(inout[_COUNT])
    while (max(most, begin + n * width) - min(least, begin)) / width > 2 * HISTOGRAM:
        for i in range((n + 1) // 2):
            second = counts[2 * i + 1] if 2 * i + 1 < n else 0.0
            counts[i] = counts[2 * i] + second
        for i in range((n + 1) // 2, n):
            counts[i] = 0.0
        n, width = (n + 1) // 2, 2 * width
    before = max(0, math.ceil((begin - least) / width))
    after = max(0, math.ceil((most - begin) / width) - n)
    if before:
        for i in range(n - 1, -1, -1):
            counts[i + before] = counts[i]
        for i in range(before):
            counts[i] = 0.0
    n, begin = n + before + after, begin - before * width
    for i in range(x.size):
        k = int((x[i] - begin) / width)
        counts[min(max(k, 0), n - 1)] += 1
    inout[_START], inout[_WIDTH], inout[_COUNT] = begin, width, n
