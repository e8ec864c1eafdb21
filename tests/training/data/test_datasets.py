"""`tf.data` against TensorFlow's own answers (make_datasets.py)."""

import base64
import collections
import json
import os
from pathlib import Path

import numpy as np
import pytest

import flatlite.compat.v1 as tf
from flatlite.schema.tensorflow.bundle import open_bundle
from flatlite.training.data import spec_files

from . import dataset_programs as programs
from . import iterator_programs as iterators

RECORDED = json.loads(Path(__file__).with_name("datasets.json").read_text())
ITERATORS = json.loads(Path(__file__).with_name("iterators.json").read_text())
TEXTS = [text for group in programs.GROUPS for text in programs.expressions(group)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = str(tmp_path_factory.mktemp("files"))
    programs.write_files(path, tf)
    return path


def test_every_expression_is_recorded():
    assert sorted(RECORDED) == sorted(TEXTS)


@pytest.mark.parametrize("text", TEXTS)
def test_dataset(folder, text):
    actual = json.loads(json.dumps(programs.outcome(tf, text, folder)))
    assert actual == RECORDED[text]


@pytest.mark.parametrize("program", iterators.PROGRAMS, ids=lambda program: program.__name__)
def test_iterators(program):
    with tf.Graph().as_default():
        actual = json.loads(json.dumps(program(tf)))
    assert actual == ITERATORS[program.__name__]


def test_cached_files(tmp_path):
    """Files as TensorFlow's have the elements for whoever comes later; a part of them is none."""
    path = str(tmp_path / "cache")
    with tf.Graph().as_default(), tf.Session() as session:
        numbers = tf.data.Dataset.range(11).map(lambda x: (x, tf.fill([2], "t")))
        element = tf.data.make_one_shot_iterator(numbers.cache(path)).get_next()
        for _ in range(11):
            session.run(element)
        assert os.listdir(tmp_path) == []
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(element)
    keys = [*open_bundle(path)]
    assert keys[:3] == ["      0_0", "      0_1", "      1_0"]  # as TensorFlow names them
    assert keys[-1] == "     10_1"
    with tf.Graph().as_default(), tf.Session() as session:
        others = tf.data.Dataset.from_tensors((np.int64(5), ["a", "b"]))
        element = tf.data.make_one_shot_iterator(others.cache(path)).get_next()
        assert [session.run(element)[0] for _ in range(11)] == [*range(11)]
        single = tf.data.Dataset.range(3).cache(path)
        with pytest.raises(tf.errors.InvalidArgumentError, match="are no cache of elements with 1"):
            session.run(tf.data.make_one_shot_iterator(single).get_next())


SAVED = {
    "snapshot.metadata": "EhM0NDM1MTExMTk0MTI1MjI2NTY5GKnPk/XkqpgDIAIqAgkHMAfAPgE=",
    "4435111194125226569/00000000.shard/00000000.snapshot": (
        "DgAAAAAAAADF5Wk/CAkSACIIAAAAAAAAAACIK5XqCAAAAAAAAAD/hiQPCAcSACICATAMg07oDgAAAAAAAADF5Wk/"
        "CAkSACIIAQAAAAAAAACgvd9UCAAAAAAAAAD/hiQPCAcSACICATG7Z0/m"
    ),
}
"""The files of two elements that TensorFlow's `Dataset.save` wrote."""


def test_saved_files(tmp_path):
    """TensorFlow's files are read, and the records of ours are told from spoilt ones."""
    for name, content in SAVED.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(base64.b64decode(content))
    spec = (tf.TensorSpec([], tf.int64), tf.TensorSpec([], tf.string))
    with tf.Graph().as_default(), tf.Session() as session:
        load = tf.data.Dataset.load(str(tmp_path), spec)
        element = tf.data.make_one_shot_iterator(load).get_next()
        assert [session.run(element) for _ in range(2)] == [(0, b"0"), (1, b"1")]
        with pytest.raises(tf.errors.NotFoundError, match="element_spec file not found"):
            tf.data.Dataset.load(str(tmp_path))
        with pytest.raises(tf.errors.UnimplementedError, match="take GZIP, or no compression"):
            session.run(load.save(str(tmp_path / "other"), "SNAPPY"))
        with pytest.raises(TypeError, match=r"must return a `tf.int64` scalar tensor"):
            load.save(str(tmp_path / "other"), shard_func=lambda x, text: text)


Pair = collections.namedtuple("Pair", "x y")
DENSE = {"b": tf.TensorSpec([], tf.int32), "a": tf.TensorSpec([2], tf.float32)}
SPECS = [
    (
        (DENSE, tf.SparseTensorSpec([3], tf.int32), tf.TensorSpec([], tf.string)),
        (
            "ogNcCiOqAyAKEAoBYRILigIIEgQSAggCGAEKDAoBYhIHigIEEgAYAwoskgIpCAESEaIDDgoH+gEEEgII"
            "AwoDgAIDGhBTcGFyc2VUZW5zb3JTcGVjIAMKB4oCBBIAGAc="
        ),
    ),
    (
        tf.RaggedTensorSpec([2, None], tf.int32, 1, tf.int32),
        "kgI/CAMSJ6IDJAoU+gEREgIIAhILCP///////////wEKA4ACAwoCYAIKA4ACAxoQUmFnZ2VkVGVuc29yU3BlYyAC",
    ),
    (
        tf.data.DatasetSpec((tf.TensorSpec([], tf.int64),)),
        "kgIpCAUSFqIDEwoMogMJCgeKAgQSABgJCgP6AQAaC0RhdGFzZXRTcGVjIAE=",
    ),
    (
        Pair(tf.TensorSpec(None, tf.float32, "n"), tf.TensorSpec([None, 3], tf.bool)),
        "sgM4CgRQYWlyEhEKAXgSDIoCCQoBbhICGAEYARIdCgF5EhiKAhUSERILCP///////////wESAggDGAo=",
    ),
]
"""What is known of elements, and the file in which TensorFlow says it."""


@pytest.mark.parametrize(("spec", "content"), SPECS, ids=["nested", "ragged", "datasets", "named"])
def test_files_of_specs(tmp_path, spec, content):
    spec_files.write(str(tmp_path), spec)
    assert (tmp_path / "dataset_spec.pb").read_bytes() == base64.b64decode(content)
    assert spec_files.read(str(tmp_path)) == spec
    assert type(spec_files.read(str(tmp_path))).__name__ == type(spec).__name__


def test_loading_without_a_spec(tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        dataset = tf.data.Dataset.from_tensor_slices({"x": [1.5, 2.5], "y": ["a", "b"]})
        session.run(dataset.save(str(tmp_path)))
        element = tf.data.make_one_shot_iterator(tf.data.Dataset.load(str(tmp_path))).get_next()
        assert [session.run(element) for _ in range(2)] == [
            {"x": 1.5, "y": b"a"}, {"x": 2.5, "y": b"b"}
        ]  # fmt: skip


@pytest.mark.parametrize("pick", [lambda d: d.filter(lambda x: x > 5), lambda d: d.skip(1 << 40)])
def test_a_run_ends_that_waits_for_an_element_for_ever(pick):
    with tf.Graph().as_default(), tf.Session() as session:
        dataset = tf.data.Dataset.range(3)
        endless = tf.data.make_one_shot_iterator(pick(dataset.repeat())).get_next()
        other = tf.data.make_one_shot_iterator(dataset).get_next()
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(endless, options=tf.RunOptions(timeout_in_ms=100))
        assert session.run(other) == 0
