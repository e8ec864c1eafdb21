"""Lists of tensors as memory of the engine: what loops write, read and push is no Python object.

Operations that have no row here get the list as an object (graph/ops/state/tensorlist.py).
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from ...engine.families.elementwise import elementwise
from ...engine.families.layout import move
from ...engine.plan.buffer import PERSISTENT, Buffer, Storage, arena, constant, persistent, window
from ...schema import dtypes
from ..core.shapes import Shape, is_static, merge
from ..ops.state.tensorlist import MAX_LENGTH
from . import nested_lists
from .elementwise import no_limits
from .growing_memory import grows
from .list_buffer import (
    INT32,
    Inner,
    ListBuffer,
    NotNative,
    add_to,
    fits,
    materialized,
    memory_of,
    moved,
    place,
    writable,
    write,
    write_all,
)

if TYPE_CHECKING:
    from ...engine.plan.program import Program
    from ..core.graph import Operation, Tensor
    from ..session.stage import Site

SAME = ("Identity", "StopGradient", "Snapshot")
ADDED = frozenset(map(np.dtype, (np.float32, np.float64, np.int32, np.int64)))
"""Dtypes of elements of which lists can be added."""


Emitted: TypeAlias = "Sequence[Buffer] | None"
Rows: TypeAlias = (
    "dict[str, Callable[[Program, Site, Sequence[Buffer], Container[Storage]], Emitted]]"
)


def is_list(buffer: Buffer) -> bool:
    """Whether a buffer is a list in memory of the engine."""
    return isinstance(buffer, ListBuffer)


def _has_lists(buffer: Buffer) -> bool:
    return isinstance(buffer, ListBuffer) and (
        buffer.element_dtype.hasobject or buffer.inner is not None or bool(buffer.levels)
    )


def emit(
    program: Program, op: Site, inputs: Sequence[Buffer], in_use: Container[Storage]
) -> Emitted:
    """The results of an operation on lists; None where it has to be done on objects.

    Args:
        program: Takes the instructions.
        op: The operation.
        inputs: Its operands, at least one of them a list, or none where it makes one.
        in_use: What is read by others later.
    """
    row = ROWS.get(op.type)
    others = inputs[op.type not in MAKERS :]
    if row is None or (op.type not in TAKE_LISTS and any(map(is_list, others))):
        return None
    if op.type not in ON_LISTS_OF_LISTS and any(map(_has_lists, inputs)):
        return None
    if op.type not in MAKERS and not (is_list(inputs[0]) and _is_of_its_type(op, inputs[0])):
        return None
    return row(program, op, inputs, in_use)


def _is_of_its_type(op: Site, x: Buffer) -> bool:
    """Whether what is read from a list, or written to it, is of the type of its elements."""
    assert isinstance(x, ListBuffer)
    dtype = cast("np.dtype | None", op.attrs.get("element_dtype"))
    is_boxed = x.element_dtype.hasobject or dtype in (dtypes.RESOURCE, dtypes.VARIANT)
    return is_boxed or dtype in (None, x.element_dtype)


def _read(program: Program, items: Buffer, index: Buffer) -> Buffer:
    n, *element = items.shape
    out = arena(element, items.dtype)
    if out.size:
        rows = items.reshape((1, 1, n, out.size))
        target = out.reshape((1, 1, 1, out.size))
        program.call("gather.slices", rows, index.reshape((1, 1)), target, split=1)
    return out


def _spelled(buffer: Buffer) -> Shape:
    """The shape that an operand spells; None where nothing is known of it."""
    if buffer.value is None or buffer.ndim == 0:
        return None
    return tuple(None if n < 0 else int(n) for n in buffer.value)


def _element(x: ListBuffer, *shapes: Shape) -> Shape:
    """The elements' shape, as far as the list and others tell."""
    shape = x.element
    try:
        for other in shapes:
            shape = merge(shape, other)
    except ValueError:
        raise NotNative from None  # the kernel has words for it
    return shape


