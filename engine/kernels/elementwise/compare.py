"""Which of two operands is larger (_broadcast.py), and the choice between two by a condition."""

from ...build.kernel import WIDTHS, inline, kernel
from ._broadcast import SHAPE, plain, row_step, rows_from, start_of

NUMBERS = ("float32", "int16", "int32", "int64")
_C, _X, _Y = range(1, 4)  # the operands of `select`: rows of its geometry


@inline
def equal_of(a, b):
    """a == b"""
    return a == b


@inline
def not_equal_of(a, b):
    """a != b"""
    return a != b


@inline
def less_of(a, b):
    """a < b"""
    return a < b


@inline
def less_equal_of(a, b):
    """a <= b"""
    return a <= b


for _name, _formula, _types in (
    ("equal", equal_of, (*NUMBERS, "uint8")),
    ("not_equal", not_equal_of, (*NUMBERS, "uint8")),
    ("less", less_of, NUMBERS),
    ("less_equal", less_equal_of, NUMBERS),
):
    kernel("a:T1 b:T1 out~a~b:bool[1] geometry:int64[2]", name=_name, T=_types)(plain(_formula))


@kernel("condition:bool[1] x:T1 y:T1 out~condition~x~y:T1 geometry:int64[2]", T=WIDTHS)
def select(condition, x, y, out, geometry, first, last, fault):
    """out = x where condition else y

    `geometry` has the shape and the strides of the three operands; an item is an element of out.
    """
    k = geometry.shape[1] - 1
    columns = geometry[SHAPE, k]
    c_step, x_step, y_step = geometry[_C, k], geometry[_X, k], geometry[_Y, k]
    row = first // columns
    item, column = first, first - row * columns
    n_rows = c_row = x_row = y_row = 0
    while item < last:
        if n_rows == 0:
            n_rows = rows_from(geometry, row)
            c_row, x_row = start_of(geometry, row, _C), start_of(geometry, row, _X)
            y_row = start_of(geometry, row, _Y)
        count = min(columns - column, last - item)
        p, q, r = c_row + column * c_step, x_row + column * x_step, y_row + column * y_step
        if c_step == 0:
            source, start, step = (x, q, x_step) if condition[p] else (y, r, y_step)
            if step == 0:
                value = source[start]
                for c in range(count):
                    out[item + c] = value
            else:
                for c in range(count):
                    out[item + c] = source[start + c]
        elif x_step == 0 and y_step == 0:
            x_value, y_value = x[q], y[r]
            for c in range(count):
                out[item + c] = x_value if condition[p + c] else y_value
        elif x_step == 0:
            x_value = x[q]
            for c in range(count):
                y_value = y[r + c]
                out[item + c] = x_value if condition[p + c] else y_value
        elif y_step == 0:
            y_value = y[r]
            for c in range(count):
                x_value = x[q + c]
                out[item + c] = x_value if condition[p + c] else y_value
        else:
            for c in range(count):
                x_value, y_value = x[q + c], y[r + c]
                out[item + c] = x_value if condition[p + c] else y_value
        item, row, column, n_rows = item + count, row + 1, 0, n_rows - 1
        c_row, x_row = c_row + row_step(geometry, _C), x_row + row_step(geometry, _X)
        y_row += row_step(geometry, _Y)
