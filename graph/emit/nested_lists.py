"""Lists of lists of any lengths: what loops within loops keep for their gradients.

[[a, b], [], [c]]     is      elements a b c, lengths 2 0 1
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...engine.families.elementwise import elementwise
from ...engine.plan.buffer import Buffer, arena, persistent
from ...schema import dtypes
from ..core.shapes import is_static
from ..ops.state.tensorlist import TensorList
from .elementwise import no_limits
from .list_buffer import (
    INT32,
    ListBuffer,
    NotNative,
    add_to,
    materialized,
    memory_of,
    writable,
    write,
)

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from ...engine.plan.buffer import Storage
    from ...engine.plan.program import Program


def takes(x: ListBuffer, item: Buffer) -> bool:
    """Whether `x` is a list of lists of any lengths, or becomes one with `item`."""
    if x.levels or not isinstance(item, ListBuffer):
        return bool(x.levels)
    return x.items is None and (bool(item.levels) or not isinstance(item.length, int))


def empty(levels: Sequence[ListBuffer]) -> ListBuffer:
    """A list like those that have such levels, in memory of its own."""
    return _nested([_level(level) for level in levels])


def _level(like: ListBuffer) -> ListBuffer:
    return ListBuffer(like.element_dtype, like.element, 0, memory_of(like))


def _nested(levels: Sequence[ListBuffer], n_pushed: int = 0) -> ListBuffer:
    elements, lengths = levels[0], levels[-1]
    return ListBuffer(
        elements.element_dtype,
        elements.element,
        lengths.length,
        elements.items,
        n_pushed=n_pushed,
        levels=tuple(levels),
    )


def carried(x: ListBuffer) -> ListBuffer:
    """The list where a loop changes it: in the memory it has, its lengths in some that lasts."""
    return _nested(
        [ListBuffer(y.element_dtype, y.element, persistent((), INT32), y.items) for y in x.levels]
    )


def counted(x: ListBuffer) -> ListBuffer:
    """The list with lengths that instructions read."""
    return _nested([ListBuffer(y.element_dtype, y.element, y.count, y.items) for y in x.levels])


def box(program: Program, x: ListBuffer) -> Buffer:
    """The list as an object, as kernels in Python take it."""
    levels, out = counted(x).levels, arena((), np.dtype(object))

    def copy(*arrays: np.ndarray) -> None:
        *parts, target = arrays
        items, count = parts[:2]
        elements = tuple(items[: int(count)].copy())
        shape, dtype = levels[0].element, levels[0].element_dtype
        for lengths, n in zip(parts[2::2], parts[3::2], strict=True):
            ends = np.cumsum(lengths[: int(n)]).tolist()
            starts = [0, *ends][: len(ends)]
            pairs = zip(starts, ends, strict=True)
            lists = [TensorList(elements[i:j], shape, dtype, True).boxed() for i, j in pairs]
            elements, shape, dtype = tuple(lists), (), dtypes.VARIANT
        target[()] = TensorList(elements, shape, dtype, takes_any=True)

    program.host(copy, [part for level in levels for part in level.parts], (out,))
    return out


def push(program: Program, x: ListBuffer, item: Buffer, in_use: Container[Storage]) -> ListBuffer:
    """The list with another one at its end.

    Raises NotNative unless that is as those in the list.
    """
    if not isinstance(item, ListBuffer) or item.inner or not is_static(item.element):
        raise NotNative
    parts = item.levels or (item if item.items is None else materialized(program, item),)
    if not x.levels:
        one = ListBuffer(INT32, (), 0)
        x = empty([*parts, one])
    if [_kind(y) for y in x.levels[:-1]] != [_kind(y) for y in parts]:
        raise NotNative
    levels = [
        _joined(program, writable(program, y, in_use), part)
        for y, part in zip(x.levels[:-1], parts, strict=True)
    ]
    last = writable(program, x.levels[-1], in_use)
    assert last.items is not None
    write(program, "write", last.items, last.count, item.count)
    lengths = ListBuffer(INT32, (), add_to(program, last.length, 1), last.items)
    return _nested([*levels, lengths], x.n_pushed + 1)


def _kind(x: ListBuffer) -> tuple[np.dtype, object]:
    return x.element_dtype, x.element


def _rows(items: Buffer) -> Buffer:
    return items.reshape((items.shape[0], items.size // items.shape[0]))


def _joined(program: Program, x: ListBuffer, y: ListBuffer) -> ListBuffer:
    """The elements of one list, in whose memory this is, and those of another."""
    whole = materialized(program, y)
    assert x.items is not None
    if whole.items is None or not whole.items.size:
        return x
    rows, target = _rows(whole.items), _rows(x.items)
    program.call("lists.append", rows, y.count.ravel(), x.count.ravel(), target)
    return ListBuffer(x.element_dtype, x.element, _sum(program, x.count, y.count), x.items)


def _sum(program: Program, x: Buffer, y: Buffer, kind: str = "add") -> Buffer:
    out = arena((), INT32)
    elementwise(program, f"arithmetic.{kind}", (x, y), out, no_limits(INT32))
    return out


def pop(program: Program, x: ListBuffer) -> list[Buffer]:
    """The list without its last one, and that."""
    if isinstance(x.length, int):
        raise NotNative  # it is empty, as there is no iteration that puts one there
    *others, last = x.levels
    assert last.items is not None
    shorter = [ListBuffer(INT32, (), add_to(program, last.length, -1), last.items)]
    n, parts = arena((), INT32), list[ListBuffer]()
    index = shorter[0].count
    rows = _rows(last.items)
    program.call("lists.read", index.ravel(), last.count.ravel(), rows, n.ravel())
    for level in reversed(others):
        assert level.items is not None
        part = memory_of(level)
        rows, length = _rows(level.items), level.count.ravel()
        program.call("lists.take", rows, n.ravel(), length, _rows(part))
        parts.insert(0, ListBuffer(level.element_dtype, level.element, n, part))
        left = _sum(program, level.count, n, "subtract")
        shorter.insert(0, ListBuffer(level.element_dtype, level.element, left, level.items))
        if level is not others[0]:
            total = arena((), INT32)
            program.call("lists.total", rows, n.ravel(), length, total.ravel())
            n = total
    item = parts[0] if len(parts) == 1 else _nested(parts)
    return [_nested(shorter, x.n_pushed - 1), item]
