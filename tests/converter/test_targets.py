"""Files for other runtimes: what they lack is written otherwise, or refused by name."""

import math
from pathlib import Path

import numpy as np
import pytest
from building import Builder, save
from cases import floats
from onnx import TensorProto, helper

from flatlite import edit
from flatlite.converter.passes.targets import rewrite_for_target
from flatlite.converter.targets import EDGETPU, target_of
from flatlite.errors import ConverterError
from flatlite.lite import Interpreter, Optimize, TFLiteConverter
from flatlite.schema import operators
from flatlite.schema.model import Quantization, load
from flatlite.schema.targets import types as target_types

LIMITS = {"tflm": target_types.MICRO, "tf-2.14": target_types.TF_2_14}


def model_of(kind, shape, out, *constants, dtype="FLOAT32", **options):
    """A file of one operator on an input and constants."""
    b = Builder()
    inputs = [b.input("x", shape, dtype)]
    inputs += [b.constant(f"c{i}", value) for i, value in enumerate(constants)]
    y = b.tensor("y", out, dtype)
    b.op(kind, inputs, [y], **options)
    return save(b.outputs(y))


def converted(content, target, **settings):
    """What a converter writes for a target."""
    converter = TFLiteConverter.from_tflite_model(content)
    converter.target = target
    for name, value in settings.items():
        setattr(converter, name, value)
    written = converter.convert()
    assert converter.verified
    return written


def kinds_of(content):
    return [op.op for graph in load(content).subgraphs for op in graph.operators]


def run(content, x):
    interpreter = Interpreter(model_content=content)
    interpreter.allocate_tensors()
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], x)
    interpreter.invoke()
    return interpreter.get_tensor(interpreter.get_output_details()[0]["index"])


@pytest.mark.parametrize("exponent", [2, 3, 7, -1, -3, 0.5, -0.5, 2.4, -1.7])
def test_powers(exponent):
    content = model_of("POW", (2, 3), (2, 3), np.float32(exponent))
    written = converted(content, "tflm")
    assert "POW" not in kinds_of(written)
    x = np.float32([[0.5, 2, 3], [-1.5, -2, 0.25]])
    with np.errstate(invalid="ignore"):
        want = x ** np.float32(exponent)
    np.testing.assert_allclose(run(written, x), want, rtol=2e-6)


