"""Rows that say which row comes next: loops and branches within a program."""

from __future__ import annotations

from .. import abi


class _Flag:
    """Where a jump's record has the address of its flag."""

    slot = abi.FLAG


class Jump:
    """Goes on at `target`, unless the bool `flag` holds; always when there is none.

    Attributes:
        target: the Jump to go on at; None goes on at the row after this one.
    """

    __slots__ = ("arguments", "buffers", "reads", "record", "tag", "target")
    name, entry, split, once = "jump", 0, None, False
    writes, alike = (), None

    def __init__(self, flag, target, tag):
        self.buffers = () if flag is None else (flag,)
        self.arguments = (_Flag,) * len(self.buffers)
        self.reads = [buffer.storage for buffer in self.buffers]
        self.target, self.tag = target, tag
        self.record = [0] * abi.JUMP_WORDS

    def chunks(self, threads=1, time=None):
        """0, by which the walker knows it from a kernel."""
        return 0


def settle(rows):
    """Writes into each jump among `rows` where its target stands.

    Raises ValueError when that is not among them.
    """
    places = {id(row): i for i, row in enumerate(rows) if isinstance(row, Jump)}
    for i, row in enumerate(rows):
        if isinstance(row, Jump):
            place = i + 1 if row.target is None else places.get(id(row.target))
            if place is None:
                raise ValueError("no host step may stand between a jump and its target")
            row.record[abi.TARGET] = place


def loops(rows):
    """(first, last) positions of all loops, inner ones before those around them."""
    places, found = {}, []
    for i, row in enumerate(rows):
        target = getattr(row, "target", None)
        if id(target) in places:
            found.append((places[id(target)], i))
        if isinstance(row, Jump):
            places[id(row)] = i
    return sorted(found, key=lambda span: span[1] - span[0])


def by_turn(rows, times):
    """`times` of rows as they are for one turn of the innermost loop around each.

    A jump's time is how often it jumped.
    """
    found = list(times)
    for first, last in reversed(loops(rows)):
        turns = max(times[last], 1)
        found[first:last] = [time / turns for time in times[first:last]]
    return found
