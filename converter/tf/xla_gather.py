"""XLA's gathers and scatters: windows read out of a tensor, or combined with it."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, cast

import numpy as np

from ...graph.ops.xla_numbers import Windows, gather_numbers, permuted, scatter_numbers
from ..ir.elements import extents_of
from ..ir.graph import Tensor
from ..lowering.moves import (
    as_int32,
    cropped,
    element,
    extent,
    int32s,
    positions,
    regrouped,
    reshaped,
    transposed,
)
from .control import body_of, inlined
from .decompositions import over_rows
from .registry import lower
from .scatter import rows_replaced
from .xla import extents, shape_of_parts
from .xla_reduce import JOINS, UPDATE, copied, fold_of, subgraph_of

if TYPE_CHECKING:
    from ..ir.builder import Builder
    from ..ir.dims import Extent

SEGMENTS = {
    "REDUCE_MAX": "UNSORTED_SEGMENT_MAX",
    "REDUCE_MIN": "UNSORTED_SEGMENT_MIN",
    "REDUCE_PROD": "UNSORTED_SEGMENT_PROD",
}
"""What folds axes -> what folds the updates of one place."""
SCATTERED = ("float32", "int8", "uint8", "int16", "int32", "int64")
"""Types that LiteRT's STABLEHLO_SCATTER has kernels for."""


class WindowIndices:
    """Where windows lie in a tensor whose indexed dimensions come first.

    Attributes:
        order: the tensor's dimensions, the indexed ones first.
        depth: how many are indexed.
        corners: [*batch, depth]: where windows begin, which may be outside.
        sizes: of windows, along the indexed dimensions.
        n_batch: the number of batch dimensions.
    """

    def __init__(
        self,
        node,
        b: Builder,
        numbers: Windows,
        sizes: Sequence[Extent | None],
        ends: tuple[Tensor, Tensor],
    ) -> None:
        """`ends` are the tensor and the indices."""
        operand, indices = ends
        rank = len(operand.dims)
        indexed = [*numbers.batching, *numbers.targets]
        self.order = [*indexed, *(i for i in range(rank) if i not in indexed)]
        for i in indexed:
            node.require(
                isinstance(sizes[i], int),
                f"the size of its windows along dimension {i} must be known, got {sizes[i]}",
            )
        self.depth, self.sizes = len(indexed), cast("list[int]", [sizes[i] for i in indexed])
        axes = [i for i in range(len(indices.dims)) if i != numbers.index_axis]
        indices = transposed(indices, [*axes, numbers.index_axis], b)
        self.n_batch = len(axes)
        self.extents = [extent(operand, i, b) for i in indexed]
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


def index_vectors(node, b: Builder, numbers: Windows) -> Tensor:
    """The indices as int32, with a dimension that their vectors lie along."""
    indices = as_int32(node.inputs[1], b)
    is_implied = numbers.index_axis == node.rank(1)
    return b.EXPAND_DIMS(indices, np.int32(-1)) if is_implied else indices


@lower("XlaGather")
def gather(node, b):
    """Windows of a tensor, moved so far that they lie within."""
    numbers = gather_numbers(node.op, node.rank())
    indices, sizes = index_vectors(node, b, numbers), extents(node, 2)
    operand, indices, numbers = _sliced(node, indices, numbers, sizes, b)
    rank = len(operand.dims)
    sizes = [1 if i in numbers.batching else n for i, n in enumerate(sizes)]
    windows = WindowIndices(node, b, numbers, sizes, (operand, indices))
    n = windows.n_batch
    if windows.depth:
        y = _gathered(operand, windows, b)
    else:
        y = _repeated(operand, indices, windows, b)
    back = np.argsort(windows.order)
    y = transposed(y, [*range(n), *(n + int(i) for i in back)], b)
    dropped = numbers.dropped
    if dropped:
        y = b.SQUEEZE(y, squeeze_dims=[n + i for i in dropped])
    count = n + rank - len(dropped)
    return transposed(y, permuted(numbers, range(n), range(n, count)), b)


def _gathered(operand: Tensor, windows: WindowIndices, b: Builder) -> Tensor:
    """[*batch, *windows]: what lies at places, the indexed dimensions of windows first."""
    corners = b.MAXIMUM(b.MINIMUM(windows.corners, windows.last(b)), int32s([0] * windows.depth))
    operand = transposed(operand, windows.order, b)
    if windows.depth == 1 and windows.sizes == [1]:
        flat = b.SQUEEZE(corners, squeeze_dims=[windows.n_batch])
        return b.EXPAND_DIMS(b.GATHER(operand, flat, axis=0), np.int32(windows.n_batch))
    return b.GATHER_ND(operand, windows.elements(corners, b))


def _repeated(operand: Tensor, indices: Tensor, windows: WindowIndices, b: Builder) -> Tensor:
    """The operand for each of the indices, which say nothing more."""
    if not windows.n_batch:
        return operand
    for _ in range(windows.n_batch):
        operand = b.EXPAND_DIMS(operand, np.int32(0))
    rank = len(operand.dims)
    parts = [extent(indices if i < windows.n_batch else operand, i, b) for i in range(rank)]
    return b.BROADCAST_TO(operand, shape_of_parts(parts, b))


