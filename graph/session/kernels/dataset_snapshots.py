"""Kernels of `tf.data` that keep elements in folders of record files: `save`, `load`, `snapshot`.

A folder has `snapshot.metadata`, which names a folder of one run; in it each shard has a folder
with files of records, a tensor each. TensorFlow reads and writes the same.
"""

from __future__ import annotations

import contextlib
import secrets
import time
import zlib
from collections.abc import Iterator, Sequence
from itertools import islice
from os.path import join
from typing import TYPE_CHECKING, cast

import numpy as np

from ....schema import files, proto
from ....schema.dtypes import tf_enum
from ....schema.errors import InvalidArgumentError, NotFoundError, UnimplementedError
from ....schema.tensorflow.records import COMPRESSIONS, frame, read_records
from ...format import messages, tensor_proto
from ..datasets import Data, Element, Elements, dataset_kernel, dataset_of, declared
from ..resources import handle_of, resource_kernel
from .element_functions import ElementFunction, function_of

if TYPE_CHECKING:
    from io import FileIO

    from ...core.graph import Operation
    from ...core.protocols import KernelResult
    from ..state import State

_METADATA = "snapshot.metadata"
_VERSION = 2
_FIRST_FILE = "00000000.snapshot"


def _text(array: np.ndarray) -> str:
    return cast("bytes", array.item()).decode("utf-8", "surrogateescape")


def _compression(op: Operation) -> str:
    """The kind of compression; "AUTO" is none."""
    name = cast("bytes", op.get_attr("compression")).decode()
    if name == "SNAPPY":
        words = "files compressed with SNAPPY are not supported; take GZIP, or no compression"
        raise UnimplementedError(None, None, words)
    if name not in (*COMPRESSIONS, "AUTO"):
        words = f"compression must be one of '', GZIP, ZLIB, got '{name}'"
        raise InvalidArgumentError(None, None, words)
    return "" if name == "AUTO" else name


class _Shard:
    """A file that elements are written to."""

    def __init__(self, folder: str, compression: str):
        files.make_folder(folder)
        self._file: FileIO = files.open_new(join(folder, _FIRST_FILE))
        window = COMPRESSIONS[compression]
        self._packer = None if window is None else zlib.compressobj(wbits=window)

    def write(self, element: Element) -> None:
        """Adds the components of an element."""
        content = b"".join(frame(tensor_proto.write(part).SerializeToString()) for part in element)
        files.append(self._file, self._packer.compress(content) if self._packer else content)

    def close(self) -> None:
        """Writes what has not been written."""
        if self._packer is not None:
            files.append(self._file, self._packer.flush())
        self._file.close()


class _Run:
    """A folder that elements are written to, once through a dataset."""

    def __init__(self, op: Operation, folder: str, types: Sequence[np.dtype], fingerprint: str):
        self._folder, self._compression = folder, _compression(op)
        self._types, self._fingerprint = types, fingerprint
        self._name = str(secrets.randbits(63))
        self._shards: dict[int, _Shard] = {}
        self._n = 0
        files.make_folder(join(folder, self._name))
        self._write_metadata(False)

    def write(self, element: Element, shard: int) -> None:
        """Adds an element to a shard."""
        if shard not in self._shards:
            path = join(self._folder, self._name, f"{shard:08d}.shard")
            self._shards[shard] = _Shard(path, self._compression)
        self._shards[shard].write(element)
        self._n += 1

    def close(self, is_whole: bool) -> None:
        """Closes the files; they count from now on if there is no further element."""
        for shard in self._shards.values():
            shard.close()
        if is_whole:
            self._write_metadata(True)

    def _write_metadata(self, is_whole: bool) -> None:
        record = cast("messages.SnapshotMetadata", proto.SnapshotMetadataRecord())
        record.graph_hash, record.run_id = self._fingerprint, self._name
        record.creation_timestamp, record.version = int(time.time() * 1e6), _VERSION
        record.dtype.extend(tf_enum(dtype) for dtype in self._types)
        record.num_elements, record.finalized = self._n, is_whole
        files.write_atomic(join(self._folder, _METADATA), record.SerializeToString())


