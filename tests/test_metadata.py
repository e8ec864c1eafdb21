"""Metadata and associated files through edits, the converter and the command line."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from flatlite import edit, lite, metadata
from flatlite.errors import ModelError
from flatlite.schema.flatbuffer import options_class
from flatlite.schema.metadata import METADATA
from flatlite.schema.model import Operator, Subgraph, Tensor

PAGE = Path(__file__).parents[1] / "docs" / "metadata.md"
CLASSIFIER = Path(__file__).parent / "schema" / "metadata" / "classifier.tflite"


def chain(inputs=("a",), outputs=("y",), files=("labels.txt",), text=b"x\n", name="chain"):
    """inputs -> ADD -> sum, RELU -> mid, NEG -> y; all ends described, files at the last output."""
    tensors = [Tensor(n, (4,)) for n in (*inputs, "sum", "mid", "y")]
    n = len(inputs)
    add = options_class("ADD")()
    operators = [
        Operator("ADD", [0, n - 1], [n], add),
        Operator("RELU", [n], [n + 1]),
        Operator("NEG", [n + 1], [n + 2], options_class("NEG")()),
    ]
    names = [t.name for t in tensors]
    ends = [names.index(name) for name in outputs]
    graph = edit.Model([Subgraph("main", tensors, list(range(n)), ends, operators)])
    described = [
        metadata.TensorMetadata(name=name, description=f"what {name} is")
        for name in (*inputs, *outputs)
    ]
    described[-1].associated_files = [metadata.AssociatedFile(name=file) for file in files]
    part = metadata.SubGraphMetadata(
        name=f"graph of {name}",
        input_tensor_metadata=described[:n],
        output_tensor_metadata=described[n:],
        input_process_units=[metadata.ProcessUnit(options=metadata.RegexTokenizerOptions())],
        output_tensor_groups=[metadata.TensorGroup(name="all", tensor_names=list(outputs))],
    )
    whole = metadata.ModelMetadata(name=name, author="me", subgraph_metadata=[part])
    return metadata.set_metadata(graph, whole, dict.fromkeys(files, text))


def shown(model):
    """The metadata of a saved model as JSON."""
    saved = edit.load(edit.save(model))
    described = metadata.get_metadata(saved)
    return None if described is None else json.loads(metadata.to_json(described))


def test_edits_that_keep_inputs_and_outputs_keep_metadata():
    model = chain()
    expected = shown(model)
    for edited in (
        edit.rename(model, tensors={"mid": "middle"}, inputs={"a": "x"}),
        edit.set_batch(model, 8),
        edit.strip(model, "names", "weights"),
        edit.assemble(edit.dump(model)),
    ):
        assert shown(edited) == expected
        assert edited.associated_files == {"labels.txt": b"x\n"}
    bare = edit.strip(model, "metadata")
    assert (shown(bare), bare.associated_files) == (None, {})
    assert edit.differences(model, bare) == [
        "metadata 'TFLITE_METADATA' removed",
        "associated file 'labels.txt' removed",
    ]


def test_extract_keeps_what_is_said_of_the_rest():
    model = chain(("a", "b"), ("mid", "y"))
    head = shown(edit.extract(model, outputs=["mid"]))
    (graph,) = head["subgraph_metadata"]
    assert [x["name"] for x in graph["input_tensor_metadata"]] == ["a", "b"]
    assert graph["output_tensor_metadata"] == [{"name": "mid", "description": "what mid is"}]
    assert graph["output_tensor_groups"] == [{"name": "all", "tensor_names": ["mid"]}]
    assert len(graph["input_process_units"]) == 1
    assert (head["name"], head["author"], graph["name"]) == ("chain", "me", "graph of chain")
    assert edit.extract(model, outputs=["mid"]).associated_files == {}
    tail = edit.extract(model, inputs=["sum"], outputs=["y"])
    assert tail.associated_files == {"labels.txt": b"x\n"}
    (graph,) = shown(tail)["subgraph_metadata"]
    assert graph["input_tensor_metadata"] == [{"name": "sum"}]
    assert graph["output_tensor_metadata"][0]["description"] == "what y is"
    assert "input_process_units" not in graph


def test_merge_joins_metadata_and_files():
    first = chain(("a",), ("mid", "y"), name="first")
    second = chain(("u", "v"), ("y",), ("labels.txt", "same"), b"other\n", "second")
    first.associated_files["same"] = b"other\n"
    merged = edit.merge(first, second, {"mid": "v"})
    result = shown(merged)
    (graph,) = result["subgraph_metadata"]
    assert result["name"] == "first"
    assert [x["description"] for x in graph["input_tensor_metadata"]] == [
        "what a is",
        "what u is",
    ]
    outputs = graph["output_tensor_metadata"]
    assert [x["description"] for x in outputs] == ["what y is"] * 2
    files = [[file["name"] for file in x["associated_files"]] for x in outputs]
    assert files == [["labels.txt"], ["labels_1.txt", "same"]]
    assert merged.associated_files == {
        "labels.txt": b"x\n",
        "labels_1.txt": b"other\n",
        "same": b"other\n",
    }
    alone = edit.merge(edit.strip(first, "metadata"), second, {"y": "u"})
    assert shown(alone)["name"] == "second"
    bare = [edit.strip(model, "metadata") for model in (first, second)]
    assert shown(edit.merge(*bare, {"y": "u"})) is None


def test_metadata_that_cannot_be_read_are_left_out_with_a_warning():
    model = chain()
    model.metadata[METADATA] = b"nonsense"
    with pytest.warns(UserWarning, match=r"TFLITE_METADATA is left out: The ModelMetadata is not"):
        result = edit.extract(model, outputs=["mid"])
    assert METADATA not in result.metadata
    assert edit.rename(model, tensors={"mid": "m"}).metadata == model.metadata


@pytest.mark.parametrize("quantized", [False, True])
def test_the_converter_keeps_metadata(quantized):
    model = chain()
    converter = lite.TFLiteConverter.from_tflite_model(edit.save(model))
    if quantized:
        converter.optimizations = [lite.Optimize.DEFAULT]
        rows = np.random.default_rng(0).normal(size=(4, 4)).astype(np.float32)
        converter.representative_dataset = lambda: ([row] for row in rows)
    written = edit.load(converter.convert())
    assert shown(written) == shown(model)
    assert written.associated_files == model.associated_files


def test_a_damaged_archive_behind_a_model():
    content = bytearray(edit.save(chain()))
    content[content.rindex(b"x\n")] ^= 1
    with pytest.raises(ModelError, match="the archive of associated files behind the model is da"):
        edit.load(bytes(content))
    with pytest.raises(ModelError, match="the archive of associated files behind the model is da"):
        lite.TFLiteConverter.from_tflite_model(bytes(content)).convert()
    lite.Interpreter(model_content=bytes(content)).allocate_tensors()


def test_models_with_files_run_in_litert(litert):
    content = edit.save(chain())
    assert litert.run(content) == litert.run(edit.save(edit.strip(chain(), "metadata")))


def test_the_command_shows_metadata(cli, tmp_path):
    status, out, err = cli("metadata", CLASSIFIER)
    assert (status, err) == (0, "")
    for text in ("name: Animals\n", "What is to be classified.", "Normalization", "labels_de.txt"):
        assert text in out
    shown = json.loads(cli("metadata", CLASSIFIER, "--json")[1])
    assert shown["associated_files"] == {"scores.txt": 13, "labels.txt": 13, "labels_de.txt": 18}
    assert shown["metadata"]["license"] == "Apache-2.0"
    out = cli("inspect", CLASSIFIER)[1]
    assert "TFLITE_METADATA (" in out
    assert "associated files: scores.txt (13), labels.txt (13), labels_de.txt (18)\n" in out
    bare = tmp_path / "bare.tflite"
    assert cli("metadata", CLASSIFIER, "-o", bare, "--remove")[:2] == (0, "no metadata\n")
    assert cli("metadata", bare)[1] == "no metadata\n"


def test_the_command_writes_metadata(cli, tmp_path):
    bare, text, out = tmp_path / "bare.tflite", tmp_path / "m.json", tmp_path / "out.tflite"
    folder = tmp_path / "files"
    assert cli("metadata", CLASSIFIER, "--save", text, "--extract", folder)[0] == 0
    assert sorted(path.name for path in folder.iterdir()) == [
        "labels.txt",
        "labels_de.txt",
        "scores.txt",
    ]
    assert cli("metadata", CLASSIFIER, "-o", bare, "--remove")[0] == 0
    files = [x for path in folder.iterdir() for x in ("--file", path)]
    assert cli("metadata", bare, "-o", out, "--set", text, *files)[0] == 0
    expected, result = (edit.load(path.read_bytes()) for path in (CLASSIFIER, out))
    assert shown(result) == shown(expected)
    assert result.associated_files == expected.associated_files
    (folder / "labels.txt").write_bytes(b"1\n2\n3\n")
    assert cli("metadata", out, "-o", out, "--file", folder / "labels.txt")[0] == 0
    assert metadata.labels(edit.load(out.read_bytes())) == ["1", "2", "3"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--remove",), "--set, --file and --remove need -o FILE, and -o one of them"),
        (("-o", "x.tflite"), "--set, --file and --remove need -o FILE, and -o one of them"),
        (("-o", "x.tflite", "--remove", "--file", "f"), "--remove takes out all; give it without"),
        (("-o", "x.tflite", "--file", "f"), "has no metadata that name files; --set FILE gives"),
        (("--save", "m.json"), "has no metadata to save"),
        (("--extract", "folder"), "associated file '../f' must have a name without folders"),
    ],
)
def test_commands_that_are_refused(options, message, cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model = edit.strip(chain(), "metadata")
    model.associated_files["../f"] = b"1"
    Path("m.tflite").write_bytes(edit.save(model))
    Path("f").write_bytes(b"2")
    status, _, err = cli("metadata", "m.tflite", *options)
    assert status == 1
    assert message in err
    assert not Path("x.tflite").exists()


def test_the_page_runs(request, monkeypatch, tmp_path, capsys):
    converter = lite.TFLiteConverter.from_saved_model(
        str(request.config.rootpath / "models/digits/saved_model")
    )
    converter.verify = False
    (tmp_path / "digits.tflite").write_bytes(converter.convert())
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL):
        exec(block, names)
    printed = capsys.readouterr().out
    assert printed
    assert all(f"    {line}\n" in PAGE.read_text() for line in printed.splitlines())
