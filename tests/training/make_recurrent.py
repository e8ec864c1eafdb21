"""Writes recurrent.npz: what TensorFlow's recurrent nets give, and how a step trains them.

Run it in an environment with TensorFlow, which the tests themselves do without:

    python tests/training/make_recurrent.py
"""

from pathlib import Path

import numpy as np

GOLDENS = Path(__file__).with_name("recurrent.npz")
CELL = "tf.nn.rnn_cell."
NETS = [
    f"tf.nn.dynamic_rnn({CELL}BasicRNNCell(4), x, dtype=tf.float32)",
    f"tf.nn.dynamic_rnn({CELL}GRUCell(4), x, n, dtype=tf.float32)",
    f"tf.nn.dynamic_rnn({CELL}BasicLSTMCell(4), x, n, dtype=tf.float32)",
    f"tf.nn.dynamic_rnn({CELL}BasicLSTMCell(2, state_is_tuple=False), x, dtype=tf.float32)",
    (
        f"tf.nn.dynamic_rnn({CELL}LSTMCell(4, True, 0.3, num_proj=3, proj_clip=.2), x, n, "
        "dtype=tf.float32)"
    ),
    (
        f"tf.nn.dynamic_rnn({CELL}LSTMCell(4, num_proj=3, num_unit_shards=2, num_proj_shards=2), x,"
        " dtype=tf.float32)"
    ),
    (
        f"tf.nn.dynamic_rnn({CELL}MultiRNNCell([{CELL}GRUCell(3), {CELL}LSTMCell(2)]), "
        "tf.transpose(x, [1, 0, 2]), dtype=tf.float32, time_major=True)"
    ),
    f"tf.nn.dynamic_rnn({CELL}ResidualWrapper({CELL}GRUCell(3)), x, initial_state=s)",
    f"tf.nn.bidirectional_dynamic_rnn({CELL}GRUCell(3), {CELL}GRUCell(2), x, n, dtype=tf.float32)",
    (
        f"tf.nn.static_rnn({CELL}LSTMCell(3), tf.unstack(x, axis=1), dtype=tf.float32, "
        "sequence_length=n)"
    ),
    (
        f"tf.nn.static_bidirectional_rnn({CELL}GRUCell(3), {CELL}BasicRNNCell(2), "
        "tf.unstack(x, axis=1), dtype=tf.float32)"
    ),
]


def leaves(value) -> list:
    """The tensors of a nested structure."""
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in leaves(item)]
    return [value]


def results(tf, expr: str) -> tuple[list[str], list[np.ndarray]]:
    """Variables' names; outputs, gradients, and outputs after one step of training."""
    random = np.random.RandomState(3)
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(random.randn(2, 5, 3).astype("f4"))
        names = {"tf": tf, "x": x, "n": tf.constant([5, 3]), "s": tf.ones([2, 3])}
        outputs = leaves(eval(expr, names))
        variables = tf.trainable_variables()
        loss = tf.add_n([tf.reduce_sum(tf.sin(y)) for y in outputs])
        gradients = tf.gradients(loss, [x, *variables])
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        session.run(tf.global_variables_initializer())
        for variable in variables:
            shape = variable.get_shape().as_list()
            variable.load(random.uniform(-0.7, 0.7, shape).astype("f4"), session)
        first = session.run([*outputs, *gradients])
        session.run(train)
        return [v.op.name for v in variables], [*first, *session.run(outputs)]


if __name__ == "__main__":
    import tensorflow.compat.v1 as tf
    from tensorflow.python.keras.layers.legacy_rnn import rnn_cell_impl
    from tensorflow.python.ops import rnn

    tf.disable_v2_behavior()
    tf.nn.rnn_cell = rnn_cell_impl  # with Keras 3 they have no public names any more
    for function in ("dynamic_rnn", "bidirectional_dynamic_rnn", "static_rnn"):
        setattr(tf.nn, function, getattr(rnn, function))
    tf.nn.static_bidirectional_rnn = rnn.static_bidirectional_rnn
    recorded = {}
    for i, expr in enumerate(NETS):
        names, arrays = results(tf, expr)
        recorded[f"{i}:names"] = np.array(names)
        recorded |= {f"{i}:{j:03}": array for j, array in enumerate(arrays)}
    np.savez_compressed(GOLDENS, **recorded)
