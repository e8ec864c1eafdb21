"""TF1's graph API: programs give what TensorFlow gave."""

import json
from pathlib import Path

import place_programs
import pytest

import flatlite.compat.v1 as tf

from . import core_programs  # noqa: F401 - its programs are listed, too

RECORDED = json.loads(Path(__file__).with_name("core_programs.json").read_text())


def agrees(actual, recorded):
    """Whether an answer is the recorded one; of errors, the type and the first words."""
    if isinstance(recorded, dict):
        return actual.keys() == recorded.keys() and all(
            agrees(actual[key], recorded[key]) for key in recorded
        )
    if is_error(recorded) and is_error(actual):
        return actual[0] == recorded[0] and actual[1].startswith(first_words(recorded[1]))
    if isinstance(recorded, list):
        return len(actual) == len(recorded) and all(map(agrees, actual, recorded))
    if isinstance(recorded, float):
        return actual == pytest.approx(recorded, rel=1e-5)
    return actual == recorded


def is_error(value):
    """Whether an answer is the type and the text of an error."""
    is_pair = isinstance(value, list) and [type(item) for item in value] == [str, str]
    return is_pair and value[0].endswith("Error") and not value[1].endswith("Error")


OTHER_WORDS = (" See https", " (type <class", "\n", " for TensorFlow 2", " [Op")
"""Where messages of TensorFlow begin to say what is said in other words here."""


def first_words(text):
    """The part of a message that is the same here."""
    for words in OTHER_WORDS:
        text = text.split(words)[0]
    return text.rstrip(".")


@pytest.mark.parametrize("function", place_programs.PROGRAMS, ids=lambda f: f.__name__)
def test_program(function):
    """The same values, names and errors."""
    printed, recorded = json.loads(json.dumps(function(tf))), RECORDED[function.__name__]
    assert agrees(printed, recorded), (printed, recorded)
