"""Random numbers that follow from a seed alone."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import TYPE_CHECKING, cast

import numpy as np

from ...engine import philox
from ...engine.philox import Philox
from .hosted import hosted

if TYPE_CHECKING:
    from ..core.graph import Operation
    from .state import State

_KEY = 0x02461E293EC8F720
"""The key of the draw that makes key and counter of a seed."""


def stream_of(seed: np.ndarray) -> Philox:
    """The stream of a pair of numbers: a first draw from them gives its key and counter."""
    if seed.shape != (2,):
        raise ValueError(f"seed must have shape [2], not {list(seed.shape)}")
    low, high = (int(number) % 2**64 for number in seed)
    mixed = [int(word) for word in Philox.at(_KEY, low | high << 64).words(np.zeros(1))[0]]
    return Philox.at(mixed[0] | mixed[1] << 32, (mixed[2] | mixed[3] << 32) << 64)


def _row(kind: str, draw: Callable[[Philox, int, np.dtype], np.ndarray]) -> None:
    """Registers the kernel of an op that gives numbers of its attribute dtype."""

    @hosted(kind)
    def kernel(op: Operation, state: State, shape: np.ndarray, seed: np.ndarray) -> np.ndarray:
        sizes = tuple(shape.tolist())
        dtype = cast("np.dtype", op.get_attr("dtype"))
        return draw(stream_of(seed), prod(sizes), dtype).reshape(sizes)


_row("StatelessRandomUniform", philox.uniform)
_row("StatelessRandomNormal", philox.normal)
_row("StatelessTruncatedNormal", philox.truncated_normal)


@hosted("StatelessRandomUniformInt")
def random_uniform_int(
    op: Operation,
    state: State,
    shape: np.ndarray,
    seed: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
) -> np.ndarray:
    """Whole numbers in [low, high)."""
    if low >= high:
        raise ValueError(f"Need minval < maxval, got {low} >= {high}")
    sizes, dtype = tuple(shape.tolist()), cast("np.dtype", op.get_attr("dtype"))
    numbers = philox.integers(stream_of(seed), prod(sizes), int(low), int(high), dtype)
    return numbers.reshape(sizes)
