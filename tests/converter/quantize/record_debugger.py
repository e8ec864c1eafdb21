"""Records what TensorFlow's QuantizationDebugger says of models/digits, and its debug model.

Run in an environment with TensorFlow 2.21, which neither flatlite nor its tests need:

    python tests/converter/quantize/record_debugger.py

Writes tests/converter/quantize/debugger: digits.csv, digits_fully.csv (inputs and outputs in int8),
the files that they are of, and model.json, what a model metric says. conv.csv and conv_fully.csv
are of conv.pb, a convolution whose inputs do not lie on the steps of their scale.
"""

import json
import os
from pathlib import Path

os.environ["CUDA_VISIBLE_DEVICES"] = "-1"

import numpy as np
import tensorflow as tf
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

ROOT = Path(__file__).parents[2]
TARGET = Path(__file__).parent / "debugger"
IMAGES = np.load(ROOT / "models/digits/example.npz")["image"][:20]


def samples():
    for image in IMAGES:
        yield [image[np.newaxis]]


def correlation(expected, quantized, scale, zero_point):
    real = (quantized.astype(np.int32) - zero_point) * scale
    return np.corrcoef(expected.ravel(), real.ravel())[0, 1]


def ramps():
    """Samples of the convolution."""
    for i in range(5):
        yield [np.arange(9, dtype=np.float32).reshape(1, 3, 3, 1) * i]


@tf.function(input_signature=[tf.TensorSpec([1, 3, 3, 1], tf.float32)])
def convolution(x):
    filters = tf.constant([-2, -1, 1, 2], tf.float32, [2, 2, 1, 1])
    return tf.nn.relu(tf.nn.conv2d(x, filters, 1, "SAME"), name="output")


def record_convolution():
    function = convolution.get_concrete_function()
    graph = convert_variables_to_constants_v2(function).graph.as_graph_def()
    (TARGET / "conv.pb").write_bytes(graph.SerializeToString())
    for name, fully in (("conv", False), ("conv_fully", True)):
        converter = tf.lite.TFLiteConverter.from_concrete_functions([function], tf.Module())
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
        converter.representative_dataset = ramps
        debugger = tf.lite.experimental.QuantizationDebugger(
            converter=converter,
            debug_dataset=ramps,
            debug_options=tf.lite.experimental.QuantizationDebugOptions(fully_quantize=fully),
        )
        debugger.run()
        with open(TARGET / f"{name}.csv", "w", newline="") as file:
            debugger.layer_statistics_dump(file)


def main():
    TARGET.mkdir(exist_ok=True)
    record_convolution()
    recorded = {}
    for name, fully in (("digits", False), ("digits_fully", True)):
        converter = tf.lite.TFLiteConverter.from_saved_model(
            str(ROOT / "models/digits/saved_model")
        )
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
        converter.representative_dataset = samples
        options = tf.lite.experimental.QuantizationDebugOptions(
            layer_debug_metrics={"l1_norm": lambda error: np.mean(np.abs(error))},
            model_debug_metrics={"largest": lambda x, y: np.abs(x[0] - y[0]).max()},
            fully_quantize=fully,
        )
        debugger = tf.lite.experimental.QuantizationDebugger(
            converter=converter, debug_dataset=samples, debug_options=options
        )
        debugger.run()
        with open(TARGET / f"{name}.csv", "w", newline="") as file:
            debugger.layer_statistics_dump(file)
        (TARGET / f"{name}.tflite").write_bytes(debugger.get_debug_quantized_model())
        recorded[name] = {k: float(v) for k, v in debugger.model_statistics.items()}
        direct = tf.lite.experimental.QuantizationDebugOptions(
            layer_direct_compare_metrics={"correlation": correlation}
        )
        debugger = tf.lite.experimental.QuantizationDebugger(
            quant_debug_model_content=debugger.quant_model,
            debug_dataset=samples,
            debug_options=direct,
        )
        debugger.run()
        recorded[f"{name}/correlation"] = {
            key: float(row["correlation"]) for key, row in debugger.layer_statistics.items()
        }
    (TARGET / "model.json").write_text(json.dumps(recorded, indent=1))


if __name__ == "__main__":
    main()
