"""Pooling over regions of unequal sizes, and its gradients."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from ..core.registry import add_row, op
from ..core.shapes import Shape, integers, known, require

if TYPE_CHECKING:
    from ..core.protocols import OperationView

    Window = tuple[tuple[slice, int, int, slice], tuple[slice, slice, slice, slice]]
_ALL = slice(None)


def pooled_size(size: int, ratio: float) -> int:
    """How many regions there are, in the float32 steps that TensorFlow takes."""
    return int(np.floor(np.float32(size) / np.float32(ratio)))


def _pool_shape(op: OperationView) -> list[Shape]:
    shape = known(op, 0, 4)
    ratio = cast("Sequence[float]", op.get_attr("pooling_ratio"))
    require(op, len(ratio) == 4, "pooling_ratio field must specify 4 dimensions")
    is_spatial = ratio[0] == 1 and ratio[3] == 1
    require(op, min(ratio) >= 1, f"pooling_ratio cannot be smaller than 1, got: {min(ratio)}")
    require(op, is_spatial, f"pooling_ratio of batch and channels must be 1, got {list(ratio)}")
    sizes = [None if n is None else pooled_size(n, r) for n, r in zip(shape, ratio, strict=True)]
    bounds = [None if n is None else n + 1 for n in sizes[1:3]]
    return [tuple(sizes), (bounds[0],), (bounds[1],)]


add_row("FractionalMaxPool", None, _pool_shape)
add_row("FractionalAvgPool", None, _pool_shape)


def _windows(
    shape: Sequence[int], rows: np.ndarray, columns: np.ndarray, overlapping: bool
) -> Iterator[Window]:
    """The place of each region in the result, and in the input; one overlaps by an element."""
    more = int(overlapping)
    row_list, column_list = rows.tolist(), columns.tolist()
    for i in range(len(row_list) - 1):
        height = slice(row_list[i], min(row_list[i + 1] + more, shape[1]))
        for j in range(len(column_list) - 1):
            width = slice(column_list[j], min(column_list[j + 1] + more, shape[2]))
            yield (_ALL, i, j, _ALL), (_ALL, height, width, _ALL)


def largest(
    x: np.ndarray, rows: np.ndarray, columns: np.ndarray, overlapping: bool
) -> tuple[np.ndarray, np.ndarray]:
    """The largest element of each region, and where it comes first, through all of `x`."""
    shape = x.shape[0], len(rows) - 1, len(columns) - 1, x.shape[3]
    best, where = np.empty(shape, x.dtype), np.empty(shape, np.int64)
    positions = np.arange(x.size).reshape(x.shape)
    for here, window in _windows(x.shape, rows, columns, overlapping):
        flat = x[window].reshape(x.shape[0], -1, x.shape[3])
        first = flat.argmax(1)[:, None]
        best[here] = np.take_along_axis(flat, first, 1)[:, 0]
        inside = positions[window].reshape(flat.shape)
        where[here] = np.take_along_axis(inside, first, 1)[:, 0]
    return best, where


def averages(x: np.ndarray, rows: np.ndarray, columns: np.ndarray, overlapping: bool) -> np.ndarray:
    """The mean of each region."""
    shape = x.shape[0], len(rows) - 1, len(columns) - 1, x.shape[3]
    result = np.empty(shape, np.float64)
    for here, window in _windows(x.shape, rows, columns, overlapping):
        result[here] = x[window].mean((1, 2), np.float64)
    return result


@op("FractionalMaxPoolGrad", shape=lambda op: op.inputs[0].sizes)
def fractional_max_pool_grad(
    x: np.ndarray,
    y: np.ndarray,
    dy: np.ndarray,
    rows: np.ndarray,
    columns: np.ndarray,
    *,
    overlapping: bool,
) -> np.ndarray:
    """`dy` at the first largest element of each region."""
    _, where = largest(x, rows, columns, overlapping)
    result = np.zeros(x.size, dy.dtype)
    np.add.at(result, where.ravel(), dy.ravel())
    return result.reshape(x.shape)


def _sizes(op: OperationView) -> Shape:
    sizes = integers(op, 0)
    return (None,) * 4 if sizes is None else tuple(sizes)


@op("FractionalAvgPoolGrad", shape=_sizes)
def fractional_avg_pool_grad(
    sizes: np.ndarray, dy: np.ndarray, rows: np.ndarray, columns: np.ndarray, *, overlapping: bool
) -> np.ndarray:
    """`dy` shared among the elements of each region."""
    shape = tuple(sizes.tolist())
    result = np.zeros(shape, np.float64)
    for here, window in _windows(shape, rows, columns, overlapping):
        part = result[window]
        part += dy[here][:, None, None] / (part.shape[1] * part.shape[2])
    return result
