"""Networks as people wrote them for TF1 from papers, given `tf`; see user_programs.py."""

from __future__ import annotations

import collections

import numpy as np

PROGRAMS = []


def program(function):
    """Lists a program."""
    PROGRAMS.append(function)
    return function


@program
def attention_and_beam_search(tf, numbers):
    """A translator: encoder both ways, attention, a decoder's loop, and a beam's search."""
    V, E, H, B, T, K = (20, 8, 12, 4, 6, 3)
    enc_in = tf.placeholder(tf.int32, [None, None], name="enc")
    enc_len = tf.placeholder(tf.int32, [None])
    dec_in = tf.placeholder(tf.int32, [None, None])
    dec_len = tf.placeholder(tf.int32, [None])
    with tf.variable_scope("s2s", initializer=tf.glorot_uniform_initializer(seed=4)):
        emb = tf.get_variable("emb", [V, E])
        with tf.variable_scope("enc"):
            fw, bw = (tf.nn.rnn_cell.GRUCell(H), tf.nn.rnn_cell.GRUCell(H))
            (of, ob), (sf, sb) = tf.nn.bidirectional_dynamic_rnn(
                fw,
                bw,
                tf.nn.embedding_lookup(emb, enc_in),
                sequence_length=enc_len,
                dtype=tf.float32,
            )
            memory = tf.concat([of, ob], 2)
            state0 = tf.layers.dense(tf.concat([sf, sb], 1), H, activation=tf.tanh, name="bridge")
        mask = tf.sequence_mask(enc_len, tf.shape(enc_in)[1], dtype=tf.float32)
        with tf.variable_scope("dec"):
            cell = tf.nn.rnn_cell.GRUCell(H)
            wm = tf.get_variable("wm", [2 * H, H])
            wq = tf.get_variable("wq", [H, H])
            v = tf.get_variable("v", [H])
            wo = tf.get_variable("wo", [3 * H, V])
            keys = tf.tensordot(memory, wm, axes=[[2], [0]])

            def attend(query, keys, memory, mask):
                score = tf.reduce_sum(
                    v * tf.tanh(keys + tf.expand_dims(tf.matmul(query, wq), 1)), 2
                )
                score = score * mask + (1 - mask) * -1000000000.0
                a = tf.nn.softmax(score)
                return (tf.reduce_sum(tf.expand_dims(a, 2) * memory, 1), a)

            def step(ids, context, state, keys, memory, mask):
                x = tf.concat([tf.nn.embedding_lookup(emb, ids), context], 1)
                out, state = cell(x, state)
                context, a = attend(out, keys, memory, mask)
                return (tf.matmul(tf.concat([out, context], 1), wo), context, state, a)

            n = tf.shape(dec_in)[1]
            tokens = tf.TensorArray(tf.int32, n).unstack(tf.transpose(dec_in))
            logits_ta = tf.TensorArray(tf.float32, n)

            def body(t, context, state, ta):
                logits, context, state, _ = step(tokens.read(t), context, state, keys, memory, mask)
                return (t + 1, context, state, ta.write(t, logits))

            with tf.variable_scope("loop"):
                c0 = tf.zeros([tf.shape(enc_in)[0], 2 * H])
                _, _, _, logits_ta = tf.while_loop(
                    lambda t, *_: t < n, body, [0, c0, state0, logits_ta], swap_memory=True
                )
            logits = tf.transpose(logits_ta.stack(), [1, 0, 2])
    target = tf.concat([dec_in[:, 1:], tf.ones([tf.shape(dec_in)[0], 1], tf.int32)], 1)
    w = tf.sequence_mask(dec_len, n, dtype=tf.float32)
    ce = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=target, logits=logits)
    loss = tf.reduce_sum(ce * w) / tf.reduce_sum(w)
    opt = tf.train.AdamOptimizer(0.01)
    grads, tvars = zip(*opt.compute_gradients(loss), strict=False)
    grads, norm = tf.clip_by_global_norm(grads, 1.0)
    gs = tf.train.get_or_create_global_step()
    train = opt.apply_gradients(zip(grads, tvars, strict=False), global_step=gs)
    with tf.variable_scope("s2s/dec", reuse=True):
        mem_k = tf.tile(memory[:1], [K, 1, 1])
        keys_k = tf.tile(keys[:1], [K, 1, 1])
        mask_k = tf.tile(mask[:1], [K, 1])

        def beam(t, ids, scores, context, state, alive):
            with tf.variable_scope("loop", reuse=True):
                logits, context, state, _ = step(ids[:, -1], context, state, keys_k, mem_k, mask_k)
            logp = tf.nn.log_softmax(logits)
            eos = tf.one_hot(tf.zeros([K], tf.int32) + 1, V, 0.0, -1000000000.0)
            logp = tf.where(alive, logp, eos)
            total = tf.reshape(tf.expand_dims(scores, 1) + logp, [-1])
            best, index = tf.nn.top_k(total, K)
            parent, word = (index // V, index % V)
            ids = tf.concat([tf.gather(ids, parent), tf.expand_dims(word, 1)], 1)
            alive = tf.logical_and(tf.gather(alive, parent), tf.not_equal(word, 1))
            return (t + 1, ids, best, tf.gather(context, parent), tf.gather(state, parent), alive)

        beams = tf.while_loop(
            lambda t, i, s, c, st, alive: tf.logical_and(t < 7, tf.reduce_any(alive)),
            beam,
            [
                0,
                tf.zeros([K, 1], tf.int32),
                tf.constant([0.0, -1000000000.0, -1000000000.0]),
                tf.zeros([K, 2 * H]),
                tf.reshape(tf.tile(state0[:1], [K, 1]), [K, H]),
                tf.ones([K], tf.bool),
            ],
            shape_invariants=[
                tf.TensorShape([]),
                tf.TensorShape([K, None]),
                tf.TensorShape([K]),
                tf.TensorShape([K, 2 * H]),
                tf.TensorShape([K, H]),
                tf.TensorShape([K]),
            ],
        )
    losses, norms = ([], [])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(12):
            e = numbers.integers(2, V, size=(B, T))
            length = numbers.integers(2, T + 1, size=B)
            d = np.concatenate([np.zeros((B, 1), int), e[:, ::-1]], 1)
            value, g, _ = sess.run(
                [loss, norm, train], {enc_in: e, enc_len: length, dec_in: d, dec_len: length + 1}
            )
            losses.append(value)
            norms.append(g)
        r = sess.run(beams, {enc_in: e, enc_len: length})
    return {
        "losses": losses,
        "norms": norms,
        "ids": r[1],
        "scores": r[2],
        "steps": r[0],
        "step": gs.name,
        "names": [v.name for v in tf.trainable_variables()],
    }


@program
def wasserstein_with_penalty(tf, numbers):
    """A generator and a critic whose gradient is held near 1, by gradients of gradients."""
    B, Z, S = (8, 6, 8)

    def generator(z, reuse=False):
        with tf.variable_scope("generator", reuse=reuse):
            h = tf.layers.dense(z, 2 * 2 * 16, use_bias=False)
            h = tf.reshape(h, [-1, 2, 2, 16])
            h = tf.nn.relu(tf.layers.batch_normalization(h, training=True))
            h = tf.layers.conv2d_transpose(h, 8, 5, strides=2, padding="same", use_bias=False)
            h = tf.nn.relu(tf.layers.batch_normalization(h, training=True, name="bn2"))
            return tf.tanh(tf.layers.conv2d_transpose(h, 1, 5, strides=2, padding="same"))

    def critic(x, reuse=False):
        with tf.variable_scope("critic", reuse=reuse):
            h = tf.nn.leaky_relu(tf.layers.conv2d(x, 8, 5, strides=2, padding="same"), 0.2)
            h = tf.nn.leaky_relu(tf.layers.conv2d(h, 16, 5, strides=2, padding="same", name="c2"))
            return tf.layers.dense(tf.layers.flatten(h), 1)

    real = tf.placeholder(tf.float32, [B, S, S, 1])
    z = tf.random_normal([B, Z], seed=11)
    fake = generator(z)
    d_real, d_fake = (critic(real), critic(fake, reuse=True))
    alpha = tf.random_uniform([B, 1, 1, 1], 0.0, 1.0, seed=12)
    between = real + alpha * (fake - real)
    g = tf.gradients(critic(between, reuse=True), [between])[0]
    slopes = tf.sqrt(tf.reduce_sum(tf.square(g), reduction_indices=[1, 2, 3]))
    penalty = tf.reduce_mean((slopes - 1.0) ** 2)
    d_loss = tf.reduce_mean(d_fake) - tf.reduce_mean(d_real) + 10.0 * penalty
    g_loss = -tf.reduce_mean(d_fake)
    t = tf.trainable_variables()
    d_vars = [v for v in t if v.name.startswith("critic")]
    g_vars = [v for v in t if "generator" in v.name]
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS, scope="generator")):
        g_step = tf.train.AdamOptimizer(0.001, beta1=0.0, beta2=0.9).minimize(
            g_loss, var_list=g_vars
        )
    d_step = tf.train.AdamOptimizer(0.001, beta1=0.0, beta2=0.9).minimize(d_loss, var_list=d_vars)
    out = []
    x = numbers.normal(size=(4, B, S, S, 1)).astype(np.float32)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for i in range(12):
            for k in range(2):
                d, p, _ = sess.run([d_loss, penalty, d_step], {real: x[(i + k) % 4]})
            gl, _ = sess.run([g_loss, g_step])
            out.append([d, p, gl])
        moving = sess.run([v for v in tf.global_variables() if "moving" in v.name])
    return {
        "out": out,
        "moving": [m.tolist() for m in moving],
        "updates": len(tf.get_collection(tf.GraphKeys.UPDATE_OPS)),
    }


