# What editors and type checkers see of this module; tests/write_stubs.py writes it.
"""The names of `tf.spectral`."""

from ...graph.functions.signal.signal import fft as fft
from ...graph.functions.signal.signal import fft2d as fft2d
from ...graph.functions.signal.signal import ifft as ifft
from ...graph.functions.signal.signal import ifft2d as ifft2d
from ...graph.functions.signal.spectral import dct as dct
from ...graph.functions.signal.spectral import fft3d as fft3d
from ...graph.functions.signal.spectral import idct as idct
from ...graph.functions.signal.spectral import ifft3d as ifft3d
from ...graph.functions.signal.spectral import irfft as irfft
from ...graph.functions.signal.spectral import irfft2d as irfft2d
from ...graph.functions.signal.spectral import irfft3d as irfft3d
from ...graph.functions.signal.spectral import rfft as rfft
from ...graph.functions.signal.spectral import rfft2d as rfft2d
from ...graph.functions.signal.spectral import rfft3d as rfft3d
