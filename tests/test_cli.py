"""`flatlite convert`, run in process on real models."""

import json
import os
import stat
import sys

import numpy as np
import onnx
import pytest

import flatlite.compat.v1 as tf
from flatlite.schema import model as files
from flatlite.tools.terminal import MAX_LINES

LENET = "C/lenet_k3"
MODULE = [sys.executable, "-m", "flatlite"]


def test_convert_saved_model(cli, corpus, tmp_path):
    target = tmp_path / "out.tflite"
    status, out, err = cli("convert", corpus / LENET / "saved_model", "-o", target)
    assert (status, err) == (0, "")
    size = f"{target.stat().st_size:,}"
    assert out.startswith(f"wrote {target}: {size} bytes, ")
    assert out.endswith(" operators, verified\n")


def test_convert_saved_model_by_its_file(cli, corpus, tmp_path):
    source = corpus / LENET / "saved_model" / "saved_model.pb"
    assert cli("convert", source, "-o", tmp_path / "out.tflite", "--no-verify")[0] == 0


def test_convert_frozen_graph_finds_inputs_and_outputs(cli, corpus, tmp_path):
    target = tmp_path / "out.tflite"
    status, out, err = cli("convert", corpus / LENET / "frozen.pb", "-o", target, "--json")
    assert (status, err) == (0, "")
    result = json.loads(out)
    assert result["bytes"] == target.stat().st_size
    assert result["operators"]["CONV_2D"] == 2
    assert result["verified"] is True
    assert [row["name"] for row in result["inputs"]] == ["x0"]
    assert [row["name"] for row in result["outputs"]] == ["Identity"]


def test_convert_without_verification_says_so(cli, corpus, tmp_path):
    arguments = ("convert", corpus / LENET / "frozen.pb", "-o", tmp_path / "out.tflite")
    assert cli(*arguments, "--no-verify")[1].endswith(", not verified\n")
    assert json.loads(cli(*arguments, "--no-verify", "--json")[1])["verified"] is False


@pytest.mark.parametrize(
    ("options", "kind"),
    [(["--select-tf-ops"], "FlexBetainc"), (["--allow-custom-ops"], "Betainc"), ([], None)],
)
def test_operations_that_tflite_lacks(cli, tmp_path, options, kind):
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [2, 3], name="x")
        tf.math.betainc(x, x, x, name="y")
    source, target = tmp_path / "source.pb", tmp_path / "target.tflite"
    source.write_bytes(graph.as_graph_def().SerializeToString())
    status, _, err = cli("convert", source, "-o", target, "--no-verify", *options)
    if kind is None:
        assert (status, target.exists()) == (1, False)
        assert "--allow-custom-ops" in err
        assert "--select-tf-ops" in err
        return
    assert (status, err) == (0, "")
    assert json.loads(cli("inspect", target, "--json")[1])["operators"] == {kind: 1}


def test_layout_of_an_onnx_model(cli, tmp_path):
    relu = onnx.helper.make_node("Relu", ["x"], ["y"])
    ends = [
        onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1, 3, 8, 6])
        for name in "xy"
    ]
    graph = onnx.helper.make_graph([relu], "g", ends[:1], ends[1:])
    source, target = tmp_path / "source.onnx", tmp_path / "target.tflite"
    source.write_bytes(onnx.helper.make_model(graph).SerializeToString())
    arguments = ("convert", source, "-o", target, "--io-layout", "channels_last", "--json")
    status, out, err = cli(*arguments)
    assert (status, err) == (0, "")
    assert json.loads(out)["inputs"][0]["shape"] == [1, 8, 6, 3]


def test_convert_with_input_shape(cli, corpus, tmp_path):
    target = tmp_path / "out.tflite"
    shape = ("--input-shape", "keras_tensor=2,28,28,1")
    status, _, err = cli("convert", corpus / LENET / "saved_model", "-o", target, *shape)
    assert (status, err) == (0, "")
    _, out, _ = cli("inspect", target, "--json")
    assert json.loads(out)["inputs"][0]["shape"] == [2, 28, 28, 1]


DIGITS = "models/digits"


@pytest.fixture
def digits(request):
    """Options that quantize the digits model to int8."""
    folder = request.config.rootpath / DIGITS
    return [folder / "saved_model", "--quantize", "int8"], folder / "example.npz"


def test_convert_dynamic_range(cli, digits, tmp_path):
    (source, *_), _ = digits
    status, out, err = cli("convert", source, "-o", tmp_path / "q.tflite", "--quantize", "dynamic")
    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].endswith(" operators, verified")
    assert lines[1].startswith("quantized: ")
    assert lines[1].endswith(" dB signal to noise at 'output_0', on seeded random inputs")
    assert lines[2].startswith("in float: CONV_2D x ")


