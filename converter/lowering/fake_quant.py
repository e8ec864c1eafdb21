"""The range that a fake-quantized constant was rounded in, as its moves carry it along."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class FakeQuantized(NamedTuple):
    """The ranges of a float32 constant whose elements are already those of integers.

    Attributes:
        low, high: the range, or one for each index of `axis`.
        axis: the dimension with a range for each index, where there are several.
        bits: how many the integers have.
        narrow: whether they leave the lowest one out.
        dynamic: whether what they are multiplied with is quantized, too, by its own range.
    """

    low: np.ndarray
    high: np.ndarray
    axis: int
    bits: int
    narrow: bool
    dynamic: bool = False

    @property
    def is_per_axis(self) -> bool:
        """Whether there are several ranges."""
        return self.low.size > 1

    def transposed(self, order: Sequence[int]) -> FakeQuantized:
        """That of the constant with its axes in another order."""
        return self._replace(axis=list(order).index(self.axis) if self.is_per_axis else 0)
