"""Recurrent nets: TensorFlow's recorded outputs, gradients and names; wrappers; errors."""

import make_recurrent
import numpy as np
import pytest

import flatlite.compat.v1 as tf

GOLDENS = np.load(make_recurrent.GOLDENS)
cells = tf.nn.rnn_cell


SLOW = (0, 3, 4, 6, 8, 9)


@pytest.mark.parametrize(
    "i",
    [
        pytest.param(i, marks=[pytest.mark.slow] if i in SLOW else [], id=expr)
        for i, expr in enumerate(make_recurrent.NETS)
    ],
)
def test_recorded(i):
    names, arrays = make_recurrent.results(tf, make_recurrent.NETS[i])
    assert names == GOLDENS[f"{i}:names"].tolist()
    keys = [key for key in GOLDENS.files if key.startswith(f"{i}:0")]
    assert len(keys) == len(arrays) > 2
    for got, key in zip(arrays, sorted(keys), strict=True):
        np.testing.assert_allclose(got, GOLDENS[key], rtol=1e-4, atol=2e-6, err_msg=key)


def test_shapes_and_states():
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None, None, 3])
        cell = cells.MultiRNNCell([cells.LSTMCell(4, num_proj=2), cells.GRUCell(5)])
        assert cell.state_size == (cells.LSTMStateTuple(4, 2), 5)
        assert cell.output_size == 5
        outputs, state = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)
        assert outputs.shape == (None, None, 5)
        assert isinstance(state[0], cells.LSTMStateTuple)
        assert [s.shape for s in state[0]] == [(None, 4), (None, 2)]
        zero = cell.zero_state(7, tf.float32)
        assert zero[0].c.shape == (7, 4)
        assert len(cell.variables) == 3 + 4
        assert cell.scope_name == "rnn/multi_rnn_cell"


def test_two_nets_share_a_cell():
    with tf.Graph().as_default():
        cell = cells.GRUCell(3)
        for _ in range(2):
            tf.nn.dynamic_rnn(cell, tf.zeros([2, 4, 3]), dtype=tf.float32)
        assert len(tf.trainable_variables()) == 4


def test_dropout_wrapper():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.ones([50, 4, 3])
        cell = cells.DropoutWrapper(cells.GRUCell(3), output_keep_prob=0.5, seed=1)
        outputs, _ = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)
        session.run(tf.global_variables_initializer())
        dropped = session.run(outputs) == 0
        assert 0.4 < dropped.mean() < 0.6
        assert (dropped[:, 0] != dropped[:, 1]).any()
        same = cells.DropoutWrapper(
            cells.GRUCell(3), state_keep_prob=0.5, output_keep_prob=0.5,
            variational_recurrent=True, dtype=tf.float32,
        )  # fmt: skip
        outputs, _ = tf.nn.dynamic_rnn(same, x, dtype=tf.float32, scope="other")
        session.run(tf.global_variables_initializer())
        dropped = session.run(outputs) == 0
        assert (dropped[:, 0] == dropped[:, 1]).all()
        with pytest.raises(ValueError, match="must be between 0 and 1"):
            cells.DropoutWrapper(cell, input_keep_prob=2.0)


def test_errors():
    with tf.Graph().as_default():
        x = tf.zeros([2, 4, 3])
        with pytest.raises(TypeError, match="is not an RNNCell"):
            tf.nn.dynamic_rnn(None, x)
        with pytest.raises(ValueError, match="argument `dtype` must be specified"):
            tf.nn.dynamic_rnn(cells.GRUCell(3), x)
        with pytest.raises(ValueError, match="sequence_length must be a vector"):
            tf.nn.dynamic_rnn(cells.GRUCell(3), x, [[1]], dtype=tf.float32)
        with pytest.raises(ValueError, match="Argument `inputs` must not be empty"):
            tf.nn.static_rnn(cells.GRUCell(3), [], dtype=tf.float32)
        with pytest.raises(TypeError, match="Argument `inputs` must be a sequence"):
            tf.nn.static_rnn(cells.GRUCell(3), x, dtype=tf.float32)
        with pytest.raises(TypeError, match="cells must be a list or tuple"):
            cells.MultiRNNCell(cells.GRUCell(3))
        with pytest.raises(ValueError, match="at least one cell"):
            cells.MultiRNNCell([])
        unknown = tf.placeholder(tf.float32, [2, 4, None])
        with pytest.raises(ValueError, match="must be accessible via shape inference"):
            tf.nn.dynamic_rnn(cells.GRUCell(3), unknown, dtype=tf.float32)
