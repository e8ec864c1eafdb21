"""Ragged tensors, as values and row splits."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, cast

import numpy as np

from ...core.registry import op
from .cross import hashed_choice, spelled_choice

if TYPE_CHECKING:
    from ...core.protocols import OperationView
    from ...core.shapes import Shape
    from .cross import Feature

_MOST = 2**31 - 1


def _range_shapes(op: OperationView) -> list[Shape]:
    """The number of ranges is that of the vectors among the operands, which must agree."""
    counts: list[int | None] = []
    for tensor in op.inputs:
        sizes = tensor.sizes
        if sizes is None:
            counts.append(None)
            continue
        if len(sizes) > 1:
            raise ValueError(f"Shape must be at most rank 1 but is rank {len(sizes)}")
        counts += sizes
    known = {n for n in counts if n is not None}
    if len(known) > 1:
        raise ValueError(f"Dimensions must be equal, but are {sorted(known)}")
    n = None if None in counts and not known else (known.pop() if known else 1)
    return [(None if n is None else n + 1,), (None,)]


@op("RaggedRange", shape=_range_shapes)
def ragged_range(
    starts: np.ndarray, limits: np.ndarray, deltas: np.ndarray, *, Tsplits: np.dtype
) -> tuple[np.ndarray, np.ndarray]:
    """A row from each start to its limit, in steps."""
    sizes = {len(x) for x in (starts, limits, deltas) if x.ndim}
    if len(sizes) > 1:
        raise ValueError("starts, limits, and deltas must have the same shape")
    n = sizes.pop() if sizes else 1
    parts = [np.broadcast_to(x, (n,)) for x in (starts, limits, deltas)]
    dtype = parts[0].dtype
    if not all(parts[2]):
        raise ValueError("Requires delta != 0")
    lengths: list[int] = []
    for start, limit, delta in zip(*(part.tolist() for part in parts), strict=True):
        span, step = limit - start, delta
        if (span > 0) != (step > 0) or not span:
            lengths.append(0)
            continue
        count = -(-abs(span) // abs(step)) if dtype.kind in "iu" else np.ceil(abs(span / step))
        if count > _MOST:
            raise ValueError(f"Requires ((limit - start) / delta) <= {_MOST}")
        lengths.append(int(count))
    splits = np.cumsum([0, *lengths])
    if splits[-1] > np.iinfo(Tsplits).max:
        raise ValueError("RaggedRange overflowed its row_splits type")
    rows = [
        (np.arange(count) * delta + start).astype(dtype)
        for count, start, delta in zip(lengths, parts[0], parts[2], strict=True)
    ]
    values = np.concatenate([np.zeros(0, dtype), *rows])
    return splits.astype(Tsplits), values


def _require_splits(splits: np.ndarray, n_values: int) -> None:
    """Raises ValueError unless `splits` part so many values."""
    if not splits.size or splits[0] != 0 or splits[-1] != n_values or (np.diff(splits) < 0).any():
        raise ValueError(f"Invalid ragged splits: {splits.tolist()} for {n_values} values")


def _rows_of(values: np.ndarray, splits: np.ndarray) -> list[list[Feature]]:
    _require_splits(splits, len(values))
    items = cast("list[Feature]", values.tolist())
    return [items[start:end] for start, end in pairwise(splits.tolist())]


def _sparse_rows(indices: np.ndarray, values: np.ndarray, n: int) -> list[list[Feature]]:
    rows: list[list[Feature]] = [[] for _ in range(n)]
    items = cast("list[Feature]", values.tolist())
    positions = cast("list[int]", indices[:, 0].tolist())
    for row, item in zip(positions, items, strict=True):
        if not 0 <= row < n:
            raise ValueError(f"Invalid sparse_indices row {row} for {n} rows")
        rows[row].append(item)
    return rows


def _columns(
    parts: Sequence[np.ndarray], counts: tuple[int, int], order: bytes
) -> list[list[list[Feature]]]:
    """Of each input the features of every row, in the order of the inputs."""
    n_ragged, n_sparse = counts
    cuts = np.cumsum([n_ragged, n_ragged, n_sparse, n_sparse, n_sparse]).tolist()
    edges = [0, *cuts, len(parts)]
    values, splits, indices, items, shapes, dense = (
        parts[begin:end] for begin, end in pairwise(edges)
    )
    columns: dict[str, list[list[list[Feature]]]] = {
        "R": [_rows_of(*pair) for pair in zip(values, splits, strict=True)],
        "S": [
            _sparse_rows(i, x, int(shape[0]))
            for i, x, shape in zip(indices, items, shapes, strict=True)
        ],
        "D": [cast("list[list[Feature]]", x.tolist()) for x in dense],
    }
    return [columns[chr(kind)].pop(0) for kind in order]


def _cross_shapes(op: OperationView) -> list[Shape]:
    n_ragged = len(cast("Sequence[object]", op.attrs["ragged_values_types"]))
    n_dense = len(cast("Sequence[object]", op.attrs["dense_types"]))
    splits = [x.sizes for x in op.inputs[n_ragged : 2 * n_ragged]]
    dense = [x.sizes for x in op.inputs[len(op.inputs) - n_dense :]]
    counts = {n - 1 for sizes in splits if sizes for n in sizes if n is not None}
    counts |= {sizes[0] for sizes in dense if sizes and sizes[0] is not None}
    if len(counts) > 1:
        raise ValueError("inputs must all have the same batch dimension size.")
    return [(None,), (None if not counts else counts.pop() + 1,)]


@op("RaggedCross", shape=_cross_shapes)
def ragged_cross(
    *parts: np.ndarray,
    Nsparse: int,
    input_order: bytes | str,
    hashed_output: bool,
    num_buckets: int,
    hash_key: int,
    ragged_values_types: Sequence[np.dtype],
    out_values_type: np.dtype,
    out_row_splits_type: np.dtype,
) -> tuple[np.ndarray, np.ndarray]:
    """Every choice of one feature of each input, in each row."""
    order = input_order.encode() if isinstance(input_order, str) else input_order
    columns = _columns(parts, (len(ragged_values_types), Nsparse), order)
    n = len(columns[0]) if columns else 0
    if any(len(column) != n for column in columns):
        raise ValueError(f"inputs must all have the same batch size, got {[*map(len, columns)]}")
    choose: Callable[[Iterable[Feature]], Feature] = (
        hashed_choice(hash_key, num_buckets) if hashed_output else spelled_choice(b"_X_")
    )
    rows = [[choose(x) for x in itertools.product(*(c[i] for c in columns))] for i in range(n)]
    values = np.empty(sum(map(len, rows)), out_values_type)
    values[:] = [x for row in rows for x in row]
    splits = np.cumsum([0, *map(len, rows)]).astype(out_row_splits_type)
    return values, splits


def _gather_shapes(op: OperationView) -> list[Shape]:
    n = len(op.outputs) - 1
    indices = op.inputs[-1].sizes
    inner = op.inputs[-2].sizes
    first = None if indices is None or len(indices) != 1 or indices[0] is None else indices[0] + 1
    shapes: list[Shape] = [(first if i == 0 else None,) for i in range(n)]
    return [*shapes, None if inner is None else (None, *inner[1:])]


@op("RaggedGather", shape=_gather_shapes)
def ragged_gather(*parts: np.ndarray, OUTPUT_RAGGED_RANK: int) -> list[np.ndarray]:
    """The rows with these numbers, for indices of any rank."""
    *splits, values, indices = parts
    results: list[np.ndarray] = []
    counts = cast("list[int]", np.cumprod(indices.shape[:-1]).tolist())
    for size, count in zip(indices.shape[1:], counts, strict=True):
        results.append(np.arange(count + 1) * size)
    rows = indices.ravel()
    if rows.size and not 0 <= rows.min() <= rows.max() < len(splits[0]) - 1:
        raise ValueError(f"indices must be in [0, {len(splits[0]) - 1}), got {rows.tolist()}")
    for level in splits:
        starts, lengths = level[:-1][rows], np.diff(level)[rows]
        results.append(np.concatenate([[0], np.cumsum(lengths)]))
        before = np.repeat(np.cumsum(lengths) - lengths, lengths)
        offsets = np.arange(int(lengths.sum())) - before
        rows = cast("np.ndarray", np.repeat(starts, lengths) + offsets)
    return [*[x.astype(splits[0].dtype) for x in results[-OUTPUT_RAGGED_RANK:]], values[rows]]


def _sparse_shapes(op: OperationView) -> list[Shape]:
    inner = op.inputs[-1].sizes
    rank = None if inner is None else len(inner) + len(op.inputs) - 1
    return [(None, rank), (None,), (rank,)]


@op("RaggedTensorToSparse", shape=_sparse_shapes)
def ragged_tensor_to_sparse(*parts: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where each value stands, the values, and the least shape that has room for them."""
    *splits, values = parts
    inner = np.indices(values.shape).reshape(values.ndim, -1)
    at, columns = inner[0], list(inner[1:])
    sizes, below = list(values.shape[1:]), len(values)
    for level in reversed(splits):
        n = below
        _require_splits(level, n)
        below = len(level) - 1
        rows = np.repeat(np.arange(len(level) - 1), np.diff(level))
        columns.insert(0, (np.arange(n) - level[:-1][rows])[at])
        sizes.insert(0, int(np.diff(level).max(initial=0)))
        at = rows[at]
    positions = np.stack([at, *columns], 1).astype(np.int64)
    shape = np.array([len(splits[0]) - 1, *sizes], np.int64)
    return positions, values.ravel(), shape


