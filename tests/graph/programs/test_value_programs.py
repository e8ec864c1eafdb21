"""What stands for tensors, against what TensorFlow made of the same programs."""

import json
from pathlib import Path

import pytest

import flatlite.compat.v1 as tf

from .value_programs import PROGRAMS

RECORDED = json.loads(Path(__file__).with_name("value_programs.json").read_text())


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_program(function):
    """The same values, types and errors."""
    assert json.loads(json.dumps(function(tf))) == RECORDED[function.__name__]
