"""Lists of tensors while they are compiled: where their elements are, and how many there are.

A list whose elements have one known shape is a `ListBuffer`: an array of elements, and how many of
them count. A list is a value: what writes to one gives another, which takes over the memory where
nobody reads the one before any more.
"""

from __future__ import annotations

from collections.abc import Container
from math import prod
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

from ...engine.families.elementwise import elementwise
from ...engine.families.layout import fill, move
from ...engine.plan.buffer import ARENA, PERSISTENT, Buffer, Storage, arena, constant, persistent
from ...schema import dtypes
from ..core.operation_errors import failed
from ..core.shapes import Shape, is_static
from ..ops.state.tensorlist import TensorList
from .elementwise import no_limits
from .growing_memory import growing, grows

if TYPE_CHECKING:
    from ...engine.plan.instruction import Tag
    from ...engine.plan.program import Program
    from ..core.graph import Operation

INT32 = np.dtype(np.int32)
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
        levels: of lists of any lengths in memory that grows, what they consist of: a list of the
            elements of all, and one of how many each has; for lists in these, further ones.
    """

    __slots__ = (
        "element",
        "element_dtype",
        "inner",
        "items",
        "length",
        "levels",
        "n_pushed",
        "written",
    )

    def __init__(
        self,
        element_dtype: np.dtype,
        element: Shape,
        length: int | Buffer,
        items: Buffer | None = None,
        written: tuple[tuple[Buffer, Buffer, Tag], ...] = (),
        n_pushed: int = 0,
        inner: Inner | None = None,
        levels: tuple[ListBuffer, ...] = (),
    ):
        lasts = grows(items) and not (isinstance(length, Buffer) and length.storage.kind == ARENA)
        lasts = lasts and all(level.storage.kind == PERSISTENT for level in levels)
        super().__init__(np.dtype(object), (), Storage(PERSISTENT if lasts else ARENA, 0))
        self.element_dtype, self.element, self.length = element_dtype, element, length
        self.items, self.written, self.n_pushed = items, written, n_pushed
        self.inner, self.levels = inner, levels

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
        if self.levels:
            return [part for level in self.levels for part in level.parts]
        parts = [] if self.items is None else [self.items]
        return [*parts, self.length] if isinstance(self.length, Buffer) else parts


class NotNative(Exception):
    """An operation cannot become instructions where it stands."""


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
    write_all(program, "write", items, x)
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
        tag = program.tag
        for index, item, program.tag in x.written:
            length = arena((1,), INT32)
            operands = index.ravel(), item.ravel(), x.count.ravel(), rows, length
            program.call("lists.place", *operands, may_grow=0)
        program.tag = tag
    return ListBuffer(
        x.element_dtype, x.element, x.length, memory, n_pushed=x.n_pushed, inner=x.inner
    )


def lasting(program: Program, x: ListBuffer) -> ListBuffer | None:
    """The list in memory that later stages have; None where there can be none."""
    if x.inner or x.levels or not is_static(x.element) or x.element_dtype.hasobject:
        return None
    memory = x.items if x.grows else growing(x.element, x.element_dtype)
    if memory is None:
        return None
    if not x.grows:
        moved(program, x, memory)
    length = persistent((), INT32)
    move(program, x.count, length)
    return ListBuffer(x.element_dtype, x.element, length, memory)


def place(
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
    if x.items is None:
        return _box_written(program, x, out)
    whole = materialized(program, x)
    assert whole.items is not None
    known = whole.length if isinstance(whole.length, int) else None

    inner = x.inner

    def element(array: np.ndarray) -> np.ndarray:
        if inner is None:
            return array
        return TensorList(tuple(array), inner.element, dtype, takes_any=True).boxed()

    def copy(items: np.ndarray, *others: np.ndarray) -> None:
        *counts, target = others
        n = known if known is not None else int(counts[0])
        elements = tuple(map(element, items[:n].copy()))
        is_inner = inner is not None
        kind = dtypes.VARIANT if is_inner else dtype
        target[()] = TensorList(elements, () if is_inner else shape, kind, takes_any=True)

    program.host(copy, whole.parts, (out,))
    return out


def _box_written(program: Program, x: ListBuffer, out: Buffer) -> Buffer:
    """The object of a list whose elements have no value but those that were written."""
    kind = dtypes.VARIANT if x.element_dtype.hasobject else x.element_dtype
    writers = [writer for _, _, writer in x.written]

    def step(length: np.ndarray, *arrays: np.ndarray) -> None:
        elements: list[np.ndarray | None] = [None] * int(length)
        for i, item, writer in zip(arrays[:-1:2], arrays[1:-1:2], writers, strict=True):
            if not 0 <= int(i) < len(elements):
                raise failed(
                    cast("Operation", writer),
                    f"Trying to modify element {int(i)} in a list with {len(elements)} elements.",
                )
            elements[int(i)] = item.copy()
        arrays[-1][()] = TensorList(tuple(elements), x.element, kind, takes_any=bool(writers))

    operands = [part for index, item, _ in x.written for part in (index, item)]
    program.host(step, [x.count, *operands], (out,))
    return out


def write(program: Program, kernel: str, items: Buffer, index: Buffer, item: Buffer) -> None:
    """Writes an item to its index, or adds it there, as the kernel says."""
    n, *element = items.shape
    size = prod(element)
    if size:
        rows = items.reshape((n, size))
        program.call(f"lists.{kernel}", index.ravel(), item.ravel(), rows, split=size)


def write_all(program: Program, kernel: str, items: Buffer, x: ListBuffer) -> None:
    """Writes or adds what was written to a list of zeros; errors are those of the writers."""
    tag = program.tag
    for index, item, writer in x.written:
        program.tag = writer
        write(program, kernel, items, index, item)
    program.tag = tag


def writable(program: Program, x: ListBuffer, in_use: Container[Storage]) -> ListBuffer:
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


def add_to(program: Program, length: int | Buffer, n: int) -> int | Buffer:
    """A length that is larger by a number."""
    if isinstance(length, int):
        return length + n
    out = arena((), INT32)
    step = constant(np.array(n, INT32))
    elementwise(program, "arithmetic.add", (length, step), out, no_limits(INT32))
    return out
