"""Reversals and slices that undo what comes before them."""

from __future__ import annotations

import numpy as np

from ..ir.graph import Graph, Op
from .driver import rewrite
from .rewrite import constant_of, options_of, producer_of, swap


@rewrite("REVERSE_V2")
def cancel_reverses(graph: Graph, op: Op) -> bool:
    """Drops what reverses the same axes twice.

    x -> REVERSE_V2(axes) -> REVERSE_V2(axes) -> y      becomes      y = x
    """
    first = producer_of(op.inputs[0], "REVERSE_V2")
    if first is None or first.inputs[0].rank is None:
        return False
    rank = first.inputs[0].rank
    axes = [constant_of(reverse.inputs[1]) for reverse in (first, op)]
    if any(values is None for values in axes):
        return False
    before, after = (np.unique(values % rank) for values in axes if values is not None)
    if not np.array_equal(before, after):
        return False
    swap(graph, op, first.inputs[0])
    return True


@rewrite("STRIDED_SLICE")
def take_expanded(graph: Graph, op: Op) -> bool:
    """Drops an axis of size 1 together with the slice that takes its only element.

        x -> EXPAND_DIMS(0) -> STRIDED_SLICE(shrinks axis 0) -> y      becomes      y = x

    Holds off where the slice takes less than everything of the other axes.
    """
    expansion = producer_of(op.inputs[0], "EXPAND_DIMS")
    axis = None if expansion is None else constant_of(expansion.inputs[1])
    if expansion is None or axis is None or expansion.output.rank is None:
        return False
    position = int(axis.item()) % expansion.output.rank
    if not _takes_one(op, position) or expansion.inputs[0].sizes != op.output.sizes:
        return False
    swap(graph, op, expansion.inputs[0])
    return True


def _takes_one(op: Op, axis: int) -> bool:
    """Whether a STRIDED_SLICE drops one axis, of size 1, and takes the others from end to end."""
    bounds = [constant_of(tensor) for tensor in op.inputs[1:4]]
    if any(values is None for values in bounds):
        return False
    begin, end, strides = (values.tolist() for values in bounds if values is not None)
    options = options_of(op)
    if options["ellipsis_mask"] or options["new_axis_mask"] or axis >= len(begin):
        return False
    if options["shrink_axis_mask"] != 1 << axis or begin[axis] not in (0, -1):
        return False
    others = [i for i in range(len(begin)) if i != axis]
    sizes = op.inputs[0].dims
    return all(
        strides[i] == 1
        and (options["begin_mask"] >> i & 1 or begin[i] == 0)
        and (options["end_mask"] >> i & 1 or end[i] == sizes[i])
        for i in others
    )
