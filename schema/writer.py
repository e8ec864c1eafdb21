"""Writes records as a flatbuffer: the same records always give the same bytes, and few of them.

Fields that hold their default are left out, the widest fields of a table come first so that none
needs padding, and equal strings, vectors and tables are written once.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from io import BytesIO
from typing import TYPE_CHECKING, cast

import flatbuffers
import numpy as np
from flatbuffers.builder import BuilderSizeError
from flatbuffers.number_types import UOffsetTFlags

from . import tables
from .errors import ModelError
from .files import page_out, release_arrays, untouched
from .record import FieldValue, Record

if TYPE_CHECKING:
    from .definition import Schema
    from .files import Content

    Slot = tuple[int, int, str, float, tables.Default]
    """(size, slot, type, value, default) of a field of a table"""

_DTYPES = {
    "bool": "?",
    "byte": "i1",
    "ubyte": "u1",
    "short": "<i2",
    "ushort": "<u2",
    "int": "<i4",
    "uint": "<u4",
    "long": "<i8",
    "ulong": "<u8",
    "float": "<f4",
    "double": "<f8",
}
_PREPEND = {
    "bool": flatbuffers.Builder.PrependBoolSlot,
    "byte": flatbuffers.Builder.PrependInt8Slot,
    "ubyte": flatbuffers.Builder.PrependUint8Slot,
    "short": flatbuffers.Builder.PrependInt16Slot,
    "ushort": flatbuffers.Builder.PrependUint16Slot,
    "int": flatbuffers.Builder.PrependInt32Slot,
    "uint": flatbuffers.Builder.PrependUint32Slot,
    "long": flatbuffers.Builder.PrependInt64Slot,
    "ulong": flatbuffers.Builder.PrependUint64Slot,
    "float": flatbuffers.Builder.PrependFloat32Slot,
    "double": flatbuffers.Builder.PrependFloat64Slot,
    "offset": flatbuffers.Builder.PrependUOffsetTRelativeSlot,
}
_ROOM, _TABLE_ROOM = 1 << 16, 1 << 10
"""Bytes for what is no constant: of a file, and of each tensor, operator and buffer at most."""
_CHUNK = 1 << 23
"""Bytes of a constant that are written before their pages are given back."""
_LATE_BYTES = 1 << 12
"""Vectors from this size on are written last, past the builder: none lies in memory twice."""
_ALIGNMENT = tables.ALIGNMENT["Buffer", "data"]
_BUFFER_BYTES = 8
"""A Buffer table: the offset to its vtable, and that of its data."""
_LIMIT = 2**31 - 1
_SHARED_BYTES = 32
"""Vectors up to this size are written once; the reader knows no file to be much shorter than what
it says, so longer ones are not shared."""


def write(root: Record, schema: Schema = tables) -> bytes:
    """The bytes of the root record of a schema, a Model."""
    buffers = (root.buffers or ()) if schema is tables else ()
    constants = sum(_n_bytes(buffer.data) + 32 for buffer in buffers)
    if constants > _LIMIT:
        raise ModelError(
            f"a flatbuffer must be under 2 GB, but the constants alone are {constants} bytes"
        )
    n_tables = len(buffers)
    for subgraph in (root.subgraphs or ()) if schema is tables else ():
        n_tables += len(subgraph.tensors or ()) + len(subgraph.operators or ())
    writer = _Writer(constants + _ROOM + n_tables * _TABLE_ROOM, schema)
    try:
        offset = writer.table(root, schema.ROOT_TYPE)
        writer.builder.Finish(offset, file_identifier=schema.FILE_IDENTIFIER.encode())
    except BuilderSizeError:
        raise ModelError(
            f"a flatbuffer must be under 2 GB, but this one has {constants} bytes of constants"
            " and more than the rest of it in tables"
        ) from None
    return writer.content_bytes()


class _Writer:
    """One file being written, back to front."""

    def __init__(self, size: int, schema: Schema) -> None:
        self.builder = flatbuffers.Builder(0)
        size = max(1, min(size, _LIMIT))
        self.builder.Bytes = cast("bytearray", memoryview(untouched(size)))
        self.builder.head = UOffsetTFlags.py_type(size)
        self.schema = schema
        self.written: dict[tuple[FieldValue, ...], int] = {}
        self.deferred: list[tuple[int, np.ndarray]] = []

    def content_bytes(self) -> bytes:
        """The bytes of the finished file, with the vectors that come last."""
        release_arrays(values for _, values in self.deferred)
        stream = BytesIO()
        stream.seek(len(self.builder.Bytes) - self.builder.Head() - 1)
        stream.write(b"\0")  # all of it at once: a stream that grows may move
        self.fill(np.frombuffer(stream.getbuffer(), "u1"))
        return stream.getvalue()

    def fill(self, content: np.ndarray) -> None:
        """Writes the bytes of the finished file into an array of its size."""
        end, head = len(self.builder.Bytes), self.builder.Head()
        tables_bytes, done = np.frombuffer(self.builder.Bytes, "u1"), 0
        for offset, values in reversed(self.deferred):
            start = end - offset - head
            content[done:start] = tables_bytes[head + done : head + start]
            done = start + values.nbytes
            _fill(content[start:done], values)
        content[done:] = tables_bytes[head + done :]

    def table(self, value: Record, name: str, shared: bool = True) -> int:
        """Offset of a table, its fields before it; the entries of a vector are not shared."""
        if type(value).__name__ != name:
            raise ModelError(f"a {name} must be a record of that name, got {value!r:.80}")
        slots: list[Slot] = []
        for field, type_, default, slot, is_offset in _fields(name, self.schema):
            content = getattr(value, field)
            if content is default or (default is not None and content == default):
                continue
            field_path = f"{name}.{field}"
            if type_ in self.schema.UNIONS:
                slots += self.union(content, type_, slot, field_path)
            elif is_offset:
                offset = self.child(value, field, type_, field_path)
                slots.append((4, slot, "offset", offset, 0))
            else:
                scalar = self.schema.ENUM_TYPES.get(type_, type_)
                size = np.dtype(_DTYPES[scalar]).itemsize
                slots.append((size, slot, scalar, _checked(content, scalar, field_path), default))
        slots.sort(key=lambda slot: slot[:2], reverse=True)
        if not shared:
            return self.assemble(name, slots)
        key = (name, *((slot, content) for _, slot, _, content, _ in slots))
        if key not in self.written:
            self.written[key] = self.assemble(name, slots)
        return self.written[key]

    def assemble(self, name: str, slots: Sequence[Slot]) -> int:
        """Offset of a table with these slots."""
        self.builder.StartObject(_n_slots(name, self.schema))
        for _, slot, scalar, content, default in slots:
            _PREPEND[scalar](self.builder, slot, content, default)
        return self.builder.EndObject()

    def union(self, value: Record, union: str, slot: int, field_path: str) -> list[Slot]:
        """The slots of a union: its type, and the table it holds."""
        member = type(value).__name__
        if member not in self.schema.UNIONS[union]:
            raise ModelError(f"{field_path} must be a member of {union}, got {value!r:.80}")
        offset = self.table(value, member)
        type_value = self.schema.UNIONS[union].index(member)
        return [(1, slot, "ubyte", type_value, 0), (4, slot + 1, "offset", offset, 0)]

    def child(self, record: Record, field: str, type_: str, field_path: str) -> int:
        """Offset of what a field of a record points to."""
        content = getattr(record, field)
        inner = type_.strip("[]")
        if type_ == "string":
            return self.text(content, field_path)
        if type_ == inner:
            return self.table(content, inner)
        if inner == "Buffer":
            return self.buffers(content)
        if inner in self.schema.TABLES:
            return self.offsets([self.table(item, inner, shared=False) for item in content])
        if inner == "string":
            return self.offsets([self.text(item, field_path) for item in content])
        dtype = np.dtype(_DTYPES[self.schema.ENUM_TYPES.get(inner, inner)])
        alignment = self.schema.ALIGNMENT.get((type(record).__name__, field), dtype.itemsize)
        return self.numbers(_vector(content, dtype, field_path), alignment)

    def buffers(self, buffers: Sequence[Record]) -> int:
        """Offset of the vector of Buffers, whose tables fill gaps between the aligned constants."""
        contents = [self.content(buffer) for buffer in buffers]
        contents_at = [0] * len(contents)
        tables_at = [0] * len(contents)
        waiting: list[int] = []

        def write_table() -> None:
            index = waiting.pop()
            slots = [(4, 0, "offset", contents_at[index], 0)] if contents_at[index] else []
            tables_at[index] = self.assemble("Buffer", slots)

        for index, content in enumerate(contents):
            if content is not None:
                alignment = _ALIGNMENT if content.nbytes else 1
                gap = -(self.builder.Offset() + content.nbytes) % alignment
                while waiting and gap >= _BUFFER_BYTES:
                    write_table()
                    gap -= _BUFFER_BYTES
                contents_at[index] = self.numbers(content, alignment)
            waiting.append(index)
        while waiting:
            write_table()
        return self.offsets(tables_at)

    def content(self, buffer: Record) -> np.ndarray | None:
        """The bytes of a Buffer record."""
        if type(buffer).__name__ != "Buffer" or buffer.offset or buffer.size:
            raise ModelError(
                f"a Buffer must be a record with its bytes in data, got {buffer!r:.80}"
            )
        data = cast("bytes | np.ndarray | None", buffer.data)
        if isinstance(data, np.ndarray) and not data.flags.c_contiguous:
            return data
        return None if data is None else _vector(data, np.dtype("u1"), "Buffer.data")

    def text(self, value: str, field_path: str) -> int:
        """Offset of a string."""
        if not isinstance(value, str):
            raise ModelError(f"{field_path} must be a str, got {value!r:.80}")
        key = ("string", value)
        if key not in self.written:
            encoded = value.encode("utf-8", "surrogateescape")
            self.written[key] = self.builder.CreateString(encoded)
        return self.written[key]

    def offsets(self, items: list[int]) -> int:
        """Offset of a vector of tables; one without entries is that of no numbers."""
        if not items:
            return self.numbers(np.empty(0, np.int32), 4)
        self.builder.StartVector(4, len(items), 4)
        for item in reversed(items):
            self.builder.PrependUOffsetTRelative(item)
        return self.builder.EndVector()

    def numbers(self, values: np.ndarray, alignment: int) -> int:
        """Offset of a vector of numbers; of an array of several dimensions it holds the bytes."""
        itemsize = values.itemsize if values.ndim == 1 else 1
        key = None
        if values.nbytes <= _SHARED_BYTES:
            key = (values.dtype.str, alignment, values.tobytes())
            if key in self.written:
                return self.written[key]
        builder = self.builder
        builder.StartVector(itemsize, values.nbytes // itemsize, alignment)
        head = builder.Head() - values.nbytes
        builder.head = UOffsetTFlags.py_type(head)
        if values.nbytes >= _LATE_BYTES:
            self.deferred.append((builder.Offset(), values))
        else:
            flat = np.ascontiguousarray(values).reshape(-1).view("u1")
            builder.Bytes[head : head + values.nbytes] = flat.data
        offset = builder.EndVector()
        if key:
            self.written[key] = offset
        return offset


def _fill(content: np.ndarray, values: np.ndarray) -> None:
    """Writes the bytes of an array, and gives back the memory of a file that they are read from."""
    if values.flags.c_contiguous:
        flat = values.reshape(-1).view("u1")
        for start in range(0, len(flat), _CHUNK):
            part = slice(start, start + _CHUNK)
            content[part] = flat[part]
            page_out(flat[part])
    else:
        content.view(values.dtype).reshape(values.shape)[...] = values
    page_out(values)


@cache
def _fields(name: str, schema: Schema) -> tuple[tuple[str, str, tables.Default, int, bool], ...]:
    """(field, type, default, slot, whether it is an offset) of a table of a schema."""
    scalars = _DTYPES.keys() | schema.ENUM_TYPES.keys()
    return tuple(
        (field, type_, default, slot, type_ not in scalars)
        for field, type_, default, slot in schema.TABLES[name]
    )


@cache
def _n_slots(name: str, schema: Schema) -> int:
    """Slots a table has in its vtable, at most."""
    fields = schema.TABLES[name]
    return max((slot + 1 + (type_ in schema.UNIONS) for _, type_, _, slot in fields), default=0)


def _checked(value: float, scalar: str, field_path: str) -> float:
    """A number as its field holds it; ModelError if it does not fit."""
    dtype = np.dtype(_DTYPES[scalar])
    if dtype.kind == "f":
        return float(value)
    number = int(value)
    low, high = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    if not low <= number <= high:
        raise ModelError(f"{field_path} must be in [{low}, {high}], got {value}")
    return number


def _vector(
    values: np.ndarray | list[float] | tuple[float, ...] | bytes | bytearray | memoryview,
    dtype: np.dtype,
    field_path: str,
) -> np.ndarray:
    """A flat array of the element type of a field; ModelError if a value changes by that."""
    if isinstance(values, bytes | bytearray | memoryview):
        values = np.frombuffer(values, "u1")
    array = np.asarray(values)
    flat = np.ascontiguousarray(array.reshape(-1), dtype)
    if array.dtype != dtype and dtype.kind != "f" and not np.array_equal(flat, array.reshape(-1)):
        raise ModelError(f"{field_path} must hold {dtype} numbers, got {array.dtype} {array!r:.80}")
    return flat


def _n_bytes(data: Content | None) -> int:
    """Bytes of a buffer's data, None being none."""
    if isinstance(data, np.ndarray):
        return data.nbytes
    return 0 if data is None else memoryview(data).nbytes
