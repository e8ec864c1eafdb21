"""flatlite's modules are found and loaded as Python would, only sooner (finder.py)."""

import os
import py_compile
import shutil
import subprocess
import sys
from importlib.machinery import PathFinder
from importlib.util import cache_from_source, find_spec
from pathlib import Path

import pytest

import flatlite
from flatlite import finder

ROOT = Path(flatlite.__file__).parent
PACKAGES = [
    "",
    *sorted(
        ".".join(path.parent.relative_to(ROOT).parts)
        for path in ROOT.glob("[a-z]*/**/__init__.py")
        if not {"tests", "build", "out"} & {*path.parts[len(ROOT.parts) :]}
    ),
]
PACKAGE = """
from . import finder
finder.install()
"""
PROGRAM = """
import sys
sys.path.insert(0, {folder!r})
import flatlite.module, flatlite.inner.module
assert type(flatlite.module.__loader__).__module__ == "flatlite.finder"
print(flatlite.module.VALUE, flatlite.module.f.__code__.co_filename)
"""
SOURCE = "VALUE = {value}\ndef f(): pass\n"


def facts(spec):
    """What a module has of its spec."""
    assert spec is not None
    places = spec.submodule_search_locations
    path = spec.loader.get_filename()
    return spec.name, spec.origin, spec.cached, places, spec.has_location, spec.parent, path


@pytest.mark.parametrize("package", PACKAGES)
def test_specs_are_those_of_python(package):
    folder = ROOT.joinpath(*package.split("."))
    names = [path.stem for path in folder.glob("*.py") if path.stem != "__init__"]
    names += [path.parent.name for path in folder.glob("*/__init__.py")]
    prefix = ".".join(filter(None, ["flatlite", package]))
    for name in names:
        full, path = f"{prefix}.{name}", [str(folder)]
        assert facts(finder.Finder.find_spec(full, path)) == facts(PathFinder.find_spec(full, path))


def test_what_is_not_there_is_left_to_python():
    path = [str(ROOT)]
    assert finder.Finder.find_spec("flatlite.absent", path) is None
    assert finder.Finder.find_spec("flatlite.lite", [*path, "elsewhere"]) is None
    assert finder.Finder.find_spec("other.lite", path) is None
    assert finder.Finder.find_spec("flatlite", None) is None
    assert find_spec("flatlite.absent") is None


def test_finders_of_others_go_first():
    """Such as those that count lines: they come before Python's own, and it behind them."""
    finder.install()
    names = [getattr(x, "__module__", "") for x in sys.meta_path]
    assert names.count("flatlite.finder") == (sys.platform == "linux")
    if sys.platform == "linux":
        assert 0 < sys.meta_path.index(finder.Finder) < sys.meta_path.index(PathFinder)


@pytest.fixture
def package(tmp_path):
    """A package that is called as ours, with our finder."""
    folder = tmp_path / "here" / "flatlite"
    (folder / "inner").mkdir(parents=True)
    shutil.copy(ROOT / "finder.py", folder)
    (folder / "__init__.py").write_text(PACKAGE)
    (folder / "inner" / "__init__.py").write_text("")
    (folder / "inner" / "module.py").write_text("")
    (folder / "module.py").write_text(SOURCE.format(value=1))
    return folder


def run(package, *options):
    """What the module says, and its file as tracebacks name it."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    program = PROGRAM.format(folder=str(package.parent))
    done = subprocess.run(
        [sys.executable, *options, "-c", program],
        capture_output=True, text=True, env=environment, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    value, path = done.stdout.split()
    return int(value), path


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere files have several names")
def test_compiled_files_are_as_fresh_as_python_has_them(package):
    source = package / "module.py"
    compiled = Path(cache_from_source(str(source)))
    assert run(package) == (1, str(source))
    assert compiled.exists()
    newest = compiled.stat().st_mtime_ns
    assert run(package) == (1, str(source))
    assert compiled.stat().st_mtime_ns == newest, "it was right and must not be written again"

    source.write_text(SOURCE.format(value=22))  # another size
    assert run(package) == (22, str(source))
    source.write_text(SOURCE.format(value=33))  # another time
    os.utime(source, (1, 1))
    assert run(package) == (33, str(source))
    assert run(package, "-O") == (33, str(source))
    assert Path(cache_from_source(str(source), optimization=1)).exists()

    source.write_text(SOURCE.format(value=44))
    os.utime(source, (1, 1))  # neither: Python does not see it, and no more does this
    assert run(package) == (33, str(source))
    compiled.write_bytes(b"nothing of the kind")
    assert run(package) == (44, str(source))
    compiled.unlink()
    assert run(package) == (44, str(source))
    mode = py_compile.PycInvalidationMode.CHECKED_HASH
    source.write_text(SOURCE.format(value=55))
    py_compile.compile(str(source), invalidation_mode=mode)
    assert run(package) == (55, str(source))

    source.write_text(SOURCE.format(value=66) + "#" * 10 + "\nLONG = " + repr([*range(30_000)]))
    assert run(package) == run(package) == (66, str(source))
    moved = package.parent.rename(package.parent.with_name("there")) / "flatlite"
    assert run(moved) == (66, str(moved / "module.py"))
