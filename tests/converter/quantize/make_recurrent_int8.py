"""Writes recurrent_int8.json: what TensorFlow makes of recurrent operators in int8.

Run as `python tests/converter/quantize/make_recurrent_int8.py` in an environment with TensorFlow,
tf_keras and flatlite. Of each case there are "cells", for each recurrent operator of TensorFlow's
file its operands (type, scale, zero point, and of a constant the sums of its elements and of their
sizes), and "error", the root mean square of the difference between that file in LiteRT and the
float one.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import tf_keras
from ai_edge_litert.interpreter import Interpreter, OpResolverType
from tensorflow import lite
from tensorflow.lite.python.convert import mlir_quantize
from tensorflow.lite.python.optimize import calibrator

sys.path.insert(0, str(Path(__file__).parents[2] / "support"))
sys.path.insert(0, str(Path(__file__).parents[1] / "keras"))

from make_recurrent import DEPTH, LAYERS, STEPS
from quantized_cells import (
    CELL_SORTS,
    KERAS_CASES,
    cells,
    error_of,
    random_inputs,
    shapes_of,
)
from recurrent_models import content


def quantized(plain: bytes, samples: list[list[np.ndarray]]) -> bytes:
    """TensorFlow's int8 file of a float one, as its converter makes it behind `convert`."""
    measured = calibrator.add_intermediate_tensors(plain)
    return mlir_quantize(calibrator.Calibrator(measured).calibrate(lambda: iter(samples)))


def answers(model: bytes, inputs: list[list[np.ndarray]]) -> list[list[np.ndarray]]:
    """The outputs of runs one after the other, in LiteRT."""
    resolver = OpResolverType.BUILTIN_REF
    interpreter = Interpreter(model_content=model, experimental_op_resolver_type=resolver)
    interpreter.allocate_tensors()
    outputs = []
    for arrays in inputs:
        for detail, array in zip(interpreter.get_input_details(), arrays, strict=True):
            interpreter.set_tensor(detail["index"], array)
        interpreter.invoke()
        details = interpreter.get_output_details()
        outputs.append([interpreter.get_tensor(detail["index"]).copy() for detail in details])
    return outputs


def row(plain: bytes, n_samples: int, resets: bool = False) -> dict:
    """What is recorded of a float file; with `resets` each run starts anew."""
    samples, inputs = (random_inputs(shapes_of(plain), seed, n_samples) for seed in (1, 2))
    file = quantized(plain, samples)
    if resets:
        theirs, expected = ([answers(x, [one])[0] for one in inputs] for x in (file, plain))
    else:
        theirs, expected = answers(file, inputs), answers(plain, inputs)
    return {"cells": cells(file), "error": error_of(theirs, expected)}


def keras_file(case: str) -> bytes:
    """TensorFlow's float file of a layer, with the weights of make_recurrent.py."""
    random = np.random.default_rng(0)
    x = tf_keras.Input((STEPS, DEPTH), batch_size=2)
    model = tf_keras.Model(x, LAYERS[case](tf_keras.layers)(x))
    for weight in model.weights:
        value = random.normal(0, 0.4, weight.shape)
        weight.assign((np.round(value * 64) / 64).astype(np.float32))
    return lite.TFLiteConverter.from_keras_model(model).convert()


def main() -> None:
    rows = {sort.name: row(content(sort), 20) for sort in CELL_SORTS}
    rows |= {case: row(keras_file(case), 1, resets=True) for case in KERAS_CASES}
    path = Path(__file__).with_name("recurrent_int8.json")
    path.write_text(json.dumps(rows, separators=(",", ":")).replace('},"', '},\n"') + "\n")
    print(path, len(rows), path.stat().st_size)


if __name__ == "__main__":
    main()
