"""Arguments of another kind than functions take, as function_errors has them."""

LISTS = [
    ("tf.identity_n(a)", "input", "IdentityN"),
    ("tf.shape_n(3)", "input", ""),
    ("tf.string_join('ab')", "inputs", "string_join"),
    ("tf.nn.fractional_max_pool(tf.ones([1, 4, 4, 1]), 2.)", "pooling_ratio", ""),
    ("tf.nn.erosion2d(a, a, 3, [1, 1, 1, 1], 'VALID')", "strides", "dilation2d"),
    ("tf.nn.max_pool_with_argmax(tf.ones([1, 4, 4, 1]), 1, 2, 'SAME')", "ksize", ""),
    ("tf.nn.depthwise_conv2d_native(a, a, 1, 'SAME')", "strides", "depthwise_conv2d_native"),
]
TYPES = [
    ("tf.unique([1], out_idx=i)", "out_idx"),
    ("tf.setdiff1d([1], [2], index_dtype=a)", "out_idx"),
    ("tf.nn.top_k(a, index_type=i)", "index_type"),
    ("tf.quantize(a, 0., 1., a)", "T"),
]
DENSE_UNARY = ("exp", "cos", "log", "sigmoid", "floor", "reciprocal", "lgamma", "is_nan", "round")
ERRORS = [
    *(
        (expression, "TypeError", f"Expected list for '{argument}' argument to '{function}")
        for expression, argument, function in LISTS
    ),
    *(
        (expression, "TypeError", f"Expected DataType for argument '{argument}' not ")
        for expression, argument in TYPES
    ),
    *((f"tf.math.{f}(SPARSE)", "TypeError", "Failed to convert elements") for f in DENSE_UNARY),
    ("tf.constant(a)", "TypeError", "Expected any non-tensor type, but got a tensor instead."),
    ("tf.constant(i, tf.float16)", "TypeError", "Expected float16, but got Tensor("),
    ("tf.cast(a, [1])", "TypeError", "Cannot convert the argument `type_value`: [1]"),
    ("tf.repeat(a, 1.5)", "TypeError", "Argument `tensor` (name: repeats) must be of type integer"),
    ("tf.repeat(a, [1, 2], axis=0)", "ValueError", "Dimensions 3 and 2 are not compatible"),
    ("tf.sort(a, axis=[0])", "ValueError", "Argument `axis` must be a constant scalar."),
    ("tf.argsort(a, axis=(0, 1))", "ValueError", "Argument `axis` must be a constant scalar."),
    ("tf.sparse.concat(0, SPARSE)", "TypeError", "Inputs must be a list"),
    ("tf.signal.frame(a, [2, 2], 1)", "ValueError", "Shape (2,) must have rank 0"),
    ("tf.signal.stft(a, 2, [1])", "ValueError", "Shape (1,) must have rank 0"),
    ("tf.signal.mdct(1., 4)", "ValueError", "Shape () must have rank at least 1"),
    ("tf.signal.hann_window([5])", "ValueError", "Shape (1,) must have rank 0"),
    ("tf.signal.hann_window(5, dtype=tf.int32)", "ValueError", "dtype must be a floating point"),
    ("tf.signal.overlap_and_add(a, 1.)", "ValueError", "frame_step must be an integer. Got "),
    (
        "tf.signal.linear_to_mel_weight_matrix(dtype=tf.int64)",
        "ValueError",
        "dtype must be a floating point type. Got: <dtype: 'int64'>",
    ),
    ("tf.constant(3)[0]", "ValueError", "Attempting to slice scalar input."),
    ("tf.constant([3])[0, 0]", "ValueError", "Index out of range using input dim 1; input has on"),
    ("tf.reverse(a, [0, -2])", "ValueError", "axis 0 specified more than once"),
    (
        "tf.reverse_sequence(a, [1, 2], 1)",
        "ValueError",
        "Dimensions must be equal, but are 3 and 2",
    ),
    ("tf.reverse_sequence(a, [1, 2, 3], 2)", "ValueError", "seq_dim must be < input rank"),
    ("tf.sequence_mask([1], [1])", "ValueError", "`maxlen` must be scalar"),
    ("tf.gather_nd(a, [[0], [1], [3]], batch_dims=2)", "ValueError", "Argument `batch_dims` = 2"),
    ("tf.cast(i, tf.string)", "UnimplementedError", "Cast int32 to string is not supported"),
    ("tf.complex(1, 2)", "TypeError", "The `real` and `imag` components have incorrect types: int"),
    ("tf.real(['a'])", "TypeError", "input must be a numeric tensor, but got tensor with dtype"),
    ("tf.random_uniform([2], [1, 2], 3, tf.int32)", "ValueError", "minval must be a scalar"),
    ("tf.tile(a, tf.placeholder(tf.int32, [3]))", "ValueError", "Shape must be rank "),
    (
        "tf.metrics.auc(tf.constant([True, False]), tf.constant([.5, 1.5]))",
        "InvalidArgumentError",
        "predictions must be in [0, 1]",
    ),
]
"""Expression, type, words that the message holds."""
