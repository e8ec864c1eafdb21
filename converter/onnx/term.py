"""Arithmetic that is done now where the numbers are known, and by operators where they are not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..lowering.moves import dimension

if TYPE_CHECKING:
    from ..ir.builder import Builder
    from ..ir.graph import Tensor

Number = Any
"""A number or array, or a Term: what the functions here take and give."""


class Term:
    """A float32 tensor with Python's operators, each of which becomes one of TFLite's."""

    __array_ufunc__ = None  # numpy's arrays leave arithmetic with it to this class

    def __init__(self, b: Builder, tensor: Tensor) -> None:
        self.b, self.tensor = b, tensor

    def op(self, kind: str, *operands: Number) -> Term:
        """The result of an operator of this and others."""
        tensors = [operand_of(self.b, x) for x in operands]
        return Term(self.b, getattr(self.b, kind)(*tensors))

    def __add__(self, other: Number) -> Term:
        return self.op("ADD", self, other)

    __radd__ = __add__

    def __mul__(self, other: Number) -> Term:
        return self.op("MUL", self, other)

    __rmul__ = __mul__

    def __sub__(self, other: Number) -> Term:
        return self.op("SUB", self, other)

    def __rsub__(self, other: Number) -> Term:
        return self.op("SUB", other, self)

    def __truediv__(self, other: Number) -> Term:
        return self.op("DIV", self, other)

    def __rtruediv__(self, other: Number) -> Term:
        return self.op("DIV", other, self)

    def __neg__(self) -> Term:
        return self.op("NEG", self)

    def __abs__(self) -> Term:
        return self.op("ABS", self)


def operand_of(b: Builder, x: Number) -> Any:
    """The tensor that a number stands for: floats become float32."""
    if isinstance(x, Term):
        return x.tensor
    array = np.asarray(x)
    return b.constant(array.astype(np.float32) if array.dtype.kind in "fi" else array)


def length_of(b: Builder, x: Tensor, axis: int) -> Number:
    """The size of an axis: a float, or a term where it is unknown."""
    size = x.dims[axis]
    if size is not None:
        return float(size)
    return Term(b, b.CAST(dimension(x, axis, b), dtype=np.float32))


def _applied(name: str, kind: str, *operands: Number) -> Number:
    term = next((x for x in operands if isinstance(x, Term)), None)
    return getattr(np, name)(*operands) if term is None else term.op(kind, *operands)


def floor(x: Number) -> Number:
    """The largest whole number that is not above."""
    return _applied("floor", "FLOOR", x)


def sqrt(x: Number) -> Number:
    """The square root."""
    return _applied("sqrt", "SQRT", x)


def maximum(x: Number, y: Number) -> Number:
    """The larger of two."""
    return _applied("maximum", "MAXIMUM", x, y)


def minimum(x: Number, y: Number) -> Number:
    """The smaller of two."""
    return _applied("minimum", "MINIMUM", x, y)


def less(x: Number, y: Number) -> Number:
    """Whether the first is smaller."""
    return _applied("less", "LESS", x, y)


def greater(x: Number, y: Number) -> Number:
    """Whether the first is larger."""
    return _applied("greater", "GREATER", x, y)


def equal(x: Number, y: Number) -> Number:
    """Whether two are the same."""
    return _applied("equal", "EQUAL", x, y)


def greater_equal(x: Number, y: Number) -> Number:
    """Whether the first is not smaller."""
    return _applied("greater_equal", "GREATER_EQUAL", x, y)


def either(x: Number, y: Number) -> Number:
    """Whether one of two holds."""
    return _applied("logical_or", "LOGICAL_OR", x, y)


def where(condition: Number, x: Number, y: Number) -> Number:
    """The first where a condition holds, else the second."""
    return _applied("where", "SELECT_V2", condition, x, y)


def ceil(x: Number) -> Number:
    """The smallest whole number that is not below."""
    return -floor(-x)


def clip(x: Number, low: Number, high: Number) -> Number:
    """The nearest number in a range."""
    return minimum(maximum(x, low), high)


def both(x: Number, y: Number) -> Number:
    """Whether two hold."""
    return _applied("logical_and", "LOGICAL_AND", x, y)
