"""Operators of one tensor: whole, diagonal, triangular and permuted matrices, identities."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..core.build import ops
from ..core.create import convert_to_tensor
from ..core.graph import Tensor
from ..core.tensor_shape import TensorShape
from ..functions.array.array import expand_dims
from ..functions.array.creation import one_hot, ones, zeros
from ..functions.checks import value_of
from ..functions.linalg.decompositions import adjoint as adjoint_of
from ..functions.linalg.diagonals import matrix_diag, matrix_diag_part
from ..functions.math.reductions import reduce_prod, reduce_sum
from .base import DERIVED, LinearOperator, conj, is_complex, magnitude, same_batch

if TYPE_CHECKING:
    from ..core.typing import DTypeLike, TensorLike


def at_least(value: TensorLike, name: str, rank: int) -> Tensor:
    """A tensor with at least `rank` dimensions."""
    tensor = convert_to_tensor(value, name=name)
    actual = tensor.get_shape().ndims
    if actual is not None and actual < rank:
        ending = "s" if rank > 1 else ""
        raise ValueError(
            f"Argument {name} must have at least {rank} dimension{ending}.  Found: {tensor}"
        )
    return tensor


def squared(shape: TensorShape) -> TensorShape:
    """The shape of the matrices that have such diagonals."""
    return shape if shape.ndims is None else shape.concatenate(shape[-1:])


class LinearOperatorFullMatrix(LinearOperator):
    """The matrix [..., m, n] itself."""

    def __init__(
        self,
        matrix: TensorLike,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorFullMatrix",
    ):
        self._matrix = convert_to_tensor(matrix, name="matrix")
        if (self._matrix.get_shape().ndims or 2) < 2:
            raise ValueError(
                f"Argument `matrix` must have at least 2 dimensions. Received: {self._matrix}."
            )
        hints = (is_non_singular, is_self_adjoint, is_positive_definite, is_square)
        super().__init__(self._matrix.dtype, [self._matrix], *hints, name, {"matrix": matrix})

    @property
    def matrix(self) -> Tensor:
        """The matrix."""
        return self._matrix

    def _shape(self) -> TensorShape:
        return self._matrix.get_shape()

    def _to_dense(self) -> Tensor:
        return self._matrix


class LinearOperatorLowerTriangular(LinearOperator):
    """The lower triangle of a matrix [..., n, n]; what stands above it is not looked at."""

    def __init__(
        self,
        tril: TensorLike,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorLowerTriangular",
    ):
        if is_square is False:
            raise ValueError("Only square lower triangular operators supported at this time.")
        self._tril = at_least(tril, "tril", 2)
        hints = (is_non_singular, is_self_adjoint, is_positive_definite, True)
        super().__init__(self._tril.dtype, [self._tril], *hints, name, {"tril": tril})

    @property
    def tril(self) -> Tensor:
        """The matrix with the lower triangle."""
        return self._tril

    def _shape(self) -> TensorShape:
        return self._tril.get_shape()

    def _to_dense(self) -> Tensor:
        return ops.MatrixBandPart(self._tril, np.int64(-1), np.int64(0))

    def _solve(self, rhs: Tensor, adjoint: bool, adjoint_arg: bool) -> Tensor:
        rhs = adjoint_of(rhs) if adjoint_arg else rhs
        tril, rhs = same_batch(self._to_dense(), rhs)
        return ops.MatrixTriangularSolve(tril, rhs, lower=True, adjoint=adjoint)

    def _determinant(self) -> Tensor:
        return reduce_prod(self._diag_part(), [-1])

    def _log_abs_determinant(self) -> Tensor:
        return reduce_sum(ops.Log(magnitude(self._diag_part())), [-1])

    def _diag_part(self) -> Tensor:
        return matrix_diag_part(self._tril)

    def _eigvals(self) -> Tensor:
        return self._diag_part()


def _cholesky(operator: LinearOperator) -> LinearOperator:
    """The lower triangular factor of an operator."""
    factor = ops.Cholesky(operator.to_dense())
    return LinearOperatorLowerTriangular(factor, is_non_singular=True, is_self_adjoint=False)


DERIVED["cholesky"] = _cholesky


class LinearOperatorDiag(LinearOperator):
    """The matrix with a diagonal [..., n] and zeros elsewhere."""

    def __init__(
        self,
        diag: TensorLike,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorDiag",
    ):
        self._diag = at_least(diag, "diag", 1)
        if not is_complex(self._diag):
            if is_self_adjoint is False:
                raise ValueError("A real diagonal operator is always self adjoint.")
            is_self_adjoint = True
        if is_square is False:
            raise ValueError("Only square diagonal operators currently supported.")
        hints = (is_non_singular, is_self_adjoint, is_positive_definite, True)
        super().__init__(self._diag.dtype, [self._diag], *hints, name, {"diag": diag})

    @property
    def diag(self) -> Tensor:
        """The diagonal."""
        return self._diag

    def _shape(self) -> TensorShape:
        return squared(self._diag.get_shape())

    def _to_dense(self) -> Tensor:
        return matrix_diag(self._diag)

    def _factors(self, adjoint: bool) -> Tensor:
        return expand_dims(conj(self._diag) if adjoint else self._diag, -1)

    def _matmul(self, x: Tensor, adjoint: bool, adjoint_arg: bool) -> Tensor:
        return self._factors(adjoint) * (adjoint_of(x) if adjoint_arg else x)

    def _solve(self, rhs: Tensor, adjoint: bool, adjoint_arg: bool) -> Tensor:
        return (adjoint_of(rhs) if adjoint_arg else rhs) / self._factors(adjoint)

    def _determinant(self) -> Tensor:
        return reduce_prod(self._diag, [-1])

    def _log_abs_determinant(self) -> Tensor:
        total = reduce_sum(ops.Log(magnitude(self._diag)), [-1])
        return ops.Cast(total, DstT=self._dtype) if is_complex(self._diag) else total

    def _diag_part(self) -> Tensor:
        return self._diag

    def _eigvals(self) -> Tensor:
        return self._diag

    def _adjoint(self) -> LinearOperator:
        return LinearOperatorDiag(
            conj(self._diag), self.is_non_singular, self._is_self_adjoint, self.is_positive_definite
        )

    def _inverse(self) -> LinearOperator:
        return LinearOperatorDiag(
            ops.Reciprocal(self._diag), True, self._is_self_adjoint, self.is_positive_definite
        )

    def _cholesky(self) -> LinearOperator:
        return LinearOperatorDiag(ops.Sqrt(self._diag), True, True, True)

    def _product(self, right: LinearOperator) -> LinearOperator:
        if isinstance(right, LinearOperatorDiag):
            return LinearOperatorDiag(self._diag * right.diag)
        return super()._product(right)


class LinearOperatorScaledIdentity(LinearOperator):
    """The unit matrix [n, n] times a number, or each of several, [...]."""

    def __init__(
        self,
        num_rows: TensorLike,
        multiplier: TensorLike,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        assert_proper_shapes: bool = False,
        name: str = "LinearOperatorScaledIdentity",
    ):
        self._multiplier = convert_to_tensor(multiplier, name="multiplier")
        if not is_complex(self._multiplier):
            if is_self_adjoint is False:
                raise ValueError("A real diagonal matrix is always self adjoint.")
            is_self_adjoint = True
        if not is_square:
            raise ValueError("A ScaledIdentity operator is always square.")
        self._num_rows, self._size = _count(num_rows, "num_rows")
        parameters: dict[str, object] = {"num_rows": num_rows, "multiplier": multiplier}
        parameters["assert_proper_shapes"] = assert_proper_shapes
        hints = (is_non_singular, is_self_adjoint, is_positive_definite, True)
        super().__init__(self._multiplier.dtype, [self._multiplier], *hints, name, parameters)

    @property
    def multiplier(self) -> Tensor:
        """The number on the diagonal."""
        return self._multiplier

    def domain_dimension_tensor(self, name: str = "domain_dimension_tensor") -> Tensor:
        """The number of columns as a tensor."""
        with self._scope(name):
            return ops.Cast(self._num_rows, DstT=np.dtype(np.int32))

    def _shape(self) -> TensorShape:
        return self._multiplier.get_shape().concatenate([self._size, self._size])

    def _factors(self, adjoint: bool = False) -> Tensor:
        factor = conj(self._multiplier) if adjoint else self._multiplier
        return expand_dims(expand_dims(factor, -1), -1)

    def _to_dense(self) -> Tensor:
        return self._factors() * self._eye()

    def _matmul(self, x: Tensor, adjoint: bool, adjoint_arg: bool) -> Tensor:
        return (adjoint_of(x) if adjoint_arg else x) * self._factors(adjoint)

    def _solve(self, rhs: Tensor, adjoint: bool, adjoint_arg: bool) -> Tensor:
        return (adjoint_of(rhs) if adjoint_arg else rhs) / self._factors(adjoint)

    def _diag_part(self) -> Tensor:
        return expand_dims(self._multiplier, -1) * ones(
            ops.Reshape(self._num_rows, np.array([1], np.int32)), self._dtype
        )

    def _times_rows(self, dtype: np.dtype) -> Tensor:
        return ops.Cast(self._num_rows, DstT=dtype)

    def _determinant(self) -> Tensor:
        return ops.Pow(self._multiplier, self._times_rows(self._dtype))

    def _log_abs_determinant(self) -> Tensor:
        logarithm = ops.Log(magnitude(self._multiplier))
        return self._times_rows(np.dtype(logarithm.dtype)) * logarithm

    def _eigvals(self) -> Tensor:
        return self._diag_part()

    def _scaled(self, multiplier: Tensor, hint: bool | None) -> LinearOperator:
        return LinearOperatorScaledIdentity(
            self._num_rows, multiplier, hint, self._is_self_adjoint, self.is_positive_definite
        )

    def _adjoint(self) -> LinearOperator:
        return self._scaled(conj(self._multiplier), self.is_non_singular)

    def _inverse(self) -> LinearOperator:
        return self._scaled(ops.Reciprocal(self._multiplier), True)

    def _cholesky(self) -> LinearOperator:
        return self._scaled(ops.Sqrt(self._multiplier), True)


class LinearOperatorIdentity(LinearOperator):
    """The unit matrix [..., n, n] with a batch of any shape."""

    def __init__(
        self,
        num_rows: TensorLike,
        batch_shape: TensorLike | None = None,
        dtype: DTypeLike | None = None,
        is_non_singular: bool | None = True,
        is_self_adjoint: bool | None = True,
        is_positive_definite: bool | None = True,
        is_square: bool | None = True,
        assert_proper_shapes: bool = False,
        name: str = "LinearOperatorIdentity",
    ):
        for hint, what in (
            (is_self_adjoint, "self adjoint"),
            (is_non_singular, "non-singular"),
            (is_positive_definite, "positive-definite"),
            (is_square, "square"),
        ):
            if not hint:
                raise ValueError(f"An identity operator is always {what}.")
        self._num_rows, self._size = _count(num_rows, "num_rows")
        self._batch = None if batch_shape is None else convert_to_tensor(batch_shape, np.int32)
        parameters: dict[str, object] = {"num_rows": num_rows, "batch_shape": batch_shape}
        parameters |= {"dtype": dtype, "assert_proper_shapes": assert_proper_shapes}
        super().__init__(dtype or np.float32, [], True, True, True, True, name, parameters)

    def domain_dimension_tensor(self, name: str = "domain_dimension_tensor") -> Tensor:
        """The number of columns as a tensor."""
        with self._scope(name):
            return ops.Cast(self._num_rows, DstT=np.dtype(np.int32))

    def _shape(self) -> TensorShape:
        return _batch(self._batch).concatenate([self._size, self._size])

    def _to_dense(self) -> Tensor:
        return self._wide(self._eye())

    def _wide(self, x: Tensor) -> Tensor:
        """`x` with the operator's batch dimensions."""
        if self._batch is None:
            return x
        ending = np.ones(2, np.int32)
        return x + zeros(ops.ConcatV2([self._batch, ending], np.int32(0)), self._dtype)

    def _matmul(self, x: Tensor, adjoint: bool, adjoint_arg: bool) -> Tensor:
        return self._wide(adjoint_of(x) if adjoint_arg else x)

    def _solve(self, rhs: Tensor, adjoint: bool, adjoint_arg: bool) -> Tensor:
        return self._wide(adjoint_of(rhs) if adjoint_arg else rhs)

    def _determinant(self) -> Tensor:
        return ones(self.batch_shape_tensor(), self._dtype)

    def _log_abs_determinant(self) -> Tensor:
        return zeros(self.batch_shape_tensor(), self._dtype)

    def _diag_part(self) -> Tensor:
        return ones(self.shape_tensor()[:-1], self._dtype)

    def _eigvals(self) -> Tensor:
        return self._diag_part()

    def _inverse(self) -> LinearOperator:
        return self

    def _cholesky(self) -> LinearOperator:
        return self

    def _product(self, right: LinearOperator) -> LinearOperator:
        return right if self._batch is None else super()._product(right)


