"""If, Case and what TensorFlow 1 has for them: with a known selector, and with a computed one."""

import numpy as np
import pytest

from flatlite.converter.sources import frozen
from flatlite.converter.tf.lower import lower_graph
from flatlite.graph.core.evaluate import evaluate
from flatlite.graph.core.graph import Graph
from flatlite.graph.core.library import Function
from flatlite.graph.core.signatures.attributes import FunctionRef
from flatlite.graph.format.graphdef import to_graph_def

FLOAT = np.dtype("float32")
TYPES = {"Tin": [FLOAT], "Tout": [FLOAT]}


def function(graph, kind):
    """Adds the function do_<kind>, which is this operation and an identity."""
    body = Graph(graph.functions)
    x = body.add("_Arg", "x", (), {"T": FLOAT, "index": 0})
    result = body.add(kind, "result", x.outputs)
    body.inputs, body.outputs = x.outputs, body.add("Identity", "Identity", result.outputs).outputs
    graph.functions.add(Function.of(f"do_{kind}", body))
    return FunctionRef(f"do_{kind}")


def start(selector):
    """A graph with the input x and a selector that is a placeholder with a default."""
    graph = Graph()
    x = graph.add("Placeholder", "x", (), {"dtype": FLOAT, "shape": (2,)}).outputs[0]
    default = graph.constant(selector, "default")
    attrs = {"dtype": default.dtype, "shape": ()}
    return graph, x, graph.add("PlaceholderWithDefault", "flag", [default], attrs).outputs[0]


def with_if(flag, kind="If"):
    graph, x, selector = start(np.array(flag))
    branches = {"then_branch": function(graph, "Neg"), "else_branch": function(graph, "Square")}
    cond = graph.add(kind, "cond", [selector, x], {**TYPES, "Tcond": selector.dtype, **branches})
    graph.add("Identity", "cond/Identity", cond.outputs)  # the name TensorFlow gives it
    return to_graph_def(graph)


def run(source, *arrays):
    feeds = {port.tensor: array for port, array in zip(source.inputs, arrays, strict=True)}
    (result,) = evaluate(source.graph, [port.tensor for port in source.outputs], feeds)
    return result


@pytest.mark.parametrize("kind", ["If", "StatelessIf"])
@pytest.mark.parametrize(
    ("flag", "type_", "want"), [(True, "Neg", [-3, -4]), (False, "Square", [9, 16])]
)
def test_the_branch_taken_is_inlined(kind, flag, type_, want):
    source = frozen.load(with_if(flag, kind), ["x"], ["cond/Identity"])
    assert {op.type for op in source.graph.operations} == {"Placeholder", "Identity", type_}
    np.testing.assert_array_equal(run(source, np.float32([3, 4])), want)


def test_a_branch_that_an_input_chooses_stays():
    source = frozen.load(with_if(True), ["x", "flag"], ["cond/Identity"])
    assert [op.kind for op in lower_graph(source).ops] == ["IF"]


@pytest.mark.parametrize(("index", "want"), [(0, -3), (1, 9), (2, 3), (7, 3), (-1, 3)])
def test_an_index_that_does_not_fit_takes_the_last_case(index, want):
    graph, x, selector = start(np.int32(index))
    branches = [function(graph, kind) for kind in ("Neg", "Square", "Abs")]
    case = graph.add("Case", "case", [selector, x], {**TYPES, "branches": branches})
    graph.add("Identity", "y", case.outputs)
    source = frozen.load(to_graph_def(graph), ["x"], ["y"])
    assert run(source, np.float32([3, -3]))[0] == want


def test_a_branch_within_the_branch_taken_is_resolved():
    graph, x, _ = start(np.array(False))
    inner = {"then_branch": function(graph, "Neg"), "else_branch": function(graph, "Square")}
    body = Graph(graph.functions)
    argument = body.add("_Arg", "x", (), {"T": FLOAT, "index": 0}).outputs[0]
    flag = body.constant(np.array(True), "flag")
    cond = body.add("If", "cond", [flag, argument], {**TYPES, "Tcond": flag.dtype, **inner})
    body.inputs, body.outputs = [argument], cond.outputs
    graph.functions.add(Function.of("outer", body))
    branches = {"then_branch": FunctionRef("outer"), "else_branch": FunctionRef("do_Neg")}
    flag = graph.constant(np.array(True), "outer_flag")
    cond = graph.add("If", "cond", [flag, x], {**TYPES, "Tcond": flag.dtype, **branches})
    graph.add("Identity", "y", cond.outputs)
    source = frozen.load(to_graph_def(graph), ["x"], ["y"])
    assert "If" not in {op.type for op in source.graph.operations}
    np.testing.assert_array_equal(run(source, np.float32([3, 4])), [-3, -4])


def test_a_loop_of_tensorflow_1_becomes_a_while():
    graph = Graph()
    x = graph.add("Placeholder", "x", (), {"dtype": FLOAT, "shape": ()})
    enter = graph.add("Enter", "enter", x.outputs, {"frame_name": b"loop"})
    merge = graph.add("Merge", "merge", [enter.outputs[0], None], {"T": FLOAT, "N": 2})
    limit = graph.constant(np.float32(9), "limit")
    less = graph.add("Less", "less", [merge.outputs[0], limit])
    go_on = graph.add("LoopCond", "go_on", less.outputs)
    switch = graph.add("Switch", "switch", [merge.outputs[0], go_on.outputs[0]])
    double = graph.add("AddV2", "double", [switch.outputs[1]] * 2)
    following = graph.add("NextIteration", "following", double.outputs)
    merge.set_input(1, following.outputs[0])
    graph.add("Exit", "y", switch.outputs[:1])
    source = frozen.load(to_graph_def(graph), ["x"], ["y"])
    assert [op.kind for op in lower_graph(source).ops] == ["WHILE"]
    assert run(source, np.float32(1)).item() == 16


def test_a_branch_of_tensorflow_1_becomes_an_if():
    """x -> Switch -> (x + x, or x * x where flag holds) -> Merge; one of them also reads y."""
    graph = Graph()
    x, y, flag = (
        graph.add("Placeholder", name, (), {"dtype": np.dtype(kind), "shape": ()}).outputs[0]
        for name, kind in (("x", "float32"), ("y", "float32"), ("flag", "bool"))
    )
    switch = graph.add("Switch", "switch", [x, flag])
    other = graph.add("Switch", "other", [y, flag])
    double = graph.add("AddV2", "double", [switch.outputs[0], switch.outputs[0]])
    square = graph.add("Mul", "square", [switch.outputs[1], other.outputs[1]])
    merge = graph.add("Merge", "merge", [double.outputs[0], square.outputs[0]])
    graph.add("Identity", "z", merge.outputs[:1])
    source = frozen.load(to_graph_def(graph), ["x", "y", "flag"], ["z"])
    assert [op.kind for op in lower_graph(source).ops] == ["IF"]
    assert run(source, np.float32(3), np.float32(5), np.array(True)).item() == 15
    assert run(source, np.float32(3), np.float32(5), np.array(False)).item() == 6
