"""Values at the ends of what functions take: other kinds of numbers, negative limits, no sizes."""

FED = "tf.placeholder_with_default({}, [])"
NONE = "tf.placeholder_with_default(np.zeros({}, np.float32), None)"
EXPRESSIONS = [
    f"tf.gather({NONE.format([3, 2, 0])}, [[0, 1]] * 3, batch_dims=1)",
    f"tf.gather({NONE.format([2, 0, 2])}, tf.zeros([2, 0], tf.int32), batch_dims=1)",
    f"tf.gather({NONE.format([0, 3, 2])}, tf.zeros([0, 2], tf.int32), batch_dims=1)",
    f"tf.dynamic_stitch([[0, 2], [1]], [{NONE.format([2, 0])}, {NONE.format([1, 0])}])",
    f"tf.nn.depthwise_conv2d({NONE.format([0, 4, 4, 2])}, tf.ones([2, 2, 2, 1]), [1] * 4, 'SAME')",
    (
        f"tf.extract_image_patches({NONE.format([0, 4, 4, 1])}, [1, 2, 2, 1], [1, 2, 2, 1], [1] * 4,"
        " 'VALID')"
    ),
    f"tf.nn.fused_batch_norm({NONE.format([0, 2, 2, 3])}, tf.ones([3]), tf.zeros([3]))[0]",
    "tf.constant(True, tf.int32)",
    "tf.constant([True, False], tf.float32)",
    "tf.constant(True, tf.complex64)",
    "tf.constant([1, True])",
    "tf.nn.softmax_cross_entropy_with_logits_v2(tf.eye(3)[:2], {}, axis=0)".format(
        "tf.placeholder_with_default([[1., 2., 3.], [4., 0., 1.]], None)"
    ),
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
    "tf.fft(np.float32([1., 2., 3.]))",
    "tf.ifft2d(np.int16([[1, 2], [3, 4]]))",
    "tf.broadcast_dynamic_shape(np.float32([2., 1.]), np.float32([3.]))",
    "tf.cumsum([1., 2.], exclusive=None, reverse=None)",
    "tf.argmax([1., 3.], output_type=None)",
    "tf.convert_to_tensor([1, 2], dtype_hint=tf.float64)",
    "tf.convert_to_tensor(np.float64([1.5]), dtype_hint=tf.int32)",
    "tf.zeros([2], tf.as_dtype(np.int16([3])))",
    "tf.bitcast(np.float32([1.5]), np.int32([7]))",
    "tf.polygamma(0., -1e5 + 0.5)",
    "tf.constant(1., shape=[0, 2, 2])",
    "tf.space_to_batch_nd(tf.zeros([2, 0, 2]), [], np.zeros([0, 2]))",
    "tf.space_to_batch_nd(tf.zeros([2, 0, 2]), [3], [[0, 0]])",
    "tf.linalg.logm(tf.zeros([0, 0], tf.complex64))",
    "tf.math.bincount(tf.zeros([0], tf.int32), minlength=2)",
    "tf.matmul(a, tf.cast(tf.transpose(a), tf.bfloat16))",
    "tf.matmul(a, a, transpose_b=True, a_is_sparse=True)",
    f"tf.signal.linear_to_mel_weight_matrix(4, {FED.format(9)}, tf.constant(8000))",
    "tf.linalg.eigh_tridiagonal(a[0], a[1, :3], select='v', select_range=tf.constant([-1., 2.]))",
    "tf.linalg.eigh_tridiagonal(a[0], a[1, :3], select='i', select_range=(1, 2))",
    "tf.random_gamma([2], 0., seed=1)",
    "tf.accumulate_n([a, p], [3, None], tf.float32)",
    "tf.shape(tf.sparse.concat(0, [tf.SparseTensor([[0, 0]], [1.], [1, 2])] * 2).indices)",
    f"tf.signal.frame(tf.zeros([1, 2, 3]), {FED.format(2)}, 1, pad_end=True, axis=1)",
    "tf.scatter_nd([[0], [7]], [1, 2], [3], bad_indices_policy='IGNORE')",
    "tf.strings.split(['a', 'a b c', ' ', 'a b'], maxsplit=1).values",
    "tf.strings.split(['a', 'a b c', ' ', 'a b'], maxsplit=2).values",
    "tf.global_norm([None])",
    "tf.image.per_image_standardization(tf.reshape(tf.cast(a, tf.float16), [2, 2, 3]))",
    "tf.linalg.det([[np.nan, 1.], [0., 1.]])",
    "tf.nn.scale_regularization_loss(np.int32([1, 2]))",
    "tf.linalg.lu_reconstruct(np.float64([[1., 2.], [3., 4.]]), [0, 1])",
    "tf.shape(a, out_type=None)",
    "tf.fake_quant_with_min_max_vars([.3, 1.2, -1.5], 2., 1.)",
    "tf.constant([x is None for x in tf.gradients([a * 2.], [np.float32([1.])])])",
    "tf.nn.compute_average_loss(tf.zeros([0, 3]))",
    "tf.sigmoid(tf.constant([-1000. + 2j, 1000. + 2j, .5 - 3j], tf.complex64))",
    "tf.logical_not(np.array(['a', ''], object))",
    "tf.linalg.matrix_rank(np.int16([[1, 2], [2, 4]]))",
    "tf.linalg.band_part(a, 0, 1)",
    "tf.nn.dilation2d(a[None, :, :, None], p[:2, :2, None], [1] * 4, [1] * 4, 'SAME')",
    (
        "tf.nn.dilation2d(a[None, :, :, None], filters=p[:2, :2, None], strides=[1] * 4, "
        "dilations=[1] * 4, padding='VALID')"
    ),
    "tf.fill([2, 1], 3., layout=None)",
]

