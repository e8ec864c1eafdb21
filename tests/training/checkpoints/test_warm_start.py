"""init_from_checkpoint, warm_start, write_graph: what TensorFlow recorded of the same programs."""

import json
from pathlib import Path

import numpy as np
import pytest
from warm_start_programs import PROGRAMS, VOCABULARIES, outcomes

import flatlite.compat.v1 as tf
from flatlite.errors import NotFoundError
from flatlite.schema import proto

FOLDER = Path(__file__).with_name("warm_start")
RECORDED = json.loads((FOLDER / "recorded.json").read_text())
OUTCOMES = {}
LEADING = 48


@pytest.mark.parametrize("name", PROGRAMS)
def test_recorded(name):
    if not OUTCOMES:
        OUTCOMES.update(json.loads(json.dumps(outcomes(tf, FOLDER))))
    ours, theirs = OUTCOMES[name], RECORDED[name]
    if isinstance(theirs, list):
        assert ours[0] == theirs[0]
        assert ours[1][:LEADING] == theirs[1][:LEADING]
    else:
        assert ours == theirs


def test_later_changes_of_the_checkpoint_are_read(tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.get_variable("v", initializer=[1.0])
        session.run(v.initializer)
        path = tf.train.Saver([v]).save(session, tmp_path / "m")
    with tf.Graph().as_default(), tf.Session() as session:
        w = tf.get_variable("w", initializer=[0.0])
        tf.train.init_from_checkpoint(tmp_path, {"v": w})
        w.load([8.0], session)
        assert session.run(w).tolist() == [8]
        tf.train.Saver({"v": w}).save(session, path)
        session.run(w.assign([5.0]))
        session.run(w.initializer)
        assert session.run(w).tolist() == [8]


def test_parts_of_another_shape():
    with tf.Graph().as_default():
        partitioner = tf.fixed_size_partitioner(2)
        whole = tf.get_variable("whole", [4, 3], partitioner=partitioner)
        with pytest.raises(ValueError, match=r"Shape of variable whole/part_0:0 \(\(4, 3\)\)"):
            tf.train.init_from_checkpoint(FOLDER / "source", {"embedding": whole})


def test_errors(tmp_path):
    with tf.Graph().as_default():
        v = tf.get_variable("v", initializer=np.zeros((4, 2), np.float32))
        with pytest.raises(NotFoundError, match="nothing"):
            tf.train.init_from_checkpoint(tmp_path / "nothing", {"v": v})
        with pytest.raises(ValueError, match="Couldn't find 'checkpoint' file or checkpoints"):
            tf.train.init_from_checkpoint(tmp_path, {"v": v})
        for name, text in {"twice": "a\na\n", "short": "a\n"}.items():
            (tmp_path / name).write_text(text)
        new, old = FOLDER / "new.txt", FOLDER / "old.txt"
        infos = {
            "no word twice": tf.train.VocabInfo(new, 4, 0, tmp_path / "twice"),
            "must have 4 lines, got 1": tf.train.VocabInfo(tmp_path / "short", 4, 0, old),
            "must have 5 lines, got 4": tf.train.VocabInfo(new, 4, 0, old, old_vocab_size=5),
            r"3 \+ 0 entries on axis 0": tf.train.VocabInfo(new, 3, 0, old),
            "Must provide all of": tf.train.VocabInfo(None, 4, 0, old),
        }
        for message, info in infos.items():
            with pytest.raises(ValueError, match=message):
                tf.train.warm_start(FOLDER / "source", ["v"], {"v": info}, {"v": "embedding"})
        info = tf.train.VocabInfo(new, 4, 0, old)
        with pytest.raises(ValueError, match=r"rank 2, as variable 'v:0', got shape \[2\]"):
            tf.train.warm_start(FOLDER / "source", ["v"], {"v": info}, {"v": "scope/a"})
    assert info._fields[:2] == ("new_vocab", "new_vocab_size")
    assert set(VOCABULARIES) == {"old.txt", "new.txt"}


@pytest.mark.parametrize("as_text", [False, True])
def test_write_graph(tmp_path, as_text):
    with tf.Graph().as_default() as graph:
        tf.add(tf.constant([1.0]), 2.0, name="sum")
    folder = tmp_path / "a" / "b"
    for source in (graph, graph.as_graph_def()):
        assert tf.train.write_graph(source, folder, "graph", as_text) == str(folder / "graph")
        content = (folder / "graph").read_bytes()
        parse = proto.parse_text if as_text else proto.parse
        message = parse("GraphDef", content)
        assert message == graph.as_graph_def()
    with tf.Graph().as_default(), tf.Session() as session:
        tf.import_graph_def(message, name="")
        assert session.run("sum:0").tolist() == [3]
