"""Errors about an operator name the nodes of the source that it comes from."""

from __future__ import annotations

import re

import numpy as np
import onnx
import pytest
from onnx_models import floats, model_of, node

import flatlite.compat.v1 as tf
from flatlite.errors import ConverterError
from flatlite.lite import TFLiteConverter


def named(name, *args, **attributes):
    result = node(*args, **attributes)
    result.name = name
    return result


def branches():
    inner = named("inside", "MatMul", "x w", "z")
    result = onnx.helper.make_tensor_value_info("z", 1, None)
    branch = onnx.helper.make_graph([inner], "branch", [], [result])
    return named("choice", "If", "c", then_branch=branch, else_branch=branch)


W = floats(5, 3)
ONNX = {
    "MatMul 'decoder/project': BATCH_MATMUL 'y': inner dimensions must agree, got 4 and 5": (
        named("decoder/project", "MatMul", "x w"),
        W,
    ),
    "Reshape 'fold': RESHAPE 'y': 8 elements of shape (2, 4) do not divide into [5, -1]": (
        named("fold", "Reshape", "x w"),
        np.int64([5, -1]),
    ),
    "Concat 'join': CONCATENATION 'y': inputs must have equal shapes but for axis 0": (
        named("join", "Concat", "x w", axis=0),
        W,
    ),
    "Add 'residual': ADD 'y': shapes (2, 4) and (5, 3) do not broadcast": (
        named("residual", "Add", "x w"),
        W,
    ),
    "If 'choice': MatMul 'inside': BATCH_MATMUL 'choice': inner dimensions must agree": (
        branches(),
        W,
    ),
}


@pytest.mark.parametrize("message", ONNX)
def test_onnx_nodes(message):
    onnx_node, w = ONNX[message]
    inputs = {"x": floats(2, 4), "c": np.bool_(True)}
    model = model_of([onnx_node], inputs, constants={"w": w})
    with pytest.raises(ConverterError, match="^" + re.escape(message)):
        TFLiteConverter.from_onnx_model(model).convert()


STEPS = {
    "BatchMatMulV2 'steps/project': FULLY_CONNECTED 'steps/project': input must divide": (
        lambda x: tf.matmul(x, tf.ones([5, 3]), name="project")
    ),
    "Reshape 'steps/fold': RESHAPE 'steps/fold': 8 elements of shape (2, 4) do not divide": (
        lambda x: tf.reshape(x, [5, -1], name="fold")
    ),
    "ConcatV2 'steps/join': CONCATENATION 'steps/join': inputs must have equal shapes": (
        lambda x: tf.concat([x, tf.ones([2, 7])], 0, name="join")
    ),
    "AddV2 'steps/residual': ADD 'steps/residual': shapes (2, 4) and (3, 5) do not": (
        lambda x: tf.add(x, tf.ones([3, 5]), name="residual")
    ),
}


@pytest.mark.parametrize("message", STEPS)
def test_tensorflow_nodes(message, tmp_path):
    """Of a loop's body, whose shapes no import of a graph looks at."""
    path = tmp_path / "graph.pb"
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, None, name="x")
        shapes = (tf.TensorShape([]), tf.TensorShape(None))
        _, y = tf.while_loop(
            lambda i, y: i < 3,
            lambda i, y: (i + 1, STEPS[message](y)),
            (0, x),
            shapes,
            name="steps",
        )
        path.write_bytes(graph.as_graph_def().SerializeToString())
    converter = TFLiteConverter.from_frozen_graph(path, ["x"], [y.op.name], {"x": [2, 4]})
    with pytest.raises(ConverterError, match=re.escape(f"While 'steps': {message}")):
        converter.convert()
