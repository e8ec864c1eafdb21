"""The command line, run in process on real models."""

import json
import os
import pty
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import flatlite.cli
from flatlite.converter.terminal import MAX_LINES, Progress, error_text
from flatlite.schema import model as files

LENET = "C/lenet_k3"
MODULE = [sys.executable, "-m", "flatlite.cli"]


@pytest.fixture
def cli(capsys):
    """cli(*arguments) -> (exit status, standard output, standard error)."""

    def run(*arguments):
        try:
            status = flatlite.cli.main([str(a) for a in arguments])
        except SystemExit as stop:
            status = stop.code
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return run


@pytest.fixture(scope="session")
def lenet(corpus, tmp_path_factory):
    """LeNet converted from its SavedModel."""
    path = tmp_path_factory.mktemp("cli") / "lenet.tflite"
    source = corpus / LENET / "saved_model"
    assert flatlite.cli.main(["convert", str(source), "-o", str(path), "--no-verify"]) == 0
    return path


@pytest.fixture(scope="session")
def two_signatures(request, tmp_path_factory):
    """A file with the signatures `skips` and `nested`."""
    path = tmp_path_factory.mktemp("cli") / "two.tflite"
    source = request.config.rootpath / "tests/converter/saved_models/orders"
    options = ["--signature", "skips", "--signature", "nested"]
    assert flatlite.cli.main(["convert", str(source), "-o", str(path), *options]) == 0
    return path


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
    assert lines[1].endswith(" dB signal to noise at 'output_0'")
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
    written = set()
    for name in ("six.npy", "six.npz", "folder"):
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
        (["--input-type", "int8"], "must be tf.float32 unless the model is quantized"),
        (["--quantize", "dynamic", "--representative-dataset", "{npz}"], "is for --quantize int8"),
        (["--quantize", "int8", "--representative-dataset", "none.npz"], "'none.npz'"),
        (["--quantize", "int8", "--representative-dataset", "{tmp}"], "has no .npy or .npz files"),
        (
            ["--quantize", "int8", "--representative-dataset", "{other}"],
            "must have an array for input 'image', has 'picture'",
        ),
        (["--quantize", "int8", "--representative-dataset", "{text}"], "is not a .npy or .npz"),
        (["--quantize", "int8", "--representative-dataset", "{flat}"], "the shape (?, 8, 8, 1)"),
    ],
)
def test_mistakes_in_quantization(cli, digits, tmp_path, options, words):
    (source, *_), dataset = digits
    folder = tmp_path / "files"
    folder.mkdir()
    paths = {"npz": dataset, "tmp": tmp_path}
    paths |= {name: folder / f"{name}.npz" for name in ("other", "text", "flat")}
    np.savez(paths["other"], picture=np.zeros((2, 8, 8, 1), np.float32))
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
        ("empty.pb", "Unable to parse input file '{path}'. The file is empty."),
        ("noise.pb", "Unable to parse input file '{path}'"),
        (
            "folder",
            "SavedModel file does not exist at: {path}/{{saved_model.pbtxt|saved_model.pb}}",
        ),
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
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "saved_model.pb").write_bytes(b"\xff" * 40)
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
        (("--inputs", "nox"), "Invalid tensors 'nox' were found."),
        (("--input-shape", "x0:1,2"), "--input-shape must be NAME=1,224,224,3, got 'x0:1,2'"),
        (("--input-shape", "x0=1,b"), "--input-shape must be NAME=1,224,224,3, got 'x0=1,b'"),
        (("--input-shape", "=1,2"), "--input-shape must be NAME=1,224,224,3, got '=1,2'"),
        (("--input-shape", "z=1,2"), "Invalid tensor 'z' found in tensor shapes map."),
        (("--input-shape", "x0=2,28,28,1"), "cannot be changed from (1, 28, 28, 1)"),
        (("--signature", "key"), "--signature is for SavedModels"),
        (("--tags", "serve"), "--tags is for SavedModels"),
    ],
)
def test_bad_options_for_a_frozen_graph(cli, corpus, tmp_path, options, words):
    source, target = corpus / LENET / "frozen.pb", tmp_path / "out.tflite"
    status, _, err = cli("convert", source, "-o", target, *options)
    assert status == 1
    assert words in err
    assert not target.exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--signature", "nokey"), "Invalid signature key 'nokey' found. Valid keys are"),
        (("--tags", "serve,gpu"), "tags {'gpu', 'serve'} could not be found in the SavedModel"),
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
    cases = {"none/out.tflite": "none' does not exist", ".": "is a folder, not a file to write"}
    for target, words in cases.items():
        status, _, err = cli("convert", tmp_path / "nowhere.pb", "-o", tmp_path / target)
        assert status == 1
        assert words in err


