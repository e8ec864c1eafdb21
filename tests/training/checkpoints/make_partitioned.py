"""Writes partitioned/: TensorFlow's graphs with a variable in two and in three parts, trained.

Run it in an environment with TensorFlow, which the tests themselves do without:

    python tests/training/checkpoints/make_partitioned.py
"""

import shutil
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).with_name("partitioned")
X = np.float32([[1, -2, 0.5, 3, 0.25, -1], [2, 0, 1, -1, 0.5, 0.75]])
VALUES = np.linspace(-1, 1, 24, dtype=np.float32).reshape(6, 4)


def build(tf, n: int):
    """A variable in parts under a product, and its training; input, loss."""

    def initial(shape, dtype, partition_info):
        return tf.constant(VALUES[partition_info.var_offset[0] :][: shape[0]])

    x = tf.placeholder(tf.float32, [None, 6], name="x")
    partitioner = tf.fixed_size_partitioner(n)
    w = tf.get_variable("w", [6, 4], initializer=initial, partitioner=partitioner)
    loss = tf.reduce_sum(tf.square(tf.matmul(x, tf.convert_to_tensor(w))), name="loss")
    tf.train.MomentumOptimizer(0.01, 0.9).minimize(loss, name="train")
    return x, loss


def main():
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir()
    recorded = {"x": X}
    for n in (2, 3):
        with tf.Graph().as_default(), tf.Session() as session:
            x, loss = build(tf, n)
            session.run(tf.global_variables_initializer())
            for _ in range(n):
                session.run("train", {x: X})
            saver = tf.train.Saver()
            path = saver.save(session, str(FOLDER / f"in{n}"))
            for name, _ in tf.train.list_variables(path):
                recorded[f"{n}:{name}"] = tf.train.load_variable(path, name)
            session.run("train", {x: X})
            recorded[f"{n}:loss"] = session.run(loss, {x: X})
    (FOLDER / "checkpoint").unlink()
    np.savez(FOLDER / "recorded.npz", **recorded)


if __name__ == "__main__":
    main()
