"""Ops that change variables. Their buffers are the variables' own memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...engine.families.elementwise import elementwise
from ...engine.plan.buffer import Buffer
from .elementwise import NUMBERS, no_limits
from .registry import emit

if TYPE_CHECKING:
    from ...engine.plan.program import Program
    from ..session.stage import Site
    from .registry import Emitted

FLOATS = (np.float32, np.float64)


def _outputs(op: Site, var: Buffer) -> list[Buffer]:
    """The outputs: the variable, where the op gives a reference to it."""
    return [var] if op.outputs else []


def _fits(var: Buffer, *others: Buffer) -> bool:
    """Whether all have the shape of the variable."""
    return all(other.shape == var.shape for other in others) and var.size > 0


@emit("AssignAdd", "AssignAddVariableOp", "AssignSub", "AssignSubVariableOp", dtypes=NUMBERS)
def assign_add(program: Program, op: Site, var: Buffer, delta: Buffer) -> Emitted:
    """Adds to a variable, or subtracts from it."""
    if not _fits(var, delta):
        return None
    kernel = "add" if op.type.startswith("AssignAdd") else "subtract"
    elementwise(program, f"arithmetic.{kernel}", (var, delta), var, no_limits(var.dtype))
    return _outputs(op, var)


@emit("ApplyGradientDescent", "ResourceApplyGradientDescent", dtypes=FLOATS)
def gradient_descent(
    program: Program, op: Site, var: Buffer, rate: Buffer, grad: Buffer
) -> Emitted:
    """var -= rate * grad"""
    if not _fits(var, grad):
        return None
    program.call(
        "backward.gradient_descent", var.ravel(), rate.ravel(), grad.ravel(), split=var.size
    )
    return _outputs(op, var)


@emit("ApplyMomentum", "ResourceApplyMomentum", dtypes=FLOATS)
def momentum(
    program: Program, op: Site, var: Buffer, accum: Buffer, rate: Buffer, grad: Buffer, keep: Buffer
) -> Emitted:
    """accum = keep * accum + grad, and a step along it."""
    if not _fits(var, accum, grad):
        return None
    program.call(
        "backward.momentum",
        *(x.ravel() for x in (var, accum, rate, grad, keep)),
        split=var.size,
        nesterov=int(op.get_attr("use_nesterov")),
    )
    return _outputs(op, var)


@emit("ApplyAdam", "ResourceApplyAdam", dtypes=FLOATS)
def adam(
    program: Program, op: Site, var: Buffer, m: Buffer, v: Buffer, *numbers: Buffer
) -> Emitted:
    """Running means of the gradient and its square, and a step along their quotient."""
    grad = numbers[-1]
    if not _fits(var, m, v, grad):
        return None
    program.call(
        "backward.adam",
        *(x.ravel() for x in (var, m, v, *numbers)),
        split=var.size,
        nesterov=int(op.get_attr("use_nesterov")),
    )
    return _outputs(op, var)
