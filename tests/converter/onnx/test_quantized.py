"""Models that ONNX Runtime quantized stay quantized; onnx_quantized/make_models.py made them and
recorded its answers.
"""

import ml_dtypes
import numpy as np
import onnx
import onnx.reference
import pytest
from onnx import helper, numpy_helper
from running import kinds

from flatlite.errors import ConverterError
from flatlite.lite import Interpreter, Optimize, TFLiteConverter

REFERENCE, FAST = "BUILTIN_REF", "BUILTIN_WITHOUT_DEFAULT_DELEGATES"
FLOAT_TO_INTEGER = {"QUANTIZE": 1, "DEQUANTIZE": 1}
WEIGHTS = {"CONV_2D": 1, "DEPTHWISE_CONV_2D": 1, "FULLY_CONNECTED": 1}
OPERATORS = {"CONV_2D", "DEPTHWISE_CONV_2D", "ADD", "MAX_POOL_2D", "LOGISTIC", "MEAN"}
OPERATORS |= {"FULLY_CONNECTED", "RESHAPE", "TRANSPOSE", *FLOAT_TO_INTEGER}
NAMES = [
    f"{form}_{kind}_{by}"
    for form in ("qdq", "qoperator")
    for kind in ("u8s8", "s8s8", "u8u8")
    for by in ("tensor", "channel")
]


@pytest.fixture(scope="module")
def folder(request):
    return request.path.parent / "quantized"


def converted(path):
    converter = TFLiteConverter.from_onnx_model(path)
    return converter.convert(), converter


def weights_of(content):
    """The weights of the operators that have some: integers, scales and the axis they go by."""
    interpreter = Interpreter(model_content=content)
    interpreter.allocate_tensors()
    details = {d["index"]: d for d in interpreter.get_tensor_details()}
    for op in interpreter._get_ops_details():
        if op["op_name"] in WEIGHTS:
            detail = details[op["inputs"][WEIGHTS[op["op_name"]]]]
            yield interpreter.get_tensor(detail["index"]), detail["quantization_parameters"]


@pytest.mark.filterwarnings("ignore:the weights of .* nodes:UserWarning")
@pytest.mark.parametrize("name", NAMES)
def test_quantized_stays_quantized(name, folder, litert):
    content, converter = converted(folder / f"{name}.onnx")
    assert converter.verified
    used = kinds(content)
    assert set(used) <= OPERATORS
    assert {kind: used.count(kind) for kind in FLOAT_TO_INTEGER} == FLOAT_TO_INTEGER
    answers = np.load(folder / "answers.npz")
    x, want = answers["x"], answers[name]
    ours = Interpreter(model_content=content).get_signature_runner()(x=x)["y"]
    theirs = litert.run(content, [{"x": x}], REFERENCE, "serving_default")
    assert not isinstance(theirs, str), theirs
    model = onnx.load(folder / f"{name}.onnx")
    arrays = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    step = arrays["y_scale"]
    steps = [np.rint(y / step).astype(int) for y in (ours, theirs[0]["y"])]
    np.testing.assert_array_equal(*steps)
    # the fast MEAN over rows and columns rounds differently
    fast = litert.run(content, [{"x": x}], FAST, "serving_default")[0]["y"]
    assert max(np.abs(y - want).max() for y in (ours, fast)) <= 2.01 * step
    assert np.abs(want - answers["float"]).max() > 0  # it is the quantized answer that is met
    float_file, _ = converted(folder / "float.onnx")
    assert len(content) < 0.42 * len(float_file)  # a quarter, and what stays as it is


@pytest.mark.parametrize("name", [n for n in NAMES if "s8s8" in n or "u8s8" in n])
def test_weights_are_the_source_s_integers(name, folder):
    model = onnx.load(folder / f"{name}.onnx")
    arrays = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    orders = {"w1": (0, 2, 3, 1), "w2": (1, 2, 3, 0), "w3": (0, 2, 3, 1), "w4": (1, 0)}
    content, _ = converted(folder / f"{name}.onnx")
    rows = list(weights_of(content))
    assert len(rows) == len(orders)
    for (weights, params), (key, order) in zip(rows, orders.items(), strict=True):
        np.testing.assert_array_equal(weights, arrays[f"{key}_quantized"].transpose(order))
        np.testing.assert_allclose(params["scales"], arrays[f"{key}_scale"].ravel(), 1e-6)
        assert weights.dtype == np.int8 and not params["zero_points"].any()


