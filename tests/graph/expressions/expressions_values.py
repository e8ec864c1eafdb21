"""Rare values: NaN, limits of integers, types of 8 and 16 bits, strings, nothing at all."""

NAN = "tf.constant([1., np.nan, 3., -np.inf, 2., np.nan])"
IMAGE = "tf.reshape(tf.cast(i[0, :4], tf.{dtype}), [1, 2, 2, 1])"
HOLES = "tf.constant([[[[1.], [np.nan]], [[2.], [0.]]]])"
DILATED = "tf.nn.dilation2d({x}, {filters}, [1] * 4, [1] * 4, 'SAME')"
DIAGONALS = "tf.linalg.set_diag(m[0], {diagonal}, k={k})"
GRADIENTS = [
    "tf.linspace(a[0, 0], p[0, 0], 5)",
    "tf.linspace(a[0], p[0], 3, axis=-1)",
    "tf.real(tf.sign(tf.complex(a, p)))",
    "tf.imag(tf.sign(tf.complex(a, p)))",
    "tf.gather(a, [[0], [2], [1]], batch_dims=-1)",
    "tf.meshgrid(a[0], p[0])",
]
EXPRESSIONS = [
    "tf.pad(['a', 'bc'], [[1, 2]])",
    "tf.pad([['a', 'bc']], [[0, 1], [2, 0]], constant_values='z')",
    "tf.pad([True], [[1, 1]])",
    f"tf.nn.top_k(tf.gather({NAN}, [0, 2, 3, 4]), 4)",
    "tf.math.segment_mean([-3, 0, 5, 6], [0, 0, 1, 1])",
    "tf.math.segment_mean(tf.constant([-2**63 + 1, 0, 5], tf.int64), [0, 0, 1])",
    "tf.sparse.segment_sum(tf.constant([-2**63 + 1, 0, 5], tf.int64), [0, 1], [0, 0])",
    "tf.histogram_fixed_width([1, 2, 5], [0, 6], 3)",
    "tf.saturate_cast(tf.constant([1., -3., 300.], tf.bfloat16), tf.uint64)",
    "tf.linspace(tf.constant(0, tf.int8), tf.constant(5, tf.int8), 4)",
    "tf.linspace(tf.constant(0, tf.uint16), tf.constant(5, tf.uint16), 4)",
    "tf.linspace([0, 0], [5, 1], 3, axis=tf.constant(0))",
    *(
        DILATED.format(x=IMAGE.format(dtype=d), filters=f"tf.ones([2, 2, 1], tf.{d})")
        for d in ("int8", "int32", "uint8", "float32")
    ),
    DILATED.format(x=HOLES, filters="tf.zeros([2, 2, 1])"),
    "tf.abs(tf.linalg.qr(tf.eye(2, dtype=tf.float16))[1])",
    "tf.unstack(tf.zeros([0])) + [tf.ones([])]",
    "tf.signal.fft(tf.zeros([2, 0], tf.complex64))",
    "tf.signal.rfft(tf.zeros([2, 0]))",
    "tf.meshgrid([True, False], [True])",
    "tf.gather(a, [[0], [2], [1]], axis=0, batch_dims=1)",
    "tf.gather(i, [[0, 1], [2, 3], [4, 4]], axis=1, batch_dims=1)",
    "tf.nn.weighted_moments(a, None, p)",
    "tf.repeat(3, 4, axis=0)",
    "tf.nn.leaky_relu(a, None)",
    "tf.unravel_index([1, 2], [2, 2])",
    DIAGONALS.format(diagonal="m[0, :2, :3]", k="(0, 1)"),
    "tf.convert_to_tensor([a, tf.cast(p, tf.float64)], tf.float64)",
    "tf.ones_like([True, False])",
]
