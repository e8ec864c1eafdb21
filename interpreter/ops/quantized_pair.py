"""Arithmetic of two quantized operands, for the operators of binary.py that have it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...engine.families import rescaled
from ...engine.families.multipliers import (
    ALL_OF_SHIFT,
    common_terms,
    product_terms,
    right_shift_of_scalars,
    right_shift_only,
    right_shift_or_sign,
)
from ...schema.dtypes import tf_name
from ..checks import name_of_dtype
from .quantized import quantization_of, quantized_limits, quotient

if TYPE_CHECKING:
    from ...engine.families.multipliers import Rounding
    from ...schema.quantization import Quantization
    from ..plan.node import Emit, Node, Operand

QUANTIZED = {
    "ADD": "sum",
    "SUB": "difference",
    "MUL": "product",
    "DIV": "quotient",
    "SQUARED_DIFFERENCE": "squared_difference",
}
"""Operator -> what it gives of two operands, as engine/families/rescaled.py calls it."""

_LEFT = {"int8": 20, "uint8": 20, "int16": 15}
_LEFT_SQUARED = 7


def quantized_pair(node: Node, a: Operand, b: Operand, shape: tuple[int, ...]) -> Emit:
    """The result of `node.kind` for each pair of elements, on the output's scale."""
    quantizations: list[Quantization] = []
    for i, tensor in enumerate((a, b, node.outputs[0])):
        quantization = quantization_of(node, tensor, f"input {i}" if i < 2 else "the output")
        if quantization.is_per_channel or not quantization.scale > 0:
            scales = quantization.scales.tolist()
            node.fail(f"inputs and output must have one positive scale each, got {scales}")
        quantizations.append(quantization)
    squared = node.kind == "SQUARED_DIFFERENCE"
    if squared and a.dtype != np.int8:
        node.fail(f"quantized {tf_name(a.dtype)} is not supported, only int8")
    limits = quantized_limits(node, a.dtype, quantizations[2], fused=not squared)
    first, second, output = ((q.scale, q.zero_point) for q in quantizations)
    if node.kind == "MUL":
        scale = quotient((first[0], second[0]), (output[0],))
        terms = product_terms(first, second, output, limits, scale)
    elif node.kind == "DIV":
        scale = quotient((first[0],), (second[0], output[0]))
        terms = product_terms(first, second, output, limits, scale, ALL_OF_SHIFT)
    elif squared:
        terms = common_terms(first, second, output, limits, _LEFT_SQUARED, 2)
    else:
        left = _LEFT[name_of_dtype(a.dtype)]
        rounding = _rounding_of_difference(a, b) if node.kind == "SUB" else None
        terms = common_terms(first, second, output, limits, left, rounding=rounding)
    out = node.result(shape, a.dtype)
    return lambda program: rescaled.pair(program, QUANTIZED[node.kind], a, b, out, terms)


def _rounding_of_difference(a: Operand, b: Operand) -> Rounding:
    """How TFLite's kernel scales a difference: only by shifts to the right, whatever it is told."""
    if a.shape != b.shape:
        return right_shift_of_scalars
    return right_shift_only if a.dtype == np.int16 else right_shift_or_sign
