"""Operators of few numbers: reflections, Toeplitz, circulant and tridiagonal matrices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, cast

import numpy as np

from ..core.build import ops
from ..core.create import convert_to_tensor
from ..core.graph import Operation, Tensor
from ..core.tensor_shape import TensorShape
from ..functions.array.array import concat, expand_dims, stack
from ..functions.array.creation import ones, zeros
from ..functions.flow.control_flow import Assert
from ..functions.linalg.decompositions import adjoint as adjoint_of
from ..functions.linalg.diagonals import matrix_diag_part
from ..functions.linalg.equations import tridiagonal_matmul, tridiagonal_solve
from ..functions.math.reductions import reduce_prod, reduce_sum
from .base import LinearOperator, broadcast_batch, conj, is_complex, magnitude, same_batch
from .matrices import at_least, squared

if TYPE_CHECKING:
    from ..core.typing import DTypeLike, TensorLike


class LinearOperatorHouseholder(LinearOperator):
    """I - 2 v v^H, the reflection at the hyperplane across `reflection_axis` [..., n]."""

    def __init__(
        self,
        reflection_axis: TensorLike,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorHouseholder",
    ):
        if is_self_adjoint is False:
            raise ValueError("A Householder operator is always self adjoint.")
        if is_positive_definite is True:
            raise ValueError("A Householder operator is always non-positive definite.")
        if is_square is False:
            raise ValueError("A Householder operator is always square.")
        self._axis = at_least(reflection_axis, "reflection_axis", 1)
        parameters: dict[str, object] = {"reflection_axis": reflection_axis}
        hints = (is_non_singular, True, False, True)
        super().__init__(self._axis.dtype, [self._axis], *hints, name, parameters)

    @property
    def reflection_axis(self) -> Tensor:
        """The vector that is turned round."""
        return self._axis

    def _shape(self) -> TensorShape:
        return squared(self._axis.get_shape())

    def _unit(self) -> Tensor:
        squares = magnitude(self._axis)
        length = ops.Sqrt(reduce_sum(squares * squares, [-1], keepdims=True))
        return self._axis / ops.Cast(length, DstT=self._dtype)

    def _to_dense(self) -> Tensor:
        axis = expand_dims(self._unit(), -1)
        two = np.asarray(2, self._dtype)
        return self._eye() - two * axis * adjoint_of(axis)

    def _matmul(self, x: Tensor, adjoint: bool, adjoint_arg: bool) -> Tensor:
        x = adjoint_of(x) if adjoint_arg else x
        axis = expand_dims(self._unit(), -1)
        along = reduce_sum(conj(axis) * x, [-2], keepdims=True)
        return x - np.asarray(2, self._dtype) * axis * along

    def _solve(self, rhs: Tensor, adjoint: bool, adjoint_arg: bool) -> Tensor:
        return self._matmul(rhs, adjoint, adjoint_arg)

    def _determinant(self) -> Tensor:
        return zeros(self.batch_shape_tensor(), self._dtype) - np.ones((), self._dtype)

    def _log_abs_determinant(self) -> Tensor:
        return zeros(self.batch_shape_tensor(), self._dtype)

    def _eigvals(self) -> Tensor:
        positive = ones(self.shape_tensor()[:-1], self._dtype)
        first = positive[..., :1]
        return concat([-first, positive[..., 1:]], -1)

    def _inverse(self) -> LinearOperator:
        return self


class LinearOperatorToeplitz(LinearOperator):
    """The matrix of first column `col` and row `row`, each [..., n], equal along diagonals."""

    def __init__(
        self,
        col: TensorLike,
        row: TensorLike,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorToeplitz",
    ):
        if is_square is False:
            raise ValueError("Only square Toeplitz operators currently supported.")
        self._col = at_least(col, "col", 1)
        self._row = at_least(row, "row", 1)
        parameters: dict[str, object] = {"col": col, "row": row}
        hints = (is_non_singular, is_self_adjoint, is_positive_definite, True)
        super().__init__(self._row.dtype, [self._row, self._col], *hints, name, parameters)

    @property
    def col(self) -> Tensor:
        """The first column."""
        return self._col

    @property
    def row(self) -> Tensor:
        """The first row."""
        return self._row

    def _shape(self) -> TensorShape:
        shapes = [x.get_shape() for x in (self._col, self._row)]
        if shapes[0].ndims is None or shapes[1].ndims is None:
            return TensorShape(None)
        batch = broadcast_batch([shape[:-1] for shape in shapes])
        size = shapes[1].as_list()[-1]
        return batch.concatenate([size, size])

    def _to_dense(self) -> Tensor:
        count = ops.Shape(self._row)[-1]
        col, row = (expand_dims(x, -1) for x in (self._col, self._row))
        col, row = same_batch(col, row)
        backwards = ops.ReverseV2(row[..., 1:, 0], np.array([-1], np.int32))
        values = concat([backwards, col[..., 0]], -1)
        positions = ops.Range(np.int32(0), count, np.int32(1))
        indices = expand_dims(positions, 1) - expand_dims(positions, 0) + count - np.int32(1)
        return ops.GatherV2(values, indices, np.int32(-1))

    def _diag_part(self) -> Tensor:
        return ops.BroadcastTo(self._col[..., :1], self.shape_tensor()[:-1])

    def _adjoint(self) -> LinearOperator:
        return LinearOperatorToeplitz(
            conj(self._row), conj(self._col), self.is_non_singular, None, self.is_positive_definite
        )


class _Circulant(LinearOperator):
    """F^-1 D F with the transform F of `depth` dimensions and a diagonal of the `spectrum`."""

    depth: ClassVar[int]
    transforms: ClassVar[tuple[str, str]]

    def __init__(
        self,
        spectrum: TensorLike,
        input_output_dtype: DTypeLike = np.complex64,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        name: str | None = None,
    ):
        self._spectrum = convert_to_tensor(spectrum, name="spectrum")
        rank = self._spectrum.get_shape().ndims
        if rank is not None and rank < self.depth:
            raise ValueError(
                f"Argument `spectrum` must have at least {self.depth} dimensions. "
                f"Received: {self._spectrum}."
            )
        if not is_complex(self._spectrum):
            if is_self_adjoint is False:
                raise ValueError("A real spectrum always corresponds to a self-adjoint operator.")
            is_self_adjoint = True
        if is_square is False:
            raise ValueError("A [[nested] block] circulant operator is always square.")
        parameters: dict[str, object] = {
            "spectrum": spectrum,
            "input_output_dtype": input_output_dtype,
        }
        hints = (is_non_singular, is_self_adjoint, is_positive_definite, True)
        super().__init__(input_output_dtype, [self._spectrum], *hints, name, parameters)

    @property
    def spectrum(self) -> Tensor:
        """The eigenvalues, in the order of the frequencies."""
        return self._spectrum

    @property
    def block_depth(self) -> int:
        """The number of dimensions of the transform."""
        return self.depth

    @property
    def block_shape(self) -> TensorShape:
        """The sizes of those dimensions."""
        return self._spectrum.get_shape()[-self.depth :]

    def block_shape_tensor(self) -> Tensor:
        """The sizes of those dimensions, as a tensor."""
        return ops.Shape(self._spectrum)[-self.depth :]

    def _shape(self) -> TensorShape:
        shape = self._spectrum.get_shape()
        if shape.ndims is None:
            return TensorShape(None)
        sizes = shape.as_list()[-self.depth :]
        known = [size for size in sizes if size is not None]
        size = math.prod(known) if len(known) == len(sizes) else None
        return shape[: -self.depth].concatenate([size, size])

    def _complex(self, x: Tensor) -> Tensor:
        wide = np.dtype(self._spectrum.dtype).itemsize > 8 or self._dtype.itemsize > 8
        is_wide = self._dtype == np.complex128 or (wide and self._dtype != np.complex64)
        return ops.Cast(x, DstT=np.dtype(np.complex128 if is_wide else np.complex64))

    def convolution_kernel(self, name: str = "convolution_kernel") -> Tensor:
        """What the spectrum is the transform of."""
        with self._scope(name):
            kernel = getattr(ops, self.transforms[1])(self._complex(self._spectrum))
            return ops.Cast(kernel, DstT=self._dtype)

    def assert_hermitian_spectrum(self, name: str = "assert_hermitian_spectrum") -> Operation:
        """An operation that fails where the operator is not real."""
        with self._scope(name):
            kernel = getattr(ops, self.transforms[1])(self._complex(self._spectrum))
            part = np.dtype(f"f{np.dtype(kernel.dtype).itemsize // 2}")
            size = ops.Cast(ops.Prod(self.block_shape_tensor(), np.array([0], np.int32)), DstT=part)
            limit = np.asarray(5 * np.finfo(part).eps, part) * size
            small = ops.LessEqual(ops.Abs(ops.Imag(kernel, Tout=part)), limit)
            axes = ops.Range(np.int32(0), ops.Rank(small), np.int32(1))
            return Assert(ops.All(small, axes), ["Spectrum was not Hermitian"])

    def _filtered(self, x: Tensor, spectrum: Tensor) -> Tensor:
        """F^-1 spectrum F x for the columns of `x`."""
        columns = _transposed(self._complex(x))
        sizes = ops.Shape(columns)
        blocks = ops.ConcatV2([sizes[:-1], self.block_shape_tensor()], np.int32(0))
        waves = getattr(ops, self.transforms[0])(ops.Reshape(columns, blocks))
        factors = ops.ExpandDims(spectrum, np.int32(-1 - self.depth))
        result = getattr(ops, self.transforms[1])(waves * factors)
        shape = ops.Shape(result)
        flat = ops.ConcatV2([shape[: -self.depth], np.array([-1], np.int32)], np.int32(0))
        return ops.Cast(_transposed(ops.Reshape(result, flat)), DstT=self._dtype)

    def _matmul(self, x: Tensor, adjoint: bool, adjoint_arg: bool) -> Tensor:
        spectrum = self._complex(self._spectrum)
        x = adjoint_of(x) if adjoint_arg else x
        return self._filtered(x, conj(spectrum) if adjoint else spectrum)

    def _solve(self, rhs: Tensor, adjoint: bool, adjoint_arg: bool) -> Tensor:
        spectrum = self._complex(self._spectrum)
        spectrum = conj(spectrum) if adjoint else spectrum
        rhs = adjoint_of(rhs) if adjoint_arg else rhs
        return self._filtered(rhs, ops.Reciprocal(spectrum))

    def _to_dense(self) -> Tensor:
        return self._filtered(self._eye(), self._complex(self._spectrum))

    def _axes(self) -> list[int]:
        return list(range(-self.depth, 0))

    def _determinant(self) -> Tensor:
        return ops.Cast(reduce_prod(self._spectrum, self._axes()), DstT=self._dtype)

    def _log_abs_determinant(self) -> Tensor:
        total = reduce_sum(ops.Log(magnitude(self._spectrum)), self._axes())
        return ops.Cast(total, DstT=self._dtype)

    def _eigvals(self) -> Tensor:
        shape = ops.Shape(self._spectrum)
        flat = ops.ConcatV2([shape[: -self.depth], np.array([-1], np.int32)], np.int32(0))
        return ops.Reshape(self._spectrum, flat)

    def _like(self, spectrum: Tensor, non_singular: bool | None) -> LinearOperator:
        hints = (non_singular, None, self.is_positive_definite, True)
        return type(self)(spectrum, self._dtype, *hints)

    def _adjoint(self) -> LinearOperator:
        return self._like(conj(self._spectrum), self.is_non_singular)

    def _inverse(self) -> LinearOperator:
        return self._like(ops.Reciprocal(self._spectrum), True)


class LinearOperatorCirculant(_Circulant):
    """The circulant matrix with a spectrum [..., n]."""

    depth = 1
    transforms = ("FFT", "IFFT")


class LinearOperatorCirculant2D(_Circulant):
    """The block circulant matrix with a spectrum [..., n0, n1]."""

    depth = 2
    transforms = ("FFT2D", "IFFT2D")


class LinearOperatorCirculant3D(_Circulant):
    """The nested block circulant matrix with a spectrum [..., n0, n1, n2]."""

    depth = 3
    transforms = ("FFT3D", "IFFT3D")


class LinearOperatorTridiag(LinearOperator):
    """The matrix with three diagonals, in one of the forms of `tridiagonal_solve`."""

    def __init__(
        self,
        diagonals: TensorLike | Sequence[TensorLike],
        diagonals_format: str = "compact",
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorTridiag",
    ):
        forms = ("compact", "matrix", "sequence")
        if diagonals_format not in forms:
            raise ValueError(
                f"Argument `diagonals_format` must be one of compact, matrix, or sequence. "
                f"Received : {diagonals_format}."
            )
        if is_square is False:
            raise ValueError("Only square tridiagonal operators currently supported.")
        self._format = diagonals_format
        if diagonals_format == "sequence":
            parts = [convert_to_tensor(x) for x in cast("Sequence[TensorLike]", diagonals)]
            self._diagonals: Tensor | list[Tensor] = parts
        else:
            parts = [convert_to_tensor(cast("TensorLike", diagonals), name="diagonals")]
            self._diagonals = parts[0]
        parameters: dict[str, object] = {
            "diagonals": diagonals,
            "diagonals_format": diagonals_format,
        }
        hints = (is_non_singular, is_self_adjoint, is_positive_definite, True)
        super().__init__(parts[0].dtype, parts, *hints, name, parameters)

    @property
    def diagonals(self) -> Tensor | list[Tensor]:
        """The diagonals as they were given."""
        return self._diagonals

    @property
    def diagonals_format(self) -> str:
        """The form they have."""
        return self._format

    def _shape(self) -> TensorShape:
        first = self._diagonals if isinstance(self._diagonals, Tensor) else self._diagonals[1]
        shape = first.get_shape()
        if self._format == "sequence":
            return squared(shape)
        if self._format == "matrix" or shape.ndims is None:
            return shape
        return squared(shape[:-2].concatenate(shape[-1:]))

    def _to_dense(self) -> Tensor:
        if self._format == "matrix":
            return cast(Tensor, self._diagonals)
        return self._matmul(self._eye(), adjoint=False, adjoint_arg=False)

    def _diag_part(self) -> Tensor:
        if isinstance(self._diagonals, list):
            return self._diagonals[1]
        if self._format == "matrix":
            return matrix_diag_part(self._diagonals)
        return self._diagonals[..., 1, :]

    def _adjoint(self) -> LinearOperator:
        if isinstance(self._diagonals, Tensor) and self._format == "matrix":
            turned: Tensor | list[Tensor] = adjoint_of(self._diagonals)
        else:
            rows = self._diagonals
            if isinstance(rows, list):
                upper, middle, lower = rows
            else:
                upper, middle, lower = (rows[..., i, :] for i in range(3))
            turned = [_rolled(lower, -1), middle, _rolled(upper, 1)]
            turned = [conj(row) for row in turned]
        form = "matrix" if self._format == "matrix" else "sequence"
        hints = (self.is_non_singular, self._is_self_adjoint, self.is_positive_definite, True)
        return LinearOperatorTridiag(turned, form, *hints)

    def _matmul(self, x: Tensor, adjoint: bool, adjoint_arg: bool) -> Tensor:
        if adjoint and not self.is_self_adjoint:
            return cast(LinearOperatorTridiag, self._adjoint())._matmul(x, False, adjoint_arg)
        x = adjoint_of(x) if adjoint_arg else x
        return tridiagonal_matmul(self._diagonals, x, self._format)

    def _solve(self, rhs: Tensor, adjoint: bool, adjoint_arg: bool) -> Tensor:
        if adjoint and not self.is_self_adjoint:
            return cast(LinearOperatorTridiag, self._adjoint())._solve(rhs, False, adjoint_arg)
        rhs = adjoint_of(rhs) if adjoint_arg else rhs
        diagonals, form = self._diagonals, self._format
        if isinstance(diagonals, list):
            diagonals, form = stack(diagonals, -2), "compact"
        diagonals, rhs = same_batch(diagonals, rhs)
        return tridiagonal_solve(diagonals, rhs, form)


def _rolled(x: Tensor, steps: int) -> Tensor:
    """`x` moved round along its last dimension."""
    return ops.Roll(x, np.int32(steps), np.int32(-1))


def _transposed(x: Tensor) -> Tensor:
    """`x` with its last two dimensions swapped."""
    rank = ops.Rank(x)
    order = ops.Range(np.int32(0), rank - np.int32(2), np.int32(1))
    ending = ops.Reshape(rank, np.array([1], np.int32)) - np.array([1, 2], np.int32)
    return ops.Transpose(x, ops.ConcatV2([order, ending], np.int32(0)))
