"""TF1's functions that make tensors: placeholders, constants, sequences, shapes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import shapes
from ..core.build import ops
from ..core.create import constant, convert_to_tensor, is_tensor_like, type_name
from ..core.dtype import as_numpy
from ..core.graph import Tensor
from ..core.scopes import name_scope
from ..core.tensor_shape import TensorShape, as_shape
from .casting import cast
from .rows import functions

ONE_TO_ONE = """
broadcast_dynamic_shape BroadcastArgs shape_x:s0 shape_y:s1
fill                Fill             dims value
"""
globals().update(functions(ONE_TO_ONE, __name__))
fill = globals()["fill"]

_SMALL = 1000
"""Elements up to which zeros and ones are constants rather than Fill operations."""


def placeholder(dtype, shape=None, name=None) -> Tensor:
    """A tensor whose value each run is fed.

    Args:
        dtype: Its dtype.
        shape: What is known of its shape: a list with None for unknown sizes; None for anything.
        name: Of the operation.
    """
    attrs = {"dtype": as_numpy(dtype), "shape": as_shape(shape)}
    return ops.Placeholder(name=name, **attrs)


def placeholder_with_default(input, shape, name=None) -> Tensor:
    """A tensor that has the value of `input` unless it is fed."""
    value = convert_to_tensor(input)
    return ops.PlaceholderWithDefault(value, shape=as_shape(shape), name=name)


def zeros(shape, dtype: Any = np.float32, name=None) -> Tensor:
    """Zeros (False, empty strings) of a shape."""
    return _filled("zeros", shape, as_numpy(dtype), 0, name)


def ones(shape, dtype: Any = np.float32, name=None) -> Tensor:
    """Ones (True) of a shape."""
    return _filled("ones", shape, as_numpy(dtype), 1, name)


def _filled(default: str, shape, dtype: np.dtype, number: int, name) -> Tensor:
    value = np.array(number, dtype) if dtype.kind != "O" else b""
    with name_scope(name, default, [shape]) as scope:
        if not isinstance(shape, Tensor):
            known = _known_sizes(shape)
            if known is None:
                shape = convert_to_tensor(shape, np.int32)
            elif np.prod(known, dtype=object) < _SMALL:
                return constant(np.full(known, value, dtype), name=scope)
            else:
                shape = convert_to_tensor(np.array(known, np.int32))
        if shape.shape == ():
            shape = ops.Reshape(shape, [-1])
        return fill(shape, constant(value, dtype), name=scope)


def _known_sizes(shape) -> tuple[int, ...] | None:
    """A shape as numbers, None when some are tensors or unknown."""
    if isinstance(shape, (list, tuple)) and any(is_tensor_like(size) for size in shape):
        return None
    sizes = as_shape(shape.tolist() if isinstance(shape, np.ndarray) else shape)
    return sizes if shapes.is_static(sizes) else None


def zeros_like(tensor, dtype=None, name=None, optimize: bool = True) -> Tensor:
    """Zeros in the shape of `tensor`."""
    with name_scope(name, "zeros_like", [tensor]) as scope:
        tensor = convert_to_tensor(tensor, name="tensor")
        wanted = tensor.dtype if dtype is None else as_numpy(dtype)
        if shapes.is_static(tensor.shape) and optimize and wanted.kind != "V":
            return zeros(tensor.shape, wanted, scope)
        if wanted != tensor.dtype:
            return zeros(_shape_op(tensor), wanted, scope)
        return ops.ZerosLike(tensor, name=scope)


def ones_like(tensor, dtype=None, name=None, optimize: bool = True) -> Tensor:
    """Ones in the shape of `tensor`."""
    with name_scope(name, "ones_like", [tensor]) as scope:
        tensor = convert_to_tensor(tensor, name="tensor")
        result = ones(
            shape(tensor) if optimize else _shape_op(tensor),
            tensor.dtype if dtype is None else dtype,
            scope,
        )
        result.set_shape(tensor.shape)
        return result


def _shape_op(tensor: Tensor) -> Tensor:
    return ops.Shape(tensor)


def one_hot(
    indices, depth, on_value=None, off_value=None, axis=None, dtype=None, name=None
) -> Tensor:
    """A row of `depth` elements for each index: `on_value` there, `off_value` elsewhere."""
    with name_scope(name, "one_hot", [indices, depth]) as scope:
        given = [v for v in (on_value, off_value) if v is not None]
        if dtype is None:
            dtype = convert_to_tensor(given[0]).dtype if given else np.dtype(np.float32)
        dtype = as_numpy(dtype)
        on_value = _hot(1, on_value, dtype, "on_value")
        off_value = _hot(0, off_value, dtype, "off_value")
        axis = -1 if axis is None else axis
        return ops.OneHot(indices, depth, on_value, off_value, axis=axis, name=scope)


def _hot(default, value, dtype: np.dtype, name: str) -> Tensor:
    if value is None:
        return convert_to_tensor(default, dtype, name)
    tensor = convert_to_tensor(value, preferred_dtype=dtype)
    if tensor.dtype != dtype:
        raise TypeError(
            f"dtype {type_name(tensor.dtype)} of {name} does not match dtype parameter "
            f"{type_name(dtype)}"
        )
    return tensor


def eye(num_rows, num_columns=None, batch_shape=None, dtype: Any = np.float32, name=None) -> Tensor:
    """A matrix with ones on its diagonal."""
    with name_scope(name, "eye", [num_rows, num_columns]) as scope:
        columns = num_rows if num_columns is None else num_columns
        sizes = [num_rows, columns, *(batch_shape or ())]
        if any(is_tensor_like(size) for size in sizes):
            least = ops.Minimum(num_rows, columns)
            diagonal = ones([least], dtype)
            zero = zeros([num_rows, columns], dtype)
            return ops.MatrixSetDiag(zero, diagonal, name=scope)
        whole = np.broadcast_to(
            np.eye(num_rows, columns, dtype=as_numpy(dtype)),
            (*(batch_shape or ()), num_rows, columns),
        )
        return constant(whole, name=scope)


def range(start, limit=None, delta=1, dtype=None, name="range") -> Tensor:
    """start, start + delta, ... below `limit`; from 0 on when only `start` is given."""
    if limit is None:
        start, limit = 0, start
    with name_scope(name, "Range", [start, limit, delta]) as scope:
        numbers = [
            convert_to_tensor(x, None if isinstance(x, Tensor) else dtype, label)
            for x, label in ((start, "start"), (limit, "limit"), (delta, "delta"))
        ]
        order = ["int32", "int64", "float16", "bfloat16", "float32", "float64"]
        found = max((x.dtype.name for x in numbers), key=order.index) if dtype is None else dtype
        return ops.Range(*(cast(x, found) for x in numbers), name=scope)


def lin_space(start, stop, num, name=None) -> Tensor:
    """`num` numbers from `start` to `stop`, evenly spaced."""
    return ops.LinSpace(start, stop, num, name=name)


def shape(input, name=None, out_type: Any = np.int32) -> Tensor:
    """The shape of a tensor as a vector."""
    out_type = as_numpy(out_type)
    with name_scope(name, "Shape", [input]) as scope:
        input = convert_to_tensor(input)
        if shapes.is_static(input.shape):
            return constant(np.array(input.shape, out_type), name=scope)
        return ops.Shape(input, out_type=out_type, name=scope)


def shape_n(input, out_type: Any = np.int32, name=None) -> list[Tensor]:
    """The shapes of several tensors."""
    return ops.ShapeN(list(input), out_type=as_numpy(out_type), name=name)


def size(input, name=None, out_type: Any = np.int32) -> Tensor:
    """The number of elements."""
    with name_scope(name, "Size", [input]) as scope:
        input = convert_to_tensor(input)
        if shapes.is_static(input.shape):
            return constant(np.array(shapes.count(input.shape), out_type), name=scope)
        return ops.Size(input, out_type=as_numpy(out_type), name=scope)


def rank(input, name=None) -> Tensor:
    """The number of dimensions."""
    with name_scope(name, "Rank", [input]) as scope:
        input = convert_to_tensor(input)
        if input.shape is not None:
            return constant(np.int32(len(input.shape)), name=scope)
        return ops.Rank(input, name=scope)


def ensure_shape(x, shape, name=None) -> Tensor:
    """`x`, once it is sure to have the shape."""
    return ops.EnsureShape(x, shape=as_shape(shape), name=name)


def broadcast_static_shape(shape_x, shape_y) -> TensorShape:
    """The shape to which two shapes broadcast."""
    return TensorShape(shapes.broadcast(as_shape(shape_x), as_shape(shape_y)))
