"""TF1's functions that make tensors: placeholders, constants, sequences, shapes."""

from __future__ import annotations

import typing
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypeAlias, TypeGuard

import numpy as np

from ...core import shapes
from ...core.arrays import as_array
from ...core.build import ops
from ...core.composite.ragged_dispatch import with_ragged
from ...core.composite.sparse_tensor import SparseTensor, SparseTensorValue
from ...core.create import constant, convert_to_tensor
from ...core.dtype import as_dtype, as_numpy
from ...core.graph import Tensor
from ...core.scopes import name_scope
from ...core.signatures.operands import Operands
from ...core.tensor_shape import Dimension, TensorShape, as_shape
from ..rows import functions, unary
from .casting import cast

if TYPE_CHECKING:
    from ...core.shapes import Shape
    from ...core.typing import DTypeLike, ShapeLike, TensorLike
    from ...variables.variables import Variable

DynamicShape: TypeAlias = (
    "ShapeLike | Tensor | Variable | Sequence[int | np.integer | Tensor | Variable]"
)
"""A shape whose sizes may be tensors."""

SPARSE = (SparseTensor, SparseTensorValue)
ONE_TO_ONE = """
broadcast_dynamic_shape BroadcastArgs shape_x:s0 shape_y:s1 # The shape that two shapes broadcast to
"""
globals().update(functions(ONE_TO_ONE, __name__))

_SMALL = 1000
"""Elements up to which zeros and ones are constants rather than Fill operations."""


def placeholder(
    dtype: DTypeLike, shape: ShapeLike | None = None, name: str | None = None
) -> Tensor:
    """A tensor whose value each run is fed.

    Args:
        dtype: Its dtype.
        shape: What is known of its shape: a list with None for unknown sizes; None for anything.
        name: Of the operation.
    """
    return ops.Placeholder(name=name, dtype=dtype, shape=_known_shape(shape))


def _known_shape(shape: ShapeLike | None) -> Shape:
    """A shape for an attribute; what is none is named in TensorFlow's words."""
    try:
        if isinstance(shape, (list, tuple)):
            for size in shape:
                if isinstance(size, (int, np.integer)) and size < 0:
                    raise ValueError(f"Dimension {size} must be >= 0")
        known = as_shape(shape)
    except (TypeError, ValueError) as error:
        words = f"Error converting shape to a TensorShape: {error}."
        raise type(error)(words) from None
    return known


def placeholder_with_default(
    input: TensorLike, shape: ShapeLike | None, name: str | None = None
) -> Tensor:
    """A tensor that has the value of `input` unless it is fed.

    Args:
        input: Of any type.
        shape: That of what may be fed, None for unknown sizes; None for any shape.
        name: Of the operation.

    Raises ValueError where `input` does not have the shape.
    """
    return ops.PlaceholderWithDefault(input, shape=_known_shape(shape), name=name)


def fill(
    dims: TensorLike, value: TensorLike, name: str | None = None, layout: object = None
) -> Tensor:
    """A tensor of shape `dims` with one value everywhere.

    Args:
        dims: [rank] int32 or int64, at least 0.
        value: A scalar of any type.
        name: Of the operation.
        layout: Taken for TensorFlow's sake: where a DTensor lies.

    Raises ValueError for negative sizes and a value that is no scalar.
    """
    return ops.Fill(dims, value, name=name)


def zeros(
    shape: DynamicShape,
    dtype: DTypeLike = np.float32,
    name: str | None = None,
    layout: object = None,
) -> Tensor:
    """Zeros (False, empty strings) of a shape.

    Args:
        shape: The sizes, integers or a tensor of them.
        dtype: Any type.
        name: Of the operation.
        layout: Taken for TensorFlow's sake: where a DTensor lies.

    Raises TypeError for sizes that are no integers, ValueError for negative ones.
    """
    return _filled("zeros", shape, as_numpy(dtype), 0, name)


