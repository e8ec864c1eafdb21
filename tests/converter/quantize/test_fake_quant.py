"""FakeQuant graphs and TensorFlow 1's settings, beside the files that TensorFlow made of them."""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from running import answers, kinds

import flatlite.lite
from flatlite.errors import ConverterError
from flatlite.graph.core.graph import Graph
from flatlite.graph.format.graphdef import to_graph_def
from flatlite.lite import Interpreter, Optimize, TFLiteConverter
from flatlite.schema.model import load

X = np.random.default_rng(1).uniform(-1, 1, (1, 6, 6, 3)).astype(np.float32)
INTEGERS = ["CONV_2D", "MAX_POOL_2D", "MEAN", "FULLY_CONNECTED"]
UINT8 = {
    "inference_type": flatlite.lite.constants.QUANTIZED_UINT8,
    "quantized_input_stats": {"x": (128.0, 127.0)},
}


def converter_of(request, name, **settings):
    path = request.path.parent / f"fake_quant/{name}.pb"
    converter = TFLiteConverter.from_frozen_graph(path, ["x"], ["z"])
    for key, value in settings.items():
        setattr(converter, key, value)
    return converter


def quantized_tensors(content):
    """X as the file takes it, and its answer."""
    interpreter = Interpreter(model_content=content)
    interpreter.allocate_tensors()
    detail = interpreter.get_input_details()[0]
    scale, zero_point = detail["quantization"]
    if detail["dtype"] is np.float32:
        return X, answers(interpreter, X)[0]
    limits = np.iinfo(detail["dtype"])
    steps = np.clip(np.rint(X / np.float32(scale)) + zero_point, limits.min, limits.max)
    steps = steps.astype(detail["dtype"])
    return steps, answers(interpreter, steps)[0]


def schemes(content):
    """(type, scales, zero points) of the results of all operators, and of their weights."""
    interpreter = Interpreter(model_content=content)
    details = {d["index"]: d for d in interpreter.get_tensor_details()}
    rows = []
    for op in interpreter._get_ops_details():
        for index in (*op["inputs"], *op["outputs"]):
            if index >= 0 and len(details[index]["quantization_parameters"]["scales"]):
                params = details[index]["quantization_parameters"]
                row = (np.dtype(details[index]["dtype"]).name, params["scales"])
                rows.append((*row, params["zero_points"]))
    return rows


INT8 = {"inference_type": np.int8, "quantized_input_stats": {"x": (0.0, 127.0)}}
DEFAULT = {"optimizations": [Optimize.DEFAULT]}
INPUT = {"inference_input_type": np.uint8, "quantized_input_stats": {"x": (128.0, 127.0)}}
REORDER = {"reorder_across_fake_quant": True}
CONCAT = {"change_concat_input_ranges": True}


def check_alike(content, theirs, litert):
    """Two files have the same operators, types, scales and results."""
    assert kinds(content) == kinds(theirs)
    for mine, yours in zip(schemes(content), schemes(theirs), strict=True):
        assert mine[0] == yours[0]
        np.testing.assert_allclose(mine[1], yours[1], rtol=3e-7)
        np.testing.assert_array_equal(mine[2], yours[2])
    steps, output = quantized_tensors(content)
    for file_content in (content, theirs):
        ((by_litert,),) = litert.run(file_content, [[steps]], "BUILTIN_REF")
        np.testing.assert_array_equal(output, by_litert)


@pytest.mark.parametrize(
    ("name", "file", "settings"),
    [
        ("one_range", "uint8", UINT8),
        ("open_end", "uint8_default", UINT8 | {"default_ranges_stats": (0.0, 6.0)}),
        ("ranges", "int8", {"inference_type": np.int8}),
        ("branches", "uint8", UINT8),
        ("branches", "int8", INT8),
        ("joined", "uint8", UINT8),
        ("joined", "int8", INT8),
        ("wide", "uint8", UINT8),
        ("wide", "int8", INT8),
        ("narrow", "default_int8", INT8 | DEFAULT),
        ("joined", "default_uint8", UINT8 | DEFAULT),
        ("joined", "default_int8", INT8 | DEFAULT),
        ("across", "uint8", UINT8),
        ("across", "int8", INT8),
        ("averaged", "int8", INT8),
        ("normalized", "int8", INT8),
    ],
)
def test_as_tensorflow(name, file, settings, request, litert):
    content = converter_of(request, name, **settings).convert()
    theirs = (request.path.parent / f"fake_quant/{name}_{file}.tflite").read_bytes()
    check_alike(content, theirs, litert)


