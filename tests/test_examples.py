"""The examples run, and print what the documents show of them."""

import runpy
import sys
from pathlib import Path

import pytest

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
