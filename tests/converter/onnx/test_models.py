"""ONNX models beyond single nodes of ai.onnx: functions, graphs inside nodes, recurrent layers,
quantized and float16 models, scikit-learn's operators, and those of ONNX Runtime.
"""

from functools import partial
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from onnx_models import OPSETS, REFERENCE, RNG, checked, converted, floats, model_of, node
from running import kinds

from flatlite.converter.verify import verification
from flatlite.errors import ConverterError, ModelError, UnsupportedOps
from flatlite.lite import Interpreter, TFLiteConverter


def test_functions_of_the_model(litert):
    square = helper.make_function(
        "own", "Square", ["a"], ["c"], [node("Mul", "a a", "c")], [helper.make_opsetid("", 17)]
    )
    shifted = helper.make_function(
        "own",
        "ShiftedSquare",
        ["a", "b"],
        ["c"],
        [node("Square", "a", "t", domain="own"), node("Add", "t b", "c")],
        [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)],
    )
    inputs = {"x": floats(2, 3), "z": floats(3)}
    model = model_of(
        [node("ShiftedSquare", "x z", domain="own")], inputs, functions=[shifted, square]
    )
    want = [inputs["x"] ** 2 + inputs["z"]]
    assert len(kinds(checked(model, inputs, litert, want))) == 2


def test_functions_that_call_themselves_are_refused():
    body = [node("Again", "a", "c", domain="own")]
    again = helper.make_function(
        "own", "Again", ["a"], ["c"], body, [helper.make_opsetid("own", 1)]
    )
    model = model_of([node("Again", domain="own")], {"x": floats(2)}, functions=[again])
    with pytest.raises(ModelError, match="functions 'Again' must not call themselves"):
        TFLiteConverter.from_onnx_model(model)


def test_blocks_of_channels_of_one_processor_are_refused():
    """ONNX Runtime writes them with all optimizations on."""
    conv = node("Conv", "x w", domain="com.microsoft.nchwc")
    opsets = {**OPSETS, "com.microsoft.nchwc": 1}
    constants = {"w": floats(8, 8, 1, 1)}
    model = model_of([conv], {"x": floats(1, 8, 4, 4)}, constants=constants, opsets=opsets)
    with pytest.raises(UnsupportedOps, match="ORT_ENABLE_EXTENDED"):
        TFLiteConverter.from_onnx_model(model).convert()


def branch(name, kind):
    value = onnx.ValueInfoProto(name=name)
    return helper.make_graph([node(kind, "x", name)], name, [], [value])


@pytest.mark.parametrize("computed", [True, False])
def test_if(computed, litert):
    condition = np.asarray(True)
    attributes: dict[str, Any] = {
        "then_branch": branch("t", "Relu"),
        "else_branch": branch("e", "Neg"),
    }
    one = node("If", "condition", **attributes)
    inputs = {"x": floats(2, 3), **({"condition": condition} if computed else {})}
    constants = {} if computed else {"condition": condition}
    content = checked(model_of([one], inputs, constants=constants), inputs, litert)
    assert kinds(content) == (["IF"] if computed else ["RELU"])


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
@pytest.mark.parametrize("n_steps", [3, 9])
def test_recurrent(kind, n_steps, litert):
    n, size, n_gates = 4, 5, {"LSTM": 4, "GRU": 3, "RNN": 1}[kind]
    x, lengths = floats(n_steps, 2, n), np.asarray([n_steps, 2], np.int32)
    constants = {
        "w": floats(2, n_gates * size, n) / 2,
        "r": floats(2, n_gates * size, size) / 2,
        "b": floats(2, 2 * n_gates * size) / 2,
    }
    out = "y h c" if kind == "LSTM" else "y h"
    one = node(kind, "x w r b lengths", out, hidden_size=size, direction="bidirectional")
    model = model_of([one], {"x": x}, out.split(), {**constants, "lengths": lengths})
    want: list[Any] = [
        np.zeros(s) for s in ((n_steps, 2, 2, size), *[(2, 2, size)] * (len(out.split()) - 1))
    ]
    for row, length in enumerate(lengths):
        plain = node(kind, "x w r b", out, hidden_size=size, direction="bidirectional")
        part = x[:length, row : row + 1]
        single = model_of([plain], {"x": part}, out.split(), constants)
        for d, backwards in enumerate((False, True)):
            one_way = {k: v[d : d + 1] for k, v in constants.items()}
            forward = node(kind, "x w r b", out, hidden_size=size)
            fed = part[::-1] if backwards else part
            single = model_of([forward], {"x": fed}, out.split(), one_way)
            y, *states = ReferenceEvaluator(single).run(None, {"x": np.ascontiguousarray(fed)})
            want[0][:length, d, row] = (y[::-1] if backwards else y)[:, 0, 0]
            for total, state in zip(want[1:], states, strict=True):
                total[d, row] = state[0, 0]
    content = checked(model, {"x": x}, litert, want, verify=False)
    assert ("WHILE" in kinds(content)) == (n_steps > 4)


