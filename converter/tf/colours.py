"""Colours: their hue, saturation and value, and images adjusted by them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..lowering.moves import as_type, like
from .registry import Node, lower

if TYPE_CHECKING:
    from ..ir.builder import Builder
    from ..ir.graph import Tensor


class Colour(NamedTuple):
    """Of each pixel.

    Attributes:
        hue: a part of the circle.
        chroma: the greatest channel less the least.
        value: the greatest channel.
    """

    hue: Tensor
    chroma: Tensor
    value: Tensor

    def saturation(self, b: Builder) -> Tensor:
        """The chroma as a part of the value; 0 for black."""
        zero = like(self.value, 0, b)
        return b.SELECT_V2(b.GREATER(self.value, zero), b.DIV(self.chroma, self.value), zero)


def colour_of(node: Node, b: Builder) -> Colour:
    """The colours of a node's image."""
    x, axis = node.inputs[0], node.rank() - 1
    red, green, blue = b.UNPACK(x, axis=axis, num=3)
    value = b.REDUCE_MAX(x, np.array([axis], np.int32))
    chroma = b.SUB(value, b.REDUCE_MIN(x, np.array([axis], np.int32)))
    zero, one = like(x, 0, b), like(x, 1, b)
    norm = b.DIV(one, b.MUL(chroma, like(x, 6, b)))
    thirds = [
        b.ADD(b.MUL(norm, b.SUB(p, q)), like(x, shift, b))
        for p, q, shift in ((blue, red, 2 / 6), (red, green, 4 / 6))
    ]
    hue = b.SELECT_V2(b.EQUAL(green, value), *thirds)
    hue = b.SELECT_V2(b.EQUAL(red, value), b.MUL(norm, b.SUB(green, blue)), hue)
    hue = b.SELECT_V2(b.GREATER(chroma, zero), hue, zero)
    hue = b.SELECT_V2(b.LESS(hue, zero), b.ADD(hue, one), hue)
    return Colour(hue, chroma, value)


def pure_channels(hue: Tensor, b: Builder) -> list[Tensor]:
    """Red, green and blue of a hue at full saturation and value."""
    sixth, one, zero = b.MUL(hue, like(hue, 6, b)), like(hue, 1, b), like(hue, 0, b)
    channels = []
    for centre, sign, shift in ((3, 1, -1), (2, -1, 2), (4, -1, 2)):
        distance = b.ABS(b.SUB(sixth, like(hue, centre, b)))
        ramp = b.ADD(b.MUL(distance, like(hue, sign, b)), like(hue, shift, b))
        channels.append(b.MINIMUM(b.MAXIMUM(ramp, zero), one))
    return channels


def channels_of(hue: Tensor, saturation: Tensor, value: Tensor, b: Builder) -> list[Tensor]:
    """Red, green and blue."""
    pale = b.SUB(like(hue, 1, b), saturation)
    return [b.MUL(b.ADD(pale, b.MUL(saturation, pure)), value) for pure in pure_channels(hue, b)]


@lower("RGBToHSV")
def rgb_to_hsv(node: Node, b: Builder) -> Tensor:
    """Hue, saturation and value of colours."""
    colour = colour_of(node, b)
    parts = colour.hue, colour.saturation(b), colour.value
    return b.PACK(*parts, axis=node.rank() - 1, values_count=3)


@lower("HSVToRGB")
def hsv_to_rgb(node: Node, b: Builder) -> Tensor:
    """Red, green and blue of hue, saturation and value."""
    axis = node.rank() - 1
    hue, saturation, value = b.UNPACK(node.inputs[0], axis=axis, num=3)
    parts = channels_of(hue, saturation, value, b)
    return b.PACK(*parts, axis=axis, values_count=3)


@lower("AdjustHue")
def adjust_hue(node: Node, b: Builder) -> Tensor:
    """Colours whose hue is moved; their least and greatest channels stay."""
    colour = colour_of(node, b)
    moved = b.ADD(colour.hue, as_type(node.inputs[1], np.float32, b))
    moved = b.SUB(moved, b.FLOOR(moved))
    least = b.SUB(colour.value, colour.chroma)
    parts = [b.ADD(least, b.MUL(colour.chroma, pure)) for pure in pure_channels(moved, b)]
    return b.PACK(*parts, axis=node.rank() - 1, values_count=3)


@lower("AdjustSaturation")
def adjust_saturation(node: Node, b: Builder) -> Tensor:
    """Colours whose saturation is multiplied, and at most 1."""
    colour = colour_of(node, b)
    scaled = b.MUL(colour.saturation(b), as_type(node.inputs[1], np.float32, b))
    scaled = b.MINIMUM(b.MAXIMUM(scaled, like(scaled, 0, b)), like(scaled, 1, b))
    parts = channels_of(colour.hue, scaled, colour.value, b)
    return b.PACK(*parts, axis=node.rank() - 1, values_count=3)


@lower("AdjustContrastv2")
def adjust_contrast(node: Node, b: Builder) -> Tensor:
    """The distance from the mean of each channel of an image, times a factor."""
    x, factor = node.inputs
    rank = node.rank()
    mean = b.MEAN(x, np.array([rank - 3, rank - 2], np.int32), keep_dims=True)
    return b.ADD(b.MUL(b.SUB(x, mean), as_type(factor, x.dtype, b)), mean)
