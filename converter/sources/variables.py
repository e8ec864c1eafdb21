"""The values of a SavedModel's variables and tables, found by following how it restores them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...graph.core.evaluate import evaluate
from ...graph.core.graph import Graph, Operation, Tensor
from ...graph.core.order import data_and_control_inputs, ordered
from ...graph.core.shapes import Shape, merge
from ...graph.format.inline import called_function
from ...schema.bundle import Bundle, Slice, open_bundle
from ...schema.errors import ModelError, NotFoundError
from .source import some
from .state import Table

RESTORING = "RestoreV2"
ASSIGNING = ("Assign", "AssignVariableOp")
IMPORTING = ("LookupTableImport", "LookupTableImportV2")
MAX_DEPTH = 8  # of functions that call functions to restore


class CheckpointEntry(NamedTuple):
    """Where a checkpoint has the value of a variable: a tensor's name and, if cut, which slice."""

    key: str
    slice_spec: str


class Restored(NamedTuple):
    """Where a model takes what it keeps from, by the name of the operation that makes a handle.

    Attributes:
        variables: where their values are.
        tables: where their keys and their values are.
    """

    variables: dict[str, CheckpointEntry]
    tables: dict[str, tuple[CheckpointEntry, CheckpointEntry]]


class Variables:
    """The variables of a SavedModel; each is read once, when it is first needed."""

    def __init__(self, graph: Graph, restore_op: str, prefix: Path):
        """Prepares to read them.

        Args:
            graph: The graph that has the operation `restore_op`, and all that it needs.
            restore_op: The name of the operation that restores all variables, or "".
            prefix: The checkpoint.
        """
        self._graph, self._restore_op, self._prefix = graph, restore_op, prefix
        self._values: dict[str, np.ndarray] = {}

    def __call__(self, operations: list[Operation]) -> dict[Operation, np.ndarray]:
        """The values of variables.

        Raises:
            OSError: The checkpoint is missing.
            DataLossError: The checkpoint is damaged.
            ModelError: The checkpoint has no value for a variable, or one of another type or shape.
        """
        unread = [op for op in operations if op.name not in self._values]
        if unread:
            try:
                bundle = open_bundle(self._prefix)
                entries = self._restored().variables
                self._values.update(_read(unread, bundle, entries))
            except NotFoundError as error:
                raise OSError(f"The model has variables, but {error.message}") from None
        return {op: self._values[op.name] for op in operations}

    def _restored(self) -> Restored:
        return restored(self._graph, self._restore_op)

    def table(self, op: Operation) -> Table | None:
        """The contents that a checkpoint has of a table, of which it says keys and values.

        Raises:
            OSError: The checkpoint is missing.
            DataLossError: The checkpoint is damaged.
        """
        entries = self._restored().tables.get(op.name)
        if entries is None:
            return None
        try:
            bundle = open_bundle(self._prefix)
            keys, values = (bundle.read(entry.key) for entry in entries)
        except NotFoundError as error:
            raise OSError(f"The model has tables, but {error.message}") from None
        if op.inputs:  # a dense table's buckets [n, key], of which some have no key
            unused = [key.tolist() for key in evaluate(op.graph, op.inputs, {})]
            if isinstance(unused[0], list) or keys.size != values.size:
                return None
            keys, values = keys.ravel(), values.ravel()
            is_used = np.array([key not in unused for key in keys.tolist()], bool)
            keys, values = keys[is_used], values[is_used]
        return Table(keys, values)


def _read(
    operations: list[Operation], bundle: Bundle, entries: Mapping[str, CheckpointEntry]
) -> dict[str, np.ndarray]:
    """The values of variables by name; under its own name if nothing restores one."""
    variable_entries, missing = {}, []
    for op in operations:
        entry = entries.get(op.name) or CheckpointEntry(_shared_name(op), "")
        if entry.key in bundle:
            variable_entries[op] = entry
        else:
            missing.append(op.name)
    if missing:
        raise ModelError(
            f"'{bundle.index}' has no values for the variables {some(missing)}; save the model "
            "again from a program that has initialised them"
        )
    return {op.name: _checked(op, bundle, entry) for op, entry in variable_entries.items()}


