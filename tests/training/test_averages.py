"""Schedules and moving averages against what TensorFlow recorded; arguments and errors."""

import json

import make_averages
import numpy as np
import pytest

import flatlite
import flatlite.compat.v1 as tf

GOLDENS = json.loads(make_averages.GOLDENS.read_text())


class AsTensorFlow:
    """The names that the recording script uses."""

    Graph = tf.Graph
    compat = flatlite.compat


@pytest.mark.parametrize("expr", make_averages.SCHEDULES)
def test_schedule(expr):
    rates = make_averages.rates(AsTensorFlow, expr)
    np.testing.assert_allclose(rates, GOLDENS[expr], rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize("expr", make_averages.AVERAGES)
def test_averages(expr):
    result, expected = make_averages.averages(AsTensorFlow, expr), GOLDENS[expr]
    np.testing.assert_allclose(result.pop("values"), expected["values"], rtol=1e-5, atol=1e-6)
    assert result == {key: expected[key] for key in result}


def test_noise_has_the_variance_that_decays():
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(3)
        step = tf.placeholder(tf.int32, [])
        rate = tf.train.noisy_linear_cosine_decay(
            1.0, step, 100, initial_variance=4.0, variance_decay=1.0
        )
        for n, deviation in ((0, 2.0), (3, 1.0)):
            rates = [session.run(rate, {step: n}) for _ in range(400)]
            assert abs(np.std(rates) - deviation) < 0.15 * deviation


def test_errors():
    with tf.Graph().as_default():
        count = tf.get_variable("count", initializer=1)
        average = tf.train.ExponentialMovingAverage(0.9)
        with pytest.raises(TypeError, match="The variables must be half, float, or double"):
            average.apply([count])
        assert average.average(count) is None
        assert average.name == "ExponentialMovingAverage"
        for schedule in (tf.train.cosine_decay_restarts, tf.train.linear_cosine_decay):
            with pytest.raises(ValueError, match="global_step is required"):
                schedule(0.1, None, 10)
