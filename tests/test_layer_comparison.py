"""`flatlite compare --layers`: the first layer that differs between two files or two runtimes."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from quantized_network import converter_of

from flatlite.cli import main
from flatlite.schema.model import load, save
from flatlite.tools.compared_inputs import InputChoice
from flatlite.tools.comparison import compare
from flatlite.tools.layer_comparison import compare_layers


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Name -> path of a float file, an int8 file, and one with another weight in the middle."""
    folder = tmp_path_factory.mktemp("layers")
    contents = {
        "float": converter_of("Relu6").convert(),
        "int8": converter_of("Relu6", quantization_recipe={"scheme": "int8"}).convert(),
    }
    model = load(contents["float"])
    (subgraph,) = model.subgraphs
    (op,) = (op for op in subgraph.operators if op.op == "DEPTHWISE_CONV_2D")
    weights = subgraph.tensors[op.inputs[1]]
    weights.data = weights.data.copy()
    weights.data[0, 1, 1, 5] += 0.5
    contents["changed"] = save(model)
    for name, content in contents.items():
        (folder / f"{name}.tflite").write_bytes(content)
    return {name: str(folder / f"{name}.tflite") for name in contents}


def test_the_first_layer_that_differs(files):
    result = compare_layers(files["float"], files["changed"])
    assert result["first"]["operator"] == "DEPTHWISE_CONV_2D"
    assert result["layers"][0]["max_abs"] == 0.0
    assert result["layers"][0]["differs"] is False
    assert result["unpaired"] == 0
    (row,) = (row for row in result["layers"] if row["operator"] == "DEPTHWISE_CONV_2D")
    assert 0 < row["snr_db"] < 60
    assert 0.9 < row["cosine"] < 1.0


def test_equal_files(files):
    assert compare_layers(files["int8"], files["int8"])["first"] is None


def test_float_and_int8(files):
    result = compare_layers(files["float"], files["int8"])
    assert result["first"] is None
    names = [row["operator"] for row in result["layers"]]
    assert names[0] == "CONV_2D"
    assert all(0 < row["snr_db"] < 80 for row in result["layers"])
    strict = compare_layers(files["float"], files["int8"], tolerance=1e-9)
    assert strict["first"]["max_abs"] > 0


@pytest.mark.parametrize("runtime", ["litert", "litert-reference"])
def test_two_runtimes(files, runtime):
    result = compare_layers(files["int8"], files["int8"], ("flatlite", runtime))
    assert result["first"] is None
    kinds = [row["operator"] for row in result["layers"]]
    assert kinds[0] == "QUANTIZE"
    assert "DEPTHWISE_CONV_2D" in kinds
    if runtime == "litert-reference":
        assert all(row["max_abs"] == 0 for row in result["layers"])


def test_litert_that_cannot_run(files, tmp_path):
    model = load(Path(files["float"]).read_bytes())
    model.subgraphs[0].operators[0].op = "CUSTOM"
    model.subgraphs[0].operators[0].custom_code = "Nobody"
    model.subgraphs[0].operators[0].options = None
    path = tmp_path / "custom.tflite"
    path.write_bytes(save(model))
    from flatlite.tools.layer_values import litert_values

    with pytest.raises(RuntimeError, match=r"LiteRT cannot run .* unresolved custom op: Nobody"):
        litert_values(str(path), "litert", None, [np.zeros((1, 8, 8, 4), np.float32)])


def test_command_line(files, capsys):
    assert main(["compare", files["float"], files["changed"], "--layers"]) == 0
    assert "the first layer that differs: DEPTHWISE_CONV_2D 'middle/elu'" in capsys.readouterr().out
    assert main(["compare", files["int8"], files["int8"], "--layers"]) == 0
    assert "no layer differs" in capsys.readouterr().out
    strict = ["--tolerance", "1e-9"]
    assert main(["compare", files["float"], files["int8"], "--layers", *strict]) == 0
    assert "--data takes a sample of that" in capsys.readouterr().out
    pair = ["compare", files["float"], files["changed"]]
    assert main([*pair, "--layers", "--json", "--tolerance", "100"]) == 0
    assert json.loads(capsys.readouterr().out)["first"] is None
    assert main([*pair, "--runtimes", "flatlite,litert"]) == 1
    assert "--runtimes is for layers; add --layers" in capsys.readouterr().err
    assert main([*pair, "--layers", "--runtimes", "flatlite,other"]) == 1
    assert "must be one of flatlite, litert, litert-reference, got 'other'" in (
        capsys.readouterr().err
    )