class LinearOperatorZeros(LinearOperator):
    """The matrix [..., m, n] of zeros."""

    def __init__(
        self,
        num_rows: TensorLike,
        num_columns: TensorLike | None = None,
        batch_shape: TensorLike | None = None,
        dtype: DTypeLike | None = None,
        is_non_singular: bool | None = False,
        is_self_adjoint: bool | None = True,
        is_positive_definite: bool | None = False,
        is_square: bool | None = True,
        assert_proper_shapes: bool = False,
        name: str = "LinearOperatorZeros",
    ):
        if not is_self_adjoint and is_square:
            raise ValueError("A zero operator is always self adjoint.")
        if is_non_singular:
            raise ValueError("A zero operator is always singular.")
        if is_positive_definite:
            raise ValueError("A zero operator is always not positive-definite.")
        self._num_rows, self._rows = _count(num_rows, "num_rows")
        columns = num_rows if num_columns is None else num_columns
        self._num_columns, self._columns = _count(columns, "num_columns")
        if is_square and None not in (self._rows, self._columns) and self._rows != self._columns:
            raise ValueError(
                f"LinearOperatorZeros initialized as is_square=True, but got num_rows({self._rows})"
                f" != num_columns({self._columns})"
            )
        self._batch = None if batch_shape is None else convert_to_tensor(batch_shape, np.int32)
        parameters: dict[str, object] = {"num_rows": num_rows, "num_columns": num_columns}
        parameters |= {"batch_shape": batch_shape, "dtype": dtype}
        parameters["assert_proper_shapes"] = assert_proper_shapes
        is_self_adjoint = is_self_adjoint if is_square else None
        hints = (False, is_self_adjoint, False, is_square)
        super().__init__(dtype or np.float32, [], *hints, name, parameters)

    def _shape(self) -> TensorShape:
        return _batch(self._batch).concatenate([self._rows, self._columns])

    def _sizes(self, *endings: Tensor) -> Tensor:
        batch = np.zeros(0, np.int32) if self._batch is None else self._batch
        flat = [ops.Reshape(ending, np.array([1], np.int32)) for ending in endings]
        return ops.ConcatV2([batch, *flat], np.int32(0))

    def _to_dense(self) -> Tensor:
        return zeros(self._sizes(self._num_rows, self._num_columns), self._dtype)

    def _determinant(self) -> Tensor:
        return zeros(self.batch_shape_tensor(), self._dtype)

    def _log_abs_determinant(self) -> Tensor:
        return ops.Log(zeros(self.batch_shape_tensor(), self._dtype))

    def _diag_part(self) -> Tensor:
        return zeros(self._sizes(ops.Minimum(self._num_rows, self._num_columns)), self._dtype)

    def _eigvals(self) -> Tensor:
        return self._diag_part()

    def _adjoint(self) -> LinearOperator:
        hints = (False, self._is_self_adjoint, False, self._is_square)
        return LinearOperatorZeros(
            self._num_columns, self._num_rows, self._batch, self._dtype, *hints
        )

    def _product(self, right: LinearOperator) -> LinearOperator:
        if self.is_square and right.is_square:
            return self
        raise ValueError(
            "Matmul with non-square `LinearOperator`s or non-square `LinearOperatorZeros` not "
            "supported at this time."
        )


