"""The loop of kernels with two operands, the smaller repeated by numpy's rule. Imports numba.

`geometry` has the rows shape, a_strides, b_strides over the fewest dimensions that say it; along
the last one an operand runs with stride 1 or repeats one element (0). `out` lies in one piece, and
an item is an element of it. An operand with as many elements is walked in their order.
"""

from ..faults import DIVISION_BY_ZERO, NEGATIVE_VALUE
from ..kernel import inline, set_fault

PLAIN = "a:T1 b:T1 out~a~b:T1 geometry:int64[2]"
"""The declaration of a kernel around `plain` or `strided`."""
CHECKED = "a:T1 b:T1 out:T1 geometry:int64[2]"
"""That of a kernel around `checked` or `rising`, which look at all of `b` first."""


@inline
def starts(geometry, row):
    """Where row number `row` of the last dimension begins in a and in b."""
    a_start = b_start = 0
    k = geometry.shape[1] - 2
    while k >= 0:
        rest = row // geometry[0, k]
        i = row - rest * geometry[0, k]
        a_start += i * geometry[1, k]
        b_start += i * geometry[2, k]
        row = rest
        k -= 1
    return a_start, b_start


@inline
def clamp(value, low, high):
    """`value` within [low, high]; nan stays nan."""
    value = low if value < low else value
    return high if value > high else value


def plain(formula):
    """The function of a kernel for `out = formula(a, b)`."""

    def run(a, b, out, geometry, first, last, fault):
        k = geometry.shape[1] - 1
        columns, a_step, b_step = geometry[0, k], geometry[1, k], geometry[2, k]
        item = first
        while item < last:
            row = item // columns
            start = item - row * columns
            count = min(columns - start, last - item)
            a_start, b_start = starts(geometry, row)
            p, q = a[a_start + start * a_step :], b[b_start + start * b_step :]
            target = out[item:]
            if a_step == 0:
                value = p[0]
                for c in range(count):
                    target[c] = formula(value, q[c])
            elif b_step == 0:
                value = q[0]
                for c in range(count):
                    target[c] = formula(p[c], value)
            else:
                for c in range(count):
                    target[c] = formula(p[c], q[c])
            item += count

    return _of(formula, run)


def clamped(formula):
    """The function of a kernel for `out = formula(a, b)` within [limits[0], limits[1]]."""

    def run(a, b, out, geometry, limits, first, last, fault):
        kind = out.dtype.type
        low, high = limits[0], limits[1]
        k = geometry.shape[1] - 1
        columns, a_step, b_step = geometry[0, k], geometry[1, k], geometry[2, k]
        item = first
        while item < last:
            row = item // columns
            start = item - row * columns
            count = min(columns - start, last - item)
            a_start, b_start = starts(geometry, row)
            p, q = a[a_start + start * a_step :], b[b_start + start * b_step :]
            target = out[item:]
            if a_step == 0:
                value = p[0]
                for c in range(count):
                    target[c] = clamp(kind(formula(value, q[c])), low, high)
            elif b_step == 0:
                value = q[0]
                for c in range(count):
                    target[c] = clamp(kind(formula(p[c], value)), low, high)
            else:
                for c in range(count):
                    target[c] = clamp(kind(formula(p[c], q[c])), low, high)
            item += count

    return _of(formula, run)


def strided(formula):
    """The function of a kernel for `out = formula(a, b)` where the formula outweighs the loop."""

    def run(a, b, out, geometry, first, last, fault):
        k = geometry.shape[1] - 1
        columns, a_step, b_step = geometry[0, k], geometry[1, k], geometry[2, k]
        item = first
        while item < last:
            row = item // columns
            start = item - row * columns
            count = min(columns - start, last - item)
            a_start, b_start = starts(geometry, row)
            p, q = a_start + start * a_step, b_start + start * b_step
            for c in range(item, item + count):
                out[c] = formula(a[p], b[q])
                p += a_step
                q += b_step
            item += count

    return _of(formula, run)


def checked(formula, loop=strided):
    """Like `strided`, or another loop, of integers which `b` divides."""
    divide = inline(loop(formula))

    def run(a, b, out, geometry, first, last, fault):
        for i in range(b.size):
            if b[i] == 0:
                set_fault(fault, DIVISION_BY_ZERO, i, 0)
                return
        divide(a, b, out, geometry, first, last, fault)

    return _of(formula, run)


def rising(formula):
    """Like `strided`, of a `b` that is not negative."""
    raised = inline(strided(formula))

    def run(a, b, out, geometry, first, last, fault):
        for i in range(b.size):
            if b[i] < 0:
                set_fault(fault, NEGATIVE_VALUE, i, b[i])
                return
        raised(a, b, out, geometry, first, last, fault)

    return _of(formula, run)


def _of(formula, run):
    """`run` as a function of the kernel module that holds `formula`, where `kernel` files it."""
    run.__module__ = formula.__module__
    return run
