"""Sources that are broken, hostile or not supported: one short error that names the layer."""

import re

import broken_graphs
import broken_keras
import broken_onnx
import broken_tflite
import pytest

import flatlite.cli

MAX_LINES = 15
FIXES = re.compile(
    r"\b(copy|write|save|name|give|freeze|export|convert|replace|change|make|cut|pack|use|wanted|"
    r"please|must|only|similar|placeholders)\b",
    re.IGNORECASE,
)
"""One of these words tells what to do."""
SOURCES = {
    f"{kind}: {name}": row
    for kind, rows in {
        "GraphDef": broken_graphs.GRAPHS,
        "SavedModel": broken_graphs.SAVED_MODELS,
        "Keras": broken_keras.KERAS,
        "ONNX": broken_onnx.ONNX,
        "TFLite": broken_tflite.TFLITE,
    }.items()
    for name, row in rows.items()
}


@pytest.mark.parametrize("name", SOURCES)
def test_one_short_error_names_the_layer(name, tmp_path, capsys):
    make, *words = SOURCES[name]
    source, target = make(tmp_path), tmp_path / "out.tflite"
    options = ["--quantize", "dynamic"] if source.suffix == ".tflite" else []
    status = flatlite.cli.main(["convert", str(source), *options, "-o", str(target)])
    captured = capsys.readouterr()
    lines = captured.err.splitlines()
    assert (status, captured.out) == (1, "")
    assert lines[0].startswith("flatlite: error: ")
    assert len(lines) <= MAX_LINES
    assert str(tmp_path) in captured.err
    assert FIXES.search(captured.err.replace(str(tmp_path), "")), captured.err
    assert all(word in captured.err for word in words), captured.err
    assert "Traceback" not in captured.err and "\x1b" not in captured.err
    assert not target.exists()


def test_there_are_many():
    assert len(SOURCES) >= 60
