"""`tf.nn.raw_rnn` that reads as `dynamic_rnn` does gives what `dynamic_rnn` gives."""

import numpy as np
import pytest

import flatlite.compat.v1 as tf

LENGTHS = [3, 1, 4]


def reader(cell, inputs, lengths, counts):
    """A loop function that feeds the steps of `inputs` [time, batch, depth]."""
    array = tf.TensorArray(tf.float32, size=inputs.shape[0].value).unstack(inputs)

    def loop_fn(time, output, state, loop_state):
        if output is None:
            state, loop_state = cell.zero_state(inputs.shape[1].value, tf.float32), 0
        finished = time >= lengths
        everyone = tf.reduce_all(finished)
        step = tf.cond(everyone, lambda: tf.zeros(inputs.shape[1:]), lambda: array.read(time))
        return finished, step, state, output, loop_state + 1 if counts else None

    return loop_fn


def test_as_dynamic_rnn():
    x = np.random.RandomState(0).randn(4, 3, 5).astype(np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        cell = tf.nn.rnn_cell.LSTMCell(6)
        with tf.variable_scope("net", initializer=tf.random_uniform_initializer(seed=1)) as scope:
            outputs, state = tf.nn.dynamic_rnn(
                cell, x, LENGTHS, dtype=tf.float32, time_major=True, scope="rnn"
            )
            scope.reuse_variables()
            arrays, last, count = tf.nn.raw_rnn(
                cell, reader(cell, tf.constant(x), tf.constant(LENGTHS), True), scope="rnn"
            )
        stacked = arrays.stack()
        weights = tf.trainable_variables()
        assert len(weights) == 2
        slopes = [tf.gradients(tf.reduce_sum(y**2), weights) for y in (outputs, stacked)]
        session.run(tf.global_variables_initializer())
        expected = session.run((outputs, state, slopes[0]))
        result = session.run((stacked, last, slopes[1]))
        for a, b in zip(tf.nest.flatten(expected), tf.nest.flatten(result), strict=True):
            np.testing.assert_allclose(b, a, rtol=1e-5, atol=1e-6)
        assert session.run(count) == 5


def test_what_is_emitted():
    with tf.Graph().as_default(), tf.Session() as session:
        cell = tf.nn.rnn_cell.BasicRNNCell(2)

        def loop_fn(time, output, state, loop_state):
            if output is None:
                emit = (tf.zeros([], tf.int32), tf.zeros([2]))
                return [False, False], tf.ones([2, 3]), tf.zeros([2, 2]), emit, None
            emit = (tf.fill([2], time), output)
            return time >= [1, 3], tf.ones([2, 3]), state, emit, None

        (times, outputs), _, loop_state = tf.nn.raw_rnn(cell, loop_fn)
        assert loop_state is None
        session.run(tf.global_variables_initializer())
        numbers, values = session.run([times.stack(), outputs.stack()])
        assert numbers.tolist() == [[1, 1], [0, 2], [0, 3]]
        assert values.shape == (3, 2, 2)
        assert not values[1:, 0].any()


def test_refused():
    with pytest.raises(TypeError, match=r"'cell' .* is not an RNNCell"):
        tf.nn.raw_rnn(3, lambda *_: None)
    with pytest.raises(TypeError, match="Argument `loop_fn` must be a callable"):
        tf.nn.raw_rnn(tf.nn.rnn_cell.BasicRNNCell(2), 3)
