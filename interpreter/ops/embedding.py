"""HASHTABLE_LOOKUP, EMBEDDING_LOOKUP_SPARSE, LSH_PROJECTION, CONCAT_EMBEDDINGS: vectors of keys."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from ...engine.plan.arena import check_limit
from ...engine.sizes import is_plain, negative
from ...schema.dtypes import tf_name
from ...schema.fingerprint import fingerprint64
from ..checks import required
from ..custom import class_for, prepare_class
from ..plan.node import NeedsValue
from ..registry import op

if TYPE_CHECKING:
    from ..plan.node import DynamicResult, Node, Prepared

SUM, MEAN, SQRTN = 0, 1, 2
SPARSE, DENSE = 1, 2
_MAX_BITS = 32


@op("HASHTABLE_LOOKUP")
def hashtable_lookup(node: Node) -> DynamicResult:
    """The row of `values` of each key, zeros where there is none, and whether there is one.

    `keys`, the second input, rise.
    """
    queries, keys, values = required(node, 3)
    for operand in (queries, keys):
        node.require(
            operand.ndim == 1 and operand.dtype == np.int32,
            f"keys must be int32 of one dimension, got {tf_name(operand.dtype)} "
            f"of shape {operand.shape}",
        )
    node.require(values.ndim >= 1, "the values must have a dimension")
    node.require_equal(
        keys.shape[0],
        values.shape[0],
        f"there must be a row for each of {keys.size} keys, got values of shape {values.shape}",
    )

    def run(queries: np.ndarray, keys: np.ndarray, values: np.ndarray) -> list[np.ndarray]:
        empty = b"" if values.dtype.hasobject else 0
        rows = np.full((queries.size, *values.shape[1:]), empty, values.dtype)
        at = np.searchsorted(keys, queries)
        hits = at < keys.size
        hits[hits] = keys[at[hits]] == queries[hits]
        rows[hits] = values[at[hits]]
        return [rows, hits.astype(np.uint8)]

    return node.dynamic_result(run, [(queries.size, *values.shape[1:]), (queries.size,)])


@op("EMBEDDING_LOOKUP_SPARSE")
def embedding_lookup_sparse(node: Node) -> DynamicResult:
    """For each row of a sparse tensor the rows of `table` that it names, combined.

    The inputs are the names, where they stand in the sparse tensor, its shape, the weights, and
    the table. Names of one row follow one another; where they do not, each run of them is divided
    by its own weight, as in TFLite.
    """
    names, indices, shape, weights, table = required(node, 5)
    for operand, rank, dtype, what in (
        (names, 1, np.int32, "names"),
        (indices, 2, np.int32, "indices"),
        (shape, 1, np.int32, "the shape"),
        (weights, 1, np.float32, "weights"),
    ):
        node.require(
            operand.ndim == rank and operand.dtype == dtype,
            f"{what} must be {np.dtype(dtype)} of {rank} dimensions, "
            f"got {tf_name(operand.dtype)} of shape "
            f"{operand.shape}",
        )
    node.require(table.ndim >= 2, f"the table must have 2 dimensions, got shape {table.shape}")
    node.require(
        table.dtype == np.float32, f"the table must be float32, got {tf_name(table.dtype)}"
    )
    counts = (names.size, indices.shape[0], weights.size)
    node.require(len(set(counts)) == 1, f"names, indices and weights must be as many, got {counts}")
    rank = indices.shape[1]
    if not is_plain(rank):
        raise NeedsValue(1)
    node.require(shape.size == rank, f"the shape must have {rank} sizes, got {shape.size}")
    combiner = int(node.options.combiner)

    def run(
        names: np.ndarray,
        indices: np.ndarray,
        shape: np.ndarray,
        weights: np.ndarray,
        table: np.ndarray,
    ) -> list[np.ndarray]:
        _require_below(node, "names", names, len(table))
        outer = shape[:-1]
        node.require(outer.min(initial=0) >= 0, f"sizes must not be negative, got {outer.tolist()}")
        _require_below(node, "indices", indices[:, :-1], outer)
        buckets = np.zeros(names.size, np.int64)
        if rank > 1:
            buckets[:] = np.ravel_multi_index(tuple(indices[:, :-1].T), tuple(outer))
        n_rows = prod(outer.tolist())
        limit = None if node.scope is None else node.scope.memory_limit
        check_limit(4 * n_rows * prod(table.shape[1:]), limit)
        result = np.zeros((n_rows, *table.shape[1:]), np.float32)
        starts = np.flatnonzero(np.diff(buckets, prepend=-1))
        ends = np.append(starts[1:], names.size)[: len(starts)]
        for start, end in zip(starts, ends, strict=True):
            row, share = result[buckets[start]], weights[start:end]
            for name, weight in zip(names[start:end], share, strict=True):
                row += table[name] * weight
            if combiner == MEAN:
                row /= _total(share)
            elif combiner == SQRTN:
                row /= np.sqrt(_total(share * share))
        return [result.reshape((*outer, *table.shape[1:]))]

    known = node.sizes(2)[:-1] if shape.value is not None else [None] * (rank - 1)
    sizes = [n for n in known if n is not None]
    node.require(not negative(sizes), f"sizes must not be negative, got {sizes}")
    return node.dynamic_result(run, [(*known, *table.shape[1:])])


def _total(weights: np.ndarray) -> np.float32:
    """The sum of float32 weights, one after the other."""
    return np.add.accumulate(weights, dtype=np.float32)[-1]


def _require_below(node: Node, what: str, indices: np.ndarray, limit: int | np.ndarray) -> None:
    outside = (indices < 0) | (indices >= limit)
    if outside.any():
        node.fail(f"{what} must be in [0, {limit}), got {indices[outside][0]}")


@op("LSH_PROJECTION")
def lsh_projection(node: Node) -> DynamicResult:
    """Bits of the projections of the second input, one for each number of the first.

    A bit is the sign of the weighted sum of the fingerprints of each item after that number. DENSE
    gives the bits, SPARSE one int32 for each row of the first input.
    """
    seeds, items = required(node, 2)
    weights = node.optional(2)
    node.require(
        seeds.ndim == 2 and seeds.dtype == np.float32 and seeds.shape[1] <= _MAX_BITS,
        f"the hash functions must be float32 [n, {_MAX_BITS} or less], "
        f"got {tf_name(seeds.dtype)} of shape "
        f"{seeds.shape}",
    )
    node.require(
        items.ndim >= 1 and items.shape[0] > 0 and not items.dtype.hasobject,
        f"the input must have items of numbers, got {tf_name(items.dtype)} of shape {items.shape}",
    )
    if weights is not None:
        node.require(
            weights.shape == items.shape[:1] and weights.dtype == np.float32,
            f"weights must be float32, one for each of {items.shape[0]} items, got "
            f"{tf_name(weights.dtype)} of shape {weights.shape}",
        )
    kind = int(node.options.type)
    node.require(kind in (SPARSE, DENSE), f"type must be SPARSE or DENSE, got {kind}")

    def run(
        seeds: np.ndarray, items: np.ndarray, weights: np.ndarray | None = None
    ) -> list[np.ndarray]:
        rows = [row.tobytes() for row in np.ascontiguousarray(items)]
        share = [1.0] * len(rows) if weights is None else weights.astype(float).tolist()
        bits = [_sign(seed.tobytes(), rows, share) for seed in seeds.ravel()]
        if kind == DENSE:
            return [np.array(bits, np.int32)]
        n_bits = seeds.shape[1]
        powers = 1 << np.arange(n_bits, dtype=np.int64)[::-1]
        hashes = (np.reshape(bits, seeds.shape) * powers).sum(axis=1)
        return [(hashes + (np.arange(len(seeds)) << n_bits)).astype(np.int32)]

    return node.dynamic_result(run, [(seeds.size if kind == DENSE else seeds.shape[0],)])


def _sign(seed: bytes, rows: list[bytes], weights: list[float]) -> int:
    score = 0.0
    for row, weight in zip(rows, weights, strict=True):
        number = fingerprint64(seed + row)
        score += weight * float(number - (number >> 63 << 64))
    return int(score > 0)


@op("CONCAT_EMBEDDINGS")
def concat_embeddings(node: Node) -> Prepared:
    """What the class registered under its name computes: nobody has published a definition."""
    cls = class_for(node, node.kind)
    if cls is None:
        node.fail(
            f"Didn't find op for builtin opcode '{node.kind}': TensorFlow Lite has no kernel for "
            f"it and no definition of it is public; in flatlite, register a class with "
            f"@flatlite.lite.custom_op({node.kind!r})"
        )
    return prepare_class(node, cls, _fields(node))


def _fields(node: Node) -> bytes:
    """The fields of a node's options, as a custom operator's options are written."""
    from ...graph.core.custom import custom_options  # few models have such an operator

    names = type(node.options).__slots__
    fields = {name: getattr(node.options, name) for name in names}
    return custom_options({name: value for name, value in fields.items() if value is not None})
