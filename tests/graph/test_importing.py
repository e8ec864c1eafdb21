"""`tf.import_graph_def`: what it adds, maps and gives back."""

import re

import numpy as np
import pytest

import flatlite.compat.v1 as tf
from flatlite.graph.format.graphdef import to_graph_def


@pytest.fixture(scope="module")
def message():
    """y = 2 x + 1, which waits for a NoOp."""
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None], name="x")
        with tf.control_dependencies([tf.no_op(name="first")]):
            tf.add(tf.add(x, x, name="double"), 1.0, name="y")
    return to_graph_def(graph)


@pytest.mark.parametrize("form", [lambda m: m, lambda m: m.SerializeToString()])
def test_mapped(message, form):
    """Operations come under a name scope of their own and read what is mapped."""
    with tf.Graph().as_default() as graph, tf.Session() as session:
        inputs = tf.constant([1.0, 2.0])
        y, double = tf.import_graph_def(form(message), {"x:0": inputs}, ["y:0", "double"])
        assert y.name == "import/y:0"
        assert [op.name for op in double.control_inputs] == ["import/first"]
        assert double is graph.get_operation_by_name("import/double")
        assert session.run(y).tolist() == [3, 5]
        assert tf.import_graph_def(message) is None
        assert "import_1/y" in graph
        seven = tf.constant([7.0])
        (z,) = tf.import_graph_def(message, {"double": seven}, ["y:0"], name="")
        assert z.name == "y:0"
        assert session.run(z, {"x:0": [0]}).tolist() == [8]


def test_errors(message):
    """Wrong names and types are named."""
    with tf.Graph().as_default():
        with pytest.raises(TypeError, match=r"must be a GraphDef proto\. Received: int"):
            tf.import_graph_def(3)
        with pytest.raises(ValueError, match=r"not found in graph_def: \[nope:0\]"):
            tf.import_graph_def(message, {"nope": tf.constant(1.0)})
        with pytest.raises(ValueError, match="Requested return node 'z' not found"):
            tf.import_graph_def(message, return_elements=["z"])
        with pytest.raises(TypeError, match="input_map"):
            tf.import_graph_def(message, [1])
        with pytest.raises(ValueError, match="requires a non-empty `name` if `input_map`"):
            tf.import_graph_def(message, {"double": np.float32([7])}, name="")


def test_refused_nodes():
    """TensorFlow refuses, too, nodes that write what is no variable, or are of no type."""
    message = tf.GraphDef()
    value = message.node.add(name="C", op="Placeholder")
    value.attr["dtype"].type = tf.float32.as_datatype_enum
    write = message.node.add(name="B", op="Assign", input=["C", "C"])
    write.attr["T"].type = tf.float32.as_datatype_enum
    words = "Input 0 of node B was passed float from C:0 incompatible with expected float_ref."
    with tf.Graph().as_default(), pytest.raises(ValueError, match=re.escape(words)):
        tf.import_graph_def(message, name="")
    write.op = ""
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="Node 'B' does not specify an operation"):
            tf.import_graph_def(message, name="")
        with pytest.raises(TypeError, match="Argument `graph_def` must be a GraphDef proto"):
            tf.import_graph_def(tf.NodeDef())
