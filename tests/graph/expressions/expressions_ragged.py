"""Expressions of ragged tensors: operators, functions by element, reductions, constructors."""

ROWS = "tf.ragged.constant([[1., 2.], [], [3., -4., 5.]])"
DEEP = "tf.ragged.constant([[[1., 2.], []], [[3., -4., 5.]], []])"
FLAGS = "tf.ragged.constant([[True, False], [], [True, True, False]])"
SAME = f"(lambda r: (r + r.with_flat_values(a[0, :1] + r.flat_values), r)[0])({ROWS})"


def parts(ragged: str) -> str:
    """Splits and values of a ragged tensor."""
    return f"(lambda r: [*r.nested_row_splits, r.flat_values])({ragged})"


RAGGED = [
    *(f"{ROWS} {operator} 2." for operator in ("+", "-", "*", "/", "//", "%", "**", "<", ">=")),
    *(f"2. {operator} {ROWS}" for operator in ("+", "-", "*", "/")),
    f"-{DEEP}",
    f"abs({DEEP})",
    f"~{FLAGS} | {FLAGS}",
    f"{DEEP} + a[0, 0]",
    SAME,
    f"tf.add({ROWS}, 1.)",
    f"tf.maximum({DEEP}, 0.)",
    f"tf.math.squared_difference({ROWS}, 3.)",
    f"tf.less({ROWS}, 2.)",
    f"tf.concat([{ROWS}, {ROWS}], 0)",
    f"tf.concat([{ROWS}, a], 0)",
    f"tf.ragged.stack([{ROWS}, a])",
    f"tf.ragged.boolean_mask({ROWS}, [True, False, True])",
    f"tf.ragged.boolean_mask({DEEP}, [True, False, True])",
    f"tf.ragged.boolean_mask({ROWS}, {FLAGS})",
    "tf.ragged.boolean_mask(a[:2, :2], [[True, False], [True, True]])",
    "tf.RaggedTensor.from_tensor(a)",
    "tf.RaggedTensor.from_row_starts(a[0], [0, 1, 1])",
    "tf.RaggedTensor.from_row_limits(a[0], [1, 1, 4])",
    "tf.RaggedTensor.from_nested_row_splits(a[0], [[0, 1, 2], [0, 3, 4]])",
    "tf.RaggedTensor.from_nested_row_lengths(a[0], [[1, 1], [3, 1]])",
    f"{ROWS}.with_values(a[0, :1] + {ROWS}.values)",
    f"tf.reduce_sum({DEEP}, 2)",
    f"tf.reduce_mean({DEEP}, -1)",
    f"tf.math.reduce_variance({DEEP}, 2)",
]
EXPRESSIONS = [parts(ragged) for ragged in RAGGED]
for reduction in ("sum", "prod", "max", "min", "mean"):
    EXPRESSIONS += [
        f"tf.reduce_{reduction}({ROWS}, {axis})" for axis in ("None", "0", "1", "[0, 1]")
    ]
EXPRESSIONS += [
    parts("tf.ragged.constant([[1], [2, 3]], 1)"),
    "tf.math.reduce_variance(tf.ragged.constant([[.1], [.3, .3, .3], [1., 2.]]), axis=1)",
    parts(
        "tf.gather(tf.ragged.constant([[[1, 2], [3, 4]], [[5, 6]]]), [1, 0], batch_dims=1, axis=2)"
    ),
    parts(
        "tf.gather(tf.ragged.constant([[[[1, 2], [3]], [[4]]], [[[5], [6]]]]), [0, 1], "
        "batch_dims=1, axis=2)"
    ),
    "tf.RaggedTensor.from_row_splits(tf.zeros([0, 0]), [0, 0]).to_tensor(1., shape=[0, 0, 0])",
    parts("tf.ragged.stack([a, p])"),
    parts("tf.ragged.stack(a)"),
    "tf.ragged.stack([a, p], axis=1)",
    "tf.ragged.stack([a, p], axis=2)",
    "tf.ragged.stack([1, 2])",
    f"tf.reduce_all({FLAGS}, 1)",
    f"tf.reduce_any({FLAGS}, 0)",
    f"tf.reduce_any({FLAGS})",
    f"tf.reduce_sum({ROWS}, 1, keepdims=True)",
    f"tf.reduce_sum({ROWS}, keepdims=True)",
    f"tf.reduce_sum({DEEP}, [1, 2])",
    "tf.math.reduce_variance(tf.ragged.constant([[1., 2.], [3., -4., 5.]]), 1)",
    f"tf.math.reduce_std({ROWS})",
    "tf.reduce_logsumexp(tf.ragged.constant([[1., 2.], [3., -4., 5.]]), 1)",
    "tf.ragged.stack([a[0], a[0, :2]]).flat_values",
    f"{DEEP}.bounding_shape()",
    f"{DEEP}.bounding_shape(1)",
    f"{DEEP}.nested_row_lengths()",
    f"tf.constant({ROWS}.shape.as_list()[0])",
    "tf.gradients(tf.reduce_sum((tf.RaggedTensor.from_row_splits(a[1], [0, 1, 4]) * 3.), 1), [a])",
]
GRADIENTS: list[str] = []
