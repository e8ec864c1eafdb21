"""What a Session does for the ops that read files: whole ones, and readers of their records."""

from __future__ import annotations

import threading
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, cast

import numpy as np

from ....schema import proto
from ....schema.errors import InvalidArgumentError, NotFoundError, UnimplementedError
from ....schema.tensorflow import gfile
from ....schema.tensorflow.records import RECORD_OVERHEAD, read_records
from ..resources import handle_of, resource_kernel, shared
from .queues import queue_of

if TYPE_CHECKING:
    from ...core.graph import Operation
    from ...core.protocols import KernelResult
    from ..state import State

    Record = tuple[bytes, bytes]
    Read = Callable[[bytes], Iterable[Record]]

_WINDOWS = {"ZLIB": zlib.MAX_WBITS, "GZIP": zlib.MAX_WBITS + 16}


def _path(array: np.ndarray, what: str) -> str:
    if array.size != 1:
        words = f"{what} must be scalar, but had shape {list(array.shape)}"
        raise InvalidArgumentError(None, None, words)
    return cast("bytes", array.item()).decode("utf-8", "surrogateescape")


def content_of(path: str | bytes) -> bytes:
    """The bytes of a file; TensorFlow's errors where it cannot be read."""
    with gfile.GFile(path, "rb") as file:
        return cast("bytes", file.read())


def lines_of(content: bytes) -> Iterator[bytes]:
    """Lines without their ends."""
    lines = content.split(b"\n")
    if not lines[-1]:
        lines.pop()
    return (line.replace(b"\r", b"") for line in lines)


def records_of(path: str | bytes, compression: str) -> Iterator[bytes]:
    """The records of a record file; NotFoundError where there is none."""
    local = gfile.local_path(path)
    if not gfile.Exists(local):
        raise NotFoundError(None, None, f"{local}; No such file or directory")
    return read_records(local, compression)


@resource_kernel("ReadFile")
def read_file(op: Operation, state: State, filename: np.ndarray) -> np.ndarray:
    """The content of a file."""
    return np.array(content_of(_path(filename, "Input filename tensor")), object)


@resource_kernel("WriteFile")
def write_file(
    op: Operation, state: State, filename: np.ndarray, contents: np.ndarray
) -> KernelResult:
    """Writes a file; makes its folder, if missing."""
    path = gfile.local_path(_path(filename, "Input filename tensor"))
    folder = path.rpartition("/")[0]
    if folder:
        gfile.MakeDirs(folder)
    if contents.size != 1:
        words = f"Contents tensor must be scalar, but had shape {list(contents.shape)}"
        raise InvalidArgumentError(None, None, words)
    with gfile.GFile(path, "wb") as file:
        file.write(cast("bytes", contents.item()))
    return ()


@resource_kernel("MatchingFiles")
def matching_files(op: Operation, state: State, pattern: np.ndarray) -> np.ndarray:
    """The names of the files that patterns match, sorted."""
    patterns = cast("list[bytes]", pattern.ravel().tolist())
    names: list[str] = []
    for text in patterns:
        names += gfile.Glob(text.decode("utf-8", "surrogateescape"))
    result = np.empty(len(names), object)
    result[:] = sorted(name.encode("utf-8", "surrogateescape") for name in names)
    return result


