"""What the interpreter has beyond LiteRT's: futures, times, views by operator, limits."""

import pickle
import threading
import tracemalloc
from concurrent.futures import Future

import numpy as np
import pytest
from building import Builder, save

from flatlite.errors import ModelError
from flatlite.interpreter.ops import random
from flatlite.interpreter.plan import folding
from flatlite.lite import Interpreter, Limits

f32 = np.float32


def chain(n=4):
    """y = -|x| of (n,)."""
    b = Builder()
    x = b.input("x", (None,))
    y = b.op("NEG", [b.op("ABS", [x], [b.tensor("abs", (None,))])], [b.tensor("y", (None,))])
    return save(b.outputs(y))


def endless():
    """Turns without end."""
    b, cond, body = Builder(), Builder("cond"), Builder("body")
    x, y = b.input("x", ()), b.tensor("y", ())
    b.op("WHILE", [x], [y], cond_subgraph_index=1, body_subgraph_index=2)
    c, always = cond.input("c", ()), cond.tensor("always", (), "BOOL")
    cond.op("EQUAL", [c, c], [always])
    d, e = body.input("d", ()), body.tensor("e", ())
    body.op("NEG", [d], [e])
    return save(b.outputs(y), cond.outputs(always), body.outputs(e))


def allocated(content, shape=(4,), **options):
    interpreter = Interpreter(model_content=content, **options)
    if shape:
        interpreter.resize_tensor_input(0, shape)
    interpreter.allocate_tensors()
    return interpreter


def test_a_future():
    interpreter = allocated(chain())
    interpreter.set_tensor(0, f32([1, -2, 3, -4]))
    future = interpreter.async_invoke()
    assert isinstance(future, Future)
    assert future.result(60) is None
    np.testing.assert_array_equal(interpreter.get_tensor(2), f32([-1, -2, -3, -4]))
    interpreter.invoke()  # the fast way again


def test_a_future_that_is_cancelled_at_once():
    interpreter = allocated(endless(), ())
    for _ in range(20):
        future = interpreter.async_invoke()
        with pytest.raises(RuntimeError, match="in use by another call"):
            interpreter.invoke()
        interpreter.cancel()
        with pytest.raises(RuntimeError, match="cancel"):
            future.result(60)
        assert not future.cancelled()


def test_a_future_with_a_time_limit():
    n_threads = threading.active_count()
    interpreter = allocated(endless(), ())
    with pytest.raises(TimeoutError):
        interpreter.async_invoke(timeout=0.05).result(60)
    with pytest.raises(ValueError, match="not negative"):
        interpreter.async_invoke(timeout=-1)
    assert threading.active_count() <= n_threads + 1
    interpreter.get_input_details()
    interpreter.set_tensor(0, f32(1))  # it is free


def test_a_future_is_refused_where_an_invoke_is():
    interpreter = Interpreter(model_content=chain())
    with pytest.raises(RuntimeError, match="not ready"):
        interpreter.async_invoke()
    interpreter.allocate_tensors()
    view = interpreter.tensor(0)()
    with pytest.raises(RuntimeError, match="at least 1 reference"):
        interpreter.async_invoke()
    del view
    interpreter.async_invoke().result(60)


def test_every_invoke_is_timed():
    interpreter = allocated(chain(), profile=True)
    with pytest.raises(RuntimeError, match="no invoke was timed yet"):
        interpreter.profile()
    for _ in range(3):
        interpreter.invoke()
    times = interpreter.profile()
    assert [(t.position, t.kind, t.name) for t in times] == [(0, "ABS", "abs"), (1, "NEG", "y")]
    assert all(t.seconds > 0 for t in times)
    assert len(interpreter._times) == 3
    plain = allocated(chain())
    with pytest.raises(RuntimeError, match="profile=True"):
        plain.profile()
    assert [t.kind for t in plain.profile(2)] == ["ABS", "NEG"]


def test_times_of_a_signature():
    interpreter = Interpreter(model_content=counters(), profile=True)
    interpreter.get_signature_runner("second")(x=np.ones((1, 2), f32))
    assert [t.kind for t in interpreter.profile()] == ["RNN"]


