"""Saver: TensorFlow's checkpoints restored and written byte for byte, faults while writing."""

import os
import runpy
import subprocess
import sys
from pathlib import Path

import make_partitioned
import numpy as np
import pytest
from recorded import load, rows

import flatlite.compat.v1 as tf
from flatlite.errors import (
    DataLossError,
    FailedPreconditionError,
    InvalidArgumentError,
    NotFoundError,
    ResourceExhaustedError,
)
from flatlite.graph.core.build import ops
from flatlite.schema import files

BUNDLES = runpy.run_path(str(Path(__file__).parents[2] / "schema" / "make_bundles.py"))
ROWS = [row for row in rows() if row["kind"] == "tf1_checkpoint"]


def two_variables(session, use_resource=False):
    a = tf.get_variable("a", initializer=[1.0, 2.0], use_resource=use_resource)
    b = tf.get_variable("b", initializer=3, use_resource=use_resource)
    session.run(tf.global_variables_initializer())
    return a, b


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_recorded(row, corpus, tmp_path, session, record_property):
    record_property("corpus", "tf1_checkpoint")
    folder, data = corpus / row["files"]["checkpoint_dir"], load(row["files"]["data_tf"])
    latest = tf.train.latest_checkpoint(folder)
    assert os.path.basename(latest) == row["checkpoint_prefix"]
    saver = tf.train.import_meta_graph(f"{latest}.meta")
    saver.restore(session, latest)
    shapes = dict(tf.train.list_variables(folder))
    assert shapes == row["variables"]
    for variable in tf.global_variables():
        want = data[f"var:{variable.op.name}"]
        np.testing.assert_array_equal(session.run(variable), want)
        np.testing.assert_array_equal(tf.train.load_variable(folder, variable.name), want)
    values = session.run(row["outputs"][0]["tensor"], {row["inputs"][0]["tensor"]: data["in:x"]})
    (want,) = (data[key] for key in data if key.startswith("tf:"))
    np.testing.assert_allclose(values, want, **row["tolerance"]["tf"])

    written = saver.save(session, tmp_path / row["checkpoint_prefix"])
    assert written == str(tmp_path / row["checkpoint_prefix"])
    recorded = [
        name for name in row["ckpt_files"] if name.startswith(f"{row['checkpoint_prefix']}.")
    ]
    for name in recorded:
        if not name.endswith(".meta"):
            assert (tmp_path / name).read_bytes() == (folder / name).read_bytes(), name
    assert set(names(tmp_path)) == {"checkpoint", *recorded}
    with tf.Graph().as_default(), tf.Session() as other:
        tf.train.import_meta_graph(f"{written}.meta").restore(other, written)
        again = other.run(row["outputs"][0]["tensor"], {row["inputs"][0]["tensor"]: data["in:x"]})
        assert np.array_equal(again, values)


@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize("sharded", [False, True])
def test_save_and_restore(tmp_path, session, use_resource, sharded):
    with tf.device("/cpu:1"):
        a, b = two_variables(session, use_resource)
    c = tf.get_variable("c", initializer=np.array([[b"x", b"yz"]], object))
    session.run(c.initializer)
    saver = tf.train.Saver(sharded=sharded)
    path = saver.save(session, tmp_path / "model", global_step=7)
    assert path == str(tmp_path / "model-7")
    session.run([a.assign([0.0, 0.0]), b.assign(0)])
    saver.restore(session, path)
    assert session.run(a).tolist() == [1, 2]
    assert session.run(b) == 3
    assert session.run(c).tolist() == [[b"x", b"yz"]]
    with tf.Session() as other:
        with pytest.raises(FailedPreconditionError, match="uninitialized"):
            saver.save(other, tmp_path / "other")
        saver.restore(other, tf.train.latest_checkpoint(tmp_path))
        assert other.run(b) == 3


def test_names_in_the_checkpoint(tmp_path, session):
    a, b = two_variables(session)
    path = tf.train.Saver({"first": a}).save(session, tmp_path / "model")
    assert tf.train.list_variables(path) == [("first", [2])]
    reader = tf.train.load_checkpoint(tmp_path)
    assert reader.get_variable_to_dtype_map() == {"first": np.float32}
    assert reader.has_tensor("first")
    assert not reader.has_tensor("a")
    tf.train.Saver([b]).save(session, tmp_path / "b")
    assert tf.train.load_variable(tmp_path, "b:0") == 3


