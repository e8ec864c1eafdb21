"""Functions that become several operators: TensorFlow's recorded answers, here and in LiteRT."""

from pathlib import Path

import numpy as np
import pytest
from tf_functions import CASES

import flatlite.compat.v1 as tf
from flatlite.lite import Interpreter, TFLiteConverter

RECORDED = np.load(Path(__file__).with_name("functions.npz"))
REFERENCE = "BUILTIN_WITHOUT_DEFAULT_DELEGATES"
TOLERANCE = 2e-5


def converted(function, inputs):
    """The file of a function of tensors of these shapes."""
    with tf.Graph().as_default(), tf.Session() as session:
        operands = [tf.placeholder(x.dtype, x.shape) for x in inputs]
        results = function(tf, *operands)
        results = list(results) if isinstance(results, list | tuple) else [results]
        converter = TFLiteConverter.from_session(session, operands, results)
        converter.verify_inputs = [  # drawn ones are no definite matrices
            {x.op.name: value for x, value in zip(operands, inputs, strict=True)}
        ]
        content = converter.convert()
    assert converter.verified
    return content


def answers(content, inputs):
    interpreter = Interpreter(model_content=content)
    interpreter.allocate_tensors()
    for detail, x in zip(interpreter.get_input_details(), inputs, strict=True):
        interpreter.set_tensor(detail["index"], x)
    interpreter.invoke()
    return [interpreter.get_tensor(d["index"]) for d in interpreter.get_output_details()]


def cases():
    """All; of some that differ in settings alone one is not slow."""
    alike = (
        "corners",
        "half",
        "fake_quant",
        "repeats",
        "whole",
        "_back",
        "others/plane",
        "nearest",
    )
    for name in CASES:
        is_slow = name.startswith(("training/", "others/")) and name.endswith(alike)
        yield pytest.param(name, marks=[pytest.mark.slow] * is_slow)


@pytest.mark.parametrize("name", list(cases()))
def test_answers(name, litert):
    function, inputs_of = CASES[name]
    inputs = inputs_of(name)
    content = converted(function, inputs)
    theirs = litert.run(content, [inputs], REFERENCE)
    assert not isinstance(theirs, str), theirs
    for results in (answers(content, inputs), theirs[0]):
        for i, got in enumerate(results):
            want = RECORDED[f"{name} {i}"]
            assert got.dtype == want.dtype and got.shape == want.shape
            if want.dtype.kind in "fc":
                scale = max(1.0, float(np.abs(want).max(initial=0.0)))
                np.testing.assert_allclose(got / scale, want / scale, TOLERANCE, TOLERANCE)
            else:
                np.testing.assert_array_equal(got, want)
