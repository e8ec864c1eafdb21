"""Functions of signals over time: `tf.signal`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...core.build import ops, shape_of
from ...core.create import convert_to_tensor
from ...core.graph import Tensor
from ...core.scopes import name_scope
from ..array import array
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


def _window(
    name: str | None,
    default: str,
    length: TensorLike,
    periodic: bool,
    dtype: DTypeLike,
    a: float,
    b: float,
) -> Tensor:
    """a - b cos(2 pi i / n)."""
    with name_scope(name, default, [length]):
        size = convert_to_tensor(length, name="window_length")
        n = ops.Cast(size, DstT=np.dtype(dtype))
        one = np.ones((), dtype)
        even = 1 - ops.FloorMod(size, np.asarray(2, size.dtype))
        shift = ops.Cast(even, DstT=np.dtype(dtype)) * np.asarray(float(periodic), dtype)
        divisor = ops.Maximum(n + shift - one, one)
        steps = ops.Cast(numbers(size), DstT=np.dtype(dtype))
        angles = ops.RealDiv(steps * np.asarray(2 * np.pi, dtype), divisor)
        wave = np.asarray(a, dtype) - np.asarray(b, dtype) * ops.Cos(angles)
        return ops.SelectV2(ops.Equal(n, one), ops.OnesLike(wave), wave)


def hann_window(
    window_length: TensorLike,
    periodic: bool = True,
    dtype: DTypeLike = np.float32,
    name: str | None = None,
) -> Tensor:
    """1/2 - 1/2 cos."""
    return _window(name, "hann_window", window_length, periodic, dtype, 0.5, 0.5)


def hamming_window(
    window_length: TensorLike,
    periodic: bool = True,
    dtype: DTypeLike = np.float32,
    name: str | None = None,
) -> Tensor:
    """0.54 - 0.46 cos."""
    return _window(name, "hamming_window", window_length, periodic, dtype, 0.54, 0.46)


def overlap_and_add(signal: TensorLike, frame_step: int, name: str | None = None) -> Tensor:
    """[..., frames, length] as [..., time]: each frame `frame_step` behind the one before, added.

    Raises ValueError when `frame_step` is no number or the frames' sizes are not known.
    """
    with name_scope(name, "overlap_and_add", [signal, frame_step]):
        frames = convert_to_tensor(signal)
        shape = frames.sizes
        if shape is None or len(shape) < 2 or None in shape[-2:]:
            raise ValueError(f"signal must have known frames, got shape {frames.get_shape()}")
        n, length = (int(size or 0) for size in shape[-2:])
        step = int(frame_step)
        total = (n - 1) * step + length if n else 0
        places = np.arange(n)[:, None] * step + np.arange(length)
        sizes = shape_of(frames)
        flat = array.reshape(frames, [-1, n * length])
        rows = array.transpose(flat, [1, 0])
        added = ops.UnsortedSegmentSum(rows, places.ravel().astype(np.int32), np.int32(total))
        outer = sizes[:-2]
        result = array.reshape(array.transpose(added, [1, 0]), array.concat([outer, [total]], 0))
        result.set_shape((*shape[:-2], total))
        return result


def frame(
    signal: TensorLike,
    frame_length: int,
    frame_step: int,
    pad_end: bool = False,
    pad_value: float = 0,
    axis: int = -1,
    name: str | None = None,
) -> Tensor:
    """The last dimension as frames that overlap; its size must be known."""
    with name_scope(name, "frame", [signal]):
        x = convert_to_tensor(signal)
        if x.sizes is None or axis not in (-1, len(x.sizes) - 1) or x.sizes[-1] is None:
            raise ValueError(f"signal must have a known last axis, got {x.get_shape()}, {axis}")
        n = int(x.sizes[-1])
        count = max(0, -(-n // frame_step) if pad_end else (n - frame_length) // frame_step + 1)
        missing = (count - 1) * frame_step + frame_length - n if count else 0
        if pad_end and missing > 0:
            pads = np.zeros((len(x.sizes), 2), np.int32)
            pads[-1, 1] = missing
            x = ops.PadV2(x, pads, np.asarray(pad_value, x.dtype))
        places = np.arange(count)[:, None] * frame_step + np.arange(frame_length)
        return array.gather(x, places.astype(np.int32), axis=-1)


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
