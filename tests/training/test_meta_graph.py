"""MetaGraphDef: graphs, collections and savers written and read again."""

import json
from pathlib import Path

import numpy as np
import pytest
from meta_graph_programs import exports, imported, network

import flatlite.compat.v1 as tf

RECORDED = json.loads(Path(__file__).with_name("meta_graph_programs.json").read_text())


def build(use_resource=False):
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    w = tf.get_variable("w", initializer=[[1.0], [2.0]], use_resource=use_resource)
    y = tf.matmul(x, w, name="y")
    step = tf.train.get_or_create_global_step()
    train = tf.train.MomentumOptimizer(0.1, 0.9).minimize(tf.reduce_sum(y), global_step=step)
    for item in (y, train, "text", 7, 1.5):
        tf.add_to_collection(f"some {type(item).__name__}", item)
    tf.add_to_collection("not written", object())


@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize("as_text", [False, True])
def test_round_trip(tmp_path, session, use_resource, as_text):
    build(use_resource)
    saver = tf.train.Saver(max_to_keep=3)
    session.run(tf.global_variables_initializer())
    path = saver.save(session, tmp_path / "m", write_meta_graph=False)
    meta = tmp_path / "graph"
    saver.export_meta_graph(meta, as_text=as_text)
    names = [op.name for op in session.graph.get_operations()]
    assert (meta.read_bytes()[:15] == b"meta_info_def {") == as_text
    with tf.Graph().as_default() as graph, tf.Session() as other:
        again = tf.train.import_meta_graph(meta)
        assert sorted(op.name for op in graph.get_operations()) == sorted(names)
        assert again.as_saver_def() == saver.as_saver_def()
        again.restore(other, path)
        assert tf.get_collection("some Tensor") == [graph.get_tensor_by_name("y:0")]
        assert tf.get_collection("some int") == [7]
        assert tf.get_collection("some float") == [1.5]
        assert tf.get_collection("not written") == []
        (w,) = tf.trainable_variables()
        assert (w.op.type == "VarHandleOp") == use_resource
        assert w in tf.global_variables()
        assert tf.train.get_global_step().name == "global_step:0"
        (train,) = tf.get_collection(tf.GraphKeys.TRAIN_OP)
        other.run(train, {"x:0": [[1.0, 2.0]]})
        np.testing.assert_allclose(other.run(w), [[0.9], [1.8]])
        assert other.run(tf.train.get_global_step()) == 1
        other.run(w.initializer)
        assert other.run(w).tolist() == [[1], [2]]


def test_within_a_scope(tmp_path, session):
    build()
    saver = tf.train.Saver()
    session.run(tf.global_variables_initializer())
    path = saver.save(session, tmp_path / "m")
    with tf.Graph().as_default() as graph, tf.Session() as other:
        for scope in ("a", "b"):
            again = tf.train.import_meta_graph(f"{path}.meta", import_scope=scope)
            again.restore(other, path)
        assert [v.name for v in tf.trainable_variables()] == ["a/w:0", "b/w:0"]
        assert other.run("b/y:0", {"b/x:0": [[1.0, 1.0]]}).tolist() == [[3]]
        assert graph.get_operation_by_name("b/w/read").attrs["_class"] == [b"loc:@b/w"]
        again = tf.train.import_meta_graph(f"{path}.meta", import_scope="a")
        again.restore(other, path)
        assert other.run("a_1/y:0", {"a_1/x:0": [[1.0, 1.0]]}).tolist() == [[3]]


def test_message_without_saver(session):
    build()
    message = tf.train.export_meta_graph(collection_list=["variables"], clear_devices=True)
    assert list(message.collection_def) == ["variables"]
    with tf.Graph().as_default():
        saver = tf.train.import_meta_graph(message, max_to_keep=1)
        assert saver.as_saver_def().max_to_keep == 1
    with tf.Graph().as_default():
        tf.constant(1)
        message = tf.train.export_meta_graph()
    with tf.Graph().as_default():
        assert tf.train.import_meta_graph(message) is None