def ones(
    shape: DynamicShape,
    dtype: DTypeLike = np.float32,
    name: str | None = None,
    layout: object = None,
) -> Tensor:
    """Ones (True) of a shape.

    Args:
        shape: The sizes, integers or a tensor of them.
        dtype: Any type.
        name: Of the operation.
        layout: Taken for TensorFlow's sake: where a DTensor lies.

    Raises TypeError for sizes that are no integers, ValueError for negative ones.
    """
    return _filled("ones", shape, as_numpy(dtype), 1, name)


def _filled(
    default: str, shape: DynamicShape, dtype: np.dtype, number: int, name: str | None
) -> Tensor:
    if dtype.names:  # quantized integers
        value = np.array((number,), dtype)
    else:
        value = b"" if dtype.kind == "O" and not number else as_array(_unit(number, dtype), dtype)
    with name_scope(name, default, [shape]) as scope:
        if not isinstance(shape, Tensor):
            try:
                known = _known_sizes(shape)
            except (TypeError, ValueError):  # fill says what is wrong
                sizes = convert_to_tensor(typing.cast("TensorLike", shape), np.int32)
                return fill(sizes, constant(value, dtype), name=scope)
            if known is None:
                shape = shape_tensor(shape)
            elif scope and np.prod(known, dtype=object) < _SMALL:
                return constant(np.full(known, value, dtype), name=scope)
            else:
                shape = convert_to_tensor(list(known))
        if shape.sizes == ():
            shape = ops.Reshape(shape, [-1])
        return fill(shape, constant(value, dtype), name=scope)


def _unit(number: int, dtype: np.dtype) -> bool | int:
    return bool(number) if dtype.kind == "b" else number


def _known_sizes(shape: DynamicShape) -> tuple[int, ...] | None:
    """A shape as numbers, None when some are tensors or unknown."""
    if not is_shape(shape):
        return None
    sizes = as_shape(shape.tolist() if isinstance(shape, np.ndarray) else shape)
    return sizes if shapes.is_static(sizes) else None


def is_shape(shape: DynamicShape) -> TypeGuard[ShapeLike]:
    """Whether no size of a shape is a tensor."""
    sizes = shape if isinstance(shape, (list, tuple)) else [shape]
    return not any(isinstance(size, Operands) for size in sizes)


def shape_tensor(shape: DynamicShape, name: str | None = None) -> Tensor:
    """A shape as a tensor of int32, whether its sizes are tensors or numbers.

    Of int64 where a number is too large for int32.
    """
    sizes = shape if isinstance(shape, (list, tuple)) else ()
    is_large = any(isinstance(size, int) and size > np.iinfo(np.int32).max for size in sizes)
    whole = None if isinstance(shape, TensorShape) else np.int32
    dtype = np.int64 if is_large else whole
    return convert_to_tensor(typing.cast("TensorLike", shape), dtype, name)


@unary
def zeros_like(
    tensor: TensorLike,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    optimize: bool = True,
) -> Tensor:
    """Zeros in the shape of `tensor`.

    Args:
        tensor: Of any type and shape; "" stands for 0 in strings.
        dtype: Of the elements, by default those of `tensor`.
        name: Of the operation.
        optimize: Whether a known shape becomes a constant.
    """
    with name_scope(name, "zeros_like", [tensor]) as scope:
        tensor = convert_to_tensor(tensor, name="tensor")
        result_type = tensor.dtype if dtype is None else as_numpy(dtype)
        if shapes.is_static(tensor.sizes) and optimize and result_type.kind != "V":
            return zeros(tensor.sizes, result_type, scope)
        if result_type != tensor.dtype:
            return zeros(_shape_op(tensor), result_type, scope)
        return ops.ZerosLike(tensor, name=scope)


