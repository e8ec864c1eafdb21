"""Functions of signals over time: `tf.signal`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...core.build import ops
from ...core.create import convert_to_tensor
from ...core.dtype import as_dtype
from ...core.graph import Tensor
from ...core.scopes import name_scope
from ..array.casting import cast
from ..array.creation import range as numbers
from ..rows import functions

if TYPE_CHECKING:
    from ...core.typing import DTypeLike, TensorLike

ONE_TO_ONE = """
fft              FFT               input
fft2d            FFT2D             input
ifft             IFFT              input
ifft2d           IFFT2D            input
"""
globals().update(functions(ONE_TO_ONE, __name__))
_BREAK, _SLOPE = 700.0, 1127.0
"""Of the mel scale, as HTK has it: 1127 ln(1 + f / 700)."""


def window_type(dtype: DTypeLike) -> np.dtype:
    """The dtype of a window; ValueError when it has no floats."""
    kind = as_dtype(dtype)
    if not kind.is_floating:
        raise ValueError(f"dtype must be a floating point type. Found {kind!s}")
    return kind.dtype


def window_size(length: TensorLike) -> Tensor:
    """A window's length; ValueError unless it is a scalar."""
    size = convert_to_tensor(length, np.int32, "window_length")
    size.get_shape().assert_has_rank(0)
    return size


def _window(
    name: str | None,
    default: str,
    length: TensorLike,
    periodic: TensorLike,
    dtype: DTypeLike,
    a: float,
    b: float,
) -> Tensor:
    """a - b cos(2 pi i / n)."""
    with name_scope(name, default, [length]):
        kind = window_type(dtype)
        size = window_size(length)
        n = cast(size, kind)
        one = np.ones((), kind)
        even = 1 - ops.FloorMod(size, np.int32(2))
        shift = cast(even * cast(convert_to_tensor(periodic, np.bool_, "periodic"), np.int32), kind)
        divisor = ops.Maximum(n + shift - one, one)
        angles = ops.RealDiv(cast(numbers(size), kind) * np.asarray(2 * np.pi, kind), divisor)
        wave = np.asarray(a, kind) - np.asarray(b, kind) * ops.Cos(angles)
        return ops.SelectV2(ops.Equal(n, one), ops.OnesLike(wave), wave)


def hann_window(
    window_length: TensorLike,
    periodic: TensorLike = True,
    dtype: DTypeLike = np.float32,
    name: str | None = None,
) -> Tensor:
    """1/2 - 1/2 cos."""
    return _window(name, "hann_window", window_length, periodic, dtype, 0.5, 0.5)


def hamming_window(
    window_length: TensorLike,
    periodic: TensorLike = True,
    dtype: DTypeLike = np.float32,
    name: str | None = None,
) -> Tensor:
    """0.54 - 0.46 cos."""
    return _window(name, "hamming_window", window_length, periodic, dtype, 0.54, 0.46)


def linear_to_mel_weight_matrix(
    num_mel_bins: int = 20,
    num_spectrogram_bins: int = 129,
    sample_rate: float = 8000,
    lower_edge_hertz: float = 125.0,
    upper_edge_hertz: float = 3800.0,
    dtype: DTypeLike = np.float32,
    name: str | None = None,
) -> Tensor:
    """[bins of a spectrogram, bins of the mel scale]: triangles over the frequencies.

    Raises ValueError when a number is out of its range.
    """
    if not as_dtype(dtype).is_floating:
        raise ValueError(f"dtype must be a floating point type. Got: {as_dtype(dtype)!s}")
    if num_mel_bins <= 0:
        raise ValueError(f"num_mel_bins must be positive. Got: {num_mel_bins}")
    if lower_edge_hertz < 0.0:
        raise ValueError(f"lower_edge_hertz must be non-negative. Got: {lower_edge_hertz}")
    if lower_edge_hertz >= upper_edge_hertz:
        raise ValueError(
            f"lower_edge_hertz {lower_edge_hertz:.1f} >= upper_edge_hertz {upper_edge_hertz:.1f}"
        )
    if sample_rate <= 0.0:
        raise ValueError(f"sample_rate must be positive. Got: {sample_rate}")
    if upper_edge_hertz > sample_rate / 2:
        raise ValueError(
            "upper_edge_hertz must not be larger than the Nyquist frequency (sample_rate / 2). "
            f"Got {upper_edge_hertz} for sample_rate: {sample_rate}"
        )
    hertz = np.linspace(0.0, sample_rate / 2.0, num_spectrogram_bins)[1:]
    bins = _SLOPE * np.log1p(hertz / _BREAK)[:, None]
    ends = _SLOPE * np.log1p(np.array([lower_edge_hertz, upper_edge_hertz]) / _BREAK)
    edges: np.ndarray = np.linspace(float(ends[0]), float(ends[1]), num_mel_bins + 2)
    low, middle, high = edges[:-2], edges[1:-1], edges[2:]
    weights = np.minimum((bins - low) / (middle - low), (high - bins) / (high - middle))
    whole = np.vstack([np.zeros((1, num_mel_bins)), np.maximum(0.0, weights)])
    with name_scope(name, "linear_to_mel_weight_matrix"):
        return convert_to_tensor(whole.astype(np.dtype(dtype)))
