"""Forms and scales that integer kernels want: LiteRT runs the files, and they lose little."""

import warnings

import building
import numpy as np
import pytest
from cases import all_cases
from cases import content as case_content
from running import answers, kinds

import flatlite.compat.v1 as tf
from flatlite.lite import Interpreter, Optimize, TFLiteConverter

GENERATOR = np.random.default_rng(11)
OTHER_GENERATOR = np.random.default_rng(12)


def model(add, shape=(4, 16)):
    """A float file of one input, of what `add` appends to it."""
    b = building.Builder()
    return building.save(b.outputs(add(b, b.input("x", shape))))


def softplus(b, x):
    shape = b.subgraph.tensors[x].shape
    exp, total, y = (b.tensor(name, shape) for name in ("exp", "total", "y"))
    b.op("EXP", [x], [exp])
    b.op("ADD", [exp, b.constant("one", np.float32(1))], [total])
    return b.op("LOG", [total], [y])


def quantized(content, scheme, feeds, **recipe):
    converter = TFLiteConverter.from_tflite_model(content)
    converter.representative_dataset = lambda: ([x] for x in feeds)
    converter.quantization_recipe = {"scheme": scheme, **recipe}
    return converter.convert()


@pytest.mark.parametrize(("scheme", "limit"), [("int8", 0.02), ("int16x8", 1e-3)])
def test_softplus_does_not_lose_what_exp_would(scheme, limit, litert):
    feeds = [GENERATOR.uniform(-6, 6, (4, 16)).astype(np.float32) for _ in range(4)]
    content = quantized(model(softplus), scheme, feeds)
    assert "EXP" not in kinds(content)
    (ours,) = answers(Interpreter(model_content=content), feeds[0])
    error = np.sqrt(np.mean(np.square(ours - np.logaddexp(feeds[0].astype(np.float64), 0))))
    assert error < limit
    np.testing.assert_array_equal(ours, litert.run(content, [feeds[:1]])[0][0])


def test_softplus_whose_parts_are_read_stays():
    def add(b, x):
        y = softplus(b, x)
        z = b.tensor("z", b.subgraph.tensors[x].shape)
        return b.op("MUL", [y, 1], [z], fused_activation_function=0)

    feeds = [GENERATOR.uniform(-2, 2, (4, 16)).astype(np.float32) for _ in range(4)]
    assert kinds(quantized(model(add), "int8", feeds)).count("EXP") == 1


@pytest.mark.parametrize("scheme", ["int8", "uint8"])
def test_the_scale_of_hard_swish_is_one_its_kernel_takes(scheme, litert):
    """All results were 0 in calibration."""

    def add(b, x):
        return b.op("HARD_SWISH", [x], [b.tensor("y", b.subgraph.tensors[x].shape)])

    feeds = [np.full((4, 16), -4, np.float32)]
    content = quantized(model(add), scheme, feeds)
    (ours,) = answers(Interpreter(model_content=content), feeds[0])
    np.testing.assert_array_equal(ours, litert.run(content, [feeds])[0][0])
    assert np.abs(ours).max() < 0.01


def alone(kind, *constants, **options):
    """An operator on the input, and on constants."""

    def add(b, x):
        operands = [b.constant(f"c{i}", np.asarray(c, "f4")) for i, c in enumerate(constants)]
        y = b.tensor("y", b.subgraph.tensors[x].shape)
        return b.op(kind, [x, *operands], [y], **options)

    return add


LRN = {"radius": 2, "bias": 1.0, "alpha": 0.5, "beta": 0.75}
SLOPES = np.linspace(0, 1, 16)
FORMULAS = {
    "LRN": (alone("LOCAL_RESPONSE_NORMALIZATION", **LRN), {"int8": 0.025, "int16x8": 5e-4}),
    "ELU": (alone("ELU"), {"int16x8": 5e-4}),
    "HARD_SWISH": (alone("HARD_SWISH"), {"int16x8": 5e-4}),
    "PRELU": (alone("PRELU", SLOPES), {"int16x8": 5e-4}),
    "SQUARED_DIFFERENCE": (alone("SQUARED_DIFFERENCE", SLOPES), {"int16x8": 5e-4}),
    "powers of what may be 0": (alone("POW", 1 / 2.2), {"int8": 0.02, "int16x8": 1e-2}),
    "third powers": (alone("POW", 3), {"int8": 0.03, "int16x8": 5e-4}),
    "L2_NORMALIZATION": (alone("L2_NORMALIZATION"), {"int16x8": 1e-3}),
    "LOG_SOFTMAX": (alone("LOG_SOFTMAX"), {"int16x8": 1e-3}),
    "RELU_0_TO_1": (alone("RELU_0_TO_1"), {"int8": 0.02, "int16x8": 5e-4}),
    "RELU_N1_TO_1": (alone("RELU_N1_TO_1"), {"int8": 0.02, "int16x8": 5e-4}),
    "DEPTH_TO_SPACE": (alone("DEPTH_TO_SPACE", block_size=2), {"int16x8": 1e-4}),
    "SPACE_TO_DEPTH": (alone("SPACE_TO_DEPTH", block_size=2), {"int16x8": 1e-4}),
}
"""Operators without an integer kernel, and the error of their formula by scheme."""


