"""SavedModels: TensorFlow's signatures and errors, its models loaded, ours loaded and converted."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from running import answers
from saved_model_programs import X, network, signatures, wrong_uses

import flatlite.compat.v1 as tf
from flatlite.errors import DataLossError
from flatlite.schema import proto

FOLDER = Path(__file__).with_name("saved_models")
RECORDED = json.loads((FOLDER / "recorded.json").read_text())
LEADING = 30


def test_signatures():
    printed = json.loads(json.dumps(signatures(tf)))
    for name, (first, second) in RECORDED["signatures"].items():
        ours, theirs = printed[name], [first, second]
        if first in ("ValueError", "TypeError"):
            assert ours[0] == first, name
            assert ours[1][:LEADING] == second[:LEADING], name
        else:
            assert ours == theirs, name


def test_wrong_uses(tmp_path):
    (tmp_path / "file").touch()
    actual = wrong_uses(tf, str(tmp_path))
    for name, (kind, text) in RECORDED["wrong uses"].items():
        ours, text_of_ours = actual[name]
        assert ours == kind or (kind, ours) == ("OSError", "FileNotFoundError"), name
        assert text_of_ours[:LEADING] == text[:LEADING], name


@pytest.mark.parametrize("scope", [None, "inner"])
def test_a_model_of_tensorflow(scope, session):
    meta = tf.saved_model.load(session, ["serve"], FOLDER / "tf1", import_scope=scope)
    prefix = f"{scope}/" if scope else ""
    signature = meta.signature_def["serving_default"]
    assert signature.inputs["in"].name == "x:0"
    values = session.run(f"{prefix}y:0", {f"{prefix}x:0": X})
    np.testing.assert_allclose(values, RECORDED["out"], rtol=1e-6)
    assert session.run(f"{prefix}net/local:0") == 7
    assert Path(session.run(f"{prefix}words:0").decode()).read_bytes() == b"a\nb\n"


@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize("as_text", [False, True])
def test_round_trip(tmp_path, session, use_resource, as_text):
    (tmp_path / "words.txt").write_bytes(b"a\n")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "words.txt").write_bytes(b"b\n")
    x, y, w, local = network(tf, use_resource)
    session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
    session.run(w.assign(w.read_value() + 1.0))
    paths = [tf.constant(str(tmp_path / name)) for name in ("words.txt", "other/words.txt")]
    builder = tf.saved_model.Builder(tmp_path / "new" / "model")
    signature = tf.saved_model.predict_signature_def({"in": x}, {"out": y})
    builder.add_meta_graph_and_variables(
        session,
        ["serve"],
        {"serving_default": signature},
        assets_collection=[*paths, paths[0]],
        main_op=tf.group(local.initializer),
    )
    with tf.Graph().as_default():
        network(tf, use_resource)
        builder.add_meta_graph(["train", "gpu"])
    written = builder.save(as_text)
    folder = tmp_path / "new" / "model"
    assert written == str(folder / f"saved_model.pb{'txt' if as_text else ''}").encode()
    assert (folder / "assets" / "words.txt").read_bytes() == b"a\n"
    assert (folder / "assets" / "words.txt_1").read_bytes() == b"b\n"
    want = session.run(y, {x: X})
    assert tf.saved_model.contains_saved_model(folder)
    assert not tf.saved_model.maybe_saved_model_directory(tmp_path)
    with tf.Graph().as_default(), tf.Session() as other:
        meta = tf.saved_model.load(other, {"serve"}, folder)
        assert meta.signature_def["serving_default"] == signature
        (info,) = meta.signature_def["serving_default"].outputs.values()
        tensor = tf.saved_model.get_tensor_from_tensor_info(info)
        assert other.run(tensor, {"x:0": X}).tolist() == want.tolist()
        assert other.run("net/local:0") == 7
    with tf.Graph().as_default(), tf.Session() as other:
        tf.saved_model.loader.load(other, ["gpu", "train"], folder)
        assert other.run("net/w:0").tolist() == session.run(w).tolist()
    converter = tf.lite.TFLiteConverter.from_saved_model(str(folder))
    outputs = answers(tf.lite.Interpreter(model_content=converter.convert()), X)
    np.testing.assert_allclose(outputs[0], want, rtol=1e-6)


def test_simple_save(tmp_path, session):
    x, y, _, _ = network(tf, True)
    session.run(tf.global_variables_initializer())
    with tf.device("/job:ps/task:1"):
        z = tf.identity(y, name="z")
    tf.saved_model.simple_save(session, tmp_path / "m", {"x": x}, {"y": y, "z": z})
    with tf.Graph().as_default(), tf.Session() as other:
        meta = tf.saved_model.load(other, ["serve"], tmp_path / "m")
        assert all(not node.device for node in meta.graph_def.node)
        signature = meta.signature_def["serving_default"]
        assert sorted(signature.outputs) == ["y", "z"]
        assert tf.saved_model.is_valid_signature(signature)
    converter = tf.lite.TFLiteConverter.from_saved_model(str(tmp_path / "m"))
    outputs = answers(tf.lite.Interpreter(model_content=converter.convert()), X)
    assert len(outputs) == 2
    with pytest.raises(AssertionError, match="already exists, and isn't empty"):
        tf.saved_model.simple_save(session, tmp_path / "m", {"x": x}, {"y": y})


def test_without_variables(tmp_path, session):
    x = tf.placeholder(tf.float32, [2], name="x")
    tf.saved_model.simple_save(session, tmp_path / "m", {"x": x}, {"y": 2.0 * x})
    assert not (tmp_path / "m" / "variables" / "variables.index").exists()
    with tf.Graph().as_default(), tf.Session() as other:
        tf.saved_model.load(other, ["serve"], tmp_path / "m")
        assert other.run("mul:0", {"x:0": [1, 2]}).tolist() == [2, 4]


def test_main_ops(tmp_path, session):
    v = tf.get_variable("v", initializer=[1.0])
    session.run(v.initializer)
    saver = tf.train.Saver()
    restore = tf.saved_model.main_op_with_restore(saver.as_saver_def().restore_op_name)
    main = tf.saved_model.main_op.main_op()
    session.run(v.assign([5.0]))
    session.run(main)
    assert session.run(v).tolist() == [1]
    path = saver.save(session, tmp_path / "m")
    session.run(v.assign([5.0]))
    session.run(restore, {saver.as_saver_def().filename_tensor_name: path})
    assert session.run(v).tolist() == [1]


def test_sparse_and_unknown_signatures(session):
    sparse = tf.sparse_placeholder(tf.float32, [2, 3], name="s")
    info = tf.saved_model.build_tensor_info(sparse)
    again = tf.saved_model.get_tensor_from_tensor_info(info)
    assert again.values is sparse.values
    assert again.dense_shape is sparse.dense_shape
    with pytest.raises(ValueError, match=r"Invalid TensorInfo\.encoding: None"):
        tf.saved_model.get_tensor_from_tensor_info(proto.TensorInfo())
    with pytest.raises(TypeError, match="must be of a Tensor, SparseTensor or Variable, got 3"):
        tf.saved_model.build_tensor_info(3)
    default = tf.constant([1.0, 2.0])
    signature = tf.saved_model.build_signature_def(defaults={"x": default})
    assert signature.defaults["x"].tensor_shape.dim[0].size == 2
    with pytest.raises(ValueError, match="Unable to convert object"):
        tf.saved_model.build_signature_def(defaults={"x": tf.placeholder(tf.float32)})


def test_a_damaged_model(tmp_path, session):
    folder = shutil.copytree(FOLDER / "tf1", tmp_path / "m")
    data = folder / "variables" / "variables.data-00000-of-00001"
    data.write_bytes(bytes(len(data.read_bytes())))
    with pytest.raises(DataLossError, match="wrong checksum"):
        tf.saved_model.load(session, ["serve"], folder)
    (folder / "saved_model.pb").write_bytes(b"\xff")
    with pytest.raises(OSError, match="Cannot parse file"):
        tf.saved_model.load(session, ["serve"], folder)
