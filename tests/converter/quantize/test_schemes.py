"""Schemes, recipes and calibrators: what is written, that LiteRT runs it, and what is refused."""

import json
import warnings

import numpy as np
import pytest
from quantized_network import IMAGES, converter_of
from rewriting import graph_of
from running import answers, kinds
from written import has_blocks

from flatlite.converter.ir.write import write
from flatlite.converter.quantize.calibrate import calibrate
from flatlite.converter.quantize.scheme import BLOCK_SIZES, SCHEMES
from flatlite.converter.quantize.statistics import calibrator_of
from flatlite.converter.verify.verification import Function
from flatlite.engine.tiling import HISTOGRAM
from flatlite.graph.core.graph import Graph
from flatlite.graph.format.graphdef import to_graph_def
from flatlite.lite import Interpreter, OpsSet, Optimize, TFLiteConverter
from flatlite.schema.model import load, save

GENERATOR = np.random.default_rng(9)
INT16X8 = OpsSet.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8


def types(content):
    """Operator -> the types of its first input, second input and result."""
    interpreter = Interpreter(model_content=content)
    details = {d["index"]: np.dtype(d["dtype"]).name for d in interpreter.get_tensor_details()}
    rows = {}
    for op in interpreter._get_ops_details():
        ends = (*op["inputs"][:2], op["outputs"][0])
        rows[op["op_name"]] = [details.get(index, "-") for index in ends]
    return rows


def by_litert(content, litert, x):
    """LiteRT's answer, and the share of the largest value by which ours may be another.

    The reference kernels lack DEPTHWISE_CONV_2D of 4 bits; the others round once more. They take
    the scales of blocks for none and give zeros.
    """
    resolvers = (("BUILTIN_REF", 1e-5), ("BUILTIN_WITHOUT_DEFAULT_DELEGATES", 1 / 127))
    for resolver, share in resolvers[has_blocks(content) :]:
        outputs = litert.run(content, [[x]], resolver)
        if not isinstance(outputs, str):
            return outputs[0][0], share
    raise AssertionError(outputs)


WEIGHTS = {
    "int8": ["int8"] * 3,
    "int16x8": ["int8"] * 3,
    "int8_int4": ["int4"] * 3,
    "int16x4": ["int4", "int8", "int4"],  # LiteRT has no kernel for the depthwise one
    "dynamic": ["int8"] * 3,
    "dynamic_int4": ["int4", "int8", "int4"],
    "dynamic_int2": ["int8", "int8", "int2"],
    "weight_only": ["int8"] * 3,
    "weight_only_int4": ["int4"] * 3,
    "weight_only_int2": ["int2"] * 3,
    "float16": ["float16"] * 3,
    **{f"dynamic_int4_block{n}": ["int4", "int8", "int4"] for n in BLOCK_SIZES},
    **{f"weight_only_int{b}_block{n}": [f"int{b}"] * 3 for b in (8, 4, 2) for n in BLOCK_SIZES},
}
"""The types of the stored weights of convolution, depthwise convolution and product."""
LARGEST_ERRORS = {"int2": 0.7, "int4": 0.35, "int8": 0.05, "float16": 1e-3}
"""By the narrowest weights: what the error may be, of the largest value."""


def stored_types(content):
    """The types of weights, in the order of the operators that they belong to."""
    (subgraph,) = load(content).subgraphs
    types_in_file = [tensor.dtype.lower() for tensor in subgraph.tensors]
    types, rows = {}, []
    for op in subgraph.operators:
        if op.op == "DEQUANTIZE":
            types[op.outputs[0]] = types_in_file[op.inputs[0]]
        elif op.op == "RESHAPE" and op.inputs[0] in types:
            types[op.outputs[0]] = types[op.inputs[0]]
        elif op.op in LINEAR:
            rows.append(types.get(op.inputs[1], types_in_file[op.inputs[1]]))
    return rows


LINEAR = ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED")


@pytest.mark.parametrize("scheme", sorted(WEIGHTS))
def test_scheme(scheme, litert):
    converter = converter_of("Relu6", quantization_recipe={"scheme": scheme})
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        content = converter.convert()
    texts = [str(one.message) for one in warned]
    is_mixed = len(set(WEIGHTS[scheme])) > 1
    assert any("they are int8" in text for text in texts) == is_mixed
    assert stored_types(content) == WEIGHTS[scheme]
    plain = converter_of("Relu6", optimizations=[]).convert()
    interpreters = [Interpreter(model_content=one) for one in (plain, content)]
    for one in interpreters:
        one.allocate_tensors()
    x = IMAGES[0]
    expected, actual = (answers(one, x)[0] for one in interpreters)
    limit = max(LARGEST_ERRORS[name] for name in WEIGHTS[scheme])
    assert np.abs(expected - actual).max() <= limit * np.abs(expected).max()
    theirs, share = by_litert(content, litert, x)
    has_reference = scheme != "int8_int4" and not scheme.startswith("dynamic_int4_block1")
    has_reference &= scheme not in ("dynamic_int4_block32", "dynamic_int4_block64")
    assert (share == 1e-5) == has_reference
    np.testing.assert_allclose(actual, theirs, rtol=0, atol=share * np.abs(theirs).max())


