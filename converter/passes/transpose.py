"""Transposes: composed, turned into reshapes, taken into products and reductions, and cancelled."""

from __future__ import annotations

import numpy as np

from ..ir.builder import Builder
from ..ir.graph import Graph, Op, Tensor
from .driver import rewrite
from .reshape import constant_shape
from .rewrite import builder, constant_of, options_of, producer_of, swap, with_options


def order_of(op: Op | None) -> tuple[int, ...] | None:
    """The axes of a TRANSPOSE by a constant, counted from the front; None of other ops."""
    if op is None or op.kind != "TRANSPOSE":
        return None
    value = constant_of(op.inputs[1])
    if value is None:
        return None
    return tuple(int(axis) % len(value) for axis in value.ravel())


def inverse_of(order: tuple[int, ...]) -> tuple[int, ...]:
    """The order that undoes `order`."""
    return tuple(int(i) for i in np.argsort(order))


def moves_only_unit_dims(shape: tuple[int | None, ...], order: tuple[int, ...]) -> bool:
    """Whether a transpose leaves the order of all dimensions that are not 1."""
    moved = [axis for axis in order if shape[axis] != 1]
    return moved == sorted(moved)


@rewrite("TRANSPOSE")
def merge_transposes(graph: Graph, op: Op) -> bool:
    """Makes one TRANSPOSE of two, or none when they undo each other.

        x -> TRANSPOSE(p) -> y -> TRANSPOSE(q) -> z      becomes      x -> TRANSPOSE(p[q]) -> z

    Another reader of y keeps the first for itself.
    """
    outer = order_of(op)
    first = producer_of(op.inputs[0], "TRANSPOSE")
    inner = order_of(first)
    if first is None or inner is None or outer is None:
        return False
    x, order = first.inputs[0], tuple(inner[axis] for axis in outer)
    b = builder(graph, op)
    is_identity = order == tuple(range(len(order)))
    swap(graph, op, x if is_identity else b.TRANSPOSE(x, np.array(order, np.int32)))
    if not first.output.readers and not graph.is_output(first.output):
        graph.remove(first)
    return True


@rewrite("TRANSPOSE")
def transpose_to_reshape(graph: Graph, op: Op) -> bool:
    """Turns a TRANSPOSE that moves only dimensions of size 1 into a RESHAPE.

        x[b,1,9] -> TRANSPOSE(0,2,1) -> y      becomes      x -> RESHAPE [b,9,1] -> y

    Holds off when two dimensions are unknown.
    """
    order, x = order_of(op), op.inputs[0]
    shape = constant_shape(op.output)
    if order is None or shape is None or x.shape is None:
        return False
    if moves_only_unit_dims(x.shape, order):
        b = builder(graph, op)
        swap(graph, op, b.RESHAPE(x, b.constant(shape)))
        return True
    return False


@rewrite("BATCH_MATMUL")
def fuse_transpose_into_matmul(graph: Graph, op: Op) -> bool:
    """Lets BATCH_MATMUL transpose its matrices by itself.

        x -> TRANSPOSE(0,2,1) -> y;  BATCH_MATMUL(y, z)
            becomes      BATCH_MATMUL(x, z; adj_x)

    Another reader of y keeps the TRANSPOSE for itself. Holds off when other axes move.
    """
    changed = False
    for i, field in ((0, "adj_x"), (1, "adj_y")):
        source = producer_of(op.inputs[i], "TRANSPOSE")
        if source is not None and _swaps_last_two(order_of(source)):
            op.set_input(i, source.inputs[0])
            with_options(op, **{field: not getattr(op.options, field)})
            changed = True
    return changed


@rewrite("TRANSPOSE")
def fuse_transpose_after_matmul(graph: Graph, op: Op) -> bool:
    """Lets BATCH_MATMUL give the transposed result by itself.

        BATCH_MATMUL(x, y) -> z -> TRANSPOSE(0,2,1) -> w
            becomes      BATCH_MATMUL(y, x; adj_x, adj_y) -> w

    Holds off when z has another reader or is an output, or other axes move.
    """
    product = producer_of(op.inputs[0], "BATCH_MATMUL")
    if product is None or not _swaps_last_two(order_of(op)):
        return False
    if graph.sole_reader(product.output) is not op:
        return False
    x, y = product.inputs
    options = product.options
    fields = {**options_of(product), "adj_x": not options.adj_y, "adj_y": not options.adj_x}
    swap(graph, op, builder(graph, op).BATCH_MATMUL(y, x, **fields))
    graph.remove(product)
    return True


def _swaps_last_two(order: tuple[int, ...] | None) -> bool:
    if order is None or len(order) < 2:
        return False
    rank = len(order)
    return order == (*range(rank - 2), rank - 1, rank - 2)


def permuted_constant(tensor: Tensor, order: tuple[int, ...], b: Builder) -> Tensor | None:
    """A constant that broadcasts against rank `len(order)`, transposed; None when it cannot be."""
    value = tensor.data
    if value.size == 1 and value.ndim <= len(order):
        return tensor
    if value.ndim > len(order):
        return None
    full = value.reshape((1,) * (len(order) - value.ndim) + value.shape)
    return b.constant(np.ascontiguousarray(np.transpose(full, order)), tensor.name)
