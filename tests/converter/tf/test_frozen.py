"""Frozen GraphDefs, their ports, shapes and branches."""

from pathlib import Path

import numpy as np
import pytest
from sourced import keys, run, types

from flatlite.converter.sources import frozen
from flatlite.converter.sources.graph_def import load_graph_def
from flatlite.converter.sources.source import fix_shapes
from flatlite.errors import ModelError, UnsupportedOps
from flatlite.graph.core.graph import Graph
from flatlite.graph.core.library import Function
from flatlite.graph.format.graphdef import to_graph_def
from flatlite.schema import proto

CORPUS = Path(__file__).parents[2] / "corpus"


def small_graph():
    graph = Graph()
    x = graph.add("Placeholder", "x", (), {"dtype": np.dtype("f4"), "shape": (None, 4)}).outputs[0]
    axis = graph.constant(np.int32(1), "axis")
    split = graph.add("Split", "split", (axis, x), {"num_split": 2})
    total = graph.add("AddV2", "total", split.outputs)
    graph.add("Neg", "negative", total.outputs)
    return graph


def write_graph(path, graph):
    path.write_bytes(to_graph_def(graph).SerializeToString())
    return path


def test_graph_def_files(tmp_path):
    from google.protobuf import text_format

    message = to_graph_def(small_graph())
    binary, text, nameless = (tmp_path / name for name in ("g.pb", "g.pbtxt", "g"))
    binary.write_bytes(message.SerializeToString())
    text.write_text(text_format.MessageToString(message))
    nameless.write_text(text.read_text())
    assert load_graph_def(binary) == load_graph_def(text) == load_graph_def(nameless)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("bad.pb", b"\x0a\xff\xff"),
        ("bad.pb", b"hello, world"),
        ("bad.pb", b""),
        ("bad.pbtxt", b"node { nme: 'x' }"),
        ("bad.pbtxt", b"\xff"),
        ("bad.pb", b"\x1a\x00"),
    ],
)
def test_damaged_graph_def(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(OSError, match=rf"^Unable to parse input file '.*/{name}'\.\n"):
        load_graph_def(tmp_path / name)


def test_missing_graph_def(tmp_path):
    with pytest.raises(OSError, match=r"^File '/nope.pb' does not exist\.$"):
        load_graph_def("/nope.pb")
    with pytest.raises(OSError, match="directory"):
        load_graph_def(tmp_path)


def test_frozen_ports_and_pruning(tmp_path):
    path = write_graph(tmp_path / "g.pb", small_graph())
    source = frozen.load(path, ["x"], ["split:1", "total"], {"x": [3, 4]})
    assert source.key is None
    assert [(port.name, port.tensor.shape) for port in source.inputs] == [("x", (3, 4))]
    assert [(port.name, port.tensor.shape) for port in source.outputs] == [
        ("split:1", (3, 2)),
        ("total", (3, 2)),
    ]
    assert "negative" not in source.graph


def test_frozen_graph_is_cut_at_any_tensor():
    graph = to_graph_def(small_graph())
    before = graph.SerializeToString()
    source = frozen.load(graph, ["split:1", "split"], ["negative:0"])
    assert [port.name for port in source.inputs] == ["split:1", "split"]
    assert keys(source.outputs) == ["negative"]
    assert "Split" not in types(source)
    results = run(source, {"split:1": np.float32([[1, 2]]), "split": np.float32([[10, 20]])})
    np.testing.assert_array_equal(results["negative"], [[-11, -22]])
    source = frozen.load(graph, ["x", "split:1"], ["negative"])
    assert keys(source.inputs) == ["x", "split:1"]
    results = run(source, {"split:1": np.float32([[1, 2]]), "x": np.float32([[5, 6, 7, 8]])})
    np.testing.assert_array_equal(results["negative"], [[-6, -8]])
    assert graph.SerializeToString() == before


def test_frozen_names_that_are_wrong():
    graph = to_graph_def(small_graph())
    cases = {
        "Invalid tensors 'nox' were found": (["x"], ["nox"]),
        "Invalid tensors 'split:2,axis:x' were found": (["split:2"], ["axis:x"]),
        "input_arrays must be a list of tensor names, got 'x'": ("x", ["total"]),
        "output_arrays must be a list of tensor names, got 5": (["x"], 5),
        "Expected type for a tensor name is 'str', instead got": ([3], ["total"]),
        "input_arrays must name each tensor once, got 'x:0' twice": (["x", "x:0"], ["total"]),
    }
    for words, (inputs, outputs) in cases.items():
        with pytest.raises(ValueError, match=words):
            frozen.load(graph, inputs, outputs)
    with pytest.raises(ValueError, match="Invalid tensor 'z' found in tensor shapes map"):
        frozen.load(graph, ["x"], ["total"], {"z": [1]})


def test_placeholders_that_are_no_inputs():
    graph = small_graph()
    extra = graph.add("Placeholder", "keep_prob", (), {"dtype": np.dtype("f4"), "shape": ()})
    graph.add("Mul", "scaled", [graph.get_tensor("total:0"), extra.outputs[0]])
    with pytest.raises(ValueError, match="need the placeholders 'keep_prob', which are not among"):
        frozen.load(to_graph_def(graph), ["x"], ["scaled"])
    assert frozen.load(to_graph_def(graph), ["x"], ["total"])


def test_graphs_that_are_not_frozen():
    text = (CORPUS / "C/tf1_checkpoint_sharded/graph.pbtxt").read_bytes()
    graph = proto.parse_text("GraphDef", text)
    with pytest.raises(
        ValueError, match=r"Please freeze the graph using freeze_graph.py\.\n.*'net/"
    ):
        frozen.load(graph, ["x"], ["net/probs"])


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        (None, r"Provide an input shape for input array 'x'\."),
        (
            (None, 3, None),
            r"in the 1st dimension. Tensor 'x' has invalid shape '\[None, 3, None\]'\.",
        ),
    ],
)
def test_shapes_that_are_missing(shape, words):
    graph = Graph()
    x = graph.add("Placeholder", "x", (), {"dtype": np.dtype("f4"), "shape": shape})
    graph.add("Neg", "y", x.outputs)
    message = to_graph_def(graph)
    with pytest.raises(ValueError, match=words):
        fix_shapes(frozen.load(message, ["x"], ["y"]))
    for inputs in ([None, 3, 4], [-1, 3, 4]):
        source = frozen.load(message, ["x"], ["y"], {"x": inputs})
        assert source.inputs[0].tensor.shape == (None, 3, 4)
        fix_shapes(source)
        assert source.inputs[0].tensor.shape == (1, 3, 4)


