"""TensorFlow 1's deprecated names: they warn, and do what their successors do."""

import numpy as np
import pytest

import flatlite.compat.v1 as tf
from flatlite.lite import Interpreter, experimental

lite = tf.lite


@pytest.fixture
def program():
    """A session whose graph computes y = 2 x + 1."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [1, 2], name="x")
        y = tf.add(2.0 * x, 1.0, name="y")
        yield session, x, y


def result(content):
    interpreter = Interpreter(model_content=content)
    interpreter.allocate_tensors()
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], np.float32([[1, 2]]))
    interpreter.invoke()
    return interpreter.get_tensor(interpreter.get_output_details()[0]["index"]).tolist()


def test_toco_convert(program):
    session, x, y = program
    with pytest.warns(DeprecationWarning, match="use `lite.TFLiteConverter` instead"):
        content = lite.toco_convert(session.graph_def, [x], [y])
    assert result(content) == [[3, 5]]
    with pytest.warns(DeprecationWarning, match="toco_convert is deprecated"):
        drawing = lite.toco_convert(
            session.graph_def, [x], [y], output_format=lite.constants.GRAPHVIZ_DOT
        )
    assert drawing.startswith(b"digraph")


def test_toco_convert_with_shapes(program):
    session, x, y = program
    with pytest.warns(DeprecationWarning, match="toco_convert is deprecated"):
        content = lite.toco_convert(session.graph_def, [x], [y], input_shapes=[[1, 2]])
    assert result(content) == [[3, 5]]


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        ((), {"inference_tipe": 1}, TypeError, "got 'inference_tipe', which is none of"),
        ((np.float32,), {"inference_type": np.float32}, TypeError, "'inference_type', twice"),
        (range(20), {}, TypeError, "at most 22 arguments"),
        ((), {"input_format": 4}, ValueError, "input_format must be 1"),
    ],
)
def test_arguments_that_are_refused(program, arguments, options, error, message):
    session, x, y = program
    with (
        pytest.warns(DeprecationWarning, match="toco_convert is deprecated"),
        pytest.raises(error, match=message),
    ):
        lite.toco_convert(session.graph_def, [x], [y], *arguments, **options)


def test_toco_converter(program, request):
    session, x, y = program
    root = request.config.rootpath
    makers = {
        "from_session": (session, [x], [y]),
        "from_frozen_graph": (session.graph_def.SerializeToString(), ["x"], ["y"]),
        "from_saved_model": (root / "models/digits/saved_model",),
    }
    for name, arguments in makers.items():
        with pytest.warns(DeprecationWarning, match=f"use `lite.TFLiteConverter.{name}` instead"):
            converter = getattr(lite.TocoConverter, name)(*arguments)
        assert isinstance(converter, lite.TFLiteConverter)
    with (
        pytest.warns(DeprecationWarning, match="lite.TFLiteConverter.from_keras_model_file"),
        pytest.raises(FileNotFoundError),
    ):
        lite.TocoConverter.from_keras_model_file(root / "none.h5")


def test_potentially_supported_ops():
    names = [supported.op for supported in experimental.get_potentially_supported_ops()]
    assert names == sorted(set(names))
    assert {"Conv2D", "MatMul", "LeakyRelu"} <= set(names)
    assert "ApplyAdam" not in names
