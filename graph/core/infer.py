"""Shapes and small values of an operation's outputs, inferred when it is added to a graph."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from math import prod
from typing import TYPE_CHECKING, TypeGuard, cast

import numpy as np

from ...schema.dtypes import array_dtype
from ...schema.errors import UnimplementedError
from .registry import Row, row_of
from .shapes import Dim, Shape, UnknownRank, declared, is_static, require
from .signatures.op_limits import RankLimit, rank_limits

if TYPE_CHECKING:
    import numpy.typing as npt

    from .dtype import DType
    from .graph import Operation, Tensor
    from .protocols import KernelResult, MaybeDType, OperationView, StaticValue

MAX_VALUE_ELEMENTS = 1024
"""Values up to this size are computed along with the shapes: sizes, axes, index vectors."""

KERNEL_ERRORS = (ValueError, IndexError, TypeError, KeyError, ArithmeticError, MemoryError)
"""What a kernel or shape function can raise when inputs or attributes do not suit it."""

ELEMENTWISE: dict[str, Callable[..., int]] = {
    "Add": operator.add,
    "AddV2": operator.add,
    "Sub": operator.sub,
    "Mul": operator.mul,
    "FloorDiv": int.__floordiv__,
    "FloorMod": operator.mod,
    "Cast": int,
    "Maximum": max,
    "Minimum": min,
}
"""Arithmetic on values that are known in part."""


JOINING = ("Concat", "ConcatV2", "Pack")


def infer(op: Operation) -> None:
    """Sets what can be said of the shapes and values of `op`'s outputs.

    Raises ValueError when the inputs cannot go together.
    """
    row = row_of(op.type)
    for limit in rank_limits(op.type):
        _require_rank(op, limit)
    if op.type.startswith("Stateless"):
        _require_pair(op)
    for tensor, shape in zip(op.outputs, infer_shapes(op, row), strict=True):
        tensor.set_shape(shape)
    if row is not None and row.is_pure:
        for tensor, array in zip(op.outputs, _values(op, row), strict=True):
            tensor.value = array


def gives_the_same(op: Operation, other: Operation) -> bool:
    """Whether what was inferred of `other`, of the same attributes, holds for `op`.

    That is so where its results depend on nothing but what is known of its inputs.
    """
    row = row_of(op.type)
    if row is None or not row.is_pure or op.signature is not other.signature:
        return False
    inputs, others = op.all_inputs, other.inputs
    return len(inputs) == len(others) and all(map(_is_known_alike, inputs, others))


def _is_known_alike(tensor: Tensor | None, other: Tensor) -> bool:
    """Whether the same is known of two tensors that are no handles."""
    return (
        tensor is not None
        and tensor.dtype is not None
        and tensor.dtype.kind != "V"
        and tensor.dtype == other.dtype
        and tensor.sizes == other.sizes
        and tensor.value is other.value
    )


def infer_shapes(op: OperationView, row: Row | None) -> list[Shape]:
    """One shape for each output of `op`."""
    if row is None:
        return declared(op)
    try:
        shapes = row.shape(op)
    except UnknownRank:
        return [None] * len(op.outputs)
    except ValueError as error:
        start = f"{op.type} '{op.name}': "
        raise ValueError(start + str(error).removeprefix(start)) from None
    except KERNEL_ERRORS as error:
        raise ValueError(
            f"{op.type} '{op.name}': inputs and attributes do not fit together ({error})"
        ) from None
    return shapes if isinstance(shapes, list) else [cast("Shape", shapes)]


def _require_pair(op: Operation) -> None:
    """ValueError, in TensorFlow's words, for a seed that is known not to have two numbers."""
    inputs = op.signature.inputs if op.signature else ()
    for argument, tensor in zip(inputs, op.all_inputs, strict=False):
        if argument.name == "seed" and tensor is not None and tensor.sizes is not None:
            n = tensor.sizes[0]
            require(op, n in (2, None), f"Dimension must be 2 but is {n}")


def _require_rank(op: OperationView, limit: RankLimit) -> None:
    """Raises ValueError, in TensorFlow's words, for an input of another rank."""
    shape = op.inputs[limit.position].sizes
    if shape is not None:
        require(op, limit.least <= len(shape) <= limit.most, _rank_words(limit, len(shape)))


