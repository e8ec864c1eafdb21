"""What the entry points of the converter take for a model, names and shapes."""

import io
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from flatlite.errors import ConverterError
from flatlite.lite import TFLiteConverter
from flatlite.schema import proto

MODELS = Path(__file__).parent / "tf/saved_models"
NONE = None, 0, True, [1], {}, io.BytesIO(b"model"), object()
MODEL = helper.make_model(
    helper.make_graph(
        [helper.make_node("Add", ["x", "w"], ["y"])],
        "sum",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [onnx.numpy_helper.from_array(np.arange(3, dtype=np.float32), "w")],
    ),
    opset_imports=[helper.make_opsetid("", 17)],
)
GRAPH_DEF = proto.parse_text(
    "GraphDef",
    b'node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } '
    b'attr { key: "shape" value { shape { dim { size: 2 } } } } } '
    b'node { name: "y" op: "Neg" input: "x" attr { key: "T" value { type: DT_FLOAT } } }',
)


def forms(message, path):
    """A message, its bytes of four kinds, and the paths of a file of them."""
    content = message.SerializeToString()
    path.write_bytes(content)
    buffers = [content, bytearray(content), memoryview(content), np.frombuffer(content, np.uint8)]
    return [message, *buffers, path, str(path)]


def test_a_model_of_onnx_is_a_path_bytes_or_a_message(tmp_path):
    contents = [
        TFLiteConverter.from_onnx_model(form).convert()
        for form in forms(MODEL, tmp_path / "model.onnx")
    ]
    assert len(set(contents)) == 1


def test_a_message_stays_the_callers():
    message = onnx.ModelProto()
    message.CopyFrom(MODEL)
    converter = TFLiteConverter.from_onnx_model(message)
    message.graph.node[0].op_type = "Sub"
    assert converter.convert() == TFLiteConverter.from_onnx_model(MODEL).convert()


def test_a_frozen_graph_is_a_path_bytes_or_a_message(tmp_path):
    contents = [
        TFLiteConverter.from_frozen_graph(form).convert()
        for form in forms(GRAPH_DEF, tmp_path / "graph.pb")
    ]
    assert len(set(contents)) == 1


def test_weights_beside_a_message_are_nowhere():
    message = onnx.ModelProto()
    message.CopyFrom(MODEL)
    (weights,) = message.graph.initializer
    onnx.external_data_helper.set_external_data(weights, "weights.bin", 0, 12)
    weights.ClearField("raw_data")
    words = "initializer 'w' lies in the file 'weights.bin', and model_file is no path; give the"
    for form in (message, message.SerializeToString()):
        with pytest.raises(ConverterError, match=words):
            TFLiteConverter.from_onnx_model(form)


@pytest.mark.parametrize("content", [b"", b"\xff" * 40, b"\x08\x08"])
def test_bytes_that_are_no_model_of_onnx(content):
    with pytest.raises(ValueError, match=r"model_file is (empty|not an ONNX model: )"):
        TFLiteConverter.from_onnx_model(content)


@pytest.mark.parametrize(
    ("name", "words", "others"),
    [
        ("from_onnx_model", "model_file must be a path, the file's bytes or a ModelProto", ()),
        ("from_frozen_graph", "graph_def_file must be a path, the file's bytes or a GraphDef", ()),
        ("from_tflite_model", "model must be a path or bytes", (MODEL,)),
        ("from_saved_model", "saved_model_dir must be a path", (b"model", MODEL)),
        ("from_keras_model_file", "model_file must be a path", (b"model", MODEL)),
    ],
)
def test_what_is_no_model(name, words, others):
    for value in (*NONE, *others):
        with pytest.raises(TypeError) as error:
            getattr(TFLiteConverter, name)(value)
        assert str(error.value) == f"{words}, got {type(value).__name__}"


def test_another_message_is_no_model():
    with pytest.raises(TypeError, match="bytes or a ModelProto, got GraphDef"):
        TFLiteConverter.from_onnx_model(GRAPH_DEF)
    with pytest.raises(TypeError, match="bytes or a GraphDef, got ModelProto"):
        TFLiteConverter.from_frozen_graph(MODEL)
    with pytest.raises(TypeError, match=r"graph_def must be .* or a GraphDef, got ModelProto"):
        TFLiteConverter(MODEL, None, None, [("x", [1])], ["y"])


def test_ends_are_missing_before_a_graph_is():
    with pytest.raises(ValueError, match="If input_tensors and output_tensors are None, both"):
        TFLiteConverter(None, None, [], [("x", [1])])


def test_a_path_is_no_live_model():
    with pytest.raises(TypeError, match="got str; from_keras_model_file reads"):
        TFLiteConverter.from_keras_model("model.keras")


@pytest.mark.parametrize("shapes", ["x", 3, [("x", [1, 3])], {1: [1]}])
def test_shapes_are_a_dict_by_name(shapes, tmp_path):
    calls = [
        lambda: TFLiteConverter.from_onnx_model(MODEL, input_shapes=shapes),
        lambda: TFLiteConverter.from_frozen_graph(GRAPH_DEF, input_shapes=shapes),
        lambda: TFLiteConverter.from_saved_model(MODELS / "orders", input_shapes=shapes),
        lambda: TFLiteConverter.from_keras_model_file(tmp_path, input_shapes=shapes),
    ]
    for call in calls:
        with pytest.raises(TypeError, match=r"input_shapes must (be a dict|have tensor names)"):
            call()


def test_sizes_are_not_negative():
    with pytest.raises(ValueError, match=r"sizes of 'x' in input_shapes .*, got \[-2, 3\]"):
        TFLiteConverter.from_onnx_model(MODEL, input_shapes={"x": [-2, 3]})


@pytest.mark.parametrize("argument", ["input_arrays", "tag_set", "signature_keys", "tags"])
def test_names_are_a_list(argument):
    with pytest.raises(TypeError, match=rf"{argument} must be a list of names, got int"):
        TFLiteConverter.from_saved_model(MODELS / "orders", **{argument: 3})


@pytest.mark.parametrize(
    ("names", "words"),
    [
        ([], "must name at least one tensor, got none"),
        (iter("y"), "must be a list of tensor names"),
    ],
)
def test_outputs_are_named(names, words):
    keras = MODELS.parents[1] / "keras/models" / "images_keras3.keras"
    for load, model in (
        (TFLiteConverter.from_onnx_model, MODEL),
        (TFLiteConverter.from_frozen_graph, GRAPH_DEF),
        (TFLiteConverter.from_saved_model, MODELS / "orders"),
        (TFLiteConverter.from_keras_model_file, keras),
    ):
        with pytest.raises(ValueError, match=rf"output_arrays .*{words}"):
            load(model, output_arrays=names)
