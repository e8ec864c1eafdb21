"""Event files: whole after a kill, readable while they grow, and shown by TensorBoard."""

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import flatlite.compat.v1 as tf
from flatlite.errors import DataLossError
from flatlite.schema import files

HERE = Path(__file__).parent


def events_of(folder) -> list:
    (path,) = Path(folder).glob("events*")
    return list(tf.train.summary_iterator(path))


def scalar(tag, value=1.0):
    return tf.Summary(value=[tf.Summary.Value(tag=tag, simple_value=value)])


def test_events(tmp_path):
    with tf.Graph().as_default() as graph:
        tf.placeholder(tf.float32, [None, 3], name="x")
    metadata = tf.RunMetadata()
    metadata.step_stats.dev_stats.add(device="here")
    with tf.summary.FileWriter(tmp_path, graph, filename_suffix=".mine") as writer:
        assert writer.get_logdir() == str(tmp_path)
        writer.add_summary(scalar("a"), 3)
        writer.add_summary(scalar("a", 2.0).SerializeToString())
        writer.add_session_log(tf.SessionLog(status=tf.SessionLog.START, msg="go"), 5)
        writer.add_run_metadata(metadata, "tag", 6)
        with pytest.raises(ValueError, match="The provided tag was already used"):
            writer.add_run_metadata(metadata, "tag", 7)
    (path,) = tmp_path.iterdir()
    assert re.fullmatch(r"events\.out\.tfevents\.\d{10}\..+\.mine", path.name)
    version, graph_event, meta, first, second, log, run = events_of(tmp_path)
    assert version.file_version == "brain.Event:2"
    node = tf.GraphDef.FromString(graph_event.graph_def).node[0]
    assert [dim.size for dim in node.attr["_output_shapes"].list.shape[0].dim] == [-1, 3]
    definition = tf.MetaGraphDef.FromString(meta.meta_graph_def).graph_def
    assert definition.SerializeToString(deterministic=True) == graph_event.graph_def
    assert (first.step, first.summary.value[0].simple_value) == (3, 1)
    assert (second.step, second.summary.value[0].simple_value) == (0, 2)
    assert (log.step, log.session_log.status, log.session_log.msg) == (5, 1, "go")
    assert tf.RunMetadata.FromString(run.tagged_run_metadata.run_metadata) == metadata


def test_metadata_is_written_once_for_a_tag(tmp_path):
    value = tf.Summary.Value(tag="t", simple_value=1)
    value.metadata.plugin_data.plugin_name = "text"
    summary = tf.Summary(value=[value])
    with tf.summary.FileWriter(tmp_path) as writer:
        writer.add_summary(summary)
        writer.add_summary(summary)
    _, first, second = events_of(tmp_path)
    assert first.summary.value[0].HasField("metadata")
    assert not second.summary.value[0].HasField("metadata")
    assert summary.value[0].HasField("metadata")


def test_closed_and_reopened(tmp_path):
    writer = tf.summary.FileWriter(tmp_path)
    writer.close()
    with pytest.warns(UserWarning, match="Attempting to use a closed FileWriter"):
        writer.add_summary(scalar("lost"))
    with pytest.warns(UserWarning, match="Attempting to use a closed FileWriter"):
        writer.flush()
    writer.reopen()
    writer.add_summary(scalar("kept"))
    writer.close()
    first, second = sorted(tmp_path.iterdir())
    tags = [
        [value.tag for event in tf.train.summary_iterator(path) for value in event.summary.value]
        for path in (first, second)
    ]
    assert tags == [[], ["kept"]]


def test_wrong_graphs(tmp_path):
    with pytest.raises(TypeError, match="The passed graph must be an instance of `Graph`"):
        tf.summary.FileWriter(tmp_path, "graph")
    with pytest.raises(ValueError, match="Please pass only graph, or graph_def"):
        tf.summary.FileWriter(tmp_path, tf.Graph(), graph_def=tf.GraphDef())
    with pytest.raises(TypeError, match="meta_graph_def must be type MetaGraphDef, saw type"):
        tf.summary.FileWriter(tmp_path).add_meta_graph(tf.GraphDef())


