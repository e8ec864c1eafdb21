"""Transforms of signals in frames: `tf.signal.stft`, `mdct` and their inverses; more windows."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ...core.build import ops
from ...core.create import convert_to_tensor
from ...core.graph import Tensor
from ...core.scopes import name_scope
from ..array import array
from ..array.casting import cast
from ..array.creation import range as numbers
from ..math.reductions import reduce_sum
from .frames import frame, overlap_and_add, padded_to, scalar, size_at
from .signal import hann_window, window_size, window_type
from .spectral import dct, irfft, rfft

if TYPE_CHECKING:
    from ...core.typing import DTypeLike, TensorLike
    from .frames import Size

    Window = Callable[..., Tensor]


def vorbis_window(
    window_length: TensorLike, dtype: DTypeLike = np.float32, name: str | None = None
) -> Tensor:
    """sin(pi / 2 sin(pi (i + 1/2) / window_length)**2), [window_length].

    Args:
        window_length: How many numbers, an integer scalar.
        dtype: Real floats.
        name: Of the operations.

    Raises ValueError for another type.
    """
    with name_scope(name, "vorbis_window", [window_length]):
        kind = window_type(dtype)
        size = window_size(window_length)
        steps = cast(numbers(size), kind) + np.asarray(0.5, kind)
        inner = ops.Sin(np.asarray(math.pi, kind) / cast(size, kind) * steps)
        return ops.Sin(ops.Square(inner) * np.asarray(math.pi / 2, kind))


def kaiser_window(
    window_length: TensorLike,
    beta: TensorLike = 12.0,
    dtype: DTypeLike = np.float32,
    name: str | None = None,
) -> Tensor:
    """I0(beta sqrt(1 - (2 i / (n - 1) - 1)**2)) / I0(beta), with n = window_length.

    Args:
        window_length: How many numbers, an integer scalar.
        beta: How much it falls off to both sides, a scalar.
        dtype: Real floats.
        name: Of the operations.

    Raises ValueError for another type.
    """
    with name_scope(name, "kaiser_window", [window_length]):
        kind = window_type(dtype)
        size = window_size(window_length)
        one = np.ones((), kind)
        half = (cast(size, kind) - one) / np.asarray(2, kind)
        positions = cast(numbers(size), kind) - half
        sharpness = convert_to_tensor(beta, kind)
        share = ops.DivNoNan(positions, half)
        x = sharpness * ops.Sqrt(ops.Relu(one - ops.Square(share)))
        return ops.Exp(x - sharpness) * (ops.BesselI0e(x) / ops.BesselI0e(sharpness))


def kaiser_bessel_derived_window(
    window_length: TensorLike,
    beta: TensorLike = 12.0,
    dtype: DTypeLike = np.float32,
    name: str | None = None,
) -> Tensor:
    """The roots of running sums of Kaiser's window over its sum, up and down again.

    Args:
        window_length: How many numbers, an even integer scalar.
        beta: That of `kaiser_window`.
        dtype: Real floats.
        name: Of the operations.

    Raises ValueError for another type.
    """
    with name_scope(name, "kaiser_bessel_derived_window", [window_length]):
        size = window_size(window_length)
        half = ops.FloorDiv(size, np.int32(2))
        sums = ops.Cumsum(kaiser_window(half + 1, beta, window_type(dtype)), np.int32(0))
        rising = ops.Sqrt(sums[:-1] / sums[-1])
        return ops.ConcatV2([rising, rising[::-1]], np.int32(0))


def _power_of_two(n: Size) -> Size:
    """The least power of two that is not less."""
    if isinstance(n, int):
        return 0 if n == 0 else 1 << (n - 1).bit_length()
    exponent = ops.Ceil(ops.Log(cast(n, np.float32)) / np.float32(math.log(2.0)))
    return cast(ops.Pow(np.float32(2), exponent), np.int32)


def _transform_size(fft_length: TensorLike | None, frame_length: Size) -> Size:
    return _power_of_two(frame_length) if fft_length is None else scalar(fft_length, "fft_length")


def stft(
    signals: TensorLike,
    frame_length: TensorLike,
    frame_step: TensorLike,
    fft_length: TensorLike | None = None,
    window_fn: Window | None = hann_window,
    pad_end: bool = False,
    name: str | None = None,
) -> Tensor:
    """[..., frames, frequencies]: the transforms of frames that overlap.

    Args:
        signals: [..., samples], real.
        frame_length, frame_step: How long frames are, and how far they are apart.
        fft_length: The size of the transforms; the power of two above by default.
        window_fn: What frames are multiplied by; called with a length and a dtype.
        pad_end: Whether zeros make the last samples a whole frame.
        name: Of the operations.
    """
    with name_scope(name, "stft", [signals]):
        x = convert_to_tensor(signals, name="signals")
        x.get_shape().with_rank_at_least(1)
        length, step = scalar(frame_length, "frame_length"), scalar(frame_step, "frame_step")
        framed = frame(x, length, step, pad_end=pad_end)
        if window_fn is not None:
            framed = framed * window_fn(length, dtype=framed.dtype)
        return rfft(framed, [_transform_size(fft_length, length)])


def inverse_stft_window_fn(
    frame_step: int, forward_window_fn: Window = hann_window, name: str | None = None
) -> Window:
    """The window with which `inverse_stft` undoes `stft`: it divides by what overlaps.

    Args:
        frame_step: How far frames are apart.
        forward_window_fn: The window of `stft`.
        name: Of the operations.
    """

    def window(frame_length: int, dtype: DTypeLike) -> Tensor:
        with name_scope(name, "inverse_stft_window_fn"):
            forward = forward_window_fn(frame_length, dtype=dtype)
            overlaps = -(-frame_length // frame_step)
            missing = overlaps * frame_step - frame_length
            squares = ops.Pad(ops.Square(forward), np.array([[0, missing]], np.int32))
            rows = array.reshape(squares, [overlaps, frame_step])
            sums = ops.Tile(reduce_sum(rows, 0), np.array([overlaps], np.int32))[:frame_length]
            return ops.DivNoNan(forward, sums)

    return window


def inverse_stft(
    stfts: TensorLike,
    frame_length: TensorLike,
    frame_step: TensorLike,
    fft_length: TensorLike | None = None,
    window_fn: Window | None = hann_window,
    name: str | None = None,
) -> Tensor:
    """[..., samples]: frames from their transforms, added where they overlap.

    Args:
        stfts: [..., frames, frequencies], complex64 or complex128.
        frame_length, frame_step: How long frames are, and how far they are apart: those of `stft`.
        fft_length: The size of the transforms; the power of two above `frame_length` by default.
        window_fn: What frames are multiplied by; `inverse_stft_window_fn` gives the one that undoes
            that of `stft`.
        name: Of the operations.

    Returns real numbers. Raises ValueError for a rank below 2.
    """
    with name_scope(name, "inverse_stft", [stfts]):
        x = convert_to_tensor(stfts, name="stfts")
        x.get_shape().with_rank_at_least(2)
        length, step = scalar(frame_length, "frame_length"), scalar(frame_step, "frame_step")
        size = _transform_size(fft_length, length)
        frames = padded_to(irfft(x, [size]), length)[..., :length]
        if window_fn is not None:
            frames = frames * window_fn(length, dtype=frames.dtype)
        return overlap_and_add(frames, step)


def mdct(
    signals: TensorLike,
    frame_length: TensorLike,
    window_fn: Window | None = vorbis_window,
    pad_end: bool = False,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """[..., frames, frame_length / 2]: the modified cosine transform of frames, half overlapping.

    Args:
        signals: [..., samples], real.
        frame_length: A multiple of 4.
        window_fn: What frames are multiplied by; None for 1 / sqrt(2).
        pad_end: Whether zeros make the last samples a whole frame.
        norm: None or "ortho".
        name: Of the operations.

    Raises ValueError for another `frame_length`.
    """
    with name_scope(name, "mdct", [signals]):
        x = convert_to_tensor(signals, name="signals")
        x.get_shape().with_rank_at_least(1)
        length = scalar(frame_length, "frame_length")
        if isinstance(length, int) and length % 4:
            raise ValueError("The frame length must be a multiple of 4.")
        framed = frame(x, length, length // 2, pad_end=pad_end)
        framed = framed * _factors(window_fn, length, framed)
        first, second, third, fourth = array.split(framed, 4, axis=-1)
        halves = [-_turned(third) - fourth, first - _turned(second)]
        return dct(ops.ConcatV2(halves, np.int32(-1)), 4, norm=norm)


def _factors(window_fn: Window | None, length: Size, like: Tensor) -> Tensor | np.ndarray:
    if window_fn is None:
        return np.asarray(math.sqrt(0.5), like.dtype)
    return window_fn(length, dtype=like.dtype)


def _turned(x: Tensor) -> Tensor:
    return ops.ReverseV2(x, np.array([-1], np.int32))


def inverse_mdct(
    mdcts: TensorLike,
    window_fn: Window | None = vorbis_window,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """[..., samples]: the frames of `mdct`, added where they overlap.

    Args:
        mdcts: [..., frames, frame_length / 2], real floats.
        window_fn: That of `mdct`; None for 1 / sqrt(2).
        norm: That of `mdct`, None or "ortho".
        name: Of the operations.

    Raises ValueError for a rank below 2.
    """
    with name_scope(name, "inverse_mdct", [mdcts]):
        x = convert_to_tensor(mdcts, name="mdcts")
        x.get_shape().with_rank_at_least(2)
        half = size_at(x, -1)
        scaled = dct(x, 4, norm=norm)
        if norm != "ortho":
            scaled = scaled * (np.asarray(0.5, x.dtype) / cast(half, x.dtype))
        parts = array.split(scaled, 2, axis=-1)
        pieces = [parts[1], -_turned(parts[1]), -_turned(parts[0]), -parts[0]]
        frames = ops.ConcatV2(pieces, np.int32(-1))
        return overlap_and_add(frames * _factors(window_fn, 2 * half, x), half)


def mfccs_from_log_mel_spectrograms(
    log_mel_spectrograms: TensorLike, name: str | None = None
) -> Tensor:
    """The cepstral coefficients of spectrograms on the mel scale: `dct` of type 2 / sqrt(2 bins).

    Args:
        log_mel_spectrograms: [..., frames, bins], logarithms, real floats.
        name: Of the operations.

    Returns its shape. Raises ValueError when there are no bins.
    """
    with name_scope(name, "mfccs_from_log_mel_spectrograms", [log_mel_spectrograms]):
        x = convert_to_tensor(log_mel_spectrograms)
        if x.get_shape().ndims and x.get_shape()[-1].value == 0:
            raise ValueError(f"num_mel_bins must be positive. Got: {x}")
        size = ops.StridedSlice(ops.Shape(x), [-1], [0], [1], shrink_axis_mask=1)
        return dct(x) * ops.Rsqrt(cast(size * 2, x.dtype))
