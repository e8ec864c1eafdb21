"""Fake quantization: floats rounded to the numbers a quantized tensor can hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..core.registry import op
from ..core.shapes import same

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def _fake_quantize(
    x: np.ndarray, low: ArrayLike, high: ArrayLike, num_bits: int, narrow_range: bool
) -> np.ndarray:
    """`x` clipped to [low, high] and rounded to 2**num_bits levels of which one is zero."""
    first, last = np.float32(narrow_range), np.float32(2**num_bits - 1)
    low, high = np.asarray(low, np.float32), np.asarray(high, np.float32)
    scale = (high - low) / (last - first)
    zero = first - low / scale
    zero = np.clip(np.floor(zero + np.float32(0.5)), first, last)
    nudged_low, nudged_high = (first - zero) * scale, (last - zero) * scale
    inverse = np.float32(1) / scale
    level_of_zero = np.floor(-nudged_low * inverse + np.float32(0.5))
    levels = np.floor(
        (np.clip(x, nudged_low, nudged_high) - nudged_low) * inverse + np.float32(0.5)
    )
    return np.where((low == 0) & (high == 0), np.float32(0), (levels - level_of_zero) * scale)


@op("FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxVarsPerChannel", shape=same)
def fake_quant_with_min_max_vars(
    x: np.ndarray, low: np.ndarray, high: np.ndarray, *, num_bits: int, narrow_range: bool
) -> np.ndarray:
    """`x` as a quantized tensor of the range [low, high] would hold it."""
    return _fake_quantize(x, low, high, num_bits, narrow_range)


@op("FakeQuantWithMinMaxArgs", shape=same)
def fake_quant_with_min_max_args(
    x: np.ndarray, *, min: float, max: float, num_bits: int, narrow_range: bool
) -> np.ndarray:
    """`x` as a quantized tensor of the range [min, max] would hold it."""
    return _fake_quantize(x, min, max, num_bits, narrow_range)
