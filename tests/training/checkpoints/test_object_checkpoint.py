"""Checkpoint and CheckpointManager: TensorFlow's files restored, its object graphs written."""

import json
import os
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from object_programs import PROGRAMS, managed, outcomes, state_class, trained

import flatlite.compat.v1 as tf
from flatlite.errors import (
    DataLossError,
    FailedPreconditionError,
    InvalidArgumentError,
    NotFoundError,
)
from flatlite.schema import proto
from flatlite.schema.tensorflow.bundle import open_bundle, write_bundle

FOLDER = Path(__file__).with_name("object_checkpoints")
RECORDED = json.loads((FOLDER / "recorded.json").read_text())


def as_lists(value):
    value = value.tolist()
    return (
        [item.decode() for item in value]
        if value and isinstance(value, list) and isinstance(value[0], bytes)
        else value
    )


@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize("name", PROGRAMS)
def test_recorded(name, use_resource, tmp_path, session):
    key = f"{name}-{'resource' if use_resource else 'reference'}"
    recorded = RECORDED["graphs"][key]
    checkpoint, train = PROGRAMS[name](tf, use_resource)
    status = checkpoint.restore(FOLDER / f"{key}-1").assert_consumed()
    status.run_restore_ops()
    values = {v.op.name: as_lists(session.run(v)) for v in tf.global_variables()}
    assert values == recorded["values"]
    if name == "trained":
        assert checkpoint.state.numbers == [1, 2, 3]
    prefix = checkpoint.save(tmp_path / key)
    assert prefix == str(tmp_path / f"{key}-2")
    message = proto.TrackableObjectGraph.FromString(
        tf.train.load_variable(prefix, "_CHECKPOINTABLE_OBJECT_GRAPH").item()
    )
    assert message == proto.parse_text("TrackableObjectGraph", recorded["text"].encode())
    ours, theirs = open_bundle(prefix), open_bundle(FOLDER / f"{key}-1")
    assert ours.keys() == theirs.keys()
    for tensor in ours:
        if "save_counter" not in tensor and "OBJECT_GRAPH" not in tensor:
            np.testing.assert_array_equal(ours.read(tensor), theirs.read(tensor))
            assert ours.dtype(tensor) == theirs.dtype(tensor)
    if train is not None:
        session.run(train)
        assert session.run("net/w:0").tolist() != recorded["values"]["net/w"]


def test_outcomes():
    actual = outcomes(tf, str(FOLDER / "single-reference-1"))
    assert {k: v[0] for k, v in actual.items()} == {
        k: v[0] for k, v in RECORDED["outcomes"].items()
    }
    for name, (kind, text) in RECORDED["outcomes"].items():
        if kind == "AssertionError":
            assert actual[name][1] == text, name


def test_managed(tmp_path):
    log = json.loads(json.dumps(managed(tf, f"{tmp_path}/a/b")).replace(str(tmp_path), ""))
    assert log == RECORDED["managed"]
    folder = tmp_path / "a" / "b"
    assert {name.partition(".")[0] for name in os.listdir(folder)} == {
        "checkpoint",
        "ckpt-8",
        "ckpt-9",
    }
    state = tf.train.get_checkpoint_state(folder)
    assert len(state.all_model_checkpoint_timestamps) == 2
    assert '"ckpt-9"' in (folder / "checkpoint").read_text()


def test_values_that_come_later_are_restored(tmp_path, session):
    first, train = trained(tf, False)
    session.run(tf.global_variables_initializer())
    session.run(train)
    slot = session.run("net/w/Adam:0")
    path = first.save(tmp_path / "m")
    with tf.Graph().as_default(), tf.Session() as other:
        optimizer = tf.train.AdamOptimizer(0.1)
        root = tf.train.Checkpoint(optimizer=optimizer)
        status = root.restore(path)
        with pytest.raises(AssertionError, match=r"Unresolved object in checkpoint \(root\)"):
            status.assert_consumed()
        status.assert_existing_objects_matched().assert_nontrivial_match().expect_partial()
        w = tf.get_variable("other_name", initializer=np.zeros((2, 2), np.float32))
        root.model = tf.train.Checkpoint(kernel=w)
        optimizer.minimize(tf.reduce_sum(w * w))
        status.assert_existing_objects_matched().run_restore_ops(other)
        assert other.run(w).tolist() == session.run("net/w:0").tolist()
        np.testing.assert_array_equal(other.run(optimizer.get_slot(w, "m")), slot)


