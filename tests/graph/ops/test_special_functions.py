"""Special functions in float64 against mpmath's values, which generate_chebyshev.py recorded."""

from pathlib import Path

import numpy as np
import pytest

import flatlite.compat.v1 as tf

ANSWERS = np.load(Path(__file__).with_name("special_functions.npz"))
FUNCTIONS = {
    "BesselJ0": "bessel_j0", "BesselJ1": "bessel_j1", "BesselY0": "bessel_y0",
    "BesselY1": "bessel_y1", "BesselK0": "bessel_k0", "BesselK1": "bessel_k1",
    "BesselK0e": "bessel_k0e", "BesselK1e": "bessel_k1e", "Dawsn": "dawsn", "Expint": "expint",
    "FresnelCos": "fresnel_cos", "FresnelSin": "fresnel_sin", "Spence": "spence",
}  # fmt: skip


@pytest.mark.parametrize("kind", FUNCTIONS)
def test_within_rounding(kind):
    x, expected = ANSWERS[f"{kind}:x"], ANSWERS[f"{kind}:y"]
    with tf.Graph().as_default(), tf.Session() as session:
        y = session.run(getattr(tf.math.special, FUNCTIONS[kind])(tf.constant(x)))
    # Waves have no relative digits at their zeros.
    scale = (
        2 / np.sqrt(np.pi * np.maximum(np.abs(x), 1)) if kind[:7] in ("BesselJ", "BesselY") else 0
    )
    error = np.abs(y - expected) / np.maximum(np.maximum(np.abs(expected), scale), 1e-300)
    assert error.max() < 4e-15
