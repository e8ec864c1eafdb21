"""The tools on flatbuffers, beside the objects of flatbuffers' own module for the schema."""

import re

import numpy as np
import pytest
from ai_edge_litert import schema_py_generated as schema
from building import Builder, save
from cases import floats
from declared import examples

from flatlite.errors import ModelError
from flatlite.lite import Interpreter
from flatlite.schema.flatbuffer import build, parse
from flatlite.schema.model import Quantization, Signature, load
from flatlite.schema.model import save as save_model
from flatlite.tools import flatbuffer_utils, modify_model_interface, visualize

SMALL = 40_000  # bytes of a file


def files(corpus):
    paths = [p for p in sorted(corpus.rglob("*.tflite")) if p.stat().st_size < SMALL]
    return [p.read_bytes() for p in paths[::15]] + list(examples())


def theirs(content):
    return schema.ModelT.InitFromPackedBuf(content, 0)


def same(ours, other):
    """Whether an object has what flatbuffers' own has."""
    if hasattr(other, "__dict__"):
        assert type(ours).__name__.lower() == type(other).__name__.lower()
        names = {name.lower(): name for name in vars(ours)}
        for name, value in vars(other).items():
            assert same(getattr(ours, names[name.lower()]), value), name
        return True
    if isinstance(other, list):
        return len(ours) == len(other) and all(same(a, b) for a, b in zip(ours, other, strict=True))
    if isinstance(other, np.ndarray):
        return np.array_equal(ours, other)
    return ours == other or (other in (0, None) and not np.size(ours))


def test_objects_are_those_of_flatbuffers(corpus):
    for content in files(corpus):
        ours = flatbuffer_utils.convert_bytearray_to_object(content)
        assert same(ours, theirs(content))


def test_models_are_written(corpus, tmp_path):
    path = tmp_path / "m.tflite"
    for content in files(corpus)[:20]:
        want = load(content)
        for model in flatbuffer_utils.read_model_from_bytearray(content), theirs(content):
            flatbuffer_utils.write_model(model, path)
            assert load(path.read_bytes()) == want
            assert flatbuffer_utils.read_model(path).version == 3
    with pytest.raises(RuntimeError, match="Input file not found at"):
        flatbuffer_utils.read_model(tmp_path / "none")
    with pytest.raises(ModelError, match="not a valid Flatbuffer"):
        flatbuffer_utils.convert_bytearray_to_object(b"123456789")


def added():
    b = Builder()
    x, y = b.input("x", (2, 3)), b.tensor("y", (2, 3))
    b.op("ADD", [x, b.constant("by", floats(2, 3))], [y])
    return save(b.outputs(y), signatures=[("s", {"x": x}, {"y": y}, 0)])


@pytest.mark.parametrize("read", [flatbuffer_utils.convert_bytearray_to_object, theirs])
def test_strings_are_stripped(read):
    model = read(added())
    flatbuffer_utils.strip_strings(model)
    stripped = load(flatbuffer_utils.convert_object_to_bytearray(model))
    assert stripped.signatures == []
    assert [t.name for t in stripped.subgraphs[0].tensors] == ["", "", ""]


@pytest.mark.parametrize("read", [flatbuffer_utils.convert_bytearray_to_object, theirs])
def test_weights_become_random(read):
    model, again, skipped = read(added()), read(added()), read(added())
    before = load(added()).subgraphs[0].tensors[2].data
    (buffer,) = [i for i, b in enumerate(model.buffers) if b.data is not None and len(b.data)]
    flatbuffer_utils.randomize_weights(model)
    flatbuffer_utils.randomize_weights(again)
    flatbuffer_utils.randomize_weights(skipped, random_seed=3, buffers_to_skip=[buffer])
    first, second, third = (
        load(flatbuffer_utils.convert_object_to_bytearray(m)).subgraphs[0].tensors[2].data
        for m in (model, again, skipped)
    )
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(third, before)
    assert (first != before).all() and (abs(first) <= 0.5).all()


def test_names_of_codes():
    model = flatbuffer_utils.convert_bytearray_to_object(added())
    assert flatbuffer_utils.opcode_to_name(model, 0) == "ADD"
    assert flatbuffer_utils.type_to_name(9) == "INT8"
    assert flatbuffer_utils.type_to_name(99) is None
    b = Builder()
    x = b.input("x", (1,))
    b.op("CUSTOM", [x], [b.tensor("y", (1,))], custom_code="Mine")
    model = flatbuffer_utils.convert_bytearray_to_object(save(b.outputs(1)))
    flatbuffer_utils.rename_custom_ops(model, {"Mine": "Yours"})
    assert model.operatorCodes[0].customCode == b"Yours"


def test_variables_are_counted():
    b = Builder()
    for name in "first", "second", "first":
        b.op("VAR_HANDLE", [], [b.tensor("h", (1,), "RESOURCE")], shared_name=name)
    content = save(b.outputs())
    assert flatbuffer_utils.count_resource_variables(content) == 2
    assert flatbuffer_utils.count_resource_variables(theirs(content)) == 2


def test_xxd(tmp_path):
    content, path = added(), tmp_path / "m.cc"
    rows = [content[i : i + 12] for i in range(0, len(content), 12)]
    lines = ["  " + ", ".join(f"0x{byte:02x}" for byte in row) + "," for row in rows]
    text = (
        "unsigned char m[] = { // 0x41\n" + "\n".join(lines) + f"\n}};\nint n = {len(content)};\n"
    )
    path.write_text(text)
    assert flatbuffer_utils.xxd_output_to_bytes(path) == content
    assert flatbuffer_utils.xxd_output_to_object(path).version == 3


