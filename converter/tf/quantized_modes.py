"""How the modes of QuantizeV2 and Dequantize map one range to integers."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

if TYPE_CHECKING:
    from ...graph.core.dtype import DType

MIN_COMBINED, MIN_FIRST, SCALED = b"MIN_COMBINED", b"MIN_FIRST", b"SCALED"
_ONE, _HALF = np.float32(1), np.float32(0.5)


class Affine(NamedTuple):
    """How a mode maps a range to integers.

    MIN_COMBINED: (x - low) * scale - offset; MIN_FIRST: round(x * scale) - offset;
    SCALED: x * scale.

    Attributes:
        low, high: the range, as the mode moves it.
        scale: integers for each unit.
        offset: what is taken off.
        first, last: the integers.
    """

    low: np.float32
    high: np.float32
    scale: np.float32
    offset: np.float32
    first: int
    last: int

    @classmethod
    def of(cls, low: float, high: float, mode: bytes, dtype: np.dtype, narrow: bool) -> Affine:
        """That of a range that has 0 in it."""
        limits = np.iinfo(dtype)
        first, last = int(limits.min), int(limits.max)
        lowest, highest = np.float32(low), np.float32(high)
        if mode == SCALED:
            ends = np.float32(first + narrow), np.float32(last)
            sides = [
                end / side if end * side > 0 else np.finfo(np.float32).max
                for end, side in zip(ends, (lowest, highest), strict=True)
            ]
            scale = np.float32(min(sides))
            return cls(ends[0] / scale, ends[1] / scale, scale, np.float32(0), first, last)
        if mode == MIN_COMBINED:
            scale = np.float32(last - first) / (highest - lowest)
            offset = np.float32((last - first + 1) // 2 if first < 0 else 0)
            return cls(lowest, highest, scale, offset, first, last)
        steps = 2 ** (8 * dtype.itemsize)
        scale = np.float32(steps / ((float(highest) - float(lowest)) * steps / (steps - 1)))
        return cls(lowest, highest, scale, _round(lowest * scale) - first, first, last)

    @property
    def step(self) -> np.float32:
        """What stands between two integers."""
        return _ONE / self.scale


def _round(x: np.ndarray | np.float32) -> np.float32:
    """To the nearest integer, halves away from 0."""
    return cast("np.float32", np.sign(x) * np.floor(np.abs(x) + _HALF))


def integers_of(dtype: np.dtype | DType) -> np.dtype:
    """The integers of a quantized type: int8 of qint8."""
    return np.dtype(np.dtype(dtype)[0])


def widened(low: float, high: float, least: float) -> tuple[float, float]:
    """A range that has 0 in it, and is as wide as `least` says."""
    lowest = min(0.0, low)
    return lowest, max(0.0, high, lowest + max(1.0, abs(low), abs(high)) * least)