def test_operators_are_visited():
    interpreter = allocated(chain(), experimental_preserve_all_tensors=True)
    interpreter.set_tensor(0, f32([1, -2, 3, -4]))
    interpreter.invoke()
    seen = []

    def visit(details, inputs, outputs):
        assert not any(array.flags.writeable for array in (*inputs, *outputs))
        seen.append((details["op_name"], inputs[0].tolist(), outputs[0].tolist()))

    interpreter.visit_operators(visit)
    assert seen == [
        ("ABS", [1, -2, 3, -4], [1, 2, 3, 4]),
        ("NEG", [1, 2, 3, 4], [-1, -2, -3, -4]),
    ]
    interpreter.invoke()  # no view is left
    survivors = []
    interpreter.visit_operators(lambda _, inputs, outputs: survivors.extend(outputs))
    with pytest.raises(RuntimeError, match="at least 1 reference"):
        interpreter.invoke()
    with pytest.raises(RuntimeError, match="experimental_preserve_all_tensors=True"):
        allocated(chain()).visit_operators(visit)


def counters():
    """Two signatures, each on a variable tensor of its own: y = state = |state + x|."""
    graphs, signatures = [], []
    for index, name in enumerate(("first", "second")):
        b = Builder(name)
        x = b.input("x", (1, 2))
        state = b.tensor("state", (1, 1), is_variable=True)
        weights = [b.constant(f"w{i}", np.ones(s, f32)) for i, s in enumerate([(1, 2), (1, 1)])]
        y = b.tensor("y", (1, 1))
        b.op("RNN", [x, *weights, b.constant("b", np.zeros(1, f32)), state], [y])
        graphs.append(b.outputs(y))
        signatures.append((name, {"x": x}, {"y": y}, index))
    return save(*graphs, signatures=signatures)


def test_variables_of_one_signature_are_reset():
    interpreter = Interpreter(model_content=counters())
    first, second = (interpreter.get_signature_runner(k) for k in ("first", "second"))
    ones = np.ones((1, 2), f32)
    for runner in first, second:
        assert [runner(x=ones)["y"].item() for _ in range(2)] == [2, 4]
    first.reset_all_variables()
    assert (first(x=ones)["y"].item(), second(x=ones)["y"].item()) == (2, 6)
    interpreter.reset_all_variables()
    assert (first(x=ones)["y"].item(), second(x=ones)["y"].item()) == (2, 2)


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        (Limits(tensors=2), "at most 2 tensors are allowed, the model has 3"),
        (Limits(operators=1), "at most 1 operators are allowed, the model has 2"),
        (Limits(subgraphs=0), "at most 0 subgraphs are allowed, the model has 1"),
        (Limits(file_bytes=100), "at most 100 bytes are allowed, the model has"),
        (Limits(elements=0), "at most 0 elements in tensor 'x' are allowed, the model has 1"),
    ],
)
def test_limits_of_a_file(limits, message):
    with pytest.raises(ModelError, match=message):
        Interpreter(model_content=chain(), limits=limits)


def test_limits_of_what_runs():
    limits = Limits(memory=100_000, elements=1 << 20, tensors=3, operators=2, subgraphs=1)
    interpreter = allocated(chain(), limits=limits)
    interpreter.resize_tensor_input(0, [1 << 18])
    with pytest.raises(MemoryError, match=r"need .* at most 100,000 may .* limit that was set"):
        interpreter.allocate_tensors()
    with pytest.raises(ModelError, match="at most 1,048,576 elements in tensor 'x' are allowed"):
        interpreter.resize_tensor_input(0, [1 << 21])
    interpreter.resize_tensor_input(0, [4])
    for other in interpreter, interpreter.clone(), pickle.loads(pickle.dumps(interpreter)):
        other.resize_tensor_input(0, [4])
        other.allocate_tensors()
        other.invoke()
        other.resize_tensor_input(0, [1 << 18])
        with pytest.raises(MemoryError, match="at most 100,000 may be used"):
            other.allocate_tensors()
    with pytest.raises(TypeError, match="limits must be a Limits, got int"):
        Interpreter(model_content=chain(), limits=5)
    with pytest.raises(TypeError, match=r"limits: memory must be a whole number, got 1\.5"):
        Limits(memory=1.5)
    with pytest.raises(ValueError, match="limits: tensors must not be negative, got -1"):
        Limits(tensors=-1)


