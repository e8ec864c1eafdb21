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
FOLDERS = (
    *("schema", "engine", "graph", "interpreter", "delegates", "converter", "training"),
    "commands",
)
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
NAMES = re.compile(r"`(\w+)`,?\s+\(?((?:\w+/)+\w+\.py)")
"""What is said to stand in a file: `name` (path), or (`name`, path)."""
FUNCTIONS = re.compile(r"^( *)(?:@|def ).*\n(?:\1 *(?!```)\S.*\n)+", re.MULTILINE)
"""What a document quotes of a function, up to an empty line."""


def modules() -> list[str]:
    names = ["flatlite.lite", "flatlite.cli"]
    for folder in FOLDERS:
        package = importlib.import_module(f"flatlite.{folder}")
        packages = pkgutil.walk_packages(package.__path__, f"flatlite.{folder}.")
        names += [m.name for m in packages if not m.name.startswith(APART)]
    return names


@pytest.mark.parametrize("name", modules())
def test_docstring_examples(name, monkeypatch):
    (ROOT / "out").mkdir(exist_ok=True)  # where examples write
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


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda p: p.name)
def test_names_stand_in_the_files_that_are_named_with_them(document):
    actual = NAMES.findall(document.read_text())
    texts = {path: (ROOT / path).read_text() for _, path in actual}
    assert [
        (name, path) for name, path in actual if not re.search(rf"\b{name}\b", texts[path])
    ] == []


@pytest.mark.parametrize("name", ["custom_ops.md", "delegates.md", "extending.md", "training.md"])
def test_quoted_functions_are_those_of_the_code(name):
    document = (ROOT / "docs" / name).read_text()
    named = [ROOT / path for path in set(PATHS.findall(document)) if path.endswith(".py")]
    code = "\n".join(without_indentation(path.read_text()) for path in named)
    quoted = [without_indentation(match[0]) for match in FUNCTIONS.finditer(document)]
    assert quoted
    assert [function for function in quoted if function not in code] == []


def without_indentation(text):
    return "\n".join(line.strip() for line in text.splitlines())


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


def test_every_folder_is_in_the_table_of_folders():
    table = (ROOT / "CONTRIBUTING.md").read_text().partition("| folder |")[2].partition("\n\n")[0]
    named = set(re.findall(r"`(\w+)/`", table))
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert packages <= named
    assert named <= {path.name for path in ROOT.iterdir()}


def test_the_page_on_extending_names_all_files_that_have_its_operation():
    """Leaky ReLU stands in no file of the product that the page does not name, but in these."""
    page = (ROOT / "docs" / "extending.md").read_text()
    words = re.compile(r"LEAKY_RELU|LeakyRelu|LeakyReLU|leaky_relu")
    folders = ("converter", "delegates", "engine", "graph", "interpreter", "schema", "training")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    homes = {str(p.relative_to(ROOT)) for p in files if words.search(p.read_text())}
    formulas = {f"converter/passes/{name}.py" for name in ("__init__", "exponentials", "formulas")}
    versions = {
        "schema/tables.py",
        "schema/targets/version_rules.py",
        "schema/runtime_versions.py",
    }
    versions |= {"schema/targets/types.py"}
    survivors = {
        "converter/passes/identities.py",
        "interpreter/ops/tables.py",
    }  # alpha of 1; by a table
    survivors |= {
        "converter/onnx/microsoft/fused.py",
        "converter/onnx/recurrent.py",
        "converter/onnx/reference/fused.py",
    }  # inside other operators
    scaled = ("microsoft", "reference")
    survivors |= {f"converter/onnx/{folder}/quantized.py" for folder in scaled}  # with scales
    assert {home for home in homes if home not in page} == formulas | versions | survivors