def test_a_warning_is_one_line(cli, tmp_path):
    node = 'node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_STRING } } '
    shape = 'attr { key: "shape" value { shape { dim { size: 2 } } } } } '
    identity = 'node { name: "y" op: "Identity" input: "x" attr { key: "T" value { type: 7 } } }'
    (tmp_path / "x.pbtxt").write_text(node + shape + identity)
    status, out, err = cli("convert", tmp_path / "x.pbtxt", "-o", tmp_path / "out.tflite")
    assert status == 0
    assert out.endswith(", not verified\n")
    assert err.startswith("flatlite: warning: the converted model was not verified: input 'x:0'")
    assert len(err.splitlines()) == 1


def test_run_with_given_input(cli, corpus, lenet, tmp_path):
    recorded = np.load(corpus / LENET / "data.npz")
    x = recorded["in0:keras_tensor"]
    np.save(tmp_path / "x.npy", x)
    np.savez(tmp_path / "x.npz", keras_tensor=x)
    forms = [
        tmp_path / "x.npy",
        f"keras_tensor={tmp_path / 'x.npy'}",
        f"serving_default_keras_tensor:0={tmp_path / 'x.npy'}",
        tmp_path / "x.npz",
    ]
    for form in forms:
        status, _, err = cli("run", lenet, "--input", form, "-o", tmp_path / "y.npz")
        assert (status, err) == (0, "")
        with np.load(tmp_path / "y.npz") as stored:
            assert list(stored) == ["output_0"]
            np.testing.assert_allclose(stored["output_0"], recorded["tf0:0"], rtol=1e-4, atol=1e-5)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["x.npy", "x.npz", "y.npz"]


def test_run_shows_values_and_statistics(cli, two_signatures, tmp_path):
    np.save(tmp_path / "a.npy", np.float32([1, 2, 3]))
    status, out, _ = cli(
        "run",
        two_signatures,
        "--signature",
        "skips",
        "--input",
        f"a={tmp_path / 'a.npy'}",
        "--json",
    )
    assert status == 0
    result = json.loads(out)
    assert result["values"] == {"output_0": [4.0, 3.0]}
    (row,) = result["outputs"]
    assert row == {
        "name": "output_0",
        "type": "float32",
        "shape": [2],
        "min": 3.0,
        "max": 4.0,
    }
    status, out, _ = cli("run", two_signatures, "--signature", "nested")
    assert status == 0
    assert "float32" in out


def test_run_needs_a_signature_where_several_are(cli, two_signatures):
    for options in ((), ("--signature", "nokey")):
        status, _, err = cli("run", two_signatures, *options)
        assert status == 1
        assert "its signatures are 'skips', 'nested'" in err


def test_json_has_no_nan(cli, two_signatures, tmp_path):
    np.save(tmp_path / "a.npy", np.float32([np.nan, np.inf, 3]))
    arguments = ("--signature", "skips", "--input", f"a={tmp_path / 'a.npy'}", "--json")
    _, out, _ = cli("run", two_signatures, *arguments)

    def refuse(constant):
        raise AssertionError(constant)

    result = json.loads(out, parse_constant=refuse)
    assert result["values"] == {"output_0": ["nan", "inf"]}


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("zz=x.npy", np.zeros(3), "no input is named 'zz'; the inputs of"),
        ("x.npy", np.zeros((1, 28, 28, 1)), "Got value of type FLOAT64 but expected type FLOAT32"),
        ("x.npy", b"garbage", "x.npy' is not a .npy or .npz file"),
        ("x.npy", b"", "x.npy' is not a .npy or .npz file"),
        ("x.npz", b"PK\x03\x04garbage", "x.npz' is not a .npy or .npz file"),
        ("x.npy", None, "x.npy': No such file or directory"),
    ],
)
def test_run_with_bad_inputs(cli, lenet, tmp_path, name, content, words):
    key, equals, file = name.rpartition("=")
    if isinstance(content, bytes):
        (tmp_path / file).write_bytes(content)
    elif content is not None:
        np.save(tmp_path / file, content)
    status, out, err = cli("run", lenet, "--input", f"{key}{equals}{tmp_path / file}")
    assert (status, out) == (1, "")
    assert words in err
    assert len(err.splitlines()) <= MAX_LINES


