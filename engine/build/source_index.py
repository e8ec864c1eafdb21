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

from .cache import SETTLED, stamp

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TypeAlias

    Digest: TypeAlias = tuple[bytes, list[str]]
    """Of a module's sources, and their files, seen from the engine's folder."""

_MOST_FILES = 16
_START = "sources-"


class SourceIndex:
    """The digests that are known of the engine's kernel modules.

    A line of the file has a source's path, size and time of change, or a module's name, digest and
    the numbers of its sources' lines.

    Args:
        home: the cache folder.
        engine: the engine's folder.
        key: a digest of that, and of all that digests of sources depend on beside the files.
    """

    def __init__(self, home: str, engine: str, key: str) -> None:
        self._path, self._engine = os.path.join(home, f"{_START}{key}"), engine
        self._digests: dict[str, Digest] = {}
        self._is_current: dict[str, bool] = {}
        with contextlib.suppress(OSError, ValueError, IndexError), open(self._path) as file:
            *lines, end = file.read().split("\n")
            if end == "end":
                self._take([line.split(" ") for line in lines])

    def _take(self, lines: list[list[str]]) -> None:
        n_sources = int(lines[0][0])
        sources = [(path, (int(size), int(at))) for path, size, at in lines[1:][:n_sources]]
        self._is_current = {path: self._stamp(path) == known for path, known in sources}
        for module, digest, *numbers in lines[1 + n_sources :]:
            paths = [sources[int(number)][0] for number in numbers]
            self._digests[module] = bytes.fromhex(digest), paths

    def _stamp(self, path: str) -> tuple[int, int] | None:
        return stamp(f"{self._engine}/{path}")

    def get(self, module: str) -> Digest | None:
        """The digest of a module's sources, None where it is not known of these files."""
        known = self._digests.get(module)
        return known if known and all(self._is_current[path] for path in known[1]) else None

    def update(self, digests: Mapping[str, Digest]) -> None:
        """Adds digests of modules, for other processes as well, in one write of the file."""
        self._digests.update(digests)
        paths = sorted({path for _, sources in self._digests.values() for path in sources})
        self._is_current = dict.fromkeys(paths, True)
        stamps = [self._stamp(path) or (0, 0) for path in paths]
        if time.time_ns() - max((changed for _, changed in stamps), default=0) < SETTLED:
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
