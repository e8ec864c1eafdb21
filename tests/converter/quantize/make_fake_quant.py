"""Makes fake_quant/: graphs with FakeQuant and what TensorFlow's converter (2.21) makes of them.

.venv-tensorflow/bin/python tests/converter/quantize/make_fake_quant.py
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
MATRIX = GENERATOR.uniform(-1, 1, (108, 16)).astype(np.float32)
NETWORKS = ("one_range", "open_end", "ranges")
VARS = tf.quantization.fake_quant_with_min_max_vars
UINT8 = {"inference_type": tf.uint8, "quantized_input_stats": {"x": (128.0, 127.0)}}
INT8 = {"inference_type": tf.int8, "quantized_input_stats": {"x": (0.0, 127.0)}}
DEFAULT = {"optimizations": [tf.lite.Optimize.DEFAULT]}
FILES = {
    ("one_range", "float"): {},
    ("one_range", "uint8"): UINT8,
    ("open_end", "uint8_default"): UINT8 | {"default_ranges_stats": (0, 6)},
    ("ranges", "int8"): INT8,
    ("branches", "uint8"): UINT8,
    ("branches", "int8"): INT8,
    ("joined", "uint8"): UINT8,
    ("joined", "int8"): INT8,
    ("across", "uint8"): UINT8,
    ("across", "int8"): INT8,
    ("averaged", "int8"): INT8,
    ("normalized", "int8"): INT8,
    ("wide", "uint8"): UINT8,
    ("wide", "int8"): INT8,
    ("narrow", "default_int8"): INT8 | DEFAULT,
    ("joined", "default_uint8"): UINT8 | DEFAULT,
    ("joined", "default_int8"): INT8 | DEFAULT,
    ("plain", "default_uint8"): UINT8 | DEFAULT,
    ("plain", "input_uint8"): UINT8
    | {"inference_type": tf.float32, "inference_input_type": tf.uint8},
}
"""(graph, name) -> the attributes of TensorFlow's converter."""


def network(name):
    """x -> CONV_2D of fake-quantized filters -> pooling -> mean -> product -> z"""
    x = v1.placeholder(tf.float32, (1, 6, 6, 3), "x")
    quantized = tf.quantization.fake_quant_with_min_max_args(x, -1.0, 1.0, 8)
    kernel = filters_by_channel() if name == "ranges" else filters(8, -1.01, 0.99)
    y = tf.nn.conv2d(quantized, kernel, 1, "SAME")
    y = VARS(tf.nn.relu6(tf.nn.bias_add(y, BIAS)), 0.0, 6.0, 8)
    y = tf.reduce_mean(tf.nn.max_pool2d(y, 2, 2, "SAME"), [1, 2])
    y = VARS(tf.reshape(y, (1, 8)), 0.0, 4.0, 8)
    z = tf.matmul(y, VARS(WEIGHTS, -1.0, 1.0, 8, narrow_range=True))
    return z if name == "open_end" else VARS(z, -8.0, 9.0, 8)


def filters(n=8, low=-1.0, high=1.0):
    """Filters for `n` channels, fake-quantized in one range."""
    return VARS(FILTERS[..., :n], low, high, 8, narrow_range=True)


def filters_by_channel():
    """Filters with a range for each channel."""
    ends = np.ones(8, np.float32) + np.arange(8, dtype=np.float32) / 10
    quantize = tf.quantization.fake_quant_with_min_max_vars_per_channel
    return quantize(FILTERS, -ends, ends, 8, narrow_range=True)


def small(name):
    """What one rule is about; `name` says which."""
    x = v1.placeholder(tf.float32, (1, 6, 6, 3), "x")
    if name == "plain":
        return tf.nn.relu(tf.matmul(tf.reshape(x, (1, 108)), MATRIX))
    if name == "narrow":  # of activations, around a transposed convolution
        quantized = VARS(x, -1.0, 1.0, 8, narrow_range=True)
        kernel = VARS(FILTERS, -3.0, 3.0, 8, narrow_range=True)
        y = tf.nn.conv2d_transpose(quantized, tf.transpose(kernel, (0, 1, 3, 2)), (1, 6, 6, 8), 1)
        return VARS(tf.nn.relu(tf.nn.bias_add(y, BIAS)), -3.0, 3.0, 8, narrow_range=True)
    quantized = VARS(x, -1.0, 1.0, 8)
    if name == "wide":  # filters of 256 levels, 0 between two of them
        return VARS(tf.nn.conv2d(quantized, VARS(FILTERS, -1.0, 1.0, 8), 1, "SAME"), -8.0, 8.0, 8)
    kernel = filters_by_channel() if name == "normalized" else filters()
    y = tf.nn.conv2d(quantized, kernel, 1, "SAME")
    if name == "across":  # FakeQuant where bias and activation would have gone into the convolution
        y = VARS(tf.nn.bias_add(VARS(y, -5.0, 5.0, 8), BIAS), -6.0, 6.0, 8)
        return VARS(tf.nn.relu(y), 0.0, 5.5, 8)
    if name == "normalized":
        scales = np.linspace(-0.5, 2.0, 8, dtype=np.float32)
        return VARS(tf.nn.relu6(y * scales + BIAS), 0.0, 5.0, 8)
    y = VARS(tf.nn.relu6(y), 0.0, 6.0, 8)
    if name == "averaged":
        return tf.reduce_mean(y, [1, 2])
    other = VARS(tf.nn.conv2d(quantized, filters(4), 1, "SAME"), -3.0, 3.0, 8)
    y = tf.concat([y, other], 3)
    if name == "joined":
        y = VARS(y, -3.0, 5.0, 8)
    return tf.nn.max_pool2d(y, 2, 2, "SAME")


def graph(name):
    """A frozen graph x -> z."""
    with tf.Graph().as_default() as g:
        tf.identity((network if name in NETWORKS else small)(name), "z")
    return g.as_graph_def()


for (name, suffix), settings in FILES.items():
    definition = graph(name)
    (FOLDER / f"{name}.pb").write_bytes(definition.SerializeToString(deterministic=True))
    converter = v1.lite.TFLiteConverter(definition, None, None, [("x", [1, 6, 6, 3])], ["z"])
    for key, value in settings.items():
        setattr(converter, key, value)
    (FOLDER / f"{name}_{suffix}.tflite").write_bytes(converter.convert())
