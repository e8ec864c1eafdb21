"""Reads a flatbuffer into records and verifies every offset, vtable, length, union and enum in it.

Nothing here trusts the file. Three rules keep the work in proportion to its size: a vector or
string that several fields share is read once, all of them together may not claim more bytes than
there are, and neither may the tables. The schema has no recursive type, so depth is bounded by it.

The cost of a table is one `struct` call: which fields it has, and where, is known per vtable, and
nearly all tables of a kind share a few vtables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import chain, repeat
from struct import Struct
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from . import tables
from .record import FieldValue, Record, record

if TYPE_CHECKING:
    from .definition import Schema
    from .errors import ModelError

INVALID = "The model is not a valid Flatbuffer buffer"
MAX_TABLES = 10**6
_LEAST_TABLE = 4
"""Bytes a table takes at least: its offset to the vtable. Several may refer to one table, but each
of them is a table too, or an entry of a vector, where the same table again is not counted."""
_MAX_LAYOUTS = 10_000
"""Different vtables in one file; a writer makes a few for each kind of table."""

_CODES = {
    "bool": "?",
    "byte": "b",
    "ubyte": "B",
    "short": "h",
    "ushort": "H",
    "int": "i",
    "uint": "I",
    "long": "q",
    "ulong": "Q",
    "float": "f",
    "double": "d",
}
_Members = tuple[str | None, ...]
_Argument: TypeAlias = "_Kind | np.dtype | None"
_Decode = Callable[..., FieldValue]  # (reader, argument, where, offset)
_Scalar: TypeAlias = "tuple[str, int, tables.Default, str, int | None]"
"""field, slot, default, its code of `struct`, how many members its enum has"""
_Pointer: TypeAlias = "tuple[str, int, _Decode, str | np.dtype | None]"
"""field, slot, what reads it, and what that is told: of tables their name"""
_Union: TypeAlias = "tuple[str, int, _Members]"
"""field, slot, tables it may hold"""
_ACTIVATION = "fused_activation_function"
"""The enum of which LiteRT takes every unknown number for none."""
_BYTE = np.dtype("u1")
_U32 = Struct("<I").unpack_from
_VTABLE = Struct("<HH").unpack_from
_BACK = Struct("<i").unpack_from


def read(data: memoryview, identified: bool = True, schema: Schema = tables) -> Record:
    """The record in `data`, a Model; raises ModelError naming the first field that is wrong.

    Without `identified` it need not bear the identifier of its kind of files. Another schema than
    that of models has another root.
    """
    is_model = schema is tables
    invalid = INVALID if is_model else INVALID.replace("model", schema.ROOT_TYPE)
    if len(data) < 8:
        raise _refusal(invalid, f"{len(data)} bytes are too few for one")
    if identified and bytes(data[4:8]) != schema.FILE_IDENTIFIER.encode():
        reason = f"bytes 4 to 8 must be {schema.FILE_IDENTIFIER!r}, got {bytes(data[4:8])}"
        if is_model:
            reason += "; this is not a .tflite file, flatlite convert makes one of other models"
        raise _refusal(invalid, reason)
    reader = _Reader(data, schema)
    try:
        root = reader.table(_kind(schema.ROOT_TYPE, schema), 0, _U32(data, 0)[0])
        if is_model:
            reader.resolve(root)
    except _Malformed as malformed:
        raise _refusal(invalid, str(malformed)) from None
    return root


def _refusal(message: str, note: str) -> ModelError:
    from .errors import ModelError, noted  # with the family of errors half a millisecond

    return noted(ModelError(message), note)


class _Malformed(Exception):
    """What is wrong, where, and the fields that lead there, innermost first."""

    def __init__(self, position: int, reason: str) -> None:
        self.position = position
        self.reason = reason
        self.path: list[str] = []

    def __str__(self) -> str:
        path = "".join(reversed(self.path)).removeprefix(".") or "root"
        return f"{path} at byte {self.position}: {self.reason}"


class _Reader:
    """One pass over one file."""

    def __init__(self, data: memoryview, schema: Schema) -> None:
        self.data = data
        self.schema = schema
        self.size = len(data)
        self.tables_left = min(MAX_TABLES, self.size // _LEAST_TABLE)
        self.layouts_left = _MAX_LAYOUTS
        self.bytes_left = self.size
        self.texts: dict[int, str] = {}
        self.vectors: dict[int | tuple[int, int], np.ndarray] = {}
        self.truths: dict[int, np.ndarray] = {}
        self.arrays: dict[np.dtype, np.ndarray] = {}
        self.layouts: dict[tuple[_Kind, int], _Layout] = {}

    def table(self, kind: _Kind, where: int, offset: int) -> Record:
        """The table that the offset at `where` leads to."""
        data, start = self.data, where + offset
        if offset == 0 or start + 4 > self.size:
            raise self.outside(where, offset, "a table")
        self.tables_left -= 1
        if self.tables_left < 0:
            raise _Malformed(start, "there are more tables than the file has room for")
        vtable = start - _BACK(data, start)[0]
        layout = self.layouts.get((kind, vtable))
        if layout is None:
            layout = self.layout(kind, start, vtable)
        if start + layout.size > self.size:
            raise _Malformed(start, f"table of {layout.size} bytes ends past {self.end}")
        if start & layout.mask != layout.remainder:
            at = "a multiple of 4" if start & 3 else "where its fields lie at multiples of 8"
            raise _Malformed(start, f"a table must lie at {at}")
        values = layout.unpack(data, start)
        result = kind.make()
        for name, default in layout.absent:
            setattr(result, name, default)
        for name, index in layout.plain:
            setattr(result, name, values[index])
        for name, index, limit in layout.enums:
            if 0 <= values[index] < limit:
                continue
            if name == _ACTIVATION:
                setattr(result, name, 0)
            else:
                raise _Malformed(start, f"{name} must be in [0, {limit}), got {values[index]}")
        name = ""
        try:
            for name, index, at, decode, argument in layout.pointers:
                setattr(result, name, decode(self, argument, start + at, values[index]))
            for name, type_index, index, at, members in layout.unions:
                member = values[type_index] if type_index >= 0 else 0
                value = None
                if index >= 0:
                    value = self.member(members, member, start + at, values[index])
                setattr(result, name, value)
        except _Malformed as malformed:
            malformed.path.append(f".{name}")
            raise
        return result

    def member(self, members: _Members, member: int, where: int, offset: int) -> Record:
        """The table a union holds."""
        name = members[member] if 0 < member < len(members) else None
        if name is None:
            limit = len(members)
            raise _Malformed(where, f"the type of a union must be in [1, {limit}), got {member}")
        return self.table(_kind(name, self.schema), where, offset)

    def table_list(self, kind: _Kind, where: int, offset: int) -> tuple[Record, ...]:
        """The tables in the vector that the offset at `where` leads to; entries may be equal."""
        start, length = self.vector(where, offset, 4)
        if length > MAX_TABLES:
            raise _Malformed(start, f"a vector must have at most {MAX_TABLES} tables, got {length}")
        self.claim(start, 4 * length)
        offsets = np.frombuffer(self.data, "<u4", length, start)
        are_shared = _any_equal(offsets + np.arange(start, start + 4 * length, 4))
        seen: dict[int, Record] | None = {} if are_shared else None
        result: list[Record] = []
        position = start
        try:
            for offset in _integers(offsets):
                if seen is None:
                    item = self.table(kind, position, offset)
                else:
                    item = seen.get(position + offset)
                    if item is None:
                        item = seen[position + offset] = self.table(kind, position, offset)
                result.append(item)
                position += 4
        except _Malformed as malformed:
            malformed.path.append(f"[{len(result)}]")
            raise
        return tuple(result)

    def numbers(self, dtype: np.dtype, where: int, offset: int) -> np.ndarray:
        """A read-only view of the vector of numbers that the offset at `where` leads to."""
        place = where + offset
        vector = self.vectors.get(place)
        if vector is not None and vector.dtype is dtype:
            return vector
        size = dtype.itemsize
        start, length = self.vector(where, offset, size)
        self.bytes_left -= length * size
        if self.bytes_left < 0:
            self.claim(start, 0)
        if start % size:
            vector = np.frombuffer(self.data, dtype, length, start)
        else:  # a part of an array of the whole file takes a third of the time
            array, first = self.arrays.get(dtype), start // size
            if array is None:
                array = self.whole(dtype)
            vector = array[first : first + length]
        self.vectors[place] = vector
        return vector

    def flags(self, dtype: np.dtype, where: int, offset: int) -> np.ndarray:
        """The vector of truth values that the offset at `where` leads to, read-only.

        Any byte but 0 is true in a flatbuffer; in a numpy array only 1 is.
        """
        flags = self.truths.get(where + offset)
        if flags is None:
            flags = np.asarray(self.numbers(_BYTE, where, offset) != 0)
            flags.flags.writeable = False
            self.truths[where + offset] = flags
        return flags

    def whole(self, dtype: np.dtype) -> np.ndarray:
        """As many numbers as the file has room for, from its start on."""
        count = self.size // dtype.itemsize
        numbers = self.arrays[dtype] = np.frombuffer(self.data, dtype, count)
        return numbers

    def text(self, _: None, where: int, offset: int) -> str:
        """The string that the offset at `where` leads to; bytes that are not UTF-8 are escaped."""
        text = self.texts.get(where + offset)
        if text is None:
            start, length = self.vector(where, offset, 1)
            end = start + length
            if end >= self.size or self.data[end] != 0:
                raise _Malformed(start, f"string of {length} bytes has no zero byte after it")
            self.claim(start, length)
            text = str(self.data[start:end], "utf-8", "surrogateescape")
            self.texts[where + offset] = text
        return text

    def text_list(self, _: None, where: int, offset: int) -> tuple[str, ...]:
        """The strings in the vector that the offset at `where` leads to."""
        start, length = self.vector(where, offset, 4)
        self.claim(start, 4 * length)
        offsets = np.frombuffer(self.data, "<u4", length, start)
        positions = range(start, start + 4 * length, 4)
        return tuple(map(self.text, repeat(None), positions, _integers(offsets)))

    def vector(self, where: int, offset: int, itemsize: int) -> tuple[int, int]:
        """Position of the first element, and length, of the vector the offset at `where` names."""
        start = where + offset + 4
        if offset == 0 or start > self.size:
            raise self.outside(where, offset, "a vector")
        length = _U32(self.data, start - 4)[0]
        if length * itemsize > self.size - start:
            raise _Malformed(
                start - 4, f"{length} elements of {itemsize} bytes end past {self.end}"
            )
        if start & 3:
            raise _Malformed(start - 4, "a vector must lie at a multiple of 4")
        return start, length

    def claim(self, start: int, size: int) -> None:
        """Counts the bytes of a vector seen for the first time."""
        self.bytes_left -= size
        if self.bytes_left < 0:
            raise _Malformed(start, "vectors overlap: together they are longer than the file")

    def layout(self, kind: _Kind, start: int, vtable: int) -> _Layout:
        """The layout of a vtable seen for the first time in this file."""
        if vtable < 0 or vtable + 4 > self.size:
            raise _Malformed(start, f"vtable at byte {vtable} is not inside the {self.size} bytes")
        size = _VTABLE(self.data, vtable)[0]
        if size < 4 or size % 2 or vtable + size > self.size:
            raise _Malformed(start, f"vtable at byte {vtable} has a size of {size} bytes")
        self.layouts_left -= 1
        if self.layouts_left < 0:
            raise _Malformed(start, f"there are more than {_MAX_LAYOUTS} vtables")
        slots: list[int] = np.frombuffer(self.data, "<u2", size // 2, vtable).tolist()[1:]
        layout = self.layouts[kind, vtable] = _Layout(kind, start, slots)
        return layout

    def outside(self, where: int, offset: int, what: str) -> _Malformed:
        """The error of an offset that leads nowhere."""
        if offset == 0:
            return _Malformed(where, f"the offset of {what} is 0")
        return _Malformed(
            where, f"the offset of {what} leads to byte {where + offset}, past {self.end}"
        )

    def resolve(self, model: Record) -> None:
        """Puts bytes that lie outside the flatbuffer where those inside are.

        Buffer 0 is the one of tensors without a constant: what a file has in it is not read.
        """
        if model.buffers and model.buffers[0].data is not None:
            model.buffers = (record("Buffer")(), *model.buffers[1:])
        for buffer in model.buffers or ():
            if buffer.offset > 1:
                buffer.data = self.distant(buffer.offset, buffer.size, "Buffer")
                buffer.offset = buffer.size = 0
        for subgraph in model.subgraphs or ():
            for operator in subgraph.operators or ():
                offset = operator.large_custom_options_offset
                if offset > 1:
                    size = operator.large_custom_options_size
                    operator.custom_options = self.distant(offset, size, "large_custom_options")
                    operator.large_custom_options_offset = operator.large_custom_options_size = 0

    def distant(self, start: int, length: int, what: str) -> np.ndarray:
        """Bytes of the file that a field refers to by their place."""
        key = (start, length)
        if key not in self.vectors:
            if start + length > self.size:
                raise _Malformed(start, f"{what} has {length} bytes here, past {self.end}")
            self.claim(start, length)
            self.vectors[key] = np.frombuffer(self.data, "u1", length, start)
        return self.vectors[key]

    @property
    def end(self) -> str:
        """The end of the file, for messages."""
        return f"the end of the file ({self.size} bytes)"


def _any_equal(numbers: np.ndarray) -> bool:
    """Whether two of the numbers are equal."""
    numbers.sort()
    return bool(np.logical_or.reduce(numbers[1:] == numbers[:-1]))


def _integers(numbers: np.ndarray) -> Iterator[int]:
    """The numbers as Python integers, of which there are never many at a time."""
    n = 4096
    return chain.from_iterable(numbers[i : i + n].tolist() for i in range(0, len(numbers), n))


class _Kind:
    """How the fields of one table of the schema are read."""

    def __init__(self, name: str, schema: Schema) -> None:
        self.name, self.schema = name, schema
        class_ = record(name, schema)
        self.make = partial(object.__new__, class_)
        self.plain: list[_Scalar] = []
        self.pointers: list[_Pointer] = []
        self.unions: list[_Union] = []
        for field, type_, default, slot in schema.TABLES[name]:
            inner = type_.strip("[]")
            scalar = schema.ENUM_TYPES.get(inner, inner)
            if type_ in schema.UNIONS:
                self.unions.append((field, slot, schema.UNIONS[type_]))
            elif inner == "string":
                read_text = _Reader.text if type_ == inner else _Reader.text_list
                self.pointers.append((field, slot, read_text, None))
            elif type_ == inner and scalar in _CODES:
                limit = len(schema.ENUMS[type_]) if type_ in schema.ENUMS else None
                self.plain.append((field, slot, default, _CODES[scalar], limit))
            elif scalar in _CODES:
                dtype = np.dtype("<" + _CODES[scalar])
                read_numbers = _Reader.flags if dtype.char == "?" else _Reader.numbers
                self.pointers.append((field, slot, read_numbers, dtype))
            elif type_ == inner:
                self.pointers.append((field, slot, _Reader.table, inner))
            else:
                self.pointers.append((field, slot, _Reader.table_list, inner))

    def told(self, argument: str | np.dtype | None) -> _Argument:
        """What a pointer's reader is told: the kind of tables, made when a file first has one."""
        return _kind(argument, self.schema) if isinstance(argument, str) else argument