@pytest.mark.parametrize("keep_dims", [False, True])
@pytest.mark.parametrize("axes", [[1], [0, 2], [-1], [0, 1, 2]])
def test_products(axes, keep_dims):
    want_shape = np.ones((2, 3, 4)).prod(axis=tuple(axes), keepdims=keep_dims).shape
    content = model_of("REDUCE_PROD", (2, 3, 4), want_shape, np.int32(axes), keep_dims=keep_dims)
    written = converted(content, "tflm")
    assert "REDUCE_PROD" not in kinds_of(written)
    x = floats(2, 3, 4)
    want = x.prod(axis=tuple(axes), keepdims=keep_dims)
    np.testing.assert_allclose(run(written, x), want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("multiples", [[2, 3], [1, 4], [3, 1]])
def test_repetitions(multiples):
    out = tuple(n * m for n, m in zip((2, 3), multiples, strict=True))
    written = converted(model_of("TILE", (2, 3), out, np.int32(multiples)), "tflm")
    assert "TILE" not in kinds_of(written)
    x = floats(2, 3)
    np.testing.assert_array_equal(run(written, x), np.tile(x, multiples))


def test_truth_values_by_their_places():
    places = np.int32([[1], [0], [1]])
    content = model_of("GATHER_ND", (2, 3), (3, 3), places, dtype="BOOL")
    written = converted(content, "tf-2.14")
    assert kinds_of(written) == ["CAST", "GATHER_ND", "CAST"]
    x = np.array([[True, False, True], [False, True, True]])
    np.testing.assert_array_equal(run(written, x), x[[1, 0, 1]])


@pytest.mark.parametrize("keep_dims", [False, True])
@pytest.mark.parametrize(
    ("scale", "kinds"),
    [
        (0.5, ["CAST", "SUM", "MINIMUM", "MAXIMUM", "CAST"]),
        (2, ["DEQUANTIZE", "SUM", "QUANTIZE"]),
    ],
)
def test_sums_of_int16_saturate(scale, kinds, keep_dims):
    """TensorFlow 2.14 lets them wrap around, and refuses another scale."""
    b = Builder()
    x = b.input("x", (2, 3, 4), "INT16", quantization=Quantization([0.5], [0]))
    shape = (2, 1, 1) if keep_dims else (2,)
    y = b.tensor("y", shape, "INT16", quantization=Quantization([scale], [0]))
    b.op("SUM", [x, b.constant("axes", np.int32([1, -1]))], [y], keep_dims=keep_dims)
    content = save(b.outputs(y))
    assert kinds_of(converted(content, "tf-2.20")) == ["SUM"]
    micro = kinds_of(converted(content, "tflm"))
    assert micro == (["DEQUANTIZE", "SUM", "QUANTIZE"] if scale == 0.5 else ["SUM"])
    written = converted(content, "tf-2.14")
    assert kinds_of(written) == kinds
    drawn = np.random.default_rng(0).integers(-(2**15), 2**15, (2, 3, 4)).astype(np.int16)
    for x in (drawn, np.abs(drawn // 3), -np.abs(drawn)):
        total = x.astype(np.int64).sum(axis=(1, 2), keepdims=keep_dims) * 0.5 / scale
        want = np.clip(np.rint(total), -(2**15), 2**15 - 1)
        np.testing.assert_allclose(run(written, x), want, rtol=0, atol=scale != 0.5)


@pytest.mark.parametrize("axes", [[1, 2], [0, -1], [2, 0, 1]])
def test_dimensions_are_reversed_one_by_one(axes):
    content = model_of("REVERSE_V2", (2, 3, 4), (2, 3, 4), np.int32(axes))
    written = converted(content, "tf-2.14")
    assert kinds_of(written) == ["REVERSE_V2"] * len(axes)
    x = floats(2, 3, 4)
    np.testing.assert_array_equal(run(written, x), np.flip(x, axes))


@pytest.mark.parametrize("adj_y", [False, True])
@pytest.mark.parametrize("dtype", ["FLOAT32", "INT16"])
def test_a_transposed_operand_is_not_broadcast_against(dtype, adj_y):
    """LiteRT of TensorFlow 2.21 and before joins the rows of the batch as if not transposed."""
    b = Builder()
    fields = {"quantization": Quantization([0.25], [0])} if dtype == "INT16" else {}
    x = b.input("x", (2, 3, 4, 5), dtype, **fields)
    draw = np.random.default_rng(0)
    values = draw.integers(-3, 4, (1, 6, 4) if adj_y else (1, 4, 6)).astype(dtype.lower())
    w = b.constant("w", values)
    z = b.tensor("z", (2, 3, 5, 6), dtype, **fields)
    for name, value in fields.items():
        setattr(b.subgraph.tensors[w], name, value)
    b.op("BATCH_MATMUL", [x, w], [z], adj_x=True, adj_y=adj_y)
    content = save(b.outputs(z))
    assert "TRANSPOSE" not in kinds_of(converted(content, "tf-2.22"))
    written = converted(content, "tf-2.21")
    assert kinds_of(written) == ["TRANSPOSE", "BATCH_MATMUL"]
    x = draw.integers(-50, 50, (2, 3, 4, 5)).astype(dtype.lower())
    wide = np.swapaxes(values, -1, -2) if adj_y else values
    want = np.swapaxes(x, -1, -2).astype(np.float64) @ wide * (0.25 if fields else 1)
    np.testing.assert_allclose(run(written, x), want, rtol=0, atol=0.51 if fields else 1e-4)


def test_weights_of_several_scales_that_2_14_takes_for_zeros():
    b = Builder()
    x, y = b.input("x", (2, 5, 4)), b.tensor("y", (2, 5, 3))
    w = b.constant("w", np.random.default_rng(0).integers(-127, 128, (4, 3)).astype(np.int8))
    scales = np.float32([0.01, 0.02, 0.03])
    b.subgraph.tensors[w].quantization = Quantization(scales, np.zeros(3, np.int64), axis=1)
    b.op("BATCH_MATMUL", [x, w], [y])
    assert kinds_of(converted(save(b.outputs(y)), "tf-2.14")) == ["DEQUANTIZE", "BATCH_MATMUL"]


def test_int64_biases_of_int16_need_no_option():
    """It came with version 8; what it says was always so."""
    content = Path("tests/corpus/A/conv/007/model.tflite").read_bytes()
    versions = {}
    for target in ("tf-2.15", "tf-2.14"):
        written = load(converted(content, target))
        (conv,) = [op for op in written.subgraphs[0].operators if op.op == "CONV_2D"]
        versions[target] = conv.version, conv.options.quantized_bias_type != 0
    assert versions == {"tf-2.15": (8, True), "tf-2.14": (4, False)}


@pytest.mark.parametrize("approximate", [False, True])
@pytest.mark.parametrize("types", ["float32", "int8"])
def test_gelu(types, approximate):
    content = model_of("GELU", (1, 400), (1, 400), approximate=approximate)
    x = np.linspace(-6, 6, 400, dtype=np.float32)[None]
    settings = {}
    if types == "int8":
        settings = {"optimizations": [Optimize.DEFAULT], "representative_dataset": lambda: [[x]]}
    written = converted(content, "tflm", **settings)
    assert "GELU" not in kinds_of(written)
    wide = x.astype(np.float64)
    gate = np.vectorize(math.erf)(wide / 2**0.5)
    if approximate:
        gate = np.tanh((2 / np.pi) ** 0.5 * (wide + 0.044715 * wide**3))
    atol = 2e-6 if types == "float32" else 12 / 255 + 6 / 255
    np.testing.assert_allclose(run(written, x), wide * (1 + gate) / 2, rtol=0, atol=atol)


def fully_connected():
    return model_of("FULLY_CONNECTED", (1, 64), (1, 64), floats(64, 64), floats(64))


def transpose_conv():
    b = Builder()
    shape, w = b.constant("s", np.int32([1, 8, 8, 32])), b.constant("w", floats(32, 2, 2, 64))
    x, y = b.input("x", (1, 4, 4, 64)), b.tensor("y", (1, 8, 8, 32))
    b.op("TRANSPOSE_CONV", [shape, w, x], [y], stride_w=2, stride_h=2)
    return save(b.outputs(y))


@pytest.mark.parametrize("source", [fully_connected, transpose_conv])
@pytest.mark.parametrize("target", ["tf-2.14", "tflm"])
def test_weights_of_dynamic_ranges(source, target):
    """The weights stay int8 in the file, and become floats when it runs."""
    dynamic = converted(source(), "litert", optimizations=[Optimize.DEFAULT])
    (kind,) = kinds_of(dynamic)
    for content, settings in ((source(), {"optimizations": [Optimize.DEFAULT]}), (dynamic, {})):
        written = converted(content, target, **settings)
        scales = load(written).subgraphs[0].operators[0].inputs[0]
        assert kinds_of(written) == ["DEQUANTIZE", *(["MUL"] if target == "tflm" else []), kind]
        if target == "tflm":  # whose DEQUANTIZE takes the first of several scales for all
            assert len(load(written).subgraphs[0].tensors[scales].quantization.scales) == 1
        assert len(written) < 1.05 * len(dynamic) + 200
        shape = (1, 64) if kind == "FULLY_CONNECTED" else (1, 4, 4, 64)
        x = floats(*shape)
        want = run(source(), x)
        assert np.abs(run(written, x) - want).max() < 0.02 * np.abs(want).max()


@pytest.mark.parametrize(
    ("kind", "shape", "other"),
    [
        ("MUL", (3, 8, 1, 32, 1), (1, 1, 2, 1, 2)),
        ("ADD", (2, 1, 3, 2, 2, 1, 2), (1, 3, 2, 2, 3, 1)),
        ("GREATER", (2, 3, 2, 1, 2), (2, 1, 2)),
        ("SUB", (1, 2, 1, 2, 3), (2, 1, 2, 1, 1)),
        ("FLOOR_MOD", (2, 3, 2, 1, 2), (2, 1, 2)),
        ("POW", (2, 3, 2, 1, 2), (2, 1, 2)),
    ],
)
def test_operands_that_repeat_along_many_axes(kind, shape, other):
    b = Builder()
    constant = 1 + np.arange(np.prod(other), dtype=np.int32).reshape(other)
    out = np.broadcast_shapes(shape, other)
    x, c = b.input("x", shape, "INT32"), b.constant("c", constant)
    y = b.tensor("y", out, "BOOL" if kind == "GREATER" else "INT32")
    b.op(kind, [x, c], [y])
    content = save(b.outputs(y))
    written = converted(content, "tf-2.14")
    kinds = kinds_of(written)
    assert kinds.count(kind) == 1 and set(kinds) <= {kind, "RESHAPE"}
    (op,) = [op for op in load(written).subgraphs[0].operators if op.op == kind]
    tensors = load(written).subgraphs[0].tensors
    assert len(tensors[op.outputs[0]].shape) <= 6
    x = np.arange(np.prod(shape), dtype=np.int32).reshape(shape)
    np.testing.assert_array_equal(run(written, x), run(content, x))


def test_an_operator_without_operands():
    """A variable's handle has none; its target says nothing of dimensions."""
    b = Builder()
    handle, y = b.tensor("h", (), "RESOURCE"), b.tensor("y", (2, 3))
    x = b.input("x", (2, 3))
    b.op("VAR_HANDLE", [], [handle], container="", shared_name="v")
    b.op("ASSIGN_VARIABLE", [handle, x], [])
    b.op("READ_VARIABLE", [handle], [y])
    written = TFLiteConverter.from_tflite_model(save(b.outputs(y)))
    written.target, written.verify = "tf-2.14", False
    assert kinds_of(written.convert()) == ["VAR_HANDLE", "ASSIGN_VARIABLE", "READ_VARIABLE"]


@pytest.mark.parametrize(
    ("content", "target", "message"),
    [
        (model_of("FLOOR_MOD", (2, 3), (2, 3), np.float32([3])), "edgetpu", "no such operator"),
        (model_of("ADD", (2, 3), (2, 3), np.float32([3])), "edgetpu", "compute in int8"),
        (model_of("SIGN", (2, 3), (2, 3)), "tf-2.8", "version 1 of it came with TensorFlow"),
        (model_of("SIGN", (2, 3), (2, 3)), "tflm", "it has no such operator"),
        (
            model_of("SUB", (2, 1) * 4, (2,) * 8, np.ones((1, 2) * 4, np.float32)),
            "tf-2.14",
            "at most 6 dimensions there, got 8",
        ),
        (
            model_of("TRANSPOSE", (2,) * 6, (2,) * 6, np.int32([5, 4, 3, 2, 1, 0])),
            "tflm",
            "at most 5 dimensions there, got 6",
        ),
        (
            model_of(
                "FAKE_QUANT", (2, 3), (2, 3), min=-1.0, max=1.0, num_bits=8, narrow_range=True
            ),
            "litert",
            "it takes no narrow_range",
        ),
    ],
)
def test_what_is_refused(content, target, message):
    kind = kinds_of(content)[0]
    with pytest.raises(ConverterError, match=rf"the target {target} .*\n  {kind} 'y': .*{message}"):
        converted(content, target)


def test_slopes_of_each_channel():
    """XNNPACK of 2.14 reads one for each channel, whatever there are."""
    written = load(converted(model_of("PRELU", (2, 3), (2, 3), np.float32([0.5])), "tf-2.14"))
    (alpha,) = [t.data for t in written.subgraphs[0].tensors if t.data is not None]
    np.testing.assert_array_equal(alpha, np.float32([0.5] * 3))


@pytest.mark.parametrize(
    ("kind", "filters", "kinds"),
    [
        ("CONV_2D", (2, 2, 1, 3), ["PAD", "CONV_2D"]),
        ("DEPTHWISE_CONV_2D", (1, 2, 1, 3), ["PAD", "DEPTHWISE_CONV_2D"]),
        ("CONV_2D", (2, 1, 2, 3), ["CONV_2D"]),
    ],
)
def test_strides_beyond_the_filters(kind, filters, kinds):
    """XNNPACK of 2.14 took other columns, of filters of more than one element."""
    out = (1, 5, 2, filters[0]) if kind == "CONV_2D" else (1, 5, 2, 3)
    strides = {"stride_h": 1, "stride_w": 2, "fused_activation_function": 1}
    bias = floats(out[-1], seed=1)
    content = model_of(kind, (1, 5, 4, 3), out, floats(*filters), bias, padding=0, **strides)
    written = converted(content, "tf-2.14")
    assert kinds_of(written) == kinds
    x = floats(1, 5, 4, 3, seed=2)
    np.testing.assert_allclose(run(written, x), run(content, x), 1e-5, 1e-6)


def test_one_value_at_sparse_places():
    """2.14 wants a value for each place, and a row of them."""
    b = Builder()
    places, shape = b.input("places", (2, 1), "INT32"), b.constant("shape", np.int32([4]))
    value, other = b.constant("value", np.float32(5)), b.constant("other", np.float32(1))
    y = b.tensor("y", (4,))
    b.op("SPARSE_TO_DENSE", [places, shape, value, other], [y], validate_indices=True)
    content = save(b.outputs(y))
    graph = load(written := converted(content, "tf-2.14")).subgraphs[0]
    assert graph.tensors[graph.operators[-1].inputs[2]].shape == (2,)
    feed = np.int32([[0], [2]])
    np.testing.assert_array_equal(run(written, feed), [5, 1, 5, 1])


def test_weights_that_are_left_out():
    """2.14 takes two operands for that, not three."""
    b = Builder()
    hashes, x = b.constant("hashes", floats(2, 3)), b.input("x", (3, 2))
    y = b.tensor("y", (2,), "INT32")
    b.op("LSH_PROJECTION", [hashes, x, -1], [y], type=1)
    (op,) = load(converted(save(b.outputs(y)), "tf-2.14")).subgraphs[0].operators
    assert len(op.inputs) == 2


@pytest.mark.parametrize("target", ["tflm", "edgetpu"])
def test_sizes_that_depend_on_data_are_refused(target):
    b = Builder()
    shape, x = b.input("shape", (2,), "INT32"), b.input("x", (2, 3))
    content = save(b.outputs(b.op("RESHAPE", [x, shape], [b.tensor("y", (None, None))])))
    with pytest.raises(ConverterError, match="the size of result 'y' depends on data, and shapes"):
        converted(content, target)


def test_texts_are_refused_on_small_devices():
    b = Builder()
    x, y = b.input("x", (1, 2), "STRING"), b.tensor("y", (2,), "STRING")
    content = save(b.outputs(b.op("RESHAPE", [x, b.constant("s", np.int32([2]))], [y])))
    with pytest.raises(ConverterError, match=r"tflm .*\n.*RESHAPE 'y': result 'y' is of texts"):
        converted(content, "tflm")


def test_a_name_that_is_no_target():
    content = model_of("RELU", (2, 3), (2, 3))
    for name in ("tf-1.15", "tf-2.2", "micro", None):
        with pytest.raises(
            ValueError, match=r"target must be 'litert', 'flatlite', 'tflm', 'edgetpu' or 'tf-2"
        ):
            converted(content, name)


def test_small_devices_know_all_sizes():
    """An unknown batch becomes 1; what else is unknown must be said."""
    converter = TFLiteConverter.from_saved_model("models/digits/saved_model")
    converter.target = "tflm"
    (detail,) = Interpreter(model_content=converter.convert()).get_input_details()
    assert detail["shape_signature"].tolist() == [1, 8, 8, 1]
    (tensor, _) = (
        load(converted(model_of("RELU", (None, 3), (None, 3)), "tflm")).subgraphs[0].tensors
    )
    assert (tensor.shape, tensor.shape_signature) == ((1, 3), None)
    nodes = [helper.make_node("Relu", ["x"], ["y"])]
    x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, ["n", 3]) for n in "xy")
    onnx_model = helper.make_model(helper.make_graph(nodes, "g", [x], [y]))
    converter = TFLiteConverter.from_onnx_model(onnx_model.SerializeToString())
    converter.target = "tflm"
    assert load(converter.convert()).subgraphs[0].tensors[0].shape == (1, 3)
    x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, ["n", "m"]) for n in "xy")
    onnx_model = helper.make_model(helper.make_graph(nodes, "g", [x], [y]))
    converter = TFLiteConverter.from_onnx_model(onnx_model.SerializeToString())
    converter.target = "tflm"
    with pytest.raises(ValueError, match="None is only supported in the 1st dimension"):
        converter.convert()


