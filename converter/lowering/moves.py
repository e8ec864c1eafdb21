"""Moves of elements: those of constants are made now, those of tensors become operators."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...schema.errors import ConverterError
from ..ir.dims import Dim, never_zero

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike

    from ..ir.builder import Builder
    from ..ir.graph import Tensor


def int32s(values: ArrayLike) -> np.ndarray:
    """Numbers as TFLite's operators take axes, sizes and corners."""
    return np.asarray(values, np.int32)


def transposed(x: Tensor, order: Iterable[int], b: Builder) -> Tensor:
    """`x` with its axes in `order`; a constant is transposed now."""
    order = tuple(order)
    if order == tuple(range(len(order))):
        return x
    if x.value is not None:
        result = b.constant(np.transpose(x.value, order))
        if x.fake_quant is not None:
            result.fake_quant = x.fake_quant.transposed(order)
        return result
    return b.TRANSPOSE(x, np.asarray(order, np.int32))


def reshaped(x: Tensor, shape: Sequence[int], b: Builder) -> Tensor:
    """`x` in another shape of known sizes, one of them -1; a constant is reshaped now."""
    if x.value is not None:
        value = np.reshape(x.value, shape)
        result = b.constant(value)
        if x.fake_quant is not None:
            result.fake_quant = x.fake_quant.reshaped(x.value.shape, value.shape)
        return result
    return b.RESHAPE(x, np.asarray(shape, np.int32))


def as_int32(x: Tensor, b: Builder) -> Tensor:
    """Indices or sizes as int32, which most TFLite operators want; ends of slices saturate."""
    if x.value is not None:
        limits = np.iinfo(np.int32)
        return b.constant(np.clip(x.value, limits.min, limits.max).astype(np.int32))
    return as_type(x, np.int32, b)


def as_type(x: Tensor, dtype: DTypeLike, b: Builder) -> Tensor:
    """`x` as another type, unless it is of that type."""
    return x if x.dtype == dtype else b.CAST(x, dtype=dtype)


def to_channels_last(x: Tensor, b: Builder) -> Tensor:
    """[n, c, *spatial] as [n, *spatial, c]."""
    return transposed(x, (0, *range(2, len(x.dims)), 1), b)


def to_channels_first(x: Tensor, b: Builder) -> Tensor:
    """[n, *spatial, c] as [n, c, *spatial]."""
    rank = len(x.dims)
    return transposed(x, (0, rank - 1, *range(1, rank - 1)), b)


def slice_along(x: Tensor, axis: int, begin: int, size: int, b: Builder) -> Tensor:
    """`size` elements of `x` along an axis, from `begin` on; -1 takes all up to the end."""
    begins = np.zeros(len(x.dims), np.int32)
    sizes = np.full(len(x.dims), -1, np.int32)
    begins[axis], sizes[axis] = begin, size
    return b.SLICE(x, b.constant(begins), b.constant(sizes))


def dimension(x: Tensor, axis: int, b: Builder) -> Tensor:
    """The size of one axis as an int32 scalar that is computed when the model runs."""
    return element(b.SHAPE(x, out_type="INT32"), axis, b)


def may_be_empty(x: Tensor) -> bool:
    """Whether a tensor has a size that depends on the data and may turn out to be 0."""
    sizes = [n for n in x.sizes or () if isinstance(n, Dim)]
    return any(n.data_dependent and not never_zero(n) for n in sizes)


def like(x: Tensor, value: ArrayLike, b: Builder) -> Tensor:
    """A scalar constant of the type of `x`."""
    return b.constant(np.asarray(value, x.dtype))


def positions(x: Tensor, axis: int, b: Builder) -> Tensor:
    """0, 1, ... along an axis of `x`; a constant where the size is known."""
    size = x.dims[axis]
    if size is not None:
        return b.constant(np.arange(size, dtype=np.int32))
    return b.RANGE(b.constant(np.int32(0)), dimension(x, axis, b), b.constant(np.int32(1)))


def inside_of(indices: Tensor, sizes: Tensor, b: Builder) -> tuple[Tensor, Tensor]:
    """Which index tuples of int32 are inside of `sizes`; all of them moved inside.

    Raises ConverterError where their length is not known.
    """
    depth, zero = indices.dims[-1], b.constant(np.int32(0))
    if depth is None:
        raise ConverterError(f"the length of the index tuples '{indices.name}' must be known")
    limits = slice_along(sizes, 0, 0, depth, b)
    limited = b.MINIMUM(indices, b.SUB(limits, b.constant(np.int32(1))))
    nearest = b.MAXIMUM(limited, zero)
    is_same = b.EQUAL(nearest, indices)
    return b.REDUCE_ALL(is_same, b.constant(np.array([len(indices.dims) - 1], np.int32))), nearest


def zeros_unless(condition: Tensor, x: Tensor, b: Builder) -> Tensor:
    """`x` where the condition on its first axes holds, and zeros elsewhere."""
    for axis in range(len(condition.dims), len(x.dims)):
        condition = b.EXPAND_DIMS(condition, b.constant(np.int32(axis)))
    return b.SELECT_V2(condition, x, like(x, 0, b))


def element(x: Tensor, i: int, b: Builder) -> Tensor:
    """Element `i` of a vector, as a scalar."""
    bounds = (np.asarray([n], np.int32) for n in (i, i + 1, 1))
    return b.STRIDED_SLICE(x, *bounds, shrink_axis_mask=1)


def extent(x: Tensor, axis: int, b: Builder) -> Tensor:
    """The size of one axis as an int32 scalar; a constant where it is known."""
    size = x.dims[axis]
    return dimension(x, axis, b) if size is None else b.constant(np.int32(size))


def regrouped(x: Tensor, sizes: Sequence[Tensor | int], b: Builder) -> Tensor:
    """`x` in a shape of numbers, one of them -1, and int32 scalars."""
    parts = [b.constant(np.int32(n)) if isinstance(n, int) else n for n in sizes]
    return b.RESHAPE(x, b.PACK(*parts, axis=0, values_count=len(parts)))


def regrouped_from(x: Tensor, n_axes: int, sizes: Sequence[int], b: Builder) -> Tensor:
    """`x` whose axes from `n_axes` on are of other `sizes`, numbers; those before stay."""
    leading = [n or -1 for n in x.dims[:n_axes]]
    if leading.count(-1) < 2:
        return reshaped(x, (*leading, *sizes), b)
    last = max(i for i, n in enumerate(leading) if n == -1)
    lead = [-1 if i == last else extent(x, i, b) for i in range(n_axes)]
    return regrouped(x, (*lead, *sizes), b)


def cropped(x: Tensor, crops: Sequence[Sequence[int]], b: Builder) -> Tensor:
    """`x` without so many elements at the beginning and at the end of each dimension."""
    if not np.any(crops):
        return x
    ends = [-after for _, after in crops]
    return b.STRIDED_SLICE(
        x,
        int32s([before for before, _ in crops]),
        int32s(ends),
        int32s([1] * len(crops)),
        end_mask=sum((end == 0) << i for i, end in enumerate(ends)),
    )


def spread(x: Tensor, steps: Sequence[int], value: Tensor, b: Builder) -> Tensor:
    """`x` with `steps - 1` values between its elements along each dimension."""
    return x if max(steps, default=1) == 1 else b.DILATE(x, int32s(steps), value)