def _rank_words(limit: RankLimit, rank: int) -> str:
    return f"Shape must be {limit.words} but is rank {rank}"


def wrong_rank(kind: str, arrays: Sequence[np.ndarray]) -> str | None:
    """What is wrong with an input's rank while the op runs; None where nothing is."""
    for limit in rank_limits(kind):
        rank = np.ndim(arrays[limit.position])
        if not limit.least <= rank <= limit.most:
            return _rank_words(limit, rank)
    return None


class EvaluatedTensor:
    """A tensor as shape functions see it, when its value is at hand."""

    __slots__ = ("dtype", "sizes", "value")

    def __init__(self, tensor: Tensor, array: np.ndarray):
        self.dtype: MaybeDType = tensor.dtype
        self.sizes: Shape = array.shape
        self.value: np.ndarray | None = array


class _WatchedTensor:
    """A tensor as shape functions see it, which notes that its value is asked for."""

    __slots__ = ("_value", "dtype", "is_read", "sizes")

    def __init__(self, tensor: Tensor):
        self.dtype: MaybeDType = tensor.dtype
        self.sizes: Shape = tensor.sizes
        self.is_read = False
        self._value = tensor.value

    @property
    def value(self) -> np.ndarray | None:
        """What is known of its value."""
        self.is_read = True
        return self._value


class _WatchedOperation:
    """An operation as shape functions see it, whose inputs note what is read."""

    def __init__(self, op: Operation):
        self.type, self.name, self.attrs, self.graph = op.type, op.name, op.attrs, op.graph
        self.signature, self.get_attr = op.signature, op.get_attr
        self.outputs = op.outputs
        self.inputs = [_WatchedTensor(tensor) for tensor in op.inputs]


def values_read(op: Operation) -> dict[int, np.ndarray]:
    """The known values of inputs that the shape function of a refused `op` asks for."""
    row, watched = row_of(op.type), _WatchedOperation(op)
    if row is None:
        return {}
    try:
        row.shape(watched)
    except (UnknownRank, *KERNEL_ERRORS):
        pass
    read = {i: tensor.value for i, tensor in enumerate(watched.inputs) if tensor.is_read}
    return {i: value for i, value in read.items() if value is not None}


class EvaluatedOperation:
    """An operation as shape functions see it, when the values of its inputs are at hand."""

    def __init__(self, op: Operation, arrays: Iterable[np.ndarray]):
        self.type, self.name, self.attrs, self.graph = op.type, op.name, op.attrs, op.graph
        self.signature, self.get_attr = op.signature, op.get_attr
        self.outputs = op.outputs
        pairs = zip(op.inputs, arrays, strict=True)
        self.inputs = [EvaluatedTensor(tensor, array) for tensor, array in pairs]


def _run(row: Row, op: OperationView, arrays: Iterable[np.ndarray]) -> Sequence[npt.ArrayLike]:
    """What the kernel gives for each output."""
    if row.kernel is None:
        raise TypeError(f"{op.type} has no kernel")
    keywords = {name: op if name == "op" else op.get_attr(name) for name in row.attrs}
    return each_output(op, row.kernel(*arrays, **keywords))


def each_output(op: OperationView, results: KernelResult) -> Sequence[npt.ArrayLike]:
    """What a kernel returned, one item for each output of `op`."""
    listed = [results] if len(op.outputs) == 1 else results
    return cast("Sequence[npt.ArrayLike]", listed)


def known_bytes(op: OperationView, shapes: list[Shape]) -> int:
    """The bytes of the outputs whose shapes are known."""
    return sum(
        prod(shape) * (8 if tensor.dtype is None else tensor.dtype.itemsize)
        for shape, tensor in zip(shapes, op.outputs, strict=True)
        if is_static(shape)
    )


def call_kernel(row: Row, op: OperationView, arrays: Iterable[np.ndarray]) -> list[np.ndarray]:
    """Runs the kernel of `op` on `arrays` and rounds its results to the declared dtypes."""
    pairs = zip(op.outputs, _run(row, op, arrays), strict=True)
    return [_rounded(np.asarray(result), tensor.dtype) for tensor, result in pairs]


