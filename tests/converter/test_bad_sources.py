"""Broken models through the command line: one clear error, and nothing is written."""

import random
import shutil
from pathlib import Path

import numpy as np
import pytest

import flatlite.cli
from flatlite.converter.sources.source import naming
from flatlite.errors import ConverterError
from flatlite.graph.core.graph import Graph
from flatlite.graph.format.graphdef import to_graph_def
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
    ("converter/saved_models/version_1", "saved_model.pb"),
    ("converter/saved_models/version_1", "variables/variables.index"),
    ("converter/saved_models/version_1", "variables/variables.data-00001-of-00002"),
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


@pytest.mark.parametrize("file", [file for _, file in SAVED_MODELS[:3]])
def test_missing_files(cli, tmp_path, file):
    source = tmp_path / "model"
    shutil.copytree(CORPUS / "C/lenet_tfk/saved_model", source)
    (source / file).unlink()
    check_refusal(cli("convert", source, "-o", tmp_path / "out.tflite"), source)


def test_variables_of_another_model(cli, tmp_path):
    source = tmp_path / "model"
    shutil.copytree(CORPUS / "C/lenet_tfk/saved_model", source)
    shutil.rmtree(source / "variables")
    shutil.copytree(HERE / "saved_models/orders/variables", source / "variables")
    result = cli("convert", source, "-o", tmp_path / "out.tflite")
    check_refusal(result, source)
    assert "save the model again" in result[2] or "different models" in result[2]


def relu_graph():
    graph = Graph()
    x = graph.add("Placeholder", "x", (), {"dtype": FLOAT, "shape": (2, 3)})
    w = graph.constant(np.ones((3, 4), np.float32), "w")
    y = graph.add("MatMul", "product", [x.outputs[0], w])
    graph.add("Relu", "y", y.outputs)
    return to_graph_def(graph)


def node(message, name):
    return next(n for n in message.node if n.name == name)


def set_dtype(message):
    node(message, "w").attr["value"].tensor.dtype = 7


def set_shape(message):
    node(message, "w").attr["value"].tensor.tensor_shape.dim[0].size = 1 << 40


def drop_node(message):
    message.node.remove(node(message, "w"))


def add_twin(message):
    message.node.add().CopyFrom(node(message, "w"))


def add_cycle(message):
    node(message, "product").input[0] = "y"


def drop_attr(message):
    del node(message, "x").attr["dtype"]


def add_input(message):
    node(message, "y").input.append("w")


def set_output(message):
    node(message, "y").input[0] = "product:3"


def set_sizes(message):
    node(message, "x").attr["shape"].shape.dim[1].size = 7


def set_unknown(message):
    node(message, "y").op = "NoSuchOperation"


def set_variable(message):
    kernel = node(message, "w")
    kernel.op = "VariableV2"
    for size in (3, 4):
        kernel.attr["shape"].shape.dim.add().size = size


def set_huge(message):
    node(message, "x").attr["shape"].shape.dim[0].size = 1 << 62


def set_repeated(message):
    tensor = node(message, "w").attr["value"].tensor
    tensor.tensor_content = b""
    tensor.float_val.append(1)
    tensor.tensor_shape.dim[1].size = 1 << 29


CHANGES = {
    set_dtype: "Const 'w'",
    set_shape: "Const 'w': attribute value: must have at most 2147483647 elements",
    drop_node: "Node 'product': Unknown input node 'w'",
    add_twin: "Node 'w' is not unique",
    add_cycle: "Cannot tell the outputs of the graph",
    drop_attr: "Placeholder 'x': attribute dtype is missing",
    add_input: "Relu 'y': takes 1 inputs, got 2",
    set_output: "Node 'y': Connecting to invalid output 3 of source node product",
    set_sizes: "'product'",
    set_unknown: "NoSuchOperation x 1, first at node 'y'",
    set_variable: "Please freeze the graph using freeze_graph.py.\nThe outputs need the variables",
    set_huge: "2147483647",
    set_repeated: "the constants of the source have 6442450944 bytes, a .tflite file at most",
}


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_malformed_graphs(cli, tmp_path, change):
    message = relu_graph()
    change(message)
    source, target = tmp_path / "graph.pb", tmp_path / "out.tflite"
    source.write_bytes(message.SerializeToString())
    result = cli("convert", source, "-o", target)
    check_refusal(result, source)
    assert CHANGES[change] in result[2]
    assert not target.exists()


def test_many_unsupported_operations_are_listed_on_few_lines(cli, tmp_path):
    graph = Graph()
    x = graph.add("Placeholder", "x", (), {"dtype": FLOAT, "shape": (2, 3)}).outputs[0]
    for i in range(40):
        x = graph.add(f"Unheard{i:02}", f"n{i}", [x], {"T": FLOAT}, n_outputs=1).outputs[0]
    source = tmp_path / "graph.pb"
    source.write_bytes(to_graph_def(graph).SerializeToString())
    result = cli("convert", source, "-o", tmp_path / "out.tflite")
    check_refusal(result, source)
    assert all(f"Unheard{i:02}" in result[2] for i in range(40))


def test_names_with_control_characters_are_not_sent_to_the_terminal(cli, tmp_path):
    message = relu_graph()
    node(message, "w").name = "w\x1b[31m\n\n\n"
    source = tmp_path / "graph.pb"
    source.write_bytes(message.SerializeToString())
    status, _, err = cli("convert", source, "-o", tmp_path / "out.tflite")
    assert status == 1
    assert "\x1b" not in err
    assert len(err.splitlines()) <= MAX_LINES


def test_a_link_out_of_the_folder_is_refused(cli, tmp_path):
    source = tmp_path / "model"
    source.mkdir()
    (source / "saved_model.pb").symlink_to(CORPUS / "C/lenet_tfk/saved_model/saved_model.pb")
    result = cli("convert", source, "-o", tmp_path / "out.tflite")
    check_refusal(result, source)
    assert "cp -rL" in result[2]


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
