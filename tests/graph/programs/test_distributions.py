"""`tf.distributions` against TensorFlow's own answers (distribution_programs.py)."""

import json
from pathlib import Path

import numpy as np
import pytest

import flatlite.compat.v1 as tf

from . import distribution_expressions as expressions
from .distribution_programs import PROGRAMS

RECORDED = json.loads(Path(__file__).with_name("distribution_programs.json").read_text())


def same(actual, recorded, where=()):
    """Requires equal words and whole numbers, and floats that differ in their last bits."""
    if isinstance(recorded, dict):
        assert list(map(str, sorted(actual))) == sorted(recorded)
        for name, value in recorded.items():
            same(actual[name], value, (*where, name))
    elif isinstance(recorded, list):
        assert len(actual) == len(recorded), (where, actual, recorded)
        for i, value in enumerate(recorded):
            same(actual[i], value, (*where, i))
    elif isinstance(recorded, float):
        np.testing.assert_allclose(actual, recorded, rtol=2e-5, atol=2e-6, err_msg=str(where))
    else:
        assert actual == recorded, where


@pytest.mark.parametrize("text", expressions.TEXTS)
def test_expression(text):
    same(expressions.outcome(tf, text), RECORDED[text])


@pytest.mark.parametrize("made", expressions.DISTRIBUTIONS)
def test_members(made):
    same(expressions.members(tf, made, expressions.DISTRIBUTIONS[made]), RECORDED[made])


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_program(program):
    with tf.Graph().as_default():
        same(program(tf), RECORDED[program.__name__])
