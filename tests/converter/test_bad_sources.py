"""Broken models through the command line: one clear error, and nothing is written."""

import random
import shutil
from pathlib import Path

import numpy as np
import pytest

import flatlite.cli
from flatlite.converter.sources.source import naming
from flatlite.errors import ConverterError
from flatlite.schema import model as files
from flatlite.schema import proto

HERE = Path(__file__).parent
CORPUS = HERE.parent / "corpus"
FLOAT = np.dtype("f4")
MAX_LINES = 15


@pytest.fixture
def cli(capsys):
    """cli(*arguments) -> (exit status, standard output, standard error)."""

    def run(*arguments):
        status = flatlite.cli.main([str(a) for a in arguments])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return run


def check_refusal(result, path):
    """Whether a command ended with one short error message that names the file."""
    status, out, err = result
    assert (status, out) == (1, "")
    assert err.startswith("flatlite: error: ")
    assert str(path) in err
    assert len(err.splitlines()) <= MAX_LINES
    assert "Traceback" not in err


def cut(share):
    return lambda content: content[: int(len(content) * share)]


def flipped(seed):
    """One bit in each of eight places."""

    def change(content):
        generator, changed = random.Random(seed), bytearray(content)
        for _ in range(8):
            changed[generator.randrange(len(changed))] ^= 1 << generator.randrange(8)
        return bytes(changed)

    return change


def filled(share, byte):
    def change(content):
        start = int(len(content) * share)
        return content[:start] + byte * len(content[start : start + 64]) + content[start + 64 :]

    return change


DAMAGES = {
    "empty": cut(0),
    "cut early": cut(0.05),
    "cut in the middle": cut(0.5),
    "cut late": lambda content: content[:-1],
    "zeros": filled(0.3, b"\0"),
    "ones": filled(0.6, b"\xff"),
    "noise 1": flipped(1),
    "noise 2": flipped(2),
    "noise 3": flipped(3),
}
HARMLESS = ("zeros", "ones", "noise 1", "noise 2", "noise 3", "cut late", "cut early")
"""Damages that may leave a model that can be converted: in names, in what is not needed."""

SAVED_MODELS = [
    ("corpus/C/lenet_tfk/saved_model", "saved_model.pb"),
    ("corpus/C/lenet_tfk/saved_model", "variables/variables.index"),
    ("corpus/C/lenet_tfk/saved_model", "variables/variables.data-00000-of-00001"),
    ("converter/tf/saved_models/version_1", "saved_model.pb"),
    ("converter/tf/saved_models/version_1", "variables/variables.index"),
    ("converter/tf/saved_models/version_1", "variables/variables.data-00001-of-00002"),
]
FROZEN = ["C/tf1_simple_save_cnn_cfv1/frozen.pb", "C/lenet_k3/frozen.pb"]


def check_conversion(cli, source, damage, target):
    result = cli("convert", source, "-o", target)
    if result[0] == 0 and damage in HARMLESS:
        assert files.load(target.read_bytes())
    else:
        check_refusal(result, source)
        assert not list(target.parent.iterdir())


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize(("folder", "file"), SAVED_MODELS, ids=lambda path: Path(path).name)
def test_damaged_saved_models(cli, tmp_path, folder, file, damage):
    source, target = tmp_path / "model", tmp_path / "out" / "model.tflite"
    shutil.copytree(HERE.parent / folder, source)
    target.parent.mkdir()
    (source / file).write_bytes(DAMAGES[damage]((source / file).read_bytes()))
    check_conversion(cli, source, damage, target)


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("path", FROZEN, ids=lambda path: Path(path).parent.name)
def test_damaged_frozen_graphs(cli, tmp_path, path, damage):
    source, target = tmp_path / "frozen.pb", tmp_path / "out" / "model.tflite"
    target.parent.mkdir()
    source.write_bytes(DAMAGES[damage]((CORPUS / path).read_bytes()))
    check_conversion(cli, source, damage, target)


@pytest.mark.parametrize("command", ["inspect", "run", "compare", "benchmark"])
@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_flatbuffers(cli, tmp_path, damage, command):
    path = tmp_path / "model.tflite"
    path.write_bytes(DAMAGES[damage]((CORPUS / "C/lenet_k3/float.tflite").read_bytes()))
    options = {"compare": (path,), "benchmark": ("--runs", 1, "--warmup", 1)}
    result = cli(command, path, *options.get(command, ()))
    if result[0] or damage not in HARMLESS:
        check_refusal(result, path)


def test_text_that_is_no_graph(cli, tmp_path):
    source = tmp_path / "graph.pbtxt"
    source.write_text("node { name: 3 }")
    result = cli("convert", source, "-o", tmp_path / "out.tflite")
    check_refusal(result, source)
    assert "Unable to parse input file" in result[2]
    source.write_text(str(proto.message("GraphDef")()))
    check_refusal(cli("convert", source, "-o", tmp_path / "out.tflite"), source)


def test_our_own_errors_are_not_said_to_be_the_files():
    with (
        pytest.raises(ConverterError, match=r"internal error \(KeyError: 'axis'\); please report"),
        naming("m.pb"),
    ):
        raise KeyError("axis")
