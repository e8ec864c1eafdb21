"""FakeQuant graphs and TensorFlow 1's settings, beside the files that TensorFlow made of them."""

import numpy as np
import pytest
from running import answers, kinds

import flatlite.lite
from flatlite.errors import ConverterError
from flatlite.graph.core.graph import Graph
from flatlite.graph.format.graphdef import to_graph_def
from flatlite.lite import Interpreter, Optimize, TFLiteConverter

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


def stored(content):
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


@pytest.mark.parametrize(
    ("name", "file", "settings"),
    [
        ("one_range", "one_range_uint8", UINT8),
        ("open_end", "open_end_uint8_default", UINT8 | {"default_ranges_stats": (0.0, 6.0)}),
        ("ranges", "ranges_int8", {"inference_type": np.int8}),
    ],
)
def test_as_tensorflow(name, file, settings, request, litert):
    content = converter_of(request, name, **settings).convert()
    theirs = (request.path.parent / f"fake_quant/{file}.tflite").read_bytes()
    assert kinds(content) == kinds(theirs) == INTEGERS
    for mine, yours in zip(schemes(content), schemes(theirs), strict=True):
        assert mine[0] == yours[0]
        np.testing.assert_allclose(mine[1], yours[1], rtol=2e-7)
        np.testing.assert_array_equal(mine[2], yours[2])
    steps, answer = stored(content)
    for file_content in (content, theirs):
        ((wanted,),) = litert.run(file_content, [[steps]], "BUILTIN_REF")
        np.testing.assert_array_equal(answer, wanted)


def test_without_quantization_it_rounds(request, litert):
    """TensorFlow writes QUANTIZE and DEQUANTIZE; FAKE_QUANT gives the same numbers."""
    content = converter_of(request, "one_range").convert()
    assert kinds(content).count("FAKE_QUANT") == 4
    theirs = (request.path.parent / "fake_quant/one_range_float.tflite").read_bytes()
    _, answer = stored(content)
    for file_content in (content, theirs):
        ((wanted,),) = litert.run(file_content, [[X]])
        np.testing.assert_allclose(answer, wanted, atol=1e-5)


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
    with pytest.raises(ConverterError, match=r"nothing tells the ranges .* default_ranges_stats"):
        converter.convert()


def test_settings_without_effect():
    graph = Graph()
    x = graph.add("Placeholder", "x", (), {"dtype": np.dtype("f4"), "shape": (2, 4)}).outputs
    graph.add("Exp", "y", x)
    converter = TFLiteConverter(to_graph_def(graph), None, None, [("x", [2, 4])], ["y"])
    converter.quantized_input_stats = {"x": (0.0, 1.0)}
    with pytest.warns(UserWarning, match="quantized_input_stats has no effect without inference_t"):
        converter.convert()