def _shared_name(op: Operation) -> str:
    name = op.attrs.get("shared_name")
    return name.decode("utf-8", "surrogateescape") if isinstance(name, bytes) and name else op.name


def _checked(op: Operation, bundle: Bundle, entry: CheckpointEntry) -> np.ndarray:
    """The value of a variable, of the type and shape that the graph says."""
    if entry.slice_spec:
        value = bundle.read_slice(entry.key, parse_slice(entry.slice_spec, op.name))
    else:
        value = bundle.read(entry.key)
    dtype, shape = op.get_attr("dtype"), op.get_attr("shape")
    if op.type == "VariableV2" and shape == ():
        shape = None  # TensorFlow 1 wrote an unknown shape so
    if dtype != value.dtype or not _agree(shape, value.shape):
        raise ModelError(
            f"Variable '{op.name}' is {dtype} {shape} in the graph, but '{entry.key}' in "
            f"'{bundle.index}' is {value.dtype} {value.shape}; the graph and the checkpoint are of "
            "different models, save them together"
        )
    return value


def _agree(shape: Any, other: Shape) -> bool:
    try:
        merge(shape, other)
    except ValueError:
        return False
    return True


def restored(graph: Graph, restore_op: str) -> Restored:
    """Where the operation `restore_op` takes the values of variables and tables from.

    RestoreV2(prefix, keys, parts) -> value -> Identity -> AssignVariableOp(handle, value)
                                   -> keys, values -> LookupTableImportV2(handle, keys, values)
    """
    result = Restored({}, {})
    if restore_op in graph:
        needed = ordered([graph.get_operation_by_name(restore_op)], data_and_control_inputs)
        _collect(needed, {}, result, MAX_DEPTH)
    return result


def _collect(
    operations: Iterable[Operation],
    arguments: Mapping[Tensor, Tensor],
    result: Restored,
    depth: int,
) -> None:
    """Adds what operations restore, and functions they call, `arguments` by their tensors there."""

    def origin(tensor: Tensor) -> Tensor:
        while tensor.op.type == "Identity":
            tensor = tensor.op.inputs[0]
        return arguments.get(tensor, tensor)

    def entry_of(value: Tensor) -> CheckpointEntry | None:
        value = origin(value)
        if value.op.type != RESTORING:
            return None
        keys, slices = (origin(tensor) for tensor in value.op.inputs[1:])
        return CheckpointEntry(_item(keys, value.value_index), _item(slices, value.value_index))

    for op in operations:
        reference = called_function(op)
        if reference is not None and reference.name in op.graph.functions and depth:
            body = op.graph.functions.body(reference)
            body_arguments = dict(zip(body.inputs or (), map(origin, op.inputs), strict=False))
            _collect(body.operations, body_arguments, result, depth - 1)
        elif op.type in ASSIGNING:
            entry = entry_of(op.inputs[1])
            if entry is not None:
                result.variables[origin(op.inputs[0]).op.name] = entry
        elif op.type in IMPORTING:
            keys, values = map(entry_of, op.inputs[1:])
            if keys is not None and values is not None:
                result.tables[origin(op.inputs[0]).op.name] = keys, values


def parse_slice(text: str, variable: str) -> Slice:
    """The slice that a specification such as "100 3 64,36:-" (shape, start and length) means."""
    try:
        *shape, extents = text.split(" ")
        pairs = [
            (0, int(size)) if extent == "-" else tuple(map(int, extent.split(",")))
            for size, extent in zip(shape, extents.split(":"), strict=True)
        ]
        start, sizes = zip(*pairs, strict=True)
    except ValueError:
        raise ModelError(
            f"Variable '{variable}' is restored from an unknown slice '{text}'"
        ) from None
    return Slice(start, sizes)


def _item(tensor: Tensor, i: int) -> str:
    """An element of a constant of strings; empty when there is none."""
    value = tensor.op.attrs.get("value")
    if not isinstance(value, np.ndarray) or i >= value.size:
        return ""
    item = value.flat[i]
    return item.decode("utf-8", "surrogateescape") if isinstance(item, bytes) else ""