def test_writers_of_a_session_share_a_file(tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        for tag in "ab":
            tf.summary.FileWriter(tmp_path, session=session).add_summary(scalar(tag))
        with tf.Session() as other:
            tf.summary.FileWriter(tmp_path, session=other).add_summary(scalar("c"))
    tags = [
        [value.tag for event in tf.train.summary_iterator(path) for value in event.summary.value]
        for path in sorted(tmp_path.iterdir())
    ]
    assert tags == [["a", "b"], ["c"]]


def test_cache(tmp_path):
    cache = tf.summary.FileWriterCache
    assert tf.train.SummaryWriterCache is cache
    with tf.Graph().as_default():
        first = cache.get(str(tmp_path))
        assert cache.get(str(tmp_path)) is first
        cache.clear()
        assert cache.get(str(tmp_path)) is not first
        cache.clear()
    assert len(list(tmp_path.iterdir())) == 2


def test_reading_while_it_grows(tmp_path):
    writer = tf.summary.FileWriter(tmp_path)
    (path,) = tmp_path.iterdir()
    events = tf.train.summary_iterator(path)
    assert len(list(events)) == 1
    writer.add_summary(scalar("a"), 1)
    assert [event.step for event in events] == [1]
    with pytest.raises(StopIteration):
        next(events)
    with path.open("ab") as file:
        file.write(b"half a record")
    writer.add_summary(scalar("b"), 2)
    with pytest.raises(DataLossError, match="record at"):
        next(events)
    writer.close()


def test_every_event_outlives_a_kill(tmp_path):
    """What the program has added is there though it neither flushed nor closed."""
    program = [sys.executable, str(HERE / "event_program.py"), str(tmp_path), "kill"]
    assert subprocess.run(program, capture_output=True).returncode == -9
    events = events_of(tmp_path)
    assert [event.step for event in events if event.HasField("summary")] == [0, 1, 2]
    assert events[-1].tagged_run_metadata.tag == "run 2"


def test_a_failed_write_leaves_no_half_event(tmp_path, monkeypatch):
    """Neither a full disk nor an interruption damages the events before and after it."""
    writer = tf.summary.FileWriter(tmp_path)
    writer.add_summary(scalar("before"))

    def fails(file, data):
        file.write(bytes(data)[:11])
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(files, "_write", fails)
        with pytest.raises(OSError, match="No space left"):
            writer.add_summary(scalar("lost"))
    writer.add_summary(scalar("after"))
    writer.close()
    values = [value for event in events_of(tmp_path) for value in event.summary.value]
    assert [value.tag for value in values] == ["before", "after"]


@pytest.mark.skipif(
    importlib.util.find_spec("tensorboard") is None,
    reason="tensorboard, which the extra `test` brings, is not installed",
)
def test_tensorboard_reads_it(tmp_path):
    subprocess.run([sys.executable, str(HERE / "event_program.py"), str(tmp_path)], check=True)
    child = [sys.executable, "-W", "ignore", str(HERE / "tensorboard_child.py"), str(tmp_path)]
    read = json.loads(subprocess.run(child, capture_output=True, check=True).stdout)
    assert read.pop("tags") == {
        "audio": ["wave/audio"],
        "distributions": ["weights"],
        "graph": True,
        "histograms": ["weights"],
        "images": ["picture/image"],
        "meta_graph": True,
        "run_metadata": ["run 0", "run 1", "run 2"],
        "scalars": ["loss"],
        "tensors": ["note"],
    }
    assert read.pop("loss") == [[n, pytest.approx(2.718281828**-n)] for n in range(3)]
    assert read.pop("image")[:3] == [2, 32, 32]
    assert read.pop("histogram") == [pytest.approx(-3, abs=1e-3), pytest.approx(3), 4000, 4000]
    assert read == {
        "audio": [2, 4000, 4000, "audio/wav"],
        "notes": ["step 0", "step 1", "step 2"],
        "graph": ["step", "range/start", "range/limit"],
        "run": True,
        "note_plugin": "text",
    }
