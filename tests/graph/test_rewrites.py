"""Copies of graphs: pruned, inlined, folded."""

import numpy as np
import pytest

from flatlite.graph.core import graph as graphs
from flatlite.graph.core.evaluate import evaluate
from flatlite.graph.core.graph import Graph
from flatlite.graph.core.library import Function
from flatlite.graph.core.signatures.attributes import FunctionRef
from flatlite.graph.format import fold as folding
from flatlite.graph.format.fold import fold
from flatlite.graph.format.inline import inline
from flatlite.graph.format.prune import prune
from flatlite.graph.format.rebuild import rebuild
from flatlite.schema.dtypes import RESOURCE
from flatlite.schema.errors import ModelError

FLOAT = np.dtype("float32")


def add(graph, kind, name, *inputs, control_inputs=(), **attrs):
    return graph.add(kind, name, inputs, attrs, control_inputs).outputs[0]


def placeholder(graph, name="x", shape=(None, 2)):
    return add(graph, "Placeholder", name, dtype=FLOAT, shape=shape)


def names(graph):
    return [op.name for op in graph.operations]


def chain():
    """x -> a -> b, with c beside them."""
    graph = Graph()
    x = placeholder(graph)
    a = add(graph, "Neg", "a", x)
    b = add(graph, "Neg", "b", a)
    add(graph, "Neg", "c", a)
    graph.inputs, graph.outputs = [x], [b]
    return graph


def test_a_copy_is_a_copy():
    graph = chain()
    copy = rebuild(graph)
    assert names(copy) == names(graph)
    assert copy.get_tensor("a:0") is not graph.get_tensor("a:0")
    assert [t.name for t in copy.inputs + copy.outputs] == ["x:0", "b:0"]
    assert copy.functions is graph.functions


def test_a_copy_is_inferred_anew_where_its_inputs_are_others(monkeypatch):
    """... and only there: what was inferred of the original holds for the same inputs."""
    inferred = []
    infer = graphs.infer
    monkeypatch.setattr(graphs, "infer", lambda op: inferred.append(op.name) or infer(op))
    graph = Graph()
    x, y = placeholder(graph, "x", (None, 2)), placeholder(graph, "y", (1, 2))
    size = add(graph, "Shape", "size", add(graph, "AddV2", "sum", x, y))
    add(graph, "Neg", "minus", size)
    inferred.clear()
    same = rebuild(graph)
    assert inferred == ["x", "y"]
    assert same.get_tensor("sum:0").sizes == (None, 2)
    assert same.get_tensor("minus:0").value is graph.get_tensor("minus:0").value

    def narrow(op, copy):
        if op.name != "x":
            return False
        new = copy.add(op, attrs={**op.attrs, "shape": (3, 2)})
        copy.maps_to(op, new.outputs, [new])
        return True

    inferred.clear()
    narrowed = rebuild(graph, replace=narrow)
    assert inferred == ["x", "y", "sum", "size", "minus"]
    assert narrowed.get_tensor("sum:0").sizes == (3, 2)
    assert narrowed.get_tensor("minus:0").value.tolist() == [-3, -2]


def test_a_copy_of_what_a_loop_gives_has_the_whole_loop():
    graph = Graph()
    enter = add(graph, "Enter", "enter", placeholder(graph), frame_name=b"loop")
    merge = graph.add("Merge", "merge", [enter, None], {"T": FLOAT, "N": 2})
    go_on = add(graph, "LoopCond", "go_on", graph.constant(np.array(True), "true"))
    switch = graph.add("Switch", "switch", [merge.outputs[0], go_on])
    again = add(graph, "NextIteration", "again", add(graph, "Neg", "neg", switch.outputs[1]))
    merge.set_input(1, again)
    end = graph.add("Exit", "end", switch.outputs[:1])
    add(graph, "Neg", "beside", merge.outputs[0])
    copy = rebuild(graph, [end])
    assert sorted(names(copy)) == sorted(set(names(graph)) - {"beside"})
    assert copy.get_operation("merge").inputs[1] is copy.get_tensor("again:0")


def test_prune_keeps_what_is_needed_and_the_inputs():
    graph = chain()
    graph.inputs.append(placeholder(graph, "unused"))
    pruned = prune(graph)
    assert sorted(names(pruned)) == ["a", "b", "unused", "x"]
    assert names(graph) == ["x", "a", "b", "c", "unused"]
    other = prune(graph, [graph.get_tensor("c:0"), graph.get_operation("a")])
    assert sorted(names(other)) == ["a", "c", "unused", "x"]
    assert other.outputs == [other.get_tensor("c:0")]
    assert other.control_outputs == [other.get_operation("a")]


def variable(graph):
    return add(graph, "VarHandleOp", "v", dtype=FLOAT, shape=(2,))


