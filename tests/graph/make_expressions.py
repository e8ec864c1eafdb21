"""Writes expressions.npz: what TensorFlow gives for functions that the corpus has no rows of.

Run it in an environment with TensorFlow, which the tests themselves do without:

    python tests/graph/make_expressions.py
"""

from pathlib import Path

import numpy as np

GOLDENS = Path(__file__).with_name("expressions.npz")
RANDOM = np.random.RandomState(11)
M = RANDOM.randn(2, 3, 3).astype("f4")
INPUTS = {
    "a": RANDOM.randn(3, 4).astype("f4"),
    "m": M,
    "spd": M @ M.transpose(0, 2, 1) + np.eye(3, dtype="f4"),
    "p": RANDOM.uniform(0.2, 3, (3, 4)).astype("f4"),
    "i": RANDOM.randint(-9, 9, (3, 5)).astype("i4"),
}
SPARSE = "tf.SparseTensor([[0, 1], [1, 0], [2, 3]], [1., 2., 3.], [3, 4])"
OTHER = "tf.SparseTensor([[0, 0], [1, 0], [2, 1]], [4., -5., 6.], [3, 4])"
IDS = "tf.SparseTensor([[0, 0], [0, 1], [2, 0]], tf.constant([1, 2, 0], tf.int64), [3, 2])"
EXPRESSIONS = [
    "tf.svd(m, compute_uv=False)",
    "tf.linalg.logdet(spd)",
    "tf.linalg.slogdet(m)",
    "tf.linalg.expm(m)",
    "tf.linalg.expm(m * 5.)",
    "tf.self_adjoint_eigvals(spd)",
    "tf.cross(m, spd)",
    "tf.linalg.cholesky_solve(tf.cholesky(spd), m)",
    "tf.linalg.adjoint(m)",
    "tf.matmul(*tf.linalg.qr(m))",
    "tf.sort(a, 0, 'DESCENDING')",
    "tf.sort(i)",
    "tf.argsort(a, 0)",
    "tf.argsort(i, direction='DESCENDING', stable=True)",
    "tf.searchsorted([[1., 3., 3., 6.]], [[0., 3., 7.]], side='right')",
    "tf.histogram_fixed_width_bins(a, [-1., 1.], 4)",
    "tf.unique_with_counts(tf.reshape(i, [-1]))",
    "tf.sparse_segment_mean(a, [0, 2, 1], [0, 0, 2])",
    "tf.sparse_segment_sum(a, [0, 2, 1], [0, 0, 2], num_segments=4)",
    "tf.nn.weighted_moments(a, [0], p, keep_dims=True)",
    "tf.nn.sufficient_statistics(a, [0, 1], shift=.5)",
    "tf.nn.log_poisson_loss(p, a, compute_full_loss=True)",
    "tf.signal.hann_window(8)",
    "tf.signal.hamming_window(7)",
    "tf.signal.frame(a, 2, 1)",
    "tf.signal.frame(a, 3, 2, pad_end=True)",
    "tf.signal.overlap_and_add(m, 2)",
    "tf.random.stateless_uniform([5], [3, -7], 2., 4.)",
    "tf.random.stateless_uniform([5], [3, 7], 0, 100, tf.int32)",
    "tf.random.stateless_normal([5], [2**40, 1], 1., 2.)",
    "tf.strings.lower(['Ab', 'C'])",
    "tf.strings.length(['Ab', 'C'])",
    "tf.strings.strip([' a ', 'b'])",
    "tf.strings.substr(['hello', 'world'], [-3, 1], [2, 9])",
    "tf.strings.regex_replace('banana', '(a)(n)', r'\\2\\1', replace_global=False)",
    "tf.strings.regex_full_match(['ab', 'abc'], 'a.')",
    "tf.strings.regex_replace('banana', tf.constant('(a)(n)'), tf.constant('-'))",
    "tf.strings.upper(['aé', 'C'], 'utf-8')",
    "tf.self_adjoint_eig(tf.linalg.diag([3., 1., 2.]))[0]",
    "tf.svd(m)[0]",
    "tf.strings.to_number(['1.5', '-2e3'])",
    "tf.strings.to_hash_bucket_strong(['', 'abcdefgh', 'a longer string'], 10**6, [3, 4])",
    f"tf.sparse.to_dense({SPARSE}, -1.)",
    f"tf.sparse_reduce_sum({SPARSE}, 0, keepdims=True)",
    f"tf.sparse.concat(0, [{SPARSE}, {OTHER}])",
    f"tf.sparse.maximum({SPARSE}, {OTHER})",
    "tf.sparse.reorder(tf.SparseTensor([[2, 0], [0, 1]], [1., 2.], [3, 2]))",
    f"tf.sparse.reshape({SPARSE}, [2, -1])",
    f"tf.sparse.retain({SPARSE}, [True, False, True])",
    f"tf.sparse.sparse_dense_matmul({SPARSE}, a, adjoint_b=True)",
    "tf.sparse.from_dense([[0, 3], [4, 0]])",
    "tf.sparse_to_dense([1, 3], [5], 2)",
    f"tf.nn.embedding_lookup_sparse(a, {IDS}, None, combiner='sum')",
    f"tf.nn.safe_embedding_lookup_sparse(a, {IDS}, default_id=2)",
]


def leaves(tf, value) -> list:
    """The tensors of a result."""
    if value is None:
        return []
    if isinstance(value, tf.SparseTensor):
        return [value.indices, value.values, value.dense_shape]
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in leaves(tf, item)]
    return [value]


def evaluated(tf, expr: str) -> list[np.ndarray]:
    """The arrays of an expression."""
    with tf.Graph().as_default(), tf.Session() as session:
        names = {key: tf.constant(array) for key, array in INPUTS.items()}
        return [np.asarray(x) for x in session.run(leaves(tf, eval(expr, {"tf": tf, **names})))]


if __name__ == "__main__":
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    made = {}
    for i, expr in enumerate(EXPRESSIONS):
        for j, array in enumerate(evaluated(tf, expr)):
            made[f"{i}:{j}"] = array.astype("S") if array.dtype == object else array
    np.savez_compressed(GOLDENS, **made)
