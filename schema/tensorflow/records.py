"""Record files: byte strings one after the other, each with its length and two checksums.

A record is its length (8 bytes), the masked CRC32C of the length, the content, and the masked
CRC32C of the content, little endian. The whole file may be compressed.
"""

from __future__ import annotations

import os
import sys
import zlib
from collections.abc import Callable, Iterator
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from typing import TYPE_CHECKING, cast

from ..errors import DataLossError
from ..files import map_file

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer, StrPath

HEADER_SIZE = 12
FOOTER_SIZE = 4
RECORD_OVERHEAD = HEADER_SIZE + FOOTER_SIZE
MASK = 0xA282EAD8
FLUSHED = b"\x00\x00\xff\xff"
"""What zlib writes last when it is flushed within a stream."""
CHUNK_SIZE = 1 << 16
MAX_PACKED_SIZE = 2**31 - 1  # the bytes that are left of a compressed file are not known
# The window size zlib takes for each kind of compression.
COMPRESSIONS = {"": None, "ZLIB": zlib.MAX_WBITS, "GZIP": zlib.MAX_WBITS + 16}


def masked_crc32c(content: ReadableBuffer) -> int:
    """The CRC32C of bytes, turned and shifted so that a checksum of checksums stays sound."""
    return mask_crc32c(crc32c(content))


def crc32c(content: ReadableBuffer, before: int = 0) -> int:
    """The CRC32C of bytes that follow others with the CRC32C `before`."""
    return _checksum()(content, before)


@cache
def _checksum() -> Callable[[ReadableBuffer, int], int]:
    """The function of the package crc32c, from its extension module where that is to be had.

    The package imports 75 modules for its command line and version, which takes longer than
    reading the checkpoint of a small model.
    """
    package = None if "crc32c" in sys.modules else find_spec("crc32c")
    for folder in (package and package.submodule_search_locations) or ():
        for suffix in EXTENSION_SUFFIXES:
            path = os.path.join(folder, f"_crc32c{suffix}")
            spec = spec_from_file_location("crc32c._crc32c", path)
            if os.path.isfile(path) and spec is not None and spec.loader is not None:
                module = module_from_spec(spec)
                spec.loader.exec_module(module)
                return cast("Callable[[ReadableBuffer, int], int]", vars(module)["crc32c"])
    from crc32c import crc32c as checksum

    return checksum


def mask_crc32c(checksum: int) -> int:
    """What is stored for a CRC32C."""
    return ((checksum >> 15 | checksum << 17) + MASK) & 0xFFFFFFFF


def read_records(path: StrPath, compression: str = "", start: int = 0) -> Iterator[bytes]:
    """The contents of the records of a file, in order.

    Args:
        path: The file.
        compression: "", "ZLIB" or "GZIP".
        start: Where the first record begins, in bytes, when they are unpacked.

    Raises:
        DataLossError: A record is cut or damaged; the records before it have been given.
    """
    source = _Source(path, compression)
    source.take(start)
    while header := bytes(source.take(HEADER_SIZE)):
        offset = source.offset - len(header)
        if len(header) < HEADER_SIZE:
            raise _cut(path, offset, f"{len(header)} bytes of its header are left")
        if masked_crc32c(header[:8]) != int.from_bytes(header[8:], "little"):
            raise _corrupt(path, offset, "its length has a wrong checksum")
        size = int.from_bytes(header[:8], "little")
        if compression and size > MAX_PACKED_SIZE:
            raise _corrupt(path, offset, f"it is at most {MAX_PACKED_SIZE} bytes, got {size}")
        body = source.take(size + FOOTER_SIZE)
        if len(body) < size + FOOTER_SIZE:
            raise _cut(path, offset, f"{len(body)} of {size + FOOTER_SIZE} bytes are left")
        if masked_crc32c(body[:size]) != int.from_bytes(body[size:], "little"):
            raise _corrupt(path, offset, "its content has a wrong checksum")
        yield bytes(body[:size])


class RecordIterator:
    """The contents of the records of a file; after the last it may be asked again for newer ones.

    Args:
        path: The file.
        compression: "", "ZLIB" or "GZIP".

    Raises DataLossError when a record is cut or damaged; asked again, it tries that one again.
    """

    def __init__(self, path: StrPath, compression: str = "") -> None:
        self._path, self._compression = path, compression
        self._offset = 0
        self._records = read_records(path, compression)

    def __iter__(self) -> RecordIterator:
        return self

    def __next__(self) -> bytes:
        record = next(self._records, None)
        if record is None:
            self._records = read_records(self._path, self._compression, self._offset)
            record = next(self._records)
        self._offset += len(record) + RECORD_OVERHEAD
        return record


def frame(record: bytes) -> bytes:
    """One record as it lies in a file."""
    length = len(record).to_bytes(8, "little")
    checksums = (masked_crc32c(part).to_bytes(4, "little") for part in (length, record))
    return length + next(checksums) + record + next(checksums)


def _window(compression: str) -> int | None:
    if compression not in COMPRESSIONS:
        names = ", ".join(map(repr, COMPRESSIONS))
        raise ValueError(f"compression must be one of {names}, got {compression!r}")
    return COMPRESSIONS[compression]


def _cut(path: StrPath, offset: int, problem: str) -> DataLossError:
    return _loss(path, f"truncated record at {offset}", problem)


def _corrupt(path: StrPath, offset: int, problem: str) -> DataLossError:
    return _loss(path, f"corrupted record at {offset} (Is this even a TFRecord file?)", problem)


def _loss(path: StrPath, words: str, problem: str) -> DataLossError:
    text = f"{words}: {problem}, in '{path}'; the records before it are whole"
    return DataLossError(None, None, text)


class _Source:
    """The content of a file, unpacked as it is taken."""

    def __init__(self, path: StrPath, compression: str) -> None:
        self._window = _window(compression)
        self._path = path
        self._mapped = map_file(path)
        self._position = 0
        self._packer = None
        self._ready = bytearray()
        self.offset = 0

    def take(self, size: int) -> memoryview:
        """The next `size` bytes, fewer at the end of the file."""
        taken = self._plain(size) if self._window is None else self._unpacked(size, self._window)
        self.offset += len(taken)
        return taken

    def _plain(self, size: int) -> memoryview:
        taken = self._mapped[self._position : self._position + size]
        self._position += len(taken)
        return taken

    def _unpacked(self, size: int, window: int) -> memoryview:
        while len(self._ready) < size and self._unpack(window):
            pass
        taken = bytes(self._ready[:size])
        del self._ready[:size]
        return memoryview(taken)

    def _unpack(self, window: int) -> bool:
        """Unpacks some more; False at the end of the file, or of what its writer flushed."""
        if self._packer is None or self._packer.eof:
            # A file may hold several compressed streams, one after the other.
            packed = (self._packer.unused_data if self._packer else b"") or self._plain(CHUNK_SIZE)
            if not packed:
                return False
            self._packer = zlib.decompressobj(window)
        else:
            packed = self._packer.unconsumed_tail or self._plain(CHUNK_SIZE)
        try:
            more = self._packer.decompress(packed, CHUNK_SIZE)
        except zlib.error as error:
            raise _corrupt(self._path, self.offset, f"it cannot be unpacked ({error})") from None
        if not packed and not more and not self._packer.eof:
            if bytes(self._mapped[-len(FLUSHED) :]) == FLUSHED:
                return False
            raise _cut(self._path, self.offset, "the compressed file ends within it")
        self._ready += more
        return True
