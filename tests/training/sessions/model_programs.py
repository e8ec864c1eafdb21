"""Models as people wrote them for TF1, given `tf`: twenty steps of training, and what comes of it.

model_programs.json has what TensorFlow gives.
"""

from __future__ import annotations

import numpy as np

PROGRAMS = []
STEPS = 20


def program(function):
    """Lists a program."""
    PROGRAMS.append(function)
    return function


def train(tf, loss, step, feed):
    """The losses of some steps, from the variables' initial values on."""
    session = tf.Session()
    session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
    losses = [session.run([loss, step], feed(i))[0] for i in range(STEPS)]
    return session, losses


@program
def attention_by_hand(tf, numbers):
    """An encoder, and a decoder with additive attention in a loop that feeds what it chose."""
    vocab, dim, batch, length = 12, 8, 4, 6
    source = tf.placeholder(tf.int32, [None, None])
    target = tf.placeholder(tf.int32, [None, length])
    table = tf.get_variable(
        "embedding", [vocab, dim], initializer=tf.random_uniform_initializer(-1, 1)
    )
    with tf.variable_scope("encoder"):
        cell = tf.nn.rnn_cell.GRUCell(dim)
        memory, state = tf.nn.dynamic_rnn(
            cell, tf.nn.embedding_lookup(table, source), dtype=tf.float32, swap_memory=True
        )
    with tf.variable_scope("decoder"):
        w_memory = tf.get_variable("w_memory", [dim, dim])
        w_query = tf.get_variable("w_query", [dim, dim])
        v = tf.get_variable("v", [dim])
        keys = tf.tensordot(memory, w_memory, [[2], [0]])
        decoder = tf.nn.rnn_cell.GRUCell(dim)
        decoder.build(tf.TensorShape([None, 2 * dim]))
        out_w = tf.get_variable("out_w", [dim, vocab])

        def body(i, state, word, logits):
            query = tf.expand_dims(tf.matmul(state, w_query), 1)
            weights = tf.nn.softmax(tf.reduce_sum(v * tf.tanh(keys + query), 2))
            context = tf.reduce_sum(tf.expand_dims(weights, 2) * memory, 1)
            inputs = tf.concat([tf.nn.embedding_lookup(table, word), context], 1)
            out, state = decoder(inputs, state)
            row = tf.matmul(out, out_w)
            return i + 1, state, tf.argmax(row, 1, output_type=tf.int32), logits.write(i, row)

        start = tf.zeros([tf.shape(source)[0]], tf.int32)
        array = tf.TensorArray(tf.float32, size=length)
        _, _, _, array = tf.while_loop(lambda i, *_: i < length, body, [0, state, start, array])
        logits = tf.transpose(array.stack(), [1, 0, 2])
    loss = tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=target, logits=logits)
    )
    optimizer = tf.train.AdamOptimizer(0.05)
    grads, variables = zip(*optimizer.compute_gradients(loss), strict=True)
    clipped, norm = tf.clip_by_global_norm(grads, 1.0)
    step = optimizer.apply_gradients(zip(clipped, variables, strict=True))
    words = numbers.integers(1, vocab, (batch, length))
    feed = {source: words, target: words[:, ::-1]}
    session, losses = train(tf, loss, step, lambda i: feed)
    with session:
        return {
            "losses": losses,
            "norm": session.run(norm, feed),
            "names": [v.name for v in tf.trainable_variables()],
        }


