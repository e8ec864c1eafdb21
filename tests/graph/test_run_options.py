"""RunOptions and RunMetadata: a run that takes too long, that is closed, and one that is timed."""

import threading

import numpy as np
import pytest

import flatlite.compat.v1 as tf


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
