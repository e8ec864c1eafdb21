"""Strings at the edges as TensorFlow has them; make_text_edges.py records what it gives."""

import json
from pathlib import Path

import pytest

import flatlite.compat.v1 as tf

from .text_edges import CASES, answer

EXPECTED = json.loads(Path(__file__).with_name("text_edges.json").read_text())


@pytest.mark.parametrize("name", CASES)
def test_text(name):
    assert answer(tf, CASES[name]) == EXPECTED[name]
