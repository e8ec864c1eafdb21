"""Operators made of one other: adjoints, inverses, low-rank updates; and products of operators."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from ..core.build import ops
from ..core.create import convert_to_tensor
from ..core.graph import Tensor
from ..core.tensor_shape import TensorShape
from ..functions.linalg.decompositions import adjoint as adjoint_of
from ..functions.linalg.diagonals import matrix_diag_part
from ..functions.linalg.linear_algebra import matmul
from .base import DERIVED, LinearOperator, broadcast_batch, conj, is_complex, magnitude, same_batch
from .matrices import (
    LinearOperatorDiag,
    LinearOperatorIdentity,
    LinearOperatorZeros,
)

if TYPE_CHECKING:
    from ..core.typing import TensorLike


Hints = tuple["bool | None", "bool | None", "bool | None", "bool | None"]
"""Non-singular, self-adjoint, positive definite, square."""


class LinearOperatorAdjoint(LinearOperator):
    """The conjugate transpose of another operator."""

    def __init__(
        self,
        operator: LinearOperator,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ):
        self._operator = operator
        hints = _inherited(
            operator, is_non_singular, is_self_adjoint, is_positive_definite, is_square
        )
        parameters: dict[str, object] = {"operator": operator}
        super().__init__(operator.dtype, [], *hints, name or f"{operator.name}_adjoint", parameters)

    @property
    def operator(self) -> LinearOperator:
        """The operator it is the adjoint of."""
        return self._operator

    def _shape(self) -> TensorShape:
        return _swapped(self._operator.shape)

    def _to_dense(self) -> Tensor:
        dense = self._operator.to_dense()
        return dense if self.is_self_adjoint else adjoint_of(dense)

    def _matmul(self, x: Tensor, adjoint: bool, adjoint_arg: bool) -> Tensor:
        return self._operator._matmul(x, not adjoint, adjoint_arg)

    def _solve(self, rhs: Tensor, adjoint: bool, adjoint_arg: bool) -> Tensor:
        return self._operator._solve(rhs, not adjoint, adjoint_arg)

    def _determinant(self) -> Tensor:
        return conj(self._operator.determinant())

    def _log_abs_determinant(self) -> Tensor:
        return self._operator.log_abs_determinant()

    def _diag_part(self) -> Tensor:
        return conj(self._operator.diag_part())

    def _eigvals(self) -> Tensor:
        return conj(self._operator.eigvals())

    def _adjoint(self) -> LinearOperator:
        return self._operator


class LinearOperatorInversion(LinearOperator):
    """The inverse of another operator."""

    def __init__(
        self,
        operator: LinearOperator,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ):
        if operator.is_square is False or is_square is False:
            raise ValueError("An inverse can only be of a square operator.")
        if operator.is_non_singular is False or is_non_singular is False:
            raise ValueError("An inverse is always non-singular, as what it is the inverse of.")
        self._operator = operator
        hints = _inherited(operator, True, is_self_adjoint, is_positive_definite, True)
        parameters: dict[str, object] = {"operator": operator}
        super().__init__(operator.dtype, [], *hints, name or f"{operator.name}_inv", parameters)

    @property
    def operator(self) -> LinearOperator:
        """The operator it is the inverse of."""
        return self._operator

    def _shape(self) -> TensorShape:
        return self._operator.shape

    def _to_dense(self) -> Tensor:
        return self._operator._solve(self._operator._eye(), adjoint=False, adjoint_arg=False)

    def _matmul(self, x: Tensor, adjoint: bool, adjoint_arg: bool) -> Tensor:
        return self._operator._solve(x, adjoint, adjoint_arg)

    def _solve(self, rhs: Tensor, adjoint: bool, adjoint_arg: bool) -> Tensor:
        return self._operator._matmul(rhs, adjoint, adjoint_arg)

    def _determinant(self) -> Tensor:
        return ops.Reciprocal(self._operator.determinant())

    def _log_abs_determinant(self) -> Tensor:
        return -self._operator.log_abs_determinant()

    def _eigvals(self) -> Tensor:
        return ops.Reciprocal(self._operator.eigvals())

    def _inverse(self) -> LinearOperator:
        return self._operator


class LinearOperatorComposition(LinearOperator):
    """The product of operators, the last of which is applied first."""

    def __init__(
        self,
        operators: Sequence[LinearOperator],
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ):
        self._operators = same_types(operators)
        if all(operator.is_non_singular for operator in self._operators):
            if is_non_singular is False:
                raise ValueError(
                    "The composition of non-singular operators is always non-singular."
                )
            is_non_singular = True
        name = name or "_o_".join(operator.name for operator in self._operators)
        hints = (is_non_singular, is_self_adjoint, is_positive_definite, is_square)
        parameters: dict[str, object] = {"operators": operators}
        super().__init__(self._operators[0].dtype, [], *hints, name, parameters)
        for left, right in itertools.pairwise(self._operators):
            columns, rows = left.domain_dimension, right.range_dimension
            if None not in (columns, rows) and columns != rows:
                raise ValueError(
                    f"Operators are incompatible. Expected {right.name} to have {columns} rows, "
                    f"got {rows}"
                )

    @property
    def operators(self) -> list[LinearOperator]:
        """The factors, from left to right."""
        return list(self._operators)

    def _shape(self) -> TensorShape:
        ending = [self._operators[0].range_dimension, self._operators[-1].domain_dimension]
        return common_batch(self._operators).concatenate(ending)

    def _to_dense(self) -> Tensor:
        result = self._operators[-1].to_dense()
        for operator in reversed(self._operators[:-1]):
            result = operator._matmul(result, adjoint=False, adjoint_arg=False)
        return result

    def _matmul(self, x: Tensor, adjoint: bool, adjoint_arg: bool) -> Tensor:
        for operator in self._operators if adjoint else reversed(self._operators):
            x = operator._matmul(x, adjoint, adjoint_arg)
            adjoint_arg = False
        return x

    def _solve(self, rhs: Tensor, adjoint: bool, adjoint_arg: bool) -> Tensor:
        for operator in reversed(self._operators) if adjoint else self._operators:
            rhs = cast(Tensor, operator.solve(rhs, adjoint, adjoint_arg))
            adjoint_arg = False
        return rhs

    def _determinant(self) -> Tensor:
        result = self._operators[0].determinant()
        for operator in self._operators[1:]:
            result = result * operator.determinant()
        return result

    def _log_abs_determinant(self) -> Tensor:
        result = self._operators[0].log_abs_determinant()
        for operator in self._operators[1:]:
            result = result + operator.log_abs_determinant()
        return result

    def _adjoint(self) -> LinearOperator:
        return LinearOperatorComposition(
            [operator.adjoint() for operator in reversed(self._operators)], self.is_non_singular
        )

    def _inverse(self) -> LinearOperator:
        return LinearOperatorComposition(
            [operator.inverse() for operator in reversed(self._operators)], True
        )


class LinearOperatorLowRankUpdate(LinearOperator):
    """L + U D V^H of an operator L [..., m, n], U [..., m, k], V [..., n, k] and a diagonal D."""

    def __init__(
        self,
        base_operator: LinearOperator,
        u: TensorLike,
        diag_update: TensorLike | None = None,
        v: TensorLike | None = None,
        is_diag_update_positive: bool | None = None,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorLowRankUpdate",
    ):
        if diag_update is None:
            if is_diag_update_positive is False:
                raise ValueError(
                    "Default diagonal is the identity, which is positive.  However, user set "
                    "'is_diag_update_positive' to False."
                )
            is_diag_update_positive = True
        self._base_operator = base_operator
        self._u = convert_to_tensor(u, name="u")
        self._v = self._u if v is None else convert_to_tensor(v, name="v")
        self._diag_update = None if diag_update is None else convert_to_tensor(diag_update)
        self._is_diag_update_positive = is_diag_update_positive
        is_real = self._diag_update is None or not is_complex(self._diag_update)
        if v is None and is_real and base_operator.is_self_adjoint:
            if is_self_adjoint is False:
                raise ValueError(
                    "A = L + UDU^H, with L self-adjoint and D real diagonal.  Since UDU^H is "
                    "self-adjoint, this must be a self-adjoint operator."
                )
            is_self_adjoint = True
        self._use_cholesky = bool(
            base_operator.is_positive_definite
            and base_operator.is_self_adjoint
            and is_diag_update_positive
            and v is None
        )
        if self._use_cholesky:
            if is_positive_definite is False or is_self_adjoint is False:
                raise ValueError("Arguments imply this is self-adjoint positive-definite operator.")
            is_positive_definite = is_self_adjoint = True
        parameters: dict[str, object] = {"base_operator": base_operator, "u": u, "v": v}
        parameters |= {"diag_update": diag_update}
        parameters["is_diag_update_positive"] = is_diag_update_positive
        parents = [x for x in (self._u, self._diag_update, self._v) if x is not None]
        hints = (is_non_singular, is_self_adjoint, is_positive_definite, is_square)
        super().__init__(base_operator.dtype, parents, *hints, name, parameters)

    @property
    def base_operator(self) -> LinearOperator:
        """L."""
        return self._base_operator

    @property
    def u(self) -> Tensor:
        """U."""
        return self._u

    @property
    def v(self) -> Tensor:
        """V."""
        return self._v

    @property
    def diag_update(self) -> Tensor | None:
        """The diagonal of D; None for ones."""
        return self._diag_update

    @property
    def is_diag_update_positive(self) -> bool | None:
        """Whether D is positive."""
        return self._is_diag_update_positive

    @property
    def diag_operator(self) -> LinearOperator:
        """D."""
        if self._diag_update is None:
            return LinearOperatorIdentity(ops.Shape(self._u)[-1], dtype=self._dtype)
        return LinearOperatorDiag(
            self._diag_update, is_positive_definite=self._is_diag_update_positive
        )

    def _shape(self) -> TensorShape:
        base, u = self._base_operator.shape, self._u.get_shape()
        if base.ndims is None or u.ndims is None:
            return TensorShape(None)
        return broadcast_batch([base[:-2], u[:-2]]).concatenate(base[-2:])

    def _scaled(self, x: Tensor, adjoint: bool) -> Tensor:
        """D x."""
        if self._diag_update is None:
            return x
        factors = conj(self._diag_update) if adjoint else self._diag_update
        return ops.ExpandDims(factors, np.int32(-1)) * x

    def _to_dense(self) -> Tensor:
        right = self._scaled(adjoint_of(self._v), adjoint=False)
        return self._base_operator.to_dense() + matmul(self._u, right)

    def _matmul(self, x: Tensor, adjoint: bool, adjoint_arg: bool) -> Tensor:
        left, right = (self._v, self._u) if adjoint else (self._u, self._v)
        inner = matmul(right, x, adjoint_a=True, adjoint_b=adjoint_arg)
        base = self._base_operator._matmul(x, adjoint, adjoint_arg)
        return base + matmul(left, self._scaled(inner, adjoint))

    def _capacitance(self) -> Tensor:
        """D^-1 + V^H L^-1 U."""
        inner = cast(Tensor, self._base_operator.solve(self._u))
        inner = matmul(self._v, inner, adjoint_a=True)
        return self.diag_operator.inverse().add_to_tensor(inner)

    def _solve(self, rhs: Tensor, adjoint: bool, adjoint_arg: bool) -> Tensor:
        if self._base_operator.is_non_singular is False:
            raise ValueError(
                "Solve not implemented unless this is a perturbation of a non-singular "
                "LinearOperator."
            )
        left, right = (self._v, self._u) if adjoint else (self._u, self._v)
        first = cast(Tensor, self._base_operator.solve(rhs, adjoint, adjoint_arg))
        inner = matmul(right, first, adjoint_a=True)
        capacitance, inner = same_batch(self._capacitance(), inner)
        middle = matmul(left, ops.MatrixSolve(capacitance, inner, adjoint=adjoint))
        return first - cast(Tensor, self._base_operator.solve(middle, adjoint))

    def _determinant(self) -> Tensor:
        capacitance = ops.MatrixDeterminant(self._capacitance())
        return capacitance * self.diag_operator.determinant() * self._base_operator.determinant()

    def _log_abs_determinant(self) -> Tensor:
        capacitance = ops.Log(magnitude(ops.MatrixDeterminant(self._capacitance())))
        diagonal = self.diag_operator.log_abs_determinant()
        return capacitance + diagonal + self._base_operator.log_abs_determinant()

    def _diag_part(self) -> Tensor:
        right = self._scaled(adjoint_of(self._v), adjoint=False)
        return self._base_operator.diag_part() + matrix_diag_part(matmul(self._u, right))


def product(left: LinearOperator, right: LinearOperator) -> LinearOperator:
    """left times right, as simple as it is known to be."""
    if isinstance(right, LinearOperatorIdentity) and not (right.batch_shape.ndims or 0):
        return left
    if isinstance(right, LinearOperatorZeros) and left.is_square and right.is_square:
        return right
    square = True if left.is_square and right.is_square else None
    return LinearOperatorComposition([left, right], is_square=square)


DERIVED.update(adjoint=LinearOperatorAdjoint, inverse=LinearOperatorInversion, product=product)


def same_types(operators: Sequence[LinearOperator]) -> list[LinearOperator]:
    """A list of operators with elements of one type."""
    listed = list(operators)
    if not listed:
        raise ValueError(f"Expected a non-empty list of operators. Found: {operators}")
    if len({operator.dtype for operator in listed}) > 1:
        names = "   ".join(f"{operator.name} {operator.dtype.name}" for operator in listed)
        raise TypeError(f"Expected all operators to have the same dtype.  Found {names}")
    return listed


def common_batch(operators: Sequence[LinearOperator]) -> TensorShape:
    """The batch's shape of operators together."""
    return broadcast_batch([operator.batch_shape for operator in operators])


def _inherited(operator: LinearOperator, *hints: bool | None) -> Hints:
    """Hints, where there is none those of another operator."""
    others = (
        operator.is_non_singular,
        operator.is_self_adjoint,
        operator.is_positive_definite,
        operator.is_square,
    )
    pairs = zip(hints, others, strict=True)
    first, second, third, fourth = (y if x is None else x for x, y in pairs)
    return first, second, third, fourth


def _swapped(shape: TensorShape) -> TensorShape:
    """The shape of the transpose."""
    if shape.ndims is None:
        return shape
    sizes = shape.as_list()
    return TensorShape([*sizes[:-2], sizes[-1], sizes[-2]])
