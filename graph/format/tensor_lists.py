r"""Tensor arrays behind handles as lists: what orders their operations becomes the list itself.

TensorArrayV3 -> flow -> TensorArrayWriteV3 -> flow -> TensorArrayGatherV3 -> y
        \ handle -------/--------------------------/

becomes    TensorListReserve -> list -> TensorListSetItem -> list -> TensorListStack -> y

Lists are values, so that functions of loops and branches take and give them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from ...schema.dtypes import VARIANT
from ..core.graph import Graph, Operation, Tensor
from ..core.order import copied_from, data_and_control_inputs
from ..core.registry import row_of
from .dataflow_graph import CONTROL, MERGES, constant_of
from .element_shapes import GRADIENTS
from .rebuild import Copy, rebuild

if TYPE_CHECKING:
    import numpy.typing as npt

    from ..core.protocols import AttrValue
    from ..core.shapes import Shape

INT32 = np.dtype(np.int32)
_PASSING = frozenset((*CONTROL, "Identity"))


def arrays_as_lists(graph: Graph) -> Graph:
    """`graph`, or a copy in which tensor arrays are lists; arrays of gradients stay arrays."""
    types = {op.type for op in graph.operations}
    if "TensorArrayV3" not in types or types.intersection(GRADIENTS):
        return graph
    ends = [tensor.op for tensor in graph.outputs or ()]
    return rebuild(graph, [*ends, *graph.control_outputs], _replace, _before)


def _before(op: Operation) -> list[Operation]:
    """What an operation waits for; one of an array does not need the handle."""
    if op.type not in _ROWS or op.type == "TensorArrayV3":
        return data_and_control_inputs(op)
    return [*(tensor.op for tensor in op.inputs[1:]), *op.control_inputs]


def _replace(op: Operation, copy: Copy) -> bool:
    if op.type in _ROWS:
        array = _Array(op, copy)
        tensors = _ROWS[op.type](array)
        copy.maps_to(op, tensors, [array.last] if array.last else array.controls)
        return True
    if op.type not in _PASSING or VARIANT not in {
        t.dtype for t in copy.inputs(op) if t is not None
    }:
        return False
    attrs = {name: value for name, value in op.attrs.items() if name != "_output_shapes"}
    new = copy.add(op, attrs={**attrs, "T": VARIANT})
    copy.maps_to(op, new.outputs, [new])
    return True


class _Array:
    """An operation of a tensor array, and what it becomes.

    Attributes:
        op: The operation.
        inputs: What stands for its inputs but for the handle.
        created: What makes the array; None where the handle comes from somewhere else.
        controls: What it waits for.
        last: What takes its place.
    """

    def __init__(self, op: Operation, copy: Copy):
        self.op, self._graph = op, copy.graph
        self.inputs = [copy.tensors[x] for x in op.inputs[op.type != "TensorArrayV3" :]]
        self.created = op if op.type == "TensorArrayV3" else _creator(op.inputs[0])
        self.controls = copy.control_inputs(op)
        self.last: Operation | None = None

    def add(
        self, kind: str, inputs: Sequence[Tensor], dtype: AttrValue = None, **attrs: AttrValue
    ) -> Sequence[Tensor]:
        """The results of an operation on a list of elements of a dtype."""
        if dtype is not None:
            attrs["element_dtype"] = dtype
        name = self.op.name
        self.last = self._graph.add(kind, name, inputs, attrs, self.controls, self.op.device)
        return self.last.outputs

    def operand(self, value: npt.ArrayLike, dtype: np.dtype = INT32) -> Tensor:
        """A constant operand."""
        return self._graph.constant(np.array(value, dtype), f"{self.op.name}/operand")

    def shape(self) -> Tensor:
        """The elements' shape as an operand: what it says, or else its array."""
        shape = cast("Shape", self.op.attrs.get("element_shape"))
        if shape is None and self.created is not None:
            shape = cast("Shape", self.created.get_attr("element_shape"))
        return self.operand(_spelled(shape))

    @property
    def dtype(self) -> AttrValue:
        """That of the elements."""
        return self.op.get_attr("dtype")

    @property
    def grows(self) -> bool:
        """Whether a write behind the last element makes more of them."""
        return self.created is None or bool(self.created.get_attr("dynamic_size"))

    def is_size(self, tensor: Tensor) -> bool:
        """Whether a tensor says how many elements the array has."""
        op = copied_from(tensor).op
        if op.type == "TensorArraySizeV3":
            return _creator(op.inputs[0]) is self.created
        size = self._size()
        return size is not None and _is_same(tensor, size)

    def is_all(self, indices: Tensor) -> bool:
        """Whether some indices are those of all elements, in their order."""
        end = _end_of_range(indices)
        if end is not None:
            return self.is_size(end)
        size = self._size()
        numbers, n = _known(indices), None if size is None else _known(size)
        return numbers is not None and n is not None and np.array_equal(numbers, np.arange(int(n)))

    def is_filled(self, indices: Tensor, value: Tensor) -> bool:
        """Whether the array has a row of `value` at each index, and was new before.

        Where it has more elements than there are rows, TensorFlow refuses to read these.
        """
        if copied_from(self.op.inputs[-1]).op is not self.created:
            return False
        end, size = _end_of_range(indices), self._size()
        if end is None or size is None or self.is_all(indices):
            return self.is_all(indices)
        is_known = _known(size) is not None and _known(end) is not None
        return not is_known and _is_row_count(end, value)

    def _size(self) -> Tensor | None:
        return None if self.created is None or self.grows else self.created.inputs[0]


