"""FarmHash's Fingerprint64, which TensorFlow sorts the names of a signature by."""

from __future__ import annotations

import struct

K0, K1, K2 = 0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F
MASK = 2**64 - 1
BLOCK = 64
SEED = 81

State = tuple[int, int, int, tuple[int, int], tuple[int, int]]
"""What is carried from block to block: three words and two pairs."""


def fingerprint64(text: bytes) -> int:
    """The fingerprint of some bytes.

    >>> fingerprint64(b"")
    11160318154034397263
    """
    size = len(text)
    if size <= 16:
        return _up_to_16(text)
    if size <= 32:
        return _up_to_32(text)
    return _up_to_64(text) if size <= BLOCK else _longer(text)


def _up_to_16(text: bytes) -> int:
    size = len(text)
    factor = K2 + size * 2
    if size >= 8:
        a, b = _word(text, 0) + K2, _word(text, size - 8)
        return _pair(_rotated(b, 37) * factor + a, (_rotated(a, 25) + b) * factor, factor)
    if size >= 4:
        first, last = struct.unpack_from("<I", text)[0], struct.unpack_from("<I", text, size - 4)[0]
        return _pair(size + (first << 3), last, factor)
    if size:
        y = text[0] + (text[size >> 1] << 8)
        z = size + (text[-1] << 2)
        return _shifted((y * K2 & MASK) ^ (z * K0 & MASK)) * K2 & MASK
    return K2


def _up_to_32(text: bytes) -> int:
    size = len(text)
    factor = K2 + size * 2
    c, d = _word(text, size - 8) * factor, _word(text, size - 16) * K2
    return _pair(*_mixed(_word(text, 0) * K1, _word(text, 8), c, d, K2), factor)


def _up_to_64(text: bytes) -> int:
    size = len(text)
    factor = K2 + size * 2
    a, b = _word(text, 0) * K2, _word(text, 8)
    c, d = _word(text, size - 8) * factor, _word(text, size - 16) * K2
    y, z = _mixed(a, b, c, d, K2)
    z = _pair(y, z, factor)
    e, f = _word(text, 16) * factor, _word(text, 24)
    g, h = (y + _word(text, size - 32)) * factor, (z + _word(text, size - 24)) * factor
    return _pair(*_mixed(e, f, g, h, a), factor)


def _longer(text: bytes) -> int:
    size = len(text)
    y = SEED * K1 + 113
    z = _shifted(y * K2 + 113) * K2
    x = SEED * K2 + _word(text, 0)
    v, w = (0, 0), (0, 0)
    for at in range(0, (size - 1) // BLOCK * BLOCK, BLOCK):
        x, y, z, v, w = _block(text, at, (x, y, z, v, w), K1, 1)
    factor = K1 + ((z & 0xFF) << 1)
    w = (w[0] + ((size - 1) & 63), w[1])
    v = (v[0] + w[0], v[1])
    w = (w[0] + v[0], w[1])
    x, y, z, v, w = _block(text, size - BLOCK, (x, y, z, v, w), factor, 9)
    return _pair(
        _pair(v[0], w[0], factor) + _shifted(y) * K0 + z, _pair(v[1], w[1], factor) + x, factor
    )


def _block(text: bytes, at: int, state: State, factor: int, weight: int) -> State:
    """The state after 64 bytes."""
    x, y, z, v, w = state
    x = _rotated(x + y + v[0] + _word(text, at + 8), 37) * factor
    y = _rotated(y + v[1] + _word(text, at + 48), 42) * factor
    x = (x & MASK) ^ (w[1] * weight & MASK)
    y += v[0] * weight + _word(text, at + 40)
    z = _rotated(z + w[0], 33) * factor
    v = _half(text, at, v[1] * factor, x + w[0])
    w = _half(text, at + 32, z + w[1], y + _word(text, at + 16))
    return z, y, x, v, w


def _mixed(a: int, b: int, c: int, d: int, e: int) -> tuple[int, int]:
    """Two words that five give."""
    return _rotated(a + b, 43) + _rotated(c, 30) + d, a + _rotated(b + e, 18) + c


def _half(text: bytes, at: int, a: int, b: int) -> tuple[int, int]:
    """Two words that 32 bytes and two seeds give."""
    first, second, third, last = struct.unpack_from("<4Q", text, at)
    a += first
    b = _rotated(a + b + last, 21)
    c = a
    a += second + third
    b += _rotated(a, 44)
    return (a + last) & MASK, (b + c) & MASK


def _pair(u: int, v: int, factor: int) -> int:
    """One word of two."""
    a = _shifted(((u ^ v) & MASK) * factor)
    return _shifted(((v ^ a) & MASK) * factor) * factor & MASK


def _shifted(value: int) -> int:
    value &= MASK
    return value ^ value >> 47


def _rotated(value: int, bits: int) -> int:
    value &= MASK
    return (value >> bits | value << (64 - bits)) & MASK


def _word(text: bytes, at: int) -> int:
    return struct.unpack_from("<Q", text, at)[0]
