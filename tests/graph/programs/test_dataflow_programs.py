"""Graphs with branches and loops of Switch and Merge, run in Sessions as TensorFlow runs them."""

import gc
import json
import re
from pathlib import Path

import numpy as np
import pytest
from dataflow_programs import PROGRAMS

import flatlite.compat.v1 as tf
from flatlite.graph.session.dataflow import DataflowPlan
from flatlite.graph.session.kernels.control import Body

RECORDED = np.load(Path(__file__).with_name("dataflow_programs.npz"))
ARRAY_NUMBER = re.compile(r"(TensorArray \w+)_\d+:")
"""TensorFlow numbers the arrays of a process."""
RUNS = json.loads(RECORDED["runs"].tobytes())


def imported(name):
    graph = tf.GraphDef.FromString(RECORDED[name].tobytes())
    tf.import_graph_def(graph, name="")


def check_runs(graph, runs):
    """Values, effects and errors of one run after the other."""
    with tf.Session() as session:
        for run in runs:
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
                elif isinstance(expected, str):
                    assert value.decode("latin1") == expected
                else:
                    np.testing.assert_allclose(value, expected, rtol=3e-6, atol=1e-6)


AS_DATAFLOW = ("dead",)
"""Where dead tensors are fetched."""
CALLED = (
    *("arrays_of_native_and_other_loops", "arrays_that_grow"),
    *("arrays_without_elements", "elements_of_unequal_shapes", "states", "steps_of_branches"),
    *("strings_in_loop", "summaries_of_branches", "values_that_decide"),
)
"""Where sizes change between iterations, or there are strings: Python calls functions."""


@pytest.mark.parametrize("name", RUNS)
def test_runs(name, monkeypatch):
    """What TensorFlow has written runs as it does there, by instructions where it can."""
    executed = set()
    for kind in (DataflowPlan, Body):
        run = kind.fetch if kind is DataflowPlan else kind.run
        monkeypatch.setattr(kind, run.__name__, lambda *x, k=kind, f=run: executed.add(k) or f(*x))
    with tf.Graph().as_default() as graph:
        imported(name)
        check_runs(graph, RUNS[name])
    expected = {DataflowPlan} if name in AS_DATAFLOW else {Body} if name in CALLED else set()
    assert executed == expected


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_written(program, control_flow_v1):
    """What is built and written here is Switch and Merge alone, and runs the same."""
    name = program.__name__
    with tf.Graph().as_default() as graph:
        fetches = [[tensor.name for tensor in run] for run, _ in program(tf)]
    written = graph.as_graph_def()
    assert not written.library.function
    assert {"If", "StatelessIf", "While", "StatelessWhile"}.isdisjoint(
        node.op for node in written.node
    )
    runs = [run | {"fetches": names} for run, names in zip(RUNS[name], fetches, strict=True)]
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(written, name="")
        check_runs(graph, runs)


@pytest.mark.parametrize("use_resource", [True, False])
@pytest.mark.parametrize("v2", [True, False])
def test_variables_of_branches_and_loops_become_constants(v2, use_resource, control_flow_v1):
    """Read in functions or behind Switch and Enter, in both forms of a graph."""
    if v2:
        tf.enable_control_flow_v2()
    with tf.Graph().as_default() as graph, tf.Session() as session:
        x = tf.placeholder(tf.float32, [3], name="x")
        w = tf.Variable([2.0, 3.0, 4.0], use_resource=use_resource)
        y = tf.cond(x[0] > 0, lambda: x * w, lambda: x + tf.gather(w, [0, 0, 0]))
        y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * w), [0, y])[1]
        tf.identity(y, name="y")
        session.run(tf.global_variables_initializer())
        frozen = tf.graph_util.convert_variables_to_constants(session, graph.as_graph_def(), ["y"])
    with tf.Graph().as_default(), tf.Session() as session:
        tf.import_graph_def(frozen, name="")
        np.testing.assert_array_equal(session.run("y:0", {"x:0": [1, 1, 1]}), [16, 81, 256])
        np.testing.assert_array_equal(session.run("y:0", {"x:0": [-1, 1, 1]}), [8, 81, 192])


def test_a_loop_that_does_not_end_is_stopped():
    with tf.Graph().as_default(), tf.Session() as session:
        imported("endless")
        (fetch,) = RUNS["endless"][0]["fetches"]
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(fetch, {"x:0": True}, timeout=0.2)
        assert session.run(fetch, {"x:0": False}) == 1


def test_plans_that_are_gone_leave_nothing():
    """Of many shapes a few plans are kept, with what their functions are."""
    with tf.Graph().as_default(), tf.Session() as session:
        imported("branch")
        (fetch,) = RUNS["branch"][0]["fetches"]
        counts = []
        for sizes in (range(1, 70), range(70, 120)):
            for n in sizes:
                assert session.run(fetch, {"x:0": np.ones(n)}).shape == (n,)
            gc.collect()
            counts.append(len(session.state.origins))
        assert counts[0] == counts[1]


def test_frames_that_do_not_fit():
    """Reading from within a loop what is outside of it, without an Enter."""
    with tf.Graph().as_default():
        inner = tf.raw_ops.Enter(data=tf.constant(1), frame_name="inner")
        outside = tf.raw_ops.Identity(input=tf.placeholder_with_default(2, []))
        y = tf.raw_ops.Exit(data=inner + outside)
        with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError) as caught:
            session.run(y)
    assert "has inputs from different frames" in str(caught.value)


def test_what_an_operation_counts_is_the_same_for_all_fetches(control_flow_v1, capsys):
    """As in TensorFlow, which writes these lines: `first_n` is of the session."""
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [], name="x")
        _, y = tf.while_loop(
            lambda i, y: i < 2,
            lambda i, y: (i + 1, tf.Print(y, [y], message="seen ", first_n=3) * 2),
            [0, x],
        )
        tf.add(tf.identity(y, name="y"), 1, name="z")
        written = graph.as_graph_def()
    with tf.Graph().as_default(), tf.Session() as session:
        tf.import_graph_def(written, name="")
        for fetches, lines in (("y:0", "seen [1]\nseen [2]\n"), ("z:0", "seen [1]\n"), ("y:0", "")):
            session.run(fetches, {"x:0": 1})
            assert capsys.readouterr().err == lines


@pytest.mark.parametrize("infer_shape", [True, False])
def test_elements_that_do_not_agree(infer_shape):
    """As TensorFlow's testInferShapeFalseInvalid: what is said of the shape holds for all."""
    array = tf.TensorArray(tf.float32, 2, infer_shape=infer_shape, element_shape=[None, 10])
    array = array.write(0, tf.ones([50, 10]))
    with pytest.raises(ValueError, match="Inconsistent shapes: saw"):
        array.write(1, tf.ones([50, 20]))
