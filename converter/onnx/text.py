"""Texts and their n-grams, of which TFLite's operators can tell whether they are equal."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ..lowering.moves import int32s, like, reshaped
from .ml.scores import texts
from .registry import lower

if TYPE_CHECKING:
    from ..ir.builder import Builder
    from ..ir.graph import Tensor
    from .registry import Node


@lower("StringNormalizer")
def string_normalizer(node: Node, b: Builder) -> Tensor | None:
    """The texts as they are: TFLite cannot change their case, nor leave out some."""
    changes = node.attr("case_change_action", "NONE")
    node.require(
        changes == "NONE" and not node.attr("stopwords", []),
        f"case_change_action {changes} and stopwords are not supported, TFLite has no operators "
        "that change texts; do this before the model runs",
    )
    return node.inputs[0]


@lower("TfIdfVectorizer")
def tf_idf_vectorizer(node: Node, b: Builder) -> Tensor:
    """How often each n-gram of a pool occurs in each row, or its weight."""
    (x,) = node.inputs
    mode, weights = node.attr("mode"), node.attr("weights", None)
    node.require(mode in ("TF", "IDF", "TFIDF"), f"mode must be TF, IDF or TFIDF, got '{mode}'")
    rows = reshaped(x, (1, -1), b) if x.rank == 1 else x
    counts: list[Tensor] = []
    order: list[int] = []  # indices of the n-grams that are counted
    for size, pool, first in _pools(node):
        order += range(first, first + len(pool))
        counts.append(_counts(b, rows, pool, _windows(node, size, node.sizes_of(rows)[-1])))
    out = counts[0] if len(counts) == 1 else b.CONCATENATION(*counts, axis=1)
    if mode == "IDF":
        out = b.MINIMUM(out, like(out, 1, b))
    if mode != "TF" and weights:
        out = b.MUL(out, b.constant(np.asarray(weights, np.float32)[order]))
    positions = np.asarray(node.attr("ngram_indexes"))
    out = _placed(b, out, positions[order].tolist(), int(positions.max()) + 1)
    return reshaped(out, (-1,), b) if x.rank == 1 else out


def _pools(node: Node) -> list[tuple[int, np.ndarray, int]]:
    """(size, [n-grams, size], index of the first n-gram) of those sizes that are looked for."""
    numbers = node.attr("pool_int64s", None)
    x = node.inputs[0]
    assert x is not None
    pool: Any = np.asarray(numbers, x.dtype) if numbers else texts(node.attr("pool_strings"))
    starts = [*node.attr("ngram_counts"), len(pool)]
    pools, first = [], 0
    for size, (start, end) in enumerate(pairwise(starts), 1):
        n_items = len(pool[start:end])
        node.require(n_items % size == 0, f"{n_items} items of the pool are no {size}-grams")
        grams = pool[start:end].reshape(-1, size)
        if node.attr("min_gram_length") <= size <= node.attr("max_gram_length") and len(grams):
            pools.append((size, grams, first))
        first += len(grams)
    node.require(bool(pools), "the pool must have n-grams between the lengths looked for")
    return pools


def _windows(node: Node, size: int, length: int) -> np.ndarray:
    """[windows, size] positions of n-grams in a row, those that leave out elements too."""
    steps = range(1, node.attr("max_skip_count") + 2 if size > 1 else 2)
    positions = [
        np.arange(length - step * (size - 1))[:, None] + step * np.arange(size)
        for step in steps
        if length > step * (size - 1)
    ]
    return np.concatenate([np.zeros((0, size), np.int64), *positions])


def _counts(b: Builder, rows: Tensor, pool: np.ndarray, windows: np.ndarray) -> Tensor:
    """[rows, n-grams] how often each n-gram stands in a row's windows."""
    same: Tensor | None = None
    if not len(windows):
        windows = np.zeros((1, pool.shape[1]), np.int64)
        count = _counts(b, rows, pool, windows)
        return b.MUL(count, like(count, 0, b))
    for column, words in zip(windows.T, pool.T, strict=True):
        elements = b.GATHER(rows, int32s(column), axis=1)
        part = _equal(b, elements, words)
        same = part if same is None else b.LOGICAL_AND(same, part)
    assert same is not None
    return b.SUM(b.CAST(same, dtype=np.float32), int32s([1]), keep_dims=False)


def _equal(b: Builder, elements: Tensor, words: np.ndarray) -> Tensor:
    """[rows, windows, n-grams] which element is which word."""
    if words.dtype != object:
        return b.EQUAL(b.EXPAND_DIMS(elements, np.int32(2)), b.constant(words.reshape(1, 1, -1)))
    parts = [b.EQUAL(elements, b.constant(words[i : i + 1].reshape(()))) for i in range(len(words))]
    return b.PACK(*parts, axis=2, values_count=len(parts))


def _placed(b: Builder, counts: Tensor, columns: list[int], width: int) -> Tensor:
    """The counts in the columns that the n-grams have in the result."""
    if columns == list(range(width)):
        return counts
    matrix = np.zeros((width, len(columns)), np.float32)
    matrix[columns, np.arange(len(columns))] = 1
    return b.FULLY_CONNECTED(counts, b.constant(matrix), None)