def test_weights_with_zero_points_are_said_to_be_quantized_again(folder):
    with pytest.warns(UserWarning, match="the weights of 4 nodes, first 'w1_DequantizeLinear'"):
        converted(folder / "qdq_u8u8_tensor.onnx")


def model_of(nodes, constants, output, shape=(1, 4)):
    x = helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, shape)
    y = helper.make_tensor_value_info("y", output, None)
    initializers = [numpy_helper.from_array(value, name) for name, value in constants.items()]
    graph = helper.make_graph(nodes, "main", [x], [y], initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def test_integers_that_leave_the_model_are_exact(litert):
    """QuantizeLinear whose integers are an output is computed as it stands."""
    constants = {"s": np.float32(0.1), "z": np.uint8(7)}
    nodes = [helper.make_node("QuantizeLinear", ["x", "s", "z"], ["y"])]
    content, _ = converted(model_of(nodes, constants, onnx.TensorProto.UINT8))
    x = np.asarray([[-3, 0.05, 0.26, 99]], np.float32)
    want = np.clip(np.rint(x / np.float32(0.1)) + 7, 0, 255).astype(np.uint8)
    np.testing.assert_array_equal(
        Interpreter(model_content=content).get_signature_runner()(x=x)["y"], want
    )


def test_ties_between_levels_are_no_error():
    """Halves of a level, of which the source's float32 rounds some up and some down."""
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "s", "z"], ["a"]),
        helper.make_node("DequantizeLinear", ["a", "s", "z"], ["b"]),
        helper.make_node("Resize", ["b", "", "ratio"], ["c"], mode="linear"),
        helper.make_node("QuantizeLinear", ["c", "s", "z"], ["d"]),
        helper.make_node("DequantizeLinear", ["d", "s", "z"], ["y"]),
    ]
    constants = {"s": np.float32(0.05), "z": np.int8(0), "ratio": np.float32([1, 1, 2, 2])}
    model = model_of(nodes, constants, onnx.TensorProto.FLOAT, (1, 3, 8, 9))
    converter = TFLiteConverter.from_onnx_model(model)
    converter.convert()
    assert converter.verified


def test_another_scale_is_no_pair():
    """What is read on another scale than it was quantized on keeps its integers."""
    constants = {"s": np.float32(0.1), "t": np.float32(0.2), "z": np.uint8(128)}
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]),
        helper.make_node("DequantizeLinear", ["q", "t", "z"], ["y"]),
    ]
    content, converter = converted(model_of(nodes, constants, onnx.TensorProto.FLOAT))
    assert converter.verified
    x = np.asarray([[-1, 0.26, 0.5, 1]], np.float32)
    want = np.rint(x / np.float32(0.1)) * np.float32(0.2)
    got = Interpreter(model_content=content).get_signature_runner()(x=x)["y"]
    np.testing.assert_allclose(got, want, 1e-6)


DYNAMIC = ["TRANSPOSE", "CONV_2D", "DEPTHWISE_CONV_2D", "ADD", "MAX_POOL_2D", "CONV_2D"]
DYNAMIC += ["LOGISTIC", "MEAN", "FULLY_CONNECTED"]


def decibels(want, result):
    return 10 * np.log10((want**2).mean() / ((want - result) ** 2).mean())


def test_dynamically_quantized_layers_are_hybrid_operators(folder, litert):
    content, converter = converted(folder / "dynamic.onnx")
    assert converter.verified and kinds(content) == DYNAMIC
    source = onnx.load(folder / "dynamic.onnx")
    integers = {numpy_helper.to_array(t).tobytes() for t in source.graph.initializer}
    large = [w for w, _ in weights_of(content) if w.dtype == np.int8]
    assert len(large) == 1  # the others have fewer than 1024 elements
    kernel = large[0].transpose(0, 3, 1, 2)
    assert kernel.tobytes() in integers
    answers = np.load(folder / "answers.npz")
    x, want = answers["x"], answers["dynamic"]
    ours = Interpreter(model_content=content).get_signature_runner()(x=x)["y"]
    theirs = litert.run(content, [{"x": x}], REFERENCE, "serving_default")[0]["y"]
    for result in (ours, theirs):
        assert decibels(want, result) > 50 > decibels(answers["float"], result)


