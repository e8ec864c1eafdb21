"""One dimension folded into one value: `x` is [outer, n, inner], `out` is [outer, inner].

An item is one index of `outer`.
"""

from numba import float32, float64, int8, int16, int32, int64, uint8

from ...build.kernel import inline, kernel


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
_CHAINS = 4  # sums along rows at a time
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


def running(accumulator):
    """The kernel out[o, r, j] = sum of x[o, s, j] over s <= r, summed in `scratch`.

    `exclusive` means s < r; `reverse` counts r from the end.
    """

    def cumulate(x, out, scratch, exclusive, reverse, first, last, fault):
        n = x.shape[1]
        while x.shape[2] == 1 and last - first >= _CHAINS:
            _along_rows(x[first:], out[first:], accumulator(0), exclusive, reverse)
            first += _CHAINS
        for o in range(first, last):
            if x.shape[2] == 1:
                _along(x[o], out[o], accumulator(0), exclusive, reverse)
                continue
            totals = scratch[o]
            for j in range(totals.size):
                totals[j] = accumulator(0)
            for i in range(n):
                r = n - 1 - i if reverse else i
                row, target = x[o, r], out[o, r]
                if exclusive:
                    for j in range(totals.size):
                        target[j] = totals[j]
                        totals[j] += accumulator(row[j])
                else:
                    for j in range(totals.size):
                        totals[j] += accumulator(row[j])
                        target[j] = totals[j]

    return cumulate


@inline
def _along(x, out, running_sum, exclusive, reverse):
    """The same of one column."""
    n = x.shape[0]
    for i in range(n):
        r = n - 1 - i if reverse else i
        after = running_sum + x[r, 0]
        out[r, 0] = running_sum if exclusive else after
        running_sum = after


@inline
def _along_rows(x, out, zero, exclusive, reverse):
    """The same of _CHAINS columns at once: none waits for the sum of another."""
    n, a, b, c, d = x.shape[1], zero, zero, zero, zero
    for i in range(n):
        r = n - 1 - i if reverse else i
        after_a, after_b = a + x[0, r, 0], b + x[1, r, 0]
        after_c, after_d = c + x[2, r, 0], d + x[3, r, 0]
        out[0, r, 0], out[1, r, 0] = (a, b) if exclusive else (after_a, after_b)
        out[2, r, 0], out[3, r, 0] = (c, d) if exclusive else (after_c, after_d)
        a, b, c, d = after_a, after_b, after_c, after_d


_RUNNING = "x:T[outer,n,inner] out:T[outer,n,inner] scratch:{}[outer,inner] exclusive:i reverse:i"
kernel(_RUNNING.format("float64"), name="cumulate_float", T=(float32,))(running(float64))
kernel(_RUNNING.format("int64"), name="cumulate", T=(int32, int64))(running(int64))
