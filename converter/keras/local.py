"""Convolutions with other filters at each place, as one product of matrices for each place."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from ...graph.core.graph import Tensor
from .activation import activated
from .core import bias_of
from .registry import Call, layer


def locally_connected(n: int) -> Callable[[Call, Tensor], Tensor]:
    """Writes patches [places, batch, elements] times filters [places, elements, filters]."""

    def write(call: Call, x: Tensor) -> Tensor:
        call.require(not call.is_channels_first(), "channels_first is not supported here")
        call.check(
            call.setting("implementation", 1) == 1, "implementation", "1; the others mask a matrix"
        )
        call.text("padding", "valid")
        shape = call.shape(x, n + 2)
        lengths = [call.known(size, "the sizes of the input") for size in shape[1:]]
        window, strides = call.integers("kernel_size", n), call.integers("strides", n)
        (filters,) = call.integers("filters", 1)
        counts = [(m - k) // s + 1 for m, k, s in zip(lengths[:-1], window, strides, strict=True)]
        one = [1] * (2 - n)
        if n == 1:
            x = call.op("ExpandDims", x, call.constant(1))
        patches = call.op(
            "ExtractImagePatches",
            x,
            ksizes=[1, *one, *window, 1],
            strides=[1, *one, *strides, 1],
            rates=[1] * 4,
            padding="VALID",
        )
        n_positions, n_elements = prod(counts), prod(window) * lengths[-1]
        rows = call.op("Reshape", patches, call.constant([-1, n_positions, n_elements]))
        kernel = call.weight("kernel", [n_positions, n_elements, filters])
        by_position = call.op("Transpose", rows, call.constant([1, 0, 2]))
        products = call.op("BatchMatMulV2", by_position, kernel)
        y = call.op("Transpose", products, call.constant([1, 0, 2]))
        y = call.op("Reshape", y, call.constant([-1, *counts, filters]))
        if call.flag("use_bias", True):
            y = call.op("AddV2", y, call.weight("bias", [*counts, filters]))
        return activated(call, y)

    return write


for _n in (1, 2):
    layer(f"LocallyConnected{_n}D", weights=lambda layer: ("kernel", *bias_of(layer)))(
        locally_connected(_n)
    )
