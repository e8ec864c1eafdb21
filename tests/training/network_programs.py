"""Trainings as people write them, given `tf`: network_programs.json has TensorFlow's losses."""

from __future__ import annotations

import zlib
from itertools import pairwise

import numpy as np

N_STEPS = 6
PROGRAMS = []


def program(function):
    """Lists a program: a function of `tf` that gives loss, training step and feeds."""
    PROGRAMS.append(function)
    return function


def normal(seed, *shape):
    """Seeded numbers."""
    return np.random.RandomState(seed).normal(size=shape).astype(np.float32)


def integers(seed, high, *shape, low=0):
    """Seeded integers."""
    return np.random.RandomState(seed).randint(low, high, shape)


@program
def random_field(tf):
    """A bidirectional LSTM under a conditional random field, of sequences of unequal lengths."""
    x = tf.placeholder(tf.float32, [None, None, 5])
    tags = tf.placeholder(tf.int32, [None, None])
    lengths = tf.placeholder(tf.int32, [None])
    cells = [tf.nn.rnn_cell.LSTMCell(6) for _ in range(2)]
    outputs, _ = tf.nn.bidirectional_dynamic_rnn(*cells, x, lengths, dtype=tf.float32)
    scores = tf.layers.dense(tf.concat(outputs, -1), 4)
    transitions = tf.get_variable("transitions", [4, 4])
    mask = tf.sequence_mask(lengths, tf.shape(x)[1], tf.float32)
    unary = tf.reduce_sum(tf.reduce_sum(scores * tf.one_hot(tags, 4), 2) * mask, 1)
    pairs = tf.gather(tf.reshape(transitions, [-1]), tags[:, :-1] * 4 + tags[:, 1:])
    binary = tf.reduce_sum(pairs * mask[:, 1:], 1)

    def forward(alpha, element):
        score, is_there = element[0], tf.expand_dims(element[1], 1)
        new = tf.reduce_logsumexp(tf.expand_dims(alpha, 2) + transitions, 1) + score
        return new * is_there + alpha * (1 - is_there)

    elements = (tf.transpose(scores, [1, 0, 2])[1:], tf.transpose(mask)[1:])
    alpha = tf.foldl(forward, elements, initializer=scores[:, 0])
    loss = tf.reduce_mean(tf.reduce_logsumexp(alpha, 1) - unary - binary)
    step = tf.train.MomentumOptimizer(0.05, 0.9, use_nesterov=True).minimize(loss)
    feeds = {x: normal(0, 6, 9, 5), tags: integers(1, 4, 6, 9), lengths: integers(2, 10, 6, low=4)}
    return loss, step, feeds


@program
def slow_target(tf):
    """A duelling double Q network; its target's weights follow behind each step."""
    states, after = (tf.placeholder(tf.float32, [None, 6]) for _ in range(2))
    actions, rewards = tf.placeholder(tf.int32, [None]), tf.placeholder(tf.float32, [None])

    def values(x, scope, reuse=False):
        with tf.variable_scope(scope, reuse=reuse):
            hidden = tf.layers.dense(x, 16, tf.nn.relu, name="hidden")
            value = tf.layers.dense(hidden, 1, name="value")
            advantage = tf.layers.dense(hidden, 3, name="advantage")
            return value + advantage - tf.reduce_mean(advantage, 1, keepdims=True)

    predicted = tf.reduce_sum(values(states, "main") * tf.one_hot(actions, 3), 1)
    best = tf.argmax(values(after, "main", reuse=True), 1, output_type=tf.int32)
    places = tf.stack([tf.range(tf.shape(best)[0]), best], 1)
    target = rewards + 0.99 * tf.gather_nd(values(after, "target"), places)
    error = tf.abs(predicted - tf.stop_gradient(target))
    loss = tf.reduce_mean(tf.where(error < 1, 0.5 * tf.square(error), error - 0.5))
    main, slow = tf.trainable_variables("main"), tf.trainable_variables("target")
    optimizer = tf.train.AdamOptimizer(0.01)
    gradients = optimizer.compute_gradients(loss, main)
    step = optimizer.apply_gradients([(tf.clip_by_norm(g, 10), v) for g, v in gradients])
    with tf.control_dependencies([step]):
        followed = [s.assign(0.9 * s + 0.1 * m) for s, m in zip(slow, main, strict=True)]
    feeds = {states: normal(0, 12, 6), after: normal(1, 12, 6), actions: integers(2, 3, 12)}
    return loss, tf.group(*followed), {**feeds, rewards: normal(3, 12)}


