"""Networks with a step of training, written once for whichever `tf` is given.

Each function of PROGRAMS takes the module and gives (placeholders, loss, operation of the step).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

MLP_BATCH, MLP_UNITS = 128, 128
IMAGES = 32
ROWS, STEPS, FEATURES, UNITS = 64, 50, 16, 64
SENTENCES, WORDS, VOCABULARY, WIDTH, HEADS, LAYERS = 16, 32, 200, 64, 4, 2

PICTURES, SIZE, CHANNELS = 32, 32, (16, 32, 32)
REVIEWS, LENGTH, DICTIONARY = 32, 40, 5000
PAIRS, NOISE, NAMES, VECTOR = 128, 64, 20000, 128

Built = tuple[list[Any], Any, Any]


def mlp(tf: Any) -> Built:
    """Three dense layers on rows of 784 numbers, Adam."""
    x = tf.placeholder(tf.float32, [None, 784], "x")
    y = tf.placeholder(tf.int32, [None], "y")
    h = x
    for i, (n_in, n) in enumerate([(784, MLP_UNITS), (MLP_UNITS, MLP_UNITS)]):
        h = tf.nn.relu(_dense(tf, h, n_in, n, f"dense{i}"))
    loss = _mean_loss(tf, _dense(tf, h, MLP_UNITS, 10, "logits"), y)
    return [x, y], loss, tf.train.AdamOptimizer(0.001).minimize(loss)


def lenet(tf: Any) -> Built:
    """LeNet-5 with ReLU and max pooling on images of 28 x 28, momentum."""
    x = tf.placeholder(tf.float32, [None, 28, 28, 1], "x")
    y = tf.placeholder(tf.int32, [None], "y")
    h = x
    for i, (n_in, n, padding) in enumerate([(1, 6, "SAME"), (6, 16, "VALID")]):
        with tf.variable_scope(f"conv{i}"):
            filters, bias = _weights(tf, [5, 5, n_in, n]), _zeros(tf, [n])
        h = tf.nn.conv2d(h, filters, strides=[1, 1, 1, 1], padding=padding)
        h = tf.nn.relu(tf.nn.bias_add(h, bias))
        h = tf.nn.max_pool(h, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID")
    h = tf.reshape(h, [-1, 400])
    for i, (n_in, n) in enumerate([(400, 120), (120, 84)]):
        h = tf.nn.relu(_dense(tf, h, n_in, n, f"dense{i}"))
    loss = _mean_loss(tf, _dense(tf, h, 84, 10, "logits"), y)
    return [x, y], loss, tf.train.MomentumOptimizer(0.01, 0.9).minimize(loss)


def lstm(tf: Any) -> Built:
    """Sequences to classes by dynamic_rnn over an LSTM, clipped gradients, Adam."""
    x = tf.placeholder(tf.float32, [None, STEPS, FEATURES], "x")
    y = tf.placeholder(tf.int32, [None], "y")
    with tf.variable_scope("net", initializer=_initializer(tf, 0.1)):
        cell = tf.nn.rnn_cell.LSTMCell(UNITS)
        outputs, _ = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)
    loss = _mean_loss(tf, _dense(tf, outputs[:, -1], UNITS, 10, "logits"), y)
    variables = tf.trainable_variables()
    gradients, _ = tf.clip_by_global_norm(tf.gradients(loss, variables), 5.0)
    pairs = list(zip(gradients, variables, strict=True))
    return [x, y], loss, tf.train.AdamOptimizer(0.001).apply_gradients(pairs)


def transformer(tf: Any) -> Built:
    """The next word by two layers of attention before layer normalization, Adam."""
    x = tf.placeholder(tf.int32, [None, WORDS], "x")
    y = tf.placeholder(tf.int32, [None, WORDS], "y")
    with tf.variable_scope("embedding"):
        table = _weights(tf, [VOCABULARY, WIDTH], "table")
        position_rows = _weights(tf, [WORDS, WIDTH], "places")
    h = tf.nn.embedding_lookup(table, x) + position_rows
    for i in range(LAYERS):
        with tf.variable_scope(f"layer{i}"):
            h = h + _attention(tf, _layer_norm(tf, h, "before_attention"))
            inner = _dense_along(tf, _layer_norm(tf, h, "before_dense"), WIDTH, 2 * WIDTH, "wide")
            h = h + _dense_along(tf, tf.nn.relu(inner), 2 * WIDTH, WIDTH, "narrow")
    logits = _dense_along(tf, _layer_norm(tf, h, "last"), WIDTH, VOCABULARY, "logits")
    loss = _mean_loss(tf, logits, y)
    return [x, y], loss, tf.train.AdamOptimizer(0.001).minimize(loss)


def convnet(tf: Any) -> Built:
    """Three convolutions with batch normalization and its updates, momentum."""
    x = tf.placeholder(tf.float32, [None, SIZE, SIZE, 3], "x")
    y = tf.placeholder(tf.int32, [None], "y")
    h, updates = x, []
    for i, (n_in, n) in enumerate(zip((3, *CHANNELS[:-1]), CHANNELS, strict=True)):
        with tf.variable_scope(f"block{i}"):
            h = tf.nn.conv2d(h, _weights(tf, [3, 3, n_in, n]), strides=[1, 1, 1, 1], padding="SAME")
            scale = tf.get_variable("scale", [n], initializer=tf.ones_initializer())
            h, mean, variance = tf.nn.fused_batch_norm(h, scale, _zeros(tf, [n], "offset"))
            for name, value in (("mean", mean), ("variance", variance)):
                moving = tf.get_variable(name, [n], trainable=False)
                updates.append(tf.assign_sub(moving, 0.01 * (moving - value)))
        h = tf.nn.max_pool(tf.nn.relu(h), [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
    logits = _dense(tf, tf.reduce_mean(h, [1, 2]), CHANNELS[-1], 10, "logits")
    loss = _mean_loss(tf, logits, y)
    with tf.control_dependencies(updates):
        return [x, y], loss, tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)


def gru(tf: Any) -> Built:
    """Rows of an embedding through dynamic_rnn over a GRU, Adam."""
    x = tf.placeholder(tf.int32, [None, LENGTH], "x")
    y = tf.placeholder(tf.int32, [None], "y")
    table = tf.get_variable("table", [DICTIONARY, UNITS], initializer=_initializer(tf, 0.1))
    with tf.variable_scope("net", initializer=_initializer(tf, 0.1)):
        cell = tf.nn.rnn_cell.GRUCell(UNITS)
        rows = tf.nn.embedding_lookup(table, x)
        _, state = tf.nn.dynamic_rnn(cell, rows, dtype=tf.float32)
    loss = _mean_loss(tf, _dense(tf, state, UNITS, 2, "logits"), y)
    return [x, y], loss, tf.train.AdamOptimizer(0.001).minimize(loss)


def word2vec(tf: Any) -> Built:
    """Pairs of words with noise-contrastive estimation, gradient descent."""
    x = tf.placeholder(tf.int32, [None], "x")
    y = tf.placeholder(tf.int64, [None, 1], "y")
    rows = tf.get_variable("rows", [NAMES, VECTOR], initializer=_initializer(tf, 1.0))
    weights = tf.get_variable("weights", [NAMES, VECTOR], initializer=_initializer(tf, 0.1))
    sampled = tf.nn.log_uniform_candidate_sampler(y, 1, NOISE, True, NAMES, seed=3)
    losses = tf.nn.nce_loss(
        weights, _zeros(tf, [NAMES]), y, tf.nn.embedding_lookup(rows, x), NOISE, NAMES,
        sampled_values=sampled,
    )  # fmt: skip
    loss = tf.reduce_mean(losses, name="loss")
    return [x, y], loss, tf.train.GradientDescentOptimizer(1.0).minimize(loss)


def _initializer(tf: Any, scale: float) -> Callable[..., Any]:
    """Uniform numbers from numpy: the same for every `tf`."""

    def values(shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        sizes = [int(size) for size in shape]
        random = np.random.RandomState(sum(sizes))
        return tf.constant(random.uniform(-scale, scale, sizes).astype(np.float32))

    return values


def _weights(tf: Any, shape: list[int], name: str = "weights") -> Any:
    scale = (6 / (np.prod(shape[:-1]) + shape[-1])) ** 0.5
    return tf.get_variable(name, shape, initializer=_initializer(tf, scale))


def _zeros(tf: Any, shape: list[int], name: str = "bias") -> Any:
    return tf.get_variable(name, shape, initializer=tf.zeros_initializer())


def _dense(tf: Any, x: Any, n_in: int, n: int, name: str) -> Any:
    with tf.variable_scope(name):
        return tf.matmul(x, _weights(tf, [n_in, n])) + _zeros(tf, [n])


def _dense_along(tf: Any, x: Any, n_in: int, n: int, name: str) -> Any:
    """The dense layer at each word."""
    return tf.reshape(_dense(tf, tf.reshape(x, [-1, n_in]), n_in, n, name), [-1, WORDS, n])


def _layer_norm(tf: Any, x: Any, name: str) -> Any:
    with tf.variable_scope(name):
        scale = tf.get_variable("scale", [WIDTH], initializer=tf.ones_initializer())
        offset = _zeros(tf, [WIDTH], "offset")
    mean, variance = tf.nn.moments(x, [-1], keep_dims=True)
    return (x - mean) * tf.rsqrt(variance + 1e-6) * scale + offset


def _attention(tf: Any, x: Any) -> Any:
    """Each word looks at itself and those before it."""
    size = WIDTH // HEADS
    query, key, value = (
        tf.transpose(
            tf.reshape(_dense_along(tf, x, WIDTH, WIDTH, name), [-1, WORDS, HEADS, size]),
            [0, 2, 1, 3],
        )
        for name in ("query", "key", "value")
    )
    mask = np.triu(np.full([WORDS, WORDS], -1e9, np.float32), 1)
    weights = tf.nn.softmax(tf.matmul(query, key, transpose_b=True) * size**-0.5 + mask)
    heads = tf.transpose(tf.matmul(weights, value), [0, 2, 1, 3])
    return _dense_along(tf, tf.reshape(heads, [-1, WORDS, WIDTH]), WIDTH, WIDTH, "mix")


def _mean_loss(tf: Any, logits: Any, y: Any) -> Any:
    return tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits), name="loss"
    )


PROGRAMS: dict[str, Callable[[Any], Built]] = {
    "lenet": lenet,
    "mlp": mlp,
    "lstm": lstm,
    "transformer": transformer,
    "convnet": convnet,
    "gru": gru,
    "word2vec": word2vec,
}
TITLES = {
    "lenet": f"LeNet, batch {IMAGES}, momentum",
    "mlp": f"MLP of 3 layers, {MLP_UNITS} units, batch {MLP_BATCH}, Adam",
    "lstm": f"LSTM, {UNITS} units, {ROWS} x {STEPS} steps, clipped Adam",
    "transformer": f"transformer, {LAYERS} layers, {SENTENCES} x {WORDS} words, Adam",
    "convnet": f"3 convolutions with batch normalization, batch {PICTURES}, momentum",
    "gru": f"embedding and GRU, {UNITS} units, {REVIEWS} x {LENGTH} steps, Adam",
    "word2vec": f"word2vec, {NAMES} words, {NOISE} noise words, batch {PAIRS}",
}


def batches(name: str, count: int = 4) -> list[tuple[np.ndarray, np.ndarray]]:
    """Inputs and labels that a program is fed with in turn."""
    random = np.random.RandomState(1)
    if name == "transformer":
        words = random.randint(0, VOCABULARY, [count, SENTENCES, WORDS + 1]).astype(np.int32)
        return [(rows[:, :-1].copy(), rows[:, 1:].copy()) for rows in words]
    if name == "gru":
        words = random.randint(0, DICTIONARY, [count, REVIEWS, LENGTH]).astype(np.int32)
        return [(rows, (rows[:, 0] % 2).astype(np.int32)) for rows in words]
    if name == "word2vec":
        pairs = random.randint(0, NAMES, [count, PAIRS, 2])
        return [(rows[:, 0].astype(np.int32), rows[:, 1:].astype(np.int64)) for rows in pairs]
    shapes = {
        "convnet": (PICTURES, SIZE, SIZE, 3),
        "lenet": (IMAGES, 28, 28, 1),
        "mlp": (MLP_BATCH, 784),
        "lstm": (ROWS, STEPS, FEATURES),
    }
    shape = shapes[name]
    return [
        (
            random.randn(*shape).astype(np.float32),
            random.randint(0, 10, shape[:1]).astype(np.int32),
        )
        for _ in range(count)
    ]
