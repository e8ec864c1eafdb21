"""StableHLO's operators that move elements: slices, padding, gathering, iota.

Source: The StableHLO specification.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from ....engine.families.conversion import convert
from ....engine.families.layout import copy, fill, move, write_box
from ....engine.plan.buffer import Buffer, arena, constant
from ....engine.plan.view import View, contiguous_strides
from ....engine.sizes import largest
from ....schema.dtypes import tf_name
from ...checks import check_result_size, same_dtype
from ...plan.substitution import moves_any
from ...registry import op
from ..window import offsets
from .elementwise import numbers, operands

if TYPE_CHECKING:
    from ....engine.plan.program import Program
    from ...plan.node import Node, Operand

    Emit = Callable[[Program], None]


@op("STABLEHLO_RESHAPE")
def reshape(node: Node) -> None:
    """The elements in the same order, in the shape that the file declares."""
    (x,) = operands(node, 1)
    node.alias(x, _declared(node))


@op("STABLEHLO_IOTA")
def iota(node: Node) -> None:
    """The index of each element along `iota_dimension`."""
    shape, dtype = _declared(node), node.outputs[0].dtype
    axis = int(node.options.iota_dimension)
    _require_axes(node, "iota_dimension", [axis], len(shape))
    if dtype is None:
        node.fail("the type of the result is not declared")
    node.require(dtype.kind not in "bO", f"indices are no {tf_name(dtype)}")
    check_result_size(node, (1, shape[axis]), np.dtype(np.int64))
    column = np.arange(shape[axis]).reshape([-1 if i == axis else 1 for i in range(len(shape))])
    node.result(shape, dtype, value=np.broadcast_to(column.astype(dtype), shape))


@op("STABLEHLO_TRANSPOSE")
@moves_any
def transpose(node: Node) -> Emit:
    """The dimensions in the order that `permutation` names them."""
    (x,) = operands(node, 1)
    permutation = numbers(node, "permutation")
    node.require(
        sorted(permutation) == list(range(x.ndim)),
        f"permutation must name each of the {x.ndim} axes once, got {permutation}",
    )
    out = node.result([x.shape[axis] for axis in permutation], x.dtype)
    return lambda program: move(program, View.of(x).transpose(tuple(permutation)), out)


@op("STABLEHLO_BROADCAST_IN_DIM")
@moves_any
def broadcast_in_dim(node: Node) -> Emit:
    """`x` repeated to the declared shape; its dimensions become those that the option names."""
    (x,) = operands(node, 1)
    shape, axes = _declared(node), numbers(node, "broadcast_dimensions")
    _require_axes(node, "broadcast_dimensions", axes, len(shape))
    node.require(
        len(axes) == x.ndim and all(n in (1, shape[i]) for n, i in zip(x.shape, axes, strict=True)),
        f"shape {x.shape} does not broadcast to {shape} at dimensions {axes}",
    )
    out = node.result(shape, x.dtype)
    sizes = dict(zip(axes, zip(x.shape, View.of(x).strides, strict=True), strict=True))

    def emit(program: Program) -> None:
        strides = [sizes[i][1] if i in sizes and sizes[i][0] > 1 else 0 for i in range(out.ndim)]
        move(program, View(x, tuple(shape), tuple(strides)), out)

    return emit


@op("STABLEHLO_CONCATENATE")
@moves_any
def concatenate(node: Node) -> Emit:
    """The operands one after another along `dimension`."""
    inputs = operands(node, max(1, len(node.inputs)))
    same_dtype(node, inputs)
    axis, first = int(node.options.dimension), inputs[0]
    _require_axes(node, "dimension", [axis], first.ndim)
    for x in inputs:
        node.require_equal(
            (*x.shape[:axis], *x.shape[axis + 1 :]),
            (*first.shape[:axis], *first.shape[axis + 1 :]),
            f"shapes must agree but for dimension {axis}, got {first.shape} and {x.shape}",
        )
    total = sum(x.shape[axis] for x in inputs)
    out = node.result([*first.shape[:axis], total, *first.shape[axis + 1 :]], first.dtype)

    def emit(program: Program) -> None:
        start = 0
        for x in inputs:
            move(program, x, View.of(out).part(axis, start, x.shape[axis]))
            start += x.shape[axis]

    return emit


@op("STABLEHLO_SLICE")
@moves_any
def slice_(node: Node) -> Emit:
    """The elements from `start_indices` to before `limit_indices`, `strides` apart."""
    (x,) = operands(node, 1)
    cuts = [numbers(node, name) for name in ("start_indices", "limit_indices", "strides")]
    node.require(
        all(len(cut) == x.ndim for cut in cuts)
        and all(
            0 <= start <= stop <= n and step > 0
            for start, stop, step, n in zip(*cuts, x.shape, strict=True)
        ),
        f"start, limit and strides {cuts} must lie within shape {x.shape}",
    )
    view = View.of(x)
    for axis, (start, stop, step) in enumerate(zip(*cuts, strict=True)):
        view = view.part(axis, start, -(-(stop - start) // step), step)
    out = node.result(view.shape, x.dtype)
    return lambda program: move(program, view, out)


@op("STABLEHLO_PAD")
@moves_any
def pad(node: Node) -> Emit:
    """`x` with the second input around it and between its elements; negative numbers cut off."""
    x, value = operands(node, 2)
    same_dtype(node, (x, value))
    node.require(value.size == 1, f"the padding must be one value, got shape {value.shape}")
    names = ("edge_padding_low", "edge_padding_high", "interior_padding")
    low, high, interior = (numbers(node, name) for name in names)
    node.require(
        len(low) == len(high) == len(interior) == x.ndim and min(interior, default=0) >= 0,
        f"paddings must be {x.ndim} numbers each, those inside not negative, got {low}, {high} "
        f"and {interior}",
    )
    steps = [k + 1 for k in interior]
    spans = [largest((n - 1) * k + 1, 0) for n, k in zip(x.shape, steps, strict=True)]
    shape = [largest(a + n + b, 0) for a, n, b in zip(low, spans, high, strict=True)]
    out = node.result(shape, x.dtype)

    def emit(program: Program) -> None:
        fill(program, value, out)
        source, target = View.of(x), View.of(out)
        for axis, (n, start, step, size) in enumerate(zip(x.shape, low, steps, shape, strict=True)):
            first = max(-(start // step), 0) if start < 0 else 0
            last = min(n - 1, (size - 1 - start) // step)
            count = max(last - first + 1, 0)
            source = source.part(axis, first, count)
            target = target.part(axis, start + first * step, count, step)
        move(program, source, target)

    return emit


@op("STABLEHLO_DYNAMIC_SLICE")
@moves_any
def dynamic_slice(node: Node) -> Emit:
    """The box of `slice_sizes` that the other inputs place, moved inside where it is not."""
    x, *starts = operands(node, len(node.inputs))
    sizes = numbers(node, "slice_sizes")
    _require_box(node, x, starts, sizes)
    out = node.result(sizes, x.dtype)

    def emit(program: Program) -> None:
        if out.size:
            limits = [n - k for n, k in zip(x.shape, sizes, strict=True)]
            _take_boxes(program, x, _vector(program, starts), limits, range(x.ndim), sizes, out)

    return emit


@op("STABLEHLO_DYNAMIC_UPDATE_SLICE")
@moves_any
def dynamic_update_slice(node: Node) -> Emit:
    """`x` with the second input at the place that the scalars of the others name."""
    x, update, *starts = operands(node, len(node.inputs))
    same_dtype(node, (x, update))
    _require_box(node, x, starts, update.shape)
    out = node.in_place(0)

    def emit(program: Program) -> None:
        copy(program, x, out)
        write_box(program, update, _vector(program, starts).ravel(), out)

    return emit


def _vector(program: Program, starts: Sequence[Operand]) -> Buffer:
    """Scalars as one row of int64."""
    row = arena((1, len(starts)), np.int64)
    for i, start in enumerate(starts):
        number = convert(program, start, np.dtype(np.int64)).reshape((1, 1))
        move(program, number, View.of(row).part(1, i, 1))
    return row


@op("STABLEHLO_GATHER")
@moves_any
def gather(node: Node) -> Emit:
    """Slices of the first input where the second says, moved inside where they are not."""
    x, indices = operands(node, 2)
    options = node.options
    names = ("offset_dims", "collapsed_slice_dims", "start_index_map", "slice_sizes")
    offset_dims, collapsed, index_map, sizes = (numbers(node, name) for name in names)
    vector = int(options.index_vector_dim)
    node.require(
        len(sizes) == x.ndim and all(0 <= k <= n for k, n in zip(sizes, x.shape, strict=True)),
        f"slice_sizes must lie within shape {x.shape}, got {sizes}",
    )
    batch: list[int] = [n for i, n in enumerate(indices.shape) if i != vector]
    node.require(
        0 <= vector <= indices.ndim
        and len(index_map) == (indices.shape[vector] if vector < indices.ndim else 1)
        and all(0 <= d < x.ndim for d in (*index_map, *collapsed)),
        f"start_index_map {index_map} must name a dimension for each index in {indices.shape}",
    )
    node.require(
        len(set(index_map)) == len(index_map) and all(sizes[d] == 1 for d in collapsed),
        f"start_index_map must name each dimension once, slices of collapsed ones must be 1, "
        f"got {index_map}, {collapsed} and slice_sizes {sizes}",
    )
    slice_axes = [d for d in range(x.ndim) if d not in collapsed]
    rank = len(batch) + len(slice_axes)
    _require_axes(node, "offset_dims", offset_dims, rank)
    node.require(
        len(offset_dims) == len(slice_axes), f"offset_dims must be {len(slice_axes)} numbers"
    )
    outer = [i for i in range(rank) if i not in offset_dims]
    order = np.argsort([*outer, *offset_dims], kind="stable")
    unordered = [*batch, *(sizes[d] for d in slice_axes)]
    shape = [unordered[int(i)] for i in order]

    out = node.result(shape, x.dtype)

    def emit(program: Program) -> None:
        if not out.size:
            return
        starts = index_vectors(program, indices, vector)
        box = [size if d in slice_axes else 1 for d, size in enumerate(sizes)]
        straight = out
        if list(order) != sorted(order):
            straight = arena(unordered, x.dtype)
        limits = [x.shape[d] - sizes[d] for d in index_map]
        _take_boxes(program, x, starts, limits, index_map, box, straight)
        if straight is not out:
            move(program, View.of(straight).transpose(tuple(int(i) for i in order)), out)

    return emit


def _take_boxes(
    program: Program,
    x: Operand,
    starts: Buffer,
    limits: Sequence[int],
    dims: Sequence[int],
    box: Sequence[int],
    out: Buffer,
) -> None:
    """Adds out = boxes of `x`, one for each row of `starts`.

    A row has where the box begins along `dims` of x, held within 0 and `limits`.
    """
    pitches = contiguous_strides(x.shape)
    inner = _first_of_run(box, x.shape)
    runs = offsets(box[:inner], np.array(pitches[:inner], np.int64))
    program.call(
        "gather.boxes",
        x.ravel(),
        starts,
        constant(np.array(limits, np.int64)),
        constant(np.array([pitches[d] for d in dims], np.int64)),
        constant(runs),
        out.reshape((starts.shape[0], runs.size, prod(box[inner:]))),
        split=starts.shape[0],
    )


def _first_of_run(box: Sequence[int], shape: Sequence[int]) -> int:
    """From which dimension on the elements of a box in an array lie side by side."""
    first = len(box)
    while first and box[first:] == list(shape[first:]):
        first -= 1
    return first


def index_vectors(program: Program, indices: Operand, axis: int) -> Buffer:
    """Rows of int64, each the indices along `axis` (one where that is behind the last one)."""
    if axis == indices.ndim:
        return convert(program, indices, np.int64).reshape((indices.size, 1))
    count = indices.shape[axis]
    rows: Buffer = indices
    if axis < indices.ndim - 1:
        order = [*(d for d in range(indices.ndim) if d != axis), axis]
        rows = arena([indices.shape[d] for d in order], indices.dtype)
        move(program, View.of(indices).transpose(tuple(order)), rows)
    return convert(program, rows, np.int64).reshape((prod(rows.shape[:-1]), count))


def _require_box(node: Node, x: Operand, starts: Sequence[Operand], sizes: Sequence[int]) -> None:
    node.require(
        len(starts) == len(sizes) == x.ndim
        and all(start.size == 1 and start.is_integer for start in starts)
        and all(0 <= k <= n for k, n in zip(sizes, x.shape, strict=True)),
        f"a slice of shape {tuple(sizes)} with one start a dimension must lie within {x.shape}",
    )


def _declared(node: Node) -> tuple[int, ...]:
    shape = node.outputs[0].shape
    if shape is None:
        node.fail("the shape of the result is not declared")
    return shape


def _require_axes(node: Node, option: str, axes: Sequence[int], rank: int) -> None:
    node.require(
        len(set(axes)) == len(axes) and all(0 <= axis < rank for axis in axes),
        f"{option} must be among the {rank} dimensions, each once, got {list(axes)}",
    )
