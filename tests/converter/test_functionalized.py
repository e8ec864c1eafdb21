"""Loops and branches of TensorFlow 1 in files: what its sessions gave for the same graphs."""

import json
from pathlib import Path

import numpy as np
import pytest

import flatlite
from flatlite.converter.sources import frozen
from flatlite.graph.core.evaluate import evaluate
from flatlite.graph.core.graph import Graph
from flatlite.graph.core.library import Function
from flatlite.graph.core.signatures.attributes import FunctionRef
from flatlite.graph.format.graphdef import to_graph_def
from flatlite.schema.reader import read

RECORDED = np.load(Path(__file__).parents[1] / "graph/programs/dataflow_programs.npz")
"""make_dataflow_programs.py has recorded them with TensorFlow."""
RUNS = json.loads(RECORDED["runs"].tobytes())
PROGRAMS = {
    "assertion": 3,
    "assertion_in_loop": 3,
    "branch": 6,
    "branches_in_branches": 31,
    "cases": 7,
    "dead": 2,
    "limited_loops": 10,
    "loop": 5,
    "filled_and_empty": 17,
    "loop_in_branch_in_loop": 12,
    "maps_in_maps": 27,
    "nested": 13,
    "one_condition_thrice": 30,
    "states": 7,
    "values_that_decide": 16,
}
"""Program -> the most operators that a file has for one of its runs."""
N_DEAD = {"dead": 2}
"""Program -> its first runs, which fetch what may be dead."""
FLOAT = np.dtype("float32")


@pytest.mark.parametrize("name", PROGRAMS)
def test_recorded_programs(name, tmp_path, litert):
    path = tmp_path / "graph.pb"
    path.write_bytes(RECORDED[name].tobytes())
    runs = RUNS[name][N_DEAD.get(name, 0) :]
    for run in [run for run in runs if isinstance(run["answer"], list)]:  # files assert nothing
        shapes = {tensor.split(":")[0]: np.shape(x) for tensor, x in run["feeds"].items()}
        fetches = [tensor.removesuffix(":0") for tensor in run["fetches"]]
        converter = flatlite.lite.TFLiteConverter.from_frozen_graph(
            path, list(shapes), fetches, shapes
        )
        content = converter.convert()
        graphs = read(memoryview(content)).subgraphs
        assert sum(len(graph.operators) for graph in graphs) <= PROGRAMS[name]
        interpreter = flatlite.lite.Interpreter(model_content=content)
        interpreter.allocate_tensors()
        details = interpreter.get_input_details()
        pairs = zip(run["feeds"].values(), details, strict=True)
        feeds = [np.asarray(x, detail["dtype"]) for x, detail in pairs]
        for detail, array in zip(details, feeds, strict=True):
            interpreter.set_tensor(detail["index"], array)
        interpreter.invoke()
        ours = [interpreter.get_tensor(d["index"]) for d in interpreter.get_output_details()]
        theirs = litert.run(content, [feeds], "BUILTIN_WITHOUT_DEFAULT_DELEGATES")
        assert not isinstance(theirs, str), theirs
        for values in (ours, theirs[0]):
            for value, expected in zip(values, run["answer"], strict=True):
                np.testing.assert_allclose(value, expected, rtol=3e-6, atol=1e-6)


def with_called_constant(graph, kind):
    """Adds a function that adds a constant, or gives one, whatever its argument is."""
    body = Graph(graph.functions)
    x = body.add("_Arg", "x", (), {"T": FLOAT, "index": 0}).outputs[0]
    result = body.constant(np.float32(2), "two")
    if kind == "add":
        result = body.add("AddV2", "result", [x, result]).outputs[0]
    body.inputs, body.outputs = [x], [result]
    graph.functions.add(Function.of(kind, body))
    return {"Tin": [FLOAT], "Tout": [FLOAT], "f": FunctionRef(kind)}


@pytest.mark.parametrize(("kind", "expected"), [("add", (5.0, 9.0)), ("give", (2.0, 9.0))])
def test_constants_of_functions_called_in_branches(kind, expected):
    """They stand outside of the branch when the call is inlined, and without a control edge."""
    graph = Graph()
    x = graph.add("Placeholder", "x", (), {"dtype": FLOAT, "shape": ()}).outputs[0]
    flag = graph.add("Placeholder", "flag", (), {"dtype": np.dtype(bool), "shape": ()}).outputs[0]
    switch = graph.add("Switch", "switch", [x, flag])
    called = graph.add(
        "PartitionedCall", "call", switch.outputs[1:], with_called_constant(graph, kind)
    )
    square = graph.add("Square", "square", switch.outputs[:1])
    graph.add("Merge", "y", [square.outputs[0], called.outputs[0]])
    check(graph, ["x", "flag"], [[3.0, True], [3.0, False]], expected)


def test_constants_of_functions_called_in_a_branch_of_a_branch():
    """Where `outer` and `inner` hold, two; where `outer` alone does, x * x; x otherwise."""
    graph = Graph()
    x, outer, inner = (
        graph.add("Placeholder", name, (), {"dtype": dtype, "shape": ()}).outputs[0]
        for name, dtype in (("x", FLOAT), ("outer", np.dtype(bool)), ("inner", np.dtype(bool)))
    )
    switch = graph.add("Switch", "switch", [x, outer])
    flag = graph.add("Switch", "flag", [inner, outer]).outputs[1]
    within = graph.add("Switch", "within", [switch.outputs[1], flag])
    called = graph.add(
        "PartitionedCall", "call", within.outputs[1:], with_called_constant(graph, "give")
    )
    square = graph.add("Square", "square", within.outputs[:1])
    merge = graph.add("Merge", "merge", [square.outputs[0], called.outputs[0]])
    graph.add("Merge", "y", [switch.outputs[0], merge.outputs[0]])
    runs = [[3.0, True, True], [3.0, True, False], [3.0, False, True], [3.0, False, False]]
    check(graph, ["x", "outer", "inner"], runs, [2.0, 9.0, 3.0, 3.0])


def test_constants_of_functions_called_in_loops():
    graph = Graph()
    x = graph.add("Placeholder", "x", (), {"dtype": FLOAT, "shape": ()})
    enter = graph.add("Enter", "enter", x.outputs, {"frame_name": b"loop"})
    merge = graph.add("Merge", "merge", [enter.outputs[0], None], {"T": FLOAT, "N": 2})
    limit = graph.add("Const", "limit", (), {"value": np.float32(9), "dtype": FLOAT}, [merge])
    less = graph.add("Less", "less", [merge.outputs[0], limit.outputs[0]])
    go_on = graph.add("LoopCond", "go_on", less.outputs)
    switch = graph.add("Switch", "switch", [merge.outputs[0], go_on.outputs[0]])
    called = graph.add(
        "PartitionedCall", "call", switch.outputs[1:], with_called_constant(graph, "add")
    )
    following = graph.add("NextIteration", "following", called.outputs)
    merge.set_input(1, following.outputs[0])
    graph.add("Exit", "y", switch.outputs[:1])
    check(graph, ["x"], [[4.0], [20.0]], [10.0, 20.0])


def check(graph, names, runs, expected):
    """The file of a frozen graph gives a value for each of some inputs."""
    source = frozen.load(to_graph_def(graph), names, ["y"])
    assert not {"Switch", "Merge", "Enter"} & {op.type for op in source.graph.operations}
    for values, result in zip(runs, expected, strict=True):
        feeds = {
            port.tensor: np.asarray(x, port.tensor.dtype)
            for port, x in zip(source.inputs, values, strict=True)
        }
        assert evaluate(source.graph, [source.outputs[0].tensor], feeds)[0] == result
