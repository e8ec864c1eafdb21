"""Rows of float32 as int8, each row with a scale of its own, as TFLite's dynamic range has it.

First come the `extremes` of rows, which may be cut in parts, then the numbers that `symmetric` or
`asymmetric` makes of them, then `rounded`. `out_padding` gets what stands for 0.
"""

from numba import int64

from ...build.kernel import address, inline, kernel
from ..reduction._sums import extremes_of
from ._row_numbers import asymmetric_numbers, int8_of, symmetric_numbers

_LEAST, _GREATEST = range(2)  # what extremes are
_NUMBERS = (
    "extremes:float32[rows,parts,2] out_scales:float32[rows] out_inverses:float32[rows] "
    "out_zeros:int32[rows] out_padding:int8[rows,*]"
)


@inline
def part_of(item, parts, count):
    """(row, part, start, end) of an item."""
    if parts == 1:
        return item, int64(0), int64(0), count
    row = item // parts
    part = item - row * parts
    return row, part, count * part // parts, count * (part + 1) // parts


@kernel("x:float32[rows,k] out:float32[rows,parts,2]")
def extremes(x, out, first, last, fault):
    """The least and the greatest of each part of a row, which is an item, and 0.

    nan does not count.
    """
    for item in range(first, last):
        row, _, start, end = part_of(item, out.shape[1], x.shape[1])
        at = address(x) + 4 * (row * x.shape[1] + start)
        extremes_of(at, end - start, address(out) + 8 * item)


@inline
def least_and_greatest(extremes, row):
    """Those of a whole row."""
    low, high = extremes[row, 0, _LEAST], extremes[row, 0, _GREATEST]
    for part in range(1, extremes.shape[1]):
        low = min(low, extremes[row, part, _LEAST])
        high = max(high, extremes[row, part, _GREATEST])
    return low, high


@kernel(_NUMBERS)
def symmetric(extremes, out_scales, out_inverses, out_zeros, out_padding, first, last, fault):
    """For bytes round(127 * x[r] / max |x[r]|)."""
    for row in range(first, last):
        low, high = least_and_greatest(extremes, row)
        out_scales[row], out_inverses[row], out_zeros[row] = symmetric_numbers(low, high)
        for i in range(out_padding.shape[1]):
            out_padding[row, i] = 0


@kernel(_NUMBERS)
def asymmetric(extremes, out_scales, out_inverses, out_zeros, out_padding, first, last, fault):
    """For bytes round(x[r] / scale) + zero with 256 steps between the extremes of x[r]."""
    for row in range(first, last):
        low, high = least_and_greatest(extremes, row)
        scale, inverse, zero = asymmetric_numbers(low, high)
        out_scales[row], out_inverses[row], out_zeros[row] = scale, inverse, zero
        for i in range(out_padding.shape[1]):
            out_padding[row, i] = zero


@kernel("x:float32[rows,k] inverses:float32[rows] zeros:int32[rows] out:int8[rows,*] low:i parts:i")
def rounded(x, inverses, zeros, out, low, parts, first, last, fault):
    """out[r] = round(x[r] * inverse) + zero, at least `low`; each row has `parts`, the items."""
    count = x.shape[1]
    for item in range(first, last):
        row, _, start, end = part_of(item, parts, count)
        source = address(x) + 4 * (row * count + start)
        target = address(out) + row * out.shape[1] + start
        inverse, zero = inverses[row], int64(zeros[row])
        if low == -128:
            int8_of(source, target, end - start, inverse, zero, -128, 0)
        else:
            int8_of(source, target, end - start, inverse, zero, -127, 0)


@kernel("x:int8[rows,k] zeros:int32[rows] out:int16[rows,k] parts:i")
def subtract_zero_point(x, zeros, out, parts, first, last, fault):
    """out = x - zero of its row; each row is cut in `parts`, which are items."""
    for item in range(first, last):
        row, _, start, end = part_of(item, parts, x.shape[1])
        source, target, zero = x[row, start:end], out[row, start:end], int64(zeros[row])
        for i in range(target.size):
            target[i] = source[i] - zero
