"""Writes expressions*.npz: what TensorFlow gives for functions that the corpus has no rows of.

Run it in an environment with TensorFlow, which the tests themselves do without:

    python tests/graph/expressions/make_expressions.py          # all
    python tests/graph/expressions/make_expressions.py linalg   # expressions_linalg.npz
"""

import os
import sys
from pathlib import Path

import expressions_arrays
import expressions_checks
import expressions_edges
import expressions_gradients
import expressions_image
import expressions_kinds
import expressions_linalg
import expressions_names
import expressions_narrow
import expressions_nn
import expressions_operators
import expressions_quantized
import expressions_ragged
import expressions_random
import expressions_second
import expressions_shapes
import expressions_signal
import expressions_sparse
import expressions_special
import expressions_unicode
import expressions_values
import numpy as np

HERE = Path(__file__).parent
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
    "tf.polygamma(tf.constant([0., 1., 3., -1., .5]), [2., .5, 4., 1., 1.])",
    "tf.zeta(p + 1.1, p)",
    "tf.zeta([1., 2., .5, 3.], [2., 0., 1., -.5])",
    "tf.igamma(p, tf.abs(a) * 4.)",
    "tf.igammac(p, tf.abs(a) * 4.)",
    "tf.igamma([0., 1., -1., 2.], [1., 0., 1., -1.])",
    "tf.betainc(p, p * 2., tf.sigmoid(a))",
    "tf.math.bessel_i0(a * 3.)",
    "tf.math.bessel_i0e(a * 30.)",
    "tf.math.bessel_i1(a * 3.)",
    "tf.math.bessel_i1e(a * 30.)",
    "tf.math.erfinv(tf.tanh(a))",
    "tf.math.erfcinv(tf.sigmoid(a) * 2.)",
    "tf.math.ndtri(tf.sigmoid(a))",
    "tf.math.nextafter(a, 0.)",
    "tf.math.xlog1py([0., 2.], [-1., 3.])",
    "tf.math.multiply_no_nan([0., 2.], [3., 0.])",
    "tf.math.reciprocal_no_nan([0., 2.])",
    "tf.math.cumulative_logsumexp(a, 1)",
    "tf.math.cumulative_logsumexp(a, exclusive=True, reverse=True)",
    "tf.math.reduce_euclidean_norm(a, 1, keepdims=True)",
    "tf.math.reduce_euclidean_norm(i)",
    "tf.math.angle(a)",
    "tf.math.angle(tf.complex(a, p))",
    "tf.math.lbeta(p)",
    "tf.math.is_non_decreasing([1, 1, 2])",
    "tf.math.is_strictly_increasing([1, 1, 2])",
    "tf.bincount([1, 1, 5, 0], minlength=3, maxlength=4)",
    "tf.bincount([1, 1, 3], weights=[.5, 2., 1.])",
    "tf.bincount(tf.constant([], tf.int32), minlength=2)",
    "tf.confusion_matrix([1, 2, 4], [2, 2, 4])",
    "tf.confusion_matrix([[1], [0]], [0, 1], 3, tf.float32, weights=[.5, 2.])",
    "tf.math.l2_normalize(a, 1)",
    "tf.math.top_k(a, 2)",
    "tf.math.softplus(a)",
    "tf.arg_max(a, 1, tf.int32)",
    "tf.unravel_index([5, 7], [3, 4])",
    "tf.as_string([1.5, -2e-7])",
    "tf.as_string([1.5, -2e-7], scientific=True, precision=2)",
    "tf.as_string([1.5, 1e20], shortest=True)",
    "tf.as_string([12, -3], width=5, fill='0')",
    "tf.strings.as_string([True, False])",
    "tf.as_string(tf.constant([1 + 2j], tf.complex64))",
    "tf.reduce_join([['a', 'b'], ['c', 'd']], [0, 1], separator='-')",
    "tf.strings.reduce_join([['a', 'b'], ['c', 'd']], 0, keep_dims=True)",
    "tf.strings.reduce_join([['a', 'b'], ['c', 'd']])",
    "tf.strings.split(['hello big world', '', ' a  b '])",
    "tf.strings.split(['a--b--c', 'd', '--'], sep='--', maxsplit=1)",
    "tf.string_split(['a,b;c', ',x'], ',;')",
    "tf.string_split(['a,b', ',x'], ',', skip_empty=False)",
    "tf.string_split(['ab', ''], '')",
    "tf.strings.bytes_split(['ab', 'c', '']).to_tensor()",
    "tf.strings.split(['a b', 'c'], result_type='RaggedTensor').to_tensor('-')",
    "tf.encode_base64(['a?>b', 'xyz'], pad=True)",
    "tf.decode_base64(['YT8-Yg', 'eHl6'])",
    "tf.string_to_hash_bucket(['', 'a', 'abcdefgh', 'a longer string'], 10**6)",
    "tf.string_to_hash_bucket_fast(['', 'abcdefgh'], 10**6)",
    "tf.strings.unicode_transcode(['a\\u00e9'], 'UTF-8', 'UTF-16-BE')",
    "tf.strings.unicode_transcode([b'a\\xff'], 'UTF-8', 'UTF-8')",
    "tf.strings.format('x {} y {}', (tf.range(8), tf.constant([[1.5, 2.], [.1, 1e10]])))",
    "tf.strings.format('{}', tf.constant(['a', 'b']))",
    "tf.strings.format('{}', tf.constant('a'))",
    "tf.strings.format('{}', tf.ones([9, 2, 1]), summarize=1)",
    "tf.sets.set_intersection([[1, 2, 2], [3, 4, 5]], [[2, 1], [5, 3]])",
    "tf.sets.difference([[1, 2], [3, 4]], [[2, 1], [5, 3]])",
    "tf.sets.set_difference([[1, 2], [3, 4]], [[2, 1], [5, 3]], aminusb=False)",
    "tf.sets.union([['b', 'a']], [['c', 'a']])",
    "tf.sets.size(tf.SparseTensor([[0, 0], [0, 1], [2, 0]], [7, 7, 1], [3, 2]))",
    "tf.sets.intersection([[1, 2], [3, 4]], tf.SparseTensor([[0, 0], [1, 0]], [2, 9], [2, 2]))",
    "tf.sets.difference(tf.SparseTensor([[0, 0], [1, 0]], [2, 9], [2, 2]), [[1, 2], [3, 4]])",
    "tf.ragged.constant([[1, 2], [], [3]]).to_tensor()",
    "tf.ragged.constant([[[1.], [2., 3.]], []]).to_tensor(-1.)",
    "tf.ragged.constant([['a'], ['b', 'c']]).to_sparse()",
    "tf.ragged.range([2, 0, 3]).to_tensor()",
    "tf.ragged.range([2, 0], [8, 3], 2).row_lengths()",
    "tf.RaggedTensor.from_value_rowids([1, 2, 3], [0, 2, 2], nrows=4).row_splits",
    "tf.RaggedTensor.from_row_lengths([1, 2, 3], [1, 0, 2]).value_rowids()",
    "tf.nn.conv1d(tf.reshape(a, [1, 6, 2]), tf.reshape(p, [2, 2, 3]), 2, 'SAME')",
    "tf.nn.conv1d(tf.reshape(a, [1, 6, 2]), tf.reshape(p, [2, 2, 3]), 1, 'VALID', dilations=2)",
    "tf.nn.conv1d_transpose(tf.reshape(a, [2, 3, 2]), tf.reshape(p, [2, 3, 2]), [2, 6, 3], 2)",
    "tf.nn.max_pool1d(tf.reshape(a, [1, 6, 2]), 3, 2, 'SAME')",
    "tf.nn.avg_pool1d(tf.reshape(a, [1, 6, 2]), 3, 2, 'SAME')",
    (
        "tf.nn.conv3d(tf.reshape(a, [1, 2, 3, 2, 1]), tf.reshape(p, [1, 2, 2, 1, 3]),"
        " [1, 1, 1, 1, 1], 'SAME')"
    ),
    (
        "tf.nn.conv3d_transpose(tf.reshape(a, [1, 2, 3, 2, 1]), tf.reshape(p, [1, 2, 2, 3, 1]),"
        " [1, 2, 6, 4, 3], [1, 1, 2, 2, 1])"
    ),
    (
        "tf.nn.erosion2d(tf.reshape(a, [1, 3, 4, 1]), tf.reshape(p[:2, :2], [2, 2, 1]),"
        " [1, 1, 1, 1], [1, 1, 1, 1], 'SAME')"
    ),
    "tf.nn.max_pool_with_argmax(tf.reshape(a, [1, 3, 4, 1]), [1, 2, 2, 1], [1, 2, 2, 1], 'SAME')",
    "tf.space_to_batch(tf.reshape(a[:, :2], [1, 3, 2, 1]), [[1, 0], [0, 0]], 2)",
    "tf.batch_to_space(tf.reshape(a, [4, 1, 3, 1]), [[0, 0], [1, 0]], block_size=2)",
    "tf.required_space_to_batch_paddings([5, 7], [2, 3])",
    "tf.nn.normalize_moments(4., a[0], p[0], .5)",
    (
        "tf.nn.batch_norm_with_global_normalization(tf.reshape(a, [1, 1, 3, 4]), a[0], p[0], a[1],"
        " p[1], .01, True)"
    ),
    "tf.nn.silu(a, 2.)",
    "tf.tensor_scatter_nd_max(a, [[0], [2]], p[:2])",
    "tf.to_complex64(a)",
    "tf.linalg.transpose(m)",
    "tf.nn.embedding_lookup([a, p, a], [[0, 5], [8, 1]])",
    "tf.nn.embedding_lookup([a, p, a[:2]], [0, 5, 7, 1, 2], 'div')",
    "tf.nn.embedding_lookup(a, [0, 2], max_norm=1.)",
    f"tf.nn.embedding_lookup_sparse([a, p], {IDS}, None, 'div', combiner='mean')",
    "tf.layers.flatten(tf.reshape(a, [1, 2, 2, 3]), data_format='channels_first')",
    "tf.nn.pool(tf.reshape(a, [1, 4, 3, 1]), [2, 2], 'MAX', 'VALID', dilations=[2, 1])",
    "tf.nn.pool(tf.reshape(a, [1, 4, 3, 1]), [2, 3], 'AVG', 'VALID', dilation_rate=[2, 1])",
]
EXPRESSIONS += [*expressions_gradients.EXPRESSIONS, *expressions_gradients.GRADIENTS]
TABLES = {
    "arrays": expressions_arrays,
    "checks": expressions_checks,
    "edges": expressions_edges,
    "image": expressions_image,
    "kinds": expressions_kinds,
    "linalg": expressions_linalg,
    "names": expressions_names,
    "narrow": expressions_narrow,
    "nn": expressions_nn,
    "operators": expressions_operators,
    "quantized": expressions_quantized,
    "ragged": expressions_ragged,
    "random": expressions_random,
    "second": expressions_second,
    "shapes": expressions_shapes,
    "signal": expressions_signal,
    "sparse": expressions_sparse,
    "special": expressions_special,
    "unicode": expressions_unicode,
    "values": expressions_values,
}
GROUPS = {"": EXPRESSIONS} | {
    f"_{name}": [*table.EXPRESSIONS, *table.GRADIENTS] for name, table in TABLES.items()
}
"""The expressions of each file of answers, by the end of its name."""
DIFFERENTIATED = {"": expressions_gradients.GRADIENTS} | {
    f"_{name}": table.GRADIENTS for name, table in TABLES.items()
}


