"""Lists of tensors, which loops over time write and read: values of type variant.

A variant is a 0-d array of objects that holds one TensorList.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, SupportsInt, cast

import numpy as np

from ....schema import dtypes
from ...core.registry import op
from ...core.shapes import Shape, agree, as_shape, is_static, merge, scalar, shown, unknown
from ...core.signatures.input_checks import runtime_words

if TYPE_CHECKING:
    from ...core.protocols import OperationView

MAX_LENGTH = 1 << 24


@dataclass(frozen=True)
class TensorList:
    """Tensors of one dtype; None stands for an element that was not set yet.

    Attributes:
        elements: The tensors.
        shape: Of each.
        dtype: Of each.
        takes_any: Whether others may have other shapes: `shape` is what those so far have.
    """

    elements: tuple[np.ndarray | None, ...]
    shape: Shape
    dtype: np.dtype
    takes_any: bool = False

    def element(self, index: int, shape: Shape) -> np.ndarray:
        """The element at `index`; zeros when it was not set."""
        if not 0 <= index < len(self.elements):
            raise ValueError(
                f"Trying to access element {index} in a list with {len(self.elements)} elements."
            )
        tensor = self.elements[index]
        if tensor is not None:
            _merged(shape, tensor.shape)
            return tensor
        known = self.element_shape(shape)
        if not is_static(known):
            raise ValueError(
                "Trying to read an uninitialized tensor but element_shape is not fully defined: "
                f"{shown(known)} and no list element is set."
            )
        return np.zeros(known, self.dtype)

    def element_shape(self, shape: Shape) -> Shape:
        """The shape all elements have, as far as they and `shape` tell."""
        shape = _merged(shape, self.shape)
        for element in self.elements:
            shape = shape if element is None else _merged(shape, element.shape)
        return shape

    def stacked(self, shape: Shape) -> np.ndarray:
        """All elements along a new first axis."""
        known = self.element_shape(shape)
        if not is_static(known):
            words = "stack list which only contains uninitialized tensors and has a"
            if not self.elements:
                words = "stack elements of an empty list with"
            raise ValueError(f"Tried to {words} non-fully-defined element_shape: {shown(known)}")
        parts = [np.zeros(known, self.dtype) if x is None else x for x in self.elements]
        return np.stack(parts) if parts else np.zeros((0, *known), self.dtype)

    def open_to(self, item: np.ndarray, words: str) -> TensorList:
        """The list, to be given an item; ValueError where it takes none of its type and shape."""
        self.check_type(item.dtype)
        if agree(self.shape, item.shape):
            return self
        if not self.takes_any:
            raise ValueError(
                f"{words} element shape: {shown(item.shape)} list shape: {shown(self.shape)}"
            )
        return replace(self, shape=None)

    def check_type(self, dtype: np.dtype) -> None:
        """Raises ValueError where elements of another type than this are to be read or written."""
        if dtype != self.dtype and not (_is_boxed(dtype) and _is_boxed(self.dtype)):
            raise ValueError(
                f"Invalid data types; op elements {runtime_words(dtype)} but list elements "
                f"{runtime_words(self.dtype)}"
            )

    def __add__(self, other: TensorList) -> TensorList:
        """The list of the sums; an element without value counts as zeros."""
        if len(self.elements) != len(other.elements):
            raise ValueError(
                f"lists must have the same length, got {len(self.elements)} and "
                f"{len(other.elements)}"
            )
        pairs = zip(self.elements, other.elements, strict=True)
        sums = tuple(y if x is None else x if y is None else x + y for x, y in pairs)
        shape, takes_any = _merged(self.shape, other.shape), self.takes_any or other.takes_any
        return TensorList(sums, shape, self.dtype, takes_any)

    def zeros(self) -> TensorList:
        """A list as long, whose elements count as zeros."""
        zeros = tuple(None if x is None else zeros_of(x) for x in self.elements)
        return replace(self, elements=zeros)

    def boxed(self) -> np.ndarray:
        """The list as a kernel's result."""
        box = np.empty((), object)
        box[()] = self
        return box


def _is_boxed(dtype: np.dtype) -> bool:
    """Whether elements are objects: strings, lists or handles."""
    return dtype.hasobject or dtype in (dtypes.RESOURCE, dtypes.VARIANT)


def _merged(a: Shape, b: Shape) -> Shape:
    """What two shapes say together; ValueError in TensorFlow's words when they contradict."""
    if not agree(a, b):
        raise ValueError(
            f"PartialTensorShape: Incompatible shapes during merge: {shown(a)} vs. {shown(b)}"
        )
    return merge(a, b)


def _from_rows(shape: Shape, x: np.ndarray) -> Shape:
    """The shape of a list's elements that rows of `x` are to be."""
    if not agree(shape, x.shape[1:]):
        raise ValueError(
            f"Specified a list with shape {shown(shape)} from a tensor with shape "
            f"{shown(x.shape[1:])}"
        )
    return shape


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
    copied = x.copy()
    rows = tuple(copied[i, ...] for i in range(len(copied)))  # of strings, too, arrays
    return TensorList(rows, _from_rows(_as_shape(shape), x), x.dtype).boxed()


def _stacked_shape(op: OperationView) -> Shape:
    element, n = as_shape(op, 1), cast("int", op.get_attr("num_elements"))
    return None if element is None else (None if n < 0 else n, *element)


def _concatenated_shape(op: OperationView) -> list[Shape]:
    element = as_shape(op, 1)
    return [None if not element else (None, *element[1:]), (None,)]


