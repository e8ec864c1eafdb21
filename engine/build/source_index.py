"""The digests of kernel modules' sources, in a file of the cache folder.

Beside each digest stands what it was made of: the files, their sizes and times of change. To look
at these takes a tenth of the time of reading the files, which is twice that of all else that finds
compiled kernels.
"""

from __future__ import annotations

import contextlib
import os
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import TypeAlias

    Digest: TypeAlias = tuple[bytes, list[str]]
    """Of a module's sources, and their files, seen from the engine's folder."""

_MOST_FILES = 16
_START = "sources-"


class SourceIndex:
    """The digests that are known of the engine's kernel modules.

    The file says how many sources there are; then come lines with path, size and time of change of
    each, and lines with name, digest and the numbers of its sources of each module.

    Args:
        home: the cache folder.
        engine: the engine's folder.
        key: a digest of that, and of all that digests of sources depend on beside the files.
        stamp: gives size and time of change of a file, None of none.
    """

    def __init__(
        self, home: str, engine: str, key: str, stamp: Callable[[str], tuple[int, int] | None]
    ) -> None:
        self._path, self._engine = os.path.join(home, f"{_START}{key}"), engine
        self._stamp_of = stamp
        self._sources: list[str] = []  # lines, read when they are asked for
        self._modules: dict[str, str] = {}
        self._paths: dict[str, str] = {}  # of sources that are as they were, by their numbers
        self._digests: dict[str, Digest] = {}
        with contextlib.suppress(OSError, ValueError), open(self._path) as file:
            first, *lines = file.read().split("\n")
            if lines and lines.pop() == "end":
                self._sources = lines[: int(first)]
                parts = (line.partition(" ") for line in lines[int(first) :])
                self._modules = {module: known for module, _, known in parts}

    def get(self, module: str) -> Digest | None:
        """The digest of a module's sources, None where it is not known of these files."""
        if module not in self._digests and module in self._modules:
            digest, *numbers = self._modules.pop(module).split(" ")
            with contextlib.suppress(ValueError, IndexError):
                paths = [self._paths.get(n) or self._current(n) for n in numbers]
                self._digests[module] = bytes.fromhex(digest), paths
        return self._digests.get(module)

    def _current(self, number: str) -> str:
        """The path of a source; ValueError where the file is another one now."""
        path, size, changed = self._sources[int(number)].split(" ")
        if self._stamp(path) != (int(size), int(changed)):
            raise ValueError(path)
        self._paths[number] = path
        return path

    def _stamp(self, path: str) -> tuple[int, int] | None:
        return self._stamp_of(f"{self._engine}/{path}")

    def update(self, digests: Mapping[str, Digest], settled: int) -> None:
        """Adds digests of modules, for other processes as well, in one write of the file.

        It is written where no source was changed in the last `settled` nanoseconds.
        """
        self._digests.update(digests)
        paths = sorted({path for _, sources in self._digests.values() for path in sources})
        stamps = [self._stamp(path) or (0, 0) for path in paths]
        if time.time_ns() - max((changed for _, changed in stamps), default=0) < settled:
            return
        numbers = {path: str(i) for i, path in enumerate(paths)}
        lines = [str(len(paths))]
        lines += [f"{path} {size} {at}" for path, (size, at) in zip(paths, stamps, strict=True)]
        for module, (digest, sources) in self._digests.items():
            lines.append(" ".join([module, digest.hex(), *(numbers[path] for path in sources)]))
        temporary = f"{self._path}.{os.getpid()}.tmp"
        with contextlib.suppress(OSError):
            try:
                with open(temporary, "x") as file:
                    file.write("\n".join([*lines, "end"]))
                os.replace(temporary, self._path)
            finally:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(temporary)
            self._prune()

    def _prune(self) -> None:
        with os.scandir(os.path.dirname(self._path)) as entries:
            files = [(e.stat().st_mtime_ns, e.path) for e in entries if e.name.startswith(_START)]
        for _, path in sorted(files)[:-_MOST_FILES]:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
