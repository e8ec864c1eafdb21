"""Cases of test_derivatives.py: decompositions of matrices, and equations."""

import numpy as np
from derivative_cases import c, case, f

from flatlite.graph.core.build import ops

MATRIX, TALL, WIDE, RHS = f(2, 3, 3), f(2, 4, 3), f(2, 3, 4), f(2, 3, 2)
BANDS = f(2, 3, 4, low=1.0, high=3.0)


def symmetric(x):
    """Symmetric, with eigenvalues far apart."""
    transposed = ops.Transpose(x, c([0, 2, 1]))
    return x + transposed + np.diag([0.0, 7.0, 20.0])


def positive(x):
    return ops.BatchMatMulV2(x, x, adj_y=True) + np.diag([1.0, 5.0, 12.0])


for _full, _shape, _name in (
    (False, MATRIX, "square"),
    (False, TALL, "tall"),
    (False, WIDE, "wide"),
    (True, WIDE, "full"),
):
    case(
        f"Svd/{_name}",
        lambda x, _full=_full: [ops.Abs(y) for y in ops.Svd(x, full_matrices=_full)],
        _shape,
        shapes_known=True,
    )
case("Svd/values", lambda x: ops.Svd(x, compute_uv=False)[0], TALL, shapes_known=True)
case("Qr/tall", lambda x: [ops.Abs(y) for y in ops.Qr(x)], TALL, shapes_known=True)
case("Qr/wide", lambda x: [ops.Abs(y) for y in ops.Qr(x)], WIDE, shapes_known=True)
case("SelfAdjointEigV2", lambda x: [ops.Abs(y) for y in ops.SelfAdjointEigV2(symmetric(x))], MATRIX)
case(
    "SelfAdjointEigV2/values",
    lambda x: ops.SelfAdjointEigV2(symmetric(x), compute_v=False)[0],
    MATRIX,
)
case("LogMatrixDeterminant", lambda x: ops.LogMatrixDeterminant(x)[1], MATRIX)
case("MatrixSquareRoot", lambda x: ops.MatrixSquareRoot(positive(x)), MATRIX)
case("Cross", ops.Cross, f(2, 3), f(2, 3))
case("MatrixInverse/adjoint", lambda x: ops.MatrixInverse(x, adjoint=True), MATRIX)
for _lower in (True, False):
    for _adjoint in (True, False):
        case(
            f"MatrixTriangularSolve/{_lower}{_adjoint}",
            lambda a, b, _l=_lower, _a=_adjoint: ops.MatrixTriangularSolve(
                a + 4 * np.eye(3), b, lower=_l, adjoint=_a
            ),
            MATRIX,
            f(3, 2),
        )
        case(
            f"BandedTriangularSolve/{_lower}{_adjoint}",
            lambda a, b, _l=_lower, _a=_adjoint: ops.BandedTriangularSolve(
                a, b, lower=_l, adjoint=_a
            ),
            f(2, 2, 4, low=2.0, high=3.0),
            f(2, 4, 2),
        )
for _name, _a, _b in (("tall", TALL, f(2, 4, 2)), ("wide", WIDE, RHS)):
    case(
        f"MatrixSolveLs/{_name}",
        lambda a, b: ops.MatrixSolveLs(a, b, c(0.1, float)),
        _a,
        _b,
        shapes_known=True,
    )
case("TridiagonalSolve", ops.TridiagonalSolve, BANDS, f(2, 4, 2))
case(
    "TridiagonalMatMul",
    ops.TridiagonalMatMul,
    *(f(2, 1, 4), f(2, 1, 4), f(2, 1, 4), f(2, 4, 3)),
)
