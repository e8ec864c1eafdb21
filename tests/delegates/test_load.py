"""load_delegate: names, classes, paths, and what cannot be loaded."""

import ctypes.util
import subprocess
import sys

import pytest

from flatlite.lite import load_delegate


@pytest.fixture
def importable(tmp_path, monkeypatch):
    """A module on Python's path with a delegate."""
    (tmp_path / "broken_delegates.py").write_text("from os import no_such_thing\n")
    (tmp_path / "my_delegates.py").write_text(
        "class Mine:\n    def __init__(self, **o): self.o = o\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    return "my_delegates"


def test_a_class_by_name(importable):
    delegate = load_delegate(f"{importable}:Mine", {"level": 3})
    assert type(delegate).__name__ == "Mine"
    assert delegate.o == {"level": 3}


@pytest.mark.parametrize(
    ("library", "options", "message"),
    [
        ("no_such_module:Mine", None, "module no_such_module is not there; a module must be on"),
        ("broken_delegates:Mine", None, "cannot import name 'no_such_thing' from 'os'"),
        ("my_delegates:Yours", None, "module my_delegates has no Yours"),
        ("flatlite.delegates.delegate:Delegate", {"minimum_size": 0}, "at least 1, got 0"),
        ("flatlite.delegates.delegate:Delegate", {"speed": 1}, "'speed'"),
        ("flatlite.delegates.delegate:Delegate", "speed", "must be a dictionary, got 'speed'"),
    ],
)
def test_what_cannot_be_loaded(library, options, message, importable):
    with pytest.raises(ValueError, match=r"^Failed to load delegate from ") as raised:
        load_delegate(library, options)
    assert message in str(raised.value)
    assert str(raised.value).startswith(f"Failed to load delegate from {library}\n")


def test_a_missing_library_is_an_os_error():
    with pytest.raises(OSError, match=r"libnope\.so\.1: cannot open shared object file"):
        load_delegate("libnope.so.1")
    with pytest.raises(OSError, match=r"no/such/file\.so: cannot open shared object file"):
        load_delegate("./no/such/file.so", {"a": "b"})
    with pytest.raises(OSError, match=r"; known delegates are 'cuda', 'xla' and 'module:Class'$"):
        load_delegate("xlaa")


@pytest.mark.skipif(not ctypes.util.find_library("m"), reason="no library to be found")
def test_libraries_that_are_no_delegates_are_refused():
    name = ctypes.util.find_library("m")
    with pytest.raises(ValueError, match=r"^Failed to load delegate from") as raised:
        load_delegate(name)
    assert str(raised.value).endswith(
        "\nit has no function tflite_plugin_create_delegate, which a shared library needs to be a "
        "delegate"
    )


@pytest.mark.parametrize(("name", "module"), [("xla", "jax"), ("cuda", "numba")])
def test_what_is_not_installed_is_named(name, module):
    code = f"""
import sys
sys.modules[{module!r}] = None
import flatlite.lite
try:
    flatlite.lite.load_delegate({name!r})
except ValueError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == (
        f"Failed to load delegate from {name}\n{module} is not installed; "
        f"pip install 'flatlite[{name}]'\n"
    )


def test_names_load_nothing_heavy():
    code = (
        "import flatlite.lite as lite, sys; lite.Delegate, lite.load_delegate; print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"jax", "numba", "llvmlite"} & set(done.stdout.split())
