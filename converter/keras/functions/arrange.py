"""Functions that move values: reshaping, transposing, joining, repeating, padding."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ....graph.core.graph import Tensor
from ..registry import Call, is_integer
from .operations import axes_of, axis_of, dtype_of, operands, operation, tensor


def integers(call: Call, values: Any, what: str) -> list[int]:
    """A list of integers."""
    values = values.tolist() if isinstance(values, np.ndarray) else values
    values = [values] if is_integer(values) else values
    is_valid = isinstance(values, list) and all(map(is_integer, values))
    call.require(is_valid, f"{what} must be integers, got {str(values)[:60]}")
    return values


@operation("Reshape", "tf.reshape", shape="newshape", tensor="x")
def reshape(call: Call, x: Tensor, newshape: Any) -> Tensor:
    """The same values in another form; a dimension may be a tensor, or None for the batch."""
    if isinstance(newshape, Tensor):
        return call.op("Reshape", x, newshape)
    dims = newshape if isinstance(newshape, list) else [newshape]
    if dims and dims[0] is None:
        dims = [call.shape(x)[0] or call.size(x, 0), *dims[1:]]
    is_valid = all(isinstance(dim, Tensor) or is_integer(dim) for dim in dims)
    call.require(is_valid, f"the shape must be integers, got {str(newshape)[:60]}")
    return call.op("Reshape", x, call.sizes(dims))


@operation("Ravel")
def ravel(call: Call, x: Tensor) -> Tensor:
    """All values in one row."""
    return call.op("Reshape", x, call.constant([-1]))


@operation("Transpose", "tf.transpose", perm="axes", a="x")
def transpose(call: Call, x: Tensor, axes: Any = None, conjugate: Any = False) -> Tensor:
    """The axes in another order, by default reversed."""
    rank = len(call.shape(x))
    axes = list(reversed(range(rank))) if axes is None else axes_of(call, axes, rank)
    return call.op("ConjugateTranspose" if conjugate else "Transpose", x, call.constant(axes))


@operation("Swapaxes")
def swapaxes(call: Call, x: Tensor, axis1: Any, axis2: Any) -> Tensor:
    """Two axes exchanged."""
    axes = list(range(len(call.shape(x))))
    a, b = axes_of(call, [axis1, axis2], len(axes))
    axes[a], axes[b] = b, a
    return call.op("Transpose", x, call.constant(axes))


@operation("Moveaxis")
def moveaxis(call: Call, x: Tensor, source: Any, destination: Any) -> Tensor:
    """Axes at other places, the others in their order."""
    rank = len(call.shape(x))
    sources, destinations = (axes_of(call, a, rank) for a in (source, destination))
    call.require(len(sources) == len(destinations), "source and destination must have one length")
    order = [axis for axis in range(rank) if axis not in sources]
    for to, axis in sorted(zip(destinations, sources, strict=True)):
        order.insert(to, axis)
    return call.op("Transpose", x, call.constant(order))


@operation("ExpandDims", "tf.expand_dims", input="x")
def expand_dims(call: Call, x: Any, axis: Any = None) -> Tensor:
    """One or more new axes of 1."""
    x = tensor(call, x)
    rank = len(call.shape(x)) + (len(axis) if isinstance(axis, list) else 1)
    for a in sorted(axes_of(call, axis, rank)):
        x = call.op("ExpandDims", x, call.constant(a))
    return x


@operation("Squeeze", "tf.squeeze", input="x")
def squeeze(call: Call, x: Tensor, axis: Any = None) -> Tensor:
    """Without axes of 1."""
    shape = call.shape(x)
    axes = [i for i, n in enumerate(shape) if n == 1]
    return call.op(
        "Squeeze", x, squeeze_dims=axes if axis is None else axes_of(call, axis, len(shape))
    )


@operation("Concatenate", "tf.concat", values="xs")
def concatenate(call: Call, xs: Any, axis: Any = 0) -> Tensor:
    """Tensors behind one another."""
    tensors = operands(call, *(xs if isinstance(xs, list) else [xs]))
    axis = axis_of(call, axis, len(call.shape(tensors[0])))
    return tensors[0] if len(tensors) == 1 else call.op("ConcatV2", *tensors, call.constant(axis))


@operation("Append")
def append(call: Call, x1: Any, x2: Any, axis: Any = None) -> Tensor:
    """x2 behind x1; all values of both in one row without an axis."""
    tensors = operands(call, x1, x2)
    if axis is None:
        return concatenate(call, [ravel(call, x) for x in tensors])
    return concatenate(call, tensors, axis)


@operation("Hstack")
def hstack(call: Call, xs: Any) -> Tensor:
    """Tensors behind one another along the second axis."""
    first: Any = xs[0] if isinstance(xs, list) and xs else xs
    return concatenate(call, xs, 0 if len(call.shape(first)) == 1 else 1)


@operation("Vstack")
def vstack(call: Call, xs: Any) -> Tensor:
    """Tensors behind one another along the first axis."""
    tensors = operands(call, *(xs if isinstance(xs, list) else [xs]))
    rows = [
        x if len(call.shape(x)) > 1 else call.op("ExpandDims", x, call.constant(0)) for x in tensors
    ]
    return concatenate(call, rows, 0)


@operation("Stack", "tf.stack", values="x")
def stack(call: Call, x: Any, axis: Any = 0) -> Tensor:
    """Tensors side by side along a new axis."""
    tensors = operands(call, *(x if isinstance(x, list) else [x]))
    axis = axis_of(call, axis, len(call.shape(tensors[0])) + 1)
    return call.op("Pack", *tensors, axis=axis)


@operation("Tile", "tf.tile", input="x", multiples="repeats")
def tile(call: Call, x: Tensor, repeats: Any) -> Tensor:
    """Copies along each axis."""
    repeats = integers(call, repeats, "repeats")
    rank = len(call.shape(x))
    for _ in range(len(repeats) - rank):
        x = call.op("ExpandDims", x, call.constant(0))
    repeats = [1] * (rank - len(repeats)) + repeats
    return call.op("Tile", x, call.constant(repeats))


@operation("Repeat", "tf.repeat", input="x")
def repeat(call: Call, x: Tensor, repeats: Any, axis: Any = None) -> Tensor:
    """Each slice some times, all the same or each its own."""
    if axis is None:
        x, axis = ravel(call, x), 0
    rank = len(call.shape(x))
    axis = axis_of(call, axis, rank)
    if not is_integer(repeats):
        counts = integers(call, repeats, "repeats")
        n = call.known(call.shape(x)[axis], "what is repeated")
        is_valid = len(counts) in (1, n) and min(counts) >= 0
        call.require(is_valid, f"repeats must be {n} integers, got {str(counts)[:40]}")
        places = np.repeat(np.arange(n), counts * n if len(counts) == 1 else counts)
        return call.op("GatherV2", x, call.constant(places), call.constant(axis))
    y = call.op("ExpandDims", x, call.constant(axis + 1))
    y = call.op("Tile", y, call.constant([1] * (axis + 1) + [repeats] + [1] * (rank - axis - 1)))
    dims = [call.size(x, i) if n is None else n for i, n in enumerate(call.shape(x))]
    n = dims[axis]
    dims[axis] = n * repeats if isinstance(n, int) else call.op("Mul", n, call.constant(repeats))
    return call.op("Reshape", y, call.sizes(dims))


@operation("Flip", "tf.reverse", tensor="x")
def flip(call: Call, x: Tensor, axis: Any = None) -> Tensor:
    """From the end along axes."""
    return call.op("ReverseV2", x, call.constant(axes_of(call, axis, len(call.shape(x)))))


@operation("Roll", "tf.roll", input="x")
def roll(call: Call, x: Tensor, shift: Any, axis: Any = None) -> Tensor:
    """Shifted along axes, what leaves at one end coming in at the other."""
    if axis is None:
        rolled = roll(call, ravel(call, x), shift, 0)
        return call.op("Reshape", rolled, call.op("Shape", x))
    axes = axes_of(call, axis, len(call.shape(x)))
    return call.op("Roll", x, call.constant(integers(call, shift, "shift")), call.constant(axes))


MODES = {"reflect": "REFLECT", "symmetric": "SYMMETRIC"}


@operation("Pad", "tf.pad", paddings="pad_width", tensor="x")
def pad(
    call: Call, x: Tensor, pad_width: Any, mode: Any = "constant", constant_values: Any = None
) -> Tensor:
    """Values around a tensor."""
    rank = len(call.shape(x))
    pad_width = pad_width.tolist() if isinstance(pad_width, np.ndarray) else pad_width
    widths = pad_width if isinstance(pad_width, list) else [pad_width]
    if all(map(is_integer, widths)):
        widths = [widths * 2 if len(widths) == 1 else widths] * rank
    widths = widths * rank if len(widths) == 1 else widths
    pairs = call.constant([integers(call, pair, "pad_width") for pair in widths])
    mode = str(mode).lower()
    if mode in MODES:
        return call.op("MirrorPad", x, pairs, mode=MODES[mode])
    call.require(
        mode == "constant", f"mode must be constant, reflect or symmetric, got {mode[:20]}"
    )
    if constant_values in (None, 0):
        return call.op("Pad", x, pairs)
    return call.op("PadV2", x, pairs, tensor(call, constant_values, x))


@operation("BroadcastTo", "tf.broadcast_to", input="x")
def broadcast_to(call: Call, x: Tensor, shape: Any) -> Tensor:
    """The values repeated to a larger shape."""
    if isinstance(shape, Tensor):
        return call.op("BroadcastTo", x, shape)
    dims = [d if isinstance(d, Tensor) else integers(call, d, "shape")[0] for d in shape]
    return call.op("BroadcastTo", x, call.sizes(dims))


@operation("tf.shape", input="x")
def shape_of(call: Call, x: Tensor, out_type: Any = None) -> Tensor:
    """The shape as a tensor."""
    return _of_type(call, call.op("Shape", x), out_type)


def _of_type(call: Call, sizes: Tensor, out_type: Any) -> Tensor:
    return sizes if out_type is None else call.cast(sizes, dtype_of(call, out_type))


@operation("Tril", "Triu")
def triangle(call: Call, x: Tensor, k: Any = 0) -> Tensor:
    """The lower or upper triangle of matrices, zeros elsewhere."""
    call.require(is_integer(k), f"k must be an integer, got {str(k)[:20]}")
    is_lower = call.layer.kind == "ops.Tril"
    rows, columns = call.shape(x)[-2:]
    if rows is not None and columns is not None:
        mask = np.tri(rows, columns, k) if is_lower else np.tri(columns, rows, -k).T
        is_inside = call.constant_of(mask, bool)
    else:
        zero, one = call.constant(0), call.constant(1)
        row, column = (call.op("Range", zero, call.size(x, axis), one) for axis in (-2, -1))
        diagonal = call.op("Sub", column, call.op("ExpandDims", row, one))
        kind = "LessEqual" if is_lower else "GreaterEqual"
        is_inside = call.op(kind, diagonal, call.constant(k))
    return call.op("SelectV2", is_inside, x, call.constant(0, x))


@operation("Diagonal")
def diagonal(call: Call, x: Tensor, offset: Any = 0, axis1: Any = 0, axis2: Any = 1) -> Tensor:
    """The diagonals of matrices that lie along two axes, as the last axis."""
    rank = len(call.shape(x))
    call.require(is_integer(offset), f"offset must be an integer, got {offset}")
    rows, columns = axes_of(call, [axis1, axis2], rank)
    others = [i for i in range(rank) if i not in (rows, columns)]
    x = call.op("Transpose", x, call.constant([*others, rows, columns]))
    n, m = (call.known(size, "rows and columns") for size in call.shape(x)[-2:])
    positions = np.flatnonzero(np.eye(n, m, offset))
    sizes = [call.size(x, i) if k is None else k for i, k in enumerate(call.shape(x)[:-2])]
    flat = call.op("Reshape", x, call.sizes([*sizes, n * m]))
    return call.op("GatherV2", flat, call.constant(positions.tolist()), call.constant(rank - 2))


@operation("Size", "tf.size", input="x")
def size_of(call: Call, x: Tensor, out_type: Any = None) -> Tensor:
    """How many values there are."""
    known = [n for n in call.shape(x) if n is not None]
    is_known = len(known) == len(call.shape(x))
    size = call.constant(prod(known)) if is_known else call.op("Size", x)
    return _of_type(call, size, out_type)
