"""TF operations lowered one by one: graph/'s kernels, proven against TensorFlow, are the truth."""

import itertools

import numpy as np
import pytest
from drafting import Draft

from flatlite.converter.api.conversion import Conversion
from flatlite.converter.api.settings import Settings
from flatlite.converter.ir.builder import Builder
from flatlite.converter.ir.write import write
from flatlite.converter.lowering.unsupported import OTHERWISE_NAMED, builtin_of, refuse
from flatlite.converter.passes import optimize
from flatlite.converter.tf.lower import lower_graph
from flatlite.converter.tf.registry import LOWERINGS
from flatlite.converter.verify.verification import Function, verify
from flatlite.errors import ConverterError, UnsupportedOps
from flatlite.graph.core.registry import kernel_of
from flatlite.graph.core.signatures.signatures import signature_of
from flatlite.schema.model import save
from flatlite.schema.tables import BUILTIN_OPERATOR


def kinds_of(source) -> list[str]:
    """The operators a source becomes; the written file is verified against the source."""
    graph = lower_graph(source)
    optimize(graph)
    written = write([graph])
    content = save(written.model)
    assert verify(source.oracle(), Function(content, None, written.origins[0]), None)
    return [op.kind for op in graph.ops]


def f32(*shape):
    return np.random.default_rng(3).standard_normal(shape).astype(np.float32)


CONV = {"strides": [1, 2, 2, 1], "padding": b"SAME"}
ROLLED = ["SLICE", "SLICE", "CONCATENATION"]
WINDOW = {"strides": [1, 1, 2, 2], "data_format": b"NCHW"}
DEPTHWISE = "DepthwiseConv2dNative"


AXES = np.int32([1, 2, 3])


def huge(draft, x):
    """Infinite where x is positive, and 0 elsewhere."""
    return draft.op("Exp", draft.op("Mul", x, np.float32(1e6)))


def positive(draft, x):
    return draft.op("Greater", x, np.float32(0))


@pytest.mark.parametrize(
    ("build", "kinds"),
    [
        (lambda d, x: d.op("Softmax", x), ["SOFTMAX"]),
        (lambda d, x: d.op("Conv2D", x, f32(3, 3, 4, 5), **CONV), ["CONV_2D"]),
        (lambda d, x: d.op(DEPTHWISE, x, f32(3, 3, 4, 2), **CONV), ["DEPTHWISE_CONV_2D"]),
        (
            lambda d, x: d.op("BiasAdd", d.op("Conv2D", x, f32(1, 1, 4, 5), **CONV), f32(5)),
            ["CONV_2D"],
        ),
        (lambda d, x: d.op("LeakyRelu", x, alpha=0.3), ["LEAKY_RELU"]),
        (lambda d, x: d.op("Softsign", x), ["ABS", "ADD", "DIV"]),
        (lambda d, x: d.op("Acos", d.op("Sin", x)), ["SIN", "SUB", "ADD", "MUL", "SQRT", "ATAN2"]),
        (lambda d, x: d.op("Asin", d.op("Sin", x)), None),
        (lambda d, x: d.op("Atan", x), None),
        (lambda d, x: d.op("Bucketize", x, boundaries=[-1.0, 0.0, 0.5]), ["BUCKETIZE"]),
        (lambda d, x: d.op("Softplus", x), ["EXP", "ADD", "LOG"]),
        (lambda d, x: d.op("DivNoNan", x, np.float32([0, 1, 2, 0])), None),
        (lambda d, x: d.op("Erf", x), None),
        (lambda d, x: d.op("Erfc", x), None),
        (lambda d, x: d.op("Selu", x), None),
        (lambda d, x: d.op("Mean", x, np.int32([1, 2]), keep_dims=False), ["MEAN"]),
        (lambda d, x: d.op("Exp", d.op("Print", x, np.float32(1))), ["EXP"]),
        (lambda d, x: d.op("IsNan", d.op("Log", x)), ["LOG", "NOT_EQUAL"]),
        (lambda d, x: d.op("IsInf", huge(d, x)), None),
        (lambda d, x: d.op("IsFinite", huge(d, x)), ["MUL", "EXP", "SUB", "EQUAL"]),
        (lambda d, x: d.op("MulNoNan", huge(d, x), np.float32([0, 1, 2, 0])), None),
        (lambda d, x: d.op("MatrixBandPart", x, np.int32(1), np.int32(-1)), ["SELECT_V2"]),
        (
            lambda d, x: d.op("Select", d.op("Any", positive(d, x), AXES), x, d.op("Neg", x)),
            ["GREATER", "REDUCE_ANY", "NEG", "SELECT"],
        ),
        (
            lambda d, x: d.op("LogicalOr", d.op("LogicalAnd", positive(d, x), True), False),
            ["GREATER"],
        ),
        (lambda d, x: d.op("Roll", x, np.int32([1, 2]), np.int32([1, 1])), ROLLED),
        (lambda d, x: d.op("Pad", x, np.int32([[0, 0], [1, 2], [0, 3], [0, 0]])), ["PAD"]),
        (lambda d, x: d.op("TopKV2", x, np.int32(2)), ["TOPK_V2"]),
        (lambda d, x: d.op("L2Loss", x), None),
        (lambda d, x: d.op("Einsum", x, f32(4, 6), equation=b"bhwc,cd->bhwd"), ["FULLY_CONNECTED"]),
        (lambda d, x: d.op("Einsum", x, f32(8, 4, 6), equation=b"bhwc,hcd->bwd"), None),
        (lambda d, x: d.op("Einsum", x, x, equation=b"b...c,b...c->b..."), None),
        (lambda d, x: d.op("Einsum", x, equation=b"bhwc->cb"), None),
        (lambda d, x: d.op("Einsum", x, equation=b"biic->bic"), ["RESHAPE", "GATHER"]),
        (lambda d, x: d.op("Einsum", x, x, equation=b"biic,bijc->jb"), None),
    ],
)
def test_lowered(build, kinds):
    draft = Draft()
    y = build(draft, draft.input("x", (None, 8, 8, 4)))
    operators = kinds_of(draft.source(y))
    assert kinds is None or operators == kinds