def goldens_of(group: str) -> Path:
    """The file of a group's answers."""
    return HERE / f"expressions{group}.npz"


def leaves(tf, value) -> list:
    """The tensors of a result."""
    if value is None:
        return []
    if isinstance(value, tf.SparseTensor):
        return [value.indices, value.values, value.dense_shape]
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in leaves(tf, item)]
    return [value]


def evaluated(tf, group: str, expr: str) -> dict[str, np.ndarray]:
    """The arrays of an expression, and the gradients by the inputs where they are recorded."""
    with tf.Graph().as_default(), tf.Session() as session:
        inputs = {key: tf.constant(array) for key, array in INPUTS.items()}
        tensors = leaves(tf, eval(expr, {"tf": tf, "np": np, **inputs}))
        arrays = [np.asarray(x) for x in session.run(tensors)]
        arrays_by_index = {str(j): array for j, array in enumerate(arrays)}
        if expr not in DIFFERENTIATED[group]:
            return arrays_by_index
        pairs = [pair for pair in zip(tensors, arrays, strict=True) if pair[1].dtype.kind in "fc"]
        dys = [np.cos(np.arange(y.size) + 1).reshape(y.shape).astype(y.dtype) for _, y in pairs]
        xs = {key: x for key, x in inputs.items() if INPUTS[key].dtype.kind == "f"}
        results = tf.gradients(
            [t for t, _ in pairs], list(xs.values()), list(map(tf.constant, dys))
        )
        flowing = {f"d{k}": dx for k, dx in zip(xs, results, strict=True) if dx is not None}
        whole = {key: tf.convert_to_tensor(dx) for key, dx in flowing.items()}
        return arrays_by_index | {key: np.asarray(x) for key, x in session.run(whole).items()}


if __name__ == "__main__":
    os.environ["TF_USE_LEGACY_KERAS"] = "1"  # tf.layers
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    chosen = {f"_{name}" for name in sys.argv[1:]} or set(GROUPS)
    for group in chosen:
        made = {}
        for i, expr in enumerate(GROUPS[group]):
            try:
                answers = evaluated(tf, group, expr)
            except Exception as error:
                sys.exit(f"{expr}: {error}")
            for key, array in answers.items():
                made[f"{i}:{key}"] = array.astype("S") if array.dtype == object else array
        np.savez_compressed(goldens_of(group), **made)
