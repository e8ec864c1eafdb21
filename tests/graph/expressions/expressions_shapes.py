"""Expressions of functions over any number of dimensions, and of ragged and sparse operands."""

BYTES = "tf.constant([[1, -2]], tf.int8)"
RAGGED = "tf.ragged.constant([[1, 2], [0], [2, 2, 1]])"
WEIGHTS = "tf.ragged.constant([[1., 2.], [.5], [2., -1., 3.]])"
NUMBERS = "tf.constant([1, 2, 0], tf.int64)"
DEEP = f"tf.SparseTensor([[0, 0, 0], [0, 0, 1], [1, 0, 0]], {NUMBERS}, [2, 2, 3])"
TEXTS = "tf.SparseTensor([[0, 1], [2, 0]], ['ab', 'c'], [3, 2])"
LINES = "tf.reshape(tf.concat([a, p], 0), [2, 6, 2])"
VOLUME = "tf.reshape(tf.concat([a, p, a, p], 0), [1, 4, 4, 3, 1])"
KERNEL = "tf.reshape(p, [2, 2, 3])"
SPARSE = "tf.SparseTensor([[0, 1], [2, 3]], [-1.5, 2.], [3, 4])"

EXPRESSIONS = [
    "tf.einsum('ij', a)",
    "tf.einsum('ba', a)",
    "tf.einsum('ij,kj->ik', a, p)",
    "tf.einsum('bij,bjk,bkl->bil', m, spd, m)",
    "tf.einsum('ij,ij', a, p)",
    "tf.einsum('bii->bi', m)",
    "tf.div_no_nan(tf.constant([1, 2, 3], tf.int8), tf.constant([0, 4, 2], tf.int8))",
    "tf.divide(5, tf.constant([2., 4.]))",
    "tf.math.reduce_variance(tf.complex(a, p), 1)",
    "tf.math.reduce_std(tf.complex(a, p))",
    f"tf.matmul({BYTES}, tf.constant([[3], [4]], tf.uint8), output_type=tf.int32)",
    "tf.nn.top_k(a, 2, index_type=tf.int64)",
    "tf.add_n(x for x in (a, p))",
    f"tf.abs({SPARSE})",
    f"tf.square({SPARSE})",
    f"tf.cast({SPARSE}, tf.int32)",
    f"tf.nn.embedding_lookup(a, {RAGGED}).to_tensor()",
    f"tf.nn.embedding_lookup_sparse(a, {RAGGED}, {WEIGHTS}, combiner='sqrtn')",
    f"tf.nn.embedding_lookup_sparse(tf.cast(a, tf.float16), {RAGGED}, None)",
    f"tf.nn.safe_embedding_lookup_sparse(a, {RAGGED}, {WEIGHTS}, combiner='sum')",
    f"tf.nn.safe_embedding_lookup_sparse(a, {RAGGED}, {WEIGHTS})",
    f"tf.nn.safe_embedding_lookup_sparse(a, {DEEP})",
    f"tf.nn.safe_embedding_lookup_sparse(a, {DEEP}, default_id=1)",
    f"tf.nn.max_pool_v2({LINES}, 3, 2, 'SAME')",
    f"tf.nn.avg_pool_v2({VOLUME}, 2, [1, 2, 1], 'VALID')",
    f"tf.nn.pool({LINES}, [2], 'AVG', 'SAME', strides=[2])",
    f"tf.nn.pool({LINES}, [2], 'MAX', 'VALID', dilations=[2])",
    f"tf.nn.pool({VOLUME}, [2, 2, 1], 'MAX', 'VALID', dilations=[2, 1, 2])",
    f"tf.nn.convolution({LINES}, {KERNEL}, 'SAME', dilations=[2])",
    f"tf.nn.conv1d(tf.reshape({LINES}, [2, 1, 6, 2]), {KERNEL}, 1, 'VALID')",
    f"tf.nn.conv_transpose({LINES}, tf.reshape(p, [2, 3, 2]), [2, 12, 3], 2)",
    f"tf.nn.conv3d_transpose({VOLUME}, tf.reshape(p[:2, :2], [2, 2, 1, 1, 1]), [1, 8, 8, 6, 1], 2)",
    (
        "tf.nn.atrous_conv2d_transpose(tf.reshape(a, [1, 3, 4, 1]), "
        "tf.reshape(p[:2, :2], [2, 2, 1, 1]), [1, 5, 6, 1], 2, 'VALID')"
    ),
    "tf.nn.swish(a, .5)",
    "tf.nn.softmax(m, tf.constant(1))",
    "tf.transpose(m, [-1, 0, 1])",
    "tf.pad(tf.constant(3.), tf.zeros([0, 2], tf.int32))",
    "tf.scatter_nd([[1], [3]], ['a', 'b'], [4])",
    "tf.confusion_matrix([0, 1, 1], [1, 1, 0], num_classes=3)",
    "tf.lookup.experimental.MutableHashTable(tf.string, tf.float32, 2.).lookup(tf.constant(['a']))",
    f"tf.lookup.StaticVocabularyTable(None, 7).lookup({TEXTS})",
    "tf.lookup.StaticVocabularyTable(None, 9).lookup(tf.constant(['12', '-3']))",
]
GRADIENTS = [
    "tf.einsum('bii->bi', m)",
    "tf.einsum('bii->b', m)",
    "tf.einsum('...ij,...jk->...ik', m, a[:, :3])",
    "tf.einsum('ij->', a)",
    "tf.einsum('bij,bkj,bk->bi', m, spd, m[:, 0])",
    "tf.einsum('...i,...->...i', m, a[:2, :3])",
    "tf.einsum('iji,ij->j', tf.stack([a[:, :3], a[:, 1:], p[:, :3]]), a[:, :3])",
    f"tf.nn.embedding_lookup_sparse(a, {RAGGED}, {WEIGHTS})",
]
