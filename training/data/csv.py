"""Datasets of files of CSV, and of tf.train.Examples by feature: `tf.data.experimental`."""

from __future__ import annotations

import csv
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from ...graph.core.dtype import DType, as_numpy
from ...graph.functions.io.decoding import decode_csv
from ...graph.functions.io.parsing import parse_example
from ...schema.tensorflow.gfile import GFile, Glob
from .dataset import Dataset
from .readers import TextLineDataset, TFRecordDataset

if TYPE_CHECKING:
    from ...graph.core.typing import DTypeLike, TensorLike
    from .structures import Structure

Files: TypeAlias = "str | Sequence[str]"
_INFERRED = (np.dtype(np.int32), np.dtype(np.int64), np.dtype(np.float32), np.dtype(np.float64))
"""Types that a column is tried for, before it is one of strings."""
_ROWS = 100
"""Rows from which the types of columns are inferred, by default."""


class CsvDataset(Dataset):
    """The records of files of CSV, a tuple with a scalar for each column.

    Args:
        filenames: A string or strings, or a dataset of them.
        record_defaults: For each column a type, where no field may be empty, or what stands for an
            empty one.
        compression_type: "", "ZLIB" or "GZIP".
        buffer_size: Taken for TensorFlow's sake.
        header: Whether the first line of each file is left out.
        field_delim: What separates fields.
        use_quote_delim: Whether double quotes stand around fields; no line may end within them.
        na_value: What counts as empty, too.
        select_cols: The columns to take, in rising order; all by default.
        exclude_cols: The columns to leave out, in place of `select_cols`.

    Raises ValueError where both `select_cols` and `exclude_cols` are there, or columns do not rise.
    """

    def __init__(
        self,
        filenames: TensorLike | Dataset,
        record_defaults: Sequence[object],
        compression_type: TensorLike | None = None,
        buffer_size: int | None = None,
        header: bool = False,
        field_delim: str = ",",
        use_quote_delim: bool = True,
        na_value: str = "",
        select_cols: Sequence[int] | None = None,
        exclude_cols: Sequence[int] | None = None,
    ):
        if select_cols is not None and exclude_cols is not None:
            raise ValueError("Either select_cols or exclude_cols should be empty")
        if exclude_cols is not None:
            left_out = {*exclude_cols}
            n_columns = len(record_defaults) + len(left_out)
            select_cols = [i for i in range(n_columns) if i not in left_out]
        defaults = [_required_type(default) for default in record_defaults]

        def fields(line: TensorLike) -> tuple[object, ...]:
            options = field_delim, use_quote_delim, None, na_value, select_cols
            return tuple(decode_csv(line, defaults, *options))

        lines = _lines(filenames, compression_type, header)
        dataset = lines.map(fields)
        super().__init__(dataset.variant_tensor, dataset.element_spec)


def _required_type(default: object) -> object:
    """A default of a column; an empty array of a type where it is one."""
    if not isinstance(default, (DType, np.dtype, type)):
        return default
    return np.empty(0, as_numpy(cast("DTypeLike", default)))


def _lines(
    filenames: TensorLike | Dataset, compression_type: TensorLike | None, header: bool
) -> Dataset:
    if not header:
        return TextLineDataset(filenames, compression_type)
    paths = filenames
    if not isinstance(paths, Dataset):
        listed = [paths] if isinstance(paths, (str, bytes)) else paths
        paths = Dataset.from_tensor_slices(listed)
    return paths.flat_map(lambda path: TextLineDataset(path, compression_type).skip(1))


def make_csv_dataset(
    file_pattern: Files,
    batch_size: int,
    column_names: Sequence[str] | None = None,
    column_defaults: Sequence[object] | None = None,
    label_name: str | None = None,
    select_columns: Sequence[str | int] | None = None,
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    header: bool = True,
    num_epochs: int | None = None,
    shuffle: bool = True,
    shuffle_buffer_size: int = 10000,
    shuffle_seed: int | None = None,
    prefetch_buffer_size: int | None = None,
    num_parallel_reads: int | None = None,
    sloppy: bool = False,
    num_rows_for_inference: int | None = _ROWS,
    compression_type: str | None = None,
    ignore_errors: bool = False,
) -> Dataset:
    """Batches of records of CSV: mappings of column names, or pairs of those and a label.

    Args:
        file_pattern: Names or patterns of files.
        batch_size: Records in a batch; a last, smaller one comes only with `num_epochs=1`.
        column_names: Those of the columns; from the first line by default.
        column_defaults: As CsvDataset's `record_defaults`, of the selected columns; inferred from
            the first rows by default.
        label_name: The column that is the label.
        select_columns: Names or numbers of the columns to take.
        field_delim, use_quote_delim, na_value, header, compression_type: As CsvDataset has them.
        num_epochs: How many times; without end by default.
        shuffle, shuffle_buffer_size, shuffle_seed: Whether and how records are shuffled.
        prefetch_buffer_size, num_parallel_reads, sloppy: Taken for TensorFlow's sake.
        num_rows_for_inference: Rows from which types are inferred; all for None.
        ignore_errors: Whether records that are none are left out.

    Raises ValueError: no file matches, a column is unknown or named twice, `label_name` is none.
    """
    paths = _matching(file_pattern)
    if column_names is None:
        if not header:
            raise ValueError("Cannot infer column names without a header line.")
        column_names = _rows(paths[0], field_delim, use_quote_delim, 1)[0]
    if len(set(column_names)) != len(column_names):
        repeated = {name for name in column_names if [*column_names].count(name) > 1}
        raise ValueError(
            "Either `column_names` argument or CSV header row contains duplicate column names: "
            f"{repeated}."
        )
    selected = range(len(column_names)) if select_columns is None else sorted(
        column_names.index(c) if isinstance(c, str) else c for c in select_columns
    )  # fmt: skip
    if column_defaults is None:
        n_rows = None if num_rows_for_inference is None else num_rows_for_inference + header
        rows = _rows(paths[0], field_delim, use_quote_delim, n_rows)[int(header) :]
        column_defaults = [_inferred([row[i] for row in rows], na_value) for i in selected]
    names = [column_names[i] for i in selected]
    if label_name is not None and label_name not in names:
        raise ValueError(
            f"`label_name` provided must be one of the columns: {names}. Received: {label_name}."
        )
    dataset: Dataset = CsvDataset(
        paths, column_defaults, compression_type, None, header, field_delim, use_quote_delim,
        na_value, list(selected),
    )  # fmt: skip
    if ignore_errors:
        dataset = dataset.ignore_errors()
    dataset = _shuffled(dataset, shuffle, shuffle_buffer_size, shuffle_seed, num_epochs)
    dataset = dataset.batch(batch_size, drop_remainder=num_epochs is None)

    def named(*columns: Structure) -> Structure:
        features = OrderedDict(zip(names, columns, strict=True))
        return features if label_name is None else (features, features.pop(label_name))

    return dataset.map(named)


