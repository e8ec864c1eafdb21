"""Shapes, joins, gathers, padding and other movement of data."""

from __future__ import annotations

from functools import reduce

import numpy as np

from ..ir.dims import Dim, divide_exactly, never_zero
from ..ir.graph import Tensor
from ..ir.limits import limits_of
from ..lowering.moves import (
    as_int32,
    dimension,
    extent,
    int32s,
    like,
    may_be_empty,
    regrouped,
    reshaped,
    slice_along,
    transposed,
)
from .registry import lower

INT64 = np.dtype(np.int64)


@lower("Constant")
def constant(node, b):
    """The value in whichever attribute has it."""
    from onnx.numpy_helper import to_array

    tensor = node.attr("value", None)
    if tensor is not None:
        return b.constant(to_array(tensor))
    for name, dtype in (("value_float", np.float32), ("value_int", np.int64)):
        for plural in ("", "s"):
            value = node.attr(name + plural, None)
            if value is not None:
                return b.constant(np.asarray(value, dtype))
    node.require(False, "a sparse or text constant is not supported")
    return None


@lower("Shape")
def shape(node, b):
    """The shape, or the part [start, end) of it, as int64."""
    rank = node.rank()
    sizes = b.SHAPE(node.inputs[0], dtype=INT64, out_type=b.tensor_type(INT64))
    start, stop, _ = slice(node.attr("start", 0), node.attr("end", None)).indices(rank)
    if (start, stop) == (0, rank):
        return sizes
    bounds = ([start], [max(start, stop)], [1])
    return b.STRIDED_SLICE(sizes, *(np.asarray(end, np.int32) for end in bounds))


@lower("Size")
def size(node, b):
    """The number of elements, as int64."""
    sizes = b.SHAPE(node.inputs[0], dtype=INT64, out_type=b.tensor_type(INT64))
    return b.REDUCE_PROD(sizes, np.zeros(1, np.int32))


@lower("Reshape")
def reshape(node, b):
    """Elements in a new shape: -1 what remains, 0 (unless allowzero) the size that was there."""
    x, sizes = node.inputs[0], node.known(1)
    if sizes is None:
        return b.RESHAPE(x, _computed_shape(node, b))
    if node.attr("allowzero", 0) or 0 not in sizes:
        return reshaped(x, [int(n) for n in sizes], b)
    old = node.shape()
    node.require(
        all(n or i < len(old) for i, n in enumerate(sizes)),
        f"a 0 in the new shape {sizes.tolist()} must stand for a size of the old, {old}",
    )
    new_shape = [old[i] if n == 0 else int(n) for i, n in enumerate(sizes)]
    if new_shape.count(None) + new_shape.count(-1) <= 1:
        return reshaped(x, [-1 if n is None else n for n in new_shape], b)
    input_shape = b.SHAPE(x, out_type="INT32")
    parts = [
        subvector(input_shape, i, b) if n is None else np.asarray([n], np.int32)
        for i, n in enumerate(new_shape)
    ]
    return b.RESHAPE(x, b.CONCATENATION(*parts, axis=0))


def _computed_shape(node, b):
    """A computed new shape as int32, with the input's sizes where it is 0."""
    x, target = node.inputs
    sizes = as_int32(target, b)
    if node.attr("allowzero", 0) or not _may_be_copied(x, target):
        return sizes
    copied, rank, n_sizes = b.SHAPE(x, out_type="INT32"), len(x.sizes), target.sizes[0]
    if isinstance(n_sizes, Dim):
        length = b.SHAPE(target, out_type="INT32")
        longer = b.CONCATENATION(copied, b.FILL(length, np.int32(0)), axis=0)
        copied = b.SLICE(longer, np.zeros(1, np.int32), length)
    elif rank > n_sizes:
        copied = subvector(copied, 0, b, n_sizes)
    elif rank < n_sizes:
        copied = b.CONCATENATION(copied, np.zeros(n_sizes - rank, np.int32), axis=0)
    return b.SELECT_V2(b.EQUAL(sizes, np.int32(0)), copied, sizes)


