"""Tensors that were (almost) always 0 in calibration: LiteRT runs the file and gives 0."""

import numpy as np
import pytest
from rewriting import graph_of
from running import answers

from flatlite.converter.ir.write import write
from flatlite.converter.quantize.scales import of_constant, of_range
from flatlite.lite import Interpreter, TFLiteConverter
from flatlite.schema.model import save

MEASURED = {
    (0.0, 0.0): (7.843137e-09, 0),
    (0.0, 1e-9): (7.847059e-09, -1),
    (0.0, 1e-7): (8.235294e-09, -7),
    (0.0, 4e-7): (9.411765e-09, -22),
    (-4e-7, 0.0): (9.411765e-09, 21),
    (0.0, 9.9999e-7): (1.1764667e-08, -43),
    (0.0, 1.5e-6): (5.882353e-09, -128),
    (-3e-6, 0.0): (1.1764706e-08, 127),
}
"""Range -> scale and zero point that TensorFlow's converter (2.21) gives a tensor."""


@pytest.mark.parametrize("extent", MEASURED)
def test_measured_ranges(extent):
    scale, zero_point = MEASURED[extent]
    params = of_range(*extent)
    np.testing.assert_allclose(params.scales, scale, rtol=1e-6)
    assert params.zero_points.tolist() == [zero_point]


def test_constants():
    for value, scale, zero_point in ((0.0, 3.9215686e-09, 0), (1e-7, 3.9215686e-09, 0)):
        params = of_constant(np.float32([0, value]))
        np.testing.assert_allclose(params.scales, scale, rtol=1e-6)
        assert params.zero_points.tolist() == [zero_point]


RANDOM = np.random.default_rng(3).uniform(-1, 1, (8, 2, 4)).astype(np.float32)

GRAPHS = {
    "ADD": ("z = ADD(x, y)", -1),
    "SUB": ("z = SUB(x, y)", 1),
    "SQUARED_DIFFERENCE": ("z = SQUARED_DIFFERENCE(x, y)", 1),
    "a MINIMUM": ("a = ADD(x, y)\nz = MINIMUM(a, float32[]{0.0})", -1),
    "two zeros": ("a = ADD(x, y)\nb = ADD(y, x)\nz = ADD(a, b)", -1),
    "a RESHAPE": ("a = SQUARED_DIFFERENCE(x, y)\nz = RESHAPE(a, int32[2]{4, 2})", 1),
    "RELU that never fires": (
        "z = SUB(x, float32[]{3e5}; fused_activation_function=RELU)",
        1,
    ),
    "a branch times 0": (
        "a = MUL(x, float32[]{0.0})\nb = MUL(y, float32[]{0.0})\nz = ADD(a, b)",
        1,
    ),
}
"""Body of a graph of x and y, and y / x in the samples; z is always 0.

LiteRT aborts when it runs the file that TensorFlow makes of ADD and SQUARED_DIFFERENCE.
"""


@pytest.mark.parametrize("resolver", ["BUILTIN_REF", "BUILTIN"])
@pytest.mark.parametrize("largest", [1, 10, 1e5])
@pytest.mark.parametrize("name", GRAPHS)
def test_a_result_that_is_always_0(name, largest, resolver, litert):
    body, ratio = GRAPHS[name]
    samples = [[largest * x, ratio * largest * x] for x in RANDOM]
    content, exact = quantized(body, samples), [np.zeros((2, 4))] * len(samples)
    answered = litert.run(content, samples, resolver)
    assert not isinstance(answered, str), answered
    for inputs, zeros, theirs in zip(samples, exact, answered, strict=True):
        np.testing.assert_allclose(theirs[0].reshape(2, 4), zeros, atol=1e-3 * largest)
        if resolver == "BUILTIN_REF":
            ours = answers(Interpreter(model_content=content), *inputs)
            np.testing.assert_array_equal(ours[0], theirs[0])


@pytest.mark.parametrize("kind", ["RELU", "RELU6"])
@pytest.mark.parametrize("scheme", ["int8", "int16x8"])
def test_an_activation_that_never_fires(scheme, kind, litert):
    """Numbers shifted out of 32 bits would have any sign, and those above 0 stay."""
    samples = [[3 * -np.abs(x), x] for x in RANDOM]
    content = quantized(f"a = MINIMUM(x, y)\nz = {kind}(a)", samples, scheme)
    for resolver in ("BUILTIN_REF", "BUILTIN"):
        np.testing.assert_array_equal(litert.run(content, samples, resolver), 0)


def test_uint8_weights_of_both_signs(litert):
    """Steps that are larger than those of int8, where one sign reaches further than the other."""
    samples = [[-np.abs(x), x] for x in RANDOM]
    product = "z = FULLY_CONNECTED(x, float32[2,4]{0.62, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, -0.06}"
    body = f"{product}, float32[2]{{-9, -9}}; fused_activation_function=RELU)"
    content = quantized(body, samples, "uint8")
    for resolver in ("BUILTIN_REF", "BUILTIN"):
        np.testing.assert_array_equal(litert.run(content, samples, resolver), 0)


def test_others_go_on_with_what_they_are(litert):
    """z = 0 + x: the branch that is 0 costs x nothing."""
    samples = [[100 * x, -100 * x] for x in RANDOM]
    content = quantized("a = ADD(x, y)\nz = ADD(a, x)", samples)
    answered = litert.run(content, samples)
    assert not isinstance(answered, str), answered
    for (x, _), theirs in zip(samples, answered, strict=True):
        np.testing.assert_allclose(theirs[0], x, atol=200 / 255 + 1e-3)


def test_samples_of_zeros(litert):
    zeros = [[np.zeros((2, 4), np.float32)] * 2]
    content = quantized("a = ADD(x, y)\nz = ADD(a, float32[]{2.5})", zeros)
    answered = litert.run(content, zeros)
    assert not isinstance(answered, str), answered
    np.testing.assert_allclose(answered[0][0], np.full((2, 4), 2.5), atol=0.01)


def quantized(body, samples, scheme="int8"):
    """The file in a scheme of a graph of x and y that gives z."""
    text = f"graph main(x: float32[2,4], y: float32[2,4]) {{\n{body}\nreturn z\n}}"
    content = save(write([graph_of(text)]).model)
    converter = TFLiteConverter.from_tflite_model(content)
    converter.quantization_recipe = {"scheme": scheme}
    converter.representative_dataset = lambda: iter(samples)
    return converter.convert()
