"""Strings at the edges as TensorFlow has them; text_edges.json."""

import json
from pathlib import Path

import pytest

import flatlite.compat.v1 as tf

from .text_edges import CASES, outcome

EXPECTED = json.loads(Path(__file__).with_name("text_edges.json").read_text())


@pytest.mark.parametrize("name", CASES)
def test_text(name):
    assert outcome(tf, CASES[name]) == EXPECTED[name]
