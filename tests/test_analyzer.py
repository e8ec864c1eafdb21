"""`experimental.Analyzer` prints what LiteRT's analyzer prints."""

import json
import subprocess
import sys

import pytest
from building import Builder, save
from cases import floats

from flatlite.errors import ModelError
from flatlite.lite import experimental
from flatlite.tools.analyzer import analysis

LARGEST = 1_000_000  # bytes of a file
LITERT = """
import json, sys
from ai_edge_litert import _pywrap_analyzer_wrapper as wrapper
paths = json.load(sys.stdin)
print(json.dumps([wrapper.ModelAnalyzer(p, True, False) for p in paths]))
"""


def theirs(paths):
    """What LiteRT, in a process of its own, says of files."""
    command = [sys.executable, "-c", LITERT]
    done = subprocess.run(
        command,
        input=json.dumps([str(p) for p in paths]),
        capture_output=True,
        check=True,
        text=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


def added():
    b = Builder()
    x, y = b.input("caf\u00e9", (2, 3)), b.tensor("y", (2, 3))
    b.op("ADD", [x, b.constant("by", floats(2, 3))], [y])
    return save(b.outputs(y))


def test_the_text_is_litert_s(corpus):
    paths = [p for p in sorted(corpus.rglob("*.tflite")) if p.stat().st_size < LARGEST]
    different = [
        str(path)
        for path, text in zip(paths, theirs(paths), strict=True)
        if analysis(path.read_bytes()) != text
    ]
    assert different == []


def test_names_that_are_not_ascii(tmp_path):
    path = tmp_path / "m.tflite"
    path.write_bytes(added())
    assert analysis(added()) == theirs([path])[0]
    assert "T#0(caf..)" in analysis(added())


def test_what_is_printed(tmp_path, capsys):
    path = tmp_path / "m.tflite"
    path.write_bytes(added())
    experimental.Analyzer.analyze(model_path=path)
    from_path = capsys.readouterr().out
    assert from_path == f"=== {path} ===\n\n{analysis(added())}\n"
    experimental.Analyzer.analyze(model_content=added())
    assert capsys.readouterr().out == f"=== TFLite ModelAnalyzer ===\n\n{analysis(added())}\n"


def test_operators_of_the_gpu():
    assert "Your model looks compatible with GPU delegate" in analysis(added(), True)
    b = Builder()
    x, y = b.input("x", (2,)), b.tensor("y", (2,))
    b.op("ATAN2", [b.op("ABS", [x], [b.tensor("a", (2,))]), x], [y])
    text = analysis(save(b.outputs(y)), True)
    assert "Subgraph#0 has GPU delegate compatibility issues at nodes 1 on" in text
    assert "looks compatible" not in text


def test_refusals(tmp_path):
    analyze = experimental.Analyzer.analyze
    with pytest.raises(ValueError, match="neither `model_path` nor `model_content` is provided"):
        analyze()
    with pytest.raises(ModelError, match="not a valid Flatbuffer"):
        analyze(model_content=b"\x08\0\0\0TFL3")
    with pytest.raises(FileNotFoundError):
        analyze(model_path=tmp_path / "none.tflite")
    with pytest.raises(TypeError, match="unexpected keyword arguments"):
        analyze(model_content=added(), gpu=True)