def test_options_of_an_operator():
    as_ = flatbuffer_utils.get_options_as
    reader = schema.Model.GetRootAs(added(), 0).Subgraphs(0).Operators(0)
    for op in reader, schema.OperatorT.InitFromObj(reader):
        assert isinstance(as_(op, schema.AddOptionsT), schema.AddOptionsT)
        assert as_(op, schema.Conv2DOptionsT) is None
        assert as_(op, schema.StableHLOCompositeOptionsT) is None
        for wrong in int, schema.AddOptions, schema.ModelT:
            with pytest.raises(ValueError, match="Unsupported options type"):
                as_(op, wrong)


def test_a_page(tmp_path):
    path = tmp_path / "<a>.tflite"
    path.write_bytes(added())
    page = visualize.create_html(str(path))
    for text in "&lt;a&gt;.tflite", "ADD", "by", "24 bytes", "FLOAT32", "Subgraph 0":
        assert text in page
    assert page.count("<table>") == page.count("</table>") == 6
    assert not re.search(r"<script|<a>", page)
    assert "Null (used model object)" in visualize.create_html(added(), input_is_filepath=False)
    reported = visualize.CreateDictFromFlatbuffer(added())
    assert reported["subgraphs"][0]["tensors"][1]["shape"] == [2, 3]
    assert visualize.BuiltinCodeToName(10) == "HASHTABLE_LOOKUP"
    assert visualize.TensorTypeToName(0) == "FLOAT32"
    with pytest.raises(RuntimeError, match="Invalid filename"):
        visualize.create_html(str(tmp_path / "none.tflite"))
    with pytest.raises(RuntimeError, match=r"not \.tflite"):
        visualize.create_html(__file__)


def quantized(dtype):
    """y = RELU(x) within integers, float32 at its ends."""
    b = Builder()
    scheme = {"quantization": Quantization(np.float32([0.1]), np.array([0]), 0)}
    x, y = b.input("x", (4,)), b.tensor("y", (4,))
    q = b.op("QUANTIZE", [x], [b.tensor("q", (4,), dtype, **scheme)])
    r = b.op("RELU", [q], [b.tensor("r", (4,), dtype, **scheme)])
    b.op("DEQUANTIZE", [r], [y])
    return save(b.outputs(y), signatures=[("s", {"x": x}, {"y": y}, 0)])


@pytest.mark.parametrize(
    ("integers", "real_values", "kinds"),
    [
        ("INT8", np.int8, ["RELU"]),
        ("INT16", np.int16, ["RELU"]),
        ("INT8", np.uint8, ["QUANTIZE", "RELU", "QUANTIZE"]),
    ],
)
def test_integers_at_the_ends(integers, real_values, kinds, tmp_path, litert):
    source, target = tmp_path / "a.tflite", tmp_path / "b.tflite"
    source.write_bytes(quantized(integers))
    modify_model_interface.modify_model_interface(source, target, real_values, real_values)
    content = target.read_bytes()
    assert [op.op for op in load(content).subgraphs[0].operators] == kinds
    offset = 128 if real_values is np.uint8 else 0
    x = np.array([-3, 0, 5, 100]) + offset
    expected = np.array([0, 0, 5, 100]) + offset
    (theirs_,) = litert.run(content, [[x.astype(real_values)]])[0]
    np.testing.assert_array_equal(theirs_, expected)
    ours = Interpreter(model_path=target).get_signature_runner()(x=x.astype(real_values))["y"]
    np.testing.assert_array_equal(ours, expected)
    assert ours.dtype == real_values


def test_signatures_of_tensors_that_were_taken_out(tmp_path, litert):
    """TensorFlow's modify_model_interface leaves signatures that name the float32 ends."""
    root = parse(quantized("INT8"))
    n_tensors = len(root.subgraphs[0].tensors)
    root.signature_defs[0].outputs[0].tensor_index = n_tensors
    content = build(root)
    x = np.float32([-0.3, 0, 0.5, 10])
    with pytest.warns(RuntimeWarning, match=rf"signature 's' is left out: 'y' .* got {n_tensors};"):
        interpreter = Interpreter(model_content=content)
    interpreter.allocate_tensors()
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], x)
    interpreter.invoke()
    ours = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
    np.testing.assert_array_equal(ours, litert.run(content, [[x]])[0][0])
    assert interpreter.get_signature_list() == {}
    with pytest.warns(RuntimeWarning, match="signature 's' is left out"):
        model = load(content)
    assert not model.signatures
    model.signatures = [Signature("s", {"x": 0}, {"y": n_tensors})]
    with pytest.raises(ModelError, match=r"signature 's': 'y' must be a tensor"):
        save_model(model)


def test_ends_that_cannot_become_integers(tmp_path):
    source, target = tmp_path / "a.tflite", tmp_path / "b.tflite"
    source.write_bytes(quantized("INT8"))
    modify = modify_model_interface.modify_model_interface
    with pytest.raises(ValueError, match=r"Unsupported value .* for input_type\. Only int8"):
        modify(source, target, np.float32, np.int8)
    with pytest.raises(RuntimeError, match="it is INT8, which cannot become INT16"):
        modify(source, target, np.int16, np.int16)
    source.write_bytes(added())
    with pytest.raises(RuntimeError, match="the only reader of an input must be a QUANTIZE"):
        modify(source, target, np.int8, np.int8)
    assert not target.exists()
    assert save_model(load(added()))
