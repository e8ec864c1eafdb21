"""One dimension folded into one value: `x` is [outer, n, inner], `out` is [outer, inner].

An item is one index of `outer`.
"""

from numba import float32, int8, int16, int32, int64, uint8

from ...build.kernel import inline, kernel
from ._running import RUNNING, running


@inline
def add(a, b):
    """a + b"""
    return a + b


@inline
def multiply(a, b):
    """a * b"""
    return a * b


@inline
def larger(a, b):
    """The larger; `a` when `b` is nan."""
    return b if b > a else a


@inline
def smaller(a, b):
    """The smaller; `a` when `b` is nan."""
    return b if b < a else a


def fold(function):
    """The kernel out[o, j] = function(... function(initial, x[o, 0, j]) ..., x[o, n - 1, j]).

    With `from_first` there is no `initial` unless n is 0.
    """

    def reduce(x, initial, out, from_first, first, last, fault):
        begin = 1 if from_first and x.shape[1] else 0
        for o in range(first, last):
            target = out[o]
            for j in range(target.size):
                target[j] = x[o, 0, j] if begin else initial[0]
            for r in range(begin, x.shape[1]):
                row = x[o, r]
                for j in range(target.size):
                    target[j] = function(target[j], row[j])

    return reduce


def row_fold(function):
    """The kernel out[r] = function(... function(initial, x[r, 0]) ..., x[r, n - 1]) of integers."""

    def reduce(x, initial, out, from_first, first, last, fault):
        kind = out.dtype.type
        for r in range(first, last):
            row = x[r]
            begin = 1 if from_first and row.size else 0
            total = row[0] if begin else initial[0]
            for i in range(begin, row.size):
                total = kind(function(total, row[i]))
            out[r] = total

    return reduce


_FOLD = "x:T[outer,n,inner] initial:T[1] out:T[outer,inner] from_first:i"
_ROWS = "x:T[rows,n] initial:T[1] out:T[rows] from_first:i"
_INTEGERS = (int8, int16, int32, int64, uint8)
for _name, _function, _types in (
    ("add", add, (int32, int64)),
    ("multiply", multiply, (int32, int64)),
    ("maximum", larger, _INTEGERS),
    ("minimum", smaller, _INTEGERS),
):
    kernel(_FOLD, name=_name, T=_types)(fold(_function))
    kernel(_ROWS, name=f"row_{_name}", T=_types)(row_fold(_function))


@kernel("x:T[outer,n,inner] out:int64[outer,inner]", T=(int32, int64))
def total(x, out, first, last, fault):
    """out[o, j] = sum of x[o, r, j] over r"""
    for o in range(first, last):
        target = out[o]
        for j in range(target.size):
            target[j] = 0
        for r in range(x.shape[1]):
            row = x[o, r]
            for j in range(target.size):
                target[j] += row[j]


@kernel("x:int64[n] out:T[n] count:i", T=(int32, int64))
def quotient(x, out, count, first, last, fault):
    """out = x / count rounded towards zero; 0 when count is 0"""
    for i in range(first, last):
        magnitude = abs(x[i]) // count
        out[i] = -magnitude if x[i] < 0 else magnitude


_BLOCK = 64  # elements compared at a time
_KINDS = (float32, int32, int8, uint8)


@kernel("x:T[outer,n,inner] out:I[outer,inner] smallest:i", T=_KINDS, I=(int32, int64))
def position(x, out, smallest, first, last, fault):
    """out[o, j] = the first r where x[o, r, j] is largest, or smallest; nan is passed over"""
    for o in range(first, last):
        for j in range(x.shape[2]):
            best, best_index = x[o, 0, j], 0
            for r in range(1, x.shape[1]):
                value = x[o, r, j]
                better = value < best if smallest else value > best
                if better or (best != best and value == value):
                    best, best_index = value, r
            out[o, j] = best_index


@kernel("x:T[rows,n] out:I[rows] smallest:i", T=(int32, int8, uint8), I=(int32, int64))
def row_position(x, out, smallest, first, last, fault):
    """out[r] = the first i where x[r, i] is largest, or smallest"""
    kind = x.dtype.type
    for r in range(first, last):
        row = x[r]
        best, best_index, n = row[0], 0, row.size
        if smallest:
            for i in range(n):
                best = kind(smaller(best, row[i]))
        else:
            for i in range(n):
                best = kind(larger(best, row[i]))
        while best_index + _BLOCK <= n:
            in_block = False
            for i in range(best_index, best_index + _BLOCK):
                in_block |= row[i] == best
            if in_block:
                break
            best_index += _BLOCK
        while row[best_index] != best:
            best_index += 1
        out[r] = best_index


_cumulate = inline(running(int64))


@kernel(RUNNING.format("int64"), T=(int32, int64))
def cumulate(x, out, scratch, exclusive, reverse, first, last, fault):
    """What `running` is."""
    _cumulate(x, out, scratch, exclusive, reverse, first, last, fault)
