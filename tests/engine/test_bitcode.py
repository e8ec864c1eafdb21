"""The LLVM code of kernels that the package brings."""

import os

import pytest

from flatlite.engine.build import bitcode, cache, compiler, driver

pytestmark = pytest.mark.skipif(
    not bitcode.target.supports_images(), reason="only used on x86-64 Linux"
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(bitcode, "FOLDER", str(tmp_path / "bitcode"))
    return tmp_path / "bitcode"


@pytest.fixture
def forgotten(monkeypatch):
    """Makes the kernels of `copy` forget their code, and counts what numba lowers."""
    lowered = []
    typed = compiler._typed
    monkeypatch.setattr(compiler, "_typed", lambda *a: lowered.append(a[0]) or typed(*a))
    compiler.import_kernels("copy")
    (kernels,) = [rows for name, rows in compiler.kernels.KERNELS.items() if name.endswith(".copy")]

    def forget():
        lowered.clear()
        for kernel in kernels.values():
            kernel.lowered.clear()
        return lowered

    yield forget
    forget()


def test_a_module_becomes_the_same_machine_code_without_numba(folder, forgotten):
    """Nine specialisations in two seconds from the source, in no time from the package."""
    lowered = forgotten()
    from_source = compiler.compile_module("copy")
    assert len(lowered) == len(from_source.symbols) == 9
    assert driver.main(["--bitcode", "copy"]) == 0
    lowered = forgotten()
    packaged = compiler.compile_module("copy")
    assert lowered == []
    assert packaged.symbols == from_source.symbols
    objects = [c.machine.emit_object(c.module) for c in (from_source, packaged)]
    assert objects[0] == objects[1]


def test_only_whole_code_of_the_present_sources_is_read(folder, monkeypatch):
    codes = {"fill[uint8]": b"first", "copy": b"BC" * 999, "launch": b""}
    assert bitcode.read("copy", 22) == {} and not bitcode.is_current("copy")
    bitcode.write("copy", codes, 22)
    assert bitcode.is_current("copy") and bitcode.modules() == ["copy"]
    assert bitcode.read("copy", 22) == bitcode.read("copy", 23) == codes
    assert bitcode.read("copy", 21) == {}, "an older LLVM may not know it"

    path, content = folder / "copy.bitcode", (folder / "copy.bitcode").read_bytes()
    for at in (0, 9, 20, len(content) - 1):
        path.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
        assert bitcode.read("copy", 22) == {}
    for size in (0, 20, len(content) - 1):
        path.write_bytes(content[:size])
        assert bitcode.read("copy", 22) == {}
    path.write_bytes(content)
    assert bitcode.read("copy", 22) == codes

    monkeypatch.setattr(cache, "source_digest", lambda module: bytes(32))
    assert bitcode.read("copy", 22) == {} and not bitcode.is_current("copy")


def test_only_what_is_old_is_written(folder, monkeypatch, capsys):
    monkeypatch.setattr(compiler, "lower_module", lambda name: {name: b"code"})
    folder.mkdir()
    (folder / "no_more.bitcode").touch()
    for module in cache.modules():
        bitcode.write(module, {}, compiler.VERSION)
    os.unlink(bitcode.path_of("copy"))
    assert driver.main(["--bitcode"]) == 0
    assert capsys.readouterr().out == "copy\n"
    assert bitcode.modules() == cache.modules()
    assert bitcode.read("copy", compiler.VERSION) == {"copy": b"code"}


def test_the_package_has_the_code_of_all_modules():
    """What was changed since is compiled by numba: right, but a first start takes twice as long.

    `make bitcode` writes it.
    """
    assert [module for module in cache.modules() if not bitcode.is_current(module)] == []
