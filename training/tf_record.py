"""Files of records: `tf.python_io`, `tf.io.TFRecordWriter`.

schema/tensorflow/records.py says how a record lies in a file.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..errors import FailedPreconditionError
from ..schema.tensorflow.gfile import GFile, local_path, translated
from ..schema.tensorflow.records import COMPRESSIONS, RecordIterator, frame

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any

    from _typeshed import StrPath


class TFRecordCompressionType:
    """How a file of records is compressed."""

    NONE = 0
    ZLIB = 1
    GZIP = 2


class TFRecordOptions:
    """How a file of records is compressed, and how hard.

    Args:
        compression_type: "GZIP", "ZLIB", "" for none, one of TFRecordCompressionType, or other
            options, whose kind is taken; None is none.
        flush_mode: zlib's, when the writer flushes; None is zlib.Z_SYNC_FLUSH.
        input_buffer_size: not looked at, as the next one.
        output_buffer_size: see above.
        window_bits: the logarithm of the window's size, 9 to 15, negative for a stream without a
            header; None is 15, with a header of the kind.
        compression_level: 0 to 9, None is zlib's choice.
        compression_method: not looked at: there is one.
        mem_level: 1 to 9, None is 8.
        compression_strategy: zlib's, None is the default one.

    Raises:
        ValueError: the kind is not known, or a number is out of range.
    """

    compression_type_map = {  # noqa: RUF012 (a public attribute of TensorFlow's)
        TFRecordCompressionType.ZLIB: "ZLIB",
        TFRecordCompressionType.GZIP: "GZIP",
        TFRecordCompressionType.NONE: "",
    }

    def __init__(
        self,
        compression_type: str | int | TFRecordOptions | None = None,
        flush_mode: int | None = None,
        input_buffer_size: int | None = None,
        output_buffer_size: int | None = None,
        window_bits: int | None = None,
        compression_level: int | None = None,
        compression_method: int | None = None,
        mem_level: int | None = None,
        compression_strategy: int | None = None,
    ) -> None:
        self.compression_type = self.get_compression_type_string(compression_type)
        self.flush_mode = flush_mode
        self.input_buffer_size = input_buffer_size
        self.output_buffer_size = output_buffer_size
        self.window_bits = window_bits
        self.compression_level = compression_level
        self.compression_method = compression_method
        self.mem_level = mem_level
        self.compression_strategy = compression_strategy

    @classmethod
    def get_compression_type_string(cls, options: str | int | TFRecordOptions | None) -> str:
        """The kind that options, a name or a number stand for: "GZIP", "ZLIB" or ""."""
        if isinstance(options, TFRecordOptions):
            return options.compression_type
        kind = options or ""
        if isinstance(kind, int):
            kind = cls.compression_type_map.get(kind)
        if kind not in COMPRESSIONS:
            raise ValueError(f'Not a valid compression_type: "{options}"')
        return kind

    def compressor(self) -> Any:
        """zlib's object that compresses as these say, None for no compression.

        Raises:
            ValueError: zlib refuses the numbers.
        """
        default = COMPRESSIONS[self.compression_type]
        if default is None:
            return None
        try:
            return zlib.compressobj(
                -1 if self.compression_level is None else self.compression_level,
                zlib.DEFLATED,
                default if self.window_bits is None else self.window_bits,
                zlib.DEF_MEM_LEVEL if self.mem_level is None else self.mem_level,
                self.compression_strategy or zlib.Z_DEFAULT_STRATEGY,
            )
        except (ValueError, zlib.error) as error:
            raise ValueError(
                f"zlib refuses compression_level={self.compression_level}, "
                f"window_bits={self.window_bits}, mem_level={self.mem_level}, "
                f"compression_strategy={self.compression_strategy}: {error}"
            ) from None


class TFRecordWriter:
    """Writes records to a file, one after the other; `with` closes it.

    Args:
        path: the file; one that is there is replaced.
        options: TFRecordOptions, or the kind of compression.

    Raises:
        ValueError: the kind of compression is not known.
        errors.OpError: the file cannot be made (NotFoundError, PermissionDeniedError ...).
    """

    def __init__(
        self, path: StrPath | bytes, options: str | int | TFRecordOptions | None = None
    ) -> None:
        if not isinstance(options, TFRecordOptions):
            options = TFRecordOptions(options)
        self._options = options
        self._packer = options.compressor()
        self._file: GFile | None = GFile(path, "wb")
        self._file.write(b"")  # opens it

    def __enter__(self) -> TFRecordWriter:
        """Itself."""
        return self

    def __exit__(
        self,
        unused_type: type[BaseException] | None,
        unused_value: BaseException | None,
        unused_traceback: TracebackType | None,
    ) -> None:
        """Closes the file."""
        self.close()

    def _open_file(self) -> GFile:
        if self._file is None:
            raise FailedPreconditionError(None, None, "Writer is closed.")
        return self._file

    def write(self, record: bytes | str) -> None:
        """Writes bytes, or text in UTF-8, as one record.

        Raises:
            TypeError: it is neither.
            errors.FailedPreconditionError: the file is closed.
        """
        file = self._open_file()
        content = record.encode() if isinstance(record, str) else record
        if not isinstance(content, (bytes, bytearray, memoryview)):
            raise TypeError(f"record must be bytes or text, got {type(record).__name__}")
        framed = frame(bytes(content))
        file.write(framed if self._packer is None else self._packer.compress(framed))

    def flush(self) -> None:
        """Hands all records to the operating system."""
        file = self._open_file()
        if self._packer is not None:
            mode = self._options.flush_mode
            file.write(self._packer.flush(zlib.Z_SYNC_FLUSH if mode is None else mode))
        file.flush()

    def close(self) -> None:
        """Ends the file; once more does nothing."""
        if self._file is None:
            return
        file, self._file = self._file, None
        if self._packer is not None:
            file.write(self._packer.flush())
        file.close()


def tf_record_iterator(
    path: StrPath | bytes, options: str | int | TFRecordOptions | None = None
) -> Iterator[bytes]:
    """The records of a file, in order.

    Args:
        path: the file.
        options: TFRecordOptions, or the kind of compression.

    Raises:
        ValueError: the kind of compression is not known.
        errors.NotFoundError: there is no such file.
        errors.DataLossError: a record is cut or damaged; those before it have been given.

    After the last record, or an error, it may be asked again: for what was written since.
    """
    compression = TFRecordOptions.get_compression_type_string(options)
    return _Records(local_path(path), compression)


class _Records(RecordIterator):
    """Records of a file, whose errors are TensorFlow's."""

    def __init__(self, path: str, compression: str) -> None:
        self._file = path
        super().__init__(path, compression)

    def __next__(self) -> bytes:
        with translated(self._file):
            return super().__next__()
