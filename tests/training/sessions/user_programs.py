"""Programs as people wrote them for TF1, given `tf`.

user_programs.json has what TensorFlow gives: losses step by step, results, names.
"""

from __future__ import annotations

import os

import numpy as np

PROGRAMS = []


def program(function):
    """Lists a program."""
    PROGRAMS.append(function)
    return function


def digits(n, size, classes=10, seed=0):
    """Noisy images of classes, and the classes as rows of one."""
    r = np.random.RandomState(seed)
    centers = r.rand(classes, size * size)
    y = r.randint(classes, size=n)
    x = (centers[y] + 0.3 * r.randn(n, size * size)).astype(np.float32)
    return x, np.eye(classes)[y].astype(np.float32)


@program
def word2vec(tf, numbers):
    """Skip-grams with noise-contrastive estimation, and summaries."""
    vocab, dim, batch = 200, 16, 32
    graph = tf.Graph()
    with graph.as_default():
        tf.set_random_seed(3)
        with tf.name_scope("inputs"):
            train_inputs = tf.placeholder(tf.int32, shape=[batch])
            train_labels = tf.placeholder(tf.int32, shape=[batch, 1])
            valid = tf.constant(np.arange(8), dtype=tf.int32)
        with tf.device("/cpu:0"):
            with tf.name_scope("embeddings"):
                emb = tf.Variable(tf.random_uniform([vocab, dim], -1.0, 1.0))
                embed = tf.nn.embedding_lookup(emb, train_inputs)
            with tf.name_scope("weights"):
                nce_w = tf.Variable(tf.truncated_normal([vocab, dim], stddev=1.0 / np.sqrt(dim)))
            with tf.name_scope("biases"):
                nce_b = tf.Variable(tf.zeros([vocab]))
        with tf.name_scope("loss"):
            loss = tf.reduce_mean(
                tf.nn.nce_loss(
                    weights=nce_w,
                    biases=nce_b,
                    labels=train_labels,
                    inputs=embed,
                    num_sampled=8,
                    num_classes=vocab,
                )
            )
        tf.summary.scalar("loss", loss)
        with tf.name_scope("optimizer"):
            opt = tf.train.GradientDescentOptimizer(1.0).minimize(loss)
        norm = tf.sqrt(tf.reduce_sum(tf.square(emb), 1, keepdims=True))
        normalized = emb / norm
        sim = tf.matmul(tf.nn.embedding_lookup(normalized, valid), normalized, transpose_b=True)
        merged = tf.summary.merge_all()
        init = tf.global_variables_initializer()
        saver = tf.train.Saver()
    losses = []
    with tf.Session(graph=graph) as session:
        writer = tf.summary.FileWriter("log", session.graph)
        init.run()
        for step in range(25):
            bi = numbers.integers(vocab, size=batch)
            bl = (bi[:, None] + 1) % vocab
            md = tf.RunMetadata()
            _, s, value = session.run(
                [opt, merged, loss], feed_dict={train_inputs: bi, train_labels: bl}, run_metadata=md
            )
            writer.add_summary(s, step)
            losses.append(value)
        writer.add_run_metadata(md, f"step{step}")
        final = sim.eval()
        path = saver.save(session, os.path.join("log", "model.ckpt"))
        writer.close()
    return {
        "losses": losses,
        "final": final[:, ::25],
        "path": path,
        "names": [
            o.name for o in graph.get_operations() if o.type in ("VariableV2", "Placeholder")
        ],
    }


