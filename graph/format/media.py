"""Pictures and sound as files: PNG and WAV, written from arrays."""

from __future__ import annotations

import struct
import zlib

import numpy as np

PNG_HEAD = b"\x89PNG\r\n\x1a\n"
PNG_COLOUR_TYPES = {1: 0, 2: 4, 3: 2, 4: 6}
"""Channels -> the number that PNG has for grey, grey with alpha, RGB and RGBA."""
_UP = 2
_SAMPLE_BYTES = 2
_MAX_WAV_BYTES = 2**32 - 1


def encode_png(pixels: np.ndarray, compression: int = -1) -> bytes:
    """A PNG file of [height, width, channels] pixels, of uint8 or uint16.

    Raises ValueError for another form or number of channels.
    """
    if pixels.ndim != 3 or pixels.shape[2] not in PNG_COLOUR_TYPES or 0 in pixels.shape:
        raise ValueError(
            f"pixels must be [height, width, 1 to 4], none of them 0, got {list(pixels.shape)}"
        )
    height, width, channels = pixels.shape
    bits = 8 * pixels.itemsize
    rows = pixels.astype(pixels.dtype.newbyteorder(">"), copy=False)
    lines = np.ascontiguousarray(rows).view(np.uint8).reshape(height, -1)
    filtered = np.empty((height, lines.shape[1] + 1), np.uint8)
    filtered[:, 0] = _UP
    filtered[0, 1:] = lines[0]
    filtered[1:, 1:] = lines[1:] - lines[:-1]
    head = struct.pack(">IIBBBBB", width, height, bits, PNG_COLOUR_TYPES[channels], 0, 0, 0)
    content = zlib.compress(filtered.tobytes(), compression)
    return PNG_HEAD + _chunk(b"IHDR", head) + _chunk(b"IDAT", content) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, content: bytes) -> bytes:
    checksum = zlib.crc32(kind + content)
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", checksum)


def encode_wav(samples: np.ndarray, rate: int) -> bytes:
    """A WAV file of [frames, channels] samples in [-1, 1], in 16 bits.

    Raises ValueError when the numbers do not fit a WAV file.
    """
    frames, channels = samples.shape
    size = frames * channels * _SAMPLE_BYTES
    if not 0 < rate <= _MAX_WAV_BYTES:
        raise ValueError(f"sample_rate must be in (0, 2^32), got: {rate}")
    if not 0 < channels < 2**16:
        raise ValueError(f"num_channels must be in (0, 2^16), got: {channels}")
    if size + 44 > _MAX_WAV_BYTES:
        raise ValueError("Provided channels and frames cannot be encoded as a WAV.")
    scaled = samples.astype(np.float32) * np.float32(32768)
    away = np.trunc(scaled + np.copysign(np.float32(0.5), scaled))  # halves away from zero
    whole = np.clip(np.nan_to_num(away, nan=-32768), -32768, 32767).astype("<i2")
    frame = channels * _SAMPLE_BYTES
    form = struct.pack("<HHIIHH", 1, channels, rate, rate * frame, frame, 8 * _SAMPLE_BYTES)
    head = b"RIFF" + struct.pack("<I", size + 36) + b"WAVE"
    return (
        b"".join((head, b"fmt ", struct.pack("<I", 16), form, b"data", struct.pack("<I", size)))
        + whole.tobytes()
    )