def test_convert_int8(cli, digits, tmp_path):
    source, dataset = digits
    target = tmp_path / "q.tflite"
    options = ("--int8-only", "--input-type", "int8", "--output-type", "uint8", "--json")
    status, out, err = cli(
        "convert", *source, "-o", target, "--representative-dataset", dataset, *options
    )
    assert (status, err) == (0, "")
    result = json.loads(out)
    assert result["verified"] is True
    assert result["signal_to_noise"]["serving_default"]["output_0"] > 40
    assert result["measured_on"] == {"serving_default": "32 samples of representative_dataset"}
    assert result["float_operators"] == {}
    assert [row["type"] for row in (*result["inputs"], *result["outputs"])] == ["INT8", "UINT8"]


def test_convert_a_float_file_to_int8(cli, digits, tmp_path):
    (source, *options), dataset = digits
    plain, target = tmp_path / "float.tflite", tmp_path / "q.tflite"
    assert cli("convert", source, "-o", plain)[0] == 0
    options += ["--representative-dataset", dataset]
    status, out, err = cli("convert", plain, "-o", target, *options)
    assert (status, err) == (0, "")
    assert "dB signal to noise" in out
    assert target.stat().st_size < plain.stat().st_size / 2
    status, _, err = cli("convert", target, "-o", tmp_path / "again.tflite", *options)
    assert (status, err) == (0, "")
    status, _, err = cli(
        "convert", target, "-o", tmp_path / "again.tflite", "--quantize", "dynamic"
    )
    assert (status, "is quantized already" in err) == (1, True)
    status, _, err = cli("convert", plain, "-o", target, *options, "--inputs", "x")
    assert (status, "--inputs cannot change a .tflite file" in err) == (1, True)


def test_forms_of_dataset_files(cli, digits, tmp_path):
    source, dataset = digits
    images = np.load(dataset)["image"][:6]
    np.save(tmp_path / "six.npy", images)
    (tmp_path / "folder").mkdir()
    for i, image in enumerate(images):
        np.save(tmp_path / f"folder/{i}.npy", image[np.newaxis])
    np.savez(tmp_path / "six.npz", image=images)
    np.savez(tmp_path / "unnamed.npz", images)
    written = set()
    for name in ("six.npy", "six.npz", "unnamed.npz", "folder"):
        target = tmp_path / f"{name}.tflite"
        options = ("--representative-dataset", tmp_path / name)
        status, _, err = cli("convert", *source, "-o", target, *options)
        assert (status, err) == (0, "")
        written.add(target.read_bytes())
    assert len(written) == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--quantize", "int8"], "--quantize int8 needs --representative-dataset"),
        (["--int8-only"], "--int8-only is for int8 models; add --quantize int8"),
        (["--input-type", "int8"], "--input-type int8 is for int8 models; add --quantize int8"),
        (["--quantize", "dynamic", "--representative-dataset", "{npz}"], "is for --quantize int8"),
        (["--quantize", "int8", "--representative-dataset", "none.npz"], "'none.npz'"),
        (["--quantize", "int8", "--representative-dataset", "{tmp}"], "has no .npy or .npz files"),
        (
            ["--quantize", "int8", "--representative-dataset", "{other}"],
            "must have an array for input 'image', has 'picture'; write it with np.savez(",
        ),
        (["--quantize", "int8", "--representative-dataset", "{empty}"], "no samples for input 'im"),
        (["--quantize", "int8", "--representative-dataset", "{text}"], "is not a .npy or .npz"),
        (["--quantize", "int8", "--representative-dataset", "{flat}"], "the shape (?, 8, 8, 1)"),
    ],
)
def test_mistakes_in_quantization(cli, digits, tmp_path, options, words):
    (source, *_), dataset = digits
    folder = tmp_path / "files"
    folder.mkdir()
    paths = {"npz": dataset, "tmp": tmp_path}
    paths |= {name: folder / f"{name}.npz" for name in ("other", "text", "flat", "empty")}
    np.savez(paths["other"], picture=np.zeros((2, 8, 8, 1), np.float32))
    np.savez(paths["empty"], image=np.zeros((0, 8, 8, 1), np.float32))
    np.savez(paths["flat"], image=np.zeros((2, 64), np.float32))
    paths["text"].write_text("no arrays")
    target = tmp_path / "q.tflite"
    status, _, err = cli("convert", source, "-o", target, *[o.format(**paths) for o in options])
    assert status == 1
    assert words in err
    assert not target.exists()


