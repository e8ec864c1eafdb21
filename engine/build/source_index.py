"""The digests of kernel modules' sources, in a file of the cache folder.

The file's name says what the engine's folders look like: names, sizes and times of change of all
their Python files. Reading these files for their digests takes twice as long as all else that finds
compiled kernels.
"""

from __future__ import annotations

import contextlib
import os
import time
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TypeAlias

    Listing: TypeAlias = "list[str | tuple[str, int, int]]"

SETTLED = 3_000_000_000  # nanoseconds after which no change of a file hides in a tick of its clock
_MOST_FILES = 16
_START = "sources-"


@lru_cache
def first_listing(folder: str) -> Listing:
    """What `listing` gives when it is first asked for: a process keeps the code it began with."""
    return listing(folder)


def listing(folder: str) -> Listing:
    """Name, size and time of change of each Python file in a folder and those in it, in order."""
    with os.scandir(folder) as entries:
        entries = sorted(entries, key=lambda entry: entry.name)
    listed: Listing = []
    for entry in entries:
        if entry.name.endswith(".py"):
            status = entry.stat()
            listed.append((entry.name, status.st_size, status.st_mtime_ns))
        elif entry.is_dir() and entry.name != "__pycache__":
            listed += [entry.name, *listing(entry.path)]
    return listed


class SourceIndex:
    """The digests that are known of one state of the engine's folders.

    Args:
        home: the cache folder.
        listed: what the engine's folders look like.
        key: a digest of that, and of all else that digests of sources depend on.
    """

    def __init__(self, home: str, listed: Listing, key: str) -> None:
        path = self._path = os.path.join(home, f"{_START}{key}")
        newest = max((entry[2] for entry in listed if not isinstance(entry, str)), default=0)
        self._has_settled = time.time_ns() - newest >= SETTLED
        self._digests: dict[str, str] = {}
        with contextlib.suppress(OSError), open(path) as file:
            lines = file.read().split("\n")
            if lines[-1] == "end":
                pairs = (line.partition(" ") for line in lines[:-1])
                self._digests = {module: known for module, _, known in pairs}

    def get(self, module: str) -> bytes | None:
        """The digest of a module's sources, None where it is not known."""
        known = self._digests.get(module)
        return None if known is None else bytes.fromhex(known)

    def update(self, digests: Mapping[str, bytes]) -> None:
        """Adds digests of modules, for other processes as well, in one write of the file."""
        self._digests.update((module, digest.hex()) for module, digest in digests.items())
        if not self._has_settled:
            return
        lines = [f"{module} {known}" for module, known in self._digests.items()]
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
