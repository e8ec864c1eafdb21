"""Fake quantization: floats rounded to the numbers a quantized tensor can hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..core.registry import op
from ..core.shapes import same

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ..core.protocols import OperationView
    from ..core.shapes import Shape


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


def _inside(
    x: np.ndarray, low: ArrayLike, high: ArrayLike, num_bits: int, narrow_range: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Where `x` is below the range that `_fake_quantize` clips to, and where it is above."""
    first, last = np.float32(narrow_range), np.float32(2**num_bits - 1)
    low, high = np.asarray(low, np.float32), np.asarray(high, np.float32)
    scale = (high - low) / (last - first)
    zero = np.clip(np.floor(first - low / scale + np.float32(0.5)), first, last)
    return x < (first - zero) * scale, x > (last - zero) * scale


@op("FakeQuantWithMinMaxArgsGradient", shape=same)
def fake_quant_with_min_max_args_gradient(
    gradients: np.ndarray,
    x: np.ndarray,
    *,
    min: float,
    max: float,
    num_bits: int,
    narrow_range: bool,
) -> np.ndarray:
    """What comes back where nothing was cut off."""
    below, above = _inside(x, min, max, num_bits, narrow_range)
    return np.where(below | above, np.float32(0), gradients)


def _gradient_shapes(op: OperationView) -> list[Shape]:
    """Those of the input, and of both ends of the range."""
    return [tensor.shape for tensor in op.inputs[1:]]


@op(
    "FakeQuantWithMinMaxVarsGradient",
    "FakeQuantWithMinMaxVarsPerChannelGradient",
    shape=_gradient_shapes,
)
def fake_quant_with_min_max_vars_gradient(
    gradients: np.ndarray,
    x: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    *,
    num_bits: int,
    narrow_range: bool,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What comes back inside of the range, and the sums of what is cut off at either end."""
    below, above = _inside(x, low, high, num_bits, narrow_range)
    is_empty = (low == 0) & (high == 0)
    below, above = below & ~is_empty, above & ~is_empty
    axes = tuple(range(x.ndim - low.ndim))
    zero = np.float32(0)
    ends = [np.where(out, gradients, zero).sum(axes, dtype=np.float32) for out in (below, above)]
    return np.where(below | above, zero, gradients), ends[0], ends[1]


@op("QuantizeAndDequantizeV2", "QuantizeAndDequantizeV4", shape=same)
def quantize_and_dequantize(
    x: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    *,
    signed_input: bool,
    num_bits: int,
    range_given: bool,
    round_mode: bytes,
    narrow_range: bool,
    axis: int,
) -> np.ndarray:
    """`x` rounded to steps around 0, in a range that is given or its own."""
    row = x.shape
    if axis >= 0:
        row = tuple(n if i == axis else 1 for i, n in enumerate(x.shape))
    if not range_given:
        axes = tuple(i for i in range(x.ndim) if i != axis)
        low, high = x.min(axes), x.max(axes)
    first, last, step = integer_range(low, high, signed_input, num_bits, narrow_range)
    if axis >= 0:
        first, last, step = (part.reshape(row) for part in (first, last, step))
    one = x.dtype.type(1)
    scaled = np.clip(x, first, last) * (one / step) if range_given else x * (one / step)
    is_even = round_mode == b"HALF_TO_EVEN"
    steps = np.rint(scaled) if is_even else np.floor(scaled + x.dtype.type(0.5))
    return (steps * step).astype(x.dtype)


def integer_range(
    low: np.ndarray, high: np.ndarray, signed: bool, bits: int, narrow: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The ends of a range of integers around 0 that holds another one, and its step."""
    dtype: np.dtype = low.dtype
    first = np.asarray(-(2 ** (bits - 1)) + narrow if signed else 0, dtype)
    last = np.asarray(2 ** (bits - 1) - 1 if signed else 2**bits - 1, dtype)
    largest = np.asarray(np.finfo(dtype).max, dtype)
    with np.errstate(all="ignore"):
        from_low: np.ndarray = np.where(first * low > 0, first / low, largest)
        from_high: np.ndarray = np.where(last * high > 0, last / high, largest)
        by_low = from_low < from_high
        step: np.ndarray = np.where(by_low, low / first, high / last)
    return np.where(by_low, low, first * step), np.where(by_low, last * step, high), step
