"""Dawson's, Fresnel's and the exponential integral, and the dilogarithm, in float64.

The pieces and the substitutions between them are those of S. L. Moshier, "Methods and Programs for
Mathematical Functions" (1989); on each piece the function is a Chebyshev series.
"""

from __future__ import annotations

import math

import numpy as np

from ...core.registry import op
from ...core.shapes import same
from .bessel import series


@op("Dawsn", shape=same)
def dawson(x: np.ndarray) -> np.ndarray:
    """exp(-x**2) times the integral of exp(t**2) from 0 to x."""
    wide = np.asarray(x, np.float64)
    size = np.abs(wide)
    near, far = np.minimum(size, 2.5), np.maximum(size, 10.0)
    pieces = [
        series("DAWSN_0", near * near) * near,
        series("DAWSN_1", size),
        series("DAWSN_2", size),
        series("DAWSN_3", (10 / far) ** 2) / far,
    ]
    intervals = [size < 2.5, size < 5, size < 10, size >= 10]
    return np.copysign(np.select(intervals, pieces, np.nan), wide)


@op("Expint", shape=same)
def exponential_integral(x: np.ndarray) -> np.ndarray:
    """The principal value of the integral of exp(t) / t from -inf to x; NaN where x < 0."""
    wide = np.asarray(x, np.float64)
    size = np.where(wide > 0, wide, 1.0)
    near, far = np.minimum(size, 4.0), np.maximum(size, 40.0)
    pieces = [
        series("EXPINT_1", size),
        series("EXPINT_2", size),
        series("EXPINT_3", size),
        series("EXPINT_4", 40 / far),
    ]
    outer = np.select([size < 8, size < 16, size < 40], pieces[:3], pieces[3])
    with np.errstate(over="ignore", invalid="ignore"):
        outer = outer * np.exp(size) / size
    inner = np.euler_gamma + np.log(near) + near * series("EXPINT_0", near)
    result = np.where(size < 4, inner, outer)
    return np.where(wide == 0, -np.inf, np.where(wide > 0, result, np.nan))


def _fresnel(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The cosine's and the sine's integral of pi t**2 / 2 from 0 to |x|."""
    size = np.minimum(np.abs(np.asarray(x, np.float64)), 1e150)
    near, far = np.minimum(size, 1.6), np.maximum(size, 1.6)
    z = near**4
    # From 2**27 on a square has no digits that sine and cosine depend on; the waves are below 1e-9
    # and end at 1e16.
    square = np.minimum(far * far, 1e30)
    phase = np.mod(square, 4.0) * (math.pi / 2)
    w = (3.2 / np.maximum(far, 3.2)) ** 4
    is_middle = far < 3.2
    f = np.where(is_middle, series("FRESNEL_F", far), series("FRESNEL_F_FAR", w))
    g = np.where(is_middle, series("FRESNEL_G", far), series("FRESNEL_G_FAR", w))
    f, g = f / (math.pi * far), g / (math.pi * math.pi * far * square)
    cosine, sine = np.cos(phase), np.sin(phase)
    c = np.where(size < 1.6, series("FRESNEL_C", z) * near, 0.5 + f * sine - g * cosine)
    s = np.where(size < 1.6, series("FRESNEL_S", z) * near**3, 0.5 - f * cosine - g * sine)
    return c, s


def _odd(x: np.ndarray, of_size: np.ndarray) -> np.ndarray:
    return np.where(np.isnan(x), np.nan, np.copysign(of_size, x))


@op("FresnelCos", shape=same)
def fresnel_cosine(x: np.ndarray) -> np.ndarray:
    """The integral of cos(pi t**2 / 2) from 0 to x."""
    return _odd(x, _fresnel(x)[0])


@op("FresnelSin", shape=same)
def fresnel_sine(x: np.ndarray) -> np.ndarray:
    """The integral of sin(pi t**2 / 2) from 0 to x."""
    return _odd(x, _fresnel(x)[1])


@op("Spence", shape=same)
def spence(x: np.ndarray) -> np.ndarray:
    """Minus the integral of log(t) / (t - 1) from 1 to x; NaN where x < 0."""
    wide = np.asarray(x, np.float64)
    positive = np.where(wide > 0, wide, 1.0)
    is_inverted = positive > 1.5
    y = np.where(positive > 2, 1 / positive, positive)
    is_mirrored = y < 0.5
    w = np.select([is_mirrored, is_inverted & (positive <= 2)], [-y, 1 / positive - 1], y - 1)
    result = -w * series("SPENCE", w)
    logs = np.log(y) * np.log1p(-np.where(y < 1, y, 0.0))
    result = np.where(is_mirrored, math.pi**2 / 6 - logs - result, result)
    result = np.where(is_inverted, -0.5 * np.log(positive) ** 2 - result, result)
    return np.select(
        [np.isposinf(wide), wide > 0, wide == 0], [np.nan, result, math.pi**2 / 6], np.nan
    )