@program
def gradient_penalty(tf):
    """A critic whose own gradient is held near 1."""
    real, noise = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.float32, [None, 4])
    share = tf.placeholder(tf.float32, [None, 1])

    def network(x, n, scope):
        with tf.variable_scope(scope, reuse=tf.AUTO_REUSE):
            x = tf.nn.leaky_relu(tf.layers.dense(x, 16, name="first"))
            return tf.layers.dense(tf.nn.softplus(x), n, name="last")

    fake = network(noise, 2, "generator")
    between = real + share * (fake - real)
    (slope,) = tf.gradients(network(between, 1, "critic"), [between])
    penalty = tf.reduce_mean((tf.sqrt(tf.reduce_sum(tf.square(slope), axis=[1])) - 1) ** 2)
    scores = tf.reduce_mean(network(fake, 1, "critic")) - tf.reduce_mean(network(real, 1, "critic"))
    loss = scores + 10 * penalty
    optimizer = tf.train.AdamOptimizer(1e-3, 0.5, 0.9)
    step = optimizer.minimize(loss, var_list=tf.trainable_variables("critic"))
    return loss, step, {real: normal(0, 8, 2), noise: normal(1, 8, 4), share: normal(2, 8, 1) ** 2}


@program
def memory(tf):
    """An end-to-end memory network, whose rows of index 0 stay zeros."""
    story, question = (tf.placeholder(tf.int32, shape) for shape in ([None, 4, 5], [None, 5]))
    answer = tf.placeholder(tf.int64, [None])
    tables = [
        tf.Variable(tf.concat([tf.zeros([1, 8]), tf.ones([24, 8])], 0), name=f"table{i}")
        for i in range(3)
    ]
    state = tf.reduce_sum(tf.nn.embedding_lookup(tables[0], question), 1)
    for keys, values in pairwise(tables):
        memories = tf.reduce_sum(tf.nn.embedding_lookup(keys, story), 2)
        weights = tf.nn.softmax(tf.reduce_sum(memories * tf.expand_dims(state, 1), 2))
        read = tf.reduce_sum(tf.nn.embedding_lookup(values, story), 2)
        state += tf.reduce_sum(read * tf.expand_dims(weights, 2), 1)
    logits = tf.matmul(state, tables[-1], transpose_b=True)
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(logits=logits, labels=answer)
    loss = tf.reduce_sum(losses)
    optimizer = tf.train.AdagradOptimizer(0.05)

    def without_first(gradient):
        gradient = tf.clip_by_norm(gradient, 40.0)
        rows = tf.slice(tf.convert_to_tensor(gradient), [1, 0], [-1, -1])
        return tf.concat([tf.zeros([1, tf.shape(gradient)[1]]), rows], 0)

    pairs = [(without_first(g), v) for g, v in optimizer.compute_gradients(loss)]
    feeds = {story: integers(0, 25, 6, 4, 5), question: integers(1, 25, 6, 5, low=1)}
    return loss, optimizer.apply_gradients(pairs), {**feeds, answer: integers(2, 25, 6)}


@program
def places_in_loop(tf):
    """A loop that looks columns up by its counter, marks them, and sums and turns its state."""
    x = tf.placeholder(tf.int32, [None, None])
    weights = tf.get_variable("weights", [12, 12])

    def body(i, state, total):
        state = tf.tanh(tf.matmul(state, weights) + tf.one_hot(x[:, i], 12))
        total += tf.reduce_sum(tf.nn.softplus(tf.cumsum(state, 1)))
        return i + 1, state, total + tf.reduce_sum(tf.reverse(state, [1]) * tf.log1p(state**2))

    start = [0, tf.zeros([tf.shape(x)[0], 12]), 0.0]
    total = tf.while_loop(lambda i, *_: i < tf.shape(x)[1], body, start)[2]
    loss = total / 100
    return (
        loss,
        tf.train.GradientDescentOptimizer(0.05).minimize(loss),
        {x: integers(0, 12, 4, 9)},
    )


@program
def penalised_beam(tf):
    """A decoder that is trained with teacher forcing, and the scores of its beam search."""
    batch, beams, n_words, size = 3, 3, 12, 6
    words = tf.placeholder(tf.int32, [batch, 6])
    table = tf.get_variable("table", [n_words, size])
    cell, layer = tf.nn.rnn_cell.GRUCell(size), tf.layers.Dense(n_words)

    def step(tokens, state):
        with tf.variable_scope("decoder", reuse=tf.AUTO_REUSE):
            output, state = cell(tf.nn.embedding_lookup(table, tokens), state)
        return layer(output), state

    state, logits = tf.zeros([batch, size]), []
    for i in range(5):
        scores, state = step(words[:, i], state)
        logits.append(scores)
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=words[:, 1:], logits=tf.stack(logits, 1)
    )

    def body(i, tokens, totals, state, paths):
        scores, state = step(tf.reshape(tokens, [-1]), state)
        scores = tf.reshape(tf.nn.log_softmax(scores), [batch, beams, n_words])
        scores = tf.reshape(scores + tf.expand_dims(totals, 2), [batch, -1])
        totals, places = tf.nn.top_k(scores, beams)
        beam, tokens = places // n_words, places % n_words
        state = tf.gather(tf.reshape(state, [batch, beams, size]), beam, batch_dims=1)
        paths = tf.gather(paths, beam, batch_dims=1)
        paths = tf.concat([paths, tf.expand_dims(tokens, 2)], 2)
        return i + 1, tokens, totals, tf.reshape(state, [-1, size]), paths

    start = [
        *(0, tf.ones([batch, beams], tf.int32), tf.tile([[0.0, -1e9, -1e9]], [batch, 1])),
        *(tf.zeros([batch * beams, size]), tf.zeros([batch, beams, 0], tf.int32)),
    ]
    shapes = [tensor.shape if hasattr(tensor, "shape") else [] for tensor in start]
    shapes = [*map(tf.TensorShape, shapes[:-1]), tf.TensorShape([batch, beams, None])]
    results = tf.while_loop(lambda i, *_: i < 4, body, start, shapes)
    lengths = tf.cast(tf.shape(results[4])[2], tf.float32)
    loss = tf.reduce_mean(losses) - 0.01 * tf.reduce_mean(results[2]) / lengths**0.6
    optimizer = tf.train.AdamOptimizer(0.05)
    pairs = [(tf.clip_by_norm(g, 1.0), v) for g, v in optimizer.compute_gradients(loss)]
    return loss, optimizer.apply_gradients(pairs), {words: integers(1, n_words, batch, 6)}


