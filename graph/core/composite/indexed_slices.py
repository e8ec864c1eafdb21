"""Gradients of which only some rows are not zero."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from ..arrays import type_name
from ..build import ops
from ..create import convert_to_tensor, register_conversion
from ..dtype import as_numpy
from ..graph import Graph, Operation, Tensor
from ..tensor_shape import TensorShape, shape_of_values

if TYPE_CHECKING:
    from ..protocols import MaybeDType
    from ..typing import DTypeLike, TensorLike


class IndexedSlices:
    """Rows of a tensor that is zero elsewhere; what flows back through `gather`.

    Args:
        values: [n, ...], the rows.
        indices: [n], where they stand; rows of the same index add up.
        dense_shape: The shape of the whole as a vector, or None.
    """

    def __init__(self, values: Tensor, indices: Tensor, dense_shape: Tensor | None = None):
        self._values = values
        self._indices = indices
        self._dense_shape = dense_shape

    @property
    def values(self) -> Tensor:
        """The rows."""
        return self._values

    @property
    def indices(self) -> Tensor:
        """Where the rows stand."""
        return self._indices

    @property
    def dense_shape(self) -> Tensor | None:
        """The shape of the dense tensor as a vector; None when unknown."""
        return self._dense_shape

    def consumers(self) -> list[Operation]:
        """The operations that read one of its tensors."""
        parts = (self._values, self._indices, self._dense_shape)
        return list(dict.fromkeys(op for x in parts if x is not None for op in x.consumers()))

    @property
    def shape(self) -> TensorShape:
        """The static shape of the dense tensor; unknown without `dense_shape`."""
        sizes = None if self._dense_shape is None else self._dense_shape.value
        if sizes is None:
            return TensorShape(None)
        return shape_of_values(sizes.flat)

    @property
    def name(self) -> str:
        """The name of the tensor with the rows."""
        return self._values.name

    @property
    def device(self) -> str:
        """The device of the rows."""
        return self._values.op.device

    @property
    def op(self) -> Operation:
        """The operation that makes the rows."""
        return self._values.op

    @property
    def dtype(self) -> MaybeDType:
        """The type of the rows."""
        return self._values.dtype

    @property
    def graph(self) -> Graph:
        """The graph it belongs to."""
        return self._values.graph

    def to_components(self) -> list[object]:
        """Its tensors, two or three."""
        shape = self._dense_shape
        return [self._values, self._indices, *([] if shape is None else [shape])]

    def from_components(self, components: Sequence[object]) -> IndexedSlices:
        """Ones of other tensors."""
        return IndexedSlices(*cast("Sequence[Tensor]", components))

    def __neg__(self) -> IndexedSlices:
        return IndexedSlices(ops.Neg(self._values), self._indices, self._dense_shape)

    def __repr__(self) -> str:
        shape = "" if self._dense_shape is None else f", dense_shape={self._dense_shape}"
        return f"IndexedSlices(indices={self._indices}, values={self._values}{shape})"


def dense(value: Tensor | IndexedSlices, name: str | None = None) -> Tensor:
    """The dense tensor.

    Raises ValueError when `dense_shape` is not known.
    """
    if isinstance(value, Tensor):
        return value
    shape = value.dense_shape
    if shape is None:
        raise ValueError(
            f"Tensor conversion requested for IndexedSlices without dense_shape: {value!r}"
        )
    size = ops.StridedSlice(shape, [0], [1], [1], shrink_axis_mask=1)
    return ops.UnsortedSegmentSum(value.values, value.indices, size, name=name)


def _as_tensor(
    value: IndexedSlices, dtype: np.dtype | None, name: str | None, reference: bool
) -> Tensor:
    """The whole tensor, as convert_to_tensor gives it."""
    if dtype is not None and value.dtype != dtype:
        raise ValueError(
            f"Tensor conversion requested dtype {type_name(dtype)} for IndexedSlices with dtype "
            f"{type_name(value.dtype)}"
        )
    return dense(value, name)


register_conversion(IndexedSlices, _as_tensor)


def convert_to_tensor_or_indexed_slices(
    value: IndexedSlices | TensorLike,
    dtype: DTypeLike | None = None,
    name: str | None = None,
) -> IndexedSlices | Tensor:
    """A `value` that is IndexedSlices as it is, a tensor of anything else.

    `dtype` is the type of the result. Raises ValueError for None and for slices of another type.
    """
    if not isinstance(value, IndexedSlices):
        return convert_to_tensor(value, dtype, name)
    if dtype is not None and value.dtype != as_numpy(dtype):
        raise ValueError(
            f"Tensor conversion requested dtype {type_name(as_numpy(dtype))} for IndexedSlices with"
            f" dtype {type_name(value.dtype)}"
        )
    return value


def joined(slices: list[IndexedSlices]) -> IndexedSlices:
    """The sum of several: their rows concatenated."""
    values = ops.ConcatV2([item.values for item in slices], 0)
    indices = [item.indices for item in slices]
    if len({index.dtype for index in indices}) > 1:
        indices = [ops.Cast(index, DstT=np.dtype(np.int64)) for index in indices]
    shapes = [item.dense_shape for item in slices if item.dense_shape is not None]
    return IndexedSlices(values, ops.ConcatV2(indices, 0), shapes[0] if shapes else None)
