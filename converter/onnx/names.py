"""Names in ONNX models: domains, operators, and the values that nodes read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from onnx import NodeProto

DOMAINS = ("", "ai.onnx")
"""Names of ONNX's first operator set."""


def domain_of(domain: str) -> str:
    """A domain, under one name where it has two."""
    return "" if domain in DOMAINS else domain


def qualified(domain: str, type_: str) -> str:
    """An operator's name with its domain, unless that is ai.onnx.

    >>> qualified("ai.onnx", "Relu"), qualified("ai.onnx.ml", "Scaler")
    ('Relu', 'ai.onnx.ml.Scaler')
    """
    return f"{domain_of(domain)}.{type_}".removeprefix(".")


def schema_of(type_: str, domain: str, opset: int) -> Any:
    """ONNX's declaration of an operator; None when there is none."""
    from onnx import defs

    try:
        return defs.get_schema(type_, opset, domain)
    except defs.SchemaError:
        return None


def names_read(node: NodeProto) -> Iterator[str]:
    """The names of the values that a node reads: its inputs, and what graphs inside it capture."""
    yield from node.input
    for attribute in node.attribute:
        if attribute.HasField("g"):
            graph = attribute.g
            known = {"", *(v.name for v in graph.input), *(t.name for t in graph.initializer)}
            for inner in graph.node:
                yield from (name for name in names_read(inner) if name not in known)
                known.update(inner.output)
            yield from (value.name for value in graph.output if value.name not in known)


def nodes_within(nodes: Iterable[NodeProto]) -> Iterator[NodeProto]:
    """The nodes, and those of the graphs inside them."""
    pending = [nodes]
    while pending:
        for node in pending.pop():
            yield node
            pending += [a.g.node for a in node.attribute if a.HasField("g")]