def test_nothing_to_restore(tmp_path, session):
    root = tf.train.Checkpoint(v=tf.Variable(2.0))
    status = root.restore(None)
    for method in ("assert_consumed", "assert_existing_objects_matched", "assert_nontrivial_match"):
        with pytest.raises(AssertionError, match="No checkpoint specified"):
            getattr(status, method)()
    with pytest.raises(AssertionError, match="no restore ops are available"):
        status.run_restore_ops()
    status.initialize_or_restore()
    assert session.run([root.v, root.save_counter]) == [2.0, 0]
    empty = tf.train.Checkpoint()
    path = empty.write(tmp_path / "empty")
    with pytest.raises(AssertionError, match="Nothing"):
        tf.train.Checkpoint().restore(path).assert_nontrivial_match()
    with pytest.raises(AssertionError, match="Nothing except the root object matched"):
        tf.train.Checkpoint(x=root.v).restore(path).assert_nontrivial_match()
    with pytest.raises(NotFoundError, match="no-such"):
        root.restore(tmp_path / "no-such")


def test_what_a_saver_wrote(tmp_path, session):
    v = tf.get_variable("v", initializer=[1.0, 2.0])
    session.run(v.initializer)
    path = tf.train.Saver([v]).save(session, tmp_path / "named")
    session.run(v.assign([0.0, 0.0]))
    root = tf.train.Checkpoint(anything=[v])
    root.restore(path).assert_consumed().run_restore_ops()
    assert session.run(v).tolist() == [1, 2]
    root.more = tf.get_variable("w", initializer=0.0)
    with pytest.raises(AssertionError, match=r"Object not restored: <tf\.Variable 'w:0'"):
        root.restore(path).assert_existing_objects_matched()


def test_a_saver_restores_by_names(tmp_path, session):
    root, train = trained(tf, False)
    session.run(tf.global_variables_initializer())
    session.run(train)
    path = root.save(tmp_path / "m")
    want = session.run(tf.global_variables())
    session.run(tf.global_variables_initializer())
    tf.train.Saver().restore(session, path)
    for variable, value in zip(tf.global_variables(), want, strict=True):
        np.testing.assert_array_equal(session.run(variable), value)
    lacking = tf.get_variable("lacking", initializer=0.0)
    with pytest.raises(NotFoundError, match="lacking"):
        tf.train.Saver([lacking]).restore(session, path)


def test_write_leaves_counter_and_state(tmp_path, session):
    root = tf.train.Checkpoint(v=tf.Variable(2.0))
    with pytest.raises(FailedPreconditionError, match="uninitialized"):
        root.write(tmp_path / "m")
    session.run(root.v.initializer)
    assert root.write(tmp_path / "x" / "y" / "m") == str(tmp_path / "x" / "y" / "m")
    assert tf.train.latest_checkpoint(tmp_path / "x" / "y") is None
    assert [name for name, _ in tf.train.list_variables(tmp_path / "x" / "y" / "m")] == [
        "_CHECKPOINTABLE_OBJECT_GRAPH",
        "v/.ATTRIBUTES/VARIABLE_VALUE",
    ]
    assert root.save(tmp_path / "m") == str(tmp_path / "m-1")
    assert root.save(tmp_path / "m") == str(tmp_path / "m-2")
    assert tf.train.latest_checkpoint(tmp_path) == str(tmp_path / "m-2")
    root.v = tf.Variable(5.0)
    session.run(root.v.initializer)
    del root.v
    root.restore(tmp_path / "m-2").initialize_or_restore()
    assert session.run(root.save_counter) == 2


def test_errors(tmp_path, session):
    with pytest.raises(ValueError, match="`Checkpoint` was expecting a trackable object"):
        tf.train.Checkpoint(number=3)
    root = tf.train.Checkpoint(table={1: tf.Variable(0.0)})
    with pytest.raises(ValueError, match="strings as keys, got 1"):
        root.write(tmp_path / "m", session)
    v = tf.Variable([1.0])
    optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
    optimizer.minimize(tf.reduce_sum(v))
    twice = tf.train.Checkpoint(v=v, o=optimizer, slot=optimizer.get_slot(v, "momentum"))
    with pytest.raises(ValueError, match=r"slot variable was re-used .* at 'slot'"):
        twice.write(tmp_path / "m", session)
    for count in (0, -1):
        with pytest.raises(ValueError, match="positive integer or `None` for `max_to_keep`, got"):
            tf.train.CheckpointManager(root, tmp_path, count)
    with pytest.raises(ValueError, match="`step_counter` should be passed"):
        tf.train.CheckpointManager(root, tmp_path, 1, checkpoint_interval=3)


def test_a_session_is_needed(tmp_path):
    with tf.Graph().as_default():
        root = tf.train.Checkpoint(v=tf.Variable(1.0))
        manager = tf.train.CheckpointManager(root, tmp_path, 1)
        status = root.restore(FOLDER / "single-reference-1")
        for run in (
            root.save,
            root.write,
            lambda _: manager.save(),
            lambda _: status.run_restore_ops(),
        ):
            with pytest.raises(ValueError, match="Either session argument should be provided"):
                run(tmp_path / "m")


