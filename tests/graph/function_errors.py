"""Expressions that functions refuse, with TensorFlow's type and leading words.

    python tests/graph/function_errors.py

runs them in an environment with TensorFlow and prints the rows that differ there.
"""

import sys

ERRORS = [
    ("tf.linalg.inv([[1., 2.], [2., 4.]])", "InvalidArgumentError", "Input is not invertible."),
    (
        "tf.linalg.solve([[1., 2.], [2., 4.]], [[1.], [2.]])",
        "InvalidArgumentError",
        "Input matrix is not invertible.",
    ),
    ("tf.linalg.lu([[1., 2.], [2., 4.]])", "InvalidArgumentError", "Input is not invertible."),
    ("tf.linalg.inv(tf.ones([2, 3]))", "ValueError", "Dimensions must be equal, but are 2 and 3"),
    ("tf.linalg.sqrtm(tf.ones([3]))", "ValueError", "Shape must be at least rank 2 but is rank 1"),
    (
        "tf.linalg.solve(tf.ones([2, 2]), tf.ones([3, 2]))",
        "ValueError",
        "Dimensions must be equal, but are 2 and 3",
    ),
    ("tf.linalg.norm([1., 2.], 'x')", "ValueError", "'ord' must be a supported vector norm, got x"),
    ("tf.linalg.norm([[1.]], 0)", "ValueError", "'ord' must be a supported vector norm, got 0"),
    (
        "tf.linalg.norm([[1.]], 3, (0, 1))",
        "ValueError",
        "'ord' must be a supported matrix norm in ['euclidean', 'fro', 1, 2, inf], got 3",
    ),
    (
        "tf.linalg.norm([[1.]], axis=(0, 0))",
        "ValueError",
        "'axis' must be None, an integer, or a tuple of 2 unique integers, got (0, 0)",
    ),
    (
        "tf.linalg.pinv([[1, 2]])",
        "TypeError",
        "Input `a` must have `float`-like `dtype` (saw int32",
    ),
    (
        "tf.linalg.matrix_rank([1.])",
        "ValueError",
        "Input `a` must have at least 2 dimensions (saw: 1).",
    ),
    (
        "tf.linalg.lu_solve([[1.]], [[0]], [[1.]])",
        "ValueError",
        "`rank(lower_upper)` must equal `rank(perm) + 1`",
    ),
    (
        "tf.linalg.lu_solve([[1.]], [0], [1.])",
        "ValueError",
        "Input `rhs` must have at least 2 dimensions.",
    ),
    (
        "tf.linalg.lu_solve([[1.]], [0], [[1.], [2.]])",
        "ValueError",
        "`lower_upper.shape[-1]` must equal `rhs.shape[-1]`.",
    ),
    ("tf.linalg.lu_reconstruct([[1., 2.]], [0])", "ValueError", "`lower_upper` must be square."),
    (
        "tf.linalg.lu_reconstruct([1.], [0])",
        "ValueError",
        "Input `lower_upper` must have at least 2 dimensions.",
    ),
    (
        "tf.linalg.tridiagonal_solve(tf.ones([3]), tf.ones([1]))",
        "ValueError",
        "Expected diagonals to have rank at least 2, got 1",
    ),
    (
        "tf.linalg.tridiagonal_solve(tf.ones([2, 4]), tf.ones([4]))",
        "ValueError",
        "Expected 3 diagonals got 2",
    ),
    (
        "tf.linalg.tridiagonal_solve(tf.ones([3, 4]), tf.ones([5]))",
        "ValueError",
        "Expected number of left-hand sided and right-hand sides to be equal, got 4 and 5",
    ),
    (
        "tf.linalg.tridiagonal_solve(tf.ones([3, 4]), tf.ones([2, 4, 5]))",
        "ValueError",
        "Expected the rank of rhs to be 1 or 2, got 3",
    ),
    (
        "tf.linalg.tridiagonal_solve(tf.ones([2, 3, 4]), tf.ones([3, 4, 1]))",
        "ValueError",
        "Batch shapes (2,) and (3,) are incompatible",
    ),
    (
        "tf.linalg.tridiagonal_solve(tf.ones([3, 4]), tf.ones([4]), 'x')",
        "ValueError",
        "Unrecognized diagonals_format: x",
    ),
    (
        "tf.linalg.tridiagonal_solve([a], tf.ones([4]), 'sequence')",
        "ValueError",
        "Expected diagonals to be a sequence of length 3.",
    ),
    (
        "tf.linalg.tridiagonal_solve([a[0], a[0, :2], a[0, :1]], tf.ones([2]), 'sequence')",
        "ValueError",
        "Expected superdiagonal to be have length 2 or 1, got 4.",
    ),
    (
        "tf.linalg.tridiagonal_solve(tf.ones([3, 4]), tf.ones([3]), 'matrix')",
        "ValueError",
        "Expected last two dimensions of diagonals to be same, got 4 and 3",
    ),
    (
        "tf.linalg.tridiagonal_solve(m, m, partial_pivoting=False, perturb_singular=True)",
        "ValueError",
        "partial_pivoting must be True if perturb_singular is.",
    ),
    (
        "tf.linalg.eigh_tridiagonal([1., 2.], [1.], select='x')",
        "ValueError",
        "'select must have a value in {'a', 'i', 'v'}.",
    ),
    (
        "tf.linalg.eigh_tridiagonal([1., 2.], tf.constant([1.], tf.float64))",
        "ValueError",
        "'alpha' and 'beta' must have the same type.",
    ),
    (
        "tf.gradients(tf.linalg.qr(m[:, :, :2], full_matrices=True)[0], m)",
        "NotImplementedError",
        "QrGrad not implemented when nrows > ncols and full_matrices is true",
    ),
    (
        "tf.gradients(tf.svd(m[:, :1], full_matrices=True)[2], m)",
        "NotImplementedError",
        "svd gradient is not implemented for abs(m - n) > 1 when full_matrices is True",
    ),
    (
        "tf.gradients(tf.linalg.lstsq(m, m, fast=False), m)",
        "ValueError",
        "Gradient not defined for fast=False",
    ),
]
"""Expression, type, words that the message holds."""


def caught(tf, expr: str, inputs) -> tuple[list[str], str]:
    """The names of the error's classes, and its message."""
    import numpy as np

    try:
        with tf.Graph().as_default(), tf.Session() as session:
            tensors = {key: tf.constant(array) for key, array in inputs.items()}
            session.run(eval(expr, {"tf": tf, "np": np, **tensors}))
    except Exception as error:
        return [kind.__name__ for kind in type(error).__mro__], str(error)
    return [], "no error"


if __name__ == "__main__":
    import tensorflow.compat.v1 as tensorflow
    from make_expressions import INPUTS

    tensorflow.disable_v2_behavior()
    for expr, kind, words in ERRORS:
        kinds, message = caught(tensorflow, expr, INPUTS)
        if kind not in kinds or words not in message:
            sys.stdout.write(f"{expr}: {kinds[:1]} {message}\n")
