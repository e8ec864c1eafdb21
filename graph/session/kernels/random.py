"""The kernels of random operations; each has a stream of its own in a Session."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import TYPE_CHECKING, cast

import numpy as np

from ....engine import philox
from ...emit.random import PER_NUMBER
from ..hosted import hosted

if TYPE_CHECKING:
    from ....engine.philox import Philox
    from ...core.graph import Operation
    from ..state import State


def _row(kind: str, draw: Callable[[Philox, int, np.dtype], np.ndarray]) -> None:
    """Registers the kernel of an op that gives numbers of its attribute dtype."""

    @hosted(kind)
    def kernel(op: Operation, state: State, shape: np.ndarray) -> np.ndarray:
        sizes = tuple(shape.tolist())
        if (wrong := min(sizes, default=0)) < 0:
            raise ValueError(f"Dimension {wrong} must be >= 0")
        stream, count = state.stream(op), prod(sizes)
        numbers = draw(stream, count, cast("np.dtype", op.get_attr("dtype")))
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
    numbers = philox.integers(stream, count, int(low), int(high), dtype)
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
