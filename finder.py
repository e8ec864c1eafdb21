"""Finds flatlite's own modules where they are: in the one folder of their package.

Python asks each of its finders, what a folder holds, which kinds of files may be modules, and reads
what it has compiled through several layers. To open a model takes a hundred modules: looking for
them so was a fifteenth of the time. What is compiled is as fresh here as Python would have it; all
that is not as usual is left to Python.
"""

from __future__ import annotations

import os
import sys
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import MAGIC_NUMBER
from marshal import loads
from struct import Struct
from types import CodeType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

_START = f"{__package__}."
_HEAD = Struct(
    "<4sIII"
)  # of a compiled file: magic, 0 for what follows, and its source's: time, size
_OPTIMIZED = f".opt-{sys.flags.optimize}" if sys.flags.optimize else ""
_ENDING = f".{sys.implementation.cache_tag}{_OPTIMIZED}.pyc"
_MOST_BYTES = 1 << 16  # that are read of a compiled file; larger ones are Python's


class Loader(SourceFileLoader):
    """Loads a module from the file that its source was compiled to.

    Args:
        name: of the module.
        path: its source.
        compiled: where Python keeps the compiled file.
        status: of the source.
    """

    def __init__(self, name: str, path: str, compiled: str, status: os.stat_result) -> None:
        super().__init__(name, path)
        self._compiled = compiled
        time, size = int(status.st_mtime) & 0xFFFFFFFF, status.st_size & 0xFFFFFFFF
        self._head = _HEAD.pack(MAGIC_NUMBER, 0, time, size)

    def get_code(self, fullname: str) -> CodeType | None:
        """The code of the module; compiled now where no compiled file is right."""
        try:
            descriptor = os.open(self._compiled, os.O_RDONLY | os.O_CLOEXEC)
            try:
                data = os.read(descriptor, _MOST_BYTES)
            finally:
                os.close(descriptor)
        except OSError:
            return super().get_code(fullname)
        if data.startswith(self._head) and len(data) < _MOST_BYTES:
            code = loads(memoryview(data)[_HEAD.size :])
            return code if code.co_filename == self.path else _at(self.path, code)
        return super().get_code(fullname)


def _at(path: str, code: CodeType) -> CodeType:
    """The code of a source that lay elsewhere when it was compiled."""
    constants = (_at(path, x) if isinstance(x, CodeType) else x for x in code.co_consts)
    return code.replace(co_filename=path, co_consts=tuple(constants))


class Finder:
    """Finds the modules of this package alone."""

    @classmethod
    def find_spec(
        cls, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of a module, as Python's own finder makes it; None where that has to look."""
        if not fullname.startswith(_START) or path is None or len(path) != 1:
            return None
        stem = f"{path[0]}/{fullname.rpartition('.')[2]}"
        for source, is_package in ((f"{stem}.py", False), (f"{stem}/__init__.py", True)):
            try:
                status = os.stat(source)
            except OSError:
                continue
            folder, _, name = source.rpartition("/")
            compiled = f"{folder}/__pycache__/{name[:-3]}{_ENDING}"
            loader = Loader(fullname, source, compiled, status)
            spec = ModuleSpec(fullname, loader, origin=source, is_package=is_package)
            spec.has_location, spec.cached = True, compiled
            if is_package:
                spec.submodule_search_locations = [stem]
            return spec
        return None


def install() -> None:
    """Lets Python ask the finder, behind those that others have put before Python's own."""
    others = sys.meta_path
    is_usual = sys.platform == "linux" and sys.implementation.cache_tag and not sys.pycache_prefix
    if is_usual and PathFinder in others and not any(_is_ours(finder) for finder in others):
        others.insert(others.index(PathFinder), Finder)


def _is_ours(finder: object) -> bool:
    return getattr(finder, "__module__", "") == __name__