def test_inspect_shows_everything(cli, lenet):
    status, out, _ = cli("inspect", lenet)
    assert status == 0
    for word in ("serving_default", "CONV_2D", "FULLY_CONNECTED", "FLOAT32", "padding=VALID"):
        assert word in out
    assert "?x28x28x1" in out


def test_inspect_as_json(cli, lenet, two_signatures):
    result = json.loads(cli("inspect", lenet, "--json")[1])
    (subgraph,) = result["subgraphs"]
    assert sum(result["operators"].values()) == len(subgraph["operators"])
    assert result["constant_bytes"] == sum(row["bytes"] for row in subgraph["tensors"])
    assert result["inputs"][0]["shape"] == [-1, 28, 28, 1]
    result = json.loads(cli("inspect", two_signatures, "--json")[1])
    assert [s["subgraph"] for s in result["signatures"].values()] == [0, 1]
    assert len(result["subgraphs"]) == 2


def test_inspect_every_flatbuffer_of_the_corpus(cli, corpus):
    for path in sorted(corpus.rglob("*.tflite")):
        status, out, err = cli("inspect", path, "--json")
        assert (status, err) == (0, ""), path
        assert json.loads(out)["bytes"] == path.stat().st_size


def test_inspect_refuses_what_is_no_model(cli, tmp_path):
    (tmp_path / "a.tflite").write_bytes(b"TFL3" * 9)
    status, _, err = cli("inspect", tmp_path / "a.tflite")
    assert status == 1
    assert "not a valid Flatbuffer buffer" in err
    assert "a.tflite" in err
    assert cli("inspect", tmp_path)[0] == 1
    assert cli("inspect", tmp_path / "none.tflite")[0] == 1


def test_compare(cli, corpus, lenet):
    status, out, err = cli("compare", lenet, corpus / LENET / "float.tflite", "--json")
    assert (status, err) == (0, "")
    assert all(row["max_rel"] < 1e-4 for row in json.loads(out)["outputs"])


def test_compare_with_the_source(cli, corpus, lenet):
    for source in (corpus / LENET / "saved_model", corpus / LENET / "frozen.pb"):
        status, out, err = cli("compare", source, lenet, "--json", "--runs", 1)
        assert (status, err) == (0, "")
        assert all(row["max_rel"] < 1e-4 for row in json.loads(out)["outputs"])


def test_compare_with_a_quantized_model(cli, corpus, lenet):
    status, out, err = cli("compare", lenet, corpus / LENET / "int8.tflite", "--json")
    assert (status, err) == (0, "")
    (row,) = json.loads(out)["outputs"]
    assert 0 < row["max_abs"] < 1


def test_compare_pairs_by_name(cli, request, two_signatures):
    source = request.config.rootpath / "tests/converter/saved_models/orders"
    for key in ("skips", "nested"):
        status, out, _ = cli("compare", two_signatures, source, "--signature", key, "--json")
        assert status == 0
        assert all(row["max_rel"] < 1e-5 for row in json.loads(out)["outputs"])


def test_compare_refuses_models_of_other_forms(cli, corpus, lenet, request):
    source = request.config.rootpath / "tests/converter/saved_models/keras"
    status, _, err = cli("compare", lenet, source)
    assert status == 1
    assert f"'{lenet}' has 1 inputs, '{source}' has 2" in err


def test_benchmark(cli, lenet):
    status, out, _ = cli("benchmark", lenet, "--runs", 3, "--warmup", 1, "--json")
    assert status == 0
    result = json.loads(out)
    assert 0 < result["min_ms"] <= result["p50_ms"] <= result["p99_ms"]
    assert sum(row["share"] for row in result["operators"]) == pytest.approx(1, abs=0.01)
    assert result["inputs"] == {"serving_default_keras_tensor:0": [1, 28, 28, 1]}
    status, out, err = cli("benchmark", lenet, "--runs", 3)
    assert (status, err) == (0, "")
    assert "p99_ms" in out
    assert "CONV_2D" in out
    assert "%" in out


def test_benchmark_of_a_file_with_signatures(cli, two_signatures):
    assert cli("benchmark", two_signatures, "--runs", 1)[0] == 0


