"""What changed from one model to another, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...schema.flatbuffer import Record, same
from ...schema.model import Model, Operator, Quantization, Signature, Subgraph, Tensor, unique_names
from .subgraphs import listed


def differences(a: Model, b: Model) -> list[str]:
    """What is in `b` and not in `a`, or the other way round, a sentence for each; [] for nothing.

    Tensors and operators are paired by names: of tensors, and of what an operator results in.
    """
    return list(_of_models(a, b))


def _of_models(a: Model, b: Model) -> Iterator[str]:
    if a.version != b.version:
        yield f"schema version: {a.version} -> {b.version}"
    if a.description != b.description:
        yield f"description: '{a.description}' -> '{b.description}'"
    for name in dict.fromkeys((*a.metadata, *b.metadata)):
        yield from _of_bytes(f"metadata '{name}'", a.metadata.get(name), b.metadata.get(name))
    for name in dict.fromkeys((*a.associated_files, *b.associated_files)):
        files = (model.associated_files.get(name) for model in (a, b))
        yield from _of_bytes(f"associated file '{name}'", *files)
    signatures = [{signature.key: signature for signature in m.signatures} for m in (a, b)]
    for key in dict.fromkeys((*signatures[0], *signatures[1])):
        yield from _of_signatures(a, b, key, signatures[0].get(key), signatures[1].get(key))
    if len(a.subgraphs) != len(b.subgraphs):
        yield f"subgraphs: {len(a.subgraphs)} -> {len(b.subgraphs)}"
    for i, (first, second) in enumerate(zip(a.subgraphs, b.subgraphs, strict=False)):
        prefix = f"subgraph {i}: " if len(a.subgraphs) > 1 else ""
        yield from (prefix + text for text in _of_subgraphs(first, second))


def _of_bytes(what: str, a: bytes | None, b: bytes | None) -> Iterator[str]:
    if a == b:
        return
    if a is None or b is None:
        yield f"{what} {'added' if a is None else 'removed'}"
    else:
        yield f"{what} changed: {len(a)} -> {len(b)} bytes"


def _of_signatures(
    a: Model, b: Model, key: str, first: Signature | None, second: Signature | None
) -> Iterator[str]:
    if first is None or second is None:
        yield f"signature '{key}' {'added' if first is None else 'removed'}"
        return
    for side in ("inputs", "outputs"):
        names = [
            {n: m.subgraphs[s.subgraph].tensors[i].name for n, i in getattr(s, side).items()}
            for m, s in ((a, first), (b, second))
        ]
        if list(names[0]) != list(names[1]):
            yield f"signature '{key}' {side}: {listed([*names[0]])} -> {listed([*names[1]])}"
        else:
            for name, before in names[0].items():
                if before != names[1][name]:
                    yield (
                        f"signature '{key}' {side[:-1]} '{name}': tensor '{before}' -> "
                        f"'{names[1][name]}'"
                    )


def _of_subgraphs(a: Subgraph, b: Subgraph) -> Iterator[str]:
    if a.name != b.name:
        yield f"name: '{a.name}' -> '{b.name}'"
    for side in ("inputs", "outputs"):
        names = [[graph.tensors[i].name for i in getattr(graph, side)] for graph in (a, b)]
        if names[0] != names[1]:
            yield f"{side}: {listed(names[0])} -> {listed(names[1])}"
    counts = [Counter(_kind(op) for op in graph.operators) for graph in (a, b)]
    for kind in sorted(counts[0] | counts[1]):
        if counts[0][kind] != counts[1][kind]:
            yield f"{kind} operators: {counts[0][kind]} -> {counts[1][kind]}"
    names = [unique_names(tensor.name for tensor in graph.tensors) for graph in (a, b)]
    tensors = [dict(zip(names[i], graph.tensors, strict=True)) for i, graph in enumerate((a, b))]
    for word, here, there in (("removed", 0, 1), ("added", 1, 0)):
        only = [name for name in tensors[here] if name not in tensors[there]]
        if only:
            yield f"{len(only)} tensors {word}: {listed(only)}"
    for name, tensor in tensors[0].items():
        if name in tensors[1]:
            yield from _of_tensors(f"tensor '{name}'", tensor, tensors[1][name])
    operators = [
        {
            (_kind(op), names[i][op.outputs[0]] if op.outputs else str(n)): op
            for n, op in enumerate(graph.operators)
        }
        for i, graph in enumerate((a, b))
    ]
    for key, op in operators[0].items():
        other = operators[1].get(key)
        if other is not None:
            yield from _of_operators(f"{key[0]} '{key[1]}'", (op, names[0]), (other, names[1]))


def _kind(op: Operator) -> str:
    return op.custom_code or op.op


def _of_tensors(what: str, a: Tensor, b: Tensor) -> Iterator[str]:
    if a.dtype != b.dtype:
        yield f"{what} type: {a.dtype.lower()} -> {b.dtype.lower()}"
    shapes = [list(tensor.shape_signature or tensor.shape) for tensor in (a, b)]
    if shapes[0] != shapes[1] or a.has_rank != b.has_rank:
        yield f"{what} shape: {shapes[0]} -> {shapes[1]}"
    if a.is_variable != b.is_variable:
        yield f"{what} {'became' if b.is_variable else 'is no longer'} a variable"
    if a.quantization != b.quantization:
        yield f"{what} {_of_quantization(a.quantization, b.quantization)}"
    if (a.sparsity is None) != (b.sparsity is None):
        yield f"{what} {'became sparse' if a.sparsity is None else 'is no longer sparse'}"
    yield from _of_values(what, a.data, b.data)


def _of_quantization(a: Quantization | None, b: Quantization | None) -> str:
    if a is None or b is None:
        return "has no scales any more" if b is None else f"has scales now: {_scales(b)}"
    if a.axis != b.axis and (a.is_per_channel or b.is_per_channel):
        return f"quantized dimension: {a.axis} -> {b.axis}"
    if not same(a.scales, b.scales) or not same(a.zero_points, b.zero_points):
        return f"scales: {_scales(a)} -> {_scales(b)}"
    return "quantization: other ranges or details"


def _scales(q: Quantization) -> str:
    if not len(q.scales):
        return "none"
    if q.is_per_channel:
        return f"{len(q.scales)} from {q.scales.min():.6g} to {q.scales.max():.6g}"
    zero_point = q.zero_points.reshape(-1)[:1].tolist()
    return f"{q.scale:.6g}" + (f" with zero point {zero_point[0]}" if zero_point else "")


def _of_values(what: str, a: Any, b: Any) -> Iterator[str]:
    if a is None and b is None:
        return
    if a is None or b is None:
        yield f"{what} {'became a constant' if a is None else 'is no constant any more'}"
        return
    first, second = (x if isinstance(x, np.ndarray) else np.frombuffer(x, np.uint8) for x in (a, b))
    if same(first, second):
        return
    if first.shape != second.shape or first.dtype != second.dtype or first.dtype.hasobject:
        yield f"{what} has other values"
        return
    n = int(np.count_nonzero(first != second))
    with np.errstate(all="ignore"):
        as_floats = [
            array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)
            for array in (first, second)
        ]
        largest = float(np.nanmax(np.abs(as_floats[0] - as_floats[1]), initial=0.0))
    yield f"{what}: {n} of {first.size} values differ, by {largest:.6g} at most"


def _of_operators(
    what: str, a: tuple[Operator, Sequence[str]], b: tuple[Operator, Sequence[str]]
) -> Iterator[str]:
    (first, first_names), (second, second_names) = a, b
    if first.version != second.version:
        yield f"{what} version: {first.version} -> {second.version}"
    inputs = [
        ["" if i < 0 else names[i] for i in op.inputs]
        for op, names in ((first, first_names), (second, second_names))
    ]
    if inputs[0] != inputs[1]:
        yield f"{what} inputs: {listed(inputs[0])} -> {listed(inputs[1])}"
    yield from _of_options(what, first.options, second.options)
    yield from _of_bytes(f"{what} custom options", first.custom_options, second.custom_options)


def _of_options(what: str, a: Record | None, b: Record | None) -> Iterator[str]:
    if a is None or b is None or type(a) is not type(b):
        names = ["none" if x is None else type(x).__name__ for x in (a, b)]
        if names[0] != names[1]:
            yield f"{what} options: {names[0]} -> {names[1]}"
        return
    for name in type(a).__slots__:
        before, after = getattr(a, name), getattr(b, name)
        if not same(before, after):
            yield f"{what} {name}: {_shown(before)} -> {_shown(after)}"


def _shown(value: Any) -> str:
    return str(value.tolist()) if isinstance(value, np.ndarray) else str(value)
