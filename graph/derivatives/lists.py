"""Derivatives of the operations on lists of tensors: gradients of lists are lists."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..core.build import ops
from ..core.scopes import control_dependencies
from .registry import constant, gradient

if TYPE_CHECKING:
    from ..core.graph import Operation, Tensor

_ANY = np.int32(-1)

constant("EmptyTensorList", "TensorListReserve", "TensorListLength", "TensorListElementShape")


def _shape(x: Tensor) -> Tensor:
    return ops.Shape(x)


def _length(x: Tensor) -> Tensor:
    """The length of a list, taken where the list is: a loop keeps this instead of the list."""
    with x.graph.as_default(), control_dependencies(None):
        return ops.TensorListLength(x)


@gradient("TensorListPushBack")
def push_back(op: Operation, dlist: Tensor) -> list[Tensor]:
    """The last gradient to the item, the others to the list."""
    item = op.inputs[1]
    return ops.TensorListPopBack(dlist, _shape(item), element_dtype=item.dtype)


@gradient("TensorListPopBack")
def pop_back(op: Operation, dlist: Tensor | None, dy: Tensor | None) -> list[Tensor | None]:
    """The item's gradient behind those of the list."""
    dtype = op.get_attr("element_dtype")
    if dlist is None:
        dlist = ops.ZerosLike(op.outputs[0])
    if dy is None:
        dy = ops.ZerosLike(op.outputs[1])
    assert dtype is not None
    return [ops.TensorListPushBack(dlist, dy), None]


@gradient("TensorListStack")
def stack(op: Operation, dy: Tensor) -> list[Tensor | None]:
    """A list of the slices."""
    return [ops.TensorListFromTensor(dy, op.inputs[1]), None]


@gradient("TensorListFromTensor")
def from_tensor(op: Operation, dlist: Tensor) -> list[Tensor | None]:
    """The gradients on top of one another."""
    x = op.inputs[0]
    n = -1 if not x.sizes or x.sizes[0] is None else x.sizes[0]
    shape = ops.Slice(_shape(x), [1], [-1])
    stacked = ops.TensorListStack(dlist, shape, element_dtype=x.dtype, num_elements=n)
    stacked.set_shape(x.sizes)
    return [stacked, None]


@gradient("TensorListGetItem")
def get_item(op: Operation, dy: Tensor) -> list[Tensor | None]:
    """A list with the gradient at the index, the others without value."""
    source, index, _ = op.inputs
    length = _length(source)
    dtype = dy.dtype
    empty = ops.TensorListReserve(_ANY, length, element_dtype=dtype)
    return [ops.TensorListSetItem(empty, index, dy), None, None]


@gradient("TensorListSetItem")
def set_item(op: Operation, dlist: Tensor) -> list[Tensor | None]:
    """The gradient at the index to the item, the others to the list."""
    _, index, item = op.inputs
    dy = ops.TensorListGetItem(dlist, index, _shape(item), element_dtype=item.dtype)
    dy.set_shape(item.sizes)
    before = ops.TensorListSetItem(dlist, index, ops.ZerosLike(item))
    if op.attrs.get("resize_if_index_out_of_bounds"):
        before = ops.TensorListResize(before, _length(op.inputs[0]))
    return [before, None, dy]


@gradient("TensorListResize")
def resize(op: Operation, dlist: Tensor) -> list[Tensor | None]:
    """Back to the length it had."""
    return [ops.TensorListResize(dlist, _length(op.inputs[0])), None]


@gradient("TensorListGather")
def gather(op: Operation, dy: Tensor) -> list[Tensor | None]:
    """A list with the gradients at the indices, added up where one comes again."""
    source, indices, shape = op.inputs
    rows = ops.UnsortedSegmentSum(dy, indices, _length(source))
    return [ops.TensorListFromTensor(rows, shape), None, None]


@gradient("TensorListScatterV2", "TensorListScatter")
def scatter(op: Operation, dlist: Tensor) -> list[Tensor | None]:
    """The gradients at the indices on top of one another."""
    x, indices, *others = op.inputs
    shape = ops.Slice(_shape(x), [1], [-1])
    dy = ops.TensorListGather(dlist, indices, shape, element_dtype=x.dtype)
    dy.set_shape(x.sizes)
    return [dy, None, *(None for _ in others)]


@gradient("TensorListScatterIntoExistingList")
def scatter_into(op: Operation, dlist: Tensor) -> list[Tensor | None]:
    """The gradients at the indices to the tensor, zeros in their places to the list."""
    _, x, indices = op.inputs
    shape = ops.Slice(_shape(x), [1], [-1])
    dy = ops.TensorListGather(dlist, indices, shape, element_dtype=x.dtype)
    of_list = ops.TensorListScatterIntoExistingList(dlist, ops.ZerosLike(x), indices)
    return [of_list, dy, None]


@gradient("TensorListConcatV2", "TensorListConcat")
def concat(op: Operation, dy: Tensor, dlengths: Tensor | None) -> list[Tensor | None]:
    """A list of the parts."""
    parts = ops.TensorListSplit(dy, _ANY, op.outputs[1])
    return [parts, *(None for _ in op.inputs[1:])]


@gradient("TensorListSplit")
def split(op: Operation, dlist: Tensor) -> list[Tensor | None]:
    """The gradients one behind another."""
    x, _, lengths = op.inputs
    shape = ops.ConcatV2([[np.int32(-1)], ops.Slice(_shape(x), [1], [-1])], 0)
    dy, _ = ops.TensorListConcatV2(dlist, shape, lengths, element_dtype=x.dtype)
    dy.set_shape(x.sizes)
    return [dy, None, None]
