"""Chains: neighbouring rows that are run together, a piece of each before the next piece.

Rows that make each element of a result of the elements in its place (`Row.alike`) need not be run
one after the other: while a piece of what one has written is in the nearest cache, the next goes
on with it. The results are the same bytes. In the table of a walk the first row of a chain stands
for all of them and the next jumps behind the last, so that positions mean the same as without.
"""

from __future__ import annotations

import numpy as np

from .. import abi
from ..build import image
from . import arena
from .instruction import Row

PIECE = 1 << 16  # bytes that the rows of a chain touch in one piece
_EVEN = 64  # elements that a piece should be a multiple of, so that kernels have no rest to do


class Chain:
    """The rows from position `first` on to `last`, which touch `nbytes` bytes, in `split` pieces.

    It has what `Row.chunks` needs to know.
    """

    __slots__ = ("first", "last", "nbytes", "split")
    chunks = Row.chunks

    def __init__(self, first, last, split, nbytes):
        self.first, self.last, self.split, self.nbytes = first, last, split, nbytes

    @property
    def fields(self):
        """What a chain is made from."""
        return self.first, self.last, self.split, self.nbytes

    def moved(self, places):
        """The same chain for rows that stand `places` further on."""
        return Chain(self.first + places, self.last + places, self.split, self.nbytes)


def chains(rows):
    """The chains among `rows` that pay, in order."""
    found, first, links = [], 0, None
    for i, row in enumerate([*rows, None]):
        if links is not None and links.add(row):
            continue
        if links is not None and (pieces := links.pieces()) > 1 and i - first > 1:
            nbytes = sum(buffer.nbytes for row in rows[first:i] for buffer in row.buffers)
            found.append(Chain(first, i - 1, pieces, nbytes))
        links, first = _Links(), i
        if not links.add(row):
            links = None
    return found


class _Links:
    """What the rows of a chain touch, to tell which may follow."""

    def __init__(self):
        self._size = None
        self._places = {}  # storage -> where elements are touched in their place; None: elsewhere
        self._written = set()

    def add(self, row):
        """Adds a row, where all touch what one of them writes at the same place only.

        Gives whether that is so.
        """
        if row is None or row.alike is None or row.split is None:
            return False
        result, operands = row.alike
        size = (row.split, row.buffers[result].size)
        places, alike = dict(self._places), (result, *operands)
        for i, buffer in enumerate(row.buffers):
            place = (buffer.offset, buffer.itemsize) if i in alike else None
            if places.setdefault(buffer.storage, place) != place:
                places[buffer.storage] = None
        written = {*self._written, row.buffers[result].storage}
        if self._size not in (None, size) or any(places[storage] is None for storage in written):
            return False
        self._size, self._places, self._written = size, places, written
        return True

    def pieces(self):
        """How many pieces the rows are run in: of even size where that can be."""
        items, size = self._size or (1, 0)
        touched = [place[1] for place in self._places.values() if place is not None]
        wanted = min(-(-size * sum(touched) // PIECE), items)
        for pieces in range(wanted, 2 * wanted):
            if items % pieces == 0 and size // pieces % _EVEN == 0:
                return pieces
        return wanted


def lifetimes(alive, rows, found):
    """`alive` as planner.py has it, where all that a chain touches lasts from its start to its end.

    Its rows are run at the same time, so none may take room that another has left.
    """
    spans = {storage: list(span) for storage, span in alive.items()}
    for chain in found:
        linked = rows[chain.first : chain.last + 1]
        touched = {buffer.storage for row in linked for buffer in row.buffers}
        for storage in touched.intersection(spans):
            first, last = spans[storage]
            spans[storage] = [
                chain.first if first in range(chain.first, chain.last + 1) else first,
                chain.last if last in range(chain.first, chain.last + 1) else last,
            ]
    return spans


def linked(table, found):
    """A walk's table in which the rows of chains are run together, and the records it needs."""
    table, content, starts = table.copy(), [], []
    entry = image.loaded("launch").addresses["chain"] if found else 0
    for chain in found:
        members = table[chain.first : chain.last + 1, [abi.ENTRY, abi.RECORD]]
        starts.append(len(content))
        content += [0, chain.split, len(members), *members.ravel().tolist()]
        content += [0, 0, 0, chain.last + 1]  # the record of a jump
    records = np.array(content, np.int64)
    for chain, start in zip(found, starts, strict=True):
        address = arena.address(records) + abi.WORD * start
        size = abi.FIRST_MEMBER + 2 * (chain.last - chain.first + 1)
        table[chain.first, [abi.ENTRY, abi.RECORD]] = entry, address
        table[chain.first + 1, [abi.ENTRY, abi.RECORD]] = 0, address + abi.WORD * size
    return table, records
