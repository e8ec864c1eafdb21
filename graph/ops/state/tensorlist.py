"""Lists of tensors, which loops over time write and read: values of type variant.

A variant is a 0-d array of objects that holds one TensorList.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, SupportsInt, cast

import numpy as np

from ...core.registry import op
from ...core.shapes import Shape, as_shape, is_static, merge, scalar, unknown

if TYPE_CHECKING:
    from ...core.protocols import OperationView

MAX_LENGTH = 1 << 24


@dataclass(frozen=True)
class TensorList:
    """Tensors of one dtype; None stands for an element that was not set yet."""

    elements: tuple[np.ndarray | None, ...]
    shape: Shape
    dtype: np.dtype

    def element(self, index: int, shape: Shape) -> np.ndarray:
        """The element at `index`; zeros when it was not set."""
        if not 0 <= index < len(self.elements):
            raise ValueError(
                f"Trying to access element {index} in a list with {len(self.elements)} elements."
            )
        tensor = self.elements[index]
        return np.zeros(self.element_shape(shape), self.dtype) if tensor is None else tensor

    def element_shape(self, shape: Shape) -> tuple[int, ...]:
        """The shape all elements have, as far as they and `shape` tell."""
        shape = merge(self.shape, shape)
        for element in self.elements:
            shape = shape if element is None else merge(shape, element.shape)
        if not is_static(shape):
            raise ValueError(f"elements without value need a known shape, got {shape}")
        return shape

    def __add__(self, other: TensorList) -> TensorList:
        """The list of the sums; an element without value counts as zeros."""
        if len(self.elements) != len(other.elements):
            raise ValueError(
                f"lists must have the same length, got {len(self.elements)} and "
                f"{len(other.elements)}"
            )
        pairs = zip(self.elements, other.elements, strict=True)
        sums = tuple(y if x is None else x if y is None else x + y for x, y in pairs)
        return TensorList(sums, merge(self.shape, other.shape), self.dtype)

    def zeros(self) -> TensorList:
        """A list as long, whose elements count as zeros."""
        zeros = tuple(None if x is None else zeros_of(x) for x in self.elements)
        return replace(self, elements=zeros)

    def boxed(self) -> np.ndarray:
        """The list as a kernel's result."""
        box = np.empty((), object)
        box[()] = self
        return box


def zeros_of(x: np.ndarray) -> np.ndarray:
    """Zeros like an element; of lists, lists of zeros."""
    if x.dtype != object:
        return np.zeros_like(x)
    item = x[()]
    return item.zeros().boxed() if isinstance(item, TensorList) else np.full(x.shape, b"", object)


def _opened(box: np.ndarray) -> TensorList:
    return _listed(box[()])


def _listed(content: object) -> TensorList:
    if not isinstance(content, TensorList):
        raise ValueError(f"the variant must be a TensorList, got {type(content).__name__}")
    return content


def _as_shape(dims: np.ndarray) -> Shape:
    """The shape an input spells: a scalar -1 for an unknown rank."""
    if dims.ndim == 0:
        return None
    return tuple(None if n < 0 else int(n) for n in dims)


def _length(n: SupportsInt) -> int:
    if not 0 <= int(n) <= MAX_LENGTH:
        raise ValueError(f"a list must have [0, {MAX_LENGTH}] elements, got {int(n)}")
    return int(n)


@op("TensorListReserve", shape=scalar, pure=False)
def reserve(shape: np.ndarray, n: np.ndarray, *, element_dtype: np.dtype) -> np.ndarray:
    """A list of `n` elements that are not set."""
    return TensorList((None,) * _length(n), _as_shape(shape), element_dtype).boxed()


@op("EmptyTensorList", shape=scalar, pure=False)
def empty(
    shape: np.ndarray, max_num_elements: np.ndarray, *, element_dtype: np.dtype
) -> np.ndarray:
    """A list without elements."""
    return TensorList((), _as_shape(shape), element_dtype).boxed()


@op("TensorListFromTensor", shape=scalar, pure=False)
def from_tensor(x: np.ndarray, shape: np.ndarray) -> np.ndarray:
    """The slices of `x` along the first axis."""
    return TensorList(tuple(x.copy()), _as_shape(shape), x.dtype).boxed()


