"""Crosses of features, counts of sparse numbers, and distances of sparse sequences."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from ....schema.fingerprint import fingerprint64
from ...core.registry import op
from ...core.shapes import as_shape, require
from ..text.text import siphash
from .sparse import rank_of, triple

if TYPE_CHECKING:
    from ...core.protocols import OperationView
    from ...core.shapes import Shape

    Feature: TypeAlias = "int | bytes"

_MULTIPLIER = 0xC6A4A7935BD1E995
_MASK = 2**64 - 1
_LARGEST = 2**63 - 1


def _mixed(x: int) -> int:
    return x ^ (x >> 47)


def joined_fingerprints(a: int, b: int) -> int:
    """One fingerprint of two, as TensorFlow's FingerprintCat64."""
    result = (a ^ _MULTIPLIER) ^ (_mixed((b * _MULTIPLIER) & _MASK) * _MULTIPLIER & _MASK)
    result = result * _MULTIPLIER & _MASK
    return _mixed(_mixed(result) * _MULTIPLIER & _MASK)


def _columns(
    indices: Sequence[np.ndarray],
    values: Sequence[np.ndarray],
    shapes: Sequence[np.ndarray],
    dense: Sequence[np.ndarray],
) -> tuple[int, list[list[list[Feature]]]]:
    """The number of rows, and of each column the features of every row."""
    sizes = [int(shape[0]) for shape in shapes] + [len(x) for x in dense]
    n_rows = sizes[0] if sizes else 0
    if any(size != n_rows for size in sizes):
        raise ValueError(f"Expected batch size {n_rows} of all inputs, got {sizes}")
    columns: list[list[list[Feature]]] = []
    for positions, items in zip(indices, values, strict=True):
        rows: list[list[Feature]] = [[] for _ in range(n_rows)]
        features = cast("list[Feature]", items.tolist())
        for row, item in zip(cast("list[int]", positions[:, 0].tolist()), features, strict=True):
            rows[row].append(item)
        columns.append(rows)
    columns += [cast("list[list[Feature]]", x.tolist()) for x in dense]
    return n_rows, columns