@pytest.mark.parametrize(
    ("equation", "shape"),
    [
        (b"btd,dhk->bthk", (8, 2, 3)),
        (b"btd,dhk->bhtk", (8, 2, 3)),
        (b"btd,d->bt", (8,)),
        (b"btd,bsd->bts", None),
        (b"btd,bsd->btsd", None),
        (b"btd,b...->btd...", (1, 5)),
    ],
)
def test_einsum_with_unknown_sizes(equation, shape):
    draft = Draft()
    x = draft.input("x", (None, None, 8))
    y = x if shape is None else f32(*shape)
    kinds_of(draft.source(draft.op("Einsum", x, y, equation=equation)))


@pytest.mark.parametrize(("lower", "upper"), [(-1, 0), (0, -1), (1, 2), (-1, -1)])
def test_a_band_of_a_matrix_of_unknown_size(lower, upper):
    draft = Draft()
    x = draft.input("x", (2, None, None))
    band = draft.op("MatrixBandPart", x, np.int32(lower), np.int32(upper))
    kinds_of(draft.source(draft.op("Neg", band)))


@pytest.mark.parametrize("shift", [1, -2, 30])
@pytest.mark.parametrize("dtype", ["float32", "int8", "uint8", "uint32", "int64", "bool"])
def test_roll_of_unknown_sizes(shift, dtype):
    draft = Draft()
    x = draft.input("x", (None, None, 2), dtype)
    rolled = draft.op("Roll", x, np.int32([shift, 1, 1, 2]), np.int32([1, 2, 1, 0]))
    kinds_of(draft.source(rolled))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32"])
@pytest.mark.parametrize("mask", [None, 7, 6, "max", "min"])
def test_bits(dtype, mask, litert):
    """Of all kinds of integers, at both ends of their range, with another input or a constant."""
    limits = np.iinfo(dtype)
    x = np.array([limits.min, limits.min + 1, 0, 1, 6, limits.max - 1, limits.max], dtype)
    draft = Draft()
    left = draft.input("x", (7,), dtype)
    if mask is None:
        y, right, feeds = x[::-1].copy(), draft.input("y", (7,), dtype), [x, x[::-1].copy()]
    else:
        number = getattr(limits, mask) if isinstance(mask, str) else mask
        y, feeds = np.array(number, dtype), [x]
        right = y
    results = [draft.op(kind, left, right) for kind in ("BitwiseAnd", "BitwiseOr")]
    content = Conversion(Settings(), [draft.source(*results)], 2).run()
    both, either = litert.run(content, [feeds])[0]
    np.testing.assert_array_equal(both, x & y)
    np.testing.assert_array_equal(either, x | y)