W8 = np.random.default_rng(3).integers(-127, 128, (40, 30)).astype(np.int8)
SCALE, ZERO = np.float32(0.02), np.int8(0)


def dynamic_model(change=None, outputs=("y",), weights=W8, zero=ZERO, scale=SCALE):
    """x of [2, 40], quantized by its range, times integer weights."""
    nodes = [
        helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]),
        helper.make_node("MatMulInteger", ["q", "w", "z", "wz"], ["i"], "layer"),
        helper.make_node("Cast", ["i"], ["f"], to=onnx.TensorProto.FLOAT),
        helper.make_node("Mul", ["ws", "s"], ["scales"]),
        helper.make_node("Mul", ["f", "scales"], ["y"]),
    ]
    if change is not None:
        nodes = change(nodes)
    constants = {"w": weights, "wz": np.asarray(zero), "ws": np.asarray(scale)}
    return helper.make_model(
        helper.make_graph(
            nodes,
            "main",
            [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [2, 40])],
            [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None) for name in outputs],
            [numpy_helper.from_array(value, name) for name, value in constants.items()],
        ),
        opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)],
        ir_version=8,
    )


def microsoft(kind, *inputs):
    def change(nodes):
        return [*nodes[:1], helper.make_node(kind, inputs, ["y"], domain="com.microsoft")]

    return change


FUSED = {
    "apart": None,
    "MatMulIntegerToFloat": microsoft("MatMulIntegerToFloat", "q", "w", "s", "ws", "z", "wz"),
    "DynamicQuantizeMatMul": microsoft("DynamicQuantizeMatMul", "x", "w", "ws", "wz"),
}


@pytest.mark.parametrize("shape, groups", [((256, 1, 3, 3), 256), ((64, 32, 3, 3), 2)])
def test_one_scale_for_channels_of_groups(shape, groups, litert):
    """LiteRT reads one for each channel, whether they are there or not."""
    rng = np.random.default_rng(5)
    weights, x = rng.integers(-127, 128, shape), rng.normal(size=(1, shape[1] * groups, 6, 6))

    def change(nodes):
        layer = helper.make_node("ConvInteger", ["q", "w", "z", "wz"], ["i"], group=groups)
        return [nodes[0], layer, *nodes[2:]]

    model = dynamic_model(change, weights=weights.astype(np.int8))
    model.graph.input[0].CopyFrom(
        helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, x.shape)
    )
    content = TFLiteConverter.from_onnx_model(model).convert()
    (want,) = onnx.reference.ReferenceEvaluator(model).run(None, {"x": x.astype(np.float32)})
    ((theirs,),) = litert.run(content, [[x.astype(np.float32)]], FAST)
    assert decibels(want, theirs) > 35


@pytest.mark.parametrize("scale", [SCALE, np.linspace(0.01, 0.03, 30, dtype=np.float32)])
@pytest.mark.parametrize("name", FUSED)
def test_dynamic_products(name, scale):
    model = dynamic_model(FUSED[name], scale=scale)
    content = TFLiteConverter.from_onnx_model(model).convert()
    assert kinds(content) == ["FULLY_CONNECTED"]
    ((weights, _),) = weights_of(content)
    np.testing.assert_array_equal(weights.T, W8)
    x = np.random.default_rng(4).normal(size=(2, 40)).astype(np.float32)
    result = Interpreter(model_content=content).get_signature_runner()(x=x)["y"]
    assert decibels(x @ (W8 * scale), result) > 40


OTHERS = {
    "asymmetric": {"zero": np.int8(3)},
    "wide": {"weights": np.where(W8.max() == W8, np.int8(-128), W8)},
    "read by others": {"outputs": ("y", "f")},
    "another scale": {"change": lambda nodes: [
        *nodes[:3], helper.make_node("Mul", ["ws", "ws"], ["scales"]), nodes[4]]},
}  # fmt: skip


@pytest.mark.parametrize("name", OTHERS)
def test_other_integers_are_computed_as_they_are(name):
    model = dynamic_model(**OTHERS[name])
    content = TFLiteConverter.from_onnx_model(model).convert()
    assert "ROUND" in kinds(content)
    x = np.random.default_rng(4).normal(size=(2, 40)).astype(np.float32)
    result = Interpreter(model_content=content).get_signature_runner()(x=x)["y"]
    (want,) = onnx.reference.ReferenceEvaluator(model).run(["y"], {"x": x})
    np.testing.assert_allclose(result, want, 1e-4, 1e-4)