class Reader:
    """A reader of records: it takes names of files from a queue, one after another.

    Attributes:
        produced: How many records it has given.
        completed: How many files it is done with.
    """

    def __init__(self, label: str, read: Read, has_state: bool):
        self.label, self._read, self.has_state = label, read, has_state
        self.lock = threading.Lock()
        self.reset()

    def reset(self) -> None:
        """As if nothing had been read."""
        self.produced = self.completed = self.started = 0
        self._work: bytes | None = None
        self._records: Iterator[Record] = iter(())

    def open(self, work: bytes) -> None:
        """Begins with the records of a file."""
        self._work, self._records = work, iter(self._read(work))
        self.started += 1

    def next(self) -> Record | None:
        """The next record; None where a file is to be opened."""
        if self._work is None:
            return None
        record = next(self._records, None)
        if record is None:
            self._work = None
            self.completed += 1
            return None
        self.produced += 1
        if self.has_state:  # those that keep a state give one record for each name
            self._work = None
            self.completed += 1
        return record

    def state(self) -> bytes:
        """What `restore` takes; UnimplementedError for a reader that does not keep it."""
        self._require_state("SerializeState")
        message = proto.message("ReaderBaseState")(
            work_started=self.started,
            work_finished=self.completed,
            num_records_produced=self.produced,
            current_work=self._work or b"",
        )
        return message.SerializeToString(deterministic=True)

    def restore(self, state: bytes) -> None:
        """Goes back to a state; InvalidArgumentError for what is none."""
        self._require_state("RestoreState")
        words = f"Could not parse state for {self.label}: {state!r}"
        try:
            message = proto.parse("ReaderBaseState", state)
        except ValueError:
            raise InvalidArgumentError(None, None, words) from None
        numbers = [int(getattr(message, name)) for name in (
            "work_started", "work_finished", "num_records_produced")]  # fmt: skip
        if message.SerializeToString(deterministic=True) != state or min(numbers) < 0:
            raise InvalidArgumentError(None, None, words)
        self.reset()
        self.started, self.completed, self.produced = numbers
        work = bytes(getattr(message, "current_work"))  # noqa: B009 - a field of a message
        if self.started > self.completed:
            self._work, self._records = work, iter(self._read(work))

    def _require_state(self, what: str) -> None:
        if not self.has_state:
            raise UnimplementedError(None, None, f"Reader {what} not implemented")


def _reader(op: Operation, state: State, read: Read, has_state: bool = False) -> np.ndarray:
    kind = op.type.removesuffix("V2")
    label = f"{kind} '{op.name}'"
    return handle_of(shared(op, state, lambda name: Reader(label, read, has_state)))


def _number(op: Operation, name: str) -> int:
    return cast("int", op.get_attr(name))


@resource_kernel("IdentityReader", "IdentityReaderV2")
def identity_reader(op: Operation, state: State) -> np.ndarray:
    """A reader that gives the names themselves."""
    return _reader(op, state, lambda work: [(work, work)], True)


@resource_kernel("WholeFileReader", "WholeFileReaderV2")
def whole_file_reader(op: Operation, state: State) -> np.ndarray:
    """A reader of whole files."""
    return _reader(op, state, lambda work: [(work, content_of(work))], True)


@resource_kernel("TextLineReader", "TextLineReaderV2")
def text_line_reader(op: Operation, state: State) -> np.ndarray:
    """A reader of lines."""
    skipped = _number(op, "skip_header_lines")

    def read(work: bytes) -> Iterator[Record]:
        for number, line in enumerate(lines_of(content_of(work)), 1):
            if number > skipped:
                yield work + b":%d" % number, line

    return _reader(op, state, read)


def unpacked(content: bytes, encoding: str) -> bytes:
    """The content of a file that may be compressed."""
    return zlib.decompress(content, _WINDOWS[encoding]) if encoding in _WINDOWS else content


@resource_kernel("FixedLengthRecordReader", "FixedLengthRecordReaderV2")
def fixed_length_record_reader(op: Operation, state: State) -> np.ndarray:
    """A reader of records of equally many bytes."""
    names = ("header_bytes", "record_bytes", "footer_bytes", "hop_bytes")
    header, size, footer, hop = (_number(op, name) for name in names)
    for name, number in zip(names, (header, size, footer, hop), strict=True):
        if number < 0 or (name == "record_bytes" and not number):
            words = f"{name} must be >= 0 not {number}"
            raise InvalidArgumentError(None, None, words)
    step = hop or size
    encoding = ""
    if op.type == "FixedLengthRecordReaderV2":
        attr = cast("bytes | str", op.get_attr("encoding"))
        encoding = attr.decode() if isinstance(attr, bytes) else attr
        if encoding not in ("", *_WINDOWS):
            words = f"encoding must be one of '', ZLIB, GZIP, got '{encoding}'"
            raise InvalidArgumentError(None, None, words)

    def read(work: bytes) -> Iterator[Record]:
        content = unpacked(content_of(work), encoding)
        last = len(content) - footer - size
        for number, begin in enumerate(range(header, last + 1, step)):
            yield work + b":%d" % number, content[begin : begin + size]

    return _reader(op, state, read)


