"""What flatlite makes of calls of functions in TensorFlow 1's graphs, against TensorFlow."""

import json
from pathlib import Path

import numpy as np
import pytest

import flatlite.compat.v1 as tf

from . import function_calls

RECORDED = json.loads(Path(__file__).with_name("function_calls.json").read_text())


@pytest.mark.parametrize("name", function_calls.PROGRAMS)
def test_calls(name):
    got, recorded = function_calls.PROGRAMS[name](tf), RECORDED[name]
    for value, expected in zip(got, recorded, strict=True):
        if expected is None:
            assert value is None
        else:
            np.testing.assert_allclose(value, expected, rtol=2e-6)


def test_recursion_by_partitioned_calls_gives_the_same():
    got = function_calls.run(tf, function_calls.numbers(tf, "call"), function_calls.NUMBERS)
    assert got == RECORDED["numbers by name"]


@pytest.mark.parametrize(
    ("build", "fetch", "feeds"),
    [
        (function_calls.parity, "even:0", {"n:0": 3}),
        (function_calls.differentiated, "dy:0", function_calls.X),
    ],
)
def test_graphs_that_ran_are_exported_as_they_were(build, fetch, feeds):
    message = build(tf)
    with tf.Graph().as_default() as graph, tf.Session() as session:
        tf.import_graph_def(message, name="")
        session.run(fetch, feeds)
        written = graph.as_graph_def()
    assert len(written.library.function) == len(message.library.function)
    assert [(n.name, n.op, [*n.input]) for n in written.node] == [
        (n.name, n.op, [*n.input]) for n in message.node
    ]
    assert [*written.library.gradient] == [*message.library.gradient]
