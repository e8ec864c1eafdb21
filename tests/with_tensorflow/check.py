"""Lets TensorFlow restore and go on training what write.py has written: `python check.py FOLDER`.

Needs an environment with TensorFlow, and nothing of flatlite's. Ends with an error when a value
differs.
"""

import json
import sys
from pathlib import Path

import numpy as np
import tensorflow as tf2
import tensorflow.compat.v1 as tf

sys.path.append(str(Path(__file__).parents[1] / "training"))
sys.path.append(str(Path(__file__).parents[1] / "training/checkpoints"))
sys.path.append(str(Path(__file__).parents[1] / "graph/programs"))
import loop_gradient_programs
import table_programs
from object_programs import PROGRAMS
from saved_model_programs import X


def check(folder: Path, name: str) -> None:
    """One checkpoint: its variables, what the graph computes with them, and one more step."""
    expected = np.load(folder / "expected.npz")
    prefix = str(folder / name)
    feeds = {key[3:]: expected[key] for key in expected.files if key.startswith("in:")}
    reader = tf.train.load_checkpoint(prefix)
    with tf.Graph().as_default(), tf.Session() as session:
        saver = tf.train.import_meta_graph(f"{prefix}.meta", clear_devices=True)
        saver.restore(session, prefix)
        variables = {f"var:{v.op.name}": v for v in tf.global_variables()}
        assert set(variables) == {key for key in expected.files if key.startswith("var:")}
        for key, variable in variables.items():
            for got in (session.run(variable), reader.get_tensor(key[4:])):
                got = got.astype("S") if got.dtype == object else got
                np.testing.assert_array_equal(got, expected[key], err_msg=key)
        got = session.run("probabilities:0", feeds)
        np.testing.assert_allclose(got, expected["probabilities"], rtol=1e-5, atol=1e-6)
        session.run("train", feeds)
        np.testing.assert_allclose(session.run("loss:0", feeds), expected["loss"], rtol=1e-5)
    print(f"{folder.name}/{name}: {len(tf.train.list_variables(prefix))} variables restored")


def check_objects(folder: Path) -> None:
    """The checkpoints by objects: all is found, and has the values it had."""
    for name, expected in json.loads((folder / "expected.json").read_text()).items():
        with tf.Graph().as_default(), tf.Session() as session:
            checkpoint, train = PROGRAMS[name](tf, use_resource=True)
            status = checkpoint.restore(str(folder / f"{name}-1")).assert_consumed()
            status.run_restore_ops(session)
            for variable in tf.global_variables():
                got = session.run(variable)
                got = got.astype("U" if got.dtype == object else got.dtype)
                np.testing.assert_array_equal(got, expected[variable.op.name], variable.op.name)
            if train is not None:
                session.run(train)
        print(f"{folder.name}/{name}: {len(expected)} variables restored")


def check_saved_models(folder: Path) -> None:
    """The SavedModels, loaded into a session and by TensorFlow 2."""
    for kind in ("reference", "resource"):
        expected, path = np.load(folder / f"{kind}.npy"), str(folder / kind)
        with tf.Graph().as_default(), tf.Session() as session:
            meta = tf.saved_model.load(session, ["serve"], path)
            outputs = meta.signature_def["serving_default"].outputs
            got = session.run(outputs["out"].name, {"x:0": X})
            np.testing.assert_allclose(got, expected, rtol=1e-6)
            variables = {v.op.name: session.run(v) for v in tf.local_variables()}
            assert variables["net/local"] == 7
            assert Path(variables["where"].decode()).read_text() == "a\n"
        function = tf2.saved_model.load(path).signatures["serving_default"]
        got = function(tf2.constant(X))["out"].numpy()
        np.testing.assert_allclose(got, expected, rtol=1e-6)
        print(f"{folder.name}/{kind}: loaded")


def check_tables(folder: Path) -> None:
    """The tables; a saver of one alone leaves the other as it was."""
    expected = json.loads((folder / "expected.json").read_text())
    for name in ("version_2", "version_1", "alone", "objects"):
        got = table_programs.restored(tf, name, folder)
        assert got[::2] == expected[::2], (name, got)
        assert name == "alone" or got == expected, (name, got)
        print(f"{folder.name}/{name}: restored")


def check_loops(folder: Path) -> None:
    """Graphs of Switch, Merge and frames give what TensorFlow's own graphs gave.

    TensorFlow's gradients of what was written forwards are its own gradients, too; not of arrays,
    which are lists here, nor behind them.
    """
    tf.disable_control_flow_v2()
    tests, fetches = Path(__file__).parents[1], json.loads((folder / "fetches.json").read_text())
    runs = np.load(tests / "graph/programs/dataflow_programs.npz")["runs"]
    for name, rows in json.loads(runs.tobytes()).items():
        rows = [row | {"fetches": names} for row, names in zip(rows, fetches[name], strict=True)]
        if name != "wrong_arrays":  # lists take what TensorFlow's arrays refuse
            _check_runs(folder / f"{name}.meta", rows)
    answers = json.loads((tests / "training/loop_gradients/answers.json").read_text())
    feeds = {"x:0": loop_gradient_programs.X}
    for program, answer in answers.items():
        name = f"loop_gradient_of_{program}"
        init = {"fetches": ["init"], "feeds": {}, "answer": [None]}
        names = fetches[name]
        row = {"fetches": names, "feeds": feeds, "answer": answer[: len(names)]}
        _check_runs(folder / f"{name}.meta", [init, row])
        if program not in ("arrays", "pieces", "scans", "recurrent"):
            with tf.Graph().as_default() as graph, tf.Session() as session:
                tf.train.import_meta_graph(str(folder / f"forward_{name}.meta"))
                y = graph.get_tensor_by_name("y:0")
                (dx,) = tf.gradients(tf.reduce_sum(tf.sin(y)), [graph.get_tensor_by_name("x:0")])
                session.run("init")
                got = session.run(dx, feeds)
                np.testing.assert_allclose(got, answer[1], rtol=1e-4, atol=1e-5, err_msg=program)
    print(f"{folder.name}: {len(fetches)} graphs")


def _check_runs(path: Path, rows: list[dict]) -> None:
    """Runs of a graph, one after the other."""
    with tf.Graph().as_default(), tf.Session() as session:
        tf.train.import_meta_graph(str(path))
        for row in rows:
            answer = row["answer"]
            if isinstance(answer, dict):
                try:
                    session.run(row["fetches"], row["feeds"])
                except getattr(tf.errors, answer["error"]):
                    continue
                raise AssertionError(f"{path.stem}: {answer['error']} was not raised")
            got = session.run(row["fetches"], row["feeds"])
            for value, expected in zip(got, answer, strict=True):
                if isinstance(value, bytes):
                    assert value.decode("latin1") == expected
                elif expected is not None:
                    np.testing.assert_allclose(value, expected, rtol=1e-4, atol=1e-5)


if __name__ == "__main__":
    root = Path(sys.argv[1])
    for kind in ("reference", "resource"):
        assert tf.train.latest_checkpoint(str(root / kind)) == str(root / kind / "sharded")
        for name in ("plain", "sharded", "twice"):
            check(root / kind, name)
    check_objects(root / "objects")
    check_saved_models(root / "saved_models")
    check_tables(root / "tables")
    check_loops(root / "loops")