FEW_BITS = {
    "int4": (ml_dtypes.int4, np.int8([[-8, 7, 3], [0, -1, 5], [1, 2, -3], [4, -6, 7]]), 1),
    "uint4": (ml_dtypes.uint4, np.uint8([[0, 15, 3], [8, 1, 5], [1, 12, 9], [4, 6, 7]]), 8),
    "float8_e4m3fn": (ml_dtypes.float8_e4m3fn, np.float32([[0.5, -3, 1], [2, 0.25, 0]] * 2), 0),
    "float8_e5m2": (ml_dtypes.float8_e5m2, np.float32([[0.5, -3, 1], [2, 0.25, 0]] * 2), 0),
}


@pytest.mark.parametrize("block", [0, 2])
@pytest.mark.parametrize("name", FEW_BITS)
def test_weights_of_few_bits(name, block, litert):
    """ONNX's evaluator says what they stand for; by column, or by blocks of 2 rows of each."""
    dtype, weights, zero = FEW_BITS[name]
    scales = np.float32([[0.5, 0.25, 2], [1, 0.125, 0.5]]) if block else np.float32([0.5, 0.25, 2])
    constants = {
        "w": weights.astype(dtype),
        "s": scales,
        "z": np.full(scales.shape, zero).astype(dtype),
    }
    attributes = {"axis": 0, "block_size": block} if block else {"axis": 1}
    nodes = [
        helper.make_node("DequantizeLinear", ["w", "s", "z"], ["f"], **attributes),
        helper.make_node("MatMul", ["x", "f"], ["y"]),
    ]
    x = np.float32([[1, -2, 0.5, 3], [0, 4, -1, 2]])
    values = [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, x.shape)]
    arrays = [numpy_helper.from_array(value, key) for key, value in constants.items()]
    graph = helper.make_graph(nodes, "g", values, [onnx.ValueInfoProto(name="y")], arrays)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    (want,) = onnx.reference.ReferenceEvaluator(model).run(None, {"x": x})
    content, converter = converted(model)
    assert converter.verified
    theirs = litert.run(content, [{"x": x}], FAST, "serving_default")
    for results in (Interpreter(model_content=content).get_signature_runner()(x=x), theirs[0]):
        np.testing.assert_allclose(results["y"], want, 1e-5, 1e-5)


