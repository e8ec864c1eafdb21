"""Numbers that models compute from sizes: each once, in as few operators as there can be."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from ..ir.dims import Dim, Extent
from ..ir.elements import extents_of
from ..ir.graph import Graph, Op, Tensor
from .fold import is_pure
from .rewrite import builder, producer_of, swap

LONGEST = 8  # elements of a vector of sizes: no kernel takes tensors of more dimensions


def share_sizes(graph: Graph) -> int:
    """Makes numbers that depend on sizes alone, and are the same at all sizes, one tensor.

        x: float32[n,s,64] -> SHAPE -> a
        y: float32[n,s,64] -> SHAPE -> b     (b -> z)     becomes     a -> z

    So a model computes `[n, s, 12, 64]` once, and not again in each of its layers. Holds off where
    expressions are not the same, and on quantized tensors.
    """
    count = 0
    first: dict[tuple, Tensor] = {}
    for op in list(graph.ops):
        if len(op.outputs) != 1 or op.output.elements is None or op.output.quantization:
            continue
        result, extents = op.output, op.output.elements.extents
        key = (result.dtype, extents.shape, tuple(extents.ravel().tolist()))
        original = first.setdefault(key, result)
        if original is not result:
            graph.replace(result, original)
            graph.remove(op)
            count += 1
    return count


def join_sizes(graph: Graph) -> int:
    """Makes a vector of sizes of parts of shapes, where that takes fewer operators.

        x -> SHAPE -> s;  GATHER(s, 0), GATHER(s, 1) -> EXPAND_DIMS each -> CONCATENATION, [64] -> v
            becomes      CONCATENATION(s[0:2], [64]) -> v

    The shapes are those of other tensors, too, so a CAST or a TRANSPOSE before SHAPE goes. With as
    many operators it is done once: others can share its SHAPE then. Holds off where an element is
    neither a number nor a size of a tensor whose shape can be taken.
    """
    count = 0
    for op in list(graph.ops):
        if _is_vector(op) and op.output.producer is op and _leaves_sizes(graph, op.output):
            count += _join(graph, op)
    return count


class Part(NamedTuple):
    """Some elements in a row: those of a shape from `start` on, or numbers."""

    source: Tensor | None
    start: int
    extents: list[Extent]


def _is_vector(op: Op) -> bool:
    if len(op.outputs) != 1 or op.kind == "SHAPE" or op.output.elements is None:
        return False
    extents = op.output.elements.extents
    is_integer = op.output.dtype in (np.int32, np.int64)
    return is_integer and extents.ndim < 2 and 0 < extents.size <= LONGEST


def _leaves_sizes(graph: Graph, result: Tensor) -> bool:
    """Whether it is read by what computes no sizes."""
    readers = (output for reader in result.readers for output in reader.outputs)
    return graph.is_output(result) or any(output.elements is None for output in readers)


def _join(graph: Graph, op: Op) -> bool:
    result = op.output
    first = min(map(graph.position, result.readers), default=graph.position(op))
    cone = _exclusive(graph, op)
    if len(cone) < 2:
        return False
    before = [other for other in graph.ops[:first] if id(other) not in cone]
    shapes = {
        id(other.inputs[0]): other
        for other in before
        if other.kind == "SHAPE" and other.output.dtype == result.dtype
    }
    reader = graph.ops[first]
    measured = [other.inputs[0] for other in before if other.kind == "SHAPE"]
    tensors = [op.inputs[0] for op in shapes.values()] + reader.present_inputs + graph.inputs
    available = {id(output) for other in before for output in other.outputs}
    sources = [
        tensor
        for tensor in tensors + measured
        if tensor.sizes is not None
        and not tensor.is_constant
        and (tensor.producer is None or id(tensor) in available)
    ]
    parts = _parts(extents_of(result).ravel().tolist(), sources)
    if parts is None or _n_new(parts, shapes, result) >= len(cone) + (not _is_joined(op)):
        return False
    swap(graph, op, _built(graph, reader, parts, shapes, result))
    return True


def _exclusive(graph: Graph, op: Op) -> set[int]:
    """The ops, by id, that only serve to compute the result of one, which is among them."""
    cone, pending = {id(op)}, [op]
    while pending:
        for tensor in pending.pop().present_inputs:
            producer = tensor.producer
            if producer is None or id(producer) in cone or not is_pure(producer):
                continue
            outputs = producer.outputs
            is_other = any(graph.is_output(output) for output in outputs)
            readers = [reader for output in outputs for reader in output.readers]
            if not is_other and all(id(reader) in cone for reader in readers):
                cone.add(id(producer))
                pending.append(producer)
    return cone


def _is_joined(op: Op) -> bool:
    """Whether an op is what this pass makes."""
    if op.kind == "STRIDED_SLICE":
        return producer_of(op.inputs[0], "SHAPE") is not None
    parts = [part for part in op.present_inputs if not part.is_constant]
    return op.kind == "CONCATENATION" and all(
        (producer := producer_of(part, "SHAPE", "STRIDED_SLICE")) is not None
        and (producer.kind == "SHAPE" or _is_joined(producer))
        for part in parts
    )


def _parts(extents: Sequence[Extent], sources: Iterable[Tensor]) -> list[Part] | None:
    """The elements as few parts; None where one of them is no tensor's size."""
    parts: list[Part] = []
    i = 0
    while i < len(extents):
        part = Part(None, 0, [])
        if isinstance(extents[i], Dim):
            part = max(
                (_longest(extents[i:], source) for source in sources),
                key=lambda part: len(part.extents),
                default=part,
            )
            if not part.extents:
                return None
            parts.append(part)
        elif parts and parts[-1].source is None:
            part = Part(None, 0, [extents[i]])
            parts[-1].extents.append(extents[i])
        else:
            part = Part(None, 0, [extents[i]])
            parts.append(part)
        i += len(part.extents) if part.source is not None else 1
    return parts


