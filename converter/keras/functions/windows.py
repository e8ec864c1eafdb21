"""Functions of keras.ops on windows of signals and images, warps, and numbers in even steps."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....graph.core.graph import Tensor
from ..registry import Call, is_integer
from .arrange import integers
from .layouts import channels_last, over_sequences
from .numerics import like
from .operations import axis_of, dtype_of, floating, operands, operation, tensor
from .products import dims_of
from .transforms import gaussian, number_of, positive

COSINES = {"hann": 0.5, "hamming": 0.54}
SOBEL = np.array([[-1, -2, -1], [0, 0, 0], [1, 2, 1]])
UNIT = {"strides": [1] * 4, "padding": "VALID"}


def _each(call: Call, value: Any, n: int, name: str) -> list[int]:
    """A setting for each of `n` spatial dimensions."""
    values = [value] * n if is_integer(value) else integers(call, value, name)
    call.require(len(values) == n and min(values) > 0, f"{name} must be {n} positive integers")
    return values


@operation("SeparableConv")
@channels_last(is_batched=True)
@over_sequences
def separable_conv(
    call: Call,
    inputs: Tensor,
    depthwise_kernel: Any,
    pointwise_kernel: Any,
    strides: Any = 1,
    padding: Any = "valid",
    data_format: Any = None,
    dilation_rate: Any = 1,
) -> Tensor:
    """Each channel's convolutions, and one of size 1 after them."""
    from .neural import padding_of, window_attributes

    call.shape(inputs, 4)
    kernels = [tensor(call, kernel) for kernel in (depthwise_kernel, pointwise_kernel)]
    attrs = window_attributes(call, 4, strides=strides, dilations=dilation_rate)
    padding = padding_of(call, padding)
    y = call.op("DepthwiseConv2dNative", inputs, kernels[0], padding=padding, **attrs)
    return call.op("Conv2D", y, kernels[1], **UNIT)


