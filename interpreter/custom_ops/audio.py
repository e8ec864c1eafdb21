"""AudioSpectrogram, Mfcc: features of sound.

Source: TensorFlow's operations of these names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...engine.spectra import Cepstrum, Spectrogram
from ...schema.dtypes import tf_name
from ..checks import rank
from ..numpy_calls import by_numpy
from .options import Options
from .registry import custom, exactly

if TYPE_CHECKING:
    from ..plan.node import HostCall, Node


@custom("AudioSpectrogram")
def audio_spectrogram(node: Node) -> HostCall:
    """The energies of each frequency in windows of each channel's samples, or their roots."""
    (x,) = exactly(node, 1)
    rank(node, "input", x, 2)
    node.require(x.dtype == np.float32, f"{tf_name(x.dtype)} is not supported")
    options = Options(node)
    size, stride = options.integer("window_size"), options.integer("stride")
    spectrogram = Spectrogram(size, stride, options.flag("magnitude_squared"))
    try:
        spectrogram.check()
    except ValueError as error:
        node.fail(f"option {error}")
    shape = (x.shape[1], spectrogram.n_windows(x.shape[0]), spectrogram.n_frequencies)

    def run(x: np.ndarray) -> list[np.ndarray]:
        return [spectrogram(x)]

    return by_numpy(node, run, (shape, np.float32))


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
    cepstrum = Cepstrum(n_channels, n_out, low, high)

    def run(x: np.ndarray, rate: np.ndarray) -> list[np.ndarray]:
        try:
            return [cepstrum(x, int(rate.ravel()[0]))]
        except ValueError as error:
            node.fail(f"{error}")

    try:
        cepstrum.check(x.shape[2])
    except ValueError as error:
        node.fail(f"{error}")
    return by_numpy(node, run, ((*x.shape[:2], n_out), np.float32))
