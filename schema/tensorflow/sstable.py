"""Sorted string tables, the container of a checkpoint's index: keys in order, in checked blocks.

A block holds entries (length shared with the key before, rest of the key, value), the offsets of
the entries that share nothing, and their number; a kind byte and a masked CRC32C follow it. The
last 48 bytes of the file say where the block is that says where the others are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from ..errors import DataLossError, UnimplementedError
from .records import masked_crc32c

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

MAGIC = 0xDB4775248B80FB57
FOOTER_SIZE = 48
TRAILER_SIZE = 5
UNCOMPRESSED = 0
BLOCK_SIZE = 262144
RESTART_INTERVAL = 16
# Keys that share long beginnings are larger unpacked; in real files under 10 times the file.
MAX_EXPANSION = 100


def read_table(buffer: ReadableBuffer, name: str) -> dict[bytes, bytes]:
    """All keys of a table, in order, and their values; `name` is the file for error messages.

    Raises DataLossError when a byte of the table is not what it was, UnimplementedError when a
    block is compressed.
    """
    content = memoryview(buffer)
    if len(content) < FOOTER_SIZE:
        raise _loss(name, f"is too short for a table, got {len(content)} bytes")
    footer = bytes(content[-FOOTER_SIZE:])
    magic = int.from_bytes(footer[-8:], "little")
    if magic != MAGIC:
        raise _loss(name, f"must end in {MAGIC:016x}, got {magic:016x}")
    meta, position = _handle(footer, 0, name)
    index, _ = _handle(footer, position, name)
    _block(content, *meta, name)  # nothing is in it, but a changed byte is a changed file
    entries: dict[bytes, bytes] = {}
    n_key_bytes, end = 0, 0
    for _, handle in _entries(_block(content, *index, name), name):
        (offset, size), _ = _handle(handle, 0, name)
        if offset < end:
            raise _loss(name, f"has a block at byte {offset} inside the block before")
        end = offset + size
        for key, value in _entries(_block(content, offset, size, name), name):
            n_key_bytes += len(key)
            if n_key_bytes > MAX_EXPANSION * len(content):
                raise _loss(name, f"has keys of over {MAX_EXPANSION} times its own size")
            entries[key] = value
    if any(a >= b for a, b in pairwise(entries)):
        raise _loss(name, "has keys that are not in order")
    return entries


def build_table(entries: Iterable[tuple[bytes, bytes]]) -> bytes:
    """The bytes of a table of `entries`, (key, value) pairs in ascending order of their keys."""
    content, index, block = bytearray(), _BlockBuilder(1), _BlockBuilder(RESTART_INTERVAL)
    handle = b""
    for key, value in entries:
        if handle:
            index.add(_separator(block.last_key, key), handle)
            block, handle = _BlockBuilder(RESTART_INTERVAL), b""
        block.add(key, value)
        if block.size >= BLOCK_SIZE:
            handle = _append_block(content, block)
    if block.size > _BlockBuilder(1).size:
        handle = handle or _append_block(content, block)
        index.add(_successor(block.last_key), handle)
    footer = _append_block(content, _BlockBuilder(RESTART_INTERVAL)) + _append_block(content, index)
    return bytes(content + footer.ljust(FOOTER_SIZE - 8, b"\0") + MAGIC.to_bytes(8, "little"))


def read_varint(content: bytes | memoryview, position: int, name: str) -> tuple[int, int]:
    """The base-128 number at `position`, and the position after it."""
    number = 0
    for shift in range(0, 64, 7):
        if position >= len(content):
            break
        byte = content[position]
        position += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, position
    raise _loss(name, f"has a number without end at byte {position}")


def varint(number: int) -> bytes:
    """A number in base 128, the lowest digits first."""
    digits = bytearray()
    while number > 0x7F:
        digits.append(number & 0x7F | 0x80)
        number >>= 7
    digits.append(number)
    return bytes(digits)


def _handle(content: bytes, position: int, name: str) -> tuple[tuple[int, int], int]:
    """The (offset, size) of a block that stands at `position`, and the position after it."""
    offset, position = read_varint(content, position, name)
    size, position = read_varint(content, position, name)
    return (offset, size), position


def _block(content: memoryview, offset: int, size: int, name: str) -> bytes:
    """The checked content of a block, without its trailer."""
    end = offset + size
    if end + TRAILER_SIZE > len(content) - FOOTER_SIZE:
        raise _loss(name, f"has a block at [{offset}, {end}) beyond its end")
    expected = int.from_bytes(content[end + 1 : end + TRAILER_SIZE], "little")
    if masked_crc32c(content[offset : end + 1]) != expected:
        raise _loss(name, f"has a block at [{offset}, {end}) with a wrong checksum")
    kind = content[end]
    if kind != UNCOMPRESSED:
        raise UnimplementedError(
            None,
            None,
            f"'{name}' has a block compressed by method {kind}; only tables without compression, "
            "as TensorFlow writes them for checkpoints, are read",
        )
    return bytes(content[offset:end])


def _entries(block: bytes, name: str) -> Iterator[tuple[bytes, bytes]]:
    """The (key, value) pairs of a block."""
    n_restarts = int.from_bytes(block[-4:], "little")
    end = len(block) - 4 - 4 * n_restarts
    if len(block) < 4 or end < 0:
        raise _loss(name, f"has a block of {len(block)} bytes with {n_restarts} restarts")
    position, key = 0, b""
    while position < end:
        shared, position = read_varint(block, position, name)
        n_more, position = read_varint(block, position, name)
        n_value, position = read_varint(block, position, name)
        if shared > len(key) or position + n_more + n_value > end:
            raise _loss(name, f"has an entry that does not fit its block, after key {key!r}")
        key = key[:shared] + block[position : position + n_more]
        position += n_more
        yield key, block[position : position + n_value]
        position += n_value


def _loss(name: str, problem: str) -> DataLossError:
    fix = "copy or save the checkpoint again"
    return DataLossError(None, None, f"'{name}' {problem}: the file is damaged or cut; {fix}")


class _BlockBuilder:
    """Collects the entries of one block."""

    def __init__(self, restart_interval: int) -> None:
        self._interval = restart_interval
        self._content = bytearray()
        self._restarts = [0]
        self._n_since = 0
        self.last_key = b""

    @property
    def size(self) -> int:
        return len(self._content) + 4 * len(self._restarts) + 4

    def add(self, key: bytes, value: bytes) -> None:
        shared = 0
        if self._n_since < self._interval:
            shared = _shared(self.last_key, key)
        else:
            self._restarts.append(len(self._content))
            self._n_since = 0
        more = key[shared:]
        self._content += varint(shared) + varint(len(more)) + varint(len(value)) + more + value
        self._n_since += 1
        self.last_key = key

    def finish(self) -> bytes:
        numbers = [*self._restarts, len(self._restarts)]
        return bytes(self._content) + b"".join(n.to_bytes(4, "little") for n in numbers)


def _append_block(content: bytearray, block: _BlockBuilder) -> bytes:
    """Adds a block to the file's content; the handle that says where it is."""
    body = block.finish()
    handle = varint(len(content)) + varint(len(body))
    body += bytes([UNCOMPRESSED])
    content += body + masked_crc32c(body).to_bytes(4, "little")
    return handle


def _shared(a: bytes, b: bytes) -> int:
    """The length of the beginning that two keys share."""
    n = min(len(a), len(b))
    return next((i for i in range(n) if a[i] != b[i]), n)


def _separator(before: bytes, after: bytes) -> bytes:
    """A short key k with before <= k < after."""
    i = _shared(before, after)
    if i < min(len(before), len(after)) and before[i] < 0xFF and before[i] + 1 < after[i]:
        return before[:i] + bytes([before[i] + 1])
    return before


def _successor(key: bytes) -> bytes:
    """A short key that is not below `key`."""
    for i, byte in enumerate(key):
        if byte != 0xFF:
            return key[:i] + bytes([byte + 1])
    return key
