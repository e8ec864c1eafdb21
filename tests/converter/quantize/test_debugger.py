"""QuantizationDebugger: TFLite's surface and columns, and the numbers of record_debugger.py."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest
from quantized_network import IMAGES, converter_of
from running import kinds

import flatlite
from flatlite.experimental import QuantizationDebugger, QuantizationDebugOptions
from flatlite.lite import Interpreter, Optimize, TFLiteConverter
from flatlite.tools.layer_values import layer_values

DIGITS = Path(flatlite.__file__).parent / "models/digits"
RECORDED = Path(__file__).parent / "debugger"
SAMPLES = np.load(DIGITS / "example.npz")["image"][:20]
COLUMNS = (
    "op_name,tensor_idx,num_elements,stddev,mean_error,max_abs_error,mean_squared_error,"
    "scale,zero_point,tensor_name"
)
"""What TensorFlow 2.21's layer_statistics_dump writes."""
NUMBERS = ("stddev", "mean_error", "max_abs_error", "mean_squared_error", "l1_norm")
STEPS = {"MEAN": 0.3}
"""Of a result by which errors may differ: TensorFlow's debugger took MEAN's optimized kernel, which
rounds another way than the reference kernel that ours is bit for bit. What comes after it gets
other numbers.
"""


def samples():
    for image in SAMPLES:
        yield [image[np.newaxis]]


def l1_norm(error):
    return np.mean(np.abs(error))


def largest(x, y):
    return np.abs(x[0] - y[0]).max()


def correlation(expected, quantized, scale, zero_point):
    real = (quantized.astype(np.int32) - zero_point) * scale
    return np.corrcoef(expected.ravel(), real.ravel())[0, 1]


def dumped(debugger):
    """The rows of a debugger's CSV."""
    debugger.run()
    text = io.StringIO()
    debugger.layer_statistics_dump(text)
    return list(csv.DictReader(io.StringIO(text.getvalue())))