@unary
def ones_like(
    tensor: TensorLike,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    optimize: bool = True,
) -> Tensor:
    """Ones in the shape of `tensor`.

    Args:
        tensor: Of any type and shape.
        dtype: Of the elements, by default those of `tensor`.
        name: Of the operation.
        optimize: Whether a known shape becomes a constant.
    """
    with name_scope(name, "ones_like", [tensor]) as scope:
        tensor = convert_to_tensor(tensor, name="tensor")
        result = ones(
            shape(tensor) if optimize else _shape_op(tensor),
            tensor.dtype if dtype is None else dtype,
            scope,
        )
        result.set_shape(tensor.sizes)
        return result


def _shape_op(tensor: Tensor) -> Tensor:
    return ops.Shape(tensor)


@with_ragged
def one_hot(
    indices: TensorLike,
    depth: TensorLike,
    on_value: TensorLike | None = None,
    off_value: TensorLike | None = None,
    axis: int | None = None,
    dtype: DTypeLike | None = None,
    name: str | None = None,
) -> Tensor:
    """A row of `depth` elements for each index: `on_value` there, `off_value` elsewhere.

    Args:
        indices: Whole numbers of any shape; one out of range gives a row of `off_value`.
        depth: The length of rows, a scalar.
        on_value, off_value: Scalars of one type; 1 and 0 by default.
        axis: Where the new dimension stands; -1, the last, by default.
        dtype: Of the elements; that of the values, else float32.
        name: Of the operation.

    Raises TypeError where the types of the values and `dtype` differ.
    """
    with name_scope(name, "one_hot", [indices, depth]) as scope:
        kinds = [convert_to_tensor(x).dtype for x in (on_value, off_value) if x is not None]
        if dtype is None and len(kinds) == 2 and kinds[0] != kinds[1]:
            raise TypeError(
                f"dtype <dtype: '{kinds[0].name}'> of on_value does not match dtype "
                f"<dtype: '{kinds[1].name}'> of off_value"
            )
        if dtype is None:
            value = off_value if on_value is None else on_value
            dtype = np.dtype(np.float32) if value is None else convert_to_tensor(value).dtype
        dtype = as_numpy(dtype)
        on_value = _hot(1, on_value, dtype, "on_value")
        off_value = _hot(0, off_value, dtype, "off_value")
        axis = -1 if axis is None else axis
        return ops.OneHot(indices, depth, on_value, off_value, axis=axis, name=scope)


def _hot(default: int, value: TensorLike | None, dtype: np.dtype, name: str) -> Tensor:
    if value is None:
        return convert_to_tensor(default, dtype, name)
    tensor = convert_to_tensor(value, preferred_dtype=dtype)
    if tensor.dtype != dtype:
        raise TypeError(
            f"dtype {tensor.dtype} of {name} does not match dtype parameter {as_dtype(dtype)}"
        )
    return tensor


def eye(
    num_rows: int | np.integer | Tensor | Variable,
    num_columns: int | np.integer | Tensor | Variable | None = None,
    batch_shape: Sequence[int | np.integer | Tensor | Variable] | None = None,
    dtype: DTypeLike = np.float32,
    name: str | None = None,
) -> Tensor:
    """A matrix with ones on its diagonal.

    Args:
        num_rows: A scalar of at least 0.
        num_columns: By default as many as rows.
        batch_shape: Of the matrices that are alike, a vector; one by default.
        dtype: Of the elements; float32 by default.
        name: Of the operation.

    Returns a tensor of shape batch_shape + [num_rows, num_columns].
    """
    with name_scope(name, "eye", [num_rows, num_columns]) as scope:
        columns = num_rows if num_columns is None else num_columns
        batch = [] if batch_shape is None else list(batch_shape)
        sizes = [*batch, num_rows, columns]
        numbers = _whole_sizes([size for size in sizes if not isinstance(size, Operands)])
        as_array(_unit(1, as_numpy(dtype)), dtype)
        if len(numbers) < len(sizes):
            diagonal = ones([*batch, ops.Minimum(num_rows, columns)], dtype)
            return ops.MatrixSetDiag(zeros(sizes, dtype), diagonal, name=scope)
        matrix = np.eye(numbers[-2], numbers[-1], dtype=as_numpy(dtype))
        return constant(np.broadcast_to(matrix, numbers), name=scope)


