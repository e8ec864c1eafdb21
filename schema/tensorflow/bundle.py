"""Tensor bundles, the checkpoint format of TensorFlow: an index file and one data file or more.

The index maps the name of a tensor to its type, shape and place; the data files hold elements,
little endian as a rule. A tensor saved in slices has an entry that lists them, and each slice an
entry of its own.
"""

from __future__ import annotations

import errno
import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

from .. import proto
from ..dtypes import RESOURCE, VARIANT, tf_dtype, tf_enum
from ..errors import DataLossError, NotFoundError, ResourceExhaustedError, UnimplementedError
from ..files import listed, map_file, remove, write_atomic
from .records import crc32c, mask_crc32c, masked_crc32c
from .sstable import build_table, read_table, read_varint, varint

if TYPE_CHECKING:
    from _typeshed import StrPath

    from ..proto import Message

HEADER_KEY = b""
INDEX_SUFFIX = ".index"
MAX_RANK = 254
ESCAPES = {0x00: b"\x00\xff", 0xFF: b"\xff\x00"}
FULL = (errno.ENOSPC, errno.EDQUOT)
FULL_EXTENT = -1  # the length of a slice's dimension that is not cut


class Slice(NamedTuple):
    """The part of a tensor that begins at `start` and is `shape` large."""

    start: tuple[int, ...]
    shape: tuple[int, ...]


class SlicedTensor(NamedTuple):
    """Parts of a tensor of `shape`, each with its elements; not all of it, where shards have more.

    A slice has FULL_EXTENT as its size in dimensions that are not cut.
    """

    shape: tuple[int, ...]
    parts: tuple[tuple[Slice, np.ndarray], ...]


Saved: TypeAlias = "np.ndarray | SlicedTensor"
"""What is written of a tensor."""


def open_bundle(prefix: StrPath) -> Bundle:
    """The checkpoint `prefix`, such as "folder/variables" for "folder/variables.index".

    Raises:
        NotFoundError: There is no such checkpoint.
        DataLossError: The index is damaged.
    """
    return Bundle(prefix)


def write_bundle(path: StrPath, *parts: Mapping[str, Saved]) -> None:
    """Writes a checkpoint with one data file for each part, byte for byte as TensorFlow does.

    The index is written last, and all at once: until then the checkpoint that was there before is
    whole, from then on the new one. So the data files of the two must not have the same names; what
    tells them apart is their number, and where it is the same, an empty one is added.

    Raises:
        ResourceExhaustedError: The disk is full. What was there before still is.
        OSError: The folder does not exist or cannot be written to.
    """
    prefix = os.fspath(path)
    if len(parts) == _n_shards(prefix):
        parts = (*parts, {})
    index, contents = build_bundle(*parts)
    files = [data_path(prefix, i, len(parts)) for i in range(len(parts))]
    try:
        for file, content in zip(files, contents, strict=True):
            write_atomic(file, content)
        write_atomic(prefix + INDEX_SUFFIX, index)
    except OSError as error:
        if error.errno not in FULL:
            raise
        needed = len(index) + sum(map(len, contents))
        reason = f"'{prefix}': {error.strerror}, {needed} bytes are needed"
        raise ResourceExhaustedError(None, None, reason) from None
    for file in sorted(set(data_paths(prefix)) - set(files)):
        remove(file)


def _n_shards(prefix: str) -> int:
    """How many data files the checkpoint that is there has; 0 when there is none."""
    try:
        return Bundle(prefix).n_shards
    except (OSError, NotFoundError, DataLossError, UnimplementedError):
        return 0


def build_bundle(*parts: Mapping[str, Saved]) -> tuple[bytes, list[bytes]]:
    """The bytes of the index and of the data files, which hold their tensors in order.

    Slices of one tensor may lie in several parts.
    """
    header = proto.BundleHeaderProto(num_shards=len(parts), version=proto.VersionDef(producer=1))
    entries = [(HEADER_KEY, _serialize(header))]
    sliced: dict[str, Message] = {}
    contents: list[bytes] = []
    for shard, tensors in enumerate(parts):
        data = bytearray()
        for key, value in tensors.items():
            if not isinstance(value, SlicedTensor):
                entries.append((_encode(key), _append(data, np.asarray(value), shard)))
                continue
            for part, elements in value.parts:
                entry = sliced.setdefault(key, _entry_of(elements.dtype, value.shape))
                extents = [_extent(*numbers) for numbers in zip(*part, strict=True)]
                entry.slices.append(proto.TensorSliceProto(extent=extents))
                entries.append((slice_key(key, entry.slices[-1]), _append(data, elements, shard)))
        contents.append(bytes(data))
    entries += [(_encode(key), _serialize(entry)) for key, entry in sliced.items()]
    return build_table(sorted(entries)), contents


