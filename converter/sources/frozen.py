"""Frozen graphs: a GraphDef file without variables, and the names of its inputs and outputs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from ...graph.core.graph import Graph, Operation, Tensor
from ...graph.format.graphdef import import_graph_def
from ...schema.errors import noted
from .ends import needed_placeholders, unread_operations
from .freeze import Values, freeze
from .graph_def import message_of
from .source import (
    GraphSource,
    Port,
    Shapes,
    check_names,
    find_tensors,
    op_name,
    prune_nodes,
    set_shapes,
    short_name,
    some,
)
from .state import Table
from .tables import FILLING, Tables

STATISTICS = "FusedBatchNorm"  # its further results are for training


def load(
    graph_def,
    input_arrays: Iterable[str] | None = None,
    output_arrays: Iterable[str] | None = None,
    input_shapes: Shapes | None = None,
    values: Values | None = None,
    model: str = "graph_def",
    saved_table: Callable[[Operation], Table | None] | None = None,
) -> GraphSource:
    """The computation of `output_arrays` from `input_arrays` in a frozen graph.

    Args:
        graph_def: The path of a GraphDef file, a GraphDef message, or the bytes of one.
        input_arrays: Names of tensors, "x" meaning "x:0"; any tensor may be an input. None for the
            placeholders that the outputs need.
        output_arrays: Names of tensors; None for those of operations that nobody reads.
        input_shapes: What is known of the shapes of inputs, by their names.
        values: Gives the values of variables, where the graph is not frozen.
        model: What the source is, as `GraphSource.model`.
        saved_table: Gives the contents of a table that nothing in the graph fills.

    Raises:
        OSError: The file is missing or holds no GraphDef.
        ValueError: The graph has no such tensors, or has variables without values, or the shapes
            contradict it; nobody named the inputs or outputs, and the graph does not tell them.
        ModelError: The graph is malformed.
    """
    checked_names = (
        _checked_names(input_arrays, "input_arrays"),
        _checked_names(output_arrays, "output_arrays"),
    )
    message = message_of(graph_def)
    known = {node.name: node.op for node in message.node}
    input_arrays, output_arrays, graph = _ends(message, known, *checked_names)
    tensors = find_tensors(graph, [*input_arrays, *output_arrays], known)
    inputs = dict(zip(input_arrays, tensors, strict=False))
    outputs = dict(zip(output_arrays, tensors[len(input_arrays) :], strict=True))
    shapes = set_shapes(inputs, input_shapes or {})
    pairs = [(inputs[name], shapes[name]) for name in inputs]
    filling = [op.name for op in graph.operations if op.type in FILLING]
    tables = Tables(graph, filling, saved=saved_table)
    frozen = freeze(graph, pairs, list(outputs.values()), values or _refuse_variables, tables)
    return GraphSource(
        None,
        frozen.graph,
        _ports(inputs, frozen.graph.inputs),
        _ports(outputs, frozen.graph.outputs),
        model,
        state_variables=frozen.state_variables,
        state=frozen.state,
    )


def _checked_names(arrays: Iterable[str] | None, argument: str) -> list[str] | None:
    if arrays is None:
        return None
    check_names(arrays, argument)
    return list(arrays)


def _ends(
    message, known: Collection[str], input_arrays: list[str] | None, output_arrays: list[str] | None
) -> tuple[list[str], list[str], Graph]:
    """The names of inputs and outputs, found where they are None, and the graph they need.

    They are not searched for when one of the names given is not `known`: that is an error later.
    """
    named_operations = [op_name(name) for name in [*(input_arrays or ()), *(output_arrays or ())]]
    are_known = set(named_operations) <= set(known)
    roots = list(map(op_name, output_arrays or ()))
    if output_arrays is None and are_known:
        roots = unread_operations(message, input_arrays)
    if input_arrays is None:
        input_arrays = needed_placeholders(message, roots) if are_known else []
    filling = [node.name for node in message.node if node.op in FILLING]
    prune_nodes(message, [*map(op_name, input_arrays), *filling, *roots])
    graph = import_graph_def(message)
    if output_arrays is None:
        output_arrays = [t.name for root in roots for t in _results(graph, root)]
    return input_arrays, output_arrays, graph


def _results(graph: Graph, name: str) -> list[Tensor]:
    """The tensors of an operation that are outputs when nobody reads it."""
    op = graph.get_operation_by_name(name)
    return op.outputs[:1] if op.type.startswith(STATISTICS) else op.outputs


def _ports(names: Iterable[str], tensors: Iterable[Tensor] | None) -> tuple[Port, ...]:
    names = list(map(short_name, names))
    pairs = zip(names, list(tensors or ())[: len(names)], strict=True)
    return tuple(Port(name, name, tensor) for name, tensor in pairs)


def _refuse_variables(operations: list[Operation]):
    names = [op.name for op in operations]
    raise noted(
        ValueError("Please freeze the graph using freeze_graph.py."),
        f"The outputs need the variables {some(names)}, which have no values in a GraphDef; "
        "convert the SavedModel instead, or freeze the graph together with its checkpoint",
    )
