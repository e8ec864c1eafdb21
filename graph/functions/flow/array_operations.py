"""The operations of a TensorArray: of a list, or with control flow v1 of an array's handle."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...core.build import ops
from ...core.scopes import control_dependencies
from .control_flow import no_op

if TYPE_CHECKING:
    from ...core.dtype import DType
    from ...core.graph import Operation, Tensor
    from ...core.shapes import Shape
    from ...core.typing import TensorLike


def _spelled(shape: Shape) -> np.ndarray:
    """The elements' shape as an operand: -1 for what is not known."""
    if shape is None:
        return np.array(-1, np.int32)
    return np.array([-1 if n is None else n for n in shape], np.int32)


class ListOperations:
    """Operations of lists: `flow` is the list itself, and a write gives another one.

    Args:
        dtype: Of the elements.
        grows: Whether a write behind the last element makes more of them.

    Attributes:
        handle: Of the array; lists have none.
    """

    handle: Tensor | None = None

    def __init__(self, dtype: DType, *, grows: bool):
        self.dtype, self.grows = dtype, grows

    def create(self, size: TensorLike, element: Shape) -> Tensor:
        """The flow of a new one with elements of a shape."""
        return ops.TensorListReserve(_spelled(element), size, element_dtype=self.dtype)

    def read(self, flow: Tensor, index: TensorLike, element: Shape, name: str | None) -> Tensor:
        """An element."""
        return ops.TensorListGetItem(
            flow, index, _spelled(element), element_dtype=self.dtype, name=name
        )

    def write(self, flow: Tensor, index: TensorLike, value: Tensor) -> Tensor:
        """The flow once an element was written."""
        return ops.TensorListSetItem(flow, index, value, resize_if_index_out_of_bounds=self.grows)

    def stack(self, flow: Tensor, n: int | None, element: Shape, name: str | None) -> Tensor:
        """All `n` elements along a new first axis."""
        return ops.TensorListStack(
            flow,
            _spelled(element),
            element_dtype=self.dtype,
            num_elements=-1 if n is None else n,
            name=name,
        )

    def gather(self, flow: Tensor, indices: TensorLike, element: Shape, name: str | None) -> Tensor:
        """Some elements along a new first axis."""
        return ops.TensorListGather(
            flow, indices, _spelled(element), element_dtype=self.dtype, name=name
        )

    def concat(self, flow: Tensor, element: Shape, name: str | None) -> Tensor:
        """All elements one behind another."""
        shape = None if element is None else (None, *element[1:])
        joined, _ = ops.TensorListConcatV2(
            flow, _spelled(shape), np.zeros(0, np.int64), element_dtype=self.dtype, name=name
        )
        return joined

    def unstack(self, flow: Tensor, value: Tensor, element: Shape) -> Tensor:
        """The flow once the slices of `value` are the elements."""
        return ops.TensorListFromTensor(value, _spelled(element))

    def scatter(self, flow: Tensor, indices: TensorLike, value: Tensor) -> Tensor:
        """The flow once the slices of `value` were written at some indices."""
        return ops.TensorListScatterIntoExistingList(flow, value, indices)

    def split(self, flow: Tensor, value: Tensor, lengths: Tensor, element: Shape) -> Tensor:
        """The flow once parts of `value` are the elements."""
        return ops.TensorListSplit(value, _spelled(element), lengths)

    def size(self, flow: Tensor, name: str | None) -> Tensor:
        """How many elements there are."""
        return ops.TensorListLength(flow, name=name)

    def close(self, name: str | None) -> Operation:
        """Nothing to do: a list goes when nobody reads it."""
        return no_op(name)


