"""Scale and zero point of a range, and float32 numbers as the integers that stand for them.

The arithmetic is that of TensorFlow's converter, float32 where that has float32, so that equal
ranges give equal files.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...schema.quantization import Quantization
from ..ir.builder import as_array
from ..ir.graph import Tensor
from .scheme import INT8, Integers

ACTIVATIONS = INT8.integers
WEIGHTS = INT8.weight_integers("i8")
SMALLEST = 1e-6  # width below which TensorFlow takes a range for none and widens it
BIAS_LIMITS = {np.dtype(np.int32): 2**30, np.dtype(np.int64): 2**46}
"""Of a quantized bias, so that sums with it stay in 32 bits, or in the 48 that are rescaled."""

SHARES = np.linspace(1.0, 0.2, 41)
"""Of the largest weight, that are tried for a step of two bits."""


def of_range(low: float, high: float, integers: Integers = ACTIVATIONS) -> Quantization:
    """Integers for values measured from `low` to `high`; the range is widened to hold 0.

    >>> of_range(0.0, 2.55)
    Quantization([0.009999999776482582], [-128])
    """
    low, high = min(low, 0.0), max(high, 0.0)
    if high - low < SMALLEST:
        low, high = low - SMALLEST, high + SMALLEST
    return _of_limits(low, high, integers)


def _of_limits(low: float, high: float, integers: Integers) -> Quantization:
    if integers.symmetric:
        high = max(high, -low)
        low = -high
    n_steps = integers.high - integers.low
    scale = _step(low, high, n_steps)
    if integers.symmetric:
        return Quantization([float(scale)], [0])
    zero_point = np.float32(integers.low - low / float(scale))
    quantized_zero_point = int(
        round_half_away(np.asarray(np.clip(zero_point, integers.low, integers.high)))
    )
    return Quantization([float(scale)], [quantized_zero_point])


def _step(low: float, high: float, n_steps: int) -> np.float32:
    """The scale in float32 arithmetic; in float64 for ranges that are wider than float32 holds."""
    with np.errstate(over="ignore"):
        scale = (np.float32(high) - np.float32(low)) / np.float32(n_steps)
    return scale if np.isfinite(scale) else np.float32((high - low) / n_steps)


def of_scale(scale: float, low: float, high: float, integers: Integers) -> Quantization:
    """A stated scale, and the zero point with which it holds values from `low` to `high`."""
    if integers.symmetric:
        return Quantization([scale], [0])
    zero_point = np.clip(np.rint(integers.low - min(low, 0.0) / scale), integers.low, integers.high)
    return Quantization([scale], [int(zero_point)])


def of_ranges(
    low: Sequence[float] | np.ndarray,
    high: Sequence[float] | np.ndarray,
    integers: Integers,
    axis: int,
) -> Quantization:
    """Integers for weights whose ranges are stated, one for each index of `axis` or one."""
    pairs = zip(map(float, low), map(float, high), strict=True)
    rows = [_of_limits(first, last, integers) for first, last in pairs]
    scales, zero_points = [row.scale for row in rows], [row.zero_point for row in rows]
    return Quantization(scales, zero_points, axis)


def of_result(scale: float, zero_point: int) -> Quantization:
    """What an operator prescribes."""
    return Quantization([scale], [zero_point])


def of_constant(array: np.ndarray, integers: Integers = ACTIVATIONS) -> Quantization:
    """Integers for the elements of a constant that is not a weight."""
    low, high = float(array.min(initial=0.0)), float(array.max(initial=0.0))
    if high - low <= SMALLEST:
        low, high = min(low, -SMALLEST / 2), max(high, SMALLEST / 2)
    return _of_limits(low, high, integers)


def with_min_scale(params: Quantization, min_scale: float) -> Quantization:
    """`params`, the scale enlarged to just above `min_scale` where it is not."""
    if params.scale > min_scale:
        return params
    return Quantization([min_scale * (1 + 1e-6)], params.zero_points)


def of_weights(array: np.ndarray, axis: int | None, integers: Integers = WEIGHTS) -> Quantization:
    """Symmetric integers, with a scale for each index along `axis`, None for one scale.

    They reach to the largest absolute value, those of two bits less far: nearly all is 0 there.
    """
    others = tuple(i for i in range(array.ndim) if i != axis) if axis is not None else None
    largest = np.abs(array).max(axis=others, initial=0.0).astype(np.float64).ravel()
    if integers.high == 1:
        rows = array.reshape(1, -1) if axis is None else np.moveaxis(array, axis, 0)
        largest *= best_share(rows.reshape(len(largest), -1), largest)
    largest = np.where(2 * largest > SMALLEST, largest, SMALLEST / 2).astype(np.float32)
    scale = (largest + largest) / np.float32(2 * integers.high)
    return Quantization(scale, np.zeros(scale.size), axis or 0)


def best_share(rows: np.ndarray, largest: np.ndarray) -> np.ndarray:
    """Which share of the largest value of each row stands for 1, that the error is least.

    Each number becomes -1, 0 or 1 times that.

    >>> best_share(np.array([[1.0, 0.5, 0.5, 0.0], [1.0, 0.0, 0.0, 0.0]]), np.ones(2)).round(2)
    array([0.66, 1.  ])
    """
    least, best = np.full(len(rows), np.inf), np.ones(len(rows))
    sizes = np.abs(rows)
    for share in SHARES:
        step = (largest * share)[:, np.newaxis]
        error = np.square(sizes - step * (sizes >= step / 2)).sum(1)
        best = np.where(error < least, share, best)
        least = np.minimum(error, least)
    return best


def of_bias(data: Quantization, weights: Quantization) -> Quantization:
    """Integers on the product of the scales of input and weights."""
    scales = weights.scales.astype(np.float64) * data.scale
    return Quantization(scales, np.zeros(scales.size))


def enlarged_for_bias(
    data: Quantization, weights: Quantization, bias: np.ndarray, dtype: np.dtype
) -> Quantization:
    """`weights`, scales enlarged where the bias would not fit into its type."""
    needed = np.abs(bias.astype(np.float64).ravel()) / BIAS_LIMITS[dtype] / data.scale
    if not weights.is_per_channel:
        needed = needed.max(keepdims=True, initial=0.0)
    if (needed <= weights.scales).all():
        return weights
    return Quantization(np.maximum(needed, weights.scales), weights.zero_points, weights.axis)


def as_uint8(params: Quantization) -> Quantization:
    """The same values as numbers of 0..255 instead of -128..127."""
    return Quantization(params.scales, params.zero_points + 128, params.axis)


def quantized(
    array: np.ndarray, params: Quantization, integers: Integers = ACTIVATIONS
) -> np.ndarray:
    """`array` as integers of an activation or another constant: x / scale + zero point."""
    scale, zero_point = params.shaped(array.ndim)
    steps = round_half_away(array / scale + zero_point)
    return np.clip(steps, integers.low, integers.high).astype(integers.dtype)


def quantized_weights(
    array: np.ndarray, params: Quantization, integers: Integers = WEIGHTS
) -> np.ndarray:
    """`array` as integers of weights."""
    scale, zero_point = params.shaped(array.ndim)
    inverse = (1.0 / scale.astype(np.float64)).astype(np.float32)
    steps = round_half_away(array * inverse) + zero_point
    steps = np.clip(steps, integers.low, integers.high)
    return steps.astype(np.int16).astype(integers.dtype)


def quantized_bias(array: np.ndarray, params: Quantization, dtype: np.dtype) -> np.ndarray:
    """`array` as integers of a bias."""
    scale, _ = params.shaped(array.ndim)
    inverse = (1.0 / scale.astype(np.float64)).astype(np.float32)
    limit = np.iinfo(dtype).max if dtype == np.int32 else BIAS_LIMITS[dtype]
    product = round_half_away((array * inverse).astype(np.float64))
    return np.clip(product, -limit, limit).astype(dtype)


def constant(tensor: Tensor, array: np.ndarray, params: Quantization) -> Tensor:
    """A quantized constant in the place of a float32 one."""
    array = as_array(array)
    return Tensor(tensor.name, array.dtype, array.shape, array, quantization=params)


def round_half_away(x: np.ndarray) -> np.ndarray:
    """Rounded to the nearest integer, halves away from zero."""
    return np.trunc(x + np.copysign(np.asarray(x).dtype.type(0.5), x))