def _sliced(
    node, indices: Tensor, numbers: Windows, sizes: Sequence[Extent], b: Builder
) -> tuple[Tensor, Tensor, Windows]:
    """The part of the operand that all windows share, and what the indices say beyond it.

    Where all windows begin at one place, that is a slice.
    """
    operand = node.inputs[0]
    begins: list[Tensor | int] = [0] * len(operand.dims)
    counts = [_count(node, operand, i, sizes, b) for i in range(len(operand.dims))]
    columns = _known_columns(indices, numbers.index_axis)
    shared = [] if columns is None else _shared(columns, numbers, sizes)
    for i in shared:
        axis = numbers.targets[i]
        n, first = extent(operand, axis, b), element(_first_vector(indices, numbers, b), i, b)
        size = element(as_int32(node.inputs[2], b), axis, b)
        begins[axis] = b.MAXIMUM(b.MINIMUM(first, b.SUB(n, size)), np.int32(0))
    for i, axis in enumerate(numbers.targets):
        if i not in shared:
            counts[axis] = -1
    for axis in numbers.batching:
        counts[axis] = -1
    if shared or any(isinstance(n, Tensor) or n != -1 for n in counts):
        operand = b.SLICE(operand, shape_of_parts(begins, b), shape_of_parts(counts, b))
    others = [i for i in range(len(numbers.targets)) if i not in shared]
    if shared:
        indices = b.GATHER(indices, int32s(others), axis=numbers.index_axis)
        numbers = numbers._replace(targets=[numbers.targets[i] for i in others])
    return operand, indices, numbers


def _count(node, operand: Tensor, axis: int, sizes: Sequence[Extent], b: Builder) -> Tensor | int:
    """How many elements windows have along a dimension; -1 for all of them."""
    size = sizes[axis]
    if operand.sizes is not None and operand.sizes[axis] == size:
        return -1
    return size if isinstance(size, int) else element(as_int32(node.inputs[2], b), axis, b)


def _first_vector(indices: Tensor, numbers: Windows, b: Builder) -> Tensor:
    """The first index vector."""
    rank = len(indices.dims)
    sizes = [-1 if i == numbers.index_axis else 1 for i in range(rank)]
    return b.RESHAPE(b.SLICE(indices, int32s([0] * rank), int32s(sizes)), int32s([-1]))


def _known_columns(indices: Tensor, axis: int) -> np.ndarray | None:
    """[vectors, depth]: the indices as numbers and expressions; None where they are computed."""
    if indices.value is None and indices.elements is None:
        return None
    rows = np.moveaxis(extents_of(indices), axis, -1)
    return rows.reshape(-1, rows.shape[-1]) if rows.size else None


def _shared(columns: np.ndarray, numbers: Windows, sizes: Sequence[Extent]) -> list[int]:
    """The parts of index vectors that are the same in all, of windows that GATHER has not."""
    return [
        i
        for i, axis in enumerate(numbers.targets)
        if all(x == columns[0, i] for x in columns[:, i])
        and (len(columns) == 1 or sizes[axis] != 1)
    ]


@lower("XlaScatter")
def scatter(node, b):
    """A tensor with windows combined with updates; one that is not within is left out."""
    operand, _, updates = node.inputs
    rank, kind = node.rank(), _updating(node)
    numbers = scatter_numbers(node.op, rank)
    batch = [i for i in range(node.rank(2)) if i not in numbers.windows]
    window = iter(updates.dims[i] for i in numbers.windows)
    sizes = [1 if i in numbers.dropped else next(window) for i in range(rank)]
    indices = index_vectors(node, b, numbers)
    if kind is None:
        return _one_by_one(node, indices, numbers, sizes, b)
    if _runs_whole(operand, numbers, sizes):
        return b.STABLEHLO_SCATTER(
            operand,
            indices,
            updates,
            graphs=(subgraph_of(kind, operand.dtype, b),),
            update_window_dims=numbers.windows,
            inserted_window_dims=numbers.dropped,
            scatter_dims_to_operand_dims=numbers.targets,
            index_vector_dim=numbers.index_axis,
        )
    updates = transposed(updates, [*batch, *numbers.windows], b)
    node.require(None not in sizes, f"the sizes of its windows must be known, got {sizes}")
    windows = WindowIndices(node, b, numbers, sizes, (operand, indices))
    n, depth = windows.n_batch, windows.depth
    node.require(depth, "its scatter_dims_to_operand_dims must not be empty")
    x = transposed(operand, windows.order, b)
    others = list(x.dims[depth:])
    expected = [sizes[i] for i in windows.order[depth:]]
    node.require(
        others == expected,
        f"windows must have the whole of the dimensions that are not indexed, {others}, "
        f"got {expected}",
    )
    parts = [extent(updates, i, b) for i in range(n)]
    updates = b.RESHAPE(updates, shape_of_parts([*parts, *cast("list[int]", sizes)], b))
    updates = transposed(updates, [*range(n), *(n + i for i in windows.order)], b)
    elements = _within(windows, b)
    x = b.PAD(x, int32s([[0, 1], *[[0, 0]] * (rank - 1)]))
    y = _combined(kind, x, elements, updates, depth, b)
    y = cropped(y, [[0, 1], *[[0, 0]] * (rank - 1)], b)
    return transposed(y, np.argsort(windows.order).tolist(), b)


