"""Pooling: one value for each position of a window over height and width."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, prod
from typing import TYPE_CHECKING

import numpy as np

from ..plan.buffer import Buffer, arena
from ..records import PoolWindow

if TYPE_CHECKING:
    from ..plan.program import Program
    from .parameters import Clamp

POOLS = {"average": True, "root_mean_square": True, "maximum": False}
"""Kernel of kernels/plain/pool.py -> whether it sums."""
_EXACT_INTEGERS = 1 << 24  # float32 represents all integers below
_MAX_WINDOW = 8  # rows and columns of a window whose sum in float32 is good enough
_MAX_ABS = {"int8": 1 << 7, "uint8": 1 << 8, "int16": 1 << 15}
"""Type -> the largest absolute value of its numbers."""


def pool(
    program: Program,
    kind: str,
    x: Buffer,
    out: Buffer,
    *,
    size: Sequence[int],
    stride: Sequence[int],
    before: Sequence[int],
    clamp: Clamp = (-inf, inf),
) -> None:
    """out = clamp(`kind` of the part of each window that lies in `x`), both float32 or integers.

    Args:
        program: where the instruction goes.
        kind: "average", "root_mean_square" or "maximum".
        x: [batch, height, width, channels].
        out: [batch, height, width, channels].
        size: height and width of the window.
        stride: steps of the window.
        before: rows and columns of padding before the first.
        clamp: the limits of the result.
    """
    if not out.size:
        return
    items = out.shape[0] * out.shape[1]
    window = PoolWindow.of(size, stride, before)
    numbers = {"window": window, "low": clamp[0], "high": clamp[1]}
    if fits(kind, x.dtype, size):
        name = f"pool_i8.{kind}_{x.dtype}" if x.is_integer else f"pool_f32.{kind}"
        program.call(name, x, out, split=items, **numbers)
        return
    accumulator = np.int64 if x.is_integer else np.float64
    scratch = [arena((items, out.shape[3]), accumulator)] if POOLS[kind] else []
    program.call(
        f"pool.{kind}_quantized" if x.is_integer and POOLS[kind] else f"pool.{kind}",
        x,
        out,
        *scratch,
        split=items,
        **numbers,
    )


def fits(kind: str, dtype: np.dtype, size: Sequence[int]) -> bool:
    """Whether the SIMD kernels are exact enough: a mean of integers divides numbers of 24 bits."""
    if kind == "maximum":
        return True
    if dtype == np.float32:
        return max(size) <= _MAX_WINDOW
    return 2 * prod(size) * _MAX_ABS[dtype.name] < _EXACT_INTEGERS
