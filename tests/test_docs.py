"""Examples in docstrings run, and what the documents name exists."""

import doctest
import importlib
import os
import pkgutil
import re
import runpy
from pathlib import Path

import pytest

import flatlite

ROOT = Path(flatlite.__file__).parent
FOLDERS = ("schema", "engine", "graph", "interpreter", "delegates", "converter", "training")
APART = (
    *("flatlite.engine.kernels", "flatlite.schema.generate", "flatlite.schema.proto.generate"),
    *("flatlite.delegates.xla.", "flatlite.delegates.cuda."),  # need what may not be installed
)
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
PATHS = re.compile(
    r"\b((?:schema|engine|graph|interpreter|delegates|converter|training|models|tests|docs|examples"
    r"|benchmarks)"
    r"(?:/\w+)*/(?:\w+\.(?:py|md|proto|fbs))?)"
)


def modules() -> list[str]:
    names = ["flatlite.lite", "flatlite.cli"]
    for folder in FOLDERS:
        package = importlib.import_module(f"flatlite.{folder}")
        found = pkgutil.walk_packages(package.__path__, f"flatlite.{folder}.")
        names += [m.name for m in found if not m.name.startswith(APART)]
    return names


@pytest.mark.parametrize("name", modules())
def test_docstring_examples(name, monkeypatch):
    monkeypatch.chdir(ROOT)
    module = importlib.import_module(name)
    result = doctest.testmod(module, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert result.failed == 0


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda p: p.name)
def test_named_files_exist(document):
    named = set(PATHS.findall(document.read_text()))
    assert named
    missing = [path for path in sorted(named) if not (ROOT / path).exists()]
    assert not missing


@pytest.mark.filterwarnings("ignore:the converted model was verified only")  # on a loaded machine
def test_demo(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["demo.py", str(tmp_path)])
    monkeypatch.setenv("COLUMNS", "160")
    runpy.run_path(str(ROOT / "examples" / "demo.py"), run_name="__main__")
    printed = capsys.readouterr().out
    for model in ("basic_pitch", "digits"):
        assert f"{model} (SavedModel)" in printed
        assert os.path.getsize(tmp_path / f"{model}.tflite") > 1000
    sizes = [os.path.getsize(tmp_path / f"lenet_{form}.tflite") for form in ("float", "int8")]
    assert all(f"{size:,}" in printed for size in sizes)
    assert sizes[1] < 0.4 * sizes[0]


def test_quantize_example(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["quantize.py", str(tmp_path)])
    runpy.run_path(str(ROOT / "examples" / "quantize.py"), run_name="__main__")
    printed = capsys.readouterr().out
    sizes = {path.stem: path.stat().st_size for path in tmp_path.glob("*.tflite")}
    assert len(sizes) == 4
    for name, size in sizes.items():
        assert f"{name}.tflite" in printed
        assert f"{size:,}" in printed
        assert size < sizes["digits_float"] / 2 or name == "digits_float"