@program
def capsules(tf, numbers):
    """Capsules routed by agreement, with images made again of them."""
    B, epsilon = (4, 1e-09)
    X = tf.placeholder(tf.float32, [B, 12, 12, 1])
    labels = tf.placeholder(tf.int32, [B])
    Y = tf.one_hot(labels, depth=3, axis=1, dtype=tf.float32)

    def squash(v):
        n = tf.reduce_sum(tf.square(v), -2, keepdims=True)
        return n / (1 + n) / tf.sqrt(n + epsilon) * v

    with tf.variable_scope("Conv1"):
        conv1 = tf.layers.conv2d(X, 8, 5, activation=tf.nn.relu)
    with tf.variable_scope("Primary"):
        caps = tf.layers.conv2d(conv1, 4 * 4, 5, 2, activation=tf.nn.relu)
        n = 2 * 2 * 4
        caps = squash(tf.reshape(caps, (B, n, 4, 1)))
    with tf.variable_scope("Digit"):
        inp = tf.reshape(caps, [B, n, 1, 4, 1])
        b_IJ = tf.constant(np.zeros([B, n, 3, 1, 1], np.float32))
        W = tf.get_variable(
            "Weight", [1, n, 3, 4, 6], initializer=tf.random_normal_initializer(stddev=0.1)
        )
        u_hat = tf.matmul(
            tf.tile(W, [B, 1, 1, 1, 1]), tf.tile(inp, [1, 1, 3, 1, 1]), transpose_a=True
        )
        stopped = tf.stop_gradient(u_hat, name="stop_gradient")
        for r in range(3):
            with tf.variable_scope(f"iter_{r}"):
                c = tf.nn.softmax(b_IJ, axis=2)
                if r == 2:
                    s = tf.reduce_sum(tf.multiply(c, u_hat), axis=1, keepdims=True)
                    v = squash(s)
                else:
                    v = squash(tf.reduce_sum(c * stopped, axis=1, keepdims=True))
                    v_t = tf.tile(v, [1, n, 1, 1, 1])
                    b_IJ += tf.matmul(stopped, v_t, transpose_a=True)
        caps2 = tf.squeeze(v, axis=1)
    length = tf.sqrt(tf.reduce_sum(tf.square(caps2), axis=2, keepdims=True) + epsilon)
    masked = tf.multiply(tf.squeeze(caps2, -1), tf.reshape(Y, (-1, 3, 1)))
    flat = tf.reshape(masked, (B, -1))
    fc = tf.layers.dense(flat, 20, activation=tf.nn.relu)
    decoded = tf.layers.dense(fc, 144, activation=tf.sigmoid)
    max_l = tf.square(tf.maximum(0.0, 0.9 - length))
    max_r = tf.square(tf.maximum(0.0, length - 0.1))
    L = Y * tf.reshape(max_l, (B, -1)) + 0.5 * (1 - Y) * tf.reshape(max_r, (B, -1))
    margin = tf.reduce_mean(tf.reduce_sum(L, axis=1))
    rec = tf.reduce_mean(tf.square(decoded - tf.reshape(X, (B, -1))))
    total = margin + 0.392 * rec
    tf.summary.scalar("total", total)
    tf.summary.image("rec", tf.reshape(decoded, (B, 12, 12, 1)))
    merged = tf.summary.merge_all()
    gs = tf.Variable(0, name="global_step", trainable=False)
    train = tf.train.AdamOptimizer().minimize(total, global_step=gs)
    predicted = tf.to_int32(tf.argmax(tf.reshape(length, (B, 3)), axis=1))
    acc = tf.reduce_sum(tf.cast(tf.equal(predicted, labels), tf.float32))
    rows = []
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(8):
            f = {X: numbers.random(size=(B, 12, 12, 1)), labels: numbers.integers(3, size=B)}
            _, t, m, a, su = sess.run([train, total, margin, acc, merged], f)
            rows.append([t, m, a])
        tags = [v.tag for v in tf.Summary.FromString(su).value]
        step = gs.eval()
    return {"rows": rows, "tags": tags, "step": step}


