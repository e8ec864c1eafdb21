"""Variables that loops and branches change: TensorFlow's values, by instructions and by Python."""

import json
from pathlib import Path

import pytest

import flatlite.compat.v1 as tf
from flatlite.graph.session import inlining
from flatlite.graph.session.kernels import control as control_kernels

from .loop_programs import PROGRAMS, failures, functions_of_python, growing, values_of

RECORDED = json.loads(Path(__file__).with_name("loop_programs.json").read_text())


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_values(function, monkeypatch):
    def fail(*_):
        raise AssertionError("a function was run by Python")

    if function not in (functions_of_python, growing):
        monkeypatch.setattr(control_kernels.Body, "run", fail)
    assert values_of(tf, function) == RECORDED[function.__name__]


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_values_by_python(function, monkeypatch):
    monkeypatch.setattr(inlining, "WAYS", {})
    assert values_of(tf, function) == RECORDED[function.__name__]


@pytest.mark.parametrize("ways", [inlining.WAYS, {}], ids=["instructions", "python"])
def test_failures(ways, monkeypatch):
    monkeypatch.setattr(inlining, "WAYS", ways)
    assert failures(tf) == RECORDED["failures"]


def test_sizes_that_do_not_come_again_are_not_compiled():
    with tf.Graph().as_default(), tf.Session() as session:
        sequence = growing(tf)
        session.run(sequence)
        bodies = session.state.bodies.values()
        assert max(len(body.plans.items()) for body in bodies) == control_kernels.FIRST_SHAPES
        for _ in range(control_kernels.MIN_USES):
            session.run(sequence)
        assert len(session.state.bodies) == 2
        assert max(len(body.plans.items()) for body in bodies) == control_kernels.MAX_PLANS
