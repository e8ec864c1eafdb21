"""Which of two operands is larger (_pairs.py), and the choice between two by a condition."""

from ..kernel import WIDTHS, inline, kernel
from ._pairs import plain

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
    item = first
    while item < last:
        row = item // columns
        start = item - row * columns
        count = min(columns - start, last - item)
        c_at, x_at, y_at = start * c_step, start * x_step, start * y_step
        j = k - 1
        while j >= 0:
            rest = row // geometry[0, j]
            i = row - rest * geometry[0, j]
            c_at += i * geometry[1, j]
            x_at += i * geometry[2, j]
            y_at += i * geometry[3, j]
            row = rest
            j -= 1
        for c in range(item, item + count):
            out[c] = x[x_at] if condition[c_at] else y[y_at]
            c_at += c_step
            x_at += x_step
            y_at += y_step
        item += count
