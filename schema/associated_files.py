"""Files packed behind a model, such as labels: a ZIP archive after the flatbuffer's last byte.

    read_files(content) -> {name: bytes}        with_files(content, files) -> content

The flatbuffer does not know of it, and readers of archives skip what lies before one.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Mapping
from typing import TYPE_CHECKING

from .errors import ModelError

if TYPE_CHECKING:
    from zipfile import ZipFile, ZipInfo

    from _typeshed import ReadableBuffer

MAX_FILES = 10_000
MAX_UNPACK_RATIO = 100
MIN_UNPACK_LIMIT = 16 << 20
"""What is unpacked may be this many times as large as the file, and this much at least."""
_END = b"PK\x05\x06"
_END_BYTES = 22
"""The record at the end of an archive, without its comment of at most 65,535 bytes."""
_COMMENT_LENGTH = struct.Struct("<H").unpack_from
_DATE = (1980, 1, 1, 0, 0, 0)
"""Of all files, so that equal models give equal bytes."""
_MODE = 0o100644 << 16
_ENCRYPTED = 1


def has_files(content: ReadableBuffer) -> bool:
    """Whether the bytes of a file end with an archive."""
    view = memoryview(content).cast("B")
    tail = bytes(view[-(_END_BYTES + 0xFFFF) :])
    at = tail.rfind(_END)
    while at >= 0:
        if at + _END_BYTES <= len(tail):
            comment = _COMMENT_LENGTH(tail, at + _END_BYTES - 2)[0]
            if at + _END_BYTES + comment == len(tail):
                return True
        at = tail.rfind(_END, 0, at)
    return False


def read_files(content: ReadableBuffer) -> dict[str, bytes]:
    """The files behind a model, by name; none where there is no archive.

    Raises ModelError when the archive is damaged, encrypted, or holds more than such a file may.
    """
    if not has_files(content):
        return {}
    import zipfile
    import zlib

    damaged = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError)
    view = memoryview(content).cast("B")
    # bytes are not copied
    stream = io.BytesIO(content if isinstance(content, bytes) else bytes(view))
    try:
        with zipfile.ZipFile(stream) as archive:
            return _unpacked(archive, max(MIN_UNPACK_LIMIT, MAX_UNPACK_RATIO * view.nbytes))
    except ModelError:
        raise
    except (*damaged, OSError, RuntimeError, ValueError, OverflowError) as error:
        raise ModelError(
            f"the archive of associated files behind the model is damaged: {error}"
        ) from None


def _unpacked(archive: ZipFile, limit: int) -> dict[str, bytes]:
    """What the files of an archive hold, `limit` bytes together at most."""
    import zipfile

    entries = [info for info in archive.infolist() if not info.is_dir()]
    names = {info.filename for info in entries}
    if len(names) < len(entries) or len(entries) > MAX_FILES:
        raise ModelError(
            f"associated files must have names of their own and be {MAX_FILES} at most, got "
            f"{len(entries)} files with {len(names)} names"
        )
    files: dict[str, bytes] = {}
    for info in entries:
        if info.flag_bits & _ENCRYPTED or info.compress_type not in (
            zipfile.ZIP_STORED,
            zipfile.ZIP_DEFLATED,
        ):
            raise ModelError(
                f"associated file '{info.filename}' is encrypted or packed in an unknown way"
            )
        files[info.filename] = _member(archive, info, limit)
        limit -= len(files[info.filename])
    return files


def _member(archive: ZipFile, info: ZipInfo, limit: int) -> bytes:
    """What one file of an archive holds, `limit` bytes at most."""
    with archive.open(info) as file:
        content = file.read(limit + 1)
    if len(content) > limit:
        raise ModelError(
            f"associated file '{info.filename}' must leave all of them within "
            f"{MAX_UNPACK_RATIO} times the model's size, and is larger"
        )
    return content


def with_files(content: bytes, files: Mapping[str, bytes]) -> bytes:
    """The bytes of a model with files packed behind it; without any, `content` itself.

    They are stored as they are, so that a mapped model has them mapped, too.

    Raises ModelError for a name that no file of an archive can have.
    """
    if not files:
        return content
    import zipfile

    check_names(files)
    stream = _Behind(len(content))
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        for name, data in files.items():
            info = zipfile.ZipInfo(name, _DATE)
            info.external_attr = _MODE
            archive.writestr(info, data)
    return b"".join((content, stream.getvalue()))


def check_names(files: Mapping[str, bytes]) -> None:
    """Raises ModelError unless an archive can have all names as they are."""
    for name in files:
        if not name or "\0" in name or name.endswith("/"):
            raise ModelError(f"an associated file must have the name of a file, got {name!r:.99}")


def is_file_name(name: str) -> bool:
    """Whether a name is that of a file in whatever folder it is put.

    >>> is_file_name("labels.txt"), is_file_name("../labels.txt")
    (True, False)
    """
    is_plain = name.isprintable() and not any(c in name for c in "/\\:")
    return is_plain and name not in ("", ".", "..")


class _Behind(io.BytesIO):
    """A stream that begins at a place behind others' bytes: archives count from the very first."""

    def __init__(self, start: int) -> None:
        super().__init__()
        self.start = start

    def tell(self) -> int:
        return super().tell() + self.start

    def seek(self, offset: int, whence: int = 0) -> int:
        return super().seek(offset - self.start * (whence == 0), whence) + self.start
