"""SignalRfft, SignalIrfft: Fourier transforms of rows, in fixed point as KissFFT makes them.

Source: TensorFlow Lite Micro's signal library, and Mark Borgerding's KissFFT, whose order of
butterflies and roundings the integers have: each stage divides by its radix, so the transform is
one divided by its length.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from ..numpy_calls import by_numpy
from .options import Options
from .registry import custom, exactly
from .signal import require_dtype

if TYPE_CHECKING:
    from types import EllipsisType

    from ..plan.node import HostCall, Node

_MAX_LENGTH = 1 << 16


class Fixed:
    """Complex numbers of two integers with a sign and `bits` bits after the point."""

    __slots__ = ("bits", "i", "r")

    def __init__(self, r: np.ndarray, i: np.ndarray, bits: int):
        kind = np.int16 if bits == 15 else np.int32
        self.r, self.i = (part.astype(kind).astype(np.int64) for part in (r, i))
        self.bits = bits

    def __add__(self, other: Fixed) -> Fixed:
        return Fixed(self.r + other.r, self.i + other.i, self.bits)

    def __sub__(self, other: Fixed) -> Fixed:
        return Fixed(self.r - other.r, self.i - other.i, self.bits)

    def __mul__(self, other: Fixed) -> Fixed:
        real = self.r * other.r - self.i * other.i
        imaginary = self.r * other.i + self.i * other.r
        return Fixed(self._round(real), self._round(imaginary), self.bits)

    def __getitem__(self, index: tuple[slice | EllipsisType | int | np.ndarray, ...]) -> Fixed:
        return Fixed(np.asarray(self.r[index]), np.asarray(self.i[index]), self.bits)

    def split(self, p: int) -> Fixed:
        """Rows [..., p, n / p]: every p-th number of the last dimension, from the first p on."""
        shape = *self.r.shape[:-1], self.r.shape[-1] // p, p
        r, i = (part.reshape(shape).swapaxes(-1, -2) for part in (self.r, self.i))
        return Fixed(r, i, self.bits)

    def divided(self, n: int) -> Fixed:
        """The numbers over n, which is a product with the rounded down fraction."""
        factor = ((1 << self.bits) - 1) // n
        return Fixed(self._round(self.r * factor), self._round(self.i * factor), self.bits)

    def scaled(self, factor: np.ndarray) -> Fixed:
        """The numbers times a real one."""
        return Fixed(self._round(self.r * factor), self._round(self.i * factor), self.bits)

    def turned(self) -> Fixed:
        """The numbers times -i."""
        return Fixed(self.i, -self.r, self.bits)

    def conjugate(self) -> Fixed:
        """The numbers with the other sign of what is imaginary."""
        return Fixed(self.r, -self.i, self.bits)

    def _round(self, product: np.ndarray) -> np.ndarray:
        return product + (1 << (self.bits - 1)) >> self.bits


@custom("SignalRfft")
def rfft(node: Node) -> HostCall:
    """The first half of each row's transform, pairs of numbers; rows are filled up with zeros."""
    (x,) = exactly(node, 1)
    n = _length(node)
    require_dtype(node, x, np.int16, np.int32, np.float32)
    node.require(
        x.ndim >= 1 and x.shape[-1] <= n, f"rows must have at most {n} numbers, got {x.shape}"
    )
    shape = (*x.shape[:-1], n + 2)

    def run(x: np.ndarray) -> list[np.ndarray]:
        if x.dtype == np.float32:
            spectrum = np.fft.rfft(x.astype(np.float64), n)
            pairs = np.stack([spectrum.real, spectrum.imag], -1)
        else:
            rows = np.zeros((*x.shape[:-1], n), np.int64)
            rows[..., : x.shape[-1]] = x
            pairs = _fixed_rfft(rows, 15 if x.dtype == np.int16 else 31)
        return [pairs.reshape(shape)]

    return by_numpy(node, run, (shape, x.dtype))


