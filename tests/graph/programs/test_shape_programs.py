"""The shapes of tensors as programs see them, against TensorFlow's answers."""

import json
from pathlib import Path

import flatlite.compat.v1 as tf

from .shape_programs import outcomes

RECORDED = json.loads(Path(__file__).with_name("shape_programs.json").read_text())


def test_expressions():
    """The same values, texts and errors, with Dimensions and with numbers."""
    results = outcomes(tf)
    assert {key: text for key, text in results.items() if text != RECORDED[key]} == {}
