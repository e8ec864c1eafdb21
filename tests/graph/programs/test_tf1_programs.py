"""What flatlite makes of programs of TF1, against what TensorFlow made of them."""

import json
from pathlib import Path

import numpy as np
import pytest

import flatlite.compat.v1 as tf

from . import tf1_programs as programs

RECORDED = json.loads(Path(__file__).with_name("tf1_programs.json").read_text())


@pytest.mark.parametrize("build", programs.GRAPHS, ids=lambda build: build.__name__)
def test_graph(build):
    """The same operations of the same names, wired the same way."""
    assert programs.graph_rows(tf, build) == RECORDED["graphs"][build.__name__]


@pytest.mark.parametrize("name", programs.VALUES)
def test_value(name):
    """The same dtype, shape and numbers."""
    actual, recorded = programs.value_of(tf, programs.VALUES[name]), RECORDED["values"][name]
    assert {**actual, "is": None} == {**recorded, "is": None}
    for part, want in zip(actual["is"], recorded["is"], strict=True):
        np.testing.assert_allclose(part, want, rtol=2e-6)


@pytest.mark.parametrize("name", programs.RANDOM)
def test_random(name):
    """The same numbers, in the first run and in the second."""
    values = programs.random_numbers(tf, programs.RANDOM[name])
    for array, recorded in zip(values, RECORDED["random"][name], strict=True):
        if array.dtype.kind == "i":
            np.testing.assert_array_equal(array, recorded)
        else:
            np.testing.assert_allclose(array, recorded, rtol=2e-6, atol=1e-6)


DIFFERENT_WORDS = (
    " for '{{node",
    " Debug info:",
    " (graphs are",
    " Originally defined at:",
    " You can attempt",
)
"""Where messages of TensorFlow begin to say what is not to be said here, or not in these words."""
OTHER_WORDS = ("concat",)
"""Errors whose types agree and whose messages do not."""


@pytest.mark.parametrize("name", programs.ERRORS)
def test_error(name):
    """The same type, and the same words as far as they do not name TensorFlow's insides."""
    kind, message = programs.error_of(tf, programs.ERRORS[name])
    expected_kind, expected = RECORDED["errors"][name]
    assert kind == expected_kind
    if name in OTHER_WORDS:
        return
    for words in DIFFERENT_WORDS:
        expected = expected.split(words)[0]
    assert message[: len(expected)] == expected