def _append(data: bytearray, value: np.ndarray, shard: int) -> bytes:
    """Appends elements to a data file; the entry that says where they are."""
    content, checksum = _string_content(value) if value.dtype.kind == "O" else _content(value)
    entry = _entry_of(value.dtype, value.shape)
    entry.shard_id, entry.offset, entry.size = shard, len(data), len(content)
    entry.crc32c = checksum
    data += content
    return _serialize(entry)


def _entry_of(dtype: np.dtype, shape: tuple[int, ...]) -> Message:
    entry = proto.BundleEntryProto(dtype=tf_enum(dtype))
    entry.shape.SetInParent()
    entry.shape.dim.extend(proto.TensorShapeProto.Dim(size=n) for n in shape)
    return entry


def _extent(start: int, length: int) -> Message:
    """A slice in one dimension; nothing is said of one that is not cut."""
    if length == FULL_EXTENT:
        return proto.TensorSliceProto.Extent()
    return proto.TensorSliceProto.Extent(start=start, length=length)


def remove_bundle(path: StrPath) -> None:
    """Removes the files of a checkpoint, the index first; nothing happens when there is none."""
    prefix = os.fspath(path)
    remove(prefix + INDEX_SUFFIX)
    for file in data_paths(prefix):
        remove(file)


def data_paths(prefix: str) -> list[str]:
    """The data files that there are with the names of a checkpoint's."""
    folder, name = os.path.split(prefix)
    pattern = re.compile(re.escape(name) + r"\.data-\d{5}-of-\d{5}")
    return sorted(os.path.join(folder, item) for item in listed(folder) if pattern.fullmatch(item))


def data_path(prefix: str, shard: int, n_shards: int) -> str:
    """The name of one of the data files of a checkpoint."""
    return f"{prefix}.data-{shard:05d}-of-{n_shards:05d}"


