"""SVDF of stored integers: int8, with 16 bits for weights over time and state."""

import numpy as np

from ...engine.families import recurrent_i8
from ..checks import one_scale
from .quantized import scheme_of


def svdf_quantized(node, x, features, times, bias, state):
    """`emit` over int8; the inputs are checked but for their types."""
    kept = node.inputs[4]
    for part, dtype in ((features, "int8"), (times, "int16"), (bias, "int32"), (kept, "int16")):
        node.require(
            part is None or part.dtype.name == dtype,
            f"'{part and part.name}' must be {dtype}, got {part and part.dtype}",
        )
    one_scale(node, x, features, times, kept)
    result = node.outputs[0].quantization
    scale = [np.float32(scheme_of(node, y, y.name).scale) for y in (x, features, times, kept)]
    before, of_features, of_times, of_state = scale
    scales = (
        float(np.float32(before * of_features / of_state)),
        float(np.float32(of_state * of_times / np.float32(result.scale))),
    )
    out = node.result((x.shape[0], features.shape[0] // int(node.options.rank)), np.int8)

    def emit(program):
        recurrent_i8.svdf(
            program,
            x,
            features,
            times,
            bias,
            state,
            out,
            scales=scales,
            zero_points=(x.quantization.zero_point, result.zero_point),
        )

    return emit
