"""Equations of matrices: least squares, LU factors, three diagonals, pseudo-inverses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeGuard, cast

import numpy as np

from ...core.build import ops
from ...core.create import convert_to_tensor
from ...core.graph import Tensor
from ...core.named_results import with_names
from ...core.scopes import name_scope
from ...core.shapes import is_static, whole
from ..array import array
from ..flow.conditional import cond
from ..math.reductions import reduce_max, reduce_sum
from ..math.sorting import argsort
from ..rows import functions
from .decompositions import cholesky_solve, self_adjoint_eig, self_adjoint_eigvals
from .diagonals import matrix_diag_part
from .linear_algebra import matmul, require_matrix

if TYPE_CHECKING:
    from ...core.shapes import Dim
    from ...core.typing import DTypeLike, TensorLike

ONE_TO_ONE = """
logm             MatrixLogarithm   input \
    # The principal logarithm of each complex matrix of [..., m, m]
sqrtm            MatrixSquareRoot  input \
    # The y of y y = input whose eigenvalues have real parts >= 0; NaN where a real input has none
"""
globals().update(functions(ONE_TO_ONE, __name__))


def matrix_solve_ls(
    matrix: TensorLike,
    rhs: TensorLike,
    l2_regularizer: float = 0.0,
    fast: bool = True,
    name: str | None = None,
) -> Tensor:
    """The x with the least |matrix x - rhs|^2 + l2_regularizer |x|^2.

    Args:
        matrix: [..., m, n].
        rhs: [..., m, k].
        l2_regularizer: The weight of the size of x; with `fast` alone.
        fast: By Cholesky's factor of the normal equations, which a matrix of full rank needs;
            else by singular values, and the least x where there are several.
        name: Of the operations.
    """
    a = convert_to_tensor(matrix, name="matrix")
    if not fast:
        weight = np.float64(l2_regularizer)
        return ops.MatrixSolveLs(a, rhs, weight, fast=False, name=name)
    with name_scope(name, "matrix_solve_ls", [a, rhs]):
        b = convert_to_tensor(rhs, a.dtype, "rhs")
        rows, columns = a.sizes[-2:] if a.sizes is not None else (None, None)
        if rows is None or columns is None:
            sizes = ops.Shape(a)
            return cast(
                "Tensor",
                cond(
                    ops.GreaterEqual(sizes[-2], sizes[-1]),
                    lambda: _normal_equations(a, b, l2_regularizer, True),
                    lambda: _normal_equations(a, b, l2_regularizer, False),
                ),
            )
        return _normal_equations(a, b, l2_regularizer, rows >= columns)


def _normal_equations(a: Tensor, b: Tensor, l2: float, is_tall: bool) -> Tensor:
    gramian = matmul(a, a, adjoint_a=is_tall, adjoint_b=not is_tall)
    if l2:
        diagonal = ops.MatrixDiagPart(gramian)
        gramian = ops.MatrixSetDiag(gramian, diagonal + np.asarray(l2, a.dtype))
    factor = ops.Cholesky(gramian)
    if is_tall:
        return cholesky_solve(factor, matmul(a, b, adjoint_a=True))
    return matmul(a, cholesky_solve(factor, b), adjoint_a=True)


def pinv(
    a: TensorLike,
    rcond: TensorLike | None = None,
    validate_args: bool = False,
    name: str | None = None,
) -> Tensor:
    """The pseudo-inverse of matrices: v diag(1 / s) u^H of their singular values s.

    Args:
        a: [..., m, n], floats.
        rcond: The share of the largest singular value below which others count as 0; 10 max(m, n)
            epsilon by default.
        validate_args: Whether the rank is looked at when it is not known before.
        name: Of the operations.

    Raises:
        TypeError: `a` has no floats.
        ValueError: `a` has fewer than two dimensions.
    """
    with name_scope(name, "pinv", [a]):
        x = require_matrix(convert_to_tensor(a, name="a"), validate_args)
        epsilon = np.finfo(x.dtype).eps
        share = _larger_side(x) * np.asarray(10 * epsilon, x.dtype) if rcond is None else rcond
        s, u, v = ops.Svd(x)
        least = convert_to_tensor(share, x.dtype, "rcond") * reduce_max(s, -1)
        counts = ops.Greater(s, ops.ExpandDims(least, np.int32(-1)))
        s = ops.SelectV2(counts, s, np.asarray(np.inf, x.dtype))
        inverse = matmul(v / ops.ExpandDims(s, np.int32(-2)), u, adjoint_b=True)
        if x.sizes is not None:
            inverse.set_shape((*x.sizes[:-2], x.sizes[-1], x.sizes[-2]))
        return inverse


def _larger_side(x: Tensor) -> Tensor | np.ndarray:
    """The larger of rows and columns, in the dtype of the matrix."""
    sizes = None if x.sizes is None else tuple(x.sizes[-2:])
    if is_static(sizes):
        return np.asarray(max(sizes), x.dtype)
    sides = ops.StridedSlice(ops.Shape(x), [-2], [0], [1], end_mask=1)
    return ops.Cast(ops.Max(sides, np.array([0], np.int32)), DstT=x.dtype)


def matrix_rank(
    a: TensorLike,
    tol: TensorLike | None = None,
    validate_args: bool = False,
    name: str | None = None,
) -> Tensor:
    """How many singular values of matrices are above `tol`, max(m, n) epsilon s[0] by default.

    Args:
        a: [..., m, n], a tensor of floats, or numbers, which become float32.
        tol: A number, or one for each matrix.
        validate_args: Whether ranks that are not known are looked at when it runs.
        name: Of the operations.

    Raises TypeError or ValueError as `pinv` does.
    """
    with name_scope(name, "matrix_rank", [a]):
        matrix = convert_to_tensor(a, name="a", preferred_dtype=np.float32)
        x = require_matrix(matrix, validate_args)
        s, _, _ = ops.Svd(x, compute_uv=False)
        if tol is None:
            epsilon = np.asarray(np.finfo(x.dtype).eps, x.dtype)
            tol = _larger_side(x) * epsilon * reduce_max(s, -1, keepdims=True)
        counts = ops.Cast(ops.Greater(s, convert_to_tensor(tol, x.dtype)), DstT=np.dtype("i4"))
        return reduce_sum(counts, -1)


@with_names("Lu")
def lu(
    input: TensorLike, output_idx_type: DTypeLike = np.int32, name: str | None = None
) -> list[Tensor]:
    """The factors of matrices: input[p] = L U, by rows with the largest pivots.

    Args:
        input: [..., n, n], floats or complex numbers.
        output_idx_type: Of p, int32 or int64.
        name: Of the operation.

    Returns a named tuple: `lu` [..., n, n], L without its diagonal of ones and U in one matrix; `p`
    [..., n]. Raises InvalidArgumentError, when it runs, for singular matrices.
    """
    return ops.Lu(input, output_idx_type=output_idx_type, name=name)


def _factors(lower_upper: TensorLike, perm: TensorLike) -> tuple[Tensor, Tensor, Tensor]:
    """The factors, the order of rows, and L with its ones.

    Raises ValueError when they are no factors of square matrices.
    """
    whole = convert_to_tensor(lower_upper, name="lower_upper", preferred_dtype=np.float32)
    order = convert_to_tensor(perm, name="perm", preferred_dtype=np.int32)
    if whole.sizes is not None:
        if len(whole.sizes) < 2:
            raise ValueError("Input `lower_upper` must have at least 2 dimensions.")
        if order.sizes is not None and len(whole.sizes) != len(order.sizes) + 1:
            raise ValueError("`rank(lower_upper)` must equal `rank(perm) + 1`")
        if None not in whole.sizes[-2:] and whole.sizes[-2] != whole.sizes[-1]:
            raise ValueError("`lower_upper` must be square.")
    below = ops.MatrixBandPart(whole, np.int64(-1), np.int64(0))
    lower = ops.MatrixSetDiag(below, ops.OnesLike(ops.MatrixDiagPart(whole)))
    return whole, order, lower


def lu_solve(
    lower_upper: TensorLike,
    perm: TensorLike,
    rhs: TensorLike,
    validate_args: bool = False,
    name: str | None = None,
) -> Tensor:
    """The x of `a @ x = rhs`, of the factors that `lu(a)` gives.

    Args:
        lower_upper: [..., n, n], floats or complex numbers.
        perm: [..., n], int32 or int64.
        rhs: [..., n, k], of the type of `lower_upper`.
        validate_args: Whether shapes that are not known yet are checked when it runs.
        name: Of the operations.

    Returns [..., n, k]. Raises ValueError when the shapes do not fit together.
    """
    with name_scope(name, "lu_solve", [lower_upper, perm, rhs]):
        whole, order, lower = _factors(lower_upper, perm)
        b = convert_to_tensor(rhs, whole.dtype, "rhs")
        if b.sizes is not None:
            if len(b.sizes) < 2:
                raise ValueError("Input `rhs` must have at least 2 dimensions.")
            sizes = (None if whole.sizes is None else whole.sizes[-1], b.sizes[-2])
            if None not in sizes and sizes[0] != sizes[1]:
                raise ValueError("`lower_upper.shape[-1]` must equal `rhs.shape[-1]`.")
        y = ops.MatrixTriangularSolve(lower, _in_order(b, order), lower=True)
        return ops.MatrixTriangularSolve(whole, y, lower=False)


def _in_order(x: Tensor, order: Tensor) -> Tensor:
    """The rows of each matrix in an order of their own."""
    if order.sizes is not None and len(order.sizes) == 1:
        return array.gather(x, order, axis=-2)
    sizes = ops.Shape(x)
    batch = ops.BroadcastArgs(sizes[:-2], ops.Shape(order)[:-1])
    whole = array.concat([batch, sizes[-2:]], 0)
    rows = array.reshape(ops.BroadcastTo(x, whole), array.concat([[-1], sizes[-2:]], 0))
    positions = array.reshape(ops.BroadcastTo(order, whole[:-1]), ops.Pack([-1, sizes[-2]]))
    moved = array.gather(rows, positions, axis=1, batch_dims=1)
    return array.reshape(moved, whole)


def lu_matrix_inverse(
    lower_upper: TensorLike, perm: TensorLike, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """The inverse of the matrix whose factors `lu` gave.

    Args:
        lower_upper: [..., n, n], floats or complex numbers.
        perm: [..., n], int32 or int64.
        validate_args: Taken for TensorFlow's sake.
        name: Of the operations.

    Returns [..., n, n]. Raises ValueError when the shapes do not fit together.
    """
    with name_scope(name, "lu_matrix_inverse", [lower_upper, perm]):
        whole = convert_to_tensor(lower_upper, name="lower_upper")
        _factors(whole, perm)
        eye = ops.MatrixDiag(ops.OnesLike(ops.MatrixDiagPart(whole)))
        return lu_solve(whole, perm, eye)


def lu_reconstruct(
    lower_upper: TensorLike, perm: TensorLike, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """The matrix whose factors `lu` gave.

    Args:
        lower_upper: [..., n, n], floats or complex numbers.
        perm: [..., n], int32 or int64.
        validate_args: Taken for TensorFlow's sake.
        name: Of the operations.

    Returns [..., n, n]. Raises ValueError when the shapes do not fit together.
    """
    with name_scope(name, "lu_reconstruct", [lower_upper, perm]):
        whole, order, lower = _factors(lower_upper, perm)
        upper = ops.MatrixBandPart(whole, np.int64(0), np.int64(-1))
        positions = argsort(order)
        result = _in_order(matmul(lower, upper), positions)
        result.set_shape(whole.sizes)
        return result


def tridiagonal_solve(
    diagonals: TensorLike,
    rhs: TensorLike,
    diagonals_format: str = "compact",
    transpose_rhs: bool = False,
    conjugate_rhs: bool = False,
    name: str | None = None,
    partial_pivoting: bool = True,
    perturb_singular: bool = False,
) -> Tensor:
    """The x of `a @ x = rhs`, a with numbers on three diagonals alone.

    Args:
        diagonals: "compact": [..., 3, m], those above, on and below the main one, the last above
            and the first below left out of account; "sequence": the three, each [..., m], the
            outer ones also [..., m - 1]; "matrix": [..., m, m].
        rhs: [..., m] or [..., m, k].
        diagonals_format: What `diagonals` are.
        transpose_rhs, conjugate_rhs: Whether `rhs` is [..., k, m], and is to be conjugated.
        name: Of the operation.
        partial_pivoting: Whether rows may be swapped for the sake of exactness.
        perturb_singular: Whether a singular matrix is changed a little; its result is NaN else.

    Raises ValueError when shapes do not fit, or the format is none of the three.
    """
    if perturb_singular and not partial_pivoting:
        raise ValueError("partial_pivoting must be True if perturb_singular is.")
    d = _compact(diagonals, diagonals_format)
    b = convert_to_tensor(rhs, d.dtype)
    is_vector = _check_tridiagonal(d, b)
    if conjugate_rhs:
        b = ops.Conj(b) if b.dtype.kind == "c" else b
    if is_vector:
        b = ops.ExpandDims(b, np.int32(-1))
    elif transpose_rhs:
        b = array.matrix_transpose(b)
    _check_rows(d, b)
    options = {"partial_pivoting": partial_pivoting, "perturb_singular": perturb_singular}
    x = ops.TridiagonalSolve(d, b, name=name, **options)
    return array.squeeze(x, [-1]) if is_vector else x


def _check_tridiagonal(d: Tensor, b: Tensor) -> bool:
    """Whether `b` is one vector for each matrix; ValueError when ranks do not fit together."""
    if d.sizes is None:
        return False
    rank = len(d.sizes)
    if rank < 2:
        raise ValueError(f"Expected diagonals to have rank at least 2, got {rank}")
    if d.sizes[-2] not in (None, 3):
        raise ValueError(f"Expected 3 diagonals got {d.sizes[-2]}")
    if b.sizes is None:
        return False
    if len(b.sizes) not in (rank, rank - 1):
        raise ValueError(f"Expected the rank of rhs to be {rank - 1} or {rank}, got {len(b.sizes)}")
    batches = d.get_shape()[:-2], b.get_shape()[: rank - 2]
    if not batches[0].is_compatible_with(batches[1]):
        raise ValueError(f"Batch shapes {batches[0]} and {batches[1]} are incompatible")
    return len(b.sizes) == rank - 1


def _check_rows(d: Tensor, b: Tensor) -> None:
    if d.sizes is None or b.sizes is None:
        return
    rows: tuple[Dim, Dim] = (d.sizes[-1], b.sizes[-2])
    if None not in rows and rows[0] != rows[1]:
        raise ValueError(
            "Expected number of left-hand sided and right-hand sides to be equal, got "
            f"{rows[0]} and {rows[1]}"
        )


def _compact(diagonals: TensorLike, form: str) -> Tensor:
    """The diagonals as one tensor [..., 3, m]."""
    if form == "compact":
        return convert_to_tensor(diagonals)
    if form == "matrix":
        matrix = convert_to_tensor(diagonals)
        if matrix.sizes is not None:
            rows, columns = matrix.sizes[-2:]
            if None not in (rows, columns) and rows != columns:
                raise ValueError(
                    f"Expected last two dimensions of diagonals to be same, got {columns} and "
                    f"{rows}"
                )
        return matrix_diag_part(matrix, k=(-1, 1), align="LEFT_RIGHT")
    if form != "sequence":
        raise ValueError(f"Unrecognized diagonals_format: {form}")
    if not _is_sequence(diagonals) or len(diagonals) != 3:
        raise ValueError("Expected diagonals to be a sequence of length 3.")
    above, middle, below = (convert_to_tensor(diagonal) for diagonal in diagonals)
    m = middle.sizes[-1] if middle.sizes is not None else None
    parts = [_padded(above, "superdiagonal", m, 1), middle, _padded(below, "subdiagonal", m, 0)]
    batches = [part.get_shape()[:-1] for part in parts]
    if not all(batch.is_compatible_with(batches[1]) for batch in batches):
        shapes = ", ".join(str(part.get_shape()) for part in (below, middle, above))
        raise ValueError(
            "Tensors representing the three diagonals must have the same shape,except for the last "
            f"dimension, got {shapes}"
        )
    return ops.Pack(parts, axis=-2)


def _is_sequence(diagonals: TensorLike) -> TypeGuard[Sequence[TensorLike]]:
    return isinstance(diagonals, (list, tuple))


def _padded(diagonal: Tensor, name: str, m: Dim, end: int) -> Tensor:
    """A diagonal of m numbers; one that lacks a number gets a zero at its end or beginning."""
    n = diagonal.sizes[-1] if diagonal.sizes is not None else None
    if n is None or m is None or n == m:
        return diagonal
    if n != m - 1:
        raise ValueError(f"Expected {name} to be have length {m} or {m - 1}, got {n}.")
    paddings = np.zeros((len(diagonal.get_shape()), 2), np.int32)
    paddings[-1, end] = 1
    return ops.Pad(diagonal, paddings)


def tridiagonal_matmul(
    diagonals: TensorLike,
    rhs: TensorLike,
    diagonals_format: str = "compact",
    name: str | None = None,
) -> Tensor:
    """Matrices of three diagonals by `rhs`.

    Args:
        diagonals: The three, in any of the forms of `tridiagonal_solve`.
        rhs: [..., m, n], of the same type.
        diagonals_format: "compact", "sequence" or "matrix".
        name: Of the operation.

    Returns [..., m, n]. Raises ValueError for another form.
    """
    d = _compact(diagonals, diagonals_format)
    rows = [d[..., i : i + 1, :] for i in range(3)]
    return ops.TridiagonalMatMul(*rows, rhs, name=name)


def eigh_tridiagonal(
    alpha: TensorLike,
    beta: TensorLike,
    eigvals_only: bool = True,
    select: str = "a",
    select_range: Sequence[float] | None = None,
    tol: float | None = None,
    name: str | None = None,
) -> Tensor | tuple[Tensor, Tensor]:
    """Eigenvalues in rising order, and the eigenvectors as columns unless `eigvals_only`.

    Args:
        alpha: [n], the diagonal of the Hermitian matrix; its imaginary part does not count.
        beta: [n - 1], the diagonal above.
        eigvals_only: Whether the values are enough.
        select: "a" for all, "v" for those in (min, max], "i" for those at min to max.
        select_range: min and max.
        tol: Taken for TensorFlow's sake: values are as exact as the type.
        name: Of the operations.

    Raises ValueError for another `select` or other types of `beta`.
    """
    if select not in ("a", "v", "i"):
        raise ValueError("'select must have a value in {'a', 'i', 'v'}.")
    with name_scope(name, "eigh_tridiagonal", [alpha, beta]):
        middle = convert_to_tensor(alpha, name="alpha")
        if middle.sizes is not None and middle.sizes[0] is not None and middle.sizes[0] <= 1:
            return ops.Real(middle) if middle.dtype.kind == "c" else middle
        above = convert_to_tensor(beta, name="beta")
        if middle.dtype != above.dtype:
            raise ValueError("'alpha' and 'beta' must have the same type.")
        is_complex = middle.dtype.kind == "c"
        real = np.dtype(f"f{middle.dtype.itemsize // 2}") if is_complex else middle.dtype
        if is_complex:
            middle = ops.Cast(ops.Real(middle, Tout=real), DstT=above.dtype)
        below = ops.Conj(above) if is_complex else above
        parts = [_of_diagonal(above, 1), _of_diagonal(middle, 0), _of_diagonal(below, -1)]
        matrix = parts[0] + parts[1] + parts[2]
        if eigvals_only:
            values, vectors = self_adjoint_eigvals(matrix), None
        else:
            values, vectors = self_adjoint_eig(matrix)
        values = ops.Real(values, Tout=real) if is_complex else values
        return _selected(values, vectors, select, select_range)


def _of_diagonal(diagonal: Tensor, k: int) -> Tensor:
    return ops.MatrixDiagV3(
        diagonal, np.int32(k), np.int32(-1), np.int32(-1), np.zeros((), diagonal.dtype)
    )


def _selected(
    values: Tensor,
    vectors: Tensor | None,
    select: str,
    select_range: Sequence[float] | TensorLike | None,
) -> Tensor | tuple[Tensor, Tensor]:
    if select != "a":
        kind = np.dtype(np.int32) if select == "i" else values.dtype
        limits = None if select_range is None else convert_to_tensor(select_range, kind)
        known = None if limits is None else whole(limits.value)
        if limits is None or (
            known is not None
            and not (known[0] < known[1] or (select == "i" and known[0] == known[1]))
        ):
            what = "index range" if select == "i" else "interval"
            raise ValueError(f"Got empty {what} in select_range, {select_range}")
        low, high = ops.Unpack(limits, num=2)
        if select == "i":
            positions = ops.Range(low, high + 1, np.int32(1))
        else:
            inside = ops.LogicalAnd(ops.Greater(values, low), ops.LessEqual(values, high))
            positions = array.reshape(ops.Where(inside), [-1])
        values = array.gather(values, positions)
        vectors = None if vectors is None else array.gather(vectors, positions, axis=1)
    return values if vectors is None else (values, vectors)
