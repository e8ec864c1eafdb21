"""ONNX models: single nodes against the ONNX project's evaluator, whole models, bad files."""

import os
import re
import warnings
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from recorded import load, rows
from running import kinds

from flatlite.converter.lowering import unsupported
from flatlite.converter.lowering.unsupported import REASONS
from flatlite.converter.onnx.names import qualified
from flatlite.converter.onnx.registry import LOWERINGS
from flatlite.converter.sources import onnx as onnx_source
from flatlite.errors import ConverterError, UnsupportedOps
from flatlite.lite import Interpreter, TFLiteConverter

RNG = np.random.default_rng(5)


def floats(*shape):
    return RNG.uniform(-2, 2, shape).astype(np.float32)


def ints(*values):
    return np.array(values, np.int64)


def model_of(nodes, inputs, outputs=("y",), constants=None, opset=17, free=()):
    """A model of some nodes; `inputs` are arrays by name, dimensions of value `free` are open."""
    values = [
        helper.make_tensor_value_info(
            name,
            helper.np_dtype_to_tensor_dtype(x.dtype),
            [f"d{n}" if n in free else n for n in x.shape],
        )
        for name, x in inputs.items()
    ]
    results = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs]
    weights = [numpy_helper.from_array(x, name) for name, x in (constants or {}).items()]
    graph = helper.make_graph(nodes, "main", values, results, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def saved(tmp_path, model):
    path = tmp_path / "model.onnx"
    path.write_bytes(model.SerializeToString())
    return path


def converted(path, verify=True, **arguments):
    converter = TFLiteConverter.from_onnx_model(path, **arguments)
    converter.verify = verify
    return converter.convert()


def answers(content, inputs):
    """Our interpreter's outputs, by name."""
    return Interpreter(model_content=content).get_signature_runner()(**inputs)


def node(kind, names="x", out="y", **attributes):
    return helper.make_node(kind, names.split(), out.split(), **attributes)


W = {"w": floats(6, 4, 3, 3), "b": floats(6)}
IMAGE = floats(2, 4, 9, 8)
NODES = {
    "conv/valid": (node("Conv", "x w b"), IMAGE, W),
    "conv/same": (node("Conv", "x w", pads=[1, 1, 1, 1]), IMAGE, W),
    "conv/upper": (node("Conv", "x w b", auto_pad="SAME_UPPER", strides=[2, 3]), IMAGE, W),
    "conv/lower": (node("Conv", "x w b", auto_pad="SAME_LOWER", strides=[2, 3]), IMAGE, W),
    "conv/uneven": (node("Conv", "x w b", pads=[0, 2, 1, 0], dilations=[2, 1]), IMAGE, W),
    "conv/groups": (node("Conv", "x w", group=2), IMAGE, {"w": floats(6, 2, 3, 3)}),
    "conv/depthwise": (node("Conv", "x w", group=4, strides=[2, 2]), IMAGE,
                       {"w": floats(8, 1, 3, 3)}),
    "conv/line": (node("Conv", "x w b", pads=[2, 0], strides=[2]), floats(2, 4, 11),
                  {"w": floats(6, 4, 3), "b": floats(6)}),
    "max_pool/padded": (node("MaxPool", kernel_shape=[3, 2], pads=[1, 0, 1, 1], strides=[2, 2]),
                        IMAGE - 9),
    "max_pool/ceil": (node("MaxPool", kernel_shape=[2, 3], strides=[2, 3], ceil_mode=1), IMAGE),
    "average_pool/excluded": (node("AveragePool", kernel_shape=[3, 3], pads=[1, 1, 0, 0]), IMAGE),
    "average_pool/included": (
        node("AveragePool", kernel_shape=[3, 3], pads=[1, 1, 1, 1], count_include_pad=1), IMAGE),
    "global_average_pool": (node("GlobalAveragePool"), IMAGE),
    "batch_normalization": (
        node("BatchNormalization", "x s o m v", epsilon=0.01), IMAGE,
        {"s": floats(4), "o": floats(4), "m": floats(4), "v": floats(4) ** 2}),
    "layer_normalization": (node("LayerNormalization", "x s o", axis=2), floats(2, 3, 4, 5),
                            {"s": floats(4, 5), "o": floats(4, 5)}),
    "gemm": (node("Gemm", "x w b", alpha=0.5, beta=2.0, transB=1), floats(3, 4),
             {"w": floats(5, 4), "b": floats(5)}),
    "gemm/transposed": (node("Gemm", "x w", transA=1), floats(4, 3), {"w": floats(4, 5)}),
    "matmul/batch": (node("MatMul", "x w"), floats(2, 1, 3, 4), {"w": floats(5, 4, 2)}),
    "matmul/vector": (node("MatMul", "x w"), floats(2, 3, 4), {"w": floats(4)}),
    "softmax/middle": (node("Softmax", axis=1), floats(2, 3, 4)),
    "clip/relu6": (node("Clip", "x low high"), floats(3, 4) * 5,
                   {"low": np.float32(0), "high": np.float32(6)}),
    "leaky_relu": (node("LeakyRelu", alpha=0.3), floats(3, 4)),
    "prelu": (node("PRelu", "x s"), IMAGE, {"s": floats(4, 1, 1)}),
    "slice/negative": (node("Slice", "x s e a t"), floats(5, 6),
                       {"s": ints(-1, -2), "e": ints(-(2**63), 2**62), "a": ints(1, 0),
                        "t": ints(-2, 1)}),
    "pad/reflect": (node("Pad", "x p", mode="reflect"), floats(4, 5), {"p": ints(1, 2, 0, 3)}),
    "reshape/zero": (node("Reshape", "x s"), floats(2, 3, 4), {"s": ints(0, -1)}),
    "gather/negative": (node("Gather", "x i", axis=1), floats(3, 4), {"i": ints(-1, 0)}),
    "expand": (node("Expand", "x s"), floats(3, 1), {"s": ints(2, 1, 4)}),
    "reduce/axes": (node("ReduceSum", "x a", keepdims=0), floats(2, 3, 4), {"a": ints(-1, 0)}),
    "reduce/l2": (node("ReduceL2", axes=[1]), floats(2, 3, 4)),
    "transpose/reversed": (node("Transpose"), floats(2, 3, 4)),
    "split/uneven": (node("Split", "x s", "y z", axis=1), floats(2, 5), {"s": ints(2, 3)}),
}  # fmt: skip


@pytest.mark.parametrize("name", NODES)
def test_node(name, tmp_path, litert):
    one, x, *constants = NODES[name]
    model = model_of([one], {"x": x}, one.output, *constants)
    content = converted(saved(tmp_path, model))
    want = ReferenceEvaluator(model).run(None, {"x": x})
    theirs = litert.run(content, [[x]], "BUILTIN_WITHOUT_DEFAULT_DELEGATES")
    assert not isinstance(theirs, str), theirs
    ours = answers(content, {"x": x})
    for name, expected, other in zip(one.output, want, theirs[0], strict=True):
        np.testing.assert_allclose(ours[name], expected, 1e-5, 1e-5, strict=True)
        np.testing.assert_allclose(other, expected, 1e-5, 1e-5, strict=True)


VOLUME = floats(2, 3, 4, 5, 6)
STATISTICS = {"s": floats(4), "o": floats(4), "m": floats(4), "v": floats(4) ** 2 + 1}
OLD = {
    "squeeze": (11, node("Squeeze", axes=[0]), floats(1, 1, 3), (), lambda x: x[0]),
    "unsqueeze": (12, node("Unsqueeze", axes=[0, 2]), floats(2, 3), (), lambda x: x[None, :, None]),
    "sum": (11, node("ReduceSum", axes=[1], keepdims=0), floats(2, 3, 4), (), lambda x: x.sum(1)),
    "clip": (9, node("Clip", min=-0.5, max=0.25), floats(3, 4), (), lambda x: x.clip(-0.5, 0.25)),
    "softmax": (12, node("Softmax"), floats(2, 3, 4), (),
                lambda x: np.exp(x) / np.exp(x).sum((1, 2), keepdims=True)),
    "log_softmax": (11, node("LogSoftmax", axis=-2), floats(2, 3, 4), (),
                    lambda x: x - np.log(np.exp(x).sum((1, 2), keepdims=True))),
    "batch_normalization": (
        13, node("BatchNormalization", "x s o m v"), floats(3, 4), (STATISTICS,),
        lambda x: (x - STATISTICS["m"]) / np.sqrt(STATISTICS["v"] + 1e-5) * STATISTICS["s"]
        + STATISTICS["o"]),
    "max/line": (17, node("GlobalMaxPool"), floats(2, 3, 4), (), lambda x: x.max(2, keepdims=True)),
    "max/volume": (13, node("GlobalMaxPool"), VOLUME, (),
                   lambda x: x.max((2, 3, 4), keepdims=True)),
}  # fmt: skip


@pytest.mark.parametrize("name", OLD)
def test_node_is_verified_in_its_own_operator_set(name, tmp_path):
    opset, one, x, constants, want = OLD[name]
    model = model_of([one], {"x": x}, constants=next(iter(constants), None), opset=opset)
    converter = TFLiteConverter.from_onnx_model(saved(tmp_path, model))
    ours = answers(converter.convert(), {"x": x})["y"]
    assert converter.verified
    np.testing.assert_allclose(ours, want(x), 1e-5, 1e-5, strict=True)


def test_negative_padding_crops(tmp_path):
    x, pads = floats(4, 5), {"p": ints(1, -1, -2, 2), "v": np.float32(7)}
    model = model_of([node("Pad", "x p v")], {"x": x}, constants=pads)
    content = converted(saved(tmp_path, model), verify=False)  # the evaluator cannot crop
    want = np.full((3, 6), 7, np.float32)
    want[1:, :4] = x[:2, 1:]
    np.testing.assert_array_equal(answers(content, {"x": x})["y"], want)


def test_free_sizes_stay_free(tmp_path):
    nodes = [
        node("Shape", "x", "s"),
        node("Gather", "s zero", "n"),
        node("Unsqueeze", "n axes", "m"),
        node("Concat", "m rest", "to", axis=0),
        node("Reshape", "x to"),
    ]
    constants = {"zero": ints(0)[0], "axes": ints(0), "rest": ints(-1)}
    model = model_of(nodes, {"x": floats(2, 3, 4)}, constants=constants, free=[2])
    content = converted(saved(tmp_path, model))
    assert kinds(content) == ["RESHAPE"]
    for n in (1, 5):
        x = floats(n, 3, 4)
        np.testing.assert_array_equal(answers(content, {"x": x})["y"], x.reshape(n, -1))


COMPUTED_SHAPES = {
    "copied size": (
        [
            node("Relu", "x", "r"),
            node("Shape", "r", "s"),
            node("Slice", "s one two", "t"),
            node("Concat", "zero t rest", "shape", axis=0),
            node("Reshape", "r shape"),
        ],
        {"one": ints(2), "two": ints(3), "zero": ints(0), "rest": ints(8, 15)},
    ),
    "two copied sizes": ([node("Reshape", "x shape")], {"shape": ints(0, 60, 0, 2)}),
    "expand": ([node("Expand", "x shape")], {"shape": ints(3, 1, 1, 1)}),
    "softmax over axes": ([node("Softmax", axis=3)], {}),
}


@pytest.mark.parametrize("name", COMPUTED_SHAPES)
def test_computed_shapes_run_in_litert(name, tmp_path, litert):
    nodes, constants = COMPUTED_SHAPES[name]
    opset = 11 if "softmax" in name else 17
    x = floats(1, 120, 5, 1)
    model = model_of(nodes, {"x": x}, constants=constants, opset=opset, free=[5, 1])
    content = converted(saved(tmp_path, model))
    (want,) = ReferenceEvaluator(model).run(None, {"x": x})
    got = litert.run(content, [[x]])
    assert not isinstance(got, str), got
    np.testing.assert_allclose(got[0][0], want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("allowzero", [0, 1])
def test_computed_sizes_of_zero_are_copied(tmp_path, allowzero):
    nodes = [
        node("Shape", "x", "rows", end=1),
        node("Shape", "w", "columns"),
        node("Concat", "rows columns two", "to", axis=0),
        node("Reshape", "x to", allowzero=allowzero),
    ]
    inputs = {"x": floats(5, 4), "w": floats(2)}
    model = model_of(nodes, inputs, constants={"two": ints(2)}, free=[5, 2])
    content = converted(saved(tmp_path, model))
    for n, m in ((3, 2), (0, 5), (0, 0)):
        values = {"x": floats(n, 4), "w": floats(m)}
        (want,) = ReferenceEvaluator(model).run(None, values)
        np.testing.assert_array_equal(answers(content, values)["y"], want)


def test_a_shape_of_unknown_length_copies_sizes(tmp_path, litert):
    model = model_of([node("Reshape", "x to")], {"x": floats(2, 3), "to": ints(6)}, free=[2])
    (dim,) = model.graph.input[1].type.tensor_type.shape.dim
    dim.dim_param = "n"
    content = converted(saved(tmp_path, model))
    for shape in ([0, 0], [0, 3, 1], [3, -1], [6], [0, 1, -1]):
        values = {"x": floats(2, 3), "to": ints(*shape)}
        (want,) = ReferenceEvaluator(model).run(None, values)
        np.testing.assert_array_equal(answers(content, values)["y"], want)
        np.testing.assert_array_equal(litert.run(content, [[*values.values()]])[0][0], want)


def test_channels_last_inside(tmp_path):
    nodes = [
        node("Conv", "x w1", "a", pads=[1, 1, 1, 1]),
        node("Relu", "a", "b"),
        node("MaxPool", "b", "c", kernel_shape=[2, 2], strides=[2, 2]),
        node("Conv", "c w2", "d"),
        node("Concat", "d d", "e", axis=1),
        node("GlobalAveragePool", "e", "f"),
        node("Flatten", "f", "y"),
    ]
    weights = {"w1": floats(8, 3, 3, 3), "w2": floats(5, 8, 1, 1)}
    content = converted(saved(tmp_path, model_of(nodes, {"x": floats(1, 3, 8, 8)}, (), weights)),
                        output_arrays=["y"])  # fmt: skip
    operators = kinds(content)
    assert operators.count("TRANSPOSE") == 1 and operators[0] == "TRANSPOSE"
    assert Interpreter(model_content=content).get_input_details()[0]["shape"].tolist() == [
        1,
        3,
        8,
        8,
    ]


def test_basic_pitch(corpus, litert):
    (row,) = [r for r in rows() if r["kind"] == "third_party_onnx"]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "the converted model was (not )?verified")
        content = converted(corpus / row["files"]["onnx"])
    data = load(row["files"]["data"])
    inputs = {i["name"]: data[f"in0:{i['name']}"] for i in row["inputs"]}
    ours = answers(content, inputs)
    assert set(ours) == {o["name"] for o in row["outputs"]}
    theirs = litert.run(content, [inputs], "BUILTIN_WITHOUT_DEFAULT_DELEGATES")
    for name in ours:
        for got in (ours[name], theirs[0][name]):
            np.testing.assert_allclose(got, data[f"ort0:{name}"], 1e-3, 1e-4)
    operators = kinds(content)
    assert "TRANSPOSE" not in operators and "CUSTOM" not in operators
    assert len(operators) <= 222 * 1.1  # of the flatbuffer that ships beside the ONNX file
    assert len(content) <= 204_448 * 1.1


def test_unsupported_operators_are_listed(tmp_path):
    nodes = [
        node("StringSplit", "x", "a"),
        node("StringSplit", "a", "b"),
        node("Fancy", "b", domain="org.acme"),
    ]
    with pytest.raises(UnsupportedOps) as error:
        converted(saved(tmp_path, model_of(nodes, {"x": floats(2, 2)})))
    remark = "(TFLite has no operators that change texts)"
    assert (
        f"  StringSplit x 2, first at node 'a' {remark}\n  org.acme.Fancy x 1, first at node 'y'"
        in str(error.value)
    )
    assert str(tmp_path / "model.onnx") in str(error.value)


def external(tmp_path, location, length=24):
    model = model_of([node("Add", "x w")], {"x": floats(6)}, constants={"w": floats(6)})
    (weights,) = model.graph.initializer
    entries = {"location": location, "offset": "0", "length": str(length)}
    onnx.external_data_helper.set_external_data(weights, location, 0, int(entries["length"]))
    weights.ClearField("raw_data")
    return saved(tmp_path, model)


def test_weights_beside_the_model(tmp_path):
    want = floats(6)
    (tmp_path / "weights.bin").write_bytes(want.tobytes())
    content = converted(external(tmp_path, "weights.bin"))
    np.testing.assert_array_equal(answers(content, {"x": np.zeros(6, np.float32)})["y"], want)


@pytest.mark.parametrize(
    ("location", "length", "words"),
    [
        ("../weights.bin", 24, "which is not a file of its own folder"),
        ("/etc/passwd", 24, "which is not a file of its own folder"),
        ("link.bin", 24, "which is or passes a link"),
        ("hard.bin", 24, "which has other names"),
        ("weights.bin", 4000, "lie outside of 'weights.bin', which has 24"),
    ],
)
def test_weights_outside_are_refused(tmp_path, location, length, words):
    folder = tmp_path / "model"
    folder.mkdir()
    for place in (tmp_path, folder):
        (place / "weights.bin").write_bytes(bytes(24))
    (folder / "link.bin").symlink_to(tmp_path / "weights.bin")
    (folder / "hard.bin").write_bytes(bytes(24))
    os.link(folder / "hard.bin", tmp_path / "other")
    with pytest.raises(ValueError, match=words):
        converted(external(folder, location, length))


def test_names_and_shapes(tmp_path):
    nodes = [node("Relu", "x", "a"), node("Add", "a z")]
    inputs = {"x": floats(2, 3), "z": floats(3)}
    path = saved(tmp_path, model_of(nodes, inputs, free=[2]))
    converter = TFLiteConverter.from_onnx_model(path, ["z", "x"], {"x": [4, 3]}, ["a"])
    assert converter.get_input_arrays() == ["z", "x"]
    details = Interpreter(model_content=converter.convert()).get_input_details()
    assert [d["name"] for d in details] == ["z", "x"]
    assert details[1]["shape"].tolist() == [4, 3]
    for arguments, words in (
        (
            {"input_arrays": ["x"]},
            "input_arrays must name all inputs of the model; 'z' are missing",
        ),
        ({"output_arrays": ["b"]}, "Invalid tensors 'b' were found"),
        ({"input_shapes": {"x": [1, 5]}}, "The shape of tensor 'x' cannot be changed"),
    ):
        with pytest.raises(ValueError, match=words):
            TFLiteConverter.from_onnx_model(path, **arguments)


CURED = {
    "Split": ({"num_outputs": 2, "axis": 1}, ["y", "z"], (2, 6), {2, 6}, "[None, 224]"),
    "AveragePool": (
        {"kernel_shape": [3, 3], "auto_pad": "SAME_LOWER", "strides": [2, 2]},
        ["y"],
        (1, 3, 8, 9),
        {8, 9},
        "[1, 3, 224, 224]",
    ),
}


@pytest.mark.parametrize("kind", CURED)
def test_an_error_that_fixed_sizes_cure_says_so(kind, tmp_path):
    attributes, outputs, shape, free, fixed = CURED[kind]
    node = helper.make_node(kind, ["x"], outputs, **attributes)
    path = saved(tmp_path, model_of([node], {"x": floats(*shape)}, outputs, opset=18, free=free))
    with pytest.raises(ConverterError) as caught:
        converted(path)
    option = fixed[1:-1].replace(" ", "").replace("None", "-1")
    assert f"input_shapes={{'x': {fixed}}} (--input-shape x={option})" in str(caught.value)
    assert converted(path, input_shapes={"x": list(shape)})


def test_an_unknown_number_of_channels_is_the_filters(tmp_path):
    nodes, constants = [node("Conv", "x w")], {"w": W["w"]}
    path = saved(
        tmp_path, model_of(nodes, {"x": IMAGE}, constants=constants, free=[IMAGE.shape[1]])
    )
    (detail,) = Interpreter(model_content=converted(path)).get_input_details()
    assert list(detail["shape_signature"]) == list(IMAGE.shape)


def test_an_error_shows_an_unknown_size_by_its_name(tmp_path):
    model = model_of(
        [node("Add", "x z")], {"x": floats(5, 3)}, constants={"z": floats(4, 2)}, free=[5]
    )
    with pytest.raises(
        ConverterError, match=r"^Add 'y': ADD 'y': shapes \([a-z]\w*, 3\) and \(4, 2\) do not"
    ):
        converted(saved(tmp_path, model))


def test_the_evaluators_own_words_stay_inside(tmp_path):
    model = model_of([helper.make_node("Add", ["x", "z"], ["y"])], {"x": floats(3), "z": floats(4)})
    source = onnx_source.load(saved(tmp_path, model))
    with pytest.raises(ValueError, match=r"^Add 'y' cannot be evaluated on inputs of the shapes"):
        source.oracle().run(["y"], [floats(3), floats(4)])


@pytest.mark.parametrize(
    ("kind", "attributes", "mean", "deviation"),
    [  # of the distributions that ONNX's documentation names
        ("RandomNormal", {"mean": 3.0, "scale": 2.0}, 3, 2),
        ("RandomNormalLike", {}, 0, 1),
        ("RandomUniform", {"low": -1.0, "high": 5.0}, 2, 6 / 12**0.5),
        ("RandomUniformLike", {}, 0.5, 12**-0.5),
        ("Bernoulli", {}, 0.3, 0.21**0.5),
    ],
)
def test_random_numbers(kind, attributes, mean, deviation):
    has_input = kind.endswith("Like") or kind == "Bernoulli"
    x = np.full((100, 40), 0.3, np.float32)
    attributes = {"seed": 7.0, **attributes} | ({} if has_input else {"shape": [100, 40]})
    node = helper.make_node(kind, ["x"] * has_input, ["y"], name="layer", **attributes)
    converter = TFLiteConverter.from_onnx_model(model_of([node], {"x": x} if has_input else {}))
    with pytest.warns(UserWarning, match=f"not verified: {kind} 'layer' gives random numbers"):
        content = converter.convert()
    runner = Interpreter(model_content=content).get_signature_runner()
    y = runner(**({"x": x} if has_input else {}))["y"]
    assert y.shape == (100, 40)
    assert abs(y.mean() - mean) < 4 * deviation / len(y.ravel()) ** 0.5
    assert abs(y.std() / deviation - 1) < 0.06


def channels(w):
    return w[:, None, None]


FIRST_SETS = {
    "Add": ("x w", {"broadcast": 1, "axis": 1}, 6, lambda x, w: x + channels(w)),
    "Div": ("x w", {"broadcast": 1, "axis": -3}, 1, lambda x, w: x / channels(w)),
    "Mul": ("x w", {"broadcast": 1}, 6, lambda x, w: x * w),
    "Less": ("x w", {"broadcast": 1, "axis": 3}, 1, lambda x, w: x < w),
    "PRelu": ("x w", {}, 6, lambda x, w: np.where(x < 0, x * channels(w), x)),
    "Reshape": ("x", {"shape": [2, -1]}, 1, lambda x, w: x.reshape(2, -1)),
    "Concat": ("x x", {}, 1, lambda x, w: np.concatenate([x, x], 1)),
    "Cast": ("x", {"to": "INT32"}, 1, lambda x, w: x.astype(np.int32)),
    "Pad": ("x", {"paddings": [0, 0, 1, 2] * 2}, 1,
            lambda x, w: np.pad(x, [(0, 0), (0, 0), (1, 1), (2, 2)])),
    "Upsample": ("x", {"height_scale": 2.0, "width_scale": 3.0, "mode": "nearest"}, 1,
                 lambda x, w: x.repeat(2, 2).repeat(3, 3)),
    "GlobalLpPool": ("x", {"p": 2.0}, 1,
                     lambda x, w: np.sqrt(np.square(x).sum((2, 3), keepdims=True))),
    "Relu": ("x", {"consumed_inputs": [0]}, 1, lambda x, w: np.maximum(x, 0)),
}  # fmt: skip
"""kind -> operands, attributes, operator set, what it means."""


@pytest.mark.parametrize("kind", list(FIRST_SETS))
def test_operator_sets_before_the_seventh(kind, litert):
    names, attributes, opset, function = FIRST_SETS[kind]
    x, w = floats(2, 4, 5, 4), floats(4) + 3
    constants = {"w": w} if "w" in names else {}
    content = converted(
        model_of([node(kind, names, **attributes)], {"x": x}, (), constants, opset),
        output_arrays=["y"],
    )
    want = function(x, w)
    for y in (answers(content, {"x": x})["y"], litert.run(content, [[x]])[0][0]):
        assert y.dtype == want.dtype
        np.testing.assert_allclose(y, want, 1e-5)


def test_every_operator_is_lowered_or_has_a_reason():
    """All that the packages onnx and onnxruntime 1.32 declare, in each of their domains."""
    missing = set()
    for schema in onnx.defs.get_all_schemas():
        name = qualified(schema.domain, schema.name)
        is_defined = schema.has_function or schema.has_context_dependent_function
        if LOWERINGS.get(name) is None and not is_defined:
            missing.add(name)
    declared = Path(__file__).with_name("microsoft.txt").read_text().split()
    names = {f"com.microsoft.{name}" for name in declared}
    missing |= {name for name in names if LOWERINGS.get(name) is None}
    assert missing == set(REASONS)
    for name in REASONS:
        with pytest.raises(UnsupportedOps, match=re.escape(REASONS[name])):
            unsupported.refuse({name: ["x"]}, "")
