"""What was read from a variable that is then written, against TensorFlow's answers."""

import json
from pathlib import Path

import pytest

import flatlite.compat.v1 as tf

from .reference_programs import PAIRS, PROGRAMS, key, outcome

RECORDED = json.loads(Path(__file__).with_name("reference_programs.json").read_text())


@pytest.mark.parametrize(("read", "write"), PAIRS)
def test_pair(read, write):
    """The same before and after, in two runs of a session."""
    assert outcome(tf, read, write) == RECORDED[key(read, write)]


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_program(function):
    """The same values."""
    assert function(tf) == RECORDED[function.__name__]
