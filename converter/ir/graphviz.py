"""Drawings of the IR, in the language of Graphviz."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

from ...schema.files import write_atomic
from .graph import Graph, Tensor


def drawing(graphs: Sequence[Graph]) -> str:
    """A digraph of some graphs and of the graphs they call: operators, tensors on the edges."""
    lines = ["digraph model {", "  node [shape=box];"]
    reachable = list(dict.fromkeys(callee for graph in graphs for callee in graph.reachable()))
    for number, graph in enumerate(reachable):
        lines += [f"  subgraph cluster_{number} {{", f"    label={quoted(graph.name)};"]
        lines += [f"    {line}" for line in _nodes(graph, f"g{number}_")]
        lines.append("  }")
    return "\n".join([*lines, "}", ""])


def _nodes(graph: Graph, prefix: str) -> list[str]:
    """The statements of one graph; the names of its nodes begin with `prefix`."""
    lines = []
    producers: dict[int, str] = {}
    for i, tensor in enumerate(graph.inputs):
        producers[id(tensor)] = f"{prefix}in{i}"
        lines.append(f"{prefix}in{i} [label={quoted(label(tensor))}, shape=oval];")
    for i, op in enumerate(graph.ops):
        node = f"{prefix}op{i}"
        constants = [label(t) for t in op.inputs if t is not None and t.is_constant]
        text = "\n".join([op.custom_code or op.kind, *constants])
        lines.append(f"{node} [label={quoted(text)}];")
        producers.update((id(tensor), node) for tensor in op.outputs)
        for tensor in op.inputs:
            if tensor is not None and id(tensor) in producers:
                edge = f"{producers[id(tensor)]} -> {node}"
                lines.append(f"{edge} [label={quoted(label(tensor))}];")
    names = graph.output_names or [tensor.name for tensor in graph.outputs]
    for i, (tensor, name) in enumerate(zip(graph.outputs, names, strict=True)):
        lines.append(f"{prefix}out{i} [label={quoted(name)}, shape=oval];")
        if id(tensor) in producers:
            edge = f"{producers[id(tensor)]} -> {prefix}out{i}"
            lines.append(f"{edge} [label={quoted(label(tensor))}];")
    return lines


def label(tensor: Tensor) -> str:
    """A tensor's name, type and shape."""
    dims = (
        "?"
        if tensor.shape is None
        else ",".join("?" if n is None else str(n) for n in tensor.shape)
    )
    return f"{tensor.name}\n{tensor.dtype}[{dims}]"


def quoted(text: str) -> str:
    """A string of Graphviz."""
    return json.dumps(text, ensure_ascii=False)


def write_drawing(folder: str | os.PathLike, name: str, graphs: Sequence[Graph]) -> None:
    """Writes a drawing to the file `name`.dot of a folder, which is made when there is none."""
    path = Path(folder)
    path.mkdir(parents=True, exist_ok=True)
    write_atomic(path / f"{name}.dot", drawing(graphs).encode())
