"""`tf.graph_util`: parts of GraphDefs, and variables as constants."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from ...schema import proto
from ..core.elements import Operation
from ..core.graph import Graph
from ..core.tensor_shape import TensorShape
from .variable_constants import Readers, Value, producer, write_constant

if TYPE_CHECKING:
    from ..session.session import Session
    from .messages import GraphDef, NodeDef

VARIABLES = ("Variable", "VariableV2")
HANDLES = ("VarHandleOp",)
_ON_CPU = {"Const": ("dtype",), "DynamicStitch": ("T",), "Cast": ("SrcT", "DstT")}
"""Operations that devices other than processors lack for some types: the attributes with those."""
_STRING, _INT32 = 7, 3


def must_run_on_cpu(node: NodeDef | Operation, pin_variables_on_cpu: bool = False) -> bool:
    """Whether a node can run on a processor alone: strings, int32, and variables if asked for."""
    node_def = node.node_def if isinstance(node, Operation) else node
    if pin_variables_on_cpu and node_def.op in VARIABLES:
        return True
    types = {node_def.attr[name].type for name in _ON_CPU.get(node_def.op, ())}
    return bool(types & {_STRING, _INT32})


def extract_sub_graph(graph_def: GraphDef, dest_nodes: Iterable[str]) -> GraphDef:
    """The nodes that some nodes need, in the order they have.

    Raises:
        TypeError: `dest_nodes` is a string, or `graph_def` no GraphDef.
        AssertionError: A node is not in the graph.
    """
    if not isinstance(graph_def, type(proto.GraphDef())):
        raise TypeError(f"graph_def must be a graph_pb2.GraphDef proto, got {type(graph_def)}")
    if isinstance(dest_nodes, str):
        raise TypeError(f"dest_nodes must be an iterable of strings, got {dest_nodes!r}")
    nodes = {node.name: node for node in graph_def.node}
    pending = list(dest_nodes)
    needed: set[str] = set()
    while pending:
        name = pending.pop()
        if name in needed:
            continue
        if name not in nodes:
            raise AssertionError(f"{name} is not in graph")
        needed.add(name)
        pending += [producer(text) for text in nodes[name].input]
    part = cast("GraphDef", proto.GraphDef())
    for node in graph_def.node:
        if node.name in needed:
            part.node.add().CopyFrom(node)
    part.library.CopyFrom(graph_def.library)
    part.versions.CopyFrom(graph_def.versions)
    return part


def remove_training_nodes(
    input_graph: GraphDef, protected_nodes: Sequence[str] | None = None
) -> GraphDef:
    """The graph without CheckNumerics, and with what Identity nodes read in their place.

    An Identity stays that is protected, waits for something or is waited for, or with which
    another node stands.
    """
    protected = set(protected_nodes or ())
    checks = {n.name for n in input_graph.node if n.op == "CheckNumerics"} - protected
    nodes: list[NodeDef] = []
    for node in input_graph.node:
        if node.name not in checks:
            copy = cast("NodeDef", proto.NodeDef())
            copy.CopyFrom(node)
            inputs = [text for text in node.input if producer(text) not in checks]
            del copy.input[:]
            copy.input.extend(inputs)
            nodes.append(copy)
    for node in nodes:
        controls = [producer(text) for text in node.input if text.startswith("^")]
        protected.update(controls)
        if controls:
            protected.add(node.name)
        for place in node.attr["_class"].list.s if "_class" in node.attr else ():
            protected.add(place.decode().removeprefix("loc:@"))
    sources = {n.name: n.input[0] for n in nodes if n.op == "Identity" and n.name not in protected}
    result = cast("GraphDef", proto.GraphDef())
    for node in nodes:
        if node.name in sources:
            continue
        inputs = [_followed(text, sources) for text in node.input]
        del node.input[:]
        node.input.extend(inputs)
        result.node.add().CopyFrom(node)
    return result


def _followed(text: str, sources: dict[str, str]) -> str:
    while producer(text) in sources:
        text = ("^" if text.startswith("^") else "") + sources[producer(text)].removeprefix("^")
    return text


def convert_variables_to_constants(
    sess: Session,
    input_graph_def: GraphDef,
    output_node_names: Sequence[str],
    variable_names_whitelist: Iterable[str] | None = None,
    variable_names_blacklist: Iterable[str] | None = None,
) -> GraphDef:
    """The nodes that some nodes need, with the values of a session in place of variables.

    Args:
        sess: Has the values.
        input_graph_def: Of its graph.
        output_node_names: What is to be computed.
        variable_names_whitelist: The variables to replace; all by default.
        variable_names_blacklist: Variables that stay.

    Raises AssertionError when a node is not in the graph, FailedPreconditionError when a variable
    has no value.
    """
    part = extract_sub_graph(input_graph_def, output_node_names)
    whitelist = None if variable_names_whitelist is None else set(variable_names_whitelist)
    excluded = set(variable_names_blacklist or ())
    names = [
        node.name
        for node in part.node
        if node.op in VARIABLES + HANDLES
        and (whitelist is None or node.name in whitelist)
        and node.name not in excluded
    ]
    values = dict(
        zip(names, sess.run([_value_of(sess.graph, name) for name in names]), strict=True)
    )
    result = cast("GraphDef", proto.GraphDef())
    result.CopyFrom(part)
    known: dict[str, Value] = {}
    for node in result.node:
        name = node.name
        if name in values:
            value = np.asarray(values[name])
            known[name] = Value(value.dtype, value.shape)
            node.Clear()
            write_constant(node, name, value)
    Readers(result.library).rewrite(result.node, known)
    return result


def _value_of(graph: Graph, name: str) -> str:
    """The tensor with the value of a variable."""
    op = graph.get_operation_by_name(name)
    if op.type not in HANDLES:
        return f"{name}:0"
    readers = [other for other in op.outputs[0].consumers() if other.type == "ReadVariableOp"]
    if not readers:
        raise ValueError(f"the graph does not read variable '{name}'")
    return readers[0].outputs[0].name


def tensor_shape_from_node_def_name(graph: Graph, input_name: str) -> TensorShape:
    """The shape of a tensor of a graph, by its name or its operation's."""
    name = input_name if ":" in input_name else f"{input_name}:0"
    return graph.get_tensor_by_name(name).get_shape()
