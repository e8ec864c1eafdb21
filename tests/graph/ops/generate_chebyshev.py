"""Writes graph/ops/special/chebyshev_table.py: Chebyshev series of special functions.

Needs an environment with mpmath, which flatlite itself never does:

    python tests/graph/ops/generate_chebyshev.py

Each series interpolates at 64 nodes in 50 digits and ends where its coefficients are below 2e-18
of the largest one. The same call records tests/graph/ops/special_functions.npz: the functions in 30
digits, rounded, at points that no series interpolates at.
"""

# pyright: reportMissingImports=false, reportMissingTypeStubs=false
from __future__ import annotations

import random
from pathlib import Path

import mpmath as mp
import numpy as np

mp.mp.dps = 50
TABLE = Path(__file__).parents[3] / "graph/ops/special/chebyshev_table.py"
ANSWERS = Path(__file__).with_name("special_functions.npz")
N_NODES = 64
SMALLEST = mp.mpf("2e-18")


def regular_y0(z):
    """Y0 without its logarithm, of the square of the argument."""
    x = mp.sqrt(z)
    return mp.bessely(0, x) - 2 / mp.pi * mp.log(x) * mp.besselj(0, x)


def regular_y1(z):
    """Y1 / x without its logarithm and its pole, of the square of the argument."""
    x = mp.sqrt(z)
    return (mp.bessely(1, x) - 2 / mp.pi * (mp.log(x) * mp.besselj(1, x) - 1 / x)) / x


def waves(order, w):
    """The amplitudes P and Q (DLMF 10.17) at x = 8 / sqrt(w); Q times x / 8."""
    x = 8 / mp.sqrt(w)
    phase = x - (2 * order + 1) * mp.pi / 4
    j, y = mp.besselj(order, x), mp.bessely(order, x)
    scale = mp.sqrt(mp.pi * x / 2)
    p = scale * (j * mp.cos(phase) + y * mp.sin(phase))
    q = scale * (y * mp.cos(phase) - j * mp.sin(phase))
    return p, q * x / 8


def regular_k0(z):
    """K0 without its logarithm, of the square of the argument."""
    x = mp.sqrt(z)
    return mp.besselk(0, x) + mp.log(x / 2) * mp.besseli(0, x)


def regular_k1(z):
    """K1 x without its logarithm, of the square of the argument."""
    x = mp.sqrt(z)
    return (mp.besselk(1, x) - mp.log(x / 2) * mp.besseli(1, x)) * x


def decaying_k(order, w):
    """K exp(x) sqrt(x) at x = 2 / w."""
    x = 2 / w
    return mp.besselk(order, x) * mp.exp(x) * mp.sqrt(x)


def dawson(x):
    """Exp(-x**2) times the integral of exp(t**2) from 0 to x."""
    return mp.exp(-x * x) * mp.erfi(x) * mp.sqrt(mp.pi) / 2


def scaled_ei(x):
    """Ei(x) x exp(-x)."""
    return mp.ei(x) * x * mp.exp(-x)


def auxiliaries(x):
    """F and g of Fresnel's integrals (DLMF 7.5), times pi x and pi x pi x**2."""
    angle, half = mp.pi * x * x / 2, mp.mpf(1) / 2
    c, s = half - mp.fresnelc(x), half - mp.fresnels(x)
    f = s * mp.cos(angle) - c * mp.sin(angle)
    g = c * mp.cos(angle) + s * mp.sin(angle)
    return f * mp.pi * x, g * mp.pi * x * mp.pi * x * x