@resource_kernel("TFRecordReader", "TFRecordReaderV2")
def tf_record_reader(op: Operation, state: State) -> np.ndarray:
    """A reader of record files."""
    attr = cast("bytes | str", op.get_attr("compression_type"))
    compression = attr.decode() if isinstance(attr, bytes) else attr

    def read(work: bytes) -> Iterator[Record]:
        offset = 0
        for record in records_of(work, compression):
            yield work + b":%d" % offset, record
            offset += len(record) + RECORD_OVERHEAD

    return _reader(op, state, read)


def _of_handle(handle: np.ndarray) -> Reader:
    reader = cast("object", handle.item())
    if not isinstance(reader, Reader):
        raise NotFoundError(None, None, "the first input must be the handle of a reader")
    return reader


def _next(op: Operation, state: State, reader: Reader, queue: np.ndarray) -> Record:
    """The next record, of the next file where one has ended."""
    while True:
        record = reader.next()
        if record is not None:
            return record
        (element,) = queue_of(queue).dequeue(1).wait(state.control.check)
        reader.open(cast("bytes", element[0].item()))


@resource_kernel("ReaderRead", "ReaderReadV2")
def reader_read(op: Operation, state: State, handle: np.ndarray, queue: np.ndarray) -> KernelResult:
    """The key and value of the next record."""
    reader = _of_handle(handle)
    with reader.lock:
        record = _next(op, state, reader, queue)
    return [np.array(part, object) for part in record]


@resource_kernel("ReaderReadUpTo", "ReaderReadUpToV2")
def reader_read_up_to(
    op: Operation, state: State, handle: np.ndarray, queue: np.ndarray, count: np.ndarray
) -> KernelResult:
    """Keys and values of the next records of a file, one at least."""
    reader, most = _of_handle(handle), int(count)
    if most <= 0:
        raise InvalidArgumentError(None, None, "num_records must be positive")
    with reader.lock:
        records = [_next(op, state, reader, queue)]
        while len(records) < most:
            record = reader.next()
            if record is None:
                break
            records.append(record)
    columns = [np.empty(len(records), object) for _ in range(2)]
    for column, parts in zip(columns, zip(*records, strict=True), strict=True):
        column[:] = parts
    return columns


@resource_kernel("ReaderNumRecordsProduced", "ReaderNumRecordsProducedV2")
def reader_num_records_produced(op: Operation, state: State, handle: np.ndarray) -> np.ndarray:
    """How many records a reader has given."""
    return np.array(_of_handle(handle).produced, np.int64)


@resource_kernel("ReaderNumWorkUnitsCompleted", "ReaderNumWorkUnitsCompletedV2")
def reader_num_work_units_completed(op: Operation, state: State, handle: np.ndarray) -> np.ndarray:
    """How many files a reader is done with."""
    return np.array(_of_handle(handle).completed, np.int64)


@resource_kernel("ReaderSerializeState", "ReaderSerializeStateV2")
def reader_serialize_state(op: Operation, state: State, handle: np.ndarray) -> np.ndarray:
    """Where a reader is."""
    reader = _of_handle(handle)
    with reader.lock:
        return np.array(reader.state(), object)


@resource_kernel("ReaderRestoreState", "ReaderRestoreStateV2")
def reader_restore_state(
    op: Operation, state: State, handle: np.ndarray, content: np.ndarray
) -> KernelResult:
    """Takes a reader back to where it was."""
    reader = _of_handle(handle)
    with reader.lock:
        reader.restore(cast("bytes", content.item()))
    return ()


@resource_kernel("ReaderReset", "ReaderResetV2")
def reader_reset(op: Operation, state: State, handle: np.ndarray) -> KernelResult:
    """Takes a reader back to the start."""
    reader = _of_handle(handle)
    with reader.lock:
        reader.reset()
    return ()