@custom("SignalIrfft")
def irfft(node: Node) -> HostCall:
    """The rows that the first halves of their transforms, pairs of numbers, are of."""
    (x,) = exactly(node, 1)
    n = _length(node)
    require_dtype(node, x, np.int16, np.int32, np.float32)
    node.require(
        x.ndim >= 1 and x.shape[-1] == n + 2, f"rows must have {n + 2} numbers, got {x.shape}"
    )
    shape = (*x.shape[:-1], n)

    def run(x: np.ndarray) -> list[np.ndarray]:
        pairs = x.reshape((*x.shape[:-1], n // 2 + 1, 2))
        if x.dtype == np.float32:
            spectrum = pairs[..., 0].astype(np.complex128)
            spectrum.imag = pairs[..., 1]
            return [np.fft.irfft(spectrum, n)]
        return [_fixed_irfft(pairs.astype(np.int64), 15 if x.dtype == np.int16 else 31)]

    return by_numpy(node, run, (shape, x.dtype))


def _length(node: Node) -> int:
    n = Options(node).positive("fft_length")
    node.require(
        n % 4 == 0 and n <= _MAX_LENGTH and _factors(n // 2)[-1] <= 5,
        f"fft_length must be a product of 4, 2, 3 and 5 that 4 divides, got {n}",
    )
    return n


def _factors(n: int) -> list[int]:
    """The radices of a transform: fours first, then smaller ones, then the primes."""
    factors: list[int] = []
    p, most = 4, int(n**0.5)
    while n > 1:
        while n % p:
            p = {4: 2, 2: 3}.get(p, p + 2)
            if p > most:
                p = n
        n //= p
        factors.append(p)
    return factors or [1]


@lru_cache(16)
def _roots(n: int, inverse: bool, bits: int, offset: float = 0.0, count: int = 0) -> Fixed:
    """exp(-2 pi i (k + offset) / n) for each k, rounded; the conjugates for an inverse."""
    phase = -2 * np.pi * (np.arange(count or n) + offset) / n
    phase = -phase if inverse else phase
    largest = (1 << bits) - 1
    parts = [np.floor(0.5 + largest * f(phase)).astype(np.int64) for f in (np.cos, np.sin)]
    return Fixed(parts[0], parts[1], bits)


def _transform(x: Fixed, roots: Fixed, inverse: bool, level: int = 0) -> Fixed:
    """The transform of the last dimension, divided by its length."""
    n, length = x.r.shape[-1], roots.r.shape[0]
    if n == 1:
        return x
    p = _factors(length)[level]
    m, step = n // p, length // n
    inner = _transform(x.split(p), roots, inverse, level + 1).divided(p)
    parts = [inner[..., q, :] for q in range(p)]
    k = np.arange(int(m))
    turned = [parts[0]] + [part * roots[(k * step * q,)] for q, part in enumerate(parts[1:], 1)]
    results = _BUTTERFLIES[p](turned, roots, step * m, inverse)
    return Fixed(
        np.concatenate([part.r for part in results], -1),
        np.concatenate([part.i for part in results], -1),
        x.bits,
    )


def _two(x: list[Fixed], roots: Fixed, step: int, inverse: bool) -> list[Fixed]:
    return [x[0] + x[1], x[0] - x[1]]


def _three(x: list[Fixed], roots: Fixed, step: int, inverse: bool) -> list[Fixed]:
    total, difference = x[1] + x[2], (x[1] - x[2]).scaled(roots.i[step])
    middle = x[0] - Fixed(total.r >> 1, total.i >> 1, total.bits)
    return [x[0] + total, middle - difference.turned(), middle + difference.turned()]


def _four(x: list[Fixed], roots: Fixed, step: int, inverse: bool) -> list[Fixed]:
    even, odd = x[0] - x[2], (x[1] - x[3]).turned()
    first, total = x[0] + x[2], x[1] + x[3]
    ends = [even - odd, even + odd] if inverse else [even + odd, even - odd]
    return [first + total, ends[0], first - total, ends[1]]


def _five(x: list[Fixed], roots: Fixed, step: int, inverse: bool) -> list[Fixed]:
    a, b = roots[(step,)], roots[(2 * step,)]
    sums, gaps = (x[1] + x[4], x[2] + x[3]), (x[1] - x[4], x[2] - x[3])
    near = x[0] + sums[0].scaled(a.r) + sums[1].scaled(b.r)
    far = x[0] + sums[0].scaled(b.r) + sums[1].scaled(a.r)
    near_gap = gaps[0].scaled(a.i).turned() + gaps[1].scaled(b.i).turned()
    far_gap = gaps[1].scaled(a.i).turned() - gaps[0].scaled(b.i).turned()
    ends = near - near_gap, far + far_gap, far - far_gap, near + near_gap
    return [x[0] + sums[0] + sums[1], *ends]


_BUTTERFLIES = {2: _two, 3: _three, 4: _four, 5: _five}


def _fixed_rfft(x: np.ndarray, bits: int) -> np.ndarray:
    """The first half of the transform of real rows, from that of half as many complex numbers."""
    half = x.shape[-1] // 2
    z = _transform(Fixed(x[..., ::2], x[..., 1::2], bits), _roots(half, False, bits), False)
    pairs = np.zeros((*x.shape[:-1], half + 1, 2), np.int64)
    first = z[..., 0].divided(2)
    pairs[..., 0, 0], pairs[..., half, 0] = first.r + first.i, first.r - first.i
    k = np.arange(1, int(half) // 2 + 1)
    a, b = z[..., k].divided(2), z[..., half - k].conjugate().divided(2)
    turns = _roots(2 * half, False, bits, 1 + half / 2, half // 2)
    total, turned = a + b, (a - b) * turns
    pairs[..., k, 0], pairs[..., k, 1] = total.r + turned.r >> 1, total.i + turned.i >> 1
    pairs[..., half - k, 0] = total.r - turned.r >> 1
    pairs[..., half - k, 1] = turned.i - total.i >> 1
    return pairs


def _fixed_irfft(pairs: np.ndarray, bits: int) -> np.ndarray:
    """The real rows of halves of transforms."""
    half = pairs.shape[-2] - 1
    x = Fixed(pairs[..., 0], pairs[..., 1], bits)
    ends = Fixed(x.r[..., 0] + x.r[..., half], x.r[..., 0] - x.r[..., half], bits).divided(2)
    z = Fixed(np.zeros_like(x.r[..., :half]), np.zeros_like(x.r[..., :half]), bits)
    z.r[..., 0], z.i[..., 0] = ends.r, ends.i
    k = np.arange(1, int(half) // 2 + 1)
    a, b = x[..., k].divided(2), x[..., half - k].conjugate().divided(2)
    total = a + b
    turned = (a - b) * _roots(2 * half, True, bits, 1 + half / 2, half // 2)
    near, far = total + turned, (total - turned).conjugate()
    z.r[..., k], z.i[..., k] = near.r, near.i
    z.r[..., half - k], z.i[..., half - k] = far.r, far.i
    result = _transform(z, _roots(half, True, bits), True)
    return np.stack([result.r, result.i], -1).reshape((*pairs.shape[:-2], 2 * half))
