"""How much images differ, and how much their neighbouring elements do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...core.build import ops
from ...core.create import convert_to_tensor
from ...core.scopes import control_dependencies, name_scope
from ..array.array import pad
from ..array.casting import cast
from ..flow.control_flow import Assert as assert_
from .colors import convert_image_dtype

if TYPE_CHECKING:
    from ...core.graph import Operation, Tensor
    from ...core.typing import TensorLike

MSSSIM_WEIGHTS = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)
"""Of the scales, the finest first. Source: Wang, Simoncelli and Bovik, 2003, table 1."""
_INNER = np.array([-3, -2, -1], np.int32)


def total_variation(images: TensorLike, name: str | None = None) -> Tensor:
    """The sum of the absolute differences of neighbours in rows and columns, of each image.

    Args:
        images: [height, width, channels], or [batch, height, width, channels]; numbers.
        name: Of the operations.

    Returns a scalar or [batch]. Raises ValueError for other ranks.
    """
    with name_scope(name, "total_variation", [images]) as scope:
        x = convert_to_tensor(images, name="images")
        if x.sizes is None or len(x.sizes) not in (3, 4):
            raise ValueError("'images' must be either 3 or 4-dimensional.")
        down = x[..., 1:, :, :] - x[..., :-1, :, :]
        right = x[..., :, 1:, :] - x[..., :, :-1, :]
        axes = np.arange(len(x.sizes), dtype=np.int32)[-3:]
        return ops.Add(ops.Sum(ops.Abs(down), axes), ops.Sum(ops.Abs(right), axes), name=scope)


def image_gradients(image: TensorLike) -> tuple[Tensor, Tensor]:
    """The differences to the next row and to the next column, 0 in the last ones.

    Args:
        image: [batch, height, width, channels].

    Raises ValueError for another rank.
    """
    x = convert_to_tensor(image, name="image")
    if x.sizes is not None and len(x.sizes) != 4:
        raise ValueError(
            f"image_gradients expects a 4D tensor [batch_size, h, w, d], not {x.shape}."
        )
    down = x[:, 1:] - x[:, :-1]
    right = x[:, :, 1:] - x[:, :, :-1]
    return (
        pad(down, [[0, 0], [0, 1], [0, 0], [0, 0]]),
        pad(right, [[0, 0], [0, 0], [0, 1], [0, 0]]),
    )


SOBEL = np.array([[-1, -2, -1], [0, 0, 0], [1, 2, 1]], np.float32)


def sobel_edges(image: TensorLike) -> Tensor:
    """[..., channels, 2]: how much the surroundings of each element grow down and right, by Sobel.

    Args:
        image: [batch, height, width, channels] float32, of at least 2 rows and columns.
    """
    x = convert_to_tensor(image, name="image")
    shape = ops.Shape(x)
    channels = shape[-1] if x.sizes is None or x.sizes[-1] is None else x.sizes[-1]
    filters = np.stack([SOBEL, SOBEL.T], -1)[:, :, None, :]
    kernels = ops.Tile(filters, convert_to_tensor([1, 1, channels, 1], np.int32))
    padded = pad(x, [[0, 0], [1, 1], [1, 1], [0, 0]], mode="REFLECT")
    edges = ops.DepthwiseConv2dNative(padded, kernels, strides=[1, 1, 1, 1], padding="VALID")
    result = ops.Reshape(edges, ops.ConcatV2([shape, [np.int32(2)]], np.int32(0)))
    if x.sizes is not None:
        result.set_shape((*x.sizes, 2))
    return result


def _alike(first: Tensor, second: Tensor) -> list[Operation]:
    """Checks of the shapes of two images or batches: ValueError where these are known."""
    a, b = first.get_shape(), second.get_shape()
    a.with_rank_at_least(3)
    b.with_rank_at_least(3)
    a[-3:].assert_is_compatible_with(b[-3:])
    if a.ndims is not None and b.ndims is not None:
        pairs = zip(reversed(a.as_list()[:-3]), reversed(b.as_list()[:-3]), strict=False)
        if any(m != n and 1 not in (m, n) and None not in (m, n) for m, n in pairs):
            raise ValueError(f"Two images are not compatible: {a} and {b}")
    shapes = ops.Shape(first), ops.Shape(second)
    same = ops.All(ops.Equal(shapes[0][-3:], shapes[1][-3:]), np.int32(0))
    return [assert_(same, [*shapes])]


def psnr(a: TensorLike, b: TensorLike, max_val: TensorLike, name: str | None = None) -> Tensor:
    """The peak signal-to-noise ratio of pairs of images, in dB.

    Args:
        a, b: [..., height, width, channels], of shapes that broadcast before these.
        max_val: The range of their type: 1 for floats, 255 for uint8.
        name: Of the operation.

    Returns float32 of the shape before height.
    """
    with name_scope(name, "PSNR", [a, b]):
        first, second = convert_to_tensor(a, name="a"), convert_to_tensor(b, name="b")
        checks = _alike(first, second)
        peak = convert_image_dtype(cast(max_val, first.dtype), np.float32)
        wide = [convert_image_dtype(x, np.float32) for x in (first, second)]
        error = ops.Mean(ops.SquaredDifference(*wide), _INNER)
        ratio = ops.Sub(
            ops.RealDiv(np.float32(20) * ops.Log(peak), ops.Log(np.float32(10))),
            np.float32(10 / np.log(10)) * ops.Log(error),
            name="psnr",
        )
        with control_dependencies(checks):
            return ops.Identity(ratio)


def _gaussian(size: int, sigma: float) -> np.ndarray:
    """[size, size, 1, 1] weights that sum to 1."""
    positions = np.arange(size, dtype=np.float32) - (size - 1) / 2
    line = positions * positions * (-0.5 / sigma**2)
    powers = np.add.outer(line, line)
    weights = np.exp(powers - powers.max())
    return (weights / weights.sum()).astype(np.float32)[:, :, None, None]


def _similarity(
    first: Tensor,
    second: Tensor,
    peak: Tensor,
    filter_size: int,
    sigma: float,
    k1: float,
    k2: float,
) -> tuple[Tensor, Tensor]:
    """At each place, the similarity, and its part of contrast and structure alone.

    Source: Wang, Bovik, Sheikh and Simoncelli, Image quality assessment, 2004.
    """
    shape = ops.Shape(first)
    kernel = ops.Tile(
        _gaussian(filter_size, sigma), ops.ConcatV2([[1, 1], shape[-1:], [1]], np.int32(0))
    )

    def blurred(x: Tensor) -> Tensor:
        inner = ops.Reshape(x, ops.ConcatV2([[-1], ops.Shape(x)[-3:]], np.int32(0)))
        y = ops.DepthwiseConv2dNative(inner, kernel, strides=[1, 1, 1, 1], padding="VALID")
        return ops.Reshape(y, ops.ConcatV2([ops.Shape(x)[:-3], ops.Shape(y)[1:]], np.int32(0)))

    c1 = ops.Square(np.float32(k1) * peak)
    c2 = ops.Square(np.float32(k2) * peak)
    mean_1, mean_2 = blurred(first), blurred(second)
    product = mean_1 * mean_2 * np.float32(2)
    squares = ops.Square(mean_1) + ops.Square(mean_2)
    luminance = (product + c1) / (squares + c1)
    covariance = blurred(first * second) * np.float32(2)
    variances = blurred(ops.Square(first) + ops.Square(second))
    structure = (covariance - product + c2) / (variances - squares + c2)
    return luminance * structure, structure


def _prepared(
    img1: TensorLike, img2: TensorLike, max_val: TensorLike, filter_size: int
) -> tuple[Tensor, Tensor, Tensor]:
    """Two images as float32, and the range of their numbers."""
    first, second = convert_to_tensor(img1, name="img1"), convert_to_tensor(img2, name="img2")
    checks = _alike(first, second)
    large = ops.GreaterEqual(ops.Shape(first)[-3:-1], np.int32(filter_size))
    checks.append(assert_(ops.All(large, np.int32(0)), [ops.Shape(first), filter_size]))
    with control_dependencies(checks):
        first = ops.Identity(first)
    peak = convert_image_dtype(cast(max_val, first.dtype), np.float32)
    return convert_image_dtype(first, np.float32), convert_image_dtype(second, np.float32), peak


def ssim(
    img1: TensorLike,
    img2: TensorLike,
    max_val: TensorLike,
    filter_size: int = 11,
    filter_sigma: float = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
    return_index_map: bool = False,
) -> Tensor:
    """The structural similarity of pairs of images, in (-1, 1].

    Args:
        img1, img2: [..., height, width, channels], of shapes that broadcast before these.
        max_val: The range of their type: 1 for floats, 255 for uint8.
        filter_size: Height and width of the windows that are compared.
        filter_sigma: Of the weights within them.
        k1, k2: What keeps the quotients finite.
        return_index_map: Whether the result is that of each place.

    Returns float32 of the shape before height.

    Raises InvalidArgumentError, when it runs, for images smaller than the filter.

    Source: Wang, Bovik, Sheikh and Simoncelli, Image quality assessment, 2004.
    """
    with name_scope(None, "SSIM", [img1, img2]):
        first, second, peak = _prepared(img1, img2, max_val, filter_size)
        by_place, _ = _similarity(first, second, peak, filter_size, filter_sigma, k1, k2)
        if return_index_map:
            return ops.Mean(by_place, np.array([-1], np.int32))
        return ops.Mean(ops.Mean(by_place, _INNER[:2]), np.array([-1], np.int32))


def ssim_multiscale(
    img1: TensorLike,
    img2: TensorLike,
    max_val: TensorLike,
    power_factors: Sequence[float] = MSSSIM_WEIGHTS,
    filter_size: int = 11,
    filter_sigma: float = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
) -> Tensor:
    """The structural similarity over several scales, each half of the one before, in [0, 1].

    Args:
        img1, img2, max_val, filter_size, filter_sigma, k1, k2: See `ssim`.
        power_factors: The weight of each scale, the finest first.

    Source: Wang, Simoncelli and Bovik, Multiscale structural similarity, 2003.
    """
    with name_scope(None, "MS-SSIM", [img1, img2]):
        first, second, peak = _prepared(img1, img2, max_val, filter_size)
        pair = first, second
        parts: list[Tensor] = []
        similarity = parts
        for i in range(len(power_factors)):
            if i > 0:
                pair = _halved(pair[0]), _halved(pair[1])
            whole, structure = _similarity(*pair, peak, filter_size, filter_sigma, k1, k2)
            similarity = ops.Relu(ops.Mean(whole, _INNER[:2]))
            parts.append(ops.Relu(ops.Mean(structure, _INNER[:2])))
        stacked = ops.Pack([*parts[:-1], similarity], axis=-1)
        powers = ops.Pow(stacked, np.array(power_factors, np.float32))
        by_channel = ops.Prod(powers, np.array([-1], np.int32))
        return ops.Mean(by_channel, np.array([-1], np.int32))


def _halved(x: Tensor) -> Tensor:
    """Means of 2x2 elements; a last row or column alone is repeated."""
    shape = ops.Shape(x)
    inner = ops.Reshape(x, ops.ConcatV2([[-1], shape[-3:]], np.int32(0)))
    odd = ops.FloorMod(shape[-3:-1], np.int32(2))
    zero = np.zeros(2, np.int32)
    paddings = ops.Pack([zero, ops.Pack([0, odd[0]]), ops.Pack([0, odd[1]]), zero])
    even = ops.MirrorPad(inner, paddings, mode="SYMMETRIC")
    y = ops.AvgPool(even, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID")
    return ops.Reshape(y, ops.ConcatV2([shape[:-3], ops.Shape(y)[1:]], np.int32(0)))