def _longest(extents: Sequence[Extent], source: Tensor) -> Part:
    """As many of the elements, from the first on, as stand in a row in a shape."""
    best = Part(source, 0, [])
    sizes = source.sizes or ()
    for start in range(len(sizes)):
        length = 0
        for x, y in zip(extents, sizes[start:], strict=False):
            if x is not y and x != y:
                break
            length += 1
        if length > len(best.extents):
            best = Part(source, start, list(extents[:length]))
    return best


def _is_whole(part: Part) -> bool:
    return part.source is not None and len(part.extents) == part.source.rank


def _n_new(parts: Sequence[Part], shapes: dict[int, Op], result: Tensor) -> int:
    """How many operators the parts take."""
    taken = {id(part.source) for part in parts if part.source is not None}
    n_slices = sum(part.source is not None and not _is_whole(part) for part in parts)
    is_reshaped = not result.rank and any(_is_whole(part) for part in parts)
    return len(taken - shapes.keys()) + n_slices + (len(parts) > 1) + is_reshaped


def _built(
    graph: Graph, reader: Op, parts: Sequence[Part], shapes: dict[int, Op], result: Tensor
) -> Tensor:
    b = builder(graph, reader)
    vectors: dict[int, Tensor] = {key: op.output for key, op in shapes.items()}
    joined: list[Tensor] = []
    for part in parts:
        if part.source is None:
            joined.append(b.constant(np.array(part.extents, result.dtype)))
            continue
        shape = vectors.get(id(part.source))
        if shape is None:
            shape = b.SHAPE(part.source, out_type=b.tensor_type(result.dtype))
            vectors[id(part.source)] = shape
        if not result.rank:
            mask = {"shrink_axis_mask": 1}
        elif _is_whole(part):
            joined.append(shape)
            continue
        else:
            mask = {}
        bounds = ([part.start], [part.start + len(part.extents)], [1])
        joined.append(b.STRIDED_SLICE(shape, *(np.array(n, np.int32) for n in bounds), **mask))
    return joined[0] if len(joined) == 1 else b.CONCATENATION(*joined, axis=0)
