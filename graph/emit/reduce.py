"""Reductions, and where the largest element stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...engine.families import reductions
from ...engine.families.elementwise import elementwise
from ...engine.plan.buffer import Buffer, arena, constant
from .elementwise import no_limits
from .registry import emit
from .shapes import result

if TYPE_CHECKING:
    from ...engine.plan.program import Program
    from ..session.stage import Site
    from .registry import Emitted

NUMBERS = frozenset(map(np.dtype, (np.float32, np.int32, np.int64)))
SEARCHED: frozenset[np.dtype] = frozenset(map(np.dtype, (np.float32, np.int32)))
REDUCTIONS = {
    "All": "minimum",
    "Any": "maximum",
    "Max": "maximum",
    "Mean": "mean",
    "Min": "minimum",
    "Prod": "multiply",
    "Sum": "add",
}


@emit(*REDUCTIONS)
def reduction(program: Program, op: Site, x: Buffer, axes: Buffer) -> Emitted:
    """Dimensions folded into one value each."""
    out = result(op)
    integer_mean = op.type == "Mean" and x.is_integer
    is_taken = x.dtype in NUMBERS or (x.dtype == np.bool_ and op.type in ("All", "Any"))
    if out is None or axes.value is None or not is_taken or integer_mean:
        return None
    if not x.size:
        return None
    folded = {int(axis) % max(x.ndim, 1) for axis in axes.value.ravel()}
    if not folded:
        return x.reshape(out.shape)
    reductions.reduce(program, REDUCTIONS[op.type], x, folded, out)
    return out


@emit("L2Loss")
def l2_loss(program: Program, op: Site, x: Buffer) -> Emitted:
    """Half the sum of the squares."""
    if x.dtype != np.float32 or not x.size:
        return None
    squares, total, out = arena((x.size,), x.dtype), arena((), x.dtype), arena((), x.dtype)
    program.call("unary.square", x.ravel(), squares, split=x.size)
    reductions.reduce(program, "add", squares, {0}, total)
    half = constant(np.array(0.5, x.dtype))
    elementwise(program, "arithmetic.multiply", (total, half), out, no_limits(x.dtype))
    return out


@emit("ArgMax", "ArgMin")
def position(program: Program, op: Site, x: Buffer, axis: Buffer) -> Emitted:
    """Where along an axis the largest or smallest element comes first."""
    out = result(op)
    if out is None or x.dtype not in SEARCHED or axis.value is None or not x.size:
        return None
    along, smallest = int(axis.value) % x.ndim, op.type == "ArgMin"
    reductions.position(program, x, along, out, smallest=smallest)
    return out
