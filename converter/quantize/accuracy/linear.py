"""Operators with constant weights as matrices, and their inputs as the rows these multiply.

Every one of them is rows @ matrix.T for each of some groups of channels: FULLY_CONNECTED has one
group, DEPTHWISE_CONV_2D one for each channel of its input.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ....schema.tables import PADDING
from ...ir.graph import Graph, Op, Tensor
from ..rules import is_float32

LINEAR = ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED")
DATA, WEIGHTS, BIAS = 0, 1, 2
"""The inputs of every operator of LINEAR."""
SAME = PADDING["SAME"]


def is_linear(op: Op) -> bool:
    """Whether `op` multiplies float32 data with constant float32 weights."""
    if op.kind not in LINEAR:
        return False
    weights, bias = op.inputs[WEIGHTS], op.input(BIAS)
    has_constants = weights.is_constant and (bias is None or bias.is_constant)
    return has_constants and is_float32(weights) and is_float32(op.inputs[DATA])


def linear_ops(graph: Graph) -> list[Op]:
    """The linear operators of a graph, in its order."""
    return [op for op in graph.ops if is_linear(op)]


def n_groups(op: Op) -> int:
    """How many groups of channels have weights of their own."""
    if op.kind == "FULLY_CONNECTED":
        return 1
    channels = op.inputs[DATA].dims[-1]
    shape = op.inputs[WEIGHTS].data.shape
    if channels is None:
        raise ValueError(f"{op.kind} '{op.output.name}': the channels of its input must be known")
    return channels if op.kind == "DEPTHWISE_CONV_2D" else channels // shape[-1]


def matrices(op: Op, weights: np.ndarray) -> np.ndarray:
    """Weights of `op` in the form [groups, outputs of a group, taps]."""
    groups = n_groups(op)
    if op.kind == "DEPTHWISE_CONV_2D":
        height, width, channels = weights.shape[1:]
        taps = weights.reshape(height * width, groups, channels // groups)
        return np.ascontiguousarray(taps.transpose(1, 2, 0))
    return weights.reshape(groups, weights.shape[0] // groups, -1)


def from_matrices(op: Op, array: np.ndarray) -> np.ndarray:
    """The weights of `op` that `matrices` gives `array` of."""
    shape = op.inputs[WEIGHTS].data.shape
    if op.kind == "DEPTHWISE_CONV_2D":
        return np.ascontiguousarray(array.transpose(2, 0, 1)).reshape(shape)
    return array.reshape(shape)


def rows_of(op: Op, data: np.ndarray, limit: int, seed: int) -> np.ndarray:
    """What `op` multiplies its weights with, in the form [groups, rows, taps].

    Args:
        op: a linear operator.
        data: its input.
        limit: how many rows there are at most.
        seed: of the choice among them.
    """
    generator = np.random.default_rng(seed)
    if op.kind == "FULLY_CONNECTED":
        n_taps = op.inputs[WEIGHTS].data.shape[-1]
        rows = data.reshape(-1, n_taps)
        return rows[chosen(len(rows), limit, generator)][np.newaxis]
    windows = windows_of(op, data)
    batch, height, width = windows.shape[:3]
    positions = chosen(batch * height * width, limit, generator)
    n, y, x = np.unravel_index(positions, (batch, height, width))
    taps = windows[n, y, x]  # [rows, channels, filter height, filter width]
    groups = n_groups(op)
    taps = taps.reshape(len(positions), groups, -1, *taps.shape[2:])
    return np.ascontiguousarray(taps.transpose(1, 0, 3, 4, 2)).reshape(groups, len(positions), -1)


def chosen(n: int, limit: int, generator: np.random.Generator) -> np.ndarray:
    """At most `limit` of n numbers, in order."""
    if n <= limit:
        return np.arange(n)
    return np.sort(generator.choice(n, limit, replace=False))


def windows_of(op: Op, data: np.ndarray) -> np.ndarray:
    """A view [batch, y, x, channels, filter height, filter width] of the input of a convolution."""
    options, shape = op.options, op.inputs[WEIGHTS].data.shape
    strides = (options.stride_h, options.stride_w)
    dilations = (options.dilation_h_factor, options.dilation_w_factor)
    extents = [(n - 1) * d + 1 for n, d in zip(shape[1:3], dilations, strict=True)]
    if options.padding == SAME:
        sizes = data.shape[1:3]
        pads = list(map(same_padding, sizes, extents, strides))
        data = np.pad(data, ((0, 0), *pads, (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(data, extents, (1, 2))
    return windows[:, :: strides[0], :: strides[1], :, :: dilations[0], :: dilations[1]]


def same_padding(size: int, extent: int, stride: int) -> tuple[int, int]:
    """How many zeros SAME puts before and after one dimension."""
    total = max((-(-size // stride) - 1) * stride + extent - size, 0)
    return total // 2, total - total // 2


def set_constant(op: Op, i: int, array: np.ndarray) -> Tensor:
    """Gives `op` another constant in place of its input `i`; others keep the one before."""
    before = op.input(i)
    name = f"{op.output.name}/bias" if before is None else before.name
    origin = None if before is None else before.origin
    tensor = Tensor(name, np.dtype(np.float32), array.shape, array.astype(np.float32))
    tensor.origin = origin
    op.set_input(i, tensor)
    return tensor


def channel_scales(op: Op, scales: Sequence[float] | np.ndarray) -> np.ndarray:
    """Scales of weights, one or one for each output channel, beside `matrices`."""
    shape = op.inputs[WEIGHTS].data.shape
    n_outputs = shape[-1] if op.kind == "DEPTHWISE_CONV_2D" else shape[0]
    row = np.broadcast_to(np.asarray(scales, np.float64).ravel(), (n_outputs,))
    return row.reshape(n_groups(op), -1, 1)
