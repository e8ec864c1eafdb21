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
        return _hash_len_0_to_16(text)
    if size <= 32:
        return _hash_len_17_to_32(text)
    return _hash_len_33_to_64(text) if size <= BLOCK else _hash_long(text)


def _hash_len_0_to_16(text: bytes) -> int:
    size = len(text)
    factor = K2 + size * 2
    if size >= 8:
        a, b = _fetch64(text, 0) + K2, _fetch64(text, size - 8)
        return _hash_len_16(_rotate(b, 37) * factor + a, (_rotate(a, 25) + b) * factor, factor)
    if size >= 4:
        first, last = struct.unpack_from("<I", text)[0], struct.unpack_from("<I", text, size - 4)[0]
        return _hash_len_16(size + (first << 3), last, factor)
    if size:
        y = text[0] + (text[size >> 1] << 8)
        z = size + (text[-1] << 2)
        return _shift_mix((y * K2 & MASK) ^ (z * K0 & MASK)) * K2 & MASK
    return K2


def _hash_len_17_to_32(text: bytes) -> int:
    size = len(text)
    factor = K2 + size * 2
    c, d = _fetch64(text, size - 8) * factor, _fetch64(text, size - 16) * K2
    return _hash_len_16(*_mixed(_fetch64(text, 0) * K1, _fetch64(text, 8), c, d, K2), factor)


def _hash_len_33_to_64(text: bytes) -> int:
    size = len(text)
    factor = K2 + size * 2
    a, b = _fetch64(text, 0) * K2, _fetch64(text, 8)
    c, d = _fetch64(text, size - 8) * factor, _fetch64(text, size - 16) * K2
    y, z = _mixed(a, b, c, d, K2)
    z = _hash_len_16(y, z, factor)
    e, f = _fetch64(text, 16) * factor, _fetch64(text, 24)
    g, h = (y + _fetch64(text, size - 32)) * factor, (z + _fetch64(text, size - 24)) * factor
    return _hash_len_16(*_mixed(e, f, g, h, a), factor)


def _hash_long(text: bytes) -> int:
    size = len(text)
    y = SEED * K1 + 113
    z = _shift_mix(y * K2 + 113) * K2
    x = SEED * K2 + _fetch64(text, 0)
    v, w = (0, 0), (0, 0)
    for offset in range(0, (size - 1) // BLOCK * BLOCK, BLOCK):
        x, y, z, v, w = _block(text, offset, (x, y, z, v, w), K1, 1)
    factor = K1 + ((z & 0xFF) << 1)
    w = (w[0] + ((size - 1) & 63), w[1])
    v = (v[0] + w[0], v[1])
    w = (w[0] + v[0], w[1])
    x, y, z, v, w = _block(text, size - BLOCK, (x, y, z, v, w), factor, 9)
    return _hash_len_16(
        _hash_len_16(v[0], w[0], factor) + _shift_mix(y) * K0 + z,
        _hash_len_16(v[1], w[1], factor) + x,
        factor,
    )


def _block(text: bytes, offset: int, state: State, factor: int, weight: int) -> State:
    """The state after 64 bytes."""
    x, y, z, v, w = state
    x = _rotate(x + y + v[0] + _fetch64(text, offset + 8), 37) * factor
    y = _rotate(y + v[1] + _fetch64(text, offset + 48), 42) * factor
    x = (x & MASK) ^ (w[1] * weight & MASK)
    y += v[0] * weight + _fetch64(text, offset + 40)
    z = _rotate(z + w[0], 33) * factor
    v = _weak_hash_len_32(text, offset, v[1] * factor, x + w[0])
    w = _weak_hash_len_32(text, offset + 32, z + w[1], y + _fetch64(text, offset + 16))
    return z, y, x, v, w


def _mixed(a: int, b: int, c: int, d: int, e: int) -> tuple[int, int]:
    """Two words that five give."""
    return _rotate(a + b, 43) + _rotate(c, 30) + d, a + _rotate(b + e, 18) + c


def _weak_hash_len_32(text: bytes, offset: int, a: int, b: int) -> tuple[int, int]:
    """Two words that 32 bytes and two seeds give."""
    first, second, third, last = struct.unpack_from("<4Q", text, offset)
    a += first
    b = _rotate(a + b + last, 21)
    c = a
    a += second + third
    b += _rotate(a, 44)
    return (a + last) & MASK, (b + c) & MASK


def _hash_len_16(u: int, v: int, factor: int) -> int:
    """One word of two."""
    a = _shift_mix(((u ^ v) & MASK) * factor)
    return _shift_mix(((v ^ a) & MASK) * factor) * factor & MASK


def _shift_mix(value: int) -> int:
    value &= MASK
    return value ^ value >> 47


def _rotate(value: int, bits: int) -> int:
    value &= MASK
    return (value >> bits | value << (64 - bits)) & MASK


def _fetch64(text: bytes, offset: int) -> int:
    return struct.unpack_from("<Q", text, offset)[0]
