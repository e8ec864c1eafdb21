"""Writes, with flatlite, what check.py has TensorFlow restore: `python write.py FOLDER`.

A LeNet and a table of strings, trained for a few steps; its checkpoints plain, in shards, and
written twice under one name; and expected.npz: variables, outputs and the loss after one more step.
In objects/ the checkpoints of tests/training/checkpoints/object_programs.py, and what they hold; in
saved_models/ SavedModels; in tables/ those of tests/training/checkpoints/table_programs.py; in
loops/ branches, loops and gradients of them, as TensorFlow 1 writes them.
"""

import json
import sys
from pathlib import Path

import numpy as np

import flatlite.compat.v1 as tf

sys.path.append(str(Path(__file__).parents[1] / "training"))
sys.path.append(str(Path(__file__).parents[1] / "training/checkpoints"))
sys.path.append(str(Path(__file__).parents[1] / "graph/programs"))
import dataflow_programs
import loop_gradient_programs
import table_programs
from object_programs import PROGRAMS
from saved_model_programs import X
from saved_model_programs import network as small_network


def network(images, labels, use_resource):
    """The probabilities, the loss and a training step."""
    with tf.variable_scope("net", use_resource=use_resource):
        kernel = tf.get_variable("kernel", [3, 3, 1, 4])
        bias = tf.get_variable("bias", [4], initializer=tf.zeros_initializer())
        x = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(images, kernel, [1, 1, 1, 1], "SAME"), bias))
        x = tf.nn.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
        weights = tf.get_variable("weights", [64, 3])
        logits = tf.matmul(tf.reshape(x, [-1, 64]), weights)
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    loss = tf.reduce_mean(losses, name="loss")
    step = tf.train.get_or_create_global_step()
    rate = tf.train.exponential_decay(0.01, step, 10, 0.9)
    tf.train.AdamOptimizer(rate).minimize(loss, global_step=step, name="train")
    return tf.nn.softmax(logits, name="probabilities")


def write(folder: Path, use_resource: bool) -> None:
    """Trains and saves."""
    folder.mkdir(parents=True, exist_ok=True)
    generator = np.random.default_rng(0)
    feeds = {
        "images:0": generator.normal(size=(8, 8, 8, 1)).astype(np.float32),
        "labels:0": generator.integers(0, 3, 8),
    }
    with tf.Graph().as_default() as graph, tf.Session() as session:
        tf.set_random_seed(1)
        images = tf.placeholder(tf.float32, [None, 8, 8, 1], name="images")
        network(images, tf.placeholder(tf.int64, [None], name="labels"), use_resource)
        with tf.device("/job:ps/task:1"):
            tf.get_variable("names", initializer=np.array([[b"a", b"bc"]], object))
        train = graph.get_operation_by_name("train")
        savers = {name: tf.train.Saver(sharded=name == "sharded") for name in ("plain", "sharded")}
        session.run(tf.global_variables_initializer())
        for _ in range(4):  # the last one has two data files, as the one before has one
            session.run(train, feeds)
            savers["plain"].save(session, folder / "twice")
        for name, saver in savers.items():
            saver.save(session, folder / name)
        expected = {f"var:{v.op.name}": session.run(v) for v in tf.global_variables()}
        expected["probabilities"] = session.run("probabilities:0", feeds)
        session.run(train, feeds)
        expected["loss"] = session.run("loss:0", feeds)
    expected["var:names"] = expected["var:names"].astype("S")
    np.savez(folder / "expected.npz", **expected, **{f"in:{k}": v for k, v in feeds.items()})


def write_objects(folder: Path) -> None:
    """Saves the programs with `tf.train.Checkpoint`, a step apart from their initial values."""
    expected = {}
    for name, program in PROGRAMS.items():
        with tf.Graph().as_default(), tf.Session() as session:
            checkpoint, train = program(tf, use_resource=True)
            session.run(tf.global_variables_initializer())
            if train is not None:
                session.run(train)
            checkpoint.save(folder / name, session)
            values = {v.op.name: session.run(v) for v in tf.global_variables()}
            expected[name] = {
                k: v.astype("U" if v.dtype == object else v.dtype).tolist()
                for k, v in values.items()
            }
    (folder / "expected.json").write_text(json.dumps(expected))


def write_saved_models(folder: Path) -> None:
    """SavedModels of both kinds of variables, with an asset and a main op."""
    folder.mkdir()
    asset = folder / "words.txt"
    asset.write_text("a\n")
    for kind in ("reference", "resource"):
        with tf.Graph().as_default(), tf.Session() as session:
            x, y, w, local = small_network(tf, kind == "resource")
            session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
            session.run(w.assign(w.read_value() + 1.0))
            builder = tf.saved_model.Builder(folder / kind)
            path = tf.constant(str(asset), name="path")
            where = tf.get_local_variable("where", initializer=tf.identity(path))
            builder.add_meta_graph_and_variables(
                session,
                ["serve"],
                {
                    "serving_default": tf.saved_model.predict_signature_def(
                        {"features": x}, {"out": y}
                    )
                },
                assets_collection=[path],
                main_op=tf.group(local.initializer, where.initializer),
            )
            builder.save()
            np.save(folder / f"{kind}.npy", session.run(y, {x: X}))


def write_tables(folder: Path) -> None:
    """Tables saved in every way, and what they have."""
    folder.mkdir()
    with tf.Graph().as_default(), tf.Session() as session:
        words, rows = table_programs.tables(tf)
        table_programs.fill(tf, session, words, rows)
        table_programs.save(tf, session, words, rows, folder)
        expected = table_programs.contents(tf, session, words, rows)
    (folder / "expected.json").write_text(json.dumps(expected))


def write_loops(folder: Path) -> None:
    """Graphs with control flow v1, and the names of what to fetch."""
    folder.mkdir()
    tf.disable_control_flow_v2()
    fetches = {}
    for program in dataflow_programs.PROGRAMS:
        with tf.Graph().as_default():
            runs = program(tf)
            tf.train.export_meta_graph(folder / f"{program.__name__}.meta")
        fetches[program.__name__] = [[tensor.name for tensor in names] for names, _ in runs]
    for program in loop_gradient_programs.PROGRAMS:
        name = f"loop_gradient_of_{program.__name__}"
        with tf.Graph().as_default():
            x = tf.placeholder(tf.float32, [None, 3], name="x")
            w = tf.Variable(loop_gradient_programs.W, name="w", use_resource=True)
            y = tf.identity(program(tf, x, w), name="y")
            tf.global_variables_initializer()
            tf.train.export_meta_graph(folder / f"forward_{name}.meta")
            gradients = tf.gradients(tf.reduce_sum(tf.sin(y)), [x, w])
            dense = [tf.convert_to_tensor(dx) for dx in gradients if dx is not None]
            tf.train.export_meta_graph(folder / f"{name}.meta")
        fetches[name] = [y.name, *(dx.name for dx in dense)]
    (folder / "fetches.json").write_text(json.dumps(fetches))
    tf.enable_control_flow_v2()


if __name__ == "__main__":
    for kind in ("reference", "resource"):
        write(Path(sys.argv[1]) / kind, kind == "resource")
    write_objects(Path(sys.argv[1]) / "objects")
    write_saved_models(Path(sys.argv[1]) / "saved_models")
    write_tables(Path(sys.argv[1]) / "tables")
    write_loops(Path(sys.argv[1]) / "loops")