@program
def batch_norm_by_hand(tf, numbers):
    """Moving averages that a branch updates, and fused batch normalization beside them."""

    def normalized(x, n, training, scope):
        with tf.variable_scope(scope):
            beta = tf.Variable(tf.zeros([n]), name="beta", trainable=True)
            gamma = tf.Variable(tf.ones([n]), name="gamma", trainable=True)
            mean, variance = tf.nn.moments(x, [0, 1, 2], name="moments")
            ema = tf.train.ExponentialMovingAverage(decay=0.5)

            def updated():
                with tf.control_dependencies([ema.apply([mean, variance])]):
                    return tf.identity(mean), tf.identity(variance)

            m, v = tf.cond(training, updated, lambda: (ema.average(mean), ema.average(variance)))
            return tf.nn.batch_normalization(x, m, v, beta, gamma, 1e-3)

    x = tf.placeholder(tf.float32, [None, 6, 6, 2])
    y = tf.placeholder(tf.float32, [None, 1])
    training = tf.placeholder(tf.bool, name="phase")
    w = tf.Variable(tf.truncated_normal([3, 3, 2, 4], stddev=0.2), name="w")
    h = tf.nn.relu(normalized(tf.nn.conv2d(x, w, [1, 1, 1, 1], "SAME"), 4, training, "bn"))
    scale, offset = tf.Variable(tf.ones([4])), tf.Variable(tf.zeros([4]))
    h, _, _ = tf.nn.fused_batch_norm(h, scale, offset)
    h = tf.reshape(tf.nn.max_pool(h, [1, 2, 2, 1], [1, 2, 2, 1], "VALID"), [-1, 36])
    out = tf.matmul(h, tf.Variable(tf.truncated_normal([36, 1], stddev=0.1))) + 0.1
    loss = tf.losses.mean_squared_error(y, out)
    step = tf.train.MomentumOptimizer(0.01, 0.9, use_nesterov=True).minimize(loss)
    images = numbers.random((8, 6, 6, 2))
    labels = images.mean((1, 2, 3))[:, None]
    session, losses = train(tf, loss, step, lambda i: {x: images, y: labels, training: True})
    with session:
        value = session.run(out, {x: images[:3], training: False})
        names = sorted(v.name for v in tf.global_variables())
    return {"losses": losses, "out": value, "names": names}


@program
def triplet_loss(tf, numbers):
    """A network with shared weights, and the hardest triplets of a batch."""

    def embed(x):
        with tf.variable_scope("siamese", reuse=tf.AUTO_REUSE):
            h = tf.layers.dense(x, 16, tf.nn.relu, name="fc1")
            return tf.nn.l2_normalize(tf.layers.dense(h, 4, name="fc2"), 1)

    x, labels = tf.placeholder(tf.float32, [None, 5]), tf.placeholder(tf.int32, [None])
    e = embed(x)
    dot = tf.matmul(e, e, transpose_b=True)
    norm = tf.diag_part(dot)
    distances = tf.maximum(tf.expand_dims(norm, 0) - 2.0 * dot + tf.expand_dims(norm, 1), 0.0)
    mask = tf.to_float(tf.equal(distances, 0.0))
    distances = tf.sqrt(distances + mask * 1e-16) * (1.0 - mask)
    same = tf.equal(tf.expand_dims(labels, 0), tf.expand_dims(labels, 1))
    positive = tf.to_float(tf.logical_and(same, tf.logical_not(tf.cast(tf.eye(9), tf.bool))))
    hardest = tf.reduce_max(positive * distances, axis=1, keepdims=True)
    largest = tf.reduce_max(distances, axis=1, keepdims=True)
    negative = tf.to_float(tf.logical_not(same))
    nearest = tf.reduce_min(distances + largest * (1.0 - negative), axis=1, keepdims=True)
    loss = tf.reduce_mean(tf.maximum(hardest - nearest + 0.5, 0.0)) + 0.01 * tf.reduce_mean(
        tf.square(embed(x) - embed(tf.reverse(x, [0])))
    )
    step = tf.train.AdagradOptimizer(0.1).minimize(loss)
    points, groups = numbers.standard_normal((9, 5)), np.arange(9) % 3
    session, losses = train(tf, loss, step, lambda i: {x: points + groups[:, None], labels: groups})
    session.close()
    return {"losses": losses, "names": [v.name for v in tf.trainable_variables()]}


