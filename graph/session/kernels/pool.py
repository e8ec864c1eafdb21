"""Pooling over regions that are drawn (Graham, Fractional max-pooling, 2014)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from ....engine.philox import Words
from ...ops.fractional_pool import averages, largest, pooled_size
from ..hosted import hosted

if TYPE_CHECKING:
    from ....engine.philox import Philox
    from ...core.graph import Operation
    from ..state import State


def _bounds(size: int, n: int, stream: Philox, pseudo_random: bool) -> np.ndarray:
    """Where each of n regions begins, and where the last ends; their sizes differ by 1 at most."""
    lengths = _pseudo_random(size, n, stream) if pseudo_random else _random(size, n, stream)
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def _pseudo_random(size: int, n: int, stream: Philox) -> np.ndarray:
    """By steps of one length from a place that is drawn."""
    alpha, k = size / n, size // n
    most = min((k + 2) / alpha - 1, (size + 1 - k) / alpha - (n - 1))
    start = Words(stream).double() * most
    stream.skip(1)
    inner = [int(np.ceil(alpha * (i + start))) for i in range(1, n)]
    return np.diff([1, *inner, size + 1])


def _random(size: int, n: int, stream: Philox) -> np.ndarray:
    """In an order that is drawn."""
    lengths = np.full(n, size // n)
    lengths[: size % n] += 1
    words = Words(stream)
    for i in range(n - 1):
        j = i + words.word() % (n - i)
        lengths[[i, j]] = lengths[[j, i]]
    stream.skip(-(-n // 4))
    return lengths


def _regions(op: Operation, state: State, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The regions of rows and of columns; `deterministic` ones are drawn once."""
    is_deterministic = bool(op.get_attr("deterministic"))
    if not is_deterministic and (op.get_attr("seed") or op.get_attr("seed2")):
        raise ValueError("Both seed and seed2 should be 0 if deterministic is false.")
    origin = state.origin(op)
    if origin in state.caches:
        return cast("tuple[np.ndarray, np.ndarray]", state.caches[origin])
    ratio = cast("Sequence[float]", op.get_attr("pooling_ratio"))
    pseudo = bool(op.get_attr("pseudo_random"))
    stream = state.stream(op)
    rows, columns = (
        _bounds(x.shape[axis], pooled_size(x.shape[axis], ratio[axis]), stream, pseudo)
        for axis in (1, 2)
    )
    if is_deterministic:
        state.caches[origin] = rows, columns
    return rows, columns


@hosted("FractionalMaxPool")
def fractional_max_pool(
    op: Operation, state: State, x: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The largest element of each region, and the regions."""
    rows, columns = _regions(op, state, x)
    return largest(x, rows, columns, bool(op.get_attr("overlapping")))[0], rows, columns


@hosted("FractionalAvgPool")
def fractional_avg_pool(
    op: Operation, state: State, x: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The mean of each region, and the regions."""
    rows, columns = _regions(op, state, x)
    return averages(x, rows, columns, bool(op.get_attr("overlapping"))), rows, columns