@pytest.mark.parametrize(
    ("name", "scheme"), [(name, scheme) for name, row in FORMULAS.items() for scheme in row[1]]
)
def test_integer_formulas(name, scheme, litert):
    (add, limits), is_root = FORMULAS[name], "may be 0" in name
    generator = np.random.default_rng([*name.encode()])
    feeds = [generator.normal(0, 2, (1, 4, 4, 16)).astype(np.float32) for _ in range(4)]
    if is_root:
        feeds = [np.maximum(x, 0) for x in feeds]
    plain = model(add, (1, 4, 4, 16))
    content = quantized(plain, scheme, feeds, strict=True)
    ((result,), (expected,)) = (
        answers(Interpreter(model_content=x), feeds[0]) for x in (content, plain)
    )
    np.testing.assert_array_equal(result, litert.run(content, [feeds[:1]], "BUILTIN_REF")[0][0])
    error = np.sqrt(np.mean((result - expected) ** 2) / np.mean(expected**2))
    assert error < limits[scheme]


KEPT_IN_INTEGERS = {
    "embedding_lookup/float32": ("int8", "int16x8"),
    "greater/float32_last": ("int8", "int16x8"),
    "less_equal/float32_same": ("int8", "int16x8"),
    "matrix_diag/vector": ("int16x8",),
    "matrix_set_diag/square": ("int8", "int16x8"),
    "one_hot/last": ("int8",),
    "reverse_sequence/batch_first": ("int16x8",),
    "sparse_to_dense/vector": ("int8",),
}
"""Cases of operators that move or compare, and the schemes whose kernels give the right numbers.

Of the others TensorFlow 2.21 makes integers, too: LiteRT refuses REVERSE_SEQUENCE in int8 and
ONE_HOT and SPARSE_TO_DENSE in int16; MATRIX_DIAG writes zeros that int8 has a zero point for.
"""


@pytest.mark.parametrize("scheme", ["int8", "int16x8"])
@pytest.mark.parametrize("name", KEPT_IN_INTEGERS)
def test_operators_that_move_or_compare(name, scheme, litert):
    case = next(case for case in all_cases() if case.name == name)
    plain = case_content(case)
    converter = TFLiteConverter.from_tflite_model(plain)
    converter.representative_dataset = lambda: [case.feeds, case.feeds]
    converter.quantization_recipe = {"scheme": scheme}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "representative_dataset: input|the model stays float")
        content = converter.convert()
    (result,), (expected,) = (
        answers(Interpreter(model_content=x), *case.feeds) for x in (content, plain)
    )
    np.testing.assert_array_equal(
        result, litert.run(content, [case.feeds], "BUILTIN_REF")[0][0].reshape(result.shape)
    )
    largest = max(np.abs(x).max() for x in (*case.inputs, expected) if x.dtype == np.float32)
    np.testing.assert_allclose(result, expected, atol=largest / (100 if scheme == "int8" else 3e4))
    assert (converter.float_operators == {}) == (scheme in KEPT_IN_INTEGERS[name])


