"""Sparse operations as builtins: in LiteRT, too, the result is that of the dense tensors."""

import numpy as np
import pytest

import flatlite.compat.v1 as tf
from flatlite.lite import TFLiteConverter

INDICES = {
    2: np.array([[0, 1], [1, 0], [2, 3]], np.int64),
    3: np.array([[0, 0, 1], [0, 1, 0], [1, 2, 1], [1, 2, 0]], np.int64),
}
SHAPES = {2: [3, 4], 3: [2, 3, 2]}


def dense_of(indices, values, shape):
    x = np.zeros(shape, values.dtype)
    np.add.at(x, tuple(indices.T), values)
    return x


def softmax(x, indices):
    present = dense_of(indices, np.ones(len(indices), bool), x.shape)
    weights = np.exp(x) * present
    totals = np.maximum(weights.sum(-1, keepdims=True), 1e-9)  # rows without values
    return (weights / totals)[tuple(indices.T)]


OTHER = np.arange(12, dtype=np.float32).reshape(3, 4) - 5
CASES = {
    "to_dense": (2, lambda s: tf.sparse.to_dense(s, 7.0), None),
    "add": (2, lambda s: tf.sparse.add(s, OTHER), lambda x, i: x + OTHER),
    "matmul": (
        2,
        lambda s: tf.sparse.sparse_dense_matmul(s, OTHER, adjoint_b=True),
        lambda x, i: x @ OTHER.T,
    ),
    "matmul_adjoint": (
        2,
        lambda s: tf.sparse.sparse_dense_matmul(s, OTHER, adjoint_a=True),
        lambda x, i: x.T @ OTHER,
    ),
    "times": (2, lambda s: (s * OTHER).values, lambda x, i: (x * OTHER)[tuple(i.T)]),
    "over": (2, lambda s: (s / OTHER[0]).values, lambda x, i: (x / OTHER[0])[tuple(i.T)]),
    "sum": (3, lambda s: tf.sparse.reduce_sum(s, 1), lambda x, i: x.sum(1)),
    "sum_all": (3, tf.sparse.reduce_sum, lambda x, i: x.sum()),
    "sum_kept": (
        3,
        lambda s: tf.sparse.reduce_sum(s, [0, -1], keepdims=True),
        lambda x, i: x.sum((0, 2), keepdims=True),
    ),
    "max": (3, lambda s: tf.sparse.reduce_max(s, 1), None),
    "softmax": (3, lambda s: tf.sparse.softmax(s).values, softmax),
    "reshape": (
        3,
        lambda s: tf.sparse.to_dense(tf.sparse.reshape(s, [3, -1]), validate_indices=False),
        lambda x, i: x.reshape(3, -1),
    ),
    "reorder": (
        3,
        lambda s: tf.sparse.reorder(s).values,
        lambda x, i: x[tuple(i[np.lexsort(i.T[::-1])].T)],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_converted(name, litert):
    rank, function, definition = CASES[name]
    indices = INDICES[rank]
    values = np.linspace(-1.5, 2.5, len(indices)).astype(np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        at = tf.placeholder(tf.int64, [None, rank], "at")
        x = tf.placeholder(tf.float32, [None], "x")
        y = function(tf.SparseTensor(at, x, tf.constant(SHAPES[rank], tf.int64)))
        feeds = {at: indices, x: values}
        expected = session.run(y, feeds)
        converter = TFLiteConverter.from_session(session, [at, x], [y])
        converter.verify_inputs = [[indices, values]]
        content = converter.convert()
    if definition is not None:
        dense = dense_of(indices, values, SHAPES[rank])
        np.testing.assert_allclose(expected, definition(dense, indices), rtol=1e-5, atol=1e-6)
    results = litert.run(content, [[indices, values]], "BUILTIN_WITHOUT_DEFAULT_DELEGATES")
    assert not isinstance(results, str), results
    ((got,),) = results
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)