@program
def neural_turing_machine(tf, numbers):
    """A cell of one's own with a memory that it addresses by content and place."""
    State = collections.namedtuple("State", ("controller", "read", "w", "M"))
    N, W, H, B, T, X = (6, 4, 8, 3, 5, 3)

    class NTMCell(tf.nn.rnn_cell.RNNCell):
        def __init__(self):
            super().__init__()
            self.controller = tf.nn.rnn_cell.LSTMCell(H)

        @property
        def state_size(self):
            return State(self.controller.state_size, W, N, tf.TensorShape([N, W]))

        @property
        def output_size(self):
            return X

        def zero_state(self, batch_size, dtype):
            return State(
                self.controller.zero_state(batch_size, dtype),
                tf.fill([batch_size, W], 1e-06),
                tf.nn.softmax(tf.one_hot(tf.zeros([batch_size], tf.int32), N)),
                tf.fill([batch_size, N, W], 1e-06),
            )

        def __call__(self, x, prev, scope=None):
            with tf.variable_scope(scope or "ntm", reuse=tf.AUTO_REUSE):
                out, cs = self.controller(tf.concat([x, prev.read], 1), prev.controller)
                p = tf.layers.dense(out, W + 1 + 1 + 3 + 1 + 2 * W, name="heads")
                k, beta, g, s, gamma, e, a = tf.split(p, [W, 1, 1, 3, 1, W, W], axis=1)
                k, beta, g, s = (tf.tanh(k), tf.nn.softplus(beta), tf.sigmoid(g), tf.nn.softmax(s))
                gamma = 1 + tf.log(tf.exp(gamma) + 1)
                dot = tf.squeeze(tf.matmul(prev.M, tf.expand_dims(k, 2)), 2)
                den = tf.norm(prev.M, axis=2) * tf.norm(k, axis=1, keepdims=True) + 1e-08
                wc = tf.nn.softmax(beta * dot / den)
                wg = g * wc + (1 - g) * prev.w
                s = tf.concat([s[:, :2], tf.zeros([tf.shape(s)[0], N - 3]), s[:, -1:]], 1)
                t = tf.concat([tf.reverse(s, axis=[1]), tf.reverse(s, axis=[1])], 1)
                mat = tf.stack([t[:, N - i - 1 : 2 * N - i - 1] for i in range(N)], axis=1)
                ws = tf.reduce_sum(tf.expand_dims(wg, 1) * mat, 2)
                wp = tf.pow(ws, gamma)
                w = wp / tf.reduce_sum(wp, axis=1, keepdims=True)
                M = prev.M * (1 - tf.matmul(tf.expand_dims(w, 2), tf.expand_dims(tf.sigmoid(e), 1)))
                M = M + tf.matmul(tf.expand_dims(w, 2), tf.expand_dims(tf.tanh(a), 1))
                read = tf.reduce_sum(tf.expand_dims(w, 2) * M, axis=1)
                o = tf.layers.dense(tf.concat([out, read], 1), X, name="o")
                return (o, State(cs, read, w, M))

    x = tf.placeholder(tf.float32, [B, None, X])
    y = tf.placeholder(tf.float32, [B, None, X])
    cell = NTMCell()
    out, final = tf.nn.dynamic_rnn(cell, x, initial_state=cell.zero_state(B, tf.float32))
    loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(logits=out, labels=y))
    opt = tf.train.RMSPropOptimizer(0.01, momentum=0.9, decay=0.95)
    gv = [
        (tf.clip_by_value(g, -10, 10), v) for g, v in opt.compute_gradients(loss) if g is not None
    ]
    train = opt.apply_gradients(gv)
    losses = []
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for i in range(10):
            b = numbers.integers(2, size=(B, T + i % 2, X)).astype(np.float32)
            value, _, f = sess.run([loss, train, final], {x: b, y: np.roll(b, 1, 1)})
            losses.append(value)
    return {
        "losses": losses,
        "w": f.w,
        "M": f.M,
        "fields": list(type(f)._fields),
        "names": [v.name for _, v in gv],
        "output": str(out.shape),
    }


