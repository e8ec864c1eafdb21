"""`tf.layers`: names of variables, values, errors."""

import copy
import json
from pathlib import Path

import layer_programs
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
    inputs = tf.placeholder(tf.float32, [None, None, 3, 4])
    open_sizes = tf.layers.dense(inputs, 2, kernel_initializer=tf.ones_initializer())
    assert open_sizes.shape == (None, None, 3, 2)
    mean = tf.layers.average_pooling2d(x, [2, 1], 1)
    survivors, dropped = tf.layers.dropout(x), tf.layers.dropout(x + 1, 0.5, training=True)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        values = session.run([dense, mean, survivors, dropped])
        np.testing.assert_allclose(session.run(open_sizes, {inputs: x}), values[0] - 1)
    sums = x.sum(-1, keepdims=True)
    np.testing.assert_allclose(values[0], np.concatenate([sums, sums], -1) + 1)
    np.testing.assert_allclose(values[1], (x[:, :1] + x[:, 1:]) / 2)
    np.testing.assert_array_equal(values[2], x)
    assert set((values[3] / (x + 1)).ravel()) <= {0.0, 2.0}


def test_errors():
    """Wrong arguments are named."""
    with pytest.raises(ValueError, match="last dimension of the inputs to a Dense layer"):
        tf.layers.dense(tf.placeholder(tf.float32, [2, None]), 3)
    with pytest.raises(ValueError, match=r"The channel dimension of the inputs should be defined"):
        tf.layers.conv2d(tf.placeholder(tf.float32, [2, 8, 8, None]), 3, 3)
    with pytest.raises(ValueError, match="`kernel_size` argument must be a tuple of 2 integers"):
        tf.layers.conv2d(tf.zeros([2, 8, 8, 1]), 3, [3, 3, 3])
    with pytest.raises(ValueError, match="`data_format` argument must be one of"):
        tf.layers.max_pooling2d(tf.zeros([2, 8, 8, 1]), 2, 2, data_format="NHWC")


GOLDENS = np.load(Path(__file__).with_name("layers.npz"))
FACTS = json.loads(str(GOLDENS["facts"]))


@pytest.mark.parametrize("name", layer_programs.PROGRAMS)
def test_program(name):
    """Variables, results, losses and updates are TensorFlow's."""
    built = layer_programs.run(tf, layer_programs.PROGRAMS[name])
    golden = FACTS["programs"][name]
    for key in ("values", "after"):
        listed = built.pop(key)
        assert len(listed) == golden[key]
        for i, array in enumerate(listed):
            expected = GOLDENS[f"{name}:{key}:{i}"]
            np.testing.assert_allclose(array, expected, rtol=2e-4, atol=1e-5)
    assert built == {key: golden[key] for key in built}


@pytest.mark.parametrize("name", layer_programs.REFUSALS)
def test_refusal(name):
    """The errors are TensorFlow's, in its words."""
    kind, words = layer_programs.refusal(tf, layer_programs.REFUSALS[name])
    golden_kind, golden_words = FACTS["refusals"][name]
    assert kind == golden_kind
    assert words[:60] == golden_words[:60]


def test_a_copy_has_the_same_variables():
    """Copies share variables and scope, and go their own ways from there."""
    layer = tf.layers.Dense(2)
    layer(tf.zeros([1, 3]))
    copied = copy.deepcopy(layer)
    copied(tf.zeros([1, 3]))
    assert copied.kernel is layer.kernel
    assert copied.scope_name == layer.scope_name == "dense"
    assert len(tf.global_variables()) == 2
    copied.add_loss(tf.constant(1.0))
    assert (len(copied.losses), len(layer.losses)) == (1, 0)


def test_input_spec():
    """A layer's demands are looked at when it is called."""

    class Strict(tf.layers.Layer):
        def __init__(self, spec):
            super().__init__(name="strict")
            self.input_spec = spec

    start = 'Input 0 of layer "strict" is incompatible with the layer: '
    cases = [
        (tf.layers.InputSpec(ndim=3), "expected ndim=3, found ndim=2"),
        (tf.layers.InputSpec(max_ndim=1), "expected max_ndim=1, found ndim=2"),
        (tf.layers.InputSpec(min_ndim=3), "expected min_ndim=3, found ndim=2"),
        (
            tf.layers.InputSpec(dtype=tf.int32),
            "expected dtype=int32, found dtype=<dtype: 'float32'>",
        ),
        (tf.layers.InputSpec(axes={1: 4}), "expected axis 1 of input shape to have value 4"),
        (tf.layers.InputSpec(shape=[2, 4]), r"expected shape=\(2, 4\), found shape=\(2, 3\)"),
    ]
    for spec, words in cases:
        with pytest.raises(ValueError, match=start + words):
            Strict(spec)(tf.zeros([2, 3]))
    with pytest.raises(ValueError, match="Unknown activation function: 'sine'"):
        tf.layers.Dense(2, activation="sine")
    with pytest.raises(TypeError, match="Could not interpret activation function"):
        tf.layers.Dense(2, activation=3)
    with pytest.raises(NotImplementedError, match="Strict does not say the shape"):
        Strict(None).compute_output_shape([1])
