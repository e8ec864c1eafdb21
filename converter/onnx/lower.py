"""An ONNX graph lowered to the IR, node by node."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING

from ...schema.errors import ConverterError
from ..ir.builder import Builder
from ..ir.graph import Graph, Origin, Signature
from ..ir.sizes import Scope, lowered
from ..lowering import unsupported
from .registry import LOWERINGS, Node

if TYPE_CHECKING:
    from onnx import NodeProto

    from ..ir.graph import Tensor
    from ..sources.onnx import OnnxSource

DOMAINS = ("", "ai.onnx")


def lower_model(source: OnnxSource) -> Graph:
    """The IR of an ONNX model.

    Raises:
        UnsupportedOps: some operators have no lowering; all of them are listed.
        ConverterError: a node cannot be lowered as it is used here.
    """
    refuse_unsupported(source.nodes)
    return lowered(partial(_lower, source))


def _lower(source: OnnxSource, scope: Scope) -> Graph:
    """The IR of a model whose sizes are what `scope` assumes."""
    graph = Graph("main", scope)
    b = Builder(graph)
    tensors: dict[str, Tensor] = {}
    for port in source.inputs:
        tensors[port.name] = b.input(port.name, port.tensor.dtype, port.tensor.shape, port.dims)
    for name, array in source.arrays.items():
        tensors[name] = b.constant(array, name)
    for proto in source.nodes:
        node = Node(proto, source.opset, [tensors[name] if name else None for name in proto.input])
        b.origin(next(iter(proto.output), proto.name))
        for name, result in zip(proto.output, lowered_outputs(node, b), strict=False):
            tensors[name] = result
            if name and result.origin is None and not result.is_constant:
                result.origin = Origin(name)
    graph.outputs = [tensors[port.name] for port in source.outputs]
    graph.output_names = [port.name for port in source.outputs]
    names = (tuple(p.key for p in ports) for ports in (source.inputs, source.outputs))
    graph.signature = Signature(source.key, *names)
    return graph


def lowered_outputs(node: Node, b: Builder) -> tuple[Tensor, ...]:
    """The IR tensors of one node's outputs."""
    results = LOWERINGS.known(node.type)(node, b)
    results = tuple(results) if isinstance(results, tuple | list) else (results,)
    if len(results) < node.n_outputs:
        raise ConverterError(
            f"{node.type} '{node.name}': has {node.n_outputs} outputs, only the first "
            f"{len(results)} are supported"
        )
    return results


def refuse_unsupported(nodes: Iterable[NodeProto]) -> None:
    """Raises UnsupportedOps naming every operator without a lowering, each with a node."""
    missing: dict[str, list[str]] = {}
    for node in nodes:
        if node.domain not in DOMAINS:
            missing.setdefault(f"{node.domain}.{node.op_type}", []).append(node_name(node))
        elif LOWERINGS.get(node.op_type) is None:
            missing.setdefault(node.op_type, []).append(node_name(node))
    unsupported.refuse(
        missing,
        "Replace these layers, or cut the graph before them with output_arrays.",
    )


def node_name(node: NodeProto) -> str:
    """A node's name, or its first output's where it has none."""
    return node.name or next(iter(node.output), "")
