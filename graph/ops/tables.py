"""Tables: handles whose contents a frozen graph keeps in attributes of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from ...schema.dtypes import RESOURCE
from ..core.graph import Tensor
from ..core.registry import op
from ..core.shapes import Shape, scalar

if TYPE_CHECKING:
    from ..core.protocols import OperationView

TABLE_KEYS, TABLE_VALUES = "_table_keys", "_table_values"
"""Attributes of a HashTable whose contents are known."""


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


def _found_shape(op: OperationView) -> Shape:
    """The shape of the keys, when each gives one value."""
    return op.inputs[1].shape if op.inputs[2].shape == () else None


@op("LookupTableFind", "LookupTableFindV2", shape=_found_shape, pure=False)
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
