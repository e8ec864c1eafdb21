"""Models of Keras and ONNX raised and trained: the losses of the same steps in TensorFlow."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper
from support.running import answers

import flatlite.compat.v1 as tf
from flatlite.lite import Interpreter, to_graph

FOLDER = Path(__file__).with_name("fine_tuning")
STEPS = np.load(FOLDER / "steps.npz")
"""make_fine_tuning.py has recorded them."""
RATE = 0.25
TRAINED = [key.split("/")[:2] for key in STEPS.files if key.endswith("/losses")]


def check_steps(path, model, which, x):
    """Losses, what comes after them, and the file of it."""
    expected, labels = STEPS[f"{model}/{which}/losses"], STEPS[f"{model}/labels"]
    raised = to_graph(path, trainable=True if which == "all" else "last")
    (feed,), (logits,) = raised.inputs.values(), raised.outputs.values()
    with raised.graph.as_default(), tf.Session() as session:
        loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
        step = tf.train.GradientDescentOptimizer(RATE).minimize(loss)
        session.run(raised.initializer)
        losses = [session.run([loss, step], {feed: x})[0] for _ in expected]
        np.testing.assert_allclose(losses, expected, rtol=1e-5)
        y = session.run(logits, {feed: x})
        np.testing.assert_allclose(y, STEPS[f"{model}/{which}/y"], rtol=1e-4, atol=1e-5)
        content = raised.converter(session).convert()
    interpreter = Interpreter(model_content=content)
    interpreter.resize_tensor_input(interpreter.get_input_details()[0]["index"], x.shape)
    np.testing.assert_allclose(answers(interpreter, x)[0], y, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("model", "which"), TRAINED)
def test_keras(model, which):
    check_steps(FOLDER / f"{model}.keras", model, which, STEPS[f"{model}/x"])


def onnx_images():
    """The model "images" as ONNX has it: channels first."""
    weights = {
        f"{layer}.{i}": STEPS[f"images/{layer}/{i}"]
        for layer in ("first", "each", "points", "last")
        for i in (0, 1)
    }
    for layer in ("first", "points"):
        weights[f"{layer}.0"] = weights[f"{layer}.0"].transpose(3, 2, 0, 1)
    weights["each.0"] = weights["each.0"].transpose(2, 3, 0, 1)
    weights |= {"zero": np.float32(0), "six": np.float32(6)}
    node = helper.make_node
    nodes = [
        node("Conv", ["x", "first.0", "first.1"], ["a"], strides=[2, 2], auto_pad="SAME_UPPER"),
        node("Relu", ["a"], ["b"]),
        node("Conv", ["b", "each.0", "each.1"], ["c"], auto_pad="SAME_UPPER", group=6),
        node("Clip", ["c", "zero", "six"], ["d"]),
        node("Conv", ["d", "points.0", "points.1"], ["e"]),
        node("Tanh", ["e"], ["f"]),
        node("GlobalAveragePool", ["f"], ["g"]),
        node("Flatten", ["g"], ["h"]),
        node("Gemm", ["h", "last.0", "last.1"], ["last"]),
    ]
    real = onnx.TensorProto.FLOAT
    graph = helper.make_graph(
        nodes,
        "images",
        [helper.make_tensor_value_info("x", real, [12, 3, 8, 8])],
        [helper.make_tensor_value_info("last", real, [12, 4])],
        [numpy_helper.from_array(array, name) for name, array in weights.items()],
    )
    opsets = [helper.make_opsetid("", 17)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


@pytest.mark.parametrize("which", ["all", "last"])
def test_onnx(which, tmp_path):
    path = tmp_path / "images.onnx"
    onnx.save(onnx_images(), path)
    check_steps(path, "images", which, STEPS["images/x"].transpose(0, 3, 1, 2))
