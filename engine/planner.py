"""Which rows run once, how long each storage is alive, and where it lies in the arena.

A row here is anything with `buffers`, `reads` and `writes`, the latter tuples of storages, and
`once`, which is false for what must run every time (host steps). Positions are row numbers.
"""

from __future__ import annotations

from .arena import aligned
from .buffer import ARENA, CONSTANT
from .jumps import loops

SHARED = 2048  # storages that share memory; the smallest beyond these get room of their own


class Layout:
    """What is decided about a program before it gets any memory.

    Attributes:
        once: positions of the rows that run once.
        lasting: the storages these write and the other rows read.
        passing: {storage: offset}, bytes in all, of what only they need.
        arena: the same of what the other rows hand on.
        objects: {storage: number of elements} of what holds Python objects.
    """

    __slots__ = ("arena", "lasting", "objects", "once", "passing")

    def __init__(self, once, lasting, passing, arena, objects=None):
        self.once, self.lasting = once, lasting
        self.passing, self.arena = passing, arena
        self.objects = objects or {}

    def split(self, rows):
        """The rows that run once, and the others."""
        return _split(rows, self.once)


def layout(rows, kept):
    """The Layout of a program's rows when the storages `kept` are readable at its end."""
    once, objects = constant_rows(rows), _objects(rows)
    first, others = _split(rows, once)
    lasting, passing = [], ({}, 0)
    if first:
        needed = kept.union(*(row.reads for row in others))
        written = dict.fromkeys(storage for row in first for storage in row.writes)
        lasting = [storage for storage in written if storage in needed]
        passing = assign(lifetimes(first, (), {*lasting}))
    alive = lifetimes(others, kept, {*lasting})
    for storage in objects:
        alive.pop(storage, None)
    return Layout(once, lasting, passing, assign(alive), objects)


def _split(rows, once):
    if not once:
        return [], rows
    first = [row for i, row in enumerate(rows) if i in once]
    return first, [row for i, row in enumerate(rows) if i not in once]


def _objects(rows):
    return {
        buffer.storage: buffer.storage.nbytes // buffer.itemsize
        for row in rows
        for buffer in row.buffers
        if buffer.dtype.hasobject and buffer.storage.kind == ARENA
    }


def constant_rows(rows):
    """The set of positions of the rows whose result is the same in every run.

    These read only constants and what such rows wrote, and write only arena storages that no
    other row writes.
    """
    varying, once, before = set(), set(), -1
    while len(varying) != before:
        before, once = len(varying), set()
        for i, row in enumerate(rows):
            fixed = row.once
            for storage in row.reads:
                kind = storage.kind
                if kind != CONSTANT and (kind != ARENA or storage in varying):
                    fixed = False
                    break
            for storage in row.writes:
                if storage.kind != ARENA or storage in varying:
                    fixed = False
            if fixed:
                once.add(i)
            else:
                varying.update(storage for storage in row.writes if storage.kind == ARENA)
    return once


def lifetimes(rows, kept, known):
    """{storage: [first row, last row]} of every arena storage not `known` beforehand.

    Raises ValueError when a row reads what no row before has written.
    """
    alive, end = {}, len(rows)
    for i, row in enumerate(rows):
        for storage in row.reads:
            if storage.kind == ARENA and storage not in known:
                span = alive.get(storage)
                if span is None:
                    name = storage.name or f"a buffer of {storage.nbytes} bytes"
                    raise ValueError(f"{row.name}: reads {name} before any row has written it")
                span[1] = i
        for storage in row.writes:
            if storage.kind == ARENA and storage not in known:
                alive.setdefault(storage, [i, i])[1] = i
    for first, last in loops(rows):
        for span in alive.values():
            if span[0] < first <= span[1] < last:  # read again in the next turn
                span[1] = last
    for storage in kept:
        if storage in alive:
            alive[storage][1] = end
    return alive


def assign(alive):
    """({storage: offset}, bytes in all) so that what is alive at once does not overlap.

    Greedy by size: the largest first, each into the smallest gap it fits among those placed
    before that are alive at the same time.
    """
    order = sorted(alive, key=lambda storage: (-storage.nbytes, alive[storage]))
    offsets, placed, total = {}, [], 0
    for storage in order[:SHARED]:
        first, last = alive[storage]
        size = aligned(storage.nbytes)
        others = sorted([p for p in placed if p[2] <= last and p[3] >= first])
        offset = _gap(others, size)
        offsets[storage] = offset
        placed.append((offset, offset + size, first, last))
        total = max(total, offset + size)
    for storage in order[SHARED:]:
        offsets[storage] = total
        total += aligned(storage.nbytes)
    return offsets, total


def _gap(others, size):
    """The start of the smallest gap between `others` that holds `size` bytes, or their end."""
    best, best_room, end = None, None, 0
    for start, stop, _, _ in others:
        room = start - end
        if room >= size and (best is None or room < best_room):
            best, best_room = end, room
        end = max(end, stop)
    return end if best is None else best