@program
def style_transfer(tf, numbers):
    """An image that is trained, by Gram matrices of fixed features."""
    filters = [numbers.standard_normal(s) * 0.2 for s in ((3, 3, 3, 4), (3, 3, 4, 6))]

    def features(image):
        layers = []
        for i, f in enumerate(filters):
            with tf.variable_scope(f"conv{i}"):
                image = tf.nn.conv2d(image, tf.constant(f, tf.float32), [1, 1, 1, 1], "SAME")
                image = tf.nn.elu(image)
                layers.append(image)
                image = tf.nn.avg_pool(image, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
        return layers

    def gram(layer):
        _, h, w, c = layer.get_shape().as_list()
        flat = tf.reshape(layer, [-1, c])
        return tf.matmul(flat, flat, transpose_a=True) / (h * w * c)

    content, style = (tf.constant(numbers.random((1, 9, 9, 3)), tf.float32) for _ in range(2))
    image = tf.Variable(tf.random_normal([1, 9, 9, 3], stddev=0.1), name="image")
    of_image, of_content, of_style = map(features, (image, content, style))
    loss = tf.nn.l2_loss(of_image[1] - of_content[1])
    loss += tf.add_n(
        [50 * tf.nn.l2_loss(gram(a) - gram(b)) for a, b in zip(of_image, of_style, strict=True)]
    )
    loss += 0.01 * tf.reduce_sum(tf.image.total_variation(image))
    step = tf.train.AdamOptimizer(0.05, beta1=0.99, epsilon=1e-1).minimize(loss, var_list=[image])
    with tf.control_dependencies([step]):
        clip = image.assign(tf.clip_by_value(image, -1.0, 1.0))
    session, losses = train(tf, loss, clip, lambda i: {})
    with session:
        return {"losses": losses, "image": session.run(image)[0, ::3, ::3]}


@program
def variational_autoencoder(tf, numbers):
    """The reparametrization trick, with transposed convolutions and noise of the graph's seed."""
    x = tf.placeholder(tf.float32, [None, 8, 8, 1])
    noisy = tf.nn.dropout(x, keep_prob=0.8, seed=5)
    h = tf.layers.conv2d(noisy, 4, 3, strides=2, padding="same", activation=tf.nn.leaky_relu)
    h = tf.layers.flatten(h)
    mean, log_sigma = tf.split(tf.layers.dense(h, 6), 2, axis=1)
    z = mean + tf.exp(log_sigma) * tf.random_normal(tf.shape(mean), seed=7)
    h = tf.reshape(tf.layers.dense(z, 4 * 4 * 4, tf.nn.relu), [-1, 4, 4, 4])
    kernel = tf.get_variable("deconv", [3, 3, 1, 4])
    shape = tf.stack([tf.shape(h)[0], 8, 8, 1])
    logits = tf.nn.conv2d_transpose(h, kernel, shape, [1, 2, 2, 1])
    likelihood = tf.reduce_sum(
        tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=logits), [1, 2, 3]
    )
    divergence = -0.5 * tf.reduce_sum(
        1 + 2 * log_sigma - tf.square(mean) - tf.exp(2 * log_sigma), 1
    )
    loss = tf.reduce_mean(likelihood + divergence)
    step = tf.train.RMSPropOptimizer(0.003, momentum=0.5).minimize(loss)
    images = (numbers.random((6, 8, 8, 1)) > 0.5).astype(np.float32)
    session, losses = train(tf, loss, step, lambda i: {x: images})
    with session:
        return {
            "losses": losses,
            "decoded": session.run(tf.sigmoid(logits), {z: np.ones((2, 3)), x: images[:2]})[
                :, ::3, ::3, 0
            ],
        }


