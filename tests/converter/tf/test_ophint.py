"""Functions marked by OpHint: in the graph, as one operation, as a custom operator in the file."""

import numpy as np
import pytest
from flatbuffers import flexbuffers

from flatlite.converter.ophint.stubs import collapse
from flatlite.errors import UnsupportedOps
from flatlite.graph.core.create import output
from flatlite.graph.core.custom import custom_options
from flatlite.graph.core.evaluate import evaluate
from flatlite.graph.core.graph import Graph
from flatlite.graph.format.graphdef import import_graph_def, to_graph_def
from flatlite.graph.session.session import Session
from flatlite.lite import Interpreter, OpHint, TFLiteConverter, custom_op, experimental
from flatlite.schema import custom_ops
from flatlite.schema.model import load

X = np.float32([[-2, -1, 0], [1, 2, 3]])
S = np.float32([0.5, 1, 2])


@pytest.fixture(autouse=True)
def own_registry(monkeypatch):
    monkeypatch.setattr(custom_ops, "_CUSTOM_OPS", {})


def placeholder(name, *shape):
    return output("Placeholder", (), {"dtype": np.dtype(np.float32), "shape": shape}, name)


def soft_clip(x, scale, hint):
    """x * scale where |x * scale| is below the limit, else the limit, all marked."""
    x = hint.add_input(x, name="x")
    scale = hint.add_input(scale, name="scale")
    y = output("Minimum", [output("Maximum", [output("Mul", [x, scale]), -1.5]), 1.5])
    return hint.add_output(y, name="y")


def marked_graph(**attributes):
    with Graph().as_default() as graph:
        x, scale = placeholder("x", None, 3), placeholder("scale", 3)
        y = soft_clip(x, scale, OpHint("SoftClip", **attributes))
        output("Neg", [y], name="out")
    return graph


def run(graph, **feeds):
    tensors = {graph.get_tensor_by_name(f"{name}:0"): x for name, x in feeds.items()}
    return evaluate(graph, [graph.get_tensor_by_name("out:0")], tensors)[0]


def register_soft_clip():
    @custom_op("SoftClip")
    class SoftClip:
        def __init__(self, options):
            self.limit = flexbuffers.Loads(options)["limit"]

        def run(self, x, scale):
            return np.clip(x * scale, -self.limit, self.limit)


def converted(graph_def, inputs=("x", "scale"), **settings):
    arrays = [(name, [None, 3] if name == "x" else [3]) for name in inputs]
    converter = TFLiteConverter(graph_def, None, None, arrays, ["out"])
    for name, value in settings.items():
        setattr(converter, name, value)
    return converter.convert()


def test_the_marks():
    graph = marked_graph(limit=1.5)
    marks = [op for op in graph.operations if OpHint.FUNCTION_UUID_ATTR in op.attrs]
    assert [op.type for op in marks] == ["Identity"] * 3
    first, second, result = marks
    for op in marks:
        assert op.attrs["_tflite_function_name"] == b"SoftClip"
        assert op.attrs["_tflite_ophint_level"] == 1
    assert first.attrs["_tflite_function_uuid"] == result.attrs["_tflite_function_uuid"]
    assert (
        first.attrs[OpHint.FUNCTION_INPUT_INDEX_ATTR],
        second.attrs[OpHint.FUNCTION_INPUT_INDEX_ATTR],
    ) == (0, 1)
    assert result.attrs[OpHint.FUNCTION_OUTPUT_INDEX_ATTR] == 0
    unique = first.attrs["_tflite_function_uuid"].decode()
    assert first.name == f"InputHint-SoftClip-{unique}-0-None-x"
    assert result.name == f"OutputHint-SoftClip-{unique}-0-None-y"


