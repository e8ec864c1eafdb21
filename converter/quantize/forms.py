"""Operators without an integer kernel, written as others that have one and give the same numbers.

    x -> NEG -> y                   becomes      x, -1 -> MUL -> y
    x, 2 -> POW -> y                becomes      x, x -> MUL -> y
    x, 0.5 -> POW -> y              becomes      x -> SQRT -> y

The tensors stay, and with them their ranges.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...schema.flatbuffer import options_class
from ..ir.graph import Graph, Op, Tensor
from ..passes.rewrite import scalar_of
from .rules import is_float32, rules_of
from .scheme import Scheme

Form = tuple[str, list[Tensor]]


def negated(op: Op) -> Form | None:
    """MUL by -1, which is exact: each step of x is one of the constant's."""
    minus_one = np.full((), -1, np.float32)
    return "MUL", [op.inputs[0], Tensor("minus_one", minus_one.dtype, (), minus_one)]


def squared(op: Op) -> Form | None:
    """MUL with itself."""
    return "MUL", [op.inputs[0], op.inputs[0]]


def power(op: Op) -> Form | None:
    """MUL, SQRT or RSQRT for the exponents that these are."""
    exponent = scalar_of(op.inputs[1])
    if exponent == 2:
        return squared(op)
    kinds = {0.5: "SQRT", -0.5: "RSQRT"}
    return (kinds[exponent], [op.inputs[0]]) if exponent in kinds else None


FORMS: dict[str, Callable[[Op], Form | None]] = {
    "NEG": negated,
    "POW": power,
    "SQUARE": squared,
}


def use_integer_forms(graph: Graph, schemes_of: Callable[[Op], list[Scheme]]) -> None:
    """Writes the operators of `graph` in their other form, where a scheme has a kernel for that.

    Args:
        graph: a float graph.
        schemes_of: the schemes in which an operator may work on integers.
    """
    for op in list(graph.ops):
        form = FORMS[op.kind](op) if op.kind in FORMS and is_float32(op.output) else None
        if form is None or not any(form[0] in rules_of(s.code) for s in schemes_of(op)):
            continue
        options = options_class(form[0])
        record = None if options is None else options()
        graph.insert_after(op, Op(*form, op.outputs, record, origin=op.origin))
        graph.remove(op)
