"""RunOptions and RunMetadata: a run that takes too long, that is closed, and one that is timed."""

import queue
import threading

import numpy as np
import pytest

import flatlite.compat.v1 as tf
from flatlite.lite import Limits


@pytest.fixture
def slow():
    """A function that runs an operation that takes seconds, and its session."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = y = tf.placeholder(tf.float32, [1000, 1000])
        for _ in range(300):
            y = tf.matmul(y, x)
        feeds = {x: np.full([1000, 1000], 1e-3, np.float32)}
        yield lambda **options: session.run(y.op, feeds, **options), session


def test_a_run_that_takes_too_long_is_given_up(slow):
    run, session = slow
    options = tf.RunOptions(timeout_in_ms=100)
    with pytest.raises(tf.errors.DeadlineExceededError, match=r"^Timed out waiting for notif"):
        run(options=options)
    assert session.run(tf.constant(2) + 3) == 5
    assert session.run(tf.constant(2) + 4, options=tf.RunOptions(timeout_in_ms=60_000)) == 6


def test_closing_the_session_ends_a_run_of_another_thread(slow):
    run, session = slow
    closer = threading.Timer(0.2, session.close)
    closer.start()
    with pytest.raises(tf.errors.CancelledError, match="Run call was cancelled"):
        run()
    closer.join()
    with pytest.raises(RuntimeError, match="closed Session"):
        run()


def test_run_metadata_has_the_time_of_each_operation():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [64, 64], name="x")
        y = tf.matmul(x, x, name="y")
        z = tf.unique(tf.reshape(y, [-1]), name="z")[0] + 1
        feeds, metadata = {x: np.eye(64)}, tf.RunMetadata()
        session.run(z, feeds, run_metadata=metadata)
        assert not metadata.step_stats.dev_stats
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        for _ in range(2):
            got = session.run(z, feeds, options=options, run_metadata=metadata)
    np.testing.assert_array_equal(got, [2, 1])
    (device,) = metadata.step_stats.dev_stats
    assert device.device.endswith("CPU:0")
    nodes = {node.node_name: node for node in device.node_stats}
    assert {"y", "z"} <= nodes.keys()
    assert nodes["y"].all_end_rel_nanos > 0
    assert nodes["y"].timeline_label == "y = MatMul(x:0, x:0)"
    (output,) = nodes["y"].output
    description = output.tensor_description
    sizes = [dim.size for dim in description.shape.dim]
    assert (output.slot, description.dtype, sizes) == (0, tf.float32.as_datatype_enum, [64, 64])
    starts = [node.all_start_nanos for node in device.node_stats]
    assert starts == sorted(starts)


@pytest.mark.parametrize("native", [True, False])
def test_a_loop_that_never_ends_is_given_up(native):
    with tf.Graph().as_default(), tf.Session() as session:

        def body(i):
            return i + 1 if native else tf.py_func(lambda i: i + np.float32(1), [i], tf.float32)

        loop = tf.while_loop(lambda i: i > -1, body, [tf.constant(0.0)], [tf.TensorShape(None)])
        with pytest.raises(tf.errors.DeadlineExceededError, match=r"^Timed out waiting for notif"):
            session.run(loop, options=tf.RunOptions(timeout_in_ms=150))
        assert session.run(tf.constant(2) + 3) == 5


def test_memory_that_a_run_may_take():
    with tf.Graph().as_default(), tf.Session(memory_limit=1_000_000) as session:
        x = tf.placeholder(tf.float32, [None, 100])
        y = tf.exp(tf.matmul(x, x, transpose_b=True)) * 2
        assert session.run(y, {x: np.zeros((100, 100))}).shape == (100, 100)
        words = "the tensors need [0-9,]+ bytes, at most 1,000,000 may be used"
        with pytest.raises(tf.errors.ResourceExhaustedError, match=words):
            session.run(y, {x: np.zeros((1000, 100))})
        assert session.run(y, {x: np.zeros((101, 100))}).shape == (101, 101)


def test_a_memory_limit_is_a_number_of_bytes():
    with pytest.raises(TypeError, match=r"memory_limit must be a whole number of bytes, got 1\.5"):
        tf.Session(memory_limit=1.5)
    with pytest.raises(ValueError, match="memory_limit must not be negative, got -1"):
        tf.Session(memory_limit=-1)


def test_limits_of_a_run():
    limits = Limits(memory=1_000_000, elements=5_000, operators=4, tensors=4)
    with tf.Graph().as_default(), tf.Session(limits=limits) as session:
        x = tf.placeholder(tf.float32, [None, 10], name="x")
        y = tf.matmul(x, x, transpose_b=True, name="y")
        assert session.run(y, {x: np.zeros((70, 10))}).shape == (70, 70)
        words = "at most 5,000 elements in tensor 'y:0' are allowed, the run has 5,041"
        with pytest.raises(tf.errors.ResourceExhaustedError, match=words):
            session.run(y, {x: np.zeros((71, 10))})
        with pytest.raises(tf.errors.ResourceExhaustedError, match=r"in tensor 'x:0' .* 5,010"):
            session.run(y, {x: np.zeros((501, 10))})
        with pytest.raises(tf.errors.ResourceExhaustedError, match=r"at most 4 operators .* 5"):
            session.run(tf.exp(tf.exp(tf.exp(tf.exp(y)))), {x: np.zeros((1, 10))})
        assert session.run(y, {x: np.zeros((2, 10))}).shape == (2, 2)


def test_limits_hold_for_sizes_that_only_running_tells():
    with tf.Graph().as_default(), tf.Session(limits=Limits(elements=100)) as session:
        flags = tf.placeholder(tf.bool, [None])
        places = tf.concat([tf.where(flags)] * 3, 0, name="places")
        assert session.run(places, {flags: np.arange(90) < 30}).shape == (90, 1)
        words = "at most 100 elements in tensor 'places:0' are allowed, the run has 120"
        with pytest.raises(tf.errors.ResourceExhaustedError, match=words):
            session.run(places, {flags: np.arange(90) < 40})


def test_limits_that_are_none_of_a_session():
    with pytest.raises(TypeError, match="limits must be a Limits, got int"):
        tf.Session(limits=5)
    with pytest.raises(ValueError, match="a Session has no file, of which file_bytes would be"):
        tf.Session(limits=Limits(file_bytes=5))
    with pytest.raises(ValueError, match=r"memory_limit is limits\.memory, got 5 and 6"):
        tf.Session(memory_limit=5, limits=Limits(memory=6))


def endless():
    return tf.while_loop(lambda i: i > -1, lambda i: i + 1, [tf.constant(0.0)])


def test_the_time_of_a_call():
    with tf.Graph().as_default(), tf.Session() as session:
        with pytest.raises(tf.errors.DeadlineExceededError, match=r"^Timed out waiting for notif"):
            session.run(endless(), options=tf.RunOptions(timeout_in_ms=10**6), timeout=0.1)
        with pytest.raises(ValueError, match=r"timeout must be a number of seconds, .* got -1"):
            session.run(tf.constant(2), timeout=-1)
        assert session.run(tf.constant(2) + 3, timeout=60) == 5


def test_cancel_ends_runs_of_other_threads_and_the_session_stays_usable():
    with tf.Graph().as_default(), tf.Session() as session:
        value = tf.get_variable("value", initializer=1.0)
        session.run(value.initializer)
        loop, errors = endless(), []

        def run():
            with pytest.raises(tf.errors.CancelledError, match=r"^Run call was cancelled") as error:
                session.run(loop)
            errors.append(error)

        thread = threading.Thread(target=run)
        thread.start()
        while thread.is_alive():
            session.cancel()
            thread.join(0.01)
        assert len(errors) == 1
        session.cancel()
        assert session.run(value + 1) == 2


def test_times_of_operations():
    with tf.Graph().as_default(), tf.Session(profile=True) as session:
        x = tf.placeholder(tf.float32, [None, 4])
        y = tf.matmul(x, tf.ones([4, 3]), name="y")
        z = tf.cumsum(y, name="z")
        with pytest.raises(RuntimeError, match="no run was timed yet: make the session with prof"):
            session.profile()
        for target in y, y, z:
            session.run(target, {x: np.ones((2, 4))})
        times = {time.name: time for time in session.profile()}
        assert [times["y"].kind, times["z"].kind] == ["MatMul", "Cumsum"]
        assert all(time.seconds > 0 for time in times.values())
        assert times["y"].position < times["z"].position
    with tf.Graph().as_default(), tf.Session() as session, pytest.raises(RuntimeError):
        session.profile()


def test_functions_that_wait_for_one_another():
    """As TensorFlow's PyFuncTest.testParallel: what needs nothing of the other runs beside it."""
    elements = queue.Queue()

    def put(x):
        elements.put(x)
        elements.join()
        return x

    def get():
        x = elements.get()
        elements.task_done()
        return x

    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.int64, [])
        first = tf.py_func(put, [x + 1], tf.int64)
        double = first * 2
        second = tf.py_func(get, [], tf.int64)
        for n in range(3):
            assert session.run([double + second, first], {x: n}) == [3 * n + 3, n + 1]


