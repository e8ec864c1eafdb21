"""Queues within a run, barriers and maps; corners that were wrong once: all as TensorFlow's."""

import json
from pathlib import Path

import numpy as np
import pytest

import flatlite.compat.v1 as tf

from . import corner_programs, exchange_programs


def recorded(module):
    """What TensorFlow gives for the programs of a module."""
    return json.loads(Path(module.__file__).with_suffix(".json").read_text())


EXCHANGES, CORNERS = recorded(exchange_programs), recorded(corner_programs)


@pytest.mark.parametrize("function", exchange_programs.PROGRAMS, ids=lambda f: f.__name__)
def test_exchange(function):
    """The same values and kinds of errors, and none waits for ever."""
    with tf.Graph().as_default():
        assert function(tf) == EXCHANGES[function.__name__]


@pytest.mark.parametrize("function", corner_programs.PROGRAMS, ids=lambda f: f.__name__)
def test_corner(function):
    """The same shapes and numbers."""
    with tf.Graph().as_default():
        actual = function(tf)
    for key, expected in CORNERS[function.__name__].items():
        if function is corner_programs.dropout_wrapper:
            for value, other in zip(actual[key], expected, strict=True):
                np.testing.assert_allclose(value, other, atol=2e-5, err_msg=key)
        else:
            assert actual[key] == expected, key
