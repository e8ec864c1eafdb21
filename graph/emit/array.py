"""Ops that pass on, move or repeat elements."""

from __future__ import annotations

import numpy as np

from ...engine.buffer import Buffer, arena, constant
from ...engine.families.layout import fill, move
from ...engine.view import View
from ..core.infer import infer_shapes
from ..core.registry import row_of
from ..core.shapes import is_static
from .registry import emit
from .shapes import result

SAME = ("Identity", "StopGradient", "PreventGradient", "Snapshot", "RefIdentity")
RESHAPING = ("EnsureShape", "ExpandDims", "PlaceholderWithDefault", "Reshape", "Squeeze")


@emit(*SAME)
def same(program, op, x):
    """`x` itself."""
    return x


@emit(*RESHAPING)
def reshaped(program, op, x, *_):
    """The same bytes in another shape."""
    if op.type == "PlaceholderWithDefault":
        return x
    shape = infer_shapes(op, row_of(op.type))[0]
    return x.reshape(shape) if is_static(shape) else None


@emit("IdentityN")
def identity_n(program, op, *inputs):
    """All inputs themselves."""
    return list(inputs)


@emit("Transpose")
def transpose(program, op, x, permutation):
    """The dimensions in another order."""
    out = result(op)
    if out is None or permutation.value is None or x.dtype.hasobject:
        return None
    order = tuple(int(axis) % max(x.ndim, 1) for axis in permutation.value)
    move(program, View.of(x).transpose(order), View.of(out))
    return out


@emit("ConcatV2")
def concat(program, op, *inputs):
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
def pack(program, op, *inputs):
    """The inputs side by side along a new axis."""
    out = result(op)
    if out is None or out.dtype.hasobject:
        return None
    along = op.get_attr("axis") % out.ndim
    for i, part in enumerate(inputs):
        move(program, part, View.of(out).pick(along, i))
    return out


@emit("Split", "SplitV", "Unpack")
def split(program, op, *inputs):
    """Parts of an input along an axis."""
    shapes = infer_shapes(op, row_of(op.type))
    x = inputs[1 if op.type == "Split" else 0]
    axis = _split_axis(op, inputs)
    if axis is None or x.dtype.hasobject:
        return None
    axis, start, outputs = axis % x.ndim, 0, []
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


def _split_axis(op, inputs) -> int | None:
    if op.type == "Unpack":
        return op.get_attr("axis")
    found = inputs[0 if op.type == "Split" else 2].value
    return None if found is None else int(found)


@emit("Slice")
def slice_(program, op, x, begin, size):
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


@emit("Pad", "PadV2")
def pad(program, op, x, paddings, *value):
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
def tile(program, op, x, multiples):
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
def broadcast_to(program, op, x, shape):
    """`x` repeated to a shape."""
    out = result(op)
    if out is None or x.dtype.hasobject:
        return None
    move(program, View.of(x).broadcast(out.shape), View.of(out))
    return out


@emit("Fill")
def fill_with(program, op, dims, value):
    """One value everywhere."""
    out = result(op)
    if out is None or value.dtype.hasobject:
        return None
    fill(program, value, out)
    return out


@emit("ZerosLike", "OnesLike")
def like(program, op, x):
    """Zeros or ones in the shape of `x`."""
    if x.dtype.hasobject:
        return None
    number = 0 if op.type == "ZerosLike" else 1
    return constant(np.full(x.shape, number, x.dtype))


@emit("GatherV2", "ResourceGather")
def gather(program, op, params, indices, *axes):
    """Slices along an axis."""
    out = result(op) if op.type == "GatherV2" else _rows(op, params, indices)
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


def _rows(op, params: Buffer, indices: Buffer) -> Buffer:
    return arena((*indices.shape, *params.shape[1:]), params.dtype)
