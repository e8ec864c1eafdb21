"""Checkpoints of version 1: a sorted string table, or one for each shard, with all elements.

The value of the empty key names the tensors and their slices; each slice has a key of its own.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, cast

import numpy as np

from .. import proto
from ..dtypes import tf_dtype, tf_enum
from ..errors import DataLossError, NotFoundError
from ..files import is_file, listed, map_file, write_atomic
from .bundle import FULL_EXTENT, INDEX_SUFFIX, Bundle, Slice, SlicedTensor, open_bundle, slice_key
from .sstable import build_table, read_table

if TYPE_CHECKING:
    from _typeshed import StrPath

    from ..proto import Message
    from .bundle import Saved

CHECKPOINT_VERSION = 1
META_KEY = b""
FIELDS = {
    "float32": "float_val",
    "float64": "double_val",
    "float16": "half_val",
    "int64": "int64_val",
    "bool": "bool_val",
    "object": "string_val",
    "complex64": "scomplex_val",
    "complex128": "dcomplex_val",
    **dict.fromkeys(("uint8", "int8", "int16", "uint16", "int32"), "int_val"),
}
"""Where a TensorProto has the elements of a dtype."""


def open_checkpoint(prefix: StrPath) -> Bundle | SliceTable:
    """The checkpoint of this name, of version 2 or 1.

    Raises:
        NotFoundError: There is no such checkpoint.
        DataLossError: It is damaged.
    """
    path = os.fspath(prefix)
    files = [] if is_file(path + INDEX_SUFFIX) else table_files(path)
    if files:
        return SliceTable(path, files)
    try:
        return open_bundle(path)
    except NotFoundError as error:
        reason = f"Failed to find any matching files for {path}"
        raise NotFoundError(
            None, None, f"Unsuccessful TensorSliceReader constructor: {reason}: {error.message}"
        ) from None


def table_files(prefix: StrPath) -> list[str]:
    """The files of a checkpoint of version 1: of this name, of this pattern, or its shards."""
    path = os.fspath(prefix)
    if is_file(path):
        return [path]
    folder, name = os.path.split(path)
    shards = re.compile(re.escape(name) + r"-\d{5}-of-\d{5}")
    files = [item for item in listed(folder) if shards.fullmatch(item) or fnmatchcase(item, name)]
    return [os.path.join(folder, item) for item in files]


def write_slice_table(path: StrPath, tensors: Mapping[str, Saved]) -> None:
    """Writes a checkpoint of version 1, a file that is there whole or not at all.

    Raises:
        ValueError: A tensor is of a type that it cannot hold.
        OSError: The file cannot be written.
    """
    table = proto.SavedTensorSlices()
    table.meta.versions.producer = CHECKPOINT_VERSION
    entries: dict[bytes, bytes] = {}
    for name, value in tensors.items():
        sliced = value if isinstance(value, SlicedTensor) else _whole(value)
        dtype = sliced.parts[0][1].dtype
        if dtype.name not in FIELDS:
            raise ValueError(
                f"checkpoints of version 1 cannot hold '{name}' of type {dtype}; use version 2"
            )
        row = table.meta.tensor.add(name=name, type=tf_enum(dtype))
        row.shape.SetInParent()
        for size in sliced.shape:
            row.shape.dim.add(size=size)
        for part, elements in sliced.parts:
            extents = _write_slice(row.slice.add(), part)
            entry = proto.SavedTensorSlices()
            entry.data.name = name
            entry.data.slice.CopyFrom(extents)
            _write_elements(entry.data.data, elements)
            entries[slice_key(name, extents)] = entry.SerializeToString(deterministic=True)
    entries[META_KEY] = table.SerializeToString(deterministic=True)
    write_atomic(path, build_table(sorted(entries.items())))


def _whole(value: np.ndarray) -> SlicedTensor:
    """A tensor as one slice that is not cut."""
    part = Slice((0,) * value.ndim, (FULL_EXTENT,) * value.ndim)
    return SlicedTensor(value.shape, ((part, value),))


def _write_slice(message: Message, part: Slice) -> Message:
    for start, size in zip(part.start, part.shape, strict=True):
        extent = message.extent.add()
        if size != FULL_EXTENT:
            extent.start, extent.length = start, size
    return message


def _write_elements(message: Message, elements: np.ndarray) -> None:
    dtype, flat = elements.dtype, np.ascontiguousarray(elements).reshape(-1)
    if dtype == np.float16:
        flat = flat.view(np.uint16)
    elif dtype.kind == "c":
        flat = flat.view(f"f{dtype.itemsize // 2}")
    items = cast("list[bytes | str | float]", flat.tolist())
    if dtype.kind == "O":
        items = [item.encode() if isinstance(item, str) else item for item in items]
    getattr(message, FIELDS[dtype.name]).extend(items)


class SliceTable:
    """The tensors of a checkpoint of version 1 by name."""

    def __init__(self, prefix: str, files: list[str]) -> None:
        self.prefix = prefix
        self._slices: dict[bytes, bytes] = {}
        self._tensors: dict[str, Message] = {}
        for file in files:
            entries = read_table(map_file(file), file)
            for tensor in self._parse(entries.pop(META_KEY, b"")).meta.tensor:
                if tensor.name in self._tensors:
                    self._tensors[tensor.name].slice.extend(tensor.slice)
                else:
                    self._tensors[tensor.name] = tensor
            self._slices |= entries
        if not self._tensors:
            raise self._loss("", "is missing: the file names no tensor")

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __contains__(self, key: str) -> bool:
        return key in self._tensors

    def keys(self) -> list[str]:
        """The names of all tensors, in order."""
        return sorted(self._tensors)

    def shape(self, key: str) -> tuple[int, ...]:
        """The shape of a tensor."""
        return tuple(dim.size for dim in self._tensor(key).shape.dim)

    def dtype(self, key: str) -> np.dtype:
        """The element type of a tensor; strings are objects."""
        try:
            return tf_dtype(self._tensor(key).type)
        except ValueError as error:
            raise self._loss(key, f"has an unknown type ({error})") from None

    def read(self, key: str) -> np.ndarray:
        """A tensor, read-only.

        Raises:
            NotFoundError: There is no such tensor.
            DataLossError: It is damaged.
        """
        shape = self.shape(key)
        if min(shape, default=0) < 0:
            raise self._loss(key, f"must have a known shape, got {shape}")
        parts = [(self._part(extents, key), extents) for extents in self._tensor(key).slice]
        if sum(math.prod(part.shape) for part, _ in parts) != math.prod(shape):
            raise self._loss(key, f"has slices that do not fill its shape {shape}")
        if len({part for part, _ in parts}) != len(parts):
            raise self._loss(key, "has a slice twice")
        arrays = [(part, self._elements(part, extents, key)) for part, extents in parts]
        value = np.zeros(shape, self.dtype(key))
        for part, elements in arrays:
            ends = zip(part.start, part.shape, strict=True)
            value[tuple(slice(start, start + n) for start, n in ends)] = elements
        value.flags.writeable = False
        return value

    def read_slice(self, key: str, part: Slice) -> np.ndarray:
        """A part of a tensor."""
        ends = list(zip(part.start, part.shape, self.shape(key), strict=True))
        if any(start < 0 or start + n > size for start, n, size in ends):
            raise ValueError(f"a slice of '{key}' must lie in its shape {self.shape(key)}")
        return self.read(key)[tuple(slice(start, start + n) for start, n, _ in ends)]

    def _elements(self, part: Slice, extents: Message, key: str) -> np.ndarray:
        """The elements of a slice."""
        content = self._slices.get(slice_key(key, extents))
        if content is None:
            raise self._loss(key, f"has no data for its slice {part}")
        dtype, data = self.dtype(key), self._parse(content).data.data
        if dtype.name not in FIELDS:
            raise self._loss(key, f"has a type that version 1 cannot hold, {dtype}")
        items: list[float] | list[bytes] = list(getattr(data, FIELDS[dtype.name]))
        if dtype == np.float16:
            array = np.array(items, np.uint16).view(np.float16)
        elif dtype.kind == "c":
            array = np.array(items, f"f{dtype.itemsize // 2}").view(dtype)
        else:
            array = np.array(items, dtype)
        if array.size != math.prod(part.shape):
            raise self._loss(key, f"has {array.size} elements for its slice {part}")
        return array.reshape(part.shape)

    def _part(self, extents: Message, key: str) -> Slice:
        """A slice with the sizes of the dimensions that are not cut."""
        shape = self.shape(key)
        if len(extents.extent) != len(shape):
            raise self._loss(key, f"has a slice of {len(extents.extent)} dimensions for {shape}")
        start: tuple[int, ...] = tuple(extent.start for extent in extents.extent)
        lengths: list[int] = [
            e.length if e.HasField("length") else FULL_EXTENT for e in extents.extent
        ]
        sizes = tuple(n if m == FULL_EXTENT else m for n, m in zip(shape, lengths, strict=True))
        if any(a < 0 or m < 0 or a + m > n for a, m, n in zip(start, sizes, shape, strict=True)):
            raise self._loss(key, f"has a slice beyond its shape {shape}")
        return Slice(start, sizes)

    def _tensor(self, key: str) -> Message:
        if key not in self._tensors:
            few = ", ".join(self.keys()[:5])
            raise NotFoundError(
                None,
                None,
                f"Key {key} not found in checkpoint '{self.prefix}'; its tensors are: {few}",
            )
        return self._tensors[key]

    def _parse(self, content: bytes) -> Message:
        try:
            return proto.parse("SavedTensorSlices", content)
        except ValueError as error:
            raise self._loss("", f"has {error}") from None

    def _loss(self, key: str, problem: str) -> DataLossError:
        fix = "the file is damaged or cut, copy or save the checkpoint again"
        return DataLossError(None, None, f"'{self.prefix}': tensor '{key}' {problem}; {fix}")
