"""Operations on the sets in the last dimension of tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from ...core.registry import op
from ...core.shapes import unknown
from ..gather import require_sorted

if TYPE_CHECKING:
    from ...core.protocols import OperationView
    from ...core.shapes import Shape

Element: TypeAlias = "int | bytes"
Sets: TypeAlias = "dict[tuple[int, ...], set[Element]]"
"""The set at each index of all dimensions but the last."""


def _combine(operation: bytes, a: set[Element], b: set[Element]) -> set[Element]:
    if operation == b"union":
        return a | b
    if operation == b"intersection":
        return a & b
    return a - b if operation == b"a-b" else b - a


def _of_dense(x: np.ndarray) -> tuple[Sets, tuple[int, ...]]:
    if x.ndim < 2:
        raise ValueError(f"Input must be at least 2-D, got shape {list(x.shape)}")
    batch = x.shape[:-1]
    return {index: set(x[index].tolist()) for index in np.ndindex(*batch)}, batch


def _of_sparse(
    indices: np.ndarray, values: np.ndarray, shape: np.ndarray
) -> tuple[Sets, tuple[int, ...]]:
    sets: Sets = {}
    for index, value in zip(indices.tolist(), values.tolist(), strict=True):
        sets.setdefault(tuple(index[:-1]), set()).add(value)
    return sets, tuple(shape[:-1].tolist())


def _combined(
    a: tuple[Sets, tuple[int, ...]],
    b: tuple[Sets, tuple[int, ...]],
    operation: bytes,
    dtype: np.dtype,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Indices, values in rising order and shape of the results."""
    if operation not in (b"a-b", b"b-a", b"intersection", b"union"):
        raise ValueError(f"Invalid set_operation {operation.decode()!r}")
    if a[1] != b[1]:
        raise ValueError(f"Mismatched group shapes {list(a[1])} and {list(b[1])}")
    indices: list[tuple[int, ...]] = []
    values: list[Element] = []
    most = 0
    for index in np.ndindex(*a[1]):
        result = sorted(
            _combine(operation, a[0].get(index, set()), b[0].get(index, set())),
            key=lambda element: cast("int", element),  # all are numbers, or all are strings
        )
        indices += [(*index, i) for i in range(len(result))]
        values += result
        most = max(most, len(result))
    rank = len(a[1]) + 1
    return (
        np.array(indices, np.int64).reshape(len(indices), rank),
        np.array(values, dtype),
        np.array([*a[1], most], np.int64),
    )


def _shapes(op: OperationView) -> list[Shape]:
    """Those of indices, values and shape: the rank is that of the first input, or its indices'."""
    first = op.inputs[0].sizes
    rank = None if first is None else len(first)
    if op.type.startswith("Sparse"):
        rank = None if first is None else first[-1]
    return [(None, rank), (None,), (rank,)]


@op("DenseToDenseSetOperation", shape=_shapes)
def dense_to_dense(
    a: np.ndarray, b: np.ndarray, *, set_operation: bytes
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The sets of two tensors, combined."""
    return _combined(_of_dense(a), _of_dense(b), set_operation, a.dtype)


@op("DenseToSparseSetOperation", shape=_shapes)
def dense_to_sparse(
    a: np.ndarray,
    indices: np.ndarray,
    values: np.ndarray,
    shape: np.ndarray,
    *,
    set_operation: bytes,
    validate_indices: bool,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The sets of a tensor and of a sparse one, combined."""
    if validate_indices:
        require_sorted(indices, tuple(shape.tolist()))
    return _combined(_of_dense(a), _of_sparse(indices, values, shape), set_operation, a.dtype)


@op("SparseToSparseSetOperation", shape=_shapes)
def sparse_to_sparse(
    a_indices: np.ndarray,
    a_values: np.ndarray,
    a_shape: np.ndarray,
    b_indices: np.ndarray,
    b_values: np.ndarray,
    b_shape: np.ndarray,
    *,
    set_operation: bytes,
    validate_indices: bool,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The sets of two sparse tensors, combined."""
    if validate_indices:
        require_sorted(a_indices, tuple(a_shape.tolist()))
        require_sorted(b_indices, tuple(b_shape.tolist()))
    a, b = _of_sparse(a_indices, a_values, a_shape), _of_sparse(b_indices, b_values, b_shape)
    return _combined(a, b, set_operation, a_values.dtype)


@op("SetSize", shape=unknown)
def set_size(
    indices: np.ndarray, values: np.ndarray, shape: np.ndarray, *, validate_indices: bool
) -> np.ndarray:
    """How many different elements each set has."""
    if validate_indices:
        require_sorted(indices, tuple(shape.tolist()))
    for row, index in enumerate(indices.tolist()):
        for column, (position, size) in enumerate(zip(index, shape.tolist(), strict=True)):
            if not 0 <= position < size:
                raise ValueError(f"indices[{row}, {column}] expected < {size}, got {position}.")
    sets, batch = _of_sparse(indices, values, shape)
    sizes = np.zeros(batch, np.int32)
    for index, elements in sets.items():
        sizes[index] = len(elements)
    return sizes
