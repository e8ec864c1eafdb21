"""Recurrent layers in frozen graphs of Keras 2, Keras 3 and TensorFlow 1, recorded by
make_recurrent.py: TensorFlow's values in every run, and in fewer operators than its own file has.
"""

import io
import lzma
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import flatlite.compat.v1.lite as lite
import flatlite.lite
from flatlite.converter.ir import pseudo
from flatlite.converter.ir.builder import Builder
from flatlite.converter.ir.graph import Graph
from flatlite.converter.ir.write import write
from flatlite.converter.passes import optimize
from flatlite.lite import Interpreter
from flatlite.schema.model import load, save

TOLERANCE = 4e-6
STEPS = 6
LSTM, RNN = "UNIDIRECTIONAL_SEQUENCE_LSTM", "UNIDIRECTIONAL_SEQUENCE_RNN"
FUSED = {"LSTM": LSTM, "LSTM_last": LSTM, "LSTM_relu_back": LSTM, "both": LSTM}
FUSED |= {"RNN": RNN, "both_last": RNN, "tf1": LSTM}
CARRIES_STATES = ("LSTM_keras2_fixed", "LSTM_last_keras2_fixed", "both_keras2_fixed")
"""TensorFlow's file begins a run with the states of the run before, which no layer means: here
there is one operator more, which sets them to zeros.
"""


@cache
def cases():
    """What make_recurrent.py wrote: {case: {name: array}}."""
    content = lzma.decompress((Path(__file__).parent / "recurrent.npz.xz").read_bytes())
    rows = {}
    with np.load(io.BytesIO(content)) as arrays:
        for key in arrays:
            case, _, name = key.rpartition("/")
            rows.setdefault(case, {})[name] = arrays[key]
    return rows


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
    expected = 2 if layer.startswith("both") else 1
    if layer in FUSED:
        assert kinds.count(FUSED[layer]) == expected
        assert "WHILE" not in kinds
    else:  # TFLite has no operator for them
        assert kinds.count("WHILE") == expected


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
    kinds = operators(content)
    assert kinds.count({"LSTM": LSTM, "RNN": RNN}[kind]) == 1 + (direction == "bidirectional")
    assert "WHILE" not in kinds
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


def wide_layer(units=40, depth=30):
    """An LSTM whose weights are large enough to be quantized: its graph, inputs and value."""
    random = np.random.default_rng(0)
    b = Builder(Graph())
    x = b.input("x", np.float32, (None, STEPS, depth))
    shapes = (4 * units, depth), (4 * units, units), (4 * units,)
    weights = [random.normal(0, 0.2, shape).astype(np.float32) for shape in shapes]
    operands = (*weights, np.int32(4), np.bool_(False))
    b.graph.outputs = [b.op("LSTM_SEQUENCE", x, *operands)]
    values = random.normal(size=(2, STEPS, depth)).astype(np.float32)
    want = pseudo.VALUES["LSTM_SEQUENCE"](values.astype(np.float64), *operands)
    return save(write([optimize(b.graph)]).model), values, want


def quantized(content, **attributes):
    converter = flatlite.lite.TFLiteConverter.from_tflite_model(content)
    converter.optimizations = [flatlite.lite.Optimize.DEFAULT]
    for name, value in attributes.items():
        setattr(converter, name, value)
    return converter.convert()


def test_dynamic_ranges_take_all_weights(litert):
    content, x, want = wide_layer()
    smaller = quantized(content)
    assert len(smaller) < 0.4 * len(content)
    assert operators(smaller) == operators(content)
    (layer,) = (op for op in load(smaller).subgraphs[0].operators if op.op == LSTM)
    tensors = load(smaller).subgraphs[0].tensors
    assert {tensors[i].dtype for i in layer.inputs[1:9]} == {"INT8"}
    assert layer.options.asymmetric_quantize_inputs
    theirs = litert.run(smaller, [[x], (x,)], "AUTO")
    assert not isinstance(theirs, str), theirs
    interpreter = Interpreter(model_content=smaller)
    interpreter.resize_tensor_input(0, x.shape)
    interpreter.allocate_tensors()
    for (other,) in theirs:
        interpreter.set_tensor(interpreter.get_input_details()[0]["index"], x)
        interpreter.invoke()
        y = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
        np.testing.assert_allclose(y, want, atol=0.02)
        np.testing.assert_allclose(y, other, atol=2e-5)


def test_states_stay_float_among_integers(litert):
    content, x, want = wide_layer()
    samples = [[x], [x / 2], [x[::-1]]]
    with pytest.warns(UserWarning, match="the model stays float: none of its operators"):
        float_model = quantized(content, representative_dataset=lambda: iter(samples))
    assert operators(float_model) == operators(content)
    (y,) = litert.run(float_model, [[x]])[0]
    np.testing.assert_allclose(y, want, atol=0.02)