def test_the_lowest_bits_are_a_remainder():
    draft = Draft()
    low = draft.op("BitwiseAnd", draft.input("x", (4,), np.int64), np.int64(255))
    assert kinds_of(draft.source(low)) == ["FLOOR_MOD"]


def test_what_a_reshape_demands_holds_after_it_is_gone(litert):
    """The source takes two or more, as one is no pair; what is left of the reshapes takes one."""
    draft = Draft()
    ends = (np.int32([n]) for n in (0, 2, 1))
    first = draft.op("StridedSlice", draft.input("x", (None,)), *ends)
    flat = draft.op("Reshape", draft.op("Reshape", first, np.int32([-1, 2])), np.int32([-1]))
    content = Conversion(Settings(), [draft.source(draft.op("Tile", flat, np.int32([3])))], 2).run()
    x = f32(5)
    ((by_litert,),) = litert.run(content, [[x]])
    np.testing.assert_array_equal(by_litert, np.tile(x[:2], 3))


def test_bitcast_of_an_unknown_last_size(litert):
    draft = Draft()
    x = draft.input("x", (None, None))
    cast = draft.op("Bitcast", x, T=np.dtype(np.float32), type=np.dtype(np.int64))
    content = Conversion(Settings(), [draft.source(cast)], 2).run()
    pairs = f32(3, 2)
    ((by_litert,),) = litert.run(content, [[pairs]])
    np.testing.assert_array_equal(by_litert, pairs.view(np.int64)[:, 0])


@pytest.mark.parametrize(
    ("kind", "attrs"),
    [
        ("Conv2D", {"strides": [1, 1, 2, 2], "padding": b"SAME", "data_format": b"NCHW"}),
        (
            "Conv2D",
            {
                "strides": [1, 1, 1, 1],
                "padding": b"EXPLICIT",
                "explicit_paddings": [0, 0, 0, 0, 1, 2, 3, 0],
                "data_format": b"NCHW",
            },
        ),
        ("MaxPool", {"ksize": [1, 1, 2, 3], "padding": b"VALID", **WINDOW}),
        ("AvgPool", {"ksize": [1, 1, 3, 2], "padding": b"SAME", **WINDOW}),
    ],
)
def test_channels_first(kind, attrs):
    draft = Draft()
    x = draft.input("x", (None, 4, 8, 9))
    y = draft.op(kind, *([x, f32(3, 3, 4, 5)] if kind == "Conv2D" else [x]), **attrs)
    kinds = kinds_of(draft.source(y))
    assert kinds[0] == kinds[-1] == "TRANSPOSE"


def test_two_channels_first_layers_share_their_transposes():
    draft = Draft()
    nchw = {"strides": [1, 1, 1, 1], "padding": b"SAME", "data_format": b"NCHW"}
    y = draft.input("x", (None, 4, 8, 9))
    for _ in range(2):
        y = draft.op("Relu", draft.op("Conv2D", y, f32(3, 3, 4, 4), **nchw))
    assert kinds_of(draft.source(y)) == ["TRANSPOSE", "CONV_2D", "CONV_2D", "TRANSPOSE"]


MASKS = [
    {"begin_mask": 5, "end_mask": 3},
    {"begin_mask": 3, "shrink_axis_mask": 2},
    {"ellipsis_mask": 2},
    {"new_axis_mask": 2},
    {"new_axis_mask": 1, "shrink_axis_mask": 4},
    {"ellipsis_mask": 1, "new_axis_mask": 2},
    {"ellipsis_mask": 2, "new_axis_mask": 6, "shrink_axis_mask": 1},
    {"ellipsis_mask": 4, "shrink_axis_mask": 3},
]


@pytest.mark.parametrize(("masks", "sign"), list(itertools.product(MASKS, (1, -1))))
def test_strided_slice(masks, sign):
    draft = Draft()
    x = draft.input("x", (5, 6, 7, 4))
    corners = (
        ([1, 0, 2], [4, 5, 6], [1, 2, 1]) if sign > 0 else ([4, 5, 5], [1, 0, 2], [-1, -2, -1])
    )
    for i in range(3):
        if masks.get("shrink_axis_mask", 0) >> i & 1:  # TensorFlow wants a stride above 0 there
            corners[2][i] = abs(corners[2][i])
    y = draft.op("StridedSlice", x, *(np.int32(c) for c in corners), **masks)
    kinds_of(draft.source(y))


