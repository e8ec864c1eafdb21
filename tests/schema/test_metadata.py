"""Metadata and associated files, beside what TensorFlow Lite Support's own code reads of them."""

import base64
import copy
import io
import json
import pickle
import re
import struct
import subprocess
import zipfile
from pathlib import Path

import flatbuffers
import numpy as np
import pytest

from flatlite import metadata
from flatlite.schema import associated_files, metadata_tables
from flatlite.schema import metadata as schema
from flatlite.schema.errors import ModelError
from flatlite.schema.model import load, save
from flatlite.schema.record import record
from flatlite.tools.metadata import as_object

FOLDER = Path(__file__).with_name("metadata")
RECORDED = json.loads((FOLDER / "recorded.json").read_text(encoding="utf-8"))
MODELS = {name: (FOLDER / f"{name}.tflite").read_bytes() for name in RECORDED["models"]}
SUPPORT = Path(__file__).parents[2] / ".venv-support" / "bin" / "python"


def decoded(files):
    return {name: base64.b64decode(text) for name, text in files.items()}


@pytest.mark.parametrize("name", MODELS)
def test_what_support_has_written_is_read(name):
    model = load(MODELS[name])
    assert (
        json.loads(metadata.to_json(metadata.get_metadata(model)))
        == (RECORDED["models"][name]["json"])
    )
    assert model.associated_files == decoded(RECORDED["models"][name]["files"])


@pytest.mark.parametrize(
    ("content", "version"),
    [pytest.param(content, version, id=name) for name, content, version in RECORDED["versions"]],
)
def test_the_parser_s_version_is_support_s(content, version):
    read = schema.parse_metadata(base64.b64decode(content))
    assert schema.minimum_parser_version(read) == version
    assert schema.parse_metadata(schema.build_metadata(read)).min_parser_version == version


@pytest.mark.parametrize("name", MODELS)
def test_what_is_written_is_read_as_it_was(name):
    model = load(MODELS[name])
    described = metadata.get_metadata(model)
    content = schema.build_metadata(described)
    assert schema.parse_metadata(content) == described
    assert schema.build_metadata(schema.parse_metadata(content)) == content
    assert metadata.from_json(metadata.to_json(described)) == described
    assert copy.deepcopy(described) == pickle.loads(pickle.dumps(described)) == described
    again = load(save(metadata.set_metadata(model, described)))
    assert metadata.get_metadata(again) == described
    assert again.associated_files == model.associated_files


@pytest.mark.skipif(not SUPPORT.exists(), reason="no .venv-support; `make support` makes it")
def test_support_reads_what_is_written(tmp_path):
    for name, content in MODELS.items():
        model = load(content)
        described = metadata.from_json(json.dumps(RECORDED["models"][name]["json"]))
        bare = metadata.set_metadata(model, None)
        files = decoded(RECORDED["models"][name]["files"])
        written = metadata.set_metadata(bare, described, files)
        (tmp_path / f"{name}.tflite").write_bytes(save(written))
    child = Path(__file__).with_name("support_child.py")
    command = [SUPPORT, child, "show", tmp_path]
    shown = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert json.loads(shown.stdout) == RECORDED["models"]


class Reader:
    """A table read by the flatbuffers package alone, by the slots of the published schema."""

    def __init__(self, content, at=None):
        start = struct.unpack_from("<I", content)[0] if at is None else at
        self.table = flatbuffers.table.Table(bytearray(content), start)

    def at(self, slot):
        return self.table.Pos + self.table.Offset(4 + 2 * slot)

    def text(self, slot):
        return self.table.String(self.at(slot)).decode()

    def inner(self, slot, index=None):
        at = self.at(slot)
        if index is None:
            return Reader(self.table.Bytes, self.table.Indirect(at))
        start = self.table.Vector(self.table.Offset(4 + 2 * slot)) + 4 * index
        return Reader(self.table.Bytes, self.table.Indirect(start))

    def number(self, slot, flags):
        return self.table.Get(flags, self.at(slot))


def test_the_bytes_are_where_the_schema_says():
    image = metadata.ImageProperties(
        color_space=metadata.ColorSpaceType.GRAYSCALE,
        default_size=metadata.ImageSize(width=28, height=30),
    )
    extra = metadata.CustomMetadata(name="extra", data=np.arange(5, dtype=np.uint8))
    content = schema.build_metadata(
        metadata.ModelMetadata(
            name="digits",
            subgraph_metadata=[
                metadata.SubGraphMetadata(
                    input_tensor_metadata=[
                        metadata.TensorMetadata(
                            dimension_names=["n", "h", "w"],
                            content=metadata.Content(content_properties=image),
                        )
                    ],
                    custom_metadata=[extra],
                )
            ],
        )
    )
    assert content[4:8] == b"M001"
    root = Reader(content)
    assert (root.text(0), root.text(7)) == ("digits", "1.5.0")
    graph = root.inner(3, 0)
    tensor = graph.inner(2, 0)
    names = tensor.table.Vector(tensor.table.Offset(4 + 2 * 2))
    texts = [tensor.table.String(names + 4 * i) for i in range(3)]
    assert texts == [b"n", b"h", b"w"]
    content_table = tensor.inner(3)
    assert content_table.number(0, flatbuffers.number_types.Uint8Flags) == 2
    properties = content_table.inner(1)
    assert properties.number(0, flatbuffers.number_types.Int8Flags) == 2
    size = properties.inner(1)
    flags = flatbuffers.number_types.Uint32Flags
    assert (size.number(0, flags), size.number(1, flags)) == (28, 30)
    custom = graph.inner(9, 0)
    data = custom.table.Vector(custom.table.Offset(6))
    assert data % 16 == 0
    assert content[data : data + 5] == bytes(range(5))


