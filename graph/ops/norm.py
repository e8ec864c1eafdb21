"""Bias, batch normalization and local response normalization."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from ..core.registry import op
from ..core.shapes import Shape, known, merge, require, same

if TYPE_CHECKING:
    from ..core.protocols import OperationView


def channels_last(x: np.ndarray, data_format: bytes) -> np.ndarray:
    """`x` with its channels in the last dimension."""
    return np.moveaxis(x, 1, -1) if data_format.startswith(b"NC") else x


def channels_back(x: np.ndarray, data_format: bytes) -> np.ndarray:
    """`x`, whose channels are in the last dimension, in `data_format`."""
    return np.moveaxis(x, -1, 1) if data_format.startswith(b"NC") else x


def _bias_shape(op: OperationView) -> Shape:
    shape, bias = known(op, 0), known(op, 1, 1)
    require(op, len(shape) >= 2, f"Shape must be at least rank 2 but is rank {len(shape)}")
    first = op.type == "BiasAdd" and op.get_attr("data_format") == b"NCHW"
    channels = shape[1] if first else shape[-1]
    fits = None in (channels, bias[0]) or channels == bias[0]
    require(op, fits, f"Dimensions must be equal, but are {channels} and {bias[0]}")
    return shape


@op("BiasAdd", shape=_bias_shape)
def bias_add(x: np.ndarray, bias: np.ndarray, *, data_format: bytes) -> np.ndarray:
    """`x + bias`, one bias for each channel."""
    if data_format == b"NCHW":
        bias = bias.reshape((-1,) + (1,) * (x.ndim - 2))
    return x + bias


@op("BiasAddV1", shape=_bias_shape)
def bias_add_v1(x: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """`x + bias`, one bias for each channel."""
    return x + bias


def _bias_grad_shape(op: OperationView) -> Shape:
    shape = known(op, 0)
    return (shape[1] if op.get_attr("data_format") == b"NCHW" else shape[-1],)


@op("BiasAddGrad", shape=_bias_grad_shape)
def bias_add_grad(dy: np.ndarray, *, data_format: bytes) -> np.ndarray:
    """The sum of `dy` over all but the channels."""
    dy = channels_last(dy, data_format)
    return dy.sum(tuple(range(dy.ndim - 1)), dtype=np.float64)


def _batch_norm_shape(op: OperationView) -> list[Shape]:
    shape = known(op, 0)
    first = op.get_attr("data_format").startswith(b"NC")
    channels = (shape[1] if first else shape[-1],)
    for index in (1, 2):
        statistic = op.inputs[index].sizes
        if statistic is not None:
            require(op, len(statistic) == 1, f"Shape must be rank 1 but is rank {len(statistic)}")
            words = f"Dimensions must be equal, but are {channels[0]} and {statistic[0]}"
            require(op, None in (channels[0], statistic[0]) or channels == statistic, words)
        channels = merge(channels, statistic) or channels
    return [shape] + [channels] * 4 + [(0,)] * (len(op.outputs) - 5)


@op("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3", shape=_batch_norm_shape)
def fused_batch_norm(
    x: np.ndarray,
    scale: np.ndarray,
    offset: np.ndarray,
    mean: np.ndarray,
    variance: np.ndarray,
    *,
    epsilon: float,
    exponential_avg_factor: float,
    data_format: bytes,
    is_training: bool,
    op: OperationView,
) -> list[np.ndarray]:
    """(x - mean) / sqrt(variance + epsilon) * scale + offset, and the statistics.

    In training mean and variance are those of the batch.
    """
    x = channels_last(x, data_format).astype(np.float32)
    old_mean, old_variance = mean, variance
    if is_training:
        rows = x.reshape(prod(x.shape[:-1]), x.shape[-1])
        with np.errstate(invalid="ignore"):  # NaN of an empty batch
            mean = rows.sum(0, dtype=np.float64) / len(rows)
            variance = np.square(rows - mean, dtype=np.float64).sum(0) / len(rows)
        unbiased = variance * (len(rows) / max(len(rows) - 1, 1))
        factor = exponential_avg_factor
        new_mean, new_variance = mean, unbiased
        if factor != 1:
            new_mean = old_mean * (1 - factor) + mean * factor
            new_variance = old_variance * (1 - factor) + unbiased * factor
    else:
        new_mean, new_variance = mean, variance
    ratio = scale / np.sqrt(variance.astype(np.float64) + epsilon)
    y = (x - mean.astype(np.float32)) * ratio.astype(np.float32) + offset
    results = [channels_back(y, data_format), new_mean, new_variance, mean, variance]
    return results + [np.zeros(0, np.float32)] * (len(op.outputs) - 5)


def _batch_norm_grad_shape(op: OperationView) -> list[Shape]:
    channels = op.inputs[2].sizes
    return [op.inputs[1].sizes, channels, channels, (), ()]


@op(
    "FusedBatchNormGrad",
    "FusedBatchNormGradV2",
    "FusedBatchNormGradV3",
    shape=_batch_norm_grad_shape,
)
def fused_batch_norm_grad(
    dy: np.ndarray,
    x: np.ndarray,
    scale: np.ndarray,
    mean: np.ndarray,
    variance: np.ndarray,
    *reserved: np.ndarray,
    epsilon: float,
    data_format: bytes,
    is_training: bool,
) -> tuple[np.ndarray, ...]:
    """The gradients of input, scale and offset, from the statistics that were used."""
    x, dy = (channels_last(array, data_format).astype(np.float64) for array in (x, dy))
    axes = tuple(range(x.ndim - 1))
    centered = x - mean
    ratio = 1 / np.sqrt(variance.astype(np.float64) + epsilon)
    d_offset, d_scale = dy.sum(axes), (dy * centered).sum(axes) * ratio
    dx = dy
    if is_training:
        n = x.size // max(x.shape[-1], 1)
        dx = dy - d_offset / n - centered * ratio * (d_scale / n)
    unused = np.zeros(())
    return channels_back(dx * (scale * ratio), data_format), d_scale, d_offset, unused, unused


@op("BatchNormWithGlobalNormalization", shape=same)
def batch_norm_with_global_normalization(
    x: np.ndarray,
    mean: np.ndarray,
    variance: np.ndarray,
    beta: np.ndarray,
    gamma: np.ndarray,
    *,
    variance_epsilon: float,
    scale_after_normalization: bool,
) -> np.ndarray:
    """(x - mean) / sqrt(variance + epsilon) * gamma + beta; gamma only where asked for."""
    ratio = 1 / np.sqrt(variance + variance_epsilon)
    return (x - mean) * (ratio * gamma if scale_after_normalization else ratio) + beta


def _around(x: np.ndarray, radius: int) -> np.ndarray:
    """The sums of each channel and those around it."""
    sums = np.cumsum(np.pad(x, [(0, 0)] * (x.ndim - 1) + [(1, 0)]), -1)
    n: int = x.shape[-1]
    high = np.minimum(np.arange(n) + radius + 1, n)
    low = np.maximum(np.arange(n) - radius, 0)
    return sums[..., high] - sums[..., low]


@op("LRN", shape=same)
def lrn(x: np.ndarray, *, depth_radius: int, bias: float, alpha: float, beta: float) -> np.ndarray:
    """x / (bias + alpha * sum of squares of the channels around)**beta."""
    squares = np.square(x, dtype=np.float64)
    return x / (bias + alpha * _around(squares, depth_radius)) ** beta


@op("LRNGrad", shape=same)
def lrn_grad(
    dy: np.ndarray,
    x: np.ndarray,
    y: np.ndarray,
    *,
    depth_radius: int,
    bias: float,
    alpha: float,
    beta: float,
) -> np.ndarray:
    """The gradient of LRN: each channel divides those around it."""
    wide = x.astype(np.float64)
    scale = bias + alpha * _around(np.square(wide), depth_radius)
    shares = _around(dy * y / scale, depth_radius)
    return dy * scale**-beta - 2 * alpha * beta * wide * shares