def test_quantized_layers_are_exact(litert):
    x = RNG.integers(0, 256, (1, 3, 8, 8)).astype(np.uint8)
    constants = {
        "xs": np.float32(0.02), "xz": np.uint8(120),
        "w": RNG.integers(-127, 128, (6, 3, 3, 3)).astype(np.int8),
        "ws": np.abs(floats(6)) / 50 + np.float32(0.001), "wz": np.zeros(6, np.int8),
        "ys": np.float32(0.3), "yz": np.uint8(110),
        "b": RNG.integers(-999, 999, 6).astype(np.int32),
    }  # fmt: skip
    one = node("QLinearConv", "x xs xz w ws wz ys yz b", pads=[1, 1, 1, 1])
    model = model_of([one], {"x": x}, constants=constants)
    want = np.asarray(ReferenceEvaluator(model).run(None, {"x": x})[0])
    content = converted(model, verify=False)
    ours = Interpreter(model_content=content).get_signature_runner()(x=x)["y"]
    assert ours.dtype == np.uint8 and np.abs(ours.astype(int) - want.astype(int)).max() <= 1
    theirs = litert.run(content, [{"x": x}], REFERENCE, "serving_default")[0]["y"]
    np.testing.assert_array_equal(ours, theirs)


def test_float16_models_compute_in_float32(litert):
    x = floats(1, 4, 8, 8).astype(np.float16)
    nodes = [
        node("Conv", "x w", "a", pads=[1, 1, 1, 1]),
        node("Relu", "a", "b"),
        node("GlobalAveragePool", "b", "c"),
        node("Flatten", "c", "d"),
        node("Softmax", "d"),
    ]
    model = model_of(nodes, {"x": x}, constants={"w": floats(6, 4, 3, 3).astype(np.float16)})
    content = checked(model, {"x": x}, litert, verify=False, tolerance=2e-3)
    assert kinds(content).count("CAST") == 2


FEATURES = floats(7, 4)
TREES = {
    "nodes_treeids": [0] * 5 + [1] * 3,
    "nodes_nodeids": [0, 1, 2, 3, 4, 0, 1, 2],
    "nodes_featureids": [1, 0, 2, 0, 0, 3, 0, 0],
    "nodes_modes": ["BRANCH_LEQ", "LEAF", "BRANCH_LT", "LEAF", "LEAF", "BRANCH_GT", "LEAF", "LEAF"],
    "nodes_values": [0.1, 0, -0.3, 0, 0, 0.2, 0, 0],
    "nodes_truenodeids": [1, 0, 3, 0, 0, 1, 0, 0],
    "nodes_falsenodeids": [2, 0, 4, 0, 0, 2, 0, 0],
    "nodes_hitrates": [1.0] * 8,
    "nodes_missing_value_tracks_true": [0] * 8,
}
LEAVES = {"treeids": [0, 0, 0, 1, 1], "nodeids": [1, 3, 4, 1, 2], "ids": [0, 1, 2, 1, 0],
          "weights": [0.5, 0.25, 1.0, 0.75, -0.5]}  # fmt: skip