@program
def filtered_states(tf):
    """A Kalman filter whose noise is learnt, by scan, solve and Cholesky factors."""
    moves, sees = tf.constant([[1.0, 0.1], [0.0, 1.0]]), tf.constant([[1.0, 0.0]])
    noise = tf.exp(tf.get_variable("noise", [2]))
    observed = tf.placeholder(tf.float32, [None, 1])

    def step(carried, y):
        mean, spread, _ = carried
        mean = tf.linalg.matvec(moves, mean)
        spread = moves @ spread @ tf.transpose(moves) + noise[0] * tf.eye(2)
        seen = sees @ spread @ tf.transpose(sees) + noise[1] * tf.eye(1)
        gain = tf.transpose(tf.linalg.solve(seen, sees @ spread))
        error, factor = y - tf.linalg.matvec(sees, mean), tf.cholesky(seen)
        whitened = tf.linalg.triangular_solve(factor, error[:, None])
        likelihood = -0.5 * tf.reduce_sum(tf.square(whitened))
        likelihood -= tf.reduce_sum(tf.log(tf.matrix_diag_part(factor)))
        spread = (tf.eye(2) - gain @ sees) @ spread
        return mean + tf.linalg.matvec(gain, error), spread, likelihood

    _, _, likelihoods = tf.scan(step, observed, (tf.zeros([2]), tf.eye(2), 0.0))
    loss = -tf.reduce_mean(likelihoods)
    step_op = tf.train.RMSPropOptimizer(0.05, centered=True).minimize(loss)
    return loss, step_op, {observed: np.cumsum(normal(1, 12, 1), 0)}


@program
def convolved_graph(tf):
    """A graph convolution of sparse features, half of whose nodes have labels."""
    adjacency = tf.sparse_placeholder(tf.float32, [8, 8])
    features = tf.sparse_placeholder(tf.float32)
    first, second = tf.get_variable("first", [5, 6]), tf.get_variable("second", [6, 3])
    hidden = tf.sparse_tensor_dense_matmul(features, first)
    hidden = tf.nn.relu(tf.sparse_tensor_dense_matmul(adjacency, hidden))
    logits = tf.sparse_tensor_dense_matmul(adjacency, tf.matmul(hidden, second))
    labels = tf.one_hot(integers(2, 3, 8), 3)
    losses = tf.nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits)
    mask = tf.constant([1.0] * 4 + [0.0] * 4)
    loss = tf.reduce_mean(losses * mask / tf.reduce_mean(mask)) + 5e-4 * tf.nn.l2_loss(first)
    links = (np.abs(normal(3, 8, 8)) > 1).astype(np.float32)
    links = np.maximum(links, links.T) + np.eye(8, dtype=np.float32)
    values = np.maximum(normal(4, 8, 5), 0)
    sparse = [
        tf.SparseTensorValue(np.argwhere(x > 0), x[x > 0], x.shape)
        for x in (links / links.sum(1, keepdims=True), values)
    ]
    feeds = {adjacency: sparse[0], features: sparse[1]}
    return loss, tf.train.AdamOptimizer(0.05).minimize(loss), feeds


def losses_of(tf, function) -> list[float]:
    """The losses of some steps, from weights that their names choose."""
    with tf.Graph().as_default(), tf.Session() as session:
        loss, step, feeds = function(tf)
        session.run(tf.global_variables_initializer())
        for v in tf.trainable_variables():
            shape = v.shape.as_list()
            seed = zlib.crc32(v.op.name.encode()) % 2**31
            v.load(normal(seed, *shape) / np.float32(np.sqrt(shape[0])), session)
        return [float(session.run([loss, step], feeds)[0]) for _ in range(N_STEPS)]


def outcomes(tf):
    """Each program's losses."""
    return {function.__name__: losses_of(tf, function) for function in PROGRAMS}
