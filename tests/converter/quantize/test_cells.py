"""Recurrent operators in int8, beside what TensorFlow's converter makes of them with the same
samples (recorded by make_recurrent_int8.py): scales, zero points and weights are the same, LiteRT
runs the file, its reference kernels give what ours give, and the error is not larger.
"""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from quantized_cells import CELL_SORTS, KERAS_CASES, cells, error_of, random_inputs, shapes_of
from recurrent_layers import cases
from recurrent_models import SORTS, Sort, content
from running import answers

import flatlite.compat.v1.lite
from flatlite.converter.ir.builder import Builder
from flatlite.converter.ir.graph import Graph
from flatlite.converter.ir.write import write
from flatlite.converter.passes import optimize
from flatlite.converter.quantize.unroll import MOST_STEPS
from flatlite.experimental import QuantizationDebugger
from flatlite.lite import Interpreter, OpsSet, Optimize, TFLiteConverter
from flatlite.schema.model import load, save

ROWS = json.loads(Path(__file__).with_name("recurrent_int8.json").read_text())
STEP = 5e-7  # of a scale: sums in another order move a range by a float32 step or two
WORST = 1.02
INT16X8 = OpsSet.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8
TANH = ("fused_activation_function", 4)
COUPLED_NORM = "coupled-projected-normed"
"""LiteRT reads the scale of the coupled gate, which TensorFlow's file lacks, and goes astray."""


def converted(converter, samples, **attributes) -> bytes:
    converter.optimizations = [Optimize.DEFAULT]
    converter.representative_dataset = lambda: iter(samples)
    for name, value in attributes.items():
        setattr(converter, name, value)
    return converter.convert()


def quantized(plain, n=20, **attributes) -> bytes:
    """Our int8 file of a float one."""
    samples = random_inputs(shapes_of(plain), 1, n)
    return converted(TFLiteConverter.from_tflite_model(plain), samples, **attributes)


def kinds(model) -> list[str]:
    return [op.op for op in load(model).subgraphs[0].operators]


def runs(model, inputs):
    """Outputs of runs one after the other."""
    interpreter = Interpreter(model_content=model)
    interpreter.allocate_tensors()
    return [answers(interpreter, *arrays) for arrays in inputs]


def in_litert(litert, model, inputs):
    """The same in LiteRT's reference kernels."""
    steps = [arrays if i == 0 else tuple(arrays) for i, arrays in enumerate(inputs)]
    by_litert = litert.run(model, steps, "BUILTIN_REF")
    assert not isinstance(by_litert, str), by_litert
    return by_litert


def assert_equal(actual, expected):
    for mine, yours in zip(actual, expected, strict=True):
        for x, y in zip(mine, yours, strict=True):
            np.testing.assert_array_equal(x, y)


def compare_cells(ours, theirs, is_coupled_norm=False):
    assert len(ours) == len(theirs)
    for mine, yours in zip(ours, theirs, strict=True):
        assert len(mine) == len(yours)
        for i, (x, y) in enumerate(zip(mine, yours, strict=True)):
            if is_coupled_norm and y == ["FLOAT32"] and x == mine[i + 1]:
                continue
            if y is None or len(y) == 1:
                assert x == y, i
                continue
            assert (x[0], *x[2:]) == (y[0], *y[2:]), i
            assert x[1] == pytest.approx(y[1], rel=STEP), i


@pytest.mark.parametrize("sort", CELL_SORTS, ids=lambda sort: sort.name)
def test_as_tensorflow(sort, litert):
    plain, row = content(sort), ROWS[sort.name]
    model = quantized(plain)
    assert kinds(model) == ["QUANTIZE", sort.op, "DEQUANTIZE"]
    compare_cells(cells(model), row["cells"], COUPLED_NORM in sort.name)
    inputs = random_inputs(shapes_of(plain), 2, 20)
    actual, outputs = runs(model, inputs), runs(plain, inputs)
    assert_equal(actual, in_litert(litert, model, inputs))
    assert error_of(actual, outputs) <= WORST * row["error"]