def _may_be_copied(x, target):
    """Whether a size of the new shape may be 0 where that of `x` is not.

    Something else of the new shape is 0 then as well: a shape of as many elements as `x` has none.
    """
    if x.sizes is None or target.sizes is None:
        return False
    if target.elements is None:
        return bool(x.sizes)
    pairs = list(zip(x.sizes, target.elements.extents.tolist(), strict=False))
    if any(n == 0 for _, n in pairs):
        return True
    pairs_with_zero = [(old, n) for old, n in pairs if not never_zero(n)]
    n_empty = sum(not never_zero(old) for old, _ in pairs_with_zero)
    return any(
        not _are_zero_together(old, n) and n_empty > (not never_zero(old))
        for old, n in pairs_with_zero
    )


def _are_zero_together(old, n):
    """Whether `old` is certainly 0 where `n` is."""
    if divide_exactly(old, n) is not None:
        return True
    return isinstance(old, Dim) and isinstance(divide_exactly(n, old), int)


def subvector(vector, i, b, n=1):
    """The `n` elements of a vector from `i` on."""
    corners = ([i], [i + n], [1])
    return b.STRIDED_SLICE(vector, *(np.asarray(corner, np.int32) for corner in corners))


@lower("Flatten")
def flatten(node, b):
    """A matrix: the sizes before `axis` multiplied, and those from it on."""
    shape, rank = node.shape(), node.rank()
    axis = node.attr("axis", 1)
    axis = axis if axis == rank else node.axis(axis)
    before, after = shape[:axis], shape[axis:]
    sizes = [-1 if None in part else int(np.prod(part, dtype=np.int64)) for part in (before, after)]
    x = node.inputs[0]
    if sizes.count(-1) == 2:
        return regrouped(x, [reduce(b.MUL, (extent(x, i, b) for i in range(axis))), -1], b)
    return reshaped(x, sizes, b)


@lower("Squeeze")
def squeeze(node, b):
    """The tensor without the named axes of size 1, or without all such axes."""
    shape = node.shape()
    if node.opset >= 13 and is_computed(node, 1):
        return _without_axes(node, b)
    axes = node.numbers("axes", 1, since=13)
    if axes is None:
        node.require(None not in shape, f"axes must be given where sizes are unknown, in {shape}")
        axes = [i for i, n in enumerate(shape) if n == 1]
    axes = node.axes(axes)
    if node.known(0) is not None:
        return b.constant(np.squeeze(node.known(0), tuple(axes)))
    return (
        b.SQUEEZE(node.inputs[0], squeeze_dims=np.asarray(axes, np.int32))
        if axes
        else node.inputs[0]
    )


def is_computed(node, index):
    """Whether an input is there and not known before the model runs."""
    return node.input(index) is not None and node.known(index) is None


def _without_axes(node, b):
    """The tensor without computed axes: the sizes of the others, in their order."""
    (n_axes,), rank = node.shape(1), node.rank()
    node.require(n_axes is not None, "how many axes there are must be known")
    is_dropped = _marked(b, as_int32(node.inputs[1], b), rank)
    offsets = b.SUB(b.CUMSUM(b.SUB(np.int32(1), is_dropped), np.int32(0)), np.int32(1))
    offsets = b.SELECT_V2(b.EQUAL(is_dropped, np.int32(1)), np.int32(rank), offsets)
    sizes = b.SHAPE(node.inputs[0], out_type="INT32")
    scattered = b.SCATTER_ND(b.EXPAND_DIMS(offsets, np.int32(1)), sizes, int32s([rank + 1]))
    return b.RESHAPE(node.inputs[0], subvector(scattered, 0, b, rank - n_axes))


def _marked(b, axes, rank):
    """A vector of `rank` numbers, 1 at computed axes and 0 elsewhere."""
    axes = b.FLOOR_MOD(axes, np.int32(rank))
    rows = b.ONE_HOT(axes, np.int32(rank), np.int32(1), np.int32(0), axis=-1)
    return b.SUM(rows, int32s([0]))


@lower("Unsqueeze")
def unsqueeze(node, b):
    """New axes of size 1 at the named positions of the result."""
    x = node.inputs[0]
    if node.opset >= 13 and is_computed(node, 1):
        return _with_axes(node, b)
    axes = node.numbers("axes", 1, since=13)
    node.require(axes is not None, "axes are missing")
    axes = sorted(node.axes(axes, len(axes)))
    if x.value is not None:
        return b.constant(np.expand_dims(x.value, tuple(axes)))
    for axis in axes:
        x = b.EXPAND_DIMS(x, np.int32(axis))
    return x


