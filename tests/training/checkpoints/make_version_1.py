"""Writes version_1/: checkpoints of version 1, plain and sharded, with a partitioned variable.

Run it in an environment with TensorFlow, which the tests themselves do without:

    python tests/training/checkpoints/make_version_1.py
"""

import shutil
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).with_name("version_1")
VALUES = {
    "bool": np.array([True, False]),
    "complex64": np.complex64([1 + 2j, -3j]),
    "float16": np.float16([1.5, -2]),
    "float32": np.float32([[1, 2], [3, 4]]),
    "float64": np.float64(np.pi),
    "int64": np.int64(-(2**40)),
    "int8": np.int8([-3, 4]),
    "strings": np.array([b"x", b"yz"], object),
    "uint8": np.uint8([250, 0]),
    "cut": np.arange(24, dtype=np.float32).reshape(6, 4),
}


def main():
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir()

    def initial(shape, dtype, partition_info):
        return tf.constant(VALUES["cut"][partition_info.var_offset[0] :][: shape[0]])

    with tf.Graph().as_default(), tf.Session() as session:
        for name, value in VALUES.items():
            if name != "cut":
                tf.get_variable(name, initializer=value)
        parts = tf.fixed_size_partitioner(3)
        tf.get_variable("cut", [6, 4], initializer=initial, partitioner=parts)
        session.run(tf.global_variables_initializer())
        for name in ("plain", "sharded"):
            saver = tf.train.Saver(write_version=1, sharded=name == "sharded")
            path = str(FOLDER / name)
            saver.save(session, path, write_meta_graph=False, latest_filename=f"{name}.state")


if __name__ == "__main__":
    main()
