"""Functions of images for other forms of them: channels first, and sequences."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from ....graph.core.graph import Tensor
from ..registry import Call, is_integer
from .operations import tensor

IMAGES = ("x", "inputs", "images", "images1", "images2")
"""The names of arguments that are images."""
WINDOWS = ("pool_size", "strides", "dilation_rate", "output_padding")
"""The names of settings that have a number for each spatial dimension."""


def channels_last(is_batched: bool = False) -> Callable:
    """Lets a function of images with channels last serve those with channels first.

    Images of three dimensions are one image, or sequences where there is always a batch. What a
    result has more dimensions than the images stays behind.
    """

    def decorate(function: Callable) -> Callable:
        signature = inspect.signature(function)

        @functools.wraps(function)
        def write(call: Call, *args: Any, **kwargs: Any) -> Any:
            bound = signature.bind(call, *args, **kwargs)
            layout = bound.arguments.pop("data_format", None)
            if layout in (None, "channels_last", "NHWC"):
                return function(*bound.args, **bound.kwargs)
            call.require(
                layout in ("channels_first", "NCHW"),
                f"data_format must be channels_last or channels_first, got {str(layout)[:20]}",
            )
            names = [name for name in IMAGES if name in bound.arguments]
            rank = len(call.shape(bound.arguments[names[0]], 3, 4, 5))
            first = int(is_batched or rank > 3)
            to_last = [*range(first), *range(first + 1, rank), first]
            for name in names:
                bound.arguments[name] = _transposed(call, bound.arguments[name], to_last)
            result = function(*bound.args, **bound.kwargs)
            n = len(call.shape(result))
            to_first = [*range(first), rank - 1, *range(first, rank - 1), *range(rank, n)]
            return result if n < rank else _transposed(call, result, to_first)

        return write

    return decorate


def _transposed(call: Call, x: Tensor, axes: list[int]) -> Tensor:
    return call.op("Transpose", x, call.constant(axes))


def over_sequences(function: Callable) -> Callable:
    """Lets a function of windows of images serve sequences, as images of height 1."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def write(call: Call, inputs: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        if len(call.shape(inputs, 3, 4, 5)) > 3:
            return function(call, inputs, *args, **kwargs)
        wide = call.op("ExpandDims", inputs, call.constant(1))
        bound = signature.bind(call, wide, *args, **kwargs)
        for name, value in bound.arguments.items():
            if name.endswith("kernel"):
                kernel = tensor(call, value)
                bound.arguments[name] = call.op("ExpandDims", kernel, call.constant(0))
            elif name in WINDOWS and value is not None:
                first = 0 if name == "output_padding" else 1
                bound.arguments[name] = [first, *([value] if is_integer(value) else value)]
        return call.op("Squeeze", function(*bound.args, **bound.kwargs), squeeze_dims=[1])

    return write
