"""Derivatives of drawn programs, by control flow of both versions, against TensorFlow's."""

import json
from pathlib import Path

import numpy as np
import pytest

import flatlite.compat.v1 as tf

from . import drawn_programs as programs

RECORDED = json.loads(Path(__file__).with_name("drawn_programs.json").read_text())
FAST = 4
"""How many of them are run each time."""


@pytest.mark.parametrize(
    "seed", [pytest.param(i, marks=pytest.mark.slow) if i >= FAST else i for i in programs.SEEDS]
)
@pytest.mark.parametrize("version", ["v1", "v2"])
def test_drawn(seed, version, control_flow_v1):
    if version == "v2":
        tf.enable_control_flow_v2()
    results = programs.program(tf, seed)
    for result, expected in zip(results, RECORDED[f"{seed}"], strict=True):
        largest = max(1.0, np.abs(np.nan_to_num(expected)).max())
        np.testing.assert_allclose(result, expected, rtol=0, atol=5e-5 * largest)
