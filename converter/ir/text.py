"""The text form of the IR: one op per line, with types and shapes.

    graph main(x: float32[n,28,28,1]) {
      y: float32[n,784] = RESHAPE(x, int32[2]{-1, 784})
      z: float32[n,10] = FULLY_CONNECTED(y, float32[10,784]#5f0c9a1b, none; keep_num_dims=true)
      return z
    }

`n` is an unknown dimension, `2*n+1` what depends on it (dims.py), `[?]` an unknown rank. A constant
shows its elements, once when all are equal, or the hash of its content. Options at their default
are left out. parse.py reads it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from hashlib import sha1
from typing import TYPE_CHECKING, Any

import numpy as np

from ...schema import tables
from ...schema.dtypes import tensor_type

if TYPE_CHECKING:
    from .graph import Graph, Op, Tensor

INLINE = 16  # elements up to which a constant is written out
IDENTIFIER = re.compile(r"[A-Za-z_][\w./]*")


def to_text(graph: Graph) -> str:
    """The text of `graph` and of the graphs it calls."""
    blocks = [_block(callee) for callee in graph.reachable()]
    return "\n".join(blocks)


def large_constants(graph: Graph) -> dict[str, np.ndarray]:
    """The constants that the text of `graph` shows by their hash; `parse` takes them."""
    values = (t.data for callee in graph.reachable() for t in callee.tensors() if t.is_constant)
    return {content_hash(value): value for value in values if not _is_short(value)}


def content_hash(array: np.ndarray) -> str:
    """Eight digits that tell constants apart."""
    content = repr(array.tolist()).encode() if array.dtype.hasobject else array.tobytes()
    return sha1(content, usedforsecurity=False).hexdigest()[:8]


def _block(graph: Graph) -> str:
    names = _unique_names(graph)
    inputs = ", ".join(f"{names[id(t)]}: {_type(t)}" for t in graph.inputs)
    lines = [f"graph {graph.name}({inputs}) {{"]
    lines += [f"  {_line(op, names)}" for op in graph.ops]
    returned = [names.get(id(t)) or _constant(t) for t in graph.outputs]
    if graph.output_names is not None:
        returned = [
            f"{name} as {json.dumps(public)}"
            for name, public in zip(returned, graph.output_names, strict=True)
        ]
    return "\n".join([*lines, f"  return {', '.join(returned)}".rstrip(), "}"])


def _unique_names(graph: Graph) -> dict[int, str]:
    names: dict[int, str] = {}
    used: set[str] = {"none"}
    for tensor in graph.tensors():
        if tensor.is_constant:
            continue
        name, i = tensor.name or "t", 1
        while name in used:
            i += 1
            name = f"{tensor.name or 't'}_{i}"
        used.add(name)
        names[id(tensor)] = name if IDENTIFIER.fullmatch(name) else json.dumps(name)
    return names


def _line(op: Op, names: dict[int, str]) -> str:
    results = ", ".join(f"{names[id(t)]}: {_type(t)}" for t in op.outputs)
    inputs = ", ".join("none" if t is None else names.get(id(t)) or _constant(t) for t in op.inputs)
    options = ", ".join(_options(op))
    kind = f"{op.kind}:{op.custom_code}" if op.custom_code else op.kind
    call = f"{kind}({inputs}; {options})" if options else f"{kind}({inputs})"
    return f"{results} = {call}" if results else call


def _options(op: Op) -> Iterator[str]:
    if op.custom_options:
        yield f"bytes={op.custom_options.hex()}"
    if op.options is not None:
        for name, type_, default, _ in tables.TABLES[type(op.options).__name__]:
            value = getattr(op.options, name)
            if isinstance(value, np.ndarray):
                value = value.tolist()
            if value is None or value == default:
                continue
            if type_ in tables.ENUMS:
                yield f"{name}={tables.name_of(type_, value)}"
            else:
                yield f"{name}={json.dumps(value)}"
    if op.graphs:
        yield f"calls=[{', '.join(graph.name for graph in op.graphs)}]"


def _type(tensor: Tensor) -> str:
    dims = "?" if tensor.sizes is None else ",".join(str(n).replace(" ", "") for n in tensor.sizes)
    return f"{_dtype_name(tensor.dtype)}[{dims}]{_quantization(tensor.quantization)}"


def _dtype_name(dtype: np.dtype) -> str:
    return tables.name_of("TensorType", tensor_type(dtype)).lower()


def _quantization(quantization: Any) -> str:
    if quantization is None:
        return ""
    if quantization.blocks is not None:
        return f"<{content_hash(quantization.blocks.scales)}/{quantization.block_size}>"
    pairs = zip(quantization.scales, quantization.zero_points, strict=True)
    text = ",".join(f"{np.float32(scale)}:{int(zero_point)}" for scale, zero_point in pairs)
    axis = f"@{quantization.axis}" if quantization.is_per_channel else ""
    return f"<{text}{axis}>"


def _constant(tensor: Tensor) -> str:
    value = tensor.data
    if not _is_short(value):
        return f"{_type(tensor)}#{content_hash(value)}"
    elements = value.ravel().tolist() if value.dtype.kind in "iubO" else list(value.ravel())
    if len(elements) > 1 and _is_uniform(value):
        elements = elements[:1]
    return f"{_type(tensor)}{{{', '.join(_element(e) for e in elements)}}}"


def _is_short(value: np.ndarray) -> bool:
    return value.size <= INLINE or _is_uniform(value)


def _is_uniform(value: np.ndarray) -> bool:
    return not value.dtype.hasobject and value.tobytes() == value.ravel()[:1].tobytes() * value.size


def _element(element: Any) -> str:
    if isinstance(element, bytes):
        return json.dumps(element.decode("latin-1"))
    return str(element).lower() if isinstance(element, bool) else str(element)