def test_delegates_run_what_they_can(cli, lenet):
    pytest.importorskip("jax", reason="needs the xla delegate")
    status, out, err = cli("inspect", lenet, "--delegates", "xla", "--json")
    assert (status, err) == (0, "")
    found = json.loads(out)["delegates"]
    assert [part["delegate"] for part in found["parts"]] == ["xla"]
    assert {row["reason"] for row in found["operators"] if row["part"] is None} <= {
        "its result is known before the model runs"
    }
    status, out, err = cli("inspect", lenet, "--delegate", "xla")
    assert (status, err) == (0, "")
    assert "bytes copied in each run" in out
    assert "CONV_2D" in out
    status, out, err = cli("benchmark", lenet, "--runs", 2, "--delegate", "xla")
    assert (status, err) == (0, "")
    assert "parts of delegates" in out
    status, out, _ = cli("run", lenet, "--delegate", "xla", "--json")
    assert status == 0
    ours, engine = (json.loads(x)["values"] for x in (out, cli("run", lenet, "--json")[1]))
    for name, values in engine.items():
        np.testing.assert_allclose(ours[name], values, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("command", ["inspect", "run", "benchmark"])
def test_a_delegate_that_cannot_be_loaded(cli, lenet, command):
    status, out, err = cli(command, lenet, "--delegate", "no_such_module:Mine")
    assert (status, out) == (1, "")
    assert err.startswith("flatlite: error: Failed to load delegate from no_such_module:Mine\n")
    status, out, err = cli(command, lenet, "--delegate", "libnope.so")
    assert (status, out) == (1, "")
    assert "libnope.so: cannot open shared object file" in err


def test_warmup(cli):
    status, out, err = cli("warmup", "--json")
    assert (status, err) == (0, "")
    result = json.loads(out)
    assert "launch" in result["modules"]
    assert set(result["compiled"]) <= set(result["modules"])


def test_usage_errors_exit_with_2(cli):
    assert cli("benchmark", "x", "--runs", "0")[0] == 2
    assert cli("frobnicate")[0] == 2
    assert cli()[0] == 2
    assert cli("convert", "x")[0] == 2


def test_installed_command():
    done = subprocess.run([*MODULE, "--version"], capture_output=True, text=True)
    assert done.stdout.startswith("flatlite ")


def test_a_closed_pipe_is_no_error(lenet):
    command = [*MODULE, "inspect", str(lenet)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == flatlite.cli.BROKEN_PIPE


def test_an_interrupt_ends_with_130(lenet):
    code = (
        "import sys; from flatlite import cli; print('ready', flush=True)\n"
        f"sys.exit(cli.main(['benchmark', {str(lenet)!r}, '--runs', '100000000']))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout.readline() == b"ready\n"
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == flatlite.cli.INTERRUPTED
    assert (out, err) == (b"", b"flatlite: interrupted\n")


def test_plain_text_where_the_terminal_has_no_lines(lenet):
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run([*MODULE, "inspect", str(lenet)], capture_output=True, env=environment)
    assert done.returncode == 0
    assert done.stdout.isascii()


def shown(seconds, **options):
    """What a progress bar of so many seconds writes to a terminal."""
    ours, theirs = pty.openpty()
    code = (
        "import sys, time; from flatlite.converter import terminal; terminal.PATIENCE = 0.2\n"
        f"with terminal.Progress('working', **{options!r}) as bar:\n"
        f"    bar.advance(); time.sleep({seconds})"
    )
    collected = []

    def read():
        try:
            while part := os.read(ours, 4096):
                collected.append(part)
        except OSError:
            pass  # how a terminal says that it was closed

    process = subprocess.Popen([sys.executable, "-c", code], stderr=theirs)
    os.close(theirs)
    reader = threading.Thread(target=read)
    reader.start()
    assert process.wait(30) == 0
    reader.join(30)
    os.close(ours)
    return b"".join(collected)


def test_progress_is_shown_when_it_takes_long():
    assert b"working" in shown(1.5, total=3)
    assert shown(0, total=3) == b""
    assert shown(0.6, quiet=True) == b""


def test_progress_is_silent_without_a_terminal(capsys):
    with Progress("working", total=2) as bar:
        bar.advance()
    assert capsys.readouterr() == ("", "")


def test_error_texts_are_short_and_printable():
    assert error_text(OSError(2, "No such file", "x")) == "'x': No such file"
    assert error_text(MemoryError("8 GiB")) == "out of memory: 8 GiB"
    assert error_text(ValueError("a\x1b[31mb\udcff")) == "a\ufffd[31mb\ufffd"
    long = error_text(ValueError("\n".join(str(i) for i in range(40))))
    assert len(long.splitlines()) == MAX_LINES
    assert long.endswith("... 26 more lines")
    assert len(error_text(ValueError("x" * 10**6))) < 1100
