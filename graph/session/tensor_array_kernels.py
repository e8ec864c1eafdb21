"""Stacks and TensorArrays of graphs that TensorFlow 1 wrote: the loops' memory of one run."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from ...schema import dtypes
from ...schema.errors import NotFoundError
from .queue_kernels import handle_of
from .resources import resource_kernel
from .tensor_arrays import Stack, TensorArray

if TYPE_CHECKING:
    from ..core.graph import Operation
    from ..core.protocols import KernelResult
    from ..core.shapes import Shape
    from .state import State

FLOW = np.zeros((), np.float32)
"""What says that something was done to an array; its number is not looked at."""


def _stack(handle: np.ndarray) -> Stack:
    stack = cast("object", handle.item())
    if not isinstance(stack, Stack):
        raise NotFoundError(None, None, "the first input must be the handle of a stack")
    return stack


def _array(handle: np.ndarray) -> TensorArray:
    array = cast("object", handle.item())
    if not isinstance(array, TensorArray):
        raise NotFoundError(None, None, "the first input must be the handle of a TensorArray")
    return array


@resource_kernel("Stack", "StackV2")
def stack(op: Operation, state: State, *sizes: np.ndarray) -> KernelResult:
    """A new stack."""
    return handle_of(Stack(op.name, int(sizes[0]) if sizes else -1))


@resource_kernel("StackPush", "StackPushV2")
def stack_push(op: Operation, state: State, handle: np.ndarray, item: np.ndarray) -> KernelResult:
    """Adds a value, and gives it."""
    _stack(handle).push(item.copy())
    return item


@resource_kernel("StackPop", "StackPopV2")
def stack_pop(op: Operation, state: State, handle: np.ndarray) -> KernelResult:
    """Takes the last value."""
    return _stack(handle).pop()


@resource_kernel("StackClose", "StackCloseV2")
def stack_close(op: Operation, state: State, handle: np.ndarray) -> KernelResult:
    """Drops all values."""
    _stack(handle).close()
    return ()


@resource_kernel("TensorArrayV3")
def tensor_array(op: Operation, state: State, size: np.ndarray) -> KernelResult:
    """A new array."""
    name = cast("bytes", op.get_attr("tensor_array_name")).decode() or op.name
    dtype = cast("np.dtype", op.get_attr("dtype"))
    array = TensorArray(
        name,
        dtypes.array_dtype(dtype) if dtype.names else dtype,
        int(size),
        cast("Shape", op.get_attr("element_shape")),
        is_dynamic=bool(op.get_attr("dynamic_size")),
        clears=bool(op.get_attr("clear_after_read")),
        is_identical=bool(op.get_attr("identical_element_shapes")),
    )
    return [handle_of(array), FLOW]


@resource_kernel("TensorArrayGradV3", "TensorArrayGradWithShape")
def tensor_array_grad(
    op: Operation, state: State, handle: np.ndarray, flow: np.ndarray, *more: np.ndarray
) -> KernelResult:
    """The array of gradients, a new one for a new source."""
    before = tuple(int(size) for sizes in more for size in sizes)
    source = cast("bytes", op.get_attr("source")).decode()
    return [handle_of(_array(handle).gradient(source, before)), flow]


@resource_kernel("TensorArrayWriteV3")
def tensor_array_write(
    op: Operation, state: State, handle: np.ndarray, *operands: np.ndarray
) -> KernelResult:
    """Writes one element."""
    index, value, flow = operands
    _array(handle).write(int(index), value.copy())
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
    return _array(handle).gather(indices, cast("Shape", op.get_attr("element_shape")))


@resource_kernel("TensorArrayScatterV3")
def tensor_array_scatter(
    op: Operation, state: State, handle: np.ndarray, *operands: np.ndarray
) -> KernelResult:
    """Writes the rows of a value to elements."""
    indices, value, flow = operands
    _array(handle).scatter(indices, value)
    return flow


@resource_kernel("TensorArrayConcatV3")
def tensor_array_concat(
    op: Operation, state: State, handle: np.ndarray, flow: np.ndarray
) -> KernelResult:
    """Reads all elements; gives them one behind the other, and their lengths."""
    return list(_array(handle).concat(cast("Shape", op.get_attr("element_shape_except0"))))


@resource_kernel("TensorArraySplitV3")
def tensor_array_split(
    op: Operation, state: State, handle: np.ndarray, *operands: np.ndarray
) -> KernelResult:
    """Writes parts of a value, of these lengths, to all elements."""
    value, lengths, flow = operands
    _array(handle).split(value, lengths)
    return flow


@resource_kernel("TensorArraySizeV3")
def tensor_array_size(
    op: Operation, state: State, handle: np.ndarray, flow: np.ndarray
) -> KernelResult:
    """How many elements there are."""
    return np.array(_array(handle).size, np.int32)


@resource_kernel("TensorArrayCloseV3")
def tensor_array_close(op: Operation, state: State, handle: np.ndarray) -> KernelResult:
    """Ends its use."""
    _array(handle).close()
    return ()
