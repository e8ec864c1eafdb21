"""Graph, Operation and Tensor: names, attributes, inputs."""

import numpy as np
import pytest

import flatlite.compat.v1 as tf
from flatlite.graph.core.graph import Graph

FLOAT = np.dtype("float32")


@pytest.fixture
def graph():
    graph = Graph()
    x = graph.add("Placeholder", "x", (), {"dtype": FLOAT, "shape": (None, 2)}).outputs[0]
    graph.add("AddV2", "y", [x, x])
    return graph


NO_OPERATION = "The name {!r} refers to a Tensor which does not exist. The operation, {!r}, "
FORM = ' Tensor names must be of the form "<op_name>:<output_index>".'


@pytest.mark.parametrize(
    ("method", "name", "error", "message"),
    [
        ("operation", "z", KeyError, "The name 'z' refers to an Operation not in the graph."),
        (
            "operation",
            "x:0",
            ValueError,
            "Name 'x:0' appears to refer to a Tensor, not a Operation.",
        ),
        ("operation", 3, TypeError, "Operation names are strings (or similar), not int."),
        ("tensor", "x", ValueError, "The name 'x' refers to an Operation, not a Tensor." + FORM),
        (
            "tensor",
            "z",
            ValueError,
            "The name 'z' looks like an (invalid) Operation name, not a Tensor." + FORM,
        ),
        (
            "tensor",
            "x:1",
            KeyError,
            NO_OPERATION.format("x:1", "x") + "exists but only has 1 outputs.",
        ),
        (
            "tensor",
            "z:0",
            KeyError,
            NO_OPERATION.format("z:0", "z") + "does not exist in the graph.",
        ),
        (
            "tensor",
            "x:0:0",
            ValueError,
            "The name 'x:0:0' looks a like a Tensor name, but is not a valid one." + FORM,
        ),
        ("tensor", 3, TypeError, "Tensor names are strings (or similar), not int."),
    ],
)
def test_names_that_are_not_there(graph, method, name, error, message):
    with pytest.raises(error) as caught:
        getattr(graph, f"get_{method}_by_name")(name)
    assert caught.value.args[0] == message


def test_names_that_are_there(graph):
    y = graph.get_operation_by_name("y")
    assert graph.get_tensor_by_name("y:0") is y.outputs[0]
    assert (y.name, y.type, y.outputs[0].name, y.outputs[0].value_index) == ("y", "AddV2", "y:0", 0)
    assert [op.name for op in graph.get_operations()] == ["x", "y"]
    assert "y" in graph
    assert len(graph) == 2


def test_unique_names_count_on_whatever_the_case():
    graph = Graph()
    names = [graph.unique_name(name) for name in ("b", "b", "B", "b_1", "c", "c")]
    assert names == ["b", "b_1", "B_2", "b_1_1", "c", "c_1"]
    assert graph.unique_name("c", mark_as_used=False) == graph.unique_name("c") == "c_2"


def test_a_tensor_is_read_once_for_each_input(graph):
    x, y = graph.get_tensor("x:0"), graph.get_operation("y")
    assert x.consumers() == [y, y]
    z = graph.constant(np.ones((1, 2), np.float32), "z")
    y.set_input(1, z)
    assert (x.consumers(), z.consumers(), y.inputs) == ([y], [y], (x, z))


def test_attributes_come_from_the_inputs_or_the_signature(graph):
    x, y = graph.get_tensor("x:0"), graph.get_operation("y")
    assert y.get_attr("T") == FLOAT
    concat = graph.add("ConcatV2", "c", [x, x, graph.constant(np.int32(1))])
    assert (concat.get_attr("N"), concat.get_attr("Tidx")) == (2, np.dtype("int32"))
    assert concat.outputs[0].shape == (None, 4)
    stitch = graph.add(
        "DynamicStitch", "s", [graph.constant(np.int32([i])) for i in range(2)] + [x, x]
    )
    assert stitch.get_attr("N") == 2
    squeeze = graph.add("Squeeze", "q", [graph.constant(np.ones((1, 2)))])
    assert squeeze.get_attr("squeeze_dims") == []
    with pytest.raises(ValueError, match="Operation 'y' has no attr named 'nope'"):
        y.get_attr("nope")