def test_operations_are_tensorflows(session):
    two_variables(session)
    definition = tf.train.Saver().as_saver_def()
    assert definition.filename_tensor_name == "save/Const:0"
    assert definition.save_tensor_name == "save/control_dependency:0"
    assert definition.restore_op_name == "save/restore_all"
    assert {"save/SaveV2", "save/RestoreV2", "save/Assign", "save/Assign_1", "save/filename"} <= {
        op.name for op in session.graph.get_operations()
    }


def test_max_to_keep(tmp_path, session):
    two_variables(session)
    saver = tf.train.Saver(max_to_keep=2)
    for step in range(4):
        saver.save(session, tmp_path / "m", step)
    assert saver.last_checkpoints == [str(tmp_path / "m-2"), str(tmp_path / "m-3")]
    assert {name.split(".")[0] for name in names(tmp_path)} == {"checkpoint", "m-2", "m-3"}
    state = tf.train.get_checkpoint_state(tmp_path)
    assert list(state.all_model_checkpoint_paths) == saver.last_checkpoints
    after = tf.train.Saver(max_to_keep=2)
    after.recover_last_checkpoints(list(state.all_model_checkpoint_paths))
    after.save(session, tmp_path / "m", 4)
    assert {name.split(".")[0] for name in names(tmp_path)} == {"checkpoint", "m-3", "m-4"}
    everything = tf.train.Saver(max_to_keep=0)
    for step in (5, 6):
        everything.save(session, tmp_path / "m", step)
    assert everything.last_checkpoints == []
    assert {"m-3.index", "m-4.index", "m-5.index", "m-6.index"} <= set(names(tmp_path))
    state = tf.train.get_checkpoint_state(tmp_path)
    assert list(state.all_model_checkpoint_paths) == [str(tmp_path / "m-6")]


def test_some_are_kept_for_good(tmp_path, session):
    two_variables(session)
    saver = tf.train.Saver(max_to_keep=1, keep_checkpoint_every_n_hours=0.0)
    for step in range(3):
        saver.save(session, tmp_path / "m", step)
    assert {"m-0.index", "m-1.index", "m-2.index"} <= set(names(tmp_path))


def test_relative_paths_and_padding(tmp_path, session):
    two_variables(session)
    saver = tf.train.Saver(save_relative_paths=True, pad_step_number=True)
    saver.save(session, tmp_path / "m", 12, write_meta_graph=False)
    assert 'model_checkpoint_path: "m-00000012"' in (tmp_path / "checkpoint").read_text()
    assert tf.train.latest_checkpoint(tmp_path) == str(tmp_path / "m-00000012")
    assert not (tmp_path / "m-00000012.meta").exists()
    saver.save(session, tmp_path / "n", write_state=False, latest_filename="other")
    assert not (tmp_path / "other").exists()


def test_reshape_and_sequence(tmp_path, session):
    two_variables(session)
    path = tf.train.Saver().save(session, tmp_path / "m")
    with tf.Graph().as_default(), tf.Session() as other:
        a = tf.get_variable("a", [1, 2])
        with pytest.raises(InvalidArgumentError, match="Restoring from checkpoint failed"):
            tf.train.Saver().restore(other, path)
        tf.train.Saver(reshape=True, restore_sequentially=True).restore(other, path)
        assert other.run(a).tolist() == [[1, 2]]


