# What editors and type checkers see of this module; tests/write_stubs.py writes it.
"""The names of `tf.signal`."""

from ...graph.functions.signal.frames import frame as frame
from ...graph.functions.signal.frames import overlap_and_add as overlap_and_add
from ...graph.functions.signal.signal import fft as fft
from ...graph.functions.signal.signal import fft2d as fft2d
from ...graph.functions.signal.signal import hamming_window as hamming_window
from ...graph.functions.signal.signal import hann_window as hann_window
from ...graph.functions.signal.signal import ifft as ifft
from ...graph.functions.signal.signal import ifft2d as ifft2d
from ...graph.functions.signal.signal import linear_to_mel_weight_matrix as linear_to_mel_weight_matrix
from ...graph.functions.signal.spectral import dct as dct
from ...graph.functions.signal.spectral import fft3d as fft3d
from ...graph.functions.signal.spectral import fftshift as fftshift
from ...graph.functions.signal.spectral import idct as idct
from ...graph.functions.signal.spectral import ifft3d as ifft3d
from ...graph.functions.signal.spectral import ifftshift as ifftshift
from ...graph.functions.signal.spectral import irfft as irfft
from ...graph.functions.signal.spectral import irfft2d as irfft2d
from ...graph.functions.signal.spectral import irfft3d as irfft3d
from ...graph.functions.signal.spectral import rfft as rfft
from ...graph.functions.signal.spectral import rfft2d as rfft2d
from ...graph.functions.signal.spectral import rfft3d as rfft3d
from ...graph.functions.signal.stft import inverse_mdct as inverse_mdct
from ...graph.functions.signal.stft import inverse_stft as inverse_stft
from ...graph.functions.signal.stft import inverse_stft_window_fn as inverse_stft_window_fn
from ...graph.functions.signal.stft import kaiser_bessel_derived_window as kaiser_bessel_derived_window
from ...graph.functions.signal.stft import kaiser_window as kaiser_window
from ...graph.functions.signal.stft import mdct as mdct
from ...graph.functions.signal.stft import mfccs_from_log_mel_spectrograms as mfccs_from_log_mel_spectrograms
from ...graph.functions.signal.stft import stft as stft
from ...graph.functions.signal.stft import vorbis_window as vorbis_window
