"""Lists of tensors in VARIANT tensors: TensorListReserve and what reads and writes such lists.

Source: LiteRT's kernels of these names, which its converter writes for TensorFlow's lists. A list
is never changed: who writes an element gives another list.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from ...graph.ops.state import tensorlist
from ...graph.ops.state.tensorlist import TensorList
from ...schema.dtypes import numpy_dtype, tf_name
from ..checks import required
from .registry import custom, exactly

if TYPE_CHECKING:
    from ..plan.node import DynamicResult, Node, Operand, Prepared

Kernel: TypeAlias = Callable[..., Sequence[np.ndarray]]

_ELEMENTS = ("float32", "int32", "int64", "bool")
"""What lists hold that TensorListReserve makes."""


def _prepared(
    node: Node, kernel: Kernel, shapes: Sequence[tuple[int | None, ...]], n_lists: int = 1
) -> DynamicResult:
    """What computes the results by numpy, between two stages; the first inputs are lists."""
    for i, operand in enumerate(node.inputs[:n_lists]):
        dtype = None if operand is None else operand.dtype
        node.require(
            dtype is not None and dtype.hasobject,
            f"input {i} must be a list (VARIANT), got {dtype}",
        )

    def run(*arrays: np.ndarray) -> Sequence[np.ndarray]:
        for array in arrays[:n_lists]:
            node.require(
                isinstance(array[()], TensorList), "the variant is not a list: nothing made one"
            )
        try:
            return kernel(*arrays)
        except ValueError as error:
            node.fail(f"{error}")

    return node.dynamic_result(run, shapes)


def _list(box: np.ndarray) -> TensorList:
    return cast("TensorList", box[()])


def _shape(dims: np.ndarray) -> np.ndarray:
    """A shape as an input spells it; one of no sizes says as little as the scalar -1."""
    return dims if dims.size else np.array(-1, np.int32)


def _number(node: Node, operand: Operand, what: str) -> None:
    """Refuses what is no single int32."""
    node.require(
        operand.dtype == np.int32 and operand.size == 1,
        f"{what} must be one int32, got {tf_name(operand.dtype)} of shape {operand.shape}",
    )


def _sizes(node: Node, shape: Operand) -> None:
    """Refuses a shape that is no integers."""
    node.require(shape.is_integer, f"the shape must be integers, got {tf_name(shape.dtype)}")


def _same_type(node: Node, box: np.ndarray, dtype: np.dtype) -> np.dtype:
    """The list's type; refuses an element, or a result, of another."""
    list_type = _list(box).dtype
    node.require(list_type == dtype, f"the list holds {list_type}, got {dtype}")
    return list_type


def _result_type(node: Node, i: int = 0) -> np.dtype:
    return node.outputs[i].dtype or np.dtype(np.float32)


@custom("TensorListReserve")
def reserve(node: Node) -> Prepared:
    """A list of as many elements as the second input says, none of which is set."""
    shape, count = exactly(node, 2)
    _sizes(node, shape)
    _number(node, count, "the number of elements")
    options = bytes(node.custom_options)
    node.require(options, "the options must hold the elements' type, got none")
    try:
        dtype = numpy_dtype(options[0])
    except ValueError as error:
        node.fail(f"{error}")
    node.require(dtype.name in _ELEMENTS, f"lists of {dtype} are not supported")

    def kernel(shape: np.ndarray, n: np.ndarray) -> Sequence[np.ndarray]:
        return [tensorlist.reserve(_shape(shape), n.ravel()[0], element_dtype=dtype)]

    return _prepared(node, kernel, [()], 0)


@custom("TensorListFromTensor")
def from_tensor(node: Node) -> Prepared:
    """The slices of the first input along its first axis."""
    x, shape = exactly(node, 2)
    node.require(x.ndim > 0, "input must have a dimension")
    _sizes(node, shape)

    def kernel(x: np.ndarray, shape: np.ndarray) -> Sequence[np.ndarray]:
        return [tensorlist.from_tensor(x, _shape(shape))]

    return _prepared(node, kernel, [()], 0)


