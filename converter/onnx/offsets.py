"""Where elements lie: coordinates side by side, and offsets in a tensor laid out as one row.

Sizes that are unknown are computed when the model runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from ..lowering.moves import extent, positions, regrouped, reshaped
from .array import from_front

if TYPE_CHECKING:
    from ..ir.builder import Builder
    from ..ir.graph import Tensor
    from .registry import Node


def columns_of(b: Builder, indices: Tensor, depth: int) -> list[Tensor]:
    """The coordinates for each axis, which the last axis of `indices` holds."""
    if indices.value is not None:
        return [b.constant(np.ascontiguousarray(indices.value[..., i])) for i in range(depth)]
    return list(b.UNPACK(indices, axis=len(indices.dims) - 1, num=depth))


def joined(b: Builder, columns: Sequence[Tensor]) -> Tensor:
    """Coordinates side by side along a new last axis, broadcast to one another."""
    values = [column.value for column in columns if column.value is not None]
    if len(values) == len(columns):
        return b.constant(np.stack(np.broadcast_arrays(*values), -1).astype(np.int32))
    by_sizes = {column.sizes: column for column in columns}
    if len(by_sizes) > 1:
        zero = b.MUL(reduce(b.ADD, by_sizes.values()), np.int32(0))
        columns = [c if c.sizes == zero.sizes else b.ADD(c, zero) for c in columns]
    return b.PACK(*columns, axis=len(columns[0].dims), values_count=len(columns))


def positions_along(b: Builder, x: Tensor, axis: int, rank: int) -> Tensor:
    """0, 1, ... along an axis of `x` in a shape of `rank` axes, the others of size 1."""
    return reshaped(positions(x, axis, b), [-1 if i == axis else 1 for i in range(rank)], b)


def product(b: Builder, sizes: Iterable[Tensor]) -> Tensor:
    """The product of int32 scalars."""
    total = b.constant(np.int32(1))
    for size in sizes:
        is_one = total.value is not None and total.value == 1
        total = size if is_one else b.MUL(total, size)
    return total


def strides_of(b: Builder, x: Tensor, n_axes: int) -> list[Tensor]:
    """How many slices of the axes from `n_axes` on lie between neighbours along each before."""
    sizes = [extent(x, axis, b) for axis in range(1, n_axes)]
    return [product(b, sizes[axis:]) for axis in range(n_axes)]


def scaled(b: Builder, indices: Tensor, stride: Tensor) -> Tensor:
    """Indices times the distance of neighbours."""
    return indices if stride.value is not None and stride.value == 1 else b.MUL(indices, stride)


def flat_indices(node: Node, b: Builder, x: Tensor, indices: Tensor, axis: int) -> Tensor:
    """Where the elements that indices along an axis name lie in `x` laid out as one row."""
    rank = node.rank()
    strides = strides_of(b, x, rank)
    flat = scaled(b, from_front(node, b, x, indices, axis), strides[axis])
    for i in range(rank):
        if i != axis:
            flat = b.ADD(flat, scaled(b, positions_along(b, indices, i, rank), strides[i]))
    return flat


def as_rows(b: Builder, x: Tensor, width: Tensor) -> Tensor:
    """`x` as rows of so many elements."""
    if width.value is not None:
        return reshaped(x, (-1, int(width.value)), b)
    return regrouped(x, (-1, width), b)