@program
def wavenet(tf, numbers):
    """Causal convolutions with growing dilation, gates, residual and skip connections."""
    x, y = tf.placeholder(tf.float32, [None, 24, 1]), tf.placeholder(tf.int32, [None, 24])

    def causal(value, width, out, dilation, name):
        with tf.variable_scope(name):
            w = tf.get_variable("w", [width, value.get_shape()[-1], out])
            padded = tf.pad(value, [[0, 0], [(width - 1) * dilation, 0], [0, 0]])
            return tf.nn.convolution(padded, w, "VALID", dilation_rate=[dilation])

    h, skips = causal(x, 2, 6, 1, "front"), []
    for i, dilation in enumerate([1, 2, 4, 8]):
        with tf.variable_scope(f"layer{i}"):
            gate = tf.sigmoid(causal(h, 2, 6, dilation, "gate"))
            value = tf.tanh(causal(h, 2, 6, dilation, "filter")) * gate
            skips.append(tf.layers.conv1d(value, 5, 1, name="skip"))
            h = h + tf.layers.conv1d(value, 6, 1, name="residual")
    out = tf.nn.relu(sum(skips))
    logits = tf.layers.conv1d(out, 4, 1, name="out")
    loss = tf.losses.sparse_softmax_cross_entropy(y, logits)
    step = tf.train.AdamOptimizer(0.01).minimize(
        loss, global_step=tf.train.get_or_create_global_step()
    )
    wave = np.sin(np.arange(25) * 0.7)[None] * numbers.random((3, 1))
    feed = {x: wave[:, :-1, None], y: np.digitize(wave[:, 1:], [-0.4, 0, 0.4])}
    session, losses = train(tf, loss, step, lambda i: feed)
    with session:
        return {"losses": losses, "step": session.run(tf.train.get_global_step())}


@program
def wide_and_deep(tf, numbers):
    """Sparse features into two optimizers: Ftrl for the wide part, Adagrad for the deep one."""
    ids = tf.sparse_placeholder(tf.int64, shape=[None, 4])
    weights = tf.sparse_placeholder(tf.float32, shape=[None, 4])
    dense, label = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.float32, [None, 1])
    with tf.variable_scope("wide", partitioner=tf.fixed_size_partitioner(2)):
        wide = tf.get_variable("w", [10, 1], initializer=tf.zeros_initializer())
        linear = tf.nn.embedding_lookup_sparse(wide, ids, weights, combiner="sum")
    with tf.variable_scope("deep"):
        table = tf.get_variable("table", [10, 3], initializer=tf.random_normal_initializer(0, 0.3))
        pooled = tf.nn.safe_embedding_lookup_sparse(table, ids, None, combiner="sqrtn")
        h = tf.layers.dense(tf.concat([pooled, dense], 1), 8, tf.nn.relu)
        deep = tf.layers.dense(h, 1)
    loss = tf.losses.sigmoid_cross_entropy(label, linear + deep)
    by_scope = [tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, s) for s in ("wide", "deep")]
    step = tf.group(
        tf.train.FtrlOptimizer(0.5, l1_regularization_strength=0.01).minimize(
            loss, var_list=by_scope[0]
        ),
        tf.train.AdagradOptimizer(0.2).minimize(loss, var_list=by_scope[1]),
    )
    where = np.array([[0, 0], [0, 2], [1, 1], [2, 0], [2, 1], [2, 3], [3, 0]])
    names = numbers.integers(0, 10, len(where))
    sparse = tf.SparseTensorValue(where, names, [4, 4])
    scales = tf.SparseTensorValue(where, numbers.random(len(where)), [4, 4])
    x, y = numbers.standard_normal((4, 2)), np.array([[0.0], [1], [1], [0]])
    feed = {ids: sparse, weights: scales, dense: x, label: y}
    session, losses = train(tf, loss, step, lambda i: feed)
    with session:
        return {"losses": losses, "wide": session.run(tf.convert_to_tensor(wide))}