def _stacked_shape(op: OperationView) -> Shape:
    element, n = as_shape(op, 1), cast("int", op.get_attr("num_elements"))
    return None if element is None else (None if n < 0 else n, *element)


def _concatenated_shape(op: OperationView) -> list[Shape]:
    element = as_shape(op, 1)
    return [None if not element else (None, *element[1:]), (None,)]


@op("TensorListStack", shape=_stacked_shape, pure=False)
def stack(box: np.ndarray, shape: np.ndarray, *, num_elements: int) -> np.ndarray:
    """All elements along a new first axis."""
    tensors = _opened(box)
    if num_elements not in (-1, len(tensors.elements)):
        raise ValueError(f"list must have {num_elements} elements, got {len(tensors.elements)}")
    item_shape = _as_shape(shape)
    if not tensors.elements:
        return np.zeros((0, *tensors.element_shape(item_shape)), tensors.dtype)
    return np.stack([tensors.element(i, item_shape) for i in range(len(tensors.elements))])


@op("TensorListGetItem", shape=lambda op: as_shape(op, 2), pure=False)
def get_item(box: np.ndarray, index: np.ndarray, shape: np.ndarray) -> np.ndarray:
    """The element at `index`."""
    return _opened(box).element(int(index), _as_shape(shape))


@op("TensorListSetItem", shape=scalar, pure=False)
def set_item(
    box: np.ndarray, index: np.ndarray, item: np.ndarray, *, resize_if_index_out_of_bounds: bool
) -> np.ndarray:
    """The list with `item` at `index`."""
    tensors, position = _opened(box), int(index)
    elements = list(tensors.elements)
    if resize_if_index_out_of_bounds and position >= len(elements):
        elements += [None] * (_length(position + 1) - len(elements))
    if not 0 <= position < len(elements):
        raise ValueError(
            f"Trying to modify element {position} in a list with {len(elements)} elements."
        )
    elements[position] = item.copy()  # what it is in may be used for something else then
    return replace(tensors, elements=tuple(elements)).boxed()


@op("TensorListLength", shape=scalar, pure=False)
def length(box: np.ndarray) -> int:
    """The number of elements."""
    return len(_opened(box).elements)


@op("TensorListElementShape", shape=unknown, pure=False)
def element_shape(box: np.ndarray) -> int | list[int]:
    """The shape of the elements, -1 for unknown sizes."""
    shape = _opened(box).shape
    return -1 if shape is None else [-1 if n is None else n for n in shape]


@op("TensorListResize", shape=scalar, pure=False)
def resize(box: np.ndarray, size: np.ndarray) -> np.ndarray:
    """The list cut or continued to `size` elements."""
    tensors, n = _opened(box), _length(size)
    elements = tensors.elements[:n] + (None,) * (n - len(tensors.elements))
    return replace(tensors, elements=elements).boxed()


@op("TensorListPushBack", shape=scalar, pure=False)
def push_back(box: np.ndarray, item: np.ndarray) -> np.ndarray:
    """The list with `item` at its end."""
    tensors = _opened(box)
    return replace(tensors, elements=(*tensors.elements, item.copy())).boxed()


