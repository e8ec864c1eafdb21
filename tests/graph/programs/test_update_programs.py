"""Updates of variables and what they give, against what TensorFlow made of the same programs."""

import json
from pathlib import Path

import pytest

import flatlite.compat.v1 as tf

from .update_programs import PROGRAMS

RECORDED = json.loads(Path(__file__).with_name("update_programs.json").read_text())


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_program(function):
    """The same values, names, control dependencies and texts."""
    assert json.loads(json.dumps(function(tf))) == RECORDED[function.__name__]