@operation("STFT")
def stft(
    call: Call,
    x: Any,
    sequence_length: Any,
    sequence_stride: Any,
    fft_length: Any,
    window: Any = "hann",
    center: Any = True,
) -> list[Tensor]:
    """The transforms of stretches of a signal, as their real and imaginary parts."""
    x = floating(call, x)
    shape = call.shape(x)
    length, step, size = (
        positive(call, value, name)
        for value, name in (
            (sequence_length, "sequence_length"),
            (sequence_stride, "sequence_stride"),
            (fft_length, "fft_length"),
        )
    )
    call.require(length <= size, f"sequence_length must be at most {size}, got {length}")
    n = call.known(shape[-1], "the number of samples")
    if center is not False:
        call.require(n > size // 2, f"the signal must have more than {size // 2} samples")
        pairs = [[0, 0]] * (len(shape) - 1) + [[size // 2] * 2]
        x, n = call.op("MirrorPad", x, call.constant(pairs), mode="REFLECT"), n + size // 2 * 2
    positions = np.arange(0, n - size + 1, step)[:, None] + np.arange(size)
    parts = call.op("GatherV2", x, call.constant(positions), call.constant(len(shape) - 1))
    factors = window_of(call, window, length)
    before = (size - length) // 2
    factors = np.pad(factors, (before, size - length - before))
    spectrum = call.op("RFFT", call.op("Mul", parts, like(call, factors, x)), call.constant([size]))
    return [call.op("Real", spectrum), call.op("Imag", spectrum)]


def window_of(call: Call, window: Any, length: int) -> np.ndarray:
    """The factors of a stretch's samples."""
    if window is None:
        return np.ones(length)
    if isinstance(window, str):
        call.require(window in COSINES, f"window must be {' or '.join(COSINES)}")
        a = COSINES[window]
        return a - (1 - a) * np.cos(2 * np.pi * np.arange(length) / length)
    array = np.asarray(window)
    is_valid = array.dtype.kind == "f" and array.shape == (length,)
    call.require(is_valid, f"window must be {length} numbers")
    return array


def _filtered(call: Call, x: Tensor, kernels: np.ndarray, padding: str) -> Tensor:
    """Each channel of images with the same kernels, [height, width, kernels]."""
    n = call.known(call.shape(x, 4)[3], "the number of channels")
    weights = kernels[:, :, None, :] * np.ones((1, 1, n, 1))
    attrs = {"strides": [1] * 4, "padding": padding}
    return call.op("DepthwiseConv2dNative", x, call.constant(weights, x), **attrs)


@operation("SobelEdges")
@channels_last()
def sobel_edges(call: Call, images: Any, data_format: Any = None) -> Tensor:
    """How fast images change downwards and to the right, along a new last axis."""
    x = floating(call, images)
    pairs = call.constant([[0, 0], [1, 1], [1, 1], [0, 0]])
    padded = call.op("MirrorPad", x, pairs, mode="REFLECT")
    y = _filtered(call, padded, np.stack([SOBEL, SOBEL.T], -1), "VALID")
    return call.op("Reshape", y, call.sizes([*dims_of(call, x), 2]))


@operation("SSIM")
@channels_last()
def structural_similarity(
    call: Call,
    images1: Any,
    images2: Any,
    max_val: Any = 1.0,
    filter_size: Any = 11,
    filter_sigma: Any = 1.5,
    k1: Any = 0.01,
    k2: Any = 0.03,
    data_format: Any = None,
) -> Tensor:
    """Likeness of images by means, variances and covariances within windows."""
    x, y = (floating(call, v) for v in operands(call, images1, images2))
    size = positive(call, filter_size, "filter_size")
    weights = gaussian(size, number_of(call, filter_sigma, "filter_sigma"))
    kernel = np.multiply.outer(weights, weights)[:, :, None]
    whole = number_of(call, max_val, "max_val")
    limits = [
        like(call, (number_of(call, k, name) * whole) ** 2, x)
        for k, name in ((k1, "k1"), (k2, "k2"))
    ]
    products = [(x, x), (y, y), (x, y)]
    mx, my = (_filtered(call, v, kernel, "VALID") for v in (x, y))
    xx, yy, xy = (_filtered(call, call.op("Mul", *pair), kernel, "VALID") for pair in products)
    means = call.op("Mul", mx, my)
    squares = call.op("AddV2", call.op("Square", mx), call.op("Square", my))
    spread = call.op("Sub", call.op("AddV2", xx, yy), squares)
    shared = call.op("Sub", xy, means)
    two = like(call, 2, x)
    ratios = [
        call.op(
            "RealDiv",
            call.op("AddV2", call.op("Mul", two, top), limit),
            call.op("AddV2", below, limit),
        )
        for top, below, limit in ((means, squares, limits[0]), (shared, spread, limits[1]))
    ]
    return call.op("Mean", call.op("Mul", *ratios), call.constant([1, 2, 3]))


@operation("Unfold")
def unfold(
    call: Call,
    x: Tensor,
    kernel_size: Any,
    dilation: Any = 1,
    padding: Any = 0,
    stride: Any = 1,
) -> Tensor:
    """[n, channels * window, places] of images with channels second."""
    _, channels, height, width = call.shape(x, 4)
    n = call.known(channels, "the number of channels")
    sizes = _each(call, kernel_size, 2, "kernel_size")
    rates, steps = _each(call, dilation, 2, "dilation"), _each(call, stride, 2, "stride")
    pads = [padding] * 2 if is_integer(padding) else integers(call, padding, "padding")
    n_positions = 1
    for size, pad, window, rate, step in zip(
        (height, width), pads, sizes, rates, steps, strict=True
    ):
        known = call.known(size, "height and width")
        n_positions *= (known + 2 * pad - rate * (window - 1) - 1) // step + 1
    y = call.op("Transpose", x, call.constant([0, 2, 3, 1]))
    if any(pads):
        y = call.op("Pad", y, call.constant([[0, 0], *([p, p] for p in pads), [0, 0]]))
    attrs: dict[str, Any] = {
        name: [1, *values, 1]
        for name, values in (("ksizes", sizes), ("strides", steps), ("rates", rates))
    }
    y = call.op("ExtractImagePatches", y, padding="VALID", **attrs)
    area = sizes[0] * sizes[1]
    y = call.op("Reshape", y, call.sizes([-1, n_positions, area, n]))
    y = call.op("Transpose", y, call.constant([0, 3, 2, 1]))
    return call.op("Reshape", y, call.sizes([-1, n * area, n_positions]))


@operation("Linspace", "Logspace", "Geomspace")
def evenly_spaced(
    call: Call,
    start: Any,
    stop: Any,
    num: Any = 50,
    endpoint: Any = True,
    base: Any = 10,
    dtype: Any = None,
    axis: Any = 0,
    retstep: Any = False,
) -> Tensor:
    """Numbers in even steps from one to another, or a base to the power of them.

    Those of Geomspace are powers of 10 between two numbers, with the sign of the first.
    """
    call.require(retstep is False, "retstep is not supported")
    result = np.dtype(np.float32) if dtype is None else dtype_of(call, dtype)
    is_float = result.kind == "f"
    call.require(is_float or call.layer.kind == "ops.Linspace", "dtype must be a float")
    x, y = first, _ = [floating(call, v) for v in operands(call, start, stop)]
    if call.layer.kind == "ops.Geomspace":
        digits = like(call, 1 / np.log(10), x)
        x, y = (call.op("Mul", call.op("Log", call.op("Abs", v)), digits) for v in (x, y))
    n = positive(call, num, "num")
    step = call.op("Sub", y, x)
    rank = len(call.shape(step))
    axis = axis_of(call, axis, rank + 1)
    shares = np.arange(n) / max(n - 1 if endpoint else n, 1)
    shares = like(call, shares.reshape([-1 if i == axis else 1 for i in range(rank + 1)]), x)
    short = rank - len(call.shape(x))
    x = call.op("Reshape", x, call.sizes([1] * short + dims_of(call, x))) if short else x
    x, step = (call.op("ExpandDims", v, call.constant(axis)) for v in (x, step))
    out = call.op("AddV2", x, call.op("Mul", step, shares))
    if call.layer.kind == "ops.Linspace":
        return out if is_float else call.cast(call.op("Floor", out), result)
    out = call.op("Pow", like(call, number_of(call, base, "base"), out), out)
    if call.layer.kind == "ops.Logspace":
        return out
    sign = call.op("Sign", first)
    sign = (
        call.op("Reshape", sign, call.sizes([1] * short + dims_of(call, sign))) if short else sign
    )
    return call.op("Mul", out, call.op("ExpandDims", sign, call.constant(axis)))


@operation("Correlate")
def correlate(call: Call, x1: Any, x2: Any, mode: Any = "valid") -> Tensor:
    """Products of one signal with another that moves along it."""
    x, y = (floating(call, v) for v in operands(call, x1, x2))
    n, m = (call.known(call.shape(v, 1)[0], "the length") for v in (x, y))
    call.require(mode in ("valid", "same", "full"), "mode must be valid, same or full")
    call.require(n >= m, f"the second signal must not be longer, got {n} and {m}")
    whole = call.op("Pad", x, call.constant([[m - 1, m - 1]])) if mode != "valid" else x
    rows = call.op("Reshape", whole, call.constant([1, 1, -1, 1]))
    kernel = call.op("Reshape", y, call.constant([1, m, 1, 1]))
    out = call.op("Reshape", call.op("Conv2D", rows, kernel, **UNIT), call.constant([-1]))
    if mode != "same":
        return out
    return call.op("Slice", out, call.constant([(m - 1) // 2]), call.constant([n]))


@operation("Corrcoef")
def correlation(call: Call, x: Any) -> Tensor:
    """How rows vary together, between -1 and 1."""
    x = floating(call, x)
    n = call.known(call.shape(x, 2)[1], "the number of samples")
    gaps = call.op("Sub", x, call.op("Mean", x, call.constant([1]), keep_dims=True))
    shared = call.op("MatMul", gaps, gaps, transpose_b=True)
    shared = call.op("RealDiv", shared, like(call, n - 1, x))
    spread = call.op("Sqrt", call.op("MatrixDiagPart", shared))
    columns = call.op("ExpandDims", spread, call.constant(1))
    out = call.op("RealDiv", shared, call.op("Mul", columns, spread))
    return call.op("Maximum", call.op("Minimum", out, like(call, 1, x)), like(call, -1, x))