@pytest.fixture
def samples(tmp_path):
    """A file of three samples, and these."""
    arrays = np.random.default_rng(3).uniform(0, 4, (3, 8, 8, 4)).astype(np.float32)
    np.savez(tmp_path / "samples.npz", x=arrays)
    return str(tmp_path / "samples.npz"), arrays


def test_which_inputs(files, samples):
    """They are said, and the same choice gives the same numbers."""

    def compared(**choice):
        return compare_layers(files["float"], files["int8"], choice=InputChoice(**choice))

    plain, seeded, ranged = compared(), compared(seed=1), compared(ends=(-0.5, 0.25))
    assert plain["inputs"]["from"].startswith("random normals within what the inputs' integers")
    assert plain["layers"] == compared(seed=20)["layers"] != seeded["layers"]
    (row,) = ranged["inputs"]["values"]
    assert -0.5 <= row["min"] < -0.4 < 0.2 < row["max"] <= 0.25
    path, arrays = samples
    read = compared(data=path, sample=2)
    assert read["inputs"]["from"] == f"sample 2 of {path}"
    (row,) = read["inputs"]["values"]
    assert (row["min"], row["max"]) == (arrays[2].min(), arrays[2].max())


def test_random_inputs_lie_in_what_integers_hold(files, tmp_path):
    """A model of images is compared on images, and by whole outputs, too."""
    images = np.random.default_rng(0).uniform(0, 40, (20, 1, 8, 8, 4)).astype(np.float32)
    converter = converter_of("Relu6", quantization_recipe={"scheme": "int8"})
    converter.representative_dataset = lambda: ([image] for image in images)
    path = tmp_path / "images.tflite"
    path.write_bytes(converter.convert())
    for pair in ((files["float"], str(path)), (str(path), files["float"])):
        (row,) = compare_layers(*pair)["inputs"]["values"]
        assert 0 <= row["min"] < 8 < 32 < row["max"] <= 41
        assert all(row["max_rel"] < 0.1 for row in compare(*pair)["outputs"])
    (row,) = compare_layers(files["float"], files["changed"])["inputs"]["values"]
    assert row["min"] < 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--data", "DATA", "--sample", "3"], "has no sample 3"),
        (["--data", "DATA", "--sample", "-1"], "must not be negative, got -1"),
        (["--data", "DATA", "--seed", "1"], "--seed and --range are for random inputs"),
        (["--sample", "1"], "--sample is for --data"),
        (["--range=2,1"], "must go up, got 2 to 1"),
        (["--data", "none.npz"], "none.npz"),
        (["--data", "NARROW"], "input 'x' must have the shape (1, 8, 8, 4), got (1, 8, 7, 4)"),
    ],
)
def test_inputs_that_cannot_be(options, message, files, samples, tmp_path, capsys):
    narrow = tmp_path / "narrow.npz"
    np.savez(narrow, x=samples[1][:, :, 1:])
    paths = {"DATA": samples[0], "NARROW": str(narrow)}
    options = [paths.get(option, option) for option in options]
    assert main(["compare", files["float"], files["int8"], "--layers", *options]) == 1
    assert message in capsys.readouterr().err


def test_the_command_says_on_what(files, samples, capsys):
    pair = ["compare", files["float"], files["int8"], "--layers"]
    assert main([*pair, "--range=-1,1", "--seed", "5"]) == 0
    assert "on random numbers of -1 to 1, seed 5: 'x' of -0.9" in capsys.readouterr().out
    assert main([*pair, "--data", samples[0]]) == 0
    assert f"on sample 0 of {samples[0]}: 'x' of 0.0" in capsys.readouterr().out.replace("\n", "")


def test_runtime_that_is_not_installed(files):
    code = (
        "import sys; sys.modules['ai_edge_litert'] = None\n"
        "import importlib.util; importlib.util.find_spec = lambda name: None\n"
        "from flatlite.tools.layer_comparison import compare_layers\n"
        "compare_layers(*sys.argv[1:], runtimes=('flatlite', 'litert'))"
    )
    command = [sys.executable, "-c", code, files["int8"], files["int8"]]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "the runtime 'litert' is not installed; pip install ai-edge-litert" in done.stderr
