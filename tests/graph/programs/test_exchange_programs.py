"""Operations that wait for one another at queues, barriers and maps, as TensorFlow's."""

import json
from pathlib import Path

import pytest

import flatlite.compat.v1 as tf

from .exchange_programs import PROGRAMS

RECORDED = json.loads(Path(__file__).with_name("exchange_programs.json").read_text())


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_program(function):
    """The same values and kinds of errors, and none waits for ever."""
    with tf.Graph().as_default():
        assert function(tf) == RECORDED[function.__name__]
