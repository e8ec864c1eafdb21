"""Stacks and TensorArrays of graphs that TensorFlow 1 wrote: the loops' memory of one run."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from ...schema import dtypes
from ...schema.errors import InvalidArgumentError, NotFoundError
from ..core.shapes import Shape, is_static, merge, shown
from .queue_kernels import handle_of
from .resources import resource_kernel

if TYPE_CHECKING:
    from ..core.graph import Operation
    from ..core.protocols import KernelResult
    from .state import State

FLOW = np.zeros((), np.float32)
"""What says that something was done to an array; its number is not looked at."""


class Stack:
    """Values that a loop leaves for the loop that computes its gradient."""

    def __init__(self, name: str, max_size: int):
        self.name, self.max_size = name, max_size
        self.items: list[np.ndarray] = []

    def push(self, item: np.ndarray) -> None:
        """Adds a copy of `item`; InvalidArgumentError where the stack is full."""
        if 0 <= self.max_size <= len(self.items):
            words = f"Stack[{self.name}] overflowed its max_size ({self.max_size})"
            raise InvalidArgumentError(None, None, words)
        self.items.append(item.copy())

    def pop(self) -> np.ndarray:
        """The last item; InvalidArgumentError where there is none."""
        if not self.items:
            words = f"Stack[{self.name}] is empty when calling Pop()."
            raise InvalidArgumentError(None, None, words)
        return self.items.pop()


class ArrayResource:
    """Tensors by index, which one run writes and reads.

    Args:
        name: For messages.
        dtype: Of the elements.
        shape: What is known of theirs.
        size: How many there are.
        is_dynamic: Whether it grows by writing.
        clears: Whether an element may be read only once.
        adds: Whether what is written to an element again is added, as gradients are.
    """

    def __init__(
        self,
        name: str,
        dtype: np.dtype,
        shape: Shape,
        size: int,
        is_dynamic: bool,
        clears: bool,
        adds: bool = False,
    ):
        self.name, self.dtype, self.shape = name, dtype, shape
        self.is_dynamic, self.clears, self.adds = is_dynamic, clears, adds
        self.items: list[np.ndarray | None] = [None] * size
        self.shapes: list[Shape] = [shape] * size
        self.cleared: set[int] = set()
        self.written: set[int] = set()
        self.gradients: dict[bytes, ArrayResource] = {}
        self.is_open = True

    def _fail(self, words: str) -> InvalidArgumentError:
        return InvalidArgumentError(None, None, f"TensorArray {self.name}: {words}")

    def write(self, index: int, value: np.ndarray) -> None:
        """Sets an element, or adds to it."""
        if self.is_dynamic and index >= len(self.items):
            n = index + 1 - len(self.items)
            self.items += [None] * n
            self.shapes += [self.shape] * n
        if not 0 <= index < len(self.items):
            raise self._fail(
                f"Tried to write to index {index} but array is not resizeable and size is: "
                f"{len(self.items)}"
            )
        try:
            merge(self.shape, value.shape)
        except ValueError:
            raise self._fail(
                f"Could not write to TensorArray index {index} because the value shape is "
                f"{shown(value.shape)} which is incompatible with the TensorArray's inferred "
                f"element shape: {shown(self.shape)} (consider setting infer_shape=False)."
            ) from None
        if index in self.cleared:
            raise self._fail(
                f"Could not write to TensorArray index {index} because it has already been read."
            )
        item = self.items[index]
        if index in self.written and not self.adds:
            raise self._fail(
                f"Could not write to TensorArray index {index} because it has already been "
                "written to."
            )
        if item is not None and item.shape != value.shape:
            raise self._fail(
                f"Could not aggregate to TensorArray index {index} because the existing shape is "
                f"{shown(item.shape)} but the new input shape is {shown(value.shape)}."
            )
        self.items[index] = value.copy() if item is None else item + value
        self.shapes[index] = value.shape
        self.written.add(index)

    def read(self, index: int) -> np.ndarray:
        """An element; zeros where it was not written and its shape is known."""
        if not 0 <= index < len(self.items):
            size = len(self.items)
            raise self._fail(f"Tried to read from index {index} but array size is: {size}")
        if index in self.cleared:
            raise self._fail(
                f"Could not read index {index} twice because it was cleared after a previous read "
                "(perhaps try setting clear_after_read = false?)."
            )
        item, shape = self.items[index], self.shapes[index]
        if item is None:
            if not is_static(shape):
                raise self._fail(
                    f"Could not read from TensorArray index {index}.  Furthermore, the element "
                    f"shape is not fully defined: {shown(shape)}.  It is possible you are working "
                    "with a resizeable TensorArray and stop_gradients is not allowing the "
                    "gradients to be written.  If you set the full element_shape property on the "
                    "forward TensorArray, the proper all-zeros tensor will be returned instead of "
                    "incurring this error."
                )
            item = np.full(shape, b"", object) if self.dtype.hasobject else np.zeros(
                shape, self.dtype
            )
        if self.clears:
            self.items[index] = None
            self.cleared.add(index)
        return item

    def gradient(self, source: bytes) -> ArrayResource:
        """The array of the gradients of its elements that `source` asks for."""
        if source not in self.gradients:
            name, size = f"{self.name}@{source.decode()}", len(self.items)
            other = ArrayResource(name, self.dtype, self.shape, size, False, False, adds=True)
            other.shapes = list(self.shapes)
            self.gradients[source] = other
        return self.gradients[source]


def _stack(handle: np.ndarray) -> Stack:
    stack = cast("object", handle.item())
    if not isinstance(stack, Stack):
        raise NotFoundError(None, None, "the first input must be the handle of a stack")
    return stack


def _array(handle: np.ndarray) -> ArrayResource:
    array = cast("object", handle.item())
    if not isinstance(array, ArrayResource):
        raise NotFoundError(None, None, "the first input must be the handle of a TensorArray")
    if not array.is_open:
        words = f"TensorArray {array.name} has already been closed."
        raise InvalidArgumentError(None, None, words)
    return array


@resource_kernel("Stack", "StackV2")
def stack(op: Operation, state: State, *sizes: np.ndarray) -> KernelResult:
    """A new stack."""
    return handle_of(Stack(op.name, int(sizes[0]) if sizes else -1))


@resource_kernel("StackPush", "StackPushV2")
def stack_push(
    op: Operation, state: State, handle: np.ndarray, item: np.ndarray
) -> KernelResult:
    """Adds a value, and gives it."""
    _stack(handle).push(item)
    return item


@resource_kernel("StackPop", "StackPopV2")
def stack_pop(op: Operation, state: State, handle: np.ndarray) -> KernelResult:
    """Takes the last value."""
    return _stack(handle).pop()


@resource_kernel("StackClose", "StackCloseV2")
def stack_close(op: Operation, state: State, handle: np.ndarray) -> KernelResult:
    """Drops all values."""
    _stack(handle).items.clear()
    return ()


@resource_kernel("TensorArrayV3")
def tensor_array(op: Operation, state: State, size: np.ndarray) -> KernelResult:
    """A new array."""
    name = op.get_attr("tensor_array_name").decode() or op.name
    dtype = np.dtype(cast("np.dtype", op.get_attr("dtype")))
    array = ArrayResource(
        name,
        dtypes.array_dtype(dtype) if dtype.names else dtype,
        cast("Shape", op.get_attr("element_shape")),
        int(size),
        bool(op.get_attr("dynamic_size")),
        bool(op.get_attr("clear_after_read")),
    )
    return [handle_of(array), FLOW]


@resource_kernel("TensorArrayGradV3", "TensorArrayGradWithShape")
def tensor_array_grad(
    op: Operation, state: State, handle: np.ndarray, flow: np.ndarray, *more: np.ndarray
) -> KernelResult:
    """The array of gradients, a new one for a new source."""
    array = _array(handle)
    gradient = array.gradient(op.get_attr("source"))
    for prefix in more:
        gradient.shapes = [
            None if shape is None else (*prefix.tolist(), *shape) for shape in array.shapes
        ]
        gradient.shape = None if array.shape is None else (*prefix.tolist(), *array.shape)
    return [handle_of(gradient), flow]


@resource_kernel("TensorArrayWriteV3")
def tensor_array_write(
    op: Operation, state: State, handle: np.ndarray, *operands: np.ndarray
) -> KernelResult:
    """Writes one element."""
    index, value, flow = operands
    _array(handle).write(int(index), value)
    return flow


@resource_kernel("TensorArrayReadV3")
def tensor_array_read(
    op: Operation, state: State, handle: np.ndarray, index: np.ndarray, flow: np.ndarray
) -> KernelResult:
    """Reads one element."""
    return _array(handle).read(int(index))


@resource_kernel("TensorArrayGatherV3")
def tensor_array_gather(
    op: Operation, state: State, handle: np.ndarray, indices: np.ndarray, flow: np.ndarray
) -> KernelResult:
    """Reads elements and stacks them."""
    array = _array(handle)
    items = [array.read(int(i)) for i in indices]
    if items:
        return np.stack(items)
    shape = merge(array.shape, cast("Shape", op.get_attr("element_shape")))
    if not is_static(shape):
        words = (
            f"TensorArray {array.name} has size zero, but element shape {shown(shape)} is not "
            "fully defined. Currently only static shapes are supported when packing zero-size "
            "TensorArrays."
        )
        raise InvalidArgumentError(None, None, words)
    return np.zeros((0, *shape), array.dtype)


@resource_kernel("TensorArrayScatterV3")
def tensor_array_scatter(
    op: Operation, state: State, handle: np.ndarray, *operands: np.ndarray
) -> KernelResult:
    """Writes the rows of a value to elements."""
    indices, value, flow = operands
    array = _array(handle)
    for i, row in zip(indices.tolist(), value, strict=True):
        array.write(int(i), np.asarray(row))
    return flow


@resource_kernel("TensorArrayConcatV3")
def tensor_array_concat(
    op: Operation, state: State, handle: np.ndarray, flow: np.ndarray
) -> KernelResult:
    """Reads all elements; gives them one behind the other, and their lengths."""
    array = _array(handle)
    items = [array.read(i) for i in range(len(array.items))]
    if not items:
        rest = cast("Shape", op.get_attr("element_shape_except0"))
        return [np.zeros((0, *(n or 0 for n in rest or ())), array.dtype), np.zeros(0, np.int64)]
    return [np.concatenate(items), np.array([len(item) for item in items], np.int64)]


@resource_kernel("TensorArraySplitV3")
def tensor_array_split(
    op: Operation, state: State, handle: np.ndarray, *operands: np.ndarray
) -> KernelResult:
    """Writes parts of a value, of these lengths, to all elements."""
    value, lengths, flow = operands
    array, start = _array(handle), 0
    if int(lengths.sum()) != len(value):
        words = (
            "Expected sum of lengths to be equal to values.shape[0], but sum of lengths is "
            f"{int(lengths.sum())} and value's shape is: {shown(value.shape)} "
        )
        raise InvalidArgumentError(None, None, words)
    for i, n in enumerate(lengths.tolist()):
        array.write(i, value[start : start + n])
        start += n
    return flow


@resource_kernel("TensorArraySizeV3")
def tensor_array_size(
    op: Operation, state: State, handle: np.ndarray, flow: np.ndarray
) -> KernelResult:
    """How many elements there are."""
    return np.array(len(_array(handle).items), np.int32)


@resource_kernel("TensorArrayCloseV3")
def tensor_array_close(op: Operation, state: State, handle: np.ndarray) -> KernelResult:
    """Ends its use."""
    array = _array(handle)
    array.items.clear()
    array.is_open = False
    return ()
