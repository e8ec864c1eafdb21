"""ADD, SUB, MUL, DIV of floats, extrema and squared differences of two operands (_broadcast.py)."""

from ...build.kernel import inline, kernel
from ._broadcast import PLAIN, clamped, plain

NUMBERS = ("float32", "int32", "int64")
SMALL = ("int8", "uint8", "int16")


@inline
def add_of(a, b):
    """a + b"""
    return a + b


@inline
def subtract_of(a, b):
    """a - b"""
    return a - b


@inline
def multiply_of(a, b):
    """a * b"""
    return a * b


@inline
def divide_of(a, b):
    """a / b"""
    return a / b


@inline
def maximum_of(a, b):
    """a if a > b else b"""
    return a if a > b else b


@inline
def minimum_of(a, b):
    """a if a < b else b"""
    return a if a < b else b


@inline
def squared_difference_of(a, b):
    """(a - b) * (a - b)"""
    return (a - b) * (a - b)


for _name, _formula, _types in (
    ("add", add_of, NUMBERS),
    ("subtract", subtract_of, NUMBERS),
    ("multiply", multiply_of, NUMBERS),
    ("divide", divide_of, ("float32",)),
):
    kernel(PLAIN + " limits:T1", name=_name, T=_types)(clamped(_formula))

for _name, _formula, _types in (
    ("maximum", maximum_of, NUMBERS + SMALL),
    ("minimum", minimum_of, NUMBERS + SMALL),
    ("squared_difference", squared_difference_of, ("float32", "int32")),
):
    kernel(PLAIN, name=_name, T=_types)(plain(_formula))