@program
def char_rnn(tf, numbers):
    """Characters by two LSTM cells with dropout; the state is fed as tuples."""
    text = "the quick brown fox jumps over the lazy dog. " * 20
    chars = sorted(set(text))
    ix = {c: i for i, c in enumerate(chars)}
    data = np.array([ix[c] for c in text])
    B, T, H, V = 4, 10, 16, len(chars)
    inp = tf.placeholder(tf.int32, [B, None])
    tgt = tf.placeholder(tf.int32, [B, None])
    keep = tf.placeholder_with_default(1.0, [])
    with tf.variable_scope("rnnlm"):
        softmax_w = tf.get_variable("softmax_w", [H, V])
        softmax_b = tf.get_variable("softmax_b", [V])
        embedding = tf.get_variable("embedding", [V, H])

    def cell():
        c = tf.nn.rnn_cell.BasicLSTMCell(H, state_is_tuple=True)
        return tf.nn.rnn_cell.DropoutWrapper(c, output_keep_prob=keep)

    stack = tf.nn.rnn_cell.MultiRNNCell([cell() for _ in range(2)], state_is_tuple=True)
    init = stack.zero_state(B, tf.float32)
    out, last = tf.nn.dynamic_rnn(stack, tf.nn.embedding_lookup(embedding, inp), initial_state=init)
    logits = tf.nn.xw_plus_b(tf.reshape(out, [-1, H]), softmax_w, softmax_b)
    loss = tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.reshape(tgt, [-1]), logits=logits)
    )
    lr = tf.Variable(0.0, trainable=False)
    tvars = tf.trainable_variables()
    grads, norm = tf.clip_by_global_norm(tf.gradients(loss, tvars), 5.0)
    train = tf.train.AdamOptimizer(lr).apply_gradients(zip(grads, tvars, strict=True))
    losses, norms = [], []
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(tf.assign(lr, 0.02))
        for _ in range(2):
            state = sess.run(init)
            for b in range(5):
                s = data[b * B * T : b * B * T + B * T + 1]
                feed = {inp: s[:-1].reshape(B, T), tgt: s[1:].reshape(B, T)}
                for i, (c, h) in enumerate(init):
                    feed[c] = state[i].c
                    feed[h] = state[i].h
                value, n, state, _ = sess.run([loss, norm, last, train], feed)
                losses.append(value)
                norms.append(n)
        state = sess.run(stack.zero_state(B, tf.float32))
        l2 = sess.run(loss, {inp: s[:-1].reshape(B, T), tgt: s[1:].reshape(B, T), init: state})
    return {
        "losses": losses,
        "norms": norms,
        "l2": l2,
        "vars": [v.name for v in tvars],
        "types": [type(state).__name__, type(state[0]).__name__],
        "cs": [str(out.shape), str(last[0].c.shape)],
    }