def test_errors(tmp_path, session):
    with pytest.raises(ValueError, match="No variables to save"):
        tf.train.Saver()
    empty = tf.train.Saver(allow_empty=True)
    tf.constant(1)
    assert empty.save(session, tmp_path / "none") is None
    empty.restore(session, None)
    a, b = two_variables(session)
    saver = tf.train.Saver()
    with pytest.raises(TypeError, match="'sess' must be a Session"):
        saver.save(None, tmp_path / "m")
    with pytest.raises(ValueError, match=r"Parent directory of .* doesn't exist, can't save"):
        saver.save(session, tmp_path / "no" / "m")
    with pytest.raises(ValueError, match="must not contain path components"):
        saver.save(session, tmp_path / "m", latest_filename="x/y")
    with pytest.raises(ValueError, match="'latest_filename' collides with 'save_path'"):
        saver.save(session, tmp_path / "checkpoint")
    with pytest.raises(ValueError, match="Can't load save_path when it is None"):
        saver.restore(session, None)
    with pytest.raises(ValueError, match="The passed save_path is not a valid checkpoint: /x/y"):
        saver.restore(session, "/x/y")
    with pytest.raises(ValueError, match="At least two variables have the same name: a"):
        tf.train.Saver([a, a])
    with pytest.raises(ValueError, match="same saveable will be restored with two names: y"):
        tf.train.Saver({"x": a, "y": a})
    with pytest.raises(TypeError, match="Variable to save is not a Variable"):
        tf.train.Saver([tf.constant(1)])
    with pytest.raises(TypeError, match="should be passed in a dict or a list"):
        tf.train.Saver("a")
    later = tf.train.Saver(defer_build=True)
    with pytest.raises(RuntimeError, match="`build\\(\\)` should be called before save"):
        later.save(session, tmp_path / "m")
    later.build()
    path = later.save(session, tmp_path / "m")
    tf.get_variable("c", initializer=1.0)
    with pytest.raises(
        NotFoundError, match=r"graph key that is missing(.|\n)*Key c not found in checkpoint"
    ):
        tf.train.Saver().restore(session, path)
    with pytest.raises(InvalidArgumentError, match="expected dtype float32"):
        tf.train.Saver({"b": a}).restore(session, path)
    data = tmp_path / "m.data-00000-of-00001"
    data.write_bytes(data.read_bytes()[:-1] + b"\xff")
    with pytest.raises(DataLossError, match="wrong checksum"):
        saver.restore(session, path)
    assert session.run(b) == 3


def test_state_files(tmp_path):
    assert tf.train.latest_checkpoint(tmp_path) is None
    assert tf.train.get_checkpoint_state(tmp_path / "none") is None
    state = tmp_path / "checkpoint"
    state.write_text('model_checkpoint_path: "gone"\n')
    assert tf.train.latest_checkpoint(tmp_path) is None
    state.write_text("nonsense {")
    assert tf.train.get_checkpoint_state(tmp_path) is None
    state.write_text('all_model_checkpoint_paths: "x"\n')
    with pytest.raises(ValueError, match="Invalid checkpoint state loaded from"):
        tf.train.latest_checkpoint(tmp_path)
    state.write_text('model_checkpoint_path: "../../etc/x"\n')
    with pytest.raises(ValueError, match="outside of the folder"):
        tf.train.latest_checkpoint(tmp_path)
    message = tf.train.generate_checkpoint_state_proto("d", "d/m-2", ["d/m-1"])
    assert list(message.all_model_checkpoint_paths) == ["m-1", "m-2"]
    with pytest.raises(ValueError, match="must match checkpoint paths"):
        tf.train.generate_checkpoint_state_proto("d", "d/m-2", ["d/m-2"], [1.0, 2.0])
    with pytest.raises(RuntimeError, match="conflicts with path used for checkpoint state"):
        tf.train.update_checkpoint_state(tmp_path, tmp_path / "checkpoint")


class Stop(BaseException):
    """The process ends here."""


class Faults:
    """Lets the n-th call that changes a folder fail; after `Stop` nothing is done any more."""

    CALLS = ("open", "fsync", "replace", "unlink")

    def __init__(self, monkeypatch, error):
        self.left, self.error, self.stopped = None, error, False
        for name in self.CALLS:
            monkeypatch.setattr(os, name, self.watched(getattr(os, name)))

    def watched(self, call):
        def wrapper(*args, **kwargs):
            if self.left is not None:
                if self.stopped:
                    raise self.error
                self.left -= 1
                if self.left < 0:
                    self.stopped = isinstance(self.error, Stop)
                    self.left = None if not self.stopped else 0
                    raise self.error
            return call(*args, **kwargs)

        return wrapper

    def arm(self, n):
        self.left, self.stopped = n, False

    def disarm(self):
        self.left, self.stopped = None, False


def latest_value(folder):
    """The value in the folder's latest checkpoint, whose graph and tensors must all be whole."""
    path = tf.train.latest_checkpoint(folder)
    with tf.Graph().as_default(), tf.Session() as other:
        saver = tf.train.import_meta_graph(f"{path}.meta")
        saver.restore(other, path)
        first, second = other.run([v.as_graph_element() for v in tf.global_variables()])
    assert first == second
    return int(first)