VECTORS = {
    "support_vectors": floats(6, 4).ravel().tolist(),
    "coefficients": floats(2, 6).ravel().tolist(),
    "rho": [0.1, -0.2, 0.3],
    "vectors_per_class": [2, 2, 2],
    "kernel_params": [0.5, 0.25, 3.0],
}
ML = {
    "extractor": (node("ArrayFeatureExtractor", "x i"), {"i": np.asarray([2, 0])}),
    "binarizer": (node("Binarizer", threshold=0.25), {}),
    "imputer": (node("Imputer", imputed_value_floats=[1.0, 2.0, 3.0, 4.0],
                     replaced_value_float=float("nan")), {}),
    "scaler": (node("Scaler", offset=[0.5, 1.0, 0.0, 2.0], scale=[2.0, 0.5, 1.0, 3.0]), {}),
    "normalizer/l1": (node("Normalizer", norm="L1"), {}),
    "normalizer/l2": (node("Normalizer", norm="L2"), {}),
    "linear": (node("LinearRegressor", coefficients=floats(8).tolist(), intercepts=[0.5, -1.0],
                    targets=2), {}),
    "logistic": (node("LinearClassifier", out="label y", coefficients=floats(12).tolist(),
                      intercepts=[0.5, -1.0, 0.0], classlabels_ints=[3, 5, 9],
                      post_transform="SOFTMAX"), {}),
    "logistic/two": (node("LinearClassifier", out="label y", coefficients=floats(4).tolist(),
                          intercepts=[0.5], classlabels_ints=[0, 1], post_transform="LOGISTIC"),
                     {}),
    "logistic/texts": (node("LinearClassifier", out="label y", coefficients=floats(8).tolist(),
                            intercepts=[0.5, 0.1], classlabels_strings=["no", "yes"],
                            post_transform="NONE"), {}),
    "svr": (node("SVMRegressor", support_vectors=floats(12).tolist(), n_supports=3,
                 coefficients=floats(3).tolist(), rho=[0.4], kernel_type="RBF",
                 kernel_params=[0.5, 0.0, 3.0]), {}),
    "svc/poly": (node("SVMClassifier", out="label y", classlabels_ints=[1, 2, 3],
                      kernel_type="POLY", **VECTORS), {}),
    "svc/rbf": (node("SVMClassifier", out="label y", classlabels_ints=[1, 2, 3],
                     kernel_type="RBF", **VECTORS), {}),
    "trees": (node("TreeEnsembleRegressor", n_targets=3, **TREES,
                   **{f"target_{k}": v for k, v in LEAVES.items()}), {}),
    "trees/classes": (node("TreeEnsembleClassifier", out="label y", classlabels_int64s=[4, 5, 6],
                           **TREES, **{f"class_{k}": v for k, v in LEAVES.items()}), {}),
}  # fmt: skip


@pytest.mark.parametrize("name", ML)
def test_scikit_learn_operators(name, litert):
    one, constants = ML[name]
    one.domain = "ai.onnx.ml"
    x = FEATURES.copy()
    if name == "imputer":
        x[2, 1] = x[4, 3] = np.nan
    checked(model_of([one], {"x": x}, one.output, constants, free=[7]), {"x": x}, litert)


@pytest.mark.parametrize(("kind", "value"), [("ReduceMax", -np.inf), ("ReduceMin", np.inf)])
def test_extremes_of_infinities_are_infinite(kind, value, litert):
    """LiteRT's are the last finite number, which no mask may mistake for one."""
    x = np.float32([[value, value], [1, value], [2, 3]])
    nodes = [node(kind, "x", "m", axes=[1], keepdims=0), node("Equal", "m limit")]
    constants = {"limit": np.float32(value)}
    checked(model_of(nodes, {"x": x}, ["y"], constants), {"x": x}, litert, [[True, False, False]])


