"""Writes batch_norm.npz: what TensorFlow's batch normalisation gives and how its averages move.

Run it in an environment with TensorFlow and tf_keras, which the tests themselves do without:

    TF_USE_LEGACY_KERAS=1 python tests/training/make_batch_norm.py
"""

from pathlib import Path

import numpy as np

GOLDENS = Path(__file__).with_name("batch_norm.npz")
CASES = {
    "rows": ((6, 4), "axis=-1"),
    "images": ((2, 3, 3, 4), "momentum=.8"),
    "written_out": ((2, 3, 3, 4), "fused=False, epsilon=.01"),
    "first": ((2, 4, 5), "axis=1, scale=False"),
    "channels_first": ((2, 4, 3, 3), "axis=1"),
    "several": ((3, 4, 2, 5), "axis=[1, 3], center=False"),
    "virtual": ((6, 3, 4), "virtual_batch_size=2, momentum=.9"),
    "renorm": ((6, 4), "renorm=True, renorm_momentum=.8, momentum=.7"),
    "clipped": (
        (5, 2, 2, 4),
        "renorm=True, renorm_clipping={'rmax': 1.2, 'rmin': .9, 'dmax': .1}, momentum=.6",
    ),
    "adjusted": (
        (6, 4),
        "adjustment=lambda shape: (tf.fill([shape[0], 1], 1.5), tf.fill([shape[0], 1], -.25))",
    ),
    "virtual_renorm": ((6, 4), "virtual_batch_size=3, renorm=True"),
}


def results(tf, shape: tuple, options: str, is_tensor: bool) -> tuple[list, list[str]]:
    """Outputs, gradients and averages in and after training, and the variables' names."""
    random = np.random.RandomState(5)
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(random.randn(*shape).astype("f4") * 2 + 1)
        training = tf.placeholder(tf.bool, []) if is_tensor else True
        names = {"tf": tf, "x": x, "training": training}
        y = eval(f"tf.layers.batch_normalization(x, {options}, training=training)", names)
        gradient = tf.gradients(tf.reduce_sum(tf.sin(y)), x)[0]
        updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
        session.run(tf.global_variables_initializer())
        arrays = []
        for flag in (True, True, False) if is_tensor else (True, True):
            feeds = {training: flag} if is_tensor else {}
            arrays += session.run([y, gradient], feeds)
            session.run(updates, feeds)
            arrays += session.run(tf.global_variables())
        return arrays, [v.op.name for v in tf.global_variables()]


if __name__ == "__main__":
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    recorded = {}
    for case, (shape, options) in CASES.items():
        for is_tensor in (False, True):
            arrays, names = results(tf, shape, options, is_tensor)
            recorded[f"{case}:{is_tensor}:names"] = np.array(names)
            recorded |= {f"{case}:{is_tensor}:{i:02}": array for i, array in enumerate(arrays)}
    np.savez_compressed(GOLDENS, **recorded)
