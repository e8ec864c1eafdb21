"""CTCBeamSearchDecoder: the most likely label sequences of a network's output at each step.

Source: Graves, Supervised Sequence Labelling with Recurrent Neural Networks, 2012, chapter 7.5,
with TensorFlow's beams: at most `beam_width` prefixes are kept after each step.
"""

from __future__ import annotations

from heapq import heappush, heappushpop
from math import exp, inf, log1p
from typing import TYPE_CHECKING

import numpy as np

from ...schema.dtypes import tf_name
from ..checks import rank
from .options import Options
from .registry import custom, exactly

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..plan.node import DynamicResult, Node

_MOST = 1 << 16


class _Prefix:
    """A label sequence: its last label, the one without that, and its probabilities' logarithms.

    Attributes:
        blank, label: of all paths to it that end with a blank, or with its last label.
        total: of both.
        before: (total, blank) one step earlier.
    """

    __slots__ = ("before", "blank", "children", "label", "last", "parent", "total")

    def __init__(self, parent: _Prefix | None, last: int):
        self.parent, self.last = parent, last
        self.children: dict[int, _Prefix] = {}
        self.total = self.blank = self.label = -inf
        self.before = -inf, -inf

    def child(self, label: int) -> _Prefix:
        """The sequence with one more label; the same object each time."""
        prefix = self.children.get(label)
        if prefix is None:
            prefix = self.children[label] = _Prefix(self, label)
        return prefix

    def drop(self) -> None:
        """Makes it one that no path leads to."""
        self.total = self.blank = self.label = -inf

    def labels(self, merge: bool) -> list[int]:
        """The labels in order; `merge` leaves out one that is the same as that after it."""
        labels: list[int] = []
        prefix, following = self, -1
        while prefix.parent is not None:
            if not merge or prefix.last != following:
                labels.append(prefix.last)
            following = prefix.last
            prefix = prefix.parent
        return labels[::-1]


@custom("CTCBeamSearchDecoder")
def ctc_beam_search_decoder(node: Node) -> DynamicResult:
    """For each of `top_paths`: indices, labels and shape of the sequences; then their logarithms.

    The input is [time, batch, class], logits whose last class is the blank.
    """
    x, lengths = exactly(node, 2)
    rank(node, "input", x, 3)
    options = Options(node)
    width, n_paths = options.positive("beam_width"), options.positive("top_paths")
    merge = options.flag("merge_repeated")
    node.require(x.dtype == np.float32, f"{tf_name(x.dtype)} is not supported")
    node.require(
        lengths.dtype == np.int32 and lengths.shape == (x.shape[1],),
        f"there must be {x.shape[1]} lengths as int32, got "
        f"{tf_name(lengths.dtype)} {lengths.shape}",
    )
    node.require(
        n_paths <= width <= _MOST,
        f"beam_width must be at least top_paths and at most {_MOST}, got {width} and {n_paths}",
    )
    node.require(x.shape[2] > 0, "there must be a class")
    node.require(
        len(node.outputs) == 3 * n_paths + 1,
        f"{n_paths} paths have {3 * n_paths + 1} results, the model {len(node.outputs)}",
    )
    dtypes = [np.dtype(np.int32 if y.dtype is None else y.dtype) for y in node.outputs]

    def run(x: np.ndarray, lengths: np.ndarray) -> list[np.ndarray]:
        node.require(
            lengths.size == 0 or (lengths.min() >= 0 and lengths.max() <= x.shape[0]),
            f"lengths must be in [0, {x.shape[0]}], got {lengths.tolist()}",
        )
        best = [_decoded(x[:n, i], width) for i, n in enumerate(lengths.tolist())]
        node.require(
            all(len(prefixes) >= n_paths for prefixes in best), "Less leaves in the beam search."
        )
        paths = [[prefixes[p].labels(merge) for prefixes in best] for p in range(n_paths)]
        scores = [[prefix.total for prefix in prefixes[:n_paths]] for prefixes in best]
        parts = [_sparse(rows) for rows in paths]
        results = [part[i] for i in range(3) for part in parts]
        results.append(np.array(scores, np.float32).reshape(x.shape[1], n_paths))
        return [array.astype(dtype) for array, dtype in zip(results, dtypes, strict=True)]

    indices, values, sizes = ([shape] * n_paths for shape in ((None, 2), (None,), (2,)))
    return node.dynamic_result(run, [*indices, *values, *sizes, (x.shape[1], n_paths)])


def _sparse(rows: Sequence[list[int]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Indices, values and shape of rows of different lengths."""
    pairs = [(i, j) for i, row in enumerate(rows) for j in range(len(row))]
    values = np.array([label for row in rows for label in row], np.int64)
    shape = np.array([len(rows), max(map(len, rows), default=0)])
    return np.array(pairs, np.int64).reshape(-1, 2), values, shape


def _decoded(logits: np.ndarray, width: int) -> list[_Prefix]:
    """The prefixes after the last step, the most likely first."""
    root = _Prefix(None, -1)
    root.total = root.blank = 0.0
    leaves = [root]
    scores = logits.astype(np.float64)
    top = scores.max(1, keepdims=True)
    steps = scores - top - np.log(np.exp(scores - top).sum(1, keepdims=True))
    for step in steps.tolist():
        leaves = _advanced(leaves, step, width)
    return leaves


def _advanced(leaves: list[_Prefix], step: list[float], width: int) -> list[_Prefix]:
    """The most likely prefixes after one more step."""
    *labels, blank = step
    for prefix in leaves:
        prefix.before = prefix.total, prefix.blank
    heap: list[tuple[float, int, _Prefix]] = []
    for prefix in leaves:
        parent = prefix.parent
        if parent is not None:
            if parent.total > -inf:
                previous = parent.before[prefix.last == parent.last]
                prefix.label = _sum(prefix.label, previous)
            prefix.label += labels[prefix.last]
        prefix.blank = prefix.before[0] + blank
        prefix.total = _sum(prefix.blank, prefix.label)
        heappush(heap, (prefix.total, -len(heap), prefix))
    n_leaves = len(heap)
    for prefix in leaves:
        if not _fits(prefix.before[0], heap, width):
            continue
        for label, likely in enumerate(labels):
            child = prefix.child(label)
            if child.total > -inf:
                continue
            child.blank = -inf
            child.label = child.total = likely + prefix.before[label == prefix.last]
            if not _fits(child.total, heap, width):
                child.drop()
                child.before = -inf, -inf
                continue
            n_leaves += 1
            entry = child.total, -n_leaves, child
            if len(heap) == width:
                heappushpop(heap, entry)[2].drop()
            else:
                heappush(heap, entry)
    return [prefix for _, _, prefix in sorted(heap, key=lambda entry: (-entry[0], -entry[1]))]


def _fits(total: float, heap: list[tuple[float, int, _Prefix]], width: int) -> bool:
    """Whether a prefix would be one of the most likely."""
    return total > -inf and (len(heap) < width or total > heap[0][0])


def _sum(a: float, b: float) -> float:
    """The logarithm of the sum of two numbers whose logarithms these are."""
    low, high = (a, b) if a < b else (b, a)
    return high if low == -inf else high + log1p(exp(low - high))
