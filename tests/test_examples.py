"""The examples run, and print what the documents show of them."""

import io
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from running import kinds

import flatlite
from flatlite.schema import custom_ops

ROOT = Path(flatlite.__file__).parent
PRINTED = {
    "control_flow.py": ["SHAPE FILL WHILE", "GREATER IF", "LiteRT's answers: True"],
    "custom_kernel.py": ["from the graph's answer:", "Snake: ", "TANH: "],
    "keras_model.py": ["lenet_k3/model.h5:", "verified: True"],
    "onnx_model.py": ["nmp.onnx:", "largest difference from ONNX Runtime"],
    "ophint.py": ["SoftClip(MatMul, Const_1)", "['FULLY_CONNECTED', 'SoftClip']"],
}


@pytest.mark.parametrize("name", PRINTED)
@pytest.mark.filterwarnings("ignore:the converted model was")  # a loaded machine takes its time
def test_example(name, capsys, monkeypatch):
    monkeypatch.setattr(custom_ops, "_CUSTOM_OPS", {})
    monkeypatch.setattr(sys, "argv", [name])
    runpy.run_path(str(ROOT / "examples" / name), run_name="__main__")
    printed = capsys.readouterr().out
    for words in PRINTED[name]:
        assert words in printed


def test_finetuning_learns():
    """The digits that lie in this repository, with the last layers of a small network."""
    example = runpy.run_path(str(ROOT / "examples" / "finetune.py"))
    data = np.load(ROOT / "models" / "digits" / "digits.npz")
    images = np.float32(data["image"][:224, ..., None] / 8 - 1)
    labels = data["label"][:224].astype(np.int64)
    model = ROOT / "tests" / "corpus" / "C" / "lenet_tfk" / "float.tflite"
    pairs = (images[:192], labels[:192]), (images[192:], labels[192:])
    console = Console(file=io.StringIO(), force_terminal=True)
    content, losses, lines = example["finetune"](model, "dense", 12, pairs, console)
    assert len(losses) == 72 and losses[-1] < losses[0] / 2
    assert "loss" in console.file.getvalue()
    (difference,) = (float(line.split()[-1]) for line in lines if line.startswith("largest"))
    assert difference < 1e-5
    assert len(kinds(content)) <= 12
