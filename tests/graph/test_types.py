"""The types that TF1 programs see: DType and TensorShape on tensors and variables."""

import copy
import pickle

import numpy as np
import pytest

import flatlite.compat.v1 as tf


@pytest.fixture
def x():
    with tf.Graph().as_default():
        yield tf.placeholder(tf.float32, [None, 3])


def test_tensors_and_variables_have_dtypes_of_tensorflow(x):
    variable = tf.Variable([1, 2])
    assert x.dtype is tf.float32
    assert variable.dtype.base_dtype is tf.int32
    assert x.dtype.is_floating
    assert not variable.dtype.is_floating
    assert x.dtype.is_compatible_with("float32")
    assert x.dtype.as_numpy_dtype is np.float32
    assert (x.dtype.name, repr(x.dtype), str(x.dtype)) == (
        "float32", "tf.float32", "<dtype: 'float32'>",
    )  # fmt: skip
    assert (variable.dtype.min, variable.dtype.max) == (-(2**31), 2**31 - 1)


@pytest.mark.parametrize("name", ["float32", "int8", "bool", "complex64", "string", "bfloat16"])
def test_there_is_one_object_for_each_type(name):
    one = getattr(tf, name)
    assert tf.as_dtype(name) is one
    assert tf.as_dtype(one.as_numpy_dtype) is one
    assert tf.as_dtype(one.as_datatype_enum) is one
    assert pickle.loads(pickle.dumps(one)) is one
    assert copy.deepcopy(one) is one


def test_dtypes_equal_those_of_numpy():
    assert tf.float32 == np.float32
    assert np.float32 == tf.float32
    assert np.dtype("f4") == tf.float32
    assert tf.float32 == "float32"
    assert tf.float32 != "int32"
    assert tf.float32 != None  # noqa: E711 - numpy would take it for float64
    assert {np.dtype("f4"): 1}[tf.float32] == 1
    assert np.zeros(2, tf.int16).dtype == np.int16
    assert np.arange(3).astype(tf.float64).dtype == np.float64


def test_shapes_equal_lists_and_add(x):
    assert x.shape == [None, 3]
    assert (x.shape != [None, 3]) is False
    assert x.shape != [2, 3]
    assert x.shape == tf.TensorShape([None, 3])
    assert tf.TensorShape([None, 3]) == x.shape
    assert [1] + tf.TensorShape([2]) == [1, 2]
    assert [1] + x.shape == [1, None, 3]
    assert x.shape + [4] == [None, 3, 4]
    assert x.shape[1].value == 3
    assert hash(x.shape) == hash((None, 3))
    for one in (tf.TensorShape([2, 3]), tf.Dimension(3), x.shape):
        assert pickle.loads(pickle.dumps(one)) == one