@pytest.mark.parametrize("same_name", [False, True])
def test_stopped_at_any_moment(tmp_path, session, monkeypatch, same_name):
    a, b = tf.get_variable("a", initializer=0), tf.get_variable("b", initializer=0)
    value = tf.placeholder(tf.int32, [])
    assign = tf.group(a.assign(value), b.assign(value))
    saver = tf.train.Saver(max_to_keep=2)

    def save(number):
        session.run(assign, {value: number})
        saver.save(session, tmp_path / "m", None if same_name else number)

    save(0)
    save(1)
    faults, done, number = Faults(monkeypatch, Stop()), False, 1
    last = 1
    for n in range(200):
        number += 1
        faults.arm(n)
        try:
            save(number)
            done = True
        except Stop:
            pass
        faults.disarm()
        actual = latest_value(tmp_path)
        assert actual in (last, number)
        last = actual
        if done:
            break
    assert done
    assert n > 10
    save(number + 1)
    save(number + 2)
    assert not [name for name in names(tmp_path) if name.endswith(".tmp")]


def test_full_disk(tmp_path, session, monkeypatch):
    a, _ = two_variables(session)
    saver = tf.train.Saver()
    path = saver.save(session, tmp_path / "m")
    before = {item.name: item.read_bytes() for item in tmp_path.iterdir()}
    session.run(a.assign([5.0, 6.0]))
    faults = Faults(monkeypatch, OSError(28, "No space left on device"))
    faults.arm(1)
    with pytest.raises(ResourceExhaustedError, match=r"'.*m': No space left on device, \d+ bytes"):
        saver.save(session, tmp_path / "m")
    faults.disarm()
    assert {item.name: item.read_bytes() for item in tmp_path.iterdir()} == before
    saver.restore(session, path)
    assert session.run(a).tolist() == [1, 2]


def test_no_permission(tmp_path, session, monkeypatch):
    two_variables(session)
    saver = tf.train.Saver()
    faults = Faults(monkeypatch, PermissionError(13, "Permission denied"))
    faults.arm(1)
    with pytest.raises(PermissionError):
        saver.save(session, tmp_path / "m")
    faults.disarm()
    assert names(tmp_path) == []


def test_leftovers_of_others_stay(tmp_path):
    target = tmp_path / "m.index"
    temporary, descriptor = files._open_temporary(target)
    files.remove_leftovers(target)
    assert temporary.exists()
    os.close(descriptor)
    files.remove_leftovers(target)
    assert not temporary.exists()


@pytest.mark.parametrize("kills", [14, pytest.param(1000, marks=pytest.mark.slow)])
def test_killed_at_random_moments(kills):
    script = Path(__file__).with_name("kill_while_saving.py")
    command = [sys.executable, script, "--kills", str(kills)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=3600)
    assert done.returncode == 0, done.stderr
    counts = dict(line.split(": ") for line in done.stdout.splitlines() if ": " in line)
    ways = {way: int(count) for way, count in counts.items() if not way.endswith("unfinished")}
    assert len(ways) == 7
    assert min(ways.values()) >= kills // 7
    assert any(int(count) for way, count in counts.items() if way.endswith("unfinished"))


def run_save(session, prefix, rows):
    """Saves (name, slice specification, array) rows by the operation itself."""
    names, specs = (np.array([row[i].encode("latin-1") for row in rows], object) for i in (0, 1))
    path = np.array(str(prefix).encode(), object)
    session.run(ops.SaveV2(path, names, specs, [tf.constant(row[2]) for row in rows]))


def test_slices_are_saved_as_tensorflow_does(tmp_path, session):
    shards = [[], [], []]
    for key, specs in BUNDLES["SLICES"].items():
        for i, spec in enumerate(specs):
            array = BUNDLES["sliced"]()[key][BUNDLES["cut"](spec)]
            shards[i % 3].append((key, spec, array))
    for i, shard in enumerate(shards):
        run_save(session, tmp_path / f"part{i}", shard)
    prefixes = np.array([str(tmp_path / f"part{i}").encode() for i in range(3)], object)
    merged = np.array(str(tmp_path / "sliced").encode(), object)
    session.run(ops.MergeV2Checkpoints(prefixes, merged, delete_old_dirs=True))
    written = [name for name in names(tmp_path) if name.startswith("sliced.")]
    assert len(written) == 4
    for name in written:
        assert (tmp_path / name).read_bytes() == (BUNDLES["HERE"] / name).read_bytes(), name