@op("TensorListStack", shape=_stacked_shape, pure=False)
def stack(
    box: np.ndarray, shape: np.ndarray, *, num_elements: int, element_dtype: np.dtype
) -> np.ndarray:
    """All elements along a new first axis."""
    tensors = _opened(box)
    tensors.check_type(element_dtype)
    if num_elements not in (-1, len(tensors.elements)):
        raise ValueError(
            f"Operation expected a list with {num_elements} elements but got a list with "
            f"{len(tensors.elements)} elements."
        )
    return tensors.stacked(_as_shape(shape))


@op("TensorListGetItem", shape=lambda op: as_shape(op, 2), pure=False)
def get_item(
    box: np.ndarray, index: np.ndarray, shape: np.ndarray, *, element_dtype: np.dtype
) -> np.ndarray:
    """The element at `index`."""
    tensors = _opened(box)
    tensors.check_type(element_dtype)
    return tensors.element(int(index), _as_shape(shape))


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
    tensors = tensors.open_to(
        item, "Tried to set a tensor with incompatible shape at a list index. Item"
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
    tensors = _opened(box).open_to(
        item, "Tried to append a tensor with incompatible shape to a list. Op"
    )
    return replace(tensors, elements=(*tensors.elements, item.copy())).boxed()


@op("TensorListPopBack", shape=lambda op: [(), as_shape(op, 1)], pure=False)
def pop_back(
    box: np.ndarray, shape: np.ndarray, *, element_dtype: np.dtype
) -> tuple[np.ndarray, np.ndarray]:
    """The list without its last element, and that element."""
    tensors = _opened(box)
    tensors.check_type(element_dtype)
    if not tensors.elements:
        raise ValueError("Trying to pop from an empty list.")
    last = tensors.element(len(tensors.elements) - 1, _as_shape(shape))
    return replace(tensors, elements=tensors.elements[:-1]).boxed(), last


@op("TensorListGather", shape=unknown, pure=False)
def gather(
    box: np.ndarray, indices: np.ndarray, shape: np.ndarray, *, element_dtype: np.dtype
) -> np.ndarray:
    """The elements at `indices` along a new first axis."""
    tensors, n = _opened(box), len(_opened(box).elements)
    tensors.check_type(element_dtype)
    positions: list[int] = indices.tolist()
    for i in positions:
        if not 0 <= i < n:
            raise ValueError(f"Index {i} out o range; list only has {n} elements.")  # as TensorFlow
    known = tensors.element_shape(_as_shape(shape))
    chosen = tuple(tensors.elements[i] for i in positions)
    return replace(tensors, elements=chosen).stacked(known)


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
    known = _from_rows(_as_shape(shape), x)
    return TensorList(_scattered(elements, x, indices), known, x.dtype).boxed()


@op("TensorListScatter", shape=scalar, pure=False)
def scatter(x: np.ndarray, indices: np.ndarray, shape: np.ndarray) -> np.ndarray:
    """A list with the slices of `x` at `indices`."""
    known = _from_rows(_as_shape(shape), x)
    return TensorList(_scattered([], x, indices), known, x.dtype).boxed()


@op("TensorListScatterIntoExistingList", shape=scalar, pure=False)
def scatter_into(box: np.ndarray, x: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """The list with the slices of `x` at `indices`."""
    tensors = _opened(box)
    tensors.check_type(x.dtype)
    _from_rows(tensors.shape, x)
    return replace(tensors, elements=_scattered(list(tensors.elements), x, indices)).boxed()


@op("TensorListConcatV2", shape=_concatenated_shape, pure=False)
def concat_v2(
    box: np.ndarray, shape: np.ndarray, leading: np.ndarray | Sequence[int]
) -> tuple[np.ndarray, np.ndarray | list[int]]:
    """The elements one after another along their first axis, and their sizes along it."""
    tensors = _opened(box)
    known = _merged(_as_shape(shape), tensors.shape)
    first, inner = (known[0], known[1:]) if known else (None, None)
    for i, part in enumerate(tensors.elements):
        if part is not None:
            if not tensors.takes_any and first not in (None, len(part)):
                raise ValueError(
                    "First entry of element_shape input does not match the first dim of list "
                    f"element at index: {i} Expected: {first} Actual: {len(part)}"
                )
            inner = _merged(inner, part.shape[1:])
    if first is None:
        first = next((len(part) for part in tensors.elements if part is not None), None)
    parts: list[np.ndarray] = []
    for i, part in enumerate(tensors.elements):
        if part is None:
            size = leading[i] if i < len(leading) else first
            if size is None or not is_static(inner):
                raise ValueError(
                    f"List contains uninitialized tensor at index {i} but leading_dims has only "
                    f"{len(leading)} elements."
                )
            part = np.zeros((_length(size), *inner), tensors.dtype)
        parts.append(part)
    if not parts:
        return np.zeros([0] + [n or 0 for n in inner or ()], tensors.dtype), np.zeros(0, np.int64)
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
    if not x.ndim:
        raise ValueError(f"Tensor must be at least a vector, but saw shape: {shown(x.shape)}")
    start, n = 0, len(x)
    for size in lengths.tolist():
        if size < 0:
            raise ValueError(f"Invalid value in lengths: {size}")
        if start + size > n:
            raise ValueError(
                f"Attempting to slice [{start}, {start + size}] from tensor with length {n}"
            )
        start += size
    if start != n:
        raise ValueError(f"Unused values in tensor. Length of tensor: {n} Values used: {start}")
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
