"""Files for this interpreter alone, in types that LiteRT has no kernels for."""

import numpy as np
import pytest

import flatlite.compat.v1 as tf
from flatlite.errors import ConverterError
from flatlite.lite import Interpreter, TFLiteConverter

PROGRAMS = {
    np.float64: lambda x: tf.sin(tf.maximum(x * x + x, tf.transpose(x))),
    np.complex128: lambda x: tf.exp(tf.sqrt(x) * tf.conj(x)) / x,
    np.uint64: lambda x: tf.reduce_sum(tf.concat([x * x, x + x], 0), 1),
}


@pytest.fixture
def runs_in_litert():
    """Not these files."""


@pytest.mark.parametrize("dtype", PROGRAMS)
def test_types_that_litert_lacks(dtype):
    x = np.arange(1, 10).reshape(3, 3).astype(dtype)
    with tf.Graph().as_default(), tf.Session() as session:
        source = tf.placeholder(dtype, x.shape)
        result = PROGRAMS[dtype](source)
        converter = TFLiteConverter.from_session(session, [source], [result])
        with pytest.raises(ConverterError, match="LiteRT would refuse the model"):
            converter.convert()
        converter.target = "flatlite"
        interpreter = Interpreter(model_content=converter.convert())
        want = session.run(result, {source: x})
    assert converter.verified
    interpreter.allocate_tensors()
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], x)
    interpreter.invoke()
    got = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
    assert got.dtype == want.dtype
    np.testing.assert_allclose(got, want, rtol=1e-14)
