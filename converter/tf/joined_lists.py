r"""Lists whose elements are of unequal lengths and that are only joined, as lists of rows.

TensorListReserve -> list -> While -> list -> TensorListConcatV2 -> y, lengths
                     body: TensorListSetItem(list, i, x)

becomes

EmptyTensorList, EmptyTensorList -> While -> TensorListStack, TensorListStack -> y, lengths
                                    body: TensorListPushBack of the rows of x; of its length

So are ragged tensors that `map_fn` gives: their rows are the elements. It holds off where a loop
does not put one element after another, from the first on, or something else reads the list.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

import numpy as np

from ...graph.core.library import Function
from ...graph.core.order import copied_from
from ...graph.core.signatures.attributes import FunctionRef
from ...graph.format.dataflow_graph import constant_of
from ...graph.format.rebuild import Copy, rebuild
from ...schema.dtypes import VARIANT

if TYPE_CHECKING:
    from ...graph.core.graph import Graph, Operation, Tensor
    from ...graph.core.protocols import AttrValue

LOOPS = ("StatelessWhile", "While")
LISTS = ("EmptyTensorList", "TensorListReserve")
WRITES = ("TensorListPushBack", "TensorListSetItem")
JOINS = ("TensorListConcat", "TensorListConcatV2")
RAGGED = ("RaggedTensorFromVariant", "RaggedTensorToVariant")
INT32 = np.dtype(np.int32)
JOINS_ROWS = "_joins_rows"
"""Says of TensorListPushBack that the rows of what it puts into a list become elements."""


@dataclass
class _List:
    """A list that a loop fills.

    Attributes:
        position: Among the loop's values.
        write: The operation of the body that puts an element into it.
        item: The element.
        readers: What reads the list after the loop.
    """

    position: int
    write: Operation
    item: Tensor
    readers: list[Operation]


@dataclass
class _Loop:
    """A loop and the lists of it that are joined; `ends` are those of rows and of lengths."""

    lists: list[_List]
    ends: list[tuple[Tensor, Tensor]] = field(default_factory=list)


def joined_lists(graph: Graph) -> Graph:
    """`graph`, or a copy in which lists that are only joined are lists of rows."""
    readers = _readers(graph)
    loops = {
        op: _Loop(lists)
        for op in graph.operations
        if op.type in LOOPS and (lists := list(_lists(op, readers)))
    }
    if not loops:
        return graph
    joins = {
        reader: (loop, i)
        for loop in loops.values()
        for i, one in enumerate(loop.lists)
        for reader in one.readers
    }

    def replace(op: Operation, copy: Copy) -> bool:
        if op in loops:
            _replace_loop(op, loops[op], copy)
        elif op in joins:
            loop, i = joins[op]
            dtype = loop.lists[i].item.dtype
            copy.maps_to(op, _joined(op, copy, *loop.ends[i], dtype), ())
        else:
            return False
        return True

    return rebuild(graph, replace=replace)


def _readers(graph: Graph) -> dict[Tensor, list[Operation]]:
    """What reads each tensor, copies of it included."""
    readers: dict[Tensor, list[Operation]] = {}
    for op in graph.operations:
        for tensor in op.inputs if op.type != "Identity" else ():
            readers.setdefault(copied_from(tensor), []).append(op)
    return readers


def _body(op: Operation, attribute: str) -> Graph:
    return op.graph.functions.body(cast("FunctionRef", op.get_attr(attribute)))


def _lists(loop: Operation, readers: dict[Tensor, list[Operation]]) -> Iterator[_List]:
    """The lists of a loop that can be joined."""
    body, condition = _body(loop, "body"), _body(loop, "cond")
    inner, checked = _readers(body), _readers(condition)
    for i, (first, last) in enumerate(zip(loop.inputs, loop.outputs, strict=True)):
        source = copied_from(first)
        value, result = _inputs(body)[i], copied_from(_outputs(body)[i])
        write, after = result.op, readers.get(last, [])
        if (
            source.op.type in LISTS
            and readers[source] == [loop]
            and write.type in WRITES
            and inner.get(value) == [write]
            and copied_from(write.inputs[0]) is value
            and result not in inner
            and _inputs(condition)[i] not in checked
            and (write.type == "TensorListPushBack" or _counts(loop, body, write.inputs[1]))
        ):
            item = write.inputs[-1]
            joined = _ends_of_ragged(after, readers) if _is_row(item) else after
            if joined and all(op.type in (*JOINS, "TensorListLength", *RAGGED) for op in joined):
                yield _List(
                    i, write, copied_from(item).op.inputs[0] if _is_row(item) else item, joined
                )


def _inputs(graph: Graph) -> list[Tensor]:
    return list(graph.inputs or ())


def _outputs(graph: Graph) -> list[Tensor]:
    return list(graph.outputs or ())


def _is_row(item: Tensor) -> bool:
    """Whether an element is a row of a ragged tensor, as a variant."""
    op = copied_from(item).op
    return op.type == "RaggedTensorToVariant" and len(op.inputs) == 1


def _ends_of_ragged(
    after: list[Operation], readers: dict[Tensor, list[Operation]]
) -> list[Operation]:
    """What makes ragged tensors of stacked lists; nothing where something else reads these."""
    if any(op.type != "TensorListStack" for op in after):
        return []
    ends = [reader for op in after for reader in readers.get(op.outputs[0], ())]
    ranks = {(op.attrs.get("input_ragged_rank"), len(op.outputs)) for op in ends}
    return ends if ranks <= {(0, 2), (-1, 2)} else []


def _counts(loop: Operation, body: Graph, index: Tensor) -> bool:
    """Whether an index is 0 in a loop's first iteration and one more in each other."""
    index = copied_from(index)
    if index not in _inputs(body):
        return False
    i = _inputs(body).index(index)
    first, step = constant_of(loop.inputs[i]), copied_from(_outputs(body)[i]).op
    if first is None or first.any() or step.type not in ("Add", "AddV2"):
        return False
    operands = [copied_from(tensor) for tensor in step.inputs]
    numbers = [_constant_within(loop, body, tensor) for tensor in operands if tensor is not index]
    return len(numbers) == 1 and numbers[0] is not None and numbers[0].item() == 1


