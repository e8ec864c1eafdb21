"""Values in and out of messages and graphs: `make_tensor_proto`, `make_ndarray`,
`get_static_value`.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import TYPE_CHECKING, SupportsIndex, cast

import numpy as np

from ...schema import dtypes, proto
from ..core.arrays import as_array
from ..core.composite.indexed_slices import IndexedSlices
from ..core.composite.ragged_tensor import RaggedTensor
from ..core.composite.sparse_tensor import SparseTensor
from ..core.create import is_tensor_like
from ..core.dtype import as_numpy
from ..core.elements import Operation, Tensor
from ..core.shapes import whole
from .tensor_proto import TensorReader, write, write_values

if TYPE_CHECKING:
    from ..core.typing import DTypeLike, TensorLike
    from .messages import Message, TensorProto

_ONE_BY_ONE = ("b", "c", "O")
"""Kinds of types whose elements are always written one by one."""


def make_tensor_proto(
    values: TensorLike | Message,
    dtype: DTypeLike | None = None,
    shape: Iterable[SupportsIndex] | None = None,
    verify_shape: bool = False,
    allow_broadcast: bool = False,
) -> TensorProto:
    """The TensorProto message of a value.

    Args:
        values: A number, string, array or nested list; a TensorProto is given back.
        dtype: By default that of an array, else as of `tf.constant`.
        shape: Of the tensor; the last element stands for those that are missing.
        verify_shape: Refuses a value of another shape.
        allow_broadcast: Refuses a value of another size, unless it is one number.

    Raises:
        TypeError: the elements are not of `dtype`, or the shape is refused.
        ValueError: there is no value, it is ragged, or has too many elements.
    """
    if isinstance(values, type(proto.TensorProto())):
        return cast("TensorProto", values)
    if is_tensor_like(values):
        raise TypeError("Expected any non-tensor type, but got a tensor instead.")
    array = as_array(cast("TensorLike", values), None if dtype is None else as_numpy(dtype))
    sizes = array.shape if shape is None else tuple(int(size) for size in shape)
    is_one = allow_broadcast and array.shape in ((), (1,))
    if (verify_shape or (allow_broadcast and not is_one)) and array.shape != sizes:
        raise TypeError(f"Expected Tensor's shape: {sizes}, but got {array.shape}.")
    if array.size > prod(sizes):
        raise ValueError(
            f"Too many elements provided. Takes at most {prod(sizes)}, but got {array.size}."
        )
    if array.size == prod(sizes) > 1 and array.dtype.kind not in _ONE_BY_ONE:
        return write(array.reshape(sizes))
    message = cast("TensorProto", proto.TensorProto(dtype=dtypes.tf_enum(array.dtype)))
    message.tensor_shape.SetInParent()
    for size in sizes:
        message.tensor_shape.dim.add(size=size)
    write_values(message, array)
    return message


def make_ndarray(tensor: Message) -> np.ndarray:
    """The array that a TensorProto message, ours or TensorFlow's, holds.

    Raises TypeError when its type is not known, ValueError when it contradicts itself.
    """
    message = cast("TensorProto", proto.parse("TensorProto", tensor.SerializeToString()))
    try:
        dtypes.tf_dtype(message.dtype)
    except ValueError as error:
        raise TypeError(f"Unsupported tensor type: {message.dtype} ({error})") from None
    return TensorReader().read(message, "make_ndarray").copy()


def get_static_value(
    tensor: TensorLike, partial: bool = False
) -> np.ndarray | np.generic | TensorLike | None:
    """The value of a tensor that is known before anything runs; None when it is not.

    What is known of a tensor can be fed no more.

    Args:
        tensor: A tensor; anything else is given back.
        partial: Whether a value that is known in part is given, with None where it is not.
    """
    if not isinstance(tensor, Tensor):
        return None if is_tensor(tensor) else tensor
    value = _in_part(tensor)
    if not partial:
        value = whole(value)
    if value is None:
        return None
    tensor.graph.prevent_feeding(tensor)
    is_partial = value.dtype == object and tensor.dtype.kind != "O"
    if is_partial and all(item is not None for item in value.flat):
        return np.array(value.tolist(), tensor.dtype)
    return value if is_partial or value.dtype == tensor.dtype else value.astype(tensor.dtype)


def _in_part(tensor: Tensor) -> np.ndarray | None:
    """What is known of a tensor's value; rows of which one is not known are single objects."""
    op = tensor.op
    if op.type == "Const":
        return op.get_attr("value")
    if op.type == "Pack":
        if op.get_attr("axis") != 0:
            return None
        rows = [_in_part(row) for row in op.inputs]
        array = np.full(len(rows), None, object)
        for i, row in enumerate(rows):
            array[i] = row
        return None if all(row is None for row in rows) else array
    if tensor.value is not None:
        return tensor.value
    if op.type == "Unpack" and op.get_attr("axis") == 0:
        source = _in_part(op.inputs[0])
        return None if source is None else source[tensor.value_index]
    if op.type == "Split":
        axis, source = _in_part(op.inputs[0]), _in_part(op.inputs[1])
        if axis is None or source is None or int(axis) >= source.ndim:
            return None
        return np.split(source, op.get_attr("num_split"), int(axis))[tensor.value_index]
    return None


def is_symbolic_tensor(tensor: object) -> bool:
    """Whether `tensor` is a tensor of a graph."""
    return isinstance(tensor, Tensor)


def is_tensor(x: object) -> bool:
    """Whether `x` is a tensor, a variable or one of the composite ones."""
    if isinstance(x, Operation):
        return False
    return isinstance(x, (SparseTensor, RaggedTensor, IndexedSlices)) or is_tensor_like(x)
