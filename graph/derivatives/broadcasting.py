"""Gradients of inputs that were repeated to a common shape."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..core.build import ops, shape_of
from ..core.graph import Tensor
from ..core.shapes import Dim, Shape, is_static


def unbroadcast(x: Tensor, y: Tensor, dx: Tensor | None, dy: Tensor | None) -> list[Tensor | None]:
    """`dx` and `dy`, of the shape `x` and `y` broadcast to, summed to the shapes of `x` and `y`."""
    known = repeated_axes(x.sizes, y.sizes), repeated_axes(y.sizes, x.sizes)
    axes: Sequence[list[int] | Tensor] = [along for along in known if along is not None]
    if len(axes) < 2:
        axes = ops.BroadcastGradientArgs(ops.Shape(x), ops.Shape(y))
    pairs = zip((x, y), (dx, dy), axes, strict=True)
    return [None if grad is None else summed(grad, along, to) for to, grad, along in pairs]


def unbroadcast_batch(a: Tensor, b: Tensor, da: Tensor, db: Tensor) -> list[Tensor]:
    """`da` and `db` summed where the stack of matrices `a` or `b` was repeated for the other's."""
    if a.sizes is not None and b.sizes is not None:
        batches = a.sizes[:-2], b.sizes[:-2]
        if batches[0] == batches[1] and is_static(batches[0]):
            return [da, db]
        axes = repeated_axes(*batches), repeated_axes(*reversed(batches))
        if axes[0] is not None and axes[1] is not None:
            return [summed(da, axes[0], a), summed(db, axes[1], b)]
    rows = ops.BroadcastGradientArgs(_batch_shape(a), _batch_shape(b))
    return [summed(da, rows[0], a), summed(db, rows[1], b)]


def _batch_shape(x: Tensor) -> Tensor:
    """All sizes but the last two."""
    return ops.StridedSlice(ops.Shape(x), [0], [-2], [1], begin_mask=1)


def repeated_axes(shape: Shape, other: Shape) -> list[int] | None:
    """The axes of the common shape along which `shape` is repeated; None when that is open."""
    if shape is None or other is None:
        return None
    if shape == other and is_static(shape):
        return []
    rank = max(len(shape), len(other))
    missing = rank - len(shape)
    axes = list(range(missing))
    for axis in range(missing, rank):
        size, against = shape[axis - missing], _size(other, axis - (rank - len(other)))
        repeated = _is_repeated(size, against)
        if repeated is None:
            return None
        if repeated:
            axes.append(axis)
    return axes


def _size(shape: tuple[Dim, ...], axis: int) -> Dim:
    return shape[axis] if axis >= 0 else 1


def _is_repeated(size: Dim, against: Dim) -> bool | None:
    """Whether a dimension becomes `against`; None when that is not known."""
    if against == 1 or (size is not None and size != 1):
        return False
    return True if size == 1 else None


def summed(gradient: Tensor, axes: list[int] | Tensor, to: Tensor) -> Tensor:
    """`gradient` summed over `axes`, in the shape of the tensor `to`."""
    if isinstance(axes, list):
        if not axes:
            return gradient
        rank = None if gradient.sizes is None else len(gradient.sizes)
        total = ops.Sum(gradient, np.array(axes, np.int32))
        if to.sizes is not None and rank == len(to.sizes) + len(axes):
            return total
        return ops.Reshape(total, shape_of(to))
    return ops.Reshape(ops.Sum(gradient, axes), shape_of(to))
