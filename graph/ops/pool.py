"""Pooling of any spatial rank."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..core.registry import op
from ..core.shapes import Dim, Shape, UnknownRank, integers, known, require
from .norm import channels_back, channels_last
from .window import Windows, explicit_pads, lowest, pad_spatial, require_fits, spatial, spatial_axes

if TYPE_CHECKING:
    from ..core.protocols import OperationView


def _windows(
    op: OperationView, ksize: Sequence[int], strides: Sequence[int], rank: int
) -> Windows[int]:
    kernel, steps = spatial(op, ksize, "ksize"), spatial(op, strides, "strides")
    require(
        op, len(kernel) == len(steps) == rank - 2, f"ksize and strides must have {rank} numbers"
    )
    explicit = explicit_pads(op, rank)
    return Windows(kernel, steps, (1,) * len(kernel), op.get_attr("padding"), explicit)


def _pooled(op: OperationView, windows: Windows[int], shape: tuple[Dim, ...]) -> tuple[Dim, ...]:
    axes = spatial_axes(op.get_attr("data_format"), len(shape))
    require_fits(op, windows, [shape[axis] for axis in axes])
    outputs = dict(zip(axes, windows.outputs([shape[axis] for axis in axes]), strict=True))
    return tuple(outputs.get(axis, size) for axis, size in enumerate(shape))


def _pool_shape(op: OperationView, rank: int) -> Shape:
    windows = _windows(op, op.get_attr("ksize"), op.get_attr("strides"), rank)
    return _pooled(op, windows, known(op, 0, rank))


def _max(op: OperationView, x: np.ndarray, windows: Windows[int]) -> np.ndarray:
    """The largest element of each window."""
    data_format = op.get_attr("data_format")
    x = channels_last(x, data_format)
    padded = pad_spatial(x, windows.pads(x.shape[1:-1]), lowest(x.dtype))
    outputs = windows.outputs(x.shape[1:-1])
    result = np.full((x.shape[0], *outputs, x.shape[-1]), lowest(x.dtype), x.dtype)
    for _, window in windows.positions(outputs):
        np.maximum(result, padded[window], out=result)
    return channels_back(result, data_format)


def _counts(windows: Windows[int], sizes: Sequence[int], outputs: Sequence[int]) -> np.ndarray:
    """How many elements of the input each window has."""
    ones = pad_spatial(np.ones((1, *sizes, 1)), windows.pads(sizes))
    counts = np.zeros((1, *outputs, 1))
    for _, window in windows.positions(outputs):
        counts += ones[window]
    return counts


def _average(op: OperationView, x: np.ndarray, windows: Windows[int]) -> np.ndarray:
    """The mean of each window, without what was padded."""
    data_format = op.get_attr("data_format")
    x = channels_last(x, data_format)
    padded = pad_spatial(x, windows.pads(x.shape[1:-1]))
    outputs = windows.outputs(x.shape[1:-1])
    total = np.zeros((x.shape[0], *outputs, x.shape[-1]))
    for _, window in windows.positions(outputs):
        total += padded[window]
    return channels_back(total / _counts(windows, x.shape[1:-1], outputs), data_format)


def _pool_kernel(
    function: Callable[[OperationView, np.ndarray, Windows[int]], np.ndarray],
) -> Callable[..., np.ndarray]:
    def kernel(
        x: np.ndarray, *, ksize: Sequence[int], strides: Sequence[int], op: OperationView
    ) -> np.ndarray:
        return function(op, x, _windows(op, ksize, strides, x.ndim))

    return kernel


for _name, _function, _rank in (
    ("MaxPool", _max, 4),
    ("AvgPool", _average, 4),
    ("MaxPool3D", _max, 5),
    ("AvgPool3D", _average, 5),
):
    op(_name, shape=lambda op, rank=_rank: _pool_shape(op, rank))(_pool_kernel(_function))


def _max_pool_v2_shape(op: OperationView) -> Shape:
    ksize, strides = integers(op, 1), integers(op, 2)
    if ksize is None or strides is None:
        raise UnknownRank
    return _pooled(op, _windows(op, ksize, strides, 4), known(op, 0, 4))


@op("MaxPoolV2", shape=_max_pool_v2_shape)
def max_pool_v2(
    x: np.ndarray, ksize: np.ndarray, strides: np.ndarray, *, op: OperationView
) -> np.ndarray:
    """The largest element of each window."""
    return _max(op, x, _windows(op, ksize.tolist(), strides.tolist(), 4))


def _argmax_windows(op: OperationView) -> Windows[int]:
    kernel, strides = op.get_attr("ksize")[1:3], op.get_attr("strides")[1:3]
    return Windows(tuple(kernel), tuple(strides), (1, 1), op.get_attr("padding"))


def _argmax_shape(op: OperationView) -> list[Shape]:
    batch, *sizes, channels = known(op, 0, 4)
    require_fits(op, _argmax_windows(op), sizes)
    return [(batch, *_argmax_windows(op).outputs(sizes), channels)] * 2


@op("MaxPoolWithArgmax", shape=_argmax_shape)
def max_pool_with_argmax(
    x: np.ndarray, *, include_batch_in_index: bool, op: OperationView
) -> tuple[np.ndarray, np.ndarray]:
    """The largest element of each window, and its place counted through the image."""
    windows = _argmax_windows(op)
    indices = np.arange(x.size).reshape(x.shape)
    if not include_batch_in_index:
        indices = indices % max(x[0].size, 1)
    pads = windows.pads(x.shape[1:-1])
    padded, padded_indices = pad_spatial(x, pads, lowest(x.dtype)), pad_spatial(indices, pads, -1)
    outputs = windows.outputs(x.shape[1:-1])
    best = np.full((x.shape[0], *outputs, x.shape[-1]), lowest(x.dtype), x.dtype)
    where = np.full(best.shape, -1)
    for _, window in windows.positions(outputs):
        better = (padded[window] > best) | ((where < 0) & (padded_indices[window] >= 0))
        best = np.where(better, padded[window], best)
        where = np.where(better, padded_indices[window], where)
    return best, where


def _require_last(op: OperationView) -> None:
    data_format = op.get_attr("data_format")
    require(op, not data_format.startswith(b"NC"), f"data_format must be NHWC, got {data_format}")


@op("MaxPoolGrad", "MaxPool3DGrad", shape=lambda op: op.inputs[0].sizes)
def max_pool_grad(
    x: np.ndarray,
    y: np.ndarray,
    dy: np.ndarray,
    *,
    ksize: Sequence[int],
    strides: Sequence[int],
    op: OperationView,
) -> np.ndarray:
    """`dy` at the first largest element of each window."""
    _require_last(op)
    windows = _windows(op, ksize, strides, x.ndim)
    pads = windows.pads(x.shape[1:-1])
    padded = pad_spatial(x, pads, lowest(x.dtype))
    result, is_free = np.zeros(padded.shape, dy.dtype), np.ones(y.shape, bool)
    for _, window in windows.positions(y.shape[1:-1]):
        hit = is_free & (padded[window] == y)
        result[window] += np.where(hit, dy, 0)
        is_free &= ~hit
    inner = (slice(a, n - b) for (a, b), n in zip(pads, padded.shape[1:-1], strict=True))
    return result[(slice(None), *inner)]


@op("MaxPoolGradV2", shape=lambda op: op.inputs[0].sizes)
def max_pool_grad_v2(
    x: np.ndarray,
    y: np.ndarray,
    dy: np.ndarray,
    ksize: np.ndarray,
    strides: np.ndarray,
    *,
    op: OperationView,
) -> np.ndarray:
    """`dy` at the first largest element of each window."""
    return max_pool_grad(x, y, dy, ksize=ksize.tolist(), strides=strides.tolist(), op=op)


@op("MaxPoolGradGrad", "MaxPool3DGradGrad", shape=lambda op: op.inputs[1].sizes)
def max_pool_grad_grad(
    x: np.ndarray,
    y: np.ndarray,
    grad: np.ndarray,
    *,
    ksize: Sequence[int],
    strides: Sequence[int],
    op: OperationView,
) -> np.ndarray:
    """What `grad` has where each window has its first largest element."""
    _require_last(op)
    windows = _windows(op, ksize, strides, x.ndim)
    pads = windows.pads(x.shape[1:-1])
    padded, grads = pad_spatial(x, pads, lowest(x.dtype)), pad_spatial(grad, pads)
    result, is_free = np.zeros(y.shape, grad.dtype), np.ones(y.shape, bool)
    for _, window in windows.positions(y.shape[1:-1]):
        hit = is_free & (padded[window] == y)
        result = np.where(hit, grads[window], result)
        is_free &= ~hit
    return result


@op("MaxPoolGradWithArgmax", shape=lambda op: op.inputs[0].sizes)
def max_pool_grad_with_argmax(
    x: np.ndarray, dy: np.ndarray, argmax: np.ndarray, *, include_batch_in_index: bool
) -> np.ndarray:
    """`dy` at the places of the largest elements."""
    result = np.zeros(x.size, dy.dtype)
    positions = argmax.reshape(len(x), argmax.size // max(len(x), 1))
    if not include_batch_in_index:
        positions = positions + np.arange(len(x))[:, None] * (x.size // max(len(x), 1))
    np.add.at(result, positions.ravel(), dy.ravel())
    return result.reshape(x.shape)


def _sizes_shape(op: OperationView) -> Shape:
    sizes = integers(op, 0)
    return (None,) * len(known(op, 1)) if sizes is None else tuple(sizes)


@op("AvgPoolGrad", "AvgPool3DGrad", shape=_sizes_shape)
def avg_pool_grad(
    sizes: np.ndarray,
    dy: np.ndarray,
    *,
    ksize: Sequence[int],
    strides: Sequence[int],
    op: OperationView,
) -> np.ndarray:
    """`dy` shared among the elements of each window."""
    _require_last(op)
    windows = _windows(op, ksize, strides, dy.ndim)
    spatial_sizes = [int(n) for n in sizes[1:-1]]
    pads, outputs = windows.pads(spatial_sizes), dy.shape[1:-1]
    padded = [n + sum(pair) for n, pair in zip(spatial_sizes, pads, strict=True)]
    share = dy / _counts(windows, spatial_sizes, outputs)
    result = np.zeros((dy.shape[0], *padded, dy.shape[-1]))
    for _, window in windows.positions(outputs):
        result[window] += share
    inner = (slice(a, n - b) for (a, b), n in zip(pads, padded, strict=True))
    return result[(slice(None), *inner)]