def _with_axes(node, b):
    """The tensor with axes of size 1 at computed positions: each size at the place it has then."""
    (n_axes,) = node.shape(1)
    node.require(n_axes is not None, "how many axes there are must be known")
    rank = node.rank() + n_axes
    is_new = _marked(b, as_int32(node.inputs[1], b), rank)
    offsets = b.SUB(b.CUMSUM(b.SUB(np.int32(1), is_new), np.int32(0)), np.int32(1))
    sizes = b.CONCATENATION(b.SHAPE(node.inputs[0], out_type="INT32"), int32s([1]), axis=0)
    offsets = b.SELECT_V2(b.EQUAL(is_new, np.int32(1)), np.int32(node.rank()), offsets)
    return b.RESHAPE(node.inputs[0], b.GATHER(sizes, offsets))


@lower("Transpose")
def transpose(node, b):
    """Axes in another order, reversed by default."""
    order = node.attr("perm", None)
    order = range(node.rank())[::-1] if order is None else node.axes(order)
    return transposed(node.inputs[0], order, b)


@lower("Concat")
def concat(node, b):
    """Tensors joined along an axis."""
    axis = node.axis(node.attr("axis"))
    return node.inputs[0] if len(node.inputs) == 1 else b.CONCATENATION(*node.inputs, axis=axis)


