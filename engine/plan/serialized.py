"""Programs put down as plain data, so that another process need not make their rows again.

`write` gives what `marshal` takes: the records of all rows with their pointers left out, and for
each pointer the region of memory it goes to and how far into that. `Written` is the program of it:
it gives the regions their memory, fills the pointers in and runs what runs once. Constants in the
model file stay there, but for the small ones that each run reads: these lie together.
"""

from __future__ import annotations

import numpy as np

from .. import abi
from ..build import image
from ..run.plan_runner import Walk
from . import arena
from .branches import Jump, settle
from .buffer import ARENA, BOUND, CONSTANT, PERSISTENT, Buffer, Storage
from .fusion import Chain
from .instruction import Row, Step
from .program import MOST_CHUNKS, SMALL, Program

MOST_BYTES = 1 << 22
"""Of constants that are not in the file; a program with more is not put down."""

_FAULTS, _CONTENT, _BLOB, _LASTING, _PASSING, _ARENA, _PERSISTENT, _FIRST_BOUND = range(8)
"""Regions. After the last come the bound buffers, each a region of its own."""


class _Unwritable(Exception):
    """A program with Python functions or objects in it, or too large."""


class _Writer:
    """Says where in which region each storage lies.

    Args:
        layout: what was decided about the program.
        content: the model file, as bytes in an array.
        bound: the bound storages, in their order.
        gathered: the constants that each run reads.
    """

    def __init__(self, layout, content, bound, gathered):
        self._start, self._size = arena.address(content), content.nbytes
        self._gathered = gathered
        self.blob, self.persistent = bytearray(), 0
        self._places = {s: (_FIRST_BOUND + i, 0) for i, s in enumerate(bound)}
        for region, plan in (_PASSING, layout.passing), (_ARENA, layout.arena):
            self._places.update((storage, (region, at)) for storage, at in plan[0].items())
        self.lasting = 0
        for storage in layout.lasting:
            self._places[storage] = (_LASTING, self.lasting)
            self.lasting += arena.aligned(storage.nbytes)

    def place(self, storage):
        """(region, offset) of a storage."""
        known = self._places.get(storage)
        if known is None:
            known = self._places[storage] = self._new(storage)
        return known

    def _new(self, storage):
        array = storage.array
        if storage.kind == PERSISTENT and array is None:
            first = self.persistent
            self.persistent += arena.aligned(storage.nbytes)
            return _PERSISTENT, first
        if storage.kind != CONSTANT or array.dtype.hasobject:
            raise _Unwritable
        at = arena.address(array) - self._start
        gathered = storage.nbytes <= SMALL and storage in self._gathered
        inside = 0 <= at <= at + storage.nbytes <= self._size
        if inside and not gathered and not at % storage.alignment:
            return _CONTENT, at
        if len(self.blob) + storage.nbytes > MOST_BYTES:
            raise _Unwritable
        self.blob += bytes(-len(self.blob) % arena.ALIGNMENT)
        first = len(self.blob)
        self.blob += array.tobytes()
        return _BLOB, first

    def table(self, rows, tag):
        """The records of rows, their pointers as (word, region, offset), and the rows."""
        content, pointers, made = [], [], []
        for row in rows:
            if isinstance(row, Step):
                raise _Unwritable
            start = len(content)
            for argument, buffer in zip(row.arguments, row.buffers, strict=True):
                region, first = self.place(buffer.storage)
                pointers.append((start + argument.slot, region, first + buffer.offset))
            if isinstance(row, Jump):
                target = None if row.target is None else row.record[abi.TARGET]
                made.append((start, None, target, bool(row.buffers), None, 0, tag(row.tag)))
            else:
                pointers.append((start + abi.FAULT, _FAULTS, 0))
                module = row.name.partition(".")[0]
                fields = (start, module, row.key, row.name, row.split, row.nbytes, tag(row.tag))
                made.append(fields)
            content += row.record
        columns = np.array(pointers, np.int64).reshape(-1, 3).T
        return np.array(content, np.int64).tobytes(), columns.tobytes(), made


def write(program, layout, content, bound, kept, tag):
    """A program whose `close` has called its note, as plain data; None where that cannot be.

    Args:
        program: the program.
        layout: what `close` decided.
        content: the bytes of the model file, as an array of uint8.
        bound: all its bound buffers.
        kept: the buffers to be read after a run.
        tag: function that gives plain data for a row's tag.
    """
    first, rows = layout.split(program.rows)
    reads = {storage for row in rows for storage in row.reads}
    writer = _Writer(layout, content, [buffer.storage for buffer in bound], reads)
    written = {storage for row in rows for storage in row.writes}
    try:
        if layout.objects:
            return None
        settle(rows)
        tables = writer.table(first, tag), writer.table(rows, tag)
        sizes = (
            *(0, 0, 0, writer.lasting, layout.passing[1], layout.arena[1]),
            writer.persistent,
        )
        return (
            *(_images(program), *tables, [chain.fields for chain in layout.chains], sizes),
            bytes(writer.blob),
            [(b.dtype.str, b.shape, b.storage in written) for b in bound],
            [(b.dtype.str, b.shape, b.offset, *writer.place(b.storage)) for b in kept],
        )
    except _Unwritable:
        return None