def _crossed(
    n_rows: int,
    columns: Sequence[Sequence[Sequence[Feature]]],
    dtype: np.dtype,
    cross: Callable[[Iterable[Feature]], Feature],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Every choice of one feature from each column of a row; the last column changes first."""
    positions: list[tuple[int, int]] = []
    results: list[Feature] = []
    most = 0
    for row in range(n_rows):
        crosses = [cross(choice) for choice in itertools.product(*(c[row] for c in columns))]
        positions += [(row, i) for i in range(len(crosses))]
        results += crosses
        most = max(most, len(crosses))
    return (
        np.array(positions, np.int64).reshape(-1, 2),
        np.array(results, dtype),
        np.array([n_rows, most], np.int64),
    )


def _hash_of(feature: Feature) -> int:
    return fingerprint64(feature) if isinstance(feature, bytes) else feature & _MASK


def hashed_choice(key: int, num_buckets: int) -> Callable[[Iterable[Feature]], Feature]:
    """A number for a choice of features, below `num_buckets` where there is a bound."""

    def cross(choice: Iterable[Feature]) -> Feature:
        result = key & _MASK
        for feature in choice:
            result = joined_fingerprints(result, _hash_of(feature))
        return result % (num_buckets or _LARGEST)

    return cross


def salted_choice(
    n_sparse: int, num_buckets: int, strong_hash: bool, salt: tuple[int, int]
) -> Callable[[Iterable[Feature]], Feature]:
    """A number for a choice of features by their fingerprints, or by SipHash with a key.

    As in TensorFlow, of a number in a sparse column only the lower four bytes count, and one in a
    dense column, from the place `n_sparse` on, is its own fingerprint.
    """

    def hash_of(place: int, feature: Feature) -> int:
        if isinstance(feature, int) and place >= n_sparse:
            if strong_hash:
                raise ValueError("numbers of dense inputs have no strong hash in TensorFlow either")
            return feature & _MASK
        low = feature if isinstance(feature, bytes) else (feature % 2**32).to_bytes(4, "little")
        return siphash(salt, low) if strong_hash else fingerprint64(low)

    def cross(choice: Iterable[Feature]) -> Feature:
        first, *others = itertools.starmap(hash_of, enumerate(choice))
        for other in others:
            first = joined_fingerprints(first, other)
        return first % (num_buckets if num_buckets > 0 else _LARGEST)

    return cross


def _text(feature: Feature) -> bytes:
    return feature if isinstance(feature, bytes) else str(feature).encode()


def spelled_choice(separator: bytes) -> Callable[[Iterable[Feature]], Feature]:
    """A choice of features as words with a separator between."""
    return lambda choice: separator.join(map(_text, choice))


def _split_inputs(parts: Sequence[np.ndarray], n: int) -> list[Sequence[np.ndarray]]:
    """Places, values, shapes of n sparse tensors, and the whole ones behind them."""
    return [parts[:n], parts[n : 2 * n], parts[2 * n : 3 * n], parts[3 * n :]]


def _cross_shape(op: OperationView) -> list[Shape]:
    return triple(op, 2)


@op("SparseCross", shape=_cross_shape)
def sparse_cross(
    *parts: np.ndarray,
    N: int,
    hashed_output: bool,
    num_buckets: int,
    hash_key: int,
    out_type: np.dtype,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Crosses as numbers below `num_buckets`, or as words with `_X_` between."""
    n_rows, columns = _columns(*_split_inputs(parts, N))
    cross = hashed_choice(hash_key, num_buckets) if hashed_output else spelled_choice(b"_X_")
    return _crossed(n_rows, columns, out_type, cross)


@op("SparseCrossV2", shape=_cross_shape)
def sparse_cross_v2(*parts: np.ndarray, N: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Crosses as words with a separator between."""
    n_rows, columns = _columns(*_split_inputs(parts[:-1], N))
    return _crossed(n_rows, columns, np.dtype(object), spelled_choice(parts[-1].item()))


@op("SparseCrossHashed", shape=_cross_shape)
def sparse_cross_hashed(*parts: np.ndarray, N: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Crosses as numbers: of fingerprints joined by a salt."""
    *features, num_buckets, strong_hash, salt = parts
    n_rows, columns = _columns(*_split_inputs(features, N))
    pair = int(salt[0]), int(salt[1])
    cross = salted_choice(N, int(num_buckets), bool(strong_hash), pair)
    return _crossed(n_rows, columns, np.dtype(np.int64), cross)


def _counted(
    rows: np.ndarray,
    values: np.ndarray,
    batch: int | None,
    weights: np.ndarray,
    limits: tuple[int, int],
    binary_output: bool,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Each number that is in a row, and how often or with which sum of weights."""
    if (values < 0).any():
        raise ValueError("Input values must all be non-negative")
    least, below = limits
    if weights.size and weights.shape != values.shape:
        raise ValueError(
            "Weights and values must have the same shape. Weight shape: "
            f"{list(weights.shape)}; values shape: {list(values.shape)}"
        )
    if below >= 0:
        is_counted = values < below
        rows, values = rows[is_counted], values[is_counted]
        weights = weights[is_counted] if weights.size else weights
    width = below if below >= 0 else max(int(values.max(initial=-1)) + 1, least, 0)
    numbers, at = np.unique(rows * max(width, 1) + values, return_inverse=True)
    counts = np.zeros(len(numbers), weights.dtype)
    np.add.at(counts, at.ravel(), weights if weights.size else np.ones((), weights.dtype))
    if binary_output:
        counts = np.ones(len(numbers), weights.dtype)
    if batch is None:
        return numbers[:, None].astype(np.int64), counts, np.array([width], np.int64)
    positions = np.stack(np.divmod(numbers, max(width, 1)), 1)
    return positions.astype(np.int64), counts, np.array([batch, width], np.int64)


def _counts_shape(op: OperationView) -> list[Shape]:
    shape = op.inputs[0].sizes
    rank = None if shape is None else len(shape)
    if op.type == "SparseCountSparseOutput":
        rank = rank_of(op, 0, 2)
    return triple(op, rank)


@op("DenseCountSparseOutput", shape=_counts_shape)
def dense_count_sparse_output(
    values: np.ndarray,
    weights: np.ndarray,
    *,
    minlength: int,
    maxlength: int,
    binary_output: bool,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """How often each number is in a vector, or in each row of a matrix."""
    batch = len(values) if values.ndim == 2 else None
    rows = np.repeat(np.arange(batch or 1), values.shape[-1])
    flat = values.ravel().astype(np.int64)
    limits = minlength, maxlength
    return _counted(rows[: len(flat)], flat, batch, weights.ravel(), limits, binary_output)


@op("SparseCountSparseOutput", shape=_counts_shape)
def sparse_count_sparse_output(
    indices: np.ndarray,
    values: np.ndarray,
    shape: np.ndarray,
    weights: np.ndarray,
    *,
    minlength: int,
    maxlength: int,
    binary_output: bool,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """How often each number is among the elements, or among those of each row."""
    batch = int(shape[0]) if len(shape) == 2 else None
    rows = indices[:, 0] if batch is not None else np.zeros(len(values), np.int64)
    limits = minlength, maxlength
    return _counted(rows, values.astype(np.int64), batch, weights, limits, binary_output)


def _groups(indices: np.ndarray, values: np.ndarray) -> dict[tuple[int, ...], list[Feature]]:
    groups: dict[tuple[int, ...], list[Feature]] = {}
    for index, item in zip(indices.tolist(), values.tolist(), strict=True):
        groups.setdefault(tuple(index[:-1]), []).append(item)
    return groups


def levenshtein(a: Sequence[Feature], b: Sequence[Feature]) -> int:
    """How many elements must be put in, taken out or changed to make `a` of `b`."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        corner, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            corner, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, corner + (x != y))
    return row[-1]


def _distance_shape(op: OperationView) -> Shape:
    shapes = [as_shape(op, 2), as_shape(op, 5)]
    ranked = [shape for shape in shapes if shape is not None]
    if len(ranked) == 2:
        n_a, n_b = map(len, ranked)
        words = "Num elements of hypothesis_shape does not match truth_shape"
        require(op, n_a == n_b, f"{words}: {n_a} vs. {n_b}")
    if len(ranked) < 2:
        return (None,) * (len(ranked[0]) - 1) if ranked else None
    a, b = (shape[:-1] for shape in ranked)
    return tuple(None if x is None or y is None else max(x, y) for x, y in zip(a, b, strict=True))


@op("EditDistance", shape=_distance_shape)
def edit_distance(
    a_indices: np.ndarray,
    a_values: np.ndarray,
    a_shape: np.ndarray,
    b_indices: np.ndarray,
    b_values: np.ndarray,
    b_shape: np.ndarray,
    *,
    normalize: bool,
) -> np.ndarray:
    """Levenshtein's distance of the sequences in the last dimension, over the truth's length."""
    if len(a_shape) != len(b_shape):
        raise ValueError(
            f"Expected hypothesis_shape and truth_shape to have the same rank, got "
            f"{a_shape.tolist()} and {b_shape.tolist()}"
        )
    result = np.zeros(tuple(np.maximum(a_shape, b_shape)[:-1].tolist()), np.float32)
    hypotheses, truths = _groups(a_indices, a_values), _groups(b_indices, b_values)
    for index in hypotheses.keys() | truths.keys():
        hypothesis, truth = hypotheses.get(index, []), truths.get(index, [])
        distance = float(levenshtein(truth, hypothesis))
        if normalize:
            distance = distance / len(truth) if truth else np.inf
        result[index] = distance
    return result
