"""XLA's gathers and scatters: windows read out of a tensor, or combined with it."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, cast

import numpy as np

from ...graph.ops.xla_numbers import Windows, gather_numbers, permuted, scatter_numbers
from ..lowering.moves import (
    as_int32,
    cropped,
    extent,
    int32s,
    positions,
    regrouped,
    reshaped,
    transposed,
)
from .control import body_of
from .registry import lower
from .scatter import rows_replaced
from .xla import shape_of_parts
from .xla_reduce import JOINS, copied, fold_of

if TYPE_CHECKING:
    from ..ir.builder import Builder
    from ..ir.graph import Tensor

SEGMENTS = {
    "REDUCE_MAX": "UNSORTED_SEGMENT_MAX",
    "REDUCE_MIN": "UNSORTED_SEGMENT_MIN",
    "REDUCE_PROD": "UNSORTED_SEGMENT_PROD",
}
"""What folds axes -> what folds the updates of one place."""


class Places:
    """Where windows lie in a tensor whose indexed dimensions come first.

    Attributes:
        order: the tensor's dimensions, the indexed ones first.
        depth: how many are indexed.
        corners: [*batch, depth]: where windows begin, which may be outside.
        sizes: of windows, along the indexed dimensions.
        n_batch: the number of batch dimensions.
    """

    def __init__(self, node, b: Builder, numbers: Windows, sizes: Sequence[int]) -> None:
        rank, indices = node.rank(), as_int32(node.inputs[1], b)
        indexed = [*numbers.batching, *numbers.targets]
        self.order = [*indexed, *(i for i in range(rank) if i not in indexed)]
        self.depth, self.sizes = len(indexed), [sizes[i] for i in indexed]
        if numbers.index_axis == node.rank(1):
            indices = b.EXPAND_DIMS(indices, np.int32(-1))
        axes = [i for i in range(len(indices.dims)) if i != numbers.index_axis]
        indices = transposed(indices, [*axes, numbers.index_axis], b)
        self.n_batch = len(axes)
        self.extents = [extent(node.inputs[0], i, b) for i in indexed]
        columns = []
        for axis in numbers.batching.values():
            place = axes.index(axis)
            shape = [-1 if i == place else 1 for i in range(len(axes) + 1)]
            line = reshaped(positions(indices, place, b), shape, b)
            columns.append(b.ADD(line, b.MUL(slice_last(indices, b), np.int32(0))))
        self.corners = indices
        if columns:
            self.corners = b.CONCATENATION(*columns, indices, axis=len(axes))

    def last(self, b: Builder) -> Tensor:
        """[depth]: the last places where windows may begin."""
        rows = zip(self.extents, self.sizes, strict=True)
        return shape_of_parts([b.SUB(n, np.int32(size)) for n, size in rows], b)

    def elements(self, corners: Tensor, b: Builder) -> Tensor:
        """[*batch, *sizes, depth]: the places of all elements of windows."""
        if prod(self.sizes) == 1 and not self.depth:
            return corners
        grid = np.moveaxis(np.indices(self.sizes), 0, -1).astype(np.int32)
        corners = b.RESHAPE(corners, self._shape(corners, b))
        return b.ADD(corners, b.constant(grid)) if prod(self.sizes) > 1 else corners

    def _shape(self, corners: Tensor, b: Builder) -> Tensor:
        batch = [extent(corners, i, b) for i in range(self.n_batch)]
        return shape_of_parts([*batch, *[1] * self.depth, self.depth], b)


def slice_last(indices: Tensor, b: Builder) -> Tensor:
    """[*batch, 1] of index vectors."""
    rank = len(indices.dims)
    return b.SLICE(indices, int32s([0] * rank), int32s([-1] * (rank - 1) + [1]))


@lower("XlaGather")
def gather(node, b):
    """Windows of a tensor, moved so far that they lie within."""
    operand, rank = node.inputs[0], node.rank()
    numbers, sizes = gather_numbers(node.op, rank), node.constant(2).tolist()
    places = Places(node, b, numbers, sizes)
    last = places.last(b)
    corners = b.MAXIMUM(b.MINIMUM(places.corners, last), int32s([0] * places.depth))
    operand = transposed(operand, places.order, b)
    others = [sizes[i] for i in places.order[places.depth :]]
    dims = operand.dims[places.depth :]
    if any(size != n for size, n in zip(others, dims, strict=True)):
        begin = int32s([0] * rank)
        operand = b.SLICE(operand, begin, int32s([-1] * places.depth + others))
    node.require(places.depth, "its start_index_map must not be empty")
    if places.depth == 1 and places.sizes == [1]:
        flat = b.SQUEEZE(corners, squeeze_dims=[places.n_batch])
        y = b.GATHER(operand, flat, axis=0)
        y = b.EXPAND_DIMS(y, np.int32(places.n_batch))
    else:
        y = b.GATHER_ND(operand, places.elements(corners, b))
    n = places.n_batch
    back = np.argsort(places.order)
    dropped = numbers.dropped
    y = transposed(y, [*range(n), *(n + int(i) for i in back)], b)
    if dropped:
        y = b.SQUEEZE(y, squeeze_dims=[n + i for i in dropped])
    count = n + rank - len(dropped)
    return transposed(y, permuted(numbers, range(n), range(n, count)), b)


@lower("XlaScatter")
def scatter(node, b):
    """A tensor with windows combined with updates; one that is not within is left out."""
    operand, _, updates = node.inputs
    rank, kind = node.rank(), _updating(node)
    numbers = scatter_numbers(node.op, rank)
    batch = [i for i in range(node.rank(2)) if i not in numbers.windows]
    updates = transposed(updates, [*batch, *numbers.windows], b)
    window = iter(updates.dims[len(batch) :])
    sizes = [1 if i in numbers.dropped else cast("int", next(window)) for i in range(rank)]
    node.require(None not in sizes, f"the sizes of its windows must be known, got {sizes}")
    places = Places(node, b, numbers, sizes)
    n, depth = places.n_batch, places.depth
    node.require(depth, "its scatter_dims_to_operand_dims must not be empty")
    x = transposed(operand, places.order, b)
    others = list(x.dims[depth:])
    expected = [sizes[i] for i in places.order[depth:]]
    node.require(
        others == expected,
        f"windows must have the whole of the dimensions that are not indexed, {others}, "
        f"got {expected}",
    )
    parts = [extent(updates, i, b) for i in range(n)]
    updates = b.RESHAPE(updates, shape_of_parts([*parts, *sizes], b))
    updates = transposed(updates, [*range(n), *(n + i for i in places.order)], b)
    elements = _within(places, b)
    x = b.PAD(x, int32s([[0, 1], *[[0, 0]] * (rank - 1)]))
    y = _combined(kind, x, elements, updates, depth, b)
    y = cropped(y, [[0, 1], *[[0, 0]] * (rank - 1)], b)
    return transposed(y, np.argsort(places.order).tolist(), b)


def _within(places: Places, b: Builder) -> Tensor:
    """The places of elements, those of windows that are not within at an additional one."""
    corners, last = places.corners, places.last(b)
    inside = b.LOGICAL_AND(b.GREATER_EQUAL(corners, np.int32(0)), b.LESS_EQUAL(corners, last))
    inside = b.REDUCE_ALL(inside, int32s([places.n_batch]), keep_dims=True)
    elements = places.elements(corners, b)
    shape = [extent(corners, i, b) for i in range(places.n_batch)]
    inside = b.RESHAPE(inside, shape_of_parts([*shape, *[1] * places.depth, 1], b))
    outside = shape_of_parts([places.extents[0], *[0] * (places.depth - 1)], b)
    return b.SELECT_V2(inside, elements, outside)


def _combined(
    kind: str | None, x: Tensor, indices: Tensor, updates: Tensor, depth: int, b: Builder
) -> Tensor:
    """`x` with updates at index tuples, `kind` says how; None for updates in its place."""
    if kind == "SUM":
        shape = shape_of_parts([extent(x, i, b) for i in range(len(x.dims))], b)
        return b.ADD(x, b.SCATTER_ND(indices, updates, shape))
    sizes = [extent(x, i, b) for i in range(len(x.dims))]
    count, strides = sizes[0], [b.constant(np.int32(1))]
    for size in sizes[1:depth]:
        count = b.MUL(count, size)
    for size in sizes[depth - 1 : 0 : -1]:
        strides.insert(0, b.MUL(strides[0], size))
    weights = b.PACK(*strides, axis=0, values_count=depth)
    flat = b.SUM(b.MUL(indices, weights), int32s([len(indices.dims) - 1]))
    flat = b.RESHAPE(flat, int32s([-1]))
    slices, rows = (regrouped(t, [-1, *sizes[depth:]], b) for t in (x, updates))
    if kind is None:
        y = rows_replaced(slices, flat, rows, count, b)
    else:
        folded = b.op(SEGMENTS[kind], rows, flat, count)
        y = b.op(JOINS[kind], slices, folded)
    return b.RESHAPE(y, shape_of_parts(sizes, b))


def _updating(node) -> str | None:
    """How XlaScatter combines; None for the update in the place of what is there."""
    body = body_of(node, "update_computation")
    kind = fold_of(body)
    results, operands = body.outputs or [], body.inputs or []
    is_update = [copied(result) for result in results] == operands[1:2]
    node.require(
        is_update or kind == "SUM" or kind in SEGMENTS,
        "its function must give the update, or the sum, product, minimum or maximum of both",
    )
    return kind
