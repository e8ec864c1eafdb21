"""Monitored sessions, hooks, coordinators and supervisors do what TensorFlow's do."""

import json
import logging
from pathlib import Path

import pytest
import session_programs as programs

import flatlite.compat.v1 as tf

GOLDENS = json.loads(Path(__file__).with_name("session_programs.json").read_text())


@pytest.mark.parametrize("program", programs.PROGRAMS, ids=lambda program: program.__name__)
def test_program(program, tmp_path):
    happened = json.loads(json.dumps(program(tf, tmp_path)))
    assert happened == GOLDENS["programs"][program.__name__]


@pytest.mark.parametrize("name", programs.REFUSALS)
def test_refusal(name, tmp_path):
    kind, words = programs.refusal(tf, programs.REFUSALS[name], str(tmp_path))
    golden, golden_words = GOLDENS["refusals"][name]
    assert kind == golden
    assert words[:40] == golden_words[:40]


def test_summaries_come_every_few_steps(tmp_path):
    """The step before a run says when one is due."""
    for last in (5, 12):
        with tf.Graph().as_default():
            train, _ = programs.build(tf)
            hooks = [tf.train.StopAtStepHook(last_step=last)]
            with tf.train.MonitoredTrainingSession(
                checkpoint_dir=tmp_path, hooks=hooks, save_summaries_steps=3
            ) as session:
                while not session.should_stop():
                    session.run(train)
    rows = programs.events_of(tf, tmp_path)
    assert [step for step, _, tags in rows if tags == ["shown"]] == [1, 4, 6, 9, 12]


def test_logs(caplog):
    """Tensors are logged by their names, or other words for them, or as a function says."""
    with tf.Graph().as_default(), caplog.at_level(logging.INFO, "flatlite"):
        x = tf.constant([1.0, 2e-9], name="x")
        hooks = [
            tf.train.LoggingTensorHook({"b": x, "a": "x:0"}, every_n_iter=2),
            tf.train.LoggingTensorHook(["x"], at_end=True, formatter=lambda v: f"last {v['x'][0]}"),
        ]
        with tf.train.MonitoredSession(hooks=hooks) as session:
            for _ in range(3):
                session.run(x)
    lines = [record.getMessage() for record in caplog.records if "=" in record.getMessage()]
    assert lines[0] == "a = [1. 0.], b = [1. 0.]"
    assert lines[1].startswith("a = [1. 0.], b = [1. 0.] (")
    assert len(lines) == 2
    assert caplog.records[-1].getMessage() == "last 1.0"


def test_times_of_runs(tmp_path):
    """The profiler's timeline has a bar for each operation that took time."""
    with tf.Graph().as_default():
        train, _ = programs.build(tf)
        hook = tf.train.ProfilerHook(save_steps=2, output_dir=tmp_path)
        with tf.train.MonitoredSession(hooks=[hook]) as session:
            for _ in range(4):
                session.run(train)
    tf.summary.FileWriterCache.clear()
    path, _ = sorted(tmp_path.glob("timeline-*.json"))
    events = json.loads(path.read_text())["traceEvents"]
    assert events[0]["args"]["name"].endswith("CPU:0 Compute")
    bars = [event for event in events if event["ph"] == "X"]
    assert bars
    assert all(event["dur"] >= 0 and event["args"]["name"] for event in bars)
    kinds = [kind for _, kind, _ in programs.events_of(tf, tmp_path)]
    assert kinds[-1] == "tagged_run_metadata"


def test_a_waiting_hook(monkeypatch):
    """Runs are held back until somebody else has brought the step so far."""
    with tf.Graph().as_default():
        step = tf.train.create_global_step()
        more = tf.assign_add(step, 1)
        with tf.train.MonitoredSession(hooks=[tf.train.GlobalStepWaiterHook(3)]) as session:
            raw = session._require_session()
            monkeypatch.setattr("time.sleep", lambda seconds: raw.run(more))
            assert session.run(step.value()) == 3


def test_a_loop_of_a_supervisor(tmp_path):
    """`basic_train_loop` begins again after an AbortedError, and ends at a stop."""
    with tf.Graph().as_default():
        train, _ = programs.build(tf)
        supervisor = tf.train.Supervisor(logdir=tmp_path, save_summaries_secs=0.01)
        calls = []

        def step(session, last):
            calls.append(int(session.run([train, "global_step:0"])[1]))
            if len(calls) == 2:
                raise tf.errors.AbortedError(None, None, "lost")
            if calls[-1] >= last:
                supervisor.request_stop()

        tf.train.basic_train_loop(supervisor, step, [4])
    assert calls[-1] >= 4
    assert calls.count(calls[0]) == 1 + (calls[2] == calls[0])
    tags = [tag for _, _, tags in programs.events_of(tf, tmp_path) for tag in map(str, tags)]
    assert "global_step/sec" in tags
    assert "shown" in tags
