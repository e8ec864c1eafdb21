"""Datasets of what files hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...graph.core.build import ops
from ...graph.core.composite.type_specs import TensorSpec
from ...graph.core.create import convert_to_tensor, create
from .base import int64
from .dataset import Dataset

if TYPE_CHECKING:
    from ...graph.core.graph import Tensor
    from ...graph.core.typing import TensorLike

_STRING = TensorSpec([], np.dtype(object))
_BUFFER = 256 * 1024


class _FileDataset(Dataset):
    """The records of files, one file after the other."""

    def __init__(
        self, kind: str, filenames: TensorLike | Dataset, options: list[Tensor], name: str | None
    ):
        if isinstance(filenames, Dataset):
            if filenames.element_spec != _STRING and not _is_strings(filenames.element_spec):
                raise TypeError(
                    "The `filenames` argument must contain `tf.string` elements. Got a dataset of "
                    f"{filenames.element_spec} elements."
                )
            files = filenames.flat_map(
                lambda path: Dataset(create(kind, [path, *options]).outputs[0], _STRING)
            )
            super().__init__(files.variant_tensor, _STRING)
            return
        paths = convert_to_tensor(filenames, np.dtype(object), name="filenames")
        flat = ops.Reshape(paths, np.array([-1], np.int32), name="flat_filenames")
        super().__init__(create(kind, [flat, *options], None, name).outputs[0], _STRING)


def _is_strings(spec: object) -> bool:
    return isinstance(spec, TensorSpec) and spec.dtype == np.dtype(object)


def _text(value: TensorLike | None) -> Tensor:
    return convert_to_tensor(b"" if value is None else value, np.dtype(object), name="compression")


class _RecordDataset(_FileDataset):
    """Records that say themselves where they end."""

    kind = ""
    """The operation."""

    def __init__(
        self,
        filenames: TensorLike | Dataset,
        compression_type: TensorLike | None = None,
        buffer_size: TensorLike | None = None,
        num_parallel_reads: TensorLike | None = None,
        name: str | None = None,
    ):
        options = [_text(compression_type), int64(_BUFFER if buffer_size is None else buffer_size)]
        super().__init__(self.kind, filenames, options, name)


class TextLineDataset(_RecordDataset):
    """The lines of files, without their ends.

    Args:
        filenames: A string or strings, or a dataset of them.
        compression_type: "", "ZLIB" or "GZIP".
        buffer_size, num_parallel_reads: Taken for TensorFlow's sake.
        name: Of the operation.
    """

    kind = "TextLineDataset"


class TFRecordDataset(_RecordDataset):
    """The records of record files, as TFRecordWriter writes them.

    Args:
        filenames: A string or strings, or a dataset of them.
        compression_type: "", "ZLIB" or "GZIP".
        buffer_size, num_parallel_reads: Taken for TensorFlow's sake.
        name: Of the operation.
    """

    kind = "TFRecordDataset"


class FixedLengthRecordDataset(_FileDataset):
    """Records of `record_bytes` bytes.

    Args:
        filenames: A string or strings, or a dataset of them.
        record_bytes: Of a record.
        header_bytes, footer_bytes: At the start and end of a file, which are left out.
        buffer_size, num_parallel_reads: Taken for TensorFlow's sake.
        compression_type: "", "ZLIB" or "GZIP".
        name: Of the operation.
    """

    def __init__(
        self,
        filenames: TensorLike | Dataset,
        record_bytes: TensorLike,
        header_bytes: TensorLike | None = None,
        footer_bytes: TensorLike | None = None,
        buffer_size: TensorLike | None = None,
        compression_type: TensorLike | None = None,
        num_parallel_reads: TensorLike | None = None,
        name: str | None = None,
    ):
        sizes = [header_bytes or 0, record_bytes, footer_bytes or 0]
        buffer = _BUFFER if buffer_size is None else buffer_size
        options = [*map(int64, sizes), int64(buffer), _text(compression_type)]
        super().__init__("FixedLengthRecordDatasetV2", filenames, options, name)
