"""Colours as RGB and as HSV, and their hue, saturation and contrast changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...core.registry import op
from ...core.shapes import Shape, require_rank, require_size

if TYPE_CHECKING:
    from ...core.protocols import OperationView

CHANNELS = 3
SEXTANTS = 6
"""The hues in which another pair of channels is the largest and the smallest."""


def _adjusted_shape(op: OperationView) -> Shape:
    require_rank(op, 0, 3, at_least=True)
    require_rank(op, 1, 0)
    return op.inputs[0].sizes


def _colours_shape(op: OperationView) -> Shape:
    require_rank(op, 0, 1, at_least=True)
    require_size(op, 0, -1, CHANNELS)
    return op.inputs[0].sizes


def _colours(images: np.ndarray) -> np.ndarray:
    """Images as float32; ValueError unless they have three channels."""
    if images.shape[-1] != CHANNELS:
        raise ValueError(f"input must have 3 channels but instead has {images.shape[-1]} channels.")
    return images.astype(np.float32)


def _hue_and_range(rgb: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The hue in [0, 6), and the smallest and the largest channel."""
    red, green, blue = np.moveaxis(rgb, -1, 0)
    low, high = rgb.min(-1), rgb.max(-1)
    middle = np.maximum(np.minimum(red, green), np.minimum(np.maximum(red, green), blue))
    green_largest = [blue < red, blue > green]
    red_largest = [blue < green, blue > red]
    sextant: np.ndarray = np.where(
        red < green,
        np.select(green_largest, [1, 3], 2),
        np.select(red_largest, [0, 4], 5),
    )
    with np.errstate(all="ignore"):
        ratio: np.ndarray = (middle - low) / (high - low)
    hue = sextant + np.where(sextant % 2 == 0, ratio, 1 - ratio)
    return np.where(high == low, 0, hue).astype(rgb.dtype), low, high


def _from_hue_and_range(hue: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    sextant = np.nan_to_num(hue).astype(np.int64)
    ratio = hue - sextant
    middle = low + np.where(sextant % 2 == 0, ratio, 1 - ratio) * (high - low)
    levels = np.stack([low, middle, high])
    orders = np.array([[2, 1, 0], [1, 2, 0], [0, 2, 1], [0, 1, 2], [1, 0, 2], [2, 0, 1]])
    order = orders[np.clip(sextant, 0, SEXTANTS - 1)]
    return np.take_along_axis(np.moveaxis(levels, 0, -1), order, -1)


@op("RGBToHSV", shape=_colours_shape)
def rgb_to_hsv(x: np.ndarray) -> np.ndarray:
    """Hue, saturation and value of colours in [0, 1]."""
    red, green, blue = np.moveaxis(x, -1, 0)
    value, least = x.max(-1), x.min(-1)
    extent = value - least
    with np.errstate(all="ignore"):
        saturation = np.where(value > 0, extent / value, 0)
        norm = 1 / (6 * extent)
    hue = norm * (red - green) + 4 / 6
    np.copyto(hue, norm * (blue - red) + 2 / 6, where=green == value)
    np.copyto(hue, norm * (green - blue), where=red == value)
    np.copyto(hue, 0, where=extent <= 0)
    np.add(hue, 1, out=hue, where=hue < 0)
    return np.stack([hue, saturation, value], -1)


@op("HSVToRGB", shape=_colours_shape)
def hsv_to_rgb(x: np.ndarray) -> np.ndarray:
    """Red, green and blue of hue, saturation and value."""
    hue, saturation, value = np.moveaxis(x, -1, 0)
    sixth = hue * 6
    ramps = [np.abs(sixth - 3) - 1, 2 - np.abs(sixth - 2), 2 - np.abs(sixth - 4)]
    parts = [(1 - saturation + saturation * np.clip(ramp, 0, 1)) * value for ramp in ramps]
    return np.stack(parts, -1)


@op("AdjustHue", shape=_adjusted_shape)
def adjust_hue(images: np.ndarray, delta: np.ndarray) -> np.ndarray:
    """The hue turned by `delta`, a part of the whole circle."""
    wide = _colours(images)
    hue, low, high = _hue_and_range(wide)
    turned = np.mod(hue + delta * np.float32(SEXTANTS), np.float32(SEXTANTS))
    return _from_hue_and_range(turned, low, high).astype(images.dtype)


@op("AdjustSaturation", shape=_adjusted_shape)
def adjust_saturation(images: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """The saturation times `scale`, within [0, 1]."""
    wide = _colours(images)
    value, least = wide.max(-1), wide.min(-1)
    with np.errstate(all="ignore"):
        saturation = np.where(value > 0, (value - least) / value, 0)
    saturation = np.clip(saturation * scale, 0, 1).astype(np.float32)
    hue, _, _ = _hue_and_range(wide)
    return _from_hue_and_range(hue, value - saturation * value, value).astype(images.dtype)


@op("AdjustContrastv2", shape=lambda op: op.inputs[0].sizes)
def adjust_contrast(x: np.ndarray, factor: np.ndarray) -> np.ndarray:
    """The distance from the mean of each channel of an image, times a factor."""
    mean = x.mean(axis=(-3, -2), keepdims=True, dtype=np.float64)
    return (x - mean) * factor + mean
