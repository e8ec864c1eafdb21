"""Images seen through projective transforms: ImageProjectiveTransformV2 and V3."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ...core.registry import op
from ...core.shapes import Shape, integers, known, require

if TYPE_CHECKING:
    from ...core.protocols import OperationView

    Fill = Callable[[np.ndarray, int], np.ndarray]

_ONE = np.float32(1)


def _whole(x: np.ndarray, by: int) -> np.ndarray:
    """How many times `by` goes into `x`, cut off; no number where x is none."""
    return np.trunc(x / np.float32(by))


def _clamped(x: np.ndarray, n: int) -> np.ndarray:
    return np.clip(x, np.float32(0), np.float32(n - 1))


def _reflected(x: np.ndarray, n: int) -> np.ndarray:
    """Coordinates mirrored at the edges, [abcd] seen as [dcba|abcd|dcba]."""
    if n <= 1:
        return _clamped(np.where((x < 0) | (x > n - 1), np.float32(0), x), n)
    twice = np.float32(2 * n)
    low = np.where(x < twice, twice * _whole(-x, 2 * n) + x, x)
    low = np.where(low < -n, low + twice, -low - _ONE)
    high = x - twice * _whole(x, 2 * n)
    high = np.where(high >= n, twice - high - _ONE, high)
    return _clamped(np.where(x < 0, low, np.where(x > n - 1, high, x)), n)


def _wrapped(x: np.ndarray, n: int) -> np.ndarray:
    """Coordinates beyond an edge come in at the other, [abcd] seen as [abcd|abcd|abcd]."""
    if n <= 1:
        return _clamped(np.where((x < 0) | (x > n - 1), np.float32(0), x), n)
    low = x + np.float32(n) * (_whole(-x, n - 1) + _ONE)
    high = x - np.float32(n) * _whole(x, n - 1)
    return _clamped(np.where(x < 0, low, np.where(x > n - 1, high, x)), n)


_FILLS: dict[bytes, Fill] = {
    b"CONSTANT": lambda x, n: x,
    b"NEAREST": _clamped,
    b"REFLECT": _reflected,
    b"WRAP": _wrapped,
}
"""How coordinates outside of the image are moved into it."""
_INTERPOLATIONS = (b"NEAREST", b"BILINEAR")


def _shape(op: OperationView) -> Shape:
    batch, _, _, channels = known(op, 0, 4)
    sizes = integers(op, 2)
    if sizes is None:
        return (batch, None, None, channels)
    require(op, len(sizes) == 2, f"output shape must have two elements, got {sizes}")
    return (batch, *sizes, channels)


@op("ImageProjectiveTransformV2", "ImageProjectiveTransformV3", shape=_shape)
def image_projective_transform(
    images: np.ndarray,
    transforms: np.ndarray,
    output_shape: np.ndarray,
    fill_value: np.ndarray | None = None,
    *,
    interpolation: bytes,
    fill_mode: bytes,
) -> np.ndarray:
    """Each pixel (x, y) is the image's at ((a x + b y + c) / k, (d x + e y + f) / k).

    A transform is [a, b, c, d, e, f, g, h], k = g x + h y + 1; where k is 0, the fill value stands.
    """
    if transforms.ndim != 2 or transforms.shape[1] != 8 or len(transforms) not in (1, len(images)):
        raise ValueError(
            f"Input transform should be num_images x 8 or 1 x 8, got {list(transforms.shape)}"
        )
    if output_shape.shape != (2,) or not (output_shape > 0).all():
        raise ValueError(f"output dimensions must be positive, got {output_shape.tolist()}")
    if interpolation not in _INTERPOLATIONS or fill_mode not in _FILLS:
        raise ValueError(
            f"interpolation must be NEAREST or BILINEAR and fill_mode one of CONSTANT, NEAREST, "
            f"REFLECT, WRAP, got {interpolation.decode()} and {fill_mode.decode()}"
        )
    fill = np.asarray(0 if fill_value is None else fill_value).astype(images.dtype)
    transforms = np.broadcast_to(transforms, (len(images), 8)).astype(np.float32)
    a, b, c, d, e, f, g, h = transforms.T[..., None, None]
    rows, columns = (np.arange(n, dtype=np.float32) for n in output_shape.tolist())
    x, y = columns[None, None, :], rows[None, :, None]
    with np.errstate(all="ignore"):
        by = g * x + h * y + _ONE
        move = _FILLS[fill_mode]
        across = move((a * x + b * y + c) / by, images.shape[2])
        down = move((d * x + e * y + f) / by, images.shape[1])
        sample = _nearest if interpolation == b"NEAREST" else _bilinear
        result = sample(images, down, across, fill)
    return np.where((by == 0)[..., None], fill, result)


def _pixels(images: np.ndarray, y: np.ndarray, x: np.ndarray, fill: np.ndarray) -> np.ndarray:
    """The pixels [image, row, column, channel] at whole coordinates, `fill` outside."""
    _, height, width, _ = images.shape
    inside = (y >= 0) & (y < height) & (x >= 0) & (x < width)
    i = np.where(inside, y, 0).astype(np.int64)
    j = np.where(inside, x, 0).astype(np.int64)
    if not height or not width:
        return np.broadcast_to(fill, (*inside.shape, images.shape[3]))
    number = np.arange(len(images))[:, None, None]
    return np.where(inside[..., None], images[number, i, j], fill)


def _nearest(images: np.ndarray, y: np.ndarray, x: np.ndarray, fill: np.ndarray) -> np.ndarray:
    """The pixel next to each coordinate, halves away from 0."""
    half = np.float64(0.5)
    y, x = (np.copysign(np.floor(np.abs(at.astype(np.float64)) + half), at) for at in (y, x))
    return _pixels(images, y, x, fill)


def _bilinear(images: np.ndarray, y: np.ndarray, x: np.ndarray, fill: np.ndarray) -> np.ndarray:
    """Between the four pixels around each coordinate, in float32."""
    top, left = np.floor(y), np.floor(x)
    bottom, right = top + _ONE, left + _ONE
    before, behind = (right - x)[..., None], (x - left)[..., None]
    above, below = (
        before * _pixels(images, row, left, fill).astype(np.float32)
        + behind * _pixels(images, row, right, fill).astype(np.float32)
        for row in (top, bottom)
    )
    between = (bottom - y)[..., None] * above + (y - top)[..., None] * below
    return between.astype(images.dtype)