@pytest.mark.parametrize("case", KERAS_CASES)
def test_keras_layers_as_tensorflow(case, litert, tmp_path):
    path = tmp_path / "graph.pb"
    path.write_bytes(cases()[f"{case}_keras2_fixed"]["graph"].tobytes())
    frozen = flatlite.compat.v1.lite.TFLiteConverter.from_frozen_graph
    converter, shape = frozen(str(path), ["x"], ["y"]), (2, 6, 4)
    model = converted(converter, random_inputs([shape], 1, 1), strict_int8=True)
    row = ROWS[case]
    if case == "both":  # TensorFlow's results are in another scale than the states that they are
        assert all(cell[18] == cell[-1] for cell in cells(model))
    else:
        compare_cells(cells(model), row["cells"])
    inputs = random_inputs([shape], 2, 4)
    outputs = runs(model, inputs)
    assert_equal(outputs, [in_litert(litert, model, [one])[0] for one in inputs])
    assert_equal(outputs, in_litert(litert, model, inputs))  # each run begins with zeros
    plain = frozen(str(path), ["x"], ["y"]).convert()
    assert error_of(outputs, runs(plain, inputs)) <= WORST * row["error"] + 1e-3


BOTH = [
    sort for sort in SORTS if sort.op == "BIDIRECTIONAL_SEQUENCE_LSTM" and sort.numbers == "float32"
]


@pytest.mark.parametrize("sort", BOTH, ids=lambda sort: sort.name)
def test_two_directions_become_two_operators(sort, litert):
    plain = content(sort)
    if sort.auxiliary == "weights":
        with pytest.warns(UserWarning, match="the model stays float"):
            assert kinds(quantized(plain)) == [sort.op]
        return
    model, inputs = quantized(plain), random_inputs(shapes_of(plain), 2, 4)
    assert kinds(model).count("UNIDIRECTIONAL_SEQUENCE_LSTM") == 2
    assert sort.op not in kinds(model)
    actual, outputs = runs(model, inputs), runs(plain, inputs)
    assert_equal(actual, in_litert(litert, model, inputs))
    assert error_of(actual, outputs) < 0.03 * np.abs(outputs[0][0]).max()


@pytest.mark.parametrize("sizes", [(), (2,)])
def test_states_that_the_source_gives(sizes, litert):
    """A state that is computed is written in integers; LiteRT starts each run from it."""
    plain = load(content(Sort("UNIDIRECTIONAL_SEQUENCE_LSTM", options=(TANH,))))
    (graph,) = plain.subgraphs
    (op,) = graph.operators
    for state, name in zip(op.inputs[18:20], ("h", "c"), strict=True):
        source = graph.tensors[state]
        graph.tensors.append(type(source)(name, source.shape, "FLOAT32"))
        graph.inputs.append(len(graph.tensors) - 1)
        graph.tensors += [
            type(source)(f"{name}_{i}", [2], "INT32", data=np.full(2, value, np.int32))
            for i, value in enumerate((0, -1))
        ]
        n = len(graph.tensors)
        graph.operators.insert(0, type(op)("SLICE", [n - 3, n - 2, n - 1], [state]))
    content_of_both = save(plain)
    model = quantized(content_of_both)
    inputs = random_inputs(shapes_of(content_of_both), 2, 4)
    actual, outputs = runs(model, inputs), runs(content_of_both, inputs)
    assert {"SLICE", "SPLIT"}.isdisjoint(kinds(model))
    assert_equal(actual, in_litert(litert, model, inputs))
    assert error_of(actual, outputs) < 0.02 * np.abs(outputs[0][0]).max()


def scaled(plain: bytes, factors: dict[int, float], offset: float = 0.0) -> bytes:
    """An LSTM with weights of the cell's gate times factors, and an offset of the forget gate."""
    model = load(plain)
    (graph,) = model.subgraphs
    (op,) = graph.operators
    for i, factor in factors.items():
        tensor = graph.tensors[op.inputs[i]]
        tensor.data = np.asarray(tensor.data * np.float32(factor))
    forget = graph.tensors[op.inputs[13]]
    forget.data = np.asarray(forget.data + np.float32(offset))
    return save(model)


PLAIN = content(Sort("UNIDIRECTIONAL_SEQUENCE_LSTM", options=(TANH,)))


def test_small_cell_states_keep_a_scale_that_the_kernel_has(litert):
    """LiteRT has a hyperbolic tangent of numbers up to 1 at least."""
    plain = scaled(PLAIN, {3: 0.05, 14: 0.05})
    model, inputs = quantized(plain), random_inputs(shapes_of(plain), 2, 4)
    (cell,) = cells(model)
    assert cell[19][:3] == ["INT16", 2.0**-15, 0]
    actual, outputs = runs(model, inputs), runs(plain, inputs)
    assert_equal(actual, in_litert(litert, model, inputs))
    assert error_of(actual, outputs) < 0.02 * np.abs(outputs[0][0]).max()