def test_labels_and_categories(litert):
    x = np.asarray([3, 7, 5, 3])
    nodes = [
        node("LabelEncoder", "x", "y", "ai.onnx.ml", keys_int64s=[3, 5], values_floats=[0.5, 2.5],
             default_float=-1.0),
        node("OneHotEncoder", "x", "z", "ai.onnx.ml", cats_int64s=[5, 3]),
    ]  # fmt: skip
    checked(model_of(nodes, {"x": x}, ["y", "z"]), {"x": x}, litert)


def test_zip_map_gives_the_scores():
    coefficients = {"coefficients": floats(8).tolist(), "intercepts": [0.5, 0.1]}
    nodes = [
        node("LinearClassifier", "x", "label p", "ai.onnx.ml", classlabels_ints=[0, 1],
             post_transform="SOFTMAX", **coefficients),
        node("ZipMap", "p", "y", "ai.onnx.ml", classlabels_int64s=[0, 1]),
    ]  # fmt: skip
    model = model_of(nodes, {"x": FEATURES}, ["label", "y"])
    runner = Interpreter(model_content=converted(model)).get_signature_runner()
    results = runner(x=FEATURES)
    assert results["y"].shape == (7, 2)
    np.testing.assert_array_equal(results["y"].argmax(1), results["label"])


