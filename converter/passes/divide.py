"""Division of int64, for which LiteRT has no kernel, exact for all values."""

from __future__ import annotations

import operator
from collections.abc import Callable
from math import inf, isinf

import numpy as np

from ..ir.builder import Builder
from ..ir.graph import Tensor
from ..ir.pseudo import having

N_CORRECTIONS = 3
"""Quotients of float32 are right to 22 bits; after three of them the remainder is about the
divisor, after a fourth it is smaller."""
LARGEST = np.float32(2**63 - 2**39)  # below 2**63, so that it can be an int64

INT32 = np.dtype(np.int32)


def floor_divide(b: Builder, x: Tensor, y: Tensor) -> Tensor:
    """floor(x / y)."""
    if is_int32(x) and is_int32(y):
        return b.CAST(b.FLOOR_DIV(*_as_int32(b, x, y)), dtype=np.int64)
    quotient, remainder = _divided(b, x, y)
    zero = b.constant(np.int64(0))
    opposite = b.NOT_EQUAL(b.LESS(remainder, zero), b.LESS(y, zero))
    is_too_large = b.LOGICAL_AND(opposite, b.NOT_EQUAL(remainder, zero))
    return b.SUB(quotient, b.CAST(is_too_large, dtype=np.int64))


def truncated_divide(b: Builder, x: Tensor, y: Tensor) -> Tensor:
    """x / y without its fraction."""
    if is_int32(x) and is_int32(y):
        return b.CAST(b.DIV(*_as_int32(b, x, y)), dtype=np.int64)
    quotient, remainder = _divided(b, x, y)
    zero, one = b.constant(np.int64(0)), b.constant(np.int64(1))
    is_negative = b.LESS(remainder, zero)
    opposite = b.NOT_EQUAL(is_negative, b.LESS(x, zero))
    is_inexact = b.LOGICAL_AND(opposite, b.NOT_EQUAL(remainder, zero))
    direction = b.SELECT_V2(b.EQUAL(is_negative, b.LESS(y, zero)), one, b.constant(np.int64(-1)))
    return b.ADD(quotient, b.MUL(b.CAST(is_inexact, dtype=np.int64), direction))


def _divided(b: Builder, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """(quotient, remainder) with x = quotient * y + remainder and |remainder| < |y|."""
    divisor = b.CAST(y, dtype=np.float32)
    estimate = b.DIV(b.CAST(x, dtype=np.float32), divisor)
    quotient = b.CAST(b.MINIMUM(estimate, b.constant(LARGEST)), dtype=np.int64)
    remainder = b.SUB(x, b.MUL(quotient, y))
    for _ in range(N_CORRECTIONS):
        step = b.CAST(b.DIV(b.CAST(remainder, dtype=np.float32), divisor), dtype=np.int64)
        quotient = b.ADD(quotient, step)
        remainder = b.SUB(remainder, b.MUL(step, y))
    return quotient, remainder


def _as_int32(b: Builder, *tensors: Tensor) -> list[Tensor]:
    """The tensors as int32; constants at once."""
    return [
        b.constant(tensor.data.astype(np.int32))
        if tensor.is_constant
        else b.CAST(tensor, dtype=np.int32)
        for tensor in tensors
    ]


def is_int32(x: Tensor) -> bool:
    """Whether every number in `x` certainly fits int32: those computed of sizes mostly do."""
    low, high = _limits(x, MAX_DEPTH)
    limits = np.iinfo(INT32)
    return bool(limits.min <= low and high <= limits.max)


Limits = tuple[float, float]
"""The least and the largest number that may stand in a tensor."""
MAX_DEPTH = 32  # operators that are looked through
_SIZE = (0, 2**31 - 1)


def _limits(x: Tensor, depth: int) -> Limits:
    """The limits of integers; those of sizes, and of what is computed of them, are known."""
    if x.dtype.kind not in "iub":
        return -inf, inf
    if x.is_constant and x.data.size:
        return int(x.data.min()), int(x.data.max())
    limits = np.iinfo(x.dtype) if x.dtype.kind in "iu" else np.iinfo(np.uint8)
    of_type = int(limits.min), int(limits.max)
    op = x.producer
    if op is None or depth == 0:
        return of_type
    if op.kind in ("SHAPE", "RANK"):
        return _SIZE
    rule = _LIMITS.get(op.kind)
    operands = [_limits(t, depth - 1) for t in op.present_inputs if rule or t.dtype == x.dtype]
    if rule is None and op.kind in having("moves"):
        rule = _union
    low, high = of_type if rule is None else rule(*operands)
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


_LIMITS: dict[str, Callable[..., Limits]] = {
    "ADD": _corners(operator.add),
    "CAST": _union,
    "DIV": _quotient,
    "FLOOR_DIV": _quotient,
    "MAXIMUM": _corners(max),
    "MINIMUM": _corners(min),
    "MUL": _corners(operator.mul),
    "NEG": lambda x: (-x[1], -x[0]),
    "SELECT_V2": lambda _, x, y: _union(x, y),
    "SUB": _corners(operator.sub),
}
"""Operator -> the limits of its result from those of its operands."""
