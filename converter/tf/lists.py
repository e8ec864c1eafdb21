"""Tensor lists, with which TensorFlow's loops collect results: tensors whose first axis counts.

A list that is reserved before anything says how large its elements are is a `Reserved`: it becomes
a tensor of zeros when the first element is put in, or the loop that does so is known.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from ...schema.errors import ConverterError
from ..ir.dims import Extent, broadcast_args
from ..ir.elements import extents_of
from ..ir.graph import Graph, Sizes, Tensor
from ..ir.infer import dynamic_tensor
from ..lowering.moves import dimension
from .joined_lists import JOINS_ROWS
from .registry import Node, lower
from .scatter import rows_replaced

if TYPE_CHECKING:
    from ..ir.builder import Builder


class UnevenElements(ConverterError):
    """A loop computes how large the elements of a list are."""


class Reserved(Tensor):
    """A list of `count` elements whose shape is not known yet."""

    __slots__ = ("count",)

    def __init__(self, name: str, dtype: Any, count: Tensor) -> None:
        super().__init__(name, dtype, None)
        self.count = count

    def filled(self, b: Builder, element: Sizes) -> Tensor:
        """The list with zeros for elements of the sizes `element`."""
        dims = [_dimension(b, size) for size in element]
        return zeros(b, self.dtype, [self.count, *dims])


def zeros(b: Builder, dtype: np.dtype, dims: list[Tensor]) -> Tensor:
    """Zeros of a shape whose dimensions are scalar tensors."""
    known = [dim.value for dim in dims]
    if all(value is not None for value in known):
        return b.constant(
            np.zeros([int(value.item()) for value in known if value is not None], dtype)
        )
    parts = [b.RESHAPE(dim, np.array([1], np.int32)) for dim in dims]
    shape = parts[0] if len(parts) == 1 else b.CONCATENATION(*parts, axis=0)
    return b.FILL(shape, np.zeros((), dtype))


@lower("TensorListReserve")
def reserve(node: Node, b: Builder):
    """A tensor of zeros."""
    element, count = node.inputs
    dtype = np.dtype(node.attr("element_dtype"))
    known = element.value
    if known is None or (known < 0).any():
        return Reserved(node.name, dtype, count)
    return zeros(b, dtype, [count, *(b.constant(np.int32(n)) for n in np.ravel(known))])


@lower("TensorListFromTensor")
def from_tensor(node, b):
    """The tensor itself."""
    return node.inputs[0]


@lower("TensorListStack")
def stack(node: Node, b: Builder):
    """The tensor that the list is."""
    x, element = node.inputs
    if isinstance(x, Reserved):
        known = element.value
        if known is None or (known < 0).any():
            node.fail("the shape of the elements of a list must be known, nothing was put into it")
        return x.filled(b, tuple(np.ravel(known).tolist()))
    return x


@lower("TensorListGetItem")
def get_item(node, b):
    """The slice at an index."""
    x, index, _ = node.inputs
    _refuse_reserved(node, x)
    return b.GATHER(x, index, axis=0)


@lower("TensorListGather")
def gather(node, b):
    """The slices at some indices."""
    x, indices, _ = node.inputs
    _refuse_reserved(node, x)
    return b.GATHER(x, indices, axis=0)


@lower("TensorListSetItem")
def set_item(node, b):
    """The list with another slice at an index."""
    x, index, item = node.inputs
    grows = node.attr("resize_if_index_out_of_bounds")
    if isinstance(x, Reserved):
        if x in b.graph.inputs:  # the loop is lowered again when this is known
            sizes = list_sizes(b.graph, x, item.sizes)
            if grows and item.sizes is not None:
                sizes = grown_sizes(b.graph, item.sizes)
            return Tensor(node.name, item.dtype, sizes)
        x = x.filled(b, item.sizes)
    rank = node.rank(2)
    if not grows and x.rank and x.dims[0] == 0:  # in a loop that no iteration runs
        return x
    if grows:
        x = extended(b, x, b.ADD(index, np.int32(1)), rank)
    first = b.RESHAPE(index, np.array([1], np.int32))
    start = first
    if rank:
        start = b.CONCATENATION(first, np.zeros(rank, np.int32), axis=0)
    return b.DYNAMIC_UPDATE_SLICE(x, b.EXPAND_DIMS(item, np.int32(0)), start)


def grown_sizes(graph: Graph, element: Sizes) -> Sizes | None:
    """The sizes of a list of a length that changes."""
    return dynamic_tensor(graph, "", np.dtype(np.int32), [None, *element]).sizes


def extended(b: Builder, x: Tensor, count: Tensor, rank: int) -> Tensor:
    """A list with zeros after its end, where it has fewer than `count` elements of a rank."""
    missing = b.MAXIMUM(b.SUB(count, dimension(x, 0, b)), np.int32(0))
    pairs = b.CONCATENATION(
        np.zeros(1, np.int32),
        b.RESHAPE(missing, np.array([1], np.int32)),
        np.zeros(2 * rank, np.int32),
        axis=0,
    )
    return b.PAD(x, b.RESHAPE(pairs, np.array([rank + 1, 2], np.int32)))


@lower("EmptyTensorList")
def empty_list(node: Node, b: Builder):
    """A tensor without elements, once their shape is known."""
    return Reserved(node.name, np.dtype(node.attr("element_dtype")), b.constant(np.int32(0)))


@lower("TensorListPushBack")
def push_back(node, b):
    """The list and one more slice, or slices where it says so."""
    x, item = node.inputs
    joins_rows = node.op.attrs.get(JOINS_ROWS, False)
    if joins_rows:
        node.require(node.rank(1) > 0, "the elements of a list that is joined must have an axis")
    last = item if joins_rows else b.EXPAND_DIMS(item, np.int32(0))
    if not isinstance(x, Reserved):
        return b.CONCATENATION(x, last, axis=0)
    if x in b.graph.inputs:  # the loop is lowered again when this is known
        sizes = None if last.sizes is None else grown_sizes(b.graph, last.sizes[1:])
        return Tensor(node.name, item.dtype, sizes)
    return b.CONCATENATION(x.filled(b, last.sizes[1:]), last, axis=0)


@lower("TensorListPopBack")
def pop_back(node, b):
    """The list without its last slice, and that."""
    x = node.inputs[0]
    _refuse_reserved(node, x)
    rank = node.rank(0)
    last = b.SUB(dimension(x, 0, b), np.int32(1))
    count = b.RESHAPE(last, np.array([1], np.int32))
    sizes = count
    if rank > 1:
        sizes = b.CONCATENATION(count, np.full(rank - 1, -1, np.int32), axis=0)
    remaining = b.SLICE(x, np.zeros(rank, np.int32), sizes)
    return remaining, b.GATHER(x, last, axis=0)


@lower("TensorListElementShape")
def element_shape(node, b):
    """The shape of the slices."""
    x = node.inputs[0]
    _refuse_reserved(node, x)
    shape = b.SHAPE(x, out_type=b.tensor_type(node.attr("shape_type")))
    return b.SLICE(shape, np.array([1], np.int32), np.array([-1], np.int32))


@lower("TensorListScatterV2", "TensorListScatter")
def scatter(node, b):
    """A list with slices at some indices, and zeros where there is none."""
    x, indices = node.inputs[:2]
    count = b.ADD(b.REDUCE_MAX(indices, np.array([0], np.int32)), np.int32(1))
    if node.type == "TensorListScatterV2":
        count = b.MAXIMUM(count, node.inputs[3])
    remaining = b.SLICE(
        b.SHAPE(x, out_type="INT32"), np.array([1], np.int32), np.array([-1], np.int32)
    )
    shape = b.CONCATENATION(b.RESHAPE(count, np.array([1], np.int32)), remaining, axis=0)
    return b.SCATTER_ND(b.EXPAND_DIMS(indices, np.int32(1)), x, shape)


@lower("TensorListScatterIntoExistingList")
def scatter_into(node, b):
    """A list with other slices at some indices, longer where one is past its end."""
    x, rows, indices = node.inputs
    if isinstance(x, Reserved):
        node.require(x not in b.graph.inputs, "nothing was put into the list before its loop")
        x = x.filled(b, rows.sizes[1:])
    count = b.ADD(b.REDUCE_MAX(indices, np.array([0], np.int32)), np.int32(1))
    x = extended(b, x, count, node.rank(1) - 1)
    return rows_replaced(x, indices, rows, dimension(x, 0, b), b)


@lower("TensorListSplit")
def split(node, b):
    """A list of parts of equal length."""
    x, lengths = node.inputs[0], node.constant(2)
    node.require(
        lengths.size and (lengths == lengths[0]).all(),
        f"the elements of a list must have one length, got {lengths.tolist()}",
    )
    sizes = node.shape(0)[1:]
    node.require(
        None not in sizes, f"all axes of its elements but the first must be known, {sizes}"
    )
    return b.RESHAPE(x, np.array([lengths.size, int(lengths[0]), *sizes], np.int32))


@lower("TensorListLength")
def length(node, b):
    """The size of the first axis."""
    (x,) = node.inputs
    if isinstance(x, Reserved):
        return x.count
    return dimension(x, 0, b)


@lower("TensorListConcatV2", "TensorListConcat")
def concat(node, b):
    """The elements one after the other, and the length of each."""
    x = node.inputs[0]
    _refuse_reserved(node, x)
    shape = node.shape(0)
    node.require(len(shape) > 1, "the elements of a list that is joined must have an axis")
    element_shape = shape[2:]
    node.require(
        None not in element_shape,
        f"all axes of its elements but the first must be known, got {element_shape}",
    )
    lengths = b.CAST(dimension(x, 1, b), dtype=np.int64)
    count = b.RESHAPE(dimension(x, 0, b), np.array([1], np.int32))
    return b.RESHAPE(x, np.array([-1, *element_shape], np.int32)), b.FILL(count, lengths)


@lower("TensorListResize")
def resize(node, b):
    """The first slices, or all and zeros after them."""
    x, size = node.inputs
    if isinstance(x, Reserved):
        return Reserved(node.name, x.dtype, size)
    new_length: Any = node.constant(1).item()
    shape: Any = node.shape(0)
    node.require(None not in shape, f"the shape of the list must be known, got {shape}")
    if new_length <= shape[0]:
        begin, sizes = np.zeros(len(shape), np.int32), np.array([new_length, *shape[1:]], np.int32)
        return b.SLICE(x, begin, sizes)
    zero_slices = np.zeros((new_length - shape[0], *shape[1:]), x.dtype)
    return b.CONCATENATION(x, zero_slices, axis=0)


def list_sizes(graph: Graph, x: Reserved, element: Sizes | None) -> Sizes | None:
    """The sizes of a reserved list whose elements have the sizes `element`."""
    if element is None:
        return None
    if x.count.elements is not None or x.count.value is not None:
        return (extents_of(x.count).item(), *element)
    return dynamic_tensor(graph, "", np.dtype(np.int32), [None, *element]).sizes


def _refuse_reserved(node, x):
    node.require(not isinstance(x, Reserved), "nothing was put into the list before it is read")


def _dimension(b: Builder, size: Extent) -> Tensor:
    """A scalar with a dimension; one that is unknown is looked up at a tensor that has it."""
    if isinstance(size, int):
        return b.constant(np.int32(size))
    for x in b.graph.tensors():
        if x.sizes is not None and size in x.sizes:
            return dimension(x, x.sizes.index(size), b)
    parts = broadcast_args(size)
    if len(parts) > 1:
        sizes = [b.RESHAPE(_dimension(b, part), np.array([1], np.int32)) for part in parts]
        return b.RESHAPE(reduce(b.BROADCAST_ARGS, sizes), np.zeros(0, np.int32))
    raise UnevenElements(
        f"'{b.origin_name}': its loop computes how large the elements of a list are, and a tensor "
        "holds elements of one size; join them only (concat), pad them, or give the model's inputs "
        "a fixed shape"
    )
