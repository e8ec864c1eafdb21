"""Makes quantize_training/: graphs that TensorFlow (2.21) rewrites for quantized training.

.venv-tensorflow/bin/python tests/graph/make_quantize_training.py

Each graph, what do_quantize_training_on_graphdef makes of it, the variables after some steps, what
the graph gives then, and errors.
"""

import json
from pathlib import Path

import numpy as np
import tensorflow as tf

FOLDER = Path(__file__).parent / "quantize_training"
v1 = tf.compat.v1
v1.disable_eager_execution()
v1.disable_resource_variables()
GENERATOR = np.random.default_rng(0)


def weights(name, *shape):
    """A variable of drawn numbers."""
    return v1.get_variable(name, initializer=GENERATOR.normal(0, 0.4, shape).astype(np.float32))


def network():
    """Convolutions and products behind every kind of activation that has a range of its own."""
    x = v1.placeholder(tf.float32, (2, 6, 6, 2), "x")
    y = tf.nn.relu(tf.nn.conv2d(x, weights("first", 3, 3, 2, 4), 1, "SAME") + weights("bias", 4))
    y = tf.nn.max_pool2d(y, 2, 2, "SAME")
    y = tf.nn.relu6(tf.nn.conv2d(y, weights("second", 2, 2, 4, 3), 1, "VALID"))
    y = tf.nn.tanh(tf.matmul(tf.reshape(y, (2, 12)), weights("third", 12, 8)))
    y = tf.nn.sigmoid(tf.matmul(y, weights("fourth", 8, 6)))
    tf.matmul(y, tf.constant(GENERATOR.normal(0, 1, (6, 3)).astype(np.float32)), name="z")


def saved():
    """A product whose variable a Saver saves."""
    x = v1.placeholder(tf.float32, (2, 6), "x")
    tf.matmul(x, weights("w", 6, 3), name="z")
    v1.train.Saver()


def shared():
    """One tensor that two products read, and one of gradients."""
    x = v1.placeholder(tf.float32, (3, 3), "x")
    w = weights("w", 3, 3)
    z = tf.add(tf.matmul(x, w), tf.matmul(w, x), name="z")
    v1.gradients(z, w)


def unknown():
    """Three tensors of unknown ranges."""
    x, y, z = (v1.placeholder(tf.float32, (2, 2), name) for name in "xyz")
    tf.matmul(tf.matmul(x, y), tf.nn.elu(z), name="out")


def twice():
    """Two Savers."""
    saved()
    v1.train.Saver()


def built(build):
    """The GraphDef of a function that builds a graph."""
    with tf.Graph().as_default() as graph:
        build()
    return graph.as_graph_def()


def steps(definition):
    """The variables and results of each of some steps of the rewritten graph."""
    rows = {}
    with tf.Graph().as_default() as graph, v1.Session() as session:
        tf.import_graph_def(definition, name="")
        nodes = {node.name: node for node in definition.node}
        for name in nodes:
            if name.endswith("/Assign") and not name.startswith("save"):
                session.run(graph.get_operation_by_name(name))
        shape = graph.get_tensor_by_name("x:0").shape
        variables = [n for n, node in nodes.items() if node.op == "VariableV2"]
        for step in range(4):
            x = GENERATOR.normal(0, 1 + step, shape).astype(np.float32)
            rows[f"x{step}"], rows[f"z{step}"] = x, session.run("z:0", {"x:0": x})
            for name in variables:
                rows[f"{name} {step}"] = session.run(f"{name}:0")
    return rows


def main():
    """Writes everything."""
    FOLDER.mkdir(exist_ok=True)
    rewrite = v1.train.do_quantize_training_on_graphdef
    for build in (network, saved, shared):
        before = built(build)
        after = rewrite(before, 8)
        for suffix, definition in (("", before), ("_rewritten", after)):
            content = definition.SerializeToString(deterministic=True)
            (FOLDER / f"{build.__name__}{suffix}.pb").write_bytes(content)
        if build is not saved:
            np.savez(FOLDER / f"{build.__name__}.npz", **steps(after))
    errors = {}
    for build, bits in ((unknown, 8), (twice, 8), (shared, 64), (shared, 0)):
        definition = built(build)
        name = f"{build.__name__}_{bits}"
        (FOLDER / f"{name}.pb").write_bytes(definition.SerializeToString(deterministic=True))
        try:
            rewrite(definition, bits)
        except Exception as error:
            errors[name] = [type(error).__name__, str(error)]
    (FOLDER / "errors.json").write_text(json.dumps(errors, indent=1) + "\n")


main()
