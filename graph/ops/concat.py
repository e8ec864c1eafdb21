"""Tensors joined along an axis, and taken apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..core.registry import op
from ..core.shapes import (
    Dim,
    Shape,
    UnknownRank,
    axis_of,
    integers,
    known,
    merged,
    merged_shapes,
    plus,
    require,
)

if TYPE_CHECKING:
    from ..core.protocols import OperationView


def _pack_shape(op: OperationView) -> Shape:
    shape = merged(op, range(len(op.inputs)))
    if shape is None:
        raise UnknownRank
    axis, n = op.get_attr("axis"), len(shape) + 1
    axis = axis_of(op, axis, n, f"Invalid axis: {axis}; must be in [{-n},{n})")
    return shape[:axis] + (len(op.inputs),) + shape[axis:]


@op("Pack", shape=_pack_shape, moves_elements=True)
def pack(*inputs: np.ndarray, axis: int) -> np.ndarray:
    """The inputs side by side along a new axis."""
    return np.stack(inputs, axis)


def _unpack_shape(op: OperationView) -> list[Shape]:
    shape, n = known(op, 0), op.get_attr("num")
    axis, rank = op.get_attr("axis"), len(shape)
    axis = axis_of(op, axis, rank, f"Invalid axis: {axis}; must be in [{-rank},{rank})")
    require(op, shape[axis] in (None, n), f"Dimension must be {n} but is {shape[axis]}")
    return [shape[:axis] + shape[axis + 1 :]] * n


@op("Unpack", shape=_unpack_shape, moves_elements=True)
def unpack(x: np.ndarray, *, num: int, axis: int) -> np.ndarray | list[np.ndarray]:
    """The slices of `x` along `axis`."""
    if x.shape[axis] != num:
        raise ValueError(f"dimension {axis} must be {num}, got {x.shape[axis]}")
    slices = (
        list(np.moveaxis(x, axis, 0))
        if x.ndim > 1
        else [x[i : i + 1].reshape(()) for i in range(num)]
    )
    return slices[0] if num == 1 else slices


def _concat_shape(op: OperationView, axis_index: int, first: int) -> Shape:
    axes = integers(op, axis_index)
    last = len(op.inputs) - (axis_index > 0)
    shapes = [op.inputs[i].sizes for i in range(first, last)]
    ranked = [shape for shape in shapes if shape is not None]
    if not ranked:
        raise UnknownRank
    rank = len(ranked[0])
    require(op, rank > 0, "Can't concatenate scalars (use tf.stack instead)")
    for shape in ranked:
        words = f"Shape must be rank {rank} but is rank {len(shape)}"
        require(op, len(shape) == rank, words)
    if axes is None:
        return (None,) * rank
    axis = axis_of(op, axes[0], rank)
    before: tuple[Dim, ...] = (None,) * axis
    after: tuple[Dim, ...] = (None,) * (rank - axis - 1)
    for shape in ranked:
        before = merged_shapes(op, before, shape[:axis]) or ()
        after = merged_shapes(op, after, shape[axis + 1 :]) or ()
    length = plus(*(shape[axis] for shape in ranked)) if len(ranked) == len(shapes) else None
    return (*before, length, *after)


@op("ConcatV2", shape=lambda op: _concat_shape(op, len(op.inputs) - 1, 0), moves_elements=True)
def concat_v2(*inputs: np.ndarray) -> np.ndarray:
    """All but the last input, one after another along the axis the last one names."""
    return np.concatenate(inputs[:-1], int(inputs[-1]))


@op("Concat", shape=lambda op: _concat_shape(op, 0, 1), moves_elements=True)
def concat(axis: np.ndarray, *inputs: np.ndarray) -> np.ndarray:
    """The inputs one after another along `axis`."""
    return np.concatenate(inputs, int(axis))


def _parallel_concat_shape(op: OperationView) -> Shape:
    for index, tensor in enumerate(op.inputs):
        words = "The rank of all input shapes must be greater than 0, but input"
        require(op, tensor.sizes != (), f"{words} {index} had rank 0.")
    return op.get_attr("shape")


@op("ParallelConcat", shape=_parallel_concat_shape)
def parallel_concat(*inputs: np.ndarray) -> np.ndarray:
    """The inputs one after another along the first axis."""
    return np.concatenate(inputs, 0)


def _concat_offset_shape(op: OperationView) -> list[Shape]:
    return [tensor.sizes for tensor in op.inputs[1:]]


@op("ConcatOffset", shape=_concat_offset_shape)
def concat_offset(axis: np.ndarray, *shapes: np.ndarray) -> np.ndarray | list[np.ndarray]:
    """Where each of some shapes begins when they are concatenated along `axis`."""
    offsets: list[np.ndarray] = []
    at = 0
    for shape in shapes:
        offset = np.zeros_like(shape)
        offset[int(axis)] = at
        at += int(shape[int(axis)])
        offsets.append(offset)
    return offsets[0] if len(offsets) == 1 else offsets


def _split_axis(op: OperationView, axis: int, rank: int) -> int:
    words = f"Dimension size, given by scalar input {axis} must be in range [-{rank}, {rank})"
    return axis_of(op, axis, rank, words)


def _split_shape(op: OperationView) -> list[Shape]:
    shape, axes, n = known(op, 1), integers(op, 0), op.get_attr("num_split")
    if axes is None:
        return [(None,) * len(shape)] * n
    axis = _split_axis(op, axes[0], len(shape))
    size = shape[axis]
    require(op, n > 0, f"num_split must be > 0, got {n}")
    words = f"Dimension size must be evenly divisible by {n} but is {size}\n\tNumber of ways to "
    words += "split should evenly divide the split dimension"
    require(op, size is None or size % n == 0, words)
    part = None if size is None else size // n
    return [shape[:axis] + (part,) + shape[axis + 1 :]] * n


@op("Split", shape=_split_shape, moves_elements=True)
def split(axis: np.ndarray, x: np.ndarray, *, num_split: int) -> np.ndarray | list[np.ndarray]:
    """Equal parts of `x` along `axis`."""
    parts = np.split(x, num_split, int(axis))
    return parts[0] if num_split == 1 else parts


def _split_sizes(sizes: list[int], total: int) -> list[int]:
    """The sizes of the parts, where one may be -1 for what is left."""
    for i, size in enumerate(sizes):
        if size < -1:
            raise ValueError(f"Split size at index {i} must be >= 0. Got: {size}")
    if sizes.count(-1) > 1:
        raise ValueError(f"There can only be one -1 in size_splits, got {sizes}")
    remainder = total - sum(n for n in sizes if n >= 0)
    if remainder < 0 or (remainder and -1 not in sizes):
        pieces = ",".join(map(str, sizes))
        raise ValueError(f"can't split axis of size {total} into pieces of size [{pieces}]")
    return [remainder if n == -1 else n for n in sizes]


def _split_v_shape(op: OperationView) -> list[Shape]:
    shape, sizes, axes = known(op, 0), integers(op, 1), integers(op, 2)
    n = op.get_attr("num_split")
    if axes is None:
        return [(None,) * len(shape)] * n
    axis = _split_axis(op, axes[0], len(shape))
    parts: list[int | None] = [None] * n
    if sizes is not None:
        require(op, len(sizes) == n, f"size_splits must have {n} elements, got {sizes}")
        whole = shape[axis]
        lengths = sizes if whole is None else _split_sizes(sizes, whole)
        parts = [None if size == -1 else size for size in lengths]
    return [shape[:axis] + (part,) + shape[axis + 1 :] for part in parts]


@op("SplitV", shape=_split_v_shape, moves_elements=True)
def split_v(x: np.ndarray, sizes: np.ndarray, axis: np.ndarray) -> np.ndarray | list[np.ndarray]:
    """Parts of `x` of the given sizes along `axis`."""
    if axis.size != 1:
        raise ValueError("split_dim_tensor must have exactly one element.")
    position = axis.item()
    parts = _split_sizes([int(n) for n in sizes], x.shape[position])
    results = np.split(x, np.cumsum(parts)[:-1], position)
    return results[0] if len(parts) == 1 else results