@cache
def _kind(name: str, schema: Schema) -> _Kind:
    """The kind of a table."""
    return _Kind(name, schema)


class _Layout:
    """Where the tables of one vtable have their fields, as arguments of one unpack call.

    Attributes:
        size: Bytes of the table.
        mask, remainder: The lowest bits of where such a table may lie, and what they must be.
        unpack: Gives the inline values of all present fields, in the order they lie.
        absent: (field, default) of those that are not present.
        plain: (field, index of its value).
        enums: (field, index of its value, limit).
        pointers: (field, index of the offset, place in the table, reader, its argument).
        unions: (field, index of the type or -1, index of the offset or -1, place, members).
    """

    __slots__ = (
        *("absent", "enums", "mask", "plain", "pointers", "remainder", "size", "unions", "unpack"),
    )

    def __init__(self, kind: _Kind, start: int, slots: list[int]) -> None:
        self.size = slots[0]
        self.mask: int = 3
        self.remainder: int = 0
        vtable = slots[1:]
        present = {slot: (offset, code) for slot, offset, code in _inline(kind, vtable)}
        order = sorted(present, key=present.__getitem__)
        index = {slot: i for i, slot in enumerate(order)}
        self.unpack = self._struct(start, [present[slot] for slot in order]).unpack_from
        absent = [(f, d) for f, slot, d, _, _ in kind.plain if slot not in index]
        self.absent = absent + [(f, None) for f, slot, _, _ in kind.pointers if slot not in index]
        self.plain = [(f, index[slot]) for f, slot, *_ in kind.plain if slot in index]
        self.enums = [
            (f, index[slot], limit) for f, slot, *_, limit in kind.plain if limit and slot in index
        ]
        self.pointers = [
            (f, index[slot], vtable[slot], decode, kind.told(argument))
            for f, slot, decode, argument in kind.pointers
            if slot in index
        ]
        self.unions: list[tuple[str, int, int, int, _Members]] = []
        for field, slot, members in kind.unions:
            type_index, value_index = index.get(slot, -1), index.get(slot + 1, -1)
            offset = vtable[slot + 1] if value_index >= 0 else 0
            self.unions.append((field, type_index, value_index, offset, members))

    def _struct(self, start: int, present: list[tuple[int, str]]) -> Struct:
        """What unpacks the fields that lie at these places."""
        pieces, end, misplaced = ["<"], 4, 0
        if self.size < 4:
            raise _Malformed(start, f"table must have 4 bytes or more, got {self.size}")
        for offset, code in present:
            gap = offset - (end if len(pieces) > 1 else 0)
            if offset < end:
                raise _Malformed(start, f"fields overlap at byte {offset} of the table")
            pieces.append(f"{gap}x{code}")
            size = Struct("<" + code).size
            remainder = -offset % size
            if remainder % 4 or (size == 8 == self.mask + 1 and remainder != self.remainder):
                misplaced = misplaced or size
            if size == 8:
                self.mask, self.remainder = 7, remainder
            end = offset + size
        if end > self.size:
            raise _Malformed(start, f"a field ends past the {self.size} bytes of its table")
        if misplaced:
            raise _Malformed(start, f"a field of {misplaced} bytes must lie at a multiple of that")
        return Struct("".join(pieces))


def _inline(kind: _Kind, vtable: list[int]) -> Iterator[tuple[int, int, str]]:
    """(slot, place, code) of all inline values of a table that a vtable has."""
    codes = [(slot, code) for _, slot, _, code, _ in kind.plain]
    codes += [(slot, "I") for _, slot, _, _ in kind.pointers]
    for _, slot, _ in kind.unions:
        codes += [(slot, "B"), (slot + 1, "I")]
    for slot, code in codes:
        if slot < len(vtable) and vtable[slot]:
            yield slot, vtable[slot], code
