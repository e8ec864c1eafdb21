"""Operators of blocks: direct sums, lower triangles of blocks, Kronecker products."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from ..core.build import ops
from ..core.create import convert_to_tensor
from ..core.graph import Tensor
from ..core.tensor_shape import TensorShape
from ..functions.array.array import concat, pad, split
from ..functions.linalg.decompositions import adjoint as adjoint_of
from .base import Arguments, LinearOperator
from .derived import common_batch, same_types

if TYPE_CHECKING:
    from ..core.typing import TensorLike


Binary = Callable[[Tensor, Tensor], Tensor]


class _Blocks(LinearOperator):
    """What direct sums and lower triangles share: arguments in blocks."""

    def _diagonal(self) -> list[LinearOperator]:
        raise NotImplementedError

    def _row(self, x: list[Tensor], i: int, adjoint: bool) -> Tensor:
        """Block i of the product with blocks."""
        raise NotImplementedError

    def _solved(self, rhs: list[Tensor], adjoint: bool) -> list[Tensor]:
        raise NotImplementedError

    def _shape(self) -> TensorShape:
        rows = [operator.range_dimension for operator in self._diagonal()]
        columns = [operator.domain_dimension for operator in self._diagonal()]
        return common_batch(self._parts()).concatenate([_total(rows), _total(columns)])

    def _parts(self) -> Sequence[LinearOperator]:
        return self._diagonal()

    def _cut(self, x: Tensor, rows: bool) -> list[Tensor]:
        """The rows of a tensor that meet each block."""
        sizes = [
            ops.ExpandDims(
                operator.range_dimension_tensor() if rows else operator.domain_dimension_tensor(),
                np.int32(0),
            )
            for operator in self._diagonal()
        ]
        known = [op.range_dimension if rows else op.domain_dimension for op in self._diagonal()]
        if None not in known:
            return list(split(x, cast("list[int]", known), -2))
        whole = ops.ConcatV2(sizes, np.int32(0))
        return list(ops.SplitV(x, whole, np.int32(-2), num_split=len(sizes)))

    def matmul(
        self,
        x: TensorLike | LinearOperator | Arguments,
        adjoint: bool = False,
        adjoint_arg: bool = False,
        name: str = "matmul",
    ) -> Tensor | LinearOperator | list[Tensor]:
        """The operator times a matrix, a list with one for each block, or another operator."""
        if not self._is_list(x, adjoint):
            return super().matmul(x, adjoint, adjoint_arg, name)
        with self._scope(name):
            tensors = [convert_to_tensor(part) for part in cast("Sequence[TensorLike]", x)]
            tensors = [adjoint_of(part) if adjoint_arg else part for part in tensors]
            return [self._row(tensors, i, adjoint) for i in range(len(tensors))]

    def solve(
        self,
        rhs: TensorLike | LinearOperator | Arguments,
        adjoint: bool = False,
        adjoint_arg: bool = False,
        name: str = "solve",
    ) -> Tensor | LinearOperator | list[Tensor]:
        """The x with A x = rhs; a list where `rhs` is one with a tensor for each block."""
        if not self._is_list(rhs, not adjoint):
            return super().solve(rhs, adjoint, adjoint_arg, name)
        self._require_square("Exact solve", singular=True)
        with self._scope(name):
            tensors = [convert_to_tensor(part) for part in cast("Sequence[TensorLike]", rhs)]
            tensors = [adjoint_of(part) if adjoint_arg else part for part in tensors]
            return self._solved(tensors, adjoint)

    def _is_list(self, x: object, rows: bool) -> bool:
        """Whether an argument is a list with a matrix for each block, not one matrix as a list."""
        if not isinstance(x, list | tuple):
            return False
        parts = cast("Sequence[TensorLike]", x)
        if len(parts) != len(self._diagonal()):
            return False
        if not any(isinstance(part, list | tuple) for part in parts):
            return True
        shapes = [convert_to_tensor(part).get_shape() for part in parts]
        sizes = [op.range_dimension if rows else op.domain_dimension for op in self._diagonal()]
        return all(
            len(shape) > 1 and size in (None, shape.as_list()[-2])
            for shape, size in zip(shapes, sizes, strict=True)
        )

    def _matmul(self, x: Tensor, adjoint: bool, adjoint_arg: bool) -> Tensor:
        parts = self._cut(adjoint_of(x) if adjoint_arg else x, rows=adjoint)
        return joined([self._row(parts, i, adjoint) for i in range(len(parts))])

    def _solve(self, rhs: Tensor, adjoint: bool, adjoint_arg: bool) -> Tensor:
        parts = self._cut(adjoint_of(rhs) if adjoint_arg else rhs, rows=not adjoint)
        return joined(self._solved(parts, adjoint))

    def _determinant(self) -> Tensor:
        result = self._diagonal()[0].determinant()
        for operator in self._diagonal()[1:]:
            result = result * operator.determinant()
        return result

    def _log_abs_determinant(self) -> Tensor:
        result = self._diagonal()[0].log_abs_determinant()
        for operator in self._diagonal()[1:]:
            result = result + operator.log_abs_determinant()
        return result

    def _diag_part(self) -> Tensor:
        return _ends([operator.diag_part() for operator in self._diagonal()])

    def _eigvals(self) -> Tensor:
        return _ends([operator.eigvals() for operator in self._diagonal()])


class LinearOperatorBlockDiag(_Blocks):
    """Operators along the diagonal, zeros elsewhere."""

    def __init__(
        self,
        operators: Sequence[LinearOperator],
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        name: str | None = None,
    ):
        self._operators = same_types(operators)
        hints = [is_non_singular, is_self_adjoint, is_positive_definite]
        for i, (attribute, what) in enumerate(HINTS):
            if all(getattr(operator, attribute) for operator in self._operators):
                if hints[i] is False:
                    raise ValueError(f"The direct sum of {what} operators is always {what}.")
                hints[i] = True
        name = name or "_ds_".join(operator.name for operator in self._operators)
        if is_square and any(operator.is_square is False for operator in self._operators):
            is_square = None
        parameters: dict[str, object] = {"operators": operators}
        super().__init__(
            self._operators[0].dtype, [], hints[0], hints[1], hints[2], is_square, name, parameters
        )

    @property
    def operators(self) -> list[LinearOperator]:
        """The blocks."""
        return list(self._operators)

    def _diagonal(self) -> list[LinearOperator]:
        return self._operators

    def _row(self, x: list[Tensor], i: int, adjoint: bool) -> Tensor:
        return self._operators[i]._matmul(x[i], adjoint, adjoint_arg=False)

    def _solved(self, rhs: list[Tensor], adjoint: bool) -> list[Tensor]:
        pairs = zip(self._operators, rhs, strict=True)
        return [cast(Tensor, operator.solve(part, adjoint)) for operator, part in pairs]

    def _to_dense(self) -> Tensor:
        columns = self.domain_dimension_tensor()
        before = cast("Tensor | np.int32", np.int32(0))
        rows: list[Tensor] = []
        for operator in self._operators:
            size = operator.domain_dimension_tensor()
            dense = operator.to_dense()
            rank = ops.Rank(dense)
            ends = ops.Reshape(
                ops.Pack([before, columns - before - size]), np.array([1, 2], np.int32)
            )
            zeros = ops.Fill(ops.Pack([rank - np.int32(1), np.int32(2)]), np.int32(0))
            rows.append(pad(dense, concat([zeros, ends], 0)))
            before = before + size
        return joined(rows)

    def _adjoint(self) -> LinearOperator:
        hints = (self.is_non_singular, self._is_self_adjoint, self.is_positive_definite)
        return LinearOperatorBlockDiag([op.adjoint() for op in self._operators], *hints)

    def _inverse(self) -> LinearOperator:
        hints = (True, self._is_self_adjoint, self.is_positive_definite)
        return LinearOperatorBlockDiag([op.inverse() for op in self._operators], *hints)

    def _cholesky(self) -> LinearOperator:
        return LinearOperatorBlockDiag([op.cholesky() for op in self._operators], True)

    def _product(self, right: LinearOperator) -> LinearOperator:
        if isinstance(right, LinearOperatorBlockDiag):
            pairs = zip(self._operators, right.operators, strict=False)
            if len(self._operators) == len(right.operators):
                return LinearOperatorBlockDiag(
                    [cast(LinearOperator, a.matmul(b)) for a, b in pairs]
                )
        return super()._product(right)


class LinearOperatorBlockLowerTriangular(_Blocks):
    """Rows of operators, row i with i + 1 of them; zeros above."""

    def __init__(
        self,
        operators: Sequence[Sequence[LinearOperator]],
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorBlockLowerTriangular",
    ):
        if not operators:
            raise ValueError(
                f"Argument `operators` must be a list of >=1 operators. Received: {operators}."
            )
        for i, row in enumerate(operators):
            if len(row) != i + 1:
                raise ValueError(
                    f"Argument `operators[{i}]` must contain `{i + 1}` blocks. Received: "
                    f"{len(row)} blocks."
                )
        self._operators = [list(row) for row in operators]
        listed = same_types([operator for row in operators for operator in row])
        if all(row[-1].is_non_singular for row in operators):
            if is_non_singular is False:
                raise ValueError(
                    "A blockwise lower-triangular operator with non-singular operators on the "
                    "main diagonal is always non-singular."
                )
            is_non_singular = True
        if is_square is False:
            raise ValueError("A blockwise lower-triangular operator must be square.")
        parameters: dict[str, object] = {"operators": operators}
        hints = (is_non_singular, is_self_adjoint, is_positive_definite, True)
        super().__init__(listed[0].dtype, [], *hints, name, parameters)

    @property
    def operators(self) -> list[list[LinearOperator]]:
        """The rows of blocks."""
        return [list(row) for row in self._operators]

    def _diagonal(self) -> list[LinearOperator]:
        return [row[-1] for row in self._operators]

    def _parts(self) -> Sequence[LinearOperator]:
        return [operator for row in self._operators for operator in row]

    def _row(self, x: list[Tensor], i: int, adjoint: bool) -> Tensor:
        count = len(self._operators)
        positions = (
            [(j, self._operators[j][i]) for j in range(i, count)]
            if adjoint
            else [(j, self._operators[i][j]) for j in range(i + 1)]
        )
        terms = [op._matmul(x[j], adjoint, adjoint_arg=False) for j, op in positions]
        total = terms[0]
        for term in terms[1:]:
            total = total + term
        return total

    def _solved(self, rhs: list[Tensor], adjoint: bool) -> list[Tensor]:
        count = len(self._operators)
        results: dict[int, Tensor] = {}
        for i in reversed(range(count)) if adjoint else range(count):
            total = rhs[i]
            for j, x in results.items():
                block = self._operators[j][i] if adjoint else self._operators[i][j]
                total = total - block._matmul(x, adjoint, adjoint_arg=False)
            results[i] = cast(Tensor, self._operators[i][i].solve(total, adjoint))
        return [results[i] for i in range(count)]

    def _to_dense(self) -> Tensor:
        return self._matmul(self._eye(), adjoint=False, adjoint_arg=False)


class LinearOperatorKronecker(LinearOperator):
    """The Kronecker product of operators."""

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
        hints = [is_non_singular, is_self_adjoint, is_positive_definite]
        for i, (attribute, what) in enumerate(HINTS):
            if all(getattr(operator, attribute) for operator in self._operators):
                if hints[i] is False:
                    raise ValueError(f"The Kronecker product of {what} operators is always {what}.")
                hints[i] = True
        name = name or "_x_".join(operator.name for operator in self._operators)
        parameters: dict[str, object] = {"operators": operators}
        super().__init__(
            self._operators[0].dtype, [], hints[0], hints[1], hints[2], is_square, name, parameters
        )

    @property
    def operators(self) -> list[LinearOperator]:
        """The factors."""
        return list(self._operators)

    def _shape(self) -> TensorShape:
        rows = [operator.range_dimension for operator in self._operators]
        columns = [operator.domain_dimension for operator in self._operators]
        return common_batch(self._operators).concatenate([_product(rows), _product(columns)])

    def _to_dense(self) -> Tensor:
        result = self._operators[0].to_dense()
        for operator in self._operators[1:]:
            left = ops.ExpandDims(ops.ExpandDims(result, np.int32(-1)), np.int32(-3))
            dense = operator.to_dense()
            right = ops.ExpandDims(ops.ExpandDims(dense, np.int32(-2)), np.int32(-4))
            whole = left * right
            sizes = ops.Shape(whole)
            rows, columns = (
                ops.Prod(sizes[i : i + 2 or None], np.array([0], np.int32), keep_dims=True)
                for i in (-4, -2)
            )
            result = ops.Reshape(whole, ops.ConcatV2([sizes[:-4], rows, columns], np.int32(0)))
        return result

    def _determinant(self) -> Tensor:
        return self._over_factors([op.determinant() for op in self._operators], ops.Pow, ops.Mul)

    def _log_abs_determinant(self) -> Tensor:
        logs = [op.log_abs_determinant() for op in self._operators]
        return self._over_factors(logs, ops.Mul, ops.AddV2)

    def _over_factors(self, values: list[Tensor], apply: Binary, join: Binary) -> Tensor:
        """Combines what each factor has, to the power of the other factors' sizes."""
        total = self.domain_dimension_tensor()
        result: Tensor | None = None
        for operator, value in zip(self._operators, values, strict=True):
            others = ops.FloorDiv(total, operator.domain_dimension_tensor())
            part = apply(value, ops.Cast(others, DstT=np.dtype(value.dtype)))
            result = part if result is None else join(result, part)
        return cast(Tensor, result)

    def _outer(self, parts: list[Tensor]) -> Tensor:
        result = parts[0]
        for part in parts[1:]:
            whole = ops.ExpandDims(result, np.int32(-1)) * ops.ExpandDims(part, np.int32(-2))
            sizes = ops.Shape(whole)
            flat = ops.ConcatV2([sizes[:-2], np.array([-1], np.int32)], np.int32(0))
            result = ops.Reshape(whole, flat)
        return result

    def _diag_part(self) -> Tensor:
        if all(operator.is_square for operator in self._operators):
            return self._outer([operator.diag_part() for operator in self._operators])
        return super()._diag_part()

    def _eigvals(self) -> Tensor:
        return self._outer([operator.eigvals() for operator in self._operators])

    def _adjoint(self) -> LinearOperator:
        hints = (self.is_non_singular, self._is_self_adjoint, self.is_positive_definite)
        return LinearOperatorKronecker([op.adjoint() for op in self._operators], *hints)

    def _inverse(self) -> LinearOperator:
        hints = (True, self._is_self_adjoint, self.is_positive_definite)
        return LinearOperatorKronecker([op.inverse() for op in self._operators], *hints)

    def _cholesky(self) -> LinearOperator:
        return LinearOperatorKronecker([op.cholesky() for op in self._operators], True)


