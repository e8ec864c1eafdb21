"""What is known of tensors of several kinds: TensorSpec, SparseTensorSpec, IndexedSlicesSpec."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .dtype import DType, as_dtype
from .elements import Tensor
from .indexed_slices import IndexedSlices
from .sparse_tensor import SparseTensor
from .tensor_shape import TensorShape

if TYPE_CHECKING:
    from .typing import DTypeLike, ShapeLike


class _Spec:
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
        if not isinstance(other, _Spec) or type(self) is not type(other):
            return False
        return self._fields() == other._fields()

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self._fields())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self._fields()))})"


class TensorSpec(_Spec):
    """Shape, element type and name of a tensor."""

    def __init__(
        self, shape: ShapeLike | None, dtype: DTypeLike = np.float32, name: str | None = None
    ):
        super().__init__(shape, dtype)
        self._name = name

    @classmethod
    def from_spec(cls, spec: TensorSpec, name: str | None = None) -> TensorSpec:
        """The same under another name."""
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


class SparseTensorSpec(_Spec):
    """Shape and element type of a SparseTensor."""

    def __init__(self, shape: ShapeLike | None = None, dtype: DTypeLike = np.float32):
        super().__init__(shape, dtype)

    @classmethod
    def from_value(cls, value: SparseTensor) -> SparseTensorSpec:
        """What is known of a SparseTensor."""
        return cls(value.shape, value.dtype)

    @property
    def value_type(self) -> type[SparseTensor]:
        """The class of such tensors."""
        return SparseTensor

    def _is_value(self, value: object) -> bool:
        return isinstance(value, SparseTensor)


class IndexedSlicesSpec(_Spec):
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
