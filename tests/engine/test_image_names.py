"""The names of compiled kernels in the cache folder: what they depend on, and which are kept."""

import os
import shutil
import time
from pathlib import Path

import pytest

from flatlite.engine.build import cache, target

pytestmark = pytest.mark.skipif(
    not target.supports_images(), reason="code images are made for x86-64 Linux"
)


@pytest.fixture
def sources(tmp_path, monkeypatch):
    """A copy of the engine's files that a test may edit."""
    copy = Path(shutil.copytree(cache.ENGINE, tmp_path / "engine"))
    monkeypatch.setattr(cache, "ENGINE", str(copy))
    monkeypatch.setattr(cache, "_sources", {})
    monkeypatch.setattr(cache, "_listed", {})
    monkeypatch.setattr(cache, "_source_index", lambda *_: None)
    return copy


@pytest.mark.parametrize(
    ("edited", "changes"),
    [
        ("kernels/movement/copy.py", True),
        ("build/kernel.py", True),
        ("build/arrays.py", True),
        ("build/declaration.py", True),
        ("build/compiler.py", True),
        ("build/lowering.py", True),
        ("build/linker.py", True),
        ("plan/program.py", False),
        ("run/faults.py", False),
        ("run/native/launch.py", False),
    ],
)
def test_names_change_with_what_the_code_depends_on(sources, edited, changes):
    before = cache.cached_name("copy")
    with open(sources / edited, "a") as file:
        file.write("\n")
    cache._sources.clear()
    assert (cache.cached_name("copy") != before) == changes


def test_imports_of_kernel_files_are_seen(sources):
    room = sources / "kernels" / "movement"
    (room / "copy.py").write_text(
        "\nfrom . import (\n    _tables,\n)\nfrom ...build.vectors import add\n"
    )
    (room / "_tables.py").write_text("\nfrom ... import numbers\nfrom ..int8._points import at\n")
    names = ("kernels/movement/_tables.py", "build/vectors.py", "numbers.py")
    imported = [sources / name for name in (*names, "kernels/int8/_points.py")]
    for path in imported:
        path.touch()
    cache._listed.clear()
    actual = [cache.source_digest("copy")]
    for path in imported:
        with open(path, "a") as file:
            file.write("# edited\n")
        cache._sources.clear()
        actual.append(cache.source_digest("copy"))
    assert len(set(actual)) == 5


def test_old_images_are_cleared_away(tmp_path, monkeypatch):
    monkeypatch.setenv("FLATLITE_CACHE", str(tmp_path))
    tmp_path.chmod(0o700)
    part = f"-{0:016x}"
    for i in range(20):
        for path in [tmp_path / f"copy-{i:024x}{part * half}.image" for half in range(2)]:
            path.touch()
            os.utime(path, (i, i))
    others = [
        "copying-000000000000000000000000.image",
        ".copying-000000000000000000000000.image.1.tmp",
    ]
    for name in [*others, ".copy-000000000000000000000000.image.1.tmp"]:
        (tmp_path / name).touch()
    cache.prune("copy")
    left = {path.name for path in tmp_path.iterdir()}
    survivors = {f"copy-{i:024x}{part * half}.image" for i in range(4, 20) for half in range(2)}
    assert left == {*others, *survivors}


def test_a_cache_folder_is_listed_once_until_it_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listings: list[str] = []
    listdir = os.listdir

    def counted(path: str) -> list[str]:
        listings.append(path)
        return listdir(path)

    monkeypatch.setattr(os, "listdir", counted)
    home = str(tmp_path)
    for name in ("first.image", "second.image"):
        (tmp_path / name).write_bytes(b"")
        changed = time.time_ns() - 100_000_000  # a tenth of a second ago
        os.utime(tmp_path, ns=(changed, changed))
        assert all(name in cache._names_in(home) for _ in range(5))
    assert listings == [home, home]
