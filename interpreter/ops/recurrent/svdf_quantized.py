"""SVDF over quantized int8, with 16 bits for weights over time and state."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ....engine.families import recurrent_i8
from ....schema.dtypes import tf_name
from ...checks import one_scale, required_input

if TYPE_CHECKING:
    from ....engine.plan.buffer import Buffer
    from ....engine.plan.program import Program
    from ...plan.node import Emit, Node, Operand


def svdf_quantized(
    node: Node, x: Operand, features: Operand, times: Operand, bias: Operand | None, state: Buffer
) -> Emit:
    """`emit` over int8; the inputs are checked but for their types."""
    initial_state = required_input(node, 4)
    for part, dtype in (
        (features, "int8"),
        (times, "int16"),
        (bias, "int32"),
        (initial_state, "int16"),
    ):
        node.require(
            part is None or part.dtype.name == dtype,
            f"'{part and part.name}' must be {dtype}, got {part and tf_name(part.dtype)}",
        )
    *operand_params, result = one_scale(node, x, features, times, initial_state)
    before, of_features, of_times, of_state = (np.float32(p.scale) for p in operand_params)
    scales = (
        float(np.float32(before * of_features / of_state)),
        float(np.float32(of_state * of_times / np.float32(result.scale))),
    )
    out = node.result((x.shape[0], features.shape[0] // int(node.options.rank)), np.int8)

    def emit(program: Program) -> None:
        recurrent_i8.svdf(
            program,
            x,
            features,
            times,
            bias,
            state,
            out,
            scales=scales,
            zero_points=(operand_params[0].zero_point, result.zero_point),
        )

    return emit