def test_convert_several_signatures(two_signatures):
    signatures = files.load(two_signatures.read_bytes()).signatures
    assert [signature.key for signature in signatures] == ["skips", "nested"]


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("nowhere", "'{path}' does not exist."),
        ("nowhere.pb", "File '{path}' does not exist."),
        ("nowhere.h5", "'{path}' does not exist."),
        ("empty.pb", "Unable to parse input file '{path}'.\nThe file is empty; write it again."),
        ("noise.pb", "Unable to parse input file '{path}'"),
        (
            "folder",
            "SavedModel file does not exist at: {path}/{{saved_model.pbtxt|saved_model.pb}}",
        ),
        ("above", "; there is one in '{path}/broken'"),
        ("broken", "Cannot parse file '{path}/saved_model.pb'"),
        ("model.h5", "'{path}' is neither a .keras nor an .h5 file"),
        ("model.keras", "is neither a .keras nor an .h5 file"),
        ("weights", "'{path}' cannot be read as HDF5"),
        ("model.onnx", "'{path}' is empty"),
        ("model.tflite", "'{path}' is a .tflite file already"),
        ("model.txt", "is not a known kind of source; expected a SavedModel folder, a frozen"),
    ],
)
def test_bad_sources_write_nothing(cli, tmp_path, source, words):
    path = tmp_path / source
    (tmp_path / "empty.pb").write_bytes(b"")
    (tmp_path / "noise.pb").write_bytes(bytes(range(1, 256)))
    (tmp_path / "model.h5").write_bytes(b"\x89HDF")
    (tmp_path / "weights").write_bytes(b"\x89HDF\r\n\x1a\n")
    for name in ("model.keras", "model.onnx", "model.tflite"):
        (tmp_path / name).write_bytes(b"")
    (tmp_path / "model.txt").write_text("hello")
    (tmp_path / "folder").mkdir()
    for folder in (tmp_path / "broken", tmp_path / "above" / "broken"):
        folder.mkdir(parents=True)
        (folder / "saved_model.pb").write_bytes(b"\xff" * 40)
    before = sorted(tmp_path.iterdir())
    status, out, err = cli("convert", path, "-o", tmp_path / "out.tflite")
    assert (status, out) == (1, "")
    assert err.startswith("flatlite: error: ")
    assert words.format(path=path) in err
    assert len(err.splitlines()) <= MAX_LINES
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--outputs", "nox"), "Invalid tensors 'nox' were found."),
        (("--outputs", "Identitty"), "Similar names in the graph are 'Identity:0'"),
        (("--inputs", "nox"), "found.\nThe graph's placeholders are 'x0:0'."),
        (("--input-shape", "x0:1,2"), "--input-shape must be NAME=1,224,224,3, got 'x0:1,2'"),
        (("--input-shape", "x0=1,b"), "--input-shape must be NAME=1,224,224,3, got 'x0=1,b'"),
        (("--input-shape", "=1,2"), "--input-shape must be NAME=1,224,224,3, got '=1,2'"),
        (("--input-shape", "z=1,2"), "tensor shapes map.\nThe inputs are 'x0'."),
        (("--input-shape", "x0=2,28,28,1"), "cannot be changed from (1, 28, 28, 1)"),
    ],
)
def test_bad_options_for_a_frozen_graph(cli, corpus, tmp_path, options, words):
    source, target = corpus / LENET / "frozen.pb", tmp_path / "out.tflite"
    status, _, err = cli("convert", source, "-o", target, *options)
    assert status == 1
    assert words in err
    assert not target.exists()


@pytest.mark.parametrize("option", ["--signature", "--tags"])
@pytest.mark.parametrize(
    ("name", "kind"),
    [("m.pb", "a frozen GraphDef"), ("m.h5", "a Keras file"), ("m.onnx", "an ONNX file")],
)
def test_options_of_saved_models(cli, tmp_path, name, kind, option):
    (tmp_path / name).touch()
    status, _, err = cli("convert", tmp_path / name, "-o", tmp_path / "out.tflite", option, "key")
    assert status == 1
    assert f"{option} is for SavedModels; '{tmp_path / name}' is {kind}" in err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--signature", "nokey"), "Invalid signature key 'nokey' found. Valid keys are"),
        (("--tags", "serve,gpu"), "has one MetaGraph with tags ['serve']"),
        (("--inputs", "serving_default"), "signature_keys=['serving_default']"),
    ],
)
def test_bad_options_for_a_saved_model(cli, corpus, tmp_path, options, words):
    source, target = corpus / LENET / "saved_model", tmp_path / "out.tflite"
    status, _, err = cli("convert", source, "-o", target, *options)
    assert status == 1
    assert words in err
    assert str(source) in err


def test_convert_overwrites_only_with_a_whole_file(cli, corpus, tmp_path):
    target = tmp_path / "out.tflite"
    target.write_bytes(b"old")
    assert cli("convert", tmp_path / "nowhere.pb", "-o", target)[0] == 1
    assert target.read_bytes() == b"old"
    assert cli("convert", corpus / LENET / "frozen.pb", "-o", target)[0] == 0
    assert target.read_bytes()[4:8] == b"TFL3"
    assert [p.name for p in tmp_path.iterdir()] == ["out.tflite"]


