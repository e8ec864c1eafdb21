"""Sparse tensors taken apart and put together: places, values and sizes as three arrays."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...core.registry import op
from ...core.shapes import plus, require, value
from ...core.shapes import shown as shown_shape

if TYPE_CHECKING:
    from ...core.protocols import OperationView
    from ...core.shapes import Dim, Shape


class Coordinates(NamedTuple):
    """[n, rank] places, [n] values and [rank] sizes."""

    indices: np.ndarray
    values: np.ndarray
    shape: np.ndarray

    def take(self, which: np.ndarray) -> Coordinates:
        """Some of the elements, by their numbers or by truth values."""
        return self._replace(indices=self.indices[which], values=self.values[which])

    def reordered(self) -> Coordinates:
        """The same with places in the order of rows."""
        return self.take(np.argsort(linear(self.indices, self.shape), kind="stable"))


def shown(shape: np.ndarray) -> str:
    """Sizes as TensorFlow's runtime writes them."""
    return shown_shape(tuple(shape.tolist()))


def linear(indices: np.ndarray, shape: np.ndarray) -> np.ndarray:
    """Each place as one number, in the order of rows."""
    steps = np.ones(len(shape), np.int64)
    steps[:-1] = np.cumprod(shape[:0:-1])[::-1]
    return indices @ steps


def delinear(numbers: np.ndarray, shape: np.ndarray) -> np.ndarray:
    """The places that `linear` makes numbers of."""
    if not len(shape) or not numbers.size:
        return np.zeros((numbers.size, len(shape)), np.int64)
    return np.stack(np.unravel_index(numbers, tuple(shape.tolist())), 1)


def first_dim(op: OperationView, index: int) -> Dim:
    """The first size of an input, None when it is unknown."""
    shape = op.inputs[index].sizes
    return shape[0] if shape else None


def rank_of(op: OperationView, indices: int, shape: int) -> Dim:
    """The rank of the sparse tensor whose places and sizes are these inputs."""
    positions = op.inputs[indices].sizes
    rank = positions[1] if positions is not None and len(positions) == 2 else None
    return first_dim(op, shape) if rank is None else rank


def triple(op: OperationView, rank: Dim, n: Dim = None) -> list[Shape]:
    """The shapes of places, values and sizes."""
    return [(n, rank), (n,), (rank,)]


def _reorder_shape(op: OperationView) -> list[Shape]:
    return triple(op, rank_of(op, 0, 2), first_dim(op, 0))[:2]