BAD = {
    "outside": (node("TreeEnsembleRegressor", n_targets=2, **TREES,
        **{f"target_{k}": v for k, v in LEAVES.items()}), r"targets must be in \[0, 2\), got 2"),
    "cycle": (node("TreeEnsembleRegressor", n_targets=3, **{
        **TREES, "nodes_truenodeids": [0, 0, 3, 0, 0, 1, 0, 0]},
        **{f"target_{k}": v for k, v in LEAVES.items()}), "nodes must not lie below themselves"),
    "target": (node("TreeEnsembleRegressor", n_targets=3, **{
        **TREES, "nodes_truenodeids": [9, 0, 3, 0, 0, 1, 0, 0]},
        **{f"target_{k}": v for k, v in LEAVES.items()}), "node 0 leads to no node"),
    "norm": (node("Normalizer", norm="L3"), "norm must be one of"),
    "transform": (node("LinearRegressor", coefficients=[1.0] * 4, post_transform="TANH"),
                  "post_transform must be one of"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_attributes(name):
    one, words = BAD[name]
    one.domain = "ai.onnx.ml"
    with pytest.raises(ConverterError, match=words):
        converted(model_of([one], {"x": FEATURES}))


DOUBLE = {
    "Scaler": [node("Scaler", domain="ai.onnx.ml", offset=[0.5], scale=[2.0])],
    "Mul": [
        node("Cast", "x", "d", to=onnx.TensorProto.FLOAT),
        node("Mul", "x x", "e"),
        node("Softmax", "e", "s"),
        node("CastLike", "s d"),
    ],
    "doubles leave": [node("Sin", "x", "e"), node("ReduceMean", "e", keepdims=1)],
}
CONSTANTS = {"w": floats(4, 4).astype(np.float64), "v": floats(1, 2, 5, 5).astype(np.float64),
             "k": floats(4, 2, 2, 2).astype(np.float64)}  # fmt: skip
OF_CONSTANTS = {
    "MatMul": node("MatMul", "w w", "c"),
    "Gemm": node("Gemm", "w w", "c"),
    "Einsum": node("Einsum", "w w", "c", equation="ij,kj->ik"),
    "Conv": node("Conv", "v k", "c"),
    **{kind: node(kind, "w", "c") for kind in ("Sigmoid", "Tanh", "Erf", "Softmax", "Softplus")},
}
"""What is computed of constants of float64 alone, and has no kernel of it."""


@pytest.mark.parametrize("name", DOUBLE)
def test_float64_is_computed_in_float32(name, litert):
    feeds = {"x": FEATURES.astype(np.float64)}
    with pytest.warns(UserWarning, match="compute in float64 in the source and in float32 in"):
        checked(model_of(DOUBLE[name], feeds), feeds, litert)


def test_powers_of_integers_by_fractions_have_the_digits_of_float32(litert):
    """ONNX Runtime 1.32 gives 13, 3375, 2 as well, and 710947978 for 11 ** 8.5."""
    feeds = {"x": np.int32([3, 225, 4]), "z": np.float32([2.4, 1.5, 0.5])}
    with pytest.warns(UserWarning, match="compute in float64 in the source and in float32 in"):
        checked(model_of([node("Pow", "x z")], feeds), feeds, litert, [np.int32([13, 3375, 2])])


@pytest.mark.parametrize("kind", OF_CONSTANTS)
def test_constants_of_float64_without_a_kernel(kind, litert):
    nodes = [OF_CONSTANTS[kind], node("Cast", "c", "d", to=onnx.TensorProto.FLOAT),
             node("ReduceSum", "d", "s", keepdims=0), node("Add", "x s")]  # fmt: skip
    feeds = {"x": FEATURES}
    with pytest.warns(UserWarning, match="compute in float64 in the source and in float32 in"):
        content = checked(model_of(nodes, feeds, constants=CONSTANTS), feeds, litert)
    assert kinds(content) == ["ADD"]


@pytest.mark.parametrize("layout", ["channels_last", {"x": "channels_last", "y": "channels_last"}])
def test_layout_of_inputs_and_outputs(layout, litert):
    x, constants = floats(1, 3, 6, 5), {"w": floats(4, 3, 3, 3)}
    nodes = [node("Conv", "x w", "t", pads=[1, 1, 1, 1]), node("Relu", "t")]
    model = model_of(nodes, {"x": x}, constants=constants)
    converter = TFLiteConverter.from_onnx_model(model, io_layout=layout)
    content = converter.convert()
    assert converter.verified and kinds(content) == ["CONV_2D"]
    want = np.asarray(ReferenceEvaluator(model).run(None, {"x": x})[0])
    last = np.ascontiguousarray(x.transpose(0, 2, 3, 1))
    ours = Interpreter(model_content=content).get_signature_runner()(x=last)["y"]
    theirs = litert.run(content, [{"x": last}], REFERENCE, "serving_default")[0]["y"]
    for result in (ours, theirs):
        np.testing.assert_allclose(result, want.transpose(0, 2, 3, 1), 1e-5, 1e-5)


def test_layouts_are_checked():
    model = model_of([node("Relu")], {"x": floats(1, 2, 3, 4)})
    with pytest.raises(ValueError, match=r"io_layout must be one of .*, got 'NHWC'"):
        TFLiteConverter.from_onnx_model(model, io_layout="NHWC")
    with pytest.raises(ValueError, match="Invalid tensors 'z' were found"):
        TFLiteConverter.from_onnx_model(model, io_layout={"z": "channels_last"})


@pytest.mark.parametrize("norm", ["MAX", "L1", "L2"])
def test_normalizer_as_onnx_runtime_has_it(norm, litert):
    """ONNX Runtime 1.32 divides by the largest number for MAX, not by the largest absolute one."""
    x = np.asarray([[-4, 1, 2], [-4, -1, -2], [0, 0, 0]], np.float32)
    want = {
        "MAX": [[-2, 0.5, 1], [4, 1, 2], [0, 0, 0]],
        "L1": x / np.asarray([[7], [7], [1]]),
        "L2": x / np.sqrt([[21], [21], [1]]),
    }[norm]
    model = model_of([node("Normalizer", domain="ai.onnx.ml", norm=norm)], {"x": x})
    checked(model, {"x": x}, litert, [np.asarray(want, np.float32)])


def test_one_hot_encoder_that_refuses_gives_zeros(litert):
    x = np.asarray([[1], [3], [7]], np.float32)
    encoder = node("OneHotEncoder", domain="ai.onnx.ml", cats_int64s=[1, 2, 3], zeros=0)
    model = model_of([encoder], {"x": x})
    want = np.asarray([[[1, 0, 0]], [[0, 0, 1]], [[0, 0, 0]]], np.float32)
    with pytest.warns(UserWarning, match="gives zeros for them"):
        checked(model, {"x": x}, litert, [want], verify=False)


def test_a_column_of_texts_is_taken_by_slice(litert):
    x = np.asarray([["a", "u"], ["b", "v"]], object)
    extractor = node("ArrayFeatureExtractor", "x i", domain="ai.onnx.ml")
    value = helper.make_tensor_value_info("x", onnx.TensorProto.STRING, [2, 2])
    index = numpy_helper.from_array(np.asarray([1], np.int64), "i")
    result = onnx.ValueInfoProto(name="y")
    graph = helper.make_graph([extractor], "main", [value], [result], [index])
    ids = [helper.make_opsetid(*row) for row in OPSETS.items()]
    model = helper.make_model(graph, opset_imports=ids, ir_version=8)
    content = converted(model, verify=False)
    assert kinds(content) == ["SLICE"]
    texts = np.asarray([[t.encode() for t in row] for row in x.tolist()], object)
    got = Interpreter(model_content=content).get_signature_runner()(x=texts)["y"]
    assert [bytes(t) for t in got.ravel()] == [b"u", b"v"]


@pytest.mark.parametrize("kind", ["ArgMax", "ArgMin"])
def test_the_place_of_an_int64(kind, litert):
    """The first of equal ones; neighbours that float32 and int32 do not tell apart."""
    x = np.array([[2**62, 2**62 + 1, 2**62 + 1], [-5, 7, 7], [3, -(2**40), -(2**40)]])
    model = model_of([node(kind, axis=-1, keepdims=0)], {"x": x}, free=(3,))
    checked(model, {"x": x}, litert)


@pytest.mark.parametrize("axis", [1, 2, -1])
def test_flatten_of_sizes_that_are_free_on_both_sides(axis, litert):
    x = floats(2, 5, 3, 7)
    free = model_of([node("Flatten", axis=axis)], {"x": x}, free=x.shape)
    checked(free, {"x": x}, litert, verify=False)


def giving(name, nodes, result):
    """A graph without inputs that gives one value."""
    return helper.make_graph(nodes, name, [], [onnx.ValueInfoProto(name=result)])


SEQUENCES = {
    "constructed": (
        [node("Neg", "x", "n"), node("SequenceConstruct", "n z", "t")],
        [node("Relu", "z", "r"), node("SequenceConstruct", "x r", "e")],
    ),
    "inserted": (
        [node("SequenceInsert", "around x", "t")],
        [node("Neg", "z", "n"), node("SequenceInsert", "around n", "e")],
    ),
    "slices": (
        [node("SplitToSequence", "x", "t", axis=0)],
        [node("Neg", "z", "n"), node("SplitToSequence", "n", "e", axis=0)],
    ),
}


@pytest.mark.parametrize("kind", list(SEQUENCES))
def test_sequences_that_a_computed_condition_chooses(kind, litert):
    then, otherwise = SEQUENCES[kind]
    branches = {
        "then_branch": giving("then", then, "t"),
        "else_branch": giving("else", otherwise, "e"),
    }
    nodes = [
        node("Neg", "x", "minus"),
        node("SequenceConstruct", "minus", "around"),
        node("If", "condition", "chosen", **branches),
        node("ConcatFromSequence", "chosen", axis=0),
    ]
    for condition in (True, False):
        inputs = {"condition": np.asarray(condition), "x": floats(2, 3), "z": floats(2, 3)}
        checked(model_of(nodes, inputs, free=[2] if kind == "slices" else []), inputs, litert)


def test_branches_with_sequences_of_two_lengths_are_refused():
    branches = {
        "then_branch": giving("then", [node("SequenceConstruct", "x x", "t")], "t"),
        "else_branch": giving("else", [node("SequenceConstruct", "x", "e")], "e"),
    }
    nodes = [
        node("If", "condition", "chosen", **branches),
        node("ConcatFromSequence", "chosen", axis=0),
    ]
    model = model_of(nodes, {"condition": np.asarray(True), "x": floats(2)})
    with pytest.raises(ConverterError, match="got a sequence of 2 tensors and a sequence of 1"):
        converted(model)


TWO = node("SequenceConstruct", "x x", "two")


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ([node("SequenceLength")], "SequenceLength 'y': input 0 must be a sequence, got a tensor"),
        ([node("SequenceErase")], "SequenceErase 'y': input 0 must be a sequence, got a tensor"),
        ([TWO, node("Relu", "two")], "Relu 'y': input 0 must be a tensor, got a sequence of 2"),
        (
            [TWO, node("Concat", "x two", axis=0)],
            "Concat 'y': input 1 must be a tensor, got a sequence of 2 tensors",
        ),
    ],
)
def test_sequences_and_tensors_do_not_replace_one_another(nodes, message):
    """ONNX Runtime 1.32 refuses these models too: "Type ... of input parameter ... is invalid"."""
    with pytest.raises(ConverterError, match=message):
        converted(model_of(nodes, {"x": floats(2)}))