def counting(**options):
    """y = start, start + delta, ... below limit."""
    b = Builder()
    ends = [b.input(name, ()) for name in ("start", "limit", "delta")]
    b.op("RANGE", ends, [b.tensor("y", (None,))])
    interpreter = Interpreter(model_content=save(b.outputs(3)), **options)
    interpreter.allocate_tensors()
    return interpreter


def count(interpreter, limit, **options):
    for tensor, value in enumerate((0, limit, 1)):
        interpreter.set_tensor(tensor, f32(value))
    interpreter.invoke(**options)
    return interpreter.get_tensor(3)


def test_a_long_step_ends_in_time():
    interpreter = counting()
    with pytest.raises(TimeoutError):
        count(interpreter, 1e9, timeout=0.1)
    np.testing.assert_array_equal(count(interpreter, 5), np.arange(5))
    np.testing.assert_array_equal(count(interpreter, 3 << 20), np.arange(3 << 20))


def test_a_result_of_a_size_that_is_not_allowed():
    interpreter = counting(limits=Limits(memory=1 << 22))
    with pytest.raises(MemoryError, match="need 4,000,000,000 bytes, at most 4,194,304"):
        count(interpreter, 1e9)
    np.testing.assert_array_equal(count(interpreter, 5), np.arange(5))


def lone(kind, constants, outputs=(((None,), "FLOAT32"),), **options):
    """An operator of constants alone."""
    b = Builder()
    operands = [b.constant(f"c{i}", x) for i, x in enumerate(constants)]
    results = [b.tensor(f"y{i}", shape, dtype) for i, (shape, dtype) in enumerate(outputs)]
    b.op(kind, operands, results, **options)
    return save(b.outputs(*results))


MANY = np.int32([10**9])
SEEDS = {"seed": 1, "seed2": 2}
FAR_LARGER = {
    "FILL": lone("FILL", [MANY, f32(3)]),
    "TILE": lone("TILE", [f32([3]), MANY]),
    "ONE_HOT": lone("ONE_HOT", [np.int32([3]), MANY[0], f32(1), f32(0)], axis=0),
    "PAD": lone("PAD", [f32([1]), np.int32([[0, 10**9]])]),
    "ADD": lone("ADD", [np.ones((30000, 1), f32), np.ones(30000, f32)], [((None,) * 2, "FLOAT32")]),
    "RANGE": lone("RANGE", [np.int32(0), MANY[0], np.int32(1)], [((None,), "INT32")]),
    "RANDOM_UNIFORM": lone("RANDOM_UNIFORM", [MANY], **SEEDS),
    "RANDOM_STANDARD_NORMAL": lone("RANDOM_STANDARD_NORMAL", [MANY], **SEEDS),
    "MULTINOMIAL": lone("MULTINOMIAL", [f32([[1, 2]]), MANY[0]], [((1, None), "INT64")], **SEEDS),
    "STABLEHLO_IOTA": lone("STABLEHLO_IOTA", [], [((10**9,), "INT32")], iota_dimension=0),
    "STABLEHLO_RNG_BIT_GENERATOR": lone(
        "STABLEHLO_RNG_BIT_GENERATOR",
        [np.uint64([1, 2])],
        [((2,), "UINT64"), ((10**9,), "UINT32")],
        algorithm=1,
    ),
}


