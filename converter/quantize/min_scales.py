"""The scale that a result must be above, as its integer kernel gives no finer numbers.

    s_x, s_w -> CONV_2D -> s_y        sums are multiplied by s_x * s_w / s_y = m * 2**n, m < 1

First they are shifted left by n bits, in 32 bits, so that twice the largest sum, in steps of the
result, must be below 2**31. Results that were (almost) always 0 in calibration would ask for more,
and whatever else came would then have any sign.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...schema.tables import ACTIVATION_FUNCTION_TYPE
from ..ir.graph import Op
from .rules import Rule

LEVELS = {"i8": 255, "u8": 255, "i16": 2**15}
"""The largest distance of an integer from its zero point, by its type."""
SUM_BITS = {"i8": 20, "u8": 20, "i16": 15}
"""Fractional bits in which ADD and SUB take sums, by the type of their operands."""
MOST_SHIFT = 7
"""Bits by which sums in 64 bits may be shifted left, and those of which nothing is known."""
MOST_FACTOR = 256
"""What XNNPACK multiplies sums by is below it; it refuses the whole model otherwise."""
NONE = ACTIVATION_FUNCTION_TYPE["NONE"]
ACTIVATION_ENDS = {
    ACTIVATION_FUNCTION_TYPE["RELU6"]: 6.0,
    ACTIVATION_FUNCTION_TYPE["RELU_N1_TO_1"]: 1.0,
}
"""Where fused activations cut off, by their numbers in files."""

Scales = Sequence[float]


def min_scale_of(op: Op, rule: Rule, code: str, scales: Scales) -> float:
    """What the scale of the result of `op` must be above.

    Args:
        op: a float operator.
        rule: the rule by which it is quantized.
        code: the type of its operands.
        scales: of its inputs, of weights the largest; 0 for those that have none.
    """
    number = getattr(op.options, "fused_activation_function", NONE)
    min_scale = ACTIVATION_ENDS.get(number, 0.0) / 2**31  # the end as a number of steps
    if rule.bias is not None:
        return max(min_scale, _of_products(op, rule, code, scales))
    row = ROWS.get(op.kind)
    return min_scale if row is None else max(min_scale, row(code, scales))


def _of_products(op: Op, rule: Rule, code: str, scales: Scales) -> float:
    """Of sums of products, by the largest that constant weights can give."""
    weights, scale = op.inputs[rule.weights or 0], scales[rule.data] * scales[rule.weights or 0]
    if not weights.is_constant or LEVELS[code] != LEVELS["i8"]:
        return scale / 2**MOST_SHIFT
    axes = tuple(i for i in range(weights.data.ndim) if i != rule.axis)
    largest = np.abs(weights.data).sum(axis=axes, dtype=np.float64) * scales[rule.data]
    largest *= LEVELS[code]
    bias = op.input(rule.bias) if rule.bias is not None else None
    if bias is not None and bias.is_constant:
        largest += np.abs(bias.data)
    return max(float(largest.max(initial=0.0)) / 2**30, scale / MOST_FACTOR)


def _of_rescaled(code: str, scales: Scales) -> float:
    """Of numbers that are only multiplied."""
    return scales[0] * LEVELS[code] / 2**30


def _of_multiplied(code: str, scales: Scales) -> float:
    """Of products of two numbers, and of the first alone."""
    return max(scales[0] * scales[1] * LEVELS[code], scales[0]) * LEVELS[code] / 2**30


def _of_sums(code: str, scales: Scales) -> float:
    """Sums are taken in 2**-bits of twice the largest scale."""
    return 2 * max(scales) / 2 ** SUM_BITS[code]


def _of_squares(_code: str, scales: Scales) -> float:
    """Differences are taken in 2**-7 of twice the largest scale, and squared."""
    return (2 * max(scales) / 2**7) ** 2


def _of_hard_swish(_code: str, scales: Scales) -> float:
    """The kernel multiplies in 2**-7 of its input's scale."""
    return max(scales) / 2**7


def _of_product(code: str, scales: Scales) -> float:
    """Of products of two numbers."""
    return scales[0] * scales[1] * LEVELS[code] ** 2 / 2**30


ROWS: dict[str, Callable[[str, Scales], float]] = {
    "ADD": _of_sums,
    "SUB": _of_sums,
    "SQUARED_DIFFERENCE": _of_squares,
    "HARD_SWISH": _of_hard_swish,
    "MUL": _of_product,
    "PRELU": _of_multiplied,
    **dict.fromkeys(
        ("ABS", "LEAKY_RELU", "RELU", "RELU6", "RELU_N1_TO_1", "RELU_0_TO_1"), _of_rescaled
    ),
}
"""What the kernels of operators other than sums of products ask of the scale of their result."""
