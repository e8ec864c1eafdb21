"""Gradients through loops and branches of Switch and Merge that were imported."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from loop_gradient_programs import PROGRAMS, W, X

import flatlite.compat.v1 as tf
from flatlite.schema import proto

FOLDER = Path(__file__).with_name("loop_gradients")
ANSWERS = json.loads((FOLDER / "answers.json").read_text())
CONTEXTS = {"cond_context": "CondContextDef", "while_context": "WhileContextDef"}
WITHOUT_ARRAYS = (
    *("powers", "until", "nested", "chosen_in_loop", "loop_in_branch", "other_branch"),
    *("growing", "rows"),
)


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


def nodes_of(meta):
    """Names, types and inputs of nodes, those that wait only for where they live without that."""
    return {
        (node.name, node.op, *(text for text in node.input if not text.startswith("^")))
        for node in meta.graph_def.node
        if not node.name.startswith("w/")
    }


def contexts_of(meta):
    """What is said of branches and loops; values in no order."""
    return [
        proto.parse(kind, content)
        for key, kind in CONTEXTS.items()
        for content in meta.collection_def[key].bytes_list.value
    ]


@pytest.mark.parametrize("name", WITHOUT_ARRAYS)
def test_written_as_tensorflow_writes(name, control_flow_v1):
    """Nodes, their names and inputs, and what a MetaGraphDef says of them."""
    build = next(program for program in PROGRAMS if program.__name__ == name)
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        w = tf.Variable(W, name="w", use_resource=PROGRAMS.index(build) % 2 == 0)
        tf.identity(build(tf, x, w), name="y")
        tf.global_variables_initializer()
        written = tf.train.export_meta_graph()
    expected = tf.MetaGraphDef.FromString(content(name))
    assert nodes_of(written) == nodes_of(expected)
    assert not written.graph_def.library.function
    assert contexts_of(written) == contexts_of(expected)


def test_second_derivatives_of_arrays(control_flow_v1):
    """Through arrays of gradients; TensorFlow has none of loops of version 1."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [3])
        y = tf.map_fn(lambda row: row**3, x)
        (second,) = tf.gradients(tf.gradients(y, x), x)
        value = np.float32([0.5, 1.5, -0.3])
        np.testing.assert_allclose(session.run(second, {x: value}), 6 * value, rtol=1e-6)


def test_gradient_of_an_array_that_grew():
    """As TensorFlow's testSkipEagerTensorArraySplitDynamic."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant([1.0, 2.0, 3.0])
        array = tf.TensorArray(tf.float32, size=3, dynamic_size=True)
        y = array.split(x, [1, 1, 1]).write(3, [4.0]).concat()
        values = session.run([y, *tf.gradients(y, x)])
    np.testing.assert_array_equal(values[0], [1, 2, 3, 4])
    np.testing.assert_array_equal(values[1], [1, 1, 1])