def _reserve(
    program: Program, op: Site, inputs: Sequence[Buffer], in_use: Container[Storage]
) -> Emitted:
    shape, n = inputs
    dtype = cast("np.dtype", op.get_attr("element_dtype"))
    if not fits(dtype) or n.ndim:
        return None
    if n.value is None:
        length = persistent((), INT32)
        program.call("lists.reserve", n.ravel(), length.ravel())
        return [ListBuffer(dtype, _spelled(shape), length)]
    if not 0 <= int(n.value) <= MAX_LENGTH:
        return None
    return [ListBuffer(dtype, _spelled(shape), int(n.value))]


def _empty(
    program: Program, op: Site, inputs: Sequence[Buffer], in_use: Container[Storage]
) -> Emitted:
    dtype = cast("np.dtype", op.get_attr("element_dtype"))
    if dtype == dtypes.VARIANT:
        return [ListBuffer(np.dtype(object), None, 0)]
    return [ListBuffer(dtype, _spelled(inputs[0]), 0)] if fits(dtype) else None


def _from_tensor(
    program: Program, op: Site, inputs: Sequence[Buffer], in_use: Container[Storage]
) -> Emitted:
    x, shape = inputs
    if not fits(x.dtype) or not x.ndim:
        return None
    if x.storage.kind == PERSISTENT:  # a variable's, that may be written to
        source, x = x, arena(x.shape, x.dtype)
        move(program, source, x)
    known = ListBuffer(x.dtype, _spelled(shape), x.shape[0])
    return [ListBuffer(x.dtype, _element(known, x.shape[1:]), x.shape[0], x)]


def _stack(
    program: Program, op: Site, inputs: Sequence[Buffer], in_use: Container[Storage]
) -> Emitted:
    x, shape = inputs
    assert isinstance(x, ListBuffer)
    n = op.get_attr("num_elements")
    if not isinstance(x.length, int) or n not in (-1, x.length):
        return None
    known = ListBuffer(x.element_dtype, _element(x, _spelled(shape)), x.length, x.items, x.written)
    if not is_static(known.element):
        return None
    whole = materialized(program, known)
    assert whole.items is not None
    return [whole.items if whole.items.shape[0] == x.length else whole.items.part(0, x.length)]


def stacked(
    program: Program, op: Operation, operands: Mapping[Tensor, Buffer]
) -> Callable[[], list[np.ndarray]] | None:
    """What gives the elements of a list once there are; None unless only that tells how many."""
    x = operands.get(op.inputs[0]) if op.type == "TensorListStack" else None
    if not isinstance(x, ListBuffer) or not isinstance(x.length, Buffer) or x.inner:
        return None
    try:
        element = _element(x, _spelled(operands[op.inputs[1]]))
    except NotNative:
        return None
    if op.get_attr("num_elements") != -1 or not is_static(element):
        return None
    known = ListBuffer(x.element_dtype, element, x.length, x.items, x.written)
    items, length = materialized(program, known).items, persistent((), INT32)
    assert items is not None
    move(program, x.length, length)
    if not grows(items):
        source, items = items, persistent(items.shape, items.dtype)
        move(program, source, items)
    count, rows = length, items

    def elements() -> list[np.ndarray]:
        n = int(window(count.storage.array, count))
        return [window(rows.storage.array, rows)[:n].copy()]

    return elements


def _get_item(
    program: Program, op: Site, inputs: Sequence[Buffer], in_use: Container[Storage]
) -> Emitted:
    x, index, shape = inputs
    assert isinstance(x, ListBuffer)
    known = _element(x, _spelled(shape))
    if not is_static(known):
        return None
    whole = ListBuffer(x.element_dtype, known, x.length, x.items, x.written)
    items = materialized(program, whole).items
    assert items is not None
    if isinstance(x.length, int) and not grows(items):
        return [_read(program, items, index)]
    out = arena(known, x.element_dtype)
    rows = items.reshape((items.shape[0], out.size))
    program.call("lists.read", index.ravel(), x.count.ravel(), rows, out.ravel())
    return [out]