def test_a_mixture_of_two_values_keeps_its_products(litert):
    """A share of their difference, as float files have it, loses half as much again in GRUs."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [4, 32], name="x")
        share, first, second = tf.sigmoid(x), tf.abs(x), tf.minimum(x, 0.0)
        y = share * first + (1.0 - share) * second
        converter = TFLiteConverter.from_session(session, [x], [y])
        assert kinds(converter.convert()).count("MUL") == 1
    feeds = [OTHER_GENERATOR.normal(0, 2, (4, 32)).astype(np.float32) for _ in range(4)]
    converter.representative_dataset = lambda: ([x] for x in feeds)
    converter.quantization_recipe = {"scheme": "int8"}
    content = converter.convert()
    assert kinds(content).count("MUL") == 2
    (result,) = answers(Interpreter(model_content=content), feeds[0])
    np.testing.assert_array_equal(result, litert.run(content, [feeds[:1]], "BUILTIN_REF")[0][0])
    share = 1 / (1 + np.exp(-feeds[0].astype(np.float64)))
    expected = share * np.abs(feeds[0]) + (1 - share) * np.minimum(feeds[0], 0)
    assert np.sqrt(np.mean((result - expected) ** 2)) < 0.03


def test_a_root_at_the_end_stays_float():
    """As in TensorFlow's file; between two operators it is one of integers."""

    def add(*ends):
        def chain(b, x):
            for kind in ("ABS", "SQRT", *ends):
                x = b.op(kind, [x], [b.tensor(kind, (4, 16))])
            return x

        return model(chain)

    feeds = [OTHER_GENERATOR.normal(0, 2, (4, 16)).astype(np.float32) for _ in range(4)]
    converters = [TFLiteConverter.from_tflite_model(add(*ends)) for ends in ((), ("TANH",))]
    for converter in converters:
        converter.optimizations = [Optimize.DEFAULT]
        converter.representative_dataset = lambda: ([x] for x in feeds)
    at_end, within = (kinds(converter.convert()) for converter in converters)
    assert at_end == ["QUANTIZE", "ABS", "DEQUANTIZE", "SQRT"]
    assert within == ["QUANTIZE", "ABS", "SQRT", "TANH", "DEQUANTIZE"]


TABLES = {"dynamic": (0.02, 0.45), "dynamic_int4": (0.3, 0.35), "int8": (0.02, 0.4)}
"""Schemes, the error of the rows that are looked up, and the file's share of the float one."""


@pytest.mark.parametrize("scheme", TABLES)
def test_tables_of_embeddings(scheme, litert):
    """LiteRT makes the rows float32, or gives integers, where TensorFlow's table is int8, too."""
    limit, share = TABLES[scheme]
    table = OTHER_GENERATOR.uniform(-2, 2, (50, 32)).astype(np.float32)
    b = building.Builder()
    operands = [b.input("ids", (4,), "INT32"), b.constant("table", table)]
    plain = building.save(b.outputs(b.op("EMBEDDING_LOOKUP", operands, [b.tensor("y", (4, 32))])))
    ids = np.int32([3, 7, 49, 0])
    content = quantized(plain, scheme, [ids, ids[::-1].copy()])
    assert kinds(content)[0] == "EMBEDDING_LOOKUP"
    assert len(content) < share * len(plain)
    (result,) = answers(Interpreter(model_content=content), ids)
    np.testing.assert_array_equal(result, litert.run(content, [[ids]], "BUILTIN_REF")[0][0])
    np.testing.assert_allclose(result, table[ids], atol=limit)


def test_what_a_formula_does_not_hold_for_stays(recwarn):
    """The logarithm of numbers below 0, and of a sum that may be 0."""
    feeds = [GENERATOR.normal(0, 2, (1, 4, 4, 16)).astype(np.float32) for _ in range(4)]
    for add in (alone("POW", 4), alone("LOCAL_RESPONSE_NORMALIZATION", **{**LRN, "bias": 0.0})):
        content = quantized(model(add, (1, 4, 4, 16)), "int8", feeds)
        assert len(kinds(content)) == 1


@pytest.mark.parametrize(("scheme", "limit"), [("int8", 0.02), ("int16x8", 2e-4)])
def test_sums_have_a_range_of_their_own(scheme, limit, litert):
    """TensorFlow's int16 SUM has the scale of what it sums, and overflows.

    LiteRT's reference kernel adds what it has not written.
    """

    def add(b, x):
        axes = b.constant("axes", np.int32([1, 2]))
        return b.op("SUM", [x, axes], [b.tensor("y", (1, 16))])

    feeds = [GENERATOR.uniform(0.5, 1, (1, 8, 8, 16)).astype(np.float32) for _ in range(4)]
    content = quantized(model(add, (1, 8, 8, 16)), scheme, feeds)
    assert kinds(content) == ["QUANTIZE", "SUM", "DEQUANTIZE"]
    (result,) = answers(Interpreter(model_content=content), feeds[0])
    by_litert = litert.run(content, [feeds[:1]], "BUILTIN_WITHOUT_DEFAULT_DELEGATES")
    np.testing.assert_allclose(result, by_litert[0][0], rtol=2e-7)
    np.testing.assert_allclose(result, feeds[0].sum((1, 2)), rtol=limit)


def deviation(b, x):
    """softplus(elu(x) + (x - 1) ** 2)"""
    shape = b.subgraph.tensors[x].shape
    square, elu, total = (b.tensor(name, shape) for name in ("square", "elu", "sum"))
    b.op("SQUARED_DIFFERENCE", [x, b.constant("one", np.float32(1))], [square])
    b.op("ADD", [b.op("ELU", [x], [elu]), square], [total])
    return softplus(b, total)