def test_a_size_of_one_that_a_file_states_for_an_unknown_one_is_refused():
    """An image of one pixel, of which a network with a pool in front would make NaN alone."""
    b = Builder()
    x, y = b.input("x", (None, None, None, 3)), b.tensor("y", (None, None, None, 3))
    b.subgraph.tensors[x].shape = (1, 1, 1, 3)
    content = save(b.outputs(b.op("RELU", [x], [y])))
    for target in ("tflm", "edgetpu"):
        with pytest.raises(ValueError, match="None is only supported in the 1st") as raised:
            converted(content, target)
        assert "flatlite edit --input-shape" in " ".join(raised.value.__notes__)
    edited = edit.save(edit.set_input_shapes(edit.load(content), {"x": (1, 8, 8, 3)}))
    assert load(converted(edited, "tflm")).subgraphs[0].tensors[0].shape == (1, 8, 8, 3)


@pytest.mark.parametrize("is_quantized", [False, True])
def test_small_devices_take_the_sizes_that_a_file_states(is_quantized, caplog):
    """As they run it; what it calculates with scales, too."""
    b = Builder()
    fields = {"quantization": Quantization([0.5], [3])} if is_quantized else {}
    dtype, shape = "INT8" if is_quantized else "FLOAT32", (None, 3, None)
    x = b.input("x", shape, dtype, **fields)
    b.subgraph.tensors[x].shape = (2, 3, 4)
    y, z = (b.tensor(name, shape, dtype, **fields) for name in "yz")
    b.op("RELU", [x], [y])
    b.op("ADD", [y, y], [z])
    content = save(b.outputs(z))
    written = converted(content, "tflm")
    tensors = load(written).subgraphs[0].tensors
    assert {(t.shape, t.shape_signature) for t in tensors} == {((2, 3, 4), None)}
    assert "input 'x' of shape [None, 3, None] is written with the shape" in caplog.text


