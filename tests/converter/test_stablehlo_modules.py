"""SavedModels and graphs with modules of StableHLO, against what JAX computes."""

from __future__ import annotations

import contextlib
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import flatlite.compat.v1 as tf
from flatlite.graph.format.graphdef import import_graph_def
from flatlite.graph.stablehlo.expand import expand_modules
from flatlite.lite import Interpreter, TFLiteConverter
from flatlite.schema.errors import ConverterError, ModelError
from flatlite.schema.mlir import bytecode
from flatlite.schema.proto import message

CASES = np.load(Path(__file__).with_name("stablehlo_modules.npz"))
OPERATORS = {
    "argmax": 1,
    "attn": 62,
    "complex_product": None,
    "cond": 3,
    "conv": 12,
    "cumsum": 1,
    "elu": 5,
    "embed": 7,
    "factor": None,
    "flat": 6,
    "flax_norm": 29,
    "functions": 166,
    "gelu": 111,
    "leaky": 1,
    "log_softmax": 18,
    "lower": None,
    "mlp": 36,
    "modules_in_loop": 1,
    "norm": 12,
    "remainder": 8,
    "right": None,
    "scan": 1,
    "scatters": 4,
    "search": None,
    "silu": 2,
    "softplus": 9,
    "sort": None,
    "spectrum": None,
    "threefry": None,
    "top": 1,
    "upper": None,
}
"""Operators of the file that TensorFlow 2.21's converter writes; None where it refuses."""
MORE = {"cond": 2, "remainder": 11, "scatters": 10}
"""Operators more than TensorFlow's: CAST and EQUAL, where its IF takes the boolean itself; the
remainder with its sign, where its FLOOR_MOD has that of the divisor; SCATTER_ND with its bounds,
where it writes STABLEHLO_SCATTER."""


def convert(name, tmp_path, change=lambda _: None):
    graph = message("GraphDef").FromString(CASES[f"{name}/graph"].tobytes())
    change(next(node for node in graph.node if node.op == "XlaCallModule"))
    path = tmp_path / "graph.pb"
    path.write_bytes(graph.SerializeToString())
    ends = [[t.split(":")[0] for t in CASES[f"{name}/{x}"]] for x in ("inputs", "outputs")]
    return TFLiteConverter.from_frozen_graph(str(path), *ends).convert()


@pytest.mark.parametrize("name", OPERATORS)
def test_outputs_of_jax(name, tmp_path):
    interpreter = Interpreter(model_content=convert(name, tmp_path))
    (detail,) = interpreter.get_input_details()
    x = CASES[f"{name}/x0"]
    interpreter.resize_tensor_input(detail["index"], x.shape)
    interpreter.allocate_tensors()
    interpreter.set_tensor(detail["index"], x)
    interpreter.invoke()
    for i, detail in enumerate(interpreter.get_output_details()):
        expected = CASES[f"{name}/y{i}"]
        np.testing.assert_allclose(
            interpreter.get_tensor(detail["index"]), expected, rtol=1e-5, atol=1e-5
        )
    count = len(interpreter._get_ops_details())
    assert OPERATORS[name] is None or count <= OPERATORS[name] + MORE.get(name, 0)


@pytest.mark.parametrize("name", OPERATORS)
def test_sessions_run_modules(name):
    graph = message("GraphDef").FromString(CASES[f"{name}/graph"].tobytes())
    with tf.Graph().as_default(), tf.Session() as session:
        tf.import_graph_def(graph, name="")
        x, *outputs = (
            tensor
            for end in ("inputs", "outputs")
            for tensor in map(session.graph.get_tensor_by_name, CASES[f"{name}/{end}"])
        )
        for i, result in enumerate(session.run(outputs, {x: CASES[f"{name}/x0"]})):
            np.testing.assert_allclose(result, CASES[f"{name}/y{i}"], rtol=1e-5, atol=1e-5)


def module_of(name):
    graph = message("GraphDef").FromString(CASES[f"{name}/graph"].tobytes())
    return next(node.attr["module"].s for node in graph.node if node.op == "XlaCallModule")


@pytest.mark.parametrize("name", ("mlp", "scatters"))
def test_damaged_modules(name):
    graph, draw = message("GraphDef").FromString(CASES[f"{name}/graph"].tobytes()), random.Random(0)
    node = next(node for node in graph.node if node.op == "XlaCallModule")
    content = node.attr["module"].s
    for _ in range(300):
        damaged = bytearray(content)
        for _ in range(draw.randint(1, 3)):
            damaged[draw.randrange(len(damaged))] = draw.randrange(256)
        for part in (damaged, content[: draw.randrange(len(content))]):
            with contextlib.suppress(ModelError, ConverterError):
                bytecode.read(bytes(part))
                node.attr["module"].s = bytes(part)
                expand_modules(import_graph_def(graph))


REFUSALS = {
    "text": (b"module {}", "its module must begin with"),
    "cut": (module_of("mlp")[:200], "its module must have 149 bytes more"),
    "version": (module_of("mlp")[:4] + b"\x7f" + module_of("mlp")[5:], "up to 6, got 63"),
    "function": (module_of("mlp").replace(b"\0main\0", b"\0mail\0"), "must have a function 'main'"),
    "operation": (module_of("norm").replace(b"rsqrt_v2", b"rsqrx_v2"), r"stablehlo.rsqrx 'Xla"),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_refusals(name, tmp_path):
    content, words = REFUSALS[name]

    def change(node):
        node.attr["module"].s = content

    with pytest.raises((ModelError, ConverterError), match=words):
        convert("norm", tmp_path, change)


def test_softplus_gives_nan_for_nan(litert):
    """As JAX's, with a guard that is dropped; TFLite's MAXIMUM and MINIMUM would lose it."""
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [2])
        soft = tf.maximum(x, 0.0) + tf.math.log1p(tf.exp(-tf.abs(x)))
        y = tf.where(tf.not_equal(x, x), x, soft)
        with tf.Session() as session:
            content = TFLiteConverter.from_session(session, [x], [y]).convert()
    values = np.array([np.nan, 0], np.float32)
    interpreter = Interpreter(model_content=content)
    interpreter.allocate_tensors()
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], values)
    interpreter.invoke()
    result = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
    for y in (result, litert.run(content, [[values]])[0][0]):
        np.testing.assert_allclose(y, [np.nan, np.log(2)], rtol=1e-6)


def test_a_conversion_without_modules_does_without_their_reader(tmp_path):
    code = (
        "import sys, flatlite.lite as lite\n"
        "converter = lite.TFLiteConverter.from_saved_model(sys.argv[1])\n"
        "converter.verify = False\n"
        "converter.convert()\n"
        "print(*sorted({m for m in sys.modules if '.mlir' in m or '.stablehlo.' in m}))\n"
    )
    folder = Path(__file__).parents[1] / "corpus/C/mobilenet_v2_k3/saved_model"
    command = [sys.executable, "-W", "ignore", "-c", code, str(folder)]
    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout == "\n"
