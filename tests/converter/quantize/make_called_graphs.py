"""Records what TensorFlow's converter makes of loops and branches, in float and quantized.

    python tests/converter/quantize/make_called_graphs.py        (with TensorFlow 2.21)

called_graphs/<name>.<mode>.tflite are its files, <name>.npz has the samples that it measured.
"""

from pathlib import Path

import numpy as np
import tensorflow as tf

FOLDER = Path(__file__).parent / "called_graphs"
SIZE = 32
GENERATOR = np.random.default_rng(5)
WEIGHTS = tf.constant(GENERATOR.normal(size=(SIZE, SIZE)).astype(np.float32) * 0.15)


def counted_loop(x):
    """Three steps; the loop carries a counter beside the data."""

    def step(i, y):
        return i + 1, tf.tanh(tf.matmul(y, WEIGHTS) + y)

    _, y = tf.while_loop(lambda i, y: i < 3, step, (tf.constant(0), x), maximum_iterations=3)
    return tf.nn.relu(y)


def loop_on_data(x):
    """Steps until the data is large: the condition computes, too."""

    def step(i, y):
        return i + 1, tf.matmul(y, WEIGHTS) + y * 1.5

    _, y = tf.while_loop(lambda i, y: tf.reduce_max(tf.abs(y)) < 5.0, step, (tf.constant(0), x))
    return y


def branches(x):
    """Two branches, of which each sample takes one."""
    return tf.cond(
        x[0, 0] > 0, lambda: tf.nn.relu(x * 3.0 + 1.0), lambda: tf.tanh(x * x - 2.0) * 2.0
    )


def main():
    FOLDER.mkdir(exist_ok=True)
    for function in (counted_loop, loop_on_data, branches):
        name = function.__name__
        samples = GENERATOR.normal(size=(12, 1, SIZE)).astype(np.float32)
        np.savez_compressed(FOLDER / f"{name}.npz", samples=samples)
        signature = [tf.TensorSpec((1, SIZE), tf.float32, name="x")]
        concrete = tf.function(function, input_signature=signature).get_concrete_function()
        for mode in ("float", "dynamic", "int8"):
            converter = tf.lite.TFLiteConverter.from_concrete_functions([concrete])
            if mode != "float":
                converter.optimizations = [tf.lite.Optimize.DEFAULT]
            if mode == "int8":
                converter.representative_dataset = lambda s=samples: ([x] for x in s)
            (FOLDER / f"{name}.{mode}.tflite").write_bytes(converter.convert())


if __name__ == "__main__":
    main()
