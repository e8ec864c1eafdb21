"""Lists of tensors, which loops over time write and read: values of type variant.

A variant is a 0-d array of objects that holds one TensorList.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..core.registry import op
from ..core.shapes import Shape, as_shape, is_static, merge, scalar, unknown

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
            raise ValueError(f"element {index} of a list with {len(self.elements)} elements")
        found = self.elements[index]
        return np.zeros(self.element_shape(shape), self.dtype) if found is None else found

    def element_shape(self, shape: Shape) -> tuple[int, ...]:
        """The shape all elements have, as far as they and `shape` tell."""
        shape = merge(self.shape, shape)
        for element in self.elements:
            shape = shape if element is None else merge(shape, element.shape)
        if not is_static(shape):
            raise ValueError(f"elements without value need a known shape, got {shape}")
        return shape

    def boxed(self) -> np.ndarray:
        """The list as a kernel's result."""
        box = np.empty((), object)
        box[()] = self
        return box


def _opened(box: np.ndarray) -> TensorList:
    found = box[()]
    if not isinstance(found, TensorList):
        raise ValueError(f"the variant must be a TensorList, got {type(found).__name__}")
    return found


def _as_shape(dims: np.ndarray) -> Shape:
    """The shape an input spells: a scalar -1 for an unknown rank."""
    if dims.ndim == 0:
        return None
    return tuple(None if n < 0 else int(n) for n in dims)


def _length(n) -> int:
    if not 0 <= int(n) <= MAX_LENGTH:
        raise ValueError(f"a list must have [0, {MAX_LENGTH}] elements, got {int(n)}")
    return int(n)


@op("TensorListReserve", shape=scalar, pure=False)
def reserve(shape, n, *, element_dtype):
    """A list of `n` elements that are not set."""
    return TensorList((None,) * _length(n), _as_shape(shape), element_dtype).boxed()


@op("EmptyTensorList", shape=scalar, pure=False)
def empty(shape, most, *, element_dtype):
    """A list without elements."""
    return TensorList((), _as_shape(shape), element_dtype).boxed()


@op("TensorListFromTensor", shape=scalar, pure=False)
def from_tensor(x, shape):
    """The slices of `x` along the first axis."""
    return TensorList(tuple(x), _as_shape(shape), x.dtype).boxed()


def _stacked_shape(op):
    element, n = as_shape(op, 1), op.get_attr("num_elements")
    return None if element is None else (None if n < 0 else n, *element)


def _concatenated_shape(op):
    element = as_shape(op, 1)
    return [None if not element else (None, *element[1:]), (None,)]


@op("TensorListStack", shape=_stacked_shape, pure=False)
def stack(box, shape, *, num_elements):
    """All elements along a new first axis."""
    found = _opened(box)
    if num_elements not in (-1, len(found.elements)):
        raise ValueError(f"list must have {num_elements} elements, got {len(found.elements)}")
    shape = _as_shape(shape)
    if not found.elements:
        return np.zeros((0, *found.element_shape(shape)), found.dtype)
    return np.stack([found.element(i, shape) for i in range(len(found.elements))])


@op("TensorListGetItem", shape=lambda op: as_shape(op, 2), pure=False)
def get_item(box, index, shape):
    """The element at `index`."""
    return _opened(box).element(int(index), _as_shape(shape))


@op("TensorListSetItem", shape=scalar, pure=False)
def set_item(box, index, item, *, resize_if_index_out_of_bounds):
    """The list with `item` at `index`."""
    found, index = _opened(box), int(index)
    elements = list(found.elements)
    if resize_if_index_out_of_bounds and index >= len(elements):
        elements += [None] * (_length(index + 1) - len(elements))
    if not 0 <= index < len(elements):
        raise ValueError(f"element {index} of a list with {len(elements)} elements")
    elements[index] = item
    return replace(found, elements=tuple(elements)).boxed()


@op("TensorListLength", shape=scalar, pure=False)
def length(box):
    """The number of elements."""
    return len(_opened(box).elements)