def _whole_sizes(sizes: Sequence[int | np.integer]) -> list[int]:
    """Numbers of rows and columns; TypeError when one is no integer, ValueError when negative."""
    if any(not isinstance(size, (int, np.integer, Dimension)) for size in sizes):
        rows, columns = [*sizes, None, None][:2] if len(sizes) < 2 else sizes[-2:]
        raise TypeError(
            "Arguments `num_rows` and `num_columns` must be positive integer values. Received: "
            f"num_rows={rows}, num_columns={columns}"
        )
    if any(int(size) < 0 for size in sizes):
        raise ValueError(f"Fill dimensions must be >= 0, got {list(sizes)}")
    return [int(size) for size in sizes]


def range(
    start: TensorLike,
    limit: TensorLike | None = None,
    delta: TensorLike = 1,
    dtype: DTypeLike | None = None,
    name: str | None = "range",
) -> Tensor:
    """start, start + delta, ... up to but without `limit`; from 0 on when only `start` is given.

    Args:
        start, limit, delta: Numbers or scalars, int32, int64 or real floats; the widest of their
            types counts. `delta` may be negative, not 0.
        dtype: Of the result, in place of that.
        name: Of the operation.

    Returns [max(0, ceil((limit - start) / delta))].

    Raises TypeError for other types, ValueError for a `delta` of 0 and where it leads away from
    `limit`.
    """
    if limit is None:
        start, limit = 0, start
    with name_scope(name, "Range", [start, limit, delta]) as scope:
        numbers = [
            convert_to_tensor(x, None if isinstance(x, Tensor) else dtype, label)
            for x, label in ((start, "start"), (limit, "limit"), (delta, "delta"))
        ]
        order = ["int32", "int64", "float16", "bfloat16", "float32", "float64"]
        for x, label in zip(numbers, ("start", "limit", "delta"), strict=True):
            if dtype is None and x.dtype.name not in order:
                raise TypeError(f"range takes {', '.join(order)}, got {x.dtype.name} for {label}")
        widest = max((x.dtype.name for x in numbers), key=order.index) if dtype is None else dtype
        return ops.Range(*(cast(x, widest) for x in numbers), name=scope)


def lin_space(
    start: TensorLike,
    stop: TensorLike,
    num: TensorLike,
    name: str | None = None,
    axis: TensorLike | None = 0,
) -> Tensor:
    """`num` numbers from `start` to `stop`, evenly spaced, along a new dimension `axis`.

    Integers give float64, those of 8 and 16 bits float32. `start` and `stop` broadcast together.
    """
    with name_scope(name, "linspace", [start, stop]) as scope:
        start = convert_to_tensor(start, name="start")
        stop = convert_to_tensor(stop, start.dtype, name="stop")
        if start.dtype.kind in "iu":
            wide = np.float64 if start.dtype.itemsize > 2 else np.float32
            start, stop = cast(start, wide), cast(stop, wide)
        if axis is None:
            raise ValueError("Must specify an axis argument to tf.expand_dims()")
        axis = convert_to_tensor(axis, name="axis")
        if start.sizes == () == stop.sizes and start.dtype.kind != "c" and _is_zero(axis):
            return ops.LinSpace(start, stop, num, name=scope)
        num = convert_to_tensor(num, np.int32, name="num")
        n_steps = ops.Maximum(ops.Sub(num, np.int32(1)), np.int32(1))
        shape = ops.BroadcastArgs(ops.Shape(start), ops.Shape(stop))
        start, stop = ops.BroadcastTo(start, shape), ops.BroadcastTo(stop, shape)
        first, last = ops.ExpandDims(start, axis), ops.ExpandDims(stop, axis)
        n_axes = ops.Size(ops.Shape(first), out_type=axis.dtype)
        along = ops.OneHot(axis % n_axes, cast(n_axes, np.int32), num, np.int32(1))
        positions = ops.Reshape(ops.Range(np.int32(0), num, np.int32(1)), along)
        steps = (last - first) / cast(n_steps, first.dtype)
        between = first + steps * cast(positions, first.dtype)
        return ops.SelectV2(ops.Equal(positions, n_steps), last, between, name=scope)


