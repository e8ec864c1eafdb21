"""QuantizationDebugger: TFLite's surface and columns, errors that are those of the two files."""

import csv
import io

import numpy as np
import pytest
from quantized_network import IMAGES, converter_of
from running import kinds

from flatlite.experimental import QuantizationDebugger, QuantizationDebugOptions
from flatlite.lite import Interpreter, Optimize

COLUMNS = (
    "op_name,tensor_idx,num_elements,stddev,mean_error,max_abs_error,mean_squared_error,"
    "scale,zero_point,tensor_name"
)
"""What TensorFlow 2.21's layer_statistics_dump writes."""


def values(content, name):
    """The values of a tensor after each image."""
    interpreter = Interpreter(model_content=content, experimental_preserve_all_tensors=True)
    interpreter.allocate_tensors()
    (detail,) = (d for d in interpreter.get_tensor_details() if d["name"] == name)
    found = []
    for x in IMAGES:
        interpreter.set_tensor(interpreter.get_input_details()[0]["index"], x)
        interpreter.invoke()
        array, (scale, zero_point) = interpreter.get_tensor(detail["index"]), detail["quantization"]
        found.append((array.astype(np.float64) - zero_point) * scale if scale else array)
    return found


def test_statistics():
    converter = converter_of("Relu6", optimizations=[Optimize.DEFAULT])
    options = QuantizationDebugOptions({"median": lambda error: float(np.median(error))})
    debugger = QuantizationDebugger(converter=converter, debug_options=options)
    debugger.run()
    text = io.StringIO()
    debugger.layer_statistics_dump(text)
    rows = list(csv.DictReader(io.StringIO(text.getvalue())))
    assert list(rows[0]) == COLUMNS.replace("error,scale", "error,median,scale").split(",")
    assert [row["op_name"] for row in rows] == [
        *("CONV_2D", "DEPTHWISE_CONV_2D", "MEAN", "FULLY_CONNECTED")
    ]
    quantized = debugger.get_nondebug_quantized_model()
    plain = converter_of("Relu6", optimizations=[]).convert()
    for row in rows[:2]:  # whose names no constant has
        name = row["tensor_name"]
        pairs = zip(values(plain, name), values(quantized, name), strict=True)
        errors = [after - before for before, after in pairs]
        squares = np.mean([np.mean(np.square(error)) for error in errors])
        assert float(row["mean_squared_error"]) == pytest.approx(squares)
        largest = np.mean([np.abs(error).max() for error in errors])
        assert float(row["max_abs_error"]) == pytest.approx(largest)
        assert debugger.layer_statistics[name]["num_elements"] == errors[0].size


def test_denied_operators_stay_float():
    converter = converter_of("Relu6", optimizations=[Optimize.DEFAULT])
    debugger = QuantizationDebugger(converter=converter)
    debugger.options.denylisted_ops = ["MEAN"]
    content = debugger.get_nondebug_quantized_model()
    after = kinds(content)
    assert after[after.index("MEAN") - 1] == "DEQUANTIZE"
    assert after[after.index("MEAN") + 1] == "QUANTIZE"
    assert converter.quantization_recipe is None


def test_a_model_that_is_not_quantized():
    for settings in ({"optimizations": []}, {"quantization_recipe": {"scheme": "float16"}}):
        with pytest.raises(ValueError, match="converter must quantize results"):
            QuantizationDebugger(converter=converter_of(**settings))
    with pytest.raises(ValueError, match="must have names of their own, got 'stddev'"):
        QuantizationDebugOptions({"stddev": np.std})
