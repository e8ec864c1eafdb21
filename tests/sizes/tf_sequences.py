"""Sequences and matrices of any length: slices, paddings, branches, attention."""

from __future__ import annotations

from tf_models import SEQUENCE, SEQUENCES, N, model, weights

ROWS = ((1, 8), (7, 8), (61, 8), (12, 8))
PAIRS = (((3, 8), (7, 8)), ((1, 8), (2, 8)), ((31, 8), (5, 8)), ((4, 8), (4, 8)))


@model(PAIRS, x=(N, 8), y=(N, 8))
def difference_of_lengths(tf):
    return lambda x, y: tf.shape(x)[0] - tf.shape(y)[0]


@model(PAIRS, x=(N, 8), y=(N, 8))
def pad_to_longer(tf):
    def run(x, y):
        n, m = tf.shape(x)[0], tf.shape(y)[0]
        longer = tf.maximum(n, m)
        return tf.pad(x, [[0, longer - n], [0, 0]]) * tf.pad(y, [[longer - m, 0], [0, 0]])

    return run


@model(PAIRS, x=(N, 8), y=(N, 8))
def longer_of_two(tf):
    return lambda x, y: tf.cond(tf.shape(x)[0] >= tf.shape(y)[0], lambda: x, lambda: y)


@model(PAIRS, x=(N, 8), y=(N, 8))
def joined(tf):
    def run(x, y):
        both = tf.concat([x, y], 0)
        return both / tf.cast(tf.shape(both)[0], tf.float32)

    return run


@model(PAIRS, x=(N, 8), y=(N, 8))
def distances(tf):
    return lambda x, y: tf.reduce_sum(tf.square(x[:, tf.newaxis] - y), axis=2)


@model(SEQUENCES, x=SEQUENCE)
def pad_length_to_four(tf):
    return lambda x: tf.pad(x, [[0, 0], [0, (-tf.shape(x)[1]) % 4], [0, 0]])


@model(((7, 8), (20, 8), (21, 8), (61, 8)), x=(N, 8))
def double_if_long(tf):
    return lambda x: tf.cond(tf.shape(x)[0] > 20, lambda: 2.0 * x, lambda: x)


