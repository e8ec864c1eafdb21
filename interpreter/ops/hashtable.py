"""HASHTABLE, HASHTABLE_IMPORT, HASHTABLE_FIND, HASHTABLE_SIZE: tables from keys to values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...schema.dtypes import RESOURCE, numpy_dtype, tf_name
from ..checks import required, scope_of
from ..plan.scope import Table
from ..registry import op

if TYPE_CHECKING:
    from ..plan.node import DynamicResult, Node, Operand

_NAMESPACE = "hash table"
"""What tells a table's number from a variable's in the interpreter's resources."""


@op("HASHTABLE")
def hashtable(node: Node) -> None:
    """The handle of the table whose number is `table_id`; it is empty until one is imported."""
    shape = node.outputs[0].shape or (1,)
    value = None
    if node.scope is not None:
        number = node.scope.resource(_NAMESPACE, str(int(node.options.table_id)))
        node.scope.resources.setdefault(number, Table())
        value = np.full(shape, np.array((number,), RESOURCE), RESOURCE)
    for what in ("key_dtype", "value_dtype"):
        dtype = numpy_dtype(int(getattr(node.options, what)))
        node.require(
            dtype.kind in "iubO", f"{what} must be a string or an integer, got {tf_name(dtype)}"
        )
    node.result(shape, RESOURCE, value)


@op("HASHTABLE_IMPORT")
def hashtable_import(node: Node) -> DynamicResult:
    """Fills a table with the keys of the second input and the values of the third.

    Of a key that comes twice the first value counts; a table that was filled stays as it is, as
    TFLite's does.
    """
    _, keys, values = _operands(node, 3)
    node.require_equal(
        keys.shape, values.shape, f"keys and values must pair, got {keys.shape} and {values.shape}"
    )

    def run(handle: np.ndarray, keys: np.ndarray, values: np.ndarray) -> list[np.ndarray]:
        table = _table(node, handle)
        if not table.is_filled:
            table.fill(keys.ravel().tolist(), values.ravel().tolist())
        return []

    return node.dynamic_result(run, ())


@op("HASHTABLE_FIND")
def hashtable_find(node: Node) -> DynamicResult:
    """The value of each key, or the third input where the table has none."""
    _, keys, missing = _operands(node, 3)
    node.require(missing.size == 1, f"the default must be one value, got shape {missing.shape}")

    def run(handle: np.ndarray, keys: np.ndarray, missing: np.ndarray) -> list[np.ndarray]:
        table, default = _table(node, handle), missing.ravel().tolist()[0]
        if not table.is_filled:
            node.fail("hashtable need to be initialized before using: nothing was imported into it")
        values = np.empty(keys.size, missing.dtype)
        values[:] = [table.get(key, default) for key in keys.ravel().tolist()]
        return [values.reshape(keys.shape)]

    return node.dynamic_result(run, [keys.shape])


@op("HASHTABLE_SIZE")
def hashtable_size(node: Node) -> DynamicResult:
    """How many entries a table has."""
    _operands(node, 1)

    def run(handle: np.ndarray) -> list[np.ndarray]:
        return [np.array([len(_table(node, handle))], np.int64)]

    return node.dynamic_result(run, [(1,)])


def _operands(node: Node, count: int) -> list[Operand]:
    operands = required(node, count)
    handle = operands[0]
    node.require(
        handle.dtype == RESOURCE and handle.size == 1,
        "the first input must be the handle of a table, got "
        f"{tf_name(handle.dtype)} {handle.shape}",
    )
    return operands


def _table(node: Node, handle: np.ndarray) -> Table:
    table = scope_of(node).resources.get(int(handle["resource"].ravel()[0]))
    if not isinstance(table, Table):
        node.fail("the handle is none of a hash table")
    return table
