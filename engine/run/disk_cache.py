"""A disk cache: small files of data in a folder of this user's alone.

The key of an entry, its file's name, is a digest of what its content depends on, and the file says
which sources of the package made that, as they were: nothing stale is ever read. It begins with a
digest of all that follows, so that nothing damaged is.
Beside an entry may lie a file of data that are mapped, not read: `mapped` and `store_mapped`.
FLATLITE_PLANS names another folder than `plans` in the cache folder; when that is empty, nothing is
stored.
"""

from __future__ import annotations

import contextlib
import marshal
import mmap
import os
import re
import sys
import time
from struct import Struct
from typing import TYPE_CHECKING

import numpy as np

from ..build import cache, target
from ..build.cache import SETTLED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from _typeshed import ReadableBuffer

MOST_FILES, MOST_BYTES = 64, 1 << 26
MOST_MAPPED_FILES, MOST_MAPPED_BYTES = 16, 1 << 34
_DIGEST = 32  # bytes
_SIZE = Struct("<Q")
_HEAD = 4096  # bytes before mapped data, which begin a page
_SLACK = 64  # bytes after them that a vector load may touch
_BEGAN = time.time_ns()  # what is changed later is not what this process runs
_NAME = r"[0-9a-f]{64}(\.\d+\.tmp)?"  # compiled when something is stored, not at each start
_MAPPED = r"[0-9a-f]{64}\.data(\.\d+\.tmp)?"


class CacheEntry:
    """The cache entry of one file.

    Its key depends on the file itself (device, inode, size, times of change), on the versions of
    Python and numpy, on the processor and on where this package lies.

    Args:
        status: `os.fstat` of the open file.
        *choices: whatever else it depends on.
    """

    def __init__(self, status: os.stat_result, *choices: object):
        self._changed = max(status.st_mtime_ns, status.st_ctime_ns)
        self._folder = self._path = ""
        self._digest = b""  # of the content that was read or stored
        if not target.supports_images():
            return
        with contextlib.suppress(OSError, RuntimeError):  # no folder, or none that is safe
            folder = _folder()
            if folder:
                names = "st_dev", "st_ino", "st_size", "st_mtime_ns", "st_ctime_ns"
                words = [getattr(status, name) for name in names]
                words += [*choices, sys.version, np.__version__, cache.ENGINE]
                words += [*target.processor(), target.amx()]
                self._path = os.path.join(folder, cache.digest(repr(words).encode()).hex())
                self._folder = folder

    def read(self) -> memoryview | None:
        """The stored bytes; None when there are none, or when they were made from other sources."""
        if not self._path:
            return None
        try:
            descriptor = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        except OSError:
            return None
        with open(descriptor, "rb", buffering=0) as file:
            data = file.read()
        content = memoryview(data)[_DIGEST:]
        if len(content) < _SIZE.size or cache.digest(content) != data[:_DIGEST]:
            return None
        start = _SIZE.size + _SIZE.unpack_from(content)[0]
        sources: list[tuple[str, tuple[int, int]]] = marshal.loads(content[_SIZE.size : start])
        if any(cache.stamp(path) != stamp for path, stamp in sources):
            return None
        self._digest = data[:_DIGEST]
        return content[start:]

    @property
    def is_writable(self) -> bool:
        """Whether something can be stored: not of a file that was changed just now."""
        return bool(self._path) and time.time_ns() - self._changed >= SETTLED

    @property
    def key(self) -> str:
        """What no other entry has; "" where nothing can be stored."""
        return self._path

    def store(self, content: bytes, sources: Iterable[str]) -> None:
        """Stores some bytes in place of those before; does nothing where that cannot be.

        `sources` are the files whose code made them. Nothing is stored where one was changed since
        this process began.
        """
        stamps: list[tuple[str, tuple[int, int]]] = []
        for path in sources:
            try:
                status = os.stat(path)
            except OSError:
                return
            if max(status.st_mtime_ns, status.st_ctime_ns) > _BEGAN:
                return
            stamps.append((path, (status.st_size, status.st_mtime_ns)))
        head = marshal.dumps(stamps)
        parts = _SIZE.pack(len(head)), head, content
        whole = cache.digest(*parts)
        if self._write(self._path, whole, *parts):
            self._digest = whole

    def mapped(self, n_bytes: int) -> np.ndarray | None:
        """The data stored beside the entry, as bytes of the system's page cache that are read only.

        None when there are none, when their digest differs, they are not `n_bytes`, or belong to
        another content of the entry than was read or stored.
        """
        if not self._digest or not n_bytes:
            return None
        try:
            descriptor = os.open(self._path + ".data", os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        except OSError:
            return None
        with open(descriptor, "rb", buffering=0) as file:
            size = os.fstat(file.fileno()).st_size
            if size != _HEAD + n_bytes + _SLACK:
                return None
            try:
                mapping = mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ)
            except OSError:  # no address space for it
                return None
        data = np.frombuffer(mapping, np.uint8)
        content = data[_HEAD : _HEAD + n_bytes]
        head = cache.digest(content.data) + self._digest
        return content if head == data[: len(head)].tobytes() else None

    def store_mapped(self, content: np.ndarray) -> bool:
        """Stores data, an array of bytes, beside the entry; whether that could be."""
        if not content.nbytes or not self._digest:
            return False
        head = (cache.digest(content.data) + self._digest).ljust(_HEAD, b"\0")
        return self._write(self._path + ".data", head, content.data, bytes(_SLACK))

    def _write(self, path: str, *parts: ReadableBuffer) -> bool:
        """Puts a file in place, whole; whether that could be."""
        if not self._path:
            return False
        with contextlib.suppress(OSError, RuntimeError):
            cache.private(self._folder, create=True)
            temporary = f"{path}.{os.getpid()}.tmp"
            try:
                with open(temporary, "xb") as file:
                    for part in parts:
                        file.write(part)
                os.replace(temporary, path)
            finally:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(temporary)
            _prune(self._folder, _NAME, MOST_FILES, MOST_BYTES)
            _prune(self._folder, _MAPPED, MOST_MAPPED_FILES, MOST_MAPPED_BYTES)
            return True
        return False


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


def _prune(folder: str, name: str, most_files: int, bytes_left: int) -> None:
    """Removes the oldest of our files while there are too many; others are none of our business."""
    with os.scandir(folder) as entries:
        ours = [(entry.stat(), entry.path) for entry in entries if re.fullmatch(name, entry.name)]
    files = sorted(((s.st_mtime_ns, s.st_size, path) for s, path in ours), reverse=True)
    for i, (_, size, path) in enumerate(files):
        bytes_left -= size
        if i >= most_files or bytes_left < 0:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
