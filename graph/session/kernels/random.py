"""The kernels of random operations; each has a stream of its own in a Session."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import TYPE_CHECKING, cast

import numpy as np

from ....engine import philox
from ....engine.philox import Philox
from ...emit.random import IN_TURN, PER_NUMBER
from ..hosted import hosted

if TYPE_CHECKING:
    from ...core.graph import Operation
    from ..state import State


class _InTurn(Philox):
    """The words that `n` draws of `count` numbers each take of a stream."""

    def __init__(self, stream: Philox, n: int, count: int):
        super().__init__(1, 0)
        self.memory, self._n, self._step = stream.memory, n, count * PER_NUMBER

    def stream(self, count: int) -> np.ndarray:
        """The words of all draws, one after the other."""
        each = count // max(self._n, 1)
        counters = np.arange(self._n)[:, None] * self._step + np.arange(-(-each // 4))
        return self.words(counters).reshape(self._n, -1)[:, :each].ravel()


def _source(op: Operation, stream: Philox, sizes: tuple[int, ...]) -> Philox:
    """What the numbers of an operation are drawn from."""
    return _InTurn(stream, sizes[0], prod(sizes[1:])) if IN_TURN in op.attrs else stream


def _row(kind: str, draw: Callable[[Philox, int, np.dtype], np.ndarray]) -> None:
    """Registers the kernel of an op that gives numbers of its attribute dtype."""

    @hosted(kind)
    def kernel(op: Operation, state: State, shape: np.ndarray) -> np.ndarray:
        sizes = tuple(shape.tolist())
        if (wrong := min(sizes, default=0)) < 0:
            raise ValueError(f"Dimension {wrong} must be >= 0")
        stream, count = state.stream(op), prod(sizes)
        source = _source(op, stream, sizes)
        numbers = draw(source, count, cast("np.dtype", op.get_attr("dtype")))
        stream.skip(count * PER_NUMBER)
        return numbers.reshape(sizes)


_row("RandomUniform", philox.uniform)
_row("RandomStandardNormal", philox.normal)
_row("TruncatedNormal", philox.truncated_normal)


@hosted("RandomUniformInt")
def random_uniform_int(
    op: Operation, state: State, shape: np.ndarray, low: np.ndarray, high: np.ndarray
) -> np.ndarray:
    """Whole numbers in [low, high)."""
    sizes = tuple(shape.tolist())
    stream, count = state.stream(op), prod(sizes)
    dtype = cast("np.dtype", op.get_attr("Tout"))
    if count == 0:
        return np.zeros(sizes, dtype)
    if low >= high:
        raise ValueError(f"Need minval < maxval, got {low} >= {high}")
    numbers = philox.integers(_source(op, stream, sizes), count, int(low), int(high), dtype)
    stream.skip(count * PER_NUMBER)
    return numbers.reshape(sizes)


@hosted("RandomShuffle")
def random_shuffle(op: Operation, state: State, value: np.ndarray) -> np.ndarray:
    """The slices of `value` in random order."""
    if value.ndim == 0 or len(value) < 2:
        return value
    stream, n = state.stream(op), len(value)
    words = stream.stream(n - 1)
    stream.skip(-(-(n - 1) // 4))
    order = np.arange(n)
    for i, word in enumerate(words.tolist()):
        j = i + word % (n - i)
        order[[i, j]] = order[[j, i]]
    return value[order]
