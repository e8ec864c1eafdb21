"""Random numbers in loops: TensorFlow's, by instructions of the engine and by Python."""

import json
from pathlib import Path

import numpy as np
import pytest

import flatlite.compat.v1 as tf
from flatlite.graph.session import inlining
from flatlite.graph.session.kernels import control as control_kernels

from .draw_programs import PROGRAMS, other_types_and_shapes, values_of

RECORDED = json.loads(Path(__file__).with_name("draw_programs.json").read_text())


def check(function):
    for got, recorded in zip(values_of(tf, function), RECORDED[function.__name__], strict=True):
        for value, expected in zip(got, recorded, strict=True):
            np.testing.assert_allclose(value, expected, rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_numbers(function, monkeypatch):
    """Those of TensorFlow; no function is run by Python where all sizes and types are usual."""
    if function is not other_types_and_shapes:

        def fail(*_):
            raise AssertionError("a function was run by Python")

        monkeypatch.setattr(control_kernels.Body, "run", fail)
    check(function)


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_numbers_by_python(function, monkeypatch):
    """The same where Python runs the functions: the streams are the same."""
    monkeypatch.setattr(inlining, "WAYS", {})
    check(function)


def test_one_stream_for_instructions_and_kernels():
    """A size that is known and one that is not draw from where the other has left the stream."""
    with tf.Graph().as_default(), tf.Session() as session:
        shape = tf.placeholder(tf.int32, [1])
        numbers = tf.random.uniform(shape, seed=3)
        (op,) = [op for op in session.graph.get_operations() if op.type == "RandomUniform"]
        fed = [session.run(numbers, {shape: [n]}) for n in (4, 4, 6, 4)]
    with tf.Graph().as_default(), tf.Session() as session:
        known = tf.random.uniform([4], seed=3)
        (other,) = [op for op in session.graph.get_operations() if op.type == "RandomUniform"]
        assert op.get_attr("seed2") == other.get_attr("seed2")
        runs = [session.run(known) for _ in range(2)]
    np.testing.assert_array_equal(fed[:2], runs)
    assert len(np.unique(np.concatenate(fed))) == 18


def test_binomial_shapes_end_in_those_of_the_parameters():
    words = "Shape passed in must end with broadcasted shape."
    with tf.Graph().as_default(), tf.Session() as session:
        numbers = tf.random.stateless_binomial([7, 2], [3, 4], 9.0, [0.5] * 7)
        with pytest.raises(tf.errors.InvalidArgumentError, match=words):
            session.run(numbers)


def test_binomial_numbers_of_no_counts():
    """TensorFlow's kernel never comes back from these."""
    with tf.Graph().as_default(), tf.Session() as session:
        draw = tf.random.stateless_binomial
        numbers = draw([4, 2], [3, 4], [np.nan, 9.0], [0.3, np.nan], tf.float32)
        assert np.isnan(session.run(numbers)).all()
        with pytest.raises(tf.errors.InvalidArgumentError, match="counts must be finite"):
            session.run(draw([4], [3, 4], np.inf, 0.5, tf.float32))
