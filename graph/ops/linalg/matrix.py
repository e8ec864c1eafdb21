"""Diagonals and bands of matrices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, overload

import numpy as np

from ...core.registry import op
from ...core.shapes import (
    Dim,
    Shape,
    integers,
    is_static,
    known,
    plus,
    require,
    require_rank,
    same,
    shown,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ...core.protocols import OperationView


@op("MatrixBandPart", shape=same)
def matrix_band_part(x: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """`x` with zeros but in a band around the diagonal; a negative width is a whole triangle."""
    if x.ndim < 2:
        raise ValueError(f"input must be at least 2-dim, received shape: {shown(x.shape)}")
    for name, number in (("num_lower", lower), ("num_upper", upper)):
        if number.ndim:
            raise ValueError(f"{name} must be scalar, got shape {shown(number.shape)}")
    n_rows, n_columns = x.shape[-2:]
    rows, columns = np.indices((n_rows, n_columns), sparse=True)
    n_below, n_above = int(lower), int(upper)
    for name, number, what, limit in (
        ("num_lower", n_below, "rows", n_rows),
        ("num_upper", n_above, "columns", n_columns),
    ):
        if number > limit:
            words = f"{name} must be negative or less or equal to number of {what}"
            raise ValueError(f"{words} ({limit}) got: {number}")
    below = (rows - columns <= n_below) | (n_below < 0)
    above = (columns - rows <= n_above) | (n_above < 0)
    return np.where(below & above, x, np.zeros((), x.dtype))


def _diag_shape(op: OperationView) -> Shape:
    return known(op, 0) * 2


@op("Diag", shape=_diag_shape)
def diag(x: np.ndarray) -> np.ndarray:
    """A tensor of twice the rank with `x` on its diagonal."""
    return np.diag(x.reshape(-1)).reshape(x.shape * 2)


def _diag_of_tensor_shape(op: OperationView) -> Shape:
    shape = known(op, 0)
    rank = len(shape)
    words = f"Input must have even and non-zero rank, input rank is {rank}"
    require(op, rank and rank % 2 == 0, words)
    half = rank // 2
    for size, other in zip(shape[:half], shape[half:], strict=True):
        fits = None in (size, other) or size == other
        require(op, fits, f"Dimensions must be equal, but are {size} and {other}")
    return tuple(a if b is None else b for a, b in zip(shape[:half], shape[half:], strict=True))


@op("DiagPart", shape=_diag_of_tensor_shape)
def diag_part(x: np.ndarray) -> np.ndarray:
    """The diagonal of a tensor whose shape is some shape twice."""
    shape = x.shape[: x.ndim // 2]
    size = int(np.prod(shape))
    if x.ndim % 2 or x.shape != shape * 2:
        raise ValueError(f"The shape must be some shape twice, got {list(x.shape)}")
    return np.diagonal(x.reshape(size, size)).reshape(shape)


def _band(k: ArrayLike) -> tuple[int, int]:
    """The lowest and highest diagonal that `k` names."""
    numbers = [int(n) for n in np.asarray(k).flat]
    if not 1 <= len(numbers) <= 2:
        raise ValueError(
            f"diag_index must be a vector with one or two elements. It has {len(numbers)} elements."
        )
    if numbers[0] > numbers[-1]:
        raise ValueError("lower_diag_index is greater than upper_diag_index")
    return numbers[0], numbers[-1]


def _offsets(
    low: int, high: int, rows: int, columns: int, align: bytes
) -> Iterator[tuple[int, int, int]]:
    """For each diagonal from the highest: its number, its length, where it begins in its row."""
    lengths = {d: min(rows + min(d, 0), columns - max(d, 0)) for d in range(low, high + 1)}
    longest = max(lengths.values())
    for d in range(high, low - 1, -1):
        right = (
            align in (b"RIGHT_LEFT", b"RIGHT_RIGHT")
            if d >= 0
            else align in (b"LEFT_RIGHT", b"RIGHT_RIGHT")
        )
        yield d, max(lengths[d], 0), longest - lengths[d] if right else 0


def _require_band(low: int, high: int, rows: int, columns: int) -> None:
    for name, number in (("lower", low), ("upper", high)):
        if number and not -rows < number < columns:
            limits = f"It must be between {-rows} and {columns}"
            raise ValueError(f"{name}_diag_index is out of bound: {number} {limits}")


def _diagonal_part(x: np.ndarray, k: ArrayLike, padding: np.ndarray, align: bytes) -> np.ndarray:
    low, high = _band(k)
    rows, columns = x.shape[-2:]
    _require_band(low, high, rows, columns)
    longest = min(rows + min(high, 0), columns - max(low, 0))
    result = np.full(x.shape[:-2] + (high - low + 1, longest), padding, x.dtype)
    for i, (d, length, start) in enumerate(_offsets(low, high, rows, columns, align)):
        result[..., i, start : start + length] = np.diagonal(x, d, -2, -1)
    return result[..., 0, :] if low == high else result


def unlike_diagonals(shape: Shape, diagonal: Shape, expected: Shape) -> str:
    """What is said of diagonals that do not fit into matrices."""
    return (
        "Either first dimensions of diagonal don't match input.shape[:-2], or "
        "diagonal.shape[:-1] is not equal to the longests diagonal in range "
        f"[lower_diag_index:upper_diag_index].\nInput shape: {shown(shape)}\n"
        f"Diagonal shape: {shown(diagonal)}\nExpected diagonal shape: {shown(expected)}"
    )


def _set_diagonal(
    x: np.ndarray, diagonal: np.ndarray, k: ArrayLike, align: bytes, is_new: bool = False
) -> np.ndarray:
    """`x` with diagonals; those of new matrices may lie outside."""
    low, high = _band(k)
    rows, columns = x.shape[-2:]
    if not is_new:
        _require_band(low, high, rows, columns)
        longest = min(rows + min(high, 0), columns - max(low, 0))
        expected = (*x.shape[:-2], *((high - low + 1,) if low < high else ()), longest)
        if diagonal.shape != expected:
            raise ValueError(unlike_diagonals(x.shape, diagonal.shape, expected))
    result = x.copy()
    if low == high:
        diagonal = diagonal[..., None, :]
    for i, (d, length, start) in enumerate(_offsets(low, high, rows, columns, align)):
        at = np.arange(length)
        result[..., at + max(-d, 0), at + max(d, 0)] = diagonal[..., i, start : start + length]
    return result


def _diagonal_matrix(
    diagonal: np.ndarray,
    k: np.ndarray,
    n_rows: np.ndarray,
    n_columns: np.ndarray,
    padding: np.ndarray,
    align: bytes,
) -> np.ndarray:
    low, high = _band(k)
    shape = _matrix_shape(diagonal.shape, low, high, int(n_rows), int(n_columns))
    matrices = np.full(shape, padding, diagonal.dtype)
    return _set_diagonal(matrices, diagonal, (low, high), align, is_new=True)


@overload
def _matrix_shape(
    diagonal: tuple[int, ...], low: int, high: int, rows: int, columns: int
) -> tuple[int, ...]: ...
@overload
def _matrix_shape(
    diagonal: tuple[Dim, ...], low: int, high: int, rows: int, columns: int
) -> tuple[Dim, ...]: ...
def _matrix_shape(
    diagonal: tuple[Dim, ...], low: int, high: int, rows: int, columns: int
) -> tuple[Dim, ...]:
    """The shape of the matrices with such diagonals; -1 for rows and columns to be found."""
    longest = diagonal[-1]
    batch = diagonal[:-1] if low == high else diagonal[:-2]
    least = plus(longest, max(-high, 0)), plus(longest, max(low, 0))
    if rows == columns == -1:
        size = max(least) if is_static(least) else None
        return batch + (size, size)
    return batch + (least[0] if rows == -1 else rows, least[1] if columns == -1 else columns)


@op("MatrixDiag", shape=lambda op: known(op, 0) + known(op, 0)[-1:])
def matrix_diag(diagonal: np.ndarray) -> np.ndarray:
    """Matrices with these diagonals."""
    return diagonal[..., None] * np.eye(diagonal.shape[-1], dtype=diagonal.dtype)


def _matrix_diag_shape(op: OperationView) -> Shape:
    diagonal, rows, columns = known(op, 0), integers(op, 2), integers(op, 3)
    k = integers(op, 1)
    if k is None or rows is None or columns is None:
        return None
    return _matrix_shape(diagonal, *_band(k), rows[0], columns[0])


@op("MatrixDiagV2", shape=_matrix_diag_shape)
def matrix_diag_v2(
    diagonal: np.ndarray,
    k: np.ndarray,
    n_rows: np.ndarray,
    n_columns: np.ndarray,
    padding: np.ndarray,
) -> np.ndarray:
    """Matrices with these diagonals, `padding` elsewhere."""
    return _diagonal_matrix(diagonal, k, n_rows, n_columns, padding, b"LEFT_LEFT")


@op("MatrixDiagV3", shape=_matrix_diag_shape)
def matrix_diag_v3(
    diagonal: np.ndarray,
    k: np.ndarray,
    n_rows: np.ndarray,
    n_columns: np.ndarray,
    padding: np.ndarray,
    *,
    align: bytes,
) -> np.ndarray:
    """Matrices with these diagonals, `padding` elsewhere."""
    return _diagonal_matrix(diagonal, k, n_rows, n_columns, padding, align)


def _diag_part_v1_shape(op: OperationView) -> Shape:
    *batch, rows, columns = known(op, 0)
    sizes = [n for n in (rows, columns) if n is not None]
    return (*batch, min(sizes) if len(sizes) == 2 else None)


@op("MatrixDiagPart", shape=_diag_part_v1_shape)
def matrix_diag_part(x: np.ndarray) -> np.ndarray:
    """The diagonals of matrices."""
    return np.diagonal(x, 0, -2, -1)


def _known_band(op: OperationView, k: list[int], rows: Dim, columns: Dim) -> tuple[int, int]:
    """The lowest and highest diagonal, which must be in the matrices."""
    low, high = _band(k)
    for name, number in (("lower", low), ("upper", high)):
        limit = columns if number > 0 else rows
        fits = limit is None or not number or abs(number) < limit
        require(op, fits, f"{name}_diag_index is out of bound. It is {number}")
    return low, high


def _diag_part_shape(op: OperationView) -> Shape:
    *batch, rows, columns = known(op, 0)
    k = integers(op, 1)
    if k is None:
        return None
    low, high = _known_band(op, k, rows, columns)
    sizes = plus(rows, min(high, 0)), plus(columns, -max(low, 0))
    longest = min(sizes) if is_static(sizes) else None
    return (*batch, longest) if low == high else (*batch, high - low + 1, longest)


@op("MatrixDiagPartV2", shape=_diag_part_shape)
def matrix_diag_part_v2(x: np.ndarray, k: np.ndarray, padding: np.ndarray) -> np.ndarray:
    """Some diagonals of matrices, the shorter ones padded at the end."""
    return _diagonal_part(x, k, padding, b"LEFT_LEFT")


@op("MatrixDiagPartV3", shape=_diag_part_shape)
def matrix_diag_part_v3(
    x: np.ndarray, k: np.ndarray, padding: np.ndarray, *, align: bytes
) -> np.ndarray:
    """Some diagonals of matrices, the shorter ones padded."""
    return _diagonal_part(x, k, padding, align)


def _set_diag_v1_shape(op: OperationView) -> Shape:
    require_rank(op, 0, 2, at_least=True)
    require_rank(op, 1, 1, at_least=True)
    shape, diagonal = (tensor.sizes for tensor in op.inputs)
    if shape is None or diagonal is None:
        return shape
    require_rank(op, 1, len(shape) - 1)
    if is_static(shape) and diagonal[-1] is not None:
        n, words = min(shape[-2:]), "Dimensions must be equal, but are"
        require(op, n == diagonal[-1], f"{words} {n} and {diagonal[-1]}")
    return shape


def _set_diag_shape(op: OperationView) -> Shape:
    require_rank(op, 0, 2, at_least=True)
    require_rank(op, 1, 1, at_least=True)
    shape, k = op.inputs[0].sizes, integers(op, 2)
    if shape is not None and k is not None:
        low, high = _known_band(op, k, *shape[-2:])
        require_rank(op, 1, len(shape) - (low == high))
    return shape


@op("MatrixSetDiag", shape=_set_diag_v1_shape)
def matrix_set_diag(x: np.ndarray, diagonal: np.ndarray) -> np.ndarray:
    """`x` with other diagonals."""
    return _set_diagonal(x, diagonal, 0, b"LEFT_LEFT")


@op("MatrixSetDiagV2", shape=_set_diag_shape)
def matrix_set_diag_v2(x: np.ndarray, diagonal: np.ndarray, k: np.ndarray) -> np.ndarray:
    """`x` with some diagonals replaced."""
    return _set_diagonal(x, diagonal, k, b"LEFT_LEFT")


@op("MatrixSetDiagV3", shape=_set_diag_shape)
def matrix_set_diag_v3(
    x: np.ndarray, diagonal: np.ndarray, k: np.ndarray, *, align: bytes
) -> np.ndarray:
    """`x` with some diagonals replaced."""
    return _set_diagonal(x, diagonal, k, align)
