"""SLICE, STRIDED_SLICE, REVERSE_V2, REVERSE_SEQUENCE: some elements, or all in another order."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from ...engine.families.layout import fill, move
from ...engine.plan.buffer import arena, constant
from ...engine.plan.view import View, contiguous_strides
from ...engine.records import Axis
from ...engine.sizes import (
    counted_slices,
    from_front,
    is_plain,
    largest,
    least,
    may_be_negative,
    steps,
)
from ...schema.dtypes import tf_name
from ..checks import required
from ..plan.node import NeedsValue
from ..plan.substitution import moves_any
from ..registry import op

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from ...engine.plan.buffer import Buffer
    from ...engine.plan.program import Program
    from ..plan.node import Emit, Node, Operand, Prepared

    Entry: TypeAlias = tuple[int | None, int | None]
    Cut: TypeAlias = tuple[int, int | None, int, bool]


@op("SLICE")
@moves_any
def slice_(node: Node) -> Emit:
    """The box of `x` that begins at the second input and has the size of the third."""
    x, begin = required(node, 2)
    sizes = node.sizes(2)
    dynamic_result = begin.value is None and not may_be_negative(sizes)
    begins = [0] * len(sizes) if dynamic_result else node.sizes(1)
    node.require_equal(
        [begin.size, len(sizes)],
        [x.ndim] * 2,
        f"begin and size must have one number for each of {x.ndim} dimensions, "
        f"got {begins} and {sizes}",
    )
    for axis, (start, size) in enumerate(zip(begins, sizes, strict=True)):
        n = x.shape[axis]
        sizes[axis] = size = counted_slices(size, start, n)
        node.require(
            start >= 0 and size >= 0 and start + size <= n,
            f"begin {start} and size {size} must lie within the {n} slices of dimension {axis}, "
            f"got begin {begins} and size {sizes} for shape {x.shape}",
        )
    out = node.result(sizes, x.dtype)

    def emit(program: Program) -> None:
        if dynamic_result:
            _take_box(program, x, _as_int64(program, begin.ravel()), sizes, out)
            return
        view = View.of(x)
        for axis, (start, size) in enumerate(zip(begins, sizes, strict=True)):
            view = view.part(axis, start, size)
        move(program, view, out)

    return emit


def _take_box(
    program: Program,
    x: Operand,
    starts: Buffer,
    sizes: Sequence[int],
    out: Operand,
    wrap: bool = False,
) -> None:
    """Adds the instructions that copy the part of `x` from `starts` on, whose shape is `sizes`."""
    if not x.ndim:
        move(program, x, out)
    elif out.size:
        program.call(
            "gather.box",
            x.ravel(),
            starts,
            constant(np.array([sizes, x.shape, View.of(x).strides], np.int64)),
            out.ravel(),
            split=out.size // sizes[-1],
            wrap=wrap,
        )


@op("STRIDED_SLICE")
@moves_any
def strided_slice(node: Node) -> Prepared:
    """`x[begin:end:stride, ...]` with the masks of TF: ellipsis, new axes, single indices."""
    x, begin, end, strides = required(node, 4)
    node.require(begin.ndim == 1, f"begin must have one dimension, got shape {begin.shape}")
    lengths = begin.size, end.size, strides.size
    for length in lengths[1:]:
        node.require_equal(
            begin.size, length, f"begin, end and strides must have one length, got {lengths}"
        )
    if not is_plain(begin.size):
        raise NeedsValue(1)
    entries = _entries(node, x, begin.size)
    if begin.value is None and _only_picks(node, entries):
        return _dynamic_picks(node, x, begin, entries)
    cuts = _cuts(node, x, entries)
    out = node.result([count for _, _, count, in_result in cuts if in_result], x.dtype)

    def emit(program: Program) -> None:
        view = View.of(x)
        for axis, (start, step, count, _) in enumerate(cuts):
            view = view.insert(axis) if step is None else view.part(axis, start, count, step)
        for axis in reversed(range(len(cuts))):
            view = view if cuts[axis][3] else view.drop(axis)
        move(program, view, out)

    return emit


def _entries(node: Node, x: Operand, count: int) -> list[Entry]:
    """(i, axis) in the order of the result: entry `i` of begin cuts dimension `axis` of `x`.

    `i` is None where no entry names the dimension, `axis` where the entry makes a new one.
    """
    options = node.options
    ellipsis = [i for i in range(count) if options.ellipsis_mask >> i & 1]
    node.require(len(ellipsis) <= 1, f"at most one ellipsis, got mask {options.ellipsis_mask}")
    new = [i for i in range(count) if options.new_axis_mask >> i & 1 and i not in ellipsis]
    unnamed = x.ndim - (count - len(new) - len(ellipsis))
    if unnamed < 0 and not ellipsis and max(new, default=-1) < x.ndim + len(new):
        count += unnamed  # as TFLite does, without a look at what is named beyond the last one
        unnamed = 0
    node.require(
        unnamed >= 0,
        f"begin must name at most {x.ndim} dimensions of shape {x.shape}, got {x.ndim - unnamed}",
    )
    entries: list[Entry] = []
    axis = 0
    for i in range(count):
        if i in ellipsis:
            entries += [(None, axis + j) for j in range(unnamed)]
            axis += unnamed
        elif i in new:
            entries.append((i, None))
        else:
            entries.append((i, axis))
            axis += 1
    return entries + [(None, i) for i in range(axis, x.ndim)]


def _only_picks(node: Node, entries: Sequence[Entry]) -> bool:
    """Whether every dimension is either taken whole or at one index."""
    options = node.options
    full_mask = options.begin_mask & options.end_mask | options.shrink_axis_mask
    named = [i for i, axis in entries if i is not None and axis is not None]
    strides = node.integers(3)
    return all(full_mask >> i & 1 and strides[i] == 1 for i in named)


def _dynamic_picks(node: Node, x: Operand, begin: Operand, entries: Sequence[Entry]) -> Emit:
    """STRIDED_SLICE of single indices known only at run time, and of whole dimensions."""
    named = [(i, axis) for i, axis in entries if i is not None and axis is not None]
    picked = {i: axis for i, axis in named if node.options.shrink_axis_mask >> i & 1}
    sizes = [1 if axis in picked.values() else n for axis, n in enumerate(x.shape)]
    shape = [1 if axis is None else x.shape[axis] for i, axis in entries if i not in picked]
    out = node.result(shape, x.dtype)

    def emit(program: Program) -> None:
        begin_int64 = _as_int64(program, begin)
        starts = arena((x.ndim,), np.int64)
        fill(program, constant(np.zeros(1, np.int64)), starts)
        for i, axis in picked.items():
            move(program, View.of(begin_int64).part(0, i, 1), View.of(starts).part(0, axis, 1))
        _take_box(program, x, starts, sizes, out, wrap=True)

    return emit


def _cuts(node: Node, x: Operand, entries: Sequence[Entry]) -> list[Cut]:
    """(start, step, count, in_result) of each entry; step is None for a new dimension."""
    begin, end = node.sizes(1), node.sizes(2)
    stride = node.integers(3)
    cuts: list[Cut] = []
    for i, axis in entries:
        if axis is None:
            cuts.append((0, None, 1, True))
        elif i is None:
            cuts.append((0, 1, x.shape[axis], True))
        else:
            cuts.append(_cut(node, i, x.shape[axis], begin[i], end[i], stride[i]))
    return cuts


def _cut(node: Node, i: int, n: int, begin: int, end: int, stride: int) -> Cut:
    """(start, step, count, in_result) of entry `i`, which cuts a dimension of size `n`."""
    options = node.options
    node.require(stride != 0, f"strides must not be zero, got 0 at position {i}")
    if options.offset:
        end += begin
    start = from_front(begin, n)
    if options.shrink_axis_mask >> i & 1:
        if options.begin_mask >> i & 1:
            start = 0 if stride > 0 else n - 1
        node.require(0 <= start < n, f"index {begin} at position {i} must be in [{-n}, {n})")
        return start, stride, 1, False
    low, high = (0, n) if stride > 0 else (-1, n - 1)
    first, last = (low, high) if stride > 0 else (high, low)
    start = first if options.begin_mask >> i & 1 else least(largest(start, low), high)
    stop = end if options.offset else from_front(end, n)
    stop = last if options.end_mask >> i & 1 else least(largest(stop, low), high)
    return start, stride, steps(start, stop, stride), True


@op("REVERSE_V2")
@moves_any
def reverse(node: Node) -> Emit:
    """`x` backwards along the axes of the second input."""
    (x,) = required(node, 1)
    listed_axes = node.integers(1)
    axes = [node.axis("axis", x, axis) for axis in listed_axes]
    node.require(len(set(axes)) == len(axes), f"axes must differ, got {listed_axes}")
    out = node.result(x.shape, x.dtype)

    def emit(program: Program) -> None:
        view = View.of(x)
        for axis in axes:
            view = view.part(axis, x.shape[axis] - 1, x.shape[axis], -1)
        move(program, view, out)

    return emit


@op("REVERSE_SEQUENCE")
@moves_any
def reverse_sequence(node: Node) -> Emit:
    """`x` with the first `lengths[b]` steps of each batch entry `b` backwards."""
    x, lengths = required(node, 2)
    steps_axis, batch_axis = node.axis("seq_dim", x), node.axis("batch_dim", x)
    node.require(
        steps_axis != batch_axis, f"seq_dim and batch_dim must differ, both are {steps_axis}"
    )
    batch = x.shape[batch_axis]
    node.require(
        lengths.shape == (batch,), f"lengths must have shape {(batch,)}, got {lengths.shape}"
    )
    node.require(lengths.is_integer, f"lengths must be integers, got {tf_name(lengths.dtype)}")
    out = node.result(x.shape, x.dtype)
    strides = contiguous_strides(x.shape)
    low, high = sorted((steps_axis, batch_axis))

    def emit(program: Program) -> None:
        if not out.size:
            return
        program.call(
            "gather.reverse_sequence",
            x.ravel(),
            _as_int64(program, lengths),
            out.ravel(),
            split=batch,
            outer=Axis(prod(x.shape[:low]), strides[low] * x.shape[low]),
            middle=Axis(prod(x.shape[low + 1 : high]), strides[high] * x.shape[high]),
            steps=Axis(x.shape[steps_axis], strides[steps_axis]),
            batch_stride=strides[batch_axis],
            inner=strides[high],
        )

    return emit


def _as_int64(program: Program, numbers: Buffer) -> Buffer:
    from ...engine.families.conversion import convert  # most models have constants here

    return convert(program, numbers, np.int64)