@pytest.mark.parametrize("block", BLOCK_SIZES)
@pytest.mark.parametrize("hybrid", [True, False])
def test_blocks(block, hybrid, litert):
    """A row with an outlier in each block loses little with a scale for each, much with one."""
    graph = Graph()
    attributes = {"dtype": np.dtype("f4"), "shape": (3, 512)}
    x = graph.add("Placeholder", "x", (), attributes).outputs[0]
    weights = GENERATOR.normal(size=(512, 8)).astype(np.float32)
    weights[:block] *= 50
    graph.add("MatMul", "y", [x, graph.constant(weights, "w")])
    converter = TFLiteConverter(to_graph_def(graph), None, None, [("x", [3, 512])], ["y"])
    x = GENERATOR.normal(size=(3, 512)).astype(np.float32)
    x[:, :block] = 0  # what the outliers' scale would drown
    errors = []
    for size in (block, None):
        scheme = {"weights": "i4", "block": size, "hybrid": hybrid}
        converter.quantization_recipe = {"scheme": scheme}
        content = converter.convert()
        (ours,) = answers(Interpreter(model_content=content), x)
        errors.append(np.abs(ours - x @ weights).max() / np.abs(x @ weights).max())
        for resolver in ("BUILTIN_WITHOUT_DEFAULT_DELEGATES", "AUTO"):
            theirs = litert.run(content, [[x]], resolver)
            assert not isinstance(theirs, str), theirs
            np.testing.assert_allclose(ours, theirs[0][0], rtol=0, atol=np.abs(ours).max() / 50)
        assert has_blocks(content) == (hybrid and size is not None)
    assert errors[0] < 0.25
    assert errors[1] > 0.5


@pytest.mark.parametrize(
    ("shape", "scale", "words"),
    [
        ((400, 8), 1, "blocks of 64 do not divide rows of 400"),
        ((512, 3), 1, "takes 4 output channels or more"),
        ((512, 8), 1e-6, "its scales do not fit into float16"),
    ],
)
def test_weights_that_have_no_blocks(shape, scale, words, litert):
    graph = Graph()
    attributes = {"dtype": np.dtype("f4"), "shape": (3, shape[0])}
    x = graph.add("Placeholder", "x", (), attributes).outputs[0]
    weights = scale * GENERATOR.normal(size=shape).astype(np.float32)
    graph.add("MatMul", "y", [x, graph.constant(weights, "w")])
    converter = TFLiteConverter(to_graph_def(graph), None, None, [("x", [3, shape[0]])], ["y"])
    converter.quantization_recipe = {"scheme": "dynamic_int4_block64"}
    with pytest.warns(UserWarning, match=f"have a scale for each channel, .*: .*{words}"):
        content = converter.convert()
    x = GENERATOR.normal(size=(3, shape[0])).astype(np.float32)
    (ours,) = answers(Interpreter(model_content=content), x)
    np.testing.assert_allclose(ours, litert.run(content, [[x]])[0][0], rtol=1e-5, atol=1e-5 * scale)


def test_schemes_are_tested():
    assert set(WEIGHTS) == set(SCHEMES) - {"uint8"}  # which test_fake_quant has


def test_int16x8_by_attributes():
    converter = converter_of(optimizations=[Optimize.DEFAULT])
    converter.target_spec.supported_ops = {INT16X8, OpsSet.TFLITE_BUILTINS}
    content = converter.convert()
    rows = types(content)
    assert rows["CONV_2D"] == ["int16", "int8", "int16"]
    assert rows["ELU"][0] == "float32"
    assert converter.float_operators == {"ELU": 1}
    converter.target_spec.supported_ops = {INT16X8, OpsSet.TFLITE_BUILTINS_INT8}
    converter.inference_input_type = converter.inference_output_type = np.int16
    rows = types(converter.convert())
    assert rows["ELU"] == ["int8", "int8"]  # int16 has no kernel, int8 has
    assert rows["MEAN"][::2] == ["int16", "int16"]
    assert converter.float_operators == {}
    converter.inference_input_type = np.int8
    with pytest.raises(ValueError, match=r"must be in \['tf.float32', 'tf.int16'\]"):
        converter.convert()


