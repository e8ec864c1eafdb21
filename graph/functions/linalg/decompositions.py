"""Decompositions of matrices and what is made of them: `tf.linalg`."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from ...core.build import ops
from ...core.create import convert_to_tensor
from ...core.graph import Tensor
from ...core.scopes import name_scope
from ..array import array
from ..math.arithmetic import abs
from ..math.reductions import reduce_max, reduce_sum
from ..rows import functions

if TYPE_CHECKING:
    from ...core.typing import TensorLike

ONE_TO_ONE = """
cross            Cross             a b # The cross product of vectors of three numbers, [..., 3]
matrix_triangular_solve MatrixTriangularSolve matrix rhs lower=True adjoint=False \
    # The x of matrix @ x = rhs, where only one triangle of the matrix counts; [..., m, m] and \
    [..., m, k]
qr               Qr                input full_matrices=False \
    # q with orthogonal columns, and r with zeros below its diagonal: input = q r
slogdet          LogMatrixDeterminant input \
    # Sign and logarithm of the absolute value of the determinant of [..., m, m]
"""
globals().update(functions(ONE_TO_ONE, __name__))
_PADE = (64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0,
         129060195264000.0, 10559470521600.0, 670442572800.0, 33522128640.0, 1323241920.0,
         40840800.0, 960960.0, 16380.0, 182.0, 1.0)  # fmt: skip
"""Coefficients of the approximation of exp of order 13 (Higham, 2005)."""
_REACH = 1.0
"""The norm below which the approximation is as exact as the type."""


def svd(
    tensor: TensorLike,
    full_matrices: bool = False,
    compute_uv: bool = True,
    name: str | None = None,
) -> Tensor | tuple[Tensor, Tensor, Tensor]:
    """Singular values s of matrices, and u and v with tensor = u diag(s) v^H.

    Args:
        tensor: [..., m, n], float32, float64 or complex; p below is the smaller of m and n.
        full_matrices: Whether u is [..., m, m] and v [..., n, n], in place of p columns each.
        compute_uv: Whether u and v are given, too.
        name: Of the operation.

    Returns (s, u, v) or s alone; s is [..., p], real, the largest first.

    Raises ValueError for a rank below 2.
    """
    s, u, v = ops.Svd(tensor, compute_uv=compute_uv, full_matrices=full_matrices, name=name)
    if s.dtype.kind == "c":
        s = ops.Real(s, Tout=np.dtype(f"f{s.dtype.itemsize // 2}"))
    return (s, u, v) if compute_uv else s


def self_adjoint_eig(tensor: TensorLike, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Eigenvalues in rising order and eigenvectors as columns.

    Args:
        tensor: [..., n, n], floats or complex numbers, equal to its adjoint; only the lower
            triangle counts.
        name: Of the operation.

    Returns [..., n] and [..., n, n] of the type of `tensor`.

    Raises ValueError for what is not square.
    """
    values, vectors = ops.SelfAdjointEigV2(tensor, compute_v=True, name=name)
    return values, vectors


def self_adjoint_eigvals(tensor: TensorLike, name: str | None = None) -> Tensor:
    """Eigenvalues in rising order.

    Args:
        tensor: [..., n, n], floats or complex numbers, equal to its adjoint; only the lower
            triangle counts.
        name: Of the operation.

    Returns [..., n]. Raises ValueError for what is not square.
    """
    values, _ = ops.SelfAdjointEigV2(tensor, compute_v=False, name=name)
    return values


def logdet(matrix: TensorLike, name: str | None = None) -> Tensor:
    """log(det(matrix)) of positive definite matrices, by Cholesky's factor.

    Args:
        matrix: [..., n, n], floats or complex numbers, equal to its adjoint.
        name: Of the operations.

    Returns [...], real. Raises InvalidArgumentError, when it runs, for one that is not positive
    definite.
    """
    with name_scope(name, "logdet", [matrix]):
        diagonal = ops.MatrixDiagPart(ops.Cholesky(matrix))
        if diagonal.dtype.kind == "c":
            diagonal = ops.Real(diagonal, Tout=np.dtype(f"f{diagonal.dtype.itemsize // 2}"))
        return 2.0 * reduce_sum(ops.Log(diagonal), [-1])


def cholesky_solve(chol: TensorLike, rhs: TensorLike, name: str | None = None) -> Tensor:
    """The x of chol @ chol^H @ x = rhs, for what `cholesky` gave.

    Args:
        chol: [..., n, n], floats or complex numbers; only the lower triangle counts.
        rhs: [..., n, k], of the same type.
        name: Of the operations.

    Returns [..., n, k]. Raises ValueError for shapes that do not fit; when it runs,
    InvalidArgumentError for a 0 on the diagonal.
    """
    with name_scope(name, "cholesky_solve", [chol, rhs]):
        y = ops.MatrixTriangularSolve(chol, rhs, lower=True, adjoint=False)
        return ops.MatrixTriangularSolve(chol, y, lower=True, adjoint=True)


def adjoint(matrix: TensorLike, name: str | None = None) -> Tensor:
    """The last two dimensions swapped, and complex numbers conjugated.

    Args:
        matrix: [..., m, n], of any type.
        name: Of the operations.

    Returns [..., n, m]. Raises ValueError for a rank below 2.
    """
    with name_scope(name, "adjoint", [matrix]):
        return array.matrix_transpose(convert_to_tensor(matrix), conjugate=True)


def expm(input: TensorLike, name: str | None = None) -> Tensor:
    """The exponential of matrices: scaling, a Pade quotient of order 13, squaring (Higham, 2005).

    Args:
        input: [..., n, n], floats or complex numbers.
        name: Of the operations.

    Returns the shape and type of `input`.
    """
    with name_scope(name, "matrix_exponential", [input]):
        a = convert_to_tensor(input)
        dtype = a.dtype
        size = reduce_max(reduce_sum(abs(a), [-2]))
        two, zero = np.asarray(2, size.dtype), np.zeros((), size.dtype)
        log = ops.Log(ops.Maximum(size, np.asarray(_REACH, size.dtype))) / np.log(two)
        squarings = ops.Maximum(ops.Ceil(log), zero)
        scaled = a / ops.Cast(ops.Pow(two, squarings), DstT=dtype)
        even, odd = _polynomials(scaled)
        power = ops.MatrixSolve(even - odd, even + odd)
        from ..flow.loops import while_loop

        count = ops.Cast(squarings, DstT=np.dtype(np.int32))
        result = while_loop(_turns, _squared, [count, power])
        exponential = cast("list[Tensor]", result)[1]
        exponential.set_shape(a.sizes)
        return exponential


def _turns(count: Tensor, power: Tensor) -> Tensor:
    return ops.Greater(count, np.int32(0))


def _squared(count: Tensor, power: Tensor) -> list[Tensor]:
    return [ops.Sub(count, np.int32(1)), ops.BatchMatMulV2(power, power)]


def _polynomials(a: Tensor) -> tuple[Tensor, Tensor]:
    """The even and the odd part of the numerator."""
    number = [np.asarray(value, a.dtype) for value in _PADE]
    square = ops.BatchMatMulV2(a, a)
    identity = ops.MatrixDiag(ops.OnesLike(ops.MatrixDiagPart(a)))
    even, odd = identity * number[12], identity * number[13]
    for i in range(10, -1, -2):
        even = ops.BatchMatMulV2(even, square) + identity * number[i]
        odd = ops.BatchMatMulV2(odd, square) + identity * number[i + 1]
    return even, ops.BatchMatMulV2(a, odd)
