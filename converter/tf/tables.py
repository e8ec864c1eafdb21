"""Tables whose contents are known.

TFLite's tables are from strings to int64, or from int64 to strings. Of other tables of strings one
gives the positions of the keys, at which the values are gathered; other keys are compared.
"""

from __future__ import annotations

import numpy as np

from ...graph.ops.state.tables import TABLE_KEYS, TABLE_VALUES
from ..ir.graph import Tensor
from ..lowering.moves import as_type
from .registry import lower

HASHED = ((np.dtype(object), np.dtype(np.int64)), (np.dtype(np.int64), np.dtype(object)))
"""Types of keys and values of TFLite's own tables."""
STATELESS = "a table that is changed while the model runs, or that nothing fills, has no form"


class Table(Tensor):
    """The handle of a table, with its contents; no operator gives it."""

    __slots__ = ("keys", "values")

    def __init__(self, name: str, keys: np.ndarray, values: np.ndarray) -> None:
        super().__init__(name, np.dtype(np.int32), ())
        self.keys, self.values = keys, values


@lower("HashTable", "HashTableV2")
def hash_table(node, b):
    """What the table holds."""
    attrs = node.op.attrs
    node.require(TABLE_KEYS in attrs, STATELESS)
    return Table(node.name, attrs[TABLE_KEYS], attrs[TABLE_VALUES])


def table_of(node):
    """The table that is the first input."""
    table = node.inputs[0]
    node.require(isinstance(table, Table), "its table must be the same in all branches and loops")
    return table


@lower("LookupTableSizeV2")
def lookup_table_size(node, b):
    """How many keys the table has."""
    return b.constant(np.int64(table_of(node).keys.size))


@lower("LookupTableFind", "LookupTableFindV2")
def lookup_table_find(node, b):
    """The value of each key, or the default."""
    table, (keys, default) = table_of(node), node.inputs[1:]
    if (table.keys.dtype, table.values.dtype) in HASHED:
        return lookup(table.name, table.keys, table.values, keys, default, b)
    n = table.keys.size
    if table.keys.dtype == object:
        positions = np.arange(n, dtype=np.int64)
        position = lookup(table.name, table.keys, positions, keys, np.int64(n), b)
        position = as_type(position, np.int32, b)
    else:
        position = compared(table.keys, keys, b)
    return b.GATHER(with_default(node, table.values, default, b), position, axis=0)


def with_default(node, values, default, b):
    """The values of a table, and the default after them."""
    if default.value is not None:
        return b.constant(np.append(values, default.value.astype(values.dtype)))
    node.require(values.dtype != object, "the default of a table of strings must be constant")
    last = b.RESHAPE(default, np.array([1], np.int32))
    return b.CONCATENATION(b.constant(values), last, axis=0) if values.size else last


def lookup(name, known, values, keys, default, b):
    """The values of keys in a table that is filled once, before it is used."""
    types = {
        "key_dtype": b.tensor_type(known.dtype),
        "value_dtype": b.tensor_type(values.dtype),
    }
    number = b.graph.scope.initializer.table(name, known, values, types)
    handle = b.HASHTABLE(table_id=number, **types)
    return b.HASHTABLE_FIND(handle, keys, default)


def compared(known, keys, b):
    """The position of each key among some numbers, their count for one that is none of them."""
    n = known.size
    is_key = b.EQUAL(b.EXPAND_DIMS(keys, np.int32(-1)), b.constant(known))
    offsets = b.constant(np.arange(n, dtype=np.int32) - np.int32(n))
    position = b.SUM(b.MUL(as_type(is_key, np.int32, b), offsets), np.array([-1], np.int32))
    return b.ADD(position, np.int32(n))


@lower("StringToHashBucketFast")
def string_to_hash_bucket(node, b):
    """Zeros for the only bucket: what tables with one give for words they do not have."""
    n = node.attr("num_buckets")
    node.require(
        n == 1,
        f"hashes of strings have no form in TFLite but for one bucket, got {n}; compute them "
        "before the model, or allow OpsSet.SELECT_TF_OPS",
    )
    return b.FILL(b.SHAPE(node.inputs[0], out_type="INT32"), np.int64(0))
