"""to_graph: every operator as TensorFlow's operations gives what TFLite's gives, and has gradients;
weights become variables, and the way back gives no more operators.
"""

from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
import recurrent_models
from cases import Case, all_cases, content
from recorded import agree, folder, has_runs, rows, runs_of
from running import kinds

import flatlite.compat.v1 as tf
from flatlite.converter.raising.registry import RAISES
from flatlite.errors import ConverterError, UnsupportedOps
from flatlite.lite import Interpreter, to_graph
from flatlite.schema import operators as operator_rows

OVERFLOW = "TFLite gives the largest number, or saturates, where TensorFlow overflows"
INTEGERS = "TFLite rounds, compares or looks up integers where the graph has real numbers"
NOTHING = "TFLite gives a number where TensorFlow has none"
REFUSED = "TensorFlow's operation refuses what TFLite's takes"
DIFFERENT = {
    "add_n/overflow": OVERFLOW,
    "add_n/overflow_and_back": OVERFLOW,
    "pool/average_of_nan_and_infinity": OVERFLOW,
    "pool/maximum_passes_over_nan": OVERFLOW,
    "conv/infinite": OVERFLOW,
    "cast/float": OVERFLOW,
    "cast/half": OVERFLOW,
    "div/lowest": OVERFLOW,
    "floor_div/lowest": OVERFLOW,
    "mul/stored_int16": OVERFLOW,
    "pow/overflow": OVERFLOW,
    "reduce/reduce_max_empty": OVERFLOW,
    "reduce/mean_does_not_wrap": "TensorFlow's sum of integers wraps, TFLite's mean does not",
    "floor_div/just_below": "TFLite's quotient is exact, TensorFlow's rounded before its floor",
    "reduce_prod/stored": OVERFLOW,
    "equal/stored": INTEGERS,
    "not_equal/stored": INTEGERS,
    "greater/stored": INTEGERS,
    "greater_equal/stored": INTEGERS,
    "less/stored": INTEGERS,
    "less_equal/stored": INTEGERS,
    "exp/stored_int16": INTEGERS,
    "gelu/stored_int16": INTEGERS,
    "rsqrt/st": INTEGERS,
    "tanh/stored_int16": INTEGERS,
    "softmax/stored_int16": INTEGERS,
    "log/stored": NOTHING,
    "mean/nothing": NOTHING,
    "topk_v2/nan": NOTHING,
    "unary/gelu_special": NOTHING,
    "log_softmax/scalar": REFUSED,
    "non_max_suppression/soft": REFUSED,
    "non_max_suppression/hard": REFUSED,
    "strided_slice/surplus": REFUSED,
}
"""What the names of cases start with -> why the graph does not give what TFLite gives."""
PER_KIND = 3


def kind_of(case):
    """Cases of one kind show much the same."""
    dtypes = tuple(str(array.dtype) for array in case.inputs if array is not None)[:2]
    return case.op, dtypes[:1], bool(case.quantization), bool(case.constants)


def chosen():
    """Some cases of each operator, type and kind of constants, those of every operator raised."""
    groups = defaultdict(list)
    for case in all_cases():
        is_different = any(case.name.startswith(name) for name in DIFFERENT)
        if isinstance(case, Case) and RAISES.get(case.op) is not None and not is_different:
            groups[kind_of(case)].append(case)
    for cases in groups.values():
        yield from cases[:: max(len(cases) // PER_KIND, 1)][:PER_KIND]


def real(array, detail):
    """The real numbers that an array of a quantized tensor stands for; others as they are."""
    scale, zero_point = detail["quantization"]
    if not scale or array.dtype.kind == "f":
        return array
    return (array.astype(np.float32) - zero_point) * np.float32(scale)


def interpreted(model, feeds):
    interpreter = Interpreter(model_content=model)
    details = interpreter.get_input_details()
    for detail, array in zip(details, feeds, strict=True):
        if tuple(detail["shape"]) != array.shape:
            interpreter.resize_tensor_input(detail["index"], array.shape)
    interpreter.allocate_tensors()
    for detail, array in zip(details, feeds, strict=True):
        interpreter.set_tensor(detail["index"], array)
    interpreter.invoke()
    details = details, interpreter.get_output_details()
    return [interpreter.get_tensor(detail["index"]) for detail in details[1]], details


def in_session(raised, feeds):
    with tf.Session(graph=raised.graph) as session:
        session.run(raised.initializer)
        inputs = dict(zip(raised.inputs.values(), feeds, strict=True))
        return session.run(list(raised.outputs.values()), inputs)


def assert_like(got, want, detail, rtol, atol):
    """A result of the graph is the interpreter's, within a step where that is quantized."""
    scale = detail["quantization"][0]
    want_real = real(want, detail)
    if want_real is not want:
        np.testing.assert_allclose(got, want_real, rtol=0, atol=1.01 * scale)
    elif want.dtype.kind in "fc":
        assert got.dtype == want.dtype and got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=rtol, atol=atol)
    else:
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)


