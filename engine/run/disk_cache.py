"""A disk cache: small files of data in a folder of this user's alone.

The key of an entry, its file's name, is a digest of all its content depends on, so that nothing
stale is ever read, and the file begins with a digest of its content, so that nothing damaged is.
FLATLITE_PLANS names another folder than `plans` in the cache folder; when that is empty, nothing is
stored.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
import time
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from ..build import cache, target

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TypeAlias

    Listing: TypeAlias = "list[str | tuple[str, int, int]]"

SETTLED = 3_000_000_000  # nanoseconds after which no change of a file hides in a tick of its clock
MOST_FILES, MOST_BYTES = 64, 1 << 26
_DIGEST = 32  # bytes
_NAME = r"[0-9a-f]{64}(\.\d+\.tmp)?"  # compiled when something is stored, not at each start


class CacheEntry:
    """The cache entry of one file.

    Its key depends on the file itself (device, inode, size, times of change), on the sources of
    what makes the content, on the versions of Python and numpy and on the processor.

    Args:
        status: `os.fstat` of the open file.
        sources: folders of Python files.
        *choices: whatever else it depends on.
    """

    def __init__(self, status: os.stat_result, sources: Iterable[str], *choices: object):
        self._changed = max(status.st_mtime_ns, status.st_ctime_ns)
        self._folder = self._path = ""
        if not target.supports_images():
            return
        with contextlib.suppress(OSError, RuntimeError):  # no folder, or none that is safe
            folder = _folder()
            if folder:
                names = "st_dev", "st_ino", "st_size", "st_mtime_ns", "st_ctime_ns"
                words = [getattr(status, name) for name in names]
                words += [*choices, sys.version, np.__version__]
                words += [*target.processor(), target.amx()]
                words += [entry for source in sources for entry in _first_listing(source)]
                self._path = os.path.join(folder, cache.digest(repr(words).encode()).hex())
                self._folder = folder

    def read(self) -> memoryview | None:
        """What was stored; None when there is nothing."""
        if not self._path:
            return None
        try:
            descriptor = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        except OSError:
            return None
        with open(descriptor, "rb", buffering=0) as file:
            data = file.read()
        content = memoryview(data)[_DIGEST:]
        return content if cache.digest(content) == data[:_DIGEST] else None

    @property
    def is_writable(self) -> bool:
        """Whether something can be stored: not of a file that was changed just now."""
        return bool(self._path) and time.time_ns() - self._changed >= SETTLED

    def store(self, content: bytes) -> None:
        """Stores some bytes in place of those before; does nothing where that cannot be."""
        with contextlib.suppress(OSError, RuntimeError):
            cache.private(self._folder, create=True)
            temporary = f"{self._path}.{os.getpid()}.tmp"
            try:
                with open(temporary, "xb") as file:
                    file.write(cache.digest(content))
                    file.write(content)
                os.replace(temporary, self._path)
            finally:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(temporary)
            _prune(self._folder)


def _folder() -> str:
    """The folder of the cache, which need not be there; "" for none."""
    path = os.environ.get("FLATLITE_PLANS")
    if path is None:
        home = cache.location()
        if home is None:
            return ""
        cache.private(home)
        path = os.path.join(home, "plans")
    if path:
        path = os.path.abspath(os.path.expanduser(path))
        cache.private(path)
    return path


@lru_cache
def _first_listing(folder: str) -> Listing:
    """What `_listing` gives when it is first asked for: a process keeps the code it began with."""
    return _listing(folder)


def _listing(folder: str) -> Listing:
    """Name, size and time of change of each Python file in a folder and those in it, in order."""
    with os.scandir(folder) as entries:
        entries = sorted(entries, key=lambda entry: entry.name)
    listing: Listing = []
    for entry in entries:
        if entry.name.endswith(".py"):
            status = entry.stat()
            listing.append((entry.name, status.st_size, status.st_mtime_ns))
        elif entry.is_dir() and entry.name != "__pycache__":
            listing += [entry.name, *_listing(entry.path)]
    return listing


def _prune(folder: str) -> None:
    """Removes the oldest of our files while there are too many; others are none of our business."""
    with os.scandir(folder) as entries:
        ours = [(entry.stat(), entry.path) for entry in entries if re.fullmatch(_NAME, entry.name)]
    files = sorted(((s.st_mtime_ns, s.st_size, path) for s, path in ours), reverse=True)
    bytes_left = MOST_BYTES
    for i, (_, size, path) in enumerate(files):
        bytes_left -= size
        if i >= MOST_FILES or bytes_left < 0:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