def _set_item(
    program: Program, op: Site, inputs: Sequence[Buffer], in_use: Container[Storage]
) -> Emitted:
    x, index, item = inputs
    assert isinstance(x, ListBuffer)
    may_grow = bool(op.get_attr("resize_if_index_out_of_bounds"))
    known = ListBuffer(
        x.element_dtype, _element(x, item.shape), x.length, x.items, x.written, x.n_pushed
    )
    if may_grow and not x.grows:
        known = moved(program, known, memory_of(known))
    if x.items is None and not x.written and not may_grow:
        known.written = ((index, item, program.tag),)
        return [known]
    if may_grow or x.grows or not isinstance(x.length, int):
        result = writable(program, known, in_use)
        return [place(program, result, index, item, may_grow=may_grow)]
    result = writable(program, known, in_use)
    assert result.items is not None
    write(program, "write", result.items, index, item)
    return [result]


def _length(
    program: Program, op: Site, inputs: Sequence[Buffer], in_use: Container[Storage]
) -> Emitted:
    (x,) = inputs
    assert isinstance(x, ListBuffer)
    return [constant(np.int32(x.length)) if isinstance(x.length, int) else x.length]


def _push_back(
    program: Program, op: Site, inputs: Sequence[Buffer], in_use: Container[Storage]
) -> Emitted:
    x, item = inputs
    assert isinstance(x, ListBuffer)
    if nested_lists.takes(x, item):
        return [nested_lists.push(program, x, item, in_use)]
    if isinstance(item, ListBuffer) or x.element_dtype.hasobject:
        x, item = _with_inner(program, x, item)
    element, n_pushed = _element(x, item.shape), x.n_pushed + 1
    if isinstance(x.length, int) and not x.grows:
        n, items = x.length + 1, _longer(program, x, item)
    else:
        items = writable(program, x, in_use).items
        assert items is not None
        write(program, "write", items, x.count, item)
        n = add_to(program, x.length, 1)
    return [ListBuffer(x.element_dtype, element, n, items, n_pushed=n_pushed, inner=x.inner)]


def _with_inner(program: Program, x: ListBuffer, item: Buffer) -> tuple[ListBuffer, Buffer]:
    """A list of lists, and one to push, as the elements of that one after another.

    Raises NotNative unless all have one length and elements of one kind.
    """
    if not isinstance(item, ListBuffer) or not isinstance(item.length, int) or item.inner:
        raise NotNative
    items = materialized(program, item).items
    assert items is not None
    inner = Inner(items.shape[1:], item.length)
    is_new = x.inner is None and x.items is None and x.length == 0
    if not is_new and (x.inner != inner or x.element_dtype != item.element_dtype):
        raise NotNative
    element = (inner.length, *inner.element)
    whole = ListBuffer(
        item.element_dtype, element, x.length, x.items, n_pushed=x.n_pushed, inner=inner
    )
    return whole, items.part(0, inner.length)


def _longer(program: Program, x: ListBuffer, item: Buffer) -> Buffer:
    """The elements of a list, and one more."""
    assert isinstance(x.length, int)
    items = arena((x.length + 1, *item.shape), item.dtype)
    if x.length:
        known = ListBuffer(x.element_dtype, item.shape, x.length, x.items, x.written)
        before = materialized(program, known).items
        assert before is not None
        move(program, before.part(0, x.length), items.part(0, x.length))
    move(program, item, items.part(x.length, 1).reshape(item.shape))
    return items


def _pop_back(
    program: Program, op: Site, inputs: Sequence[Buffer], in_use: Container[Storage]
) -> Emitted:
    x, shape = inputs
    assert isinstance(x, ListBuffer)
    if x.levels:
        return nested_lists.pop(program, x)
    element = x.element if x.inner else _element(x, _spelled(shape))
    if not is_static(element) or x.items is None or x.length == 0:
        return None
    n = add_to(program, x.length, -1)
    position = constant(np.int32(n)) if isinstance(n, int) else n
    item = _read(program, x.items, position)
    if x.inner:
        item = ListBuffer(x.element_dtype, x.inner.element, x.inner.length, item)
    n_pushed = x.n_pushed - 1
    shorter = ListBuffer(x.element_dtype, element, n, x.items, n_pushed=n_pushed, inner=x.inner)
    return [shorter, item]