def _runs_whole(operand: Tensor, numbers: Windows, sizes: Sequence[int | None]) -> bool:
    """Whether LiteRT's kernel for StableHLO says it.

    That leaves out elements that are not within, where XLA leaves out whole windows: the same for
    windows of one element along the indexed dimensions.
    """
    is_narrow = not numbers.batching and all(sizes[axis] == 1 for axis in numbers.targets)
    return is_narrow and operand.dtype.name in SCATTERED


def _one_by_one(
    node, indices: Tensor, numbers: Windows, sizes: Sequence[int | None], b: Builder
) -> Tensor:
    """A tensor with windows combined with one update after another, by any function."""
    x, updates = node.inputs[0], node.inputs[2]
    body, rank = body_of(node, "update_computation"), node.rank()
    shape = [n for i, n in enumerate(indices.dims) if i != numbers.index_axis]
    node.require(
        not numbers.batching and None not in [*shape, *sizes, *x.dims],
        f"its shapes must be known, got {x.dims} and {shape}; its function is none of the update, "
        "or the sum, product, minimum or maximum of both",
    )
    count = prod(cast("list[int]", shape))
    order = [i for i in range(len(indices.dims)) if i != numbers.index_axis]
    corners = transposed(indices, [*order, numbers.index_axis], b)
    corners = b.RESHAPE(corners, int32s([count, len(numbers.targets)]))
    columns = [numbers.targets.index(i) if i in numbers.targets else -1 for i in range(rank)]
    corners = b.PAD(corners, int32s([[0, 0], [0, 1]]))  # the last column is 0
    corners = b.GATHER(corners, int32s([c % (len(numbers.targets) + 1) for c in columns]), axis=1)
    batch = [i for i in range(len(updates.dims)) if i not in numbers.windows]
    rows = transposed(updates, [*batch, *numbers.windows], b)
    rows = b.RESHAPE(rows, int32s([count, *cast("list[int]", sizes)]))
    extents_of_windows = cast("list[int]", sizes)
    last = np.subtract(cast("list[int]", x.dims), extents_of_windows).astype(np.int32)

    def step(inner: Builder, row: Tensor, values: Sequence[Tensor]) -> list[Tensor]:
        result, corners, rows = values
        corner = inner.GATHER(corners, row, axis=0)
        moved = inner.MAXIMUM(inner.MINIMUM(corner, last), int32s([0] * rank))
        window = inner.SLICE(result, moved, int32s(extents_of_windows))
        (joined,) = inlined(body, inner, [window, inner.GATHER(rows, row, axis=0)])
        is_inside = inner.REDUCE_ALL(inner.EQUAL(corner, moved), int32s([0]))
        joined = inner.SELECT_V2(is_inside, joined, window)
        return [inner.DYNAMIC_UPDATE_SLICE(result, joined, moved), corners, rows]

    return over_rows(node, b, [x, corners, rows], count, step)[0]


def _within(windows: WindowIndices, b: Builder) -> Tensor:
    """The places of elements, those of windows that are not within at an additional one."""
    corners, last = windows.corners, windows.last(b)
    inside = b.LOGICAL_AND(b.GREATER_EQUAL(corners, np.int32(0)), b.LESS_EQUAL(corners, last))
    inside = b.REDUCE_ALL(inside, int32s([windows.n_batch]), keep_dims=True)
    elements = windows.elements(corners, b)
    shape = [extent(corners, i, b) for i in range(windows.n_batch)]
    inside = b.RESHAPE(inside, shape_of_parts([*shape, *[1] * windows.depth, 1], b))
    outside = shape_of_parts([windows.extents[0], *[0] * (windows.depth - 1)], b)
    return b.SELECT_V2(inside, elements, outside)


def _combined(
    kind: str, x: Tensor, indices: Tensor, updates: Tensor, depth: int, b: Builder
) -> Tensor:
    """`x` with updates at index tuples; `kind` says how."""
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
    if kind == UPDATE:
        y = rows_replaced(slices, flat, rows, count, b)
    else:
        folded = b.op(SEGMENTS[kind], rows, flat, count)
        y = b.op(JOINS[kind], slices, folded)
    return b.RESHAPE(y, shape_of_parts(sizes, b))


def _updating(node) -> str | None:
    """How XlaScatter combines; None for a function that is no fold and not the update."""
    body = body_of(node, "update_computation")
    kind = fold_of(body)
    results, operands = body.outputs or [], body.inputs or []
    is_update = [copied(result) for result in results] == operands[1:2]
    return UPDATE if is_update else kind if kind == "SUM" or kind in SEGMENTS else None
