"""LinearOperator: a matrix, or a batch of them, that is known by what it does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from ..core.build import ops
from ..core.create import convert_to_tensor
from ..core.dtype import as_numpy
from ..core.graph import Operation, Tensor
from ..core.scopes import name_scope
from ..core.tensor_shape import TensorShape
from ..functions.array.array import expand_dims, squeeze
from ..functions.array.creation import eye
from ..functions.checks import assert_positive
from ..functions.flow.control_flow import Assert
from ..functions.linalg.decompositions import adjoint as adjoint_of
from ..functions.linalg.decompositions import cholesky_solve, self_adjoint_eigvals, svd
from ..functions.linalg.diagonals import matrix_diag_part
from ..functions.linalg.linear_algebra import matmul
from ..functions.math.reductions import reduce_max, reduce_min, reduce_sum

if TYPE_CHECKING:
    from ..core.typing import DTypeLike, TensorLike

Arguments = Sequence["TensorLike"]
"""What block operators take in place of one tensor: one for each block."""
DERIVED: dict[str, Callable[..., LinearOperator]] = {}
"""What makes operators of operators, which the modules of their classes enter."""


class LinearOperator:
    """A matrix [..., m, n], or a batch of such.

    Hints are believed, not looked at: what a class can do by them it does.

    Args:
        dtype: Of its elements.
        graph_parents: Tensors it is made of.
        is_non_singular: Whether it has an inverse.
        is_self_adjoint: Whether it equals its conjugate transpose.
        is_positive_definite: Whether x^H A x has a positive real part for all x but 0.
        is_square: Whether m = n.
        name: Before the names of its operations.
        parameters: What it was made with.

    Raises:
        ValueError: The hints contradict each other.
    """

    def __init__(
        self,
        dtype: DTypeLike,
        graph_parents: Sequence[Tensor] | None = None,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
        parameters: dict[str, object] | None = None,
    ):
        if is_positive_definite:
            if is_non_singular is False:
                raise ValueError("A positive definite matrix is always non-singular.")
            is_non_singular = True
        for hint, what in ((is_non_singular, "non-singular"), (is_self_adjoint, "self-adjoint")):
            if hint and is_square is False:
                raise ValueError(f"A {what} matrix is always square.")
            is_square = True if hint else is_square
        self._dtype = as_numpy(dtype)
        self._graph_parents = list(graph_parents or ())
        self._is_non_singular = is_non_singular
        self._is_self_adjoint = is_self_adjoint
        self._is_positive_definite = is_positive_definite
        self._is_square = is_square
        self._name = name or type(self).__name__
        self._parameters = dict(parameters or {})

    # what a class says of itself

    def _shape(self) -> TensorShape:
        """The shape, as far as it is known."""
        return self._to_dense().get_shape()

    def _to_dense(self) -> Tensor:
        raise NotImplementedError(f"{self._name}: a class must define _to_dense or _matmul")

    def _matmul(self, x: Tensor, adjoint: bool, adjoint_arg: bool) -> Tensor:
        return matmul(self._to_dense(), x, adjoint_a=adjoint, adjoint_b=adjoint_arg)

    def _solve(self, rhs: Tensor, adjoint: bool, adjoint_arg: bool) -> Tensor:
        rhs = adjoint_of(rhs) if adjoint_arg else rhs
        dense, rhs = same_batch(self._to_dense(), rhs)
        if self._can_use_cholesky():
            return cholesky_solve(ops.Cholesky(dense), rhs)
        return ops.MatrixSolve(dense, rhs, adjoint=adjoint)

    def _determinant(self) -> Tensor:
        return ops.MatrixDeterminant(self._to_dense())

    def _log_abs_determinant(self) -> Tensor:
        if self._can_use_cholesky():
            diagonal = matrix_diag_part(ops.Cholesky(self._to_dense()))
            total = reduce_sum(ops.Log(magnitude(diagonal)), [-1])
            return total + total
        return ops.LogMatrixDeterminant(self._to_dense())[1]

    def _diag_part(self) -> Tensor:
        return matrix_diag_part(self._to_dense())

    def _eigvals(self) -> Tensor:
        return self_adjoint_eigvals(self._to_dense())

    def _adjoint(self) -> LinearOperator:
        return DERIVED["adjoint"](self)

    def _inverse(self) -> LinearOperator:
        return DERIVED["inverse"](self)

    def _product(self, right: LinearOperator) -> LinearOperator:
        """The operator times another one."""
        return DERIVED["product"](self, right)

    # what is asked of it

    @property
    def dtype(self) -> np.dtype:
        """The type of the elements."""
        return self._dtype

    @property
    def name(self) -> str:
        """What stands before the names of its operations."""
        return self._name

    @property
    def graph_parents(self) -> list[Tensor]:
        """The tensors it is made of."""
        return self._graph_parents

    @property
    def parameters(self) -> dict[str, object]:
        """What it was made with."""
        return dict(self._parameters)

    @property
    def is_non_singular(self) -> bool | None:
        """Whether it has an inverse; None where that is not known."""
        return self._is_non_singular

    @property
    def is_self_adjoint(self) -> bool | None:
        """Whether it is its own adjoint; None where that is not known."""
        return self._is_self_adjoint

    @property
    def is_positive_definite(self) -> bool | None:
        """Whether it is positive definite; None where that is not known."""
        return self._is_positive_definite

    @property
    def is_square(self) -> bool | None:
        """Whether it has as many rows as columns; None where that is not known.

        Raises ValueError where a hint denies what the shape says.
        """
        rows, columns = self.range_dimension, self.domain_dimension
        is_known = rows is not None and columns is not None
        if is_known and self._is_square is False and rows == columns:
            raise ValueError("User set is_square hint to False, but the operator was square.")
        return (
            (rows == columns if is_known else None) if self._is_square is None else self._is_square
        )

    @property
    def shape(self) -> TensorShape:
        """[..., m, n], as far as it is known."""
        return self._shape()

    @property
    def batch_shape(self) -> TensorShape:
        """The shape without its last two dimensions."""
        return self._shape()[:-2]

    @property
    def tensor_rank(self) -> int | None:
        """The number of dimensions with those of the batch."""
        return self._shape().ndims

    @property
    def range_dimension(self) -> int | None:
        """m, the number of rows."""
        return _dimension(self._shape(), -2)

    @property
    def domain_dimension(self) -> int | None:
        """n, the number of columns."""
        return _dimension(self._shape(), -1)

    @property
    def H(self) -> LinearOperator:
        """The adjoint."""
        return self.adjoint()

    def shape_tensor(self, name: str = "shape_tensor") -> Tensor:
        """The shape as a tensor."""
        with self._scope(name):
            shape = self._shape()
            if shape.is_fully_defined():
                return convert_to_tensor(np.array(shape.as_list(), np.int32))
            return ops.Shape(self._to_dense())

    def batch_shape_tensor(self, name: str = "batch_shape_tensor") -> Tensor:
        """The shape of the batch as a tensor."""
        with self._scope(name):
            return self.shape_tensor()[:-2]

    def tensor_rank_tensor(self, name: str = "tensor_rank_tensor") -> Tensor:
        """The number of dimensions as a tensor."""
        with self._scope(name):
            return ops.Size(self.shape_tensor())

    def range_dimension_tensor(self, name: str = "range_dimension_tensor") -> Tensor:
        """m as a tensor."""
        with self._scope(name):
            return self.shape_tensor()[-2]

    def domain_dimension_tensor(self, name: str = "domain_dimension_tensor") -> Tensor:
        """n as a tensor."""
        with self._scope(name):
            return self.shape_tensor()[-1]

    def assert_non_singular(self, name: str = "assert_non_singular") -> Operation:
        """An operation that fails where the condition number says that there is no inverse."""
        with self._scope(name):
            limit = np.ones((), np.finfo(self._dtype).dtype) / np.finfo(self._dtype).eps
            return Assert(
                ops.All(ops.Less(self.cond(), limit), np.zeros(0, np.int32)),
                [f"Singular matrix up to precision epsilon: {self._name}"],
            )

    def assert_positive_definite(self, name: str = "assert_positive_definite") -> Operation:
        """An operation that fails where the operator is not positive definite."""
        with self._scope(name):
            if not self.is_self_adjoint:
                raise ValueError(
                    "Operator was not self-adjoint. Cannot determine positive definiteness"
                )
            return assert_positive(
                magnitude_or_real(matrix_diag_part(ops.Cholesky(self.to_dense()))),
                message="Matrix was not positive definite.",
            )

    def assert_self_adjoint(self, name: str = "assert_self_adjoint") -> Operation:
        """An operation that fails where the operator is not its own adjoint."""
        with self._scope(name):
            dense = self.to_dense()
            same = ops.Equal(dense, adjoint_of(dense))
            return Assert(
                ops.All(same, ops.Range(np.int32(0), ops.Rank(same), np.int32(1))),
                ["Matrix was not equal to its adjoint."],
            )

    def matmul(
        self,
        x: TensorLike | LinearOperator | Arguments,
        adjoint: bool = False,
        adjoint_arg: bool = False,
        name: str = "matmul",
    ) -> Tensor | LinearOperator | list[Tensor]:
        """The operator times a matrix, [..., n, k], or times another operator.

        Args:
            x: What stands on the right.
            adjoint: Whether the operator's adjoint is taken.
            adjoint_arg: Whether that of `x` is.
            name: Of the operations.

        Raises:
            ValueError: The dimensions do not go together.
        """
        if isinstance(x, LinearOperator):
            left = self.adjoint() if adjoint else self
            right = x.adjoint() if adjoint_arg else x
            columns, rows = left.domain_dimension, right.range_dimension
            if columns is not None and rows is not None and columns != rows:
                raise ValueError(
                    "Operators are incompatible. Expected `x` to have dimension "
                    f"{columns} but got {rows}."
                )
            with self._scope(name):
                return left._product(right)
        with self._scope(name):
            tensor = self._argument(cast("TensorLike", x), "x")
            size = self.range_dimension if adjoint else self.domain_dimension
            self._require_size(tensor, size, -1 if adjoint_arg else -2)
            return self._matmul(tensor, adjoint, adjoint_arg)

    def __matmul__(self, other: TensorLike | LinearOperator) -> Tensor | LinearOperator:
        return cast("Tensor | LinearOperator", self.matmul(other))

    def matvec(self, x: TensorLike, adjoint: bool = False, name: str = "matvec") -> Tensor:
        """The operator [..., m, n] times a vector `x`, [..., n]; [..., m]."""
        with self._scope(name):
            column = expand_dims(self._argument(x, "x"), -1)
            return squeeze(cast(Tensor, self.matmul(column, adjoint)), [-1])

    def solve(
        self,
        rhs: TensorLike | LinearOperator | Arguments,
        adjoint: bool = False,
        adjoint_arg: bool = False,
        name: str = "solve",
    ) -> Tensor | LinearOperator | list[Tensor]:
        """The x with A x = rhs.

        Raises:
            NotImplementedError: The operator is said to be singular or not to be square.
        """
        self._require_square("Exact solve", singular=True)
        if isinstance(rhs, LinearOperator):
            left = self.adjoint() if adjoint else self
            right = rhs.adjoint() if adjoint_arg else rhs
            with self._scope(name):
                return left.inverse()._product(right)
        with self._scope(name):
            tensor = self._argument(cast("TensorLike", rhs), "rhs")
            self._require_size(tensor, self.range_dimension, -1 if adjoint_arg else -2)
            return self._solve(tensor, adjoint, adjoint_arg)

    def solvevec(self, rhs: TensorLike, adjoint: bool = False, name: str = "solve") -> Tensor:
        """The vector x with A x = rhs."""
        with self._scope(name):
            column = expand_dims(self._argument(rhs, "rhs"), -1)
            return squeeze(cast(Tensor, self.solve(column, adjoint)), [-1])

    def determinant(self, name: str = "det") -> Tensor:
        """The determinants; NotImplementedError where the operator is not square."""
        self._require_square("Determinant")
        with self._scope(name):
            return self._determinant()

    def log_abs_determinant(self, name: str = "log_abs_det") -> Tensor:
        """The logarithms of the determinants' magnitudes."""
        self._require_square("Determinant")
        with self._scope(name):
            return self._log_abs_determinant()

    def adjoint(self, name: str = "adjoint") -> LinearOperator:
        """The operator whose matrix is the conjugate transpose."""
        if self.is_self_adjoint:
            return self
        with self._scope(name):
            return self._adjoint()

    def inverse(self, name: str = "inverse") -> LinearOperator:
        """The operator whose matrix is the inverse; ValueError where it is said to have none."""
        if self.is_square is False:
            raise ValueError(
                "Cannot take the Inverse: This operator represents a non square matrix."
            )
        if self.is_non_singular is False:
            raise ValueError("Cannot take the Inverse: This operator represents a singular matrix.")
        with self._scope(name):
            return self._inverse()

    def cholesky(self, name: str = "cholesky") -> LinearOperator:
        """The lower triangular operator L with L L^H = A.

        Raises ValueError where the hints do not say positive definite and self-adjoint.
        """
        if not self._can_use_cholesky():
            raise ValueError(
                "Cannot take the Cholesky decomposition: Not a positive definite self adjoint "
                "matrix."
            )
        with self._scope(name):
            return self._cholesky()

    def _cholesky(self) -> LinearOperator:
        return DERIVED["cholesky"](self)

    def to_dense(self, name: str = "to_dense") -> Tensor:
        """The matrix itself."""
        with self._scope(name):
            return self._to_dense()

    def diag_part(self, name: str = "diag_part") -> Tensor:
        """The diagonal, [..., min(m, n)]."""
        with self._scope(name):
            return self._diag_part()

    def trace(self, name: str = "trace") -> Tensor:
        """The sum of the diagonal."""
        with self._scope(name):
            return reduce_sum(self._diag_part(), [-1])

    def add_to_tensor(self, x: TensorLike, name: str = "add_to_tensor") -> Tensor:
        """A + x."""
        with self._scope(name):
            return self._to_dense() + self._argument(x, "x")

    def eigvals(self, name: str = "eigvals") -> Tensor:
        """The eigenvalues; NotImplementedError where the operator is not self-adjoint."""
        if not self.is_self_adjoint:
            raise NotImplementedError("Only self-adjoint matrices are supported.")
        with self._scope(name):
            return self._eigvals()

    def cond(self, name: str = "cond") -> Tensor:
        """The ratio of the largest to the smallest singular value."""
        with self._scope(name):
            if self.is_self_adjoint:
                values = magnitude(self._eigvals())
            else:
                values = cast(Tensor, svd(self._to_dense(), compute_uv=False))
            return reduce_max(values, [-1]) / reduce_min(values, [-1])

    # shared parts

    def _scope(self, name: str) -> name_scope:
        return name_scope(f"{self._name}/{name}")

    def _can_use_cholesky(self) -> bool:
        return bool(self._is_self_adjoint and self._is_positive_definite)

    def _argument(self, x: TensorLike, name: str) -> Tensor:
        """`x` as a tensor; TypeError where it has another type than the operator."""
        tensor = convert_to_tensor(x, name=name)
        if np.dtype(tensor.dtype) != self._dtype:
            raise TypeError(
                f"Expected argument to have dtype {self._dtype.name}.  Found: "
                f"{np.dtype(tensor.dtype).name} in tensor {tensor}"
            )
        return tensor

    def _require_square(self, what: str, singular: bool = False) -> None:
        if singular and self.is_non_singular is False:
            raise NotImplementedError(
                f"{what} not implemented for an operator that is expected to be singular."
            )
        if self.is_square is False:
            raise NotImplementedError(
                f"{what} not implemented for an operator that is expected to not be square."
            )

    def _require_size(self, x: Tensor, size: int | None, axis: int) -> None:
        actual = _dimension(x.get_shape(), axis)
        if size is not None and actual is not None and size != actual:
            raise ValueError(
                f"Dimensions {size} and {actual} are not compatible: {self._name} and its argument"
            )

    def _eye(self) -> Tensor:
        """The unit matrix with as many rows as this one has columns."""
        size = self.domain_dimension
        return eye(self.domain_dimension_tensor() if size is None else size, dtype=self._dtype)

    def __repr__(self) -> str:
        return (
            f"<flatlite.linalg.{type(self).__name__} '{self._name}' shape={self._shape()} "
            f"dtype={self._dtype.name}>"
        )


