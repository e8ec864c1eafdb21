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


def adaptive_pooling(reduction: str, n: int):
    """Writes the pooling of as many windows as the result has places."""

    def write(call: Call, x: Tensor):
        rank = len(call.shape(x, n + 2))
        _, spatial, _ = layout(call, rank)
        n_bins = call.integers("output_size", n)
        for axis, size in zip(range(rank)[spatial], n_bins, strict=True):
            length = call.known(call.shape(x)[axis], "each dimension that is pooled")
            x = pooled_axis(call, x, axis, length, size, reduction)
        return x

    return write


def pooled_axis(call: Call, x: Tensor, axis: int, length: int, size: int, reduction: str) -> Tensor:
    """One axis pooled to `size` windows, which overlap where it does not divide the axis."""
    if length == size:
        return x
    axis_tensor = call.constant([axis])
    if size == 1:
        return call.op(reduction, x, axis_tensor, keep_dims=True)
    windows = []
    for i in range(size):
        first, end = i * length // size, -(-(i + 1) * length // size)
        begin, sizes = [0] * len(call.shape(x)), [-1] * len(call.shape(x))
        begin[axis], sizes[axis] = first, end - first
        window = call.op("Slice", x, call.constant(begin), call.constant(sizes))
        windows.append(call.op(reduction, window, axis_tensor, keep_dims=True))
    return call.op("ConcatV2", *windows, call.constant(axis))


for _kind, _operation in POOLS.items():
    for _short in (f"{_kind}Pooling", f"{_kind[:3]}Pool"):
        layer(f"{_short}1D")(in_two_dimensions(pooling(_operation, 1)))
        layer(f"{_short}2D")(pooling(_operation, 2))
        layer(f"{_short}3D")(pooling(f"{_operation}3D", 3))
for _kind, _operation in REDUCTIONS.items():
    for _n in (1, 2, 3):
        for _short in (f"Global{_kind}Pooling", f"Global{_kind[:3]}Pool"):
            layer(f"{_short}{_n}D", takes=ANY)(global_pooling(_operation, _n))
        layer(f"Adaptive{_kind}Pooling{_n}D")(adaptive_pooling(_operation, _n))