def test_equal_numbers_on_all_levels():
    graph = marked_graph(limit=1.5)
    want = run(graph, x=X, scale=S)
    np.testing.assert_array_equal(want, -np.clip(X * S, -1.5, 1.5))
    stages = []
    stubs = experimental.convert_op_hints_to_stubs(
        graph_def=to_graph_def(graph), write_callback=lambda graph_def, words: stages.append(words)
    )
    assert stages == ["before", "after"]
    assert [(n.op, list(n.input)) for n in stubs.node if n.name == "SoftClip"] == [
        ("SoftClip", ["x", "scale"])
    ]
    assert {n.op for n in stubs.node} == {"Placeholder", "SoftClip", "Identity", "Neg"}
    register_soft_clip()
    np.testing.assert_array_equal(run(import_graph_def(stubs), x=X, scale=S), want)
    for source in (to_graph_def(graph), stubs):
        content = converted(source, allow_custom_ops=True)
        (subgraph,) = load(content).subgraphs
        assert [op.custom_code or op.op for op in subgraph.operators] == ["SoftClip", "NEG"]
        assert flexbuffers.Loads(bytes(subgraph.operators[0].custom_options)) == {"limit": 1.5}
        interpreter = Interpreter(model_content=content)
        for detail, array in zip(interpreter.get_input_details(), (X, S), strict=True):
            interpreter.resize_tensor_input(detail["index"], array.shape)
        interpreter.allocate_tensors()
        for detail, array in zip(interpreter.get_input_details(), (X, S), strict=True):
            interpreter.set_tensor(detail["index"], array)
        interpreter.invoke()
        (out,) = interpreter.get_output_details()
        np.testing.assert_array_equal(interpreter.get_tensor(out["index"]), want)


def test_without_its_registration_the_file_is_written_unverified():
    with pytest.warns(UserWarning, match="nobody registered the custom operators SoftClip"):
        content = converted(to_graph_def(marked_graph(limit=1.5)), allow_custom_ops=True)
    with pytest.raises(RuntimeError, match="unresolved custom op: SoftClip"):
        Interpreter(model_content=content).allocate_tensors()


def test_custom_operators_must_be_allowed():
    with pytest.raises(
        UnsupportedOps, match=r"SoftClip x 1, first at node 'SoftClip'(.|\n)*allow_custom_ops"
    ):
        converted(to_graph_def(marked_graph(limit=1.5)))


@pytest.mark.parametrize(
    ("value", "decoded"),
    [(2, 2), (0.5, 0.5), (True, True), ("soft", "soft"), ([1, 2], [1, 2]), (S, S.tolist())],
)
def test_attributes_of_each_type(value, decoded):
    stub = collapse(marked_graph(a=value)).get_operation_by_name("SoftClip")
    assert flexbuffers.Loads(custom_options(stub.attrs)) == {"a": decoded}


def stacked(aggregate, many_outputs=False):
    with Graph().as_default() as graph:
        parts = [placeholder(f"x{i}", 3) for i in range(3)]
        hint = OpHint("Join")
        marked = [hint.add_input(x, tag="parts", aggregate=aggregate) for x in parts]
        total = output("AddN", [marked])
        if many_outputs:
            ends = [output("Mul", [total, float(i)]) for i in range(3)]
            ends = [hint.add_output(x, tag="ends", aggregate=OpHint.AGGREGATE_STACK) for x in ends]
            output("Pack", [ends], {"axis": 0}, name="out")
        else:
            output("Identity", [hint.add_output(total)], name="out")
    return graph


@pytest.mark.parametrize(
    ("aggregate", "inputs"), [("first", ["x0"]), ("last", ["x2"]), ("stack", ["Join/stack_0"])]
)
def test_aggregates(aggregate, inputs):
    graph = collapse(stacked(aggregate))
    stub = graph.get_operation_by_name("Join")
    assert [tensor.op.name for tensor in stub.inputs] == inputs
    if aggregate == "stack":
        pack = stub.inputs[0].op
        assert (pack.type, [x.op.name for x in pack.inputs]) == ("Pack", ["x0", "x1", "x2"])


