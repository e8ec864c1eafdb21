"""Arithmetic on sparse tensors, element by element, along axes and as matrices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import TYPE_CHECKING, cast

import numpy as np

from ...core.registry import add_row, op
from ...core.shapes import as_shape, known, require, shown
from .sparse import Coordinates, delinear, first_dim, linear, rank_of, triple

if TYPE_CHECKING:
    from ...core.protocols import Kernel, OperationView
    from ...core.shapes import Dim, Shape


def _require_same_shape(a: np.ndarray, b: np.ndarray) -> None:
    if len(a) != len(b):
        sides = " and ".join(" ".join(map(str, side.tolist())) for side in (a, b))
        raise ValueError(f"Operands do not have the same ranks; got shapes: {sides}")
    if (a != b).any():
        at = int(np.flatnonzero(a != b)[0])
        raise ValueError(
            f"Operands' shapes do not match: got {a[at]} and {b[at]} for dimension {at}"
        )


def _union(a: Coordinates, b: Coordinates) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The places of both as numbers in rising order, and the values each has there, zeros where
    it has none.
    """
    numbers = [linear(side.indices, side.shape) for side in (a, b)]
    both, order = np.unique(np.concatenate(numbers), return_inverse=True)
    sides: list[np.ndarray] = []
    for side, at in zip((a, b), np.split(order.ravel(), [len(numbers[0])]), strict=True):
        values = np.zeros(len(both), side.values.dtype)
        np.add.at(values, at, side.values)
        sides.append(values)
    return both, sides[0], sides[1]


def _add_shape(op: OperationView) -> list[Shape]:
    return triple(op, rank_of(op, 0, 2))


@op("SparseAdd", shape=_add_shape)
def sparse_add(*parts: np.ndarray) -> Coordinates:
    """The elements that are in either tensor; where they are in both, the sum, unless it is below
    a threshold.
    """
    a, b, threshold = Coordinates(*parts[:3]), Coordinates(*parts[3:6]), parts[6]
    _require_same_shape(a.shape, b.shape)
    numbers, left, right = _union(a, b)
    total = left + right
    is_shared = np.isin(numbers, linear(a.indices, a.shape)) & np.isin(
        numbers, linear(b.indices, b.shape)
    )
    stays = ~is_shared | (np.abs(total) >= threshold)
    return Coordinates(delinear(numbers[stays], a.shape), total[stays], a.shape)


@op("SparseAddGrad", shape=lambda op: [(first_dim(op, 1),), (first_dim(op, 2),)])
def sparse_add_grad(
    dy: np.ndarray, a: np.ndarray, b: np.ndarray, total: np.ndarray
) -> list[np.ndarray]:
    """The gradients of the sums at the places of either tensor, zeros where there is no sum."""
    shape = np.max([side.max(0, initial=0) for side in (a, b, total)], 0) + 1
    numbers = linear(total, shape)
    results: list[np.ndarray] = []
    for side in (a, b):
        positions = linear(side, shape)
        at = np.minimum(np.searchsorted(numbers, positions), max(len(numbers) - 1, 0))
        if not len(numbers):
            results.append(np.zeros(len(side), dy.dtype))
            continue
        results.append(np.where(numbers[at] == positions, dy[at], np.zeros((), dy.dtype)))
    return results


def _pair_shape(op: OperationView) -> list[Shape]:
    return triple(op, rank_of(op, 0, 2))[:2]