@pytest.mark.parametrize(
    ("kind", "name", "inputs", "attrs", "message"),
    [
        ("Neg", "x", ["x:0"], {}, "Neg 'x': the graph has an operation of this name already"),
        ("Neg", "a b", ["x:0"], {}, "`a b` is not a valid node name"),
        (
            "Neg",
            "n",
            [],
            {"T": FLOAT},
            "Neg 'n': NodeDef expected inputs 'float' do not match 0 inputs specified",
        ),
        (
            "Neg",
            "n",
            ["x:0"],
            {"T": np.dtype("int32")},
            "Neg 'n': Input 0 of node n was passed float",
        ),
        ("Neg", "n", [None], {"T": FLOAT}, "Neg 'n': input 0 is missing"),
        ("Neg", "n", ["x:0"], {"T": None}, "Neg 'n': attribute T must be a type, got None"),
        ("Placeholder", "p", [], {}, "Placeholder 'p': attribute dtype is missing"),
        (
            "Unpack",
            "u",
            ["x:0"],
            {"num": 10**9},
            "Unpack 'u': num must be in [0, 65536], got 1000000000",
        ),
        (
            "MatMul",
            "m",
            ["x:0", "c:0"],
            {},
            "MatMul 'm': Dimensions must be equal, but are 2 and 3",
        ),
        ("AddV2", "a", ["x:0", "c:0"], {}, "AddV2 'a': Dimensions must be equal, but are 2 and 4"),
    ],
)
def test_operations_that_cannot_be(graph, kind, name, inputs, attrs, message):
    graph.constant(np.ones((3, 4), np.float32), "c")
    tensors = [None if text is None else graph.get_tensor(text) for text in inputs]
    with pytest.raises(ValueError) as caught:
        graph.add(kind, name, tensors, attrs)
    assert str(caught.value).startswith(message)
    assert len(graph) == 3


def test_tensors_of_other_graphs_are_refused(graph):
    with pytest.raises(ValueError, match="Neg 'n': input 0 is of another graph"):
        Graph().add("Neg", "n", [graph.get_tensor("x:0")])


def test_unknown_types_are_opaque(graph):
    op = graph.add("MyOp", "mine", [graph.get_tensor("x:0")], {"k": 3}, n_outputs=2)
    assert (op.signature, op.get_attr("k")) == (None, 3)
    assert [(t.dtype, t.shape) for t in op.outputs] == [(None, None)] * 2
    assert graph.add("Neg", "n", op.outputs[:1], {"T": FLOAT}).outputs[0].dtype == FLOAT


def test_shapes_only_become_better(graph):
    x = graph.get_tensor("x:0")
    x.set_shape((3, None))
    assert x.shape == (3, 2)
    with pytest.raises(ValueError, match=r"Shapes \(3, 2\) and \(4, 2\) are not compatible"):
        x.set_shape((4, 2))


def test_tensors_and_variables_stand_in_sets_by_reference():
    with tf.Graph().as_default():
        x, y = tf.constant([[1.0]]), tf.constant([[1.0]])
        v = tf.Variable(1.0)
        names = {x.ref(): "x", v.ref(): "v"}
        assert names[x.ref()] == "x"
        assert y.ref() not in names
        assert {t.deref() for t in names} == {x, v}
        assert (x.ndim, tf.placeholder(tf.float32).ndim) == (2, None)
        slices = tf.IndexedSlices(x, tf.constant([0]))
        reads = [tf.abs(x).op, tf.negative(slices.indices).op]
        assert slices.consumers() == reads


@pytest.mark.parametrize("use_resource", [False, True])
def test_largest_and_smallest_at_index_tuples(use_resource):
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.Variable([1.0, 5.0, 3.0], use_resource=use_resource)
        session.run(v.initializer)
        session.run(v.scatter_nd_max([[0], [1]], [4.0, 4.0]))
        assert session.run(v).tolist() == [4.0, 5.0, 3.0]
        session.run(v.scatter_nd_min([[1], [2]], [4.5, 4.5]))
        assert session.run(v).tolist() == [4.0, 4.5, 3.0]


def test_traceback_says_what_code_added_an_operation():
    """Functions outside of the package, outermost first; none for what was imported."""

    def build():
        return tf.constant(1.0) + 2.0

    op = build().op
    *_, outer, inner = op.traceback
    assert [frame.filename for frame in (outer, inner)] == [__file__] * 2
    assert (inner.name, inner.line) == ("build", "return tf.constant(1.0) + 2.0")
    assert outer.line == "op = build().op"
    assert not any("/graph/core/" in frame.filename for frame in op.traceback)
    definition = tf.get_default_graph().as_graph_def()
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(definition, name="")
        assert list(graph.get_operation_by_name(op.name).traceback) == []