@pytest.mark.parametrize("scheme", ["int16x8", "int8"])
def test_a_calibration_of_one_form_tells_the_ranges_of_others(scheme, tmp_path):
    """In int16, ELU and squared differences are formulas of others."""
    feeds = [GENERATOR.uniform(-3, 3, (4, 16)).astype(np.float32) for _ in range(4)]
    content, path = model(deviation), tmp_path / "ranges.json"
    converter = TFLiteConverter.from_tflite_model(content)
    converter.representative_dataset = lambda: ([x] for x in feeds)
    converter.quantization_recipe = {"scheme": "int8"}
    converter.convert()
    converter.save_calibration(path)
    measured = quantized(content, scheme, feeds)
    loaded = quantized(content, scheme, feeds, ranges=path)
    assert kinds(loaded) == kinds(measured)
    (expected,), (actual,) = (
        answers(Interpreter(model_content=file), feeds[0]) for file in (measured, loaded)
    )
    np.testing.assert_allclose(actual, expected, atol=2e-3 if scheme == "int16x8" else 0)


@pytest.mark.parametrize("scheme", ["int8", "int16x8", "uint8"])
def test_the_largest_values_keep_their_scale(scheme, litert):
    """In int8 TensorFlow's file has the same three operators."""

    def add(b, x):
        outputs = [b.tensor("values", (4, 3)), b.tensor("indices", (4, 3), "INT32")]
        b.op("TOPK_V2", [x, b.constant("k", np.int32(3))], outputs)
        return outputs

    b = building.Builder()
    content = building.save(b.outputs(*add(b, b.input("x", (4, 16)))))
    feeds = [GENERATOR.normal(size=(4, 16)).astype(np.float32) for _ in range(4)]
    file = quantized(content, scheme, feeds)
    assert kinds(file) == ["QUANTIZE", "TOPK_V2", "DEQUANTIZE"]
    results = answers(Interpreter(model_content=file), feeds[0])
    for mine, theirs in zip(results, litert.run(file, [feeds[:1]])[0], strict=True):
        np.testing.assert_array_equal(mine, theirs)
    steps = {"int16x8": 2**16}.get(scheme, 2**8)
    largest = -np.sort(-feeds[0], axis=1)[:, :3]
    np.testing.assert_allclose(results[0], largest, atol=2 * np.abs(feeds).max() / steps)


def test_softplus_is_float_where_a_part_has_no_kernel(litert):
    """In uint8 the sum alone would be integers, of a range that grows with exp(x)."""
    feeds = [GENERATOR.uniform(-6, 6, (4, 16)).astype(np.float32) for _ in range(4)]

    def add(b, x):
        y = softplus(b, x)
        return b.op("TANH", [y], [b.tensor("z", (4, 16))])

    with pytest.warns(UserWarning, match="ADD x 1, first for 'total'"):
        content = quantized(model(add), "uint8", feeds)
    assert "".join(kinds(content)).count("EXPADDLOG") == 1
    (ours,) = answers(Interpreter(model_content=content), feeds[0])
    expected = np.tanh(np.logaddexp(feeds[0].astype(np.float64), 0))
    assert np.abs(ours - expected).max() < 0.02
    np.testing.assert_array_equal(ours, litert.run(content, [feeds[:1]])[0][0])


@pytest.mark.parametrize(
    ("chain", "expected"),
    [
        ("ELU LOGISTIC", "ELU QUANTIZE LOGISTIC DEQUANTIZE"),
        ("LOGISTIC ELU", "QUANTIZE LOGISTIC DEQUANTIZE ELU"),
        ("LOGISTIC ELU LOGISTIC", "QUANTIZE LOGISTIC ELU LOGISTIC DEQUANTIZE"),
    ],
)
def test_elu_at_a_float_end_stays_float(chain, expected):
    """As in TensorFlow's file; where integers are asked for, ELU is int8 there, too."""

    def add(b, x):
        for i, kind in enumerate(chain.split()):
            x = b.op(kind, [x], [b.tensor(f"t{i}", (4, 16))])
        return x

    feeds = [GENERATOR.uniform(-2, 2, (4, 16)).astype(np.float32) for _ in range(4)]
    converter = TFLiteConverter.from_tflite_model(model(add))
    converter.optimizations = [Optimize.DEFAULT]
    converter.representative_dataset = lambda: ([x] for x in feeds)
    assert kinds(converter.convert()) == expected.split()
    whole = kinds(quantized(model(add), "int8", feeds))
    assert whole == ["QUANTIZE", *chain.split(), "DEQUANTIZE"]