class Bundle:
    """The tensors of a checkpoint by name; each is read and checked when it is asked for."""

    def __init__(self, prefix: StrPath) -> None:
        self.prefix = os.fspath(prefix)
        self.index = self.prefix + INDEX_SUFFIX
        self._shards: dict[int, memoryview] = {}
        try:
            content = map_file(self.index)
        except FileNotFoundError:
            raise self._tensor_not_found() from None
        self._entries = read_table(content, self.index)
        header = self._parse("BundleHeaderProto", HEADER_KEY)
        self.n_shards: int = header.num_shards
        self._order: Literal["big", "little"] = (
            "big" if header.endianness == header.BIG else "little"
        )

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def keys(self) -> list[str]:
        """The names of all tensors, in order."""
        named = (key for key in self._entries if key != HEADER_KEY and not key.startswith(b"\0"))
        return [key.decode("utf-8", "surrogateescape") for key in named]

    def keys_by_offset(self) -> list[str]:
        """The names of all tensors in the order in which their elements lie in the data files."""
        return sorted(self.keys(), key=self._offset)

    def _offset(self, key: str) -> tuple[int, int]:
        """The data file and the place in it where the elements of a tensor begin."""
        entry = self._entry(key)
        if entry.slices:
            entry = self._slice_entry(entry, key, 0)
        return entry.shard_id, entry.offset

    def __contains__(self, key: str) -> bool:
        return bool(key) and _encode(key) in self._entries

    def shape(self, key: str) -> tuple[int, ...]:
        """The shape of a tensor."""
        return self._shape(self._entry(key), key)

    def dtype(self, key: str) -> np.dtype:
        """The element type of a tensor; strings are objects."""
        return self._dtype(self._entry(key), key)

    def read(self, key: str) -> np.ndarray:
        """A tensor, read-only; where the file allows it, a view of the mapped file.

        Raises:
            NotFoundError: There is no such tensor, or its data file is missing.
            DataLossError: The entry or the data of the tensor is damaged.
        """
        entry = self._entry(key)
        value = self._assemble(entry, key) if entry.slices else self._value(entry, key)
        value.flags.writeable = False
        return value

    def read_saved(self, key: str) -> Saved:
        """A tensor as it was saved; where that was in slices, those that are there."""
        entry = self._entry(key)
        if not entry.slices:
            return self.read(key)
        shape = self._shape(entry, key)
        parts: list[tuple[Slice, np.ndarray]] = []
        for i, extents in enumerate(entry.slices):
            start: tuple[int, ...] = tuple(extent.start for extent in extents.extent)
            lengths = tuple(_length(extent) for extent in extents.extent)
            parts.append((Slice(start, lengths), self._slice(entry, key, i)))
        return SlicedTensor(shape, tuple(parts))

    def read_slice(self, key: str, part: Slice) -> np.ndarray:
        """A part of a tensor; of the tensors saved in slices only what is needed is read."""
        entry = self._entry(key)
        shape = self._shape(entry, key)
        if not _fits(part, shape):
            raise ValueError(
                f"a slice of '{key}' must lie in its shape {shape}, "
                f"got start {part.start} and shape {part.shape}"
            )
        parts = [self._part(extents, shape, key) for extents in entry.slices]
        if part in parts:
            return self._slice(entry, key, parts.index(part))
        return self.read(key)[_indices(part)]

    def _assemble(self, entry: Message, key: str) -> np.ndarray:
        """A tensor that was saved in slices."""
        shape = self._shape(entry, key)
        parts = [self._part(extents, shape, key) for extents in entry.slices]
        if problem := _misfit(parts, shape):
            raise self._loss(key, problem)
        slices = [self._slice(entry, key, i) for i in range(len(parts))]
        # Entries that share bytes could make a small file a tensor larger than memory.
        n_bytes, limit = sum(part.nbytes for part in slices), sum(map(len, self._shards.values()))
        if n_bytes > limit and slices[0].dtype.kind != "O":
            raise self._loss(key, f"has slices of {n_bytes} bytes in data files of {limit}")
        value = np.empty(shape, slices[0].dtype)
        for part, elements in zip(parts, slices, strict=True):
            value[_indices(part)] = elements
        return value

    def _slice(self, tensor_entry: Message, key: str, i: int) -> np.ndarray:
        """The i-th slice of a tensor that was saved in slices."""
        entry = self._slice_entry(tensor_entry, key, i)
        part = self._part(tensor_entry.slices[i], self._shape(tensor_entry, key), key)
        if self._shape(entry, key) != part.shape or entry.dtype != tensor_entry.dtype:
            raise self._loss(key, f"has a slice {i} of another type or shape than it says")
        return self._value(entry, key)

    def _slice_entry(self, tensor_entry: Message, key: str, i: int) -> Message:
        name = slice_key(key, tensor_entry.slices[i])
        if name not in self._entries:
            raise self._loss(key, f"has no data for slice {i}")
        return self._parse("BundleEntryProto", name)

    def _value(self, entry: Message, key: str) -> np.ndarray:
        shape, dtype = self._shape(entry, key), self._dtype(entry, key)
        data = self._data(entry, key)
        if dtype.kind == "O":
            return self._strings(data, entry.crc32c, shape, key)
        if entry.size != math.prod(shape) * dtype.itemsize:
            raise self._loss(key, f"has {entry.size} bytes for shape {shape} of {dtype}")
        if masked_crc32c(data) != entry.crc32c:
            raise self._loss(key, "has data with a wrong checksum")
        if self._order == "big" and dtype.itemsize > 1:
            return _swapped(data, dtype).reshape(shape)
        value = np.frombuffer(data, dtype).reshape(shape)
        return value if value.flags.aligned else value.copy()

    def _strings(
        self, data: memoryview, checksum: int, shape: tuple[int, ...], key: str
    ) -> np.ndarray:
        """String elements: all lengths, a checksum of the lengths, and all bytes."""
        n = math.prod(shape)
        if n > len(data):
            raise self._loss(key, f"has {len(data)} bytes for {n} strings")
        lengths: list[int] = []
        position = 0
        for _ in range(n):
            length, position = read_varint(data, position, self.prefix)
            lengths.append(length)
        length_checksum = bytes(data[position : position + 4])
        position += 4
        so_far = crc32c(_fixed_lengths(lengths, self._order))
        if mask_crc32c(so_far) != int.from_bytes(length_checksum, self._order):
            raise self._loss(key, "has string lengths with a wrong checksum")
        if mask_crc32c(crc32c(data[position:], crc32c(length_checksum, so_far))) != checksum:
            raise self._loss(key, "has strings with a wrong checksum")
        if sum(lengths) != len(data) - position:
            raise self._loss(key, f"has {len(data) - position} bytes for {sum(lengths)} in strings")
        value = np.empty(n, object)
        for i, length in enumerate(lengths):
            value[i] = bytes(data[position : position + length])
            position += length
        return value.reshape(shape)

    def _data(self, entry: Message, key: str) -> memoryview:
        """The bytes of an entry."""
        shard = entry.shard_id
        if not 0 <= shard < self.n_shards:
            raise self._loss(key, f"must lie in one of {self.n_shards} data files, got {shard}")
        if shard not in self._shards:
            path = data_path(self.prefix, shard, self.n_shards)
            try:
                self._shards[shard] = map_file(path)
            except FileNotFoundError:
                raise NotFoundError(
                    None,
                    None,
                    f"'{path}', which holds tensor '{key}', does not exist; copy all files of the "
                    f"checkpoint '{self.prefix}', the .data-* files too",
                ) from None
        content = self._shards[shard]
        end = entry.offset + entry.size
        if not 0 <= entry.offset <= end <= len(content):
            problem = (
                f"must lie in [0, {len(content)}) of its data file, got [{entry.offset}, {end})"
            )
            raise self._loss(key, problem)
        return content[entry.offset : end]

    def _entry(self, key: str) -> Message:
        if key not in self:
            keys = self.keys()
            few = ", ".join(keys[:5]) + (", ..." if len(keys) > 5 else "")
            raise NotFoundError(
                None,
                None,
                f"Key {key} not found in checkpoint '{self.prefix}'; its {len(keys)} are: {few}",
            )
        return self._parse("BundleEntryProto", _encode(key))

    def _parse(self, message: str, key: bytes) -> Message:
        try:
            return proto.parse(message, self._entries[key])
        except KeyError:
            raise self._loss("", "must be the first key, and is missing") from None
        except ValueError as error:
            raise self._loss(key.decode("utf-8", "backslashreplace"), f"has {error}") from None

    def _shape(self, entry: Message, key: str) -> tuple[int, ...]:
        shape: tuple[int, ...] = tuple(dim.size for dim in entry.shape.dim)
        if entry.shape.unknown_rank or len(shape) > MAX_RANK or min(shape, default=0) < 0:
            raise self._loss(key, f"must have a known shape, got {shape}")
        return shape

    def _dtype(self, entry: Message, key: str) -> np.dtype:
        try:
            dtype = tf_dtype(entry.dtype)
        except ValueError as error:
            raise self._loss(key, f"has an unknown type ({error})") from None
        if dtype in (RESOURCE, VARIANT):
            raise UnimplementedError(
                None, None, f"'{self.prefix}': tensor '{key}' is a resource or variant, not values"
            )
        return dtype

    def _part(self, proto_slice: Message, shape: tuple[int, ...], key: str) -> Slice:
        """A stored slice of a tensor with `shape`."""
        start: tuple[int, ...] = tuple(extent.start for extent in proto_slice.extent)
        lengths = tuple(_length(extent) for extent in proto_slice.extent)
        if len(lengths) != len(shape):
            raise self._loss(key, f"has a slice of {len(lengths)} dimensions for shape {shape}")
        sizes = (
            n if length == FULL_EXTENT else length for n, length in zip(shape, lengths, strict=True)
        )
        part = Slice(start, tuple(sizes))
        if not _fits(part, shape):
            raise self._loss(key, f"has a slice {part} beyond shape {shape}")
        return part

    def _loss(self, key: str, problem: str) -> DataLossError:
        fix = "the file is damaged or cut, copy or save the checkpoint again"
        return DataLossError(None, None, f"'{self.index}': tensor '{key}' {problem}; {fix}")

    def _tensor_not_found(self) -> NotFoundError:
        folder = Path(self.prefix).parent
        there = sorted(path.name[: -len(INDEX_SUFFIX)] for path in folder.glob(f"*{INDEX_SUFFIX}"))
        hint = f"the folder holds {', '.join(there) or 'no checkpoint, copy it whole'}"
        return NotFoundError(None, None, f"'{self.index}' does not exist; {hint}")


