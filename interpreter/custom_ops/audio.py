"""AudioSpectrogram, Mfcc: features of sound.

Source: TensorFlow's operations of these names.
"""

from __future__ import annotations

from math import log1p
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...engine.sizes import largest
from ...schema.dtypes import tf_name
from ..checks import rank
from ..numpy_calls import by_numpy
from .options import Options
from .registry import custom, exactly

if TYPE_CHECKING:
    from ..plan.node import HostCall, Node

_FLOOR = 1e-12
"""The least energy of a channel."""
_MOST = 1 << 20
_MOST_CHANNELS = 1 << 12


@custom("AudioSpectrogram")
def audio_spectrogram(node: Node) -> HostCall:
    """The energies of each frequency in windows of each channel's samples, or their roots.

    A window is multiplied by Hann's and filled up with zeros to a power of 2.
    """
    (x,) = exactly(node, 1)
    rank(node, "input", x, 2)
    node.require(x.dtype == np.float32, f"{tf_name(x.dtype)} is not supported")
    options = Options(node)
    size, stride = options.integer("window_size"), options.positive("stride")
    node.require(2 <= size <= _MOST, f"option window_size must be in [2, {_MOST}], got {size}")
    squared = options.flag("magnitude_squared")
    length = 1 << (size - 1).bit_length()
    n_windows = largest((x.shape[0] - size) // stride + 1, 0)
    shape = (x.shape[1], n_windows, length // 2 + 1)
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(size) / size)

    def run(x: np.ndarray) -> list[np.ndarray]:
        if 0 in shape:
            return [np.zeros(shape, np.float32)]
        windows = np.lib.stride_tricks.sliding_window_view(x.T.astype(np.float64), size, 1)
        spectrum = np.fft.rfft(windows[:, ::stride] * window, length)
        energy = (spectrum.real**2 + spectrum.imag**2).astype(np.float32)
        return [energy if squared else np.sqrt(energy)]

    return by_numpy(node, run, (shape, np.float32))


class _Filters(NamedTuple):
    """A triangle over the spectrum for each channel, as a matrix [frequency, channel]."""

    weights: np.ndarray
    start: int
    stop: int


@custom("Mfcc")
def mfcc(node: Node) -> HostCall:
    """The cepstrum of a spectrogram's energies on the mel scale, its first coefficients.

    The second input is the number of samples in a second.
    """
    x, rate = exactly(node, 2)
    rank(node, "input", x, 3)
    node.require(x.dtype == np.float32, f"{tf_name(x.dtype)} is not supported")
    node.require(
        rate.dtype == np.int32 and rate.size == 1,
        f"the sample rate must be one int32, got {tf_name(rate.dtype)} of shape {rate.shape}",
    )
    options = Options(node)
    n_channels, n_out = (
        options.positive(f"{name}_count") for name in ("filterbank_channel", "dct_coefficient")
    )
    low, high = (float(int(options.number(f"{s}_frequency_limit"))) for s in ("lower", "upper"))
    node.require(
        n_out <= n_channels <= _MOST_CHANNELS and 0 <= low < high and x.shape[2] >= 2,
        f"there must be at most {_MOST_CHANNELS} channels and no more coefficients, limits in "
        f"order and two frequencies, got {n_out} of {n_channels}, {low} to {high}, {x.shape}",
    )
    j = np.arange(n_channels) + 0.5
    cosines = np.cos(np.arange(n_out)[:, None] * np.pi / n_channels * j)
    cosines *= np.sqrt(2 / n_channels)

    def run(x: np.ndarray, rate: np.ndarray) -> list[np.ndarray]:
        filters = _filters(node, x.shape[2], int(rate.ravel()[0]), n_channels, (low, high))
        sizes = np.sqrt(x[..., filters.start : filters.stop].astype(np.float64))
        energies = np.log(np.maximum(sizes @ filters.weights, _FLOOR))
        return [energies @ cosines.T]

    return by_numpy(node, run, ((*x.shape[:2], n_out), np.float32))


def _filters(
    node: Node, n: int, rate: int, n_channels: int, limits: tuple[float, float]
) -> _Filters:
    """The filters of a spectrum of n frequencies up to half of the sample rate."""
    node.require(rate > 0, f"the sample rate must be positive, got {rate}")
    hertz = 0.5 * rate / (n - 1)
    start, stop = int(1.5 + limits[0] / hertz), int(limits[1] / hertz) + 1
    node.require(
        stop <= n, f"the upper limit {limits[1]} must lie in the spectrum, up to {rate / 2}"
    )
    low, high = (_mel(limit) for limit in limits)
    centers = low + (high - low) / (n_channels + 1) * np.arange(n_channels + 2)
    weights = np.zeros((max(stop - start, 0), n_channels))
    for i in range(start, stop):
        mel = _mel(i * hertz)
        # centers[c] < mel <= centers[c + 1], of which the first is the lower limit
        c = min(int(np.searchsorted(centers[1:-1], mel)), n_channels)
        share = (centers[c + 1] - mel) / (centers[c + 1] - centers[c])
        if c > 0:
            weights[i - start, c - 1] += share
        if c < n_channels:
            weights[i - start, c] += 1 - share
    return _Filters(weights, start, stop)


def _mel(hertz: float) -> float:
    """A frequency on the mel scale."""
    return 1127.0 * log1p(hertz / 700.0)