def test_an_input_without_elements_is_known_on_small_devices():
    """Axes that say of themselves that there are none need no value."""
    b = Builder()
    x, axes = b.input("x", (2, 3)), b.input("axes", (0,), "INT32")
    y = b.tensor("y", (2, 3))
    b.op("REDUCE_MIN", [x, axes], [y])
    b.op("NEG", [y], [z := b.tensor("z", (2, 3))])
    assert kinds_of(converted(save(b.outputs(z)), "tflm")) == ["NEG"]


def test_loops_run_on_small_devices():
    body, condition, main = Builder("body"), Builder("condition"), Builder("main")
    ends = [("i", (1,), "INT32"), ("x", (3,))]
    i, x = (body.input(*end) for end in ends)
    results = [body.tensor(f"{name}_next", *more) for name, *more in ends]
    body.op("ADD", [i, body.constant("one", np.int32([1]))], results[:1])
    body.op("MUL", [x, x], results[1:])
    i, _ = (condition.input(*end) for end in ends)
    flag = condition.tensor("flag", (1,), "BOOL")
    condition.op("LESS", [i, condition.constant("n", np.int32([3]))], [flag])
    main_results = [main.tensor(f"{name}_out", *more) for name, *more in ends]
    inputs = [main.input(*end) for end in ends]
    main.op("WHILE", inputs, main_results, cond_subgraph_index=1, body_subgraph_index=2)
    parts = main.outputs(*main_results), condition.outputs(flag), body.outputs(*results)
    assert "WHILE" in kinds_of(converted(save(*parts), "tflm"))