def _is_zero(axis: Tensor) -> bool:
    """Whether an axis is the only one of a vector."""
    known = shapes.whole(axis.value)
    return known is not None and not known.ndim and int(known) in (0, -1)


def shape(
    input: TensorLike, name: str | None = None, out_type: DTypeLike | None = np.int32
) -> Tensor:
    """The shape of a tensor as a vector.

    Args:
        input: A tensor of any type; of a sparse one, its `dense_shape`.
        name: Of the operation.
        out_type: int32 (the default) or int64.
    """
    out_type = np.dtype(np.int32) if out_type is None else as_numpy(out_type)
    with name_scope(name, "Shape", [input]) as scope:
        if isinstance(input, SPARSE):
            return cast(convert_to_tensor(typing.cast("TensorLike", input.dense_shape)), out_type)
        input = convert_to_tensor(input)
        if shapes.is_static(input.sizes):
            return constant(np.array(input.sizes, out_type), name=scope)
        return ops.Shape(input, out_type=out_type, name=scope)


def shape_n(
    input: Iterable[TensorLike], out_type: DTypeLike = np.int32, name: str | None = None
) -> list[Tensor]:
    """The shapes of several tensors, a vector for each.

    Args:
        input: One or more tensors of one type.
        out_type: int32 or int64.
        name: Of the operation.
    """
    return ops.ShapeN(input, out_type=out_type, name=name)


@with_ragged
def size(
    input: TensorLike | SparseTensor, name: str | None = None, out_type: DTypeLike = np.int32
) -> Tensor:
    """The number of elements.

    Args:
        input: A tensor of any type.
        name: Of the operation.
        out_type: int32 (the default) or int64.

    Returns a scalar.
    """
    with name_scope(name, "Size", [input]) as scope:
        if isinstance(input, SPARSE):
            return ops.Prod(cast(input.dense_shape, out_type), np.int32(0), name=scope)
        input = convert_to_tensor(input)
        if shapes.is_static(input.sizes):
            return constant(np.array(shapes.count(input.sizes), out_type), name=scope)
        return ops.Size(input, out_type=out_type, name=scope)


@with_ragged
def rank(input: TensorLike, name: str | None = None) -> Tensor:
    """The number of dimensions, an int32 scalar; a constant where it is known.

    Args:
        input: A tensor of any type, sparse ones, too.
        name: Of the operation.
    """
    with name_scope(name, "Rank", [input]) as scope:
        if isinstance(input, SPARSE):
            return ops.Size(input.dense_shape, name=scope)
        input = convert_to_tensor(input)
        if input.sizes is not None:
            return constant(np.int32(len(input.sizes)), name=scope)
        return ops.Rank(input, name=scope)


def ensure_shape(x: TensorLike, shape: ShapeLike | None, name: str | None = None) -> Tensor:
    """`x`, once it is sure to have the shape.

    Args:
        x: Of any type.
        shape: Its sizes, None for unknown ones; None for any shape.
        name: Of the operation.

    Raises ValueError for a shape that is known to differ, InvalidArgumentError when it runs.
    """
    return ops.EnsureShape(x, shape=as_shape(shape), name=name)


def broadcast_static_shape(shape_x: ShapeLike | None, shape_y: ShapeLike | None) -> TensorShape:
    """The shape to which two shapes broadcast; ValueError when they do not."""
    x, y = TensorShape(shape_x), TensorShape(shape_y)
    try:
        return TensorShape(shapes.broadcast(x.as_shape(), y.as_shape()))
    except ValueError:
        raise ValueError(
            "Incompatible shapes for broadcasting. Two shapes are compatible if for each dimension "
            f"pair they are either equal or one of them is 1. Received: {x} and {y}."
        ) from None