@pytest.mark.parametrize("kind", FAR_LARGER)
@pytest.mark.parametrize(
    ("limits", "error", "message"),
    [
        (Limits(memory=1 << 26), MemoryError, "need .* at most 67,108,864 may be used"),
        (Limits(elements=1 << 20), (RuntimeError, ModelError), "at most 1,048,576 elements in "),
    ],
    ids=["memory", "elements"],
)
def test_constants_make_results_within_limits(kind, limits, error, message):
    """Before there is memory for them: a model of 1 KB may ask for any size."""
    with pytest.raises(error, match=message):
        allocated(FAR_LARGER[kind], (), limits=limits).invoke()


SIZE = 1 << 18
"""Elements of each result of `many_results`: 1 MiB."""


def many_results(kind, n=30):
    """A model of a few KB with `n` results of constants, and the largest element of each."""
    b = Builder()
    size, one = b.constant("size", np.int32([SIZE])), b.constant("one", f32(1))
    axis, maxima = b.constant("axis", np.int32([0])), []
    before = b.op("FILL", [size, one], [b.tensor("before", (None,))])
    for i in range(n):
        dtype = "INT32" if kind == "RANGE" else "FLOAT32"
        y, largest = b.tensor(f"y{i}", (None,), dtype), b.tensor(f"max{i}", (), dtype)
        if kind == "ADD":
            before = b.op("ADD", [before, one], [y])
        elif kind == "TILE":
            b.op("TILE", [b.constant(f"x{i}", f32([i])), size], [y])
        elif kind == "FILL":
            b.op("FILL", [b.constant(f"size{i}", np.int32([SIZE - i])), one], [y])
        else:
            b.op(
                "RANGE",
                [b.constant(f"c{i}{j}", np.int32(x)) for j, x in ((0, i), (1, SIZE), (2, 1))],
                [y],
            )
        maxima.append(b.op("REDUCE_MAX", [y, axis], [largest]))
    return save(b.outputs(*maxima))


MANY_RESULTS = {
    "ADD": np.arange(2, 32),
    "FILL": np.ones(30),
    "RANGE": np.full(30, SIZE - 1),
    "TILE": np.arange(30),
}


@pytest.mark.parametrize("kind", MANY_RESULTS)
def test_results_of_constants_share_one_budget(kind, monkeypatch):
    """What has no room before the model runs is made when it runs, with the same values."""
    monkeypatch.setattr(folding, "MANY_BYTES", 4 << 20)
    interpreter = Interpreter(model_content=many_results(kind))
    tracemalloc.start()
    try:
        interpreter.allocate_tensors()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 10 << 20  # all results together are 30 MiB
    interpreter.invoke()
    outputs = [interpreter.get_tensor(d["index"]) for d in interpreter.get_output_details()]
    np.testing.assert_array_equal(outputs, MANY_RESULTS[kind])


@pytest.mark.parametrize("kind", MANY_RESULTS)
def test_results_of_constants_are_within_one_limit(kind):
    """They may take 8 MiB together; RANGE is made when the model runs, one after the other."""
    with pytest.raises(MemoryError, match="at most 8,388,608 may be used"):
        allocated(many_results(kind), (), limits=Limits(memory=8 << 20)).invoke()


@pytest.mark.parametrize("kind", ["MULTINOMIAL", "RANGE", "RANDOM_STANDARD_NORMAL"])
def test_many_numbers_end_in_time(kind):
    interpreter = allocated(FAR_LARGER[kind], ())
    with pytest.raises(TimeoutError):
        interpreter.invoke(timeout=0.1)


def test_blocks_of_samples_are_one_stream(monkeypatch):
    """MULTINOMIAL's classes, however few numbers are drawn at once."""
    model = lone(
        "MULTINOMIAL", [f32([[1, 2], [0, 3]]), np.int32(37)], [((2, 37), "INT64")], **SEEDS
    )
    classes = []
    for block in (1 << 20, 10):
        monkeypatch.setattr(random, "_BLOCK", block)
        interpreter = allocated(model, ())
        for _ in range(2):
            interpreter.invoke()
            classes.append(interpreter.get_tensor(interpreter.get_output_details()[0]["index"]))
    assert len(np.unique(classes[0])) == 2
    np.testing.assert_array_equal(classes[2:], classes[:2])