def test_who_wrote_it(session):
    """The version and the signatures of the operations, in branches as well."""
    x = tf.placeholder(tf.float32, [], "x")
    tf.cond(x > 0, lambda: tf.exp(x), lambda: tf.sin(x))
    about = tf.train.export_meta_graph().meta_info_def
    assert about.tensorflow_version == tf.VERSION == "2.21.0"
    listed = {op.name: op for op in about.stripped_op_list.op}
    assert list(listed) == sorted(listed)
    assert {"Const", "Exp", "Greater", "Placeholder", "Sin"} <= set(listed)
    assert [attr.name for attr in listed["Placeholder"].attr] == ["dtype", "shape"]
    mine = type(about)(meta_graph_version="of mine")
    mine.stripped_op_list.op.add(name="Mine")
    again = tf.train.export_meta_graph(meta_info_def=mine).meta_info_def
    assert again.meta_graph_version == "of mine"
    assert [op.name for op in again.stripped_op_list.op] == ["Mine"]


def test_default_attributes_are_left_out(session):
    build()
    plain, short = (
        tf.train.export_meta_graph(strip_default_attrs=strip) for strip in (False, True)
    )
    assert "transpose_a" in next(n for n in plain.graph_def.node if n.name == "y").attr
    assert "transpose_a" not in next(n for n in short.graph_def.node if n.name == "y").attr
    assert short.meta_info_def.stripped_default_attrs
    with tf.Graph().as_default():
        tf.train.import_meta_graph(short)


def test_bad_files(tmp_path, session):
    with pytest.raises(OSError, match=r"File does not exist\. Received: .*none"):
        tf.train.import_meta_graph(tmp_path / "none")
    (tmp_path / "bad").write_bytes(b"\xff\xfe nonsense")
    with pytest.raises(OSError, match="Cannot parse file"):
        tf.train.import_meta_graph(tmp_path / "bad")


@pytest.mark.parametrize("name", RECORDED["exports"])
def test_scopes_as_tensorflow_exports_them(name):
    ours, theirs = exports(tf)[name], RECORDED["exports"][name]
    assert ours["nodes"].keys() == theirs["nodes"].keys()
    for node, (op, inputs, places) in theirs["nodes"].items():
        assert ours["nodes"][node][:2] == [op, inputs], node
        assert set(ours["nodes"][node][2]) <= set(places), node
    assert ours["collections"] == theirs["collections"]
    if name != "saver within":  # there TensorFlow names operations that the part does not have
        assert ours["saver"] == theirs["saver"]


def test_scopes_as_tensorflow_imports_them():
    assert json.loads(json.dumps(imported(tf))) == RECORDED["imported"]


def test_a_saver_within_a_scope(tmp_path, session):
    network(tf, use_resource=True)
    with tf.name_scope("two/"):
        saver = tf.train.Saver(tf.get_collection("variables", "two"))
    assert tf.train.Saver().to_proto("two") is None
    message = saver.export_meta_graph(export_scope="two")
    session.run(tf.global_variables_initializer())
    path = saver.save(session, tmp_path / "m")
    with tf.Graph().as_default(), tf.Session() as other:
        inputs = {"$unbound_inputs_one/parts": [[1.0]], "$unbound_inputs_one/parts:1": [[2.0]]}
        again = tf.train.import_meta_graph(
            message,
            import_scope="new",
            input_map=inputs,
            restore_collections_predicate=lambda key: key == "variables",
        )
        again.restore(other, path.replace("two/", ""))
        assert other.run("new/y:0").tolist() == [[12, 22]]
        assert tf.trainable_variables() == []


def test_unknown_names_of_an_input_map(session):
    tf.identity(tf.constant(1.0, name="c"), name="d")
    message = tf.get_default_graph().as_graph_def()
    missing = pytest.raises(ValueError, match=r"not found in graph_def: \[none:0\]")
    with tf.Graph().as_default(), missing:
        tf.import_graph_def(message, {"none": 1.0})
    del message.node[0]
    with tf.Graph().as_default() as graph, tf.Session() as other:
        tf.import_graph_def(message, {"c": tf.constant(3.0)}, name="")
        assert other.run("d:0") == 3
        assert "Placeholder" not in {op.type for op in graph.get_operations()}