def _reserve(array: _Array) -> Sequence[Tensor]:
    (flow,) = array.add("TensorListReserve", [array.shape(), *array.inputs], array.dtype)
    return flow, flow


def _write(array: _Array) -> Sequence[Tensor]:
    index, value, flow = array.inputs
    return array.add(
        "TensorListSetItem",
        [flow, index, value],
        value.dtype,
        resize_if_index_out_of_bounds=array.grows,
    )


def _read(array: _Array) -> Sequence[Tensor]:
    index, flow = array.inputs
    return array.add("TensorListGetItem", [flow, index, array.shape()], array.dtype)


def _gather(array: _Array) -> Sequence[Tensor]:
    indices, flow = array.inputs
    if array.is_all(array.op.inputs[1]):
        return array.add("TensorListStack", [flow, array.shape()], array.dtype, num_elements=-1)
    return array.add("TensorListGather", [flow, indices, array.shape()], array.dtype)


def _scatter(array: _Array) -> Sequence[Tensor]:
    indices, value, flow = array.inputs
    if array.is_filled(*array.op.inputs[1:3]):
        return array.add("TensorListFromTensor", [value, array.shape()], value.dtype)
    return array.add("TensorListScatterIntoExistingList", [flow, value, indices], value.dtype)


def _split(array: _Array) -> Sequence[Tensor]:
    value, lengths, _ = array.inputs
    return array.add("TensorListSplit", [value, array.shape(), lengths], value.dtype)


def _concat(array: _Array) -> Sequence[Tensor]:
    except_first = cast("Shape", array.op.get_attr("element_shape_except0"))
    shape = None if except_first is None else (None, *except_first)
    lengths = array.operand([], np.dtype(np.int64))
    inputs = [*array.inputs, array.operand(_spelled(shape)), lengths]
    return array.add("TensorListConcatV2", inputs, array.dtype)


def _size(array: _Array) -> Sequence[Tensor]:
    return array.add("TensorListLength", array.inputs)


_ROWS: dict[str, Callable[[_Array], Sequence[Tensor]]] = {
    "TensorArrayCloseV3": lambda array: (),
    "TensorArrayConcatV3": _concat,
    "TensorArrayGatherV3": _gather,
    "TensorArrayReadV3": _read,
    "TensorArrayScatterV3": _scatter,
    "TensorArraySizeV3": _size,
    "TensorArraySplitV3": _split,
    "TensorArrayV3": _reserve,
    "TensorArrayWriteV3": _write,
}
"""Operations of tensor arrays -> what gives their results of lists."""


def _spelled(shape: Shape) -> npt.ArrayLike:
    """A shape as TensorFlow writes it in an operand: -1 for what is not known."""
    return -1 if shape is None else [-1 if n is None else n for n in shape]


def _known(tensor: Tensor) -> np.ndarray | None:
    """The value of a tensor, where it is known before anything runs."""
    constant = constant_of(tensor)
    return tensor.value if constant is None else constant


def _creator(handle: Tensor) -> Operation | None:
    """The TensorArrayV3 that made a handle."""
    while handle.op.type in _PASSING and handle.op.type not in MERGES:
        handle = handle.op.inputs[0]
    return handle.op if handle.op.type == "TensorArrayV3" else None


def _end_of_range(indices: Tensor) -> Tensor | None:
    """Where the numbers from 0 on end that some indices are; None for other indices."""
    op = copied_from(indices).op
    if op.type != "Range":
        return None
    first, end, step = op.inputs
    return end if _known(first) == 0 and _known(step) == 1 else None


def _is_row_count(tensor: Tensor, x: Tensor) -> bool:
    """Whether a tensor is computed as the size of the first axis of `x`."""
    op = copied_from(tensor).op
    if op.type != "StridedSlice" or op.get_attr("shrink_axis_mask") != 1:
        return False
    shape = copied_from(op.inputs[0]).op
    first = _known(op.inputs[1])
    is_first = first is not None and np.array_equal(first, [0])
    return shape.type == "Shape" and is_first and copied_from(shape.inputs[0]) is copied_from(x)


def _is_same(a: Tensor, b: Tensor) -> bool:
    """Whether two tensors are computed alike of the same tensors."""
    pairs = [(a, b)]
    for x, y in pairs:
        x, y = copied_from(x), copied_from(y)
        if x is y:
            continue
        value, other = _known(x), _known(y)
        if value is not None and other is not None:
            if not np.array_equal(value, other):
                return False
            continue
        row = row_of(x.op.type)
        if x.op.type != y.op.type or x.value_index != y.value_index or not x.op.inputs:
            return False
        if row is None or not row.is_pure or x.op.attrs != y.op.attrs:
            return False
        pairs += zip(x.op.inputs, y.op.inputs, strict=True)
    return True
