"""Record files as `tf.io` has them: their options, a writer, and an iterator of records."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from enum import IntEnum
from types import TracebackType
from typing import TYPE_CHECKING, ClassVar

from . import gfile
from .errors import NotFoundError
from .records import frame, read_records

if TYPE_CHECKING:
    from _typeshed import StrPath


class TFRecordCompressionType(IntEnum):
    """How a record file is compressed."""

    NONE = 0
    ZLIB = 1
    GZIP = 2


class TFRecordOptions:
    """How a record file is compressed.

    Args:
        compression_type: "", "ZLIB", "GZIP", or a TFRecordCompressionType.
        compression_level: 0 to 9, or None for zlib's.
        window_bits, mem_level, compression_strategy: As zlib has them; None for its own.
        flush_mode, compression_method: Those of zlib's that it has by default, or None.
        input_buffer_size, output_buffer_size: Of reading and writing; they change no byte.

    Raises ValueError for another compression type, and for a flush mode or method of its own.
    """

    compression_type_map: ClassVar[dict[TFRecordCompressionType, str]] = {
        TFRecordCompressionType.ZLIB: "ZLIB",
        TFRecordCompressionType.GZIP: "GZIP",
        TFRecordCompressionType.NONE: "",
    }

    def __init__(
        self,
        compression_type: TFRecordCompressionType | str | TFRecordOptions | None = None,
        flush_mode: int | None = None,
        input_buffer_size: int | None = None,
        output_buffer_size: int | None = None,
        window_bits: int | None = None,
        compression_level: int | None = None,
        compression_method: int | None = None,
        mem_level: int | None = None,
        compression_strategy: int | None = None,
    ):
        self.get_compression_type_string(compression_type)
        self.compression_type = compression_type
        self.flush_mode = flush_mode
        self.input_buffer_size = input_buffer_size
        self.output_buffer_size = output_buffer_size
        self.window_bits = window_bits
        self.compression_level = compression_level
        self.compression_method = compression_method
        self.mem_level = mem_level
        self.compression_strategy = compression_strategy
        if flush_mode not in (None, zlib.Z_NO_FLUSH):
            raise ValueError(f"flush_mode must be {zlib.Z_NO_FLUSH} (none), got {flush_mode}")
        if compression_method not in (None, zlib.DEFLATED):
            raise ValueError(
                f"compression_method must be {zlib.DEFLATED}, got {compression_method}"
            )

    @classmethod
    def get_compression_type_string(
        cls, options: TFRecordOptions | TFRecordCompressionType | str | None
    ) -> str:
        """ZLIB, GZIP or nothing; ValueError for anything else."""
        if not options:
            return ""
        if isinstance(options, TFRecordOptions):
            return cls.get_compression_type_string(options.compression_type)
        if isinstance(options, TFRecordCompressionType):
            return cls.compression_type_map[options]
        if options in cls.compression_type_map.values():
            return options
        raise ValueError(f'Not a valid compression_type: "{options}"')

    def compressor(self) -> zlib._Compress | None:
        """What compresses a file, None where nothing does."""
        kind = self.get_compression_type_string(self)
        if not kind:
            return None
        bits = zlib.MAX_WBITS if self.window_bits is None else abs(self.window_bits)
        level, memory, strategy = self.compression_level, self.mem_level, self.compression_strategy
        return zlib.compressobj(
            -1 if level is None else level,
            zlib.DEFLATED,
            bits + 16 if kind == "GZIP" else bits,
            zlib.DEF_MEM_LEVEL if memory is None else memory,
            zlib.Z_DEFAULT_STRATEGY if strategy is None else strategy,
        )


class TFRecordWriter:
    """Writes records to a file, which holds them after `flush` or `close`.

    Args:
        path: Of the file; one that is there is replaced.
        options: How it is compressed.
    """

    def __init__(
        self,
        path: StrPath,
        options: TFRecordOptions | TFRecordCompressionType | str | None = None,
    ):
        if not isinstance(options, TFRecordOptions):
            options = TFRecordOptions(compression_type=options)
        self._compressor = options.compressor()
        self._file: gfile.GFile | None = gfile.GFile(path, "wb")
        self._file.write(b"")

    def write(self, record: bytes) -> None:
        """Adds a record. Raises TypeError for what is no bytes, ValueError when it is closed."""
        if not isinstance(record, (bytes, bytearray, memoryview)):
            raise TypeError(f"a record must be bytes, got {type(record).__name__}")
        content = frame(bytes(record))
        compressor = self._compressor
        self._open().write(content if compressor is None else compressor.compress(content))

    def _open(self) -> gfile.GFile:
        if self._file is None:
            raise ValueError("Writer is closed.")
        return self._file

    def flush(self) -> None:
        """Lets the file hold what was written so far."""
        file = self._open()
        if self._compressor is not None:
            file.write(self._compressor.flush(zlib.Z_SYNC_FLUSH))
        file.flush()

    def close(self) -> None:
        """Ends the file."""
        if self._file is None:
            return
        if self._compressor is not None:
            self._file.write(self._compressor.flush())
        self._file.close()
        self._file = None

    def __enter__(self) -> TFRecordWriter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def tf_record_iterator(
    path: StrPath, options: TFRecordOptions | TFRecordCompressionType | str | None = None
) -> Iterator[bytes]:
    """The records of a file.

    Raises NotFoundError when there is none, DataLossError where a record is cut or changed.
    """
    kind = TFRecordOptions.get_compression_type_string(options)
    local = gfile.local_path(path)
    if not gfile.Exists(local):
        raise NotFoundError(None, None, f"{local}; No such file or directory")
    return read_records(local, kind)