def _bins_shape(op: OperationView) -> Shape:
    splits, size = op.inputs[0].sizes, op.inputs[2].value
    n = None if not splits or splits[0] is None else splits[0] - 1
    return (n, None if size is None or size.size != 1 else int(size.ravel()[0]))


@op("RaggedBincount", shape=_bins_shape)
def ragged_bincount(
    splits: np.ndarray,
    values: np.ndarray,
    size: np.ndarray,
    weights: np.ndarray,
    *,
    binary_output: bool,
) -> np.ndarray:
    """How often each number is in every row, or the sum of the weights of where it is."""
    _require_splits(splits, len(values))
    if values.size and values.min() < 0:
        raise ValueError("Input must be non-negative")
    rows = np.repeat(np.arange(len(splits) - 1), np.diff(splits))
    n = int(size)
    counts = np.zeros((len(splits) - 1, n), weights.dtype)
    inside = values < n
    if binary_output:
        counts[rows[inside], values[inside]] = 1
        return counts
    amounts = weights[inside] if weights.size else np.ones((), weights.dtype)
    np.add.at(counts, (rows[inside], values[inside]), amounts)
    return counts


def _filled_shapes(op: OperationView) -> list[Shape]:
    rows = op.inputs[2].value
    n = None if rows is None or rows.flat[0] is None else int(rows.flat[0])
    ids = op.inputs[0].sizes
    return [(None,), (None,), (n,), (ids[0] if ids else None,)]