GRADIENTS = [
    "tf.linspace(a[0], p[0], 3, axis=1)",
    "tf.extract_volume_patches(tf.reshape(a, [1, 2, 3, 2, 1]), [1, 2, 2, 2, 1], [1] * 5, 'VALID')",
]

ERRORS = [
    ("tf.hessians(tf.constant(2.) * 3., tf.constant(2.))", "ValueError", "Tried to convert"),
    ("tf.linalg.set_diag([[1., 2.]], [1.], k=3)", "ValueError", "lower_diag_index is out of"),
    ("tf.linalg.set_diag([[1., 2.]], [[1.]])", "ValueError", "Shape must be rank 1 but is rank 2"),
    ("tf.linalg.set_diag([[1., 2.]], [1., 2.])", "InvalidArgumentError", "Either first dimens"),
    (
        "tf.raw_ops.MatrixSetDiag(input=[[1., 2.]], diagonal=[1., 2.])",
        "ValueError",
        "Dimensions must be equal, but are 1 and 2",
    ),
    (
        "tf.nn.softmax(tf.ones([2, 3]), tf.placeholder_with_default(3, []))",
        "InvalidArgumentError",
        "Requires start <= limit when delta > 0",
    ),
    (
        "tf.nn.softmax_cross_entropy_with_logits_v2(tf.ones([2, 3]), {}, axis=2)".format(
            "tf.placeholder_with_default([[1., 2., 3.]], None)"
        ),
        "InvalidArgumentError",
        "Requires start <= limit when delta > 0: 3/2",
    ),
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
    ("tf.roll([1, 2], 1, 5)", "InvalidArgumentError", "axis 5 is out of range"),
    ("tf.roll(1, 1, 0)", "ValueError", "Shape must be at least rank 1 but is rank 0"),
    ("tf.roll([1], [[1]], 0)", "ValueError", "Shape must be at most rank 1 but is rank 2"),
    (
        "tf.roll([1], [1, 1], tf.placeholder_with_default([0], None))",
        "InvalidArgumentError",
        "shift and axis must have the same size",
    ),
    (
        "tf.space_to_batch_nd(tf.zeros([1, 2, 2, 1]), [0, 1], [[0, 0], [0, 0]])",
        "ValueError",
        "block_shape must be positive",
    ),
    (
        "tf.space_to_batch_nd(tf.zeros([1, 2, 2, 1]), [1, 1], [[-1, 0], [0, 0]])",
        "ValueError",
        "paddings cannot be negative",
    ),
    (
        "tf.decode_raw(['abc', 'abc', 'de'], tf.uint8)",
        "InvalidArgumentError",
        "DecodeRaw requires input strings to all be the same size, but element 2 has size 3 != 2",
    ),
    ("tf.where(False)", "InvalidArgumentError", "WhereOp : Unhandled input dimensions: 0"),
    (
        "tf.unravel_index([[1]], [2])",
        "InvalidArgumentError",
        "The indices can only be scalar or vector",
    ),
    (
        "tf.math.bincount([1], minlength=-1, maxlength=-1)",
        "ValueError",
        "size (-1) must be non-neg",
    ),
    (
        "tf.sparse_to_dense([[0]], [2], [1], [1])",
        "InvalidArgumentError",
        "default_value should be a scalar",
    ),
    (
        "tf.sparse.concat(0, [tf.sparse.from_dense([1]), tf.sparse.from_dense([[1]])])",
        "ValueError",
        "Dimensions must be equal, but are 1 and 2",
    ),
    (
        "tf.tensor_scatter_nd_update([1, 2], [[5]], [3])",
        "InvalidArgumentError",
        "indices[0] = [5] does not index into shape [2]",
    ),
    ("tf.signal.frame(a, 1, 1, pad_end=True, pad_value=[1.])", "ValueError", "must have rank 0"),
    (
        "tf.fake_quant_with_min_max_vars_per_channel_gradient(a, a, 0., p[0])",
        "ValueError",
        "Shape must be rank 1 but is rank 0",
    ),
    (
        "tf.fake_quant_with_min_max_vars_gradient(a, a[0], 0., 1.)",
        "ValueError",
        "Shapes must be equal rank, but are 2 and 1",
    ),
    (
        "tf.accumulate_n([a], tensor_dtype=tf.int32)",
        "TypeError",
        "The `tensor_dtype` argument is <dtype: 'int32'>, but",
    ),
    ("tf.accumulate_n([a], [2])", "ValueError", "Shapes (2,) and (3, 4) are not compatible"),
    ("tf.decode_base64('eA=')", "InvalidArgumentError", ""),
    ("tf.decode_base64('eHh4====')", "InvalidArgumentError", ""),
    ("tf.decode_base64('e=HH')", "InvalidArgumentError", ""),
    ("tf.linalg.band_part([1.], 0, 0)", "InvalidArgumentError", "input must be at least 2-dim"),
    ("tf.one_hot([1], 2, 1., [0., 1.])", "InvalidArgumentError", "off_value must be a scalar"),
    ("tf.one_hot([1], 2, [0., 1.], 1.)", "InvalidArgumentError", "on_value must be a scalar"),
    (
        "tf.fake_quant_with_min_max_args_gradient([1.], [1., 2.])",
        "InvalidArgumentError",
        "must have the same size and shape.  Input 0: [1] != input 1: [2]",
    ),
    ("tf.floordiv(1j, 2j)", "InvalidArgumentError", "No OpKernel was registered to support Op"),
    (
        "tf.math.bincount([1, 1], [1.])",
        "InvalidArgumentError",
        "`weights` must be the same shape as `arr` or a length-0 `Tensor`",
    ),
    ("tf.random_normal([-1])", "InvalidArgumentError", "Dimension -1 must be >= 0"),
    ("tf.unravel_index([1], [-1])", "InvalidArgumentError", "Input dims cannot be negative."),
    ("tf.invert_permutation([0, 7])", "InvalidArgumentError", "7 is not between 0 and 2"),
    ("tf.invert_permutation([0, 0])", "InvalidArgumentError", "0 is duplicated in the input."),
    (
        "tf.gather_nd(tf.zeros([0, 3]), [0, 1])",
        "InvalidArgumentError",
        "Requested more than 0 entries, but params is empty.",
    ),
    (
        "tf.math.confusion_matrix([-1], [0])",
        "InvalidArgumentError",
        "`labels` contains negative values.  ",
    ),
    (
        "tf.sparse.segment_sum([[1.]], [0, 1], [0, 1])",
        "InvalidArgumentError",
        "Bad: indices[1] == 1 out of range [0, 1)",
    ),
    (
        "tf.sparse.slice(tf.sparse.from_dense([1]), [[0]], [1])",
        "InvalidArgumentError",
        "Input start should be a vector but received shape [1,1]",
    ),
    (
        "tf.math.unsorted_segment_sum([1.], 1, 1)",
        "InvalidArgumentError",
        "segment_ids = 1 is out of range [0, 1)",
    ),
]
