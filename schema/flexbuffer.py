"""FlexBuffers: the data without a schema that options of custom operators are written in.

Every offset is checked; what a buffer shares or nests too often is refused, so that reading takes
time and memory in proportion to its size.

Source: google.github.io/flatbuffers, FlexBuffers internals.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from .errors import ModelError

if TYPE_CHECKING:
    from typing import TypeAlias

    FlexValue: TypeAlias = (
        "bool | int | float | str | bytes | list[FlexValue] | dict[str, FlexValue] | None"
    )
    """A value: str where it is UTF-8 and said to be text, bytes of any other string or blob."""

MAX_DEPTH = 16
MIN_BUDGET = 1 << 10
"""Elements that any buffer may have; a larger one may have as many as it has bytes."""

_FLOATS = {2: struct.Struct("<e"), 4: struct.Struct("<f"), 8: struct.Struct("<d")}
_INT, _UINT, _FLOAT, _KEY, _STRING = 1, 2, 3, 4, 5
_INDIRECT = {6: _INT, 7: _UINT, 8: _FLOAT}
_MAP, _VECTOR, _BLOB, _BOOL, _BOOLS = 9, 10, 25, 26, 36
_TYPED = {11: _INT, 12: _UINT, 13: _FLOAT, 14: _KEY, 15: _STRING, _BOOLS: _BOOL}
_FIRST_FIXED, _END_FIXED = 16, 25
"""Vectors of 2, 3 and 4 numbers: signed, unsigned, real."""


def read_flexbuffer(data: bytes) -> FlexValue:
    """The value in a buffer; raises ModelError where that is malformed.

    >>> read_flexbuffer(bytes([5, 4, 1]))
    5
    >>> read_flexbuffer(b"")
    Traceback (most recent call last):
    flatlite.schema.errors.ModelError: a FlexBuffer has 3 bytes or more, got 0
    """
    return _Reader(data).root()


def read_flexbuffer_map(data: bytes) -> dict[str, FlexValue]:
    """The map in a buffer, {} in an empty one; raises ModelError where there is something else."""
    value = read_flexbuffer(data) if data else {}
    if not isinstance(value, dict):
        raise ModelError(f"options must be a FlexBuffer map, got {type(value).__name__}")
    return value


class _Reader:
    """Reads one buffer."""

    def __init__(self, data: bytes):
        self._data = bytes(data)
        self._budget = max(MIN_BUDGET, len(data))

    def root(self) -> FlexValue:
        """The value that the last two bytes tell of."""
        data = self._data
        if len(data) < 3:
            raise ModelError(f"a FlexBuffer has 3 bytes or more, got {len(data)}")
        width = data[-1]
        if width not in (1, 2, 4, 8):
            raise ModelError(f"the root of a FlexBuffer has 1, 2, 4 or 8 bytes, got {width}")
        return self._value(len(data) - 2 - width, width, data[-2], 0)

    def _bytes(self, at: int, size: int) -> bytes:
        if at < 0 or size < 0 or at + size > len(self._data):
            raise ModelError(f"a FlexBuffer of {len(self._data)} bytes has none at {at}")
        return self._data[at : at + size]

    def _unsigned(self, at: int, width: int) -> int:
        return int.from_bytes(self._bytes(at, width), "little")

    def _number(self, at: int, width: int, kind: int) -> float | bool:
        content = self._bytes(at, width)
        if kind == _FLOAT:
            if width not in _FLOATS:
                raise ModelError(f"a real number in a FlexBuffer has no {width} byte")
            return _FLOATS[width].unpack(content)[0]
        number = int.from_bytes(content, "little", signed=kind == _INT)
        return number != 0 if kind == _BOOL else number

    def _value(self, at: int, width: int, packed: int, depth: int) -> FlexValue:
        """The value at `at`, of `width` bytes, whose type byte is `packed`."""
        self._budget -= 1
        if depth > MAX_DEPTH or self._budget < 0:
            raise ModelError("a FlexBuffer must not be nested or shared so often")
        kind, inner = packed >> 2, 1 << (packed & 3)
        if kind == 0:
            return None
        if kind in (_INT, _UINT, _FLOAT, _BOOL):
            return self._number(at, width, kind)
        target = at - self._unsigned(at, width)
        if kind in _INDIRECT:
            return self._number(target, inner, _INDIRECT[kind])
        if kind == _KEY:
            return self._key(target)
        if kind in (_STRING, _BLOB):
            content = self._bytes(target, self._unsigned(target - inner, inner))
            return _text(content) if kind == _STRING else content
        if kind == _MAP:
            return self._map(target, inner, depth)
        if kind == _VECTOR:
            return self._vector(target, inner, depth)
        return self._typed_vector(target, inner, kind, depth)

    def _key(self, at: int) -> str:
        self._bytes(at, 1)
        end = self._data.find(b"\0", at)
        if end < 0:
            raise ModelError(f"a key at {at} of a FlexBuffer does not end")
        return self._data[at:end].decode("utf-8", "replace")

    def _count(self, at: int, width: int) -> int:
        """The number of elements of the vector at `at`, which must fit into the buffer."""
        count = self._unsigned(at - width, width)
        self._bytes(at, count * width)
        return count

    def _vector(self, at: int, width: int, depth: int) -> list[FlexValue]:
        count = self._count(at, width)
        kinds = self._bytes(at + count * width, count)
        return [
            self._value(at + i * width, width, packed, depth + 1) for i, packed in enumerate(kinds)
        ]

    def _map(self, at: int, width: int, depth: int) -> dict[str, FlexValue]:
        values = self._vector(at, width, depth)
        keys_at = at - 3 * width
        key_width = self._unsigned(at - 2 * width, width)
        if key_width not in (1, 2, 4, 8):
            raise ModelError(f"keys of a FlexBuffer have 1, 2, 4 or 8 bytes, got {key_width}")
        keys = keys_at - self._unsigned(keys_at, width)
        count = self._count(keys, key_width)
        if count != len(values):
            raise ModelError(f"a map of a FlexBuffer has {count} keys for {len(values)} values")
        offsets = [keys + i * key_width for i in range(count)]
        names = [self._key(offset - self._unsigned(offset, key_width)) for offset in offsets]
        return dict(zip(names, values, strict=True))

    def _typed_vector(self, at: int, width: int, kind: int, depth: int) -> list[FlexValue]:
        """Elements of one type, whose number stands before them or is a part of the type."""
        if _FIRST_FIXED <= kind < _END_FIXED:
            size, element = divmod(kind - _FIRST_FIXED, 3)
            count, element = size + 2, (_INT, _UINT, _FLOAT)[element]
        elif kind in _TYPED:
            count, element = self._count(at, width), _TYPED[kind]
        else:
            raise ModelError(f"a FlexBuffer has no type {kind}")
        inner_width_bits = 0  # of a string's length, which such vectors do not tell
        packed = element << 2 | inner_width_bits
        return [self._value(at + i * width, width, packed, depth + 1) for i in range(count)]


def _text(content: bytes) -> str | bytes:
    try:
        return content.decode()
    except UnicodeDecodeError:
        return content
