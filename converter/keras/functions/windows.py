"""Functions of keras.ops on windows of signals and images, warps, and numbers in even steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....graph.core.graph import Tensor
from ..registry import Call, is_integer
from .arrange import integers
from .numerics import like
from .operations import floating, operands, operation, tensor
from .products import dims_of
from .transforms import LAST, gaussian, number_of, positive

COSINES = {"hann": 0.5, "hamming": 0.54}
SOBEL = np.array([[-1, -2, -1], [0, 0, 0], [1, 2, 1]])
UNIT = {"strides": [1] * 4, "padding": "VALID"}


def _each(call: Call, value: Any, n: int, name: str) -> list[int]:
    """A setting for each of `n` spatial dimensions."""
    values = [value] * n if is_integer(value) else integers(call, value, name)
    call.require(len(values) == n and min(values) > 0, f"{name} must be {n} positive integers")
    return values


@operation("SeparableConv")
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

    call.require(data_format in LAST, "channels must come last")
    n = len(call.shape(inputs, 3, 4)) - 2
    x, kernels = inputs, [tensor(call, kernel) for kernel in (depthwise_kernel, pointwise_kernel)]
    steps, rates = (
        _each(call, value, n, name)
        for value, name in ((strides, "strides"), (dilation_rate, "dilation_rate"))
    )
    if n == 1:
        x = call.op("ExpandDims", x, call.constant(1))
        kernels = [call.op("ExpandDims", kernel, call.constant(0)) for kernel in kernels]
        steps, rates = steps * 2, [1, *rates]
    attrs = window_attributes(call, 4, strides=steps, dilations=rates, data_format=None)
    y = call.op("DepthwiseConv2dNative", x, kernels[0], padding=padding_of(call, padding), **attrs)
    y = call.op("Conv2D", y, kernels[1], **UNIT)
    return y if n == 2 else call.op("Squeeze", y, squeeze_dims=[1])


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
def sobel_edges(call: Call, images: Any, data_format: Any = None) -> Tensor:
    """How fast images change downwards and to the right, along a new last axis."""
    call.require(data_format in LAST, "channels must come last")
    x = floating(call, images)
    pairs = call.constant([[0, 0], [1, 1], [1, 1], [0, 0]])
    padded = call.op("MirrorPad", x, pairs, mode="REFLECT")
    y = _filtered(call, padded, np.stack([SOBEL, SOBEL.T], -1), "VALID")
    return call.op("Reshape", y, call.sizes([*dims_of(call, x), 2]))


@operation("SSIM")
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
    call.require(data_format in LAST, "channels must come last")
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


@operation("AffineTransform")
def affine_transform(
    call: Call,
    images: Tensor,
    transform: Any,
    interpolation: Any = "bilinear",
    fill_mode: Any = "constant",
    fill_value: Any = 0,
    data_format: Any = None,
) -> Tensor:
    """Images whose pixel (x, y) is that at (a x + b y + c, d x + e y + f) / (g x + h y + 1)."""
    call.require(data_format in LAST, "channels must come last")
    call.require(interpolation in ("bilinear", "nearest"), "interpolation must be known")
    call.require(fill_mode in ("constant", "nearest"), "fill_mode must be constant or nearest")
    rank = len(call.shape(images, 3, 4))
    x = call.op("ExpandDims", images, call.constant(0)) if rank == 3 else images
    height, width = (call.known(n, "height and width") for n in call.shape(x)[1:3])
    matrix = floating(call, tensor(call, transform))
    rows = call.op("Reshape", matrix, call.constant([-1, 8, 1]))
    grid = np.indices((height, width)).reshape(2, -1).astype(np.float32)
    columns = [like(call, grid[i], x) for i in (1, 0)]

    def combined(numbers: Sequence[int], last: Any) -> Tensor:
        factors = [call.op("GatherV2", rows, call.constant(i), call.constant(1)) for i in numbers]
        parts = [call.op("Mul", f, c) for f, c in zip(factors, columns, strict=False)]
        total = call.op("AddV2", *parts)
        return call.op("AddV2", total, factors[2] if last is None else like(call, last, x))

    below = combined((6, 7), 1)
    positions = [call.op("RealDiv", combined(part, None), below) for part in ((3, 4, 5), (0, 1, 2))]
    fill = number_of(call, fill_value, "fill_value") if fill_mode == "constant" else None
    y = _sampled(call, x, positions, (height, width), interpolation == "nearest", fill)
    return call.op("Squeeze", y, squeeze_dims=[0]) if rank == 3 else y


def _sampled(
    call: Call,
    x: Tensor,
    positions: Sequence[Tensor],
    sizes: Sequence[int],
    is_nearest: bool,
    fill: float | None,
) -> Tensor:
    """Pixels of images at places of rows and columns, [n or 1, height * width]; mixed between."""
    n_channels = call.known(call.shape(x)[3], "the number of channels")
    batch = dims_of(call, x)[0]
    n = sizes[0] * sizes[1]
    zeros = call.op("Fill", call.sizes([batch, 1]), like(call, 0, x))
    positions = [call.op("AddV2", place, zeros) for place in positions]
    pixels = call.op("Reshape", x, call.sizes([batch, n, n_channels]))
    if is_nearest:
        ends = [[(_nearest(call, place), None)] for place in positions]
    else:
        ends = [_neighbours(call, place) for place in positions]
    total = None
    for row, row_share in ends[0]:
        for column, column_share in ends[1]:
            value = _pixel(call, pixels, (row, column), sizes, fill)
            for share in (row_share, column_share):
                if share is not None:
                    value = call.op("Mul", value, call.op("ExpandDims", share, call.constant(-1)))
            total = value if total is None else call.op("AddV2", total, value)
    assert total is not None
    return call.op("Reshape", total, call.sizes([batch, *sizes, n_channels]))


def _nearest(call: Call, place: Tensor) -> Tensor:
    """The nearest whole numbers, away from 0 in the middle."""
    size = call.op("Floor", call.op("AddV2", call.op("Abs", place), like(call, 0.5, place)))
    return call.op("Mul", call.op("Sign", place), size)


def _neighbours(call: Call, place: Tensor) -> list[tuple[Tensor, Tensor]]:
    """The whole numbers before and behind places, and their shares."""
    before, one = call.op("Floor", place), like(call, 1, place)
    share = call.op("Sub", place, before)
    return [(before, call.op("Sub", one, share)), (call.op("AddV2", before, one), share)]


def _pixel(
    call: Call, pixels: Tensor, place: Sequence[Tensor], sizes: Sequence[int], fill: float | None
) -> Tensor:
    """[n, places, channels]: the pixels there, `fill` or the nearest ones outside of images."""
    inner, inside = [], None
    for index, size in zip(place, sizes, strict=True):
        limits = [like(call, limit, index) for limit in (0, size - 1)]
        cut = call.op("Minimum", call.op("Maximum", index, limits[0]), limits[1])
        is_in = call.op("Equal", cut, index)
        inside = is_in if inside is None else call.op("LogicalAnd", inside, is_in)
        inner.append(call.cast(cut, np.int32))
    at = call.op("AddV2", call.op("Mul", inner[0], call.constant(sizes[1])), inner[1])
    value = call.op("GatherV2", pixels, at, call.constant(1), batch_dims=1)
    if fill is None or inside is None:
        return value
    mask = call.op("ExpandDims", inside, call.constant(-1))
    return call.op("SelectV2", mask, value, like(call, fill, value))


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
    call.require(dtype in (None, "float32") and retstep is False, "must give float32 alone")
    x, y = first, _ = [floating(call, v) for v in operands(call, start, stop)]
    if call.layer.kind == "ops.Geomspace":
        digits = like(call, 1 / np.log(10), x)
        x, y = (call.op("Mul", call.op("Log", call.op("Abs", v)), digits) for v in (x, y))
    n = positive(call, num, "num")
    step = call.op("Sub", y, x)
    rank = len(call.shape(step))
    axis = axis if axis >= 0 else axis + rank + 1
    shares = np.arange(n) / max(n - 1 if endpoint else n, 1)
    shares = like(call, shares.reshape([-1 if i == axis else 1 for i in range(rank + 1)]), x)
    x, step = (call.op("ExpandDims", v, call.constant(axis)) for v in (x, step))
    out = call.op("AddV2", x, call.op("Mul", step, shares))
    if call.layer.kind == "ops.Linspace":
        return out
    out = call.op("Pow", like(call, number_of(call, base, "base"), out), out)
    if call.layer.kind == "ops.Logspace":
        return out
    return call.op("Mul", out, call.op("ExpandDims", call.op("Sign", first), call.constant(axis)))


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
