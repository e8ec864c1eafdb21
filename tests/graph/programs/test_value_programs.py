"""What stands for tensors, and variables that are updated or read before, as TensorFlow's."""

import json
from pathlib import Path

import pytest

import flatlite.compat.v1 as tf

from . import reference_programs, update_programs, value_programs
from .reference_programs import PAIRS, key, outcome

MODULES = (reference_programs, update_programs, value_programs)
RECORDED = {
    name: row
    for module in MODULES
    for name, row in json.loads(Path(module.__file__).with_suffix(".json").read_text()).items()
}
PROGRAMS = [function for module in MODULES for function in module.PROGRAMS]


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_program(function):
    """The same values, types, names, control dependencies and errors."""
    assert json.loads(json.dumps(function(tf))) == RECORDED[function.__name__]


@pytest.mark.parametrize(("read", "write"), PAIRS)
def test_pair(read, write):
    """What was read from a variable that is then written, in two runs of a session."""
    assert outcome(tf, read, write) == RECORDED[key(read, write)]