def test_large_cell_states_stay_float():
    plain = scaled(PLAIN, {}, offset=40.0)
    samples = random_inputs(shapes_of(plain), 1, 5) * 60
    converter = TFLiteConverter.from_tflite_model(plain)
    converter.target_spec.supported_ops = {OpsSet.TFLITE_BUILTINS_INT8}
    with pytest.warns(UserWarning, match="the model stays float"):
        model = converted(converter, samples)
    (island,) = converter.float_islands
    assert "its cell state is above 64" in island.reason
    (op,) = load(model).subgraphs[0].operators
    assert not op.intermediates


@pytest.mark.parametrize(
    ("sort", "reason"),
    [
        (Sort("SVDF", options=(("rank", 2),)), "no activation but RELU"),
        (
            Sort("UNIDIRECTIONAL_SEQUENCE_LSTM", options=(("fused_activation_function", 1),)),
            "no activation but TANH",
        ),
        (Sort("UNIDIRECTIONAL_SEQUENCE_RNN", options=(TANH,)), "no int8 kernel for it"),
        (Sort("RNN", options=(TANH,)), "no int8 kernel for it"),
        (Sort("BIDIRECTIONAL_SEQUENCE_RNN", options=(TANH,)), "no int8 kernel for it"),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_what_stays_float_says_why(sort, reason):
    converter = TFLiteConverter.from_tflite_model(content(sort))
    converter.target_spec.supported_ops = {OpsSet.TFLITE_BUILTINS_INT8}
    with pytest.warns(UserWarning, match="the model stays float"):
        model = converted(converter, random_inputs(shapes_of(content(sort)), 1, 3))
    assert kinds(model) == [sort.op]
    (island,) = converter.float_islands
    assert reason in island.reason


@pytest.mark.parametrize("sort", [CELL_SORTS[0], BOTH[0]], ids=lambda sort: sort.op)
def test_int16x8_leaves_them_float(sort):
    """As TensorFlow's converter does: LiteRT has no kernel of int16 activations."""
    converter = TFLiteConverter.from_tflite_model(content(sort))
    converter.target_spec.supported_ops = {INT16X8}
    with pytest.warns(UserWarning, match="the model stays float"):
        model = converted(converter, random_inputs(shapes_of(content(sort)), 1, 3))
    assert kinds(model) == [sort.op]
    (island,) = converter.float_islands
    assert island.reason == "TFLite has no int16 kernel for it"
    assert not load(model).subgraphs[0].operators[0].intermediates


RNNS = ["RNN_keras3_fixed", "RNN_keras2_batch", "both_last_keras3_fixed"]
ERRORS = {"int8": 0.02, "int16x8": 0.004}


@pytest.mark.parametrize("scheme", ERRORS)
@pytest.mark.parametrize("case", RNNS)
def test_plain_cells_are_written_out_where_only_integers_may_be(case, scheme, litert, tmp_path):
    path, shape = tmp_path / "graph.pb", (2, 6, 4)
    path.write_bytes(cases()[case]["graph"].tobytes())
    frozen = flatlite.compat.v1.lite.TFLiteConverter.from_frozen_graph
    recipe = {"scheme": scheme, "strict": True}
    samples = random_inputs([shape], 1, 20)
    model = converted(frozen(str(path), ["x"], ["y"]), samples, quantization_recipe=recipe)
    assert {"FULLY_CONNECTED", "TANH"} <= set(kinds(model))
    inputs = samples[:4]
    outputs = answers_of(model, inputs)
    assert_equal(outputs, [in_litert(litert, model, [one])[0] for one in inputs])
    plain = frozen(str(path), ["x"], ["y"]).convert()
    expected = answers_of(plain, inputs)
    assert error_of(outputs, expected) < ERRORS[scheme] * np.abs(expected[0][0]).max()


LAYERS = ["both_keras3_batch", "LSTM_relu_back_keras3_fixed", "LSTM_hard_keras2_batch"]
LAYERS += ["GRU_keras3_fixed", "GRU_before_keras2_batch"]
LIMITS = {"int8": 0.04, "int16x8": 0.01}
QUICK = [("GRU_keras3_fixed", "int8"), ("LSTM_relu_back_keras3_fixed", "int16x8")]
SLOW = [(x, y) for x in LAYERS for y in LIMITS if (x, y) not in QUICK]


@pytest.mark.parametrize(
    ("case", "scheme"), [*QUICK, *(pytest.param(*row, marks=pytest.mark.slow) for row in SLOW)]
)
def test_strict_leaves_no_layer_in_float(case, scheme, litert, tmp_path):
    """LSTMs that have no kernel, and loops, are written out; TensorFlow leaves them in float."""
    path, shape = tmp_path / "graph.pb", (2, 6, 4)
    path.write_bytes(cases()[case]["graph"].tobytes())
    frozen = flatlite.compat.v1.lite.TFLiteConverter.from_frozen_graph
    recipe = {"scheme": scheme, "strict": True}
    samples = random_inputs([shape], 1, 20)
    model = converted(frozen(str(path), ["x"], ["y"]), samples, quantization_recipe=recipe)
    assert len(load(model).subgraphs) == 1
    is_fused = "SEQUENCE" in " ".join(kinds(model))
    assert is_fused == (case.startswith("both") and scheme == "int8")
    inputs = samples[:2]
    outputs = answers_of(model, inputs)
    assert_equal(outputs, [in_litert(litert, model, [one])[0] for one in inputs])
    expected = answers_of(frozen(str(path), ["x"], ["y"]).convert(), inputs)
    assert error_of(outputs, expected) < LIMITS[scheme] * np.abs(expected[0][0]).max()


def answers_of(model, inputs):
    """Outputs of runs of fresh interpreters."""
    return [answers(Interpreter(model_content=model), *arrays) for arrays in inputs]


def test_long_sequences_are_not_written_out():
    b = Builder(Graph())
    x = b.input("x", np.float32, (1, MOST_STEPS + 1, 2))
    weights = [np.full(shape, 0.1, np.float32) for shape in ((3, 2), (3, 3), (3,))]
    b.graph.outputs = [b.RNN_SEQUENCE(x, *weights, np.int32(4), np.bool_(False))]
    optimize(b.graph)
    plain = save(write([b.graph]).model)
    samples = random_inputs(shapes_of(plain), 1, 2)
    converter = TFLiteConverter.from_tflite_model(plain)
    with pytest.warns(UserWarning, match="the model stays float"):
        model = converted(converter, samples, quantization_recipe={"scheme": "int8"})
    assert "UNIDIRECTIONAL_SEQUENCE_RNN" in kinds(model)


def test_saved_ranges_hold_what_is_within(tmp_path):
    plain = content(CELL_SORTS[3])
    samples = random_inputs(shapes_of(plain), 1, 5)
    converter = TFLiteConverter.from_tflite_model(plain)
    measured = converted(converter, samples)
    converter.save_calibration(tmp_path / "ranges.json")
    again = TFLiteConverter.from_tflite_model(plain)
    again.quantization_recipe = {"scheme": "int8", "ranges": str(tmp_path / "ranges.json")}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert again.convert() == measured


@pytest.mark.parametrize("calibrator", ["moving_average", "percentile", "entropy", "mse"])
def test_every_calibrator_measures_inner_values(calibrator):
    plain = content(next(s for s in CELL_SORTS if s.normed and s.projected and s.peepholes))
    converter = TFLiteConverter.from_tflite_model(plain)
    samples = random_inputs(shapes_of(plain), 1, 5)
    converter.quantization_recipe = {"scheme": "int8", "calibrator": calibrator}
    converter.representative_dataset = lambda: iter(samples)
    (cell,) = cells(converter.convert())
    assert all(one[1] > 0 for one in cell if one is not None)


def test_the_debugger_tells_the_error_of_a_cell():
    plain = content(CELL_SORTS[0])
    samples = random_inputs(shapes_of(plain), 1, 5)
    converter = TFLiteConverter.from_tflite_model(plain)
    converter.optimizations = [Optimize.DEFAULT]
    converter.representative_dataset = lambda: iter(samples)
    debugger = QuantizationDebugger(converter=converter, debug_dataset=lambda: iter(samples))
    debugger.run()
    ((name, row),) = debugger.layer_statistics.items()
    assert "t15" in name
    assert 0 < row["max_abs_error"] < 0.05