def test_prune_drops_control_edges_that_order_nothing():
    graph = chain()
    handle = variable(graph)
    assign = graph.add("AssignVariableOp", "assign", [handle, graph.constant(np.float32([1, 2]))])
    idle = graph.add("NoOp", "idle", control_inputs=[graph.get_operation("c")])
    group = graph.add("NoOp", "group", control_inputs=[assign])
    y = add(graph, "Neg", "y", graph.outputs[0], control_inputs=[idle, group])
    pruned = prune(graph, [y])
    assert pruned.get_operation("y").control_inputs == [pruned.get_operation("group")]
    assert "assign" in pruned
    assert "idle" not in pruned
    assert "c" not in pruned


def function(graph, name, build, n_inputs=1):
    """Adds name(x, ...) = build(body, x, ...) to the library of `graph`."""
    body = Graph(graph.functions)
    body.inputs = [
        add(body, "_Arg", f"x{i}" if i else "x", T=FLOAT, index=i) for i in range(n_inputs)
    ]
    results = build(body, *body.inputs)
    body.outputs = results if isinstance(results, list) else [results]
    graph.functions.add(Function.of(name, body))
    return FunctionRef(name)


def call(graph, name, reference, *inputs, n_outputs=1, **fields):
    attrs = {"f": reference, "Tout": [FLOAT] * n_outputs}
    return graph.add("StatefulPartitionedCall", name, inputs, attrs, **fields).outputs


def nested():
    """call: outer(x) = inner(inner(x)), inner(x) = -(x * x)."""
    graph = Graph()
    x = placeholder(graph)
    inner = function(
        graph, "inner", lambda body, x: add(body, "Neg", "n", add(body, "Square", "s", x))
    )
    outer = function(
        graph, "outer", lambda body, x: call(body, "two", inner, *call(body, "one", inner, x))[0]
    )
    graph.inputs, graph.outputs = [x], [call(graph, "call", outer, x)[0]]
    return graph


def test_inline_names_the_bodies_operations_after_the_call():
    graph = nested()
    flat = inline(graph)
    inside = ["call/one/s", "call/one/n", "call/two/s", "call/two/n"]
    assert names(flat) == ["x", *inside]
    assert flat.outputs[0].name == "call/two/n:0"
    assert flat.outputs[0].shape == (None, 2)
    value = {"x:0": np.float32([[1, 2]])}
    results = [
        evaluate(g, g.outputs, {g.get_tensor(k): v for k, v in value.items()})[0]
        for g in (graph, flat)
    ]
    np.testing.assert_array_equal(*results)


def test_inline_of_calls_by_type_and_of_arguments_passed_through():
    graph = Graph()
    x = placeholder(graph)
    function(graph, "pair", lambda body, x, y: [y, add(body, "AddV2", "sum", x, y)], 2)
    pair = graph.add("pair", "p", [x, add(graph, "Neg", "n", x)])
    graph.outputs = pair.outputs
    assert [t.name for t in inline(graph).outputs] == ["n:0", "p/sum:0"]


def test_inline_keeps_the_order_of_what_has_state():
    graph = Graph()
    x = placeholder(graph, shape=(2,))
    handle = variable(graph)

    def write(body, x):
        inner = add(body, "VarHandleOp", "v", dtype=FLOAT, shape=(2,))
        assign = body.add("AssignVariableOp", "assign", [inner, x])
        body.control_outputs.append(assign)
        return add(body, "Neg", "y", x)

    done = call(graph, "call", function(graph, "write", write), x)[0]
    first = add(graph, "ReadVariableOp", "first", handle, dtype=FLOAT)
    done.op.add_control_input(first.op)
    after = add(graph, "ReadVariableOp", "read", handle, dtype=FLOAT, control_inputs=[done.op])
    graph.outputs = [after]
    flat = inline(graph)
    assert flat.get_operation("call/assign") in flat.get_operation("read").control_inputs
    assert flat.get_operation("call/assign").control_inputs == [flat.get_operation("first")]
    assert flat.get_operation("call/y").control_inputs == []
    assert flat.control_outputs == [flat.get_operation("call/assign")]
    assert "call/assign" in prune(flat, [*flat.outputs, *flat.control_outputs])


def test_inline_leaves_branches_alone():
    graph = Graph()
    x = placeholder(graph, shape=())
    branches = {
        "then_branch": function(graph, "f", lambda body, x: add(body, "Neg", "n", x)),
        "else_branch": function(graph, "g", lambda body, x: add(body, "Square", "s", x)),
    }
    y = add(graph, "If", "if", x, x, Tout=[FLOAT], output_shapes=[()], **branches)
    graph.outputs = [y]
    assert names(inline(graph)) == ["x", "if"]


