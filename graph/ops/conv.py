"""Convolutions of any spatial rank, and their gradients.

All kernels work on [n, *sizes, c] with filters [*kernel, c / groups, channels].
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from ..core.registry import op
from ..core.shapes import Shape, as_shape, known, merge_dims, require, times
from .norm import channels_back, channels_last
from .window import (
    Size,
    Windows,
    explicit_pads,
    lowest,
    pad_spatial,
    require_fits,
    spatial,
    spatial_axes,
)

if TYPE_CHECKING:
    from ..core.protocols import OperationView

BLOCK_BYTES = 16 << 20
"""How much of the unfolded input is in memory at once."""


def _windows(op: OperationView, kernel: Sequence[Size], rank: int) -> Windows[Size]:
    """The windows of a convolution whose kernel has these sizes."""
    steps, data_format = op.get_attr("strides"), op.get_attr("data_format")
    words = f"{op.type} on data format {data_format.decode()} requires the stride attribute to"
    require(op, len(steps) == rank, f"{words} contain {rank} values, but got: {len(steps)}")
    inner = spatial_axes(op.get_attr("data_format"), len(steps))
    is_spatial = all(n == 1 for axis, n in enumerate(steps) if axis not in inner)
    words = "Current implementation does not yet support strides in the batch and depth dimensions."
    require(op, is_spatial, f"{words} strides must be 1 for batch and channels, got {list(steps)}")
    strides = spatial(op, op.get_attr("strides"), "strides")
    dilations = spatial(op, op.get_attr("dilations"), "dilations")
    same_rank = len(strides) == len(dilations) == len(kernel) == rank - 2
    require(op, same_rank, f"strides, dilations and filter must have {rank - 2} spatial dimensions")
    signature = op.signature
    is_explicit = signature is not None and "explicit_paddings" in signature.attrs
    explicit = explicit_pads(op, rank) if is_explicit else ()
    return Windows(tuple(kernel), strides, dilations, op.get_attr("padding"), explicit)


def _split_shape(op: OperationView, shape: Sequence[Size]) -> tuple[Size, tuple[Size, ...], Size]:
    """Batch, spatial sizes and channels of an input shape."""
    axes = spatial_axes(op.get_attr("data_format"), len(shape))
    channels = shape[1] if op.get_attr("data_format").startswith(b"NC") else shape[-1]
    return shape[0], tuple(shape[axis] for axis in axes), channels


def _joined_shape(
    op: OperationView, batch: Size, sizes: Sequence[Size], channels: Size
) -> tuple[Size, ...]:
    if op.get_attr("data_format").startswith(b"NC"):
        return (batch, channels, *sizes)
    return (batch, *sizes, channels)


def _conv_shape(op: OperationView, rank: int) -> Shape:
    shape, filters = known(op, 0, rank), known(op, 1, rank)
    batch, sizes, channels = _split_shape(op, shape)
    *kernel, depth, count = filters
    if depth is not None and channels is not None:
        fits = depth > 0 and channels % depth == 0
        words = f"Depth of input ({channels}) is not a multiple of input depth of filter ({depth})"
        require(op, fits, words)
        groups = channels // depth
        fits = count is None or count % max(groups, 1) == 0
        require(op, fits, f"{count} filters must divide into {groups} groups")
    windows = _windows(op, kernel, rank)
    require_fits(op, windows, sizes)
    return _joined_shape(op, batch, windows.outputs(sizes), count)


def _convolve(op: OperationView, x: np.ndarray, filters: np.ndarray) -> np.ndarray:
    """The convolution of `x` in the op's data format."""
    if 0 in filters.shape[:-2]:
        raise ValueError(f"filter must not have zero elements, got {list(filters.shape)}")
    data_format = op.get_attr("data_format")
    x = channels_last(x, data_format)
    windows = _windows(op, filters.shape[:-2], x.ndim)
    padded = pad_spatial(_wide(x), windows.pads(x.shape[1:-1]))
    groups = x.shape[-1] // filters.shape[-2]
    parts = np.split(_wide(filters), groups, -1)
    results = [
        _convolve_group(windows, part, kernel)
        for part, kernel in zip(np.split(padded, groups, -1), parts, strict=True)
    ]
    result = results[0] if groups == 1 else np.concatenate(results, -1)
    return channels_back(result, data_format)