def gelu(draft, x, half=0.5, slope=0.5**0.5, form="erf"):
    """The exact GELU as Keras 2 (erf) or Keras 3 (erfc) writes it."""
    if form == "erf":
        inner = draft.op("Mul", x, np.float32(slope))
        gate = draft.op("AddV2", draft.op("Erf", inner), np.float32(1))
        return draft.op("Mul", draft.op("Mul", np.float32(half), x), gate)
    inner = draft.op("Mul", draft.op("Neg", x), np.float32(slope))
    return draft.op("Mul", draft.op("Mul", x, np.float32(half)), draft.op("Erfc", inner))


@pytest.mark.parametrize("form", ["erf", "erfc"])
def test_gelu_is_one_operator(form):
    draft = Draft()
    assert kinds_of(draft.source(gelu(draft, draft.input("x", (None, 9)), form=form))) == ["GELU"]


@pytest.mark.parametrize("change", [{"half": 0.25}, {"slope": 0.8}])
def test_what_only_looks_like_gelu_is_not(change):
    draft = Draft()
    y = gelu(draft, draft.input("x", (None, 9)), **change)
    assert "GELU" not in kinds_of(draft.source(y))


def test_all_unsupported_operations_are_listed_at_once():
    draft = Draft()
    x = draft.input("x", (3, 3))
    y = draft.op("MatrixSquareRoot", x)
    z = draft.graph.add("MyOwnOp", "deep/inside", [y], {}, n_outputs=1).outputs[0]
    with pytest.raises(UnsupportedOps) as caught:
        lower_graph(draft.source(z))
    message = str(caught.value)
    assert "MatrixSquareRoot x 1, first at node 'MatrixSquareRoot'" in message
    assert "MyOwnOp x 1, first at node 'deep/inside'" in message
    assert len(message.splitlines()) <= 15


def test_many_unsupported_operations_stay_within_15_lines():
    draft = Draft()
    y = draft.input("x", (3,))
    for i in range(30):
        y = draft.graph.add(f"Unheard{i:02}", None, [y], {}, n_outputs=1).outputs[0]
    with pytest.raises(UnsupportedOps) as caught:
        lower_graph(draft.source(y))
    message = str(caught.value)
    assert len(message.splitlines()) <= 15
    assert all(f"Unheard{i:02}" in message for i in range(30))


def test_an_operation_nobody_needs_is_not_refused():
    draft = Draft()
    x = draft.input("x", (3, 3))
    draft.op("MatrixSquareRoot", x)
    assert kinds_of(draft.source(draft.op("Exp", x))) == ["EXP"]


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (
            lambda d, x: d.op("ConcatV2", x, x, d.input("axis", (), np.int32)),
            r"ConcatV2 'ConcatV2': input 2 \('axis:0'\) must be constant",
        ),
        (
            lambda d, x: d.op("SpaceToDepth", x, block_size=2, data_format=b"NCHW"),
            "SpaceToDepth 'SpaceToDepth': data_format must be NHWC, got NCHW",
        ),
        (
            lambda d, x: d.op("Einsum", x, x, equation=b"bhwc,bhwc->bb"),
            "a letter may not stand twice in the result",
        ),
    ],
)
def test_refused_with_the_reason(build, words):
    draft = Draft()
    y = build(draft, draft.input("x", (2, 8, 8, 4)))
    with pytest.raises(ConverterError, match=words):
        lower_graph(draft.source(y))


def test_a_squeeze_of_unknown_sizes_leaves_out_what_is_1_when_the_model_runs():
    draft = Draft()
    source = draft.source(draft.op("Squeeze", draft.input("x", (None, 1))))
    assert kinds_of(source) == ["SQUEEZE"]
    file = write(lower_graph(source))
    samples = [[np.ones((n, 1), np.float32)] for n in (1, 4)]
    assert len(verify(source.oracle(), Function(save(file.model), None, {}), samples).ran) == 2


AT_EVERY_RANK = {
    "CONCATENATION": lambda draft, x: draft.op("ConcatV2", x, x, np.int32(-1)),
    "FULLY_CONNECTED": lambda draft, x: draft.op("BatchMatMulV2", x, f32(5, 2)),
    "GATHER": lambda draft, x: draft.op("GatherV2", x, np.int32([0]), np.int32(-1)),
    "PACK": lambda draft, x: draft.op("Pack", x, x, axis=-1),
    "SOFTMAX": lambda draft, x: draft.op("Softmax", x),
    "SQUEEZE": lambda draft, x: draft.op("Squeeze", x),
}


