"""Which of two operands is larger (_broadcast.py), and the choice between two by a condition."""

from ...build.kernel import WIDTHS, inline, kernel
from ._broadcast import plain, row_step, rows_from, start_of

NUMBERS = ("float32", "int16", "int32", "int64")


@inline
def equal_of(a, b):
    """a == b"""
    return a == b


@inline
def differ_of(a, b):
    """a != b"""
    return a != b


@inline
def less_of(a, b):
    """a < b"""
    return a < b


@inline
def at_most_of(a, b):
    """a <= b"""
    return a <= b


for _name, _formula, _types in (
    ("equal", equal_of, (*NUMBERS, "uint8")),
    ("differ", differ_of, (*NUMBERS, "uint8")),
    ("less", less_of, NUMBERS),
    ("at_most", at_most_of, NUMBERS),
):
    kernel("a:T1 b:T1 out~a~b:bool[1] geometry:int64[2]", name=_name, T=_types)(plain(_formula))


@kernel("condition:bool[1] x:T1 y:T1 out~condition~x~y:T1 geometry:int64[2]", T=WIDTHS)
def choose(condition, x, y, out, geometry, first, last, fault):
    """out = x where condition else y

    `geometry` has the rows shape and the strides of condition, x and y; an item is an element of
    out.
    """
    k = geometry.shape[1] - 1
    columns = geometry[0, k]
    c_step, x_step, y_step = geometry[1, k], geometry[2, k], geometry[3, k]
    row = first // columns
    item, column = first, first - row * columns
    left = c_row = x_row = y_row = 0
    while item < last:
        if left == 0:
            left = rows_from(geometry, row)
            c_row, x_row = start_of(geometry, row, 1), start_of(geometry, row, 2)
            y_row = start_of(geometry, row, 3)
        count = min(columns - column, last - item)
        p, q, r = c_row + column * c_step, x_row + column * x_step, y_row + column * y_step
        if c_step == 0:
            source, place, step = (x, q, x_step) if condition[p] else (y, r, y_step)
            if step == 0:
                value = source[place]
                for c in range(count):
                    out[item + c] = value
            else:
                for c in range(count):
                    out[item + c] = source[place + c]
        elif x_step == 0 and y_step == 0:
            one, other = x[q], y[r]
            for c in range(count):
                out[item + c] = one if condition[p + c] else other
        elif x_step == 0:
            one = x[q]
            for c in range(count):
                other = y[r + c]
                out[item + c] = one if condition[p + c] else other
        elif y_step == 0:
            other = y[r]
            for c in range(count):
                one = x[q + c]
                out[item + c] = one if condition[p + c] else other
        else:
            for c in range(count):
                one, other = x[q + c], y[r + c]
                out[item + c] = one if condition[p + c] else other
        item, row, column, left = item + count, row + 1, 0, left - 1
        c_row, x_row = c_row + row_step(geometry, 1), x_row + row_step(geometry, 2)
        y_row += row_step(geometry, 3)
