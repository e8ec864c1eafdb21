"""Loops and branches quantized within, beside the files of TensorFlow's converter."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from running import answers

from flatlite.errors import ConverterError
from flatlite.lite import Interpreter, Optimize, TFLiteConverter
from flatlite.schema.model import load

FOLDER = Path(__file__).parent / "called_graphs"
NAMES = ("counted_loop", "loop_on_data", "branches")
WEAKER = 1.02  # times the error of TensorFlow's file
COUNTS = {"INT32", "BOOL"}
MOVES = ("QUANTIZE", "DEQUANTIZE")


def samples_of(name):
    return np.load(FOLDER / f"{name}.npz")["samples"]


def content_of(name, mode):
    return (FOLDER / f"{name}.{mode}.tflite").read_bytes()


def converter_of(name, mode="int8", **settings):
    converter = TFLiteConverter.from_tflite_model(content_of(name, "float"))
    converter.optimizations = [Optimize.DEFAULT]
    if mode != "dynamic":
        converter.representative_dataset = lambda: ([x] for x in samples_of(name))
    for setting, value in settings.items():
        setattr(converter, setting, value)
    return converter


def kinds_of(content):
    """For each subgraph its operators and the types of their results, in any order.

    Those that only count are left out: a counter that TensorFlow carries may not be needed.
    """
    rows = []
    for graph in load(content).subgraphs:
        dtypes = [{graph.tensors[i].dtype for i in op.outputs} for op in graph.operators]
        pairs = zip(graph.operators, dtypes, strict=True)
        rows.append(sorted((op.op, *(d - COUNTS)) for op, d in pairs if d - COUNTS))
    return sorted(rows)


def scales_of(content, kinds=MOVES):
    """The scales on which subgraphs quantize and dequantize, in any order."""
    scales = []
    for graph in load(content).subgraphs:
        for op in graph.operators:
            if op.op in kinds:
                ends = [graph.tensors[i].quantization for i in (op.inputs[0], op.outputs[0])]
                scales += [(p.scale, p.zero_point) for p in ends if p is not None]
    return sorted(scales)


def error_of(content, name):
    """The root of the mean square of the difference from the float file, over all samples."""
    interpreters = [Interpreter(model_content=one) for one in (content, content_of(name, "float"))]
    gaps = [
        answers(interpreters[0], x)[0] - answers(interpreters[1], x)[0].astype(np.float64)
        for x in samples_of(name)
    ]
    return float(np.sqrt(np.mean(np.square(gaps))))


@pytest.mark.filterwarnings("ignore:the model stays float")  # the branches have no weights
@pytest.mark.parametrize("mode", ["int8", "dynamic"])
@pytest.mark.parametrize("name", NAMES)
def test_as_tensorflow(name, mode, litert):
    content, theirs = converter_of(name, mode).convert(), content_of(name, mode)
    for ours, operators in zip(kinds_of(content), kinds_of(theirs), strict=True):
        assert not Counter(ours) - Counter(operators)  # a counter that nobody reads is left out
    assert len(content) <= len(theirs)
    if mode == "int8":
        np.testing.assert_allclose(scales_of(content), scales_of(theirs), rtol=1e-6)
    assert error_of(content, name) <= WEAKER * error_of(theirs, name) + 1e-7
    for x in samples_of(name)[:4]:
        (ours,) = answers(Interpreter(model_content=content), x)
        (operators,) = litert.run(content, [[x]], "BUILTIN_REF")[0]
        np.testing.assert_allclose(ours, operators, rtol=0, atol=0 if mode == "int8" else 1e-5)


@pytest.mark.parametrize("scheme", ["int16x8", "float16", "weight_only_int4", "int8_int4"])
@pytest.mark.parametrize("name", NAMES)
def test_schemes(name, scheme, litert):
    converter = converter_of(name, quantization_recipe={"scheme": scheme})
    with pytest.warns() if (name, scheme) in FLOAT else pytest.MonkeyPatch.context():
        content = converter.convert()
    x = samples_of(name)[0]
    (ours,) = answers(Interpreter(model_content=content), x)
    (by_litert,) = litert.run(content, [[x]], "BUILTIN_REF")[0]
    np.testing.assert_allclose(ours, by_litert, rtol=0, atol=1e-6)


FLOAT = {("branches", "weight_only_int4")}
"""The branches have no large weights."""


def test_every_iteration_is_measured():
    """The tenth step of a loop gives values that the first does not come near."""
    converter = converter_of("loop_on_data")
    converter.convert()
    named = {key: row for key, row in converter.calibrated_ranges.items() if "subgraph" in key}
    highest = max(high for row in named.values() for _, high in row.values())
    lowest = max(abs(x).max() for x in samples_of("loop_on_data"))
    assert highest > 1.5 * lowest


@pytest.mark.parametrize("calibrator", ["moving_average", "percentile", "entropy", "mse", "octav"])
def test_calibrators(calibrator):
    recipe = {"scheme": "int8", "calibrator": calibrator}
    converter = converter_of("counted_loop", quantization_recipe=recipe)
    converter.convert()
    assert converter.signal_to_noise[""]["Identity"] > 20


def test_a_saved_calibration(tmp_path):
    converter = converter_of("counted_loop", quantization_recipe={"scheme": "int8"})
    content = converter.convert()
    converter.save_calibration(tmp_path / "ranges.json")
    recipe = {"scheme": "int8", "ranges": tmp_path / "ranges.json"}
    again = converter_of("counted_loop", "dynamic", quantization_recipe=recipe)
    assert again.convert() == content


def test_a_branch_that_no_sample_came_to_stays_float():
    converter = converter_of("branches", quantization_recipe={"scheme": "int8"})
    samples = [x for x in samples_of("branches") if x[0, 0] > 0]
    converter.representative_dataset = lambda: ([x] for x in samples)
    with pytest.warns(UserWarning, match="a range around it is not known"):
        content = converter.convert()
    assert "TANH" in converter.float_operators
    kinds = kinds_of(content)
    assert any(("TANH", "FLOAT32") in row for row in kinds)
    assert any(("MUL", "INT8") in row for row in kinds)


def test_layers_within_a_loop():
    recipe = {"scheme": "int8", "layers": [["TANH", "float"]]}
    content = converter_of("counted_loop", quantization_recipe=recipe).convert()
    assert any(("TANH", "FLOAT32") in row for row in kinds_of(content))


def test_strict_writes_out_a_loop_of_a_known_number_of_steps(litert):
    converter = converter_of("counted_loop", quantization_recipe={"scheme": "int8", "strict": True})
    content = converter.convert()
    assert len(load(content).subgraphs) == 1
    assert error_of(content, "counted_loop") < 0.02
    for x in samples_of("counted_loop")[:2]:
        (ours,) = answers(Interpreter(model_content=content), x)
        np.testing.assert_array_equal(ours, litert.run(content, [[x]], "BUILTIN_REF")[0][0])


def test_strict_refuses_a_loop_that_carries_floats():
    converter = converter_of("loop_on_data", quantization_recipe={"scheme": "int8", "strict": True})
    with pytest.raises(ConverterError, match=r"WHILE x 1, .*: it hands float32 to the graphs") as e:
        converter.convert()
    assert "at most 128: give the inputs that length" in str(e.value)
