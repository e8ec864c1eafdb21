"""Grouping and ordering of operations."""

from __future__ import annotations

import builtins
import contextlib
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias, overload

from ...core.composite.indexed_slices import IndexedSlices
from ...core.create import convert_to_tensor, create, output
from ...core.graph import Operation, Tensor
from ...core.scopes import (
    colocate_with,
    control_dependencies,
    get_default_graph,
    graph_of,
    name_scope,
    operation_of,
)

if TYPE_CHECKING:
    from ...core.graph import Graph
    from ...core.typing import TensorLike
    from ...derivatives.registry import Gradient
    from ...variables.variables import Variable

GraphElement: TypeAlias = "Operation | Tensor | Variable | IndexedSlices"
"""What an operation can wait for."""

Nest: TypeAlias = "GraphElement | Sequence[Nest] | Mapping[str, Nest]"


def no_op(name: str | None = None) -> Operation:
    """An operation that does nothing; control dependencies can hang on it."""
    return create("NoOp", (), None, name)


def group(*inputs: Nest, name: str | None = None) -> Operation:
    """An operation that is done when all of `inputs` are: tensors, operations, nests of them.

    Raises TypeError for anything else.
    """
    graph = graph_of(_leaves(inputs))
    with graph.as_default(), name_scope(name, "group_deps", []) as scope:
        if not inputs:
            return create("NoOp", (), None, scope)
        by_device: dict[str, list[Operation]] = {}
        for item in _leaves(inputs):
            op = _operation(item)
            by_device.setdefault(op.device, []).append(op)
        if len(by_device) == 1:
            return _done_on(graph, *by_device.popitem(), scope)
        by_name = sorted(by_device.items())
        before = [_done_on(graph, device, done, "NoOp") for device, done in by_name]
        return _done_on(graph, "", before, scope)


def _done_on(graph: Graph, device: str, before: list[Operation], scope: str) -> Operation:
    """What is done on a device when operations are."""
    place = graph.device(device) if device else contextlib.nullcontext()
    with graph.control_dependencies(before), place:
        return create("NoOp", (), None, scope)


def _leaves(nest: Iterable[Nest]) -> list[Nest]:
    leaves: list[Nest] = []
    for item in nest:
        if isinstance(item, dict):
            leaves += _leaves(item.values())
        elif isinstance(item, (list, builtins.tuple)):
            leaves += _leaves(item)
        else:
            leaves.append(item)
    return leaves


def _operation(item: Nest) -> Operation:
    if isinstance(item, (Sequence, Mapping)) or not (
        isinstance(item, (Operation, Tensor, IndexedSlices)) or hasattr(item, "as_graph_element")
    ):
        raise TypeError(
            "'inputs' should be zero or more (nested) Tensors. Received "
            f"'{item}' with type '{type(item)}'."
        )
    if isinstance(item, IndexedSlices):
        return item.values.op
    return operation_of(get_default_graph(), item)


@overload
def tuple(
    tensors: Sequence[Gradient | None],
    name: str | None = None,
    control_inputs: Iterable[GraphElement] | None = None,
) -> list[Gradient | None]: ...
@overload
def tuple(
    tensors: Sequence[Operation | IndexedSlices | TensorLike | None],
    name: str | None = None,
    control_inputs: Iterable[GraphElement] | None = None,
) -> Sequence[Operation | Gradient | None]: ...
def tuple(
    tensors: Sequence[Operation | IndexedSlices | TensorLike | None],
    name: str | None = None,
    control_inputs: Iterable[GraphElement] | None = None,
) -> Sequence[Operation | Gradient | None]:
    """The tensors of a list, each once all of them are there; None stays None.

    Raises:
        ValueError: There is no tensor.
        TypeError: A control input is no operation or tensor.
    """
    with name_scope(name, "tuple", [t for t in tensors if t is not None]):
        elements = [
            t if t is None or isinstance(t, (Operation, IndexedSlices)) else convert_to_tensor(t)
            for t in tensors
        ]
        gates = [t if isinstance(t, Operation) else t.op for t in elements if t is not None]
        gates += [_operation(item) for item in control_inputs or ()]
        if not gates:
            raise ValueError(f"'tensors' must have at least one Tensor. Received: {tensors}.")
        order = {op: i for i, op in enumerate(gates[0].graph.operations)}
        gate = group(*sorted(set(gates), key=order.__getitem__))
        return [None if item is None else _after(gate, item) for item in elements]


def _after(gate: Operation, item: Operation | Gradient) -> Operation | Gradient:
    """`item`, once `gate` is done."""
    if isinstance(item, Operation):
        with control_dependencies([gate]):
            return group(item)
    return with_dependencies([gate], item)


@overload
def with_dependencies(
    dependencies: Iterable[Operation | Tensor | Variable],
    output_tensor: IndexedSlices,
    name: str | None = None,
) -> IndexedSlices: ...
@overload
def with_dependencies(
    dependencies: Iterable[Operation | Tensor | Variable],
    output_tensor: TensorLike,
    name: str | None = None,
) -> Tensor: ...
def with_dependencies(
    dependencies: Iterable[Operation | Tensor | Variable],
    output_tensor: TensorLike | IndexedSlices,
    name: str | None = None,
) -> Gradient:
    """`output_tensor`, once `dependencies` are done."""
    named = name_scope(name, "control_dependency", [output_tensor])
    with named as scope, control_dependencies(dependencies):
        if isinstance(output_tensor, IndexedSlices):
            with colocate_with(output_tensor.values):
                values = output("Identity", [output_tensor.values], name=scope)
            return IndexedSlices(values, output_tensor.indices, output_tensor.dense_shape)
        tensor = convert_to_tensor(output_tensor)
        with colocate_with(tensor):
            return output("Identity", [tensor], name=scope)


def Assert(
    condition: TensorLike,
    data: Iterable[TensorLike],
    summarize: int | None = None,
    name: str | None = None,
) -> Operation:
    """An operation that fails with InvalidArgumentError unless `condition` holds.

    Args:
        condition: A scalar of bool.
        data: Tensors that the error shows.
        summarize: How many elements of each, 3 by default; all of them where it is -1.
        name: Of the operation.

    Raises TypeError when `data` is no list of what converts to tensors.
    """
    with name_scope(name, "Assert", [condition]) as scope:
        attrs = {"summarize": 3 if summarize is None else summarize}
        if not isinstance(data, Sequence):
            raise TypeError("values must be a sequence.")
        if isinstance(data, (str, bytes)):
            raise TypeError(f"Expected list for 'data' argument to 'Assert' Op, not {data}.")
        return create("Assert", [condition, list(data)], attrs, scope)