@pytest.mark.parametrize("scheme", ["", "float16", "dynamic", "int8"])
def test_factors_of_a_norm_go_into_float16_weights(scheme):
    """As in TensorFlow's file one rounding does for both; integers keep even weights."""
    graph = Graph()
    attributes = {"dtype": np.dtype("f4"), "shape": (2, 64)}
    x = graph.add("Placeholder", "x", (), attributes).outputs[0]
    gamma = graph.constant(GENERATOR.uniform(0.1, 9, 64).astype(np.float32), "gamma")
    y = graph.add("Mul", "y", [x, gamma]).outputs[0]
    for name in "qkv":
        weights = GENERATOR.normal(size=(64, 32)).astype(np.float32)
        graph.add("MatMul", name, [y, graph.constant(weights, f"w_{name}")])
    converter = TFLiteConverter(to_graph_def(graph), None, None, [("x", [2, 64])], list("qkv"))
    converter.representative_dataset = lambda: ([np.ones((2, 64), np.float32) * i] for i in (1, -1))
    if scheme:
        converter.quantization_recipe = {"scheme": scheme}
    is_folded = "MUL" not in kinds(converter.convert())
    assert is_folded == (scheme == "float16")


def test_float16_by_attributes():
    converter = converter_of(optimizations=[Optimize.DEFAULT])
    converter.target_spec.supported_types = [np.float16]
    content = converter.convert()
    assert stored_types(content) == ["float16"] * 3
    assert len(content) < 0.6 * len(converter_of(optimizations=[]).convert())


@pytest.mark.parametrize("constant", [[1, 2, 3, 1e5], [1e-12] * 4], ids=["overflow", "vanish"])
def test_numbers_that_halves_do_not_hold_stay_float32(constant):
    graph = Graph()
    x = graph.add("Placeholder", "x", (), {"dtype": np.dtype("f4"), "shape": (2, 4)}).outputs[0]
    constant = graph.constant(np.float32(constant), "constant")
    graph.add("Maximum", "y", [x, constant])
    converter = TFLiteConverter(to_graph_def(graph), None, None, [("x", [2, 4])], ["y"])
    converter.quantization_recipe = {"scheme": "float16"}
    with pytest.warns(UserWarning, match="the model stays float"):
        assert kinds(converter.convert()) == ["MAXIMUM"]


def test_layers():
    """Each layer as the recipe says, a QUANTIZE where two types of integers meet."""
    layers = [["^stem", "int16x8"], ["elu", "float"], ["head", "dynamic"]]
    converter = converter_of(quantization_recipe={"scheme": "int8", "layers": layers})
    content = converter.convert()
    rows = types(content)
    assert rows["CONV_2D"] == ["int16", "int8", "int16"]
    assert rows["DEPTHWISE_CONV_2D"] == ["int8", "int8", "int8"]
    assert rows["ELU"][0] == "float32"
    assert rows["MEAN"][::2] == ["int8", "int8"]
    assert rows["FULLY_CONNECTED"] == ["float32", "int8", "float32"]
    assert converter.float_islands == []  # what was asked to be float is no surprise
    assert converter.signal_to_noise[""]["y"] > 25


@pytest.mark.parametrize(
    ("operation", "exponent", "expected_kinds"),
    [
        ("Neg", None, ["MUL"]),
        ("Square", None, ["MUL"]),
        ("Pow", 2.0, ["MUL"]),
        ("Pow", 0.5, ["SQRT"]),
        ("Pow", -0.5, ["RSQRT"]),
        ("Pow", 3.0, ["MUL", "MUL"]),
        ("Pow", 2.5, ["LOG", "MUL", "EXP"]),
        ("Pow", -0.75, ["LOG", "MUL", "EXP"]),
    ],
)
def test_integer_forms(operation, exponent, expected_kinds, litert):
    graph = Graph()
    x = graph.add("Placeholder", "x", (), {"dtype": np.dtype("f4"), "shape": (2, 40)}).outputs
    if exponent is not None:
        x = [*x, graph.constant(np.float32(exponent), "exponent")]
    graph.add(operation, "y", x)
    converter = TFLiteConverter(to_graph_def(graph), None, None, [("x", [2, 40])], ["y"])
    samples = [GENERATOR.uniform(0.5, 2, (2, 40)).astype(np.float32) for _ in range(4)]
    converter.representative_dataset = lambda: ([x] for x in samples)
    converter.quantization_recipe = {"scheme": "int8"}
    content = converter.convert()
    operators = [one for one in kinds(content) if one not in ("QUANTIZE", "DEQUANTIZE")]
    assert operators == expected_kinds
    interpreter = Interpreter(model_content=content)
    interpreter.allocate_tensors()
    (expected,) = litert.run(content, [[samples[0]]], "BUILTIN_REF")[0]
    (actual,) = answers(interpreter, samples[0])
    np.testing.assert_array_equal(actual, expected)
    true = {"Neg": np.negative, "Square": np.square}.get(operation, lambda v: v**exponent)
    assert np.abs(actual - true(samples[0])).max() < 0.03 * np.abs(true(samples[0])).max()


