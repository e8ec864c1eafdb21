"""`flatlite run`, `inspect`, `compare` and `benchmark` on real models."""

import json
import sys

import h5py
import numpy as np
import pytest

from flatlite.lite import Interpreter
from flatlite.tools.terminal import MAX_LINES

LENET = "C/lenet_k3"
MODULE = [sys.executable, "-m", "flatlite"]


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
        with np.load(tmp_path / "y.npz") as archive:
            assert list(archive) == ["output_0"]
            np.testing.assert_allclose(archive["output_0"], recorded["tf0:0"], rtol=1e-4, atol=1e-5)
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
        ("x.npy", np.zeros(3, "f4"), "is float32 of shape (?, 28, 28, 1), given is float32 of"),
        ("x.npy", b"garbage", "x.npy' is not a .npy or .npz file of numbers\n"),
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


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--input", "x="), "--input must be NAME=FILE.npy, got 'x='"),
        (("--threads", "0"), "--threads: must be a number of at least 1, got '0'"),
        (("--threads", "two"), "--threads: must be a number of at least 1, got 'two'"),
    ],
)
def test_run_with_bad_options(cli, lenet, options, words):
    status, out, err = cli("run", lenet, *options)
    assert status
    assert not out
    assert words in err


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


def test_inspect_refuses_what_is_no_model(cli, lenet, tmp_path):
    (tmp_path / "a.tflite").write_bytes(b"TFL3" * 9)
    status, _, err = cli("inspect", tmp_path / "a.tflite")
    assert status == 1
    assert "not a valid Flatbuffer buffer" in err
    assert "a.tflite" in err
    (tmp_path / "b.tflite").write_bytes(bytes(40))
    assert (
        "; this is not a .tflite file, flatlite convert makes one of other models\n(in '"
        in cli("inspect", tmp_path / "b.tflite")[2]
    )
    for words in (["dump"], ["metadata"], ["micro"], ["diff", lenet]):
        assert "\n(in '" in cli(*words, tmp_path / "b.tflite")[2]
    for command in ("inspect", "run", "benchmark"):
        assert "is a folder, and a .tflite file is wanted; flatlite" in cli(command, tmp_path)[2]
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
    source = request.config.rootpath / "tests/converter/tf/saved_models/orders"
    for key in ("skips", "nested"):
        status, out, _ = cli("compare", two_signatures, source, "--signature", key, "--json")
        assert status == 0
        assert all(row["max_rel"] < 1e-5 for row in json.loads(out)["outputs"])


def test_compare_refuses_models_of_other_forms(cli, corpus, lenet, request):
    source = request.config.rootpath / "tests/converter/tf/saved_models/keras"
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
    printed = json.loads(out)["delegates"]
    assert [part["delegate"] for part in printed["parts"]] == ["xla"]
    assert {row["reason"] for row in printed["operators"] if row["part"] is None} <= {
        "its result is known before the model runs"
    }
    status, out, err = cli("inspect", lenet, "--delegate", "xla")
    assert (status, err) == (0, "")
    assert "bytes copied in each run" in out
    assert "CONV_2D" in out
    status, out, err = cli("benchmark", lenet, "--runs", 2, "--delegate", "xla")
    assert (status, err) == (0, "")
    assert "partitions of delegates" in out
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


def test_compare_says_first_that_the_inputs_differ(cli, corpus, lenet):
    other = corpus / "D/basic_pitch/saved_model"
    status, _, err = cli("compare", lenet, other)
    assert status == 1
    assert "do not take the same inputs: 'keras_tensor' float32 (?, 28, 28, 1) in the first" in err


def test_convert_architecture_and_weights(cli, tmp_path):
    """A Dense layer as JSON, its weights in a file as Keras 3's save_weights() writes them."""
    spec = {"batch_input_shape": [None, 3], "dtype": "float32", "name": "x"}
    layers = [
        {"class_name": "InputLayer", "config": spec},
        {"class_name": "Dense", "config": {"name": "d", "units": 2}},
    ]
    model = {"class_name": "Sequential", "config": {"name": "m", "layers": layers}}
    architecture, weights = tmp_path / "model.json", tmp_path / "model.weights.h5"
    architecture.write_text(json.dumps(model))
    with h5py.File(weights, "w") as file:
        file["layers/dense/vars/0"] = np.ones((3, 2), np.float32)
        file["layers/dense/vars/1"] = np.float32([1, 2])
    target = tmp_path / "m.tflite"
    status, out, err = cli("convert", architecture, "--weights-file", weights, "-o", target)
    assert (status, err) == (0, "")
    assert ", verified" in out
    interpreter = Interpreter(model_content=target.read_bytes())
    interpreter.allocate_tensors()
    interpreter.set_tensor(0, np.ones((1, 3), np.float32))
    interpreter.invoke()
    index = interpreter.get_output_details()[0]["index"]
    assert interpreter.get_tensor(index).tolist() == [[4, 5]]
    status, _, err = cli("convert", architecture, "-o", target)
    assert status
    assert "weights_file" in err
    status, _, err = cli(
        "convert", target, "--quantize", "dynamic", "--weights-file", weights, "-o", target
    )
    assert status
    assert "--weights-file cannot change a .tflite file" in err
