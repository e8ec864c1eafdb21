"""Expressions of `tf.linalg.LinearOperator` and its classes."""

L = "tf.linalg.LinearOperator"
COMPLEX = "tf.complex(m, spd)"
SPD = "is_self_adjoint=True, is_positive_definite=True"
OPERATORS = {
    "full": f"{L}FullMatrix(m)",
    "spd": f"{L}FullMatrix(spd, {SPD})",
    "complex": f"{L}FullMatrix({COMPLEX})",
    "wide": f"{L}FullMatrix(m[:, :2])",
    "lower": f"{L}LowerTriangular(spd)",
    "diag": f"{L}Diag(p[:, :3])",
    "complexdiag": f"{L}Diag(tf.complex(p[:2, :3], a[:2, :3]))",
    "identity": f"{L}Identity(3, [2])",
    "scaled": f"{L}ScaledIdentity(3, p[:2, 0])",
    "permutation": f"{L}Permutation([[2, 0, 1], [1, 0, 2]])",
    "householder": f"{L}Householder(a[:2, :3])",
    "toeplitz": f"{L}Toeplitz(p[:2, :3], tf.concat([p[:2, :1], a[:2, 1:3]], 1))",
    "circulant": f"{L}Circulant(p[:2, :3])",
    "circulant2": f"{L}Circulant2D(tf.complex(p, a))",
    "circulant3": f"{L}Circulant3D(tf.reshape(p[:2], [2, 2, 2]))",
    "tridiag": f"{L}Tridiag(m + 4. * tf.eye(3), 'matrix')",
    "compact": f"{L}Tridiag(tf.stack([a[:2, :3], 4. + p[:2, :3], a[1:, :3]], 1))",
    "sequence": f"{L}Tridiag([a[0, :3], 4. + p[0, :3], a[1, :3]], 'sequence')",
    "adjoint": f"{L}FullMatrix({COMPLEX}).adjoint()",
    "inverse": f"{L}FullMatrix(m).inverse()",
    "composition": f"{L}Composition([{L}FullMatrix(m), {L}Diag(p[:2, :3])])",
    "kronecker": f"{L}Kronecker([{L}FullMatrix(m), {L}Diag(p[0, :2])])",
    "blocks": f"{L}BlockDiag([{L}FullMatrix(m), {L}Diag(p[0, :2])])",
    "triangle": (
        f"{L}BlockLowerTriangular([[{L}FullMatrix(m)], "
        f"[{L}FullMatrix(a[:2, :3]), {L}Diag(p[0, :2])]])"
    ),
    "update": f"{L}LowRankUpdate({L}Diag(p[0, :3], {SPD}), m[:, :, :2], p[:2, :2], "
    "is_diag_update_positive=True)",
    "asymmetric": f"{L}LowRankUpdate({L}FullMatrix(spd), m[:, :, :2], v=spd[:, :, :2])",
}
RIGHT = {
    "circulant": f"tf.cast({COMPLEX}, tf.complex64)",
    "complex": COMPLEX,
    "complexdiag": COMPLEX,
    "adjoint": COMPLEX,
    "circulant2": "tf.complex(tf.reshape(tf.range(24.), [12, 2]), 1.)",
    "circulant3": "tf.complex(tf.reshape(tf.range(16.), [8, 2]), 1.)",
    "sequence": "spd[0]",
    "kronecker": "tf.reshape(tf.range(24.), [2, 6, 2])",
    "blocks": "tf.reshape(tf.range(20.), [2, 5, 2])",
    "triangle": "tf.reshape(tf.range(20.), [2, 5, 2])",
    "diag": "tf.stack([m[0], spd[0], spd[1]])",
}
EXPRESSIONS = []
for name, operator in OPERATORS.items():
    right = RIGHT.get(name, "spd")
    EXPRESSIONS += [
        f"{operator}.to_dense()",
        f"{operator}.matmul({right})",
        f"{operator}.matvec(({right})[..., 0])",
        f"{operator}.diag_part()",
        f"{operator}.shape_tensor()",
    ]
    if name != "wide":
        EXPRESSIONS += [
            f"{operator}.matmul({right}, adjoint=True)",
            f"{operator}.solve({right})",
            f"{operator}.solve({right}, adjoint=True)",
            f"{operator}.determinant()",
            f"{operator}.log_abs_determinant()",
            f"{operator}.trace()",
            f"{operator}.adjoint().to_dense()",
            f"{operator}.inverse().to_dense()",
        ]
EXPRESSIONS += [
    f"{L}Zeros(3, 2, [2], is_square=False, is_self_adjoint=False).to_dense()",
    f"{L}Zeros(3).matmul(m)",
    f"{L}Zeros(3, batch_shape=[2]).determinant()",
    f"{OPERATORS['spd']}.cholesky().to_dense()",
    f"{OPERATORS['spd']}.eigvals()",
    f"{OPERATORS['spd']}.cond()",
    f"{OPERATORS['full']}.cond()",
    f"{OPERATORS['full']}.add_to_tensor(spd)",
    f"{OPERATORS['full']}.matmul(spd, adjoint_arg=True)",
    f"{OPERATORS['full']}.matmul({OPERATORS['spd']}).to_dense()",
    f"{OPERATORS['full']}.solve({OPERATORS['spd']}).to_dense()",
    f"({OPERATORS['diag']} @ {OPERATORS['diag']}).diag_part()",
    f"{OPERATORS['identity']}.matmul({OPERATORS['full']}).to_dense()",
    f"{OPERATORS['full']}.H.to_dense()",
    f"{OPERATORS['full']}.solvevec(a[0, :3])",
    f"{OPERATORS['blocks']}.matmul([spd, a[0, :2, None]])",
    f"{OPERATORS['blocks']}.solve([spd, spd[:, :2]])",
    f"{OPERATORS['triangle']}.matmul([spd, spd[:, :2]])",
    f"{OPERATORS['triangle']}.solve([spd, spd[:, :2]])",
    f"{OPERATORS['circulant']}.convolution_kernel()",
    f"{OPERATORS['circulant']}.eigvals()",
    f"{OPERATORS['householder']}.eigvals()",
    f"{OPERATORS['diag']}.eigvals()",
    f"{OPERATORS['update']}.cholesky().to_dense()",
    f"tf.gradients(tf.reduce_sum({OPERATORS['spd']}.solve(m)), [spd])[0]",
    f"tf.gradients({OPERATORS['update']}.log_abs_determinant(), [m])[0]",
    f"tf.gradients(tf.reduce_sum({OPERATORS['toeplitz']}.matmul(m)), [p])[0]",
]
GRADIENTS: list[str] = []
