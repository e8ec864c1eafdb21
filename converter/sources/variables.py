"""The values of a SavedModel's variables and tables, found by following how it restores them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...graph.core.calls import CALLS, called_function
from ...graph.core.evaluate import evaluate
from ...graph.core.graph import Graph, Operation, Tensor
from ...graph.core.order import data_and_control_inputs, ordered
from ...graph.core.shapes import Shape, merge
from ...graph.format.nodedef import Reference
from ...graph.format.tensor_proto import TensorReader
from ...schema.errors import ModelError, NotFoundError
from ...schema.tensorflow.bundle import Bundle, Slice, open_bundle
from .source import some
from .state import Table

if TYPE_CHECKING:
    from ...graph.core.library import FunctionLibrary
    from ...graph.format.messages import FunctionDef, NodeDef

RESTORING = "RestoreV2"
ASSIGNING = ("Assign", "AssignVariableOp")
IMPORTING = ("LookupTableImport", "LookupTableImportV2")
RESTORED = ASSIGNING + IMPORTING
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

    def __init__(
        self, graph: Graph, restore_op: str, prefix: Path, copies: Mapping[str, str] | None = None
    ):
        """Prepares to read them.

        Args:
            graph: The graph that has the operation `restore_op`, and all that it needs.
            restore_op: The name of the operation that restores all variables, or "".
            prefix: The checkpoint.
            copies: Variables, and those that the checkpoint has in their place.
        """
        self._graph, self._restore_op, self._prefix = graph, restore_op, prefix
        self._copies = copies or {}
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
                entries = self._restored.variables
                self._values.update(_read(unread, bundle, entries))
            except NotFoundError as error:
                raise OSError(f"The model has variables, but {error.message}") from None
        return {op: self._values[op.name] for op in operations}

    @cached_property
    def _restored(self) -> Restored:
        sources = restored(self._graph, self._restore_op)
        for variable, copy in self._copies.items():
            if copy in sources.variables:
                sources.variables.setdefault(variable, sources.variables[copy])
        return sources

    def table(self, op: Operation) -> Table | None:
        """The contents that a checkpoint has of a table, of which it says keys and values.

        Raises:
            OSError: The checkpoint is missing.
            DataLossError: The checkpoint is damaged.
        """
        entries = self._restored.tables.get(op.name)
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


def variable_copies(nodes: Iterable[NodeDef]) -> dict[str, str]:
    """Variables, and others that begin as they do: Keras 3 saves a checkpoint of such copies.

    VarHandleOp(variable) -> ReadVariableOp -> AssignVariableOp(copy)
    """
    read = {node.name: node.input[0] for node in nodes if node.op == "ReadVariableOp"}
    assigned = ((n.input[0], n.input[1]) for n in nodes if n.op == "AssignVariableOp")
    return {read[value]: copy for copy, value in assigned if value in read}


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
        steps = [_Operation(op) for op in needed if op.type in RESTORED or called_function(op)]
        _collect(steps, graph.functions, result, MAX_DEPTH)
    return result


class _Operation:
    """An operation of a graph as `_collect` sees it."""

    def __init__(self, op: Operation):
        self._op = op
        self.kind, self.name = op.type, op.name

    @property
    def function(self) -> str | None:
        """The function that it calls."""
        reference = called_function(self._op)
        return None if reference is None else reference.name

    @property
    def inputs(self) -> list[_Output]:
        """Where its inputs come from."""
        return [_origin(tensor) for tensor in self._op.inputs]

    @property
    def strings(self) -> np.ndarray | None:
        """The value of a constant."""
        value = self._op.attrs.get("value")
        return value if isinstance(value, np.ndarray) else None


def _origin(tensor: Tensor) -> _Output:
    while tensor.op.type == "Identity":
        tensor = tensor.op.inputs[0]
    return _Output(_Operation(tensor.op), tensor.value_index)


class _Node:
    """A node of a function's body as `_collect` sees it."""

    def __init__(self, node: NodeDef, body: _Body):
        self._node, self._body = node, body
        self.kind, self.name = node.op, node.name
        self.texts = [text for text in node.input if not text.startswith("^")]

    @property
    def function(self) -> str | None:
        """The function that it calls."""
        if self.kind in CALLS:
            return self._node.attr["f"].func.name
        return self.kind if self.kind in self._body.functions else None

    @cached_property
    def inputs(self) -> list[_Output]:
        """Where its inputs come from."""
        return [self._body.origin(text) for text in self.texts]

    @cached_property
    def strings(self) -> np.ndarray | None:
        """The value of a constant."""
        if "value" not in self._node.attr:
            return None
        return TensorReader().read(self._node.attr["value"].tensor, f"Const '{self.name}'")


class _Output(NamedTuple):
    """One of the outputs of an operation."""

    op: _Operation | _Node
    position: int


class _Body:
    """The nodes of a function: hundreds are read for their names alone, of which no graph is made.

    `arguments` are what it is called with.
    """

    def __init__(
        self, message: FunctionDef, functions: FunctionLibrary, arguments: Sequence[_Output]
    ):
        self.functions = functions
        self._nodes = {node.name: _Node(node, self) for node in message.node_def}
        names = [argument.name for argument in message.signature.input_arg]
        self._arguments = dict(zip(names, arguments, strict=False))

    def origin(self, text: str) -> _Output:
        """What gives the input that a node calls `text`."""
        for _ in range(len(self._nodes) + 1):
            reference = Reference(text)
            if reference.node in self._arguments:
                return self._arguments[reference.node]
            node = self._nodes.get(reference.node)
            if node is None:
                raise ModelError(f"a function reads '{text}', which it does not have")
            if node.kind != "Identity" or not node.texts:
                return _Output(node, reference.index)
            text = node.texts[0]
        raise ModelError(f"a function reads '{text}', which reads itself")

    def steps(self) -> list[_Node]:
        """The nodes that restore, or call functions that may."""
        return [node for node in self._nodes.values() if node.kind in RESTORED or node.function]


def _collect(
    steps: Iterable[_Operation | _Node], functions: FunctionLibrary, result: Restored, depth: int
) -> None:
    """Adds what operations restore, and functions they call."""
    for step in steps:
        function = None if step.function is None else functions.get(step.function)
        if function is not None and depth:
            assert function.message is not None  # it was read from a file
            body = _Body(function.message, functions, step.inputs)
            _collect(body.steps(), functions, result, depth - 1)
        elif step.kind in ASSIGNING:
            variable, value = step.inputs
            entry = _entry_of(value)
            if entry is not None:
                result.variables[variable.op.name] = entry
        elif step.kind in IMPORTING:
            table, *contents = step.inputs
            keys, values = map(_entry_of, contents)
            if keys is not None and values is not None:
                result.tables[table.op.name] = keys, values


def _entry_of(value: _Output) -> CheckpointEntry | None:
    """Where a checkpoint has a value; None for one that is from no checkpoint."""
    if value.op.kind != RESTORING:
        return None
    keys, slices = (output.op.strings for output in value.op.inputs[1:])
    return CheckpointEntry(_item(keys, value.position), _item(slices, value.position))


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


def _item(strings: np.ndarray | None, i: int) -> str:
    """An element of a constant of strings; empty when there is none."""
    if strings is None or i >= strings.size:
        return ""
    item = strings.flat[i]
    return item.decode("utf-8", "surrogateescape") if isinstance(item, bytes) else ""
