"""Functions of ragged tensors against what TensorFlow gave."""

import json
from pathlib import Path

import pytest
from ragged_calls import CALLS, OTHERWISE, answer

import flatlite.compat.v1 as tf

RECORDED = json.loads(Path(__file__).with_name("ragged_calls.json").read_text())


@pytest.mark.parametrize("call", [call for call in CALLS if call not in OTHERWISE])
def test_as_tensorflow(call):
    assert answer(tf, call) == RECORDED[call]


@pytest.mark.parametrize("call", OTHERWISE)
def test_otherwise_on_purpose(call):
    assert answer(tf, call) != RECORDED[call]
