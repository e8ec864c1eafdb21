"""Writes loop_graphs: .meta graphs of TF1 with loops, steps of optimizers, and their losses.

TF_USE_LEGACY_KERAS=1 python tests/training/make_loop_graphs.py       needs tensorflow, tf_keras
"""

import gzip
import json
from pathlib import Path

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
FOLDER = Path(__file__).resolve().with_name("loop_graphs")
X = np.linspace(-1, 1, 4 * 6 * 3).reshape(4, 6, 3).astype(np.float32)


def recurrent(x):
    """An LSTM over sequences of unequal lengths."""
    cell = tf.nn.rnn_cell.LSTMCell(5)
    _, state = tf.nn.dynamic_rnn(cell, x, sequence_length=[6, 4, 2, 5], dtype=tf.float32)
    return tf.reduce_mean(tf.square(state.h - 1)), tf.train.AdamOptimizer(0.1)


def branches_in_loop(x):
    """Two formulas by turns."""
    w = tf.get_variable("w", [3, 3])

    def body(i, h):
        product = tf.cond(tf.equal(i % 2, 0), lambda: h @ w, lambda: tf.sigmoid(h @ (w * w)))
        return i + 1, tf.tanh(product)

    _, h = tf.while_loop(lambda i, h: i < 3, body, [0, x[:, 0]])
    return tf.reduce_mean(tf.square(h - 1)), tf.train.RMSPropOptimizer(0.05)


def folds(x):
    """A scan that reads rows of a variable, a map and a fold."""
    w, table = tf.get_variable("w", [3]), tf.get_variable("table", [5, 3])

    def step(a, b):
        return tf.tanh(a * w + b + tf.gather(table, tf.cast(tf.argmax(b, 1), tf.int32)))

    y = tf.scan(step, tf.transpose(x, [1, 0, 2]), tf.zeros([4, 3]))
    z = tf.map_fn(lambda row: tf.reduce_sum(row * w), x[:, 0])
    total = tf.reduce_sum(tf.foldl(lambda a, row: a * 0.5 + row, x[:, 1]) * w)
    loss = tf.reduce_mean(tf.square(y - 1)) + tf.reduce_mean(z * z) + total
    return loss, tf.train.MomentumOptimizer(0.05, 0.9)


def main() -> None:
    """Trains each a few steps."""
    FOLDER.mkdir(exist_ok=True)
    losses = {}
    for build in (recurrent, branches_in_loop, folds):
        with tf.Graph().as_default(), tf.Session() as session:
            tf.set_random_seed(3)
            x = tf.placeholder(tf.float32, [None, None, 3], name="x")
            loss, optimizer = build(x)
            step = optimizer.minimize(loss, name="step")
            tf.identity(loss, name="loss")
            session.run(tf.global_variables_initializer())
            graph = tf.train.export_meta_graph().SerializeToString()
            path = FOLDER / f"{build.__name__}.meta.gz"
            path.write_bytes(gzip.compress(graph, mtime=0))
            steps = [session.run(["loss:0", step], {x: X})[0] for _ in range(6)]
            losses[build.__name__] = [float(value) for value in steps]
    (FOLDER / "losses.json").write_text(json.dumps(losses) + "\n")


if __name__ == "__main__":
    main()
