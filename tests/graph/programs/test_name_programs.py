"""Names of metrics' variables, configurations of cells: programs give what TensorFlow gave."""

import json
from pathlib import Path

import name_programs
import pytest

import flatlite.compat.v1 as tf

RECORDED = json.loads(Path(__file__).with_name("name_programs.json").read_text())


@pytest.mark.parametrize("program", name_programs.PROGRAMS, ids=lambda program: program.__name__)
def test_program(program):
    actual = json.loads(json.dumps(program(tf)))
    assert actual == RECORDED[program.__name__]