@program
def average_export(tf, numbers):
    """Clipped Adam, averages of weights, and three ways of writing what was trained."""
    x = tf.placeholder(tf.float32, [None, 4], "x")
    y = tf.placeholder(tf.float32, [None, 1], "y")
    with tf.variable_scope("m", regularizer=lambda w: 0.01 * tf.reduce_sum(tf.abs(w))):
        h = tf.layers.dense(x, 8, tf.nn.tanh, name="h")
        out = tf.layers.dense(h, 1, name="out")
    out = tf.identity(out, "prediction")
    loss = tf.losses.huber_loss(y, out, delta=0.5) + tf.losses.get_regularization_loss()
    gs = tf.train.get_or_create_global_step()
    rate = tf.train.cosine_decay_restarts(0.05, gs, 5)
    opt = tf.train.AdamOptimizer(rate, epsilon=0.0001)
    grads, v = zip(*opt.compute_gradients(loss), strict=False)
    grads, norm = tf.clip_by_global_norm(grads, 0.5)
    grads = [tf.clip_by_norm(g, 0.3) for g in grads]
    apply_op = opt.apply_gradients(zip(grads, v, strict=False), gs)
    ema = tf.train.ExponentialMovingAverage(0.8, zero_debias=True)
    with tf.control_dependencies([apply_op]):
        train = ema.apply()
    out_rows = []
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(15):
            b = numbers.normal(size=(16, 4))
            out_rows.append(
                sess.run([loss, norm, rate, train], {x: b, y: b.sum(1, keepdims=True)})[:3]
            )
        sess.run([tf.assign(a, ema.average(a)) for a in tf.trainable_variables()])
        expected = sess.run(out, {x: np.ones((2, 4))})
        frozen = tf.graph_util.convert_variables_to_constants(sess, sess.graph_def, ["prediction"])
        tf.train.write_graph(frozen, ".", "frozen.pb", as_text=False)
        tf.saved_model.simple_save(sess, "saved", {"x": x}, {"out": out})
    with tf.Graph().as_default():
        gd = tf.GraphDef()
        with tf.gfile.GFile("frozen.pb", "rb") as f:
            gd.ParseFromString(f.read())
        (px,) = tf.import_graph_def(gd, return_elements=["prediction:0"], name="imported")
        with tf.Session() as sess:
            again = sess.run(px, {"imported/x:0": np.ones((2, 4))})
    with tf.Graph().as_default(), tf.Session() as sess:
        meta = tf.saved_model.loader.load(sess, [tf.saved_model.tag_constants.SERVING], "saved")
        sig = meta.signature_def["serving_default"]
        third = sess.run(sig.outputs["out"].name, {sig.inputs["x"].name: np.ones((2, 4))})
    return {
        "rows": out_rows,
        "expected": expected,
        "again": again,
        "third": third,
        "nodes": sorted({n.op for n in frozen.node}),
        "slots": sorted(v.op.name for v in tf.global_variables()),
    }