@op("SparseReorder", shape=_reorder_shape)
def sparse_reorder(
    indices: np.ndarray, values: np.ndarray, shape: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The same elements in the order of rows."""
    ordered = Coordinates(indices, values, shape).reordered()
    return ordered.indices, ordered.values


def _reshape_shape(op: OperationView) -> list[Shape]:
    rank = first_dim(op, 2)
    return [(first_dim(op, 0), rank), (rank,)]


@op("SparseReshape", shape=_reshape_shape)
def sparse_reshape(
    indices: np.ndarray, shape: np.ndarray, new_shape: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The places of the same elements in another shape; one of its sizes may be -1."""
    sizes, total = new_shape.copy(), int(np.prod(shape))
    open_sizes = np.flatnonzero(sizes == -1)
    if len(open_sizes) > 1:
        raise ValueError(
            f"only one output dimension may be -1, not both {open_sizes[0]} and {open_sizes[1]}"
        )
    if (sizes < -1).any():
        at = int(np.flatnonzero(sizes < -1)[0])
        raise ValueError(f"size {at} must be non-negative, not {sizes[at]}")
    if len(open_sizes):
        others = int(np.prod(sizes[sizes != -1]))
        if not others:
            raise ValueError(
                "reshape cannot infer the missing input size for an empty tensor unless all "
                "specified input sizes are non-zero"
            )
        sizes[open_sizes] = total // others
        if total % others:
            raise ValueError(
                f"Input to reshape is a SparseTensor with {total} dense values, but the requested "
                f"shape requires a multiple of {others}. input_shape={shown(shape)} "
                f"output_shape={shown(sizes)}"
            )
    if int(np.prod(sizes)) != total:
        raise ValueError(
            f"Input to reshape is a tensor with {total} dense values, but the requested shape has "
            f"{int(np.prod(sizes))}. input_shape={shown(shape)} output_shape={shown(sizes)}"
        )
    return delinear(linear(indices, shape), sizes), sizes


def _concat_shape(op: OperationView) -> list[Shape]:
    n = len(op.inputs) // 3
    ranks = {rank for i in range(n) if (rank := rank_of(op, i, 2 * n + i)) is not None}
    words = f"Dimensions must be equal, but are {' and '.join(map(str, sorted(ranks)[:2]))}"
    require(op, len(ranks) < 2, words)
    return triple(op, next(iter(ranks), None), plus(*(first_dim(op, i) for i in range(n))))


@op("SparseConcat", shape=_concat_shape)
def sparse_concat(
    *parts: np.ndarray, concat_dim: int, N: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The elements of N sparse tensors that lie one behind another along a dimension."""
    items = [Coordinates(*parts[i::N]) for i in range(N)]
    shape = items[0].shape.copy()
    rank = len(shape)
    if not -rank <= concat_dim < rank:
        raise ValueError(f"Concat dimension must be in range [{-rank}, {rank}), got {concat_dim}")
    positions: list[np.ndarray] = []
    offset = 0
    for i, item in enumerate(items):
        if len(item.shape) != rank:
            raise ValueError(
                f"Ranks of all input tensors must match: expected {rank} but got "
                f"{len(item.shape)} at position {i}"
            )
        for d in range(rank):
            if d != concat_dim % rank and item.shape[d] != shape[d]:
                raise ValueError(
                    f"Input shapes must match: expected {shape[d]} for dimension {d} but got "
                    f"{item.shape[d]} at position {i}"
                )
        moved = item.indices.copy()
        moved[:, concat_dim] += offset
        positions.append(moved)
        offset += int(item.shape[concat_dim])
    shape[concat_dim] = offset
    values = np.concatenate([item.values for item in items])
    return Coordinates(np.concatenate(positions), values, shape).reordered()


def _split_shape(op: OperationView) -> list[Shape]:
    n, rank = len(op.outputs) // 3, rank_of(op, 1, 3)
    return [shape for shape in triple(op, rank) for _ in range(n)]


@op("SparseSplit", shape=_split_shape)
def sparse_split(
    split_dim: np.ndarray,
    indices: np.ndarray,
    values: np.ndarray,
    shape: np.ndarray,
    *,
    num_split: int,
) -> list[np.ndarray]:
    """The parts along a dimension; where its size does not divide, the first have one more."""
    axis, rank = int(split_dim), len(shape)
    if not -rank <= axis < rank:
        raise ValueError(f"Input axis should be in range [{-rank}, {rank}), got {axis}")
    size = int(shape[axis])
    if not 1 <= num_split <= size:
        raise ValueError(
            f"Input num_split should be between 1 and the splitting dimension size ({size}), "
            f"got {num_split}"
        )
    width, more = divmod(size, num_split)
    begins = [i * width + min(i, more) for i in range(num_split + 1)]
    whole = Coordinates(indices, values, shape)
    parts: list[Coordinates] = []
    for begin, end in pairwise(begins):
        part = whole.take((indices[:, axis] >= begin) & (indices[:, axis] < end))
        part.indices[:, axis] -= begin
        sizes = shape.copy()
        sizes[axis] = end - begin
        parts.append(part._replace(shape=sizes))
    return [array for arrays in zip(*parts, strict=True) for array in arrays]


def _slice_shape(op: OperationView) -> list[Shape]:
    return triple(op, rank_of(op, 0, 2))


def _inside(indices: np.ndarray, start: np.ndarray, size: np.ndarray) -> np.ndarray:
    inside: np.ndarray = np.all((indices >= start) & (indices < start + size), 1)
    return inside


@op("SparseSlice", shape=_slice_shape)
def sparse_slice(
    indices: np.ndarray,
    values: np.ndarray,
    shape: np.ndarray,
    start: np.ndarray,
    size: np.ndarray,
) -> Coordinates:
    """The elements in a box, counted from its corner; sizes end where the tensor does."""
    for name, sizes in (("start", start), ("size", size)):
        if sizes.ndim != 1:
            received = shown_shape(sizes.shape)
            raise ValueError(f"Input {name} should be a vector but received shape {received}")
        if len(sizes) != len(shape):
            raise ValueError(
                f"Expected {name} to be a vector of length {len(shape)} but got length {len(sizes)}"
            )
    if (size < 0).any():
        raise ValueError(f"Expected a non-negative size, got {size[size < 0][0]}")
    part = Coordinates(indices, values, shape).take(_inside(indices, start, size))
    sizes = np.clip(np.minimum(start + size, shape) - start, 0, None)
    return Coordinates(part.indices - start, part.values, sizes)


@op("SparseSliceGrad", shape=lambda op: (first_dim(op, 1),))
def sparse_slice_grad(
    dy: np.ndarray, indices: np.ndarray, start: np.ndarray, taken: np.ndarray
) -> np.ndarray:
    """The gradients of a slice at the places it took, zeros elsewhere."""
    result = np.zeros(len(indices), dy.dtype)
    size = taken.max(0, initial=-1) + 1
    result[_inside(indices, start, size)] = dy
    return result


def _fill_shape(op: OperationView) -> list[Shape]:
    shape = value(op, 2)
    rows = None if shape is None or not len(shape) else int(shape[0])
    return [(None, rank_of(op, 0, 2)), (None,), (rows,), (first_dim(op, 0),)]


@op("SparseFillEmptyRows", shape=_fill_shape)
def sparse_fill_empty_rows(
    indices: np.ndarray, values: np.ndarray, shape: np.ndarray, default: np.ndarray
) -> Sequence[np.ndarray]:
    """`default` as the first element of rows that have none.

    Beside the elements, which rows had none and where each old element is now.
    """
    n_rows, rank = int(shape[0]), len(shape)
    rows = indices[:, 0]
    wrong = np.flatnonzero((rows < 0) | (rows >= n_rows))
    if wrong.size:
        at = int(wrong[0])
        raise ValueError(f"indices({at}, 0) is invalid: {rows[at]} >= {n_rows}")
    empty = np.bincount(rows, minlength=n_rows) == 0
    added = np.zeros((int(empty.sum()), rank), np.int64)
    added[:, 0] = np.flatnonzero(empty)
    order = np.argsort(np.concatenate([rows, added[:, 0]]), kind="stable")
    filler = np.full(len(added), default, values.dtype)
    moved = np.empty(len(order), np.int64)
    moved[order] = np.arange(len(order))
    return (
        np.concatenate([indices, added])[order],
        np.concatenate([values, filler])[order],
        empty,
        moved[: len(rows)],
    )


@op("SparseFillEmptyRowsGrad", shape=lambda op: [(first_dim(op, 0),), ()])
def sparse_fill_empty_rows_grad(moved: np.ndarray, dy: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The gradients of the old elements, and the sum of those of the added ones."""
    was_added = np.ones(len(dy), np.bool_)
    was_added[moved] = False
    return dy[moved], np.asarray(dy[was_added].sum(), dy.dtype)


def _dense_shape(op: OperationView) -> Shape:
    return op.inputs[3].sizes


@op("SparseTensorDenseAdd", shape=_dense_shape)
def sparse_tensor_dense_add(
    indices: np.ndarray, values: np.ndarray, shape: np.ndarray, dense: np.ndarray
) -> np.ndarray:
    """A whole tensor and a sparse one of its shape."""
    if len(shape) != dense.ndim:
        raise ValueError(f"Two operands have different ranks: {len(shape)} vs. {dense.ndim}")
    for i, (a, b) in enumerate(zip(shape.tolist(), dense.shape, strict=True)):
        if a != b:
            raise ValueError(
                f"Dimension {i} does not equal (no broadcasting is supported): sparse side {a} vs "
                f"dense side {b}"
            )
    result = dense.copy()
    np.add.at(result, tuple(indices.T), values)
    return result
