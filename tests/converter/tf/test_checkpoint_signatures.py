"""Signatures that train, save and restore on a device: Flex operators on checkpoints."""

from pathlib import Path

import numpy as np
import pytest

from flatlite.errors import UnsupportedOps
from flatlite.graph.format.nodedef import write_node
from flatlite.lite import Interpreter, OpsSet, TFLiteConverter
from flatlite.schema import model as schema_model
from flatlite.schema.tensorflow.bundle import open_bundle
from flatlite.schema.tensorflow.slice_table import open_checkpoint

FOLDER = Path(__file__).parent / "checkpoint_model"
SIGNATURES = ["train", "infer", "save", "restore", "save2", "restore2"]


def converter(keys=None):
    result = TFLiteConverter.from_saved_model(FOLDER, signature_keys=keys or SIGNATURES)
    result.target_spec.supported_ops = [OpsSet.TFLITE_BUILTINS, OpsSet.SELECT_TF_OPS]
    return result


@pytest.fixture(scope="module")
def content():
    with pytest.warns(UserWarning, match="FlexRestore, .*would write or read a checkpoint"):
        return converter().convert()


def calls():
    """(signature, inputs, outputs) of what TensorFlow was called with, in order."""
    rows = {}
    with np.load(FOLDER / "cases.npz") as cases:
        for key, value in cases.items():
            number, signature, side, port = key.split("/")
            sides = rows.setdefault((number, signature), ({}, {}))
            sides[side == "out"][port] = value
    return [(signature, *sides) for (_, signature), sides in rows.items()]


def path_array(path):
    return np.array(str(path).encode(), object)


def run(interpreter, signature, inputs, folder):
    paths = {k: path_array(folder / str(x)) for k, x in inputs.items() if k == "path"}
    return interpreter.get_signature_runner(signature)(**{**inputs, **paths})


def check(interpreter, folder, rows):
    for signature, inputs, outputs in rows:
        results = run(interpreter, signature, inputs, folder)
        for port, expected in outputs.items():
            np.testing.assert_allclose(results[port], expected, 1e-5, 1e-6, err_msg=signature)


def test_training_saving_and_restoring_give_what_tensorflow_gives(content, tmp_path):
    check(Interpreter(model_content=content), tmp_path, calls())


def test_what_tensorflow_saved_is_restored(content):
    rows = [row for row in calls() if row[0] not in ("save", "save2")]
    first = next(i for i, row in enumerate(rows) if row[0] == "restore")
    interpreter = Interpreter(model_content=content)
    check(interpreter, FOLDER, rows[first : first + 2])


def test_checkpoints_hold_what_those_of_tensorflow_hold(content, tmp_path):
    interpreter = Interpreter(model_content=content)
    check(interpreter, tmp_path, calls()[:4])
    ours, theirs = (open_checkpoint(folder / "checkpoint") for folder in (tmp_path, FOLDER))
    for key in ("w", "b", "steps"):
        np.testing.assert_allclose(ours.read(key), theirs.read(key), 1e-5, 1e-6)
    assert (tmp_path / "checkpoint2.index").exists()
    steps = [open_bundle(f / "checkpoint2").read("steps") for f in (tmp_path, FOLDER)]
    assert steps[0] == steps[1] == 2


def test_operators_are_those_that_tensorflow_writes(content):
    model = schema_model.load(content)
    names = {s.key: model.subgraphs[s.subgraph] for s in model.signatures}
    kinds = {k: [op.custom_code or op.op for op in g.operators] for k, g in names.items()}
    assert kinds["save"].count("FlexSave") == kinds["save2"].count("FlexSaveV2") == 1
    assert kinds["restore"].count("FlexRestore") == 3
    assert kinds["restore2"].count("FlexRestoreV2") == 1
    assert kinds["restore"].count("ASSIGN_VARIABLE") == 3


def test_builtins_alone_cannot_save():
    alone = TFLiteConverter.from_saved_model(FOLDER, signature_keys=["save"])
    with pytest.raises(UnsupportedOps, match=r"(?s)Save.*OpsSet\.SELECT_TF_OPS"):
        alone.convert()


def test_a_checkpoint_that_is_missing(content, tmp_path):
    runner = Interpreter(model_content=content).get_signature_runner("restore")
    with pytest.raises(RuntimeError, match=r"(?s)FlexRestore.*Failed to find any matching files"):
        runner(path=path_array(tmp_path / "nothing"))


def own_path(path):
    """A file that chooses where it saves."""
    from flatlite.converter.ir.builder import Builder
    from flatlite.converter.ir.graph import Graph
    from flatlite.converter.ir.write import write
    from flatlite.converter.tf.flex import strings
    from flatlite.graph.core import graph as source
    from flatlite.schema import proto
    from flatlite.schema.model import save

    tf_graph = source.Graph()
    dtypes = [np.dtype(object)] * 2 + [np.dtype(np.float32)]
    inputs = [tf_graph.add("Placeholder", f"i{i}", (), {"dtype": d}) for i, d in enumerate(dtypes)]
    op = tf_graph.add("Save", "save", [x.outputs[0] for x in inputs])
    node = proto.message("NodeDef")()
    write_node(op, node, lambda tensor: tensor.name)
    options = strings([b"Save", node.SerializeToString()])
    graph = Graph()
    b = Builder(graph)
    x = b.input("x", np.float32, (2,))
    b.custom("FlexSave", path_array(path), np.array([b"x"], object), x, outputs=[], options=options)
    graph.outputs = [b.NEG(x)]
    return save(write(graph).model)


def test_a_model_does_not_choose_where_it_writes(tmp_path):
    interpreter = Interpreter(model_content=own_path(tmp_path / "mine"))
    with pytest.raises(RuntimeError, match="path must be an input of the function that is run"):
        interpreter.allocate_tensors()
        interpreter.invoke()
    assert not list(tmp_path.iterdir())


def test_saving_and_restoring_in_one_signature_is_refused():
    from flatlite.converter.sources.freeze import freeze
    from flatlite.graph.core.graph import Graph

    graph = Graph()
    path = graph.add("Placeholder", "path", (), {"dtype": np.dtype(object), "shape": ()})
    names = graph.constant(np.array([b"x"], object), "names")
    value = graph.constant(np.float32([1]), "value")
    save = graph.add("Save", "save", [path.outputs[0], names, value])
    name = graph.constant(np.array(b"x", object), "name")
    restore = graph.add("Restore", "restore", [path.outputs[0], name], {"dt": np.dtype("f4")})
    y = graph.add("Identity", "y", [restore.outputs[0]], {}, [save])
    graph.control_outputs = [save]
    with pytest.raises(UnsupportedOps, match="must not be in one signature"):
        freeze(graph, [(path.outputs[0], ())], y.outputs, lambda operations: {})