@program
def yolo(tf, numbers):
    """Boxes on a grid: a loop over images, masks, and suppression of those that overlap."""
    S, A, C, B = (4, 2, 3, 3)
    anchors = np.array([[1.0, 1.5], [2.0, 1.0]], np.float32)
    x = tf.placeholder(tf.float32, [B, 16, 16, 3])
    truth = tf.placeholder(tf.float32, [B, S, S, A, 5 + C])
    tf.placeholder(tf.float32, [B, None, 4])
    h = tf.layers.conv2d(x, 8, 3, 2, "same", activation=tf.nn.leaky_relu)
    h = tf.layers.conv2d(h, 16, 3, 2, "same", activation=lambda t: tf.nn.leaky_relu(t, alpha=0.1))
    out = tf.reshape(tf.layers.conv2d(h, A * (5 + C), 1), [-1, S, S, A, 5 + C])
    xy, wh, conf, cls = tf.split(out, [2, 2, 1, C], axis=-1)
    grid_x, grid_y = tf.meshgrid(tf.range(S, dtype=tf.int32), tf.range(S, dtype=tf.int32))
    offset = tf.concat([tf.reshape(grid_x, (-1, 1)), tf.reshape(grid_y, (-1, 1))], axis=-1)
    offset = tf.cast(tf.reshape(offset, [S, S, 1, 2]), tf.float32)
    pxy = (tf.nn.sigmoid(xy) + offset) / S
    pwh = tf.exp(tf.clip_by_value(wh, -3, 3)) * anchors / S
    mins, maxes = (pxy - pwh / 2, pxy + pwh / 2)
    object_mask = truth[..., 4:5]
    bool_mask = tf.cast(object_mask[..., 0], "bool")

    def iou(p, valid):
        a1, a2 = (p[..., None, :2], p[..., None, 2:4])
        b1, b2 = (valid[:, :2] - valid[:, 2:] / 2, valid[:, :2] + valid[:, 2:] / 2)
        inter = tf.reduce_prod(tf.maximum(tf.minimum(a2, b2) - tf.maximum(a1, b1), 0.0), -1)
        area = tf.reduce_prod(a2 - a1, -1) + tf.reduce_prod(b2 - b1, -1)
        return inter / (area - inter + 1e-10)

    def body(i, ignore):
        valid = tf.boolean_mask(truth[i, ..., 0:4], bool_mask[i])
        best = tf.reduce_max(iou(tf.concat([mins, maxes], -1)[i], valid), axis=-1)
        return (i + 1, ignore.write(i, tf.cast(best < 0.5, tf.float32)))

    _, ignore = tf.while_loop(
        lambda i, *_: i < B, body, [0, tf.TensorArray(tf.float32, size=1, dynamic_size=True)]
    )
    ignore = tf.expand_dims(ignore.stack(), -1)
    xy_loss = tf.reduce_sum(object_mask * tf.square(pxy - truth[..., 0:2])) / B
    true_wh = tf.where(tf.equal(truth[..., 2:4], 0), tf.ones_like(truth[..., 2:4]), truth[..., 2:4])
    wh_loss = tf.reduce_sum(object_mask * tf.square(tf.log(pwh) - tf.log(true_wh))) / B
    ce = tf.nn.sigmoid_cross_entropy_with_logits(labels=object_mask, logits=conf)
    conf_loss = tf.reduce_sum(object_mask * ce + (1 - object_mask) * ce * ignore) / B
    cls_loss = (
        tf.reduce_sum(
            object_mask * tf.nn.sigmoid_cross_entropy_with_logits(labels=truth[..., 5:], logits=cls)
        )
        / B
    )
    loss = xy_loss + wh_loss + conf_loss + cls_loss
    rate = tf.train.polynomial_decay(0.01, tf.train.get_or_create_global_step(), 20, 0.001)
    train = tf.train.AdamOptimizer(rate).minimize(loss, global_step=tf.train.get_global_step())
    flat = tf.reshape(tf.concat([mins, maxes], -1)[0], [-1, 4])
    score = tf.reshape(tf.sigmoid(conf[0]), [-1])
    keep = tf.image.non_max_suppression(flat, score, 5, iou_threshold=0.3)
    sel = (tf.gather(flat, keep), tf.gather(score, keep))
    mask = score > 0.5
    sel2 = tf.boolean_mask(flat, mask)
    rows = []
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(10):
            t = np.zeros((B, S, S, A, 5 + C), np.float32)
            for b in range(B):
                for _ in range(2):
                    i, j, a, c = (
                        numbers.integers(S),
                        numbers.integers(S),
                        numbers.integers(A),
                        numbers.integers(C),
                    )
                    t[b, i, j, a, :4] = [(j + 0.5) / S, (i + 0.5) / S, 0.3, 0.2]
                    t[b, i, j, a, 4] = 1
                    t[b, i, j, a, 5 + c] = 1
            f = {x: numbers.random((B, 16, 16, 3)), truth: t}
            rows.append(sess.run([loss, xy_loss, conf_loss, train], f)[:3])
        s, k, s2 = sess.run([sel, keep, sel2], f)
    return {"rows": rows, "keep": k, "boxes": s[0], "scores": s[1], "s2": s2.shape}


