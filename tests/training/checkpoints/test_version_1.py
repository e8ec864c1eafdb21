"""Checkpoints of version 1 that TensorFlow wrote: read, restored, removed; damaged ones refused."""

import runpy
import shutil
from pathlib import Path

import numpy as np
import pytest

import flatlite.compat.v1 as tf
from flatlite.errors import DataLossError, NotFoundError
from flatlite.schema import proto
from flatlite.schema.tensorflow.bundle import Slice, slice_key
from flatlite.schema.tensorflow.slice_table import open_checkpoint
from flatlite.schema.tensorflow.sstable import build_table, read_table

FOLDER = Path(__file__).with_name("version_1")
VALUES = runpy.run_path(str(Path(__file__).with_name("make_version_1.py")))["VALUES"]
PREFIXES = ["plain", "sharded", "sharded-?????-of-00001"]


@pytest.mark.parametrize("prefix", PREFIXES)
def test_values(prefix):
    path = FOLDER / prefix
    assert tf.train.checkpoint_exists(path)
    assert len(tf.train.get_checkpoint_mtimes([path])) == 1
    shapes = dict(tf.train.list_variables(path))
    assert shapes == {name: list(value.shape) for name, value in VALUES.items()}
    reader = tf.train.NewCheckpointReader(path)
    for name, value in VALUES.items():
        actual = reader.get_tensor(name)
        assert actual.dtype == value.dtype
        np.testing.assert_array_equal(actual, value)
    opened = open_checkpoint(path)
    part = opened.read_slice("cut", Slice((1, 2), (3, 2)))
    np.testing.assert_array_equal(part, VALUES["cut"][1:4, 2:])
    with pytest.raises(ValueError, match=r"must lie in its shape \(6, 4\)"):
        opened.read_slice("cut", Slice((5, 0), (2, 4)))
    with pytest.raises(NotFoundError, match="Key none not found in checkpoint"):
        opened.read("none")


@pytest.mark.parametrize("prefix", PREFIXES)
def test_restored(prefix):
    with tf.Graph().as_default(), tf.Session() as session:
        variables = {
            name: tf.get_variable(name, initializer=np.zeros_like(value))
            for name, value in VALUES.items()
            if name != "strings"
        }
        tf.train.Saver().restore(session, FOLDER / prefix)
        for name, variable in variables.items():
            np.testing.assert_array_equal(session.run(variable), VALUES[name])
        session.run(tf.global_variables_initializer())
        root = tf.train.Checkpoint(v=variables["float32"])
        root.restore(FOLDER / prefix).assert_consumed().run_restore_ops()
        np.testing.assert_array_equal(session.run(root.v), VALUES["float32"])


def test_removed(tmp_path):
    for name in ("plain", "sharded-00000-of-00001", "sharded.meta"):
        source = FOLDER / name
        shutil.copy(source if source.exists() else FOLDER / "plain", tmp_path / name)
    tf.train.remove_checkpoint(tmp_path / "sharded-?????-of-00001", 1)
    assert [path.name for path in tmp_path.iterdir()] == ["plain"]
    tf.train.remove_checkpoint(tmp_path / "plain", 1)
    assert not tf.train.checkpoint_exists(tmp_path / "plain")


def test_every_changed_byte_is_found(tmp_path):
    content = (FOLDER / "plain").read_bytes()
    for i in range(0, len(content), 7):
        changed = bytearray(content)
        changed[i] ^= 0x40
        (tmp_path / "m").write_bytes(changed)
        try:
            opened = open_checkpoint(tmp_path / "m")
        except DataLossError:
            continue
        for name, value in VALUES.items():  # a byte of the padding says nothing
            np.testing.assert_array_equal(opened.read(name), value)


def table(*tensors, data=()):
    """The bytes of a checkpoint with these SavedSliceMeta and SavedSlice messages."""
    meta = proto.SavedTensorSlices()
    meta.meta.tensor.extend(tensors)
    rows = [(b"", meta.SerializeToString())]
    for item in data:
        content = proto.SavedTensorSlices(data=item).SerializeToString()
        rows.append((slice_key(item.name, item.slice), content))
    return build_table(sorted(rows))