def test_targets_are_looked_at_before_the_work(cli, tmp_path):
    (tmp_path / "link").symlink_to("nothing")
    cases = {
        "none/out.tflite": "none' does not exist",
        ".": "is a folder, not a file to write",
        "link": "link' is a link that leads to nothing",
    }
    for target, words in cases.items():
        status, _, err = cli("convert", tmp_path / "nowhere.pb", "-o", tmp_path / target)
        assert status == 1
        assert words in err


def test_a_warning_is_one_line(cli, tmp_path):
    node = 'node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_INT32 } } '
    shape = 'attr { key: "shape" value { shape { dim { size: 2 } } } } } '
    types = 'attr { key: "T" value { type: DT_INT32 } } attr { key: "dtype" value { type: 1 } }'
    noise = f'node {{ name: "y" op: "RandomUniform" input: "x" {types} }}'
    (tmp_path / "x.pbtxt").write_text(node + shape + noise)
    status, out, err = cli("convert", tmp_path / "x.pbtxt", "-o", tmp_path / "out.tflite")
    assert status == 0
    assert out.endswith(", not verified\n")
    assert err.startswith(
        "flatlite: warning: the converted model was not verified: RandomUniform 'y'"
    )
    assert len(err.splitlines()) == 1


def test_positions_of_tensorflow(cli, request, tmp_path, caplog):
    source = request.path.parent / "converter/tf/saved_models/several"
    target = tmp_path / "out.tflite"
    options = ("--signature", "subtract", "-o", target, "--json")
    for order, names in (("source", ["a", "b"]), ("tensorflow", ["b", "a"])):
        status, out, _ = cli("convert", source, *options, "--io-order", order)
        assert status == 0
        printed = [row["name"] for row in json.loads(out)["inputs"]]
        assert printed == [f"subtract_{name}:0" for name in names]
    (record,) = caplog.records
    assert "TensorFlow 2.21 would write 'b', 'a'" in record.getMessage()


def test_all_signatures_unless_named(cli, request, tmp_path):
    source = request.path.parent / "converter/tf/saved_models/several"
    target = tmp_path / "out.tflite"
    for options, keys in (((), ["add", "scalar", "subtract"]), (("--signature", "add"), ["add"])):
        _, out, _ = cli("convert", source, "-o", target, "--json", *options)
        assert list(json.loads(out)["signatures"]) == keys
    _, _, err = cli("convert", source, "-o", target, "--signature", "nox")
    assert "signature_keys=[...] (--signature KEY)" in err


def test_verification_on_inputs_from_a_file(cli, request, tmp_path):
    source = request.path.parent / "converter/tf/saved_models/several"
    path, command = tmp_path / "x.npz", ("convert", source, "-o", tmp_path / "out.tflite")
    command = (*command, "--signature", "subtract", "--verify-inputs", path)
    two = np.ones(2, np.float32)
    np.savez(path, a=two, b=two * 2)
    assert cli(*command)[1].endswith(", verified\n")
    np.savez(path, a=two, c=two)
    assert "verify_inputs must have the keys 'a', 'b', got 'a', 'c'" in cli(*command)[2]
    np.savez(path, a=two, b=np.ones(3, np.float32))
    assert "verify_inputs: input 'b' must have the shape (2), got (3,)" in cli(*command)[2]
    np.savez(path, a=two, b=np.array([{}], object))
    assert "is not a .npy or .npz file of numbers\n" in cli(*command)[2]


def test_output_into_what_is_no_file(cli, corpus, tmp_path):
    command = ("convert", corpus / LENET / "saved_model", "--no-verify", "-o")
    status, out, err = cli(*command, "/dev/null")
    assert (status, out) == (0, "")
    assert err.startswith("wrote /dev/null: ")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    status, _, err = cli(*command, "/dev/full")
    assert (status, err) == (1, "flatlite: error: '/dev/full': No space left on device\n")
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)


@pytest.mark.parametrize("scheme", ["float16", "weight_only"])
def test_weights_in_other_types(scheme, cli, corpus, tmp_path):
    command = ("convert", corpus / LENET / "saved_model", "-o", tmp_path / "x", "--quantize")
    status, out, _ = cli(*command, scheme)
    assert status == 0
    assert "dB signal to noise" in out
    status, _, err = cli(*command, "int3")
    assert (status, "a scheme must be one of int8, int16x8, " in err) == (1, True)


def test_options_of_other_commands_are_refused_by_the_commands_usage(cli):
    status, out, err = cli("inspect", "model.tflite", "-o", "out.tflite")
    assert (status, out) == (2, "")
    assert err.startswith("usage: flatlite inspect ")
    assert err.endswith("flatlite inspect: error: unrecognized arguments: -o out.tflite\n")
