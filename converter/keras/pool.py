"""Pooling in one, two and three dimensions, of windows or of all, and to a size."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...graph.core.graph import Tensor
from .conv import in_two_dimensions, layout
from .registry import ANY, Call, layer

POOLS = {"Max": "MaxPool", "Average": "AvgPool"}
REDUCTIONS = {"Max": "Max", "Average": "Mean"}


def pooling(operation: str, n: int):
    """Writes the pooling of windows of images, or of sequences as images of height 1."""

    def write(call: Call, x):
        rank = max(n, 2) + 2
        call.shape(x, rank)
        data_format, spatial, _ = layout(call, rank)
        window = call.integers("pool_size", n, 2)
        strides = window if call.setting("strides") is None else call.integers("strides", n)
        attrs: dict[str, Any] = {"ksize": [1] * rank, "strides": [1] * rank}
        attrs["ksize"][spatial] = [1] * (2 - n) + window
        attrs["strides"][spatial] = [1] * (2 - n) + strides
        padding = call.text("padding", "valid", "same").upper()
        return call.op(operation, x, padding=padding, data_format=data_format, **attrs)

    return write


def global_pooling(reduction: str, n: int):
    """Writes the pooling of the whole image."""

    def write(call: Call, inputs: Tensor, mask: Any = None):
        rank = len(call.shape(inputs, n + 2))
        _, spatial, _ = layout(call, rank)
        axes = list(range(rank))[spatial]
        keep_dims = call.flag("keepdims")
        if mask is None or reduction != "Mean" or n != 1:
            return call.op(reduction, inputs, call.constant(axes), keep_dims=keep_dims)
        counts = call.op("ExpandDims", call.cast(mask, bool), call.constant(3 - axes[0]))
        x = call.op("SelectV2", counts, inputs, call.constant(0, inputs))
        total, count = (
            call.op("Sum", v, call.constant(axes), keep_dims=keep_dims)
            for v in (x, call.cast(counts, np.float32))
        )
        return call.op("RealDiv", total, count)

    return write


def adaptive_pooling(kind: str, n: int):
    """Writes the pooling of as many windows as the result has places."""

    def write(call: Call, x: Tensor):
        rank = len(call.shape(x, n + 2))
        data_format, spatial, _ = layout(call, rank)
        bins = call.integers("output_size", n)
        lengths = [
            call.known(size, "each dimension that is pooled") for size in call.shape(x)[spatial]
        ]
        if n == 2 and not any(length % size for length, size in zip(lengths, bins, strict=True)):
            steps = [1] * rank
            steps[spatial] = [length // size for length, size in zip(lengths, bins, strict=True)]
            attrs: dict[str, Any] = {"ksize": steps, "strides": steps, "padding": "VALID"}
            return call.op(POOLS[kind], x, data_format=data_format, **attrs)
        for axis, length, size in zip(range(rank)[spatial], lengths, bins, strict=True):
            x = pooled_axis(call, x, axis, length, size, REDUCTIONS[kind])
        return x

    return write


def pooled_axis(call: Call, x: Tensor, axis: int, length: int, size: int, reduction: str) -> Tensor:
    """One axis pooled to `size` windows, which overlap where it does not divide the axis.

    Windows that are shorter than others have their last place twice, with no weight in a mean.
    """
    if length == size:
        return x
    if size == 1:
        return call.op(reduction, x, call.constant([axis]), keep_dims=True)
    firsts = np.arange(size) * length // size
    ends = -(-np.arange(1, size + 1) * length // size)
    positions = firsts[:, None] + np.arange((ends - firsts).max())
    is_inside = positions < ends[:, None]
    indices = call.constant(np.minimum(positions, ends[:, None] - 1))
    windows = call.op("GatherV2", x, indices, call.constant(axis))
    within = call.constant([axis + 1])
    if reduction == "Max" or is_inside.all():
        return call.op(reduction, windows, within)
    weights = (is_inside / is_inside.sum(1, keepdims=True)).reshape(
        *positions.shape, *[1] * (len(call.shape(x)) - axis - 1)
    )
    return call.op("Sum", call.op("Mul", windows, call.constant(weights, x)), within)


for _kind, _operation in POOLS.items():
    for _short in (f"{_kind}Pooling", f"{_kind[:3]}Pool"):
        layer(f"{_short}1D")(in_two_dimensions(pooling(_operation, 1)))
        layer(f"{_short}2D")(pooling(_operation, 2))
        layer(f"{_short}3D")(pooling(f"{_operation}3D", 3))
for _kind, _operation in REDUCTIONS.items():
    for _n in (1, 2, 3):
        for _short in (f"Global{_kind}Pooling", f"Global{_kind[:3]}Pool"):
            layer(f"{_short}{_n}D", takes=ANY)(global_pooling(_operation, _n))
        layer(f"Adaptive{_kind}Pooling{_n}D")(adaptive_pooling(_kind, _n))