def test_slices_of_several_sizes(tmp_path, session):
    array = np.arange(24, dtype=np.float32).reshape(6, 4)
    cuts = {"6 4 0,2:-": array[:2], "6 4 2,4:0,3": array[2:, :3], "6 4 2,4:3,1": array[2:, 3:]}
    run_save(session, tmp_path / "m", [("w", spec, part) for spec, part in cuts.items()])
    assert tf.train.list_variables(tmp_path / "m") == [("w", [6, 4])]
    np.testing.assert_array_equal(tf.train.load_variable(tmp_path / "m", "w"), array)
    name, path = np.array([b"w"], object), np.array(str(tmp_path / "m").encode(), object)
    for spec, part in {"6 4 1,3:-": array[1:4], "6 4 0,6:1,3": array[:, 1:], **cuts}.items():
        texts = np.array([spec.encode()], object)
        actual = ops.RestoreV2(path, name, texts, dtypes=[np.dtype(np.float32)])
        np.testing.assert_array_equal(session.run(actual), [part])
    with pytest.raises(InvalidArgumentError, match=r"Slice in shape_and_slice specification"):
        run_save(session, tmp_path / "n", [("w", "6 4 0,2:-", array)])
    with pytest.raises(InvalidArgumentError, match="tensor_names must differ"):
        run_save(session, tmp_path / "n", [("w", "", array), ("w", "", array)])


@pytest.mark.parametrize(("parts", "source"), [(2, 2), (3, 3), (2, 3), (3, 2)])
def test_partitioned_variables_of_tensorflow(parts, source, tmp_path, session):
    """A graph with a variable in `parts` goes on from a checkpoint that has it in others."""
    folder = Path(__file__).with_name("partitioned")
    recorded = np.load(folder / "recorded.npz")
    saver = tf.train.import_meta_graph(str(folder / f"in{parts}.meta"))
    saver.restore(session, folder / f"in{source}")
    sizes = [v.shape[0] for v in tf.global_variables() if not v.op.name.endswith("Momentum")]
    assert len(sizes) == parts
    path = saver.save(session, tmp_path / "m")
    for name in ("w", "w/Momentum"):
        np.testing.assert_array_equal(
            tf.train.load_variable(path, name), recorded[f"{source}:{name}"]
        )
    if parts == source:
        for suffix in ("index", "data-00000-of-00001"):
            written = (tmp_path / f"m.{suffix}").read_bytes()
            assert written == (folder / f"in{parts}.{suffix}").read_bytes()
    session.run("train", {"x:0": recorded["x"]})
    loss = session.run("loss:0", {"x:0": recorded["x"]})
    np.testing.assert_allclose(loss, recorded[f"{source}:loss"], rtol=1e-5)


@pytest.mark.parametrize("parts", [2, 3])
def test_partitioned_variables(parts, tmp_path, session):
    """A variable in parts is trained, saved and restored as TensorFlow does it, to the byte."""
    x, loss = make_partitioned.build(tf, parts)
    session.run(tf.global_variables_initializer())
    for _ in range(parts):
        session.run("train", {x: make_partitioned.X})
    saver = tf.train.Saver()
    path = saver.save(session, tmp_path / "m")
    recorded = np.load(make_partitioned.FOLDER / "recorded.npz")
    for name, shape in tf.train.list_variables(path):
        assert shape == [6, 4]
        np.testing.assert_allclose(
            tf.train.load_variable(path, name), recorded[f"{parts}:{name}"], rtol=2e-6
        )
    written = (tmp_path / "m.index").stat().st_size
    assert written == (make_partitioned.FOLDER / f"in{parts}.index").stat().st_size
    saver.restore(session, make_partitioned.FOLDER / f"in{5 - parts}")  # in other parts
    session.run("train", {x: make_partitioned.X})
    values = session.run(loss, {x: make_partitioned.X})
    np.testing.assert_allclose(values, recorded[f"{5 - parts}:loss"], rtol=1e-5)


def test_what_a_saver_does_not_take(session):
    two_variables(session)
    with pytest.raises(ValueError, match="builder must be None"):
        tf.train.Saver(builder=object())
    with pytest.raises(ValueError, match="write_version must be 1 or 2, got 3"):
        tf.train.Saver(write_version=3)
