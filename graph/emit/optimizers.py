"""The updates of optimizers with a rate of their own for each element, in the engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...engine.plan.buffer import Buffer, constant
from .registry import emit
from .update import FLOATS

if TYPE_CHECKING:
    from ...engine.plan.program import Program
    from ..session.stage import Site
    from .registry import Emitted

KERNELS = {
    "Adadelta": ("adadelta", 3, 6),
    "CenteredRMSProp": ("centered_rms_prop", 4, 8),
    "ProximalAdagrad": ("proximal_adagrad", 2, 5),
    "ProximalGradientDescent": ("proximal_gradient_descent", 1, 4),
    "RMSProp": ("rms_prop", 3, 7),
}
"""By the op's name: the kernel, how many of its operands are variables, which is the gradient."""


def _update(
    program: Program,
    op: Site,
    kernel: str,
    operands: list[Buffer],
    n_variables: int,
    grad: int,
    **scalars: int,
) -> Emitted:
    """An instruction that changes the variables, where they and the gradient have one shape."""
    var = operands[0]
    like = [*operands[1:n_variables], operands[grad]]
    if any(other.shape != var.shape for other in like) or not var.size:
        return None
    flat = [operand.ravel() for operand in operands]
    program.call(f"optimizers.{kernel}", *flat, split=var.size, **scalars)
    return [var] if op.outputs else []


def _kind(op: Site) -> str:
    return op.type.removeprefix("Resource").removeprefix("Apply")


@emit(*(p + kind for kind in KERNELS for p in ("Apply", "ResourceApply")), dtypes=FLOATS)
def each_element(program: Program, op: Site, *operands: Buffer) -> Emitted:
    """The update of a row of KERNELS, whose operands are those of the kernel."""
    kernel, n_variables, grad = KERNELS[_kind(op)]
    return _update(program, op, kernel, list(operands), n_variables, grad)


@emit("ApplyAdagrad", "ResourceApplyAdagrad", dtypes=FLOATS)
def adagrad(program: Program, op: Site, *operands: Buffer) -> Emitted:
    """accum += grad^2; var -= rate * grad / sqrt(accum)"""
    update = int(op.get_attr("update_slots"))
    return _update(program, op, "adagrad", list(operands), 2, 3, update=update)


@emit(
    "ApplyFtrl", "ApplyFtrlV2", "ResourceApplyFtrl", "ResourceApplyFtrlV2", dtypes=FLOATS
)  # fmt: skip
def ftrl(program: Program, op: Site, *operands: Buffer) -> Emitted:
    """FTRL-proximal; the first form has no shrinkage."""
    if op.get_attr("multiply_linear_by_lr"):
        return None
    listed = list(operands)
    if _kind(op) == "Ftrl":
        dtype = operands[0].dtype
        listed.insert(7, constant(np.zeros(1, dtype)))
    return _update(program, op, "ftrl", listed, 3, 3)


@emit("ApplyAdagradDA", "ResourceApplyAdagradDA")
def adagrad_da(program: Program, op: Site, *operands: Buffer) -> Emitted:
    """The mean of all gradients, by the number of steps."""
    if operands[0].dtype.name not in ("float32", "float64"):
        return None
    return _update(program, op, "adagrad_da", list(operands), 3, 3)