def test_a_recipe_in_a_file(tmp_path):
    recipe = {"scheme": "int8", "input_type": "uint8", "strict": True}
    path = tmp_path / "recipe.json"
    path.write_text(json.dumps(recipe))
    contents = [converter_of(quantization_recipe=one).convert() for one in (recipe, path)]
    assert contents[0] == contents[1]
    assert Interpreter(model_content=contents[0]).get_input_details()[0]["dtype"] is np.uint8


@pytest.mark.parametrize(
    ("recipe", "words"),
    [
        ({"schema": "int8"}, "must have keys of scheme, layers, .*, got schema"),
        ({"scheme": "int3"}, "a scheme must be one of int8, int16x8, .*, got 'int3'"),
        ({"scheme": {"weights": "i3"}}, r"weights of a scheme must be one of \('i2', .*got i3"),
        ({"scheme": {"weights": "i4", "block": 48}}, r"block of a scheme must be .*\(None, 32"),
        (
            {"scheme": {"weights": "i8", "block": 32}},
            "LiteRT has no kernel for i8 weights in blocks",
        ),
        (
            {"scheme": {"activations": "i8", "weights": "i4", "block": 32}},
            "activations None, got i8",
        ),
        ({"layers": ["head"]}, r"rows of \[pattern, scheme\], got 'head'"),
        ({"layers": [["(", "float"]]}, "'\\(' must be a regular expression, got "),
        ({"layers": [["tail", "float"]]}, "no layer is called 'tail'; layers are stem/"),
        ({"calibrator": "mode"}, "a calibrator must be one of minmax, .*, got 'mode'"),
        ({"calibrator": {"name": "mse", "bins": 3}}, "mse has not all of the parameters bins"),
        ({"calibrator": {"name": "percentile", "percentile": 0}}, r"must be in \(0, 100\], got 0"),
        ({"input_type": "int16"}, "must be one of float32, int8, uint8, got 'int16'"),
        (7, "must be a dict or the path of a JSON file, got int"),
    ],
)
def test_mistakes_in_recipes(recipe, words):
    with pytest.raises(ValueError, match=words):
        converter_of(quantization_recipe=recipe).convert()


def test_a_recipe_needs_samples():
    converter = converter_of(quantization_recipe={"scheme": "int8"}, representative_dataset=None)
    with pytest.raises(ValueError, match="a `representative_dataset` must be specified"):
        converter.convert()


def test_a_saved_calibration(tmp_path):
    converter = converter_of(quantization_recipe={"scheme": "int8", "calibrator": "entropy"})
    content = converter.convert()
    assert converter.calibrated_ranges[""]["x"][0] < 0
    path = tmp_path / "ranges.json"
    converter.save_calibration(path)
    recipe = {"scheme": "int8", "ranges": path}
    again = converter_of(quantization_recipe=recipe, representative_dataset=None)
    assert again.convert() == content
    layers = [["middle/elu", "int8"]]  # which has no int16 kernel
    wider = converter_of(quantization_recipe=recipe | {"scheme": "int16x8", "layers": layers})
    assert types(wider.convert())["CONV_2D"] == ["int16", "int8", "int16"]
    ranges = json.loads(path.read_text())
    del ranges[""]["x"]
    path.write_text(json.dumps(ranges))
    with pytest.raises(ValueError, match="must have a range for 'x' of signature '', has none"):
        again.convert()
    path.write_text('{"": {"x": [2, 1]}}')
    with pytest.raises(ValueError, match="save_calibration writes it"):
        again.convert()
    with pytest.raises(ValueError, match="must have measured a representative_dataset before"):
        converter_of().save_calibration(path)


def test_without_samples_the_file_is_compared_within_the_saved_ranges():
    """Normals would be far beyond what its integers hold."""
    small = [[x / 100] for x in IMAGES]
    converter = converter_of(quantization_recipe={"scheme": "int8"})
    converter.representative_dataset = lambda: iter(small)
    converter.convert()
    recipe = {"scheme": "int8", "ranges": converter.calibrated_ranges}
    again = converter_of(quantization_recipe=recipe, representative_dataset=None)
    again.convert()
    assert again.signal_to_noise[""]["y"] > 10  # of normals 0


