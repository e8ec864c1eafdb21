"""Loops and branches of a tensor and a variable, as people write them.

Each function gets TensorFlow, `x` of the shape of X and `w` of that of W.
"""

import numpy as np

X = np.linspace(-1, 1, 4 * 3).reshape(4, 3).astype(np.float32)
W = np.linspace(-0.5, 0.8, 9).reshape(3, 3).astype(np.float32)


def powers(tf, x, w):
    """A loop over one tensor and a counter."""
    _, y = tf.while_loop(lambda i, a: i < 4, lambda i, a: (i + 1, tf.tanh(a @ w) + x), [0, x])
    return y


def until(tf, x, w):
    """A loop that ends by what it computes."""

    def body(a):
        return a * 1.5 + tf.sin(x @ w)

    return tf.while_loop(lambda a: tf.reduce_sum(a * a) < 50, body, [x])


def nested(tf, x, w):
    """A loop in a loop."""

    def inner(i, a):
        def body(j, b):
            return (j + 1, tf.sigmoid(b @ w) * tf.cast(j + i, tf.float32))

        return i + 1, tf.while_loop(lambda j, b: j < i + 2, body, [0, a])[1] + x

    return tf.while_loop(lambda i, a: i < 3, inner, [0, x])[1]


def chosen_in_loop(tf, x, w):
    """Two branches by turns."""

    def body(i, a):
        even = tf.equal(i % 2, 0)
        return i + 1, tf.cond(even, lambda: tf.tanh(a @ w), lambda: a * a + tf.reduce_sum(w))

    return tf.while_loop(lambda i, a: i < 5, body, [0, x])[1]


def loop_in_branch(tf, x, w):
    """A loop that only one branch has."""

    def loop():
        return tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a @ w), [0, x])[1]

    return tf.cond(tf.reduce_sum(x) < 1, loop, lambda: x * 3.0)


def other_branch(tf, x, w):
    """The branch without the loop."""

    def loop():
        return tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a @ w), [0, x])[1]

    return tf.cond(tf.reduce_sum(x) > 1, loop, lambda: tf.exp(x))


def branches(tf, x, w):
    """Two results of a branch in a branch."""
    p, q = tf.reduce_sum(x) < 1, x[0, 0] < 0

    def both():
        return (tf.cond(q, lambda: x @ w, lambda: x), tf.reduce_sum(w) * x)

    a, b = tf.cond(p, both, lambda: (x * 2, tf.zeros_like(x)))
    return a * b + tf.cond(tf.logical_not(p), lambda: a, lambda: a * a)


def cases(tf, x, w):
    """The third of four functions."""
    total = tf.reduce_sum(x * x)
    pairs = [(total < 1, lambda: x), (total < 2, lambda: x * 2), (total < 9, lambda: x @ w)]
    return tf.case(pairs, default=lambda: x * 4)


def arrays(tf, x, w):
    """A tensor array that a loop reads, and one that it writes."""
    rows = tf.TensorArray(tf.float32, 4).unstack(x)
    out = tf.TensorArray(tf.float32, 4)

    def body(i, a, out):
        a = tf.tanh(a * 0.5 + tf.squeeze(tf.expand_dims(rows.read(i), 0) @ w))
        return i + 1, a, out.write(i, a * a)

    _, last, out = tf.while_loop(lambda i, *_: i < 4, body, [0, tf.zeros([3]), out])
    return out.stack() + last


def pieces(tf, x, w):
    """Tensor arrays that are split and put together."""
    parts = tf.TensorArray(tf.float32, 3, infer_shape=False).split(x, [1, 2, 1])
    out = tf.TensorArray(tf.float32, 3, infer_shape=False)

    def write(i, out):
        return (i + 1, out.write(i, parts.read(i) @ w))

    out = tf.while_loop(lambda i, out: i < 3, write, [0, out])[1]
    return out.concat()


def scans(tf, x, w):
    """scan, map_fn, foldl and foldr."""
    y = tf.scan(lambda a, row: tf.tanh(a * w[0] + row), x, tf.zeros([3]))
    z = tf.map_fn(lambda row: tf.reduce_sum(row * w, 1), x)
    left = tf.foldl(lambda a, row: a * 0.5 + row * row, x)
    return y * z + left + tf.foldr(lambda a, row: a * row, x, tf.ones([3]))


def growing(tf, x, w):
    """A variable of a loop that grows."""
    shapes = [tf.TensorShape([]), tf.TensorShape([None, 3])]

    def body(i, a):
        return (i + 1, tf.concat([a, tf.tanh(a[-1:] @ w)], 0))

    return tf.while_loop(lambda i, a: i < 4, body, [0, x], shape_invariants=shapes)[1]


def rows(tf, x, w):
    """Rows that are looked up, in a loop and in a branch."""

    def body(i, a):
        return i + 1, a + tf.gather(w, [i, 0])[:, :2]

    looped = tf.while_loop(lambda i, a: i < 3, body, [0, x[:2, :2]])[1]
    chosen = tf.cond(x[0, 0] < 0, lambda: tf.gather(w, [1, 1]), lambda: tf.zeros([2, 3]))
    return looped * chosen[:, :2]


def after_another(tf, x, w):
    """A loop that begins with another one's result."""
    first = tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, a @ w + x), [0, x])[1]

    def body(i, a):
        return [i + 1, tf.sin(a) * first]

    return tf.while_loop(lambda i, a: i < 2, body, [0, first], maximum_iterations=5)[1]


def recurrent(tf, x, w):
    """dynamic_rnn, with sequences of unequal lengths."""
    cell = tf.nn.rnn_cell.BasicRNNCell(3)
    inputs = tf.stack([x, x @ w, tf.cos(x), x * 2], 1)
    init = tf.constant_initializer(np.linspace(-1, 1, 18).reshape(6, 3))
    with tf.variable_scope("rnn", initializer=init):
        outputs, state = tf.nn.dynamic_rnn(cell, inputs, [4, 1, 3, 2], dtype=tf.float32)
    return outputs[:, -1] + outputs[:, 0] * state


PROGRAMS = (
    *(powers, until, nested, chosen_in_loop, loop_in_branch, other_branch, branches, cases),
    *(arrays, pieces, scans, growing, rows, after_another, recurrent),
)
