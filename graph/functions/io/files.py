"""Files as tensors, and readers that take names of files from a queue and give their records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, cast

import numpy as np

from ...core.build import ops
from ...core.create import convert_to_tensor
from ...core.graph import Operation, Tensor
from ...core.hooks import implementation
from ...core.named_results import with_names
from ...core.scopes import name_scope
from ..rows import functions

if TYPE_CHECKING:
    from ...core.typing import TensorLike
    from ...variables.variables import Variable

ONE_TO_ONE = """
matching_files MatchingFiles pattern \
    # The names of the files that match a pattern of the shell, sorted
read_file      ReadFile      filename # The bytes of a file; NotFoundError when there is none
"""
globals().update(functions(ONE_TO_ONE, __name__))
LOCAL_VARIABLES = "local_variables"


class _Queue(Protocol):
    @property
    def queue_ref(self) -> Tensor:
        """The tensor that stands for the queue."""
        ...


def write_file(filename: TensorLike, contents: TensorLike, name: str | None = None) -> Operation:
    """Writes a file, and makes the folders it lies in.

    Args:
        filename: Its name, a scalar of strings.
        contents: What it holds afterwards, a scalar of strings.
        name: Of the operation.
    """
    return ops.WriteFile(filename, contents, name=name)


def match_filenames_once(pattern: TensorLike, name: str | None = None) -> Variable:
    """A local variable with the names of the files that match when it is initialized.

    Args:
        pattern: Patterns with * and ?, a scalar or vector of strings.
        name: Of the operations.
    """
    with name_scope(name, "matching_filenames", [pattern]) as scope:
        names = ops.MatchingFiles(pattern)
        variable = implementation("variable_kind")(False)
        return variable(
            initial_value=names, trainable=False, collections=[LOCAL_VARIABLES], name=scope,
            validate_shape=False,
        )  # fmt: skip


class ReaderBase:
    """A reader of records: it takes the names of files from a queue.

    Args:
        reader_ref: The tensor that stands for the reader.
        supports_serialize: Whether it can say where it is.
    """

    def __init__(self, reader_ref: Tensor, supports_serialize: bool = False):
        self._reader_ref = reader_ref
        self._supports_serialize = supports_serialize

    @property
    def reader_ref(self) -> Tensor:
        """The tensor that stands for the reader."""
        return self._reader_ref

    @property
    def supports_serialize(self) -> bool:
        """Whether it can say where it is."""
        return self._supports_serialize

    @with_names("ReaderReadV2")
    def read(self, queue: _Queue | Tensor, name: str | None = None) -> list[Tensor]:
        """Key and value of the next record; where a file has ended, of the next one in the queue.

        Raises OutOfRangeError, when it runs, when the queue is closed and empty.
        """
        handle = queue if isinstance(queue, Tensor) else queue.queue_ref
        return ops.ReaderReadV2(self._reader_ref, handle, name=name)

    @with_names("ReaderReadUpToV2")
    def read_up_to(
        self, queue: _Queue | Tensor, num_records: TensorLike, name: str | None = None
    ) -> list[Tensor]:
        """Keys and values of the next records of the files whose names `queue` gives.

        `num_records` says how many at most; one at least.
        """
        handle = queue if isinstance(queue, Tensor) else queue.queue_ref
        count = convert_to_tensor(num_records, np.int64)
        return ops.ReaderReadUpToV2(self._reader_ref, handle, count, name=name)

    def num_records_produced(self, name: str | None = None) -> Tensor:
        """How many records it has given."""
        return ops.ReaderNumRecordsProducedV2(self._reader_ref, name=name)

    def num_work_units_completed(self, name: str | None = None) -> Tensor:
        """How many files it is done with."""
        return ops.ReaderNumWorkUnitsCompletedV2(self._reader_ref, name=name)

    def serialize_state(self, name: str | None = None) -> Tensor:
        """Where it is; UnimplementedError, when it runs, for readers that do not say it."""
        return ops.ReaderSerializeStateV2(self._reader_ref, name=name)

    def restore_state(self, state: TensorLike, name: str | None = None) -> Operation:
        """Takes it back to where it was: `state` is what serialize_state gave."""
        return ops.ReaderRestoreStateV2(self._reader_ref, state, name=name)

    def reset(self, name: str | None = None) -> Operation:
        """Takes it back to the start."""
        return ops.ReaderResetV2(self._reader_ref, name=name)


class IdentityReader(ReaderBase):
    """A reader that gives the names themselves, as key and value."""

    def __init__(self, name: str | None = None):
        super().__init__(ops.IdentityReaderV2(name=name), True)


class WholeFileReader(ReaderBase):
    """A reader of whole files: the key is the name, the value the content."""

    def __init__(self, name: str | None = None):
        super().__init__(ops.WholeFileReaderV2(name=name), True)


class TextLineReader(ReaderBase):
    """A reader of lines, without what ends them.

    Args:
        skip_header_lines: How many lines at the start of each file are left out.
        name: Of the operation.
    """

    def __init__(self, skip_header_lines: int | None = None, name: str | None = None):
        skipped = skip_header_lines or 0
        super().__init__(ops.TextLineReaderV2(skip_header_lines=skipped, name=name))


class FixedLengthRecordReader(ReaderBase):
    """A reader of records of equally many bytes.

    Args:
        record_bytes: Of a record.
        header_bytes, footer_bytes: At both ends of each file, that are left out.
        hop_bytes: From a record to the next; `record_bytes` by default.
        name: Of the operation.
        encoding: "", "ZLIB" or "GZIP".
    """

    def __init__(
        self,
        record_bytes: int,
        header_bytes: int | None = None,
        footer_bytes: int | None = None,
        hop_bytes: int | None = None,
        name: str | None = None,
        encoding: str | None = None,
    ):
        handle = ops.FixedLengthRecordReaderV2(
            record_bytes=record_bytes,
            header_bytes=header_bytes or 0,
            footer_bytes=footer_bytes or 0,
            hop_bytes=hop_bytes or 0,
            encoding=encoding or "",
            name=name,
        )
        super().__init__(handle)


class TFRecordReader(ReaderBase):
    """A reader of record files.

    Args:
        name: Of the operation.
        options: How they are compressed.
    """

    def __init__(self, name: str | None = None, options: object = None):
        handle = ops.TFRecordReaderV2(compression_type=_compression(options), name=name)
        super().__init__(handle)


def _compression(options: object) -> str:
    """The compression that TFRecordOptions, or a type of its own, name; ValueError for another."""
    inner = getattr(options, "compression_type", options)
    if inner is not options:
        return _compression(inner)
    kinds = {None: "", 0: "", 1: "ZLIB", 2: "GZIP", "": "", "ZLIB": "ZLIB", "GZIP": "GZIP"}
    if options not in kinds:
        raise ValueError(f'Not a valid compression_type: "{options}"')
    return kinds[cast("str", options)]