def _rounded(array: np.ndarray, declared: DType | None) -> np.ndarray:
    """`array` in the dtype an op declares; handles and variants are objects."""
    if declared is None:
        return array
    dtype = declared.dtype
    if array.dtype.kind == "c" and dtype.kind != "c":
        raise TypeError(f"the result is {array.dtype}, {dtype} is declared")
    return array.astype(array_dtype(dtype), copy=False)


def _values(op: Operation, row: Row) -> list[np.ndarray | None]:
    """The outputs' values as far as the inputs' say: None inside where an element is unknown."""
    unknown: list[np.ndarray | None] = [None] * len(op.outputs)
    if not all(_is_small(tensor.sizes) for tensor in op.outputs):
        return unknown
    if row.static is not None:
        pairs = zip(row.static(op), op.outputs, strict=True)
        return [_numbers(items, tensor) for items, tensor in pairs]
    values = [_input_value(op, tensor) for tensor in op.inputs]
    arrays = [array for array in values if array is not None]
    if len(arrays) < len(values):
        return unknown
    try:
        with np.errstate(all="ignore"):
            if any(_is_partial(array) for array in arrays):
                return [*_partial_values(op, row, arrays)] or unknown
            return [*call_kernel(row, op, arrays)]
    except (*KERNEL_ERRORS, UnimplementedError):  # what fails, fails when it runs
        return unknown


def _is_small(shape: Shape) -> TypeGuard[tuple[int, ...]]:
    return is_static(shape) and prod(shape) <= MAX_VALUE_ELEMENTS


def _input_value(op: Operation, tensor: Tensor) -> np.ndarray | None:
    """The value of an input; where vectors are joined, an unknown one counts as unknown numbers."""
    if tensor.value is not None or op.type not in JOINING or tensor.dtype is None:
        return tensor.value
    if tensor.dtype.kind not in "iu":
        return None
    sizes, packed = tensor.sizes, op.outputs[0].sizes
    if op.type == "Pack" and packed is not None:
        axis = op.get_attr("axis") % len(packed)
        sizes = packed[:axis] + packed[axis + 1 :]
    return np.full(sizes, None, object) if _is_small(sizes) else None


def _is_partial(array: np.ndarray) -> bool:
    return array.dtype.kind == "O" and any(item is None for item in array.flat)


def _partial_values(op: Operation, row: Row, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The values of the outputs where some elements are unknown; none when nothing can be said."""
    if op.type in ELEMENTWISE and op.outputs[0].dtype.kind in "iu":
        shape = np.broadcast_shapes(*(array.shape for array in arrays))
        items = zip(
            *(np.broadcast_to(array.astype(object), shape).flat for array in arrays), strict=True
        )
        values = [_apply(ELEMENTWISE[op.type], *item) for item in items]
        return [_known(_objects(values, shape), op.outputs[0])]
    if row.moves_elements:
        results = [np.asarray(result, object) for result in _run(row, op, arrays)]
        return [_known(result, out) for result, out in zip(results, op.outputs, strict=True)]
    return []


def _known(array: np.ndarray, tensor: Tensor) -> np.ndarray:
    """A value, in the type of the tensor where no element is unknown."""
    return array if _is_partial(array) or tensor.dtype is None else array.astype(tensor.dtype)


def _apply(function: Callable[..., int], *numbers: Dim) -> Dim:
    return function(*map(int, numbers)) if is_static(numbers) else None


def _objects(items: Sequence[Dim], shape: tuple[int, ...]) -> np.ndarray:
    array = np.empty(len(items), object)
    array[:] = items
    return array.reshape(shape)


def _numbers(items: StaticValue, tensor: Tensor) -> np.ndarray:
    """Sizes, some of them None, as the value of an output."""
    sizes = list(np.array(items, object).flat)
    shape = cast("tuple[int, ...]", tensor.sizes)
    return _objects(sizes, shape) if None in sizes else np.array(sizes, tensor.dtype).reshape(shape)
