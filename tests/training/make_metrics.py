"""Writes metrics.npz: what TensorFlow's losses and metrics give for what the corpus has no rows of.

Run it in an environment with TensorFlow, which the tests themselves do without:

    python tests/training/make_metrics.py
"""

from pathlib import Path

import numpy as np

GOLDENS = Path(__file__).with_name("metrics.npz")
RANDOM = np.random.RandomState(7)
DATA = {
    "l": (RANDOM.rand(3, 4) > 0.5).astype("i4"),
    "p": RANDOM.rand(3, 4).astype("f4"),
    "w": RANDOM.randint(0, 3, (3, 4)).astype("f4"),
    "s": RANDOM.randn(3, 2, 5).astype("f4"),
    "c": RANDOM.randint(0, 5, (3, 2, 2)).astype("i8"),
}
METRICS = [
    "tf.metrics.mean(p, w)",
    "tf.metrics.mean_tensor(p, w)",
    "tf.metrics.accuracy(l, p > .5, w)",
    "tf.metrics.mean_absolute_error(tf.cast(l, tf.float32), p, w)",
    "tf.metrics.mean_squared_error(tf.cast(l, tf.float32), p)",
    "tf.metrics.mean_relative_error(tf.cast(l, tf.float32), p, w)",
    "tf.metrics.mean_cosine_distance(tf.cast(l, tf.float32), p, 0)",
    "tf.metrics.precision(l, p > .5, w)",
    "tf.metrics.recall(l, p > .5, w)",
    "tf.metrics.true_positives(l, p > .5, w)",
    "tf.metrics.true_negatives(l, p > .5)",
    "tf.metrics.false_positives(l, p > .5)",
    "tf.metrics.mean_iou(l, tf.cast(p > .5, tf.int32), 3, w)",
    "tf.metrics.mean_per_class_accuracy(l, tf.cast(p > .5, tf.int32), 3, w)",
    "tf.metrics.auc(l, p)",
    "tf.metrics.auc(l, p, w, 20, curve='PR')",
    "tf.metrics.auc(l, p, num_thresholds=20, curve='PR', summation_method='careful_interpolation')",
    "tf.metrics.auc(l, p, num_thresholds=20, summation_method='minoring')",
    "tf.metrics.auc(l, p, thresholds=[.7, .3], summation_method='majoring')",
    "tf.metrics.recall_at_thresholds(l, p, [.2, .8], w)",
    "tf.metrics.false_negatives_at_thresholds(l, p, [.2, .8])",
    "tf.metrics.sensitivity_at_specificity(l, p, .7)",
    "tf.metrics.specificity_at_sensitivity(l, p, .7, num_thresholds=30)",
    "tf.metrics.precision_at_k(c, s, 2)",
    "tf.metrics.precision_at_k(c, s, 3, class_id=1)",
    "tf.metrics.recall_at_k(c, s, 2)",
    "tf.metrics.recall_at_k(c, s, 3, weights=[.5, 2.])",
    "tf.metrics.average_precision_at_k(c, s, 3)",
    "tf.metrics.average_precision_at_k(c - 1, s, 3)",
    "tf.metrics.average_precision_at_k(tf.sparse.from_dense(c), s, 3, weights=[.5, 2.])",
    "tf.metrics.precision_at_k(tf.sparse.from_dense(c), s, 2, class_id=3)",
    "tf.metrics.recall_at_k(tf.sparse.from_dense(c[:, 0]), s, 2, weights=[1., 0.])",
]
LOSSES = [
    "tf.losses.absolute_difference(l, p, w)",
    "tf.losses.absolute_difference(l, p, reduction='none')",
    "tf.losses.cosine_distance(l, p, axis=0, weights=2.)",
    "tf.losses.hinge_loss(l, p, [[1., 0., 2., 1.]])",
    "tf.losses.huber_loss(l, 3 * p, delta=.5)",
    "tf.losses.log_loss(l, p, w, epsilon=1e-3)",
    "tf.losses.mean_squared_error(l, p, w, reduction='weighted_mean')",
    "tf.losses.mean_squared_error(l, p, w, reduction='weighted_sum_over_batch_size')",
    "tf.losses.mean_pairwise_squared_error(pp, p, [[2.], [0.], [1.]])",
    "tf.losses.mean_pairwise_squared_error(pp, p, pw)",
    "tf.losses.sigmoid_cross_entropy(l, p, label_smoothing=.1)",
    "tf.losses.softmax_cross_entropy(tf.one_hot(c[:, 0], 5), s, [1., 2.], label_smoothing=.2)",
    "tf.losses.sparse_softmax_cross_entropy(c, tf.stack([s, s], 1), weights=0.5)",
    "tf.losses.get_total_loss() + 0 * tf.losses.absolute_difference(l, p)",
]


def metric(tf, expr: str) -> tuple[list, list]:
    """A metric's values before and after each row is added, and what the updates gave."""
    with tf.Graph().as_default(), tf.Session() as session:
        shapes = {key: array.shape[1:] for key, array in DATA.items()}
        inputs = {k: tf.placeholder(DATA[k].dtype, shape) for k, shape in shapes.items()}
        value, update = eval(expr, {"tf": tf, **inputs})
        session.run(tf.local_variables_initializer())
        values, updates = [session.run(value)], []
        for row in range(3):
            feeds = {inputs[key]: array[row] for key, array in DATA.items()}
            updates.append(session.run(update, feeds))
            values.append(session.run(value))
        return values, updates


def loss(tf, expr: str):
    """A loss of all rows, and how many losses were collected."""
    with tf.Graph().as_default(), tf.Session() as session:
        inputs = {key: tf.constant(array) for key, array in DATA.items()}
        inputs |= {"pp": tf.constant(DATA["p"][::-1] * 2), "pw": tf.constant(DATA["w"][:, :1])}
        if "get_total" in expr:
            tf.losses.log_loss(inputs["l"], inputs["p"])
        if "one_hot" in expr:
            inputs["s"], inputs["c"] = inputs["s"][:2, 0], tf.constant(DATA["c"][:2, 0])
        result = session.run(eval(expr, {"tf": tf, **inputs}))
        return result, len(tf.losses.get_losses())


if __name__ == "__main__":
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    recorded = {}
    for i, expr in enumerate(METRICS):
        values, updates = metric(tf, expr)
        recorded[f"metric{i}:values"], recorded[f"metric{i}:updates"] = (
            np.array(values),
            np.array(updates),
        )
    for i, expr in enumerate(LOSSES):
        recorded[f"loss{i}"], count = loss(tf, expr)
        recorded[f"loss{i}:count"] = np.array(count)
    np.savez_compressed(GOLDENS, **recorded)