@program
def text_cnn(tf, numbers):
    """Filters of several widths over words, dropout, and gradients whose norms are summarized."""
    x, y = tf.placeholder(tf.int32, [None, 10]), tf.placeholder(tf.float32, [None, 2])
    keep = tf.placeholder(tf.float32)
    with tf.name_scope("embedding"):
        w = tf.Variable(tf.random_uniform([30, 6], -1.0, 1.0), name="W")
        chars = tf.expand_dims(tf.nn.embedding_lookup(w, x), -1)
    pooled, l2 = [], tf.constant(0.0)
    for size in (2, 3, 4):
        with tf.name_scope(f"conv-maxpool-{size}"):
            f = tf.Variable(tf.truncated_normal([size, 6, 1, 4], stddev=0.1), name="W")
            b = tf.Variable(tf.constant(0.1, shape=[4]), name="b")
            conv = tf.nn.conv2d(chars, f, strides=[1, 1, 1, 1], padding="VALID", name="conv")
            h = tf.nn.relu(tf.nn.bias_add(conv, b), name="relu")
            pooled.append(
                tf.nn.max_pool(h, [1, 10 - size + 1, 1, 1], [1, 1, 1, 1], "VALID", name="pool")
            )
    flat = tf.reshape(tf.concat(pooled, 3), [-1, 12])
    with tf.name_scope("output"):
        dropped = tf.nn.dropout(flat, keep)
        w = tf.get_variable("W", [12, 2], initializer=tf.glorot_uniform_initializer())
        b = tf.Variable(tf.constant(0.1, shape=[2]), name="b")
        l2 += tf.nn.l2_loss(w) + tf.nn.l2_loss(b)
        scores = tf.nn.xw_plus_b(dropped, w, b, name="scores")
    losses = tf.nn.softmax_cross_entropy_with_logits_v2(logits=scores, labels=y)
    loss = tf.reduce_mean(losses) + 0.1 * l2
    step = tf.Variable(0, name="global_step", trainable=False)
    rate = tf.train.exponential_decay(0.01, step, 5, 0.9, staircase=True)
    optimizer = tf.train.AdamOptimizer(rate)
    pairs = optimizer.compute_gradients(loss)
    norms = {v.name: tf.global_norm([g]) for g, v in pairs if g is not None}
    apply = optimizer.apply_gradients(pairs, global_step=step)
    words, labels = numbers.integers(0, 30, (5, 10)), np.eye(2)[[0, 1, 0, 1, 1]]
    feed = {x: words, y: labels, keep: 0.5}
    session, values = train(tf, loss, apply, lambda i: feed)
    with session:
        final = session.run([norms, rate], {**feed, keep: 1.0})
    return {"losses": values, "norms": list(final[0].values()), "rate": final[1]}


@program
def stacked_bidirectional(tf, numbers):
    """Layers of cells with dropout, both ways, over sequences of unequal lengths."""
    x, lengths = tf.placeholder(tf.float32, [None, 7, 3]), tf.placeholder(tf.int32, [None])
    y = tf.placeholder(tf.int32, [None, 7])

    def cells():
        layers = [tf.nn.rnn_cell.LSTMCell(n, use_peepholes=True, num_proj=3) for n in (5, 4)]
        layers = [
            tf.nn.rnn_cell.DropoutWrapper(c, output_keep_prob=0.9, seed=i)
            for i, c in enumerate(layers)
        ]
        return tf.nn.rnn_cell.MultiRNNCell(layers)

    (forward, backward), states = tf.nn.bidirectional_dynamic_rnn(
        cells(), cells(), x, lengths, dtype=tf.float32
    )
    out = tf.concat([forward, backward], 2)
    logits = tf.reshape(tf.layers.dense(tf.reshape(out, [-1, 6]), 4), [-1, 7, 4])
    mask = tf.sequence_mask(lengths, 7, dtype=tf.float32)
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits) * mask
    loss = tf.reduce_sum(losses) / tf.reduce_sum(mask)
    variables = tf.trainable_variables()
    grads, _ = tf.clip_by_global_norm(tf.gradients(loss, variables), 5)
    step = tf.train.AdadeltaOptimizer(1.0, epsilon=1e-3).apply_gradients(
        zip(grads, variables, strict=True)
    )
    data, labels = numbers.standard_normal((3, 7, 3)), numbers.integers(0, 4, (3, 7))
    session, values = train(tf, loss, step, lambda i: {x: data, y: labels, lengths: [7, 3, 5]})
    session.close()
    return {"losses": values, "names": [v.name for v in variables], "n": len(states)}