def _extreme(function: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Kernel:
    def kernel(*parts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        a, b = Coordinates(*parts[:3]), Coordinates(*parts[3:])
        _require_same_shape(a.shape, b.shape)
        numbers, left, right = _union(a, b)
        return delinear(numbers, a.shape), function(left, right)

    return kernel


add_row("SparseSparseMaximum", _extreme(np.maximum), _pair_shape)
add_row("SparseSparseMinimum", _extreme(np.minimum), _pair_shape)


def _axes(op: OperationView) -> tuple[tuple[int, ...] | None, Dim]:
    """The axes a reduction is along, None when unknown, and the rank of what is reduced."""
    rank = rank_of(op, 0, 2)
    axes = op.inputs[3].value
    if axes is None or rank is None:
        return None, rank
    return tuple(sorted({int(axis) % max(rank, 1) for axis in np.ravel(axes)})), rank


def _reduce_shape(op: OperationView) -> Shape:
    axes, rank = _axes(op)
    if axes is None or rank is None:
        return None
    sizes = as_shape(op, 2)
    sizes = (None,) * rank if sizes is None else sizes
    if op.get_attr("keep_dims"):
        return tuple(1 if i in axes else size for i, size in enumerate(sizes))
    return tuple(size for i, size in enumerate(sizes) if i not in axes)


def _sparse_reduce_shape(op: OperationView) -> list[Shape]:
    shape = _reduce_shape(op)
    return triple(op, None if shape is None else len(shape))


def _reduced(
    whole: Coordinates, axes: np.ndarray, keep_dims: bool, combine: np.ufunc
) -> Coordinates:
    """The results where there are elements to combine, by the numbers of their places."""
    rank = len(whole.shape)
    for axis in np.ravel(axes).tolist():
        if not -rank <= axis < rank:
            raise ValueError(
                f"Invalid reduction dimension {axis}, for input with {rank} dimensions."
            )
    along = {int(axis) % rank for axis in np.ravel(axes).tolist()}
    others = [i for i in range(rank) if i not in along]
    numbers, at = np.unique(
        linear(whole.indices[:, others], whole.shape[others]), return_inverse=True
    )
    order = np.argsort(at.ravel(), kind="stable")
    begins = np.searchsorted(at.ravel()[order], np.arange(len(numbers)))
    values = combine.reduceat(whole.values[order], begins) if len(numbers) else whole.values[:0]
    positions, sizes = delinear(numbers, whole.shape[others]), whole.shape[others]
    if keep_dims:
        wide = np.zeros((len(numbers), rank), np.int64)
        wide[:, others] = positions
        positions, sizes = wide, np.where(np.isin(np.arange(rank), others), whole.shape, 1)
    return Coordinates(positions, values, sizes)


def _reduction(combine: np.ufunc, is_sparse: bool) -> Kernel:
    def kernel(
        indices: np.ndarray,
        values: np.ndarray,
        shape: np.ndarray,
        axes: np.ndarray,
        *,
        keep_dims: bool,
    ) -> Coordinates | np.ndarray:
        result = _reduced(Coordinates(indices, values, shape), axes, keep_dims, combine)
        if is_sparse:
            return result
        sizes = cast("list[int]", result.shape.tolist())
        dense: np.ndarray = np.zeros(prod(sizes), values.dtype)
        dense[linear(result.indices, result.shape)] = result.values
        return dense.reshape(sizes)

    return kernel


for _name, _combine in (("Max", np.maximum), ("Sum", np.add)):
    add_row(f"SparseReduce{_name}", _reduction(_combine, False), _reduce_shape)
    add_row(f"SparseReduce{_name}Sparse", _reduction(_combine, True), _sparse_reduce_shape)


@op("SparseSoftmax", shape=lambda op: op.inputs[1].sizes)
def sparse_softmax(indices: np.ndarray, values: np.ndarray, shape: np.ndarray) -> np.ndarray:
    """exp(x) over its sum, among the elements that lie along the last dimension."""
    if len(shape) < 2:
        raise ValueError(f"Input should have rank >= 2, but received shape: {shape.tolist()}")
    _, rows = np.unique(linear(indices[:, :-1], shape[:-1]), return_inverse=True)
    rows = rows.ravel()
    n_rows = int(rows.max(initial=-1)) + 1
    largest = np.full(n_rows, -np.inf, values.dtype)
    np.maximum.at(largest, rows, values)
    exponentials = np.exp(values - largest[rows])
    total = np.zeros(n_rows, values.dtype)
    np.add.at(total, rows, exponentials)
    return exponentials / total[rows]


def _matmul_shape(op: OperationView) -> Shape:
    right = known(op, 3, 2)
    sizes = as_shape(op, 2)
    depth, columns = right[::-1] if op.get_attr("adjoint_b") else right
    if sizes is None:
        return (None, columns)
    require(op, len(sizes) == 2, f"Shape must be rank 2 but is rank {len(sizes)}")
    rows, inner = sizes[::-1] if op.get_attr("adjoint_a") else sizes
    _require_equal(op, inner, depth)
    return (rows, columns)


def _require_equal(op: OperationView, a: Dim, b: Dim) -> None:
    words = f"Dimensions must be equal, but are {a} and {b}"
    require(op, None in (a, b) or a == b, words)


@op("SparseTensorDenseMatMul", shape=_matmul_shape)
def sparse_tensor_dense_matmul(
    indices: np.ndarray,
    values: np.ndarray,
    shape: np.ndarray,
    dense: np.ndarray,
    *,
    adjoint_a: bool,
    adjoint_b: bool,
) -> np.ndarray:
    """The product of a sparse matrix and a whole one, either taken as its adjoint."""
    if len(shape) != 2:
        raise ValueError(f"Tensor 'a_shape' must have 2 elements, got {len(shape)}")
    right = dense.conj().T if adjoint_b else dense
    left = values.conj() if adjoint_a else values
    rows, columns = indices.T[::-1] if adjoint_a else indices.T
    height, depth = shape[::-1] if adjoint_a else shape
    if depth != right.shape[0]:
        raise ValueError(
            f"Cannot multiply A and B because inner dimension does not match: {depth} vs. "
            f"{right.shape[0]}. Did you forget a transpose? Dimensions of A: "
            f"[{shape[0]}, {shape[1]}). Dimensions of B: {list(dense.shape)}"
        )
    for name, at, size in (("k", columns, depth), ("m", rows, height)):
        if ((at < 0) | (at >= size)).any():
            wrong = int(np.flatnonzero((at < 0) | (at >= size))[0])
            raise ValueError(
                f"{name} ({at[wrong]}) from index[{wrong},{int(name == 'k')}] out of bounds "
                f"(>={size})"
            )
    result = np.zeros((int(height), right.shape[1]), dense.dtype)
    step = max(1, 4_000_000 // max(1, right.shape[1]))
    for first in range(0, len(left), step):  # some megabytes of products at a time
        part = slice(first, first + step)
        np.add.at(result, rows[part], left[part, None] * right[columns[part]])
    return result


def _cwise(function: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Callable[..., np.ndarray]:
    def kernel(
        indices: np.ndarray, values: np.ndarray, shape: np.ndarray, dense: np.ndarray
    ) -> np.ndarray:
        sizes = tuple(shape.tolist())
        try:
            whole = np.broadcast_to(dense, sizes)
        except ValueError:
            raise ValueError(
                "SparseDenseBinaryOpShared broadcasts dense to sparse only; got incompatible "
                f"shapes: {shown(sizes)} vs. {shown(dense.shape)}"
            ) from None
        return function(values, whole[tuple(indices.T)])

    return kernel


def _truncated(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    if x.dtype.kind not in "iu":
        return x / y
    if not y.all():
        raise ValueError("Integer division by zero")
    return x // y + ((x % y != 0) & ((x < 0) != (y < 0)))


CWISE: Sequence[tuple[str, Callable[[np.ndarray, np.ndarray], np.ndarray]]] = (
    ("SparseDenseCwiseAdd", np.add),
    ("SparseDenseCwiseDiv", _truncated),
    ("SparseDenseCwiseMul", np.multiply),
)
for _kind, _function in CWISE:
    add_row(_kind, _cwise(_function), lambda op: op.inputs[1].sizes)