def test_an_edge_tpu_takes_int8():
    converter = TFLiteConverter.from_saved_model("models/digits/saved_model")
    converter.target = "edgetpu"
    converter.optimizations = [Optimize.DEFAULT]
    images = np.load("models/digits/example.npz")["image"]
    converter.representative_dataset = lambda: ([image[None]] for image in images[:20])
    converter.inference_input_type = converter.inference_output_type = np.int8
    assert set(kinds_of(converter.convert())) <= set(EDGETPU)


def int8_model(kind, shape, out, *constants, first=(), **options):
    """A file of one int8 operator; constants of int8 have its scale, `first` come before x."""
    b = Builder()

    def operand(i, value):
        index = b.constant(f"c{i}", value)
        if np.asarray(value).dtype == np.int8:
            b.subgraph.tensors[index].quantization = Quantization([0.5], [0])
        return index

    scale = {"quantization": Quantization([0.5], [0])}
    before = [operand(-1 - i, value) for i, value in enumerate(first)]
    inputs = [*before, b.input("x", shape, "INT8", **scale)]
    inputs += [operand(i, value) for i, value in enumerate(constants)]
    outputs = [out] if isinstance(out, tuple) else out
    results = [b.tensor(f"y{i}", sizes, "INT8", **scale) for i, sizes in enumerate(outputs)]
    b.op(kind, inputs, results, **options)
    return save(b.outputs(*results))


