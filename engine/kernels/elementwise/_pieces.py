"""Functions as polynomials of pieces of their range, which _formula.py's `piecewise` looks up."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np

_PIECES = 32
_PLACES = 31.49  # up to which places are rounded to the last of them


class Pieces(NamedTuple):
    """A function from 0 to `end`, in pieces of a width of 1 / `scale` around their middles.

    Only half of the first piece is there; a function that is 0 at 0 has no constant there.
    """

    function: Callable[[float], float]
    end: float
    degree: int

    @property
    def scale(self) -> float:
        """How many pieces there are in a unit: a float32."""
        return float(np.float32(_PLACES / self.end))


@cache
def coefficients(pieces: Pieces) -> tuple[tuple[float, ...], ...]:
    """For each power of t, from 0 on, that of each piece: what `piecewise` takes."""
    columns = [_polynomial(pieces, k) for k in range(_PIECES)]
    rows = np.array(columns, np.float32).T
    return tuple(tuple(map(float, row)) for row in rows)


def _polynomial(pieces: Pieces, k: int) -> list[float]:
    """The polynomial in t that is right at the places of Chebyshev around the middle of piece k."""
    n, (low, high) = pieces.degree + 1, (0.0, 0.5) if k == 0 else (-0.5, 0.5)
    starts_at_0 = k == 0 and pieces.function(0.0) == 0.0
    n -= starts_at_0
    angles = [math.pi * (i + 0.5) / n for i in range(n)]
    t = [(low + high) / 2 + (high - low) / 2 * math.cos(angle) for angle in angles]
    y = [pieces.function((k + place) / pieces.scale) for place in t]
    if starts_at_0:
        return [0.0, *_through(t, [value / place for value, place in zip(y, t, strict=True)])]
    return _through(t, y)


def _through(t: list[float], y: list[float]) -> list[float]:
    """The coefficients of the polynomial through points, by Newton's differences."""
    differences = [*y]
    for step in range(1, len(t)):
        for i in reversed(range(step, len(t))):
            differences[i] = (differences[i] - differences[i - 1]) / (t[i] - t[i - step])
    result = [0.0] * len(t)
    for place, difference in zip(reversed(t), reversed(differences), strict=True):
        times_t = [0.0, *result[:-1]]
        result = [b - place * a for a, b in zip(result, times_t, strict=True)]
        result[0] += difference
    return result
