"""Recurrent layers in frozen graphs of Keras 2, Keras 3 and TensorFlow 1, recorded by
make_recurrent.py: TensorFlow's values in every run, and in fewer operators than its own file has.
"""

from functools import cache

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from recurrent_layers import cases

import flatlite.compat.v1.lite as lite
import flatlite.lite
from flatlite.converter.ir.builder import Builder
from flatlite.converter.ir.graph import Graph
from flatlite.converter.ir.write import write
from flatlite.converter.passes import optimize
from flatlite.lite import Interpreter
from flatlite.schema.model import load, save

TOLERANCE = 4e-6
STEPS = 6
LSTM, RNN = "UNIDIRECTIONAL_SEQUENCE_LSTM", "UNIDIRECTIONAL_SEQUENCE_RNN"
BOTH = "BIDIRECTIONAL_SEQUENCE_LSTM"
FUSED = {
    "LSTM": [LSTM],
    "LSTM_last": [LSTM],
    "LSTM_relu_back": [LSTM],
    "tf1": [LSTM],
    "RNN": [RNN],
    "both": [BOTH],
    "both_last": [RNN, RNN],
}
CARRIES_STATES = ("LSTM_keras2_fixed", "LSTM_last_keras2_fixed")
"""TensorFlow's file begins a run with the states of the run before, which no layer means: here
there is one operator more, which sets them to zeros.
"""


@cache
def converted(case, folder):
    """The file of a case."""
    path = folder / f"{case}.pb"
    path.write_bytes(cases()[case]["graph"].tobytes())
    converter = lite.TFLiteConverter.from_frozen_graph(str(path), ["x"], ["y"])
    content = converter.convert()
    assert converter.verified
    return content


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("recurrent")


def operators(content):
    return [op.op for subgraph in load(content).subgraphs for op in subgraph.operators]


@pytest.mark.parametrize("case", cases())
def test_values_are_those_of_tensorflow_in_every_run(case, folder, litert):
    row, content = cases()[case], converted(case, folder)
    theirs = litert.run(content, [[row["x"]], (row["x"],)], "AUTO")
    assert not isinstance(theirs, str), theirs
    interpreter = Interpreter(model_content=content)
    index = interpreter.get_input_details()[0]["index"]
    interpreter.resize_tensor_input(index, row["x"].shape)
    interpreter.allocate_tensors()
    for (other,) in theirs:
        interpreter.set_tensor(index, row["x"])
        interpreter.invoke()
        ours = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
        np.testing.assert_allclose(ours, row["y"], atol=TOLERANCE)
        np.testing.assert_allclose(other, row["y"], atol=TOLERANCE)


@pytest.mark.parametrize("case", [case for case in cases() if case != "tf1_static"])
def test_layers_are_fused(case, folder):
    kinds = operators(converted(case, folder))
    layer = case.rsplit("_", 2)[0] if "keras" in case else "tf1"
    sequences = [kind for kind in kinds if "SEQUENCE" in kind or kind == "WHILE"]
    assert sequences == FUSED.get(layer, ["WHILE"])  # TFLite has no operator for the others


@pytest.mark.parametrize("case", [case for case, row in cases().items() if row["operators"] > 0])
def test_no_more_operators_than_tensorflow(case, folder):
    most = int(cases()[case]["operators"]) + (case in CARRIES_STATES)
    kinds = operators(converted(case, folder))
    assert len(kinds) <= most, kinds


@pytest.mark.parametrize("case", ["LSTM_keras3_batch", "LSTM_keras2_fixed", "RNN_keras3_fixed"])
def test_files_can_be_read_again(case, folder, litert):
    row, content = cases()[case], converted(case, folder)
    again = flatlite.lite.TFLiteConverter.from_tflite_model(content).convert()
    assert operators(again) == operators(content)
    results = litert.run(again, [[row["x"]], (row["x"],)], "AUTO")
    assert not isinstance(results, str), results
    for (y,) in results:
        np.testing.assert_allclose(y, row["y"], atol=TOLERANCE)


def test_a_copied_state_stays_a_copy(litert):
    b = Builder(Graph())
    x = b.input("x", np.float32, (2, STEPS, 4))
    h = b.input("h", np.float32, (2, 3))
    random = np.random.default_rng(0)
    shapes = (3, 4), (3, 3), (3,)
    weights = [random.normal(0, 0.5, shape).astype(np.float32) for shape in shapes]
    b.graph.outputs = [b.op("RNN_SEQUENCE", x, *weights, np.int32(4), np.bool_(False), h)]
    content = save(write([optimize(b.graph)]).model)
    again = flatlite.lite.TFLiteConverter.from_tflite_model(content).convert()
    assert operators(again) == ["SLICE", RNN]
    feeds = [random.normal(size=t.dims).astype(np.float32) for t in (x, h)]
    before, after = (litert.run(c, [feeds, tuple(feeds)]) for c in (content, again))
    for values in (*before, *after):
        np.testing.assert_array_equal(values[0], before[0][0])