def _dimension(shape: TensorShape, axis: int) -> int | None:
    """One size of a shape; None where it is not known."""
    rank = shape.ndims
    return None if rank is None else shape.as_list()[axis]


def magnitude(x: Tensor) -> Tensor:
    """|x|."""
    return (
        ops.ComplexAbs(x, Tout=np.dtype(f"f{x.dtype.itemsize // 2}"))
        if is_complex(x)
        else ops.Abs(x)
    )


def magnitude_or_real(x: Tensor) -> Tensor:
    """The real part."""
    return ops.Real(x, Tout=np.dtype(f"f{x.dtype.itemsize // 2}")) if is_complex(x) else x


def is_complex(x: Tensor) -> bool:
    """Whether a tensor is of complex numbers."""
    return np.dtype(x.dtype).kind == "c"


def conj(x: Tensor) -> Tensor:
    """The conjugate; `x` itself where it is real."""
    return ops.Conj(x) if is_complex(x) else x


def same_batch(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """Two matrices with the batch dimensions of both."""
    shapes = a.get_shape(), b.get_shape()
    if shapes[0].is_fully_defined() and shapes[1].is_fully_defined():
        batches = [tuple(shape.as_list()[:-2]) for shape in shapes]
        if batches[0] == batches[1]:
            return a, b
    sizes = [ops.Shape(x) for x in (a, b)]
    batch = ops.BroadcastArgs(*(size[:-2] for size in sizes))
    wide = [
        ops.BroadcastTo(x, ops.ConcatV2([batch, size[-2:]], np.int32(0)))
        for x, size in zip((a, b), sizes, strict=True)
    ]
    return wide[0], wide[1]


def broadcast_batch(shapes: Sequence[TensorShape]) -> TensorShape:
    """What the shapes of batches are together, as far as they are known."""
    if any(shape.ndims is None for shape in shapes):
        return TensorShape(None)
    known = [[size for size in shape.as_list() if size is not None] for shape in shapes]
    if all(shape.is_fully_defined() for shape in shapes):
        return TensorShape(np.broadcast_shapes(*map(tuple, known)))
    return TensorShape([None] * max(len(shape) for shape in shapes))