def is_hybrid(case):
    """Whether TFLite rounds the reals that go in, to multiply them with weights of 8 bits."""
    floats = any(x is not None and x.dtype == np.float32 for x in case.inputs)
    return bool(case.quantization) and floats


@pytest.mark.parametrize("case", list(chosen()), ids=lambda case: case.name)
def test_case(case):
    model = content(case)
    want, details = interpreted(model, case.feeds)
    feeds = [real(x, detail) for x, detail in zip(case.feeds, details[0], strict=True)]
    rtol, atol = max(case.rtol, 1e-5), max(case.atol, 1e-6)
    if is_hybrid(case):
        atol = 0.02 * float(np.abs(want[0]).max(initial=1))
    for got, expected, detail in zip(
        in_session(to_graph(model), feeds), want, details[1], strict=True
    ):
        assert_like(got, expected, detail, rtol, atol)


def test_what_is_left_out_is_there():
    names = [case.name for case in all_cases()]
    assert [start for start in DIFFERENT if not any(n.startswith(start) for n in names)] == []


NOT_RAISED = {
    *("CONCAT_EMBEDDINGS", "CUSTOM", "DELEGATE", "PLACEHOLDER_FOR_GREATER_OP_CODES"),
    *("EMBEDDING_LOOKUP_SPARSE", "HASHTABLE_LOOKUP", "LSH_PROJECTION", "SKIP_GRAM"),
    *("HASHTABLE", "HASHTABLE_FIND", "HASHTABLE_IMPORT", "HASHTABLE_SIZE", "MULTINOMIAL"),
    *("DILATE", "REDUCE_WINDOW"),
    *("STABLEHLO_CASE", "STABLEHLO_CBRT", "STABLEHLO_CONVOLUTION", "STABLEHLO_CUSTOM_CALL"),
    *("STABLEHLO_DOT_GENERAL", "STABLEHLO_DYNAMIC_SLICE", "STABLEHLO_DYNAMIC_UPDATE_SLICE"),
    *("STABLEHLO_GATHER", "STABLEHLO_PAD", "STABLEHLO_REDUCE", "STABLEHLO_REDUCE_WINDOW"),
    *("STABLEHLO_RNG_BIT_GENERATOR", "STABLEHLO_SCATTER", "STABLEHLO_SHIFT_LEFT"),
    *("STABLEHLO_SORT", "STABLEHLO_WHILE"),
}
"""Operators without a form in TensorFlow's operations, which to_graph refuses."""


def is_raised(row):
    return not {kind for kind in row["ops"] if kind in NOT_RAISED or kind.startswith("CUSTOM")}


KINDS = ("op_test", "tflite_case", "model_tflite", "third_party_tflite")
ROWS = [row for row in rows() if row["kind"] in KINDS and has_runs(row) and is_raised(row)]
PLAIN = [row for row in ROWS if not row.get("quant") and row.get("variant", "float") == "float"]
STORED = [row for row in ROWS if "int8" in (row.get("variant"), row.get("quant"))]
STEPS = 10
"""How many steps of a quantized output the roundings inside of the graph may add up to."""
COARSE = {"B/tfk_lstm/bidir/int8": "the scales inside of an LSTM of integers are left out"}


def recorded(row):
    """(raised model, its inputs, outputs that LiteRT gave by name or place) of a row."""
    runs = runs_of(row)
    raised = to_graph((folder() / row["files"]["tflite"]).read_bytes())
    step = runs.steps[0]
    given = step if isinstance(step, list) else [step[key] for key in raised.inputs]
    want = runs.expected(0, runs.tags[0])
    keys = list(raised.outputs) if set(want) == set(raised.outputs) else sorted(want, key=int)
    return raised, given, [want[key] for key in keys]


