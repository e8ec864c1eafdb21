"""How programs say what becomes a tensor, and look for numbers that are none."""

import pytest

import flatlite.compat.v1 as tf


class Celsius:
    def __init__(self, degrees):
        self.degrees = degrees


class Nothing:
    pass


def test_conversion_of_a_type():
    tf.register_tensor_conversion_function(
        Celsius,
        lambda value, dtype=None, name=None, as_ref=False: tf.constant(
            value.degrees, dtype or tf.float32, name=name
        ),
    )
    tf.register_tensor_conversion_function(Nothing, lambda *_, **__: NotImplemented)
    with tf.Graph().as_default(), tf.Session() as session:
        assert session.run(tf.add(Celsius(1.5), 2.0)) == 3.5
        assert tf.convert_to_tensor(Celsius(1), tf.int32).dtype == tf.int32
        with pytest.raises(TypeError, match="Nothing"):
            tf.convert_to_tensor(Nothing())


def test_conversions_that_are_refused():
    with pytest.raises(TypeError, match="Python numeric types"):
        tf.register_tensor_conversion_function(int, lambda *_: None)
    with pytest.raises(TypeError, match="must be callable"):
        tf.register_tensor_conversion_function(Celsius, 3)
    with pytest.raises(TypeError, match="must be a type"):
        tf.register_tensor_conversion_function("x", lambda *_: None)


def test_every_number_is_looked_at():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [2], name="x")
        tf.log(x, name="y")
        check = tf.add_check_numerics_ops()
        session.run(check, {x: [1.0, 2.0]})
        with pytest.raises(tf.errors.InvalidArgumentError, match="y:0 : Tensor had Inf"):
            session.run(check, {x: [0.0, 1.0]})
