"""Expressions of unknown sizes, mixed types and shapes as values."""

OPEN = "tf.placeholder_with_default(a, [None, 4])"
UNKNOWN = "tf.placeholder_with_default(a, None)"
EXPRESSIONS = [
    f"tf.tensordot({UNKNOWN}, p, [[0, 1], [0, 1]])",
    f"tf.tensordot({UNKNOWN}, tf.transpose(p), 1)",
    f"tf.tensordot({OPEN}, {UNKNOWN}, tf.placeholder_with_default([[1], [1]], None))",
    "tf.tensordot(m, tf.placeholder_with_default(spd, [2, None, None]), [[2, 0], [1, 0]])",
    "tf.tensordot(a, p, 0)",
    "a[tf.constant(1, tf.int64)]",
    "a[tf.constant(0, tf.int64):2, 1:tf.constant(3, tf.int64)]",
    "tf.convert_to_tensor(a.shape)",
    "tf.convert_to_tensor(a.shape[1])",
    "tf.convert_to_tensor(tf.TensorShape([]))",
    "tf.convert_to_tensor(a.shape, tf.int64)",
    "tf.reshape(a, tf.TensorShape([4, 3]))",
    "tf.stack([np.float64(1.25), a[0, 0]])",
    "tf.convert_to_tensor([a[0, 0], a[0, 1]], tf.float64)",
    "tf.convert_to_tensor([1, 2**40])",
    "tf.string_split(['a b', b'\\xf0\\x9f c'])",
    "tf.strings.to_number(['0xF', ' -0x1p3', 'inf'])",
    "tf.as_string('ab', width=4)",
    "tf.strings.join([])",
    "tf.nn.conv2d(tf.reshape(m, [1, 2, 3, 3, 1]), tf.reshape(a[0], [2, 2, 1, 1]), 1, 'SAME')",
]
GRADIENTS = [
    "tf.math.nextafter(a, p[0])",
    "tf.tensor_scatter_nd_max(a, [[0], [2]], p[:2])",
    "tf.tensor_scatter_nd_min(a, [[2], [1]], p[:2] - 1.)",
    "tf.tensor_scatter_nd_max(a, [[0], [2], [0]], tf.gather(a, [0, 1, 0]))",
    f"tf.tensordot({OPEN}, p, [[1], [1]])",
    f"tf.tensordot({UNKNOWN}, p, [[0], [0]])",
    "tf.convert_to_tensor(tf.gather_nd(a, [[0], [2], [0]]))",
    "tf.sparse_segment_mean(a, [0, 2, 1, 0], [0, 0, 2, 2])",
    "tf.sparse_segment_sqrt_n(a, [0, 2, 1, 0], [0, 0, 2, 2], num_segments=5)",
    (
        "tf.nn.conv2d(tf.reshape(a, [1, 3, 4, 1]), tf.reshape(p[:2, :2], [2, 2, 1, 1]), 1,"
        " [[0, 0], [3, 3], [3, 4], [0, 0]])"
    ),
]
RAGGED = "tf.ragged.constant([[1., 2.], [], [3.]])"
EXPRESSIONS += [
    (
        "tf.extract_image_patches(tf.reshape(a, [1, 3, 4, 1]), [1, 2, 2, 1], [1, 1, 2, 1],"
        " [1, 1, 1, 1], 'SAME')"
    ),
    "tf.nn.weighted_moments(a, [0], tf.zeros([3, 4]))",
    "tf.nn.weighted_moments(tf.cast(a, tf.float16), [0, 1], tf.cast(p, tf.float16))",
    "tf.cast(tf.unsorted_segment_max(tf.cast(a, tf.bfloat16), [0, 2, 0], 3), tf.float32)",
    "tf.cast(tf.unsorted_segment_min(tf.cast(a, tf.bfloat16), [0, 2, 0], 3), tf.float32)",
    "tf.batch_gather(a, [[0, 3], [1, 1], [2, 0]])",
    "tf.ragged.row_splits_to_segment_ids([0, 2, 2, 5])",
    "tf.ragged.segment_ids_to_row_splits([0, 0, 2], 4)",
    f"tf.ragged.map_flat_values(tf.square, {RAGGED}).flat_values",
    f"tf.ragged.map_flat_values(tf.add, {RAGGED}, {RAGGED}).to_tensor()",
    "tf.cast(tf.ragged.stack_dynamic_partitions(a, [2, 0, 2], 4).row_splits, tf.int64)",
    "tf.ragged.stack_dynamic_partitions(a, [2, 0, 2], 4).flat_values",
    "tf.random.experimental.stateless_split([3, 4], 3)",
    "tf.random.experimental.stateless_fold_in([3, 4], 7)",
]
