"""to_graph: weights by name, variables that last, and a way back with no more operators."""

from pathlib import Path

import numpy as np
import pytest
from cases import all_cases, content
from raised import NOT_RAISED, assert_like, in_session, interpreted, real
from recorded import folder
from running import kinds

import flatlite.compat.v1 as tf
from flatlite.converter.raising.registry import RAISES
from flatlite.converter.tf.flex import flex_options
from flatlite.errors import ConverterError, UnsupportedOps
from flatlite.graph.core.build import ops
from flatlite.lite import Interpreter, TFLiteConverter, to_graph
from flatlite.schema import model as schema
from flatlite.schema import operators as operator_rows


@pytest.mark.parametrize("signature", ["branch", "loop", "called", "nested", "case"])
def test_variables_last(signature, litert):
    """Three runs give what LiteRT gives in three runs of the file."""
    folder = Path(__file__).parent / "tf/saved_models" / "effects"
    raised = to_graph(folder, signature_key=signature)
    assert [v.op.name for v in raised.variables.values()] == ["seen"]
    assert not any(variable.trainable for variable in raised.variables.values())
    converter = TFLiteConverter.from_saved_model(folder, signature_keys=[signature])
    inputs = np.float32([1.5, -2])
    theirs = litert.run(converter.convert(), [[inputs], (inputs,), (inputs,)], "BUILTIN_REF")
    assert not isinstance(theirs, str), theirs
    ((x,), (y,)) = raised.inputs.values(), raised.outputs.values()
    with tf.Session(graph=raised.graph) as session:
        session.run(raised.initializer)
        for (want,) in theirs:
            np.testing.assert_allclose(session.run(y, {x: inputs}), want, rtol=1e-6)


FLEX = Path(__file__).parents[1] / "interpreter" / "flex"
RUNS = np.load(FLEX / "runs.npz")
STATES = ["collected", "counted_words", "numbers_to_numbers", "queued", "remembered", "stepped"]
STATES += ["words_to_numbers", "words_to_words"]
FILES = [path for path in sorted(FLEX.glob("*.tflite")) if path.stem not in STATES]


@pytest.mark.parametrize("name", STATES)
def test_states_of_tensorflow_stay_in_files(name):
    words = "is about a table, an array or another state|must be constants, and CUSTOM computes one"
    with pytest.raises(ConverterError, match=words):
        to_graph(FLEX / f"{name}.tflite")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_operations_of_tensorflow_in_a_file(path):
    """TensorFlow's answers, but for random numbers."""
    inputs, want = (
        [RUNS[key] for key in RUNS.files if key.startswith(f"{path.stem}:{kind}:")]
        for kind in ("in", "tf")
    )
    raised = to_graph(path)
    for got, expected in zip(in_session(raised, inputs), want, strict=True):
        assert got.shape == expected.shape
        if path.stem != "random":
            np.testing.assert_allclose(got, expected, rtol=2e-5, atol=1e-5)


def test_a_model_opens_no_files():
    with tf.Graph().as_default():
        x = tf.placeholder(tf.string, [], name="x")
        op = ops.WriteFile(x, x)
    options = flex_options(op)
    tensors = [schema.Tensor("x", (), "STRING"), schema.Tensor("y", (), "FLOAT32")]
    step = schema.Operator(
        "CUSTOM", [0, 0], [1], custom_code="FlexWriteFile", custom_options=options
    )
    content = schema.save(schema.Model([schema.Subgraph("main", tensors, [0], [1], [step])]))
    with pytest.raises(ConverterError, match="CUSTOM 'y': WriteFile opens files or changes"):
        to_graph(content)


def model_path(*parts):
    return folder().joinpath("C", *parts)


MODELS = {
    "mobilenet_v2_k3/float.tflite": 65,
    "lenet_k3/float.tflite": 15,
    "lenet_tfk/float.tflite": 12,
    "tf1_simple_save_cnn_cfv1/float.tflite": 7,
    "lenet_k3/model.keras": 12,
    "lenet_tfk/model.h5": 12,
}
"""Model -> the operators of its file, for a source those of what the converter writes."""


