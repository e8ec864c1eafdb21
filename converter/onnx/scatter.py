"""Elements and slices taken from, and put at, indices computed for each of them."""

from __future__ import annotations

from functools import reduce

import numpy as np

from ..lowering.moves import as_int32, extent, reshaped, transposed
from .array import from_front
from .offsets import (
    as_rows,
    columns_of,
    flat_indices,
    joined,
    positions_along,
    product,
    scaled,
    strides_of,
)
from .registry import lower


@lower("GatherElements")
def gather_elements(node, b):
    """For each index the element at its place, but at the index along the axis."""
    x, indices = node.inputs
    axis = node.axis(node.attr("axis", 0))
    return b.GATHER(reshaped(x, (-1,), b), flat_indices(node, b, x, indices, axis))


@lower("Scatter", "ScatterElements")
def scatter_elements(node, b):
    """`x` with updates, each at an index of its own along the axis."""
    x, indices, updates = node.inputs
    axis = node.axis(node.attr("axis", 0))
    flat = reshaped(flat_indices(node, b, x, indices, axis), (-1,), b)
    rows, updates = (reshaped(y, (-1,), b) for y in (x, updates))
    if _reduction(node) == "none":
        out = replaced(b, rows, b.EXPAND_DIMS(flat, np.int32(1)), updates)
    else:
        out = _combined(node, b, rows, flat, updates)
    return b.RESHAPE(out, b.SHAPE(x, out_type="INT32"))


@lower("ScatterND")
def scatter_nd(node, b):
    """`x` with slices at the coordinates that the last axis of the indices holds."""
    x, indices, updates = node.inputs
    rank, depth = node.rank(), node.shape(1)[-1]
    node.require(depth is not None, "the last size of the indices must be known")
    columns = [
        from_front(node, b, x, column, i) for i, column in enumerate(columns_of(b, indices, depth))
    ]
    if _reduction(node) == "none":
        return replaced(b, x, joined(b, columns), updates)
    pairs = zip(columns, strides_of(b, x, depth), strict=True)
    flat = reduce(b.ADD, (scaled(b, column, stride) for column, stride in pairs))
    width = product(b, [extent(x, axis, b) for axis in range(depth, rank)])
    rows = [as_rows(b, y, width) for y in (x, updates)]
    out = _combined(node, b, rows[0], reshaped(flat, (-1,), b), rows[1])
    return b.RESHAPE(out, b.SHAPE(x, out_type="INT32"))


COMBINED = {
    "add": ("SUM", "ADD"),
    "max": ("MAX", "MAXIMUM"),
    "min": ("MIN", "MINIMUM"),
    "mul": ("PROD", "MUL"),
}
"""Reduction: how updates of one place are combined with one another, and with what was there."""


def _reduction(node):
    """How updates are combined with what is there."""
    reduction, reductions = node.attr("reduction", "none"), ("none", *COMBINED)
    node.require(
        reduction in reductions, f"reduction must be one of {reductions}, got '{reduction}'"
    )
    return reduction


def _combined(node, b, rows, element_indices, updates):
    """`rows` combined with `updates` at `element_indices`."""
    segment, combine = COMBINED[_reduction(node)]
    count = extent(rows, 0, b)
    combined = getattr(b, f"UNSORTED_SEGMENT_{segment}")(updates, element_indices, count)
    return getattr(b, combine)(rows, combined)


def replaced(b, x, coordinates, updates):
    """`x` with slices at different coordinates, which lie along the last axis."""
    shape = b.SHAPE(x, out_type="INT32")
    marks = b.FILL(b.SHAPE(updates, out_type="INT32"), np.int32(1))
    is_new = b.GREATER(b.SCATTER_ND(coordinates, marks, shape), np.int32(0))
    return b.SELECT_V2(is_new, b.SCATTER_ND(coordinates, updates, shape), x)


@lower("TensorScatter")
def tensor_scatter(node, b):
    """A cache with new rows from a position on, of each batch its own; a ring where circular."""
    cache, update = node.inputs[:2]
    rank, axis = node.rank(), node.axis(node.attr("axis", -2))
    node.require(axis, "axis must not be that of the batch, got 0")
    order = [0, axis, *(i for i in range(1, rank) if i != axis)]
    cache, update = (transposed(x, order, b) for x in (cache, update))
    steps = positions_along(b, update, 1, 2)
    if node.input(2) is not None:
        steps = b.ADD(b.EXPAND_DIMS(as_int32(node.inputs[2], b), np.int32(1)), steps)
        if node.attr("mode", "linear") == "circular":
            steps = b.FLOOR_MOD(steps, extent(cache, 1, b))
    indices = joined(b, [positions_along(b, update, 0, 2), steps])
    return transposed(replaced(b, cache, indices, update), np.argsort(order).tolist(), b)