@pytest.mark.parametrize("kind", AT_EVERY_RANK)
def test_an_input_of_unknown_rank_needs_no_rank(kind):
    draft = Draft()
    source = draft.source(AT_EVERY_RANK[kind](draft, draft.input("x", None)))
    assert kinds_of(source) == [kind]


def test_an_input_of_unknown_rank_asks_for_a_shape():
    draft = Draft()
    y = draft.op("Roll", draft.input("x", None), np.int32(1), np.int32(0))
    words = r"'Roll': the rank of input 0 .* must be known; give the model's inputs"
    with pytest.raises(ConverterError, match=words):
        lower_graph(draft.source(y))


def test_a_reverse_along_no_axis_is_none():
    draft = Draft()
    x = draft.input("x", (2, 3))
    y = draft.op("Exp", draft.op("ReverseV2", x, np.zeros(0, np.int32)))
    assert kinds_of(draft.source(y)) == ["EXP"]


def test_every_lowering_is_of_an_operation_with_a_signature_and_an_oracle():
    known = {"ClipByValue", "Inv", "Snapshot", "Div"}
    names = LOWERINGS.names()
    assert not [t for t in names if signature_of(t) is None and t not in known]
    random = {t for t in names if t in ("Multinomial", "TruncatedNormal") or "Random" in t}
    assert not [t for t in names if kernel_of(t) is None and t not in known | random]


def test_builder_refuses_what_is_no_operator():
    with pytest.raises(AttributeError, match="TFLite has no operator 'CONV2D'"):
        _ = Builder(draft_graph()).CONV2D


def draft_graph():
    return lower_graph(Draft().source())


@pytest.mark.parametrize("type_", ["Merge", "RefSwitch"])
def test_control_flow_without_a_form_has_the_words_of_tensorflow(type_):
    theirs = (
        "Failed to functionalize Control Flow V1 ops. Consider using Control Flow V2 ops instead. "
        "See https://www.tensorflow.org/api_docs/python/tf/compat/v1/enable_control_flow_v2."
    )
    with pytest.raises(UnsupportedOps) as raised:
        refuse({type_: ["node"], "Cholesky": ["other"]}, "Replace these layers.")
    assert str(raised.value).splitlines()[:3] == [
        theirs,
        f"  {type_} x 1, first at node 'node'",
        "Some ops are not supported by the native TFLite runtime:",
    ]


def test_other_names_are_those_of_builtins():
    assert set(OTHERWISE_NAMED.values()) <= set(BUILTIN_OPERATOR)


@pytest.mark.parametrize(
    ("type_", "builtin"),
    [
        ("HashTableV2", "HASHTABLE"),
        ("LookupTableFindV2", "HASHTABLE_FIND"),
        ("NonMaxSuppressionV3", "NON_MAX_SUPPRESSION_V5"),
        ("FakeQuantWithMinMaxArgs", "FAKE_QUANT"),
        ("ConvTranspose", "TRANSPOSE_CONV"),
        ("Resize", "RESIZE_BILINEAR"),
        ("LRN", "LOCAL_RESPONSE_NORMALIZATION"),
        ("QuantizeLinear", "QUANTIZE"),
        ("QLinearConv", "CONV_2D"),
        ("RandomNormalLike", "RANDOM_STANDARD_NORMAL"),
        ("Conv3DBackpropInputV2", "CONV_3D_TRANSPOSE"),
        ("MaxPoolV2", "MAX_POOL_2D"),
        ("SpaceToBatch", "SPACE_TO_BATCH_ND"),
        ("Cholesky", None),
        ("GRU", None),
    ],
)
def test_the_runtime_is_not_said_to_lack_what_it_has(type_, builtin):
    assert builtin_of(type_) == builtin
    with pytest.raises(UnsupportedOps) as raised:
        refuse({type_: ["node"]}, "Replace these layers.")
    text = str(raised.value)
    head = "not supported by the native TFLite runtime" if builtin is None else "not supported yet"
    assert head in text.splitlines()[0]
    assert f"  {type_} x 1, first at node 'node'" in text
