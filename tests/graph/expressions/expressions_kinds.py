"""Other kinds of arguments: unknown shapes, ragged and sparse tensors, NaN, infinities."""

WAVES = "tf.placeholder_with_default(tf.concat([a, p, a * p], 1), [None, None])"
UNKNOWN = "tf.placeholder_with_default({}, None)"
RAGGED = "tf.RaggedTensor.from_row_splits([.5, -.25, .75], [0, 2, 3])"
WORDS = "tf.ragged.constant([['Ab', 'c'], ['dE']])"
SPARSE = "tf.SparseTensor([[0, 1], [2, 3]], [.5, -.25], [3, 4])"
GAPS = "tf.constant([[np.nan, 1, 2], [1, np.nan, 2], [2, 1, np.nan], [3, np.nan, 1]], tf.float32)"
ENDS = "tf.constant([np.inf, -np.inf, 1e30, -1e39, 7.5], tf.float64)"
RAGGED_FUNCTIONS = (
    *("tf.angle", "tf.real", "tf.imag", "tf.math.bessel_i0", "tf.math.bessel_i1e", "tf.nn.elu"),
    *("tf.math.erfinv", "tf.math.ndtri", "tf.math.reciprocal_no_nan", "tf.nn.softplus"),
    *("tf.nn.softsign", "tf.nn.relu", "tf.nn.relu6", "tf.nn.leaky_relu", "tf.nn.selu"),
    *("tf.nn.swish", "tf.log_sigmoid", "tf.zeros_like", "tf.ones_like", "tf.stop_gradient"),
    *("tf.to_double", "tf.as_string"),
)
RAGGED_STRINGS = ("lower({})", "length({})", "substr({}, 0, 1)", "to_hash_bucket_fast({}, 9)")
SPARSE_FUNCTIONS = ("tf.math.bessel_i0e", "tf.erf", "tf.asinh", "tf.sign", "tf.square", "tf.size")
EXPRESSIONS = [
    f"tf.signal.frame({WAVES}, 4, 3)",
    f"tf.signal.frame({WAVES}, 5, 2, True, -1.)",
    f"tf.signal.frame({WAVES}, 2, 1, axis=0)",
    "tf.signal.frame(m, 2, 1, True, axis=1)",
    f"tf.signal.frame({UNKNOWN.format('a')}, tf.constant(3), 2)",
    f"tf.signal.overlap_and_add(tf.signal.frame({WAVES}, 4, 2), tf.constant(2))",
    f"tf.signal.stft({WAVES}, 6, 3)",
    f"tf.signal.stft({WAVES}, tf.constant(5), 2, pad_end=True)",
    f"tf.signal.inverse_stft(tf.signal.stft({WAVES}, 4, 2), 4, 2)",
    f"tf.signal.inverse_mdct(tf.signal.mdct({WAVES}, 4))",
    "tf.signal.hann_window(5, periodic=tf.constant(False))",
    f"tf.matrix_transpose({UNKNOWN.format('m')})",
    f"tf.linalg.adjoint({UNKNOWN.format('tf.complex(m, spd)')})",
    f"tf.sort({UNKNOWN.format('a')})",
    "tf.sort(tf.placeholder_with_default(a, [None, None]), 0, 'DESCENDING')",
    f"tf.argsort({UNKNOWN.format('m')}, 1)",
    "tf.repeat(a, tf.placeholder_with_default([2, 0, 1], [None]), axis=0)",
    f"tf.repeat({UNKNOWN.format('a')}, 2)",
    "tf.repeat(tf.placeholder_with_default(a, [None, 4]), 3, axis=1)",
    "tf.repeat(['x', 'y'], [1, 2])",
    "tf.nn.swish(tf.cast(a, tf.float64), beta=p)",
    *(f"{function}({RAGGED}).flat_values" for function in RAGGED_FUNCTIONS),
    *(f"tf.strings.{call.format(WORDS)}.flat_values" for call in RAGGED_STRINGS),
    f"tf.cast({RAGGED}, tf.int32).row_splits",
    *(f"{function}({SPARSE})" for function in SPARSE_FUNCTIONS),
    *(f"tf.{f}({GAPS}, {axis})" for f in ("argmax", "argmin") for axis in (0, 1)),
    f"tf.argmax({UNKNOWN.format(GAPS)}, 1)",
    *(f"tf.segment_{f}({GAPS}, [0, 0, 1, 1])" for f in ("max", "min")),
    *(f"tf.unsorted_segment_{f}({GAPS}, [1, 1, 0, 1], 3)" for f in ("max", "min")),
    f"tf.unique(tf.reshape({GAPS}, [-1]))",
    f"tf.nn.in_top_k({GAPS}, [1, 0, 0, 0], 2)",
    f"tf.maximum({GAPS}, 1.5)",
    f"tf.minimum(1.5, {GAPS})",
    *(f"tf.saturate_cast({ENDS}, tf.{kind})" for kind in ("float32", "float16", "int8", "uint16")),
    f"tf.saturate_cast(tf.cast({ENDS}, tf.float32), tf.int32)",
    f"tf.cast(tf.saturate_cast(tf.cast({ENDS}, tf.bfloat16), tf.float16), tf.float32)",
    f"tf.saturate_cast(tf.complex({ENDS}, {ENDS}), tf.complex64)",
    f"tf.complex({ENDS}, {ENDS})",
    "tf.gather_nd(a, [[0], [1], [3]], batch_dims=1)",
    "tf.gather_nd(m, [[[0, 1]], [[2, 0]]], batch_dims=1)",
    "tf.gather_nd(m, [[[0], [1], [2]], [[2], [1], [0]]], batch_dims=2)",
    "a[np.array([True, False, True])]",
    "a[np.array(1)]",
    "a[tf.Dimension(None):tf.Dimension(2):tf.Dimension(None)]",
    "tf.reduce_any(np.array([0., 2.]))",
    "tf.reduce_all([])",
    f"tf.shape({SPARSE})",
    f"tf.rank({SPARSE})",
    "tf.random_uniform([2, 0], 0, 0, tf.int32)",
    "tf.argmax([True, False, True])",
    "tf.matrix_diag(tf.ones([4, 3]), k=(0, 3), num_rows=3)",
    "tf.batch_to_space(tf.ones([4, 1, 1, 1]), [[0, 0], [0, 0]], 2)",
    "tf.cast(tf.reduce_sum(tf.zeros([0, 3], tf.float16), 0), tf.float32)",
    "tf.nn.relu(tf.constant([1., 2.], tf.bfloat16)) > 1",
]
GRADIENTS = [
    f"tf.signal.frame({WAVES}, 4, 3)",
    f"tf.abs(tf.signal.stft({WAVES}, 6, 3))",
    "tf.repeat(a, tf.placeholder_with_default([2, 0, 1], [None]), axis=0)",
    "tf.sort(tf.placeholder_with_default(a, [None, None]), 0)",
]
