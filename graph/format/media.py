"""Pictures and sound as files: PNG and WAV, written from arrays."""

from __future__ import annotations

import struct
import zlib

import numpy as np

PNG_HEAD = b"\x89PNG\r\n\x1a\n"
PNG_COLOUR_TYPES = {1: 0, 2: 4, 3: 2, 4: 6}
"""Channels -> the number that PNG has for grey, grey with alpha, RGB and RGBA."""
_MEMORY_LEVEL = 9
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
    head = struct.pack(">IIBBBBB", width, height, bits, PNG_COLOUR_TYPES[channels], 0, 0, 0)
    deflate = zlib.compressobj(
        compression, zlib.DEFLATED, zlib.MAX_WBITS, _MEMORY_LEVEL, zlib.Z_FILTERED
    )
    content = deflate.compress(_filtered(lines, channels * pixels.itemsize)) + deflate.flush()
    return PNG_HEAD + _chunk(b"IHDR", head) + _chunk(b"IDAT", content) + _chunk(b"IEND", b"")


def _filtered(lines: np.ndarray, step: int) -> bytes:
    """Each row behind the number of the one of PNG's five filters that makes it smallest.

    Args:
        lines: [height, bytes of a row], uint8.
        step: Bytes of a pixel.
    """
    x = lines.astype(np.int16)
    left, above = np.zeros_like(x), np.zeros_like(x)
    left[:, step:], above[1:] = x[:, :-step], x[:-1]
    corner = np.zeros_like(x)
    corner[1:, step:] = x[:-1, :-step]
    estimate = left + above - corner
    d_left, d_above, d_corner = (np.abs(estimate - near) for near in (left, above, corner))
    among = np.where(d_above <= d_corner, above, corner)
    paeth = np.where((d_left <= d_above) & (d_left <= d_corner), left, among)
    guesses = (np.zeros_like(x), left, above, (left + above) >> 1, paeth)
    forms = np.stack([(x - guess).astype(np.uint8) for guess in guesses])
    sizes = np.abs(forms.view(np.int8).astype(np.int32)).sum(-1)
    best = np.argmin(sizes, 0)
    rows = forms[best, np.arange(len(lines))]
    return np.concatenate([best[:, None].astype(np.uint8), rows], 1).tobytes()


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