def test_a_narrow_range_in_a_float_file(request, litert):
    """LiteRT refuses FAKE_QUANT of one; what it takes rounds as TensorFlow does."""
    content = converter_of(request, "narrow").convert()
    assert kinds(content).count("FAKE_QUANT") == 2
    ((output,),) = litert.run(content, [[X * 2]], "BUILTIN_REF")
    levels = output / (6 / 254)
    np.testing.assert_allclose(levels, np.rint(levels), atol=1e-3)
    assert output.min() >= 0 and output.max() <= 3


def test_optimizations_overrule_inference_type(request, litert):
    converter = converter_of(request, "plain", **UINT8, **DEFAULT)
    with pytest.warns(UserWarning, match="inference_type has no effect beside optimizations"):
        content = converter.convert()
    theirs = (request.path.parent / "fake_quant/plain_default_uint8.tflite").read_bytes()
    check_alike(content, theirs, litert)


def test_integer_input_of_a_float_model(request, litert):
    """TensorFlow moves the DEQUANTIZE behind the RESHAPE."""
    content = converter_of(request, "plain", **INPUT).convert()
    assert kinds(content) == ["DEQUANTIZE", "RESHAPE", "FULLY_CONNECTED"]
    theirs = (request.path.parent / "fake_quant/plain_input_uint8.tflite").read_bytes()
    steps, output = quantized_tensors(content)
    for file_content in (content, theirs):
        ((by_litert,),) = litert.run(file_content, [[steps]], "BUILTIN_REF")
        np.testing.assert_allclose(output, by_litert, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("settings", [UINT8, INT8])
def test_reorder_across_fake_quant(settings, request, litert):
    """Bias and activation go into the convolution; TensorFlow 2.21 ignores the attribute."""
    content = converter_of(request, "across", **settings, **REORDER).convert()
    assert kinds(content) == ["CONV_2D"]
    plain = converter_of(request, "across", **settings).convert()
    ends = [np.float32(2 / 255), np.float32(5.5 / 255)]  # of FakeQuant at the input and the output
    for file_content in (content, plain):
        rows = schemes(file_content)
        np.testing.assert_allclose([rows[0][1][0], rows[-1][1][0]], ends, rtol=3e-7)
    steps, output = quantized_tensors(content)
    ((by_litert,),) = litert.run(content, [[steps]], "BUILTIN_REF")
    np.testing.assert_array_equal(output, by_litert)
    assert error(content, request) < 5.5 / 255  # a step of the output


def error(content, request):
    """The root mean square of what a file gives beside the fake-quantized graph in float32."""
    float_file = converter_of(request, "across").convert()
    _, output = quantized_tensors(content)
    interpreter = Interpreter(model_content=content)
    scale, zero_point = interpreter.get_output_details()[0]["quantization"]
    _, expected = quantized_tensors(float_file)
    return np.sqrt(np.mean(((output.astype("f4") - zero_point) * scale - expected) ** 2))


@pytest.mark.parametrize("settings", [UINT8, INT8])
@pytest.mark.parametrize(("name", "end"), [("branches", 6.0), ("joined", 6.0)])
def test_change_concat_input_ranges(name, end, settings, request, litert):
    """What is joined gets the range of the whole; TensorFlow 2.21 ignores the attribute."""
    content = converter_of(request, name, **settings, **CONCAT).convert()
    assert kinds(content) == ["CONV_2D", "CONV_2D", "CONCATENATION", "MAX_POOL_2D"]
    rows = [row for row in schemes(content) if row[0] in ("int8", "uint8")]
    first, second, joined = rows[-5:-2]
    assert first[1:] == second[1:] == joined[1:]
    np.testing.assert_allclose(joined[1], (3 + end) / 255, rtol=2e-3)
    steps, output = quantized_tensors(content)
    ((by_litert,),) = litert.run(content, [[steps]], "BUILTIN_REF")
    np.testing.assert_array_equal(output, by_litert)


@pytest.mark.parametrize("name", [*REORDER, *CONCAT])
def test_without_integers_ranges_say_nothing(name, request):
    converter = converter_of(request, "joined", **{name: True})
    with pytest.warns(UserWarning, match=f"{name} has no effect without inference_type"):
        converter.convert()


def test_types_of_ends_where_fake_quant_states_ranges(request):
    converter = converter_of(request, "joined", **DEFAULT, inference_input_type=np.int8)
    interpreter = Interpreter(model_content=converter.convert())
    assert interpreter.get_input_details()[0]["dtype"] is np.int8
    assert interpreter.get_output_details()[0]["dtype"] is np.float32
    converter = converter_of(request, "plain", **DEFAULT, inference_input_type=np.int8)
    with pytest.raises(ValueError, match=r"inference_output_type must be tf\.float32"):
        converter.convert()


def test_a_recipe_takes_the_stated_ranges(request, litert):
    """Without samples; of two graphs, only one states any."""
    recipe = {"scheme": "int8", "input_type": "int8", "output_type": "int8"}
    content = converter_of(request, "ranges", quantization_recipe=recipe).convert()
    theirs = (request.path.parent / "fake_quant/ranges_int8.tflite").read_bytes()
    check_alike(content, theirs, litert)
    converter = converter_of(request, "plain", quantization_recipe=recipe)
    with pytest.raises(ValueError, match="a `representative_dataset` must be specified"):
        converter.convert()


def test_without_quantization_it_rounds(request, litert):
    """TensorFlow writes QUANTIZE and DEQUANTIZE; FAKE_QUANT gives the same numbers."""
    content = converter_of(request, "one_range").convert()
    assert kinds(content).count("FAKE_QUANT") == 4
    theirs = (request.path.parent / "fake_quant/one_range_float.tflite").read_bytes()
    _, output = quantized_tensors(content)
    for file_content in (content, theirs):
        ((by_litert,),) = litert.run(file_content, [[X]])
        np.testing.assert_allclose(output, by_litert, atol=1e-5)


def test_default_quantizes_by_the_stated_ranges(request):
    converter = converter_of(request, "ranges", optimizations=[Optimize.DEFAULT])
    content = converter.convert()
    assert kinds(content) == ["QUANTIZE", *INTEGERS, "DEQUANTIZE"]
    assert converter.signal_to_noise[""]["z"] > 35


def test_what_has_no_range_stays_float(request):
    converter = converter_of(request, "open_end", **UINT8)
    with pytest.warns(UserWarning, match="FULLY_CONNECTED x 1, .*a range around it is not known"):
        content = converter.convert()
    assert kinds(content) == [*INTEGERS[:3], "DEQUANTIZE", INTEGERS[3]]
    converter.strict_int8 = True
    with pytest.raises(ConverterError, match="strict_int8 asks for integer operators only"):
        converter.convert()


def test_nothing_states_a_range():
    graph = Graph()
    x = graph.add("Placeholder", "x", (), {"dtype": np.dtype("f4"), "shape": (2, 4)}).outputs
    graph.add("Exp", "y", x)
    converter = TFLiteConverter(to_graph_def(graph), None, None, [("x", [2, 4])], ["y"])
    converter.inference_type = np.uint8
    words = r"flag must be defined .* `inference_type=tf.uint8` and `inference_input_type=None`\."
    with pytest.raises(
        ValueError,
        match=rf"{words}\nNothing tells .* inputs 'x'; with inference_type, default_ranges",
    ):
        converter.convert()


def test_settings_without_effect():
    graph = Graph()
    x = graph.add("Placeholder", "x", (), {"dtype": np.dtype("f4"), "shape": (2, 4)}).outputs
    graph.add("Exp", "y", x)
    converter = TFLiteConverter(to_graph_def(graph), None, None, [("x", [2, 4])], ["y"])
    converter.quantized_input_stats = {"y": (0.0, 1.0)}
    with pytest.raises(ValueError, match=r"for input tensors 'x'.\nquantized_input_stats has 'y'"):
        converter.convert()
    converter.quantized_input_stats = {"x": (0.0, 1.0)}
    with pytest.warns(UserWarning, match="quantized_input_stats has no effect without inference_t"):
        converter.convert()


def test_weights_stay_on_the_grid_that_they_were_trained_on():
    """As in TensorFlow's file: the scale is that of FakeQuant where 0 lies in the middle of it."""
    weights = np.float32([[0.3, -5.1, 2.0], [4.9, -1.2, 0.7]])
    content = converter_of_weights("FULLY_CONNECTED", weights, [1, 2], -6.0, 6.0).convert()
    assert stored_weights(content) == (pytest.approx(12 / 255, rel=1e-6), 0)


def converter_of_weights(kind, weights, shape, low, high, bits=8, narrow=False):
    graph = Graph()
    x = graph.add("Placeholder", "x", (), {"dtype": np.dtype("f4"), "shape": tuple(shape)})
    ends = {"min": low, "max": high, "num_bits": bits, "narrow_range": narrow}
    w = graph.add("FakeQuantWithMinMaxArgs", "w", [graph.constant(weights, "weights")], ends)
    before = graph.add("FakeQuantWithMinMaxArgs", "before", x.outputs, {"min": -1.0, "max": 1.0})
    operands, options = [before.outputs[0], w.outputs[0]], {}
    if kind == "CONV_2D":
        options = {"strides": [1, 1, 1, 1], "padding": b"SAME", "T": np.dtype("f4")}
    product = graph.add({"CONV_2D": "Conv2D"}.get(kind, "MatMul"), "product", operands, options)
    graph.add("FakeQuantWithMinMaxArgs", "y", product.outputs, {"min": -8.0, "max": 8.0})
    converter = TFLiteConverter(to_graph_def(graph), None, None, [("x", list(shape))], ["y"])
    converter.optimizations = [Optimize.DEFAULT]
    return converter


def stored_weights(content):
    """(scale, zero point) of the weights of the one product."""
    (subgraph,) = load(content).subgraphs
    (op,) = (op for op in subgraph.operators if op.op in ("CONV_2D", "FULLY_CONNECTED"))
    params = subgraph.tensors[op.inputs[1]].quantization
    return float(params.scale), int(params.zero_point)


UNSYMMETRIC = json.loads((Path(__file__).parent / "fake_quant/weights.json").read_text())


@pytest.mark.parametrize("name", UNSYMMETRIC)
def test_weights_of_ranges_that_are_not_symmetric(name, litert):
    """TensorFlow's steps, where LiteRT has a kernel; a zero point only where there must be one."""
    row = UNSYMMETRIC[name]
    x, weights = np.float32(row["x"]), np.float32(row["weights"])
    converter = converter_of_weights(row["kind"], weights, x.shape, *row["range"])
    is_widened = row["kind"] == "CONV_2D" and row["range"][2] == 8
    if is_widened:  # LiteRT refuses TensorFlow's file
        with pytest.warns(UserWarning, match="CONV_2D 'product': the range that its weights were"):
            content = converter.convert()
    else:
        content = converter.convert()
        scale, zero_point = stored_weights(content)
        n_steps = 63 if "six_bits" in name else 255  # TensorFlow spreads 6 bits over 8
        assert scale == pytest.approx(row["scale"] * 255 / n_steps)
        assert zero_point in (0, row["zero_point"])
    (ours,) = answers(Interpreter(model_content=content), x)
    ((theirs,),) = litert.run(content, [[x]], "BUILTIN_REF")
    np.testing.assert_array_equal(ours, theirs)
    step = 16 / 255
    np.testing.assert_allclose(ours, row["y"], rtol=0, atol=(3 if is_widened else 1.01) * step)


LOW_BIT = json.loads((Path(__file__).parent / "fake_quant/low_bit.json").read_text())


@pytest.mark.parametrize("row", LOW_BIT, ids=lambda row: f"{row['bits']}-{row['low_bit']}")
def test_small_weights_of_few_bits(row):
    """They are integers where `_experimental_low_bit_qat` asks for it, as in TensorFlow's file."""
    graph = Graph()
    x = graph.add("Placeholder", "x", (), {"dtype": np.dtype("f4"), "shape": (1, 2, 2, 4)})
    weights = graph.constant(np.float32(row["weights"]), "weights")
    ends = {"min": -1.0, "max": 1.0, "num_bits": row["bits"], "narrow_range": True}
    filters = graph.add("FakeQuantWithMinMaxArgs", "filters", [weights], ends).outputs[0]
    options = {"strides": [1, 1, 1, 1], "padding": b"SAME", "T": np.dtype("f4")}
    graph.add("Conv2D", "y", [x.outputs[0], filters], options)
    converter = TFLiteConverter(to_graph_def(graph), None, None, [("x", [1, 2, 2, 4])], ["y"])
    converter.optimizations = [Optimize.DEFAULT]
    converter._experimental_low_bit_qat = row["low_bit"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # without it, nothing is quantized
        content = converter.convert()
    (subgraph,) = load(content).subgraphs
    weights = subgraph.tensors[subgraph.operators[0].inputs[1]]
    assert weights.dtype.lower() == row["dtype"]
    if row["scale"] is not None:
        assert weights.quantization.scales[0] == pytest.approx(row["scale"], rel=1e-6)


@pytest.mark.parametrize("order", [("Minimum", "Maximum"), ("Maximum", "Minimum")], ids="-".join)
def test_limits_behind_a_stated_range(order):
    """Each takes its operands in one scale: that of its limits alone cuts off the others."""
    graph = Graph()
    x = graph.add("Placeholder", "x", (), {"dtype": np.dtype("f4"), "shape": (3, 4)}).outputs[0]
    ends = {"min": -1.0, "max": 1.0, "num_bits": 8, "narrow_range": False}
    y = graph.add("FakeQuantWithMinMaxArgs", "stated", [x], ends).outputs[0]
    limits = {"Maximum": np.float32([-1, -2, -0.5, -0.1]), "Minimum": np.float32([1, 0.5, 2, 1])}
    for kind in order:
        y = graph.add(kind, kind, [y, graph.constant(limits[kind], f"{kind}/limit")]).outputs[0]
    graph.add("Cos", "y", [y])
    converter = TFLiteConverter(to_graph_def(graph), None, None, [("x", [3, 4])], ["y"])
    converter.optimizations = [Optimize.DEFAULT]
    content = converter.convert()
    assert {"QUANTIZE", *map(str.upper, order)} <= set(kinds(content))
    (subgraph,) = load(content).subgraphs
    first = subgraph.tensors[subgraph.operators[0].outputs[0]]
    assert first.quantization.scales[0] == pytest.approx(2 / 255)  # limits of 2 take no steps
    feed = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)
    (result,) = answers(Interpreter(model_content=content), feed)
    expected = np.cos(np.clip(feed, limits["Maximum"], limits["Minimum"]))
    np.testing.assert_allclose(result, expected, rtol=0, atol=3 * 4 / 255)


def test_ties_of_one_grid_on_another():
    """Every fourth of the 6 / 127.5 lies between two of 8 / 127.5: one rounding or the other."""
    graph = Graph()
    x = graph.add("Placeholder", "x", (), {"dtype": np.dtype("f4"), "shape": (3, 64)}).outputs[0]
    for name, limit in (("first", 6.0), ("y", 8.0)):
        ends = {"min": -limit, "max": limit, "num_bits": 8, "narrow_range": False}
        x = graph.add("FakeQuantWithMinMaxArgs", name, [x], ends).outputs[0]
        if name == "first":
            x = graph.add("Relu6", "relu", [x]).outputs[0]
    converter = TFLiteConverter(to_graph_def(graph), None, None, [("x", [3, 64])], ["y"])
    converter.optimizations = [Optimize.DEFAULT]
    content = converter.convert()
    assert converter.verified
    feed = np.linspace(-7, 7, 192, dtype=np.float32).reshape(3, 64)
    (result,) = answers(Interpreter(model_content=content), feed)
    np.testing.assert_allclose(result, np.clip(feed, 0, 6), rtol=0, atol=(12 + 16) / 255 / 2 + 1e-6)