def _resize(
    program: Program, op: Site, inputs: Sequence[Buffer], in_use: Container[Storage]
) -> Emitted:
    x, n = inputs
    assert isinstance(x, ListBuffer)
    result = writable(program, moved(program, x, memory_of(x)) if not x.grows else x, in_use)
    items, length = result.items, arena((), INT32)
    assert items is not None
    rows = items.reshape((items.shape[0], items.size // items.shape[0]))
    program.call("lists.resize", x.count.ravel(), n.ravel(), rows)
    move(program, n, length)
    return [ListBuffer(x.element_dtype, x.element, length, items, n_pushed=x.n_pushed)]


def _zeros_like(
    program: Program, op: Site, inputs: Sequence[Buffer], in_use: Container[Storage]
) -> Emitted:
    (x,) = inputs
    assert isinstance(x, ListBuffer)
    return [ListBuffer(x.element_dtype, x.element, x.length)]


def _gather(
    program: Program, op: Site, inputs: Sequence[Buffer], in_use: Container[Storage]
) -> Emitted:
    x, indices, shape = inputs
    assert isinstance(x, ListBuffer)
    element = _element(x, _spelled(shape))
    if not isinstance(x.length, int) or not is_static(element):
        return None
    items = materialized(
        program, ListBuffer(x.element_dtype, element, x.length, x.items, x.written)
    ).items
    assert items is not None
    out = arena((*indices.shape, *element), x.element_dtype)
    if out.size:
        size = prod(element)
        program.call(
            "gather.slices",
            items.reshape((1, 1, items.shape[0], size)),
            indices.reshape((1, indices.size)),
            out.reshape((1, 1, indices.size, size)),
            split=1,
        )
    return [out]


def _add_n(
    program: Program, op: Site, inputs: Sequence[Buffer], in_use: Container[Storage]
) -> Emitted:
    lists = [x for x in inputs if isinstance(x, ListBuffer)]
    total = lists[0]
    known = {x.length for x in lists if isinstance(x.length, int)}
    if len(lists) < len(inputs) or total.element_dtype not in ADDED or len(known) > 1:
        return None
    if any(x.grows for x in lists) and sum(x.items is not None for x in lists) > 1:
        return None
    for x in lists[1:]:
        total = _sum(program, total, x, in_use)
    return [total]


def _sum(program: Program, x: ListBuffer, y: ListBuffer, in_use: Container[Storage]) -> ListBuffer:
    if x.items is None and not x.written:
        x, y = y, x
    element = _element(x, y.element)
    length = y.length if isinstance(y.length, int) and not x.grows else x.length
    if y.items is None and not y.written:
        return ListBuffer(x.element_dtype, element, length, x.items, x.written)
    if x.items is None and y.items is not None:
        x, y = y, x
    if not is_static(element):
        raise NotNative
    base = ListBuffer(x.element_dtype, element, length, x.items, x.written)
    result = writable(program, base, in_use)
    assert result.items is not None
    if y.items is None:
        write_all(program, "add", result.items, y)
        return result
    out = arena(result.items.shape, x.element_dtype)
    operands = (result.items, y.items)
    elementwise(program, "arithmetic.add", operands, out, no_limits(x.element_dtype))
    return ListBuffer(x.element_dtype, element, length, out)


def _same(
    program: Program, op: Site, inputs: Sequence[Buffer], in_use: Container[Storage]
) -> Emitted:
    return [inputs[0]]


ROWS: Rows = {
    **dict.fromkeys(SAME, _same),
    "AddN": _add_n,
    "EmptyTensorList": _empty,
    "TensorListFromTensor": _from_tensor,
    "TensorListGather": _gather,
    "TensorListGetItem": _get_item,
    "TensorListLength": _length,
    "TensorListPopBack": _pop_back,
    "TensorListPushBack": _push_back,
    "TensorListReserve": _reserve,
    "TensorListResize": _resize,
    "TensorListSetItem": _set_item,
    "TensorListStack": _stack,
    "ZerosLike": _zeros_like,
}
TAKE_LISTS = ("AddN", "TensorListPushBack")
"""Operations that take further lists behind the first operand."""
ON_LISTS_OF_LISTS = (*SAME, "TensorListLength", "TensorListPopBack", "TensorListPushBack")
MAKERS = ("EmptyTensorList", "TensorListFromTensor", "TensorListReserve")
"""Operations that make a list of something else."""
