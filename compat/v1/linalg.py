"""The names of `tf.linalg`."""

from ...facade import facade

HOMES = {
    "graph.functions.array.array": (
        "band_part=matrix_band_part matrix_transpose tensor_diag=diag tensor_diag_part=diag_part "
        "transpose=matrix_transpose"
    ),
    "graph.functions.math.clip": "global_norm",
    "graph.functions.array.creation": "eye",
    "graph.functions.linalg.decompositions": (
        "adjoint cholesky_solve cross eigh=self_adjoint_eig eigvalsh=self_adjoint_eigvals expm "
        "logdet qr slogdet svd triangular_solve=matrix_triangular_solve"
    ),
    "graph.functions.linalg.diagonals": (
        "diag=matrix_diag diag_part=matrix_diag_part set_diag=matrix_set_diag"
    ),
    "graph.functions.linalg.einsum": "einsum",
    "graph.functions.linalg.equations": (
        "eigh_tridiagonal logm lstsq=matrix_solve_ls lu lu_matrix_inverse lu_reconstruct lu_solve "
        "matrix_rank pinv sqrtm tridiagonal_matmul tridiagonal_solve"
    ),
    "graph.functions.linalg.linear_algebra": (
        "cholesky det=matrix_determinant inv=matrix_inverse matmul matvec norm normalize "
        "solve=matrix_solve tensordot trace"
    ),
    "graph.functions.nn.normalization": "l2_normalize",
    "graph.linear_operators.base": "LinearOperator",
    "graph.linear_operators.blocks": (
        "LinearOperatorBlockDiag LinearOperatorBlockLowerTriangular LinearOperatorKronecker"
    ),
    "graph.linear_operators.derived": (
        "LinearOperatorAdjoint LinearOperatorComposition LinearOperatorInversion "
        "LinearOperatorLowRankUpdate"
    ),
    "graph.linear_operators.matrices": (
        "LinearOperatorDiag LinearOperatorFullMatrix LinearOperatorIdentity "
        "LinearOperatorLowerTriangular LinearOperatorPermutation LinearOperatorScaledIdentity "
        "LinearOperatorZeros"
    ),
    "graph.linear_operators.structured": (
        "LinearOperatorCirculant LinearOperatorCirculant2D LinearOperatorCirculant3D "
        "LinearOperatorHouseholder LinearOperatorToeplitz LinearOperatorTridiag"
    ),
}

__all__, __getattr__, __dir__ = facade(__name__, HOMES)
