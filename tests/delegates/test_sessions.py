"""Delegates in Sessions: what they take of a run, and that it computes the same."""

import numpy as np
import pytest

import flatlite.compat.v1 as tf
from flatlite.lite import Delegate

f32 = np.float32


def matched(x, weights, bias=0):
    return x @ weights.T + bias


FUNCTIONS = {
    "ADD": np.add,
    "FULLY_CONNECTED": matched,
    "MUL": np.multiply,
    "SUB": np.subtract,
    "TANH": np.tanh,
}


class Counting(Delegate):
    """Runs some operators by numpy, and counts how often."""

    name = "numpy"

    def __init__(self, fails=False, **options):
        super().__init__(**options)
        self.n_runs, self.fails = 0, fails

    def reason_against(self, op):
        if op.kind not in FUNCTIONS:
            return "numpy has no such function"
        if getattr(op.options, "fused_activation_function", 0):
            return "its activation"
        return "its type" if op.results[0].dtype != np.float32 else None

    def compile(self, partition):
        def run(*arrays):
            self.n_runs += 1
            if self.fails:
                raise OSError("the device is gone")
            values = dict(zip(partition.inputs, arrays, strict=True))
            values |= {x: x.value for x in partition.constants}
            for op in partition.ops:
                operands = [values[x] for x in op.inputs if x is not None]
                values[op.results[0]] = FUNCTIONS[op.kind](*operands).astype(f32)
            return [values[x] for x in partition.outputs]

        return run


def regression(use_resource):
    """A step of training: x, the fetches."""
    x = tf.placeholder(f32, [None, 4], name="x")
    with tf.variable_scope("v", use_resource=use_resource):
        weights = tf.get_variable(
            "weights", initializer=np.linspace(-1, 1, 12, dtype=f32).reshape(4, 3)
        )
        bias = tf.get_variable("bias", initializer=np.ones(3, f32))
    y = tf.tanh(tf.matmul(x, weights) + bias, name="y")
    loss = tf.reduce_sum(tf.square(y - 0.5))
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    with tf.control_dependencies([train]):
        after = tf.identity(tf.matmul(x, weights) * 2, name="after")
    return x, [loss, y, after]


def trained(use_resource, **options):
    """What three steps give, with batches of two sizes."""
    with tf.Graph().as_default():
        x, fetches = regression(use_resource)
        with tf.Session(**options) as session:
            session.run(tf.global_variables_initializer())
            batches = [np.linspace(-1, 1, 4 * n, dtype=f32).reshape(n, 4) for n in (2, 2, 5)]
            return [session.run(fetches, {x: batch}) for batch in batches], session


@pytest.mark.parametrize("use_resource", [False, True])
def test_training_is_the_same(use_resource):
    delegate = Counting()
    results, session = trained(use_resource, delegates=[delegate])
    for step, plain in zip(results, trained(use_resource)[0], strict=True):
        for array, expected in zip(step, plain, strict=True):
            np.testing.assert_allclose(array, expected, rtol=1e-5, atol=1e-6)
    assert delegate.n_runs >= 3
    rows = {row.name: row for row in session.delegate_report().operators}
    assert rows["MatMul"].delegate == rows["y"].delegate == "numpy"
    assert rows["MatMul"].part == rows["y"].part
    weights = rows["v/weights"]
    assert (
        weights.part is None and weights.reason == "it keeps state, reads variables or has effects"
    )


def test_times_name_the_part():
    with tf.Graph().as_default():
        x = tf.placeholder(f32, [2])
        with tf.Session(delegates=[Counting()], profile=True) as session:
            session.run(tf.tanh(x) * 2, {x: [1, 2]})
            (time,) = session.profile()
    assert (time.kind, time.name) == ("DELEGATE", "numpy 0") and time.seconds > 0


def test_what_is_behind_sizes_of_a_run_stays():
    with tf.Graph().as_default(), tf.Session(delegates=[Counting()]) as session:
        x = tf.placeholder(f32, [None])
        y = tf.tanh(x, name="y")
        z = tf.tanh(tf.boolean_mask(y, x > 0), name="z")
        feed = f32([-1, 2, 3])
        np.testing.assert_allclose(session.run(z, {x: feed}), np.tanh(np.tanh(feed[1:])), 1e-6)
        rows = {row.name: row for row in session.delegate_report().operators}
    assert rows["y"].part is not None
    assert (
        rows["z"].part is None and rows["z"].reason == "it is behind sizes that only running tells"
    )


def test_a_type_that_the_file_would_not_keep_stays():
    with tf.Graph().as_default(), tf.Session(delegates=[Counting()]) as session:
        x = tf.placeholder(tf.float64, [2], name="x")
        assert session.run(tf.tanh(x, name="y"), {x: [0, 1]}).dtype == np.float64
        (row,) = session.delegate_report().operators
    assert (row.part, row.reason) == (None, "'x:0' is float64")


def test_an_operation_that_cannot_be_lowered_as_it_is_used():
    with tf.Graph().as_default(), tf.Session(delegates=[Counting()]) as session:
        x, axis = tf.placeholder(f32, [2, 3]), tf.placeholder(tf.int32, [])
        y = tf.tanh(tf.concat([tf.tanh(x, name="y"), x], axis, name="joined"), name="z")
        feeds = {x: np.ones((2, 3)), axis: 1}
        assert session.run(y, feeds).shape == (2, 6)
        rows = {row.name: row for row in session.delegate_report().operators}
    assert rows["y"].part is not None
    assert rows["joined"].part is None and rows["joined"].reason


def test_a_delegate_that_fails():
    with tf.Graph().as_default():
        x = tf.placeholder(f32, [2])
        y = tf.tanh(x) * 3
        with tf.Session(delegates=[Counting(fails=True)]) as session:
            with pytest.warns(RuntimeWarning, match="OSError: the device is gone; the CPU runs"):
                result = session.run(y, {x: [1, 2]})
            np.testing.assert_allclose(result, np.tanh(f32([1, 2])) * 3, 1e-6)
        strict = Counting(fails=True, fallback=False)
        with tf.Session(delegates=[strict]) as session:
            with pytest.raises(tf.errors.InternalError, match="the device is gone"):
                session.run(y, {x: [1, 2]})
            strict.fails = False
            assert session.run(y, {x: [0, 0]}).tolist() == [0, 0]


def test_what_an_operation_says_of_its_data():
    with tf.Graph().as_default(), tf.Session(delegates=[Counting()]) as session:
        x, i = tf.placeholder(f32, [3]), tf.placeholder(tf.int32, [2])
        y = tf.tanh(tf.gather(x, i, name="rows")) * 2
        assert session.run(y, {x: np.zeros(3), i: [0, 1]}).tolist() == [0, 0]
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[1\] = 3 .*(?s:.*)rows"):
            session.run(y, {x: np.zeros(3), i: [0, 3]})


def test_what_is_no_delegate():
    for wrong in ("xla", 5, [Counting], ["xla"]):
        with pytest.raises(TypeError, match="delegates must"):
            tf.Session(delegates=wrong)
    with tf.Graph().as_default(), tf.Session() as session:
        session.run(tf.constant(1))
        with pytest.raises(RuntimeError, match=r"nothing was run with delegates: make the session"):
            session.delegate_report()