@op("RaggedFillEmptyRows", shape=_filled_shapes)
def ragged_fill_empty_rows(
    rowids: np.ndarray, values: np.ndarray, nrows: np.ndarray, default: np.ndarray
) -> Sequence[np.ndarray]:
    """`default` in rows that have no value.

    Beside the rows and values, which rows had none and where each old value is now.
    """
    if len(rowids) != len(values):
        raise ValueError(
            f"Length of value_rowids ({len(rowids)}) does not match length of values "
            f"({len(values)})"
        )
    n = int(nrows)
    wrong = np.flatnonzero((rowids < 0) | (rowids >= n))
    if wrong.size:
        at = int(wrong[0])
        raise ValueError(f"value_rowids({at}) is invalid: {rowids[at]} >= {n}")
    empty = np.bincount(rowids, minlength=n) == 0
    rows = np.concatenate([rowids, np.flatnonzero(empty)])
    order = np.argsort(rows, kind="stable")
    moved = np.empty(len(order), np.int64)
    moved[order] = np.arange(len(order))
    filler = np.full(int(empty.sum()), default, values.dtype)
    return rows[order], np.concatenate([values, filler])[order], empty, moved[: len(rowids)]


@op("RaggedFillEmptyRowsGrad", shape=lambda op: [op.inputs[0].sizes, ()])
def ragged_fill_empty_rows_grad(moved: np.ndarray, dy: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The gradients of the old values, and the sum of those of the added ones."""
    if moved.size and not 0 <= moved.min() <= moved.max() < len(dy):
        raise ValueError(f"Elements in reverse index must be in [0, {len(dy)}), got {moved.max()}")
    was_added = np.ones(len(dy), np.bool_)
    was_added[moved] = False
    return dy[moved], np.asarray(dy[was_added].sum(), dy.dtype)
