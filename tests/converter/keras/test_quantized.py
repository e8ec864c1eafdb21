"""Keras files of tensorflow_model_optimization, trained for integers, beside what Keras answers."""

import json

import numpy as np
import pytest
from running import answers, kinds

from flatlite.errors import ConverterError, ModelError
from flatlite.lite import Interpreter, Optimize, TFLiteConverter

MODELS = ("first", "frozen", "functions", "n_bits", "network", "plain")


def folder(request):
    return request.path.parent / "quantized"


def converted(path, **settings):
    converter = TFLiteConverter.from_keras_model_file(path)
    for key, value in settings.items():
        setattr(converter, key, value)
    return converter.convert()


def run_model(content, x):
    interpreter = Interpreter(model_content=content)
    interpreter.resize_tensor_input(interpreter.get_input_details()[0]["index"], x.shape)
    interpreter.allocate_tensors()
    return answers(interpreter, x)[0]


def scales(content):
    """(operator, scales, zero points) of the results of quantized operators and their weights."""
    interpreter = Interpreter(model_content=content)
    details = {d["index"]: d["quantization_parameters"] for d in interpreter.get_tensor_details()}
    rows = [
        (op["op_name"], details[index]["scales"], details[index]["zero_points"])
        for op in interpreter._get_ops_details()
        for index in (*op["inputs"], *op["outputs"])
        if index >= 0 and len(details[index]["scales"])
    ]
    return sorted(rows, key=lambda row: (row[0], row[1].tolist()))


@pytest.mark.parametrize("ending", ["h5", "keras"])
@pytest.mark.parametrize("name", MODELS)
def test_rounds_as_keras_does(name, ending, request):
    """All but elements on the edge between two steps of a FakeQuant."""
    with np.load(folder(request) / f"{name}.npz") as expected:
        x, y = expected["x"], expected["y"]
    result = run_model(converted(folder(request) / f"{name}.{ending}"), x)
    close = np.isclose(result, y, rtol=1e-4, atol=1e-5)
    assert close.mean() > 0.98
    np.testing.assert_allclose(result, y, atol=0.05)


@pytest.mark.parametrize("ending", ["h5", "keras"])
@pytest.mark.parametrize("name", ["network", "plain"])
def test_int8_as_tensorflow(name, ending, request, litert):
    content = converted(folder(request) / f"{name}.{ending}", optimizations=[Optimize.DEFAULT])
    theirs = (folder(request) / f"{name}.tflite").read_bytes()
    assert sorted(kinds(content)) == sorted(kinds(theirs))
    for mine, yours in zip(scales(content), scales(theirs), strict=True):
        assert mine[0] == yours[0]
        np.testing.assert_allclose(mine[1], yours[1], rtol=1e-6)
        np.testing.assert_array_equal(mine[2], yours[2])
    with np.load(folder(request) / f"{name}.npz") as expected:
        x = expected["x"]
    result = run_model(content, x)
    ((by_litert,),) = litert.run(theirs, [[x]], "BUILTIN_REF")
    np.testing.assert_allclose(result, by_litert, atol=1 / 256)
    assert (result == by_litert).mean() > 0.9


def test_a_narrow_range_is_quantized_and_ranges_by_channel_are_rounded_in_float(request):
    """The six bits of the ranges by channel have levels of up to 1/28."""
    path = folder(request) / "functions.keras"
    content = converted(path, optimizations=[Optimize.DEFAULT])
    names = kinds(content)
    assert names[:2] == ["QUANTIZE", "CONV_2D"]
    assert names.index("DEQUANTIZE") < names.index("FLOOR")
    with np.load(folder(request) / "functions.npz") as expected:
        x, y = expected["x"], expected["y"]
    difference = np.abs(run_model(content, x) - y)
    assert difference.max() <= 1 / 28 + 1e-6
    assert (difference < 1e-6).mean() > 0.95


def test_an_unknown_configuration(request, edit_keras):
    def change(config):
        for layer in config["config"]["layers"]:
            if layer["class_name"] == "QuantizeWrapperV2":
                layer["config"]["quantize_config"]["class_name"] = "Mine"

    path = edit_keras(folder(request) / "plain.keras", change)
    with pytest.raises(ConverterError, match="quantize_config 'Mine' is not supported; save the"):
        converted(path)


@pytest.fixture
def edit_keras(tmp_path):
    """A function that writes a `.keras` file with another architecture."""
    import zipfile

    def edit(path, change):
        result = tmp_path / path.name
        with zipfile.ZipFile(path) as source, zipfile.ZipFile(result, "w") as target:
            for name in source.namelist():
                content = source.read(name)
                if name == "config.json":
                    config = json.loads(content)
                    change(config)
                    content = json.dumps(config).encode()
                target.writestr(name, content)
        return result

    return edit


def test_weights_of_another_configuration(request, edit_keras):
    def change(config):
        for layer in config["config"]["layers"]:
            if layer["class_name"] == "QuantizeWrapperV2":
                layer["config"]["quantize_config"]["config"]["quantize_output"] = True

    path = edit_keras(folder(request) / "plain.keras", change)
    with pytest.raises(ModelError, match=r"QuantizeWrapperV2 'quant_\w+': has \d+ weights"):
        converted(path)