def make_batched_features_dataset(
    file_pattern: Files,
    batch_size: int,
    features: Mapping[str, object],
    reader: Callable[..., Dataset] = TFRecordDataset,
    label_key: str | None = None,
    reader_args: Sequence[object] | None = None,
    num_epochs: int | None = None,
    shuffle: bool = True,
    shuffle_buffer_size: int = 10000,
    shuffle_seed: int | None = None,
    prefetch_buffer_size: int | None = None,
    reader_num_threads: int | None = None,
    parser_num_threads: int | None = None,
    sloppy_ordering: bool = False,
    drop_final_batch: bool = False,
) -> Dataset:
    """Batches of tf.train.Examples: mappings of features, or pairs of those and a label.

    Args:
        file_pattern: Names or patterns of files.
        batch_size: Examples in a batch.
        features: As parse_example takes them.
        reader: Makes the dataset of a file's serialized Examples.
        label_key: The feature that is the label.
        reader_args: More arguments of `reader`.
        num_epochs: How many times; without end by default.
        shuffle, shuffle_buffer_size, shuffle_seed: Whether and how files and Examples are shuffled.
        prefetch_buffer_size, reader_num_threads, parser_num_threads, sloppy_ordering: Taken for
            TensorFlow's sake.
        drop_final_batch: Whether a last, smaller batch is left out.

    Raises ValueError where `label_key` is no feature, or no file matches.
    """
    if label_key is not None and label_key not in features:
        raise ValueError(
            "The `label_key` provided must be one of the `features` keys, got "
            f"{label_key} of {list(features)}."
        )
    files = Dataset.from_tensor_slices(_matching(file_pattern))
    if shuffle:
        files = files.shuffle(len(_matching(file_pattern)), shuffle_seed)
    dataset = files.flat_map(lambda path: reader(path, *(reader_args or ())))
    dataset = _shuffled(dataset, shuffle, shuffle_buffer_size, shuffle_seed, num_epochs)
    dataset = dataset.batch(batch_size, drop_remainder=drop_final_batch or num_epochs is None)

    def parsed(serialized: TensorLike) -> Structure:
        values = cast("dict[str, object]", parse_example(serialized, dict(features)))
        return values if label_key is None else (values, values.pop(label_key))

    return dataset.map(parsed)


def _shuffled(
    dataset: Dataset, shuffle: bool, size: int, seed: int | None, num_epochs: int | None
) -> Dataset:
    """Elements again and again, shuffled anew each time."""
    if shuffle:
        dataset = dataset.shuffle(size, seed)
    return dataset if num_epochs == 1 else dataset.repeat(num_epochs)


def _matching(file_pattern: Files) -> list[str]:
    patterns = [file_pattern] if isinstance(file_pattern, str) else file_pattern
    paths = sorted(path for pattern in patterns for path in Glob(pattern))
    if not paths:
        raise ValueError(f"No files match {file_pattern!r}.")
    return paths


def _rows(path: str, delimiter: str, quotes: bool, n: int | None) -> list[list[str]]:
    """The first rows of a file."""
    quoting = csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE
    with GFile(path, "r") as file:
        lines = cast("str", file.read()).splitlines()
    return list(csv.reader(lines[:n], delimiter=delimiter, quoting=quoting))


def _inferred(fields: Sequence[str], na_value: str) -> object:
    """The default of a column: a zero of the narrowest type that holds its fields, or ""."""
    texts = [text for text in fields if text not in ("", na_value)]
    for dtype in _INFERRED if texts else ():
        if all(_fits(text, dtype) for text in texts):
            return np.zeros((), dtype)
    return ""


def _fits(text: str, dtype: np.dtype) -> bool:
    try:
        if dtype.kind == "f":
            return abs(float(text)) <= np.finfo(dtype).max
        return np.iinfo(dtype).min <= int(text) <= np.iinfo(dtype).max
    except ValueError:
        return False