def onnx_model(kind, steps, direction, outputs):
    """A node of 3 units, and what the ONNX project's evaluator says it gives of the inputs."""
    random = np.random.default_rng(steps or 0)
    directions, gates = 1 + (direction == "bidirectional"), {"LSTM": 4, "RNN": 1}[kind]
    shapes = {"W": (gates * 3, 4), "R": (gates * 3, 3), "B": (2 * gates * 3,)}
    weights = [
        numpy_helper.from_array(random.normal(0, 0.5, (directions, *s)).astype(np.float32), name)
        for name, s in shapes.items()
    ]
    node = helper.make_node(kind, ["x", *shapes], outputs, hidden_size=3, direction=direction)
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [steps or "t", "n", 4])
    results = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs if name
    ]
    graph = helper.make_graph([node], "g", [x], results, weights)
    opsets = [helper.make_opsetid("", 14)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    values = random.normal(size=(steps or 6, 2, 4)).astype(np.float32)
    return model, values, ReferenceEvaluator(model).run(None, {"x": values})


@pytest.mark.parametrize("outputs", [("y",), ("y", "h"), ("", "h")])
@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("steps", [3, 7, None])
@pytest.mark.parametrize("kind", ["LSTM", "RNN"])
def test_onnx_nodes_are_fused(kind, steps, direction, outputs, litert):
    if direction == "bidirectional" and kind == "RNN":
        outputs = ("y",)  # the evaluator gives the other's last state
    model, x, want = onnx_model(kind, steps, direction, outputs)
    content = flatlite.lite.TFLiteConverter.from_onnx_model(model).convert()
    sequences = [op for op in operators(content) if "SEQUENCE" in op or op == "WHILE"]
    if direction != "bidirectional":
        assert sequences == [{"LSTM": LSTM, "RNN": RNN}[kind]]
    elif kind == "LSTM" and outputs == ("y",):
        assert sequences == [BOTH]
    else:
        assert sequences == [{"LSTM": LSTM, "RNN": RNN}[kind]] * 2
    theirs = litert.run(content, [[x], (x,)], "AUTO")
    assert not isinstance(theirs, str), theirs
    for results in theirs:
        for got, value in zip(results, want, strict=True):
            np.testing.assert_allclose(got, value, atol=TOLERANCE)


def test_onnx_cell_state_that_is_read_needs_a_loop():
    model, _, _ = onnx_model("LSTM", 7, "forward", ("y", "h", "c"))
    kinds = operators(flatlite.lite.TFLiteConverter.from_onnx_model(model).convert())
    assert LSTM not in kinds
    assert kinds.count("WHILE") == 1


def wide_layer(kind="LSTM_SEQUENCE", both=False, time_major=False, units=40, depth=30):
    """The file of a layer whose weights are large enough to be quantized, and inputs."""
    random = np.random.default_rng(0)
    b = Builder(Graph())
    shape = (STEPS, None, depth) if time_major else (None, STEPS, depth)
    x, axis = b.input("x", np.float32, shape), np.int32([0 if time_major else 1])
    rows = {"LSTM_SEQUENCE": 4, "RNN_SEQUENCE": 1}[kind] * units

    def layer(x):
        shapes = (rows, depth), (rows, units), (rows,)
        weights = [random.normal(0, 0.2, shape).astype(np.float32) for shape in shapes]
        return b.op(kind, x, *weights, np.int32(4), np.bool_(time_major))

    b.graph.outputs = [layer(x)]
    if both:
        b.graph.outputs.append(b.REVERSE_V2(layer(b.REVERSE_V2(x, axis)), axis))
    values = random.normal(size=[2 if n is None else n for n in shape]).astype(np.float32)
    return save(write([optimize(b.graph)]).model), values


def quantized(content, **attributes):
    converter = flatlite.lite.TFLiteConverter.from_tflite_model(content)
    converter.optimizations = [flatlite.lite.Optimize.DEFAULT]
    for name, value in attributes.items():
        setattr(converter, name, value)
    return converter.convert()


@pytest.mark.parametrize("time_major", [False, True])
@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("kind", ["LSTM_SEQUENCE", "RNN_SEQUENCE"])
def test_dynamic_ranges_take_all_weights(kind, both, time_major, litert):
    content, x = wide_layer(kind, both, time_major)
    smaller = quantized(content)
    assert len(smaller) < 0.4 * len(content)
    assert operators(smaller) == operators(content)
    tensors = load(smaller).subgraphs[0].tensors
    assert not [
        t for t in tensors if t.data is not None and t.dtype == "FLOAT32" and t.data.ndim > 1
    ]
    (want,) = litert.run(content, [[x]], "AUTO")
    theirs = litert.run(smaller, [[x], (x,)], "AUTO")
    assert not isinstance(theirs, str), theirs
    interpreter = Interpreter(model_content=smaller)
    interpreter.resize_tensor_input(0, x.shape)
    interpreter.allocate_tensors()
    for others in theirs:
        interpreter.set_tensor(interpreter.get_input_details()[0]["index"], x)
        interpreter.invoke()
        for detail, other, y in zip(interpreter.get_output_details(), others, want, strict=True):
            np.testing.assert_allclose(other, y, atol=0.08)
            ours = interpreter.get_tensor(detail["index"])
            np.testing.assert_allclose(ours, other, atol=2e-5)


def test_states_are_written_in_integers(litert):
    content, x = wide_layer()
    ((want,),) = litert.run(content, [[x]])
    samples = [[x], [x / 2], [x[::-1]]]
    whole = quantized(content, representative_dataset=lambda: iter(samples))
    assert operators(whole).count("FILL") == 2
    assert {"SPLIT", "TILE", "ZEROS_LIKE"}.isdisjoint(operators(whole))
    for (y,) in litert.run(whole, [[x], (x,)]):  # each run begins with zeros
        np.testing.assert_allclose(y, want, atol=0.1)