class ArrayOperations(ListOperations):
    """Operations of arrays behind a handle: `flow` has no value, it orders them.

    Args:
        dtype, grows: As of lists.
        handle: Of the array that is there; None before `create`.
        clears: Whether an element is gone once it was read.
        is_identical: Whether all elements have one shape.
        array_name: What errors call it; its operation's name if empty.
        scope: The name of the operation that makes it.
    """

    def __init__(
        self,
        dtype: DType,
        *,
        grows: bool,
        handle: Tensor | None = None,
        clears: bool = True,
        is_identical: bool = True,
        array_name: str = "",
        scope: str | None = None,
    ):
        super().__init__(dtype, grows=grows)
        self.handle, self._scope = handle, scope
        self._clears, self._is_identical, self._array_name = clears, is_identical, array_name
        self._size: TensorLike | None = None

    def create(self, size: TensorLike, element: Shape) -> Tensor:
        """The flow of a new array."""
        self.handle, flow = ops.TensorArrayV3(
            size,
            dtype=self.dtype,
            element_shape=element,
            dynamic_size=self.grows,
            clear_after_read=self._clears,
            identical_element_shapes=self._is_identical,
            tensor_array_name=self._array_name,
            name=self._scope,
        )
        self._size = None if self.grows else size
        return flow

    def grad(self, flow: Tensor, source: str, name: str | None) -> tuple[Tensor, Tensor]:
        """Handle and flow of the array of gradients that a computation `source` adds up."""
        handle, _ = ops.TensorArrayGradV3(self.handle, flow, source=source, name=name)
        with control_dependencies([handle]):
            return handle, ops.Identity(flow, name="gradient_flow")

    def read(self, flow: Tensor, index: TensorLike, element: Shape, name: str | None) -> Tensor:
        """An element, which is gone then if the array clears."""
        return ops.TensorArrayReadV3(self.handle, index, flow, dtype=self.dtype, name=name)

    def write(self, flow: Tensor, index: TensorLike, value: Tensor) -> Tensor:
        """The flow once an element was written, which none was before."""
        return ops.TensorArrayWriteV3(self.handle, index, value, flow)

    def stack(self, flow: Tensor, n: int | None, element: Shape, name: str | None) -> Tensor:
        """All elements along a new first axis."""
        indices = ops.Range(np.int32(0), self.size(flow, None), np.int32(1))
        return self.gather(flow, indices, element, name)

    def gather(self, flow: Tensor, indices: TensorLike, element: Shape, name: str | None) -> Tensor:
        """Some elements along a new first axis, each read as by `read`."""
        return ops.TensorArrayGatherV3(
            self.handle, indices, flow, dtype=self.dtype, element_shape=element, name=name
        )

    def concat(self, flow: Tensor, element: Shape, name: str | None) -> Tensor:
        """All elements one behind another."""
        joined, _ = ops.TensorArrayConcatV3(
            self.handle,
            flow,
            dtype=self.dtype,
            element_shape_except0=None if element is None else element[1:],
            name=name,
        )
        return joined

    def unstack(self, flow: Tensor, value: Tensor, element: Shape) -> Tensor:
        """The flow once the slices of `value` were written from the first element on."""
        n = ops.StridedSlice(ops.Shape(value), [0], [1], [1], shrink_axis_mask=1)
        return self.scatter(flow, ops.Range(np.int32(0), n, np.int32(1)), value)

    def scatter(self, flow: Tensor, indices: TensorLike, value: Tensor) -> Tensor:
        """The flow once the slices of `value` were written at some indices."""
        return ops.TensorArrayScatterV3(self.handle, indices, value, flow)

    def split(self, flow: Tensor, value: Tensor, lengths: Tensor, element: Shape) -> Tensor:
        """The flow once parts of `value` were written."""
        return ops.TensorArraySplitV3(self.handle, value, lengths, flow)

    def size(self, flow: Tensor, name: str | None) -> Tensor:
        """How many elements there are."""
        if self._size is not None:
            return ops.Identity(self._size)
        return ops.TensorArraySizeV3(self.handle, flow, name=name)

    def close(self, name: str | None) -> Operation:
        """Drops the elements."""
        return ops.TensorArrayCloseV3(self.handle, name=name)
