"""Grouping and ordering of operations."""

from __future__ import annotations

import builtins

from ..core.create import convert_to_tensor, create, output
from ..core.graph import Operation, Tensor
from ..core.indexed_slices import IndexedSlices
from ..core.scopes import control_dependencies, get_default_graph, graph_of, name_scope


def no_op(name: str | None = None) -> Operation:
    """An operation that does nothing; control dependencies can hang on it."""
    return create("NoOp", (), None, name)


def group(*inputs, name: str | None = None) -> Operation:
    """An operation that is done when all of `inputs` are: tensors, operations, nests of them.

    Raises TypeError for anything else.
    """
    graph = graph_of(_leaves(inputs))
    with graph.as_default(), name_scope(name, "group_deps", []) as scope:
        if not inputs:
            return create("NoOp", (), None, scope)
        before = [_operation(item) for item in _leaves(inputs)]
        with graph.control_dependencies(before):
            return create("NoOp", (), None, scope)


def _leaves(nest) -> list:
    found = []
    for item in nest:
        if isinstance(item, dict):
            found += _leaves(item.values())
        elif isinstance(item, (list, builtins.tuple)):
            found += _leaves(item)
        else:
            found.append(item)
    return found


def _operation(item) -> Operation:
    if not isinstance(item, (Operation, Tensor, IndexedSlices)) and not hasattr(
        item, "as_graph_element"
    ):
        raise TypeError(
            "'inputs' should be zero or more (nested) Tensors. Received "
            f"{item} with type '{type(item)}'."
        )
    if isinstance(item, IndexedSlices):
        return item.values.op
    element = get_default_graph().as_graph_element(item)
    return element.op if isinstance(element, Tensor) else element


def tuple(tensors, name: str | None = None, control_inputs=None) -> list:
    """The tensors of a list, each once all of them are there; None stays None.

    Raises:
        ValueError: There is no tensor.
        TypeError: A control input is no operation or tensor.
    """
    with name_scope(name, "tuple", [t for t in tensors if t is not None]):
        found = [
            t if t is None or isinstance(t, (Operation, IndexedSlices)) else convert_to_tensor(t)
            for t in tensors
        ]
        gates = [t if isinstance(t, Operation) else t.op for t in found if t is not None]
        gates += [_operation(item) for item in control_inputs or ()]
        if not gates:
            raise ValueError(f"'tensors' must have at least one Tensor. Received: {tensors}.")
        order = {op: i for i, op in enumerate(gates[0].graph.operations)}
        gate = group(*sorted(set(gates), key=order.__getitem__))
        return [None if item is None else _after(gate, item) for item in found]


def _after(gate: Operation, item):
    """`item`, once `gate` is done."""
    if isinstance(item, Operation):
        with control_dependencies([gate]):
            return group(item)
    return with_dependencies([gate], item)


def with_dependencies(dependencies, output_tensor, name: str | None = None):
    """`output_tensor`, once `dependencies` are done."""
    named = name_scope(name, "control_dependency", [output_tensor])
    with named as scope, control_dependencies(dependencies):
        if isinstance(output_tensor, IndexedSlices):
            values = output("Identity", [output_tensor.values], name=scope)
            return IndexedSlices(values, output_tensor.indices, output_tensor.dense_shape)
        return output("Identity", [convert_to_tensor(output_tensor)], name=scope)


def Assert(condition, data, summarize: int | None = None, name: str | None = None):
    """An operation that fails with InvalidArgumentError unless `condition` holds."""
    with name_scope(name, "Assert", [condition]) as scope:
        attrs = {"summarize": 3 if summarize is None else summarize}
        return create("Assert", [condition, list(data)], attrs, scope)
