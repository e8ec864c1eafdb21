"""Images in other sizes, each new element a weighted sum of the old ones under a window."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..core.registry import op
from ..core.shapes import Shape, integers, known, require

if TYPE_CHECKING:
    from ..core.protocols import OperationView

    Curve = Callable[[np.ndarray], np.ndarray]


class _Window(NamedTuple):
    """How much elements count by their distance.

    Attributes:
        radius: the distance from which on they do not.
        weight: of distances that are not negative.
    """

    radius: float
    weight: Curve


def _lanczos(radius: int) -> _Window:
    """A sinc within a wider one."""

    def weight(x: np.ndarray) -> np.ndarray:
        apart = np.maximum(x, np.float32(1e-3)) * np.float32(np.pi)
        curve = radius * np.sin(apart) * np.sin(apart / radius) / np.square(apart)
        return np.where(x <= 1e-3, 1, np.where(x > radius, 0, curve))

    return _Window(radius, weight)


def _cubic(inner: tuple[float, ...], outer: tuple[float, ...]) -> _Window:
    """One polynomial up to 1, another one up to 2."""

    def weight(x: np.ndarray) -> np.ndarray:
        curves = np.polyval(np.array(outer), x), np.polyval(np.array(inner), x)
        return np.where(x >= 2, 0, np.where(x >= 1, *curves))

    return _Window(2.0, weight)


def _gaussian(x: np.ndarray) -> np.ndarray:
    return np.where(x >= 1.5, 0, np.exp(-np.square(x) * 2))


def _box(x: np.ndarray) -> np.ndarray:
    return np.where(x < 0.5, 1, np.where(x == 0.5, 0.5, 0))


def _triangle(x: np.ndarray) -> np.ndarray:
    return np.maximum(1 - x, 0)


WINDOWS = {
    b"lanczos1": _lanczos(1),
    b"lanczos3": _lanczos(3),
    b"lanczos5": _lanczos(5),
    b"gaussian": _Window(1.5, _gaussian),
    b"box": _Window(1.0, _box),
    b"triangle": _Window(1.0, _triangle),
    b"keyscubic": _cubic((1.5, -2.5, 0, 1), (-0.5, 2.5, -4, 2)),
    b"mitchellcubic": _cubic((7 / 6, -2, 0, 8 / 9), (-7 / 18, 2, -10 / 3, 16 / 9)),
}
"""TensorFlow's kernel_type -> the window."""


def _resized_shape(op: OperationView) -> Shape:
    batch, _, _, channels = known(op, 0, 4)
    sizes = integers(op, 1)
    if sizes is None:
        return (batch, None, None, channels)
    require(op, len(sizes) == 2 and min(sizes) > 0, f"size must be two numbers > 0, got {sizes}")
    return (batch, *sizes, channels)


def _weighted(images: np.ndarray, axis: int, weights: np.ndarray) -> np.ndarray:
    """Sums of elements along an axis, with weights [new, old]."""
    return np.moveaxis(np.tensordot(images, weights, (axis, 1)), -1, axis)


@op("ScaleAndTranslate", shape=_resized_shape)
def scale_and_translate(
    images: np.ndarray,
    size: np.ndarray,
    scale: np.ndarray,
    translation: np.ndarray,
    *,
    kernel_type: bytes,
    antialias: bool,
) -> np.ndarray:
    """Images scaled and moved; what lies outside of the old one is 0."""
    x = images.astype(np.float32)
    for axis, new in enumerate(size.tolist(), 1):
        window = WINDOWS[kernel_type]
        factors = np.float32(scale[axis - 1]), np.float32(translation[axis - 1])
        x = _weighted(x, axis, _span_weights(x.shape[axis], new, *factors, window, antialias))
    return x


def _span_weights(
    old: int, new: int, scale: np.float32, translation: np.float32, window: _Window, antialias: bool
) -> np.ndarray:
    """How much each old element counts for each new one, in float32 as TensorFlow computes it."""
    inverse = np.float32(1) / scale
    wider = max(inverse, np.float32(1)) if antialias else np.float32(1)
    centres = (np.arange(new, dtype=np.float32) + np.float32(0.5)) * inverse - inverse * translation
    reach = np.float32(window.radius) * wider
    half = np.float32(0.5)
    first = np.clip(np.ceil(centres - reach - half), 0, old - 1)[:, None]
    last = np.clip(np.floor(centres + reach - half), 0, old - 1)[:, None]
    places = np.arange(old, dtype=np.float32)
    distances = np.abs(places + half - centres[:, None]) / wider
    is_sampled = (places >= first) & (places <= last)
    is_sampled &= ((centres >= 0) & (centres <= old))[:, None]
    weights = np.where(is_sampled, window.weight(distances), 0).astype(np.float32)
    total = weights.sum(1, keepdims=True)
    return np.divide(weights, total, out=np.zeros_like(weights), where=np.abs(total) > 1e-34)


@op("ResizeArea", shape=_resized_shape)
def resize_area(images: np.ndarray, size: np.ndarray, *, align_corners: bool) -> np.ndarray:
    """The means of the areas that new elements cover."""
    x = images.astype(np.float32)
    for axis, new in enumerate(size.tolist(), 1):
        old = x.shape[axis]
        apart = align_corners and new > 1
        scale = np.float32(old - 1) / np.float32(new - 1) if apart else np.float32(old) / new
        weights = np.zeros((new, old), np.float32)
        for i in range(new):
            low, high = i * scale, (i + 1) * scale
            for place in range(int(np.floor(low)), int(np.ceil(high))):
                weights[i, min(max(place, 0), old - 1)] += min(place + 1, high) - max(place, low)
        x = _weighted(x, axis, weights / scale)
    return x