ZEROS, ONES = np.zeros((1, 4, 4, 2), np.int8), np.ones((1, 4, 4, 2), np.int8)
IMAGE = (1, 4, 4, 2)
ON_EDGE_TPUS = [
    (int8_model("ADD", IMAGE, IMAGE, ONES), ""),
    (int8_model("ADD", (2, 4, 4, 2), (2, 4, 4, 2), ONES), "may have 3 dimensions"),
    (int8_model("CONCATENATION", IMAGE, (1, 4, 4, 4), ZEROS, axis=3), ""),
    (int8_model("CONCATENATION", IMAGE, (1, 4, 4, 4), ONES, axis=3), "must be zeros"),
    (int8_model("MEAN", IMAGE, (1, 2), np.int32([1, 2])), ""),
    (int8_model("MEAN", IMAGE, (1, 4, 4), np.int32([3])), "rows and columns of images"),
    (int8_model("PACK", (1, 4, 2), (1, 2, 4, 2), ONES[0, :1], axis=1, values_count=2), ""),
    (
        int8_model("PACK", (4, 2), (2, 4, 2), ONES[0, 0], axis=-3, values_count=2),
        "nothing is packed along the batch",
    ),
    (int8_model("PAD", IMAGE, (1, 6, 4, 2), np.int32([[0, 0], [1, 1], [0, 0], [0, 0]])), ""),
    (
        int8_model("PAD", IMAGE, (1, 4, 4, 3), np.int32([[0, 0], [0, 0], [0, 0], [0, 1]])),
        "columns of images are padded",
    ),
    (int8_model("PRELU", IMAGE, IMAGE, np.ones((1, 1, 2), np.int8)), ""),
    (int8_model("PRELU", IMAGE, IMAGE, np.ones((4, 4, 2), np.int8)), "one number for each channel"),
    (int8_model("SUM", IMAGE, (1, 4, 2), np.int32([2])), ""),
    (int8_model("SUM", IMAGE, (4, 4, 2), np.int32([0])), "the batch is not reduced"),
    (
        int8_model("SPLIT", IMAGE, [(1, 2, 4, 2)] * 2, first=[np.int32(1)], num_splits=2),
        "",
    ),
    (int8_model("SPLIT", IMAGE, [IMAGE], first=[np.int32(0)], num_splits=1), "not split"),
    (int8_model("SQUEEZE", (1, 1, 5, 2), (5, 2), squeeze_dims=[0, 1]), ""),
    (int8_model("SQUEEZE", (1, 5, 1, 2), (5, 2), squeeze_dims=[0, 2]), "only leading"),
    (
        int8_model("MAX_POOL_2D", IMAGE, (1, 2, 2, 2), padding=1, stride_w=2, stride_h=2,
                   filter_width=2, filter_height=2, fused_activation_function=1),
        "fused activation",
    ),
    (int8_model("REVERSE_V2", IMAGE, IMAGE, np.int32([1])), "no such operator"),
]  # fmt: skip
"""A file, and what Coral's table of operators says against it."""