def test_functions_that_wait_are_left():
    event = threading.Event()

    def wait():
        event.wait()
        return 1

    config = tf.ConfigProto(operation_timeout_in_ms=200)
    with tf.Graph().as_default(), tf.Session(config=config) as limited:
        total = tf.py_func(wait, [], tf.int64) + tf.py_func(wait, [], tf.int64)
        with pytest.raises(tf.errors.DeadlineExceededError):
            limited.run(total)
        session = tf.Session()
        timer = threading.Timer(0.1, session.close)
        timer.start()
        with pytest.raises(tf.errors.CancelledError):
            session.run(total)
        timer.join()
        event.set()
        assert limited.run(total) == 2


@pytest.mark.parametrize("kind", [tf.py_func, tf.py_function])
@pytest.mark.parametrize("in_loop", [False, True])
def test_a_single_function_that_waits_is_left(kind, in_loop):
    """Its thread goes on, what it gives is dropped, and the session can be used."""
    event, calls = threading.Event(), []

    def wait(x):
        calls.append(int(x))
        if len(calls) == 1:
            event.wait()
        return np.int64(x + 1)

    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.int64, [])
        y = kind(wait, [x], tf.int64)
        if in_loop:
            y = tf.while_loop(
                lambda y: y < x + 3, lambda y: tf.reshape(kind(wait, [y], tf.int64), []), [x]
            )
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(y, {x: 1}, options=tf.RunOptions(timeout_in_ms=150))
        assert calls == [1]
        assert session.run(y, {x: 5}) == (8 if in_loop else 6)
        event.set()
        assert session.run(y, {x: 7}, timeout=60) == (10 if in_loop else 8)