HINTS = (
    ("is_non_singular", "non-singular"),
    ("is_self_adjoint", "self-adjoint"),
    ("is_positive_definite", "positive definite"),
)


def _total(sizes: Sequence[int | None]) -> int | None:
    known = [size for size in sizes if size is not None]
    return sum(known) if len(known) == len(sizes) else None


def _product(sizes: Sequence[int | None]) -> int | None:
    known = [size for size in sizes if size is not None]
    return int(np.prod(known)) if len(known) == len(sizes) else None


def joined(parts: Sequence[Tensor]) -> Tensor:
    """Matrices below each other, with the batch dimensions of all of them."""
    return concat(_together(parts, 2), -2)


def _ends(parts: Sequence[Tensor]) -> Tensor:
    """Vectors behind each other, with the batch dimensions of all of them."""
    return concat(_together(parts, 1), -1)


def _together(parts: Sequence[Tensor], rank: int) -> list[Tensor]:
    """Tensors with the batch dimensions of all of them."""
    shapes = [part.get_shape() for part in parts]
    if all(shape.is_fully_defined() for shape in shapes):
        batches = {tuple(shape.as_list()[:-rank]) for shape in shapes}
        if len(batches) == 1:
            return list(parts)
    sizes = [ops.Shape(part) for part in parts]
    batch = sizes[0][:-rank]
    for size in sizes[1:]:
        batch = ops.BroadcastArgs(batch, size[:-rank])
    return [
        ops.BroadcastTo(part, ops.ConcatV2([batch, size[-rank:]], np.int32(0)))
        for part, size in zip(parts, sizes, strict=True)
    ]
