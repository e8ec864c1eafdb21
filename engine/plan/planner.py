"""Which rows run once, how long each storage is alive, and where it lies in the arena.

A row here is anything with `buffers`, `reads` and `writes`, the latter tuples of storages, and
`once`, which is false for what must run every time (host steps). Positions are row numbers.
"""

from __future__ import annotations

import numpy as np

from . import fusion
from .arena import aligned
from .branches import loops
from .buffer import ARENA, CONSTANT

SHARED = 2048  # storages that share memory; the smallest beyond these get room of their own


class Layout:
    """What is decided about a program before it gets any memory.

    Attributes:
        once: positions of the rows that run once.
        lasting: the storages these write and the other rows read.
        passing: {storage: offset}, bytes in all, of what only they need.
        arena: the same of what the other rows hand on.
        objects: {storage: number of elements} of what holds Python objects.
        chains: those among the other rows.
    """

    __slots__ = ("arena", "chains", "lasting", "objects", "once", "passing")

    def __init__(self, once, lasting, passing, arena, objects=None, chains=()):
        self.once, self.lasting = once, lasting
        self.passing, self.arena = passing, arena
        self.objects, self.chains = objects or {}, chains

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
        alive = lifetimes(first, (), {*lasting})
        passing = assign(alive, overlays(first, alive))
    alive = lifetimes(others, kept, {*lasting})
    for storage in objects:
        alive.pop(storage, None)
    linked = fusion.chains(others)
    over = overlays(others, alive, linked)
    arena = assign(fusion.lifetimes(alive, others, linked), over)
    return Layout(once, lasting, passing, arena, objects, linked)


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
                if span is None and not storage.nbytes:  # nothing that a row could write
                    span = alive[storage] = [i, i]
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


def overlays(rows, alive, linked=()):
    """{storage: storage whose memory it takes over}, where a row may do what it does in place.

    The row is the first to write the one and the last to read the other, all of both. The rows of
    a chain run at the same time: none of those before may touch more of that either.
    """
    found, starts = {}, {}
    for chain in linked:
        starts.update((i, chain.first) for i in range(chain.first, chain.last + 1))
    for i, row in enumerate(rows):
        if row.alike is None:
            continue
        result = row.buffers[row.alike[0]]
        if not _is_whole(result) or alive.get(result.storage, (-1,))[0] != i:
            continue
        together = rows[starts.get(i, i) : i + 1]
        ending = [
            x.storage
            for x in (row.buffers[k] for k in row.alike[1])
            if x.itemsize == result.itemsize and alive.get(x.storage, (-1, -1))[1] == i
            if all(_is_alike(other, x.storage) for other in together)
        ]
        if ending:  # the one written last is still near
            found[result.storage] = max(ending, key=lambda storage: alive[storage][0])
    return found


def _is_whole(buffer):
    return buffer.nbytes == buffer.storage.nbytes


def _is_alike(row, storage):
    """Whether each item of a row touches no more of a storage than what stands in its place."""
    alike = (row.alike[0], *row.alike[1])
    touched = [(i, x) for i, x in enumerate(row.buffers) if x.storage is storage]
    return all(i in alike and _is_whole(x) for i, x in touched)


def assign(alive, over=None):
    """({storage: offset}, bytes in all) so that what is alive at once does not overlap.

    Greedy by size: the largest first, each into the smallest gap it fits among those placed
    before that are alive at the same time. A storage lies where the one does that it is `over`,
    unless that takes more room: then none of them does.

    Offsets are not kept apart modulo 4096, where loads may seem to meet stores: most tensors are
    multiples of that, and no model's time changed by more than 0.5 % when they were.
    """
    offsets, total = _assign_over(alive, over or {})
    if over:
        apart = _assign_over(alive, {})
        if apart[1] < total:
            return apart
    return offsets, total


def _assign_over(alive, over):
    roots = {storage: _root(storage, over) for storage in alive}
    spans = {}
    for storage, root in roots.items():
        first, last = spans.get(root, alive[storage])
        spans[root] = [min(first, alive[storage][0]), max(last, alive[storage][1])]
    places, total = _places(spans)
    return {storage: places[root] for storage, root in roots.items()}, total


def _root(storage, over):
    while storage in over:
        storage = over[storage]
    return storage


def _places(alive):
    order = sorted(alive, key=lambda storage: (-storage.nbytes, alive[storage]))
    offsets, total = {}, 0
    spans = np.array([alive[storage] for storage in order[:SHARED]], np.int64).reshape(-1, 2)
    firsts, lasts, places = spans[:, 0], spans[:, 1], []
    for i, storage in enumerate(order[:SHARED]):
        size = aligned(storage.nbytes)
        together = (firsts[:i] <= lasts[i]) & (lasts[:i] >= firsts[i])
        offset = _gap(sorted([places[k] for k in together.nonzero()[0]]), size)
        offsets[storage] = offset
        places.append((offset, offset + size))
        total = max(total, offset + size)
    for storage in order[SHARED:]:
        offsets[storage] = total
        total += aligned(storage.nbytes)
    return offsets, total


def _gap(others, size):
    """The start of the smallest gap between `others` that holds `size` bytes, or their end."""
    best, best_room, end = None, None, 0
    for start, stop in others:
        room = start - end
        if room >= size and (best is None or room < best_room):
            best, best_room = end, room
        end = max(end, stop)
    return end if best is None else best
