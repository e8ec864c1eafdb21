"""Which image files were read whole, and sound: their stamps, in a file of the cache folder.

To read an image for its digest takes longer than to map its code.
"""

from __future__ import annotations

import contextlib
import os
import time
from functools import cache
from typing import TYPE_CHECKING

from . import cache as cache_folder
from .cache import SETTLED

if TYPE_CHECKING:
    from typing import TypeAlias

    Stamp: TypeAlias = tuple[int, int, int, int]
    """inode, size, and times of change of a file, in nanoseconds"""

NAME = "checked"
_MOST_BYTES = 1 << 18  # of the file, which then begins again


class CheckedImages:
    """The stamps of images by their paths.

    Args:
        home: the cache folder.
    """

    def __init__(self, home: str) -> None:
        self._path = os.path.join(home, NAME)
        self._lines = b""
        with contextlib.suppress(OSError), open(self._path, "rb") as file:
            self._lines = file.read()

    def has(self, path: str, stamp: Stamp) -> bool:
        """Whether the file at `path` was found sound when it had this stamp."""
        return _line(path, stamp) in self._lines

    def add(self, path: str, stamp: Stamp) -> None:
        """Notes a sound file, unless a change of it could hide in a tick of its clock."""
        if "\n" in path or time.time_ns() - max(stamp[2:]) < SETTLED:
            return
        line = _line(path, stamp)
        self._lines += line
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
        with contextlib.suppress(OSError):
            descriptor = os.open(self._path, flags, 0o600)
            try:
                if os.fstat(descriptor).st_size > _MOST_BYTES:
                    os.ftruncate(descriptor, 0)
                os.write(descriptor, line)
            finally:
                os.close(descriptor)


def _line(path: str, stamp: Stamp) -> bytes:
    return os.fsencode(f"\n{' '.join(map(str, stamp))} {path}\n")


def checked_images() -> CheckedImages | None:
    """Those of the user's cache folder; None where there is none that is safe."""
    return _checked_images(cache_folder.location())


@cache
def _checked_images(_location: str | None) -> CheckedImages | None:
    try:
        home = cache_folder.folder()
    except (OSError, RuntimeError):
        return None
    return None if home is None else CheckedImages(home)