def _shard_of(function: ElementFunction | None, element: Element) -> int:
    if function is None:
        return 0
    (shard,) = function(element)
    if shard.size != 1:
        raise InvalidArgumentError(None, None, "`shard_func` must return a scalar int64.")
    return int(shard.item())


@resource_kernel("SaveDataset")
def save(
    op: Operation, state: State, source: np.ndarray, path: np.ndarray, *arrays: np.ndarray
) -> KernelResult:
    """Writes all elements."""
    function = None
    if op.get_attr("use_shard_func"):
        function = function_of(op, state, "shard_func", "shard_func_other_args", arrays, 2)
    run: _Run | None = None
    for element in dataset_of(source).elements():
        run = run or _Run(op, _text(path), [part.dtype for part in element], "")
        run.write(element, _shard_of(function, element))
        state.control.check()
    (run or _Run(op, _text(path), [], "")).close(True)
    return ()


def _metadata(folder: str) -> messages.SnapshotMetadata | None:
    """What a folder says of itself; None where there is none."""
    path = join(folder, _METADATA)
    if not files.is_file(path):
        return None
    content = files.read_bytes(path)
    return cast("messages.SnapshotMetadata", proto.parse("SnapshotMetadataRecord", content))


def _read(path: str, compression: str, n: int) -> Elements:
    """The elements of a file."""
    records, reader = read_records(path, compression), tensor_proto.TensorReader()
    while contents := list(islice(records, n)):
        parts = [cast("messages.TensorProto", proto.parse("TensorProto", x)) for x in contents]
        yield tuple(reader.read(part, path) for part in parts)


def _shards(op: Operation, folder: str) -> Data:
    """A dataset of the datasets of a run's shards."""
    compression, n = _compression(op), len(declared(op)[0])

    def shard(name: str) -> Data:
        def elements() -> Elements:
            inner = join(folder, name)
            for file in files.listed(inner):
                yield from _read(join(inner, file), compression, n)

        return Data(elements)

    names = files.listed(folder)
    return Data(lambda: ((_scalar(shard(name)),) for name in names), len(names))


def _scalar(data: Data) -> np.ndarray:
    return handle_of(data)


def _through(reader: ElementFunction, shards: Data) -> Elements:
    return dataset_of(reader((_scalar(shards),))[0]).elements()


@dataset_kernel("LoadDataset")
def load(op: Operation, state: State, path: np.ndarray, *arrays: np.ndarray) -> Data:
    """The elements that a folder has, in the order that a function of its shards gives."""
    folder = _text(path)
    metadata = _metadata(folder)
    if metadata is None:
        raise NotFoundError(None, None, f"Could not find metadata file [{folder}]")
    reader = function_of(op, state, "reader_func", "reader_func_other_args", arrays)
    shards = _shards(op, join(folder, metadata.run_id))
    return Data(lambda: _through(reader, shards), metadata.num_elements)


@dataset_kernel("SnapshotDatasetV2")
def snapshot(
    op: Operation, state: State, source: np.ndarray, path: np.ndarray, *arrays: np.ndarray
) -> Data:
    """The elements, written when one goes through them first and read from then on."""
    data, fingerprint = dataset_of(source), str(cast("int", op.get_attr("hash")) % (1 << 64))
    folder = join(_text(path), fingerprint)
    reader = function_of(op, state, "reader_func", "reader_func_other_args", arrays, 2)
    shard_of = function_of(op, state, "shard_func", "shard_func_other_args", arrays, 2)

    def written() -> Iterator[Element]:
        run, is_whole = _Run(op, folder, declared(op)[0], fingerprint), False
        with contextlib.ExitStack() as stack:
            stack.callback(lambda: run.close(is_whole))
            for element in data.elements():
                run.write(element, _shard_of(shard_of, element))
                yield element
            is_whole = True

    def elements() -> Elements:
        metadata = _metadata(folder)
        if metadata is None or not metadata.finalized:
            return written()
        return _through(reader, _shards(op, join(folder, metadata.run_id)))

    return Data(elements, data.cardinality)
