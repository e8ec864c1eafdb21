"""Lists of tensors as memory of the engine: what loops write, read and push is no Python object.

A list whose elements have one known shape is a `ListBuffer`: an array of elements, and how many of
them count. A list is a value: what writes to one gives another, which takes over the memory where
nobody reads the one before any more. Operations that have no row here get the list as an object
(graph/ops/state/tensorlist.py).
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from math import prod
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, cast

import numpy as np

from ...engine.families.elementwise import elementwise
from ...engine.families.layout import fill, move
from ...engine.plan.buffer import ARENA, PERSISTENT, Buffer, Storage, arena, constant, persistent
from ...schema import dtypes
from ..core.shapes import Shape, is_static, merge
from ..ops.state.tensorlist import MAX_LENGTH, TensorList
from .elementwise import no_limits
from .growing_memory import growing, grows

if TYPE_CHECKING:
    from ...engine.plan.instruction import Tag
    from ...engine.plan.program import Program
    from ..session.stage import Site

SAME = ("Identity", "StopGradient", "Snapshot")
INT32 = np.dtype(np.int32)
ADDED = frozenset(map(np.dtype, (np.float32, np.float64, np.int32, np.int64)))
"""Dtypes of elements of which lists can be added."""


MAX_LIST_BYTES = 1 << 30
"""Of memory for a list of which only a bound of its length is known, and for a tensor array."""


class Inner(NamedTuple):
    """Lists that are elements of a list: the shape of their elements, and how many there are."""

    element: tuple[int, ...]
    length: int


class ListBuffer(Buffer):
    """A list of tensors of one dtype, or of lists of them that are all of one length.

    Attributes:
        element_dtype, element: dtype and shape of the elements; None for a shape that is not known
            yet, of a list without values. Of lists, those of their elements one after another.
        inner: What the elements are, where they are lists.
        items: [capacity, *element]; None where all elements are zeros but those in `written`.
            Memory that grows where nothing bounds how many there are.
        written: (index, element, operation) of what was written to a list of zeros.
        length: how many elements there are: a number, or the int32 that says so when it runs.
        n_pushed: by how many elements it has grown since the loop began in which it is.
    """

    __slots__ = ("element", "element_dtype", "inner", "items", "length", "n_pushed", "written")

    def __init__(
        self,
        element_dtype: np.dtype,
        element: Shape,
        length: int | Buffer,
        items: Buffer | None = None,
        written: tuple[tuple[Buffer, Buffer, Tag], ...] = (),
        n_pushed: int = 0,
        inner: Inner | None = None,
    ):
        lasts = grows(items) and not (isinstance(length, Buffer) and length.storage.kind == ARENA)
        super().__init__(np.dtype(object), (), Storage(PERSISTENT if lasts else ARENA, 0))
        self.element_dtype, self.element, self.length = element_dtype, element, length
        self.items, self.written, self.n_pushed = items, written, n_pushed
        self.inner = inner

    @property
    def is_open(self) -> bool:
        """Whether it has no memory, as its elements' shape is not known, or how many there are."""
        return self.items is None and not (is_static(self.element) and isinstance(self.length, int))

    @property
    def grows(self) -> bool:
        """Whether its memory takes any number of elements."""
        return grows(self.items)

    @property
    def count(self) -> Buffer:
        """How many elements there are, as instructions read it."""
        return constant(np.int32(self.length)) if isinstance(self.length, int) else self.length

    @property
    def parts(self) -> list[Buffer]:
        """The buffers it consists of."""
        parts = [] if self.items is None else [self.items]
        return [*parts, self.length] if isinstance(self.length, Buffer) else parts


class NotNative(Exception):
    """An operation cannot become instructions where it stands."""


Emitted: TypeAlias = "Sequence[Buffer] | None"
Rows: TypeAlias = (
    "dict[str, Callable[[Program, Site, Sequence[Buffer], Container[Storage]], Emitted]]"
)


def is_list(buffer: Buffer) -> bool:
    """Whether a buffer is a list in memory of the engine."""
    return isinstance(buffer, ListBuffer)


