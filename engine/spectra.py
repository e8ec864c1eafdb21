"""Features of sound: spectrograms, and their cepstra on the mel scale."""

from __future__ import annotations

from math import log1p
from typing import NamedTuple

import numpy as np

from .sizes import largest

_FLOOR = 1e-12
"""The least energy of a channel."""
_MOST = 1 << 20
_MOST_CHANNELS = 1 << 12


class Spectrogram(NamedTuple):
    """Windows of samples, each multiplied by Hann's and filled up with zeros to a power of 2.

    Attributes:
        size, stride: samples of a window, and from one window to the next.
        squared: whether energies are the result, or their roots.
    """

    size: int
    stride: int
    squared: bool

    def check(self) -> None:
        """Raises ValueError for sizes that no spectrogram has."""
        if not 2 <= self.size <= _MOST:
            raise ValueError(f"window_size must be in [2, {_MOST}], got {self.size}")
        if self.stride < 1:
            raise ValueError(f"stride must be positive, got {self.stride}")

    @property
    def length(self) -> int:
        """Samples of a window with its zeros."""
        return 1 << (self.size - 1).bit_length()

    @property
    def n_frequencies(self) -> int:
        """Numbers that become of a window."""
        return self.length // 2 + 1

    def n_windows(self, n_samples: int) -> int:
        """Windows that lie in so many samples."""
        return largest((n_samples - self.size) // self.stride + 1, 0)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """float32 [channel, window, frequency] of samples [time, channel]."""
        shape = x.shape[1], self.n_windows(x.shape[0]), self.n_frequencies
        if 0 in shape:
            return np.zeros(shape, np.float32)
        hann = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(self.size) / self.size)
        windows = np.lib.stride_tricks.sliding_window_view(x.T.astype(np.float64), self.size, 1)
        spectrum = np.fft.rfft(windows[:, :: self.stride] * hann, self.length)
        energy = (spectrum.real**2 + spectrum.imag**2).astype(np.float32)
        return energy if self.squared else np.sqrt(energy)


class Cepstrum(NamedTuple):
    """The first coefficients of the logarithms of energies in channels of the mel scale.

    Attributes:
        n_channels, n_out: channels, and coefficients.
        low, high: limits of the channels in Hz.
    """

    n_channels: int
    n_out: int
    low: float
    high: float

    def check(self, n_frequencies: int) -> None:
        """Raises ValueError for numbers that no cepstrum has, of so many frequencies."""
        if not (
            1 <= self.n_out <= self.n_channels <= _MOST_CHANNELS
            and 0 <= self.low < self.high
            and n_frequencies >= 2
        ):
            raise ValueError(
                f"there must be at most {_MOST_CHANNELS} channels and no more coefficients, limits "
                f"in order and two frequencies, got {self.n_out} of {self.n_channels}, {self.low} "
                f"to {self.high}, {n_frequencies} frequencies"
            )

    def __call__(self, x: np.ndarray, rate: int) -> np.ndarray:
        """float32 [..., coefficient] of energies [..., frequency] of `rate` samples a second."""
        filters = self._filters(x.shape[-1], rate)
        sizes = np.sqrt(x[..., filters.start : filters.stop].astype(np.float64))
        energies = np.log(np.maximum(sizes @ filters.weights, _FLOOR))
        j = np.arange(self.n_channels) + 0.5
        cosines = np.cos(np.arange(self.n_out)[:, None] * np.pi / self.n_channels * j)
        return (energies @ (cosines * np.sqrt(2 / self.n_channels)).T).astype(np.float32)

    def _filters(self, n: int, rate: int) -> _Filters:
        """The filters of a spectrum of n frequencies up to half of the sample rate."""
        if rate <= 0:
            raise ValueError(f"the sample rate must be positive, got {rate}")
        hertz = 0.5 * rate / (n - 1)
        start, stop = int(1.5 + self.low / hertz), int(self.high / hertz) + 1
        if stop > n:
            raise ValueError(
                f"the upper limit {self.high} must lie in the spectrum, up to {rate / 2}"
            )
        low, high = _mel(self.low), _mel(self.high)
        centers = low + (high - low) / (self.n_channels + 1) * np.arange(self.n_channels + 2)
        weights = np.zeros((max(stop - start, 0), self.n_channels))
        for i in range(start, stop):
            mel = _mel(i * hertz)
            # centers[c] < mel <= centers[c + 1], of which the first is the lower limit
            c = min(int(np.searchsorted(centers[1:-1], mel)), self.n_channels)
            share = (centers[c + 1] - mel) / (centers[c + 1] - centers[c])
            if c > 0:
                weights[i - start, c - 1] += share
            if c < self.n_channels:
                weights[i - start, c] += 1 - share
        return _Filters(weights, start, stop)


class _Filters(NamedTuple):
    """A triangle over the spectrum for each channel, as a matrix [frequency, channel]."""

    weights: np.ndarray
    start: int
    stop: int


def _mel(hertz: float) -> float:
    """A frequency on the mel scale."""
    return 1127.0 * log1p(hertz / 700.0)
