"""Ops that pass on, move or repeat elements."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, cast

import numpy as np

from ...engine.families.conversion import convert
from ...engine.families.elementwise import elementwise
from ...engine.families.layout import fill, move, write_box
from ...engine.plan.buffer import Buffer, arena, constant
from ...engine.plan.view import View
from ..core.infer import infer_shapes
from ..core.registry import row_of
from ..core.shapes import is_static
from ..ops.slice import strided_index
from .elementwise import no_limits
from .registry import emit
from .shapes import result

if TYPE_CHECKING:
    from ...engine.plan.program import Program
    from ..session.stage import Site
    from .registry import Emitted

SAME = ("Identity", "StopGradient", "PreventGradient", "Snapshot", "RefIdentity")
_WIDEST = 8
"""Bytes of the elements that kernels move."""
RESHAPING = ("EnsureShape", "ExpandDims", "PlaceholderWithDefault", "Reshape", "Squeeze")


@emit(*SAME)
def same(program: Program, op: Site, x: Buffer) -> Emitted:
    """`x` itself."""
    return x


@emit(*RESHAPING)
def reshaped(program: Program, op: Site, x: Buffer, *_: Buffer) -> Emitted:
    """The same bytes in another shape."""
    if op.type == "PlaceholderWithDefault":
        return x
    shape = infer_shapes(op, row_of(op.type))[0]
    return x.reshape(shape) if is_static(shape) else None


@emit("IdentityN")
def identity_n(program: Program, op: Site, *inputs: Buffer) -> Emitted:
    """All inputs themselves."""
    return list(inputs)


@emit("Transpose")
def transpose(program: Program, op: Site, x: Buffer, permutation: Buffer) -> Emitted:
    """The dimensions in another order."""
    out = result(op)
    if out is None or permutation.value is None or x.dtype.hasobject:
        return None
    order = tuple(int(axis) % max(x.ndim, 1) for axis in permutation.value)
    move(program, View.of(x).transpose(order), View.of(out))
    return out


@emit("ConcatV2")
def concat(program: Program, op: Site, *inputs: Buffer) -> Emitted:
    """The inputs one after the other along an axis."""
    *parts, axis = inputs
    out = result(op)
    if out is None or axis.value is None or out.dtype.hasobject:
        return None
    along, start = int(axis.value) % out.ndim, 0
    for part in parts:
        count = part.shape[along]
        move(program, part, View.of(out).part(along, start, count))
        start += count
    return out


@emit("Pack")
def pack(program: Program, op: Site, *inputs: Buffer) -> Emitted:
    """The inputs side by side along a new axis."""
    out = result(op)
    if out is None or any(part.dtype.hasobject for part in inputs):
        return None
    along = op.get_attr("axis") % out.ndim
    for i, part in enumerate(inputs):
        move(program, part, View.of(out).pick(along, i))
    return out


@emit("Split", "SplitV", "Unpack")
def split(program: Program, op: Site, *inputs: Buffer) -> Emitted:
    """Parts of an input along an axis."""
    shapes = infer_shapes(op, row_of(op.type))
    x = inputs[1 if op.type == "Split" else 0]
    axis = _split_axis(op, inputs)
    if axis is None or x.dtype.hasobject:
        return None
    outputs: list[Buffer] = []
    axis, start = axis % x.ndim, 0
    for shape in shapes:
        if not is_static(shape):
            return None
        outputs.append(arena(shape, x.dtype))
    for out in outputs:
        if op.type == "Unpack":
            move(program, View.of(x).pick(axis, start), out)
            start += 1
        else:
            move(program, View.of(x).part(axis, start, out.shape[axis]), out)
            start += out.shape[axis]
    return outputs


def _split_axis(op: Site, inputs: Sequence[Buffer]) -> int | None:
    if op.type == "Unpack":
        return op.get_attr("axis")
    axis = inputs[0 if op.type == "Split" else 2].value
    return None if axis is None else int(axis)


@emit("Slice")
def slice_(program: Program, op: Site, x: Buffer, begin: Buffer, size: Buffer) -> Emitted:
    """A part of each dimension."""
    out = result(op)
    if out is None or begin.value is None or x.dtype.hasobject:
        return None
    view = View.of(x)
    for axis, (start, count) in enumerate(zip(begin.value.tolist(), out.shape, strict=True)):
        if not 0 <= start <= x.shape[axis] - count:
            return None
        view = view.part(axis, start, count)
    move(program, view, out)
    return out


def _strided(op: Site, whole: View, *numbers: Buffer) -> View | None:
    """The part of a view that a strided slice names; None where its numbers are not known."""
    values = [buffer.value for buffer in numbers]
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        return None
    axis = 0
    for item in strided_index(op, len(whole.shape), *known):
        if item is None:
            whole = whole.insert(axis)
        elif isinstance(item, int):
            size = whole.shape[axis]
            if not -size <= item < size:
                return None
            whole = whole.pick(axis, item % size)
            continue
        else:
            start, stop, step = item.indices(whole.shape[axis])
            whole = whole.part(axis, start, len(range(start, stop, step)), step)
        axis += 1
    return whole


def _starts(
    program: Program, op: Site, shape: Sequence[int], begin: Buffer, end: Buffer, strides: Buffer
) -> Buffer | None:
    """Where, in int64, a slice begins that picks one of some dimensions and has all of the others.

    None for other slices. What is negative counts from the end.
    """
    masks = ("begin_mask", "end_mask", "shrink_axis_mask", "new_axis_mask", "ellipsis_mask")
    first, last, picked, *others = (cast("int", op.get_attr(name)) for name in masks)
    n, dtype = begin.size, begin.dtype
    is_whole = all((first & last | picked) >> i & 1 for i in range(n))
    steps = strides.value
    if any(others) or not is_whole or steps is None or (steps != 1).any() or n > len(shape):
        return None
    sizes = constant(np.array(shape[:n], dtype))
    counted = constant(np.array([picked >> i & 1 for i in range(n)], dtype))
    at, is_negative = arena((n,), dtype), arena((n,), np.bool_)
    wrapped, positions = arena((n,), dtype), arena((n,), dtype)
    starts = arena((len(shape),), np.int64)
    elementwise(program, "arithmetic.multiply", (begin, counted), at, no_limits(dtype))
    elementwise(program, "compare.less", (at, constant(np.zeros((), dtype))), is_negative)
    elementwise(program, "arithmetic.add", (at, sizes), wrapped, no_limits(dtype))
    elementwise(program, "compare.select", (is_negative, wrapped, at), positions)
    fill(program, constant(np.zeros((), np.int64)), starts)
    convert(program, positions, np.dtype(np.int64), starts.part(0, n))
    return starts


def _picked_axes(op: Site, rank: int) -> list[int]:
    return [i for i in range(rank) if cast("int", op.get_attr("shrink_axis_mask")) >> i & 1]


def _pick(program: Program, op: Site, x: Buffer, starts: Buffer) -> Buffer:
    """What a slice gives whose beginning is computed, dimension by dimension."""
    for axis in reversed(_picked_axes(op, x.ndim)):
        before, after = prod(x.shape[:axis]), prod(x.shape[axis + 1 :])
        out = arena((*x.shape[:axis], *x.shape[axis + 1 :]), x.dtype)
        if out.size:
            program.call(
                "gather.slices",
                x.reshape((1, before, x.shape[axis], after)),
                starts.part(axis, 1).reshape((1, 1)),
                out.reshape((1, before, 1, after)),
                split=before,
            )
        x = out
    return x


@emit("StridedSlice")
def strided_slice(program: Program, op: Site, x: Buffer, *numbers: Buffer) -> Emitted:
    """A part of each dimension, by numbers and masks."""
    out = result(op)
    if out is None or x.dtype.hasobject or x.itemsize > _WIDEST:
        return None
    if numbers[0].value is None and out.size:
        starts = _starts(program, op, x.shape, *numbers)
        return None if starts is None else _pick(program, op, x, starts)
    part = _strided(op, View.of(x), *numbers)
    if part is None or part.shape != out.shape:
        return None
    move(program, part, out)
    return out


@emit("StridedSliceGrad")
def strided_slice_grad(program: Program, op: Site, shape: Buffer, *others: Buffer) -> Emitted:
    """`dy` at the places of a slice of zeros."""
    *numbers, dy = others
    out = result(op)
    if out is None or dy.dtype.hasobject or dy.itemsize > _WIDEST:
        return None
    if numbers[0].value is None and dy.size:
        starts = _starts(program, op, out.shape, *numbers)
        if starts is None:
            return None
        picked = _picked_axes(op, out.ndim)
        update = tuple(1 if axis in picked else n for axis, n in enumerate(out.shape))
        fill(program, constant(np.zeros((), dy.dtype)), out)
        write_box(program, dy.reshape(update), starts, out)
        return out
    part = _strided(op, View.of(out), *numbers)
    if part is None or part.shape != dy.shape:
        return None
    if out.size:
        fill(program, constant(np.zeros((), dy.dtype)), out)
    move(program, dy, part)
    return out


@emit("Pad", "PadV2")
def pad(program: Program, op: Site, x: Buffer, paddings: Buffer, *value: Buffer) -> Emitted:
    """`x` amid one value."""
    out = result(op)
    pairs = paddings.value
    if out is None or pairs is None or x.dtype.hasobject:
        return None
    fill(program, value[0] if value else constant(np.zeros((), x.dtype)), out)
    view = View.of(out)
    for axis, start in enumerate(pairs[:, 0].tolist()):
        view = view.part(axis, start, x.shape[axis])
    move(program, x, view)
    return out


@emit("Tile")
def tile(program: Program, op: Site, x: Buffer, multiples: Buffer) -> Emitted:
    """`x` side by side with itself."""
    out = result(op)
    if out is None or multiples.value is None or x.dtype.hasobject:
        return None
    source, target = View.of(x), View.of(out)
    for axis, times in enumerate(multiples.value.tolist()):
        source = source.insert(2 * axis, times)
        target = target.split(2 * axis, times, x.shape[axis])
    move(program, source, target)
    return out


@emit("BroadcastTo")
def broadcast_to(program: Program, op: Site, x: Buffer, shape: Buffer) -> Emitted:
    """`x` repeated to a shape."""
    out = result(op)
    if out is None or x.dtype.hasobject:
        return None
    move(program, View.of(x).broadcast(out.shape), View.of(out))
    return out


@emit("Fill")
def fill_with(program: Program, op: Site, dims: Buffer, value: Buffer) -> Emitted:
    """One value everywhere."""
    out = result(op)
    if out is None or value.dtype.hasobject:
        return None
    fill(program, value, out)
    return out


@emit("ZerosLike", "OnesLike")
def like(program: Program, op: Site, x: Buffer) -> Emitted:
    """Zeros or ones in the shape of `x`."""
    if x.dtype.hasobject:
        return None
    number = 0 if op.type == "ZerosLike" else 1
    return constant(np.full(x.shape, number, x.dtype))


@emit("GatherV2", "ResourceGather")
def gather(program: Program, op: Site, params: Buffer, indices: Buffer, *axes: Buffer) -> Emitted:
    """Slices along an axis."""
    out = result(op) if op.type == "GatherV2" else _rows(params, indices)
    axis = axes[0].value if axes else np.int32(0)
    simple = not op.get_attr("batch_dims") and indices.dtype.name in ("int32", "int64")
    if out is None or axis is None or not simple or params.dtype.hasobject:
        return None
    along = int(axis) % max(params.ndim, 1)
    before, count = params.shape[:along], params.shape[along]
    after = params.shape[along + 1 :]
    outer, inner = int(np.prod(before)), int(np.prod(after))
    if out.size:
        program.call(
            "gather.slices",
            params.reshape((1, outer, count, inner)),
            indices.reshape((1, indices.size)),
            out.reshape((1, outer, indices.size, inner)),
            split=outer,
        )
    return out


def _rows(params: Buffer, indices: Buffer) -> Buffer:
    return arena((*indices.shape, *params.shape[1:]), params.dtype)
