"""Positions of inputs and outputs: the source's own, or those that TensorFlow 2.21 gives them."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace

from .source import GraphSource, Port, Source, some

SOURCE, TENSORFLOW = "source", "tensorflow"
"""Values of `io_order`."""


def arranged(sources: Sequence[Source], io_order: str) -> list[Source]:
    """The sources with their inputs and outputs, and they themselves, in the order asked for."""
    if io_order == SOURCE:
        return list(sources)
    return [_as_tensorflow(s) for s in sorted(sources, key=lambda source: source.key or "")]


def _as_tensorflow(source: Source) -> Source:
    if not isinstance(source, GraphSource) or source.tensorflow is None:
        return source
    inputs, outputs = (
        tuple(sorted(ports, key=lambda port: keys.index(port.key)))
        for ports, keys in zip((source.inputs, source.outputs), source.tensorflow, strict=True)
    )
    graph = copy.copy(source.graph)
    variables = [
        list(tensors or ())[len(ports) :]
        for tensors, ports in ((graph.inputs, inputs), (graph.outputs, outputs))
    ]
    graph.inputs = [port.tensor for port in inputs] + variables[0]
    graph.outputs = [port.tensor for port in outputs] + variables[1]
    return replace(source, graph=graph, inputs=inputs, outputs=outputs)


def difference(sources: Sequence[Source]) -> str | None:
    """In one line, where TensorFlow's positions are not the source's; None when they are."""
    rows = []
    for source in sources:
        other = _as_tensorflow(source)
        pairs = ("inputs", source.inputs, other.inputs), ("outputs", source.outputs, other.outputs)
        for kind, source_ports, tensorflow_ports in pairs:
            if source_ports != tensorflow_ports:
                keys, tensorflow_keys = _keys(source_ports), _keys(tensorflow_ports)
                rows.append(f"{kind} {keys}, TensorFlow 2.21 would write {tensorflow_keys}")
    if not rows:
        return None
    more = f" (and {len(rows) - 1} more like it)" if len(rows) > 1 else ""
    return (
        f"positions in the file: {rows[0]}{more}; go by name, or set converter.io_order = "
        f"'{TENSORFLOW}' (--io-order {TENSORFLOW})"
    )


def _keys(ports: Sequence[Port]) -> str:
    return some(port.key for port in ports)