def _has_lists(buffer: Buffer) -> bool:
    return isinstance(buffer, ListBuffer) and buffer.element_dtype.hasobject | (
        buffer.inner is not None
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
    if op.type not in MAKERS and not is_list(inputs[0]):
        return None
    return row(program, op, inputs, in_use)


def materialized(program: Program, x: ListBuffer, capacity: int | None = None) -> ListBuffer:
    """The list with memory, of `capacity` elements where that is given; it holds what `x` does.

    Raises NotNative where the elements' shape is not known.
    """
    if x.items is not None:
        return x
    n = x.length if capacity is None else capacity
    if not isinstance(n, int):
        return moved(program, x, memory_of(x))
    if not is_static(x.element):
        raise NotNative
    items = arena((n, *x.element), x.element_dtype)
    if items.size:
        fill(program, constant(np.zeros((), x.element_dtype)), items)
    _write_all(program, "write", items, x)
    return ListBuffer(
        x.element_dtype, x.element, x.length, items, n_pushed=x.n_pushed, inner=x.inner
    )


def memory_of(x: ListBuffer) -> Buffer:
    """New memory for any number of elements of a list; raises NotNative where there is none."""
    memory = growing(x.element, x.element_dtype) if is_static(x.element) else None
    if memory is None:
        raise NotNative
    return memory


def moved(program: Program, x: ListBuffer, memory: Buffer) -> ListBuffer:
    """The list in memory that grows."""
    rows = memory.reshape((memory.shape[0], memory.size // memory.shape[0]))
    none = constant(np.int32(0)).reshape((1,))
    if x.items is not None:
        whole = x.items.reshape((x.items.shape[0], rows.shape[1]))
        program.call("lists.append", whole, x.count.ravel(), none, rows)
    else:
        program.call("lists.resize", none, x.count.ravel(), rows)
        _write_all(program, "write", memory, x)
    return ListBuffer(
        x.element_dtype, x.element, x.length, memory, n_pushed=x.n_pushed, inner=x.inner
    )


def _place(
    program: Program, x: ListBuffer, index: Buffer, item: Buffer, *, may_grow: bool
) -> ListBuffer:
    """The list, in memory that grows, with an item at an index."""
    assert x.items is not None
    rows = x.items.reshape((x.items.shape[0], item.size))
    length = arena((), INT32)
    program.call(
        "lists.place",
        *(index.ravel(), item.ravel(), x.count.ravel(), rows, length.ravel()),
        may_grow=int(may_grow),
    )
    return ListBuffer(
        x.element_dtype, x.element, length, x.items, n_pushed=x.n_pushed, inner=x.inner
    )


def box(program: Program, x: ListBuffer) -> Buffer:
    """The list as an object, as kernels in Python take it."""
    out = arena((), np.dtype(object))
    shape, dtype = x.element, x.element_dtype
    if x.items is None and isinstance(x.length, int) and not x.written:
        kind = dtypes.VARIANT if dtype.hasobject else dtype
        empty = TensorList((None,) * x.length, shape, kind)

        def step(target: np.ndarray) -> None:
            target[()] = empty

        program.host(step, (), (out,))
        return out
    whole = materialized(program, x)
    assert whole.items is not None
    known = whole.length if isinstance(whole.length, int) else None

    inner = x.inner

    def element(array: np.ndarray) -> np.ndarray:
        if inner is None:
            return array
        return TensorList(tuple(array), inner.element, dtype).boxed()

    def copy(items: np.ndarray, *others: np.ndarray) -> None:
        *counts, target = others
        n = known if known is not None else int(counts[0])
        elements = tuple(map(element, items[:n].copy()))
        is_inner = inner is not None
        target[()] = TensorList(
            elements, () if is_inner else shape, dtypes.VARIANT if is_inner else dtype
        )

    program.host(copy, whole.parts, (out,))
    return out


def _write(program: Program, kernel: str, items: Buffer, index: Buffer, item: Buffer) -> None:
    n, *element = items.shape
    size = prod(element)
    if size:
        rows = items.reshape((n, size))
        program.call(f"lists.{kernel}", index.ravel(), item.ravel(), rows, split=size)


def _write_all(program: Program, kernel: str, items: Buffer, x: ListBuffer) -> None:
    """Writes or adds what was written to a list of zeros; errors are those of the writers."""
    tag = program.tag
    for index, item, writer in x.written:
        program.tag = writer
        _write(program, kernel, items, index, item)
    program.tag = tag


def _read(program: Program, items: Buffer, index: Buffer) -> Buffer:
    n, *element = items.shape
    out = arena(element, items.dtype)
    if out.size:
        rows = items.reshape((1, 1, n, out.size))
        target = out.reshape((1, 1, 1, out.size))
        program.call("gather.slices", rows, index.reshape((1, 1)), target, split=1)
    return out


def _owned(program: Program, x: ListBuffer, in_use: Container[Storage]) -> ListBuffer:
    """The list with memory that may be written to: that of `x` where nobody reads it later."""
    whole = materialized(program, x)
    assert whole.items is not None
    if whole.items.storage not in in_use and (whole.items.storage.kind == ARENA or whole.grows):
        return whole
    if whole.grows:
        return moved(program, whole, memory_of(whole))
    items = arena(whole.items.shape, whole.items.dtype)
    move(program, whole.items, items)
    return ListBuffer(
        x.element_dtype, x.element, x.length, items, n_pushed=x.n_pushed, inner=x.inner
    )


def fits(dtype: np.dtype) -> bool:
    """Whether elements of a dtype lie in memory, and kernels can move them."""
    return dtype.names is None and not dtype.hasobject and dtype.itemsize <= 8


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


def _add_to(program: Program, length: int | Buffer, n: int) -> int | Buffer:
    if isinstance(length, int):
        return length + n
    out = arena((), INT32)
    step = constant(np.array(n, INT32))
    elementwise(program, "arithmetic.add", (length, step), out, no_limits(INT32))
    return out


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
    if may_grow or x.grows or not isinstance(x.length, int):
        result = _owned(program, known, in_use)
        return [_place(program, result, index, item, may_grow=may_grow)]
    if x.items is None and not x.written:
        known.written = ((index, item, program.tag),)
        return [known]
    result = _owned(program, known, in_use)
    assert result.items is not None
    _write(program, "write", result.items, index, item)
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
    if isinstance(item, ListBuffer) or x.element_dtype.hasobject:
        x, item = _with_inner(program, x, item)
    element, n_pushed = _element(x, item.shape), x.n_pushed + 1
    if isinstance(x.length, int) and not x.grows:
        n, items = x.length + 1, _longer(program, x, item)
    else:
        items = _owned(program, x, in_use).items
        assert items is not None
        _write(program, "write", items, x.count, item)
        n = _add_to(program, x.length, 1)
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
    element = x.element if x.inner else _element(x, _spelled(shape))
    if not is_static(element) or x.items is None or x.length == 0:
        return None
    n = _add_to(program, x.length, -1)
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
    result = _owned(program, moved(program, x, memory_of(x)) if not x.grows else x, in_use)
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
    if len(lists) < len(inputs) or any(not isinstance(x.length, int) for x in lists):
        return None
    total = lists[0]
    if total.element_dtype not in ADDED or any(x.length != total.length for x in lists):
        return None
    for x in lists[1:]:
        total = _sum(program, total, x, in_use)
    return [total]


def _sum(program: Program, x: ListBuffer, y: ListBuffer, in_use: Container[Storage]) -> ListBuffer:
    if x.items is None and not x.written:
        x, y = y, x
    element = _element(x, y.element)
    if y.items is None and not y.written:
        return ListBuffer(x.element_dtype, element, x.length, x.items, x.written)
    if x.items is None and y.items is not None:
        x, y = y, x
    if not is_static(element):
        raise NotNative
    base = ListBuffer(x.element_dtype, element, x.length, x.items, x.written)
    result = _owned(program, base, in_use)
    assert result.items is not None
    if y.items is None:
        _write_all(program, "add", result.items, y)
        return result
    out = arena(result.items.shape, x.element_dtype)
    operands = (result.items, y.items)
    elementwise(program, "arithmetic.add", operands, out, no_limits(x.element_dtype))
    return ListBuffer(x.element_dtype, element, x.length, out)


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