@pytest.mark.parametrize("n", [1, 6])
def test_loops_without_a_condition_that_read_a_sequence(n, litert):
    body = helper.make_graph(
        [
            node("ConcatFromSequence", "pair", "v", axis=0),
            node("Gather", "v i", "row"),
            node("Add", "state row", "next"),
            node("Identity", "next", "table"),
            node("Identity", "go", "on"),
        ],
        "body",
        [onnx.ValueInfoProto(name=name) for name in ("i", "go", "state")],
        [onnx.ValueInfoProto(name=name) for name in ("on", "next", "table")],
    )
    nodes = [
        node("Neg", "x", "minus"),
        node("SequenceConstruct", "minus z", "pair"),
        helper.make_node("Loop", ["n", "", "x"], ["y", "tables"], body=body),
    ]
    inputs = {"n": np.asarray(n, np.int64), "x": floats(4, 3), "z": floats(4, 3)}
    rows = np.concatenate([-inputs["x"], inputs["z"]])[:n]
    tables = inputs["x"] + np.cumsum(rows, axis=0)[:, None]
    checked(model_of(nodes, inputs, ("y", "tables")), inputs, litert, [tables[-1], tables])


@pytest.mark.parametrize("n", [1, 6])
def test_loops_whose_first_iteration_sets_what_begins_as_a_scalar(n, litert):
    """As Paddle's exporter writes variables that a loop is the first to set."""
    body = helper.make_graph(
        [
            node("Add", "state x", "next"),
            node("Add", "next next", "later"),
            node("Less", "i limit", "on"),
        ],
        "body",
        [onnx.ValueInfoProto(name=name) for name in ("i", "go", "state", "unset")],
        [onnx.ValueInfoProto(name=name) for name in ("on", "next", "later")],
    )
    loop = helper.make_node("Loop", ["", "always", "x", "zero"], ["last", "set"], body=body)
    inputs = {"x": floats(4, 3), "limit": np.asarray(n - 1, np.int64)}
    constants = {"zero": np.float32(0), "always": np.asarray(True)}
    model = model_of([loop, node("Softmax", "set", "y")], inputs, ("y",), constants)
    steps = np.exp(2 * (n + 1) * inputs["x"])
    want = [steps / steps.sum(axis=1, keepdims=True)]
    checked(model, inputs, litert, want)