def observed(calibrator, *samples):
    """The range after some samples, as the model that gets them has measured them."""
    graph = graph_of("graph main(x: float32[n]) {\ny = ABS(x)\nreturn y\n}")
    written = write([graph])
    function = Function(save(written.model), None, {})
    labelled = ((0, f"sample {i}", [np.float32(array)]) for i, array in enumerate(samples))
    calibrator = calibrator_of(calibrator)
    (ranges,) = calibrate([function], written.tensors, labelled, calibrator=calibrator)
    return ranges[graph.inputs[0]]


NORMAL = [GENERATOR.normal(size=5000).astype(np.float32) * (1 + i) for i in range(4)]
ALL = np.concatenate(NORMAL)


def test_minmax():
    assert observed("minmax", *NORMAL) == (ALL.min(), ALL.max())


def test_moving_average():
    low, high = observed({"name": "moving_average", "momentum": 0.5}, *map(np.float32, RAMPS))
    assert (low, high) == (-((1 * 0.5 + 2 * 0.5) * 0.5 + 4 * 0.5), 10.0)


RAMPS = ([-1, 10], [-2, 10], [-4, 10])


@pytest.mark.parametrize("percentile", [90.0, 99.0, 100.0])
def test_percentile(percentile):
    tail = (100 - percentile) / 2
    expected = np.percentile(ALL, [tail, 100 - tail])
    width = 2 * np.ptp(ALL) / HISTOGRAM
    for order in (NORMAL, NORMAL[::-1]):  # the intervals grow with one, not with the other
        actual = observed({"name": "percentile", "percentile": percentile}, *order)
        np.testing.assert_allclose(actual, expected, atol=2 * width)


def squared_error(x, low, high):
    step = (high - low) / 255
    return float(np.square(np.clip(np.rint(x / step) * step, low, high) - x).sum())


def test_mse():
    """Not above the best of a grid over both ends, which sees the values themselves."""
    x = np.append(GENERATOR.laplace(size=20000), [60.0, -35.0]).astype(np.float32)
    low, high = observed("mse", x)
    grid = np.linspace(0.2, 1, 41)
    best = min(squared_error(x, x.min() * a, x.max() * b) for a in grid for b in grid)
    assert squared_error(x, low, high) <= 1.05 * best
    assert squared_error(x, low, high) < squared_error(x, x.min(), x.max())


@pytest.mark.parametrize("is_signed", [True, False])
def test_octav(is_signed):
    """The threshold's error is that of the best of a grid of thresholds."""
    x = GENERATOR.laplace(size=20000).astype(np.float32)
    x = np.append(x if is_signed else np.abs(x), np.float32(60))
    low, high = observed("octav", x)
    assert low == pytest.approx(x.min(), rel=0.01)
    grid = np.linspace(0.05, 1, 96) * x.max()
    best = min(squared_error(x, -s if is_signed else 0, s) for s in grid)
    assert squared_error(x, -high if is_signed else 0, high) <= 1.05 * best


def test_entropy():
    """An outlier is cut off, a normal distribution hardly."""
    x = GENERATOR.normal(size=50000).astype(np.float32)
    low, high = observed("entropy", np.append(x, np.float32(1000)))
    assert low == pytest.approx(x.min(), rel=1e-6)
    assert high < 70  # the least that 128 of 2048 intervals can be is 62.5
    low, high = observed("entropy", x)
    assert high > 2.5
    low, high = observed("entropy", np.maximum(x, 0))  # of which half are zeros
    assert high > 2.5


@pytest.mark.parametrize(
    ("calibrator", "gain"),
    [
        ("moving_average", 6),
        ({"name": "percentile", "percentile": 99.5}, 6),
        ("entropy", 6),
        ("mse", -3),  # which weighs the outlier, too, and costs the others
        ("octav", 0.5),
    ],
)
def test_calibrators_in_a_recipe(calibrator, gain):
    spoiled = [*IMAGES * 6, IMAGES[0].copy()]  # which is not among those that are measured
    spoiled[-1][0, 0, 0, 0] = 300
    recipes = ({"calibrator": one} for one in ("minmax", calibrator))
    noise = []
    for recipe in recipes:
        converter = converter_of(quantization_recipe=recipe)
        converter.representative_dataset = lambda: ([x] for x in spoiled)
        converter.convert()
        noise.append(converter.signal_to_noise[""]["y"])
    assert noise[1] > noise[0] + gain  # 6 dB is twice as exact
