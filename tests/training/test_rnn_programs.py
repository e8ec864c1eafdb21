"""Recurrent nets that functions and objects of the program steer, against TensorFlow."""

import json
from pathlib import Path

import numpy as np
import pytest

import flatlite.compat.v1 as tf

from .rnn_programs import PROGRAMS, refusals, values_of

RECORDED = json.loads(Path(__file__).with_name("rnn_programs.json").read_text())


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_values(function):
    """Those of two runs."""
    for got, recorded in zip(values_of(tf, function), RECORDED[function.__name__], strict=True):
        for value, expected in zip(got, recorded, strict=True):
            np.testing.assert_allclose(value, expected, rtol=2e-6, atol=1e-7)


def test_refusals():
    """Types and first words of errors are TensorFlow's."""
    for got, recorded in zip(refusals(tf), RECORDED["refusals"], strict=True):
        assert got[0] == recorded[0]
        assert got[1][:48] == recorded[1][:48]


@pytest.mark.parametrize("kind", ["BasicRNNCell", "GRUCell", "BasicLSTMCell", "LSTMCell"])
def test_cells(kind):
    """A cell that was built before its first call has its variables once, in its own scope."""
    with tf.Graph().as_default():
        cell = getattr(tf.nn.rnn_cell, kind)(4)
        cell.build(tf.TensorShape([None, 3]))
        names = [v.name for v in cell.weights]
        cell(tf.zeros([2, 3]), cell.zero_state(2, tf.float32))
        assert [v.name for v in tf.global_variables()] == names
        scope = cell.name.removesuffix("_1")  # names count from 1 in a graph, scopes from none
        assert cell.name != scope and all(name.startswith(f"{scope}/") for name in names)
        assert cell.trainable_weights == cell.weights and not cell.non_trainable_variables
        integers = tf.zeros([2, 3], tf.int32)
        with pytest.raises(ValueError, match="RNN cell only supports floating point inputs"):
            cell(integers, cell.zero_state(2, tf.float32))


def test_first_state_of_inputs():
    """Batch size and type are those of inputs; others are refused."""
    with tf.Graph().as_default():
        cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.GRUCell(2) for _ in range(2)])
        inputs = tf.placeholder(tf.float32, [7, 3])
        state = cell.get_initial_state(inputs)
        assert [x.shape.as_list() for x in state] == [[7, 2], [7, 2]]
        with pytest.raises(ValueError, match="batch size from input tensor is different from"):
            cell.get_initial_state(inputs, batch_size=5)
        with pytest.raises(ValueError, match="dtype from input tensor is different from"):
            cell.get_initial_state(inputs, dtype=tf.float16)
        with pytest.raises(ValueError, match="Expected state to be a tuple of length 2"):
            tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.GRUCell(2)] * 2)(inputs, tf.zeros([7, 4]))
        cell(inputs, state)
        assert len(cell.weights) == 8
