"""One dimension folded into one value: `x` is [outer, n, inner], `out` is [outer, inner].

An item is one index of `outer`.
"""

from numba import float32, float64, int8, int16, int32, int64, uint8

from ..kernel import address, inline, kernel
from ._sums import sum_of


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


@kernel("x:float32[rows,n] out:float32[rows] count:f")
def row_sum(x, out, count, first, last, fault):
    """out[r] = sum of x[r, i] over i, divided by `count`"""
    for r in range(first, last):
        out[r] = float32(sum_of(address(x[r]), x.shape[1]) / count)


def wide_fold(function):
    """The fold of float32 from `initial` on, in float64 and divided by `count`."""

    def reduce(x, initial, out, scratch, count, first, last, fault):
        for o in range(first, last):
            target, wide = out[o], scratch[o]
            for j in range(target.size):
                wide[j] = float64(initial[0])
            for r in range(x.shape[1]):
                row = x[o, r]
                for j in range(target.size):
                    wide[j] = function(wide[j], float64(row[j]))
            for j in range(target.size):
                target[j] = float32(wide[j] / count)

    return reduce


_FOLD = "x:T[outer,n,inner] initial:T[1] out:T[outer,inner] from_first:i"
kernel(_FOLD, name="add", T=(int32, int64))(fold(add))
kernel(_FOLD, name="multiply", T=(int32, int64))(fold(multiply))
_ORDERED = (float32, int8, int16, int32, int64, uint8)
kernel(_FOLD, name="maximum", T=_ORDERED)(fold(larger))
kernel(_FOLD, name="minimum", T=_ORDERED)(fold(smaller))

_WIDE = (
    "x:float32[outer,n,inner] initial:float32[1] out:float32[outer,inner] "
    "scratch:float64[outer,inner] count:f"
)
kernel(_WIDE, name="add_float")(wide_fold(add))
kernel(_WIDE, name="multiply_float")(wide_fold(multiply))


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
        size = abs(x[i]) // count
        out[i] = -size if x[i] < 0 else size


_KINDS = (float32, int32, int8, uint8)


@kernel("x:T[outer,n,inner] out:I[outer,inner] smallest:i", T=_KINDS, I=(int32, int64))
def position(x, out, smallest, first, last, fault):
    """out[o, j] = the first r where x[o, r, j] is largest, or smallest; nan is passed over"""
    for o in range(first, last):
        for j in range(x.shape[2]):
            best, found = x[o, 0, j], 0
            for r in range(1, x.shape[1]):
                value = x[o, r, j]
                better = value < best if smallest else value > best
                if better or (best != best and value == value):
                    best, found = value, r
            out[o, j] = found


def running(wide):
    """The kernel out[o, r, j] = sum of x[o, s, j] over s <= r, summed as `wide`.

    `exclusive` means s < r; `reverse` counts r from the end.
    """

    def cumulate(x, out, exclusive, reverse, first, last, fault):
        n = x.shape[1]
        for o in range(first, last):
            for j in range(x.shape[2]):
                sum_so_far = wide(0)
                for i in range(n):
                    r = n - 1 - i if reverse else i
                    after = sum_so_far + wide(x[o, r, j])
                    out[o, r, j] = sum_so_far if exclusive else after
                    sum_so_far = after

    return cumulate


_RUNNING = "x:T[outer,n,inner] out:T[outer,n,inner] exclusive:i reverse:i"
kernel(_RUNNING, name="cumulate_float", T=(float32,))(running(float64))
kernel(_RUNNING, name="cumulate", T=(int32, int64))(running(int64))