def test_a_damaged_object_graph(tmp_path, session):
    message = proto.TrackableObjectGraph()
    message.nodes.add().children.add(node_id=7, local_name="v")
    for name, content in {"far": message.SerializeToString(), "no": b"\xff", "none": b""}.items():
        tensors = {"_CHECKPOINTABLE_OBJECT_GRAPH": np.array(content, object)}
        write_bundle(tmp_path / name, tensors)
        with pytest.raises(DataLossError, match="object graph"):
            tf.train.Checkpoint().restore(tmp_path / name)


def test_misfits_are_named(session):
    path = FOLDER / "single-reference-1"
    key = "v/.ATTRIBUTES/VARIABLE_VALUE"
    root = tf.train.Checkpoint(v=tf.Variable([1, 2]))
    with pytest.raises(InvalidArgumentError, match=f"tensor_name = {key}; expected dtype int32"):
        root.restore(path).run_restore_ops()
    root.v = tf.Variable([[1.0, 2.0]])
    with pytest.raises(InvalidArgumentError, match=r"expected shape \(1, 2\) does not equal"):
        root.restore(path).run_restore_ops()
    root.v = state_class(tf)([1])
    with pytest.raises(AssertionError, match="not assigned a value from checkpoint"):
        root.restore(path).assert_consumed()


def test_some_are_preserved(tmp_path, session, monkeypatch):
    clock = [1000.0]
    monkeypatch.setattr(time, "time", lambda: clock[0])
    root = tf.train.Checkpoint(v=tf.Variable(2.0))
    session.run(root.v.initializer)
    manager = tf.train.CheckpointManager(root, tmp_path, 1, keep_checkpoint_every_n_hours=1)
    for minutes in (0, 30, 61, 90, 130):
        clock[0] = 1000.0 + 60 * minutes
        manager.save()
    left = {name.partition(".")[0] for name in os.listdir(tmp_path)} - {"checkpoint"}
    assert left == {"ckpt-3", "ckpt-5"}
    assert manager.checkpoints == [str(tmp_path / "ckpt-5")]
    state = tf.train.get_checkpoint_state(tmp_path)
    assert state.last_preserved_timestamp == 1000.0 + 60 * 61
    again = tf.train.CheckpointManager(root, tmp_path, 1, keep_checkpoint_every_n_hours=1)
    assert again.checkpoints == manager.checkpoints


def test_restore_or_initialize(tmp_path, session):
    root = tf.train.Checkpoint(v=tf.Variable(2.0))
    called = []
    manager = tf.train.CheckpointManager(root, tmp_path, 1, init_fn=lambda: called.append(1))
    assert manager.restore_or_initialize() is None
    assert called == [1]
    session.run(root.v.initializer)
    path = manager.save()
    session.run(root.v.assign(0.0))
    assert manager.restore_or_initialize() == path
    assert session.run(root.v) == 2


def test_checkpoints_iterator(tmp_path, session, monkeypatch):
    monkeypatch.setattr("flatlite.training.checkpoints.checkpoint_manager.POLL_SECONDS", 0.01)
    root = tf.train.Checkpoint(v=tf.Variable(2.0))
    session.run(root.v.initializer)
    assert list(tf.train.checkpoints_iterator(tmp_path, timeout=0)) == []
    requests = []

    def is_over():
        requests.append(1)
        return len(requests) == 3

    paths = [root.save(tmp_path / "m")]
    iterator = tf.train.checkpoints_iterator(tmp_path, timeout=0.02, timeout_fn=is_over)
    assert next(iterator) == paths[0]
    later = []
    thread = threading.Thread(target=lambda: later.append(next(iterator, None)))
    thread.start()
    paths.append(root.save(tmp_path / "m"))
    thread.join()
    assert later == paths[1:] or requests == [1, 1, 1]
    begun = time.monotonic()
    assert list(tf.train.checkpoints_iterator(tmp_path, min_interval_secs=0.05, timeout=0)) == [
        paths[1]
    ]
    assert time.monotonic() - begun >= 0.05


def test_options(tmp_path):
    written = []
    options = tf.train.CheckpointOptions(
        experimental_write_callbacks=[written.append, lambda: written.append("once more")]
    )
    with tf.Graph().as_default(), tf.Session():
        checkpoint = tf.train.Checkpoint(v=tf.get_variable("v", initializer=1.0))
        checkpoint.v.initializer.run()
        assert checkpoint.save(str(tmp_path / "model"), options=options) == written[0]
    assert written[1:] == ["once more"]
    with pytest.raises(ValueError, match="enable_async is not supported, got True"):
        tf.train.CheckpointOptions(enable_async=True)
    with pytest.raises(TypeError, match="must take the checkpoint's name, or nothing"):
        tf.train.CheckpointOptions(experimental_write_callbacks=[lambda a, b: None])
