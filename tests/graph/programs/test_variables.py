"""Variables do what TensorFlow's do, and refuse what these refuse."""

import json
from pathlib import Path

import numpy as np
import pytest
import variable_programs as programs

import flatlite.compat.v1 as tf

GOLDENS = np.load(Path(__file__).with_name("variables.npz"))
FACTS = json.loads(str(GOLDENS["facts"]))
kinds = pytest.mark.parametrize("kind", [False, True], ids=["reference", "resource"])


RECORDED = [
    (name, kind)
    for name in programs.PROGRAMS
    for kind in (False, True)
    if f"{kind}:{name}" in FACTS
]


def test_every_program_is_recorded():
    """TensorFlow has each for one kind at least."""
    assert {name for name, _ in RECORDED} == set(programs.PROGRAMS)


@pytest.mark.parametrize(("name", "kind"), RECORDED)
def test_program(name, kind):
    listed = programs.run(tf, programs.PROGRAMS[name], kind)
    assert len(listed) == FACTS[f"{kind}:{name}"]
    for i, array in enumerate(listed):
        np.testing.assert_allclose(array, GOLDENS[f"{kind}:{name}:{i}"], rtol=1e-6)


@kinds
@pytest.mark.parametrize("name", programs.FACTS)
def test_fact(name, kind):
    assert programs.fact(tf, programs.FACTS[name], kind) == FACTS[f"{kind}:{name}"]


@kinds
@pytest.mark.parametrize("name", programs.REFUSALS)
def test_refusal(name, kind):
    actual, words = programs.refusal(tf, programs.REFUSALS[name], kind)
    golden, golden_words = FACTS[f"{kind}:{name}"]
    assert actual == golden.replace("AttributeError", "TypeError")  # of what it lacks
    if actual == golden:
        assert words[:32] == golden_words[:32]
