"""Writes variants of one network with TensorFlow's converter; build.py starts it.

    python models/write.py FOLDER NETWORK VARIANT...

Writes FOLDER/NETWORK_VARIANT.tflite and .npz, a sample of its inputs in order; prints one line of
JSON per variant when it is done: {"variant", "sha256"} or {"variant", "refused"}.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from pathlib import Path

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"

import networks
import numpy as np
import tensorflow as tf
from tensorflow.lite.python.convert_phase import ConverterError

CALIBRATION = 12
OPS = tf.lite.OpsSet
RESOLVER = tf.lite.experimental.OpResolverType


def converter(model, variant: str, samples) -> tf.lite.TFLiteConverter:
    """TensorFlow's converter for `model` at batch 1, set for `variant`."""
    signature = [tf.TensorSpec((1, *t.shape[1:]), t.dtype) for t in model.inputs]
    call = tf.function(lambda *x: model(x if len(x) > 1 else x[0], training=False))
    functions = [call.get_concrete_function(*signature)]
    converter = tf.lite.TFLiteConverter.from_concrete_functions(functions, model)
    if variant == "float32":
        return converter
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    if variant == "dynamic":
        return converter
    converter.representative_dataset = lambda: iter(samples)
    ops, dtype = {
        "int8": (OPS.TFLITE_BUILTINS_INT8, tf.int8),
        "int16x8": (OPS.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8, tf.int16),
    }[variant]
    converter.target_spec.supported_ops = [ops]
    if all(t.dtype == tf.float32 for t in model.inputs):
        converter.inference_input_type = dtype
    converter.inference_output_type = dtype
    return converter


def interpreter_of(content: bytes) -> tf.lite.Interpreter:
    """TensorFlow's interpreter, which keeps every tensor."""
    return tf.lite.Interpreter(
        model_content=content,
        num_threads=2,
        experimental_op_resolver_type=RESOLVER.BUILTIN_WITHOUT_DEFAULT_DELEGATES,
        experimental_preserve_all_tensors=True,
    )


def constant_layer(interpreter: tf.lite.Interpreter, inputs) -> str | None:
    """The first integer layer whose output is constant: one such proves and measures nothing.

    None when there is none, or when TensorFlow's interpreter cannot run the model.
    """
    try:
        interpreter.allocate_tensors()
        for detail, array in zip(interpreter.get_input_details(), inputs, strict=True):
            interpreter.set_tensor(detail["index"], array)
        interpreter.invoke()
    except (RuntimeError, ValueError):
        return None
    tensors = {d["index"]: d for d in interpreter.get_tensor_details()}
    for operator in interpreter._get_ops_details():
        for index in operator["outputs"]:
            if index in tensors and tensors[index]["dtype"] in (np.int8, np.int16):
                array = interpreter.get_tensor(index)
                if array.size > 1 and array.min() == array.max():
                    return f"{operator['op_name']} '{tensors[index]['name']}'"
    return None


def quantized(array: np.ndarray, detail: dict) -> np.ndarray:
    """The array as the input `detail` describes wants it."""
    scale, zero_point = detail["quantization"]
    if not scale:
        return array.astype(detail["dtype"])
    limits = np.iinfo(detail["dtype"])
    return np.clip(np.round(array / scale) + zero_point, limits.min, limits.max).astype(
        detail["dtype"]
    )


def write(folder: Path, name: str, variants: list[str]) -> None:
    """Writes the variants of one network and reports each."""
    network = networks.NETWORKS[name]
    model = networks.seeded(network)
    samples = network.samples(model, CALIBRATION)
    for variant in variants:
        path = folder / f"{name}_{variant}.tflite"
        path.unlink(missing_ok=True)
        try:
            content = converter(model, variant, samples).convert()
        except (ConverterError, RuntimeError, ValueError) as error:
            lines = [line.strip() for line in str(error).splitlines() if line.strip()]
            result = {"refused": (lines or [type(error).__name__])[0][:200]}
        else:
            interpreter = interpreter_of(content)
            details = interpreter.get_input_details()
            inputs = [quantized(a, d) for a, d in zip(samples[-1], details, strict=True)]
            constant = constant_layer(interpreter, inputs)
            if constant is None:
                path.write_bytes(content)
                np.savez(path.with_suffix(".npz"), *inputs)
                result = {"sha256": hashlib.sha256(content).hexdigest()}
            else:
                result = {"refused": f"output of {constant} is constant"}
        print("\n" + json.dumps({"variant": variant, **result}), flush=True)


if __name__ == "__main__":
    write(Path(sys.argv[1]), sys.argv[2], sys.argv[3:])
