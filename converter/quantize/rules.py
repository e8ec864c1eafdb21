"""How each operator is quantized to 8 bits, by its row in schema/operators.py.

Operators whose row does not say how stay in float.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...schema.flatbuffer import options_class
from ...schema.operators import Operator, having, known
from ..ir.graph import Op, Tensor

FLOAT32 = np.dtype(np.float32)
Limit = Callable[[Op], "str | None"]


@dataclass(frozen=True)
class Rule:
    """What an operator asks of the scales around it.

    Attributes:
        same_scale: float32 inputs and results share one scale and zero point.
        selects: it only moves or chooses elements, so that what is cut off of its results may be
            cut off of its inputs.
        result: the scale and zero point its results always have.
        weights: the input with the weights; they are symmetric, in -127..127.
        axis: the dimension of the weights that has a scale for each index; None for one scale.
        bias: the input with the bias, int32 on the product of the scales of input and weights.
        data: the input that the weights are multiplied with.
        min_scale: of the largest scale of the inputs the scale that its result must be above, as
            the kernel multiplies sums by a factor below 1.
        divisor: the input whose quantized numbers must not stand for 0.
        limit: says why an operator of this kind has no int8 kernel; None for those that have.
    """

    same_scale: bool = False
    selects: bool = False
    result: tuple[float, int] | None = None
    weights: int | None = None
    axis: int | None = None
    bias: int | None = None
    data: int = 0
    min_scale: Callable[[float], float] | None = None
    divisor: int | None = None
    limit: Limit | None = None


def constant_weights(op: Op) -> str | None:
    """Filters that are computed have no scale for each channel."""
    weights = op.inputs[1]
    return None if weights.is_constant else f"its filter '{weights.name}' is not constant"


def fewer_dimensions_than(limit: int) -> Limit:
    """The int8 kernel broadcasts fewer dimensions than the float one."""

    def check(op: Op) -> str | None:
        ranks = [tensor.rank for tensor in op.present_inputs]
        if all(rank is not None and rank < limit for rank in ranks):
            return None
        return f"its inputs must have fewer than {limit} dimensions"

    return check


def min_scale_of_sums(largest: float) -> float:
    """Sums are taken in 2**-20 of twice the largest scale."""
    return 2 * largest / 2**20


def min_scale_of_squares(largest: float) -> float:
    """Differences are taken in 2**-7 of twice the largest scale, and squared."""
    return (2 * largest / 2**7) ** 2


LIMITS: dict[str, dict[str, Any]] = {
    "ADD": {"min_scale": min_scale_of_sums},
    "CONV_2D": {"limit": constant_weights},
    "DEPTHWISE_CONV_2D": {"limit": constant_weights},
    "DIV": {"divisor": 1, "limit": fewer_dimensions_than(5)},
    "SQUARED_DIFFERENCE": {"min_scale": min_scale_of_squares, "limit": fewer_dimensions_than(5)},
    "SUB": {"min_scale": min_scale_of_sums},
    "TRANSPOSE_CONV": {"limit": constant_weights},
}
"""What the int8 kernels of some operators cannot do."""


def _rule(row: Operator) -> Rule:
    """What the table of operators says, and LIMITS."""
    weights, axis = row.operand_numbers("weights"), row.numbers("channels")
    is_linear = "linear" in row.traits
    return Rule(
        same_scale=row.fact("int8") == "same",
        selects=not row.traits.isdisjoint(("moves", "selects")),
        result=row.scale_of("i8"),
        weights=weights[0] if weights else None,
        axis=axis[0] if axis else None,
        bias=row.position("bias") if is_linear else None,
        data=row.position("x") if is_linear else 0,
        **LIMITS.get(row.kind, {}),
    )


RULES: dict[str, Rule] = {
    kind: _rule(known(kind)) for kind in sorted(having("int8") | having("i8"))
}

DIVISORS = {
    **{kind: rule.divisor for kind, rule in RULES.items() if rule.divisor is not None},
    **dict.fromkeys(("FLOOR_DIV", "FLOOR_MOD"), 1),
}
"""Operators that divide, quantized or in float32 -> the input they divide by."""


@dataclass(frozen=True)
class WeightRule:
    """How an operator takes int8 weights while its other inputs are float32.

    Attributes:
        weights: the input with the weights.
        axis: the dimension with a scale for each index; None for one scale.
        hybrid: whether a kernel multiplies float32 inputs with int8 weights; else the operator only
            moves them, and its result is made float32 by a DEQUANTIZE.
        asymmetric: whether the option `asymmetric_quantize_inputs` is set.
    """

    weights: int = 1
    axis: int | None = None
    hybrid: bool = True
    asymmetric: bool = False


def _weight_rule(row: Operator) -> WeightRule:
    """What the table of operators says."""
    axis, options = row.numbers("channels"), options_class(row.kind)
    return WeightRule(
        weights=row.operand_numbers("hybrid")[0],
        axis=axis[0] if axis else None,
        asymmetric=hasattr(options, "asymmetric_quantize_inputs"),
    )


WEIGHT_RULES: dict[str, WeightRule] = {
    **{kind: _weight_rule(known(kind)) for kind in sorted(having("hybrid"))},
    "GATHER": WeightRule(weights=0, hybrid=False),
}
"""Operators whose weights dynamic-range quantization makes int8."""


def is_float32(tensor: Tensor | None) -> bool:
    """Whether it holds float32 numbers."""
    return tensor is not None and tensor.dtype == FLOAT32


def rule_of(op: Op) -> Rule | None:
    """The rule by which `op` is quantized; None for one that stays as it is."""
    rule = RULES.get(op.kind)
    if rule is None or not touches_float32(op):
        return None
    return rule if rule.limit is None or rule.limit(op) is None else None


def touches_float32(op: Op) -> bool:
    """Whether an input or a result of `op` is float32."""
    return any(is_float32(tensor) for tensor in (*op.inputs, *op.outputs))


def nonfinite_constant(op: Op) -> Tensor | None:
    """A float32 constant of `op` with NaN or infinity, for which there is no scale."""
    constants = (t for t in op.present_inputs if is_float32(t) and t.is_constant)
    return next((tensor for tensor in constants if not np.isfinite(tensor.data).all()), None)


def reason_for_float(op: Op, size_dependent: Collection[Tensor]) -> str:
    """Why `op` is not quantized, for a message; `size_dependent` depend on sizes alone."""
    tensors = (*op.present_inputs, *op.outputs)
    dependent = next((tensor for tensor in tensors if tensor in size_dependent), None)
    if dependent is not None:
        return f"'{dependent.name}' is computed from unknown sizes and has another range at each"
    rule = RULES.get(op.kind)
    nonfinite = nonfinite_constant(op)
    if rule is None:
        return "TFLite has no int8 kernel for it" if op.kind != "CUSTOM" else "it is a custom op"
    if nonfinite is not None:
        return f"its constant '{nonfinite.name}' has NaN or infinity"
    if rule.limit is not None and (reason := rule.limit(op)) is not None:
        return reason
    return "a range around it is not known" if rule.divisor is None else "it may divide by zero"
