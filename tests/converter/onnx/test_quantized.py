"""Models that ONNX Runtime quantized stay quantized; onnx_quantized/make_models.py made them and
recorded its answers.
"""

import numpy as np
import onnx
import onnx.reference
import pytest
from onnx import helper, numpy_helper
from running import kinds

from flatlite.lite import Interpreter, TFLiteConverter

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


@pytest.mark.filterwarnings("ignore:the converted model was not verified:UserWarning")
@pytest.mark.filterwarnings("ignore:the weights of .* nodes:UserWarning")
@pytest.mark.parametrize("name", NAMES)
def test_quantized_stays_quantized(name, folder, litert):
    content, converter = converted(folder / f"{name}.onnx")
    assert converter.verified == name.startswith("qdq")  # QLinearAdd has no reference
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
@pytest.mark.filterwarnings("ignore:the converted model was not verified:UserWarning")
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