@program
def sequence_to_sequence(tf, numbers):
    """A bidirectional encoder; the decoder is a raw_rnn that reads its outputs."""
    V, E, H, EOS = 12, 8, 10, 1
    enc_in = tf.placeholder(tf.int32, (None, None), name="encoder_inputs")
    enc_len = tf.placeholder(tf.int32, (None,), name="encoder_len")
    dec_t = tf.placeholder(tf.int32, (None, None), name="decoder_targets")
    emb = tf.Variable(tf.random_uniform([V, E], -1.0, 1.0), dtype=tf.float32)
    from_cell = tf.nn.rnn_cell.LSTMCell
    _, (fs, bs) = tf.nn.bidirectional_dynamic_rnn(
        cell_fw=from_cell(H),
        cell_bw=from_cell(H),
        inputs=tf.nn.embedding_lookup(emb, enc_in),
        sequence_length=enc_len,
        dtype=tf.float32,
        time_major=True,
    )
    state = tf.nn.rnn_cell.LSTMStateTuple(
        c=tf.concat((fs.c, bs.c), 1), h=tf.concat((fs.h, bs.h), 1)
    )
    dcell = from_cell(2 * H)
    _, bsize = tf.unstack(tf.shape(enc_in))
    dlen = enc_len + 3
    W = tf.Variable(tf.random_uniform([2 * H, V], -1, 1))
    b = tf.Variable(tf.zeros([V]))
    eos = tf.nn.embedding_lookup(emb, tf.ones([bsize], dtype=tf.int32, name="EOS"))
    pad = tf.nn.embedding_lookup(emb, tf.zeros([bsize], dtype=tf.int32, name="PAD"))

    def loop_fn(time, prev_out, prev_state, prev_loop):
        if prev_state is None:
            return (dlen <= 0), eos, state, None, None

        def nxt():
            return tf.nn.embedding_lookup(emb, tf.argmax(tf.add(tf.matmul(prev_out, W), b), axis=1))

        fin = time >= dlen
        inp = tf.cond(tf.reduce_all(fin), lambda: pad, nxt)
        return fin, inp, prev_state, prev_out, None

    ta, _, _ = tf.nn.raw_rnn(dcell, loop_fn)
    outs = ta.stack()
    ms, bb, dd = tf.unstack(tf.shape(outs))
    logits = tf.reshape(tf.add(tf.matmul(tf.reshape(outs, (-1, dd)), W), b), (ms, bb, V))
    pred = tf.argmax(logits, 2)
    xe = tf.nn.softmax_cross_entropy_with_logits(
        labels=tf.one_hot(dec_t, depth=V, dtype=tf.float32), logits=logits
    )
    loss = tf.reduce_mean(xe)
    train = tf.train.AdamOptimizer().minimize(loss)
    losses = []
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(12):
            lens = [4, 2, 3]
            x = np.zeros((4, 3), np.int32)
            t = np.zeros((7, 3), np.int32)
            for i, n in enumerate(lens):
                s = numbers.integers(2, V, n)
                x[:n, i] = s
                t[:n, i] = s
                t[n, i] = EOS
            _, value = sess.run([train, loss], {enc_in: x, enc_len: lens, dec_t: t})
            losses.append(value)
        p = sess.run(pred, {enc_in: x, enc_len: lens, dec_t: t})
    return {
        "losses": losses,
        "p": p,
        "names": [v.op.name for v in tf.trainable_variables()],
        "shape": str(outs.shape),
    }


@program
def generative_adversarial(tf, numbers):
    """Two optimizers, each with the variables of its scope."""

    def generator(z, reuse=None):
        with tf.variable_scope("generator", reuse=reuse):
            x = tf.layers.dense(z, 4 * 4 * 16)
            x = tf.reshape(x, [-1, 4, 4, 16])
            x = tf.nn.leaky_relu(tf.layers.batch_normalization(x, training=True))
            x = tf.layers.conv2d_transpose(
                x, 8, 5, strides=2, padding="same", activation=tf.nn.relu
            )
            return tf.tanh(tf.layers.conv2d_transpose(x, 1, 5, strides=2, padding="same"))

    def discriminator(x, reuse=None):
        with tf.variable_scope("discriminator", reuse=reuse):
            x = tf.layers.conv2d(x, 8, 5, strides=2, padding="same", activation=tf.nn.leaky_relu)
            x = tf.layers.conv2d(x, 16, 5, strides=2, padding="same", use_bias=False)
            x = tf.layers.batch_normalization(x, training=True)
            return tf.layers.dense(tf.layers.flatten(x), 1, name="out")

    real = tf.placeholder(tf.float32, [None, 16, 16, 1])
    z = tf.placeholder(tf.float32, [None, 10])
    fake = generator(z)
    dr = discriminator(real)
    df = discriminator(fake, reuse=True)
    sce = tf.nn.sigmoid_cross_entropy_with_logits
    d_loss = tf.reduce_mean(sce(logits=dr, labels=tf.ones_like(dr) * 0.9)) + tf.reduce_mean(
        sce(logits=df, labels=tf.zeros_like(df))
    )
    g_loss = tf.reduce_mean(sce(logits=df, labels=tf.ones_like(df)))
    tv = tf.trainable_variables()
    gv = [v for v in tv if v.name.startswith("generator")]
    dv = [v for v in tv if "discriminator" in v.name]
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        d_opt = tf.train.AdamOptimizer(2e-4, beta1=0.5).minimize(d_loss, var_list=dv)
        g_opt = tf.train.AdamOptimizer(2e-4, beta1=0.5).minimize(g_loss, var_list=gv)
    r = []
    with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(8):
            zb = numbers.uniform(-1, 1, [8, 10])
            xb = numbers.random((8, 16, 16, 1))
            _, dl = sess.run([d_opt, d_loss], {real: xb, z: zb})
            _, gl = sess.run([g_opt, g_loss], {z: zb, real: xb})
            r += [dl, gl]
        img = sess.run(fake, {z: zb})
    return {
        "r": r,
        "img": img[::4, ::4, ::4, 0],
        "names": [v.name for v in tv],
        "n": len(tf.global_variables()),
    }


