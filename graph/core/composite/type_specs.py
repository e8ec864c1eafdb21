"""What is known of tensors: TensorSpec, SparseTensorSpec, RaggedTensorSpec, IndexedSlicesSpec."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from ..create import convert_to_tensor
from ..dtype import DType, as_dtype
from ..elements import Tensor
from ..tensor_shape import TensorShape
from .indexed_slices import IndexedSlices
from .ragged_tensor import RaggedTensor
from .ragged_value import RaggedTensorValue
from .sparse_tensor import SparseTensor

if TYPE_CHECKING:
    import numpy.typing as npt

    from ..typing import DTypeLike, ShapeLike, TensorLike


class Spec:
    """A shape and an element type."""

    def __init__(self, shape: ShapeLike | None, dtype: DTypeLike):
        self._shape = TensorShape(shape)
        self._dtype = as_dtype(dtype)

    @property
    def shape(self) -> TensorShape:
        """What is known of the shape."""
        return self._shape

    @property
    def dtype(self) -> DType:
        """The element type."""
        return self._dtype

    def _fields(self) -> tuple[object, ...]:
        return self._shape, self._dtype

    def is_compatible_with(self, spec_or_value: object) -> bool:
        """Whether a value, or what another spec says, can be such a tensor."""
        other: object = spec_or_value
        if isinstance(other, (int, float, complex, list, tuple, np.ndarray, np.generic)):
            other = np.asarray(other)
        elif not isinstance(other, type(self)) and not self._is_value(other):
            return False
        shape, dtype = getattr(other, "shape", None), getattr(other, "dtype", None)
        return self._shape.is_compatible_with(shape) and self._dtype == dtype

    def _is_value(self, value: object) -> bool:
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Spec) or type(self) is not type(other):
            return False
        return self._fields() == other._fields()

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self._fields())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self._fields()))})"


class TensorSpec(Spec):
    """Shape, element type and name of a tensor."""

    def __init__(
        self, shape: ShapeLike | None, dtype: DTypeLike = np.float32, name: str | None = None
    ):
        super().__init__(shape, dtype)
        self._name = name

    @classmethod
    def from_spec(cls, spec: TensorSpec, name: str | None = None) -> TensorSpec:
        """Shape and type of `spec` under another name."""
        return cls(spec.shape, spec.dtype, name or spec.name)

    @classmethod
    def from_tensor(cls, tensor: Tensor, name: str | None = None) -> TensorSpec:
        """What is known of a tensor."""
        return cls(tensor.sizes, tensor.dtype, name or tensor.op.name)

    @property
    def name(self) -> str | None:
        """The name, or None."""
        return self._name

    def _fields(self) -> tuple[object, ...]:
        return *super()._fields(), self._name

    @property
    def value_type(self) -> type[Tensor]:
        """The class of such tensors."""
        return Tensor

    def _is_value(self, value: object) -> bool:
        return isinstance(value, Tensor)

    def __repr__(self) -> str:
        return f"TensorSpec(shape={self._shape}, dtype={self._dtype!r}, name={self._name!r})"


class SparseTensorSpec(Spec):
    """Shape and element type of a SparseTensor.

    Args:
        shape: Of the dense tensor; None for one of any rank.
        dtype: Of the values; float32 by default.
    """

    def __init__(self, shape: ShapeLike | None = None, dtype: DTypeLike = np.float32):
        super().__init__(shape, dtype)

    @classmethod
    def from_value(cls, value: SparseTensor) -> SparseTensorSpec:
        """What is known of `value`, a SparseTensor or SparseTensorValue."""
        return cls(value.shape, value.dtype)

    @property
    def value_type(self) -> type[SparseTensor]:
        """The class of such tensors."""
        return SparseTensor

    def _is_value(self, value: object) -> bool:
        return isinstance(value, SparseTensor)


class IndexedSlicesSpec(Spec):
    """Shape and types of IndexedSlices."""

    def __init__(
        self,
        shape: ShapeLike | None = None,
        dtype: DTypeLike = np.float32,
        indices_dtype: DTypeLike = np.int64,
        dense_shape_dtype: DTypeLike | None = None,
        indices_shape: ShapeLike | None = None,
    ):
        super().__init__(shape, dtype)
        self._indices_dtype = as_dtype(indices_dtype)
        self._dense_shape_dtype = None if dense_shape_dtype is None else as_dtype(dense_shape_dtype)
        self._indices_shape = TensorShape(indices_shape).with_rank(1)

    def _fields(self) -> tuple[object, ...]:
        indices = self._indices_dtype, self._dense_shape_dtype, self._indices_shape
        return *super()._fields(), *indices

    @property
    def value_type(self) -> type[IndexedSlices]:
        """The class of such tensors."""
        return IndexedSlices

    def _is_value(self, value: object) -> bool:
        return isinstance(value, IndexedSlices)


class RaggedTensorSpec(Spec):
    """Shape and types of a RaggedTensor.

    Raises:
        TypeError: `ragged_rank` is no int.
        ValueError: It is missing with a shape of unknown rank, or is not below the rank.
    """

    def __init__(
        self,
        shape: ShapeLike | None = None,
        dtype: DTypeLike = np.float32,
        ragged_rank: int | None = None,
        row_splits_dtype: DTypeLike = np.int64,
        flat_values_spec: object = None,
    ):
        super().__init__(shape, dtype)
        if flat_values_spec is not None:
            raise ValueError("flat_values_spec is only for values that are no tensors")
        rank = self._shape.rank
        if ragged_rank is None:
            if rank is None:
                raise ValueError("Must specify ragged_rank or a shape with a known rank.")
            ragged_rank = rank - 1
        if not isinstance(ragged_rank, int):
            raise TypeError(
                f"Argument `ragged_rank` must be an int. Received {ragged_rank} of type "
                f"{type(ragged_rank).__name__}."
            )
        if rank is not None and ragged_rank >= rank:
            raise ValueError(
                f"Argument `ragged_rank` ({ragged_rank}) must be less than rank ({rank})."
            )
        self._ragged_rank = ragged_rank
        self._row_splits_dtype = as_dtype(row_splits_dtype)

    @classmethod
    def from_value(cls, value: RaggedTensor | RaggedTensorValue) -> RaggedTensorSpec:
        """What is known of a RaggedTensor, or its value."""
        return cls(
            TensorShape(value.shape), value.dtype, value.ragged_rank,
            value.nested_row_splits[0].dtype,
        )  # fmt: skip

    @property
    def ragged_rank(self) -> int:
        """How many dimensions are ragged."""
        return self._ragged_rank

    @property
    def row_splits_dtype(self) -> DType:
        """The type that rows are counted in."""
        return self._row_splits_dtype

    @property
    def flat_values_spec(self) -> None:
        """None: the values are a tensor."""

    @property
    def value_type(self) -> type[RaggedTensor] | type[Tensor]:
        """The class of such tensors."""
        return RaggedTensor if self._ragged_rank > 0 else Tensor

    def _fields(self) -> tuple[object, ...]:
        return *super()._fields(), self._ragged_rank, self._row_splits_dtype

    def _is_value(self, value: object) -> bool:
        if self._ragged_rank == 0:
            return isinstance(value, Tensor)
        return isinstance(value, (RaggedTensor, RaggedTensorValue))

    def is_compatible_with(self, spec_or_value: object) -> bool:
        """Whether a value, or what another spec says, can be such a tensor."""
        if not super().is_compatible_with(spec_or_value):
            return False
        return getattr(spec_or_value, "ragged_rank", 0) == self._ragged_rank


def type_spec_from_value(value: object) -> Spec:
    """What is known of a tensor, a sparse or ragged one, IndexedSlices, or an array.

    Raises TypeError for anything else.
    """
    if isinstance(value, Tensor):
        return TensorSpec(value.sizes, np.float32 if value.dtype is None else value.dtype)
    if isinstance(value, SparseTensor):
        return SparseTensorSpec.from_value(value)
    if isinstance(value, (RaggedTensor, RaggedTensorValue)):
        return RaggedTensorSpec.from_value(value)
    if isinstance(value, IndexedSlices):
        indices = np.dtype(value.indices.dtype)
        shape = None if value.dense_shape is None else np.dtype(value.dense_shape.dtype)
        dtype = np.float32 if value.dtype is None else value.dtype
        return IndexedSlicesSpec(value.shape, dtype, indices, shape, value.indices.get_shape())
    if isinstance(value, (np.ndarray, np.generic)):
        array = np.asarray(cast("npt.ArrayLike", value))
        return TensorSpec(array.shape, array.dtype)
    if isinstance(value, (int, float, complex, str, bytes, list, tuple)):
        tensor = convert_to_tensor(cast("TensorLike", value))
        return TensorSpec(tensor.sizes, tensor.dtype)
    raise TypeError(f"Could not build a TypeSpec for {value!r} of unsupported type {type(value)}.")
