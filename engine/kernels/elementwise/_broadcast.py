"""The loop of kernels with two operands, the smaller repeated by numpy's rule. Imports numba.

`geometry` has the rows shape, a_strides, b_strides over the fewest dimensions that say it; along
the last one an operand runs with stride 1 or repeats one element (0). `out` is contiguous, and
an item is an element of it. An operand with as many elements is walked in their order.
"""

from ...build.kernel import inline, set_fault
from ...run.faults import DIVISION_BY_ZERO, NEGATIVE_VALUE

SHAPE, A, B = range(3)
"""The rows of a geometry; A and B are the operands, too."""
PLAIN = "a:T1 b:T1 out~a~b:T1 geometry:int64[2]"
"""The declaration of a kernel around `plain` or `strided`."""
CHECKED = "a:T1 b:T1 out:T1 geometry:int64[2]"
"""That of a kernel around `checked` or `nonnegative`, which look at their part of `b` first."""


@inline
def row_step(geometry, operand):
    """How far an operand moves from one row of the last dimension to the next."""
    k = geometry.shape[1] - 2
    return geometry[operand, k] if k >= 0 else 0


@inline
def rows_from(geometry, row):
    """How many rows from number `row` on are `row_step` apart."""
    k = geometry.shape[1] - 2
    return geometry[SHAPE, k] - row % geometry[SHAPE, k] if k >= 0 else 1


@inline
def start_of(geometry, row, operand):
    """Where row number `row` begins in an operand."""
    start, k = 0, geometry.shape[1] - 2
    while k >= 0:
        outer_row = row // geometry[SHAPE, k]
        start += (row - outer_row * geometry[SHAPE, k]) * geometry[operand, k]
        row = outer_row
        k -= 1
    return start


@inline
def clamp(value, low, high):
    """`value` within [low, high]; nan stays nan."""
    value = low if value < low else value
    return high if value > high else value


def walking(line):
    """The loop over rows: calls line(a, b, out, p, q, item, count, a_step, b_step, numbers).

    It does `count` elements from a[p], b[q] and out[item] on; `numbers` are what the loop is given.
    """
    line = inline(line)

    def walk(a, b, out, geometry, numbers, first, last):
        k = geometry.shape[1] - 1
        columns, a_step, b_step = geometry[SHAPE, k], geometry[A, k], geometry[B, k]
        a_row, b_row = row_step(geometry, A), row_step(geometry, B)
        row = first // columns
        item, column = first, first - row * columns
        n_rows = p = q = 0
        while item < last:
            if n_rows == 0:  # divisions take longer than short rows
                n_rows = rows_from(geometry, row)
                p, q = start_of(geometry, row, A), start_of(geometry, row, B)
            count = min(columns - column, last - item)
            n = min((last - item) // columns, n_rows) if count == columns and n_rows > 1 else 1
            x, y = p + column * a_step, q + column * b_step
            for _ in range(n):
                line(a, b, out, x, y, item, count, a_step, b_step, numbers)
                item, x, y = item + count, x + a_row, y + b_row
            row, column, n_rows = row + n, 0, n_rows - n
            p, q = p + n * a_row, q + n * b_row

    return inline(walk)


def plain(formula):
    """The function of a kernel for `out = formula(a, b)`."""

    def line(a, b, out, p, q, item, count, a_step, b_step, numbers):
        if a_step == 0:
            value = a[p]
            for c in range(count):
                out[item + c] = formula(value, b[q + c])
        elif b_step == 0:
            value = b[q]
            for c in range(count):
                out[item + c] = formula(a[p + c], value)
        else:
            for c in range(count):
                out[item + c] = formula(a[p + c], b[q + c])

    walk = walking(line)

    def run(a, b, out, geometry, first, last, fault):
        walk(a, b, out, geometry, 0, first, last)

    return of_module(formula, run)


def clamped(formula):
    """The function of a kernel for `out = formula(a, b)` within the two limits."""

    def line(a, b, out, p, q, item, count, a_step, b_step, limits):
        kind, (low, high) = out.dtype.type, limits
        if a_step == 0:
            value = a[p]
            for c in range(count):
                out[item + c] = clamp(kind(formula(value, b[q + c])), low, high)
        elif b_step == 0:
            value = b[q]
            for c in range(count):
                out[item + c] = clamp(kind(formula(a[p + c], value)), low, high)
        else:
            for c in range(count):
                out[item + c] = clamp(kind(formula(a[p + c], b[q + c])), low, high)

    walk = walking(line)

    def run(a, b, out, geometry, limits, first, last, fault):
        walk(a, b, out, geometry, (limits[0], limits[1]), first, last)

    return of_module(formula, run)


def strided(formula):
    """The function of a kernel for `out = formula(a, b)` where the formula outweighs the loop."""

    def line(a, b, out, p, q, item, count, a_step, b_step, numbers):
        for c in range(count):
            out[item + c] = formula(a[p + c * a_step], b[q + c * b_step])

    walk = walking(line)

    def run(a, b, out, geometry, first, last, fault):
        walk(a, b, out, geometry, 0, first, last)

    return of_module(formula, run)


def refusing(is_refused, code):
    """`checked` for what `is_refused` holds of, reported by `code` with its position."""
    is_refused = inline(is_refused)

    def check(b, geometry, first, last, fault):
        begin, end = 0, b.size
        if geometry.shape[1] == 1 and geometry[B, 0] == 1:  # other items look at the others
            begin, end = first, last
        n_refused = 0
        for i in range(begin, end):  # vectors, as there is no way out
            n_refused += 1 if is_refused(b[i]) else 0
        if n_refused == 0:
            return True
        for i in range(begin, end):  # without an end LLVM would call strlen
            if is_refused(b[i]):
                set_fault(fault, code, i, b[i])
                break
        return False

    check = inline(check)

    def around(formula, loop=strided):
        compute = inline(loop(formula))

        def run(a, b, out, geometry, first, last, fault):
            if check(b, geometry, first, last, fault):
                compute(a, b, out, geometry, first, last, fault)

        return of_module(formula, run)

    return around


def _is_zero(value):
    return value == 0


def _is_negative(value):
    return value < 0


checked = refusing(_is_zero, DIVISION_BY_ZERO)
"""Like `strided`, or another loop, of integers which `b` divides."""
nonnegative = refusing(_is_negative, NEGATIVE_VALUE)
"""Like `strided`, of a `b` that is not negative."""


def of_module(formula, run):
    """`run` as a function of the kernel module that holds `formula`, where `kernel` files it."""
    run.__module__ = formula.__module__
    return run