@program
def deep_q_learning(tf, numbers):
    """A target network that is copied, at once and in small steps."""
    S, A = 4, 2

    class Net:
        def __init__(self, scope):
            with tf.variable_scope(scope):
                self.x = tf.placeholder(tf.float32, [None, S], name="x")
                h = tf.layers.dense(
                    self.x,
                    16,
                    tf.nn.relu,
                    kernel_initializer=tf.random_normal_initializer(0.0, 0.3),
                    bias_initializer=tf.constant_initializer(0.1),
                    name="l1",
                )
                v = tf.layers.dense(h, 1, name="value")
                a = tf.layers.dense(h, A, name="adv")
                self.q = v + (a - tf.reduce_mean(a, axis=1, keep_dims=True))
            self.vars = tf.get_collection(tf.GraphKeys.GLOBAL_VARIABLES, scope=scope)

    main, target = Net("main"), Net("target")
    a = tf.placeholder(tf.int32, [None])
    qt = tf.placeholder(tf.float32, [None])
    q_a = tf.gather_nd(main.q, tf.stack([tf.range(tf.shape(a)[0], dtype=tf.int32), a], axis=1))
    td = tf.losses.huber_loss(tf.stop_gradient(qt), q_a)
    train = tf.train.RMSPropOptimizer(
        0.01, decay=0.95, momentum=0.9, epsilon=0.01, centered=True
    ).minimize(td, var_list=main.vars)
    copy = [tf.assign(t, e) for t, e in zip(target.vars, main.vars, strict=True)]
    soft = tf.group(
        *[t.assign(t * 0.9 + e * 0.1) for t, e in zip(target.vars, main.vars, strict=True)]
    )
    out = []
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(copy)
        for i in range(20):
            s, s2 = numbers.standard_normal((8, S)), numbers.standard_normal((8, S))
            act = numbers.integers(A, size=8)
            r = numbers.standard_normal(8)
            q2 = sess.run(target.q, {target.x: s2})
            tgt = r + 0.9 * q2.max(1)
            _, value = sess.run([train, td], {main.x: s, a: act, qt: tgt})
            out.append(value)
            sess.run(soft)
            if i % 7 == 6:
                sess.run(copy)
        q = sess.run(main.q, {main.x: s})
    return {"out": out, "q": q, "names": [v.name for v in main.vars]}


