"""Queues, accumulators and input pipelines, against TensorFlow's answers."""

import json
from pathlib import Path

import pytest

import flatlite.compat.v1 as tf

from .queue_programs import PIPELINES, PROGRAMS, produced

RECORDED = json.loads(Path(__file__).with_name("queue_programs.json").read_text())


def _plain(value):
    return json.loads(json.dumps(value))


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_program(function):
    """The same values, shapes and errors."""
    assert _plain(function(tf)) == RECORDED[function.__name__]


@pytest.mark.parametrize("name", PIPELINES)
def test_pipeline(name):
    """The same batches, names of operations and summaries."""
    assert _plain(produced(tf, lambda: PIPELINES[name](tf))) == RECORDED[name]