def _wide(x: np.ndarray) -> np.ndarray:
    return x.astype(np.float32) if x.dtype.itemsize == 2 else x


def _convolve_group(windows: Windows[int], padded: np.ndarray, filters: np.ndarray) -> np.ndarray:
    """Unfolds the windows into rows, some at a time, and multiplies them by the filters."""
    matrix = filters.reshape(prod(filters.shape[:-1]), filters.shape[-1])
    if max(windows.kernel) == 1 and max(windows.strides) == 1:
        rows = padded.reshape(prod(padded.shape[:-1]), padded.shape[-1])
        return (rows @ matrix).reshape(*padded.shape[:-1], matrix.shape[1])
    view = windows.view(padded)
    outputs = view.shape[1 : 1 + len(windows.kernel)]
    result = np.empty((view.shape[0], *outputs, matrix.shape[1]), padded.dtype)
    row_bytes = int(np.prod(outputs[1:])) * matrix.shape[0] * padded.itemsize
    step = max(BLOCK_BYTES // max(row_bytes, 1), 1)
    for n in range(view.shape[0]):
        for first in range(0, outputs[0], step):
            block = view[n, first : first + step]
            rows = block.reshape(prod(block.shape[: len(outputs)]), matrix.shape[0])
            result[n, first : first + step] = (rows @ matrix).reshape(
                *block.shape[: len(outputs)], matrix.shape[1]
            )
    return result


@op("Conv2D", shape=lambda op: _conv_shape(op, 4))
def conv2d(x: np.ndarray, filters: np.ndarray, *, op: OperationView) -> np.ndarray:
    """The sum over window and depth of input times filter; shallow filters make groups."""
    return _convolve(op, x, filters)


@op("Conv3D", shape=lambda op: _conv_shape(op, 5))
def conv3d(x: np.ndarray, filters: np.ndarray, *, op: OperationView) -> np.ndarray:
    """The sum over window and depth of input times filter."""
    return _convolve(op, x, filters)


def _require_results(op: OperationView, dy: np.ndarray, expected: tuple[int, ...]) -> None:
    """ValueError unless gradients are of the sizes of what a convolution gives."""
    for actual, computed in zip(dy.shape[1:-1], expected, strict=True):
        if actual != computed:
            words = f"{op.type}: Size of out_backprop doesn't match computed: actual = {actual}"
            raise ValueError(f"{words}, computed = {computed}")


def _input_grad(
    op: OperationView, sizes: np.ndarray, filters: np.ndarray, dy: np.ndarray
) -> np.ndarray:
    """What each element of an input of these sizes adds to `dy`: the transposed convolution."""
    data_format = op.get_attr("data_format")
    dy, filters = _wide(channels_last(dy, data_format)), _wide(filters)
    rank = dy.ndim
    shape = _full_sizes(op, [int(n) for n in sizes], dy, filters)
    batch, spatial_sizes, channels = _split_shape(op, shape)
    windows = _windows(op, filters.shape[:-2], rank)
    _require_results(op, dy, windows.outputs(spatial_sizes))
    pads = windows.pads(spatial_sizes)
    padded = [n + sum(pair) for n, pair in zip(spatial_sizes, pads, strict=True)]
    result = np.zeros((batch, *padded, channels), dy.dtype)
    if channels % filters.shape[-2]:
        words = "input depth must be evenly divisible by filter depth"
        raise ValueError(f"{words}: {channels} vs {filters.shape[-2]}")
    groups = channels // filters.shape[-2]
    gradients = np.split(dy, groups, -1)
    for group, part in enumerate(np.split(filters, groups, -1)):
        depth = slice(group * part.shape[-2], (group + 1) * part.shape[-2])
        for position, window in windows.positions(dy.shape[1:-1]):
            result[(*window, depth)] += gradients[group] @ part[position].T
    inner = tuple(slice(a, n - b) for (a, b), n in zip(pads, padded, strict=True))
    return channels_back(result[(slice(None), *inner)], data_format)


def _full_sizes(
    op: OperationView, sizes: Sequence[int], dy: np.ndarray, filters: np.ndarray
) -> Sequence[int]:
    """The input's shape, of which only the spatial sizes may be given."""
    if len(sizes) == dy.ndim - 2:
        return _joined_shape(op, dy.shape[0], sizes, filters.shape[-2])
    return sizes


def _input_grad_shape(op: OperationView, rank: int) -> Shape:
    filters, dy = known(op, 1, rank), known(op, 2, rank)
    depth = dy[1] if op.get_attr("data_format").startswith(b"NC") else dy[-1]
    n_filters = filters[-1]
    fits = None in (depth, n_filters) or depth == n_filters
    require(op, fits, f"Dimensions must be equal, but are {depth} and {n_filters}")
    sizes = as_shape(op, 0)
    if sizes is None:
        return _joined_shape(op, dy[0], (None,) * (rank - 2), filters[-2])
    if len(sizes) == rank - 2:
        return _joined_shape(op, dy[0], sizes, filters[-2])
    require(op, len(sizes) == rank, f"input_sizes must have {rank} elements, got {list(sizes)}")
    return sizes if sizes[0] is not None else (dy[0], *sizes[1:])


@op("Conv2DBackpropInput", shape=lambda op: _input_grad_shape(op, 4))
def conv2d_backprop_input(
    sizes: np.ndarray, filters: np.ndarray, dy: np.ndarray, *, op: OperationView
) -> np.ndarray:
    """The transposed convolution of `dy`, in the given sizes."""
    return _input_grad(op, sizes, filters, dy)


@op("Conv3DBackpropInputV2", shape=lambda op: _input_grad_shape(op, 5))
def conv3d_backprop_input_v2(
    sizes: np.ndarray, filters: np.ndarray, dy: np.ndarray, *, op: OperationView
) -> np.ndarray:
    """The transposed convolution of `dy`, in the given sizes."""
    return _input_grad(op, sizes, filters, dy)


def _filter_grad(op: OperationView, x: np.ndarray, sizes: np.ndarray, dy: np.ndarray) -> np.ndarray:
    """What each element of a filter of these sizes adds to `dy`."""
    data_format = op.get_attr("data_format")
    x, dy = _wide(channels_last(x, data_format)), _wide(channels_last(dy, data_format))
    shape = [int(n) for n in sizes]
    *kernel, depth, n_filters = shape
    windows = _windows(op, kernel, x.ndim)
    _require_results(op, dy, windows.outputs(x.shape[1:-1]))
    padded = pad_spatial(x, windows.pads(x.shape[1:-1]))
    groups = x.shape[-1] // depth
    inputs, gradients = np.split(padded, groups, -1), np.split(dy, groups, -1)
    result = np.empty(shape, x.dtype)
    width = n_filters // groups
    for group in range(groups):
        rows = gradients[group].reshape(prod(dy.shape[:-1]), width)
        for position, window in windows.positions(dy.shape[1:-1]):
            elements = inputs[group][window].reshape(rows.shape[0], depth)
            result[(*position, slice(None), slice(group * width, (group + 1) * width))] = (
                elements.T @ rows
            )
    return result


@op("Conv2DBackpropFilter", shape=lambda op: as_shape(op, 1))
def conv2d_backprop_filter(
    x: np.ndarray, sizes: np.ndarray, dy: np.ndarray, *, op: OperationView
) -> np.ndarray:
    """The gradient of a convolution by its filter."""
    return _filter_grad(op, x, sizes, dy)


@op("Conv3DBackpropFilterV2", shape=lambda op: as_shape(op, 1))
def conv3d_backprop_filter_v2(
    x: np.ndarray, sizes: np.ndarray, dy: np.ndarray, *, op: OperationView
) -> np.ndarray:
    """The gradient of a convolution by its filter."""
    return _filter_grad(op, x, sizes, dy)


def _depthwise_shape(op: OperationView) -> Shape:
    shape, (*kernel, depth, multiplier) = known(op, 0, 4), known(op, 1, 4)
    batch, sizes, channels = _split_shape(op, shape)
    fits = None in (channels, depth) or channels == depth
    require(op, fits, f"Dimensions must be equal, but are {channels} and {depth}")
    windows = _windows(op, kernel, 4)
    require_fits(op, windows, sizes)
    channels = merge_dims(channels, depth)
    return _joined_shape(op, batch, windows.outputs(sizes), times(channels, multiplier))


@op("DepthwiseConv2dNative", shape=_depthwise_shape)
def depthwise_conv2d_native(x: np.ndarray, filters: np.ndarray, *, op: OperationView) -> np.ndarray:
    """Each channel convolved with filters of its own."""
    data_format = op.get_attr("data_format")
    x, filters = _wide(channels_last(x, data_format)), _wide(filters)
    windows = _windows(op, filters.shape[:2], 4)
    outputs = windows.outputs(x.shape[1:-1])
    padded = pad_spatial(x, windows.pads(x.shape[1:-1]))
    multiplier = filters.shape[3]
    result = np.zeros((x.shape[0], *outputs, x.shape[-1], multiplier), x.dtype)
    for m in range(multiplier):
        total, term = result[..., m], np.empty(result.shape[:-1], x.dtype)
        for position, window in windows.positions(outputs):
            np.multiply(padded[window], filters[(*position, slice(None), m)], out=term)
            total += term
    return channels_back(result.reshape(*result.shape[:3], x.shape[-1] * multiplier), data_format)


@op("DepthwiseConv2dNativeBackpropInput", shape=lambda op: as_shape(op, 0))
def depthwise_conv2d_native_backprop_input(
    sizes: np.ndarray, filters: np.ndarray, dy: np.ndarray, *, op: OperationView
) -> np.ndarray:
    """The gradient of a depthwise convolution by its input."""
    data_format = op.get_attr("data_format")
    dy = channels_last(dy, data_format)
    batch, spatial_sizes, channels = _split_shape(op, [int(n) for n in sizes])
    windows = _windows(op, filters.shape[:2], 4)
    pads = windows.pads(spatial_sizes)
    padded = [n + sum(pair) for n, pair in zip(spatial_sizes, pads, strict=True)]
    result = np.zeros((batch, *padded, channels), dy.dtype)
    dy = dy.reshape(*dy.shape[:3], channels, filters.shape[3])
    for position, window in windows.positions(dy.shape[1:3]):
        result[window] += np.einsum("nhwcm,cm->nhwc", dy, filters[position])
    inner = tuple(slice(a, n - b) for (a, b), n in zip(pads, padded, strict=True))
    return channels_back(result[(slice(None), *inner)], data_format)


@op("DepthwiseConv2dNativeBackpropFilter", shape=lambda op: as_shape(op, 1))
def depthwise_conv2d_native_backprop_filter(
    x: np.ndarray, sizes: np.ndarray, dy: np.ndarray, *, op: OperationView
) -> np.ndarray:
    """The gradient of a depthwise convolution by its filter."""
    data_format = op.get_attr("data_format")
    x, dy = channels_last(x, data_format), channels_last(dy, data_format)
    windows = _windows(op, [int(n) for n in sizes[:2]], 4)
    padded = pad_spatial(x, windows.pads(x.shape[1:-1]))
    dy = dy.reshape(*dy.shape[:3], x.shape[-1], int(sizes[3]))
    result = np.empty([int(n) for n in sizes], x.dtype)
    for position, window in windows.positions(dy.shape[1:3]):
        result[position] = np.einsum("nhwc,nhwcm->cm", padded[window], dy)
    return result


def _dilation_shape(op: OperationView) -> Shape:
    batch, *sizes, depth = known(op, 0, 4)
    *kernel, channels = known(op, 1, 3)
    windows = Windows(
        tuple(kernel),
        tuple(op.get_attr("strides")[1:3]),
        tuple(op.get_attr("rates")[1:3]),
        op.get_attr("padding"),
    )
    return (batch, *windows.outputs(sizes), merge_dims(depth, channels))


def _dilated(
    x: np.ndarray, filters: np.ndarray, strides: Sequence[int], rates: Sequence[int], padding: bytes
) -> tuple[Windows[int], np.ndarray, np.ndarray]:
    """The windows, the padded input, and the sums of input and filter by position."""
    windows = Windows(filters.shape[:2], tuple(strides[1:3]), tuple(rates[1:3]), padding)
    padded = pad_spatial(x, windows.pads(x.shape[1:-1]), lowest(x.dtype))
    positions = windows.positions(windows.outputs(x.shape[1:-1]))
    least = lowest(x.dtype)
    inside = pad_spatial(np.ones(x.shape, bool), windows.pads(x.shape[1:-1]))
    sums = np.stack(
        [
            np.where(inside[window], padded[window] + filters[position], least)
            for position, window in positions
        ]
    )
    return windows, padded, sums


@op("Dilation2D", shape=_dilation_shape)
def dilation2d(
    x: np.ndarray,
    filters: np.ndarray,
    *,
    strides: Sequence[int],
    rates: Sequence[int],
    padding: bytes,
) -> np.ndarray:
    """The largest sum of input and filter within each window."""
    return np.fmax.reduce(_dilated(x, filters, strides, rates, padding)[2], 0)


@op("Dilation2DBackpropInput", shape=lambda op: op.inputs[0].sizes)
def dilation2d_backprop_input(
    x: np.ndarray,
    filters: np.ndarray,
    dy: np.ndarray,
    *,
    strides: Sequence[int],
    rates: Sequence[int],
    padding: bytes,
) -> np.ndarray:
    """`dy` at the first element of each window whose sum is the largest."""
    windows, padded, sums = _dilated(x, filters, strides, rates, padding)
    first, result = sums.argmax(0), np.zeros(padded.shape, dy.dtype)
    for i, (_, window) in enumerate(windows.positions(dy.shape[1:-1])):
        result[window] += np.where(first == i, dy, 0)
    pads = windows.pads(x.shape[1:-1])
    inner = (slice(a, n - b) for (a, b), n in zip(pads, padded.shape[1:-1], strict=True))
    return result[(slice(None), *inner)]


@op("Dilation2DBackpropFilter", shape=lambda op: op.inputs[1].sizes)
def dilation2d_backprop_filter(
    x: np.ndarray,
    filters: np.ndarray,
    dy: np.ndarray,
    *,
    strides: Sequence[int],
    rates: Sequence[int],
    padding: bytes,
) -> np.ndarray:
    """`dy` at the number of the filter whose sum is the largest, over all windows."""
    windows, _, sums = _dilated(x, filters, strides, rates, padding)
    first, result = sums.argmax(0), np.zeros(filters.shape, dy.dtype)
    for i, (position, _) in enumerate(windows.positions(dy.shape[1:-1])):
        result[position] = np.where(first == i, dy, 0).sum((0, 1, 2))
    return result


def _patches_shape(op: OperationView) -> Shape:
    batch, *sizes, depth = known(op, 0, len(op.get_attr("ksizes")))
    windows = _patch_windows(op)
    return (batch, *windows.outputs(sizes), times(depth, *windows.kernel))


def _patch_windows(op: OperationView) -> Windows[int]:
    kernel, strides = (tuple(op.get_attr(name)[1:-1]) for name in ("ksizes", "strides"))
    is_volume = op.type == "ExtractVolumePatches"
    rates = (1,) * len(kernel) if is_volume else tuple(op.get_attr("rates")[1:-1])
    return Windows(kernel, strides, rates, op.get_attr("padding"))


@op("ExtractImagePatches", "ExtractVolumePatches", shape=_patches_shape)
def extract_image_patches(x: np.ndarray, *, op: OperationView) -> np.ndarray:
    """The elements of each window in a row."""
    windows = _patch_windows(op)
    padded = pad_spatial(x, windows.pads(x.shape[1:-1]))
    view = windows.view(padded)
    outer, inner = view.shape[: x.ndim - 1], view.shape[x.ndim - 1 :]
    return view.reshape(*outer, prod(inner))
