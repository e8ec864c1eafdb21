"""Ops on shapes and on the order of elements."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, cast

import numpy as np

from ..core.registry import op
from ..core.shapes import (
    Dim,
    Shape,
    UnknownRank,
    as_shape,
    axis_of,
    count,
    integers,
    is_static,
    known,
    merged,
    require,
    require_rank,
    scalar,
    shown,
    times,
)

if TYPE_CHECKING:
    from ..core.protocols import OperationView


def _rank_vector(op: OperationView) -> tuple[Dim]:
    shape = op.inputs[0].sizes
    return (None if shape is None else len(shape),)


def _shape_sizes(op: OperationView) -> list[Shape]:
    return [tensor.sizes for tensor in op.inputs]


@op("Shape", shape=_rank_vector, static=_shape_sizes)
def shape_of(x: np.ndarray) -> tuple[int, ...]:
    """The sizes of `x`."""
    return x.shape


@op(
    "ShapeN",
    shape=lambda op: [(None if t.sizes is None else len(t.sizes),) for t in op.inputs],
    static=_shape_sizes,
)
def shape_n(*inputs: np.ndarray) -> tuple[int, ...] | list[tuple[int, ...]]:
    """The sizes of each input."""
    shapes = [x.shape for x in inputs]
    return shapes[0] if len(shapes) == 1 else shapes


def _n_elements(op: OperationView) -> list[Dim]:
    shape = op.inputs[0].sizes
    return [None if shape is None else count(shape)]


@op("Size", shape=scalar, static=_n_elements)
def size(x: np.ndarray) -> int:
    """The number of elements."""
    return x.size


@op("Rank", shape=scalar, static=lambda op: list(_rank_vector(op)))
def rank(x: np.ndarray) -> int:
    """The number of dimensions."""
    return x.ndim


def _reshape_shape(op: OperationView) -> Shape:
    target = as_shape(op, 1)
    try:
        shape = known(op, 0)
    except UnknownRank:
        return target
    if target is None:
        return None
    total, open_dims = count(shape), [i for i, n in enumerate(target) if n is None]
    known_size = prod(n for n in target if n is not None)
    if total is None:
        if not open_dims and shape.count(None) == 1:
            _require_divides(op, prod(n for n in shape if n is not None), known_size)
        return target
    if not open_dims or (known_size == 0 and total > 0):
        shown = "[" + ",".join("?" if n is None else str(n) for n in target) + "]"
        words = f"Cannot reshape a tensor with {total} elements to shape {shown}"
        require(op, known_size == total, f"{words} ({known_size} elements)")
        return target
    if len(open_dims) > 1 or (known_size == 0 and None in shape):
        return target
    if known_size == 0:
        open_size = _size_beside_zeros(shape, [-1 if n is None else n for n in target])
        return tuple(open_size if n is None else n for n in target)
    _require_divides(op, known_size, total)
    return tuple(total // known_size if n is None else n for n in target)


def _require_divides(op: OperationView, size: int, total: int) -> None:
    words = f"Dimension size must be evenly divisible by {size} but is {total}"
    require(op, size == 0 or total % size == 0, words)


def _size_beside_zeros(shape: Sequence[Dim], sizes: Sequence[int]) -> int:
    """What -1 means among `sizes` with a 0: zeros count on neither side, as TensorFlow has it."""
    return prod(n for n in shape if n) // prod(n for n in sizes if n > 0)


@op("Reshape", shape=_reshape_shape, moves_elements=True)
def reshape(x: np.ndarray, dims: np.ndarray) -> np.ndarray:
    """The same elements in another shape; one size may be -1."""
    sizes = [int(n) for n in dims]
    if min(sizes, default=0) < -1:
        raise ValueError(f"sizes must be >= -1, got {sizes}")
    if -1 in sizes and 0 in sizes and x.size == 0:  # numpy cannot tell
        sizes[sizes.index(-1)] = _size_beside_zeros(x.shape, sizes)
    size = prod(sizes)
    if size >= 0 and size != x.size:
        raise ValueError(
            f"Input to reshape is a tensor with {x.size} values, but the requested shape has {size}"
        )
    return x.reshape(sizes)


def _transpose_shape(op: OperationView) -> Shape:
    require_rank(op, 1, 1)
    order = integers(op, 1)
    try:
        shape = known(op, 0)
    except UnknownRank:
        return (None,) * len(order) if order is not None else None
    if order is None:
        return (None,) * len(shape)
    rank = len(shape)
    require(op, len(order) == rank, f"Dimension must be {rank} but is {len(order)}")
    axes = [
        axis_of(op, axis, rank, f"perm dim {axis} is out of range of input rank {rank}")
        for axis in order
    ]
    return tuple(shape[axis] for axis in axes)


def _permutation(order: np.ndarray, rank: int) -> list[int]:
    axes = [int(axis) % rank for axis in order]
    for axis in range(rank):
        if axis not in axes:
            raise ValueError(f"{axis} is missing from {{{','.join(map(str, axes))}}}.")
    return axes


@op("Transpose", shape=_transpose_shape, moves_elements=True)
def transpose(x: np.ndarray, order: np.ndarray) -> np.ndarray:
    """`x` with its axes in the order `order`."""
    return np.transpose(x, _permutation(order, x.ndim))


@op("ConjugateTranspose", shape=_transpose_shape)
def conjugate_transpose(x: np.ndarray, order: np.ndarray) -> np.ndarray:
    """The conjugate of `x` with its axes in another order."""
    return np.conj(np.transpose(x, _permutation(order, x.ndim)))


def _expand_dims_shape(op: OperationView) -> Shape:
    shape, axis = known(op, 0), integers(op, 1)
    if axis is None:
        return (None,) * (len(shape) + 1)
    require(op, len(axis) == 1, "'dim' input must be a tensor with a single value")
    n = len(shape) + 1
    words = f"dim {axis[0]} not in the interval [{-n}, {n - 1}]."
    position = axis_of(op, axis[0], n, words)
    return shape[:position] + (1,) + shape[position:]


@op("ExpandDims", shape=_expand_dims_shape, moves_elements=True)
def expand_dims(x: np.ndarray, axis: np.ndarray) -> np.ndarray:
    """`x` with a dimension of size 1 at `axis`."""
    return np.expand_dims(x, int(axis.flat[0]))


def _squeeze_shape(op: OperationView) -> Shape:
    shape, axes = known(op, 0), op.get_attr("squeeze_dims")
    if not axes:
        return None if None in shape else tuple(n for n in shape if n != 1)
    n = len(shape)
    squeezed = {
        axis_of(op, axis, n, f"squeeze_dims[{i}] not in [{-n},{n}).") for i, axis in enumerate(axes)
    }
    for axis in squeezed:
        words = f"Can not squeeze dim[{axis}], expected a dimension of 1, got {shape[axis]}"
        require(op, shape[axis] in (None, 1), words)
    return tuple(n for i, n in enumerate(shape) if i not in squeezed)


@op("Squeeze", shape=_squeeze_shape, moves_elements=True)
def squeeze(x: np.ndarray, *, squeeze_dims: Sequence[int]) -> np.ndarray:
    """`x` without dimensions of size 1: those given, else all."""
    return np.squeeze(x, tuple(squeeze_dims) if squeeze_dims else None)


def _tile_shape(op: OperationView) -> Shape:
    repeats = op.inputs[1].value
    try:
        shape = known(op, 0)
    except UnknownRank:
        return (None,) * repeats.size if repeats is not None else None
    counts = op.inputs[1].sizes
    if repeats is None:
        words = f"Shape must be rank {len(shape)} but is rank {counts and counts[0]}"
        require(op, not counts or counts[0] in (None, len(shape)), words)
        return (None,) * len(shape)
    words = f"Shape must be rank {len(shape)} but is rank {repeats.size}"
    require(op, repeats.size == len(shape), words)
    numbers = [None if n is None or n < 0 else int(n) for n in repeats.flat]
    return tuple(times(n, m) for n, m in zip(shape, numbers, strict=True))


@op("Tile", shape=_tile_shape, moves_elements=True)
def tile(x: np.ndarray, repeats: np.ndarray) -> np.ndarray:
    """`x` repeated along each axis."""
    for i, n in enumerate(repeats.tolist()):
        if n < 0:
            raise ValueError(f"Expected multiples[{i}] >= 0, but got {n}")
    return np.tile(x, [int(n) for n in repeats])


@op("BroadcastTo", shape=lambda op: _broadcast_to_shape(op), moves_elements=True)
def broadcast_to(x: np.ndarray, dims: np.ndarray) -> np.ndarray:
    """`x` repeated to a shape."""
    return np.broadcast_to(x, [int(n) for n in dims])


def _broadcast_to_shape(op: OperationView) -> Shape:
    target = as_shape(op, 1)
    shape = op.inputs[0].sizes
    if is_static(target) and shape is not None:
        rank = len(shape)
        words = f"Shape must be at most rank {len(target)} but is rank {rank}"
        require(op, rank <= len(target), words)
        for size, expected in zip(shape, target[len(target) - rank :], strict=True):
            words = f"Dimensions must be equal, but are {size} and {expected}"
            require(op, size in (None, 1, expected), words)
    return target


def _same_shape(op: OperationView) -> Shape:
    return op.inputs[0].sizes


@op("Reverse", shape=_same_shape)
def reverse(x: np.ndarray, flags: np.ndarray) -> np.ndarray:
    """`x` backwards along each axis whose flag is set."""
    return np.flip(x, tuple(i for i, flag in enumerate(flags) if flag))


def _reverse_v2_shape(op: OperationView) -> Shape:
    shape, axes = op.inputs[0].sizes, integers(op, 1)
    if shape is None or axes is None:
        return shape
    for i, axis in enumerate(axes):
        fits = -len(shape) <= axis < len(shape)
        words = f"'axis'[{i}] = {axis} is out of valid range [0, {len(shape) - 1}]"
        require(op, fits, words)
        is_new = axis % len(shape) not in [other % len(shape) for other in axes[:i]]
        require(op, is_new, f"axis {axis % len(shape)} specified more than once.")
    return shape


@op("ReverseV2", shape=_reverse_v2_shape)
def reverse_v2(x: np.ndarray, axes: np.ndarray) -> np.ndarray:
    """`x` backwards along `axes`."""
    return np.flip(x, tuple(int(axis) for axis in axes))


def _reverse_sequence_shape(op: OperationView) -> Shape:
    shape, lengths = op.inputs[0].sizes, known(op, 1, 1)
    if shape is None:
        return None
    along, batch = cast("int", op.get_attr("seq_dim")), cast("int", op.get_attr("batch_dim"))
    for name, axis in (("batch_dim", batch), ("seq_dim", along)):
        require(op, axis >= 0 or name == "seq_dim", f"{name} must be >=0, got {axis}")
        words = f"{name} must be < input rank: {axis} vs. {len(shape)}"
        require(op, -len(shape) <= axis < len(shape), words)
    sizes = (shape[batch], lengths[0])
    fits = None in sizes or sizes[0] == sizes[1]
    require(op, fits, f"Dimensions must be equal, but are {sizes[0]} and {sizes[1]}")
    return shape


@op("ReverseSequence", shape=_reverse_sequence_shape)
def reverse_sequence(
    x: np.ndarray, lengths: np.ndarray, *, seq_dim: int, batch_dim: int
) -> np.ndarray:
    """The first elements along `seq_dim` backwards, how many says `lengths` for each batch."""
    if batch_dim % x.ndim == seq_dim % x.ndim:
        raise ValueError(f"batch_dim == seq_dim == {seq_dim}")
    moved = np.moveaxis(x, (batch_dim, seq_dim), (0, 1))
    result = moved.copy()
    for i, length in enumerate(lengths.tolist()):
        if not 0 <= length <= moved.shape[1]:
            raise ValueError(f"seq_lens({i}) must be in [0, {moved.shape[1]}], got {length}")
        result[i, :length] = moved[i, :length][::-1]
    return np.moveaxis(result, (0, 1), (batch_dim, seq_dim))


def _roll_shape(op: OperationView) -> Shape:
    require_rank(op, 0, 1, at_least=True)
    for tensor in op.inputs[1:]:
        rank = len(tensor.sizes or ())
        require(op, rank < 2, f"Shape must be at most rank 1 but is rank {rank}")
    merged(op, (1, 2))
    return op.inputs[0].sizes


@op("Roll", shape=_roll_shape)
def roll(x: np.ndarray, shift: np.ndarray, axis: np.ndarray) -> np.ndarray:
    """`x` with elements that leave at one end of an axis coming back at the other."""
    if not x.ndim:
        raise ValueError("input must be 1-D or higher")
    for name, numbers in (("shift", shift), ("axis", axis)):
        if numbers.ndim > 1:
            words = f"{name} must be a scalar or a 1-D vector. Found: {shown(numbers.shape)}"
            raise ValueError(words)
    if shift.shape != axis.shape:
        raise ValueError("shift and axis must have the same size")
    for by, along in zip(shift.flat, axis.flat, strict=True):
        if not -x.ndim <= along < x.ndim:
            raise ValueError(f"axis {along} is out of range")
        x = np.roll(x, int(by), int(along))
    return x


@op("InvertPermutation", shape=_same_shape)
def invert_permutation(x: np.ndarray) -> np.ndarray:
    """Where each number of a permutation stands."""
    seen: set[int] = set()
    for number in x.tolist():
        if not 0 <= number < len(x):
            raise ValueError(f"{number} is not between 0 and {len(x)}")
        if number in seen:
            raise ValueError(f"{number} is duplicated in the input.")
        seen.add(number)
    return np.argsort(x)
