"""16-bit floats, whose every step is rounded: a comparison of their bits as integers."""

HALF = "tf.cast(tf.concat([a, p, a * p, a - p], 1), tf.float16)"
BRAIN = "tf.cast(tf.concat([a, p, a * p, a - p], 1), tf.bfloat16)"
CUBE = "tf.reshape(tf.cast(m * 3., tf.float16), [3, 2, 3])"
LONG = "tf.cast(tf.sin(tf.cast(tf.range(3400), tf.float32) * .37), {})"


def _bits(expression: str) -> str:
    return f"tf.bitcast({expression}, tf.int16)"


def _rows(kind: str, x: str) -> list[str]:
    rows = [f"tf.{f}({x}, {axis})" for f in REDUCTIONS for axis in ("0", "-1", "None")]
    rows += [f"tf.{f}({LONG.format(kind)})" for f in REDUCTIONS]
    rows += [f"{f}({x})" for f in FUNCTIONS]
    return [*map(_bits, rows)]


REDUCTIONS = ("reduce_sum", "reduce_mean", "reduce_prod")
FUNCTIONS = (
    *("tf.sigmoid", "tf.log_sigmoid", "tf.nn.softplus", "tf.nn.elu", "tf.nn.selu"),
    *("tf.nn.softmax", "tf.nn.log_softmax", "tf.nn.l2_loss", "tf.cumsum", "tf.cumprod"),
)
EXPRESSIONS = [
    *_rows("tf.float16", HALF),
    *_rows("tf.bfloat16", BRAIN),
    *(_bits(f"tf.{f}({CUBE}, {axes})") for f in REDUCTIONS for axes in ("1", "[0, 2]", "[1, 2]")),
    _bits(f"tf.cumsum({HALF}, 1, exclusive=True, reverse=True)"),
    _bits("tf.sigmoid(tf.constant([12., -12., 100., -100.], tf.float16))"),
    _bits("tf.nn.softplus(tf.constant([12., -12., 4., -4., 100.], tf.float16))"),
]
GRADIENTS: list[str] = []