def test_every_truncation_and_every_byte():
    content = schema.build_metadata(metadata.get_metadata(load(MODELS["tokenizers"])))
    outcomes = set()
    for n in range(len(content)):
        outcomes.add(parsed(content[:n]))
    for n in range(len(content)):
        changed = bytearray(content)
        changed[n] ^= 1 << n % 8
        outcomes.add(parsed(bytes(changed)))
    assert outcomes == {"refused", "read"}


def parsed(content):
    try:
        described = schema.parse_metadata(content)
    except ModelError as error:
        assert str(error) == "The ModelMetadata is not a valid Flatbuffer buffer"
        return "refused"
    json.dumps(as_object(described))
    return "read"


def test_a_string_that_lies_outside():
    content = bytearray(schema.build_metadata(metadata.ModelMetadata(name="n")))
    content[content.index(b"\1\0\0\0n")] = 200
    with pytest.raises(ModelError) as error:
        schema.parse_metadata(bytes(content))
    assert re.search("name at byte .*200 elements of 1 bytes end past", error.value.__notes__[0])
    with pytest.raises(ModelError) as error:
        schema.parse_metadata(b"0000TFL30000")
    assert error.value.__notes__ == ["bytes 4 to 8 must be 'M001', got b'TFL3'"]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (record("Model")(), "metadata must be a ModelMetadata record, got Model()"),
        (metadata.ModelMetadata(name=3), "ModelMetadata.name must be a str, got 3"),
        (
            metadata.ModelMetadata(associated_files=[metadata.Stats()]),
            "a AssociatedFile must be a record of that name, got Stats()",
        ),
        (
            metadata.ModelMetadata(associated_files=[metadata.AssociatedFile(type=300)]),
            "AssociatedFile.type must be in [-128, 127], got 300",
        ),
        (
            metadata.ModelMetadata(associated_files=[metadata.AssociatedFile(type=20)]),
            "The ModelMetadata is not a valid Flatbuffer buffer",
        ),
    ],
)
def test_what_cannot_be_written(value, message):
    with pytest.raises(ModelError, match=re.escape(message)):
        schema.build_metadata(value)


def archive(entries, packing=zipfile.ZIP_DEFLATED, prefix=b"x" * 100):
    stream = io.BytesIO()
    stream.write(prefix)
    with zipfile.ZipFile(stream, "a", packing) as file:
        for name, data in entries:
            file.writestr(name, data)
    return stream.getvalue()


def test_archives_are_read_whatever_lies_before_them():
    entries = {"a.txt": b"hello" * 100, "ordner/ä.txt": b"", "b": bytes(range(256))}
    for prefix in (b"", b"x" * 100):
        assert associated_files.read_files(archive(entries.items(), prefix=prefix)) == entries
    recorded = associated_files.with_files(b"x" * 100, entries)
    assert associated_files.read_files(recorded) == entries
    assert associated_files.read_files(memoryview(recorded)) == entries
    with zipfile.ZipFile(io.BytesIO(recorded)) as file:
        assert file.testzip() is None
        assert {name: file.read(name) for name in file.namelist()} == entries
        # as zipfile itself has it: the first file begins where the model ends
        assert file.infolist()[0].header_offset == 100
    assert recorded == associated_files.with_files(b"x" * 100, entries)
    assert associated_files.with_files(b"x", {}) == b"x"
    assert associated_files.read_files(b"PK\5\6") == {}
    assert associated_files.read_files(b"PK\5\6" + bytes(30)) == {}


def hostile_archives():
    with pytest.warns(UserWarning, match="Duplicate name"):
        twice = archive([("a", b"1"), ("a", b"2")])
    encrypted = bytearray(archive([("a", b"1" * 99)]))
    at = encrypted.index(b"PK\1\2")
    encrypted[at + 8] |= 1
    damaged = bytearray(archive([("a", b"hello")], zipfile.ZIP_STORED))
    damaged[damaged.index(b"hello")] ^= 1
    return {
        "names of their own": twice,
        "is encrypted or packed in an unknown way": bytes(encrypted),
        "'b' is encrypted or packed in an unknown way": archive([("b", b"1")], zipfile.ZIP_LZMA),
        "must leave all of them within 100 times": archive([("a", bytes(17 << 20)), ("b", b"1")]),
        "behind the model is damaged: Bad CRC-32": bytes(damaged),
    }


def test_hostile_archives():
    for message, content in hostile_archives().items():
        with pytest.raises(ModelError, match=message):
            associated_files.read_files(content)


