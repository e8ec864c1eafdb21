"""Ragged tensors, Examples, CSV, records and files against what TensorFlow made of them."""

import json
from pathlib import Path

import pytest

import flatlite.compat.v1 as tf

from . import row_programs as programs

RECORDED = json.loads(Path(__file__).with_name("row_programs.json").read_text())


@pytest.mark.parametrize("program", programs.VALUES, ids=lambda program: program.__name__)
def test_value(program, tmp_path):
    folder = str(tmp_path)
    values, recorded = programs.values_of(tf, program, folder), RECORDED["values"][program.__name__]
    assert json.loads(json.dumps(values)) == recorded


@pytest.mark.parametrize("expression", programs.ERRORS)
def test_error(expression):
    """The type is TensorFlow's, and the words that matter."""
    kind, message = programs.error_of(tf, expression)
    expected_kind, expected_message = RECORDED["errors"][expression]
    assert kind == expected_kind
    assert programs.ERRORS[expression] in expected_message
    assert programs.ERRORS[expression] in message
