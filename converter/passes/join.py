"""What is taken apart and put together again, and joins of joins."""

from __future__ import annotations

from ..ir.graph import Graph, Op
from .driver import rewrite
from .reshape import constant_shape
from .rewrite import builder, constant_of, options_of, producer_of, same_shape, swap


@rewrite("CONCATENATION")
def merge_concatenations(graph: Graph, op: Op) -> bool:
    """Joins at once what is joined in steps.

        CONCATENATION(a, b) -> y;  CONCATENATION(y, c) -> z
            becomes      CONCATENATION(a, b, c) -> z

    Holds off when y has another reader or is an output, or the axes differ.
    """
    parts, merged = [], []
    for tensor in op.inputs:
        inner = producer_of(tensor, "CONCATENATION")
        if inner is not None and _joins(graph, inner, op):
            parts += inner.inputs
            merged.append(inner)
        else:
            parts.append(tensor)
    if merged:
        b = builder(graph, op)
        swap(graph, op, b.CONCATENATION(*parts, axis=op.options.axis))
        for inner in merged:
            graph.remove(inner)
        return True
    return False


def _joins(graph: Graph, inner: Op, outer: Op) -> bool:
    """Whether one op can do the work of both."""
    tensor, rank = inner.output, outer.output.rank
    if rank is None or tensor.quantization or graph.sole_reader(tensor) is not outer:
        return False
    return (inner.options.axis - outer.options.axis) % rank == 0


@rewrite("CONCATENATION")
def drop_empty_parts(graph: Graph, op: Op) -> bool:
    """Leaves out of a join what has no elements.

        CONCATENATION(a, float32[0], b) -> y      becomes      CONCATENATION(a, b) -> y

    Holds off when nothing would remain.
    """
    parts = [t for t in op.inputs if t.shape is None or 0 not in t.shape]
    if parts and len(parts) < len(op.inputs):
        fields = options_of(op)
        swap(graph, op, builder(graph, op).CONCATENATION(*parts, **fields))
        return True
    return False


@rewrite("CONCATENATION", "PACK")
def cancel_split_and_join(graph: Graph, op: Op) -> bool:
    """Drops a join of all parts of a split, in order.

        x -> SPLIT -> a, b;  CONCATENATION(a, b) -> y      becomes      y = x
        x -> UNPACK -> a, b;  PACK(a, b) -> y              becomes      y = x

    Holds off when parts are missing or in another order, the axes differ, or x has another scale.
    """
    splits = ("UNPACK",) if op.kind == "PACK" else ("SPLIT", "SPLIT_V")
    source = producer_of(op.inputs[0], *splits)
    if source is None or list(op.inputs) != source.outputs:
        return False
    x = source.inputs[1 if source.kind == "SPLIT" else 0]
    axis = _axis(source)
    if x.rank is None or axis is None or (axis - op.options.axis) % x.rank:
        return False
    same_scale = x.quantization == op.output.quantization
    if same_scale and same_shape(x, op.output):
        swap(graph, op, x)
        return True
    return False


def _axis(op: Op) -> int | None:
    if op.kind == "UNPACK":
        return op.options.axis
    value = constant_of(op.inputs[0 if op.kind == "SPLIT" else 2])
    return None if value is None else int(value.ravel()[0])


@rewrite("PACK", "UNPACK")
def single_pack_to_reshape(graph: Graph, op: Op) -> bool:
    """Turns PACK of one tensor and UNPACK into one into what they are, a new shape.

        x -> PACK(axis) -> y      becomes      x -> RESHAPE -> y

    Holds off when two dimensions of y are unknown.
    """
    if len(op.inputs) != 1 or len(op.outputs) != 1:
        return False
    shape = constant_shape(op.output)
    if shape is not None:
        b = builder(graph, op)
        swap(graph, op, b.RESHAPE(op.inputs[0], b.constant(shape)))
        return True
    return False