def test_an_archive_with_any_byte_changed():
    content = archive([("labels.txt", b"cat\ndog\n"), ("b", b"")], prefix=b"")
    for n in range(8 * len(content)):
        changed = bytearray(content)
        changed[n // 8] ^= 1 << n % 8
        try:
            associated_files.read_files(bytes(changed))
        except ModelError as error:
            assert "associated file" in str(error)


@pytest.mark.parametrize("name", ["", "a\0b", "folder/"])
def test_names_that_no_file_has(name):
    with pytest.raises(ModelError, match="an associated file must have the name of a file, got"):
        associated_files.with_files(b"x", {name: b""})


def test_every_member_has_its_enum():
    enums = {"AssociatedFileType", "BoundingBoxType", "ColorSpaceType", "CoordinateType"}
    assert {*enums, "ScoreTransformationType"} == metadata_tables.ENUMS.keys()
    for name, members in metadata_tables.ENUMS.items():
        assert {member.name: member.value for member in getattr(metadata, name)} == members


def test_labels():
    model = load(MODELS["classifier"])
    assert metadata.labels(model) == ["cat", "dog", "bird"]
    assert metadata.labels(model, locale="de") == ["Katze", "Hund", "Vögel"]
    with pytest.raises(ValueError, match="labels for the locale 'fr', and the metadata name 'sc"):
        metadata.labels(model, locale="fr")
    with pytest.raises(ValueError, match="output 3 must have an associated file of labels, and"):
        metadata.labels(model, 3)
    with pytest.raises(ValueError, match="the metadata name none"):
        metadata.labels(metadata.set_metadata(model, None))


def described(**fields):
    """Metadata of a model of one input and one output."""
    tensor = metadata.TensorMetadata(name="x")
    graph = {"input_tensor_metadata": [tensor], "output_tensor_metadata": [tensor], **fields}
    return metadata.ModelMetadata(subgraph_metadata=[metadata.SubGraphMetadata(**graph)])


def test_set_metadata_checks():
    model = load(MODELS["audio"])
    with pytest.raises(ValueError, match="SubgraphMetadata should be exactly one, but got 0"):
        metadata.set_metadata(model, metadata.ModelMetadata())
    with pytest.raises(ValueError, match=r"The number of input tensors \(1\) should match the num"):
        metadata.set_metadata(model, described(input_tensor_metadata=[]))
    with pytest.raises(ValueError, match=r"output tensor metadata \(0\); one for each of '"):
        metadata.set_metadata(model, described(output_tensor_metadata=None))
    files = [metadata.AssociatedFile(name="a.txt"), metadata.AssociatedFile(name="b.txt")]
    with pytest.raises(ValueError, match=r"File, 'a\.txt', is recorded .* of 'a.txt', 'b.txt' in"):
        metadata.set_metadata(model, described(associated_files=files))
    with pytest.raises(ValueError, match=r"files must have names without folders, got '\.\./a'"):
        metadata.set_metadata(model, described(), {"../a": b""})
    with pytest.warns(UserWarning, match=r"File, 'c\.txt', does not exist in the metadata"):
        packed = metadata.set_metadata(model, described(), {"c.txt": b"c"})
    assert packed.associated_files == {"c.txt": b"c"}
    assert model.associated_files == {}


def test_files_that_nothing_names_any_more_go():
    model = load(MODELS["classifier"])
    assert len(model.associated_files) == 3
    model.associated_files["unnamed"] = b"1"
    files = [metadata.AssociatedFile(name="labels.txt")]
    result = metadata.set_metadata(model, described(associated_files=files))
    assert result.associated_files == {"labels.txt": b"cat\ndog\nbird\n", "unnamed": b"1"}
    assert metadata.set_metadata(result, None).associated_files == {}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "metadata must be JSON: Expecting"),
        ("[" * 10**5, "metadata must be JSON: maximum recursion"),
        ("[]", "metadata must be an object, a ModelMetadata, got []"),
        ('{"title": 1}', "metadata has no 'title'; a ModelMetadata has name, description,"),
        ('{"name": 1}', "metadata.name must be a string, got 1"),
        ('{"associated_files": {}}', "metadata.associated_files must be a list, got {}"),
        (
            '{"associated_files": [{}, {"type": "LABELS"}]}',
            "metadata.associated_files[1].type must be one of 'UNKNOWN', 'DESCRIPTIONS',",
        ),
        ('{"associated_files": [{"type": []}]}', "must be one of 'UNKNOWN'"),
        (
            '{"subgraph_metadata": [{"input_process_units": [{"options": {}}]}]}',
            "input_process_units[0].options_type must be one of 'NormalizationOptions', 'Score",
        ),
        (
            '{"subgraph_metadata": [{"output_tensor_metadata": [{"stats": {"max": ["1"]}}]}]}',
            "output_tensor_metadata[0].stats.max[0] must be a number, got '1'",
        ),
        (
            '{"subgraph_metadata": [{"custom_metadata": [{"data": [true]}]}]}',
            "custom_metadata[0].data[0] must be an integer, got True",
        ),
    ],
)
def test_json_that_is_none(text, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        metadata.from_json(text)
