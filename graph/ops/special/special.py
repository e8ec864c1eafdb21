"""Special functions that numpy lacks, computed in float64."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

# Rational approximations of W. J. Cody, "Rational Chebyshev approximation for the error function",
# Math. Comp. 23 (1969); highest power first.
_NEAR = (
    (1.85777706184603153e-1, 3.16112374387056560, 1.13864154151050156e2, 3.77485237685302021e2,
     3.20937758913846947e3),
    (1.0, 2.36012909523441209e1, 2.44024637934444173e2, 1.28261652607737228e3,
     2.84423683343917062e3),
)  # fmt: skip
_MIDDLE = (
    (2.15311535474403846e-8, 5.64188496988670089e-1, 8.88314979438837594, 6.61191906371416295e1,
     2.98635138197400131e2, 8.81952221241769090e2, 1.71204761263407058e3, 2.05107837782607147e3,
     1.23033935479799725e3),
    (1.0, 1.57449261107098347e1, 1.17693950891312499e2, 5.37181101862009858e2,
     1.62138957456669019e3, 3.29079923573345963e3, 4.36261909014324716e3, 3.43936767414372164e3,
     1.23033935480374942e3),
)  # fmt: skip
_FAR = (
    (1.63153871373020978e-2, 3.05326634961232344e-1, 3.60344899949804439e-1,
     1.25781726111229246e-1, 1.60837851487422766e-2, 6.58749161529837803e-4),
    (1.0, 2.56852019228982242, 1.87295284992346047, 5.27905102951428412e-1,
     6.05183413124413191e-2, 2.33520497626869185e-3),
)  # fmt: skip


def _ratio(coefficients: Sequence[Sequence[float]], x: np.ndarray) -> np.ndarray:
    return np.polyval(coefficients[0], x) / np.polyval(coefficients[1], x)


def _erf_and_erfc(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Both functions in float64, each without cancellation."""
    x = np.asarray(x, np.float64)
    size = np.abs(x)
    near = np.minimum(size, 0.46875)
    small = near * _ratio(_NEAR, near * near)
    middle = np.clip(size, 0.46875, 4.0)
    far = np.clip(size, 4.0, 30.0)
    inverse = 1 / (far * far)
    tail = np.where(
        size <= 4.0,
        np.exp(-middle * middle) * _ratio(_MIDDLE, middle),
        np.exp(-far * far) / far * (1 / math.sqrt(math.pi) - inverse * _ratio(_FAR, inverse)),
    )
    is_near = size <= 0.46875
    erf_size = np.where(is_near, small, 1 - tail)
    erfc_size = np.where(is_near, 1 - small, tail)
    erf_size, erfc_size = (np.where(np.isnan(x), x, y) for y in (erf_size, erfc_size))
    return np.copysign(erf_size, x), np.where(x < 0, 2 - erfc_size, erfc_size)


def erf(x: np.ndarray) -> np.ndarray:
    """2 / sqrt(pi) * integral of exp(-t**2) from 0 to x."""
    return _erf_and_erfc(x)[0]


def erfc(x: np.ndarray) -> np.ndarray:
    """1 - erf(x)."""
    return _erf_and_erfc(x)[1]


def ndtri(p: np.ndarray) -> np.ndarray:
    """The x at which the normal distribution reaches `p`, refined from Acklam's approximation."""
    p = np.asarray(p, np.float64)
    inside = np.clip(p, 1e-300, 1 - 1e-16)
    tail = np.sqrt(-2 * np.log(np.minimum(inside, 1 - inside)))
    numerator = np.polyval((0.010328, 0.802853, 2.515517), tail)
    x = tail - numerator / np.polyval((0.001308, 0.189269, 1.432788, 1.0), tail)
    x = np.where(inside < 0.5, -x, x)
    for _ in range(4):  # Halley's steps: each triples the digits
        error = 0.5 * erfc(-x / math.sqrt(2)) - inside
        step = error * math.sqrt(2 * math.pi) * np.exp(x * x / 2)
        x = x - step / (1 + x * step / 2)
    x = np.where(p == 0, -np.inf, np.where(p == 1, np.inf, x))
    return np.where((p < 0) | (p > 1) | np.isnan(p), np.nan, x)


def erfinv(y: np.ndarray) -> np.ndarray:
    """The x at which erf reaches `y`."""
    return ndtri((np.asarray(y, np.float64) + 1) / 2) / math.sqrt(2)


def digamma(x: np.ndarray) -> np.ndarray:
    """The derivative of log(gamma(x))."""
    x = np.asarray(x, np.float64)
    reflected = np.where(x < 0.5, 1 - x, x)
    result = np.zeros_like(reflected)
    for _ in range(8):  # psi(x) = psi(x + 1) - 1 / x, up to where the series converges
        result -= np.where(reflected < 8, 1 / reflected, 0)
        reflected = np.where(reflected < 8, reflected + 1, reflected)
    inverse = 1 / (reflected * reflected)
    series = np.polyval((-1 / 132, 1 / 240, -1 / 252, 1 / 120, -1 / 12, 0), inverse)
    series += inverse**6 * (691 / 32760)
    result += np.log(reflected) - 0.5 / reflected + series
    result = np.where(x < 0.5, result - math.pi / np.tan(math.pi * x), result)
    return np.where((x <= 0) & (x == np.floor(x)), np.nan, result)
