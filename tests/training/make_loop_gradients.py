"""Writes loop_gradients: graphs of TF1 with loops and branches, and TensorFlow's gradients of them.

TF_USE_LEGACY_KERAS=1 python tests/training/make_loop_gradients.py   needs tensorflow, tf_keras
"""

import gzip
import json
from pathlib import Path

import numpy as np
import tensorflow.compat.v1 as tf
from loop_gradient_programs import PROGRAMS, W, X

tf.disable_v2_behavior()
FOLDER = Path(__file__).resolve().with_name("loop_gradients")


def main() -> None:
    """Writes each graph without gradients, and what TensorFlow adds and computes."""
    FOLDER.mkdir(exist_ok=True)
    answers = {}
    for i, build in enumerate(PROGRAMS):
        with tf.Graph().as_default(), tf.Session() as session:
            x = tf.placeholder(tf.float32, [None, 3], name="x")
            w = tf.Variable(W, name="w", use_resource=i % 2 == 0)
            y = tf.identity(build(tf, x, w), name="y")
            tf.global_variables_initializer()
            graph = tf.train.export_meta_graph().SerializeToString()
            path = FOLDER / f"{build.__name__}.meta.gz"
            path.write_bytes(gzip.compress(graph, mtime=0))
            dx, dw = tf.gradients(tf.reduce_sum(tf.sin(y)), [x, getattr(w, "handle", w)])
            dw = None if dw is None else tf.convert_to_tensor(dw)
            session.run("init")
            values = session.run([y, dx, *([] if dw is None else [dw])], {x: X})
            answers[build.__name__] = [np.float64(v).round(6).tolist() for v in values]
    (FOLDER / "answers.json").write_text(json.dumps(answers) + "\n")


if __name__ == "__main__":
    main()
