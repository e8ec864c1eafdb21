"""The kernels of lookup tables: `tf.lookup` in a Session."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

import numpy as np

from ....schema import dtypes
from ....schema.errors import InvalidArgumentError, NotFoundError
from ....schema.files import read_bytes
from ...core.operation_errors import failed, located
from ...ops.state.tables import TABLE_KEYS, TABLE_VALUES, text_columns, text_lines
from ..datasets import checked, dataset_of, stacked
from ..resources import resource_kernel
from ..tables import DenseTable, StaticTable, Table

if TYPE_CHECKING:
    from ...core.graph import Operation
    from ...core.protocols import KernelResult
    from ..state import State

    Kernel = Callable[..., KernelResult]


_NUMBERS = ("float64", "float32", "int32")
KINDS: dict[str, dict[str, tuple[str, ...]]] = {
    "HashTable": {
        "int32": (*_NUMBERS, "string"),
        "int64": (*_NUMBERS, "int64", "string"),
        "string": (*_NUMBERS, "bool", "int64", "string"),
    },
    "MutableHashTable": {
        "int32": _NUMBERS,
        "int64": (*_NUMBERS, "int64", "string", "variant"),
        "string": (*_NUMBERS, "bool", "int64"),
    },
    "MutableHashTableOfTensors": {
        "int32": _NUMBERS,
        "int64": (*_NUMBERS, "int64", "string"),
        "string": (*_NUMBERS, "bool", "int64"),
    },
    "MutableDenseHashTable": {
        "int32": _NUMBERS,
        "int64": (*_NUMBERS, "bool", "int64", "variant"),
        "string": (*_NUMBERS, "bool", "int64", "resource"),
    },
}
"""Dtypes of keys, and of values for them, of which there are tables."""


def _require_kind(op: Operation) -> None:
    """Raises InvalidArgumentError for a table of dtypes that there are none of."""
    names = [dtypes.tf_name(cast("np.dtype", op.get_attr(f"{x}_dtype"))) for x in ("key", "value")]
    kinds = KINDS[op.type.removesuffix("V2")]
    if names[1] in kinds.get(names[0], ()):
        return
    known = "; ".join(f"{key}: {', '.join(values)}" for key, values in kinds.items())
    words = f"No OpKernel was registered to support Op '{op.type}' used by {{{{node {op.name}}}}} "
    words += f"with keys of {names[0]} and values of {names[1]}. Those that are there: {known}"
    raise InvalidArgumentError(None, None, words)


def _dtype(op: Operation, name: str) -> np.dtype:
    dtype = np.dtype(cast("np.dtype", op.get_attr(name)))
    return np.dtype(object) if dtype.names else dtype


def _handle(op: Operation, state: State, make: Callable[[np.dtype, np.dtype], Table]) -> np.ndarray:
    """The table of an operation, a new one where there is none, as a scalar object."""
    key = state.variable_key(op)
    table = state.tables.get(key)
    if table is None:
        _require_kind(op)
        table = state.tables[key] = make(_dtype(op, "key_dtype"), _dtype(op, "value_dtype"))
    handle = np.empty((), object)
    handle[()] = table
    return handle


def _table(op: Operation, handle: np.ndarray) -> Table:
    """The table behind a handle."""
    table = cast("object", handle.item())
    if not isinstance(table, Table):
        raise failed(op, f"the first input of {op.type} must be a table")
    return table


@resource_kernel("HashTable", "HashTableV2")
def hash_table(op: Operation, state: State) -> np.ndarray:
    """A table that is filled once; one of a frozen graph is full."""
    handle = _handle(op, state, StaticTable)
    table = _table(op, handle)
    if TABLE_KEYS in op.attrs and isinstance(table, StaticTable) and not table.is_filled:
        keys, values = (cast("np.ndarray", op.attrs[n]) for n in (TABLE_KEYS, TABLE_VALUES))
        table.replace(keys, values)
    return handle


@resource_kernel("MutableHashTable", "MutableHashTableV2")
def mutable_hash_table(op: Operation, state: State) -> np.ndarray:
    """A table of scalars."""
    return _handle(op, state, Table)


@resource_kernel("MutableHashTableOfTensorsV2")
def mutable_hash_table_of_tensors(op: Operation, state: State) -> np.ndarray:
    """A table whose values are vectors."""
    shape = cast("tuple[int, ...]", op.get_attr("value_shape"))
    if len(shape) != 1:
        sizes = f"[{','.join(map(str, shape))}]"
        raise InvalidArgumentError(None, None, f"Default value must be a vector, got shape {sizes}")
    return _handle(op, state, lambda key, value: Table(key, value, shape))


@resource_kernel("MutableDenseHashTableV2")
def mutable_dense_hash_table(
    op: Operation, state: State, empty_key: np.ndarray, deleted_key: np.ndarray
) -> np.ndarray:
    """A table of open addressing."""
    shape = cast("tuple[int, ...]", op.get_attr("value_shape"))
    n_buckets = cast("int", op.get_attr("initial_num_buckets"))
    return _handle(
        op,
        state,
        lambda key, value: DenseTable(key, value, shape, empty_key, deleted_key, n_buckets),
    )


@resource_kernel("LookupTableFind", "LookupTableFindV2")
def find(
    op: Operation, state: State, handle: np.ndarray, keys: np.ndarray, default: np.ndarray
) -> np.ndarray:
    """The value of each key."""
    return _table(op, handle).find(keys, default)


@resource_kernel("LookupTableSizeV2")
def size(op: Operation, state: State, handle: np.ndarray) -> np.ndarray:
    """How many keys there are."""
    return np.array(_table(op, handle).size, np.int64)


@resource_kernel("LookupTableInsert", "LookupTableInsertV2")
def insert(
    op: Operation, state: State, handle: np.ndarray, keys: np.ndarray, values: np.ndarray
) -> KernelResult:
    """Adds keys."""
    table = _table(op, handle)
    if not table.takes_changes:
        raise failed(op, "a static table takes no new keys")
    table.insert(keys, values)
    return ()


@resource_kernel("LookupTableRemoveV2")
def remove(op: Operation, state: State, handle: np.ndarray, keys: np.ndarray) -> KernelResult:
    """Takes keys out."""
    table = _table(op, handle)
    if not table.takes_changes:
        raise failed(op, "the keys of a static table stay")
    table.remove(keys)
    return ()


@resource_kernel("LookupTableExportV2")
def export(op: Operation, state: State, handle: np.ndarray) -> KernelResult:
    """All keys and values."""
    return _table(op, handle).export()


@resource_kernel("LookupTableImport", "LookupTableImportV2", "InitializeTable", "InitializeTableV2")
def fill(
    op: Operation, state: State, handle: np.ndarray, keys: np.ndarray, values: np.ndarray
) -> KernelResult:
    """Gives a table these keys and no others."""
    _table(op, handle).replace(keys, values)
    return ()


@resource_kernel("InitializeTableFromDataset")
def fill_from_dataset(
    op: Operation, state: State, handle: np.ndarray, source: np.ndarray
) -> KernelResult:
    """Fills a table with the elements of a dataset, pairs of a key and a value."""
    table = _table(op, handle)
    pairs = list(checked(dataset_of(source).elements(), state))
    if pairs:
        table.replace(*stacked(pairs))
    else:
        table.replace(np.empty(0, table.key_dtype), np.empty(0, table.value_dtype))
    return ()


@resource_kernel("InitializeTableFromTextFileV2")
def fill_from_file(
    op: Operation, state: State, handle: np.ndarray, filename: np.ndarray
) -> KernelResult:
    """Fills a table with columns of a text file."""
    table = _table(op, handle)
    path = cast("bytes", filename.item()).decode()
    n_lines, key_index, value_index, offset = (
        cast("int", op.get_attr(name))
        for name in ("vocab_size", "key_index", "value_index", "offset")
    )
    try:
        content = read_bytes(path)
    except OSError as error:
        raise NotFoundError(None, op, located(op, f"{path}; {error.strerror}")) from None
    lines = text_lines(content, n_lines, 0, path)
    delimiter = cast("bytes", op.get_attr("delimiter"))
    columns = (key_index, value_index)
    keys, values = text_columns(
        lines, columns, (table.key_dtype, table.value_dtype), delimiter, path
    )
    if offset and value_index == -1:
        values = values + np.asarray(offset, values.dtype)
    table.replace(keys, values)
    return ()
