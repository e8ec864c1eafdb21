"""Learning rates: TensorFlow's recorded values, arguments, errors."""

import numpy as np
import pytest
from recorded import load, rows

import flatlite.compat.v1 as tf

ROWS = [row for row in rows() if row["kind"] == "tf1_schedule"]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_recorded(row, record_property):
    record_property("corpus", "tf1_schedule")
    recorded = load(row["files"]["data"])
    with tf.Graph().as_default(), tf.Session() as session:
        step = tf.placeholder(tf.int32, [])
        rate = eval(row["expr"], {"tf": tf, "g": step})
        values = [session.run(rate, {step: n}) for n in recorded["steps"]]
    np.testing.assert_allclose(values, recorded[row["key"]], **row["tolerance"]["tf"])


def test_staircase():
    with tf.Graph().as_default(), tf.Session() as session:
        step = tf.placeholder(tf.int64, [])
        rate = tf.train.exponential_decay(1.0, step, 10, 0.5, staircase=True)
        assert [session.run(rate, {step: n}) for n in (0, 9, 10, 25)] == [1, 1, 0.5, 0.25]


def test_cycle():
    with tf.Graph().as_default(), tf.Session() as session:
        step = tf.placeholder(tf.int64, [])
        rate = tf.train.polynomial_decay(1.0, step, 10, 0.0, cycle=True)
        values = [session.run(rate, {step: n}) for n in (0, 5, 10, 15)]
    np.testing.assert_allclose(values, [1, 0.5, 0, 0.25], atol=1e-6)


def test_errors():
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="global_step is required"):
            tf.train.exponential_decay(0.1, None, 10, 0.9)
        with pytest.raises(ValueError, match="should be 1 less than the length of values"):
            tf.train.piecewise_constant(tf.constant(1), [1], [1.0])


def test_global_step():
    with tf.Graph().as_default(), tf.Session() as session:
        assert tf.train.get_global_step() is None
        step = tf.train.create_global_step()
        assert step.name == "global_step:0"
        assert step.dtype == tf.int64
        assert tf.train.get_or_create_global_step() is step
        assert tf.get_collection(tf.GraphKeys.GLOBAL_STEP) == [step]
        assert step not in tf.trainable_variables()
        with pytest.raises(ValueError, match='"global_step" already exists'):
            tf.train.create_global_step()
        session.run(tf.global_variables_initializer())
        assert tf.train.global_step(session, step) == 0
    with tf.Graph().as_default():
        wrong = tf.get_variable("global_step", initializer=1.0)
        with pytest.raises(TypeError, match="does not have integer type"):
            tf.train.get_global_step()
        with pytest.raises(TypeError, match="does not have integer type"):
            tf.train.assert_global_step(wrong)