def test_placeholder_with_default_has_its_default():
    graph = Graph()
    x = graph.add("Placeholder", "x", (), {"dtype": np.dtype("f4"), "shape": (2,)})
    default = graph.constant(np.float32(3), "default")
    attrs = {"dtype": np.dtype("f4"), "shape": ()}
    scale = graph.add("PlaceholderWithDefault", "scale", [default], attrs)
    graph.add("Mul", "y", [x.outputs[0], scale.outputs[0]])
    message = to_graph_def(graph)
    source = frozen.load(message, ["x"], ["y"])
    np.testing.assert_array_equal(run(source, {"x": np.float32([1, 2])})["y"], [3, 6])
    source = frozen.load(message, ["x", "scale"], ["y"])
    results = run(source, {"x": np.float32([1, 2]), "scale": np.float32(5)})
    np.testing.assert_array_equal(results["y"], [5, 10])


def test_a_branch_not_taken_may_write_variables():
    graph = Graph()
    x = graph.add("Placeholder", "x", (), {"dtype": np.dtype("f4"), "shape": (2,)}).outputs[0]
    default = graph.constant(np.array(False), "default")
    attrs = {"dtype": np.dtype(bool), "shape": ()}
    flag = graph.add("PlaceholderWithDefault", "is_training", [default], attrs).outputs[0]
    switch = graph.add("Switch", "switch", [x, flag])
    attrs = {"dtype": np.dtype("f4"), "shape": (2,)}
    mean = graph.add("VariableV2", "mean", (), attrs).outputs[0]
    update = graph.add("Assign", "update", [mean, switch.outputs[1]])
    identity = graph.add("Identity", "pivot", [switch.outputs[1]])
    one = {"value": np.float32(1), "dtype": np.dtype("f4")}
    constant = graph.add("Const", "one", (), one, [identity])
    shifted = graph.add("AddV2", "shifted", [switch.outputs[1], constant.outputs[0]], {}, [update])
    negative = graph.add("Neg", "negative", [switch.outputs[0]])
    merge = graph.add("Merge", "merge", [negative.outputs[0], shifted.outputs[0]])
    graph.add("Identity", "y", merge.outputs[:1])
    message = to_graph_def(graph)
    source = frozen.load(message, ["x"], ["y", "merge:1"])
    assert types(source) == {"Placeholder", "Neg", "Identity", "Const"}
    results = run(source, {"x": np.float32([1, 2])})
    np.testing.assert_array_equal(results["y"], [-1, -2])
    assert results["merge:1"] == 0
    with pytest.raises(UnsupportedOps, match="Assign 'update' on variable 'mean'"):
        frozen.load(message, ["x", "is_training"], ["y"])
    with pytest.raises(ModelError, match="'shifted:0' belongs to a branch that is not taken"):
        frozen.load(message, ["x"], ["shifted"])


def test_bodies_of_functions_that_are_not_called_are_not_made(tmp_path, monkeypatch):
    message = to_graph_def(small_graph())
    function = message.library.function.add()
    function.signature.name = "unused"
    function.node_def.add(name="zero", op="NoOp")
    names = []
    body = Function.body
    monkeypatch.setattr(
        Function, "body", lambda self, *args: names.append(self.name) or body(self, *args)
    )
    (tmp_path / "g.pb").write_bytes(message.SerializeToString())
    frozen.load(tmp_path / "g.pb", ["x"], ["negative"])
    assert names == []