class LinearOperatorPermutation(LinearOperator):
    """The matrix whose row i has its one in column perm[..., i]."""

    def __init__(
        self,
        perm: TensorLike,
        dtype: DTypeLike = np.float32,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorPermutation",
    ):
        if is_non_singular is False:
            raise ValueError("A Permutation operator is always non-singular.")
        if is_square is False:
            raise ValueError("A Permutation operator is always square.")
        self._perm = at_least(perm, "perm", 1)
        if np.dtype(self._perm.dtype).kind != "i":
            raise TypeError(f"Argument perm must be integer dtype. Found: {self._perm}")
        parameters: dict[str, object] = {"perm": perm, "dtype": dtype}
        hints = (True, is_self_adjoint, is_positive_definite, True)
        super().__init__(dtype, [self._perm], *hints, name, parameters)

    @property
    def perm(self) -> Tensor:
        """Which element each row takes."""
        return self._perm

    def _shape(self) -> TensorShape:
        return squared(self._perm.get_shape())

    def _to_dense(self) -> Tensor:
        shape = self._perm.get_shape()
        depth = shape.as_list()[-1] if shape.ndims else None
        count = ops.Shape(self._perm)[-1] if depth is None else depth
        return one_hot(self._perm, count, dtype=self._dtype)

    def _solve(self, rhs: Tensor, adjoint: bool, adjoint_arg: bool) -> Tensor:
        return self._matmul(rhs, not adjoint, adjoint_arg)

    def _log_abs_determinant(self) -> Tensor:
        return zeros(self.batch_shape_tensor(), self._dtype)

    def _inverse(self) -> LinearOperator:
        return self._adjoint()


def _count(value: TensorLike, name: str) -> tuple[Tensor, int | None]:
    """A number of rows as a tensor, and as a number where it is known."""
    tensor = convert_to_tensor(value, name=name)
    if np.dtype(tensor.dtype).kind not in "iu":
        raise TypeError(f"Argument {name} must be integer type.  Found: {tensor}")
    if tensor.get_shape().ndims not in (0, None):
        raise ValueError(f"Argument {name} must be a 0-D Tensor.  Found: {tensor}")
    known = value_of(tensor)
    if known is not None and known < 0:
        raise ValueError(f"Argument {name} must be non-negative.  Found: {known}")
    return tensor, None if known is None else int(known)


def _batch(batch: Tensor | None) -> TensorShape:
    """A batch's shape, as far as it is known."""
    if batch is None:
        return TensorShape([])
    known = value_of(batch)
    return TensorShape(None if known is None else [int(size) for size in known])