@program
def residual_network(tf, numbers):
    """Blocks with regularizers, rates in pieces, and updates of batch normalization."""
    x, y = tf.placeholder(tf.float32, [None, 8, 8, 3]), tf.placeholder(tf.int64, [None])
    training = tf.placeholder_with_default(False, [])

    def conv(value, filters, strides, name):
        return tf.layers.conv2d(
            value, filters, 3, strides, "same", use_bias=False, name=name,
            kernel_initializer=tf.variance_scaling_initializer(2.0),
            kernel_regularizer=lambda w: 1e-3 * tf.nn.l2_loss(w),
        )  # fmt: skip

    def block(value, filters, strides, name):
        with tf.variable_scope(name):
            short = value
            value = tf.nn.relu(tf.layers.batch_normalization(value, training=training, name="bn1"))
            if strides > 1 or value.shape[-1] != filters:
                short = tf.layers.conv2d(value, filters, 1, strides, name="project")
            value = conv(value, filters, strides, "conv1")
            value = tf.layers.batch_normalization(
                value, training=training, name="bn2", momentum=0.9
            )
            return short + conv(tf.nn.relu(value), filters, 1, "conv2")

    h = conv(x, 4, 1, "first")
    for i, (filters, strides) in enumerate([(4, 1), (8, 2)]):
        h = block(h, filters, strides, f"block{i}")
    logits = tf.layers.dense(tf.reduce_mean(h, [1, 2]), 3)
    cross = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
    loss = cross + tf.losses.get_regularization_loss()
    correct = tf.reduce_mean(tf.to_float(tf.nn.in_top_k(logits, y, 1)))
    step = tf.train.get_or_create_global_step()
    rate = tf.train.piecewise_constant(step, [5, 12], [0.1, 0.05, 0.01])
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        update = tf.train.MomentumOptimizer(rate, 0.9).minimize(loss, step)
    images, labels = numbers.random((6, 8, 8, 3)), np.arange(6) % 3
    session, losses = train(tf, loss, update, lambda i: {x: images, y: labels, training: True})
    with session:
        accuracy, predicted = session.run([correct, tf.nn.softmax(logits)], {x: images, y: labels})
    n = len(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES))
    return {"losses": losses, "accuracy": accuracy, "predicted": predicted, "n": n}


@program
def mixture_density(tf, numbers):
    """A mixture of normals, with a gradient that reverses."""

    @tf.custom_gradient
    def reverse(x):
        return tf.identity(x), lambda dy: -0.1 * dy

    x, y = tf.placeholder(tf.float64, [None, 1]), tf.placeholder(tf.float64, [None, 1])
    h = tf.layers.dense(x, 12, tf.tanh)
    weights, means, logs = tf.split(tf.layers.dense(h, 9), 3, 1)
    densities = -0.5 * tf.square((y - means) / tf.exp(logs)) - logs - 0.5 * np.log(2 * np.pi)
    likelihood = tf.reduce_logsumexp(tf.nn.log_softmax(weights) + densities, axis=1)
    domain = tf.layers.dense(reverse(h), 1, kernel_initializer=tf.orthogonal_initializer())
    loss = -tf.reduce_mean(likelihood) + tf.reduce_mean(tf.nn.softplus(domain))
    step = tf.train.AdamOptimizer(
        tf.train.cosine_decay(0.05, tf.train.get_or_create_global_step(), 20)
    )
    step = step.minimize(loss, tf.train.get_global_step())
    points = numbers.uniform(-2, 2, (16, 1))
    session, losses = train(tf, loss, step, lambda i: {x: np.sin(points * 2), y: points})
    session.close()
    return {"losses": losses, "type": loss.dtype.name}


