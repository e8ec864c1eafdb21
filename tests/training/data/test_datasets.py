"""`tf.data` against TensorFlow's own answers (make_datasets.py)."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

import flatlite.compat.v1 as tf
from flatlite.schema.tensorflow.bundle import open_bundle

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


@pytest.mark.parametrize("pick", [lambda d: d.filter(lambda x: x > 5), lambda d: d.skip(1 << 40)])
def test_a_run_ends_that_waits_for_an_element_for_ever(pick):
    with tf.Graph().as_default(), tf.Session() as session:
        dataset = tf.data.Dataset.range(3)
        endless = tf.data.make_one_shot_iterator(pick(dataset.repeat())).get_next()
        other = tf.data.make_one_shot_iterator(dataset).get_next()
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(endless, options=tf.RunOptions(timeout_in_ms=100))
        assert session.run(other) == 0
