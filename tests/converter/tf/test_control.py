"""If and While from a source graph to IF and WHILE, run here and by LiteRT."""

from pathlib import Path

import numpy as np
import pytest

import flatlite.lite
from flatlite.converter.sources import frozen, saved_model
from flatlite.converter.tf.lower import lower_graph
from flatlite.errors import ConverterError, UnsupportedOps
from flatlite.graph.core.evaluate import evaluate
from flatlite.graph.core.graph import Graph
from flatlite.graph.core.library import Function
from flatlite.graph.core.signatures.attributes import FunctionRef
from flatlite.graph.format.graphdef import to_graph_def
from flatlite.lite import Interpreter

MODELS = Path(__file__).parent / "saved_models"
f32, i32 = np.float32, np.int32
REFERENCE = "BUILTIN_WITHOUT_DEFAULT_DELEGATES"


def function(graph, name, build, *kinds):
    """Adds a function whose results `build(body, *arguments)` gives."""
    body = Graph(graph.functions)
    arguments = [
        body.add("_Arg", f"arg{i}", (), {"T": np.dtype(dtype), "index": i}).outputs[0]
        for i, dtype in enumerate(kinds)
    ]
    body.inputs = arguments
    body.outputs = build(body, *arguments)
    graph.functions.add(Function.of(name, body))
    return FunctionRef(name)


def placeholder(graph, name, dtype, shape):
    attrs = {"dtype": np.dtype(dtype), "shape": shape}
    return graph.add("Placeholder", name, (), attrs).outputs[0]


def one(graph, kind, name, inputs, **attrs):
    return graph.add(kind, name, inputs, attrs).outputs[0]


def doubled_until(graph, n, x, axis=0):
    """i < n: i + 1, x and x behind it"""
    kinds = (i32, i32, f32)

    def condition(body, i, n, x):
        return [one(body, "Less", "less", [i, n], T=np.dtype(i32))]

    def turn(body, i, n, x):
        following = one(body, "AddV2", "next", [i, body.constant(i32(1), "one")], T=np.dtype(i32))
        attrs = {"N": 2, "T": np.dtype(f32), "Tidx": np.dtype(i32)}
        both = one(body, "ConcatV2", "twice", [x, x, body.constant(i32(axis), "axis")], **attrs)
        return [following, n, both]

    attrs = {
        "T": [np.dtype(kind) for kind in kinds],
        "cond": function(graph, "condition", condition, *kinds),
        "body": function(graph, "turn", turn, *kinds),
        "output_shapes": [],
    }
    return graph.add("StatelessWhile", "loop", [graph.constant(i32(0), "zero"), n, x], attrs)


def converted(folder, graph, inputs, outputs):
    """The file of a graph."""
    path = folder / "graph.pb"
    path.write_bytes(to_graph_def(graph).SerializeToString())
    names = [t.op.name for t in inputs], [t.name for t in outputs]
    return flatlite.lite.TFLiteConverter.from_frozen_graph(path, *names).convert()


def test_saved_model_with_a_loop_and_branches(litert):
    folder = MODELS / "branches"
    content = flatlite.lite.TFLiteConverter.from_saved_model(folder).convert()
    (source,) = saved_model.load(folder)
    graph, runner = source.graph, Interpreter(model_content=content).get_signature_runner()
    recorded = np.load(folder / "cases.npz")
    x = recorded["serving_default/in/x"]
    for n in (3, 0, 2, 7, 1):
        feeds = {"x": x, "n": i32(min(n, 4))}
        by_port = dict(zip([p.key for p in source.inputs], graph.inputs, strict=True))
        want = evaluate(graph, graph.outputs, {by_port[k]: v for k, v in feeds.items()})[0]
        np.testing.assert_allclose(runner(**feeds)["output_0"], want, rtol=1e-6)
        theirs = litert.run(content, [feeds], REFERENCE)[0]["output_0"]
        np.testing.assert_allclose(theirs, want, rtol=1e-6)
        if n == 3:
            np.testing.assert_allclose(want, recorded["serving_default/out/output_0"], rtol=1e-6)
    kinds = [op.op for s in load(content).subgraphs for op in s.operators]
    assert {"WHILE", "IF"} <= set(kinds)


def load(content):
    from flatlite.schema import model

    return model.load(content)


def test_constants_go_into_the_loop():
    folder = MODELS / "branches"
    (source,) = saved_model.load(folder)
    graph = lower_graph(source)
    loop = next(op for op in graph.ops if op.kind == "WHILE")
    assert all(
        tensor.producer or tensor in graph.inputs or not tensor.rank for tensor in loop.inputs
    )
    table = next(op for op in loop.graphs[1].ops if op.kind == "GATHER").inputs[0]
    assert table.is_constant


