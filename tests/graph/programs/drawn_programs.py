"""Programs of gradients, drawn: branches, loops, arrays, scans, rows and segments, nested.

drawn_programs.json has what TensorFlow gives for them: values and derivatives.
"""

from __future__ import annotations

import random

import numpy as np

SEEDS = range(30)
SHAPE = (3, 4)


class Drawn:
    """A program: from x of SHAPE to a number, by a few steps among STEPS."""

    def __init__(self, tf, seed):
        self.tf, self.draw = tf, random.Random(seed)

    def steps(self, x, n, depth=0):
        """`x` after `n` steps, in its shape."""
        for _ in range(n):
            chosen = self.draw.choice(STEPS if depth < 2 else PLAIN)
            x = chosen(self, x, depth) if chosen in NESTED else chosen(self, x)
        return x

    def number(self):
        return round(self.draw.uniform(0.3, 1.2), 2)

    def elementwise(self, x):
        tf, a = self.tf, self.number()
        kind = self.draw.randrange(6)
        if kind == 0:
            return tf.sin(x * a)
        if kind == 1:
            return tf.tanh(x) * a + x
        if kind == 2:
            return x * x * a - x
        if kind == 3:
            return tf.exp(-x * x) + a
        return tf.sigmoid(x) * x if kind == 4 else tf.where(x > a, x * x, a * tf.abs(x))

    def product(self, x):
        tf = self.tf
        weights = tf.matmul(x, x, transpose_a=True) / 8.0
        return tf.matmul(x, weights) + x

    def rows(self, x):
        tf = self.tf
        indices = [self.draw.randrange(3) for _ in range(4)]
        segments = sorted(self.draw.randrange(3) for _ in range(4))
        taken = tf.gather(x, indices)
        kind = self.draw.randrange(4)
        if kind == 0:
            return x + tf.math.unsorted_segment_sum(taken, segments, 3)
        if kind == 1:
            return x - tf.pad(tf.segment_mean(taken, segments), [[0, 2 - max(segments)], [0, 0]])
        if kind == 2:
            return x * 0.5 + tf.scatter_nd([[i] for i in indices], taken, SHAPE)
        return tf.tensor_scatter_nd_update(x, [[0], [2]], taken[:2] * self.number())

    def sparse(self, x):
        tf = self.tf
        places = sorted({(self.draw.randrange(3), self.draw.randrange(3)) for _ in range(4)})
        values = tf.gather_nd(x, places)
        matrix = tf.SparseTensor(np.array(places, np.int64), values, [3, 3])
        summed = tf.sparse.reduce_sum(matrix, 1, keepdims=True)
        return tf.sparse.sparse_dense_matmul(matrix, x) * 0.5 + tf.reshape(summed, [3, 1])

    def branch(self, x, depth):
        tf, n = self.tf, self.draw.randrange(1, 3)
        left, right = self.draw.random(), self.draw.random()
        condition = tf.reduce_mean(x) > self.draw.uniform(-0.5, 0.5)

        def side(seed):
            drawn = Drawn(tf, seed)
            return lambda: drawn.steps(x, n, depth + 1)

        return tf.cond(condition, side(left), side(right))

    def loop(self, x, depth):
        tf, n = self.tf, self.draw.randrange(2, 5)
        seed, is_bounded = self.draw.random(), self.draw.random() < 0.5
        limit = n if is_bounded else n + tf.cast(tf.size(x) * 0, tf.int32)

        def body(i, y):
            return i + 1, Drawn(tf, seed).steps(y, 1, depth + 1) * 0.7 + x * 0.2

        return tf.while_loop(lambda i, y: i < limit, body, [0, x])[1]

    def unbounded(self, x, depth):
        tf, seed = self.tf, self.draw.random()

        def body(s, y):
            y = tf.tanh(Drawn(tf, seed).steps(y, 1, depth + 1)) + 0.1
            return s + tf.reduce_mean(tf.abs(y)) + 0.5, y

        s, y = tf.while_loop(lambda s, y: s < 2.0, body, [0.0, x])
        return y * s

    def array(self, x, depth):
        tf, seed = self.tf, self.draw.random()
        source = tf.TensorArray(tf.float32, 3, clear_after_read=False).unstack(x)
        target = tf.TensorArray(tf.float32, 3)

        def body(i, h, a):
            h = h * 0.5 + source.read(i) * source.read(2 - i)
            return i + 1, h, a.write(2 - i, tf.sin(h) * 1.5)

        start = [0, tf.reduce_sum(x, 0), target]
        _, h, target = tf.while_loop(lambda i, *_: i < 3, body, start)
        return Drawn(tf, seed).steps(target.stack() + h * 0.1, 1, depth + 1)

    def scan(self, x):
        return self.tf.scan(lambda a, b: a * 0.5 + self.tf.sin(b * a), x)

    def mapped(self, x):
        a = self.number()
        return self.tf.map_fn(lambda r: r * self.tf.reduce_sum(r) * a, x)

    def folded(self, x):
        tf = self.tf
        return x * tf.foldl(lambda a, b: tf.tanh(a + b), x) + tf.foldr(lambda a, b: a * b, x)


PLAIN = [Drawn.elementwise, Drawn.product, Drawn.rows, Drawn.sparse]
NESTED = [Drawn.branch, Drawn.loop, Drawn.unbounded, Drawn.array]
STEPS = [*PLAIN, *NESTED, *NESTED, Drawn.scan, Drawn.mapped, Drawn.folded]


def program(tf, seed):
    """Value and gradient."""
    value = np.random.RandomState(seed).uniform(-1, 1, SHAPE).astype(np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, SHAPE)
        y = tf.reduce_sum(tf.tanh(Drawn(tf, seed).steps(x, 3)))
        results = session.run([y, *tf.gradients(y, x)], {x: value})
        return [item.tolist() for item in results]


def outcomes(tf):
    """The results of each program: with control flow v1, as v2 takes TensorFlow minutes."""
    tf.disable_control_flow_v2()
    return {f"{seed}": program(tf, seed) for seed in SEEDS}
