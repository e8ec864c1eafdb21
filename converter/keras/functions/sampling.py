"""Functions of keras.ops that take values from places between those of a tensor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np

from ....graph.core.graph import Tensor
from ..registry import Call
from .arrange import integers
from .layouts import channels_last
from .numerics import like
from .operations import axes_of, floating, operation, tensor
from .products import dims_of
from .transforms import number_of


def _wrapped(call: Call, place: Tensor, n: int) -> Tensor:
    """Places beside images in those that repeat, as TensorFlow counts them."""
    span, length = like(call, max(n - 1, 1), place), like(call, n, place)
    turns = call.op("Floor", call.op("RealDiv", place, span))
    outside = call.op("Sub", place, call.op("Mul", turns, length))
    is_inside = call.op(
        "LogicalAnd",
        call.op("GreaterEqual", place, like(call, 0, place)),
        call.op("LessEqual", place, span),
    )
    return call.op("SelectV2", is_inside, place, outside)


def _reflected(call: Call, place: Tensor, n: int) -> Tensor:
    """Places beside images as those within, the edges being mirrors."""
    period = like(call, 2 * n, place)
    remainder = call.op("FloorMod", place, period)
    back = call.op("Sub", like(call, 2 * n - 1, place), remainder)
    return call.op("SelectV2", call.op("Less", remainder, like(call, n, place)), remainder, back)


INSIDE: dict[str, Callable[[Call, Tensor, int], Tensor]] = {
    "nearest": lambda call, place, n: place,
    "reflect": _reflected,
    "wrap": _wrapped,
}
"""Where within images places beside them are; the nearest of what is not."""


@operation("AffineTransform")
@channels_last()
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
    call.require(interpolation in ("bilinear", "nearest"), "interpolation must be known")
    call.require(
        fill_mode in ("constant", *INSIDE), f"fill_mode must be constant, {', '.join(INSIDE)}"
    )
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
    if fill_mode in INSIDE:
        positions = [
            INSIDE[fill_mode](call, place, n)
            for place, n in zip(positions, (height, width), strict=True)
        ]
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


def _mirrored(call: Call, index: Tensor, size: Tensor, is_edge_doubled: bool) -> Tensor:
    """Whole numbers in [0, size) from beyond, by two sizes as Keras on TensorFlow counts them."""
    period = call.op("Mul", size, call.constant(2))
    remainder = call.op("FloorMod", call.op("Abs", index), period)
    back = call.op("Sub", period, remainder)
    back = call.op("Sub", back, call.constant(1)) if is_edge_doubled else back
    return call.op("SelectV2", call.op("Less", remainder, size), remainder, back)


def _clipped(call: Call, index: Tensor, size: Tensor) -> Tensor:
    last = call.op("Sub", size, call.constant(1))
    return call.op("Minimum", call.op("Maximum", index, call.constant(0)), last)


FIXES: dict[str, Callable[[Call, Tensor, Tensor], Tensor]] = {
    "constant": _clipped,
    "nearest": _clipped,
    "wrap": lambda call, index, size: call.op("FloorMod", index, size),
    "mirror": lambda call, index, size: _mirrored(call, index, size, False),
    "reflect": lambda call, index, size: _mirrored(call, index, size, True),
}
"""Which element a whole number beside a tensor stands for."""


@operation("MapCoordinates")
def map_coordinates(
    call: Call,
    inputs: Tensor,
    coordinates: Any,
    order: Any = 1,
    fill_mode: Any = "constant",
    fill_value: Any = 0,
) -> Tensor:
    """Values at places, [rank, ...]: the nearest elements, or those around mixed."""
    call.require(order in (0, 1), f"order must be 0 or 1, got {str(order)[:20]}")
    call.require(fill_mode in FIXES, f"fill_mode must be one of {', '.join(FIXES)}")
    rank = len(call.shape(inputs))
    axes = call.ops("Unpack", floating(call, coordinates), num=rank, axis=0)
    x, corners = floating(call, inputs), []
    ends = [
        _neighbours(call, place) if order else [(call.op("Rint", place), None)] for place in axes
    ]
    sizes = [call.size(inputs, i) for i in range(rank)]
    for corner in product(*ends):
        indices = [call.cast(index, np.int32) for index, _ in corner]
        fixed = [FIXES[fill_mode](call, *pair) for pair in zip(indices, sizes, strict=True)]
        value = call.op("GatherNd", x, call.op("Pack", *fixed, axis=-1))
        if fill_mode == "constant":
            fill = like(call, number_of(call, fill_value, "fill_value"), x)
            for index, inside in zip(indices, fixed, strict=True):
                value = call.op("SelectV2", call.op("Equal", index, inside), value, fill)
        for _, share in corner:
            value = value if share is None else call.op("Mul", value, share)
        corners.append(value)
    total = corners[0]
    for value in corners[1:]:
        total = call.op("AddV2", total, value)
    if inputs.dtype.kind != "f":
        total = call.op("Rint", total)
    return call.cast(total, inputs.dtype)


@operation("PerspectiveTransform")
@channels_last()
def perspective_transform(
    call: Call,
    images: Tensor,
    start_points: Any,
    end_points: Any,
    interpolation: Any = "bilinear",
    fill_value: Any = 0,
    data_format: Any = None,
) -> Tensor:
    """Images of which four points come to other places."""
    are_constant = all(isinstance(v, np.ndarray | list) for v in (start_points, end_points))
    call.require(are_constant, "its points must be constant")
    starts, ends = (np.asarray(v, np.float64) for v in (start_points, end_points))
    is_valid = starts.shape == ends.shape and starts.shape[-2:] == (4, 2)
    call.require(is_valid, f"points must be [..., 4, 2], got {starts.shape} and {ends.shape}")
    pairs = zip(starts.reshape(-1, 4, 2), ends.reshape(-1, 4, 2), strict=True)
    transforms = np.array([_homography(call, *pair) for pair in pairs], np.float32)
    return affine_transform(call, images, transforms, interpolation, "constant", fill_value)


def _homography(call: Call, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """The eight numbers of the transform that gives the starts for the ends."""
    rows = []
    for (x, y), (u, v) in zip(starts, ends, strict=True):
        rows += [[u, v, 1, 0, 0, 0, -x * u, -x * v], [0, 0, 0, u, v, 1, -y * u, -y * v]]
    try:
        return np.linalg.solve(np.array(rows), starts.ravel())
    except np.linalg.LinAlgError:
        call.require(False, "no three of its points may lie on one line")
        raise


def _lanczos(x: np.ndarray, radius: float) -> np.ndarray:
    return np.where(x > radius, 0, np.sinc(x) * np.sinc(x / radius))


def _cubic(x: np.ndarray) -> np.ndarray:
    inner = ((1.5 * x - 2.5) * x) * x + 1
    outer = ((-0.5 * x + 2.5) * x - 4) * x + 2
    return np.where(x >= 2, 0, np.where(x >= 1, outer, inner))


def _linear(x: np.ndarray) -> np.ndarray:
    return np.maximum(0, 1 - x)


KERNELS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    **dict.fromkeys(("linear", "bilinear", "trilinear", "triangle"), _linear),
    **dict.fromkeys(("cubic", "bicubic", "tricubic"), _cubic),
    "lanczos3": lambda x: _lanczos(x, 3.0),
    "lanczos5": lambda x: _lanczos(x, 5.0),
}
"""The weight of a value by its distance."""
LEAST_WEIGHT = 1000 * np.finfo(np.float32).eps


def _weights(
    n: int, m: int, scale: float, translation: float, method: str, antialias: bool
) -> np.ndarray:
    """[n, m]: how much each of n values is in each of m places."""
    places = (np.arange(m) + 0.5 - translation) / scale - 0.5
    width = max(1 / scale, 1) if antialias else 1
    weights = KERNELS[method](np.abs(places - np.arange(n)[:, None]) / width)
    total = weights.sum(0)
    is_sum = np.abs(total) > LEAST_WEIGHT
    weights = np.where(is_sum, weights / np.where(is_sum, total, 1), 0)
    return np.where((places >= -0.5) & (places <= n - 0.5), weights, 0)


@operation("ScaleAndTranslate")
def scale_and_translate(
    call: Call,
    images: Tensor,
    output_shape: Any,
    scale: Any,
    translation: Any,
    spatial_dims: Any,
    method: Any,
    antialias: Any = True,
) -> Tensor:
    """A tensor made larger and moved along some axes, each place a mean by a window."""
    call.require(method in KERNELS, f"method must be one of {', '.join(KERNELS)}")
    rank = len(call.shape(images))
    axes = axes_of(call, spatial_dims, rank)
    sizes = integers(call, output_shape, "output_shape")
    numbers = [
        np.asarray(v if isinstance(v, np.ndarray | list) else None) for v in (scale, translation)
    ]
    is_valid = all(v.dtype.kind in "fiu" and v.shape == (len(axes),) for v in numbers)
    call.require(is_valid and len(sizes) == rank, "scale and translation must be constant numbers")
    y = floating(call, images)
    for axis, factor, offset in zip(axes, *numbers, strict=True):
        n = call.known(call.shape(y)[axis], "each dimension that is scaled")
        weights = _weights(
            n, sizes[axis], float(factor), float(offset), method, antialias is not False
        )
        letters = "abcdefgh"[:rank]
        result = letters.replace(letters[axis], "z")
        equation = f"{letters},{letters[axis]}z->{result}"
        y = call.op("Einsum", y, like(call, weights, y), equation=equation)
    if images.dtype.kind == "f":
        return y
    limits = [call.op(kind, images, call.constant(list(range(rank)))) for kind in ("Max", "Min")]
    y = call.cast(call.op("Rint", y), images.dtype)
    return call.op("Maximum", call.op("Minimum", y, limits[0]), limits[1])
