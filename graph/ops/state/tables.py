"""Tables: handles whose contents a frozen graph keeps in attributes of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from ....schema.dtypes import RESOURCE
from ....schema.errors import InvalidArgumentError
from ...core.graph import Tensor
from ...core.registry import add_row, op
from ...core.shapes import Shape, merge, scalar, shown

if TYPE_CHECKING:
    from ...core.protocols import OperationView

TABLE_KEYS, TABLE_VALUES = "_table_keys", "_table_values"
"""Attributes of a HashTable whose contents are known."""
MUTABLE_TABLES = ("MutableHashTable", "MutableHashTableV2", "MutableDenseHashTableV2")
"""Tables that may change; with contents of a checkpoint, one that does not is as a HashTable."""
WHOLE_LINE, LINE_NUMBER = -2, -1
"""Columns of a text file that are none."""


@op("HashTable", "HashTableV2", shape=scalar, pure=False)
def hash_table() -> np.ndarray:
    """The handle of a table."""
    return np.zeros((), RESOURCE)


def _contents(op: OperationView) -> tuple[np.ndarray, np.ndarray]:
    """The keys and values of the table that is the first input."""
    handle = op.inputs[0]
    attrs = handle.op.attrs if isinstance(handle, Tensor) else {}
    if TABLE_KEYS not in attrs:
        raise ValueError(f"Table not initialized: nothing fills the table of '{op.name}'")
    return cast("np.ndarray", attrs[TABLE_KEYS]), cast("np.ndarray", attrs[TABLE_VALUES])


def _value_shape(table: OperationView) -> Shape:
    """The shape of one value of a table, when its kind tells."""
    if table.type in ("HashTable", "HashTableV2", "MutableHashTable", "MutableHashTableV2"):
        return ()
    if table.type in ("MutableHashTableOfTensorsV2", "MutableDenseHashTableV2"):
        return cast("Shape", table.get_attr("value_shape"))
    return None


def _is_of_vectors(table: OperationView) -> bool | None:
    """Whether a key is a vector; None when it is not known."""
    if table.type != "MutableDenseHashTableV2":
        return False if _value_shape(table) is not None else None
    key = table.inputs[0].sizes
    return None if key is None else bool(key)


def _lookup_shape(op: OperationView) -> Shape:
    """The shape of the keys, followed by that of one value."""
    table, keys, default = op.inputs[0], op.inputs[1].sizes, op.inputs[2].sizes
    if not isinstance(table, Tensor):
        return None
    value, vectors = _value_shape(table.op), _is_of_vectors(table.op)
    if value is None and default == ():
        value, vectors = (), False
    if keys is None or value is None or vectors is None:
        return None
    outer = keys[: len(keys) - vectors]
    if default is not None and len(default) not in (len(value), len(outer) + len(value)):
        raise ValueError(
            f"Expected shape {shown(value)} or {shown(outer + value)} for default value, got "
            f"{shown(default)}"
        )
    return outer + value


def _exported_shapes(op: OperationView) -> list[Shape]:
    """Vectors of unknown length; of values with shapes of their own, arrays."""
    table = op.inputs[0]
    if not isinstance(table, Tensor):
        return [None, None]
    value, keys = _value_shape(table.op), (None,)
    if value is None or table.op.type == "MutableDenseHashTableV2":
        return [None, None]
    return [keys, (None, *value)]


def _entries(op: OperationView) -> list[Shape]:
    """None; refuses keys and values of unequal number."""
    keys, values = op.inputs[1].sizes, op.inputs[2].sizes
    table = op.inputs[0]
    if isinstance(table, Tensor) and table.op.type.startswith("HashTable"):
        merge(keys, values)
    return []


def _of_file(op: OperationView) -> list[Shape]:
    """None; refuses a filename that is no scalar."""
    shape = op.inputs[1].sizes
    if shape:
        raise ValueError(f"Shape must be rank 0 but is rank {len(shape)}")
    return []


def _changed(op: OperationView) -> list[Shape]:
    """None; refuses keys that are to be removed and are no vector."""
    if op.type == "LookupTableRemoveV2" and op.inputs[1].sizes == ():
        raise ValueError("Shape must be at least rank 1 but is rank 0")
    return []


add_row("LookupTableExportV2", None, _exported_shapes)
for _kind in ("LookupTableImport", "LookupTableImportV2", "InitializeTable", "InitializeTableV2"):
    add_row(_kind, None, _entries)
add_row("InitializeTableFromTextFileV2", None, _of_file)
for _kind in ("LookupTableInsert", "LookupTableInsertV2", "LookupTableRemoveV2"):
    add_row(_kind, None, _changed)
for _kind in ("MutableHashTableOfTensorsV2", "MutableDenseHashTableV2"):
    add_row(_kind, None, scalar)


@op("LookupTableFind", "LookupTableFindV2", shape=_lookup_shape, pure=False)
def lookup_table_find(
    handle: np.ndarray, keys: np.ndarray, default: np.ndarray, *, op: OperationView
) -> np.ndarray:
    """The value of each key, `default` for one that the table does not have."""
    known, values = _contents(op)
    table = dict(zip(known.tolist(), values.tolist(), strict=True))
    result = np.empty(keys.shape, values.dtype)
    result.ravel()[:] = [table.get(key, default.item()) for key in keys.ravel().tolist()]
    return result


@op("LookupTableSizeV2", shape=scalar, pure=False)
def lookup_table_size(handle: np.ndarray, *, op: OperationView) -> int:
    """How many keys the table has."""
    return _contents(op)[0].size


def text_columns(
    lines: list[bytes],
    columns: tuple[int, int],
    types: tuple[np.dtype, np.dtype],
    delimiter: bytes = b"\t",
    path: str = "",
) -> tuple[np.ndarray, np.ndarray]:
    """The keys and values in the lines of a vocabulary file.

    Args:
        lines: Of the file, without their ends.
        columns: Of the keys and of the values; WHOLE_LINE and LINE_NUMBER are none.
        types: Of the keys and of the values.
        delimiter: Between columns.
        path: The file, for errors.

    Raises InvalidArgumentError for a line with too few columns, and for a text that is no number.
    """
    least = max(columns) + 1
    rows = [line.split(delimiter) for line in lines] if least > 0 else []
    for number, row in enumerate(rows):
        if len(row) < least:
            raise InvalidArgumentError(
                None,
                None,
                f"Invalid number of columns in {path} line {number} "
                f"({lines[number].decode(errors='replace')}) : expected at least {least} got "
                f"{len(row)}",
            )
    keys, values = (
        _column(lines, rows, column, dtype) for column, dtype in zip(columns, types, strict=True)
    )
    return keys, values


def _column(
    lines: list[bytes], rows: list[list[bytes]], column: int, dtype: np.dtype
) -> np.ndarray:
    if column == LINE_NUMBER:
        return np.arange(len(lines), dtype=np.int64).astype(dtype)
    texts = lines if column == WHOLE_LINE else [row[column] for row in rows]
    array = np.empty(len(texts), dtype)
    for number, text in enumerate(texts):
        array[number] = text if dtype.kind == "O" else _number(text, dtype, number)
    return array


def _number(text: bytes, dtype: np.dtype, number: int) -> float:
    try:
        return int(text) if dtype.kind in "iu" else float(text)
    except ValueError:
        tf_words = {"float32": "float", "float64": "double"}.get(dtype.name, dtype.name)
        raise InvalidArgumentError(
            None,
            None,
            f"Field {text.decode(errors='replace')} in line {number} is not a valid {tf_words}.",
        ) from None


def text_lines(content: bytes, n_lines: int, offset: int = 0, path: str = "") -> list[bytes]:
    """The lines of a vocabulary file: `n_lines` of them, all for -1, after the first `offset`.

    Raises InvalidArgumentError when there are fewer.
    """
    lines = content.split(b"\n")
    if lines and not lines[-1]:
        lines.pop()
    lines = [line.removesuffix(b"\r") for line in lines[offset:]]
    if n_lines == -1:
        return lines
    if len(lines) < n_lines:
        raise InvalidArgumentError(
            None,
            None,
            f"Invalid vocab_size in {path}: expected {n_lines} but got {len(lines)}",
        )
    return lines[:n_lines]