@pytest.mark.parametrize("name", MODELS)
def test_there_and_back(name):
    """The converter verifies what it writes against the graph, with every weight a variable."""
    path = model_path(*Path(name).parts)
    raised = to_graph(path, trainable=True)
    assert len(raised.variables) == len(raised.weights) > 4
    with tf.Session(graph=raised.graph) as session:
        session.run(raised.initializer)
        converter = raised.converter(session)
        written = converter.convert()
    assert converter.verified
    assert len(kinds(written)) <= MODELS[name]
    if path.suffix == ".tflite":
        before, after = (
            Interpreter(model_content=file).get_signature_list()
            for file in (path.read_bytes(), written)
        )
        assert after == before
        names = [x["name"] for x in Interpreter(model_content=written).get_output_details()]
        assert names == [x["name"] for x in Interpreter(str(path)).get_output_details()]
        shapes = [
            [3 if n is None else n for n in x.shape.as_list()] for x in raised.inputs.values()
        ]
        feeds = [np.float32(np.random.default_rng(0).normal(0, 1, shape)) for shape in shapes]
        want, (_, details) = interpreted(path.read_bytes(), feeds)
        got, _ = interpreted(written, feeds)
        for ours, expected, detail in zip(got, want, details, strict=True):
            assert_like(ours, expected, detail, 1e-4, 1e-5)


def test_quantized_model_is_one_of_reals():
    path = model_path("lenet_k3", "int8.tflite")
    raised = to_graph(path, trainable=True)
    types = {op.type for op in raised.graph.get_operations()}
    assert "FakeQuantWithMinMaxArgs" in types and "Cast" not in types
    assert {x.dtype for x in (*raised.inputs.values(), *raised.outputs.values())} == {tf.float32}
    details = Interpreter(str(path)).get_input_details()
    shape = [2 if n < 0 else n for n in details[0]["shape_signature"]]
    values = np.random.default_rng(0).integers(-128, 128, shape).astype(np.int8)
    want, (_, outputs) = interpreted(path.read_bytes(), [values])
    (got,) = in_session(raised, [real(values, details[0])])
    scale = outputs[0]["quantization"][0]
    np.testing.assert_allclose(got, real(want[0], outputs[0]), rtol=0, atol=3 * scale)
    with raised.graph.as_default():
        (loss,) = (tf.reduce_sum(tf.square(y)) for y in raised.outputs.values())
        gradients = tf.gradients(loss, list(raised.variables.values()))
    assert None not in gradients


LENET = ("lenet_tfk", "float.tflite")


def trained_names(trainable):
    return list(to_graph(model_path(*LENET), trainable=trainable).variables)


def test_weights_are_chosen_by_name():
    raised = to_graph(model_path(*LENET))
    assert not raised.variables
    weights = raised.weights
    assert len(weights) == 10
    everything = trained_names(True)
    assert len(everything) == 10
    assert trained_names([weights[-2]]) == everything[-2:-1]
    prefix = weights[-1].rpartition("/")[0]
    assert trained_names([prefix]) == everything[-2:]
    assert trained_names("Conv2D") == everything[:4]  # both weights of two layers
    assert trained_names(False) == []


def test_a_name_that_is_none():
    with pytest.raises(ValueError, match=r"trainable must name weights or layers of the model, "):
        to_graph(model_path(*LENET), trainable=["no_such_layer"])
    with pytest.raises(ValueError, match=r"got 'no\.such', which none has; names of some are '"):
        to_graph(model_path(*LENET), trainable="no.such")
    with pytest.raises(ValueError, match=r"trainable must be a regular expression, got '\('"):
        to_graph(model_path(*LENET), trainable="(")
    with pytest.raises(TypeError, match="trainable must be True, a pattern or a list of names"):
        to_graph(model_path(*LENET), trainable=3)


def test_what_is_no_model():
    with pytest.raises(TypeError, match=r"to_graph takes a path, or the bytes of a \.tflite file"):
        to_graph(3)
    with pytest.raises(ValueError, match=r"must be those of a .tflite file, got b'no model'"):
        to_graph(b"no model")
    with pytest.raises(ValueError, match=r"signature_key must be one of \['serving_default'\]"):
        to_graph(model_path(*LENET), signature_key="other")
    with pytest.raises(FileNotFoundError):
        to_graph("nowhere.tflite")


def test_what_has_no_form_is_refused_by_name():
    case = next(case for case in all_cases() if case.op == "LSH_PROJECTION")
    with pytest.raises(UnsupportedOps) as refused:
        to_graph(content(case))
    words = str(refused.value)
    assert "LSH_PROJECTION x 1, first 'out0'" in words
    assert "ABS, ADD, ADD_N" in words and "flatlite.edit.cut" in words


def test_every_operator_is_raised_or_known_not_to_be():
    """What is missing is listed here, so that a new operator is not forgotten."""
    missing = set(operator_rows.kinds()) - set(RAISES.names())
    assert missing == NOT_RAISED
