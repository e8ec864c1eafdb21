"""Pooling."""

from __future__ import annotations

from .conv import in_two_dimensions, layout
from .registry import Call, layer

POOLS = {"Max": "MaxPool", "Average": "AvgPool"}
REDUCTIONS = {"Max": "Max", "Average": "Mean"}


def pooling(operation: str, n: int):
    """Writes the pooling of windows of images, or of sequences as images of height 1."""

    def write(call: Call, x):
        call.shape(x, 4)
        data_format, spatial, _ = layout(call, 4)
        window = call.integers("pool_size", n, 2)
        strides = window if call.setting("strides") is None else call.integers("strides", n)
        attrs = {"ksize": [1] * 4, "strides": [1] * 4}
        attrs["ksize"][spatial] = [1] * (2 - n) + window
        attrs["strides"][spatial] = [1] * (2 - n) + strides
        padding = call.text("padding", "valid", "same").upper()
        return call.op(operation, x, padding=padding, data_format=data_format, **attrs)

    return write


def global_pooling(reduction: str, n: int):
    """Writes the pooling of the whole image."""

    def write(call: Call, x):
        rank = len(call.shape(x, n + 2))
        _, spatial, _ = layout(call, rank)
        axes = list(range(rank))[spatial]
        return call.op(reduction, x, call.constant(axes), keep_dims=call.flag("keepdims"))

    return write


for _kind, _operation in POOLS.items():
    for _short in (f"{_kind}Pooling", f"{_kind[:3]}Pool"):
        layer(f"{_short}1D")(in_two_dimensions(pooling(_operation, 1)))
        layer(f"{_short}2D")(pooling(_operation, 2))
for _kind, _operation in REDUCTIONS.items():
    for _short in (f"Global{_kind}Pooling", f"Global{_kind[:3]}Pool"):
        for _n in (1, 2, 3):
            layer(f"{_short}{_n}D")(global_pooling(_operation, _n))