@op("TensorListElementShape", shape=unknown, pure=False)
def element_shape(box):
    """The shape of the elements, -1 for unknown sizes."""
    shape = _opened(box).shape
    return -1 if shape is None else [-1 if n is None else n for n in shape]


@op("TensorListResize", shape=scalar, pure=False)
def resize(box, size):
    """The list cut or continued to `size` elements."""
    found, n = _opened(box), _length(size)
    elements = found.elements[:n] + (None,) * (n - len(found.elements))
    return replace(found, elements=elements).boxed()


@op("TensorListPushBack", shape=scalar, pure=False)
def push_back(box, item):
    """The list with `item` at its end."""
    found = _opened(box)
    return replace(found, elements=(*found.elements, item)).boxed()


@op("TensorListPopBack", shape=unknown, pure=False)
def pop_back(box, shape):
    """The list without its last element, and that element."""
    found = _opened(box)
    last = found.element(len(found.elements) - 1, _as_shape(shape))
    return replace(found, elements=found.elements[:-1]).boxed(), last


@op("TensorListGather", shape=unknown, pure=False)
def gather(box, indices, shape):
    """The elements at `indices` along a new first axis."""
    found, shape = _opened(box), _as_shape(shape)
    if not indices.size:
        return np.zeros((0, *found.element_shape(shape)), found.dtype)
    return np.stack([found.element(int(i), shape) for i in indices])


def _scattered(elements: list, x, indices) -> tuple:
    for index, item in zip(indices.tolist(), x, strict=True):
        if index < 0:
            raise ValueError(f"indices must be >= 0, got {index}")
        if index >= len(elements):
            elements += [None] * (_length(index + 1) - len(elements))
        elements[index] = item
    return tuple(elements)


@op("TensorListScatterV2", shape=scalar, pure=False)
def scatter_v2(x, indices, shape, n):
    """A list with the slices of `x` at `indices`."""
    elements = [None] * (0 if n < 0 else _length(n))
    return TensorList(_scattered(elements, x, indices), _as_shape(shape), x.dtype).boxed()


@op("TensorListScatter", shape=scalar, pure=False)
def scatter(x, indices, shape):
    """A list with the slices of `x` at `indices`."""
    return TensorList(_scattered([], x, indices), _as_shape(shape), x.dtype).boxed()


@op("TensorListScatterIntoExistingList", shape=scalar, pure=False)
def scatter_into(box, x, indices):
    """The list with the slices of `x` at `indices`."""
    found = _opened(box)
    return replace(found, elements=_scattered(list(found.elements), x, indices)).boxed()


@op("TensorListConcatV2", shape=_concatenated_shape, pure=False)
def concat_v2(box, shape, leading):
    """The elements one after another along their first axis, and their sizes along it."""
    found, shape = _opened(box), _as_shape(shape)
    rest = (merge(found.shape, shape) or (None,))[1:]
    parts = []
    for i, part in enumerate(found.elements):
        if part is None:
            if i >= len(leading) or not is_static(rest):
                raise ValueError(f"element {i} has no value, and its shape is not known")
            part = np.zeros((_length(leading[i]), *rest), found.dtype)
        parts.append(part)
    if not parts:
        return np.zeros([0] + [n or 0 for n in rest], found.dtype), np.zeros(0, np.int64)
    return np.concatenate(parts), [len(part) for part in parts]


@op("TensorListConcat", shape=lambda op: [None, (None,)], pure=False)
def concat(box, *, element_shape):
    """The elements one after another along their first axis, and their sizes along it."""
    shape = (
        np.array(-1)
        if element_shape is None
        else np.array([-1 if n is None else n for n in element_shape])
    )
    return concat_v2(box, shape, ())


@op("TensorListSplit", shape=scalar, pure=False)
def split(x, shape, lengths):
    """A list of parts of `x` with these lengths along the first axis."""
    if not x.ndim or int(lengths.sum()) != len(x):
        raise ValueError(f"lengths must add up to the rows of {x.shape}, got {lengths.tolist()}")
    parts = np.split(x, np.cumsum(lengths)[:-1]) if lengths.size else []
    return TensorList(tuple(parts), _as_shape(shape), x.dtype).boxed()
