"""LSTM of kernel_type BASIC: one matrix for all gates, in float32 or uint8."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ....engine.families import gemm, quantization, quantized_gemm
from ....engine.families.layout import move
from ....engine.plan.view import View
from ....schema.dtypes import tf_name
from ...checks import rank, required
from ..quantized import quantization_of

if TYPE_CHECKING:
    from ....engine.plan.program import Program
    from ...plan.node import Emit, Node, Operand


_MIDDLE = 128
"""The zero point of inputs and results of uint8."""

_SHORT = (-(1 << 15), (1 << 15) - 1)
_TYPES = {
    "float32": ("float32",) * 5,
    "uint8": ("uint8", "uint8", "uint8", "int32", "int16"),
}
"""Type of the input -> those of input, last result, weights, bias and state."""


def basic_lstm(node: Node) -> Emit:
    """(result, state, input and last result side by side, sums of the gates).

    Result and state also go to the inputs they are given as.
    """
    x, last, weights, bias, state = inputs = required(node, 5)
    node.require(x.dtype.name in _TYPES, f"{tf_name(x.dtype)} is not supported yet")
    for part, dtype in zip(inputs, _TYPES[x.dtype.name], strict=True):
        node.require(
            part.dtype.name == dtype, f"'{part.name}' must be {dtype}, got {tf_name(part.dtype)}"
        )
    rank(node, "input", x, 2)
    rank(node, "state", state, 2)
    batch, depth, n = *x.shape, state.shape[1]
    shapes = ((batch, n), (4 * n, depth + n), (4 * n,), (batch, n))
    for part, shape in zip(inputs[1:], shapes, strict=True):
        node.require(
            part.shape == shape, f"'{part.name}' must have shape {shape}, got {part.shape}"
        )
    quantized = x.dtype == np.uint8
    requantization = _requantization(node, weights, bias) if quantized else None
    for part in (last, state):
        node.require(
            node.scope is None or part.storage.kind == "bound",
            f"'{part.name}' must be a variable tensor or an input",
        )
    out = node.result((batch, n), x.dtype)
    new_state = node.result((batch, n), state.dtype)
    joined = node.result((batch, depth + n), x.dtype)
    sums = node.result((batch, 4 * n), np.int16 if quantized else x.dtype)

    def emit(program: Program) -> None:
        move(program, x, View.of(joined).part(1, 0, depth))
        move(program, last, View.of(joined).part(1, depth, n))
        if requantization is not None:
            quantized_gemm.matmul(
                program, joined, weights, bias, sums, transpose_b=True, scheme=requantization
            )
        else:
            gemm.matmul(program, joined, weights, bias, sums, transpose_b=True)
        kernel = "recurrent_i8.basic" if quantized else "recurrent_f32.basic"
        program.call(kernel, sums, state, out, new_state, split=batch)
        move(program, out, last)

    return emit


def _requantization(node: Node, weights: Operand, bias: Operand) -> quantization.Quantized:
    """How sums become gates with 12 bits after the point."""
    scale = np.float32(quantization_of(node, bias, f"'{bias.name}'").scale)
    zero_point = quantization_of(node, weights, f"'{weights.name}'").zero_point
    scales = np.full(bias.size, 4096.0 * float(scale))
    return quantization.Quantized(
        scales, (_MIDDLE, zero_point, 0), _SHORT, rounding="round_half_up"
    )