@pytest.mark.parametrize(("content", "message"), ON_EDGE_TPUS)
def test_limits_of_edge_tpus(content, message):
    if not message:
        assert kinds_of(converted(content, "edgetpu")) == kinds_of(content)
        return
    with pytest.raises(ConverterError, match=message):
        converted(content, "edgetpu")


@pytest.mark.parametrize("name", LIMITS)
def test_rows_are_of_operators_and_types(name):
    """Every type that a runtime was seen to take is one that LiteRT takes."""
    for line in LIMITS[name].strip().splitlines():
        kind, _, text = line.partition(" ")
        types, _, constants = text.partition("; constant=")
        row = operators.known(kind)
        if types == "any":
            continue
        combinations = operators.combinations_in(types)
        assert combinations
        n = len(row.operands)
        assert all(len(combination.operands) == n for combination in combinations)
        assert all(
            int(i) < n or row.operands[-1].is_variadic for i in filter(None, constants.split(","))
        )


def test_nothing_changes_for_litert():
    converter = TFLiteConverter.from_tflite_model(model_of("POW", (2, 3), (2, 3), np.float32(3)))
    (graph,) = [source.lower() for source in converter._sources]
    before = str(graph)
    assert rewrite_for_target(graph, target_of("litert")) == 0
    assert str(graph) == before
