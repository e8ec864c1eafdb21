"""Activation functions: one element in, one element out."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from ...engine.families.layout import move
from ...engine.families.multipliers import quantize_multiplier
from ...engine.plan.buffer import arena
from ...engine.plan.view import View
from ...engine.records import FixedPoint, Output
from ...schema.dtypes import tf_name
from ...schema.operators import known
from ..checks import BYTES, one_scale, required, supported
from ..plan.substitution import small_floats
from ..registry import op
from .quantized import is_quantized, quotient

if TYPE_CHECKING:
    from ...engine.plan.program import Program
    from ..plan.node import Emit, Node, Operand, Prepared


CLAMPS = {kind: known(kind).limits for kind in ("RELU", "RELU6", "RELU_N1_TO_1", "RELU_0_TO_1")}
KERNELS = {
    "TANH": "unary.tanh",
    "LOGISTIC": "unary.logistic",
    "ELU": "unary.elu",
    "HARD_SWISH": "unary.hard_swish",
}


@op(*CLAMPS)
@small_floats
def clamp(node: Node) -> Prepared:
    """`x` within two limits."""
    low, high = CLAMPS[node.kind]
    return _each(node, "unary.clamp", low=low, high=high)


@op(*KERNELS)
@small_floats
def plain(node: Node) -> Prepared:
    """A function without options."""
    return _each(node, KERNELS[node.kind])


@op("LEAKY_RELU")
@small_floats
def leaky_relu(node: Node) -> Prepared:
    """`x`, times `alpha` where it is negative."""
    return _each(node, "unary.leaky", alpha=float(node.options.alpha))


@op("GELU")
@small_floats
def gelu(node: Node) -> Prepared:
    """`x` times the chance of a normal variable below it, or the tanh approximation of that."""
    return _each(node, "unary.gelu_tanh" if node.options.approximate else "unary.gelu")


@op("PRELU")
@small_floats
def prelu(node: Node) -> Emit:
    """`x`, times `alpha` where it is negative; `alpha` is repeated to the shape of `x`."""
    x, alpha = required(node, 2)
    quantized = is_quantized(x)
    if not quantized:
        supported(node, (x, alpha))
    missing = x.ndim - alpha.ndim
    node.require(
        missing >= 0
        and all(a in (1, n) for a, n in zip(alpha.shape, x.shape[missing:], strict=True)),
        f"alpha must be repeatable to the input's shape {x.shape}, got {alpha.shape}",
    )
    terms = _slopes(node, x, alpha) if quantized else {}
    out = node.result(x.shape, x.dtype)
    slope_shape = alpha.shape
    while slope_shape and slope_shape[0] == 1:
        slope_shape = slope_shape[1:]
    tail = x.shape[x.ndim - len(slope_shape) :]
    rows = (prod(x.shape[: x.ndim - len(slope_shape)]), prod(tail))

    def emit(program: Program) -> None:
        if not x.size:
            return
        repeated = alpha
        if slope_shape != tail:
            repeated = arena(tail, alpha.dtype)
            move(program, View.of(alpha, slope_shape).broadcast(tail), View.of(repeated))
        module, slopes = "quantized" if quantized else "unary", repeated.ravel()
        program.call(
            f"{module}.leaky_rows",
            x.reshape(rows),
            slopes,
            out.reshape(rows),
            split=rows[0],
            **terms,
        )

    return emit


def _slopes(node: Node, x: Operand, alpha: Operand) -> dict[str, int | FixedPoint | Output]:
    """The numbers and records of quantized.leaky_rows."""
    node.require(
        x.dtype in BYTES and alpha.dtype == x.dtype,
        f"quantized {tf_name(x.dtype)} and {tf_name(alpha.dtype)} "
        "are not supported, only int8 or uint8",
    )
    input_params, alpha_params, output_params = one_scale(node, x, alpha)
    scale, slope_scale = input_params.scale, alpha_params.scale
    out_scale = (output_params.scale,)
    limits = np.iinfo(x.dtype.name)
    return {
        "x_zero": input_params.zero_point,
        "alpha_zero": alpha_params.zero_point,
        "scale": FixedPoint(*quantize_multiplier(quotient((scale,), out_scale))),
        "slope_scale": FixedPoint(*quantize_multiplier(quotient((scale, slope_scale), out_scale))),
        "output": Output(output_params.zero_point, int(limits.min), int(limits.max)),
    }


def _each(node: Node, kernel: str, **numbers: float) -> Emit:
    """What emits `kernel` over all elements."""
    (x,) = required(node, 1)
    if is_quantized(x):
        from .tables import look_up

        return look_up(node, x)
    supported(node, (x,))
    out = node.result(x.shape, x.dtype)

    def emit(program: Program) -> None:
        if x.size:
            program.call(kernel, x.ravel(), out.ravel(), split=x.size, **numbers)

    return emit
