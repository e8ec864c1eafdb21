"""Between which numbers the integers in a tensor lie, whatever the inputs are."""

from __future__ import annotations

import operator
from collections.abc import Callable
from math import inf, isinf

import numpy as np

from .graph import Tensor
from .pseudo import having

Limits = tuple[float, float]
"""The least and the largest number that may stand in a tensor."""
MAX_DEPTH = 32  # operators that are looked through
_SIZE = (0, 2**31 - 1)


def limits_of(x: Tensor) -> Limits:
    """The limits of integers: of a constant, of sizes and positions, and of what is computed of
    them; else those of the type. Floats have none.
    """
    return _limits(x, MAX_DEPTH, {})


def _limits(x: Tensor, depth: int, known: dict[int, Limits]) -> Limits:
    if id(x) not in known:
        known[id(x)] = _computed(x, depth, known)
    return known[id(x)]


def _computed(x: Tensor, depth: int, known: dict[int, Limits]) -> Limits:
    if x.dtype.kind not in "iub":
        return -inf, inf
    if x.is_constant and x.data.size:
        return int(x.data.min()), int(x.data.max())
    limits = np.iinfo(x.dtype if x.dtype.kind in "iu" else np.uint8)
    of_type = int(limits.min), int(limits.max)
    op = x.producer
    if op is None or depth == 0 or x.quantization is not None:
        return of_type
    if any(x is op.outputs[i] for i in _SIZES.get(op.kind, ())):
        return _SIZE
    rule = _LIMITS.get(op.kind)
    if rule is None and op.kind not in having("moves"):
        return of_type
    data = [t for t in op.present_inputs if rule is not None or t.dtype == x.dtype]
    operands = [_limits(tensor, depth - 1, known) for tensor in data]
    if rule is None:
        rule, operands = _union, [*operands, (0, 0)]  # with which some of them fill gaps
    low, high = rule(*operands)
    fits = of_type[0] <= low and high <= of_type[1]
    return (low, high) if fits else of_type  # what does not fit wraps around


def _union(*operands: Limits) -> Limits:
    return min(low for low, _ in operands), max(high for _, high in operands)


def _corners(function: Callable[[float, float], float]) -> Callable[[Limits, Limits], Limits]:
    """The limits of what is monotonic in both operands, whichever way."""

    def rule(x: Limits, y: Limits) -> Limits:
        results = [function(a, b) for a in x for b in y]
        return min(results), max(results)

    return rule


def _quotient(x: Limits, y: Limits) -> Limits:
    """Of any division by whole numbers: nothing becomes larger, and what is negative stays so."""
    if isinf(x[0]) or isinf(x[1]):
        return -inf, inf
    if y[0] > 0:
        return min(x[0], 0), max(x[1], 0)
    largest = max(abs(n) for n in x)
    return -largest, largest


def _range(start: Limits, end: Limits, step: Limits) -> Limits:
    if step[0] <= 0:
        return -inf, inf
    return start[0], max(start[1], end[1])


_SIZES = {
    "ARG_MAX": (0,),
    "ARG_MIN": (0,),
    "NON_MAX_SUPPRESSION_V4": (0, 1),
    "NON_MAX_SUPPRESSION_V5": (0, 2),
    "RANK": (0,),
    "SHAPE": (0,),
    "TOPK_V2": (1,),
    "UNIQUE": (1,),
    "WHERE": (0,),
}
"""Operator -> its results that are sizes, counts or positions."""

_LIMITS: dict[str, Callable[..., Limits]] = {
    "ADD": _corners(operator.add),
    "CAST": _union,
    "DIV": _quotient,
    "FLOOR_DIV": _quotient,
    "MAXIMUM": _corners(max),
    "MINIMUM": _corners(min),
    "MUL": _corners(operator.mul),
    "RANGE": _range,
    "NEG": lambda x: (-x[1], -x[0]),
    "SELECT_V2": lambda _, x, y: _union(x, y),
    "SUB": _corners(operator.sub),
}
"""Operator -> the limits of its result from those of its operands."""