@program
def policy_gradient(tf, numbers):
    """Actions that are drawn, and gradients that are gathered outside and fed."""
    state = tf.placeholder(tf.float32, [None, 3])
    advantage, chosen = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.int32, [None])
    logits = tf.layers.dense(tf.layers.dense(state, 6, tf.nn.tanh), 3)
    action = tf.squeeze(tf.multinomial(logits, 1, seed=3), 1)
    log = tf.reduce_sum(tf.nn.log_softmax(logits) * tf.one_hot(chosen, 3), 1)
    entropy = -tf.reduce_sum(tf.nn.softmax(logits) * tf.nn.log_softmax(logits), 1)
    loss = -tf.reduce_mean(log * advantage + 0.01 * entropy)
    optimizer = tf.train.ProximalGradientDescentOptimizer(0.1, l2_regularization_strength=0.01)
    pairs = optimizer.compute_gradients(loss)
    holders = [(tf.placeholder(tf.float32, v.shape), v) for _, v in pairs]
    apply = optimizer.apply_gradients(holders)
    actions, losses = [], []
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(STEPS):
            states = numbers.standard_normal((4, 3))
            drawn = session.run(action, {state: states})
            rewards = np.where(drawn == states.argmax(1), 1.0, -0.5)
            feed = {state: states, chosen: drawn, advantage: rewards}
            value, grads = session.run([loss, [g for g, _ in pairs]], feed)
            session.run(apply, {h: g for (h, _), g in zip(holders, grads, strict=True)})
            actions.append(drawn)
            losses.append(value)
    return {"losses": losses, "actions": actions}


@program
def transformer_encoder(tf, numbers):
    """Heads, layer normalization and positions by hand; smoothed labels; a rate that warms up."""
    n, dim, heads = 6, 8, 2
    x, y = tf.placeholder(tf.int32, [None, n]), tf.placeholder(tf.int32, [None, n])

    def layer_norm(value, scope):
        with tf.variable_scope(scope):
            gamma = tf.get_variable("gamma", dim, initializer=tf.ones_initializer())
            beta = tf.get_variable("beta", dim, initializer=tf.zeros_initializer())
            mean, variance = tf.nn.moments(value, [-1], keep_dims=True)
            return gamma * (value - mean) / tf.sqrt(variance + 1e-6) + beta

    def attention(value, mask):
        q, k, v = (tf.layers.dense(value, dim, use_bias=False, name=s) for s in "qkv")
        q, k, v = (tf.concat(tf.split(t, heads, axis=2), axis=0) for t in (q, k, v))
        scores = tf.matmul(q, tf.transpose(k, [0, 2, 1])) / (dim // heads) ** 0.5
        scores += tf.tile(mask, [heads, 1, 1]) * -1e9
        out = tf.matmul(tf.nn.softmax(scores), v)
        return tf.concat(tf.split(out, heads, axis=0), axis=2)

    positions = np.arange(n)[:, None] / 10 ** (np.arange(dim)[None] // 2 * 2 / dim)
    encoding = np.where(np.arange(dim) % 2, np.cos(positions), np.sin(positions))
    table = tf.get_variable("table", [10, dim])
    h = tf.nn.embedding_lookup(table, x) * dim**0.5 + tf.constant(encoding, tf.float32)
    mask = tf.tile(tf.to_float(tf.equal(x, 0))[:, None, :], [1, n, 1])
    mask = tf.maximum(
        mask, 1.0 - tf.linalg.LinearOperatorLowerTriangular(tf.ones([n, n])).to_dense()
    )
    for i in range(2):
        with tf.variable_scope(f"block_{i}"):
            h = layer_norm(h + attention(h, mask), "ln1")
            inner = tf.layers.dense(h, 16, lambda t: 0.5 * t * (1 + tf.erf(t / 2**0.5)))
            h = layer_norm(h + tf.layers.dense(inner, dim), "ln2")
    logits = tf.einsum("ntd,vd->ntv", h, table)
    smoothed = tf.one_hot(y, 10) * 0.9 + 0.01
    cross = tf.nn.softmax_cross_entropy_with_logits_v2(labels=smoothed, logits=logits)
    present = tf.to_float(tf.not_equal(y, 0))
    loss = tf.reduce_sum(cross * present) / (tf.reduce_sum(present) + 1e-7)
    step = tf.train.get_or_create_global_step()
    t = tf.cast(step + 1, tf.float32)
    rate = dim**-0.5 * tf.minimum(t * 5.0**-1.5, t**-0.5) * 0.3
    update = tf.train.AdamOptimizer(rate, 0.9, 0.98, 1e-9).minimize(loss, step)
    words = numbers.integers(0, 10, (3, n))
    session, losses = train(tf, loss, update, lambda i: {x: words, y: np.roll(words, -1, 1)})
    session.close()
    return {"losses": losses}
