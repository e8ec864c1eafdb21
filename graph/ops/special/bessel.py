"""Bessel's functions J, Y and K of orders 0 and 1, in float64.

Near 0 they are series in the square of the argument, times or beside a logarithm (DLMF 10.8 and
10.31); far from it amplitude times wave (DLMF 10.17) or exponential (DLMF 10.40). The series are
Chebyshev's, as in S. L. Moshier, "Methods and Programs for Mathematical Functions" (1989).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ...core.registry import add_row
from ...core.shapes import same
from .chebyshev_table import SERIES
from .gamma import bessel_i

_NEAR = 8.0
"""From here on J and Y are waves."""
_NEAR_K = 2.0
"""From here on K is an exponential."""


def series(name: str, x: np.ndarray) -> np.ndarray:
    """The value of a row of SERIES at arguments, which are clipped to those it is for."""
    low, high, coefficients = SERIES[name]
    scaled = (2 * np.clip(x, low, high) - (low + high)) / (high - low)
    return np.polynomial.chebyshev.chebval(scaled, coefficients)


def _wave(order: int, size: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """J and Y at `_NEAR` or more: sqrt(2 / (pi x)) times P and Q by the angle's cosine and sine."""
    w = (_NEAR / size) ** 2
    p, q = series(f"P{order}", w), series(f"Q{order}", w) * (_NEAR / size)
    sine, cosine = np.sin(size), np.cos(size)
    if order == 0:
        sine, cosine = (sine - cosine), (sine + cosine)
    else:
        sine, cosine = -(sine + cosine), (sine - cosine)
    scale = 1 / np.sqrt(np.pi * size)
    return scale * (p * cosine - q * sine), scale * (p * sine + q * cosine)


def _bessel_j(order: int) -> Callable[[np.ndarray], np.ndarray]:
    def kernel(x: np.ndarray) -> np.ndarray:
        wide = np.asarray(x, np.float64)
        size = np.abs(wide)
        near = np.minimum(size, _NEAR)
        inner = series(f"J{order}", near * near) * near**order
        result = np.where(size < _NEAR, inner, _wave(order, np.maximum(size, _NEAR))[0])
        return np.where(np.signbit(wide), -result, result) if order else result

    return kernel


def _bessel_y(order: int) -> Callable[[np.ndarray], np.ndarray]:
    """-inf where the argument is not positive, as TensorFlow has it."""
    j = _bessel_j(order)

    def kernel(x: np.ndarray) -> np.ndarray:
        wide = np.asarray(x, np.float64)
        size = np.where(wide <= 0, 1.0, wide)
        near = np.minimum(size, _NEAR)
        inner = series(f"Y{order}", near * near) * near**order
        pole = 1 / near if order else 0
        inner = inner + 2 / math.pi * (np.log(near) * j(near) - pole)
        result = np.where(size < _NEAR, inner, _wave(order, np.maximum(size, _NEAR))[1])
        return np.where(wide <= 0, -np.inf, result)

    return kernel


def _bessel_k(order: int, is_scaled: bool) -> Callable[[np.ndarray], np.ndarray]:
    """The function, times exp(x) when scaled; inf where the argument is not positive."""
    i = bessel_i(order, False)

    def kernel(x: np.ndarray) -> np.ndarray:
        wide = np.asarray(x, np.float64)
        size = np.where(wide <= 0, 1.0, wide)
        near, far = np.minimum(size, _NEAR_K), np.maximum(size, _NEAR_K)
        inner = series(f"K{order}", near * near)
        logarithm = np.log(near / 2) * i(near)
        inner = inner / near + logarithm if order else inner - logarithm
        outer = series(f"K{order}_FAR", _NEAR_K / far) / np.sqrt(far)
        if is_scaled:
            inner = inner * np.exp(near)
        else:
            outer = outer * np.exp(-far)
        result = np.where(size < _NEAR_K, inner, outer)
        return np.where(wide <= 0, np.inf, np.where(np.isnan(wide), np.nan, result))

    return kernel


for _order in (0, 1):
    add_row(f"BesselJ{_order}", _bessel_j(_order), same)
    add_row(f"BesselY{_order}", _bessel_y(_order), same)
    add_row(f"BesselK{_order}", _bessel_k(_order, False), same)
    add_row(f"BesselK{_order}e", _bessel_k(_order, True), same)
