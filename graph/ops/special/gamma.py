"""Gamma, beta, zeta and Bessel functions, in float64.

Formulas of the NIST Digital Library of Mathematical Functions, by its numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ...core.registry import add_row
from ...core.shapes import broadcasting, same
from .special import digamma

_TINY = 1e-300
_MOST_STEPS = 5000
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)
_FAR = 30.0
"""From here on the asymptotic series of Bessel's functions is exact in float64."""

lgamma: Callable[..., np.ndarray] = np.vectorize(math.lgamma, otypes=[np.float64])


def zeta(x: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Hurwitz's zeta function, the sum of (q + k)**-x over k = 0, 1, ... (25.11.1).

    Infinite at x = 1, and for even x where q is 0, -1, ...; NaN there for others, for x < 1, and
    for q < 0 unless x is whole.
    """
    x, q = np.broadcast_arrays(np.asarray(x, np.float64), np.asarray(q, np.float64))
    at_pole = (q <= 0) & (q == np.floor(q))
    poles = (x == 1) | (at_pole & ((np.mod(np.where(np.isinf(x), 0, x), 2) == 0) & (x > 1)))
    wrong = (x < 1) | ((q <= 0) & (x != np.floor(x))) | np.isnan(x) | np.isnan(q)
    wrong |= at_pole & ~poles
    ends = np.isinf(x) | np.isinf(q)
    known = poles | wrong | ends
    s, a = np.where(known, 2.0, x), np.where(known, 1.0, q)
    total = np.zeros_like(a)
    for _ in range(int(10 + np.ceil(max(0.0, -a.min(initial=0.0))))):
        total += np.where(a < 10, _power(a, s), 0)
        a = np.where(a < 10, a + 1, a)
    total += _power(a, s) * (a / (s - 1) + 0.5)  # Euler and Maclaurin's formula (25.11.5)
    factor = s * _power(a, s) / a
    for j, number in enumerate(_BERNOULLI, 1):
        total += number / math.factorial(2 * j) * factor
        factor = factor * (s + 2 * j - 1) * (s + 2 * j) / (a * a)
    total = np.where(ends, _zeta_at_infinity(x, q), total)
    return np.where(poles, np.inf, np.where(wrong, np.nan, total))


def _zeta_at_infinity(x: np.ndarray, q: np.ndarray) -> np.ndarray:
    """The limit of the sum for x or q without end: that of its largest term."""
    least = np.where(q > 0, q, np.minimum(np.mod(q, 1.0), np.mod(-q, 1.0)))
    limit = np.where(least < 1, np.inf, np.where(least == 1, 1.0, 0.0))
    return np.where(np.isposinf(q), 0.0, np.where(np.isposinf(x), limit, np.nan))


def _power(a: np.ndarray, s: np.ndarray) -> np.ndarray:
    """a**-s; of negative numbers for whole s alone."""
    size = np.exp(-s * np.log(np.abs(a)))
    return np.where((a < 0) & (np.mod(s, 2) == 1), -size, size)


def polygamma(n: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Derivative `n` of digamma (5.15.1); NaN unless n is 0, 1, 2, ..."""
    n, x = np.broadcast_arrays(np.asarray(n, np.float64), np.asarray(x, np.float64))
    order = np.where((n >= 1) & (n == np.floor(n)), n, 1.0)
    sign = np.where((np.mod(order, 2) == 1) | np.isinf(order), 1.0, -1.0)
    result = sign * np.exp(lgamma(order + 1)) * zeta(order + 1, np.where(n >= 1, x, 1.0))
    result = np.where(n == 0, digamma(x), result)
    return np.where((n < 0) | (n != np.floor(n)), np.nan, result)


def igamma(a: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The regularized lower incomplete gamma function P(a, x) (8.2.4)."""
    return _incomplete_gamma(a, x)[0]


def igammac(a: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The regularized upper incomplete gamma function Q(a, x) (8.2.4)."""
    return _incomplete_gamma(a, x)[1]


def _incomplete_gamma(a: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """P and Q, the smaller of which is computed: by its series (8.7.1) or fraction (8.9.2)."""
    a, x = np.broadcast_arrays(np.asarray(a, np.float64), np.asarray(x, np.float64))
    wrong = ~((a > 0) & (x >= 0))
    inside = ~wrong & (x > 0) & np.isfinite(x) & np.isfinite(a)
    b, y = np.where(inside, a, 1.0), np.where(inside, x, 1.0)
    scale = np.exp(b * np.log(y) - y - lgamma(b))
    by_series = y < b + 1
    lower = np.where(by_series, _series(b, np.minimum(y, b + 1)) * scale, 0)
    upper = np.where(by_series, 0, _fraction(b, np.maximum(y, b + 1)) * scale)
    lower, upper = np.where(by_series, lower, 1 - upper), np.where(by_series, 1 - lower, upper)
    at_ends = np.where(np.isinf(x) & ~np.isinf(a), 1.0, 0.0)
    lower, upper = np.where(inside, lower, at_ends), np.where(inside, upper, 1 - at_ends)
    return np.where(wrong, np.nan, lower), np.where(wrong, np.nan, upper)


def _series(a: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The sum of x**k / (a (a + 1) ... (a + k))."""
    term = 1 / a
    total = term.copy()
    for k in range(1, _MOST_STEPS):
        term = term * x / (a + k)
        total += term
        if np.all(term <= total * 1e-17):
            break
    return total


def igamma_grad_a(a: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The derivative of the lower function by a, from its series (8.7.3); NaN outside a > 0."""
    a, x = np.broadcast_arrays(np.asarray(a, np.float64), np.asarray(x, np.float64))
    wrong = ~((a > 0) & (x >= 0))
    s, at = np.where(wrong, 1.0, a), np.where(wrong | (x == 0), 1.0, x)
    term = np.exp(s * np.log(at) - at - lgamma(s + 1))
    slope = np.log(at) - digamma(s + 1)
    total = term * slope
    for k in range(1, _MOST_STEPS):
        term, slope = term * at / (s + k), slope - 1 / (s + k)
        total += term * slope
        if (np.abs(term * slope) <= 1e-17 * np.abs(total) + _TINY).all() and (s + k > at).all():
            break
    return np.where(wrong, np.nan, np.where(x == 0, 0.0, total))


def random_gamma_grad(a: np.ndarray, y: np.ndarray) -> np.ndarray:
    """How a draw y of the gamma distribution moves with a: -dP/da over its density."""
    a, y = np.asarray(a, np.float64), np.asarray(y, np.float64)
    density = np.exp((a - 1) * np.log(y) - y - lgamma(a))
    return -igamma_grad_a(a, y) / density


def _fraction(a: np.ndarray, x: np.ndarray) -> np.ndarray:
    """1 / (x + 1 - a - (1 - a) / (x + 3 - a - 2 (2 - a) / ...)), by Lentz's method."""
    b = x + 1 - a
    c = np.full_like(b, 1 / _TINY)
    d = 1 / b
    value = d.copy()
    for k in range(1, _MOST_STEPS):
        numerator = k * (a - k)
        b = b + 2
        c, d = _nonzero(b + numerator / c), 1 / _nonzero(b + numerator * d)
        value *= c * d
        if np.all(np.abs(c * d - 1) < 1e-16):
            break
    return value


def _nonzero(x: np.ndarray) -> np.ndarray:
    return np.where(np.abs(x) < _TINY, _TINY, x)


def betainc(a: np.ndarray, b: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The regularized incomplete beta function I_x(a, b) (8.17.2)."""
    a, b, x = np.broadcast_arrays(*(np.asarray(v, np.float64) for v in (a, b, x)))
    wrong = ~((a > 0) & (b > 0) & (x >= 0) & (x <= 1))
    inside = ~wrong & (x > 0) & (x < 1)
    p, q, y = np.where(inside, a, 1.0), np.where(inside, b, 1.0), np.where(inside, x, 0.5)
    mirrored = y > (p + 1) / (p + q + 2)  # I_x(a, b) = 1 - I_{1-x}(b, a) (8.17.4)
    p, q, y = np.where(mirrored, q, p), np.where(mirrored, p, q), np.where(mirrored, 1 - y, y)
    scale = np.exp(lgamma(p + q) - lgamma(p) - lgamma(q) + p * np.log(y) + q * np.log1p(-y)) / p
    result = scale * _beta_fraction(p, q, y)
    result = np.where(mirrored, 1 - result, result)
    return np.where(wrong, np.nan, np.where(inside, result, x))


def _beta_fraction(a: np.ndarray, b: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The fraction of 8.17.22, by Lentz's method."""
    c = np.ones_like(x)
    d = 1 / _nonzero(1 - (a + b) * x / (a + 1))
    value = d.copy()
    for k in range(1, _MOST_STEPS):
        even = k * (b - k) * x / ((a + 2 * k - 1) * (a + 2 * k))
        odd = -(a + k) * (a + b + k) * x / ((a + 2 * k) * (a + 2 * k + 1))
        for numerator in (even, odd):
            c, d = _nonzero(1 + numerator / c), 1 / _nonzero(1 + numerator * d)
            value *= c * d
        if np.all(np.abs(c * d - 1) < 1e-16):
            break
    return value


def bessel_i(order: int, is_scaled: bool) -> Callable[[np.ndarray], np.ndarray]:
    """The modified Bessel function I of an order, times exp(-|x|) when scaled."""

    def kernel(x: np.ndarray) -> np.ndarray:
        wide = np.asarray(x, np.float64)
        size = np.abs(wide)
        near = np.minimum(size, _FAR)
        term = (near / 2) ** order / math.factorial(order)  # 10.25.2
        total = term.copy()
        for k in range(1, 120):
            term = term * (near / 2) ** 2 / (k * (k + order))
            total += term
        far = np.maximum(size, _FAR)
        tail = wave = np.ones_like(far)  # 10.40.1
        for k in range(1, 30):
            wave = -wave * (4 * order * order - (2 * k - 1) ** 2) / (8 * k * far)
            tail = tail + wave
        tail = tail / np.sqrt(2 * math.pi * far)
        result = np.where(size <= _FAR, total * np.exp(-near), tail)
        if not is_scaled:
            result = result * np.exp(size)
        return np.copysign(result, wide) if order % 2 else result

    return kernel


for _kind, _order, _scaled in (
    ("BesselI0", 0, False),
    ("BesselI0e", 0, True),
    ("BesselI1", 1, False),
    ("BesselI1e", 1, True),
):
    add_row(_kind, bessel_i(_order, _scaled), same)
add_row("Betainc", betainc, broadcasting)
add_row("IgammaGradA", igamma_grad_a, broadcasting)
add_row("RandomGammaGrad", random_gamma_grad, broadcasting)
for _kind, _function in (
    ("Igamma", igamma),
    ("Igammac", igammac),
    ("Polygamma", polygamma),
    ("Zeta", zeta),
):
    add_row(_kind, _function, broadcasting)
