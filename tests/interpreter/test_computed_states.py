"""Variable tensors that an operator computes: each run begins with what it gives, as in LiteRT."""

import numpy as np
import pytest
from building import Builder, save

from flatlite.lite import Interpreter

f32 = np.float32
BATCH, STEPS, DEPTH, UNITS = 2, 5, 4, 3
TANH = 4
HALF = np.full((BATCH, UNITS), 0.5, f32)
SIZES = np.int32([BATCH, UNITS])


def ints(*values):
    return np.array(values, np.int32)


SOURCES = {
    "ADD": ([HALF, HALF], {}),
    "CONCATENATION": ([HALF[:1], HALF[:1]], {"axis": 0}),
    "FILL": ([SIZES, np.array(0.5, f32)], {}),
    "GATHER": ([HALF, ints(1, 0)], {}),
    "PACK": ([HALF[0], HALF[0]], {"values_count": 2}),
    "RESHAPE": ([HALF.ravel(), SIZES], {}),
    "SLICE": ([HALF, ints(0, 0), SIZES], {}),
    "TILE": ([HALF[:, :1], ints(1, UNITS)], {}),
    "TRANSPOSE": ([np.ascontiguousarray(HALF.T), ints(1, 0)], {}),
    "ZEROS_LIKE": ([HALF], {}),
}


def rnn(b, x, state):
    random = np.random.default_rng(0)
    weights = [
        b.constant(f"w{i}", random.normal(0, 0.5, shape).astype(f32))
        for i, shape in enumerate([(UNITS, DEPTH), (UNITS, UNITS), (UNITS,)])
    ]
    y = b.tensor("y", (BATCH, STEPS, UNITS))
    b.op("UNIDIRECTIONAL_SEQUENCE_RNN", [x, *weights, state], [y], fused_activation_function=TANH)
    return save(b.outputs(y))


def ours(content, steps):
    """What the interpreter gives in each step; a list allocates anew, a tuple does not."""
    interpreter, results = Interpreter(model_content=content), []
    (detail,) = interpreter.get_input_details()
    for step in steps:
        if isinstance(step, list):
            interpreter.resize_tensor_input(detail["index"], step[0].shape)
            interpreter.allocate_tensors()
        interpreter.set_tensor(detail["index"], step[0])
        interpreter.invoke()
        results.append(interpreter.get_tensor(interpreter.get_output_details()[0]["index"]))
    return results


def sequences(batch, seed=1):
    return np.random.default_rng(seed).normal(size=(batch, STEPS, DEPTH)).astype(f32)


@pytest.mark.parametrize("kind", SOURCES)
def test_runs_begin_with_what_an_operator_computes(kind, litert):
    operands, options = SOURCES[kind]
    b = Builder()
    x = b.input("x", (BATCH, STEPS, DEPTH))
    state = b.tensor("state", (BATCH, UNITS), is_variable=True)
    constants = [b.constant(f"c{i}", value) for i, value in enumerate(operands)]
    b.op(kind, constants, [state], **options)
    content, x = rnn(b, x, state), sequences(BATCH)
    steps = [[x], (x,), (x * 2,)]
    theirs = litert.run(content, steps, "AUTO")
    assert not isinstance(theirs, str), theirs
    for got, (want,) in zip(ours(content, steps), theirs, strict=True):
        np.testing.assert_allclose(got, want, atol=2e-6)


def test_states_follow_a_new_batch(litert):
    b = Builder()
    x = b.input("x", (None, STEPS, DEPTH))
    first, zeros = b.tensor("first", (None, 1)), b.tensor("zeros", (None, 1))
    state = b.tensor("state", (None, UNITS), is_variable=True)
    bounds = [
        b.constant(f"b{i}", ints(*v)) for i, v in enumerate([(0, 0, 0), (0, 1, 1), (1, 1, 1)])
    ]
    b.op("STRIDED_SLICE", [x, *bounds], [first], begin_mask=1, end_mask=1, shrink_axis_mask=2)
    b.op("ZEROS_LIKE", [first], [zeros])
    b.op("TILE", [zeros, b.constant("n", ints(1, UNITS))], [state])
    content = rnn(b, x, state)
    xs = [sequences(n, seed=n) for n in (2, 3)]
    steps = [[xs[0]], (xs[0],), [xs[1]], (xs[1],), [xs[0]]]
    theirs = litert.run(content, steps)
    assert not isinstance(theirs, str), theirs
    results = ours(content, steps)
    for got, (want,) in zip(results, theirs, strict=True):
        np.testing.assert_allclose(got, want, atol=2e-6)
    np.testing.assert_array_equal(results[0], results[1])
