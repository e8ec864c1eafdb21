"""What `tf.linalg.LinearOperator` and its classes refuse, as function_errors has it."""

L = "tf.linalg.LinearOperator"
ERRORS = [
    (
        f"{L}FullMatrix(m).is_square and {L}FullMatrix(m, is_square=False).is_square",
        "ValueError",
        "User set is_square hint to False, but the operator was square.",
    ),
    (
        f"{L}FullMatrix(m, is_positive_definite=True, is_non_singular=False)",
        "ValueError",
        "A positive definite matrix is always non-singular.",
    ),
    (
        f"{L}FullMatrix(m, is_self_adjoint=True, is_square=False)",
        "ValueError",
        "A self-adjoint matrix is always square.",
    ),
    (
        f"{L}FullMatrix(m).eigvals()",
        "NotImplementedError",
        "Only self-adjoint matrices are supported.",
    ),
    (
        f"{L}FullMatrix(m).cholesky()",
        "ValueError",
        "Cannot take the Cholesky decomposition: Not a positive definite self a",
    ),
    (
        f"{L}FullMatrix(m[:, :2]).determinant()",
        "NotImplementedError",
        "Determinant not implemented for an operator that is expected to not be",
    ),
    (
        f"{L}FullMatrix(m[:, :2]).solve(spd)",
        "NotImplementedError",
        "Exact solve not implemented for an operator that is expected to not be",
    ),
    (
        f"{L}FullMatrix(m[:, :2]).inverse()",
        "ValueError",
        "Cannot take the Inverse: This operator represents a non square matrix.",
    ),
    (
        f"{L}FullMatrix(m, is_non_singular=False).solve(spd)",
        "NotImplementedError",
        "Exact solve not implemented for an operator that is expected to be sin",
    ),
    (
        f"{L}FullMatrix(m, is_non_singular=False).inverse()",
        "ValueError",
        "Cannot take the Inverse: This operator represents a singular matrix.",
    ),
    (f"{L}FullMatrix(m).matmul(spd[:, :2])", "ValueError", "Dimensions 3 and 2 are not compatible"),
    (
        f"{L}FullMatrix(m).matmul({L}Diag(p[0, :2]))",
        "ValueError",
        "Operators are incompatible. Expected `x` to have dimension 3 but got 2",
    ),
    (f"{L}FullMatrix(m).matmul(i)", "TypeError", "Expected argument to have dtype"),
    (
        f"{L}FullMatrix(a[0])",
        "ValueError",
        "Argument `matrix` must have at least 2 dimensions. Received:",
    ),
    (
        f"{L}Diag(a[0], is_self_adjoint=False)",
        "ValueError",
        "A real diagonal operator is always self adjoint.",
    ),
    (f"{L}Diag(1.)", "ValueError", "Argument diag must have at least 1 dimension.  Found:"),
    (
        f"{L}Householder(a[0], is_positive_definite=True)",
        "ValueError",
        "A Householder operator is always non-positive definite.",
    ),
    (f"{L}Composition([])", "ValueError", "Expected a non-empty list of operators. Found: []"),
    (f"{L}BlockDiag([])", "ValueError", "Expected a non-empty list of operators. Found: []"),
    (
        f"{L}Composition([{L}Diag(a[0]), {L}Diag(tf.cast(a[0], tf.float64))])",
        "TypeError",
        "Expected all operators to have the same dtype.",
    ),
    (
        f"{L}LowRankUpdate({L}Diag(a[0]), a[:, :1], is_diag_update_positive=False)",
        "ValueError",
        "Default diagonal is the identity, which is positive.  However, user se",
    ),
    (f"{L}Identity(-1)", "ValueError", "Argument num_rows must be non-negative.  Found: -1"),
    (f"{L}Identity(2.)", "TypeError", "Argument num_rows must be integer type.  Found:"),
    (
        f"{L}Tridiag(m, 'other')",
        "ValueError",
        "Argument `diagonals_format` must be one of compact, matrix, or sequenc",
    ),
    (
        f"{L}Circulant2D(a[0])",
        "ValueError",
        "Argument `spectrum` must have at least 2 dimensions. Received:",
    ),
]
