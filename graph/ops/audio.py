"""Sound: files of 16-bit samples (WAV), spectrograms and their cepstra."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, cast

import numpy as np

from ...engine.spectra import Cepstrum, Spectrogram
from ..core.registry import op
from ..core.shapes import known, require

if TYPE_CHECKING:
    from ..core.protocols import OperationView
    from ..core.shapes import Shape

_PCM, _BITS = 1, 16
_SCALE = np.float32(1 << 15)


def _require_rank(op: OperationView, index: int, rank: int) -> None:
    sizes = op.inputs[index].sizes
    if sizes is not None and len(sizes) != rank:
        raise ValueError(f"Shape must be rank {rank} but is rank {len(sizes)}")


def _encoded_shape(op: OperationView) -> Shape:
    _require_rank(op, 0, 2)
    _require_rank(op, 1, 0)
    return ()


@op("EncodeWav", shape=_encoded_shape)
def encode_wav(audio: np.ndarray, sample_rate: np.ndarray) -> np.ndarray:
    """[samples, channels] in [-1, 1] as a file; what is beyond is cut off."""
    if audio.ndim != 2:
        raise ValueError(f"audio must be 2-dimensional but got shape {list(audio.shape)}")
    channels = audio.shape[1]
    rate = int(sample_rate)
    if rate <= 0:
        raise ValueError(f"sample_rate must be in (0, 2^32), got: {rate}.")
    if channels == 0 or channels > 0xFFFF:
        raise ValueError(f"num_channels must be in (0, 2^16), got: {channels}.")
    limits = np.iinfo(np.int16)
    samples = np.clip(np.rint(audio * _SCALE), limits.min, limits.max).astype("<i2").tobytes()
    width = channels * _BITS // 8
    form = struct.pack("<HHIIHH", _PCM, channels, rate, rate * width, width, _BITS)
    chunks = (b"fmt ", form), (b"data", samples)
    body = b"".join(name + struct.pack("<I", len(part)) + part for name, part in chunks)
    return np.array(b"RIFF" + struct.pack("<I", len(body) + 4) + b"WAVE" + body, object)


def _decoded_shapes(op: OperationView) -> list[Shape]:
    _require_rank(op, 0, 0)
    desired = [cast("int", op.attrs[name]) for name in ("desired_samples", "desired_channels")]
    return [tuple(None if n == -1 else n for n in desired), ()]


class _Reader:
    """The bytes of a file, from the front."""

    def __init__(self, content: bytes) -> None:
        self._content, self._at = content, 0

    def take(self, size: int) -> bytes:
        """The next bytes; ValueError when there are fewer."""
        part = self._content[self._at : self._at + size]
        if len(part) < size:
            raise ValueError(f"Data too short when trying to read {size} bytes of a WAV file")
        self._at += size
        return part

    def expect(self, word: bytes) -> None:
        """Goes on behind a word; ValueError when another stands there."""
        part = self.take(len(word))
        if part != word:
            raise ValueError(
                f"Header mismatch: Expected {word.decode()} but found {part.decode('latin1')}"
            )

    def number(self, size: int) -> int:
        """The next number, without a sign."""
        return int.from_bytes(self.take(size), "little")

    @property
    def ends(self) -> bool:
        """Whether nothing is behind."""
        return self._at >= len(self._content)


def _samples(content: bytes) -> tuple[np.ndarray, int]:
    """[samples, channels] of a file, and how many there are in a second."""
    reader = _Reader(content)
    reader.expect(b"RIFF")
    reader.take(4)
    reader.expect(b"WAVE")
    reader.expect(b"fmt ")
    size = reader.number(4)
    if size not in (16, 18):
        raise ValueError(f"Bad format chunk size for WAV: Expected 16 or 18, but got {size}")
    form, channels, rate = reader.number(2), reader.number(2), reader.number(4)
    if form != _PCM:
        raise ValueError(f"Bad audio format for WAV: Expected 1 (PCM), but got{form}")
    reader.take(4)
    width, bits = reader.number(2), reader.number(2)
    if bits != _BITS:
        raise ValueError(f"Can only read 16-bit WAV files, but received {bits}")
    if not channels or width != channels * _BITS // 8:
        raise ValueError(f"Bad bytes per sample in WAV header: got {width} of {channels} channels")
    reader.take(size - 16)
    while not reader.ends:
        name, length = reader.take(4), reader.number(4)
        part = reader.take(length)
        if name == b"data":
            whole = length // width * width
            return np.frombuffer(part[:whole], "<i2").reshape(-1, channels), rate
    raise ValueError("No data chunk found in WAV")


@op("DecodeWav", shape=_decoded_shapes)
def decode_wav(
    contents: np.ndarray, *, desired_channels: int, desired_samples: int
) -> tuple[np.ndarray, np.ndarray]:
    """A file's samples in [-1, 1], cut off or filled up with silence, and the sample rate.

    More channels than there are repeat the last one.
    """
    samples, rate = _samples(cast("bytes", contents.item()))
    n, channels = samples.shape
    if desired_channels != -1:
        columns = np.minimum(np.arange(desired_channels), channels - 1)
        samples = samples[:, columns]
    if desired_samples != -1:
        behind = max(desired_samples - n, 0)
        samples = np.pad(samples[:desired_samples], ((0, behind), (0, 0)))
    return samples.astype(np.float32) / _SCALE, np.array(rate, np.int32)


def _spectrogram_of(op: OperationView) -> Spectrogram:
    size, stride = (cast("int", op.get_attr(name)) for name in ("window_size", "stride"))
    require(op, size > 1, f"window size must be > 1, got {size}")
    require(op, stride > 0, f"stride must be strictly positive, got {stride}")
    return Spectrogram(size, stride, cast("bool", op.get_attr("magnitude_squared")))


def _spectrogram_shape(op: OperationView) -> Shape:
    samples, channels = known(op, 0, 2)
    spectrogram = _spectrogram_of(op)
    n_windows = None if samples is None else spectrogram.n_windows(samples)
    return channels, n_windows, spectrogram.n_frequencies


@op("AudioSpectrogram", shape=_spectrogram_shape)
def audio_spectrogram(x: np.ndarray, *, op: OperationView) -> np.ndarray:
    """The energies of each frequency in windows of each channel's samples, or their roots."""
    spectrogram = _spectrogram_of(op)
    spectrogram.check()
    return spectrogram(x)


def _cepstrum_shape(op: OperationView) -> Shape:
    channels, n_windows, _ = known(op, 0, 3)
    _require_rank(op, 1, 0)
    return channels, n_windows, cast("int", op.get_attr("dct_coefficient_count"))


@op("Mfcc", shape=_cepstrum_shape)
def mfcc(
    spectrogram: np.ndarray,
    sample_rate: np.ndarray,
    *,
    upper_frequency_limit: float,
    lower_frequency_limit: float,
    filterbank_channel_count: int,
    dct_coefficient_count: int,
) -> np.ndarray:
    """The first coefficients of a spectrogram's cepstrum on the mel scale."""
    limits = lower_frequency_limit, upper_frequency_limit
    cepstrum = Cepstrum(filterbank_channel_count, dct_coefficient_count, *limits)
    cepstrum.check(spectrogram.shape[2])
    return cepstrum(spectrogram, int(sample_rate))
