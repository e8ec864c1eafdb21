"""The kernels of random operations; each has a stream of its own in a Session."""

from __future__ import annotations

from math import prod

import numpy as np

from ...engine import philox
from ...engine.philox import Philox
from .hosted import hosted

_PER_NUMBER = 256
"""Counters that a run takes for each number it gives."""


def _stream(op, state) -> Philox:
    """The stream of an operation, where its last run left it."""
    if op not in state.resources:
        state.resources[op] = Philox(op.get_attr("seed"), op.get_attr("seed2"))
    return state.resources[op]


def _row(kind: str, draw):
    """Registers the kernel of an op that gives numbers of its attribute dtype."""

    @hosted(kind)
    def kernel(op, state, shape):
        sizes = tuple(shape.tolist())
        if any(size < 0 for size in sizes):
            raise ValueError(f"shape must not have negative sizes, got {sizes}")
        stream, count = _stream(op, state), prod(sizes)
        numbers = draw(stream, count, op.get_attr("dtype"))
        stream.skip(count * _PER_NUMBER)
        return numbers.reshape(sizes)

    return kernel


_row("RandomUniform", philox.uniform)
_row("RandomStandardNormal", philox.normal)
_row("TruncatedNormal", philox.truncated_normal)


@hosted("RandomUniformInt")
def random_uniform_int(op, state, shape, low, high):
    """Whole numbers in [low, high)."""
    if low >= high:
        raise ValueError(f"Need minval < maxval, got {low} >= {high}")
    sizes = tuple(shape.tolist())
    stream, count = _stream(op, state), prod(sizes)
    numbers = philox.integers(stream, count, int(low), int(high), op.get_attr("Tout"))
    stream.skip(count * _PER_NUMBER)
    return numbers.reshape(sizes)


@hosted("RandomShuffle")
def random_shuffle(op, state, value):
    """The slices of `value` in random order."""
    if value.ndim == 0 or len(value) < 2:
        return value
    stream, n = _stream(op, state), len(value)
    words = stream.stream(n - 1)
    stream.skip(-(-(n - 1) // 4))
    order = np.arange(n)
    for i, word in enumerate(words.tolist()):
        j = i + word % (n - i)
        order[[i, j]] = order[[j, i]]
    return value[order]