@pytest.mark.parametrize("low", [-1, 3])
def test_rows_of_which_there_may_be_none(low, litert):
    """As of a detector that finds nothing: LiteRT unpacks no empty tensor, and divides by its
    size to count an index from its end.
    """
    nodes = [
        node("Greater", "s low", "is_chosen"),
        node("NonZero", "is_chosen", "found"),
        node("Squeeze", "found first", "places"),
        node("Gather", "x places", "rows", axis=0),
        *(node("Gather", f"rows c{i}", f"column{i}", axis=1) for i in range(4)),
        node("Sub", "column2 column0", "width"),
        node("Sub", "column3 column1", "height"),
        node("Mul", "width height", "area"),
        node("Sub", "places places", "zeros"),
        node("Sub", "zeros one", "last"),
        node("Gather", "area last", "of_last", axis=0),
        node("Add", "area of_last", "both"),
        node("ReduceSum", "both", "y", keepdims=0),
    ]
    constants = {f"c{i}": np.array(i) for i in range(4)}
    constants.update(low=np.float32(low), first=np.array([0]), one=np.array(1))
    inputs = {"x": floats(5, 4), "s": np.float32([-2, 0, 1, -2, 2])}
    assert "UNPACK" not in kinds(
        checked(model_of(nodes, inputs, constants=constants), inputs, litert)
    )


