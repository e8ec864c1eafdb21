"""Programs: what the engine executes.

    program = Program()
    x, out = bound((8,), np.float32), arena((8,), np.float32)
    program.tag = "node 0"                       # any object, kept with the rows that follow
    program.call("copy.copy", x, out, split=8)   # kernels/copy.py, its kernel `copy`
    program.keep(out)                            # readable after run
    program.close({x: np.arange(8, dtype=np.float32)})
    program.run()
    program.array(out)

Rows are appended only. A row's arguments are checked against the kernel's declaration: the buffers
in declared order, the numbers by keyword. `split=n` says that the kernel has n items which may be
dealt out to threads; without it the whole row is one item. A row whose inputs are all constant
runs once, when the program is closed, and its outputs are constant from then on: packing weights
is a row like any other. A row that does again what one before has done is left out (cse.py). An
arena buffer means something from the first row that writes it to the last that reads it, or to the
end of the run when kept; inputs of a program are bound or persistent.

Where a kernel says that its result may lie on an operand, and nobody reads that any more, it does.
Neighbouring rows of such kernels are run together, a piece of each at a time (fusion.py); under
`run(profile=True)` they are run one after the other, so that each has its time.
"""

from __future__ import annotations

import time
from functools import partial
from itertools import groupby
from typing import Any

import numpy as np

from .. import abi
from ..build import image
from ..run.plan_runner import Walk
from . import arena, planner
from .branches import Jump, settle
from .buffer import ARENA, BOUND, CONSTANT, PERSISTENT, window
from .cse import without_repeats
from .instruction import Row, Step

MOST_CHUNKS = 256  # of a row
SMALL = 1 << 15  # bytes of a constant that is copied, to lie beside others