def recorded(name):
    """The rows of TensorFlow's."""
    with (RECORDED / f"{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def digits_converter():
    converter = TFLiteConverter.from_saved_model(DIGITS / "saved_model")
    converter.optimizations = [Optimize.DEFAULT]
    converter.representative_dataset = samples
    return converter


@pytest.mark.parametrize("name", ["digits", "digits_fully"])
def test_tensorflows_file_in_debug_mode(name):
    """The same numbers of the file that TensorFlow's debugger made."""
    options = QuantizationDebugOptions({"l1_norm": l1_norm})
    debugger = QuantizationDebugger(
        str(RECORDED / f"{name}.tflite"), debug_dataset=samples, debug_options=options
    )
    rows, expected = dumped(debugger), recorded(name)
    assert [row["op_name"] for row in rows] == [row["op_name"] for row in expected]
    for row, other in zip(rows, expected, strict=True):
        for column in ("tensor_idx", "zero_point"):
            assert row[column] == other[column]
        assert float(row["num_elements"]) == float(other["num_elements"])
        assert float(row["scale"]) == pytest.approx(float(other["scale"]), rel=1e-6)
        for column in NUMBERS:
            limit = STEPS.get(row["op_name"], 0.05) * float(row["scale"])
            assert float(row[column]) == pytest.approx(float(other[column]), rel=0.15, abs=limit)
    values = json.loads((RECORDED / "model.json").read_text())[f"{name}/correlation"]
    direct = QuantizationDebugOptions(layer_direct_compare_metrics={"correlation": correlation})
    debugger = QuantizationDebugger(
        quant_debug_model_content=(RECORDED / f"{name}.tflite").read_bytes(),
        debug_dataset=samples,
        debug_options=direct,
    )
    assert debugger.layer_statistics is None
    debugger.run()
    assert list(debugger.layer_statistics) == list(values)
    for key, value in values.items():
        assert debugger.layer_statistics[key]["correlation"] == pytest.approx(value, abs=1e-4)


def test_differences_are_those_of_litert():
    """Of TensorFlow's file, by LiteRT's reference kernels."""
    path = str(RECORDED / "digits.tflite")
    mine, theirs = (
        [row for row in layer_values(path, runtime, next(samples())) if row.kind == "CUSTOM"]
        for runtime in ("flatlite", "litert-reference")
    )
    assert len(mine) == 7
    for row, other in zip(mine, theirs, strict=True):
        np.testing.assert_allclose(row.value, other.value, atol=1e-5)


@pytest.mark.parametrize("fully", [False, True])
def test_a_converters_model(fully, litert):
    """Scales and errors are those of TensorFlow's debugger on the same source and samples."""
    name = "digits_fully" if fully else "digits"
    options = QuantizationDebugOptions(
        {"l1_norm": l1_norm}, {"largest": largest}, fully_quantize=fully
    )
    converter = digits_converter()
    debugger = QuantizationDebugger(converter=converter, debug_options=options)
    rows, expected = dumped(debugger), recorded(name)
    assert [row["op_name"] for row in rows] == [row["op_name"] for row in expected]
    for row, other in zip(rows, expected, strict=True):
        assert float(row["scale"]) == pytest.approx(float(other["scale"]), rel=1e-5)
        assert row["zero_point"] == other["zero_point"]
        for column in ("stddev", "max_abs_error", "mean_squared_error", "l1_norm"):
            limit = STEPS.get(row["op_name"], 0.0) * float(row["scale"])
            assert float(row[column]) == pytest.approx(float(other[column]), rel=0.3, abs=limit)
    value = json.loads((RECORDED / "model.json").read_text())[name]["largest"]
    assert debugger.model_statistics["largest"] == pytest.approx(value, rel=0.3, abs=2e-3)
    assert converter.quantization_recipe is None
    content = debugger.get_debug_quantized_model()
    assert kinds(content).count("NumericVerify") == len(rows)
    first = Interpreter(model_content=content).get_input_details()[0]
    assert first["dtype"] is (np.int8 if fully else np.float32)
    image = next(samples())[0]
    if fully:
        scale, zero_point = first["quantization"]
        image = np.clip(np.rint(image / scale) + zero_point, -128, 127).astype(np.int8)
    by_litert = litert.run(content, [[image]], "BUILTIN_REF")
    assert not isinstance(by_litert, str), by_litert
    again = QuantizationDebugger(quant_debug_model_content=content, debug_dataset=samples)
    again.run()
    for key, statistics in again.layer_statistics.items():
        mine = debugger.layer_statistics[key]["mean_squared_error"]
        assert statistics["mean_squared_error"] == pytest.approx(mine, rel=1e-6)


def test_columns():
    converter = converter_of("Relu6", optimizations=[Optimize.DEFAULT])
    options = QuantizationDebugOptions({"median": lambda error: float(np.median(error))})
    debugger = QuantizationDebugger(converter=converter, debug_options=options)
    rows = dumped(debugger)
    assert list(rows[0]) == COLUMNS.replace("error,scale", "error,median,scale").split(",")
    assert [row["op_name"] for row in rows] == [
        *("CONV_2D", "DEPTHWISE_CONV_2D", "MEAN", "FULLY_CONNECTED")
    ]
    assert all(key.startswith("NumericVerify/") for key in debugger.layer_statistics)
    quantized = debugger.get_nondebug_quantized_model()
    assert "NumericVerify" not in kinds(quantized)
    details = {d["index"]: d for d in Interpreter(model_content=quantized).get_tensor_details()}
    scales = {round(float(d["quantization"][0]), 8) for d in details.values()}
    assert {round(float(row["scale"]), 8) for row in rows} <= scales


@pytest.mark.parametrize("name", ["conv", "conv_fully"])
def test_the_rounding_of_a_float_input_counts(name):
    """TensorFlow's numbers: beside a quantized input the float operator gets the float one."""

    def ramps():
        for i in range(5):
            yield [np.arange(9, dtype=np.float32).reshape(1, 3, 3, 1) * i]

    converter = TFLiteConverter.from_frozen_graph(RECORDED / "conv.pb", ["x"], ["Identity"])
    converter.optimizations = [Optimize.DEFAULT]
    converter.representative_dataset = ramps
    converter._experimental_calibrate_only = True  # as TensorFlow's debugger leaves it
    options = QuantizationDebugOptions(fully_quantize=name == "conv_fully")
    debugger = QuantizationDebugger(converter=converter, debug_options=options)
    (row,), (expected,) = dumped(debugger), recorded(name)
    assert (row["op_name"], row["tensor_idx"]) == (expected["op_name"], expected["tensor_idx"])
    for column in COLUMNS.split(",")[2:-2]:
        assert float(row[column]) == pytest.approx(float(expected[column]), rel=1e-4)


def test_an_operators_error_is_its_own():
    """The float operator gets what the quantized one got, and the float weights."""
    converter = converter_of("Relu6", optimizations=[Optimize.DEFAULT])
    debugger = QuantizationDebugger(converter=converter)
    debugger.run()
    (key,) = (key for key in debugger.layer_statistics if "product" in key)
    content = debugger.get_debug_quantized_model()
    interpreter = Interpreter(model_content=content, experimental_preserve_all_tensors=True)
    interpreter.allocate_tensors()
    float_file = converter._last.files[0][0].model.subgraphs[0]
    (op,) = (op for op in float_file.operators if op.op == "FULLY_CONNECTED")
    weights = float_file.tensors[op.inputs[1]].data
    details = {d["index"]: d for d in interpreter.get_tensor_details()}
    products = (op for op in interpreter._get_ops_details() if op["op_name"] == "FULLY_CONNECTED")
    ends = ((details[op["inputs"][0]], details[op["outputs"][0]]) for op in products)
    data, result = next(pair for pair in ends if pair[0]["dtype"] is np.int8)
    errors = []
    for image in IMAGES:
        interpreter.set_tensor(interpreter.get_input_details()[0]["index"], image)
        interpreter.invoke()
        x, y = (
            (interpreter.get_tensor(d["index"]).astype(np.float64) - d["quantization"][1])
            * d["quantization"][0]
            for d in (data, result)
        )
        errors.append(np.abs(y - x @ weights.T).max())
    statistics = debugger.layer_statistics[key]
    assert statistics["max_abs_error"] == pytest.approx(np.mean(errors), rel=1e-4)


def test_denied_operators_stay_float():
    converter = converter_of("Relu6", optimizations=[Optimize.DEFAULT])
    debugger = QuantizationDebugger(converter=converter)
    debugger.options.denylisted_ops = ["MEAN"]
    content = debugger.get_nondebug_quantized_model()
    after = kinds(content)
    assert after[after.index("MEAN") - 1] == "DEQUANTIZE"
    assert after[after.index("MEAN") + 1] == "QUANTIZE"
    debugger.options = QuantizationDebugOptions(denylisted_nodes=["middle/elu"])
    assert "DEPTHWISE_CONV_2D" not in [row["op_name"] for row in dumped(debugger)]
    assert converter.quantization_recipe is None
    every = ["CONV_2D", "DEPTHWISE_CONV_2D", "MEAN", "FULLY_CONNECTED"]
    with (
        pytest.warns(UserWarning, match="the model stays float"),
        pytest.raises(ValueError, match="Please check if the quantized model is in debug mode"),
    ):
        debugger.options = QuantizationDebugOptions(denylisted_ops=every)


def test_layers_are_denied_by_the_names_that_the_debugger_gives():
    """Those of the quantized file, where an operator's result may have a number: mean1."""
    debugger = QuantizationDebugger(
        converter=converter_of("Relu6", optimizations=[Optimize.DEFAULT])
    )
    names = {row["tensor_name"]: row["op_name"] for row in dumped(debugger)}
    (mean,) = (name for name, kind in names.items() if kind == "MEAN")
    interpreter = Interpreter(model_content=debugger.get_nondebug_quantized_model())
    assert set(names) <= {detail["name"] for detail in interpreter.get_tensor_details()}
    again = QuantizationDebugger(
        converter=converter_of("Relu6", optimizations=[Optimize.DEFAULT]),
        debug_options=QuantizationDebugOptions(denylisted_nodes=[mean]),
    )
    assert [name for name in names if name != mean] == [row["tensor_name"] for row in dumped(again)]


def test_refusals():
    for settings, words in (
        ({"optimizations": []}, "converter object must set optimizations to lite.Optimize.DEF"),
        ({"quantization_recipe": {"scheme": "float16"}}, "object must set representative_dataset"),
    ):
        with pytest.raises(ValueError, match=words):
            QuantizationDebugger(converter=converter_of(**settings))
    with pytest.raises(ValueError, match="must have names of their own, got 'stddev'"):
        QuantizationDebugOptions({"stddev": np.std})
    with pytest.raises(ValueError, match="Provided metrics have duplicate keys"):
        QuantizationDebugOptions({"a": np.std}, layer_direct_compare_metrics={"a": correlation})
    with pytest.raises(ValueError, match="Either quantized model or converter should be"):
        QuantizationDebugger()
    content = (RECORDED / "digits.tflite").read_bytes()
    debugger = QuantizationDebugger(quant_debug_model_content=content, debug_dataset=samples)
    with pytest.raises(ValueError, match="No converter found, use this function with the conv"):
        debugger.get_nondebug_quantized_model()
    twice = QuantizationDebugger(
        quant_debug_model_content=content, debug_dataset=lambda: [[IMAGES[0], IMAGES[0]]]
    )
    with pytest.raises(ValueError, match=r"inputs provided \(2\).+inputs to the model \(1\)"):
        twice.run()
    with pytest.raises(ValueError, match="debug_dataset must be a callable"):
        QuantizationDebugger(quant_debug_model_content=content).run()
    normal = converter_of("Relu6", optimizations=[Optimize.DEFAULT]).convert()
    with pytest.raises(ValueError, match="Please check if the quantized model is in debug mode"):
        QuantizationDebugger(quant_debug_model_content=normal, debug_dataset=samples)
    options = QuantizationDebugOptions(model_debug_metrics={"largest": largest})
    with pytest.raises(ValueError, match="model_debug_metrics need float_model_path"):
        QuantizationDebugger(quant_debug_model_content=content, debug_options=options)


def test_an_output_is_denied_by_its_name_in_the_file():
    """As TensorFlow's debugger takes it: the operator that gives the output stays float."""
    converter = TFLiteConverter.from_frozen_graph(RECORDED / "conv.pb", ["x"], ["Identity"])
    converter.optimizations = [Optimize.DEFAULT]
    converter.representative_dataset = lambda: iter([[np.ones((1, 3, 3, 1), np.float32)]])
    with (
        pytest.warns(UserWarning, match="the model stays float"),
        pytest.raises(ValueError, match="Please check if the quantized model is in debug mode"),
    ):
        QuantizationDebugger(
            converter=converter,
            debug_options=QuantizationDebugOptions(denylisted_nodes=["Identity"]),
        )