def test_stacked_outputs_are_taken_apart():
    graph = collapse(stacked("stack", many_outputs=True))

    @custom_op("Join")
    class Join:
        def run(self, parts):
            return np.float32([0, 1, 2])[:, None] * parts.sum(0)

    assert graph.get_operation_by_name("Join").outputs[0].shape == (3, 3)
    feeds = {f"x{i}": np.float32([i, 1, 2]) for i in range(3)}
    np.testing.assert_array_equal(run(graph, **feeds), [[0, 0, 0], [3, 3, 6], [6, 6, 12]])


def test_index_override_orders_the_arguments():
    with Graph().as_default() as graph:
        hint = OpHint("Sub2")
        x = hint.add_input(placeholder("x", 3), index_override=1)
        z = hint.add_input(placeholder("z", 3), index_override=0)
        output("Identity", [hint.add_output(output("Sub", [x, z]))], name="out")
    stub = collapse(graph).get_operation_by_name("Sub2")
    assert [tensor.op.name for tensor in stub.inputs] == ["z", "x"]


LAST = {"tag": "t", "aggregate": "last"}


@pytest.mark.parametrize(
    ("calls", "words"),
    [
        ([{"aggregate": "first"}], "You must specify `tag` if using aggregate."),
        ([{"tag": "t"}], "You must specify `aggregate` if using tag"),
        ([{"tag": "t", "aggregate": "sum"}], "got 'sum'"),
        ([{"index_override": 0}, {"index_override": 0}], "Index 0 was already used"),
        ([LAST, {**LAST, "index_override": 3}],
         "Tag 't' was called with two indices 0 and 3"),
        ([LAST, {**LAST, "aggregate": "stack"}],
         "Tag 't' was called with two aggregates 'last' and 'stack'"),
    ],
)  # fmt: skip
def test_bad_arguments(calls, words):
    with Graph().as_default():
        hint = OpHint("F")
        with pytest.raises(ValueError, match=words):
            for call in calls:
                hint.add_input(placeholder("x", 3), **call)


def leaking(how):
    with Graph().as_default() as graph:
        x, other = placeholder("x", 3), placeholder("other", 3)
        hint = OpHint("F")
        inner = output("Mul", [hint.add_input(x), other if how == "enters" else 2.0], name="inner")
        y = hint.add_output(output("Neg", [inner]))
        output("Add", [y, inner if how == "leaves" else y], name="out")
    return graph


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("enters", "OpHint F: Placeholder 'other' enters the function past its inputs"),
        ("leaves", "OpHint F: 'inner' inside the function is read by 'out' outside"),
    ],
)
def test_a_function_that_is_not_closed(how, words):
    with pytest.raises(ValueError, match=words):
        collapse(leaking(how))


def test_one_source_is_needed():
    with pytest.raises(ValueError, match="Provide only one of session and graph_def"):
        experimental.convert_op_hints_to_stubs()


def test_two_uses_are_two_operations():
    with Graph().as_default() as graph:
        x, scale = placeholder("x", None, 3), placeholder("scale", 3)
        for _ in range(2):
            x = soft_clip(x, scale, OpHint("SoftClip", limit=1.5))
        output("Neg", [x], name="out")
    register_soft_clip()
    collapsed = collapse(graph)
    assert [op.name for op in collapsed.operations if op.type == "SoftClip"] == [
        "SoftClip",
        "SoftClip_1",
    ]
    np.testing.assert_array_equal(run(collapsed, x=X, scale=S), run(graph, x=X, scale=S))


def test_a_session_runs_the_stub():
    register_soft_clip()
    graph = marked_graph(limit=1.5)
    stubs = experimental.convert_op_hints_to_stubs(graph_def=graph.as_graph_def())
    with Session(graph=import_graph_def(stubs)) as session:
        got = session.run("out:0", {"x:0": X, "scale:0": S})
    np.testing.assert_array_equal(got, run(graph, x=X, scale=S))