def _images(program):
    """(module, path, stamp) of the image files that are needed."""
    needed = {}
    for module in ["launch"] if program.threads == 1 else ["launch", "threads"]:
        needed[module] = set(image.loaded(module).addresses)
    for row in program.rows:
        if row.entry:
            needed.setdefault(row.name.partition(".")[0], set()).add(row.key)
    found = set()
    for module, keys in needed.items():
        files = image.files(module)
        if not keys <= files.keys():
            raise _Unwritable
        found.update((module, *files[key]) for key in keys)
    return sorted(found)


class _Row(Row):
    """A row whose record is filled in already."""

    __slots__ = ("_nbytes",)

    def __init__(self, name, split, nbytes, entry, tag):
        super().__init__(name, (), {}, split, tag)
        self._nbytes, self.entry = nbytes, entry

    @property
    def nbytes(self):
        """Bytes of all that it touches."""
        return self._nbytes


class Written(Program):
    """A program from what `write` has put down.

    Attributes:
        given: its bound buffers, in their order.
        readable: the buffers to be read after a run.

    Raises LookupError when a kernel it needs is not compiled any more.
    """

    def __init__(self, data, content, threads):
        super().__init__(threads=threads)
        images, self._first, self._table_of_rows, linked, self._sizes, blob, bound, kept = data
        self._kernels = {one[0]: image.adopt(*one) for one in images}
        self._content, self._blob = content, blob
        self._linked = [Chain(*fields) for fields in linked]
        self.given = [_buffer(dtype, shape, BOUND) for dtype, shape, _ in bound]
        pairs = zip(self.given, bound, strict=True)
        self._written = {buffer.storage for buffer, fields in pairs if fields[2]}
        self._kept_places, self.readable = kept, []

    def close(self, bind=None, note=None):
        """As for any program."""
        self._require_open()
        arena.check_limit(sum(self._sizes), self.memory_limit)
        regions: list = [arena.allocate(size) for size in self._sizes]
        regions[_FAULTS] = self._faults = np.zeros((MOST_CHUNKS, abi.FAULT_WORDS), np.int64)
        regions[_CONTENT] = self._content
        regions[_BLOB] = arena.allocate(len(self._blob))
        regions[_BLOB][:] = np.frombuffer(self._blob, np.uint8)
        bases = [arena.address(region) for region in regions] + [0] * len(self.given)
        if self._first[2]:
            self._records, table, rows, _ = self._fill(self._first, bases)
            Walk(rows, table, self._faults, trials=0).run()
            regions[_PASSING] = None
        self._records, table, self.rows, pointers = self._fill(self._table_of_rows, bases)
        pool = None
        if self.threads > 1:
            from ..run import thread_pool

            pool = thread_pool.pool(self.threads)
        if self.rows:
            self._segments = [Walk(self.rows, table, self._faults, pool, chains=self._linked)]
        self._memory = regions  # what the records point to
        self._bind_and_keep(regions, pointers)
        self.arena_bytes = self._sizes[_ARENA]
        self._closed = True
        for buffer, array in (bind or {}).items():
            self.rebind(buffer, array)

    def _fill(self, written, bases):
        """(records, table, rows, pointers) of a table that was put down."""
        content, pointers, fields = written
        records = np.frombuffer(content, np.int64).copy()
        places, regions, offsets = np.frombuffer(pointers, np.int64).reshape(3, -1)
        records[places] = np.array(bases, np.int64)[regions] + offsets
        rows, kernels = [], self._kernels
        for _, module, key, name, split, nbytes, tag in fields:
            if module is None:
                rows.append(Jump(None, key, tag))
            else:
                rows.append(_Row(name, split, nbytes, kernels[module].addresses[key], tag))
        for row in rows:
            if isinstance(row, Jump) and row.target is not None:
                row.target = rows[row.target]
        base = arena.address(records)
        lines = [
            (row.entry, base + abi.WORD * line[0], 1, 0)
            for row, line in zip(rows, fields, strict=True)
        ]
        table = np.array(lines, np.int64).reshape(len(rows), abi.ROW_WORDS)
        return records, table, rows, (places, regions, offsets)

    def _bind_and_keep(self, regions, pointers):
        places, numbers, offsets = pointers
        for i, buffer in enumerate(self.given):
            own = numbers == _FIRST_BOUND + i
            pairs = zip(places[own].tolist(), offsets[own].tolist(), strict=True)
            self._bound[buffer.storage] = [*pairs]
        self._unbound.update(self._bound)
        for dtype, shape, offset, region, first in self._kept_places:
            buffer = _buffer(dtype, shape, ARENA, offset)
            if region >= _FIRST_BOUND:
                buffer.storage = self.given[region - _FIRST_BOUND].storage
            else:
                self._places[buffer.storage] = (regions[region], first)
            self.kept.add(buffer.storage)
            self.readable.append(buffer)


def _buffer(dtype, shape, kind, offset=0):
    buffer = Buffer(dtype, shape, Storage(kind, 0), offset)
    buffer.storage.nbytes = buffer.nbytes
    return buffer