@program
def factorization_machine(tf, numbers):
    """Sparse features in partitioned embeddings, two optimizers, area under the curve."""
    F, K, B = (50, 4, 6)
    ids = tf.sparse_placeholder(tf.int64, name="ids")
    vals = tf.sparse_placeholder(tf.float32, name="vals")
    y = tf.placeholder(tf.float32, [None])
    with tf.variable_scope("fm", partitioner=tf.fixed_size_partitioner(2)):
        w = tf.get_variable("w", [F, 1], initializer=tf.zeros_initializer())
        v = tf.get_variable(
            "v", [F, K], initializer=tf.random_normal_initializer(stddev=0.1, seed=2)
        )
    b = tf.get_variable("b", [1], initializer=tf.zeros_initializer())
    linear = tf.nn.embedding_lookup_sparse(w, ids, vals, combiner="sum", partition_strategy="div")
    s = tf.nn.embedding_lookup_sparse(v, ids, vals, combiner="sum", partition_strategy="div")
    vsq = [tf.square(p) for p in v]
    sq = tf.nn.embedding_lookup_sparse(
        vsq,
        ids,
        tf.SparseTensor(vals.indices, tf.square(vals.values), vals.dense_shape),
        combiner="sum",
        partition_strategy="div",
    )
    mean = tf.nn.safe_embedding_lookup_sparse(
        v, ids, combiner="sqrtn", default_id=0, partition_strategy="div"
    )
    mean.set_shape([None, K])
    fm = 0.5 * tf.reduce_sum(tf.square(s) - sq, 1)
    deep = tf.layers.dense(mean, 8, tf.nn.selu, name="deep")
    deep = tf.squeeze(tf.layers.dense(deep, 1), 1)
    logits = b + tf.squeeze(linear, 1) + fm + deep
    loss = tf.reduce_mean(
        tf.nn.weighted_cross_entropy_with_logits(targets=y, logits=logits, pos_weight=2.0)
    )
    wide = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, "fm/w") + [b]
    others = [t for t in tf.trainable_variables() if t not in wide]
    gs = tf.train.get_or_create_global_step()
    t1 = tf.train.FtrlOptimizer(
        0.1, l1_regularization_strength=0.01, l2_regularization_strength=0.01
    ).minimize(loss, var_list=wide)
    t2 = tf.train.AdagradOptimizer(0.1).minimize(loss, var_list=others)
    with tf.control_dependencies([t1, t2]):
        train = tf.assign_add(gs, 1).op
    auc, auc_up = tf.metrics.auc(y, tf.sigmoid(logits), num_thresholds=50)
    rows = []
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        for _ in range(12):
            n = numbers.integers(1, 5, size=B)
            idx = [(i, j) for i in range(B) for j in range(n[i])]
            iv = numbers.integers(F, size=len(idx))
            vv = numbers.random(len(idx))
            f = {
                ids: tf.SparseTensorValue(idx, iv, (B, 5)),
                vals: tf.SparseTensorValue(idx, vv, (B, 5)),
                y: numbers.integers(2, size=B),
            }
            value, _ = sess.run([loss, train], f)
            sess.run(auc_up, f)
            rows.append([value, sess.run(auc)])
        saver = tf.train.Saver()
        saver.save(sess, "./fm", write_meta_graph=False)
    names = tf.train.list_variables("./fm")
    return {
        "rows": rows,
        "names": [[n, list(s)] for n, s in names],
        "step": int(tf.train.load_variable("./fm", "global_step")),
    }
