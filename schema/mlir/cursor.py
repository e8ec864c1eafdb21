"""Numbers and strings of MLIR bytecode, one after another."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import TypeVar

from ..errors import ModelError

Item = TypeVar("Item")


class Cursor:
    """Reads a part of a file; ModelError where it ends too early."""

    def __init__(self, content: memoryview, what: str) -> None:
        self.content, self.what, self.position = content, what, 0

    @property
    def is_done(self) -> bool:
        """Whether everything was read."""
        return self.position >= len(self.content)

    @property
    def n_left(self) -> int:
        """How many bytes were not read yet."""
        return len(self.content) - self.position

    def byte(self) -> int:
        """The next byte."""
        return self.blob(1)[0]

    def blob(self, size: int) -> memoryview:
        """The next `size` bytes."""
        if size > self.n_left:
            raise self.error(f"must have {size} bytes more at byte {self.position}")
        self.position += size
        return self.content[self.position - size : self.position]

    def number(self) -> int:
        """An unsigned number; the zeros at the low end of its first byte count the others."""
        first = self.byte()
        if first & 1:
            return first >> 1
        if first == 0:
            return int.from_bytes(self.blob(8), "little")
        count = (first & -first).bit_length() - 1
        return int.from_bytes(bytes([first]) + self.blob(count), "little") >> (count + 1)

    def signed(self) -> int:
        """A signed number, its sign in the lowest bit."""
        value = self.number()
        return (value >> 1) ^ -(value & 1)

    def flagged(self) -> tuple[int, bool]:
        """A number and the flag that is its lowest bit."""
        value = self.number()
        return value >> 1, bool(value & 1)

    def count(self) -> int:
        """How many things follow, of which each has a byte at least."""
        value = self.number()
        if value > self.n_left:
            raise self.error(f"must have {value} items more at byte {self.position}")
        return value

    def numbers(self) -> list[int]:
        """A list of unsigned numbers."""
        return [self.number() for _ in range(self.count())]

    def signed_numbers(self) -> list[int]:
        """A list of signed numbers."""
        return [self.signed() for _ in range(self.count())]

    def integer(self, bits: int, is_signed: bool) -> int:
        """An integer of a known width."""
        value = self.byte() if bits <= 8 else self.signed()
        value &= (1 << bits) - 1
        return value - (1 << bits) if is_signed and value >> (bits - 1) else value

    def float64(self) -> float:
        """A float64 number."""
        (value,) = struct.unpack("<d", struct.pack("<Q", self.integer(64, False)))
        return value

    def text(self) -> str:
        """Characters up to a zero byte."""
        content = bytes(self.content[self.position :])
        end = content.find(0)
        if end < 0:
            raise self.error("must end its text with a zero byte")
        self.position += end + 1
        return content[:end].decode(errors="replace")

    def section(self) -> tuple[int, Cursor]:
        """The kind of the next section, and what is in it."""
        kind, size = self.byte(), self.number()
        if kind & 0x80:
            alignment = self.number()
            if not 0 < alignment <= 1 << 20 or alignment & (alignment - 1):
                raise self.error(f"must align sections to powers of two, got {alignment}")
            while self.position % alignment:
                self.byte()
        return kind & 0x7F, Cursor(self.blob(size), self.what)

    def item(self, items: Sequence[Item], index: int, kind: str) -> Item:
        """The `index`-th item of a table."""
        if index >= len(items):
            raise self.error(f"must refer to {kind}s below {len(items)}, got {index}")
        return items[index]

    def error(self, words: str) -> ModelError:
        """What is wrong with these bytes."""
        return ModelError(f"{self.what} {words}")
