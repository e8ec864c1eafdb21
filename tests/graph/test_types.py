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


@pytest.mark.parametrize(
    ("name", "one"),
    [
        (float, "float32"),
        ("float", "float32"),
        ("double", "float64"),
        ("half", "float16"),
        (bool, "bool"),
        (object, "string"),
        (np.float64, "float64"),
    ],
)
def test_names_of_types_as_tensorflow_takes_them(name, one):
    assert tf.as_dtype(name) is getattr(tf, one)
    assert getattr(tf, one) == name


def float_makers():
    """Functions of tf that make a tensor of a type."""
    return {
        "constant": lambda dtype: tf.constant(1, dtype),
        "placeholder": tf.placeholder,
        "zeros": lambda dtype: tf.zeros([2], dtype),
        "ones_like": lambda dtype: tf.ones_like([1], dtype),
        "eye": lambda dtype: tf.eye(2, dtype=dtype),
        "range": lambda dtype: tf.range(3, dtype=dtype),
        "one_hot": lambda dtype: tf.one_hot([1], 3, dtype=dtype),
        "cast": lambda dtype: tf.cast([1], dtype),
        "saturate_cast": lambda dtype: tf.saturate_cast([1], dtype),
        "bitcast": lambda dtype: tf.bitcast([1], dtype),
        "convert_to_tensor": lambda dtype: tf.convert_to_tensor(1, dtype),
        "random_normal": lambda dtype: tf.random_normal([2], dtype=dtype),
        "Variable": lambda dtype: tf.Variable(1, dtype=dtype),
        "get_variable": lambda dtype: tf.get_variable("v", [2], dtype),
        "initializer": lambda dtype: tf.zeros_initializer(dtype)([2]),
    }


@pytest.mark.parametrize("name", float_makers())
@pytest.mark.parametrize("dtype", [float, "float"])
def test_float_is_float32_as_in_tensorflow(name, dtype):
    with tf.Graph().as_default():
        assert float_makers()[name](dtype).dtype.base_dtype is tf.float32


def test_strings_have_a_name():
    with tf.Graph().as_default():
        assert tf.placeholder("string").dtype is tf.string


@pytest.mark.parametrize("dtype", [int, complex])
def test_types_that_tensorflow_does_not_take(dtype):
    words = "Cannot convert the argument `type_value`: <class '.*'> to a TensorFlow DType"
    with tf.Graph().as_default():
        for call in (
            tf.as_dtype,
            lambda kind: tf.zeros([1], kind),
            lambda kind: tf.cast(1.5, kind),
        ):
            with pytest.raises(TypeError, match=words):
                call(dtype)


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


def test_variables_of_messages_have_the_dtype_of_those_they_describe():
    with tf.Graph().as_default():
        variable = tf.Variable([1.0, 2.0])
        assert tf.Variable.from_proto(variable.to_proto()).dtype is variable.dtype


@pytest.mark.parametrize("dtype", [tf.qint8, tf.quint8, tf.qint32], ids=str)
def test_zeros_of_quantized_integers(dtype):
    """Zeros and ones have the type, and their numbers as integers."""
    with tf.Graph().as_default(), tf.Session() as session:
        zeros, ones = tf.zeros([2, 3], dtype), tf.ones([2], dtype)
        assert zeros.dtype == ones.dtype == dtype
        values = session.run([tf.cast(zeros, tf.int32), tf.cast(ones, tf.int32)])
    assert [value.tolist() for value in values] == [[[0, 0, 0], [0, 0, 0]], [1, 1]]


def test_numbers_of_types_beside_their_names():
    assert tf.bool.name == "bool"  # looked up, it is a name of the module of types
    assert tf.zeros([1], 1).dtype == tf.float32
    with pytest.raises(TypeError, match="to a TensorFlow DType"):
        tf.zeros([1], 99)
