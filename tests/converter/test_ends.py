"""Inputs and outputs of frozen graphs that nobody named."""

import numpy as np
import pytest

from flatlite.converter.sources import frozen
from flatlite.graph.core.graph import Graph
from flatlite.graph.format.graphdef import to_graph_def
from flatlite.schema import proto

FLOAT = np.dtype("f4")


def placeholder(graph, name, shape=(2, 4), kind="Placeholder"):
    return graph.add(kind, name, (), {"dtype": FLOAT, "shape": shape}).outputs[0]


def ends(graph, inputs=None, outputs=None):
    source = frozen.load(to_graph_def(graph), inputs, outputs)
    return [p.name for p in source.inputs], [p.name for p in source.outputs]


def test_placeholders_in_and_what_nobody_reads_out():
    graph = Graph()
    second, first = placeholder(graph, "second"), placeholder(graph, "first")
    total = graph.add("AddV2", "total", [first, second]).outputs[0]
    graph.add("Neg", "negative", [total])
    graph.add("Abs", "positive", [total])
    graph.add("Neg", "of_constants", [graph.constant(np.float32(3), "three")])
    graph.add("NoOp", "init")
    assert ends(graph) == (["second", "first"], ["negative", "positive"])


def test_an_output_that_others_only_wait_for_is_one():
    graph = Graph()
    y = graph.add("Neg", "y", [placeholder(graph, "x")])
    graph.add("NoOp", "group_deps", control_inputs=[y])
    assert ends(graph) == (["x"], ["y"])


def test_every_result_of_the_last_operation():
    graph = Graph()
    axis = graph.constant(np.int32(1), "axis")
    graph.add("Split", "parts", [axis, placeholder(graph, "x")], {"num_split": 2})
    assert ends(graph) == (["x"], ["parts", "parts:1"])


def test_statistics_of_a_normalization_are_no_outputs():
    graph = Graph()
    rows = [graph.constant(np.ones(3, np.float32), f"c{i}") for i in range(4)]
    x = placeholder(graph, "x", (1, 2, 2, 3))
    graph.add("FusedBatchNormV3", "norm", [x, *rows], {"is_training": False})
    assert ends(graph) == (["x"], ["norm"])


def test_placeholder_with_default_is_an_input_only_when_alone():
    graph = Graph()
    default = graph.constant(np.zeros((2, 4), np.float32), "zeros")
    attrs = {"dtype": FLOAT, "shape": (2, 4)}
    y = graph.add("PlaceholderWithDefault", "y", [default], attrs).outputs[0]
    graph.add("Neg", "z", [y])
    assert ends(graph) == (["y"], ["z"])
    graph.add("Mul", "product", [graph.get_tensor("z:0"), placeholder(graph, "x")])
    assert ends(graph) == (["x"], ["product"])


def test_either_side_may_be_named():
    graph = Graph()
    x, label = placeholder(graph, "x"), placeholder(graph, "label")
    hidden = graph.add("Neg", "hidden", [x]).outputs[0]
    graph.add("Abs", "probs", [hidden])
    graph.add("Sub", "loss", [hidden, label])
    assert ends(graph, outputs=["probs"]) == (["x"], ["probs"])
    assert ends(graph, inputs=["label", "hidden"], outputs=["loss"])[0] == ["label", "hidden"]
    with pytest.raises(ValueError, match="do not need the same inputs") as error:
        ends(graph)
    assert "'probs' needs 'x'\n" in str(error.value)
    assert "'loss' needs 'label', 'x'\n" in str(error.value)
    assert "output_arrays (--outputs)" in str(error.value)
    with pytest.raises(ValueError, match="'loss' needs 'hidden', 'label'"):
        ends(graph, inputs=["hidden", "label"])


def test_graphs_that_do_not_tell():
    graph = Graph()
    graph.add("Neg", "y", [graph.constant(np.float32(3), "three")])
    with pytest.raises(ValueError, match=r"Cannot tell the outputs .* with output_arrays"):
        ends(graph)
    with pytest.raises(ValueError, match=r"Cannot tell the inputs .* 'y' need no placeholder"):
        ends(graph, outputs=["y"])
    with pytest.raises(ValueError, match="Invalid tensors 'nox' were found"):
        ends(graph, outputs=["nox"])
    x = placeholder(graph, "x")
    with pytest.raises(ValueError, match=r"output_arrays \(--outputs\) must name at least one"):
        ends(graph, ["x"], [])
    for i in range(12):
        y = placeholder(graph, f"y{i}")
        graph.add("Add", f"sum{i}", [x, y])
    with pytest.raises(ValueError, match="and 4 more") as error:
        ends(graph)
    assert len(str(error.value).splitlines()) <= 15


def test_graph_def_forms():
    graph = Graph()
    graph.add("Neg", "y", [placeholder(graph, "x")])
    message = to_graph_def(graph)
    content = message.SerializeToString()
    for form in (message, content, bytearray(content), memoryview(content)):
        assert [p.name for p in frozen.load(form).outputs] == ["y"]
    assert message.SerializeToString() == content
    with pytest.raises(ValueError, match="graph_def must be a serialized GraphDef, and has"):
        frozen.load(b"\xff\xff")
    with pytest.raises(ValueError, match="Cannot tell the outputs"):
        frozen.load(proto.message("GraphDef")())


def test_a_cycle_ends():
    graph = proto.parse_text(
        "GraphDef",
        b'node { name: "a" op: "Neg" input: "b" } node { name: "b" op: "Neg" input: "a" }',
    )
    with pytest.raises(ValueError, match="Cannot tell the outputs"):
        frozen.load(graph)