def tensor(size=2, dtype=1, **extent):
    meta = proto.SavedSliceMeta(name="a", type=dtype)
    meta.shape.dim.add(size=size)
    meta.slice.add().extent.add(**extent)
    return meta


ELEMENTS = proto.SavedSlice(
    name="a",
    slice=proto.TensorSliceProto(extent=[{}]),
    data=proto.TensorProto(float_val=[1, 2]),
)
DAMAGED = {
    "names no tensor": table(),
    "has no data for its slice": table(tensor()),
    "do not fill its shape": table(tensor(length=1), data=[ELEMENTS]),
    "a slice beyond its shape": table(tensor(start=1, length=2), data=[ELEMENTS]),
    "has 2 elements for its slice": table(tensor(size=3), data=[ELEMENTS]),
    "must have a known shape": table(tensor(size=-1), data=[ELEMENTS]),
    "has a slice twice": table(
        proto.SavedSliceMeta(
            name="a", type=1, shape=tensor(size=4).shape, slice=[tensor(length=2).slice[0]] * 2
        ),
        data=[ELEMENTS],
    ),
    "unknown type": table(tensor(dtype=77), data=[ELEMENTS]),
    "a type that version 1 cannot hold": table(tensor(dtype=22), data=[ELEMENTS]),
    "has a slice of 0 dimensions": table(
        proto.SavedSliceMeta(name="a", type=1, shape=tensor().shape, slice=[{}]), data=[ELEMENTS]
    ),
    "not a SavedTensorSlices": build_table([(b"", b"\xff")]),
}


def test_a_table_made_here(tmp_path):
    (tmp_path / "m").write_bytes(table(tensor(), data=[ELEMENTS]))
    assert tf.train.load_variable(tmp_path / "m", "a").tolist() == [1, 2]


@pytest.mark.parametrize("problem", DAMAGED)
def test_damage(problem, tmp_path):
    (tmp_path / "m").write_bytes(DAMAGED[problem])
    with pytest.raises(DataLossError, match=problem):
        tf.train.load_variable(tmp_path / "m", "a")


def test_no_checkpoint(tmp_path):
    start = "Unsuccessful TensorSliceReader constructor: Failed to find any matching files for"
    with pytest.raises(NotFoundError, match=f"{start} .*none"):
        tf.train.NewCheckpointReader(tmp_path / "none")
    assert (tf.train.SaverDef.V1, tf.train.SaverDef.V2) == (1, 2)


@pytest.mark.parametrize("prefix", ["plain", "sharded"])
def test_written(tmp_path, prefix):
    """What is written of the same variables has the entries of TensorFlow's file."""

    def initial(shape, dtype, partition_info):
        return tf.constant(VALUES["cut"][partition_info.var_offset[0] :][: shape[0]])

    with tf.Graph().as_default(), tf.Session() as session:
        for name, value in VALUES.items():
            if name != "cut":
                tf.get_variable(name, initializer=value)
        parts = tf.fixed_size_partitioner(3)
        tf.get_variable("cut", [6, 4], initializer=initial, partitioner=parts)
        session.run(tf.global_variables_initializer())
        saver = tf.train.Saver(write_version=1, sharded=prefix == "sharded")
        path = saver.save(session, tmp_path / prefix)
        for variable in tf.global_variables():
            session.run(variable.assign(tf.zeros_like(variable, optimize=False)))
        saver.restore(session, path)
        assert session.run("cut/part_1:0").tolist() == VALUES["cut"][2:4].tolist()
        assert tf.train.latest_checkpoint(tmp_path) == path
    written = [item.name for item in tmp_path.iterdir() if not item.name.endswith("meta")]
    (name,) = (name for name in written if name != "checkpoint")
    assert name == ("plain" if prefix == "plain" else "sharded-00000-of-00001")
    actual, recorded = (
        {key: proto.parse("SavedTensorSlices", value) for key, value in table.items()}
        for table in (
            read_table((folder / name).read_bytes(), name) for folder in (tmp_path, FOLDER)
        )
    )
    assert actual == recorded
