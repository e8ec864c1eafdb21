"""Index tuples outside, to be ignored: TensorFlow's recorded answers, here and in LiteRT."""

from pathlib import Path

import numpy as np
import pytest
from bad_indices import CASES, CONVERTED, PARAMS
from running import answers

import flatlite.compat.v1 as tf
from flatlite.errors import ConverterError
from flatlite.lite import Interpreter, TFLiteConverter

REFERENCE = "BUILTIN_WITHOUT_DEFAULT_DELEGATES"
RECORDED = np.load(Path(__file__).with_name("bad_indices.npz"))


def converted(name):
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, PARAMS.shape, "x")
        y = CASES[name](tf.raw_ops, x)
        return TFLiteConverter.from_session(session, [x], [y]).convert()


@pytest.mark.parametrize("name", CASES)
def test_outside_is_ignored(name):
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, PARAMS.shape)
        value = session.run(CASES[name](tf.raw_ops, x), {x: PARAMS})
    np.testing.assert_array_equal(value, RECORDED[name])


@pytest.mark.parametrize("name", CONVERTED)
def test_converted(name, litert):
    content = converted(name)
    (y,) = answers(Interpreter(model_content=content), PARAMS)
    ((theirs,),) = litert.run(content, [[PARAMS]], REFERENCE)
    np.testing.assert_array_equal(y, RECORDED[name])
    np.testing.assert_array_equal(theirs, RECORDED[name])


def test_what_has_no_form_without_it_is_refused():
    with pytest.raises(ConverterError, match=r"TensorScatterUpdate .* must not be IGNORE"):
        converted("update")


def test_policies_that_there_are_not():
    with tf.Graph().as_default(), tf.Session() as session:
        y = tf.raw_ops.GatherNd(params=PARAMS, indices=[[0]], bad_indices_policy="BAD")
        with pytest.raises(tf.errors.InvalidArgumentError, match="Unknown bad indices handling"):
            session.run(y)
