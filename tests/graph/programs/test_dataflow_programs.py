"""Graphs with branches and loops of Switch and Merge, run in Sessions as TensorFlow runs them."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import flatlite.compat.v1 as tf

RECORDED = np.load(Path(__file__).with_name("dataflow_programs.npz"))
ARRAY_NUMBER = re.compile(r"(TensorArray \w+)_\d+:")
"""TensorFlow numbers the arrays of a process."""
RUNS = json.loads(RECORDED["runs"].tobytes())


def imported(name):
    graph = tf.GraphDef.FromString(RECORDED[name].tobytes())
    tf.import_graph_def(graph, name="")


@pytest.mark.parametrize("name", RUNS)
def test_runs(name):
    """Values, effects and errors of one run after the other."""
    with tf.Graph().as_default() as graph, tf.Session() as session:
        imported(name)
        for run in RUNS[name]:
            fetches = [graph.as_graph_element(x) for x in run["fetches"]]
            answer = run["answer"]
            if isinstance(answer, dict):
                with pytest.raises(getattr(tf.errors, answer["error"])) as caught:
                    session.run(fetches, run["feeds"])
                words = caught.value.message.split("\n")[0]
                assert words == ARRAY_NUMBER.sub(r"\1:", answer["words"])
                continue
            values = session.run(fetches, run["feeds"])
            assert len(values) == len(answer)
            for value, expected in zip(values, answer, strict=True):
                if expected is None:
                    assert value is None
                else:
                    np.testing.assert_allclose(value, expected, rtol=3e-6, atol=1e-6)


def test_a_loop_that_does_not_end_is_stopped():
    with tf.Graph().as_default(), tf.Session() as session:
        imported("endless")
        (fetch,) = RUNS["endless"][0]["fetches"]
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(fetch, {"x:0": True}, timeout=0.2)
        assert session.run(fetch, {"x:0": False}) == 1


def test_frames_that_do_not_fit():
    """Reading from within a loop what is outside of it, without an Enter."""
    with tf.Graph().as_default():
        inner = tf.raw_ops.Enter(data=tf.constant(1), frame_name="inner")
        outside = tf.raw_ops.Identity(input=tf.placeholder_with_default(2, []))
        y = tf.raw_ops.Exit(data=inner + outside)
        with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError) as caught:
            session.run(y)
    assert "has inputs from different frames" in str(caught.value)
