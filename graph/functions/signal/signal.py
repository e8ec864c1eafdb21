"""Functions of signals over time: `tf.signal`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...core.build import ops
from ...core.create import convert_to_tensor
from ...core.dtype import as_dtype, as_numpy
from ...core.graph import Tensor
from ...core.scopes import name_scope
from ...core.shapes import whole
from ..array.casting import cast
from ..array.creation import lin_space
from ..array.creation import range as numbers
from ..rows import functions

if TYPE_CHECKING:
    from ...core.typing import DTypeLike, TensorLike

ONE_TO_ONE = """
fft              FFT               input # The discrete Fourier transform along the last dimension
fft2d            FFT2D             input \
    # The discrete Fourier transform along the last two dimensions
ifft             IFFT              input \
    # The inverse discrete Fourier transform along the last dimension
ifft2d           IFFT2D            input \
    # The inverse discrete Fourier transform along the last two dimensions
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
    """0.5 - 0.5 cos(2 pi i / n), [window_length].

    Args:
        window_length: How many numbers, an integer scalar.
        periodic: Whether n is the length, even ones only, or less by 1; a truth value.
        dtype: Real floats.
        name: Of the operations.

    Raises ValueError for another type.
    """
    return _window(name, "hann_window", window_length, periodic, dtype, 0.5, 0.5)


def hamming_window(
    window_length: TensorLike,
    periodic: TensorLike = True,
    dtype: DTypeLike = np.float32,
    name: str | None = None,
) -> Tensor:
    """0.54 - 0.46 cos(2 pi i / n), [window_length].

    Args:
        window_length: How many numbers, an integer scalar.
        periodic: Whether n is the length, even ones only, or less by 1; a truth value.
        dtype: Real floats.
        name: Of the operations.

    Raises ValueError for another type.
    """
    return _window(name, "hamming_window", window_length, periodic, dtype, 0.54, 0.46)


def linear_to_mel_weight_matrix(
    num_mel_bins: int = 20,
    num_spectrogram_bins: TensorLike = 129,
    sample_rate: TensorLike = 8000,
    lower_edge_hertz: float = 125.0,
    upper_edge_hertz: float = 3800.0,
    dtype: DTypeLike = np.float32,
    name: str | None = None,
) -> Tensor:
    """[num_spectrogram_bins, num_mel_bins]: triangles over the frequencies, as HTK has them.

    Args:
        num_mel_bins: How many bands the mel spectrum has.
        num_spectrogram_bins: How many bins the spectrogram has, from 0 to half of the rate; a
            tensor, too.
        sample_rate: Samples per second; a tensor, too.
        lower_edge_hertz: Where the lowest band begins, at least 0.
        upper_edge_hertz: Where the highest one ends, at most at half of `sample_rate`.
        dtype: Of the result, a floating point type.
        name: Of the operations.

    Raises ValueError when a number is out of its range.
    """
    sample_rate = _known_number(sample_rate)
    num_spectrogram_bins = _known_number(num_spectrogram_bins)
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
    rate = 0.0
    if not isinstance(sample_rate, Tensor):
        rate = float(np.asarray(sample_rate))
        if rate <= 0.0:
            raise ValueError(f"sample_rate must be positive. Got: {sample_rate}")
        if upper_edge_hertz > rate / 2:
            raise ValueError(
                "upper_edge_hertz must not be larger than the Nyquist frequency (sample_rate / 2). "
                f"Got {upper_edge_hertz} for sample_rate: {sample_rate}"
            )
    ends = _SLOPE * np.log1p(np.array([lower_edge_hertz, upper_edge_hertz]) / _BREAK)
    edges: np.ndarray = np.linspace(float(ends[0]), float(ends[1]), num_mel_bins + 2)
    low, middle, high = edges[:-2], edges[1:-1], edges[2:]
    kind = as_numpy(dtype)
    with name_scope(name, "linear_to_mel_weight_matrix") as scope:
        if isinstance(sample_rate, Tensor) or isinstance(num_spectrogram_bins, Tensor):
            samples = cast(convert_to_tensor(sample_rate), kind)
            hertz = lin_space(np.zeros((), kind), samples / 2, num_spectrogram_bins)[1:]
            bins = _SLOPE * ops.Log1p(hertz / _BREAK)[:, None]
            low, middle, high = (edge.astype(kind) for edge in (low, middle, high))
            weights = ops.Minimum((bins - low) / (middle - low), (high - bins) / (high - middle))
            return ops.Pad(ops.Maximum(weights, np.zeros((), kind)), [[1, 0], [0, 0]], name=scope)
        frequencies = np.linspace(0.0, rate / 2.0, int(np.asarray(num_spectrogram_bins)))[1:]
        positions = _SLOPE * np.log1p(frequencies / _BREAK)[:, None]
        triangles = np.minimum(
            (positions - low) / (middle - low), (high - positions) / (high - middle)
        )
        matrix = np.vstack([np.zeros((1, num_mel_bins)), np.maximum(0.0, triangles)])
        return convert_to_tensor(matrix.astype(kind))


def _known_number(value: TensorLike) -> TensorLike:
    """A number, of a tensor its value where that is known."""
    known = whole(value.value) if isinstance(value, Tensor) else None
    return value if known is None else known
