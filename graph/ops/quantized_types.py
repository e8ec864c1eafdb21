"""QuantizeV2 and Dequantize: floats as TensorFlow's own quantized types, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

from ..core.registry import op
from ..core.shapes import same

if TYPE_CHECKING:
    from ..core.dtype import DType
    from ..core.protocols import OperationView
    from ..core.shapes import Shape

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


def _require_one_range(axis: int, low: np.ndarray, high: np.ndarray) -> None:
    if axis != -1 or low.size != 1 or high.size != 1:
        raise ValueError(f"there must be one range, got axis {axis} and {low.size} ranges")


def _quantized_shape(op: OperationView) -> list[Shape]:
    return [op.inputs[0].shape, (), ()]


@op("QuantizeV2", shape=_quantized_shape)
def quantize(
    x: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    *,
    T: DType,
    mode: bytes,
    round_mode: bytes,
    narrow_range: bool,
    axis: int,
    ensure_minimum_range: float,
) -> list[np.ndarray]:
    """`x` as integers, and the range that they stand for."""
    _require_one_range(axis, low, high)
    integers = integers_of(T)
    ends = widened(low.item(), high.item(), ensure_minimum_range)
    affine = Affine.of(*ends, mode, integers, narrow_range)
    if mode == MIN_FIRST:
        steps = _round(x * affine.scale) - affine.offset
    else:
        clipped = np.clip(x, affine.low, affine.high)
        if mode == MIN_COMBINED:
            clipped = clipped - affine.low
        steps = clipped * affine.scale - affine.offset
        steps = np.rint(steps) if round_mode == b"HALF_TO_EVEN" else _round(steps)
    result = np.clip(steps.astype(np.float64), affine.first, affine.last).astype(integers)
    return [result.view(np.dtype(T)), np.asarray(affine.low), np.asarray(affine.high)]


@op("Dequantize", shape=same)
def dequantize(
    x: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    *,
    mode: bytes,
    narrow_range: bool,
    axis: int,
    dtype: DType,
) -> np.ndarray:
    """The floats that integers stand for."""
    _require_one_range(axis, low, high)
    integers = integers_of(x.dtype)
    affine = Affine.of(low.item(), high.item(), mode, integers, narrow_range)
    floats = x.view(integers).astype(np.float32)
    if mode == MIN_COMBINED:
        floats = (floats + affine.offset) * affine.step + affine.low
    elif mode == MIN_FIRST:
        floats = (
            _round(affine.low / affine.step) * affine.step + (floats - affine.first) * affine.step
        )
    else:
        floats = floats * affine.step
    return floats.astype(np.dtype(dtype))