@lower("Split")
def split(node, b):
    """Parts along an axis: of given sizes, or equal but for the last."""
    x, axis = node.inputs[0], node.axis(node.attr("axis", 0))
    if node.opset >= 13 and is_computed(node, 1):
        sizes = as_int32(node.inputs[1], b)
        return b.SPLIT_V(x, sizes, np.int32(axis), num_splits=node.n_outputs)
    sizes, n = node.numbers("split", 1, since=13), node.n_outputs
    length = node.shape()[axis]
    if sizes is None:
        node.require(length is not None, f"split must be given: the size of axis {axis} is unknown")
        part_size = -(-length // n)
        sizes = [min(part_size, length - i * part_size) for i in range(n)]
    if n == 1:
        return (x,)
    if len(set(sizes)) == 1:
        return b.SPLIT(np.int32(axis), x, num_splits=n)
    return b.SPLIT_V(x, np.asarray(sizes, np.int32), np.int32(axis), num_splits=n)


@lower("Gather")
def gather(node, b):
    """Slices along an axis; indices may count from its end."""
    x, indices = node.inputs
    axis = node.axis(node.attr("axis", 0))
    return gathered(x, from_front(node, b, x, indices, axis), axis, b)


def gathered(x, positions, axis, b):
    """Slices along an axis; of texts in several dimensions, which LiteRT does not gather, by SLICE
    where the positions follow one another, and as a vector where all other sizes are 1.
    """
    values = positions.value
    if x.dtype.kind not in "OS" or x.rank == 1:
        return b.GATHER(x, positions, axis=axis)
    others = [n for i, n in enumerate(x.dims) if i != axis]
    if positions.rank == 1 and all(n == 1 for n in others):
        shape = [-1 if i == axis else 1 for i in range(x.rank)]
        return reshaped(b.GATHER(reshaped(x, (-1,), b), positions), shape, b)
    if values is None or values.ndim > 1:
        return b.GATHER(x, positions, axis=axis)
    if not values.size or np.any(np.diff(values.ravel()) != 1):
        return b.GATHER(x, positions, axis=axis)
    part = slice_along(x, axis, int(values.ravel()[0]), values.size, b)
    return part if values.ndim else b.SQUEEZE(part, squeeze_dims=int32s([axis]))


def from_front(node, b, x, indices, axis):
    """Indices along an axis of `x`, those below 0 counted from its end, as int32.

    Indices that are only computed to be below 0 cost two operators; those of shapes, and positions,
    never are.
    """
    values, length = indices.value, x.dims[axis]
    if values is not None:
        if not (values < 0).any():
            return as_int32(indices, b)
        if length is not None:
            return b.constant(np.where(values < 0, values + length, values).astype(np.int32))
    never_negative = limits_of(indices)[0] >= 0
    indices = as_int32(indices, b)
    if indices.elements is not None or never_negative:
        return indices
    if length is not None:
        return b.FLOOR_MOD(indices, np.int32(length)) if length else indices
    size = dimension(x, axis, b)
    if may_be_empty(x):  # LiteRT looks at the divisor before it sees that there are no indices
        size = b.MAXIMUM(size, np.int32(1))
    return b.FLOOR_MOD(indices, size)


@lower("Expand")
def expand(node, b):
    """The tensor repeated to a shape, by numpy's rule in both directions."""
    x, target = node.inputs
    target_sizes, sizes = node.known(1), node.shape()
    if target_sizes is None or None in sizes:
        return b.BROADCAST_TO(
            x, b.BROADCAST_ARGS(b.SHAPE(x, out_type="INT32"), as_int32(target, b))
        )
    shape = np.broadcast_shapes(sizes, tuple(int(n) for n in target_sizes))
    return x if shape == sizes else b.BROADCAST_TO(x, np.asarray(shape, np.int32))


@lower("Tile")
def tile(node, b):
    """The tensor repeated along each axis."""
    return b.TILE(node.inputs[0], as_int32(node.inputs[1], b))


@lower("ConstantOfShape")
def constant_of_shape(node, b):
    """One value in a computed shape."""
    from onnx.numpy_helper import to_array

    value = node.attr("value", None)
    value = np.zeros(1, np.float32) if value is None else to_array(value)
    return b.FILL(as_int32(node.inputs[0], b), b.constant(value.reshape(())))


@lower("Range")
def range_(node, b):
    """Numbers from start in steps of delta, up to limit; none where that lies behind start."""
    start, limit, delta = (reshaped(x, (), b) if x.rank else x for x in node.inputs)
    if limits_of(start)[1] <= limits_of(limit)[0] and limits_of(delta)[0] > 0:
        return b.RANGE(start, limit, delta)
    ahead, back = b.MAXIMUM(start, limit), b.MINIMUM(start, limit)
    if delta.value is None:
        end = b.SELECT_V2(b.GREATER(delta, like(delta, 0, b)), ahead, back)
    else:
        end = ahead if delta.value.item() > 0 else back
    return b.RANGE(start, end, delta)


MIRROR_MODES = {"reflect": "REFLECT"}
REPEATING = ("edge", "wrap")


@lower("Pad")
def pad(node, b):
    """More elements, or with negative numbers fewer, before and after along each axis."""
    x, rank = node.inputs[0], node.rank()
    counts, value, axes = _padding(node, b)
    mode = node.attr("mode", "constant")
    if counts is None:
        pairs = _computed_pairs(node, b, axes)
    else:
        n = 2 * len(axes)
        node.require(len(counts) == n, f"pads must have {n} numbers, got {len(counts)}")
        pairs = np.zeros((rank, 2), np.int32)
        pairs[axes] = np.reshape(counts, (2, -1)).T
        x = _cropped(node, b, x, np.minimum(pairs, 0))
        pairs = np.maximum(pairs, 0)
        if not pairs.any():
            return x
    if mode in REPEATING:
        return _repeated(node, b, x, pairs, mode)
    if mode in MIRROR_MODES:
        return b.MIRROR_PAD(x, pairs, mode=MIRROR_MODES[mode])
    node.require(mode == "constant", f"mode must be constant, reflect, edge or wrap, got '{mode}'")
    if isinstance(value, Tensor):
        return b.PADV2(x, pairs, value)
    return b.PADV2(x, pairs, like(x, value, b)) if value else b.PAD(x, pairs)


def _repeated(node, b, x, pairs, mode):
    """`x` with its edges, or what is at the other end, around it: slices along each axis."""
    if not isinstance(pairs, np.ndarray):
        sizes = b.SHAPE(x, out_type="INT32")
        for axis in range(node.rank()):
            before, after, size = (
                b.GATHER(b.GATHER(pairs, np.int32(axis)), np.int32(0)),
                b.GATHER(b.GATHER(pairs, np.int32(axis)), np.int32(1)),
                b.GATHER(sizes, np.int32(axis)),
            )
            steps = b.RANGE(b.NEG(before), b.ADD(size, after), np.int32(1))
            last = b.SUB(size, np.int32(1))
            clamped = b.MINIMUM(b.MAXIMUM(steps, np.int32(0)), last)
            x = b.GATHER(x, b.FLOOR_MOD(steps, size) if mode == "wrap" else clamped, axis=axis)
        return x
    for axis, (before, after) in enumerate(pairs.tolist()):
        size = x.dims[axis]
        if not before and not after:
            continue
        if size is None:
            x = _repeated_ends(b, x, axis, before, after, mode)
            continue
        steps = np.arange(-before, size + after)
        index = steps % size if mode == "wrap" else steps.clip(0, size - 1)
        x = b.GATHER(x, index.astype(np.int32), axis=axis)
    return x


def _repeated_ends(b, x, axis, before, after, mode):
    """The same along an axis of unknown size."""
    if mode == "wrap":
        size = dimension(x, axis, b)
        steps = b.RANGE(np.int32(-before), b.ADD(size, np.int32(after)), np.int32(1))
        return b.GATHER(x, b.FLOOR_MOD(steps, size), axis=axis)
    ends = [slice_along(x, axis, 0, 1, b), _last(b, x, axis)]
    parts = [
        end if count == 1 else b.GATHER(end, np.zeros(count, np.int32), axis=axis)
        for end, count in zip(ends, (before, after), strict=True)
        if count
    ]
    parts.insert(1 if before else 0, x)
    return b.CONCATENATION(*parts, axis=axis)


def _last(b, x, axis):
    """The last element along an axis, which stays."""
    others = ((1 << x.rank) - 1) ^ (1 << axis)
    begin, ones = np.zeros(x.rank, np.int32), np.ones(x.rank, np.int32)
    begin[axis] = -1
    return b.STRIDED_SLICE(x, begin, ones, ones, begin_mask=others, end_mask=others | 1 << axis)


def _padding(node, b):
    """(pads, value, axes) from attributes or inputs; None for pads that are computed.

    A value or axes that are computed are tensors.
    """
    if node.opset < 11:
        return node.attr("pads"), node.attr("value", 0.0), list(range(node.rank()))
    value = node.input(2)
    if value is None or value.value is not None:
        value = 0 if value is None else value.value.item()
    elif value.rank:
        value = b.RESHAPE(value, np.zeros(0, np.int32))
    axes = range(node.rank())
    if node.input(3) is not None:
        axes = node.known(3)
        if axes is None:
            order = b.FLOOR_MOD(as_int32(node.inputs[3], b), np.int32(node.rank()))
            return None, value, order
    counts = node.known(1)
    return None if counts is None else counts.tolist(), value, node.axes(axes)


def _computed_pairs(node, b, axes):
    """Rows of computed (before, after), as PAD takes them, for all axes."""
    columns = b.RESHAPE(as_int32(node.inputs[1], b), np.asarray([2, -1], np.int32))
    rows = b.TRANSPOSE(columns, np.asarray([1, 0], np.int32))
    if isinstance(axes, Tensor):
        indices = b.EXPAND_DIMS(axes, np.int32(1))
        return b.SCATTER_ND(indices, rows, np.asarray([node.rank(), 2], np.int32))
    if axes == list(range(node.rank())):
        return rows
    parts = [b.constant(np.zeros((1, 2), np.int32))] * node.rank()
    for i, axis in enumerate(axes):
        corners = ([i, 0], [i + 1, 2], [1, 1])
        parts[axis] = b.STRIDED_SLICE(rows, *(np.asarray(c, np.int32) for c in corners))
    return b.CONCATENATION(*parts, axis=0)


def _cropped(node, b, x, pairs):
    """`x` without as many elements at its edges as negative padding says."""
    if not pairs.any():
        return x
    begin = -pairs[:, 0]
    masks = sum(1 << i for i, n in enumerate(pairs[:, 1]) if n == 0)
    return b.STRIDED_SLICE(x, begin, pairs[:, 1], np.ones_like(begin), end_mask=masks)
