"""Slices that together are all of a tensor: one operator gives them, where they stand in it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..ir.graph import Graph, Op, Tensor
from .driver import rewrite
from .rewrite import builder, constant_of, producer_of, swap


@rewrite("GATHER")
def unpack_slices(graph: Graph, op: Op) -> bool:
    """Takes the slices of a tensor along an axis together.

        GATHER(x, 0) -> a;  GATHER(x, 1) -> b      becomes      UNPACK(x) -> a, b

    Holds off where there is but one slice or not each of them is taken.
    """
    x, place = op.inputs[0], _place(op)
    if place is None or x.producer is None:
        return False
    axis, _ = place
    size = x.dims[axis]
    by_index = {}
    for reader in x.readers:
        other = _place(reader) if reader.kind == "GATHER" and reader.inputs[0] is x else None
        if other is not None and other[0] == axis:
            by_index.setdefault(other[1], []).append(reader)
    if size is None or size < 2 or len(by_index) < size:
        return False
    first = min((r for readers in by_index.values() for r in readers), key=graph.position)
    slices = builder(graph, first).UNPACK(x, num=size, axis=axis)
    for i, result in enumerate(slices):
        for reader in by_index[i]:
            swap(graph, reader, result)
    return True


def _place(op: Op) -> tuple[int, int] | None:
    """The axis and index of a GATHER of one slice; None for others."""
    x, index = op.inputs[0], constant_of(op.inputs[1])
    if x.rank is None or x.rank < 2 or index is None or index.ndim or op.options.batch_dims:
        return None
    axis = op.options.axis % x.rank
    size, i = x.dims[axis], int(index)
    return (axis, i) if size is not None and 0 <= i < size else None


@rewrite("UNPACK")
def unpack_before_transpose(graph: Graph, op: Op) -> bool:
    """Unpacks the axis that a TRANSPOSE moves, where the others stay in order.

        x -> TRANSPOSE(2, 0, 1) -> UNPACK(0) -> a, b      becomes      x -> UNPACK(2) -> a, b

    Holds off when the transposed tensor has another reader or is an output.
    """
    transpose = _only(graph, op, "TRANSPOSE")
    order = None if transpose is None else constant_of(transpose.inputs[1])
    if transpose is None or order is None:
        return False
    axis = op.options.axis % len(order)
    others = [n for i, n in enumerate(order.tolist()) if i != axis]
    if others != sorted(others):
        return False
    x = transpose.inputs[0]
    _replace(graph, op, builder(graph, op).UNPACK(x, num=len(op.outputs), axis=int(order[axis])))
    return True


@rewrite("UNPACK")
def split_before_reshape(graph: Graph, op: Op) -> bool:
    """Splits an axis that a RESHAPE makes two of, of which the first is unpacked.

        x: [n,s,96] -> RESHAPE [n,s,3,32] -> UNPACK(2) -> a, b, c
            becomes      SPLIT(x, 2) -> a, b, c

    Holds off when the reshaped tensor has another reader or is an output.
    """
    reshape = _only(graph, op, "RESHAPE")
    if reshape is None or reshape.inputs[0].sizes is None or op.inputs[0].sizes is None:
        return False
    x, sizes = reshape.inputs[0], list(op.inputs[0].sizes)
    axis, n = op.options.axis % len(sizes), len(op.outputs)
    if axis + 1 == len(sizes) or not isinstance(sizes[axis + 1], int):
        return False
    if list(x.sizes or ()) != [*sizes[:axis], n * sizes[axis + 1], *sizes[axis + 2 :]]:
        return False
    b = builder(graph, op)
    _replace(graph, op, b.SPLIT(np.int32(axis), x, num_splits=n))
    return True


@rewrite("SQUEEZE")
def transpose_without_unit_axis(graph: Graph, op: Op) -> bool:
    """Drops an axis of size 1 that is put in, moved, and taken out.

        x -> EXPAND_DIMS -> TRANSPOSE -> SQUEEZE -> y      becomes      x -> TRANSPOSE -> y

    Holds off when what is between has another reader or is an output.
    """
    transpose = _only(graph, op, "TRANSPOSE")
    expansion = None if transpose is None else _only(graph, transpose, "EXPAND_DIMS")
    order = None if transpose is None else constant_of(transpose.inputs[1])
    axis = None if expansion is None else constant_of(expansion.inputs[1])
    dims = op.options.squeeze_dims
    if expansion is None or order is None or axis is None or len(dims) != 1:
        return False
    new_axis = int(axis.item()) % len(order)
    if order[int(dims[0]) % len(order)] != new_axis:
        return False
    moved = [n - (n > new_axis) for n in order.tolist() if n != new_axis]
    b = builder(graph, op)
    swap(graph, op, b.TRANSPOSE(expansion.inputs[0], b.constant(np.array(moved, np.int32))))
    return True


def _only(graph: Graph, op: Op, kind: str) -> Op | None:
    """What gives the first input of an op, where it is of a kind and only this op reads it."""
    producer = producer_of(op.inputs[0], kind)
    return producer if producer is not None and graph.sole_reader(op.inputs[0]) is op else None


def _replace(graph: Graph, op: Op, results: Sequence[Tensor]) -> None:
    for old, new in zip(op.outputs, results, strict=True):
        new.origin, new.name = old.origin, old.name
        graph.replace(old, new)
    graph.remove(op)
