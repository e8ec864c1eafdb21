"""`tf.raw_ops`; parameters, results and errors are TensorFlow 2.21's."""

import inspect

import numpy as np
import pytest

import flatlite.compat.v1 as tf
from flatlite.graph.functions.raw import RENAMED

PARAMETERS = {
    "All": "input axis keep_dims",
    "Any": "input axis keep_dims",
    "Cast": "x DstT Truncate",
    "Conv2D": (
        "input filter strides padding use_cudnn_on_gpu explicit_paddings data_format dilations"
    ),
    "EuclideanNorm": "input axis keep_dims",
    "ExpandDims": "input axis",
    "MatMul": "a b transpose_a transpose_b grad_a grad_b",
    "Max": "input axis keep_dims",
    "Mean": "input axis keep_dims",
    "Min": "input axis keep_dims",
    "Placeholder": "dtype shape",
    "Prod": "input axis keep_dims",
    "Select": "condition x y",
    "Split": "axis value num_split",
    "SplitV": "value size_splits axis num_split",
    "Squeeze": "input axis",
    "Sum": "input axis keep_dims",
    "Where": "condition",
}
POSITIONAL = (
    "mat_mul only takes keyword args (possible keys: ['a', 'b', 'transpose_a', 'transpose_b', "
    "'grad_a', 'grad_b', 'name']). Please pass these args as kwargs instead."
)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.mark.parametrize("kind", PARAMETERS)
def test_parameters(kind):
    signature = inspect.signature(getattr(tf.raw_ops, kind))
    assert list(signature.parameters) == [*PARAMETERS[kind].split(), "name"]


def test_parameters_with_other_names_are_all_tested():
    assert set(RENAMED) <= set(PARAMETERS)


def test_what_is_there():
    assert len(dir(tf.raw_ops)) > 700
    assert {"MatMul", "TopKV2", "NoOp"} <= set(dir(tf.raw_ops))
    assert not any(name.startswith("_") for name in dir(tf.raw_ops))
    with pytest.raises(AttributeError, match="raw_ops' has no attribute 'Foo'"):
        _ = tf.raw_ops.Foo


def test_results():
    x = tf.constant([[1.0, 3.0, 2.0]])
    top = tf.raw_ops.TopKV2(input=x, k=2, name="top")
    assert (type(top).__name__, top._fields) == ("TopKV2", ("values", "indices"))
    assert top.values.op.name == "top"
    (part,) = tf.raw_ops.Split(axis=0, value=x, num_split=1)
    assert len(tf.raw_ops.IdentityN(input=[x, x])) == 2
    nothing = tf.raw_ops.NoOp()
    product = tf.raw_ops.MatMul(a=x, b=x, transpose_b=True)
    with tf.Session() as session:
        assert session.run(nothing) is None
        np.testing.assert_array_equal(session.run(part), [[1, 3, 2]])
        np.testing.assert_array_equal(session.run(top.indices), [[1, 2]])
        np.testing.assert_array_equal(session.run(product), [[14]])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda x: tf.raw_ops.MatMul(x, x),
            POSITIONAL,
        ),
        (
            lambda x: tf.raw_ops.MatMul(a=x),
            "mat_mul() missing 1 required positional argument: 'b'",
        ),
        (
            lambda x: tf.raw_ops.MatMul(a=x, b=x, c=3),
            "mat_mul() got an unexpected keyword argument 'c'",
        ),
    ],
    ids=["positional", "missing", "unknown"],
)
def test_errors(call, words):
    with pytest.raises(TypeError) as raised:
        call(tf.constant([[1.0]]))
    assert str(raised.value) == words


def test_a_number_is_a_shape_of_one_dimension():
    """As TensorFlow 2.21 reads it."""
    assert tf.raw_ops.Placeholder(dtype=tf.float32, shape=3).shape == (3,)
    assert tf.raw_ops.ParallelConcat(values=[["a"]], shape=3).shape == (3,)


def test_a_switch_runs():
    switch = tf.raw_ops.Switch(data=tf.constant(1.0), pred=tf.placeholder(tf.bool, []))
    feeds, dead = {switch.output_true.op.inputs[1]: True}, r"Retval\[0\] does not have value"
    with tf.Session() as session:
        assert session.run(switch.output_true, feeds) == 1.0
        with pytest.raises(tf.errors.InvalidArgumentError, match=dead):
            session.run(switch.output_false, feeds)
