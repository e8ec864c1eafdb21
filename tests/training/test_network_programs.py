"""Whole trainings give TensorFlow's losses."""

import json
from pathlib import Path

import numpy as np
import pytest

import flatlite.compat.v1 as tf

from .network_programs import PROGRAMS, losses_of

RECORDED = json.loads(Path(__file__).with_name("network_programs.json").read_text())


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_losses(function):
    """Step by step."""
    expected = RECORDED[function.__name__]
    np.testing.assert_allclose(losses_of(tf, function), expected, rtol=1e-5)