@program
def actor_critic(tf, numbers):
    """Workers that apply their gradients to the variables of another scope."""

    class AC:
        def __init__(self, scope, trainer):
            with tf.variable_scope(scope):
                self.inp = tf.placeholder(shape=[None, 36], dtype=tf.float32)
                im = tf.reshape(self.inp, [-1, 6, 6, 1])
                h = tf.layers.dense(
                    tf.layers.flatten(
                        tf.layers.conv2d(im, 4, [3, 3], [2, 2], "VALID", activation=tf.nn.elu)
                    ),
                    8,
                    tf.nn.elu,
                )
                cell = tf.nn.rnn_cell.BasicLSTMCell(8, state_is_tuple=True)
                c_in = tf.placeholder(tf.float32, [1, cell.state_size.c])
                h_in = tf.placeholder(tf.float32, [1, cell.state_size.h])
                self.si = (c_in, h_in)
                o, st = tf.nn.dynamic_rnn(
                    cell,
                    tf.expand_dims(h, [0]),
                    initial_state=tf.nn.rnn_cell.LSTMStateTuple(c_in, h_in),
                    sequence_length=tf.shape(im)[:1],
                    time_major=False,
                )
                self.so = (st.c[:1, :], st.h[:1, :])
                o = tf.reshape(o, [-1, 8])
                self.policy = tf.layers.dense(o, 3, tf.nn.softmax, use_bias=False)
                self.value = tf.layers.dense(o, 1, use_bias=False)
                if scope != "global":
                    self.actions = tf.placeholder(shape=[None], dtype=tf.int32)
                    oh = tf.one_hot(self.actions, 3, dtype=tf.float32)
                    self.tv = tf.placeholder(shape=[None], dtype=tf.float32)
                    self.adv = tf.placeholder(shape=[None], dtype=tf.float32)
                    resp = tf.reduce_sum(self.policy * oh, [1])
                    vl = 0.5 * tf.reduce_sum(tf.square(self.tv - tf.reshape(self.value, [-1])))
                    ent = -tf.reduce_sum(self.policy * tf.log(self.policy))
                    pl = -tf.reduce_sum(tf.log(resp) * self.adv)
                    self.loss = 0.5 * vl + pl - ent * 0.01
                    local = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope)
                    self.g = tf.gradients(self.loss, local)
                    g, self.gn = tf.clip_by_global_norm(self.g, 40.0)
                    glob = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, "global")
                    self.apply = trainer.apply_gradients(zip(g, glob, strict=True))
                    self.sync = [v.assign(g) for g, v in zip(glob, local, strict=True)]

    with tf.device("/cpu:0"):
        ge = tf.Variable(0, dtype=tf.int32, name="global_episodes", trainable=False)
        inc = ge.assign_add(1)
        AC("global", None)
        tr = tf.train.AdamOptimizer(1e-3)
        ws = [AC(f"worker_{i}", tr) for i in range(2)]
    import threading

    out = {0: [], 1: []}
    with tf.Session() as sess:
        coord = tf.train.Coordinator()
        sess.run(tf.global_variables_initializer())

        def work(i):
            w = ws[i]
            r = np.random.RandomState(i)
            st = (np.zeros((1, 8)), np.zeros((1, 8)))
            with sess.as_default(), sess.graph.as_default():
                for _ in range(3):
                    sess.run(w.sync)
                    value, n, st, _ = sess.run(
                        [w.loss, w.gn, w.so, w.apply],
                        {
                            w.inp: r.rand(5, 36),
                            w.actions: r.randint(3, size=5),
                            w.tv: r.rand(5),
                            w.adv: r.rand(5),
                            w.si[0]: st[0],
                            w.si[1]: st[1],
                        },
                    )
                    out[i].append((value, n))
                    sess.run(inc)

        for i in range(2):
            t = threading.Thread(target=work, args=(i,))
            t.start()
            coord.join([t])
        e = sess.run(ge)
    return {"a": out[0], "b": out[1], "e": e}


