"""Lookup tables, against what TensorFlow made of the same programs."""

import json
from pathlib import Path

import pytest

import flatlite.compat.v1 as tf

from . import lookup_programs as programs

RECORDED = json.loads(Path(__file__).with_name("lookup_programs.json").read_text())
DIFFERENT_WORDS = (" for '{{node", "<dtype:", "used by {{node")
"""Where messages of TensorFlow begin to say what is not to be said here, or not in these words."""


@pytest.fixture
def path(tmp_path):
    return programs.vocabulary_file(tmp_path)


@pytest.mark.parametrize("program", programs.VALUES, ids=lambda program: program.__name__)
def test_value(program, path):
    assert programs.value_of(tf, program, path) == RECORDED["values"][program.__name__]


@pytest.mark.parametrize("name", programs.ERRORS)
def test_error(name, path):
    kind, words = programs.error_of(tf, programs.ERRORS[name], path)
    expected_kind, expected = RECORDED["errors"][name]
    assert kind == expected_kind != ""
    for end in DIFFERENT_WORDS:
        expected = expected.split(end)[0]
    assert words.startswith(expected.strip())
