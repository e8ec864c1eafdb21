"""Which rows run once, how long each storage is alive, and where it lies in the arena.

A row here is anything with `reads` and `writes`, tuples of storages, and `once`, which is false
for what must run every time (host steps). Positions are row numbers.
"""

from __future__ import annotations

from .arena import aligned
from .buffer import ARENA, CONSTANT
from .jumps import loops

SHARED = 2048  # storages that share memory; the smallest beyond these get room of their own


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
