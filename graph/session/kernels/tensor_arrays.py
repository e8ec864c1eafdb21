"""The kernels of stacks and of tensor arrays behind handles, which loops of TensorFlow 1 use.

Both live as long as their handle is read in a run, as each run makes its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from ....schema import dtypes
from ....schema.errors import InvalidArgumentError
from ..resources import resource_kernel
from ..tensor_arrays import FLOW, Stack, TensorArray, handle_of

if TYPE_CHECKING:
    from ...core.graph import Operation
    from ...core.protocols import KernelResult
    from ...core.shapes import Shape
    from ..state import State


def _stack(handle: np.ndarray) -> Stack:
    stack = cast("object", handle.flat[0])
    if not isinstance(stack, Stack):
        raise InvalidArgumentError(None, None, "the first input must be the handle of a stack")
    return stack


def _array(handle: np.ndarray) -> TensorArray:
    array = cast("object", handle.flat[0])
    if not isinstance(array, TensorArray):
        words = "the first input must be the handle of a tensor array"
        raise InvalidArgumentError(None, None, words)
    return array


def _sizes(op: Operation, name: str) -> Shape:
    return cast("Shape", op.get_attr(name))


@resource_kernel("Stack", "StackV2")
def stack(op: Operation, state: State, *max_size: np.ndarray) -> np.ndarray:
    """An empty stack; a negative size is no limit."""
    return handle_of(Stack(op.name, int(max_size[0]) if max_size else -1))


@resource_kernel("StackPush", "StackPushV2")
def stack_push(op: Operation, state: State, handle: np.ndarray, element: np.ndarray) -> np.ndarray:
    """Puts an element on a stack, and gives it."""
    _stack(handle).push(element.copy())
    return element


@resource_kernel("StackPop", "StackPopV2")
def stack_pop(op: Operation, state: State, handle: np.ndarray) -> np.ndarray:
    """Takes the last element of a stack."""
    return _stack(handle).pop()


@resource_kernel("StackClose", "StackCloseV2")
def stack_close(op: Operation, state: State, handle: np.ndarray) -> KernelResult:
    """Empties a stack."""
    _stack(handle).close()
    return ()


@resource_kernel("TensorArrayV3")
def tensor_array(op: Operation, state: State, size: np.ndarray) -> KernelResult:
    """An array without elements, and its flow."""
    if size.ndim:
        shape = ",".join(map(str, size.shape))
        words = f"TensorArray size must be scalar, but had shape: [{shape}]"
        raise InvalidArgumentError(None, None, words)
    if size < 0:
        raise InvalidArgumentError(None, None, "Size should be >= 0.")
    name = cast("bytes", op.get_attr("tensor_array_name")).decode() or op.name
    dtype = np.dtype(cast("np.dtype", op.get_attr("dtype")))
    array = TensorArray(
        name,
        dtypes.array_dtype(dtype) if dtype.names else dtype,
        int(size),
        _sizes(op, "element_shape"),
        is_dynamic=bool(op.get_attr("dynamic_size")),
        clears=bool(op.get_attr("clear_after_read")),
        is_identical=bool(op.get_attr("identical_element_shapes")),
    )
    return [handle_of(array), FLOW]


@resource_kernel("TensorArrayGradV3", "TensorArrayGradWithShape")
def gradient(
    op: Operation, state: State, handle: np.ndarray, flow: np.ndarray, *before: np.ndarray
) -> KernelResult:
    """The array of the gradients of another, one for each `source`; what it is written adds up."""
    source = cast("bytes", op.get_attr("source")).decode()
    prefix = tuple(cast("list[int]", before[0].tolist())) if before else ()
    return [handle_of(_array(handle).gradient(source, prefix)), FLOW]


@resource_kernel("TensorArrayWriteV3")
def write(
    op: Operation, state: State, handle: np.ndarray, index: np.ndarray, *parts: np.ndarray
) -> np.ndarray:
    """Writes an element."""
    _array(handle).write(int(index), parts[0].copy())
    return FLOW


@resource_kernel("TensorArrayReadV3")
def read(
    op: Operation, state: State, handle: np.ndarray, index: np.ndarray, flow: np.ndarray
) -> np.ndarray:
    """An element."""
    return _array(handle).read(int(index))


@resource_kernel("TensorArrayGatherV3")
def gather(
    op: Operation, state: State, handle: np.ndarray, indices: np.ndarray, flow: np.ndarray
) -> np.ndarray:
    """Elements of equal shapes, one behind another along a new first dimension."""
    return _array(handle).gather(indices, _sizes(op, "element_shape"))


@resource_kernel("TensorArrayScatterV3")
def scatter(
    op: Operation, state: State, handle: np.ndarray, indices: np.ndarray, *parts: np.ndarray
) -> np.ndarray:
    """Writes a row of the value into each of some elements."""
    _array(handle).scatter(indices, parts[0])
    return FLOW


@resource_kernel("TensorArrayConcatV3")
def concat(op: Operation, state: State, handle: np.ndarray, flow: np.ndarray) -> KernelResult:
    """All elements along their first dimension, and how long each is there."""
    return list(_array(handle).concat(_sizes(op, "element_shape_except0")))


@resource_kernel("TensorArraySplitV3")
def split(
    op: Operation, state: State, handle: np.ndarray, value: np.ndarray, *parts: np.ndarray
) -> np.ndarray:
    """Writes pieces of the value, of these lengths along its first dimension."""
    _array(handle).split(value, parts[0])
    return FLOW


@resource_kernel("TensorArraySizeV3")
def size(op: Operation, state: State, handle: np.ndarray, flow: np.ndarray) -> np.ndarray:
    """How many elements there are."""
    return np.array(_array(handle).size, np.int32)


@resource_kernel("TensorArrayCloseV3")
def close(op: Operation, state: State, handle: np.ndarray) -> KernelResult:
    """Drops the elements."""
    _array(handle).close()
    return ()