@program
def fine_tuning(tf, numbers):
    """A new head on the features of a .meta graph."""
    X, Y = digits(64, 6)
    g1 = tf.Graph()
    with g1.as_default():
        tf.set_random_seed(5)
        x = tf.placeholder(tf.float32, [None, 36], name="x")
        h = tf.layers.dense(x, 12, tf.nn.relu, name="hidden")
        lg = tf.layers.dense(h, 10, name="head")
        tf.add_to_collection("features", h)
        sv = tf.train.Saver()
        with tf.Session() as s:
            s.run(tf.global_variables_initializer())
            sv.save(s, "./pre")
    with tf.Graph().as_default():
        tf.set_random_seed(6)
        sv = tf.train.import_meta_graph("pre.meta")
        g = tf.get_default_graph()
        x = g.get_tensor_by_name("x:0")
        h = tf.get_collection("features")[0]
        frozen = tf.stop_gradient(h)
        y = tf.placeholder(tf.float32, [None, 10])
        with tf.variable_scope("new_head"):
            lg = tf.layers.dense(frozen, 10)
        loss = tf.losses.softmax_cross_entropy(y, lg) + tf.losses.get_regularization_loss()
        nv = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, "new_head")
        tr = tf.train.AdamOptimizer(0.01).minimize(loss, var_list=nv)
        tr2 = tf.train.GradientDescentOptimizer(0.1).minimize(
            tf.losses.softmax_cross_entropy(y, tf.layers.dense(h, 10, name="h2"))
        )
        with tf.Session() as s:
            s.run(tf.global_variables_initializer())
            sv.restore(s, "./pre")
            L = [s.run([tr, loss], {x: X, y: Y})[1] for _ in range(10)]
            s.run(tr2, {x: X, y: Y})
            k = s.run("hidden/kernel:0")
    return {
        "L": L,
        "k": k[::6],
        "nv": [v.name for v in nv],
        "cols": sorted(tf.get_default_graph().get_all_collection_keys()),
    }


@program
def conditional_random_field(tf, numbers):
    """The forward algorithm by scan, and the best path by scan and foldr."""
    T, K, B = 6, 4, 3
    r = np.random.RandomState(0)
    un = tf.constant(r.randn(B, T, K).astype("f"))
    tags = tf.constant(r.randint(K, size=(B, T)).astype("i"))
    lens = tf.constant([6, 4, 5])
    tr = tf.get_variable("trans", [K, K], initializer=tf.random_uniform_initializer(-1, 1, seed=3))
    mask = tf.sequence_mask(lens, T, dtype=tf.float32)
    score = tf.reduce_sum(tf.reduce_sum(un * tf.one_hot(tags, K), 2) * mask, 1) + tf.reduce_sum(
        tf.gather_nd(tr, tf.stack([tags[:, :-1], tags[:, 1:]], -1)) * mask[:, 1:], 1
    )
    first = un[:, 0]
    later = tf.transpose(un[:, 1:], [1, 0, 2])
    mt = tf.transpose(mask[:, 1:])

    def step(alpha, xs):
        u, m = xs
        new = tf.reduce_logsumexp(alpha[:, :, None] + tr[None], 1) + u
        return m[:, None] * new + (1 - m[:, None]) * alpha

    alphas = tf.scan(step, (later, mt), first)
    Z = tf.reduce_logsumexp(alphas[-1], 1)
    nll = tf.reduce_mean(Z - score)
    tr_op = tf.train.AdamOptimizer(0.1).minimize(nll)

    def vit(c, u):
        s, _ = c
        m = s[:, :, None] + tr[None]
        return (tf.reduce_max(m, 1) + u, tf.cast(tf.argmax(m, 1), tf.int32))

    sc, bp = tf.scan(vit, later, (first, tf.zeros([B, K], tf.int32)))
    best = tf.argmax(sc[-1], 1)
    path = tf.foldr(
        lambda p, b_: tf.cast(tf.reduce_sum(tf.one_hot(p, K, dtype=tf.int32) * b_, 1), tf.int32),
        bp,
        tf.cast(best, tf.int32),
    )
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        L = [s.run([tr_op, nll])[1] for _ in range(15)]
        o = s.run([best, path, sc])
    return {"L": L, "b": o[0], "p": o[1], "sc": o[2], "t": str(alphas.shape)}


