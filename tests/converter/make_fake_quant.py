"""Makes fake_quant/: graphs with FakeQuant and what TensorFlow's converter (2.21) makes of them.

.venv-tensorflow/bin/python tests/converter/make_fake_quant.py
"""

from pathlib import Path

import numpy as np
import tensorflow as tf

FOLDER = Path(__file__).parent / "fake_quant"
v1 = tf.compat.v1
GENERATOR = np.random.default_rng(0)
FILTERS = GENERATOR.uniform(-1, 1, (3, 3, 3, 8)).astype(np.float32)
BIAS = GENERATOR.uniform(-1, 1, 8).astype(np.float32)
WEIGHTS = GENERATOR.uniform(-1, 1, (8, 5)).astype(np.float32)
VARS = tf.quantization.fake_quant_with_min_max_vars
UINT8 = {"inference_type": tf.uint8, "quantized_input_stats": {"x": (128.0, 127.0)}}
FILES = {
    ("one_range", "float"): {},
    ("one_range", "uint8"): UINT8,
    ("open_end", "uint8_default"): UINT8 | {"default_ranges_stats": (0, 6)},
    ("ranges", "int8"): {"inference_type": tf.int8, "quantized_input_stats": {"x": (0.0, 127.0)}},
}


def graph(name):
    """x -> CONV_2D of fake-quantized filters -> pooling -> mean -> product -> z"""
    with tf.Graph().as_default() as g:
        x = v1.placeholder(tf.float32, (1, 6, 6, 3), "x")
        quantized = tf.quantization.fake_quant_with_min_max_args(x, -1.0, 1.0, 8)
        if name == "ranges":
            ends = np.ones(8, np.float32) + np.arange(8, dtype=np.float32) / 10
            per_channel = tf.quantization.fake_quant_with_min_max_vars_per_channel
            filters = per_channel(FILTERS, -ends, ends, 8, narrow_range=True)
        else:
            filters = VARS(FILTERS, -1.01, 0.99, 8, narrow_range=True)
        y = tf.nn.conv2d(quantized, filters, 1, "SAME")
        y = VARS(tf.nn.relu6(tf.nn.bias_add(y, BIAS)), 0.0, 6.0, 8)
        y = tf.reduce_mean(tf.nn.max_pool2d(y, 2, 2, "SAME"), [1, 2])
        y = VARS(tf.reshape(y, (1, 8)), 0.0, 4.0, 8)
        z = tf.matmul(y, VARS(WEIGHTS, -1.0, 1.0, 8, narrow_range=True))
        tf.identity(z if name == "open_end" else VARS(z, -8.0, 9.0, 8), "z")
    return g.as_graph_def()


for (name, suffix), settings in FILES.items():
    definition = graph(name)
    (FOLDER / f"{name}.pb").write_bytes(definition.SerializeToString())
    converter = v1.lite.TFLiteConverter(definition, None, None, [("x", [1, 6, 6, 3])], ["z"])
    for key, value in settings.items():
        setattr(converter, key, value)
    (FOLDER / f"{name}_{suffix}.tflite").write_bytes(converter.convert())
