"""Writes quantized_variables: SavedModels with variables, and how TensorFlow quantizes these.

Run as `python tests/converter/quantize/make_variables.py` in an environment with TensorFlow. Of
each model variables.json has, by scheme ("int8", "int8_variables" with the attribute that asks for
variables of integers, "int16x8"), "uses", (operator, type, scale, zero point) of what is read and
assigned, and "error", the root mean square of the difference to TensorFlow's own answers over the
twenty samples one after the other.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import tensorflow as tf
from ai_edge_litert.interpreter import Interpreter, OpResolverType

sys.path.insert(0, str(Path(__file__).parents[2] / "support"))

from quantized_cells import error_of, random_inputs, variable_uses

HERE = Path(__file__).parent / "variables"
INT16X8 = tf.lite.OpsSet.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8
SHAPE = (1, 6)


def weights(*shape):
    return tf.constant(np.random.default_rng(0).normal(0, 0.4, shape).astype(np.float32))


class Window(tf.Module):
    """A layer over the last four inputs, which a variable keeps."""

    def __init__(self):
        super().__init__()
        self.past = tf.Variable(np.zeros((1, 4, 6), np.float32), name="past")
        self.first, self.second = weights(6, 6), weights(24, 8)

    @tf.function(input_signature=[tf.TensorSpec(SHAPE, tf.float32, "x")])
    def step(self, x):
        row = tf.nn.relu(tf.matmul(x, self.first))
        rows = tf.concat([self.past[:, 1:], row[:, None]], 1)
        self.past.assign(rows)
        return {"y": tf.matmul(tf.reshape(rows, [1, 24]), self.second)}


class Average(tf.Module):
    """A moving average, which begins with other numbers, and what differs from it."""

    def __init__(self):
        super().__init__()
        self.mean = tf.Variable(np.full(SHAPE, 0.25, np.float32), name="mean")
        self.last = tf.Variable(np.zeros(SHAPE, np.float32), name="last")
        self.weights = weights(6, 6)

    @tf.function(input_signature=[tf.TensorSpec(SHAPE, tf.float32, "x")])
    def step(self, x):
        before = self.mean * 0.75
        mean = before + x * 0.25
        difference = x - self.last.read_value()
        self.mean.assign(mean)
        self.last.assign(x)
        return {"y": tf.matmul(mean, self.weights), "difference": difference}


def converted(folder: Path, scheme: str, samples) -> bytes:
    converter = tf.lite.TFLiteConverter.from_saved_model(str(folder))
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.representative_dataset = lambda: ({"x": x} for (x,) in samples)
    converter._experimental_variable_quantization = scheme == "int8_variables"
    if scheme == "int16x8":
        converter.target_spec.supported_ops = [INT16X8]
    return converter.convert()


def answers(content: bytes, inputs, keys) -> list[list[np.ndarray]]:
    resolver = OpResolverType.BUILTIN_REF
    interpreter = Interpreter(model_content=content, experimental_op_resolver_type=resolver)
    run = interpreter.get_signature_runner()
    return [[outputs[key] for key in keys] for outputs in (run(x=x) for (x,) in inputs)]


def main() -> None:
    shutil.rmtree(HERE, ignore_errors=True)
    rows = {}
    samples = inputs = random_inputs([SHAPE], 1, 20)
    for make in (Window, Average):
        name = make.__name__.lower()
        folder = HERE / name
        module = make()
        tf.saved_model.save(module, str(folder), signatures=module.step)
        (folder / "fingerprint.pb").unlink(missing_ok=True)
        runs = [module.step(x) for (x,) in inputs]
        keys = sorted(runs[0])
        expected = [[actual[key].numpy() for key in keys] for actual in runs]
        rows[name] = {"keys": keys, "schemes": {}}
        for scheme in ("int8", "int8_variables", "int16x8"):
            content = converted(folder, scheme, samples)
            rows[name]["schemes"][scheme] = {
                "uses": variable_uses(content),
                "error": error_of(answers(content, inputs, keys), expected),
            }
    path = HERE / "variables.json"
    path.write_text(json.dumps(rows, indent=1) + "\n")
    print(path.read_text())


if __name__ == "__main__":
    main()