SERIES = {
    "J0": (0, 64, lambda z: mp.besselj(0, mp.sqrt(z))),
    "J1": (0, 64, lambda z: mp.besselj(1, mp.sqrt(z)) / mp.sqrt(z)),
    "Y0": (0, 64, regular_y0),
    "Y1": (0, 64, regular_y1),
    "P0": (0, 1, lambda w: waves(0, w)[0]),
    "Q0": (0, 1, lambda w: waves(0, w)[1]),
    "P1": (0, 1, lambda w: waves(1, w)[0]),
    "Q1": (0, 1, lambda w: waves(1, w)[1]),
    "K0": (0, 4, regular_k0),
    "K1": (0, 4, regular_k1),
    "K0_FAR": (0, 1, lambda w: decaying_k(0, w)),
    "K1_FAR": (0, 1, lambda w: decaying_k(1, w)),
    "DAWSN_0": (0, 6.25, lambda z: dawson(mp.sqrt(z)) / mp.sqrt(z)),
    "DAWSN_1": (2.5, 5, dawson),
    "DAWSN_2": (5, 10, dawson),
    "DAWSN_3": (0, 1, lambda w: dawson(10 / mp.sqrt(w)) * 10 / mp.sqrt(w)),
    "EXPINT_0": (0, 4, lambda x: (mp.ei(x) - mp.euler - mp.log(x)) / x),
    "EXPINT_1": (4, 8, scaled_ei),
    "EXPINT_2": (8, 16, scaled_ei),
    "EXPINT_3": (16, 40, scaled_ei),
    "EXPINT_4": (0, 1, lambda w: scaled_ei(40 / w)),
    "FRESNEL_C": (0, 6.5536, lambda z: mp.fresnelc(mp.root(z, 4)) / mp.root(z, 4)),
    "FRESNEL_S": (0, 6.5536, lambda z: mp.fresnels(mp.root(z, 4)) / mp.root(z, 4) ** 3),
    "FRESNEL_F": (1.6, 3.2, lambda x: auxiliaries(x)[0]),
    "FRESNEL_G": (1.6, 3.2, lambda x: auxiliaries(x)[1]),
    "FRESNEL_F_FAR": (0, 1, lambda w: auxiliaries(3.2 / mp.root(w, 4))[0]),
    "FRESNEL_G_FAR": (0, 1, lambda w: auxiliaries(3.2 / mp.root(w, 4))[1]),
    "SPENCE": (-0.5, 0.5, lambda w: -mp.polylog(2, -w) / w),
}
FUNCTIONS = {
    "BesselJ0": (lambda x: mp.besselj(0, x), -60, 60),
    "BesselJ1": (lambda x: mp.besselj(1, x), -60, 60),
    "BesselY0": (lambda x: mp.bessely(0, x), 0, 60),
    "BesselY1": (lambda x: mp.bessely(1, x), 0, 60),
    "BesselK0": (lambda x: mp.besselk(0, x), 0, 20),
    "BesselK1": (lambda x: mp.besselk(1, x), 0, 20),
    "BesselK0e": (lambda x: mp.besselk(0, x) * mp.exp(x), 0, 20),
    "BesselK1e": (lambda x: mp.besselk(1, x) * mp.exp(x), 0, 20),
    "Dawsn": (dawson, -30, 30),
    "Expint": (mp.ei, 0, 60),
    "FresnelCos": (mp.fresnelc, -10, 10),
    "FresnelSin": (mp.fresnels, -10, 10),
    "Spence": (lambda x: mp.polylog(2, 1 - x), 0, 6),
}


def coefficients(low, high, function) -> list[float]:
    """Those of the polynomial that is the function at Chebyshev's nodes of [low, high]."""
    low, high = mp.mpf(low), mp.mpf(high)
    angles = [mp.pi * (k + mp.mpf(1) / 2) / N_NODES for k in range(N_NODES)]
    values = [function((high + low + (high - low) * mp.cos(angle)) / 2) for angle in angles]
    series = [
        mp.re(mp.fsum(y * mp.cos(j * t) for y, t in zip(values, angles, strict=True)))
        * (1 if j == 0 else 2)
        / N_NODES
        for j in range(N_NODES)
    ]
    bound = max(map(abs, series)) * SMALLEST
    last = max(j for j, c in enumerate(series) if abs(c) > bound)
    if last > N_NODES - 4:
        raise SystemExit("the series does not converge")
    return [float(c) for c in series[: last + 1]]


def main() -> None:
    """Writes the table and the answers."""
    rows = []
    for name, (low, high, function) in SERIES.items():
        series = coefficients(low, high, function)
        rows.append(
            f"    {name!r}: ({float(low)!r}, {float(high)!r}, {series!r}),".replace("'", '"')
        )
    head = (
        '"""Chebyshev series: name -> (least and largest argument, coefficients).\n\n'
        'Written by tests/graph/ops/generate_chebyshev.py.\n"""\n# ruff: noqa: E501\n# fmt: off\n\n'
        "SERIES: dict[str, tuple[float, float, list[float]]] = {\n"
    )
    TABLE.write_text(head + "\n".join(rows) + "\n}\n")
    draw = random.Random(3)
    answers = {}
    for kind, (function, low, high) in FUNCTIONS.items():
        edges = (1.6, 2, 2.5, 4, 5, 8, 10, 16, 40)
        xs = [draw.uniform(low, high) for _ in range(60)] + [e for e in edges if e < high]
        xs += [0.001 * draw.random() for _ in range(3)] + [10.0 ** draw.uniform(2, 6)]
        if kind == "Expint":
            xs.pop()
        xs = np.array(xs)
        answers[f"{kind}:x"] = xs
        ys = [mp.re(function(mp.mpf(float(x)))) for x in xs]
        answers[f"{kind}:y"] = np.array([float(y) for y in ys])
    np.savez_compressed(ANSWERS, **answers)


if __name__ == "__main__":
    main()
