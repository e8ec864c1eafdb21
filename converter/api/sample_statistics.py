"""What the samples of a representative dataset look like, and what is suspicious in that."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Sequence

import numpy as np

from ..callers import caller
from ..sources.source import Port, short_name

CHANNELS = (1, 3, 4)  # of images
BRIGHT = 100  # what the largest value of raw pixels is above
SMALLEST_SIDE = 8  # of images without a dimension of channels


class InputStatistics:
    """What one input was given over all samples."""

    def __init__(self, port: Port) -> None:
        self.name, self.key = short_name(port.name), port.key
        self._first: np.ndarray | None = None
        self._n = 0
        self._are_equal = True
        self._low, self._high = np.inf, -np.inf
        self._is_image = False

    def add(self, array: np.ndarray) -> None:
        """Sees the array of another sample."""
        self._n += 1
        if array.dtype.kind != "f" or not array.size:
            return
        if self._first is None:
            self._first = array.copy()
        self._are_equal = self._are_equal and np.array_equal(array, self._first)
        self._low = min(self._low, float(array.min()))
        self._high = max(self._high, float(array.max()))
        self._is_image = is_image(array)

    def suspicion(self, is_scaled: bool) -> str:
        """What is suspicious, and what to do; empty when nothing is.

        Args:
            is_scaled: whether the model itself scales this input.
        """
        if self._first is None or self._n == 1 or self._first.size == 1:
            return self._pixels(is_scaled)
        if self._low == self._high:
            return (
                f"input '{self.key}' is {self._low:.4g} in every sample, so that nothing was "
                "measured; yield real inputs"
            )
        if self._are_equal:
            return (
                f"input '{self.key}' is the same in all {self._n} samples; yield different ones, "
                "as a loop that overwrites one array does not"
            )
        return self._pixels(is_scaled)

    def _pixels(self, is_scaled: bool) -> str:
        """What to say of raw pixels that the model does not scale."""
        are_pixels = self._low >= 0 and BRIGHT < self._high <= 255
        if self._is_image and are_pixels and not is_scaled:
            return (
                f"input '{self.key}' has values from {self._low:.0f} to {self._high:.0f}, as "
                "raw pixels have, and the model does not scale them; was it trained on 0..1 or "
                "-1..1? preprocess the samples as in training"
            )
        return ""


def is_image(array: np.ndarray) -> bool:
    """Whether an array looks like a batch of images: channels last or first, or whole numbers
    without channels.
    """
    if array.ndim == 4:
        return array.shape[-1] in CHANNELS or array.shape[1] in CHANNELS
    has_sides = array.ndim == 3 and min(array.shape[1:]) >= SMALLEST_SIDE
    return has_sides and bool((array == np.rint(array)).all())


def warn_of_samples(statistics: Sequence[InputStatistics], scaled: Collection[str]) -> None:
    """Warns of what is suspicious in samples, but for inputs that the model itself scales."""
    for row in statistics:
        text = row.suspicion(row.name in scaled)
        if text:
            warnings.warn(f"representative_dataset: {text}", stacklevel=caller())