@pytest.mark.parametrize(
    ("kind", "limit", "message"),
    [
        ("Add", "", "running the source takes over 0.5 s"),
        ("Concat", "limit", "the source refuses the inputs: .*Loop carries .* bytes after"),
    ],
)
def test_a_loop_without_an_end_is_not_verified(kind, limit, message, monkeypatch):
    """Nor one that carries twice as much in each iteration."""
    monkeypatch.setattr(verification, "verify", partial(verification.verify, seconds=0.5))
    monkeypatch.setattr(verification, "MEMORY", 1 << 22)
    attributes = {"axis": 0} if kind == "Concat" else {}
    carried = onnx.helper.make_tensor_value_info("v", onnx.TensorProto.FLOAT, ["n"])
    body = helper.make_graph(
        [node("Identity", "c", "go"), node(kind, "v v", "w", **attributes)],
        "body",
        [
            helper.make_tensor_value_info("i", onnx.TensorProto.INT64, []),
            helper.make_tensor_value_info("c", onnx.TensorProto.BOOL, []),
            carried,
        ],
        [onnx.ValueInfoProto(name="go"), onnx.ValueInfoProto(name="w")],
    )
    loop = helper.make_node("Loop", [limit, "always", "x"], ["y"], body=body)
    constants = {"always": np.array(True), "limit": np.array(60)}
    model = model_of([loop], {"x": floats(8)}, constants=constants)
    with pytest.warns(UserWarning, match=f"the converted model was not verified: .*{message}"):
        TFLiteConverter.from_onnx_model(model).convert()


@pytest.mark.parametrize("axis", [1, 2])
@pytest.mark.parametrize("kind", ["Softmax", "LogSoftmax"])
def test_old_softmax_of_unknown_sizes(kind, axis, litert):
    """Of all axes from one on, against its definition: that of the matrix they make."""
    nodes, opsets = [node(kind, axis=axis)], {"": 8}
    content = converted(model_of(nodes, {"x": floats(2, 3, 4, 5)}, free=(2, 4, 5), opsets=opsets))
    runner = Interpreter(model_content=content).get_signature_runner()
    sets = [{"x": floats(2, 3, 4, 5)}, {"x": floats(1, 3, 7, 2)}]
    theirs = litert.run(content, sets, REFERENCE, "serving_default")
    for inputs, result in zip(sets, theirs, strict=True):
        shape = inputs["x"].shape
        rows = inputs["x"].reshape(np.prod(shape[:axis]), -1).astype(np.float64)
        logs = rows - np.log(np.exp(rows).sum(1, keepdims=True))
        expected = (logs if kind == "LogSoftmax" else np.exp(logs)).reshape(shape)
        for y in (runner(**inputs)["y"], result["y"]):
            np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-6)
