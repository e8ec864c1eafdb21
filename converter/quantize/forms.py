"""Operators without an integer kernel, written as others that have one and give the same numbers.

    x -> NEG -> y                   becomes      x, -1 -> MUL -> y
    x, 2 -> POW -> y                becomes      x, x -> MUL -> y
    x, 0.5 -> POW -> y              becomes      x -> SQRT -> y
    x, 2.2 -> POW -> y              becomes      x -> LOG -> MUL(2.2) -> EXP -> y

The tensors stay, and with them their ranges, which tell those of what is new between them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import log

import numpy as np

from ...schema.flatbuffer import options_class
from ..ir.graph import Graph, Op, Tensor
from ..passes.rewrite import builder, hand_over, scalar_of
from .needs import Range
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


LOGARITHM = ("LOG", "MUL", "EXP")
CUBE = 3


def use_integer_forms(
    graph: Graph, schemes_of: Callable[[Op], list[Scheme]], ranges: Mapping[Tensor, Range]
) -> dict[Tensor, Range]:
    """Writes the operators of `graph` in their other form, where a scheme has a kernel for that.

    Args:
        graph: a float graph.
        schemes_of: the schemes in which an operator may work on integers.
        ranges: the ranges of its tensors.

    Returns:
        The ranges of new tensors.
    """
    added: dict[Tensor, Range] = {}
    for op in list(graph.ops):
        form = FORMS[op.kind](op) if op.kind in FORMS and is_float32(op.output) else None
        schemes = schemes_of(op)
        codes = [scheme.code for scheme in schemes]
        if form is None and op.kind == "POW" and all_have(codes, LOGARITHM):
            added |= write_power(graph, op, ranges, schemes[0].integers.high)
        if form is None or not any(form[0] in rules_of(code) for code in codes):
            continue
        options = options_class(form[0])
        record = None if options is None else options()
        graph.insert_after(op, Op(*form, op.outputs, record, origin=op.origin))
        graph.remove(op)
    return added


def all_have(codes: list[str], kinds: tuple[str, ...]) -> bool:
    """Whether there are schemes, and the first has kernels of all these operators."""
    return bool(codes) and all(kind in rules_of(codes[0]) for kind in kinds)


def write_power(
    graph: Graph, op: Op, ranges: Mapping[Tensor, Range], n_steps: int
) -> dict[Tensor, Range]:
    """Writes a power of numbers that are not negative; the ranges of new tensors.

    exp(p * log(x)), and x * x * x for the third power, which numbers below 0 have, too. The kernel
    of LOG gives its smallest number for 0; that is one whose power rounds to 0 in steps of which
    the largest power has at least `n_steps`.
    """
    x, exponent = op.inputs[0], scalar_of(op.inputs[1])
    if exponent is None or not exponent or x not in ranges or not is_float32(op.output):
        return {}
    low, high = ranges[x]
    b = builder(graph, op)
    if exponent == CUBE:
        square = b.MUL(x, x)
        result = b.MUL(square, x)
        squares = low * low, high * high
        added = {square: (0.0 if low <= 0 <= high else min(squares), max(squares))}
    elif high <= 0 or low < 0 or (low == 0 and exponent < 0):
        return {}
    else:
        least = log(low) if low > 0 else log(high) - log(4 * n_steps) / exponent
        logarithm = b.LOG(x)
        power = b.MUL(logarithm, np.float32(exponent))
        result = b.EXP(power)
        ends = sorted((exponent * least, exponent * log(high)))
        added = {logarithm: (least, log(high)), power: (ends[0], ends[1])}
    hand_over(result, op.output)
    graph.remove(op)
    return added