def _constant_within(loop: Operation, body: Graph, tensor: Tensor) -> np.ndarray | None:
    """The value of a constant of a loop's body, or of one that all iterations get."""
    if tensor in _inputs(body):
        i = _inputs(body).index(tensor)
        is_same = copied_from(_outputs(body)[i]) is tensor
        return constant_of(loop.inputs[i]) if is_same else None
    return constant_of(tensor)


def _replace_loop(op: Operation, loop: _Loop, copy: Copy) -> None:
    """Adds the loop over lists of rows in the places of lists; lists of lengths after all else."""
    graph, inputs = copy.graph, cast("list[Tensor]", copy.inputs(op))
    n_values = len(inputs)
    for one in loop.lists:
        name = f"{op.name}/list_{one.position}"
        inputs[one.position] = _empty(graph, f"{name}/elements", one.item.dtype)
        inputs.append(_empty(graph, f"{name}/lengths", INT32))
    dropped = {"T", "output_shapes", "_output_shapes"}
    attrs = {name: value for name, value in op.attrs.items() if name not in dropped}
    for name, body in (("body", _filling(op, loop)), ("cond", _condition(op, loop))):
        function = graph.functions.unique_name(f"{op.name}_{name}_joined")
        graph.functions.add(Function.of(function, body))
        attrs[name] = FunctionRef(function)
    controls = copy.control_inputs(op)
    new = graph.add(op.type, op.name, inputs, attrs, controls, op.device, len(inputs))
    copy.maps_to(op, new.outputs[:n_values], [new])
    loop.ends = [
        (new.outputs[one.position], new.outputs[n_values + i]) for i, one in enumerate(loop.lists)
    ]


