"""Gradients of gradients, where finite differences in 64 bits do not reach."""

IMAGE = "tf.reshape(tf.tile(a, [3, 2]) * tf.cast(tf.range(8), tf.float32), [2, 3, 4, 3])"
NORMALIZED = "tf.nn.fused_batch_norm({x}, p[0, :3], a[1, :3], {options})[0]"
TRAINED = {
    "last": "data_format='NHWC'",
    "used": "mean=a[2, :3], variance=p[1, :3], is_training=False",
}
RESULTS = [NORMALIZED.format(x=IMAGE, options=options) for options in TRAINED.values()]
EXPRESSIONS = [
    f"tf.gradients(tf.gradients(tf.square({normalized}), [a, p]), [a, p])" for normalized in RESULTS
]
EXPRESSIONS += [f"tf.gradients(tf.sin({normalized}), [a, p])" for normalized in RESULTS]
EXPRESSIONS += [
    "tf.gradients(tf.gradients(1. / p, [p])[0], [p])[0]",
]
TWICE = "tf.gradients([tf.sin(g) for g in tf.gradients({y}, {xs}) if g is not None], {xs})"
SPD = "tf.matmul(m, m, transpose_b=True) + 3. * tf.eye(3)"
GRID = "tf.reshape(a, [1, 2, 2, 3])"
ROWS = [
    *(
        f"tf.{f}(p)"
        for f in ("exp", "log", "sqrt", "rsqrt", "tanh", "sigmoid", "lgamma", "digamma")
    ),
    *(f"tf.{f}(p)" for f in ("erf", "erfc", "log1p", "expm1", "atan", "sinh", "cosh", "asinh")),
    *(f"tf.nn.{f}(a)" for f in ("elu", "selu", "softplus", "relu6", "leaky_relu", "swish")),
    *(f"tf.math.bessel_{kind}(p)" for kind in ("i0", "i0e", "i1", "i1e")),
    *("tf.pow(p, a)", "tf.atan2(a, p)", "tf.div_no_nan(a, p)", "tf.math.xlogy(p, p)", "a / p"),
    *(
        "tf.reduce_prod(p, 1)",
        "tf.reduce_logsumexp(a, 1)",
        "tf.norm(a, axis=1)",
        "tf.cumprod(p, 1)",
    ),
    *("tf.nn.softmax(a)", "tf.nn.log_softmax(a)", "tf.nn.l2_normalize(a, 1)", "tf.sort(a * a, 1)"),
    *(
        "tf.matrix_inverse(m)",
        "tf.matrix_determinant(m)",
        "tf.linalg.logdet(SPD)",
        "tf.cholesky(SPD)",
    ),
    *("tf.self_adjoint_eig(SPD)[0]", "tf.linalg.expm(m)", "tf.svd(m, compute_uv=False)"),
    *("tf.matrix_solve(SPD, m)", "tf.cross(m, m * m)", "tf.betainc(p, p, tf.sigmoid(a))"),
    "tf.dynamic_stitch([[0, 2], [1]], [a[:2] * a[:2], p[:1] * p[:1]])",
    "tf.nn.moments(a, [0])[1]",
    "tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.sigmoid(p), logits=a)",
    "tf.nn.softmax_cross_entropy_with_logits(labels=tf.nn.softmax(p), logits=a)",
    f"tf.nn.conv2d({GRID}, tf.reshape(p, [2, 2, 3, 1]), 1, 'SAME')",
    f"tf.nn.max_pool({GRID} * {GRID}, 2, 1, 'SAME')",
    f"tf.nn.avg_pool({GRID} * {GRID}, 2, 1, 'SAME')",
    "tf.abs(tf.signal.rfft(a))",
    "tf.cond(tf.reduce_sum(a) > 0, lambda: a * a * a, lambda: a * p * p)",
]
EXPRESSIONS += [TWICE.format(y=y.replace("SPD", f"({SPD})"), xs="[a, p, m]") for y in ROWS]
GRADIENTS: list[str] = []
