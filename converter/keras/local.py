"""Convolutions with other filters at each position, as one product of matrices for each.

patches [positions, batch, elements] times filters [positions, elements, channels]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

import numpy as np

from ...graph.core.graph import Tensor
from .activation import activated
from .core import bias_of
from .registry import Call, layer


def locally_connected(n: int) -> Callable[[Call, Tensor], Tensor]:
    """Writes the layer of `n` dimensions, from the filters of any implementation."""

    def write(call: Call, x: Tensor) -> Tensor:
        is_first = call.is_channels_first()
        if is_first:
            x = call.op("Transpose", x, call.constant([0, *range(2, n + 2), 1]))
        *lengths, depth = (
            call.known(size, "the sizes of the input") for size in call.shape(x, n + 2)[1:]
        )
        is_same = call.text("padding", "valid", "same") == "same"
        windows, strides = call.integers("kernel_size", n), call.integers("strides", n)
        call.check(
            all(k <= 2 * m for k, m in zip(windows, lengths, strict=True)),
            *("kernel_size", "at most twice as large as the input"),
        )
        positions = [
            _positions(*each, is_same) for each in zip(lengths, windows, strides, strict=True)
        ]
        (filters,) = call.integers("filters", 1)
        kernel = _kernel(call, positions, lengths, depth, filters)
        counts = [len(each) for each in positions]
        by_position = call.op("Transpose", _patches(call, x, positions), call.constant([1, 0, 2]))
        products = call.op("BatchMatMulV2", by_position, kernel)
        y = call.op("Transpose", products, call.constant([1, 0, 2]))
        y = call.op("Reshape", y, call.constant([-1, *counts, filters]))
        if is_first:
            y = call.op("Transpose", y, call.constant([0, n + 1, *range(1, n + 1)]))
        if call.flag("use_bias", True):
            bias = call.weight("bias", [*counts, filters])
            if is_first:  # Keras reshapes it, where it transposes the products
                bias = call.op("Reshape", bias, call.constant([filters, *counts]))
            y = call.op("AddV2", y, bias)
        return activated(call, y)

    return write


def _positions(length: int, window: int, stride: int, is_same: bool) -> np.ndarray:
    """Where the elements of each window lie in a dimension, some outside: [positions, window]."""
    count = -(-(length if is_same else length - window + 1) // stride)
    first = -(window // 2) if is_same else 0
    return first + np.arange(count)[:, None] * stride + np.arange(window)


def _patches(call: Call, x: Tensor, positions: Sequence[np.ndarray]) -> Tensor:
    """The windows of images padded with zeros: [batch, positions, elements]."""
    shape = call.shape(x)
    paddings = [
        [max(0, -int(p[0, 0])), max(0, int(p[-1, -1]) + 1 - int(m or 0))]
        for p, m in zip(positions, shape[1:-1], strict=True)
    ]
    if any(map(any, paddings)):
        x = call.op("Pad", x, call.constant([[0, 0], *paddings, [0, 0]]))
    one = [1] * (2 - len(positions))
    if one:
        x = call.op("ExpandDims", x, call.constant(1))
    strides = [int(p[1, 0] - p[0, 0]) if len(p) > 1 else 1 for p in positions]
    patches = call.op(
        "ExtractImagePatches",
        x,
        ksizes=[1, *one, *(p.shape[1] for p in positions), 1],
        strides=[1, *one, *strides, 1],
        rates=[1] * 4,
        padding="VALID",
    )
    n_elements = prod(p.shape[1] for p in positions) * int(shape[-1] or 0)
    sizes = [-1, prod(len(p) for p in positions), n_elements]
    return call.op("Reshape", patches, call.constant(sizes))


def _kernel(
    call: Call, positions: Sequence[np.ndarray], lengths: Sequence[int], depth: int, filters: int
) -> Tensor:
    """The filters of each position: [positions, elements, filters].

    Implementation 1 has them so. 2 has a matrix of all inputs and outputs, whose elements outside
    the windows mean nothing, and 3 those inside, by the output. Channels stand where the layer's
    images have them.
    """
    implementation, is_first = call.setting("implementation", 1), call.is_channels_first()
    call.check(implementation in (1, 2, 3), "implementation", "1, 2 or 3")
    n_positions, n_elements = prod(map(len, positions)), prod(p.shape[1] for p in positions)
    shape = [n_positions, n_elements * depth, filters]
    if implementation == 1 and not is_first:
        return call.weight("kernel", shape)
    inside = _inside(positions, lengths)
    if implementation == 1:
        values = call.weight_value("kernel", shape)
        values = values.reshape(n_positions, depth, n_elements, filters).swapaxes(1, 2)
    elif implementation == 2:
        values = _of_matrix(call, positions, lengths, depth, filters)
        values[~inside] = 0
    else:
        values = _of_elements(call, inside, depth, filters)
    return call.constant_of(values.reshape(shape), values.dtype)


def _inside(positions: Sequence[np.ndarray], lengths: Sequence[int]) -> np.ndarray:
    """Which elements of the windows lie in the image: [positions, elements]."""
    inside = np.ones((1, 1), bool)
    for each, length in zip(positions, lengths, strict=True):
        inside = np.kron(inside, (each >= 0) & (each < length))
    return inside


def _of_matrix(
    call: Call, positions: Sequence[np.ndarray], lengths: Sequence[int], depth: int, filters: int
) -> np.ndarray:
    """The filters in the matrix of implementation 2: [positions, elements, depth, filters]."""
    counts, n = [len(p) for p in positions], len(positions)
    if call.is_channels_first():
        matrix = call.weight_value("kernel", [depth, *lengths, filters, *counts])
        matrix = np.moveaxis(matrix, (0, n + 1), (-2, -1))
    else:
        matrix = call.weight_value("kernel", [*lengths, depth, *counts, filters])
        matrix = np.moveaxis(matrix, n, -2)
    inputs, outputs = [], []
    for i, (each, length) in enumerate(zip(positions, lengths, strict=True)):
        axes = [k for k in range(2 * n) if k not in (i, n + i)]
        inputs.append(np.expand_dims(each.clip(0, length - 1), axes))
        outputs.append(np.expand_dims(np.arange(len(each)), [*axes, n + i]))
    values = matrix[(*inputs, *outputs)]
    return values.reshape(prod(counts), -1, depth, filters)


def _of_elements(call: Call, inside: np.ndarray, depth: int, filters: int) -> np.ndarray:
    """The filters whose elements implementation 3 lists by output, then by input."""
    n_positions, n_elements = inside.shape
    if call.is_channels_first():
        sizes, axes = (filters, n_positions, depth, n_elements), (1, 3, 2, 0)
        is_listed = inside[None, :, None, :]
    else:
        sizes, axes = (n_positions, filters, n_elements, depth), (0, 2, 3, 1)
        is_listed = inside[:, None, :, None]
    listed = call.weight_value("kernel", [int(inside.sum()) * depth * filters])
    values = np.zeros(sizes, listed.dtype)
    values[np.broadcast_to(is_listed, sizes)] = listed
    return values.transpose(axes)


for _n in (1, 2):
    layer(f"LocallyConnected{_n}D", weights=lambda layer: ("kernel", *bias_of(layer)))(
        locally_connected(_n)
    )
