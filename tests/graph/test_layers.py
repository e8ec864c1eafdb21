"""`tf.layers`: names of variables, values, errors."""

import numpy as np
import pytest

import flatlite.compat.v1 as tf


@pytest.fixture(autouse=True)
def graph():
    """An empty default graph."""
    with tf.Graph().as_default() as graph:
        yield graph


def test_names_and_reuse(graph):
    """Variables are called `<layer>/kernel` and `<layer>/bias`, and are found again by name."""
    x = tf.zeros([2, 8, 8, 3])
    y = tf.layers.conv2d(x, 4, [3, 2], activation=tf.nn.relu, padding="same", strides=2)
    assert y.name == "conv2d/Relu:0"
    assert y.shape == (2, 4, 4, 4)
    flat = tf.layers.flatten(tf.layers.max_pooling2d(y, 2, 2))
    assert flat.shape == (2, 16)
    for name in (None, None, "out"):
        tf.layers.dense(flat, 5, name=name)
    tf.layers.dense(flat, 5, name="out", reuse=True)
    with pytest.raises(ValueError, match="Variable out/kernel already exists"):
        tf.layers.dense(flat, 5, name="out")
    assert [v.op.name for v in tf.trainable_variables()] == [
        *("conv2d/kernel", "conv2d/bias", "dense/kernel", "dense/bias"),
        *("dense_1/kernel", "dense_1/bias", "out/kernel", "out/bias"),
    ]


def test_values():
    """A dense layer on the last of several dimensions; pooling; dropout."""
    x = np.arange(24, dtype=np.float32).reshape(1, 2, 3, 4)
    dense = tf.layers.dense(
        x, 2, kernel_initializer=tf.ones_initializer(), bias_initializer=tf.constant_initializer(1)
    )
    given = tf.placeholder(tf.float32, [None, None, 3, 4])
    open_sizes = tf.layers.dense(given, 2, kernel_initializer=tf.ones_initializer())
    assert open_sizes.shape == (None, None, 3, 2)
    mean = tf.layers.average_pooling2d(x, [2, 1], 1)
    kept, dropped = tf.layers.dropout(x), tf.layers.dropout(x + 1, 0.5, training=True)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found = session.run([dense, mean, kept, dropped])
        np.testing.assert_allclose(session.run(open_sizes, {given: x}), found[0] - 1)
    sums = x.sum(-1, keepdims=True)
    np.testing.assert_allclose(found[0], np.concatenate([sums, sums], -1) + 1)
    np.testing.assert_allclose(found[1], (x[:, :1] + x[:, 1:]) / 2)
    np.testing.assert_array_equal(found[2], x)
    assert set((found[3] / (x + 1)).ravel()) <= {0.0, 2.0}


def test_errors():
    """Wrong arguments are named."""
    with pytest.raises(ValueError, match="last dimension of the inputs to a Dense layer"):
        tf.layers.dense(tf.placeholder(tf.float32, [2, None]), 3)
    with pytest.raises(ValueError, match=r"The channel dimension of the inputs should be defined"):
        tf.layers.conv2d(tf.placeholder(tf.float32, [2, 8, 8, None]), 3, 3)
    with pytest.raises(ValueError, match="`kernel_size` argument must be a tuple of 2 integers"):
        tf.layers.conv2d(tf.zeros([2, 8, 8, 1]), 3, [3, 3, 3])
    with pytest.raises(ValueError, match="data_format must be one of"):
        tf.layers.max_pooling2d(tf.zeros([2, 8, 8, 1]), 2, 2, data_format="NHWC")