@program
def connectionist_temporal(tf, numbers):
    """Sparse targets, beam search and edit distance."""
    F, H, C, B, T = 5, 8, 6, 2, 12
    inputs = tf.placeholder(tf.float32, [None, None, F])
    targets = tf.sparse_placeholder(tf.int32)
    sl = tf.placeholder(tf.int32, [None])
    stack = tf.nn.rnn_cell.MultiRNNCell(
        [tf.nn.rnn_cell.LSTMCell(H, state_is_tuple=True)], state_is_tuple=True
    )
    out, _ = tf.nn.dynamic_rnn(stack, inputs, sl, dtype=tf.float32)
    sh = tf.shape(inputs)
    bs = sh[0]
    W = tf.Variable(tf.truncated_normal([H, C], stddev=0.1))
    b = tf.Variable(tf.constant(0.0, shape=[C]))
    lg = tf.matmul(tf.reshape(out, [-1, H]), W) + b
    lg = tf.transpose(tf.reshape(lg, [bs, -1, C]), (1, 0, 2))
    loss = tf.nn.ctc_loss(targets, lg, sl)
    cost = tf.reduce_mean(loss)
    opt = tf.train.MomentumOptimizer(0.05, 0.9).minimize(cost)
    dec, lp = tf.nn.ctc_beam_search_decoder(lg, sl)
    gd, _ = tf.nn.ctc_greedy_decoder(lg, sl)
    ler = tf.reduce_mean(tf.edit_distance(tf.cast(dec[0], tf.int32), targets))
    r = np.random.RandomState(0)
    x = r.randn(B, T, F)
    ix = np.array([[0, 0], [0, 1], [0, 2], [1, 0], [1, 1]])
    v = np.array([0, 1, 2, 3, 1])
    feed = {inputs: x, targets: (ix, v, np.array([2, 3])), sl: [12, 9]}
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        L = [s.run([cost, opt], feed)[0] for _ in range(20)]
        d, e, p, g = s.run([dec[0], ler, lp, gd[0]], feed)
        dense = s.run(tf.sparse_tensor_to_dense(dec[0], default_value=-1), feed)
    return {
        "L": L,
        "d": d.values,
        "e": e,
        "p": p,
        "dense": dense,
        "g": g.values,
        "ty": type(d).__name__,
    }


@program
def synchronous_replicas(tf, numbers):
    """Two gradients for a step, dense and sparse; the chief's step, and what is refused."""
    table, w = tf.Variable(tf.ones([4, 2])), tf.Variable([[1.0], [2.0]])
    loss = tf.reduce_sum(tf.matmul(tf.gather(table, [1, 3, 1]), w) ** 2)
    optimizer = tf.train.SyncReplicasOptimizer(tf.train.MomentumOptimizer(0.01, 0.5), 2, 1)
    pairs, refused = optimizer.compute_gradients(loss), []
    wrong = [lambda: optimizer.apply_gradients([]), lambda: optimizer.apply_gradients(pairs)]
    early = [optimizer.get_chief_queue_runner, optimizer.get_init_tokens_op]
    for call in [*wrong, *early, optimizer.make_session_run_hook(True).begin]:
        with np.testing.assert_raises(ValueError) as raised:
            call()
        refused.append(str(raised.exception)[:60])
    step = optimizer.apply_gradients(pairs, tf.train.get_or_create_global_step())
    start = [tf.global_variables_initializer(), tf.local_variables_initializer()]
    chief = optimizer.get_chief_queue_runner()
    with tf.Session() as sess:
        for ops in (start, optimizer.chief_init_op, optimizer.get_init_tokens_op()):
            sess.run(ops)
        losses = [sess.run([loss, step])[0] for _ in range(2)]
        sess.run(chief.enqueue_ops)
        losses += sess.run([loss, step])  # too late: its token is of the step before
        return {"losses": losses, "table": sess.run(table), "w": sess.run(w), "refused": refused}


def results_of(tf, function):
    """What a program gives in a new graph, as JSON has it."""
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        results = function(tf, np.random.default_rng(0))
        return {key: plain(value) for key, value in results.items()}


def plain(value):
    """Arrays and numbers as lists and numbers of Python."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value
