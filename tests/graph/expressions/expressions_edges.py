"""Values at the ends of what functions take: other kinds of numbers, negative limits, no sizes."""

EXPRESSIONS = [
    "tf.constant(True, tf.int32)",
    "tf.constant([True, False], tf.float32)",
    "tf.constant(True, tf.complex64)",
    "tf.constant([1, True])",
    "tf.greater([1, 2], True)",
    "tf.add([1., 2.], True)",
    "tf.reduce_mean(tf.constant([[250, 200], [240, 100], [255, 33]], tf.uint8), axis=0)",
    "tf.reduce_mean(tf.constant([[120, -100], [110, -90], [100, -128]], tf.int8), axis=0)",
    "tf.reduce_mean(tf.constant([[30000, -25000], [27500, -22500]], tf.int16))",
    "tf.reduce_mean(tf.constant([2100000000, 1925000000, 1750000000]))",
    "tf.lgamma([0., -0., -1., np.inf, -np.inf, np.nan, -2.5])",
    "tf.clip_by_norm([3., 4.], -1.)",
    "tf.clip_by_norm([3., 4.], [1., -1.])",
    "tf.math.zero_fraction(['', 'a', ''])",
    "tf.stack(tf.constant([[1, 2], [3, 4]]))",
    "tf.strings.bytes_split('ab')",
    "tf.strings.bytes_split([['ab'], ['c']]).flat_values",
    "list(tf.strings.bytes_split([['ab', ''], ['c', 'def']]).nested_row_splits)",
    "tf.nn.weighted_moments([[1., 2.], [3., 5.]], 0, [[1., 2.], [1., 1.]])",
    "tf.linspace(0, 10, 5)",
    "tf.linspace(0., 3., 3, axis=0)",
    "tf.linspace([0., 1.], [3., 5.], 3)",
    "tf.linspace([0., 1.], 4., 4, axis=1)",
    "tf.linspace([[0., 1.]], [[2., 4.]], 1, axis=-2)",
    "tf.linspace([0, 1], [3, 4], 2, axis=-1)",
    "tf.linalg.matrix_rank([[1., np.nan], [1., 2.]])",
    "tf.svd([[[1., np.nan], [1., 2.]], [[3., 0.], [0., 2.]]], compute_uv=False)",
    "tf.gradients(tf.reduce_prod(tf.reduce_sum(a)), a)",
]

GRADIENTS = [
    "tf.linspace(a[0], p[0], 3, axis=1)",
]

ERRORS = [
    ("tf.argmax([1., 2.], axis=[0])", "TypeError", "axis must be int or Tensor with integer"),
    ("tf.arg_max([1., 2.], [0])", "ValueError", "Shape must be rank 0 but is rank 1"),
    ("tf.concat([[1.], [2.]], [0])", "ValueError", "Shape must be rank 0 but is rank 1"),
    ("tf.invert_permutation([[0, 1]])", "ValueError", "Shape must be rank 1 but is rank 2"),
    ("tf.fft(tf.complex(1., 1.))", "ValueError", "Shape must be at least rank 1 but is rank 0"),
    ("tf.broadcast_to(1., [[2]])", "ValueError", "Shape must be rank 1 but is rank 2"),
    ("tf.fill([2], [1.])", "ValueError", "Shape must be rank 0 but is rank 1"),
    (
        "tf.fake_quant_with_min_max_vars([1.], [0.], 1.)",
        "ValueError",
        "Shape must be rank 0 but is rank 1",
    ),
    ("tf.gather([1., 2.], [0], axis=[0])", "ValueError", "Shape must be rank 0 but is rank 1"),
    (
        "tf.nn.max_pool(tf.ones([1, 2, 2, 1]), 1, 1, 'FOO')",
        "ValueError",
        (
            "Attr 'padding' of 'MaxPool' Op passed string 'FOO' not in: "
            '"SAME", "VALID", "EXPLICIT".'
        ),
    ),
    (
        "tf.space_to_depth(tf.ones([1, 4, 4, 1]), 1)",
        "ValueError",
        "Attr 'block_size' of 'SpaceToDepth' Op passed 1 less than minimum 2.",
    ),
    (
        "tf.space_to_depth(tf.ones([1, 4, 4, 1]), [2])",
        "TypeError",
        "Expected int for argument 'block_size' not [2].",
    ),
    (
        "tf.dynamic_partition([1.], [0], 0)",
        "ValueError",
        "Attr 'num_partitions' of 'DynamicPartition' Op passed 0 less than minimum 1.",
    ),
    ("tf.as_string(1, shortest=2)", "TypeError", "Expected bool for argument 'shortest' not 2."),
    ("tf.check_numerics(1., 3)", "TypeError", "Expected string for argument 'message' not 3."),
    (
        "tf.fake_quant_with_min_max_args([1.], min='a')",
        "TypeError",
        "Expected float for argument 'min' not 'a'.",
    ),
    ("tf.bitcast(1., tf.constant(1))", "TypeError", "Expected DataType for argument 'type' not"),
    (
        "tf.extract_image_patches(tf.ones([1, 4, 4, 1]), strides=[1] * 4, padding='VALID')",
        "TypeError",
        "Expected list for 'ksizes' argument to 'extract_image_patches' Op, not None.",
    ),
    (
        "tf.arg_max([1.], 0, output_type=tf.bool)",
        "TypeError",
        (
            "Value passed to parameter 'output_type' has DataType bool not in list of allowed "
            "values: int16, uint16, int32, int64"
        ),
    ),
    ("tf.constant(1, tf.bool)", "TypeError", "Expected bool, but got 1 of type 'int'."),
    ("tf.stack(tf.ones([2, 2]), axis=1)", "TypeError", "Expected list for 'values' argument to"),
    ("tf.math.reduce_variance([1, 2])", "TypeError", "Received integer type <dtype: 'int32'>."),
]
