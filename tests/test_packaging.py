"""What a wheel needs and an editable install forgives."""

import ast
import re
import subprocess
import symtable
import sys
from pathlib import Path

import flatlite

ROOT = Path(flatlite.__file__).parent
DATA = re.compile(r"package-data = \{(.*)\}")
OUTSIDE = {"tests", "benchmarks", "docs", "examples", "models"}  # not part of the package


def declared_packages() -> set[str]:
    text = (ROOT / "pyproject.toml").read_text()
    listed = text.split("\npackages = [", 1)[1].split("]", 1)[0]
    return {name.strip().strip('"') for name in listed.split(",") if name.strip()}


def hidden(folder: tuple[str, ...]) -> bool:
    return folder[0] in ("build", "dist") or any(part.startswith(".") for part in folder)


def test_pyproject_lists_every_package():
    folders = {p.parent.relative_to(ROOT).parts for p in ROOT.rglob("__init__.py")}
    inside = [f for f in folders if not f or (f[0] not in OUTSIDE and not hidden(f))]
    actual = {".".join(("flatlite", *folder)) for folder in inside}
    assert actual == declared_packages()


def test_pyproject_lists_all_data():
    """Whatever lies in a package and is no Python file matches a pattern of `package-data`."""
    text = (ROOT / "pyproject.toml").read_text()
    table = ast.literal_eval(
        "{" + re.sub(r'"?([\w.]+)"? = \[', r'"\1": [', DATA.search(text)[1].strip()) + "}"
    )
    for package in declared_packages():
        folder = ROOT / Path(*package.split(".")[1:])
        patterns = table.get(package, [])
        for path in folder.iterdir() if folder != ROOT else ():
            if path.is_file() and path.suffix not in (".py", ".pyc"):
                assert any(path.match(pattern) for pattern in patterns), path


def test_comprehensions_leave_captured_names_alone():
    """CPython 3.12.1 and 3.13.0 forget a captured variable when a comprehension has its name."""

    def wrong(scope):
        inner = scope.get_children()
        builtins = {
            symbol.get_name()
            for child in inner
            if child.get_name() in ("listcomp", "setcomp", "dictcomp")
            for symbol in child.get_symbols()
            if symbol.is_local()
        }
        captured = scope.get_frees() if scope.get_type() == "function" else ()
        return [
            *((scope.get_name(), name) for name in builtins.intersection(captured)),
            *(actual for child in inner for actual in wrong(child)),
        ]

    for package in declared_packages():
        for path in ROOT.joinpath(*package.split(".")[1:]).glob("*.py"):
            assert not wrong(symtable.symtable(path.read_text(), str(path), "exec")), path


def loaded_after(statement: str) -> set[str]:
    code = f"{statement}\nimport sys\nprint(*(m.split('.')[0] for m in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_import_loads_no_heavy_dependency():
    heavy = {"numba", "llvmlite", "onnx", "h5py", "google", "ml_dtypes", "rich"}
    assert not heavy & loaded_after("import flatlite, flatlite.lite, flatlite.compat.v1")


def test_the_interpreter_needs_no_protobuf():
    loaded = loaded_after("from flatlite.lite import Interpreter")
    assert not {"numba", "llvmlite", "onnx", "h5py", "google", "rich"} & loaded


def test_the_version_is_the_same_in_both_places():
    assert f'\nversion = "{flatlite.__version__}"\n' in (ROOT / "pyproject.toml").read_text()
