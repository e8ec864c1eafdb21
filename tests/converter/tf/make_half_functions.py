"""Records functions of float16 and bfloat16, and what TensorFlow answers.

Run as `python tests/converter/tf/make_half_functions.py` in an environment that has TensorFlow
2.21. half_functions.npz has the entries of graph_functions.npz; inputs and results are float32.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import tensorflow as tf
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

RNG = np.random.default_rng(12)
FILTERS, COLUMNS, VOLUMES = (RNG.normal(size=s) * 0.2 for s in [(3, 3, 2, 4), (3, 2, 4), (2,) * 5])
CASES = {
    "conv": (lambda x: tf.nn.relu(tf.nn.conv2d(x, half(FILTERS, x), 1, "SAME")), (2, 6, 6, 2)),
    "conv/bias": (
        lambda x: tf.nn.conv2d(x, half(FILTERS, x), 1, "SAME") + half(FILTERS[0, 0, 0], x),
        (2, 6, 6, 2),
    ),
    "conv/line": (lambda x: tf.nn.conv1d(x, half(COLUMNS, x), 1, "VALID"), (2, 6, 2)),
    "conv/volume": (lambda x: tf.nn.conv3d(x, half(VOLUMES, x), [1] * 5, "SAME"), (1, 4, 4, 4, 2)),
    "conv/depthwise": (
        lambda x: tf.nn.depthwise_conv2d(x, half(FILTERS[..., :1], x), [1] * 4, "SAME"),
        (2, 6, 6, 2),
    ),
    "conv/transposed": (
        lambda x: tf.nn.conv2d_transpose(x, half(FILTERS.swapaxes(2, 3), x), [2, 12, 12, 4], 2),
        (2, 6, 6, 2),
    ),
    "largest": (lambda x: tf.reduce_max(x, 1) - tf.reduce_min(x, 1), (3, 5)),
}  # fmt: skip


def half(array, x):
    return tf.constant(array, x.dtype)


def around(body, dtype):
    return lambda x: tf.cast(body(tf.cast(x, dtype)), tf.float32)


def main():
    recorded = {}
    for name, (body, shape) in CASES.items():
        for dtype in (tf.float16, tf.bfloat16):
            key, x = f"{name}/{dtype.name}", RNG.normal(size=shape).astype(np.float32)
            x = tf.cast(tf.cast(x, dtype), tf.float32)
            function = tf.function(around(body, dtype))
            traced = function.get_concrete_function(tf.TensorSpec(shape, tf.float32, name="x"))
            frozen = convert_variables_to_constants_v2(traced)
            content = frozen.graph.as_graph_def().SerializeToString()
            recorded[f"{key}/graph"] = np.frombuffer(content, np.uint8)
            recorded[f"{key}/ends"] = np.array([frozen.inputs[0].name, frozen.outputs[0].name])
            recorded[f"{key}/in"] = x.numpy()
            recorded[f"{key}/out"] = function(x).numpy()
    np.savez_compressed(Path(__file__).with_name("half_functions.npz"), **recorded)


if __name__ == "__main__":
    main()
