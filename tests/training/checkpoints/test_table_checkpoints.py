"""Tables in checkpoints, against what TensorFlow wrote and read."""

import json
from pathlib import Path

import numpy as np
import pytest

import flatlite.compat.v1 as tf
from flatlite.schema.tensorflow.slice_table import open_checkpoint

from . import table_programs as programs

FOLDER = Path(__file__).with_name("table_checkpoints")
RECORDED = json.loads((FOLDER / "recorded.json").read_text())
NAMES = ("version_2", "version_1", "alone", "objects")


def agrees(name, contents):
    """Whether tables have what was saved; the one that `name` lacks is as it was."""
    saved = RECORDED["saved"]
    if name == "alone":
        return contents[0] == saved[0] and contents[2] == saved[2] and contents[3] == 0
    return contents == saved


@pytest.mark.parametrize("name", NAMES)
def test_restored(name):
    """What TensorFlow saved replaces what the tables had."""
    assert agrees(name, programs.restored(tf, name, FOLDER))


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    with tf.Graph().as_default(), tf.Session() as session:
        words, rows = programs.tables(tf)
        programs.fill(tf, session, words, rows)
        programs.save(tf, session, words, rows, folder)
        programs.disturb(tf, session, words, rows)
        assert programs.contents(tf, session, words, rows) == RECORDED["disturbed"]
    return folder


@pytest.mark.parametrize("name", NAMES)
def test_written(written, name):
    """The tensors and their names are those of TensorFlow's files; tables come back."""
    assert agrees(name, programs.restored(tf, name, written))
    mine, theirs = open_checkpoint(written / name), open_checkpoint(FOLDER / name)
    shapes = dict(tf.train.list_variables(FOLDER / name))
    assert dict(tf.train.list_variables(written / name)) == shapes
    for key in shapes.keys() - {"_CHECKPOINTABLE_OBJECT_GRAPH"}:
        values = mine.read(key), theirs.read(key)
        if "words" in key or key.startswith("-"):  # in the order of a hash there
            values = tuple(sorted(value.tolist()) for value in values)
        np.testing.assert_array_equal(*values, err_msg=key)


def test_operations():
    """Names, inputs and colocation of what saves and restores are TensorFlow's."""
    assert json.loads(json.dumps(programs.names_of_operations(tf))) == RECORDED["operations"]


def test_refusals():
    """One table under two names, as in TensorFlow; two under one, where that keeps just one."""
    assert programs.refusal(tf) == RECORDED["refusal"]
    with tf.Graph().as_default():
        programs.tables(tf)
        programs.tables(tf)
        with pytest.raises(ValueError, match="At least two variables have the same name: words"):
            tf.train.Saver()


def test_meta_graph(tmp_path):
    """A graph with tables is exported, imported and restored by the operations in it."""
    path = str(tmp_path / "model")
    with tf.Graph().as_default(), tf.Session() as session:
        words, rows = programs.tables(tf)
        programs.fill(tf, session, words, rows)
        name = words.size().name
        tf.train.Saver().save(session, path)
    with tf.Graph().as_default(), tf.Session() as session:
        tf.train.import_meta_graph(f"{path}.meta").restore(session, path)
        assert session.run(name) == 2