class Program:
    """Rows and host steps, then the memory and the table to run them.

    Attributes:
        tag: any object; stored with each row made after it is set, found again in a `Fault`.
        rows: in their order; once closed, without those that run once or do nothing new.
        kept: the storages that are readable after a run.
        arena_bytes: size of the arena, once closed.
        memory_limit: bytes all tensors together may take; None for 3/4 of what the system has left.
        threads: how many threads share the rows; results do not depend on it.

    With `guard`, every tensor but the bound ones gets memory of its own that ends at a page which
    cannot be touched, or starts after one when `guard` is "start": a kernel that runs past an array
    ends the process there and then.
    """

    def __init__(self, memory_limit=None, guard=False, threads=1):
        if threads < 1:
            raise ValueError(f"threads must be at least 1, got {threads}")
        self.tag: Any = None
        self.threads = threads
        self.arena_bytes = 0
        self.memory_limit = memory_limit
        self._allocate = arena.allocate
        self._guard = guard
        if guard:
            from ..run.guard import END, guarded

            self._allocate = partial(guarded, side=END if guard is True else guard)
        self.rows, self._uncompiled = [], []
        self.kept = set()
        self._places = {}  # storage -> (array that owns the memory, first byte in it)
        self._addresses = {}  # storage of given memory -> where that begins
        self._bound = {}  # bound storage -> [(word of the records, byte offset)]
        self._written = set()
        self._unbound = set()
        self._segments = []  # walks and host steps
        self._closed = False

    def call(self, name, *buffers, split=None, **numbers):
        """Appends a row that runs the kernel `name` ("module.kernel").

        Raises ValueError when an argument is not as the kernel declares it; where nothing of the
        kernel's module was ever compiled, `close` does.
        """
        self._require_open()
        row = Row(name, buffers, numbers, split, self.tag)
        found = image.available(name.partition(".")[0])
        if found is not None:
            row.bind(found)
        if row.entry is None:
            self._uncompiled.append(row)
        self.rows.append(row)

    def jump(self, to=None, unless=None):
        """Appends a jump to the one called `to`, not taken when the bool `unless` holds.

            head = program.jump()                # one that goes nowhere is a label
            ...                                  # rows that write `flag`
            leave = program.jump(unless=flag)
            ...                                  # rows that are run as long as `flag` holds
            program.jump(to=head)
            leave.target = program.jump()

        What is handed on from one turn to the next lies in persistent buffers. There must be no
        host step between a jump and its target.
        """
        self._require_open()
        self.rows.append(Jump(unless, to, self.tag))
        return self.rows[-1]

    def host(self, function, inputs, outputs):
        """Appends a Python step: function(*input arrays, *output arrays), which fills the latter.

        It runs in every run, wherever its inputs come from.
        """
        self._require_open()
        self.rows.append(Step(function, tuple(inputs), tuple(outputs), self.tag))

    def keep(self, buffer):
        """Keeps the buffer's bytes readable to the end of the run."""
        self._require_open()
        self.kept.add(buffer.storage)

    def close(self, bind=None, note=None):
        """Compiles what is missing, runs constant rows, gives every buffer its memory.

        `bind` gives arrays to bound buffers, as `rebind` does. `note(layout)` is called
        when all is decided and nothing done. No row may follow.
        Raises MemoryError when the tensors need more than the memory limit, Fault when a constant
        row refuses its data.
        """
        self._require_open()
        self._compile()
        several = any((row.split or 0) > 1 for row in self.rows if row.once)
        faults = np.zeros((MOST_CHUNKS if several else 1, abi.FAULT_WORDS), np.int64)
        self._faults, self._faults_address = faults, arena.address(faults)
        self.rows = without_repeats(self.rows, self.kept)
        layout = planner.layout(self.rows, self.kept)
        if note is not None:
            note(layout)
        first, self.rows = layout.split(self.rows)
        if first:
            self._run_once(first, layout)
        self._plan(layout)
        self._make_segments(layout)
        self._unbound.update(self._bound.keys() - self._places.keys())
        self._closed = True
        for buffer, array in (bind or {}).items():
            self.rebind(buffer, array)

    def rebind(self, buffer, array):
        """Lets a bound buffer look at `array`, in C order and of the buffer's dtype and size.

        The array must stay unchanged in size and place until it is replaced.
        """
        if buffer.storage.kind != BOUND or not self._closed:
            raise ValueError(f"only bound buffers of a closed program can be bound, got {buffer}")
        flags, whole = array.flags, array.nbytes == buffer.storage.nbytes
        if array.dtype != buffer.dtype or not whole or not flags.c_contiguous:
            raise ValueError(
                f"cannot bind {array.dtype} {array.shape}: {buffer.dtype} {buffer.shape}"
                " in C order is expected"
            )
        if not flags.aligned or (not flags.writeable and buffer.storage in self._written):
            wrong = "is read only and the program writes it" if flags.aligned else "is not aligned"
            raise ValueError(f"cannot bind an array that {wrong}")
        self._places[buffer.storage] = (_flat(array), 0)
        self._unbound.discard(buffer.storage)
        base = arena.address(array)
        for word, offset in self._bound.get(buffer.storage, ()):
            self._records[word] = base + offset

    def array(self, buffer):
        """The elements of `buffer`, without a copy; the array keeps the memory alive.

        Raises ValueError for an arena buffer that was not kept: its memory has served others.
        """
        storage = buffer.storage
        if storage.kind == ARENA and storage not in self.kept:
            raise ValueError(f"{buffer} was not kept; call keep() before close()")
        return self._view(buffer)

    def run(self, check=None, profile=False):
        """Executes everything; gives [(tag, name, seconds)] of each row when `profile` is set.

        Ctrl-C is seen, and `check()` called, whenever the walker comes back: after 50 ms at most
        as long as no chunk of a row takes longer.
        Raises Fault when a kernel refuses its data; the program can be run again.
        """
        if self._unbound or not self._closed:
            self._refuse_to_run()
        if profile:
            return self._profile(check)
        for segment in self._segments:
            if type(segment) is Walk:
                segment.run(check)
            else:
                self._step(segment, check)
        return None

    @property
    def short_cut(self):
        """A builtin function that does what `run()` does; None where that is no single walk.

        It gives False when it came back before the end: `go_on` has to follow. It must not be
        called after the program is gone.
        """
        if self._unbound or not self._closed or len(self._segments) != 1:
            return None
        segment = self._segments[0]
        return segment.short_cut if type(segment) is Walk else None

    def go_on(self):
        """Goes on to the end of a run that `short_cut` has begun. Raises what `run` does."""
        self._segments[0].go_on()

    def _refuse_to_run(self):
        if not self._closed:
            raise RuntimeError("the program is not closed")
        raise RuntimeError(f"a bound buffer has no array yet: {next(iter(self._unbound))}")

    def _profile(self, check):
        times = []
        for segment in self._segments:
            if type(segment) is Walk:
                pairs = zip(segment.rows, segment.time(check), strict=True)
                times += [(row.tag, row.name, ns / 1e9) for row, ns in pairs if row.entry]
            else:
                start = time.perf_counter()
                self._step(segment, check)
                times.append((segment.tag, segment.name, time.perf_counter() - start))
        return times

    def _step(self, step, check):
        step.function(*[self._view(buffer) for buffer in step.buffers])
        if check is not None:
            check()

    def _compile(self):
        """Makes sure of all the machine code; checks the rows that could not be before."""
        needed = ["launch"] if self.threads == 1 else ["launch", "threads"]
        needed += [row.wanted for row in self._uncompiled]
        if image.missing(needed):
            from ..build import driver

            driver.ensure(needed)
        for row in self._uncompiled:
            row.bind(image.available(row.name.partition(".")[0]))
        self._uncompiled = []

    def _run_once(self, rows, layout):
        """Runs constant rows, and lets go of what only they needed."""
        needed = self.kept.union(*(row.reads for row in self.rows))
        lasting, (offsets, passing) = layout.lasting, layout.passing
        room = sum(arena.aligned(storage.nbytes) for storage in lasting)
        arena.check_limit(room + passing, self.memory_limit)
        if not self._guard:
            self._place_together(lasting)
            memory = self._allocate(passing)
            self._places.update((storage, (memory, at)) for storage, at in offsets.items())
        for row in rows:
            for storage in (*row.reads, *row.writes):
                self._place_alone(storage)
        Walk(rows, self._table(rows), self._faults, trials=0).run()
        for row in rows:
            for storage in (*row.reads, *row.writes):
                if storage not in needed or storage.kind == CONSTANT:
                    self._places.pop(storage, None)
                    self._addresses.pop(storage, None)

    def _place_together(self, storages):
        """Gives storages memory in one piece, so that it can lie in huge pages."""
        memory = self._allocate(sum(arena.aligned(storage.nbytes) for storage in storages))
        first = 0
        for storage in storages:
            self._places[storage] = (memory, first)
            first += arena.aligned(storage.nbytes)

    def _plan(self, layout):
        """Gives memory to everything but bound buffers."""
        for storage, n_elements in layout.objects.items():
            self._places[storage] = (np.empty(n_elements, object), 0)
        others = dict.fromkeys(self.kept)
        for row in self.rows:
            others.update((s, None) for s in (*row.reads, *row.writes) if s.kind != ARENA)
            self._written.update(s for s in row.writes if s.kind == BOUND)
        self._bound = {storage: [] for storage in others if storage.kind == BOUND}
        offsets, self.arena_bytes = layout.arena
        once = sum(storage.nbytes for storage in self._places if storage.kind == ARENA)
        fresh = sum(s.nbytes for s in others if s.kind == PERSISTENT and s.array is None)
        arena.check_limit(self.arena_bytes + once + fresh, self.memory_limit)
        if self._guard:
            others.update(dict.fromkeys(offsets))
        elif offsets:
            memory = arena.allocate(self.arena_bytes)
            self._places.update((storage, (memory, at)) for storage, at in offsets.items())
        if not self._guard:
            self._gather(others)
        for storage in others:
            self._place_alone(storage)

    def _gather(self, storages):
        """Copies small constants to one place: so no run reads them out of all parts of a file."""
        small = [
            storage
            for storage in storages
            if storage.kind == CONSTANT and 0 < storage.nbytes <= SMALL
            if storage not in self._places and not storage.array.dtype.hasobject
        ]
        self._place_together(small)
        for storage in small:
            memory, first = self._places[storage]
            source = storage.array.reshape(-1).view(np.uint8)
            memory[first : first + storage.nbytes] = source

    def _place_alone(self, storage):
        """Gives a storage the memory it brought, or memory of its own."""
        if storage in self._places or storage.kind == BOUND:
            return
        if storage.kind == ARENA:
            self._places[storage] = (self._allocate(storage.nbytes), 0)
            return
        if storage.array is None:
            storage.array = self._allocate(storage.nbytes)
        array = storage.array
        address = self._addresses.get(storage) or arena.address(array)
        crooked = self._guard or address % storage.alignment
        if crooked and storage.kind == CONSTANT and not array.dtype.hasobject:
            array = self._allocate(storage.nbytes)
            array[:] = storage.array.reshape(-1).view(np.uint8)
            address = arena.address(array)
        self._places[storage] = (array, 0)
        self._addresses[storage] = address

    def _make_segments(self, layout):
        groups = [(native, [*rows]) for native, rows in groupby(self.rows, _is_native)]
        for native, rows in groups:
            if native:
                settle(rows)
        natives = [row for row in self.rows if _is_native(row)]
        table, pool, first = self._table(natives), None, 0
        if self.threads > 1:
            from ..run import thread_pool

            pool = thread_pool.pool(self.threads)
        place = 0  # among all rows
        for native, rows in groups:
            if native:
                part = table[first : first + len(rows)]
                within = range(place, place + len(rows))
                linked = [chain.moved(-place) for chain in layout.chains if chain.first in within]
                self._segments.append(Walk(rows, part, self._faults, pool, chains=linked))
                first += len(rows)
            else:
                self._segments += rows
            place += len(rows)

    def _table(self, rows):
        """The walker's table of `rows`; writes their records."""
        content, starts, addresses = [], [], dict(self._addresses)  # of storages and of owners
        for row in rows:
            starts.append(len(content))
            record = row.record
            record[abi.FAULT] = self._faults_address
            for argument, buffer in zip(row.arguments, row.buffers, strict=True):
                storage = buffer.storage
                if storage.kind == BOUND:
                    at = (len(content) + argument.slot, buffer.offset)
                    self._bound[storage].append(at)
                    continue
                base = addresses.get(storage)
                if base is None:
                    owner, first = self._places[storage]
                    memory = addresses.get(id(owner))
                    if memory is None:
                        memory = addresses[id(owner)] = arena.address(owner)
                    base = addresses[storage] = memory + first
                record[argument.slot] = base + buffer.offset
            content += record
        self._records = np.array(content, np.int64)
        base = arena.address(self._records)
        table = [
            (row.entry, base + abi.WORD * start, 1, 0)
            for row, start in zip(rows, starts, strict=True)
        ]
        return np.array(table, np.int64).reshape(len(rows), abi.ROW_WORDS)

    def _view(self, buffer):
        owner, first = self._places[buffer.storage]
        if buffer.dtype.hasobject:
            return window(owner, buffer)
        view = np.ndarray(buffer.shape, buffer.dtype, owner, first + buffer.offset)
        if buffer.storage.kind == CONSTANT:
            view.flags.writeable = False
        return view

    def _require_open(self):
        if self._closed:
            raise RuntimeError("the program is closed; make a new one to add rows")


def _is_native(row):
    """Whether the walker runs a row."""
    return type(row) is not Step


def _flat(array):
    if array.dtype.hasobject:
        return array.reshape(-1)
    return array.reshape(-1).view(np.uint8)
