"""Division of int64, for which LiteRT has no kernel, exact for all values."""

from __future__ import annotations

import numpy as np

from ..ir.builder import Builder
from ..ir.graph import Tensor
from ..ir.limits import limits_of

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
    low, high = limits_of(x)
    limits = np.iinfo(INT32)
    return bool(limits.min <= low and high <= limits.max)
