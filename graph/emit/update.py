"""Ops that change variables. Their buffers are the variables' own memory."""

from __future__ import annotations

import numpy as np

from ...engine.families.elementwise import elementwise
from .elementwise import NUMBERS, no_limits
from .registry import emit

FLOATS = (np.float32, np.float64)


def _given(op, var):
    """The outputs: the variable, where the op gives a reference to it."""
    return [var] if op.outputs else []


def _fits(var, *others) -> bool:
    """Whether all have the shape of the variable."""
    return all(other.shape == var.shape for other in others) and var.size > 0


@emit("AssignAdd", "AssignAddVariableOp", "AssignSub", "AssignSubVariableOp", dtypes=NUMBERS)
def assign_add(program, op, var, delta):
    """Adds to a variable, or subtracts from it."""
    if not _fits(var, delta):
        return None
    kernel = "add" if op.type.startswith("AssignAdd") else "subtract"
    elementwise(program, f"arithmetic.{kernel}", (var, delta), var, no_limits(var.dtype))
    return _given(op, var)


@emit("ApplyGradientDescent", "ResourceApplyGradientDescent", dtypes=FLOATS)
def gradient_descent(program, op, var, rate, grad):
    """var -= rate * grad"""
    if not _fits(var, grad):
        return None
    program.call(
        "backward.gradient_descent", var.ravel(), rate.ravel(), grad.ravel(), split=var.size
    )
    return _given(op, var)


@emit("ApplyMomentum", "ResourceApplyMomentum", dtypes=FLOATS)
def momentum(program, op, var, accum, rate, grad, keep):
    """accum = keep * accum + grad, and a step along it."""
    if not _fits(var, accum, grad):
        return None
    program.call(
        "backward.momentum",
        *(x.ravel() for x in (var, accum, rate, grad, keep)),
        split=var.size,
        nesterov=int(op.get_attr("use_nesterov")),
    )
    return _given(op, var)


@emit("ApplyAdam", "ResourceApplyAdam", dtypes=FLOATS)
def adam(program, op, var, m, v, *rest):
    """Running means of the gradient and its square, and a step along their quotient."""
    if not _fits(var, m, v, rest[-1]):
        return None
    program.call(
        "backward.adam",
        *(x.ravel() for x in (var, m, v, *rest)),
        split=var.size,
        nesterov=int(op.get_attr("use_nesterov")),
    )
    return _given(op, var)
