"""Writes tf_models.npz: the graphs of tf_models.py and what TensorFlow makes of them.

Run as `python tests/sizes/make_tf_models.py [NAME ...]` in an environment that has TensorFlow and
tf_keras; with names, only these are made anew. For each model: the frozen GraphDef, TensorFlow's
answers at each size, and how many operators of which kind TensorFlow's converter writes. Its file
is run by its own interpreter: where it refuses a size or answers otherwise, that is stored too.

The answers are those of the operations as they are written, which eager execution gives: Grappler
and TensorFlow's converter multiply by 1 / c where the source divides by c, and a size that is
rounded afterwards may come out one smaller (resize_with_pad).
"""

from __future__ import annotations

import collections
import json
import logging
import os
import sys
from pathlib import Path

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np
import tensorflow as tf
import tf_images  # noqa: F401
import tf_networks  # noqa: F401
import tf_sequences  # noqa: F401
from ai_edge_litert.interpreter import Interpreter
from stored import difference, sample, values
from tensorflow.lite.python import schema_py_generated as schema
from tensorflow.lite.python.convert_phase import ConverterError
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2
from tf_models import MODELS

logging.getLogger("tensorflow").setLevel(logging.ERROR)
tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})
PATH = Path(__file__).with_name("tf_models.npz")


def operators(content) -> dict[str, int]:
    """How many operators of each kind a file has, in all its subgraphs."""
    model = schema.ModelT.InitFromObj(schema.Model.GetRootAsModel(content, 0))
    names = {v: k for k, v in vars(schema.BuiltinOperator).items() if isinstance(v, int)}
    codes = [max(c.builtinCode, c.deprecatedBuiltinCode) for c in model.operatorCodes]
    ops = [
        names[codes[op.opcodeIndex]] for graph in model.subgraphs for op in graph.operators or ()
    ]
    return dict(sorted(collections.Counter(ops).items()))


def converted(concrete, module):
    """(TensorFlow's file, "") of a function, or (None, what TensorFlow's converter says)."""
    try:
        converter = tf.lite.TFLiteConverter.from_concrete_functions([concrete], module)
        return converter.convert(), ""
    except ConverterError as error:
        lines = [line for line in str(error).splitlines() if line.startswith("TF Select ops")]
        return None, (lines or str(error).splitlines())[0]


def of_their_file(content, arrays, expected) -> str:
    """ "" when TensorFlow's file answers as TensorFlow does, else what it does instead."""
    try:
        runner = Interpreter(model_content=content).get_signature_runner()
        got = runner(**arrays)
    except (ValueError, RuntimeError) as error:
        return str(error).splitlines()[0]
    (array,) = got.values()
    return difference(array, expected.shape, sample(expected))


def record(name, model, arrays):
    """Adds one model to `arrays`; gives what else is to be known of it."""
    tf.keras.backend.clear_session()
    specs = [
        tf.TensorSpec(shape, dtype, name=key) for key, (shape, dtype, _) in model.inputs.items()
    ]
    module = tf.Module()
    module.built = build = model.build(tf)
    module.run = tf.function(lambda *inputs: build(*inputs), input_signature=specs, autograph=False)
    concrete = module.run.get_concrete_function()
    frozen = convert_variables_to_constants_v2(concrete, lower_control_flow=False)
    message = frozen.graph.as_graph_def()
    message.library.gradient.clear()
    arrays[f"{name}/graph"] = np.frombuffer(message.SerializeToString(deterministic=True), np.uint8)
    content, refusal = converted(concrete, module)
    inputs = [tensor.name for tensor in frozen.inputs]
    refused = []
    for i, shapes in enumerate(model.sizes):
        fed = [
            values(shape, dtype, i, high)
            for shape, (_, dtype, high) in zip(shapes, model.inputs.values(), strict=True)
        ]
        expected = module.run(*map(tf.constant, fed)).numpy()
        np.testing.assert_allclose(frozen(*map(tf.constant, fed))[0], expected, 1e-5, 1e-5)
        arrays[f"{name}/{i}/shape"] = np.int32(expected.shape)
        arrays[f"{name}/{i}/elements"] = sample(expected)
        text = content and of_their_file(
            content, dict(zip(model.inputs, fed, strict=True)), expected
        )
        if text:
            refused.append([i, text])
    counts = operators(content) if content else None
    n = sum(counts.values()) if counts else refusal
    print(f"{name}: {n} operators, {message.ByteSize()} bytes {refused or ''}", flush=True)
    return {
        "inputs": inputs,
        "outputs": [tensor.name for tensor in frozen.outputs],
        "signature": [[list(s), d, high] for s, d, high in model.inputs.values()],
        "sizes": model.sizes,
        "operators": counts,
        "tensorflow_refuses": refusal,
        "tensorflow_file_differs": refused,
    }


def main() -> None:
    """Records all models, or those named."""
    names = sys.argv[1:] or list(MODELS)
    arrays, described = {}, {}
    if sys.argv[1:] and PATH.exists():
        arrays = dict(np.load(PATH))
        described = json.loads(arrays.pop("models").tobytes())["models"]
    for name in names:
        arrays = {key: a for key, a in arrays.items() if not key.startswith(f"{name}/")}
        described[name] = record(name, MODELS[name], arrays)
    text = json.dumps({"tensorflow": tf.__version__, "models": described})
    arrays["models"] = np.frombuffer(text.encode(), np.uint8)
    np.savez_compressed(PATH, **arrays)


if __name__ == "__main__":
    main()
