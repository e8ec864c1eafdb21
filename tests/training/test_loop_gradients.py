"""Gradients through loops and branches of Switch and Merge that were imported."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

import flatlite.compat.v1 as tf

FOLDER = Path(__file__).with_name("loop_gradients")
ANSWERS = json.loads((FOLDER / "answers.json").read_text())
X = np.linspace(-1, 1, 4 * 3).reshape(4, 3).astype(np.float32)


def content(name):
    """A MetaGraphDef that TensorFlow wrote."""
    return gzip.decompress((FOLDER / f"{name}.meta.gz").read_bytes())


@pytest.mark.parametrize("name", ANSWERS)
def test_gradients(name, tmp_path):
    """Values and gradients as those that TensorFlow adds where it built the graph itself."""
    path = tmp_path / "graph.meta"
    path.write_bytes(content(name))
    expected = [np.array(value, np.float32) for value in ANSWERS[name]]
    with tf.Graph().as_default() as graph, tf.Session() as session:
        tf.train.import_meta_graph(str(path))
        x, y = graph.get_tensor_by_name("x:0"), graph.get_tensor_by_name("y:0")
        (w,) = (v for v in tf.global_variables() if v.op.name == "w")
        session.run("init")
        np.testing.assert_allclose(session.run(y, {x: X}), expected[0], rtol=1e-4, atol=1e-5)
        gradients = tf.gradients(tf.reduce_sum(tf.sin(y)), [x, w])
        values = session.run([y, *map(tf.convert_to_tensor, gradients)], {x: X})
    for value, right in zip(values, expected, strict=True):
        np.testing.assert_allclose(value, right, rtol=1e-4, atol=1e-5)


def test_of_graph_def():
    """Without what a MetaGraphDef says of loops, under other names, and twice in one run."""
    meta = tf.MetaGraphDef.FromString(content("arrays"))
    expected = np.array(ANSWERS["arrays"][1], np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(X)
        names = ["y:0", "init"]
        y, init = tf.import_graph_def(meta.graph_def, {"x:0": x * 1}, names, name="net")
        session.run(init)
        (once,) = tf.gradients(tf.reduce_sum(tf.sin(y)), x)
        (again,) = tf.gradients(tf.reduce_sum(tf.sin(y)) * 2, x)
        values = session.run([once, again])
    np.testing.assert_allclose(values[0], expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(values[1], 2 * expected, rtol=1e-4, atol=1e-5)


def test_unknown_form():
    """What leaves a frame without its condition is named, and not taken for unconnected."""
    with tf.Graph().as_default():
        x = tf.constant(1.0)
        y = tf.raw_ops.Exit(data=tf.raw_ops.Enter(data=x, frame_name="f"))
        with pytest.raises(LookupError, match=r"No gradient defined .* type: Exit.* condition"):
            tf.gradients(y, x)