def test_inline_refuses_recursion():
    graph = Graph()
    x = placeholder(graph)
    function(graph, "f", lambda body, x: call(body, "to_g", FunctionRef("g"), x))
    function(graph, "g", lambda body, x: call(body, "to_f", FunctionRef("f"), x))
    call(graph, "call", FunctionRef("f"), x)
    with pytest.raises(ModelError) as caught:
        inline(graph)
    assert str(caught.value) == (
        "StatefulPartitionedCall 'to_g': functions must not call themselves, got f -> g -> f"
    )


def test_inline_refuses_what_is_not_there_and_what_does_not_fit():
    graph = nested()
    bad = rebuild(graph)
    call(bad, "lost", FunctionRef("nope"), bad.inputs[0])
    with pytest.raises(ModelError, match="'lost': the library has no function 'nope'"):
        inline(bad)
    call(graph, "short", FunctionRef("inner"))
    with pytest.raises(ModelError, match="'short': function 'inner' takes 1 inputs, got 0"):
        inline(graph)


def test_fold_replaces_what_depends_on_constants():
    graph = Graph()
    x = placeholder(graph)
    half = add(graph, "Mul", "half", graph.constant(np.float32(3)), graph.constant(np.float32(0.5)))
    y = add(graph, "Mul", "y", x, half)
    graph.inputs, graph.outputs = [x], [y]
    folded = fold(graph)
    assert folded.get_operation("half").type == "Const"
    assert folded.get_operation("half").get_attr("value") == np.float32(1.5)
    assert (folded.get_operation("y").type, graph.get_operation("half").type) == ("Mul", "Mul")
    assert sorted(names(prune(folded))) == ["half", "x", "y"]


def test_fold_takes_static_shapes_and_all_outputs():
    graph = Graph()
    shape = add(graph, "Shape", "shape", placeholder(graph, shape=(4, 2)))
    parts = graph.add("Split", "parts", [graph.constant(np.int32(0)), shape], {"num_split": 2})
    graph.outputs = parts.outputs
    folded = fold(graph)
    assert [t.op.type for t in folded.outputs] == ["Const", "Const"]
    assert [t.op.get_attr("value").tolist() for t in folded.outputs] == [[4], [2]]
    assert [t.name for t in folded.outputs] == ["parts:0", "parts/output_1:0"]
    unknown = add(graph, "Shape", "unknown", placeholder(graph, "z"))
    graph.outputs = [unknown]
    assert fold(graph).outputs[0].op.type == "Shape"


@pytest.mark.parametrize(
    ("kind", "inputs", "attrs"),
    [
        ("RandomUniform", [np.int32([2])], {"dtype": FLOAT}),
        ("ReadFile", [np.array(b"/etc/hostname", object)], {}),
        ("PlaceholderWithDefault", [np.float32(1)], {"shape": ()}),
        ("FakeQuantWithMinMaxVars", [np.float32([1]), np.float32(0), np.float32(6)], {}),
        ("Assert", [np.array(True), np.float32(1)], {"T": [FLOAT]}),
        ("Fill", [np.int32([1 << 15, 1 << 15]), np.float32(1)], {}),
        ("Gather", [np.float32([1]), np.int32([7])], {}),
        ("MyOp", [np.float32([1])], {}),
    ],
)
def test_fold_leaves_what_it_must(kind, inputs, attrs):
    graph = Graph()
    graph.add(kind, "op", [graph.constant(value) for value in inputs], attrs)
    assert fold(graph).get_operation("op").type == kind


def test_fold_has_a_budget(monkeypatch):
    monkeypatch.setattr(folding, "MIN_BYTES", 4096)
    monkeypatch.setattr(folding, "TOTAL_BYTES", 3 * 4096)
    graph = Graph()
    one = graph.constant(np.float32(1), "one")
    fours = [add(graph, "Fill", f"f{i}", graph.constant(np.int32([1024])), one) for i in range(4)]
    add(graph, "Fill", "large", graph.constant(np.int32([1025])), one)
    add(graph, "Tile", "tile", fours[0], graph.constant(np.int32([4])))
    folded = fold(graph)
    kinds = [folded.get_operation(name).type for name in ("f0", "f1", "f2", "f3", "large", "tile")]
    assert kinds == ["Const", "Const", "Const", "Fill", "Fill", "Tile"]


def test_fold_waits_for_control_inputs():
    graph = Graph()
    x = graph.constant(np.float32(1))
    gate = graph.add("NoOp", "gate")
    add(graph, "Neg", "y", x, control_inputs=[gate])
    assert fold(graph).get_operation("y").type == "Neg"


def test_resources_are_not_folded():
    graph = Graph()
    handle = variable(graph)
    assert handle.dtype == RESOURCE
    add(graph, "Identity", "same", handle)
    assert fold(graph).get_operation("same").type == "Identity"