def test_a_product_of_integers_whose_inner_size_the_weights_say(litert):
    arrays = {"w": np.arange(-6, 6, dtype=np.int8).reshape(4, 3), "z": np.uint8(3)}
    nodes = [helper.make_node("MatMulInteger", ["x", "w", "z"], ["y"])]
    values = [helper.make_tensor_value_info("x", onnx.TensorProto.UINT8, ["n", "k"])]
    constants = [numpy_helper.from_array(np.asarray(x), key) for key, x in arrays.items()]
    graph = helper.make_graph(nodes, "g", values, [onnx.ValueInfoProto(name="y")], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    content, _ = converted(model)
    x = np.arange(0, 240, 20, dtype=np.uint8).reshape(3, 4)
    want = (x.astype(np.int32) - 3) @ arrays["w"].astype(np.int32)
    np.testing.assert_array_equal(
        Interpreter(model_content=content).get_signature_runner()(x=x)["y"], want
    )
    theirs = litert.run(content, [{"x": x}], FAST, "serving_default")
    np.testing.assert_array_equal(theirs[0]["y"], want)


def test_quantized_beside_a_loop_that_is_not(litert):
    """What `quantize_static` makes of a recurrent network: its loop states no ranges."""
    rng = np.random.default_rng(5)
    arrays = {
        "w": rng.normal(size=(1, 9, 4)).astype(np.float32),
        "r": rng.normal(size=(1, 9, 3)).astype(np.float32),
        "m": rng.integers(-127, 128, (3, 5)).astype(np.int8),
        "ms": np.float32(0.01),
        "s": np.float32(0.01),
        "z": np.int8(4),
        "mz": np.int8(0),
        "one": np.int64([1]),
    }
    rows = ["GRU x,w,r g", "Squeeze g,one h", "QuantizeLinear h,s,z q", "DequantizeLinear q,s,z d"]
    rows += ["DequantizeLinear m,ms,mz f", "MatMul d,f p"]
    rows += ["QuantizeLinear p,s,z t", "DequantizeLinear t,s,z y"]
    nodes = [
        helper.make_node(kind, inputs.split(","), [result])
        for kind, inputs, result in map(str.split, rows)
    ]
    nodes[0].attribute.extend([helper.make_attribute("hidden_size", 3)])
    values = [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["t", "n", 4])]
    constants = [numpy_helper.from_array(np.asarray(x), key) for key, x in arrays.items()]
    graph = helper.make_graph(nodes, "g", values, [onnx.ValueInfoProto(name="y")], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    content, _ = converted(model)
    x = rng.normal(size=(5, 2, 4)).astype(np.float32)
    (want,) = onnx.reference.ReferenceEvaluator(model).run(None, {"x": x})
    theirs = litert.run(content, [{"x": x}], FAST, "serving_default")
    for results in (Interpreter(model_content=content).get_signature_runner()(x=x), theirs[0]):
        np.testing.assert_allclose(results["y"], want, 0, 1.01 * arrays["s"])


BEFORE_CLAMP = {
    "Conv": helper.make_node("Conv", ["xf", "wf"], ["conv"], pads=[1, 1, 1, 1]),
    "Tanh": helper.make_node("Tanh", ["xf"], ["conv"]),
}


@pytest.mark.parametrize("kind", BEFORE_CLAMP)
@pytest.mark.parametrize("limit", [0.04, 6 / 255])
def test_a_clamp_that_only_the_scale_states(kind, limit, litert):
    """A Relu or Clip that went into the zero point, beside a wider tensor."""
    rng = np.random.default_rng(8)
    scales = {"x": 0.02, "w": 0.01, "c": limit, "y": 0.05}
    zeros = {"x": 0, "w": 0, "c": -128, "y": 0}
    constants = {f"{name}_scale": np.float32(scale) for name, scale in scales.items()}
    constants |= {f"{name}_zero": np.int8(zero) for name, zero in zeros.items()}
    constants["w"] = rng.integers(-127, 128, (4, 3, 3, 3)).astype(np.int8)

    def pair(name, source, result):
        inputs = [f"{name}_scale", f"{name}_zero"]
        quantized = helper.make_node("QuantizeLinear", [source, *inputs], [f"{source}:q"])
        return quantized, helper.make_node("DequantizeLinear", [f"{source}:q", *inputs], [result])

    nodes = [
        *pair("x", "x", "xf"),
        helper.make_node("DequantizeLinear", ["w", "w_scale", "w_zero"], ["wf"]),
        BEFORE_CLAMP[kind],
        *pair("c", "conv", "clamped"),
        helper.make_node("Neg", ["xf"], ["minus"]),
        helper.make_node("Concat", ["clamped", "minus"], ["joined"], axis=1),
        *pair("y", "joined", "y"),
    ]
    ends = [
        helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)
        for name, shape in (("x", (1, 3, 6, 6)), ("y", None))
    ]
    tensors = [numpy_helper.from_array(np.asarray(a), name) for name, a in constants.items()]
    graph = helper.make_graph(nodes, "main", ends[:1], ends[1:], tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=8)
    content = TFLiteConverter.from_onnx_model(model).convert()
    x = rng.uniform(-2, 2, (1, 3, 6, 6)).astype(np.float32)
    (want,) = onnx.reference.ReferenceEvaluator(model).run(None, {"x": x})
    ours = Interpreter(model_content=content).get_signature_runner()(x=x)["y"]
    ((theirs,),) = litert.run(content, [[x]], FAST)
    for result in (ours, theirs):
        assert np.abs(result - want).max() < 0.1  # two steps


@pytest.mark.filterwarnings("ignore:the weights of .* nodes:UserWarning")
def test_integers_at_both_ends_of_a_quantized_source(folder):
    """What Edge TPUs take is said where the source's float32 leaves."""
    converter = TFLiteConverter.from_onnx_model(folder / "qdq_s8s8_tensor.onnx")
    converter.target = "edgetpu"
    with pytest.raises(
        ConverterError, match=r"DEQUANTIZE .*set optimizations = .*inference_output"
    ):
        converter.convert()
    converter.optimizations = [Optimize.DEFAULT]
    converter.inference_input_type = converter.inference_output_type = np.int8
    interpreter = Interpreter(model_content=converter.convert())
    ends = [*interpreter.get_input_details(), *interpreter.get_output_details()]
    assert [end["dtype"] for end in ends] == [np.int8, np.int8]