def _empty(graph: Graph, name: str, dtype: AttrValue) -> Tensor:
    """A list without elements."""
    operands = [graph.constant(np.int32(n), f"{name}/operand") for n in (-1, -1)]
    attrs: dict[str, AttrValue] = {"element_dtype": dtype, "shape_type": INT32}
    return graph.add("EmptyTensorList", name, operands, attrs).outputs[0]


def _with_lengths(graph: Graph, loop: _Loop) -> list[Tensor]:
    """The lists of lengths that a function of a loop gets, which are further inputs of it."""
    inputs = _inputs(graph)
    for one in loop.lists:
        attrs: dict[str, AttrValue] = {"T": VARIANT, "index": len(inputs)}
        name = graph.unique_name(f"lengths_{one.position}")
        inputs.append(graph.add("_Arg", name, (), attrs).outputs[0])
    graph.inputs = inputs
    return inputs[len(inputs) - len(loop.lists) :]


def _condition(op: Operation, loop: _Loop) -> Graph:
    """The condition, which gets lengths too."""
    graph = rebuild(_body(op, "cond"))
    _with_lengths(graph, loop)
    return graph


def _filling(op: Operation, loop: _Loop) -> Graph:
    """The body, whose writes append rows."""
    written = {one.write: one for one in loop.lists}

    def replace(inner: Operation, copy: Copy) -> bool:
        if inner not in written:
            return False
        item = copy.tensors[written[inner].item]
        elements = copy.tensors[copied_from(inner.inputs[0])]
        new = _push(copy.graph, inner.name, elements, item, {JOINS_ROWS: True})
        copy.maps_to(inner, [new], ())
        return True

    graph = rebuild(_body(op, "body"), replace=replace)
    lengths, outputs = _with_lengths(graph, loop), _outputs(graph)
    for one, old in zip(loop.lists, lengths, strict=True):
        name, item = one.write.name, copied_from(outputs[one.position]).op.inputs[1]
        shape = graph.add("Shape", f"{name}/shape", [item], {"out_type": INT32}).outputs[0]
        zero = graph.constant(np.int32(0), f"{name}/first")
        length = graph.add("GatherV2", f"{name}/length", [shape, zero, zero]).outputs[0]
        outputs.append(_push(graph, f"{name}/lengths", old, length))
    graph.outputs = outputs
    return graph


def _push(
    graph: Graph,
    name: str,
    x: Tensor,
    item: Tensor,
    attrs: Mapping[str, AttrValue] = MappingProxyType({}),
) -> Tensor:
    """A list and one more element."""
    attrs = {**attrs, "element_dtype": item.dtype}
    return graph.add("TensorListPushBack", name, [x, item], attrs).outputs[0]


def _joined(op: Operation, copy: Copy, elements: Tensor, lengths: Tensor, dtype: AttrValue):
    """What an operation gives that reads a list."""
    graph = copy.graph

    def added(kind: str, name: str, inputs: list[Tensor], **attrs: AttrValue) -> Tensor:
        return graph.add(kind, f"{op.name}/{name}", inputs, attrs).outputs[0]

    any_shape = graph.constant(np.int32(-1), f"{op.name}/shape")
    counts = added("TensorListStack", "counts", [lengths, any_shape], element_dtype=INT32)
    if op.type == "TensorListLength":
        return [added("Size", "size", [counts], out_type=INT32)]
    rows = added("TensorListStack", "rows", [elements, any_shape], element_dtype=dtype)
    if op.type in JOINS:
        return [rows, added("Cast", "lengths", [counts], DstT=np.dtype(np.int64))]
    zero = graph.constant(np.int32(0), f"{op.name}/axis")
    ends = added("Cumsum", "ends", [counts, zero])
    first = graph.constant(np.zeros(1, np.int32), f"{op.name}/first")
    splits = added("ConcatV2", "bounds", [first, ends, zero])
    return [added("Cast", "splits", [splits], DstT=op.outputs[0].dtype), rows]