def test_dimensions_that_grow_in_a_loop_are_unknown(litert, tmp_path):
    graph = Graph()
    n = placeholder(graph, "n", i32, ())
    x = placeholder(graph, "x", f32, (2, 3))
    loop = doubled_until(graph, n, x)
    content = converted(tmp_path, graph, [n, x], [loop.outputs[2]])
    interpreter = Interpreter(model_content=content)
    value = np.arange(6, dtype=f32).reshape(2, 3)
    for turns in (0, 1, 3):
        interpreter.allocate_tensors()
        for detail, array in zip(interpreter.get_input_details(), (i32(turns), value), strict=True):
            interpreter.set_tensor(detail["index"], array)
        interpreter.invoke()
        got = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
        np.testing.assert_array_equal(got, np.tile(value, (2**turns, 1)))
        theirs = litert.run(content, [[np.array(turns, i32), value]], REFERENCE)[0][0]
        np.testing.assert_array_equal(theirs, got)
    loop = next(op for op in load(content).subgraphs[0].operators if op.op == "WHILE")
    results = [load(content).subgraphs[0].tensors[i] for i in loop.outputs]
    assert (-1, 3) in [tensor.shape_signature for tensor in results]


def branching(graph, flag, x, *, other=None):
    """x + 1 where flag holds, else x * x, or what `other` gives."""

    def then(body, x):
        return [one(body, "AddV2", "more", [x, body.constant(f32(1), "one")], T=np.dtype(f32))]

    def square(body, x):
        return [one(body, "Mul", "square", [x, x], T=np.dtype(f32))]

    attrs = {
        "Tcond": flag.dtype,
        "Tin": [np.dtype(f32)],
        "Tout": [np.dtype(f32)],
        "then_branch": function(graph, "then", then, f32),
        "else_branch": function(graph, "other", other or square, f32),
        "output_shapes": [],
    }
    return graph.add("StatelessIf", "branch", [flag, x], attrs).outputs[0]


@pytest.mark.parametrize("dtype", [bool, i32])
def test_branch(litert, tmp_path, dtype):
    graph = Graph()
    flag, x = placeholder(graph, "flag", dtype, ()), placeholder(graph, "x", f32, (None, 2))
    content = converted(tmp_path, graph, [flag, x], [branching(graph, flag, x)])
    value = f32([[3, 4]])
    interpreter = Interpreter(model_content=content)
    for inputs in (True, False):
        feeds = [np.array(inputs, dtype), value]
        interpreter.allocate_tensors()
        for detail, array in zip(interpreter.get_input_details(), feeds, strict=True):
            interpreter.set_tensor(detail["index"], array)
        interpreter.invoke()
        got = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
        np.testing.assert_array_equal(got, value + 1 if inputs else value * value)
        np.testing.assert_array_equal(litert.run(content, [feeds], REFERENCE)[0][0], got)


@pytest.mark.parametrize("limit", [-1, 1 << 20])
def test_a_condition_that_no_size_changes_leaves_one_branch(tmp_path, limit):
    graph = Graph()
    x = placeholder(graph, "x", f32, (None, 2))
    shape = one(graph, "Shape", "shape", [x], T=np.dtype(f32), out_type=np.dtype(i32))
    rank = one(graph, "Size", "rank", [shape], T=np.dtype(i32), out_type=np.dtype(i32))
    attrs = {"T": np.dtype(i32)}
    flag = one(graph, "Greater", "flag", [rank, graph.constant(i32(limit), "limit")], **attrs)
    content = converted(tmp_path, graph, [x], [branching(graph, flag, x)])
    assert [op.op for op in load(content).subgraphs[0].operators] == ["ADD" if limit < 0 else "MUL"]


def test_condition_must_be_a_scalar(tmp_path):
    graph = Graph()
    flag, x = placeholder(graph, "flag", bool, (3,)), placeholder(graph, "x", f32, (2,))
    y = branching(graph, flag, x)
    with pytest.raises(ConverterError, match=r"'branch': its condition must be one number or bool"):
        converted(tmp_path, graph, [flag, x], [y])


def test_unsupported_operations_of_functions_are_listed(tmp_path):
    graph = Graph()
    flag, x = placeholder(graph, "flag", bool, ()), placeholder(graph, "x", f32, (2, 2))

    def other(body, x):
        return [one(body, "MatrixSquareRoot", "odd", [x], T=np.dtype(f32))]

    y = branching(graph, flag, x, other=other)
    with pytest.raises(ConverterError, match=r"MatrixSquareRoot x 1, first at node 'odd'"):
        converted(tmp_path, graph, [flag, x], [y])


def test_what_a_branch_demands_is_not_assumed_of_the_model():
    """x * x needs a square x, of which the other branch knows nothing."""
    graph = Graph()
    flag, x = placeholder(graph, "flag", bool, ()), placeholder(graph, "x", f32, (None, None))

    def other(body, x):
        return [one(body, "MatMul", "square", [x, x], T=np.dtype(f32))]

    branching(graph, flag, x, other=other)
    n, m = lower_graph(frozen.load(to_graph_def(graph))).inputs[1].sizes
    assert n is not m


def test_what_a_branch_does_unread_is_refused(tmp_path):
    graph = Graph()
    flag, x = placeholder(graph, "flag", bool, ()), placeholder(graph, "x", f32, (2,))

    def other(body, x):
        path = body.constant(np.array(b"log", object), "path")
        content = body.constant(np.array(b"", object), "text")
        body.add("WriteFile", "written", [path, content])
        return [one(body, "Neg", "negative", [x], T=np.dtype(f32))]

    y = branching(graph, flag, x, other=other)
    with pytest.raises(UnsupportedOps, match="WriteFile 'branch/written'"):
        converted(tmp_path, graph, [flag, x], [y])
