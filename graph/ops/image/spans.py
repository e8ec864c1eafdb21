"""Images in other sizes by filters: each new element is a weighted sum of a span of old ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ...core.registry import op
from .resizing import resized_shape

SMALLEST_TOTAL = 1000 * float(np.finfo(np.float32).tiny)
"""Weights whose sum is below it are not scaled to sum to 1."""
_NEAR_CENTRE = 1e-3


class Filter(NamedTuple):
    """A filter of distances from 0 on; beyond its radius it is 0."""

    radius: float
    weights: Callable[[np.ndarray], np.ndarray]


def _box(x: np.ndarray) -> np.ndarray:
    return np.select([x < 0.5, x == 0.5], [1.0, 0.5], 0.0)


def _triangle(x: np.ndarray) -> np.ndarray:
    return np.maximum(0, 1 - x)


def _keys_cubic(x: np.ndarray) -> np.ndarray:
    """Source: Keys, Cubic convolution interpolation for digital image processing, 1981."""
    near = ((1.5 * x - 2.5) * x) * x + 1
    far = ((-0.5 * x + 2.5) * x - 4) * x + 2
    return np.select([x < 1, x < 2], [near, far], 0.0)


def _mitchell_cubic(x: np.ndarray) -> np.ndarray:
    """Source: Mitchell and Netravali, Reconstruction filters in computer graphics, 1988."""
    near = (((7 / 6) * x - 2) * x) * x + 8 / 9
    far = ((-(7 / 18) * x + 2) * x - 10 / 3) * x + 16 / 9
    return np.select([x < 1, x < 2], [near, far], 0.0)


def _lanczos(radius: int) -> Filter:
    def weights(x: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            angle = np.pi * x
            wave = radius * np.sin(angle) * np.sin(angle / radius) / (angle * angle)
        return np.select([x > radius, x <= _NEAR_CENTRE], [0.0, 1.0], wave)

    return Filter(radius, weights)


def _gaussian(radius: float) -> Filter:
    sigma = radius / 3

    def weights(x: np.ndarray) -> np.ndarray:
        return np.where(x >= radius, 0, np.exp(-(x * x) / (2 * sigma * sigma)))

    return Filter(radius, weights)


FILTERS = {
    b"lanczos1": _lanczos(1),
    b"lanczos3": _lanczos(3),
    b"lanczos5": _lanczos(5),
    b"gaussian": _gaussian(1.5),
    b"box": Filter(0.5, _box),
    b"triangle": Filter(1, _triangle),
    b"keyscubic": Filter(2, _keys_cubic),
    b"mitchellcubic": Filter(2, _mitchell_cubic),
}
"""By the names that the attribute `kernel_type` has for them."""


class Sampling(NamedTuple):
    """Where the new elements of one axis lie among the old ones."""

    size: int
    new: int
    scale: float
    translation: float

    def weights(self, kernel: Filter, antialias: bool) -> np.ndarray:
        """[new, size] weights of the old elements in each new one."""
        inverse = np.float32(1) / np.float32(self.scale)
        spread = max(inverse, np.float32(1)) if antialias else np.float32(1)
        centres = (np.arange(self.new, dtype=np.float32) + np.float32(0.5)) * inverse
        centres -= inverse * np.float32(self.translation)
        reach = np.float32(kernel.radius) * spread
        first = np.clip(np.ceil(centres - reach - np.float32(0.5)), 0, self.size - 1)
        last = np.clip(np.floor(centres + reach - np.float32(0.5)), 0, self.size - 1)
        old = np.arange(self.size, dtype=np.float32)
        distances = np.abs((old + np.float32(0.5) - centres[:, None]) / spread)
        weights = kernel.weights(distances).astype(np.float32)
        in_span = (old >= first[:, None]) & (old <= last[:, None])
        in_image = (centres >= 0) & (centres <= self.size)
        weights = np.where(in_span & in_image[:, None], weights, 0)
        totals = weights.sum(1, keepdims=True)
        return np.where(np.abs(totals) >= SMALLEST_TOTAL, weights / np.where(totals, totals, 1), 0)


def _both_weights(
    old: tuple[int, ...],
    new: tuple[int, ...],
    scale: np.ndarray,
    translation: np.ndarray,
    kernel_type: bytes,
    antialias: bool,
) -> list[np.ndarray]:
    """The weights along height and width."""
    if (scale <= 0).any():
        raise ValueError(f"scale must be greater than zero, got {scale.tolist()}")
    kernel = FILTERS.get(kernel_type)
    if kernel is None:
        names = ", ".join(name.decode() for name in FILTERS)
        raise ValueError(f"kernel_type must be one of {names}, got {kernel_type.decode()!r}")
    rows = zip(old, new, scale.tolist(), translation.tolist(), strict=True)
    return [Sampling(*row).weights(kernel, antialias) for row in rows]


@op("ScaleAndTranslate", shape=resized_shape)
def scale_and_translate(
    images: np.ndarray,
    size: np.ndarray,
    scale: np.ndarray,
    translation: np.ndarray,
    *,
    kernel_type: bytes,
    antialias: bool,
) -> np.ndarray:
    """Images sampled through a filter at scaled and moved places."""
    sizes = images.shape[1:3], tuple(size.tolist())
    rows, columns = _both_weights(*sizes, scale, translation, kernel_type, antialias)
    wide = images.astype(np.float32)
    return np.einsum("yh,xw,bhwc->byxc", rows, columns, wide, optimize=True)


@op("ScaleAndTranslateGrad", shape=lambda op: op.inputs[1].sizes)
def scale_and_translate_grad(
    grads: np.ndarray,
    original: np.ndarray,
    scale: np.ndarray,
    translation: np.ndarray,
    *,
    kernel_type: bytes,
    antialias: bool,
) -> np.ndarray:
    """Each gradient shared among the old elements by their weights."""
    sizes = original.shape[1:3], grads.shape[1:3]
    rows, columns = _both_weights(*sizes, scale, translation, kernel_type, antialias)
    return np.einsum("yh,xw,byxc->bhwc", rows, columns, grads, optimize=True)


def _shares(size: int, new: int, align_corners: bool) -> np.ndarray:
    """[new, size] how much of each old element lies in each new one."""
    apart = align_corners and new > 1
    scale = np.float32(size - 1) / np.float32(new - 1) if apart else np.float32(size / new)
    low = np.arange(new, dtype=np.float32)[:, None] * scale
    high = np.arange(1, new + 1, dtype=np.float32)[:, None] * scale
    reach = np.arange(int(np.ceil(high.max())) + 1, dtype=np.float32)
    parts = np.minimum(reach + 1, high) - np.maximum(reach, low)
    covered = np.where((reach >= np.floor(low)) & (reach < np.ceil(high)), parts, 0)
    shares = np.zeros((new, size), np.float32)
    positions = np.minimum(reach.astype(np.int64), size - 1)
    np.add.at(shares.T, positions, np.maximum(covered, 0).T)
    return shares / scale


@op("ResizeArea", shape=resized_shape)
def resize_area(images: np.ndarray, size: np.ndarray, *, align_corners: bool) -> np.ndarray:
    """Each new element the mean of the old ones that it covers, by how much it covers of each."""
    height, width = images.shape[1:3]
    rows = _shares(height, int(size[0]), align_corners)
    columns = _shares(width, int(size[1]), align_corners)
    return np.einsum("yh,xw,bhwc->byxc", rows, columns, images.astype(np.float32), optimize=True)
