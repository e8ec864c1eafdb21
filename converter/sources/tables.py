"""The contents of tables, found by following how a model initialises them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ...graph.core.evaluate import evaluate
from ...graph.core.graph import Graph, Operation
from ...graph.core.order import copied_from
from ...graph.format.inline import inline
from ...graph.format.rebuild import rebuild
from ...graph.ops.state.tables import text_columns, text_lines
from ...schema.errors import ModelError, OpError
from ...schema.files import read_bytes
from .source import short_name
from .state import Table

HASH_TABLES = ("HashTable", "HashTableV2")
FILLING = (
    *("InitializeTable", "InitializeTableV2", "LookupTableImport", "LookupTableImportV2"),
    *("InitializeTableFromTextFile", "InitializeTableFromTextFileV2"),
)
"""What fills a table that is the first input."""


class Tables:
    """The tables of a model; the operations that fill them are looked at once.

    Args:
        graph: has all that `roots` need.
        roots: names of operations that initialise the model.
        assets: files of the model by the names of the tensors that hold their paths.
        saved: gives the contents of a table that a checkpoint has.
    """

    def __init__(
        self,
        graph: Graph,
        roots: Iterable[str] = (),
        assets: Mapping[str, Path] | None = None,
        saved: Callable[[Operation], Table | None] | None = None,
    ) -> None:
        self._saved = saved
        self._graph, self._roots, self._assets = graph, list(roots), assets or {}
        self._tables: dict[str, Table] | None = None

    def __call__(self, op: Operation) -> Table | None:
        """The contents of the table that `op` makes; None when nothing is known to fill it."""
        if self._tables is None:
            self._tables = self._filled()
        table = self._tables.get(op.name)
        return self._saved(op) if table is None and self._saved is not None else table

    def _filled(self) -> dict[str, Table]:
        names = [name for name in self._roots if name in self._graph]
        if not names:
            return {}
        inputs, outputs = self._graph.inputs, self._graph.outputs
        self._graph.inputs = self._graph.outputs = None
        try:
            roots = [self._graph.get_operation_by_name(name) for name in names]
            flat = inline(rebuild(self._graph, roots))
        finally:
            self._graph.inputs, self._graph.outputs = inputs, outputs
        paths = _paths(flat, self._assets)
        tables: dict[str, Table] = {}
        for op in flat.operations:
            if op.type in FILLING:
                handle = copied_from(op.inputs[0]).op
                tables.setdefault(handle.name, _contents(op, handle, paths))
        return tables


def _paths(graph: Graph, assets: Mapping[str, Path]) -> dict[str, Path]:
    """The files that operations of `graph` hold the path of, those read from variables too."""
    paths = {short_name(name): path for name, path in assets.items()}
    for op in graph.operations:
        if op.type in ("AssignVariableOp", "Assign"):
            variable, value = (copied_from(tensor).op.name for tensor in op.inputs[:2])
            if value in paths:
                paths[variable] = paths[value]
    return paths


def _contents(op: Operation, handle: Operation, paths: Mapping[str, Path]) -> Table:
    """What one operation fills a table with."""
    if "TextFile" in op.type:
        source = copied_from(op.inputs[1])
        while source.op.type == "ReadVariableOp":
            source = copied_from(source.op.inputs[0])
        if source.op.name not in paths:
            raise ModelError(
                f"{op.type} '{op.name}': its file must be an asset of the model, and is none; save "
                "the model again with the vocabulary as an asset, or as a constant"
            )
        return _of_file(op, handle, paths[source.op.name])
    try:
        keys, values = evaluate(op.graph, op.inputs[1:3], {})
    except (OpError, ValueError) as error:
        raise ModelError(
            f"{op.type} '{op.name}': the keys and values of a table must be constant; {error}"
        ) from None
    return Table(keys.ravel(), values.ravel())


def _of_file(op: Operation, handle: Operation, path: Path) -> Table:
    """The columns of a text file that an operation names."""
    offset: Any = op.attrs.get("offset", 0)
    size: Any = op.get_attr("vocab_size")
    columns: Any = (op.get_attr("key_index"), op.get_attr("value_index"))
    attrs: Any = [handle.get_attr(name) for name in ("key_dtype", "value_dtype")]
    types: Any = tuple(map(np.dtype, attrs))
    delimiter: Any = op.get_attr("delimiter")
    try:
        lines = text_lines(read_bytes(path), -1 if size is None else size, offset, str(path))
        return Table(*text_columns(lines, columns, types, delimiter, str(path)))
    except OpError as error:
        raise ModelError(f"{op.type} '{op.name}': {error}") from None


def used_entries(op: Operation, keys: np.ndarray, values: np.ndarray) -> Table | None:
    """The contents of the table that `op` makes, of what is exported of it.

    Of a dense table that is all buckets, [n, 1], of which some have no key. None for keys or values
    that are vectors.
    """
    if keys.size != values.size:
        return None
    keys, values = keys.ravel(), values.ravel()
    if op.inputs:
        unused = [key.tolist() for key in evaluate(op.graph, op.inputs, {})]
        is_used = np.array([key not in unused for key in keys.tolist()], bool)
        keys, values = keys[is_used], values[is_used]
    return Table(keys, values)