@pytest.mark.parametrize("row", PLAIN, ids=lambda row: row["id"])
def test_corpus(row):
    if any(meta["dtype"] == "string" for meta in row["inputs"]):
        pytest.skip("strings are recorded with zeros behind them")
    if row["id"] == "A/rank/002":
        pytest.skip("the file does not state the rank, and the graph takes it for a scalar's")
    raised, given, want = recorded(row)
    shapes = zip(given, raised.inputs.values(), strict=True)
    given = [np.asarray(x).astype(tensor.dtype, copy=False) for x, tensor in shapes]
    for got, expected in zip(in_session(raised, given), want, strict=True):
        assert agree(expected, got, 1e-4, 1e-5) == ""


@pytest.mark.parametrize("row", STORED, ids=lambda row: row["id"])
def test_quantized_corpus(row):
    if row["id"] in COARSE:
        pytest.skip(COARSE[row["id"]])
    raised, given, want = recorded(row)
    interpreter = Interpreter(model_content=(folder() / row["files"]["tflite"]).read_bytes())
    inputs, outputs = interpreter.get_input_details(), interpreter.get_output_details()
    given = [real(x, detail) for x, detail in zip(given, inputs, strict=True)]
    for got, expected, detail in zip(in_session(raised, given), want, outputs, strict=True):
        scale = detail["quantization"][0]
        if scale and expected.dtype.kind in "iu":
            np.testing.assert_allclose(got, real(expected, detail), rtol=0, atol=STEPS * scale)
        elif expected.dtype.kind != "f":
            np.testing.assert_array_equal(got, expected)
        else:
            bound = 0.05 * float(np.abs(expected).max(initial=1e-3))
            np.testing.assert_allclose(got, expected, rtol=0, atol=bound)


SORTS = [sort for sort in recurrent_models.SORTS if sort.numbers in ("float32", "hybrid")]


@pytest.mark.parametrize("sort", SORTS, ids=lambda sort: sort.name)
def test_recurrent(sort):
    model = recurrent_models.content(sort)
    random = np.random.default_rng(5)
    details = Interpreter(model_content=model).get_input_details()
    feeds = [np.float32(random.normal(0, 1, detail["shape"])) for detail in details]
    want, (_, outputs) = interpreted(model, feeds)
    raised = to_graph(model, trainable=True)
    assert raised.variables
    atol = 2e-6 if sort.numbers == "float32" else 0.1 * float(np.abs(want[0]).max())
    for got, expected, detail in zip(in_session(raised, feeds), want, outputs, strict=True):
        assert_like(got, expected, detail, 2e-5, atol)


def test_states_of_uint8_are_refused():
    (sort,) = (sort for sort in recurrent_models.SORTS if sort.numbers == "uint8")
    with pytest.raises(ConverterError, match=r"LSTM 't5': the states .* start from -1; convert"):
        to_graph(recurrent_models.content(sort))