def slice_key(name: str, proto_slice: Message) -> bytes:
    """The key of a slice's own entry: numbers and strings written so that bytes sort as they do."""
    escaped = b"".join(ESCAPES.get(byte, bytes([byte])) for byte in _encode(name))
    extents = (_ordered(extent.start) + _ordered(_length(extent)) for extent in proto_slice.extent)
    return b"\0" + escaped + b"\0\1" + _ordered_count(len(proto_slice.extent)) + b"".join(extents)


def _content(value: np.ndarray) -> tuple[bytes, int]:
    """The bytes of a tensor's elements and their masked checksum."""
    content = np.ascontiguousarray(value).tobytes()
    return content, masked_crc32c(content)


def _string_content(value: np.ndarray) -> tuple[bytes, int]:
    """The same for strings; see Bundle._strings."""
    strings = [s.encode() if isinstance(s, str) else bytes(s) for s in value.ravel().tolist()]
    so_far = crc32c(_fixed_lengths(map(len, strings), "little"))
    length_checksum = mask_crc32c(so_far).to_bytes(4, "little")
    content = b"".join(strings)
    checksum = mask_crc32c(crc32c(content, crc32c(length_checksum, so_far)))
    return b"".join(map(varint, map(len, strings))) + length_checksum + content, checksum


