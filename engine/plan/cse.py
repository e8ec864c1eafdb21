"""Rows that would do again what a row before has done: they are left out.

Operators that read the same tensor often begin with the same row, such as the one that rounds it
to bytes, which then is needed once.
"""

from __future__ import annotations

from collections import Counter

from .buffer import ARENA, Buffer
from .instruction import Row


def without_repeats(rows, kept):
    """`rows` but for the repeated ones, whose readers are given what the first has made.

    A row repeats another if both run whenever one does (no jump leads in between), do the same to
    the same bytes, and nobody else writes to their results. If these are `kept`, it stays.
    """
    writers = Counter(storage for row in rows for storage in row.writes)
    held = kept.union(*(row.reads for row in rows if not isinstance(row, Row)))
    left, known, instead, states = [], {}, {}, {}
    for row in rows:
        if not isinstance(row, Row):
            known.clear()
            left.append(row)
            continue
        if not instead.keys().isdisjoint(row.reads):
            _read_instead(row, instead)
        own = all(s.kind == ARENA and writers[s] == 1 for s in row.writes)
        first = known.setdefault(_work(row, states), row) if own else row
        if first is row or not held.isdisjoint(row.writes):
            left.append(row)
            states.update((storage, row) for storage in row.writes)
        else:
            instead.update(zip(row.writes, first.writes, strict=True))
    return left


def _work(row, states):
    """What a row does to which bytes: equal for rows that do the same."""
    reads = tuple((storage, states.get(storage)) for storage in row.reads)
    sizes = tuple(storage.nbytes for storage in row.writes)
    return row.name, row.key, tuple(row.record), reads, sizes, tuple(b.offset for b in row.buffers)


def _read_instead(row, instead):
    """Lets a row read other storages."""
    row.buffers = tuple(
        Buffer(b.dtype, b.shape, instead.get(b.storage, b.storage), b.offset) for b in row.buffers
    )
    row.attach()
