"""One dimension of float32 folded into one value, in vectors; reduce.py has integers and the rest.

`x` is [outer, n, inner] and `out` [outer, inner], or [rows, n] and [rows]. An item is one index of
the first dimension. With `from_first` there is no `initial` unless n is 0.
"""

import numpy as np
from numba import float32, float64, int32, int64

from ...build.kernel import address, inline, kernel
from ._running import RUNNING, running
from ._running_rows import running_rows
from ._sums import (
    SEARCHED,
    average_columns,
    average_rows,
    first_equal,
    largest_columns,
    largest_of,
    product_of,
    smallest_columns,
    smallest_of,
    width,
)


def row_fold(vectors):
    """The kernel out[r] = the fold of initial, x[r, 0] ... x[r, n - 1], by a microkernel."""

    def reduce(x, initial, out, from_first, first, last, fault):
        n = x.shape[1]
        for r in range(first, last):
            start = x[r, 0] if from_first and n else initial[0]
            out[r] = vectors(address(x[r]), n, start)

    return reduce


@kernel("x:float32[rows,n] out:float32[rows] count:f")
def row_sum(x, out, count, first, last, fault):
    """out[r] = sum of x[r, i] over i, divided by `count`"""
    average_rows(address(x[first:]), address(out[first:]), x.shape[1], last - first, count)


@kernel("x:float32[rows,n] out:float32[rows]")
def row_product(x, out, first, last, fault):
    """out[r] = product of x[r, i] over i"""
    for r in range(first, last):
        out[r] = float32(product_of(address(x[r]), x.shape[1], 1.0))


@kernel("x:float32[outer,n,inner] out:float32[outer,inner] count:f")
def add(x, out, count, first, last, fault):
    """out[o, j] = sum of x[o, r, j] over r, divided by `count`"""
    for o in range(first, last):
        average_columns(address(x[o]), address(out[o]), x.shape[1], x.shape[2], count)


def fold(columns):
    """The kernel out[o, j] = the fold of initial, x[o, 0, j] ... x[o, n - 1, j]."""

    def reduce(x, initial, out, from_first, first, last, fault):
        n, inner = x.shape[1], x.shape[2]
        for o in range(first, last):
            target = out[o]
            r = 1 if from_first and n else 0
            for j in range(inner):
                target[j] = x[o, 0, j] if r else initial[0]
            columns(address(x[o]) + 4 * r * inner, address(target), n - r, inner)

    return reduce


@kernel("x:float32[outer,n,inner] out:float32[outer,inner] scratch:float64[outer,inner]")
def multiply(x, out, scratch, first, last, fault):
    """out[o, j] = product of x[o, r, j] over r"""
    for o in range(first, last):
        target, sums = out[o], scratch[o]
        for j in range(target.size):
            sums[j] = 1.0
        for r in range(x.shape[1]):
            row = x[o, r]
            for j in range(target.size):
                sums[j] *= float64(row[j])
        for j in range(target.size):
            target[j] = float32(sums[j])


@kernel("x:float32[rows,n] out:I[rows] smallest:i", I=(int32, int64))
def row_position(x, out, smallest, first, last, fault):
    """out[r] = the first i where x[r, i] is largest, or smallest; nan is passed over"""
    n, lowest = x.shape[1], float32(-np.inf)
    for r in range(first, last):
        start, best_index = address(x[r]), 0
        top = smallest_of(start, n, -lowest) if smallest else largest_of(start, n, lowest)
        while best_index < n:
            offset = first_equal(start + 4 * best_index, n - best_index, top)
            best_index += offset
            if offset < SEARCHED:
                break
        out[r] = best_index if best_index < n else 0


_FOLD = "x:float32[outer,n,inner] initial:float32[1] out:float32[outer,inner] from_first:i"
_ROWS = "x:float32[rows,n] initial:float32[1] out:float32[rows] from_first:i"
for _name, _row, _columns in (
    ("maximum", largest_of, largest_columns),
    ("minimum", smallest_of, smallest_columns),
):
    kernel(_FOLD, name=_name)(fold(_columns))
    kernel(_ROWS, name=f"row_{_name}")(row_fold(_row))

_cumulate = inline(running(float64))


@kernel(RUNNING.format("float64"), T=(float32,))
def cumulate(x, out, scratch, exclusive, reverse, first, last, fault):
    """What `running` is; many rows are summed side by side."""
    if x.shape[2] == 1 and not reverse:
        count = (last - first) // width() * width()
        running_rows(address(x[first:]), address(out[first:]), x.shape[1], count, exclusive)
        first += count
    _cumulate(x, out, scratch, exclusive, reverse, first, last, fault)