WITHOUT_GRADIENT = {
    *("RFFT2D",),
}
"""Operators of real numbers, differentiable, whose TensorFlow operation has no gradient here."""
FLAT = {
    *("CEIL", "EQUAL", "FLOOR", "FLOOR_DIV", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL"),
    *("NOT_EQUAL", "ROUND", "SIGN", "STABLEHLO_FLOOR", "STABLEHLO_COMPARE"),
    *("ARG_MAX", "ARG_MIN", "BUCKETIZE", "SHAPE", "RANK", "ZEROS_LIKE", "WHERE", "BITCAST"),
    *("NON_MAX_SUPPRESSION_V4", "NON_MAX_SUPPRESSION_V5", "UNIQUE", "FLOOR_MOD", "CAST"),
    *("STABLEHLO_CONVERT", "RANDOM_UNIFORM", "RANDOM_STANDARD_NORMAL", "RANGE", "REAL", "IMAG"),
    *("COMPLEX_ABS", "FAKE_QUANT", "QUANTIZE", "STABLEHLO_REMAINDER", "MULTINOMIAL"),
}
"""Operators whose results do not change, or jump, where their operands change a little."""
DOMAINS = dict.fromkeys(("DIV", "STABLEHLO_CLAMP", "STABLEHLO_DIVIDE"), (0.5, 2.0))
"""Where operators are differentiated, for those whose cases have other numbers."""
MAX_ELEMENTS, LARGEST = 150, 1e3
DELTA = 1e-2


def differentiable():
    """A case of floats of each operator that has a derivative, small and without numbers that are
    none.
    """
    found = {}
    for case in all_cases():
        if not isinstance(case, Case) or case.op in FLAT | WITHOUT_GRADIENT | set(found):
            continue
        if case.quantization or RAISES.get(case.op) is None or not case.feeds:
            continue
        is_named = any(case.name.startswith(name) for name in DIFFERENT)
        sizes = [x.size for x in case.feeds if x.dtype == np.float32]
        finite = all(
            np.abs(x).max(initial=0) < LARGEST for x in case.feeds if x.dtype == np.float32
        )
        outputs = case.outputs or [next(x for x in case.inputs if x is not None).dtype]
        if not sizes or not finite or is_named or not 2 < sum(sizes) <= MAX_ELEMENTS:
            continue
        if np.dtype(outputs[0]) == np.float32:
            found[case.op] = case
    return list(found.values())


@pytest.mark.parametrize("case", differentiable(), ids=lambda case: case.op)
def test_gradient(case):
    """Of a sum of the results, each with a weight of its own, against differences."""
    raised = to_graph(content(case))
    rng = np.random.default_rng(3)
    feeds = dict(zip(raised.inputs.values(), case.feeds, strict=True))
    xs = [x for x in feeds if x.dtype == np.float32]
    for i, x in enumerate(xs):  # away from the corners, of RELU and of equal numbers in a maximum
        feeds[x] = spread(feeds[x], rng, (i + 0.5) / len(xs), DOMAINS.get(case.op))
    with raised.graph.as_default(), tf.Session() as session:
        ys = [y for y in raised.outputs.values() if y.dtype == np.float32]
        weights = [rng.uniform(0.5, 1.5, y.shape) for y in session.run(ys, feeds)]
        terms = [tf.reduce_sum(y * np.float32(w)) for y, w in zip(ys, weights, strict=True)]
        found = session.run(tf.gradients(terms, xs, unconnected_gradients="zero"), feeds)

        def change(x, low, high):
            sides = [session.run(ys, {**feeds, x: value}) for value in (high, low)]
            changes = (a.astype(np.float64) - b for a, b in zip(*sides, strict=True))
            return sum(float((d * w).sum()) for d, w in zip(changes, weights, strict=True))

        for x, got in zip(xs, found, strict=True):
            got = dense(got, feeds[x])
            want = np.empty_like(feeds[x], np.float64)
            for place in np.ndindex(feeds[x].shape):
                low, high = feeds[x].copy(), feeds[x].copy()
                low[place] -= DELTA
                high[place] += DELTA
                distance = float(high[place]) - float(low[place])
                want[place] = change(x, low, high) / distance
            scale = max(float(np.abs(want).max()), 1e-2)
            np.testing.assert_allclose(got, want, rtol=2e-2, atol=1e-2 * scale)


def spread(array, rng, offset, domain):
    """Other numbers in the range of an array's, no two of them near each other or near 0."""
    low, high = domain or (float(array.min()), float(array.max()))
    if high - low < 1e-3:
        return array
    steps = (rng.permutation(array.size) + offset) / array.size
    values = low + (high - low) * steps
    values = np.where(np.abs(values) < 3 * DELTA, 3.3 * DELTA, values)
    return values.reshape(array.shape).astype(np.float32)


def dense(gradient, like):
    """A gradient as an array, also one of rows."""
    if isinstance(gradient, np.ndarray | np.generic):
        return gradient
    total = np.zeros_like(like)
    np.add.at(total, gradient.indices, gradient.values)
    return total


def model_path(*parts):
    return folder().joinpath("C", *parts)


MODELS = {
    "mobilenet_v2_k3/float.tflite": 65,
    "lenet_k3/float.tflite": 15,
    "lenet_tfk/float.tflite": 12,
    "tf1_simple_save_cnn_cfv1/float.tflite": 7,
    "lenet_k3/model.keras": 12,
    "lenet_tfk/model.h5": 12,
}
"""Model -> the operators of its file, for a source those of what the converter writes."""


@pytest.mark.parametrize("name", MODELS)
def test_there_and_back(name):
    """The converter verifies what it writes against the graph, with every weight a variable."""
    path = model_path(*Path(name).parts)
    raised = to_graph(path, trainable=True)
    assert len(raised.variables) == len(raised.weights) > 4
    with tf.Session(graph=raised.graph) as session:
        session.run(raised.initializer)
        converter = raised.converter(session)
        written = converter.convert()
    assert converter.verified
    assert len(kinds(written)) <= MODELS[name]
    if path.suffix == ".tflite":
        shapes = [[3 if n is None else n for n in x.shape] for x in raised.inputs.values()]
        feeds = [np.float32(np.random.default_rng(0).normal(0, 1, shape)) for shape in shapes]
        want, (_, details) = interpreted(path.read_bytes(), feeds)
        got, _ = interpreted(written, feeds)
        for ours, expected, detail in zip(got, want, details, strict=True):
            assert_like(ours, expected, detail, 1e-4, 1e-5)


def test_quantized_model_is_one_of_reals():
    path = model_path("lenet_k3", "int8.tflite")
    raised = to_graph(path, trainable=True)
    types = {op.type for op in raised.graph.get_operations()}
    assert "FakeQuantWithMinMaxArgs" in types and "Cast" not in types
    assert {x.dtype for x in (*raised.inputs.values(), *raised.outputs.values())} == {tf.float32}
    details = Interpreter(str(path)).get_input_details()
    shape = [2 if n < 0 else n for n in details[0]["shape_signature"]]
    given = np.random.default_rng(0).integers(-128, 128, shape).astype(np.int8)
    want, (_, outputs) = interpreted(path.read_bytes(), [given])
    (got,) = in_session(raised, [real(given, details[0])])
    scale = outputs[0]["quantization"][0]
    np.testing.assert_allclose(got, real(want[0], outputs[0]), rtol=0, atol=3 * scale)
    with raised.graph.as_default():
        (loss,) = (tf.reduce_sum(tf.square(y)) for y in raised.outputs.values())
        gradients = tf.gradients(loss, list(raised.variables.values()))
    assert None not in gradients


LENET = ("lenet_tfk", "float.tflite")


def trained_names(trainable):
    return list(to_graph(model_path(*LENET), trainable=trainable).variables)


def test_weights_are_chosen_by_name():
    raised = to_graph(model_path(*LENET))
    assert not raised.variables
    weights = raised.weights
    assert len(weights) == 10
    everything = trained_names(True)
    assert len(everything) == 10
    assert trained_names([weights[-2]]) == everything[-2:-1]
    prefix = weights[-1].rpartition("/")[0]
    assert trained_names([prefix]) == everything[-2:]
    assert trained_names("Conv2D") == everything[:4]  # both weights of two layers
    assert trained_names(False) == []


def test_a_name_that_is_none():
    with pytest.raises(ValueError, match=r"trainable must name weights or layers of the model, "):
        to_graph(model_path(*LENET), trainable=["no_such_layer"])
    with pytest.raises(ValueError, match=r"got 'no\.such', which none has; names of some are '"):
        to_graph(model_path(*LENET), trainable="no.such")
    with pytest.raises(ValueError, match=r"trainable must be a regular expression, got '\('"):
        to_graph(model_path(*LENET), trainable="(")
    with pytest.raises(TypeError, match="trainable must be True, a pattern or a list of names"):
        to_graph(model_path(*LENET), trainable=3)


def test_what_is_no_model():
    with pytest.raises(TypeError, match=r"to_graph takes a path, or the bytes of a \.tflite file"):
        to_graph(3)
    with pytest.raises(ValueError, match=r"must be those of a .tflite file, got b'no model'"):
        to_graph(b"no model")
    with pytest.raises(ValueError, match=r"signature_key must be one of \['serving_default'\]"):
        to_graph(model_path(*LENET), signature_key="other")
    with pytest.raises(FileNotFoundError):
        to_graph("nowhere.tflite")


def test_what_has_no_form_is_refused_by_name():
    case = next(case for case in all_cases() if case.op == "LSH_PROJECTION")
    with pytest.raises(UnsupportedOps) as refused:
        to_graph(content(case))
    words = str(refused.value)
    assert "LSH_PROJECTION x 1, first 'out0'" in words
    assert "ABS, ADD, ADD_N" in words and "flatlite.edit.cut" in words


def test_every_operator_is_raised_or_known_not_to_be():
    """What is missing is listed here, so that a new operator is not forgotten."""
    missing = set(operator_rows.kinds()) - set(RAISES.names())
    assert missing == NOT_RAISED