@model(((1, 1), (999, 1), (1000, 1), (2001, 1)), x=(N, 1))
def thousands(tf):
    return lambda x: tf.reduce_sum(x) * tf.cast(tf.shape(x)[0] // 1000, tf.float32)


@model(((1, 1), (100, 1), (101, 1), (300, 1)), x=(N, 1))
def over_hundred(tf):
    return lambda x: x[:3] + tf.cast(tf.shape(x)[0] > 100, tf.float32)


@model(
    (((3, 5), (5, 2)), ((1, 7), (7, 4)), ((61, 2), (2, 1)), ((4, 4), (4, 4))), x=(N, N), y=(N, N)
)
def matrices(tf):
    return lambda x, y: tf.matmul(x, y)


@model(
    (
        ((1, 3, 5), (1, 5, 2)),
        ((2, 1, 7), (2, 7, 4)),
        ((3, 6, 2), (3, 2, 1)),
        ((1, 4, 4), (1, 4, 4)),
    ),
    x=(N, N, N),
    y=(N, N, N),
)
def batches_of_matrices(tf):
    return lambda x, y: tf.einsum("bij,bjk->bik", x, y)


@model(SEQUENCES, x=SEQUENCE)
def dense(tf):
    w, b = weights(8, 5), weights(5)
    return lambda x: tf.nn.relu(tf.tensordot(x, w, 1) + b)


@model(SEQUENCES, x=SEQUENCE)
def layer_norm(tf):
    scale, offset = weights(8), weights(8) + 1

    def run(x):
        mean, variance = tf.nn.moments(x, [-1], keepdims=True)
        return (x - mean) * tf.math.rsqrt(variance + 1e-6) * scale + offset

    return run


@model(((1, 7), (2, 1), (3, 61), (1, 12)), ids=((N, N), "int32", 11))
def embedding_mean(tf):
    table = weights(11, 6)
    return lambda ids: tf.reduce_mean(tf.gather(table, ids), axis=1)


@model(((1, 7), (2, 1), (3, 61), (1, 12)), ids=((N, N), "int32", 11))
def masked_mean(tf):
    table = weights(11, 6)

    def run(ids):
        mask = tf.expand_dims(tf.cast(ids > 0, tf.float32), 2)
        total = tf.reduce_sum(tf.gather(table, ids) * mask, axis=1)
        return total / tf.maximum(tf.reduce_sum(mask, axis=1), 1.0)

    return run


@model(((1, 7), (2, 1), (3, 40), (1, 12)), ids=((N, N), "int32", 11))
def positions(tf):
    table, places = weights(11, 6), tf.constant(weights(40, 6))
    return lambda ids: tf.gather(table, ids) + places[: tf.shape(ids)[1]]


@model(SEQUENCES, x=SEQUENCE)
def positions_by_range(tf):
    places = weights(64, 8)
    return lambda x: x + tf.gather(places, tf.range(tf.shape(x)[1]))


@model(SEQUENCES, x=SEQUENCE)
def causal_attention(tf):
    def run(x):
        n = tf.shape(x)[1]
        scores = tf.matmul(x, x, transpose_b=True) * 0.35
        mask = tf.range(n)[:, tf.newaxis] >= tf.range(n)
        scores = tf.where(mask, scores, -1e9)
        return tf.matmul(tf.nn.softmax(scores), x)

    return run


@model(SEQUENCES, x=SEQUENCE)
def last_three(tf):
    return lambda x: x[:, -3:]


@model(SEQUENCES, x=SEQUENCE)
def last_step(tf):
    w = weights(8, 5)
    return lambda x: tf.matmul(x[:, -1], w)


@model(((1, 9, 8), (2, 7, 8), (3, 61, 8), (1, 12, 8)), x=SEQUENCE)
def frames(tf):
    """Frames of four steps; what is over is cut off."""

    def run(x):
        n = tf.shape(x)[1] // 4
        return tf.reshape(x[:, : n * 4], tf.stack([-1, n, 32]))

    return run


@model(((1, 9), (2, 7), (3, 61), (1, 12)), x=(N, N))
def overlapping_frames(tf):
    def run(x):
        starts = tf.range((tf.shape(x)[1] - 4) // 2 + 1) * 2
        return tf.gather(x, starts[:, tf.newaxis] + tf.range(4), axis=1)

    return run


@model(SEQUENCES, x=SEQUENCE)
def running_mean(tf):
    def run(x):
        steps = tf.cast(tf.range(1, tf.shape(x)[1] + 1), tf.float32)
        return tf.cumsum(x, axis=1) / steps[:, tf.newaxis]

    return run


@model(SEQUENCES, x=SEQUENCE)
def clipped_length(tf):
    return lambda x: x[:, : tf.minimum(tf.shape(x)[1], 10)]


@model(ROWS, x=(N, 8))
def at_least_ten(tf):
    def run(x):
        n = tf.shape(x)[0]
        return tf.pad(x, [[0, tf.maximum(10, n) - n], [0, 0]])

    return run


@model(ROWS, x=(N, 8))
def fixed_ten(tf):
    """Cut or padded to ten rows."""

    def run(x):
        n = tf.shape(x)[0]
        return tf.reshape(tf.pad(x[:10], [[0, 10 - tf.minimum(n, 10)], [0, 0]]), [10, 8])

    return run


@model(ROWS, x=(N, 8))
def best_five(tf):
    return lambda x: tf.math.top_k(x[:, 0], tf.minimum(tf.shape(x)[0], 5)).values


@model(SEQUENCES, x=SEQUENCE)
def zeros_before(tf):
    def run(x):
        shape = tf.shape(x)
        return tf.concat([tf.zeros(tf.stack([shape[0], 2, 8])), x[:, :-1]], axis=1)

    return run


@model(SEQUENCES, x=SEQUENCE)
def class_token(tf):
    token = weights(1, 1, 8)

    def run(x):
        return tf.concat([tf.tile(token, tf.stack([tf.shape(x)[0], 1, 1])), x], axis=1)

    return run


@model(((1, 8), (7, 8), (3, 8), (12, 8)), x=(N, 8))
def batch_branch(tf):
    def run(x):
        return tf.cond(tf.shape(x)[0] > 1, lambda: x - tf.reduce_mean(x, 0), lambda: x)

    return run


@model(((1, 8), (7, 8), (3, 8), (12, 8)), x=(N, 8))
def loop_over_rows(tf):
    def run(x):
        n = tf.shape(x)[0]
        _, total = tf.while_loop(
            lambda i, t: i < n,
            lambda i, t: (i + 1, t * 0.5 + x[i]),
            [0, tf.zeros([8])],
        )
        return total

    return run


@model(SEQUENCES, x=SEQUENCE)
def heads(tf):
    """[batch, n, 2 heads of 4] and back."""

    def run(x):
        shape = tf.shape(x)
        y = tf.reshape(x, tf.stack([shape[0], shape[1], 2, 4]))
        y = tf.transpose(y, [0, 2, 1, 3])
        y = tf.matmul(tf.nn.softmax(tf.matmul(y, y, transpose_b=True)), y)
        return tf.reshape(tf.transpose(y, [0, 2, 1, 3]), shape)

    return run


@model(((4, 8), (6, 8), (2, 8), (12, 8)), x=(N, 8))
def halves_of_batch(tf):
    def run(x):
        n = tf.shape(x)[0] // 2
        return x[:n] - x[n:]

    return run


@model(SEQUENCES, x=SEQUENCE)
def every_other_reversed(tf):
    return lambda x: tf.reverse(x[:, ::2], axis=[1])