@op("TensorListPopBack", shape=lambda op: [(), as_shape(op, 1)], pure=False)
def pop_back(box: np.ndarray, shape: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The list without its last element, and that element."""
    tensors = _opened(box)
    if not tensors.elements:
        raise ValueError("Trying to pop from an empty list.")
    last = tensors.element(len(tensors.elements) - 1, _as_shape(shape))
    return replace(tensors, elements=tensors.elements[:-1]).boxed(), last


@op("TensorListGather", shape=unknown, pure=False)
def gather(box: np.ndarray, indices: np.ndarray, shape: np.ndarray) -> np.ndarray:
    """The elements at `indices` along a new first axis."""
    tensors, item_shape = _opened(box), _as_shape(shape)
    if not indices.size:
        return np.zeros((0, *tensors.element_shape(item_shape)), tensors.dtype)
    return np.stack([tensors.element(int(i), item_shape) for i in indices])


def _scattered(
    elements: list[np.ndarray | None], x: np.ndarray, indices: np.ndarray
) -> tuple[np.ndarray | None, ...]:
    if len(x) != len(indices):
        raise ValueError(
            f"Invalid number of rows in input tensor. Expected: {len(indices)} Actual: {len(x)}"
        )
    for index, item in zip(indices.tolist(), x, strict=True):
        if index < 0:
            raise ValueError(f"indices must be >= 0, got {index}")
        if index >= len(elements):
            elements += [None] * (_length(index + 1) - len(elements))
        elements[index] = item.copy()
    return tuple(elements)


@op("TensorListScatterV2", shape=scalar, pure=False)
def scatter_v2(x: np.ndarray, indices: np.ndarray, shape: np.ndarray, n: np.ndarray) -> np.ndarray:
    """A list with the slices of `x` at `indices`."""
    elements: list[np.ndarray | None] = [None] * (0 if n < 0 else _length(n))
    return TensorList(_scattered(elements, x, indices), _as_shape(shape), x.dtype).boxed()


@op("TensorListScatter", shape=scalar, pure=False)
def scatter(x: np.ndarray, indices: np.ndarray, shape: np.ndarray) -> np.ndarray:
    """A list with the slices of `x` at `indices`."""
    return TensorList(_scattered([], x, indices), _as_shape(shape), x.dtype).boxed()


@op("TensorListScatterIntoExistingList", shape=scalar, pure=False)
def scatter_into(box: np.ndarray, x: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """The list with the slices of `x` at `indices`."""
    tensors = _opened(box)
    return replace(tensors, elements=_scattered(list(tensors.elements), x, indices)).boxed()


@op("TensorListConcatV2", shape=_concatenated_shape, pure=False)
def concat_v2(
    box: np.ndarray, shape: np.ndarray, leading: np.ndarray | Sequence[int]
) -> tuple[np.ndarray, np.ndarray | list[int]]:
    """The elements one after another along their first axis, and their sizes along it."""
    tensors = _opened(box)
    inner = (merge(tensors.shape, _as_shape(shape)) or (None,))[1:]
    parts: list[np.ndarray] = []
    for i, part in enumerate(tensors.elements):
        if part is None:
            if i >= len(leading) or not is_static(inner):
                raise ValueError(f"element {i} has no value, and its shape is not known")
            part = np.zeros((_length(leading[i]), *inner), tensors.dtype)
        parts.append(part)
    if not parts:
        return np.zeros([0] + [n or 0 for n in inner], tensors.dtype), np.zeros(0, np.int64)
    return np.concatenate(parts), [len(part) for part in parts]


@op("TensorListConcat", shape=lambda op: [None, (None,)], pure=False)
def concat(box: np.ndarray, *, element_shape: Shape) -> tuple[np.ndarray, np.ndarray | list[int]]:
    """The elements one after another along their first axis, and their sizes along it."""
    shape = (
        np.array(-1)
        if element_shape is None
        else np.array([-1 if n is None else n for n in element_shape])
    )
    return concat_v2(box, shape, ())


@op("TensorListSplit", shape=scalar, pure=False)
def split(x: np.ndarray, shape: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """A list of parts of `x` with these lengths along the first axis."""
    if not x.ndim or int(lengths.sum()) != len(x):
        raise ValueError(f"lengths must add up to the rows of {x.shape}, got {lengths.tolist()}")
    parts = np.split(x.copy(), np.cumsum(lengths)[:-1]) if lengths.size else []
    return TensorList(tuple(parts), _as_shape(shape), x.dtype).boxed()


def _each_of_two(op: OperationView) -> Shape:
    return op.inputs[0].sizes


@op("TensorListConcatLists", shape=_each_of_two, pure=False)
def concat_lists(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The elements of one list and then of another, of as many pairs as there are."""
    boxes = np.empty(first.shape, object)
    for at in np.ndindex(first.shape):
        one, other = _listed(first[at]), _listed(second[at])
        boxes[at] = replace(one, elements=one.elements + other.elements)
    return boxes


@op("TensorListPushBackBatch", shape=_each_of_two, pure=False)
def push_back_batch(lists: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Each list with a row as its last element."""
    if lists.shape != rows.shape[: lists.ndim]:
        raise ValueError(f"there must be a row for each list, got {rows.shape} for {lists.shape}")
    boxes = np.empty(lists.shape, object)
    for at in np.ndindex(lists.shape):
        tensors = _listed(lists[at])
        boxes[at] = replace(tensors, elements=(*tensors.elements, rows[at].copy()))
    return boxes
