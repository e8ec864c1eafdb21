"""Types of parameters that the families share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..records import ConvGeometry, ConvWindow, ConvWindow3D

Clamp = Sequence[float]
"""The lowest and highest value of a result: those of a fused activation, or infinities."""
Number = int | float
"""A number of a kernel, passed by its name."""


class Sliding(NamedTuple):
    """How a filter slides over its input: a number for each spatial dimension."""

    stride: Sequence[int] = (1, 1)
    before: Sequence[int] = (0, 0)
    """Padding before the first element; what a transposed convolution cuts off there."""
    dilation: Sequence[int] = (1, 1)
    """Distances between the taps of the filter."""

    @property
    def window(self) -> ConvWindow:
        """For kernels over height and width."""
        return ConvWindow.of(self.stride, self.dilation, self.before)

    @property
    def window_3d(self) -> ConvWindow3D:
        """For kernels over depth, height and width."""
        return ConvWindow3D.of(self.stride, self.dilation, self.before)

    def with_depth(self) -> Sliding:
        """The same over volumes of depth 1."""
        return Sliding((1, *self.stride), (0, *self.before), (1, *self.dilation))

    def geometry(self, counts: Sequence[int]) -> ConvGeometry:
        """For convolutions in tiles that give `counts` rows and columns of results."""
        return ConvGeometry(counts, self.stride, self.dilation, self.before, (1, 1), (0, 0))

    def reached(
        self, shape: Sequence[int], counts: Sequence[int], taps: Sequence[int]
    ) -> tuple[int, ...]:
        """The shape of images [batch, height, width, channels], padded as far as taps reach."""
        batch, *sizes, channels = shape
        ends = [
            (count - 1) * step + (tap - 1) * gap + 1
            for count, step, tap, gap in zip(counts, self.stride, taps, self.dilation, strict=True)
        ]
        padded = [max(e, size + b) for e, size, b in zip(ends, sizes, self.before, strict=True)]
        return (batch, *padded, channels)
