"""Functions of one slice for `tf.vectorized_map`, given `tf` and the slices.

vectorized_programs.npz has what TensorFlow gives for each slice by itself.
"""

from __future__ import annotations

import numpy as np


def slices(*shape: int, dtype: str = "float32", high: int = 3) -> np.ndarray:
    """Numbers that are the same in every run, the first dimension counts slices."""
    random = np.random.RandomState(sum(shape))
    if dtype == "float32":
        return random.randn(*shape).astype(dtype)
    return random.randint(0, high, shape).astype(dtype)


def texts(*items: bytes) -> np.ndarray:
    """A vector of strings."""
    return np.array(items, object)


N = 5
X, Y, V = slices(N, 4, 3), slices(N, 3), slices(N)
IMAGES, INDICES = slices(N, 6, 6, 2), slices(N, dtype="int32")
W = slices(3, 2)
TEXTS = texts(b"1.5,2", b"2.5,3", b"-1,4", b"0,5", b"7,6")

FUNCTIONS = {
    "elementwise": (lambda tf, x: tf.nn.relu(tf.exp(x) - 1) * 2 + tf.square(x), X),
    "activations": (lambda tf, x: [tf.nn.softmax(x), tf.nn.log_softmax(x), tf.nn.selu(x)], X),
    "cast_and_clip": (lambda tf, x: tf.cast(tf.clip_by_value(x, -0.5, 0.5) * 10, tf.int32), X),
    "broadcast_ranks": (lambda tf, x, y: [x + y, y - x, tf.maximum(x, y)], X, Y),
    "broadcast_numbers": (lambda tf, x, v: x * v + tf.minimum(v, 0.3), X, V),
    "one_for_all": (lambda tf, x: x + tf.constant(W)[:, 0], X),
    "constant_result": (lambda tf, x: tf.constant([1.0, 2.0]), X),
    "identity": (lambda tf, x: tf.stop_gradient(tf.identity(x)), X),
    "compare": (lambda tf, x, y: [tf.less(x, y), tf.equal(x, x), tf.is_nan(x)], X, Y),
    "where": (lambda tf, x: tf.where(x > 0, x, -x), X),
    "where_scalar": (lambda tf, x, v: tf.where(v > 0, x, tf.zeros_like(x)), X, V),
    "where_rows": (lambda tf, x: tf.where(x[:, 0] > 0, x, -x), X),
    "sums": (
        lambda tf, x: [tf.reduce_sum(x), tf.reduce_mean(x, 0), tf.reduce_max(x, [-1], True)],
        X,
    ),
    "bools": (lambda tf, x: [tf.reduce_all(x > -1, 1), tf.reduce_any(x > 1)], X),
    "norms": (lambda tf, x: [tf.norm(x, axis=1), tf.nn.l2_loss(x), tf.nn.l2_normalize(x, 0)], X),
    "moments": (lambda tf, x: tf.nn.moments(x, [0]), X),
    "extremes": (lambda tf, x: [tf.argmax(x, 0), tf.argmin(x, -1)], X),
    "running": (lambda tf, x: [tf.cumsum(x), tf.cumprod(x, 1, exclusive=True)], X),
    "add_n": (lambda tf, x: tf.add_n([x, x, tf.ones([4, 3])]), X),
    "top_k": (lambda tf, x: tf.nn.top_k(x, 2), X),
    "shapes": (lambda tf, x: [tf.shape(x), tf.size(x), tf.rank(x)], X),
    "reshape": (lambda tf, x: [tf.reshape(x, [-1, 2]), tf.reshape(x, [3, 4])], X),
    "reshape_by_shape": (lambda tf, x: tf.reshape(x, [tf.shape(x)[1], tf.shape(x)[0]]), X),
    "dims": (lambda tf, x: [tf.squeeze(tf.expand_dims(x, 1), [1]), tf.expand_dims(x, -1)], X),
    "squeeze_all": (lambda tf, x: tf.squeeze(tf.expand_dims(x, 0)), X),
    "transpose": (lambda tf, x: [tf.transpose(x), tf.transpose(x, [1, 0])], X),
    "join": (lambda tf, x: [tf.concat([x, x * 2], 1), tf.concat([x, tf.ones([1, 3])], 0)], X),
    "stack": (lambda tf, x: [tf.stack([x, -x], 1), *tf.unstack(x, axis=1)], X),
    "split": (lambda tf, x: [*tf.split(x, 2, 0), *tf.split(x, [1, 2], 1)], X),
    "slice": (lambda tf, x: tf.slice(x, [1, 0], [2, -1]), X),
    "index": (
        lambda tf, x: [x[1], x[:, 0], x[..., -1], x[::2, tf.newaxis], x[1:, :2], x[-1, 1:]],
        X,
    ),
    "pads": (
        lambda tf, x: [tf.pad(x, [[1, 0], [0, 2]]), tf.pad(x, [[1, 1], [0, 0]], "REFLECT")],
        X,
    ),
    "pad_value": (lambda tf, x: tf.pad(x, [[1, 0], [0, 2]], constant_values=7.0), X),
    "tile": (lambda tf, x: tf.tile(x, [1, 2]), X),
    "reverse": (lambda tf, x: [tf.reverse(x, [0]), tf.reverse(x, [-1])], X),
    "fill": (lambda tf, v: [tf.fill([2, 3], v), tf.broadcast_to(v, [2, 2])], V),
    "broadcast_to": (lambda tf, y: tf.broadcast_to(y, [2, 3]), Y),
    "likes": (lambda tf, x: [tf.zeros_like(x), tf.ones_like(x)], X),
    "gather_from_one": (lambda tf, i: tf.gather(tf.constant(W), i), INDICES),
    "gather_of_each": (lambda tf, x: [tf.gather(x, [2, 0]), tf.gather(x, 1, axis=1)], X),
    "gather_each": (
        lambda tf, x, i: [tf.gather(x, i), x[0] * tf.gather(x, i, axis=-1)[0]],
        X,
        INDICES,
    ),
    "gather_nd": (lambda tf, i: tf.gather_nd(tf.constant(W), tf.stack([i, i % 2])), INDICES),
    "one_hot": (lambda tf, i: [tf.one_hot(i, 3), tf.one_hot([i, 1], 3, axis=0)], INDICES),
    "matmul": (lambda tf, x: [tf.matmul(x, tf.constant(W)), tf.matmul(x, x, transpose_b=True)], X),
    "matmul_of_one": (lambda tf, x: tf.matmul(tf.constant(W), x, True, True), X),
    "batch_matmul": (lambda tf, x: tf.matmul(x[None], tf.ones([2, 3, 1])), X),
    "tensordot": (lambda tf, x: tf.tensordot(x, x, 0), X),
    "dense": (lambda tf, y: tf.nn.bias_add(tf.matmul(y[None], tf.constant(W)), [1.0, 2.0]), Y),
    "linalg": (
        lambda tf, x: [
            tf.matrix_inverse(tf.matmul(x, x, True) + tf.eye(3)),
            tf.cholesky(tf.matmul(x, x, True) + tf.eye(3)),
            tf.matrix_band_part(tf.matmul(x, x, True), 0, -1),
        ],
        X,
    ),
    "diagonals": (lambda tf, y: [tf.matrix_diag_part(tf.matrix_diag(y)), tf.matrix_diag(y)], Y),
    "conv": (
        lambda tf, x: tf.nn.conv2d(x[None], np.ones([3, 3, 2, 3], "float32"), [1] * 4, "SAME"),
        IMAGES,
    ),
    "pool": (lambda tf, x: tf.nn.max_pool(x[None], [1, 2, 2, 1], [1, 2, 2, 1], "VALID")[0], IMAGES),
    "resize": (lambda tf, x: tf.image.resize_bilinear(x[None], [3, 3])[0], IMAGES),
    "flip": (lambda tf, x: tf.image.flip_left_right(x), IMAGES),
    "standardize": (lambda tf, x: tf.image.per_image_standardization(x), IMAGES),
    "crop": (lambda tf, x: tf.image.resize_image_with_crop_or_pad(x, 4, 8), IMAGES),
    "losses": (
        lambda tf, x, i: tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=tf.fill([4], i), logits=x
        ),
        X,
        INDICES,
    ),
    "cross_entropy": (
        lambda tf, x: tf.nn.softmax_cross_entropy_with_logits_v2(
            labels=tf.nn.softmax(-x), logits=x
        ),
        X,
    ),
    "texts": (
        lambda tf, s: [tf.string_to_number(tf.strings.substr(s, 0, 1 + 0)), tf.strings.length(s)],
        texts(b"1a", b"2b", b"3c"),
    ),
    "joined": (lambda tf, s: tf.string_join([s, "x"], "-"), TEXTS),
    "csv": (lambda tf, s: tf.decode_csv(s, [[0.0], [0]]), TEXTS),
    "raw": (lambda tf, s: tf.decode_raw(s, tf.uint8), texts(b"ab", b"cd", b"ef")),
    "mix": (
        lambda tf, pair: {"a": pair["x"] * pair["v"], "b": (tf.reduce_sum(pair["x"]), pair["v"])},
        {"x": X, "v": V},
    ),
    "in_a_loop": (
        lambda tf, v: tf.while_loop(lambda a: a < 3.0, lambda a: a + tf.abs(v) + 0.5, [v]),
        V,
    ),
    "branches": (lambda tf, v: tf.cond(v > 0, lambda: v * 2, lambda: v - 1), V),
}
"""Name -> a function of `tf` and slices, what the slices are of."""

IN_LOOPS = ("in_a_loop", "branches")
"""Those with operations that are done slice by slice."""


def results(tf, name: str) -> list[np.ndarray]:
    """What a function gives for all slices at once."""
    function, *elems = FUNCTIONS[name]
    with tf.Graph().as_default(), tf.Session() as session:
        values = [tf.nest.map_structure(tf.constant, elem) for elem in elems]
        mapped = tf.vectorized_map(
            lambda items: function(tf, *items),
            tuple(values),
            fallback_to_while_loop=name in IN_LOOPS,
            warn=False,
        )
        return session.run(tf.nest.flatten(mapped))
