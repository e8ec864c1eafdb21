"""What flatlite makes of branches, loops and Python functions, against what TensorFlow made."""

import json
from pathlib import Path

import numpy as np
import pytest

import flatlite.compat.v1 as tf

from . import control_programs as programs

RECORDED = json.loads(Path(__file__).with_name("control_programs.json").read_text())


@pytest.mark.parametrize("program", programs.VALUES, ids=lambda program: program.__name__)
def test_value(program):
    got, recorded = programs.values_of(tf, program), RECORDED["values"][program.__name__]
    assert len(got) == len(recorded)
    for value, expected in zip(got, recorded, strict=True):
        np.testing.assert_allclose(value, expected, rtol=2e-6)


@pytest.mark.parametrize("name", programs.ERRORS)
def test_error(name):
    """The type is TensorFlow's, and the words that matter."""
    kind, message = programs.error_of(tf, programs.ERRORS[name])
    expected_kind, expected_message = RECORDED["errors"][name]
    assert kind == expected_kind
    assert programs.WORDS[name] in expected_message
    assert programs.WORDS[name] in message
