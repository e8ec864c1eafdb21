"""Every operator as TensorFlow's operations gives what TFLite's gives, and has gradients."""

from collections import defaultdict

import declared
import numpy as np
import pytest
import recurrent_models
from building import Builder
from cases import Case, all_cases, content, floats
from raised import NOT_RAISED, assert_like, in_session, interpreted, real
from recorded import agree, folder, has_runs, rows, runs_of
from running import kinds

import flatlite.compat.v1 as tf
from flatlite.converter.raising.registry import RAISES
from flatlite.errors import ConverterError
from flatlite.lite import Interpreter, to_graph
from flatlite.schema import model as schema

OVERFLOW = "TFLite gives the largest number, or saturates, where TensorFlow overflows"
INTEGERS = "TFLite rounds, compares or looks up integers where the graph has real numbers"
NOTHING = "TFLite gives a number where TensorFlow has none"
REFUSED = "TensorFlow's operation refuses what TFLite's takes"
EXTREMES, REDUCTIONS = ("maximum", "minimum"), ("sum", "reduce_prod", "reduce_max", "reduce_min")
DIFFERENT = {
    "add_n/overflow": OVERFLOW,
    "add_n/overflow_and_back": OVERFLOW,
    "pool/average_of_nan_and_infinity": OVERFLOW,
    "pool/maximum_passes_over_nan": OVERFLOW,
    "conv/infinite": OVERFLOW,
    "exp/infinite_int16": OVERFLOW,
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
    "pool/plain_int8_average": REFUSED,
    "pool/plain_uint8_average": REFUSED,
    "pool/plain_int16_average": REFUSED,
    "strided_slice/surplus": REFUSED,
    "resize_nearest_neighbor/complex128": REFUSED,
    "resize_nearest_neighbor/object": REFUSED,
    **dict.fromkeys((f"{op}/no_{t}" for op in EXTREMES for t in ("bool", "complex")), REFUSED),
    **dict.fromkeys((f"reduce/{op}_bool" for op in REDUCTIONS), REFUSED),
    "reduce/reduce_min_empty": OVERFLOW,
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


def is_hybrid(case):
    """Whether TFLite rounds the reals that go in, to multiply them with weights of 8 bits."""
    floats = any(x is not None and x.dtype == np.float32 for x in case.inputs)
    return bool(case.quantization) and floats


@pytest.mark.parametrize("case", list(chosen()), ids=lambda case: case.name)
def test_case(case, litert):
    """Against LiteRT, and against the interpreter where LiteRT does not run it."""
    model = content(case)
    want, details = interpreted(model, case.feeds)
    if case.oracle is not None:
        theirs = litert.run(model, [case.feeds], case.oracle)
        want = want if isinstance(theirs, str) else theirs[0]
    feeds = [real(x, detail) for x, detail in zip(case.feeds, details[0], strict=True)]
    rtol, atol = max(case.rtol, 1e-5), max(case.atol, 1e-6)
    if is_hybrid(case):
        atol = 0.02 * float(np.abs(want[0][np.isfinite(want[0])]).max(initial=1))
    for got, expected, detail in zip(
        in_session(to_graph(model), feeds), want, details[1], strict=True
    ):
        assert_like(got, expected, detail, rtol, atol)


@pytest.mark.parametrize("name", ["reduce/sum_bool0", "resize_nearest_neighbor/object"])
def test_types_that_tensorflow_does_not_take(name):
    (case,) = [case for case in all_cases() if case.name == name]
    with pytest.raises(ConverterError, match=r"no operation of TensorFlow does that: Value passed"):
        to_graph(content(case))


def test_what_is_left_out_is_there():
    names = [case.name for case in all_cases()]
    assert [start for start in DIFFERENT if not any(n.startswith(start) for n in names)] == []


def is_raised(row):
    return not {kind for kind in row["ops"] if kind in NOT_RAISED or kind.startswith("CUSTOM")}


KINDS = ("op_test", "tflite_case", "model_tflite", "third_party_tflite")
ROWS = [row for row in rows() if row["kind"] in KINDS and has_runs(row) and is_raised(row)]
PLAIN = [
    row
    for row in ROWS
    if not row.get("quant") and row.get("variant", "float") == "float"
    if not any(x["dtype"] == "string" for x in row["inputs"])  # recorded with zeros behind them
    # a file does not state the rank of these, and the graph takes it for a scalar's
    if not any(x.get("graph_shape", ()) is None and x["shape"] for x in row["inputs"])
]
STEPS = 10
"""How many steps of a quantized output the roundings inside of the graph may add up to."""
COARSE = {"B/tfk_lstm/bidir/int8"}
"""The scales inside of an LSTM of integers are left out."""
INT8_ROWS = [
    row
    for row in ROWS
    if "int8" in (row.get("variant"), row.get("quant")) and row["id"] not in COARSE
]


def recorded(row):
    """(raised model, its inputs, outputs that LiteRT gave by name or place) of a row."""
    runs = runs_of(row)
    raised = to_graph((folder() / row["files"]["tflite"]).read_bytes())
    step = runs.steps[0]
    feeds = step if isinstance(step, list) else [step[key] for key in raised.inputs]
    want = runs.expected(0, runs.tags[0])
    keys = list(raised.outputs) if set(want) == set(raised.outputs) else sorted(want, key=int)
    return raised, feeds, [want[key] for key in keys]


@pytest.mark.parametrize("row", PLAIN, ids=lambda row: row["id"])
def test_corpus(row):
    raised, inputs, want = recorded(row)
    shapes = zip(inputs, raised.inputs.values(), strict=True)
    inputs = [np.asarray(x).astype(tensor.dtype, copy=False) for x, tensor in shapes]
    for got, expected in zip(in_session(raised, inputs), want, strict=True):
        assert agree(expected, got, 1e-4, 1e-5) == ""


@pytest.mark.parametrize("row", INT8_ROWS, ids=lambda row: row["id"])
def test_quantized_corpus(row):
    raised, feeds, want = recorded(row)
    interpreter = Interpreter(model_content=(folder() / row["files"]["tflite"]).read_bytes())
    inputs, outputs = interpreter.get_input_details(), interpreter.get_output_details()
    feeds = [real(x, detail) for x, detail in zip(feeds, inputs, strict=True)]
    for got, expected, detail in zip(in_session(raised, feeds), want, outputs, strict=True):
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
def test_recurrent(sort, litert):
    model = recurrent_models.content(sort)
    random = np.random.default_rng(5)
    details = Interpreter(model_content=model).get_input_details()
    feeds = [np.float32(random.normal(0, 1, detail["shape"])) for detail in details]
    _, (_, outputs) = interpreted(model, feeds)
    theirs = litert.run(model, [feeds], "BUILTIN_REF")
    assert not isinstance(theirs, str), theirs
    (want,) = theirs
    raised = to_graph(model, trainable=True)
    assert raised.variables
    atol = 2e-6 if sort.numbers == "float32" else 0.1 * float(np.abs(want[0]).max())
    for got, expected, detail in zip(in_session(raised, feeds), want, outputs, strict=True):
        assert_like(got, expected, detail, 2e-5, atol)


def of_any_length(content, axis):
    """A model, and the same with any number of steps."""
    model = schema.load(content)
    graph = model.subgraphs[0]
    for i in (*graph.inputs, *graph.outputs):
        sizes = list(graph.tensors[i].shape)
        sizes[axis] = -1
        graph.tensors[i].shape_signature = tuple(sizes)
    return schema.save(model)


LOOPS = [sort for sort in SORTS if sort.numbers == "float32" and "SEQUENCE" in sort.op]


@pytest.mark.parametrize("sort", LOOPS, ids=lambda sort: sort.name)
def test_recurrent_of_any_length(sort):
    axis = 0 if dict(sort.options).get("time_major") else 1
    model = of_any_length(recurrent_models.content(sort), axis)
    raised = to_graph(model, trainable=True)
    rng, feeds = np.random.default_rng(1), []
    for x in raised.inputs.values():
        assert x.sizes[axis] is None
        feeds.append(np.float32(rng.normal(0, 1, [8 if n is None else n for n in x.sizes])))
    want, (_, outputs) = interpreted(model, feeds)
    for got, expected, detail in zip(in_session(raised, feeds), want, outputs, strict=True):
        assert_like(got, expected, detail, 2e-5, 2e-6)


@pytest.mark.parametrize("op", ["UNIDIRECTIONAL_SEQUENCE_LSTM", "UNIDIRECTIONAL_SEQUENCE_RNN"])
def test_a_loop_becomes_one_operator_again(op):
    sort = next(sort for sort in LOOPS if sort.op == op and recurrent_models.TANH in sort.options)
    raised = to_graph(recurrent_models.content(sort), trainable=True, unroll=False)
    with tf.Session(graph=raised.graph) as session:
        session.run(raised.initializer)
        (x,), (y,) = raised.inputs.values(), raised.outputs.values()
        with raised.graph.as_default():
            gradients = tf.gradients(y, list(raised.variables.values()))
        values = np.float32(np.random.default_rng(0).normal(0, 1, x.shape))
        assert all(np.any(dy) for dy in session.run(gradients, {x: values}))
        assert op in kinds(raised.converter(session).convert())


def test_states_of_uint8_are_refused():
    (sort,) = (sort for sort in recurrent_models.SORTS if sort.numbers == "uint8")
    with pytest.raises(ConverterError, match=r"LSTM 't5': the states .* start from -1; convert"):
        to_graph(recurrent_models.content(sort))


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
    rows = {}
    for case in all_cases():
        if not isinstance(case, Case) or case.op in FLAT | set(rows):
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
            rows[case.op] = case
    return list(rows.values())


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
        derivatives = session.run(tf.gradients(terms, xs, unconnected_gradients="zero"), feeds)

        def change(x, low, high):
            sides = [session.run(ys, {**feeds, x: value}) for value in (high, low)]
            changes = (a.astype(np.float64) - b for a, b in zip(*sides, strict=True))
            return sum(float((d * w).sum()) for d, w in zip(changes, weights, strict=True))

        for x, got in zip(xs, derivatives, strict=True):
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


def check_declared(kind, inputs, expected, *bodies, **options):
    """What the graph of one of StableHLO's operators gives."""
    model = declared.model(kind, inputs, [(x.shape, x.dtype) for x in expected], *bodies, **options)
    for got, want in zip(in_session(to_graph(model), inputs), expected, strict=True):
        assert got.dtype == want.dtype and got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


def test_products_of_any_axes():
    x, y = floats(2, 3, 4, 5), floats(3, 5, 2, 6)
    check_declared("DOT_GENERAL", [x, y], [np.einsum("abij,bjak->baik", x, y)],
                   lhs_batching_dimensions=[1, 0], rhs_batching_dimensions=[0, 2],
                   lhs_contracting_dimensions=[3], rhs_contracting_dimensions=[1])  # fmt: skip


@pytest.mark.parametrize("kind", ["STABLEHLO_ADD", "MUL", "STABLEHLO_MAXIMUM", "MINIMUM"])
def test_folds(kind):
    x, start = floats(2, 3, 4), np.array(0.75, np.float32)
    function = {"STABLEHLO_ADD": np.add, "MUL": np.multiply, "MINIMUM": np.minimum}.get(
        kind, np.maximum
    )
    want = function.reduce(x, (0, 2), initial=start)
    check_declared("REDUCE", [x, start], [want], declared.body(kind), dimensions=[0, 2],
                   body_subgraph_index=1)  # fmt: skip
    with pytest.raises(ConverterError, match="the body must be one of ADD, MAXIMUM, MINIMUM"):
        check_declared("REDUCE", [x, start], [want], declared.difference(), dimensions=[0, 2],
                       body_subgraph_index=1)  # fmt: skip


def test_branches_by_number():
    branches = [declared.body(kind, second=(2,)) for kind in ("ADD", "SUB", "MUL")]
    x, y = np.float32([3, 4]), np.float32([5, -1])
    for index, want in ((0, x + y), (1, x - y), (2, x * y), (9, x * y)):
        check_declared("CASE", [np.array(index, np.int32), x, y], [want], *branches,
                       branch_subgraph_indices=[1, 2, 3])  # fmt: skip


def test_loop_has_a_gradient():
    """x is doubled until it is at least 10: 1.5 becomes 12."""
    condition, step = Builder("condition"), Builder("step")
    x, out = condition.input("x", ()), condition.tensor("out", (), "BOOL")
    condition.op("LESS", [x, condition.constant("ten", np.float32(10))], [out])
    y, twice = step.input("y", ()), step.tensor("twice", ())
    step.op("ADD", [y, y], [twice])
    graphs = condition.outputs(out), step.outputs(twice)
    start, calls = np.array(1.5, np.float32), {"cond_subgraph_index": 1, "body_subgraph_index": 2}
    raised = to_graph(declared.model("WHILE", [start], [((), "float32")], *graphs, **calls))
    ((x,), (y,)) = raised.inputs.values(), raised.outputs.values()
    with raised.graph.as_default(), tf.Session() as session:
        assert session.run([y, *tf.gradients(y, x)], {x: 1.5}) == [12, 8]