@custom("TensorListSetItem")
def set_item(node: Node) -> Prepared:
    """The list with the third input at an index; longer where the index is beyond its end."""
    _, index, _ = exactly(node, 3)
    _number(node, index, "the index")

    def kernel(box: np.ndarray, index: np.ndarray, item: np.ndarray) -> Sequence[np.ndarray]:
        _same_type(node, box, item.dtype)
        i = index.ravel()[0]
        return [tensorlist.set_item(box, i, item, resize_if_index_out_of_bounds=True)]

    return _prepared(node, kernel, [()])


@custom("TensorListPushBack")
def push_back(node: Node) -> Prepared:
    """The list with the second input at its end."""
    exactly(node, 2)

    def kernel(box: np.ndarray, item: np.ndarray) -> Sequence[np.ndarray]:
        _same_type(node, box, item.dtype)
        return [tensorlist.push_back(box, item)]

    return _prepared(node, kernel, [()])


@custom("TensorListGetItem")
def get_item(node: Node) -> Prepared:
    """The element at an index; zeros where it is not set and its shape is known."""
    _, index, shape = exactly(node, 3)
    _sizes(node, shape)
    _number(node, index, "the index")

    def kernel(box: np.ndarray, index: np.ndarray, shape: np.ndarray) -> Sequence[np.ndarray]:
        dtype = _same_type(node, box, _result_type(node))
        i = index.ravel()[0]
        return [tensorlist.get_item(box, i, _shape(shape), element_dtype=dtype)]

    return _prepared(node, kernel, [()])


@custom("TensorListPopBack")
def pop_back(node: Node) -> Prepared:
    """The list without its last element, and that element."""
    _sizes(node, exactly(node, 2)[1])

    def kernel(box: np.ndarray, shape: np.ndarray) -> Sequence[np.ndarray]:
        dtype = _same_type(node, box, _result_type(node, 1))
        return tensorlist.pop_back(box, _shape(shape), element_dtype=dtype)

    return _prepared(node, kernel, [(), ()])


@custom("TensorListStack")
def stack(node: Node) -> Prepared:
    """All elements along a new first axis; of single numbers, a row."""
    _sizes(node, exactly(node, 2)[1])

    def kernel(box: np.ndarray, shape: np.ndarray) -> Sequence[np.ndarray]:
        dtype = _same_type(node, box, _result_type(node))
        stacked = tensorlist.stack(box, _shape(shape), num_elements=-1, element_dtype=dtype)
        return [stacked.ravel() if stacked.shape[1:] == (1,) else stacked]

    return _prepared(node, kernel, [()])


@custom("TensorListLength")
def length(node: Node) -> Prepared:
    """The number of elements."""
    exactly(node, 1)

    def kernel(box: np.ndarray) -> Sequence[np.ndarray]:
        return [np.array(tensorlist.length(box), np.int32)]

    return _prepared(node, kernel, [()])


@custom("TensorListElementShape")
def element_shape(node: Node) -> Prepared:
    """The shape of the elements, -1 for unknown sizes; the scalar -1 where the rank is unknown."""
    exactly(node, 1)

    def kernel(box: np.ndarray) -> Sequence[np.ndarray]:
        return [np.array(tensorlist.element_shape(box), np.int32)]

    return _prepared(node, kernel, [()])


@custom("VariantAddN")
def add_n(node: Node) -> Prepared:
    """The list of the sums of elements; one that is not set counts as zeros."""
    n = len(required(node, 1))

    def kernel(*boxes: np.ndarray) -> Sequence[np.ndarray]:
        return [reduce(add, map(_list, boxes)).boxed()]

    return _prepared(node, kernel, [()], max(n, len(node.inputs)))


@custom("VariantZerosLike")
def zeros_like(node: Node) -> Prepared:
    """A list as long, of zeros where elements are set."""
    exactly(node, 1)

    def kernel(box: np.ndarray) -> Sequence[np.ndarray]:
        return [_list(box).zeros().boxed()]

    return _prepared(node, kernel, [()])
