"""Fake quantization: floats rounded to the numbers a quantized tensor can hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..core.registry import op
from ..core.shapes import Shape, merged, require, require_rank, same, shown

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ..core.protocols import OperationView


class Grid(NamedTuple):
    """2**num_bits levels of which one is zero: the least, the largest, their distance, and how many
    there are for each unit.
    """

    low: np.ndarray
    high: np.ndarray
    scale: np.ndarray
    density: np.ndarray

    @classmethod
    def of(cls, low: ArrayLike, high: ArrayLike, num_bits: int, narrow_range: bool) -> Grid:
        """The grid for a range, moved so far that zero is on it."""
        first, last = np.float32(narrow_range), np.float32(2**num_bits - 1)
        low, high = np.asarray(low, np.float32), np.asarray(high, np.float32)
        scale = (high - low) / (last - first)
        zero = np.clip(np.floor(first - low / scale + np.float32(0.5)), first, last)
        density = (last - first) / (high - low)  # 1 / scale would be rounded twice
        return cls((first - zero) * scale, (last - zero) * scale, scale, density)


def _is_empty(low: ArrayLike, high: ArrayLike) -> np.ndarray:
    """Whether a range is that of nothing but zeros."""
    return (np.asarray(low) == 0) & (np.asarray(high) == 0)


def _fake_quantize(
    x: np.ndarray,
    low: ArrayLike,
    high: ArrayLike,
    num_bits: int,
    narrow_range: bool,
    divides: bool = False,
) -> np.ndarray:
    """`x` clipped to [low, high] and rounded to the levels of its grid; halves between two levels
    fall as TensorFlow's do, which `divides` by the distance of levels for one of its operations.
    """
    grid = Grid.of(low, high, num_bits, narrow_range)
    half = np.float32(0.5)
    level_of_zero = np.floor(-grid.low * grid.density + half)
    clipped = np.maximum(np.minimum(x, grid.high), grid.low)  # low counts where they cross
    shifted = clipped - grid.low
    levels = shifted / grid.scale if divides else shifted * grid.density
    values = np.floor(levels - level_of_zero + half) * grid.scale
    return np.where(_is_empty(low, high), np.float32(0), values)


@op("FakeQuantWithMinMaxVars", shape=same)
def fake_quant_with_min_max_vars(
    x: np.ndarray, low: np.ndarray, high: np.ndarray, *, num_bits: int, narrow_range: bool
) -> np.ndarray:
    """`x` as a quantized tensor of the range [low, high] would hold it."""
    return _fake_quantize(x, low, high, num_bits, narrow_range, divides=True)


@op("FakeQuantWithMinMaxVarsPerChannel", shape=same)
def fake_quant_with_min_max_vars_per_channel(
    x: np.ndarray, low: np.ndarray, high: np.ndarray, *, num_bits: int, narrow_range: bool
) -> np.ndarray:
    """`x` as a tensor quantized with a range [low, high] for each channel would hold it."""
    return _fake_quantize(x, low, high, num_bits, narrow_range)


@op("FakeQuantWithMinMaxArgs", shape=same)
def fake_quant_with_min_max_args(
    x: np.ndarray, *, min: float, max: float, num_bits: int, narrow_range: bool
) -> np.ndarray:
    """`x` as a quantized tensor of the range [min, max] would hold it."""
    return _fake_quantize(x, min, max, num_bits, narrow_range)


def _in_range(
    x: np.ndarray, low: ArrayLike, high: ArrayLike, num_bits: int, narrow_range: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Which elements are below the range, and which are above it."""
    grid = Grid.of(low, high, num_bits, narrow_range)
    some = ~_is_empty(low, high)
    return some & (x < grid.low), some & (x > grid.high)


@op("FakeQuantWithMinMaxArgsGradient", shape=same)
def fake_quant_with_min_max_args_gradient(
    dy: np.ndarray, x: np.ndarray, *, min: float, max: float, num_bits: int, narrow_range: bool
) -> np.ndarray:
    """`dy` where `x` is within the range."""
    if dy.shape != x.shape:
        raise ValueError(
            "Inputs to operation FakeQuantWithMinMaxArgsGradient of type "
            "FakeQuantWithMinMaxArgsGradient must have the same size and shape.  Input 0: "
            f"{shown(dy.shape)} != input 1: {shown(x.shape)}"
        )
    below, above = _in_range(x, min, max, num_bits, narrow_range)
    return np.where(below | above, np.float32(0), dy)


def _vars_gradient_shape(op: OperationView) -> list[Shape]:
    merged(op, (0, 1))
    is_each = op.type == "FakeQuantWithMinMaxVarsPerChannelGradient"
    for limit in (op.inputs[2].sizes, op.inputs[3].sizes):
        rank = int(is_each)
        words = f"Shape must be rank {rank} but is rank {len(limit or ())}"
        require(op, limit is None or len(limit) == rank, words)
    return [op.inputs[0].sizes, op.inputs[2].sizes, op.inputs[3].sizes]


@op(
    "FakeQuantWithMinMaxVarsGradient",
    "FakeQuantWithMinMaxVarsPerChannelGradient",
    shape=_vars_gradient_shape,
)
def fake_quant_with_min_max_vars_gradient(
    dy: np.ndarray,
    x: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    *,
    num_bits: int,
    narrow_range: bool,
) -> tuple[np.ndarray, ...]:
    """`dy` where `x` is within the range; its sums where it is below go to the one end, and where
    it is above to the other.
    """
    below, above = _in_range(x, low, high, num_bits, narrow_range)
    axes = tuple(range(x.ndim - low.ndim))
    ends = [np.where(outside, dy, np.float32(0)).sum(axes) for outside in (below, above)]
    return np.where(below | above, np.float32(0), dy), *ends


def _along_axis_shape(op: OperationView) -> Shape:
    axis = op.get_attr("axis")
    if axis >= 0:
        require_rank(op, 0, axis + 1, at_least=True)
    return op.inputs[0].sizes


@op("QuantizeAndDequantizeV2", "QuantizeAndDequantizeV4", shape=_along_axis_shape)
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


def _v4_gradient_shape(op: OperationView) -> list[Shape]:
    return [op.inputs[1].sizes, op.inputs[2].sizes, op.inputs[3].sizes]


@op("QuantizeAndDequantizeV4Grad", shape=_v4_gradient_shape)
def quantize_and_dequantize_grad(
    dy: np.ndarray, x: np.ndarray, low: np.ndarray, high: np.ndarray, *, axis: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """`dy` where `x` is within the range; nothing to its ends."""
    row = [n if i == axis else 1 for i, n in enumerate(x.shape)] if axis >= 0 else ()
    is_inside = (x >= low.reshape(row)) & (x <= high.reshape(row))
    return np.where(is_inside, dy, np.zeros((), dy.dtype)), np.zeros_like(low), np.zeros_like(high)


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