def _fixed_lengths(lengths: Iterable[int], order: Literal["big", "little"]) -> bytes:
    """The form of string lengths that a checksum is made of."""
    return b"".join(n.to_bytes(4 if n < 1 << 32 else 8, order) for n in lengths)


def _ordered_count(number: int) -> bytes:
    """A natural number as its length in bytes and its bytes, the highest first."""
    size = (number.bit_length() + 7) // 8
    return bytes([size]) + number.to_bytes(size, "big")


def _ordered(number: int) -> bytes:
    """A number with 7 bits in each byte, after as many high bits (ones if positive) as bytes."""
    magnitude = ~number if number < 0 else number
    size = magnitude.bit_length() // 7 + 1
    header = ((1 << size) - 1) << (7 * size)
    return ((number & ((1 << 8 * size) - 1)) ^ header).to_bytes(size, "big")


def _length(extent: Message) -> int:
    return extent.length if extent.HasField("length") else FULL_EXTENT


def _fits(part: Slice, shape: tuple[int, ...]) -> bool:
    if not len(part.start) == len(part.shape) == len(shape):
        return False
    limits = zip(part.start, part.shape, shape, strict=True)
    return all(start >= 0 and n >= 0 and start + n <= limit for start, n, limit in limits)


def _indices(part: Slice) -> tuple[slice, ...]:
    ends = zip(part.start, part.shape, strict=True)
    return tuple(slice(start, start + n) for start, n in ends)


def _misfit(parts: list[Slice], shape: tuple[int, ...]) -> str:
    """How the parts fail to fill the shape, each element once; empty when they do."""
    if sum(math.prod(part.shape) for part in parts) != math.prod(shape):
        return f"has slices that do not fill its shape {shape}"
    starts = np.array([part.start for part in parts])
    ends = starts + np.array([part.shape for part in parts])
    for i in range(1, len(parts)):
        if np.any(np.all((starts[i] < ends[:i]) & (starts[:i] < ends[i]), axis=1)):
            return f"has a slice {i} that overlaps another one"
    return ""


def _swapped(data: memoryview, dtype: np.dtype) -> np.ndarray:
    """Big-endian elements in the order of this machine's little-endian ones."""
    size = dtype.itemsize // (2 if dtype.kind == "c" else 1)
    return np.frombuffer(data, f">u{size}").astype(f"<u{size}").view(dtype)


def _serialize(message: Message) -> bytes:
    return message.SerializeToString(deterministic=True)


def _encode(key: str) -> bytes:
    return key.encode("utf-8", "surrogateescape")
