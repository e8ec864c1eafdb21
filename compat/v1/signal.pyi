# What editors and type checkers see of this module; tests/write_stubs.py writes it.
"""The names of `tf.signal`."""

from ...graph.functions.signal import fft as fft
from ...graph.functions.signal import fft2d as fft2d
from ...graph.functions.signal import frame as frame
from ...graph.functions.signal import hamming_window as hamming_window
from ...graph.functions.signal import hann_window as hann_window
from ...graph.functions.signal import ifft as ifft
from ...graph.functions.signal import ifft2d as ifft2d
from ...graph.functions.signal import linear_to_mel_weight_matrix as linear_to_mel_weight_matrix
from ...graph.functions.signal import overlap_and_add as overlap_and_add
