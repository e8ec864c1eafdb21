"""Makes fake_quant/weights.json: weights that are fake-quantized in ranges that are not symmetric.

.venv-tensorflow/bin/python tests/converter/quantize/make_fake_quant_weights.py
"""

import json
from pathlib import Path

import numpy as np
import tensorflow as tf

FILE = Path(__file__).parent / "fake_quant/weights.json"
ARGS = tf.quantization.fake_quant_with_min_max_args
SHAPES = {"FULLY_CONNECTED": (4, 3), "CONV_2D": (1, 1, 4, 3)}
RANGES = {  # low, high, bits, narrow
    "shifted": (-1.0, 3.0, 8, False),
    "shifted_narrow": (-1.0, 3.0, 8, True),
    "positive": (0.0, 2.0, 8, False),
    "slightly": (-5.0, 6.0, 8, False),
    "six_bits": (-1.0, 3.0, 6, False),
    "four_bits": (-1.0, 3.0, 4, False),
}


def row(kind, low, high, bits, narrow):
    """Weights, an input, what TensorFlow computes, and the weights' scale in its file."""
    generator = np.random.default_rng(1)
    weights = generator.uniform(low, high, SHAPES[kind]).astype(np.float32)
    weights.flat[0] = high
    x = generator.uniform(-1, 1, (2, *SHAPES[kind][:-2], 4)).astype(np.float32)

    @tf.function(input_signature=[tf.TensorSpec(x.shape)])
    def function(x):
        w = ARGS(weights, low, high, bits, narrow)
        x = ARGS(x, -1.0, 1.0)
        y = tf.matmul(x, w) if kind == "FULLY_CONNECTED" else tf.nn.conv2d(x, w, 1, "SAME")
        return ARGS(y, -8.0, 8.0)

    converter = tf.lite.TFLiteConverter.from_concrete_functions([function.get_concrete_function()])
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    interpreter = tf.lite.Interpreter(model_content=converter.convert())
    shapes = ([3, 4], [3, 1, 1, 4])
    scales = [
        d["quantization"] for d in interpreter.get_tensor_details() if [*d["shape"]] in shapes
    ]
    scale, zero_point = next(pair for pair in scales if pair[0])
    return {
        "kind": kind,
        "range": [low, high, bits, narrow],
        "weights": weights.tolist(),
        "x": x.tolist(),
        "y": function(x).numpy().tolist(),
        "scale": float(scale),
        "zero_point": int(zero_point),
    }


if __name__ == "__main__":
    rows = {f"{kind}-{name}": row(kind, *r) for kind in SHAPES for name, r in RANGES.items()}
    FILE.write_text(json.dumps(rows) + "\n")
