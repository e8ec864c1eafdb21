"""Programs: what the engine executes.

    program = Program()
    x, out = bound((8,), np.float32), arena((8,), np.float32)
    program.tag = "node 0"                       # any object, kept with what follows
    program.call("copy.copy", x, out, split=8)   # kernels/movement/copy.py, its kernel `copy`
    program.keep(out)                            # readable after run
    program.close({x: np.arange(8, dtype=np.float32)})
    program.run()
    program.array(out)

Instructions are appended only. Their arguments are checked against the kernel's declaration: the
buffers in declared order, the numbers by keyword. `split=n` says that the kernel has n items which
may be partitioned among threads; without it the whole instruction is one item. An instruction
whose inputs are all constant runs once, when the program is closed, and its outputs are constant
from then on: packing weights is an instruction like any other. One that does again what one before
has done is left out (cse.py). An arena buffer means something from the first instruction that
writes it to the last that reads it, or to the end of the run when kept; inputs of a program are
bound or persistent.

Where a kernel says that its result may lie on an operand, and nobody reads that any more, it does.
Neighbouring instructions of such kernels are fused: run together, block by block (fusion.py).
Under `run(profile=True)` they are run one after the other, so that each has its time.
"""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ...schema.named_tuple import TypeVar
from .. import abi
from ..build import image
from ..run.faults import Fault
from ..run.plan_runner import PlanRunner, ensure
from . import arena
from .buffer import ARENA, BOUND, CONSTANT, PERSISTENT, window
from .instruction import COPY, MOVE, Batch, Branch, HostStep, Instruction, Jump, resolve_targets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from ..build.declaration import Number
    from .buffer import Buffer, Storage
    from .instruction import AnyInstruction, Tag
    from .planner import Layout
    from .shared_constants import SharedConstants

AnyBuffer = TypeVar("AnyBuffer", bound="Buffer")
MOST_CHUNKS = 256  # of an instruction
SMALL = 1 << 15  # bytes of a constant that is copied, to lie beside others


class Program:
    """Instructions and host steps, then the memory and the table to run them.

    Attributes:
        tag: any object; stored with each instruction made after it is set, found again in a
            `Fault`.
        instructions: in their order; once closed, without constant and common ones.
        kept: the storages that are readable after a run.
        arena_bytes: size of the arena, once closed.
        memory_limit: bytes all tensors together may take; None for 3/4 of what the system has left.
        outside_bytes: what tensors outside of the program take of a limit that was set.
        threads: how many threads share the instructions; results do not depend on it.
        shared_constants: where programs of the same model find what constant instructions made.

    With `guard`, every tensor but the bound ones gets memory of its own that ends at a page which
    cannot be touched, or starts after one when `guard` is "start": a kernel that runs past an array
    ends the process there and then.
    """

    def __init__(
        self, memory_limit: int | None = None, guard: bool | str = False, threads: int = 1
    ):
        if threads < 1:
            raise ValueError(f"threads must be at least 1, got {threads}")
        self.tag: Tag = None
        self.threads = threads
        self.arena_bytes = 0
        self.memory_limit, self.outside_bytes = memory_limit, 0
        self._allocate = arena.allocate
        self._guard = guard
        if guard:
            from ..run.guard import END, guarded

            self._allocate = partial(guarded, side=END if guard is True else guard)
        self.shared_constants: SharedConstants | None = None
        self.instructions: list[AnyInstruction] = []
        self._uncompiled: list[Instruction] = []
        self._batches: dict[str, Batch] = {}
        self.live_out: set[Storage] = set()
        self._locations: dict[Storage, tuple[np.ndarray, int]] = {}
        """storage -> (array that owns the memory, first byte in it)"""
        self._addresses: dict[Storage, int] = {}  # of storages with memory of their own
        self._bound: dict[Storage, list[tuple[int, int]]] = {}
        """bound storage -> [(word of the records, byte offset)]"""
        self._written: set[Storage] = set()
        self._unbound: set[Storage] = set()
        self._segments: list[PlanRunner | HostStep | Jump] = []
        self._closed = False

    def call(
        self, name: str, *buffers: Buffer, split: int | None = None, **numbers: Number
    ) -> None:
        """Appends an instruction that runs the kernel `name` ("module.kernel").

        Raises ValueError when an argument is not as the kernel declares it; where nothing of the
        kernel's module was ever compiled, `close` does.
        """
        self._require_open()
        instruction = Instruction(name, buffers, numbers, split, self.tag)
        code = image.available(name.partition(".")[0])
        if code is not None:
            instruction.bind(code)
        if instruction.entry is None:
            self._uncompiled.append(instruction)
        self.instructions.append(instruction)

    def batched(
        self, name: str, row: tuple[int, ...], scratch: tuple[int, str], width: int
    ) -> Buffer:
        """The `width` numbers, int64, that the kernel `name` makes of those in `row`.

        One instruction makes them for all such rows of the program, which a hundred instructions
        for a hundred operators would take much longer to prepare. It comes first, and has three
        arguments: the rows, scratch of that size and dtype, and the results, a row for each.
        """
        self._require_open()
        batch = self._batches.get(name)
        if batch is None:
            batch = self._batches[name] = Batch(scratch, width, self.tag)
        return batch.result(row)

    def _make_batches(self) -> None:
        """Puts the instructions of the batches before all others, which may read what they make."""
        others, self.instructions, tag = self.instructions, list["AnyInstruction"](), self.tag
        for name, batch in self._batches.items():
            self.tag = batch.tag
            self.call(name, *batch.arguments())
        self.instructions, self.tag, self._batches = [*self.instructions, *others], tag, {}

    def branch(self, to: Branch | None = None, unless: Buffer | None = None) -> Branch:
        """Appends a branch to the one called `to`, not taken when the bool `unless` holds.

            head = program.branch()              # one that goes nowhere is a label
            ...                                  # instructions that write `flag`
            leave = program.branch(unless=flag)
            ...                                  # instructions that run as long as `flag` holds
            program.branch(to=head)
            leave.target = program.branch()

        What is handed on from one iteration to the next lies in persistent buffers. A branch past a
        host step is one of Python, which takes some microseconds.
        """
        self._require_open()
        branch = Branch(unless, to, self.tag)
        self.instructions.append(branch)
        return branch

    def host(
        self,
        function: Callable[..., object],
        inputs: Iterable[Buffer],
        outputs: Iterable[Buffer],
    ) -> None:
        """Appends a Python step: function(*input arrays, *output arrays), which fills the latter.

        It runs in every run, wherever its inputs come from.
        """
        self._require_open()
        self.instructions.append(HostStep(function, tuple(inputs), tuple(outputs), self.tag))

    def append(self, recorded: Program) -> None:
        """Appends all that another program, which is not closed and will not be, is made of."""
        self._require_open()
        recorded._make_batches()
        self.instructions += recorded.instructions
        self._uncompiled += recorded._uncompiled

    def keep(self, buffer: Buffer) -> None:
        """Keeps the buffer's bytes readable to the end of the run."""
        self._require_open()
        self.live_out.add(buffer.storage)

    def close(
        self,
        bind: Mapping[AnyBuffer, np.ndarray] | None = None,
        note: Callable[[Layout], object] | None = None,
    ) -> None:
        """Compiles what is missing, runs constant instructions, gives every buffer its memory.

        `bind` gives arrays to bound buffers, as `rebind` does. `note(layout)` is called
        when all is decided and nothing done. No instruction may follow.
        Raises MemoryError when the tensors need more than the memory limit, Fault when a constant
        instruction refuses its data.
        """
        from .cse import eliminate_common  # serialized programs need none of this

        self._require_open()
        self._make_batches()
        self._compile()
        may_split = any((x.split or 0) > 1 for x in self.instructions if x.is_pure)
        faults = np.zeros((MOST_CHUNKS if may_split else 1, abi.FAULT_WORDS), np.int64)
        self._faults, self._faults_address = faults, arena.address(faults)
        self.instructions = eliminate_common(self.instructions, self.live_out)
        if _moves_twice(self.instructions):
            from .moves import merge_moves

            self.instructions = merge_moves(self.instructions, self.live_out, self._bind)
        if any(type(instruction) is Branch for instruction in self.instructions):
            from .invariants import hoist_invariants

            self.instructions = hoist_invariants(self.instructions)
        layout = self._run_constants(note)
        self._place_all(layout)
        self._make_segments(layout)
        self._unbound.update(self._bound.keys() - self._locations.keys())
        self._closed = True
        for buffer, array in (bind or {}).items():
            self.rebind(buffer, array)

    def rebind(self, buffer: Buffer, array: np.ndarray) -> None:
        """Lets a bound buffer look at `array`, in C order and of the buffer's dtype and size.

        The array must stay unchanged in size and place until it is replaced.
        """
        if buffer.storage.kind != BOUND or not self._closed:
            raise ValueError(f"only bound buffers of a closed program can be bound, got {buffer}")
        flags, same_size = array.flags, array.nbytes == buffer.storage.nbytes
        if array.dtype != buffer.dtype or not same_size or not flags.c_contiguous:
            raise ValueError(
                f"cannot bind {array.dtype} {array.shape}: {buffer.dtype} {buffer.shape}"
                " in C order is expected"
            )
        if not flags.aligned or (not flags.writeable and buffer.storage in self._written):
            wrong = "is read only and the program writes it" if flags.aligned else "is not aligned"
            raise ValueError(f"cannot bind an array that {wrong}")
        self._locations[buffer.storage] = (_flat(array), 0)
        self._unbound.discard(buffer.storage)
        base = arena.address(array)
        for word, offset in self._bound.get(buffer.storage, ()):
            self._records[word] = base + offset

    def array(self, buffer: Buffer) -> np.ndarray:
        """The elements of `buffer`, without a copy; the array keeps the memory alive.

        Raises ValueError for an arena buffer that was not kept: its memory has served others.
        """
        storage = buffer.storage
        if storage.kind == ARENA and storage not in self.live_out:
            raise ValueError(f"{buffer} was not kept; call keep() before close()")
        return self._view(buffer)

    def run(
        self, check: Callable[[], object] | None = None, profile: bool = False
    ) -> list[tuple[Tag, str, float]] | None:
        """Executes everything; gives [(tag, name, seconds)] in order when `profile` is set.

        Ctrl-C is seen, and `check()` called, whenever machine code comes back: after 50 ms at most
        as long as no chunk of an instruction takes longer.
        Raises Fault when a kernel refuses its data; the program can be run again.
        """
        if self._unbound or not self._closed:
            self._refuse_to_run()
        if profile:
            return self._profile(check)
        views: dict[HostStep, list[np.ndarray]] = {}
        for segment in self._executed():
            if isinstance(segment, PlanRunner):
                segment.run(check)
                continue
            if segment not in views:
                views[segment] = self._views(segment)
            self._step(segment, views[segment], check)
        return None

    def _executed(self) -> Iterator[PlanRunner | HostStep]:
        """The segments in the order in which they run."""
        position = 0
        flags = {x: self._views(x.branch) for x in self._segments if isinstance(x, Jump)}
        while position < len(self._segments):
            segment = self._segments[position]
            position += 1
            if not isinstance(segment, Jump):
                yield segment
            elif not any(flags[segment]):
                position = segment.target

    @property
    def has_steps(self) -> bool:
        """Whether a run of the closed program does anything."""
        return bool(self._segments)

    @property
    def fast_run(self) -> Callable[[], bool] | None:
        """A builtin function that does what `run()` does; None where there is a host step.

        It gives False when it came back before the end: `resume` has to follow. It must not be
        called after the program is gone.
        """
        if self._unbound or not self._closed or len(self._segments) != 1:
            return None
        segment = self._segments[0]
        return segment.fast_run if type(segment) is PlanRunner else None

    def resume(self, check: Callable[[], object] | None = None) -> None:
        """Finishes a run that `fast_run` has started. Raises what `run` does."""
        segment = self._segments[0]
        if type(segment) is PlanRunner:
            segment.resume(check)

    def _refuse_to_run(self) -> None:
        if not self._closed:
            raise RuntimeError("the program is not closed")
        raise RuntimeError(f"a bound buffer has no array yet: {next(iter(self._unbound))}")

    def _profile(self, check: Callable[[], object] | None) -> list[tuple[Tag, str, float]]:
        times: list[tuple[Tag, str, float]] = []
        for segment in self._executed():
            if isinstance(segment, PlanRunner):
                pairs = zip(segment.instructions, segment.time(check), strict=True)
                times += [(x.tag, x.name, ns / 1e9) for x, ns in pairs if x.entry]
            else:
                start = time.perf_counter()
                self._step(segment, self._views(segment), check)
                times.append((segment.tag, segment.name, time.perf_counter() - start))
        return times

    def _views(self, step: HostStep | Branch) -> list[np.ndarray]:
        """What a step is given, or a branch looks at; the same in all iterations of a run."""
        return [self._view(buffer) for buffer in step.buffers]

    @staticmethod
    def _step(
        step: HostStep, views: Sequence[np.ndarray], check: Callable[[], object] | None
    ) -> None:
        step.function(*views)
        if check is not None:
            check()

    def _compile(self) -> None:
        """Makes sure of all the machine code; checks the instructions that could not be before."""
        requests = ["launch"] if self.threads == 1 else ["launch", "threads"]
        requests += [instruction.request for instruction in self._uncompiled]
        ensure(requests)
        for instruction in self._uncompiled:
            code = image.available(instruction.name.partition(".")[0])
            assert code is not None  # `ensure` has built it
            instruction.bind(code)
        self._uncompiled = []

    def _bind(
        self,
        name: str,
        buffers: tuple[Buffer, ...],
        numbers: Mapping[str, Number],
        split: int,
        tag: Tag,
    ) -> Instruction:
        instruction = Instruction(name, buffers, numbers, split, tag)
        code = image.available(name.partition(".")[0])
        assert code is not None  # it takes the place of one from the same module
        instruction.bind(code)
        if instruction.entry is None:
            self._uncompiled.append(instruction)
            self._compile()
        return instruction

    def _run_constants(self, note: Callable[[Layout], object] | None) -> Layout:
        """Chooses the layout; runs and removes the constant instructions.

        One that fails on its data stays where a branch may skip it: only runs that reach it fail.
        """
        from . import planner

        instructions, deferred = self.instructions, list["Instruction | Branch"]()
        while True:
            layout = planner.layout(instructions, self.live_out, deferred)
            if note is not None:
                note(layout)
            constant, self.instructions = layout.partition(instructions)
            if not constant:
                return layout
            try:
                self._run_constant(constant, layout)
            except Fault as fault:
                from .branches import is_conditional

                if fault.instruction is None or not is_conditional(instructions, fault.instruction):
                    raise
                deferred.append(fault.instruction)
                self._locations.clear()
                self._addresses.clear()
            else:
                return layout

    def _run_constant(self, instructions: Sequence[AnyInstruction], layout: Layout) -> None:
        """Runs constant instructions, and frees what only they needed.

        What another program that shares constants with this one holds already is not made again.
        """
        from .shared_constants import to_make

        needed = self.live_out.union(*(instruction.reads for instruction in self.instructions))
        shared = None if self._guard else self.shared_constants
        keys = {} if shared is None else shared.keys(instructions)
        storages = layout.constants
        if shared is not None:
            entries = {s: shared.find(keys[s]) for s in storages if s in keys}
            locations = {s: entry for s, entry in entries.items() if entry is not None}
            available = {*locations}
            instructions, storages = to_make(instructions, storages, available)
            self._locations.update((s, locations[s]) for s in available)
        offsets, scratch_bytes = layout.scratch
        self._check_limit(sum(arena.aligned(x.nbytes) for x in storages) + scratch_bytes)
        if not instructions:
            return
        if not self._guard:
            self._place_together(storages)
            memory = self._allocate(scratch_bytes)
            self._locations.update((storage, (memory, at)) for storage, at in offsets.items())
        for instruction in instructions:
            for storage in (*instruction.reads, *instruction.writes):
                self._place_alone(storage)
        natives = _natives(instructions)
        PlanRunner(natives, self._table(natives), self._faults, trials=0).run()
        if shared is not None:
            shared.keep(instructions, keys, {s: self._locations[s] for s in storages})
        for storage in (*offsets, *(s for x in instructions for s in (*x.reads, *x.writes))):
            if storage not in needed or storage.kind == CONSTANT:
                self._locations.pop(storage, None)
                self._addresses.pop(storage, None)

    def take_outside(self, n_bytes: int) -> None:
        """Counts tensors outside of the program, where the limit has room for them."""
        self._check_limit(n_bytes)
        self.outside_bytes += n_bytes

    def _check_limit(self, n_bytes: int) -> None:
        n_bytes += self.outside_bytes if self.memory_limit is not None else 0
        arena.check_limit(n_bytes, self.memory_limit)

    def _place_together(self, storages: Sequence[Storage]) -> None:
        """Gives storages memory in one piece, so that it can lie in huge pages."""
        memory = self._allocate(sum(arena.aligned(storage.nbytes) for storage in storages))
        offset = 0
        for storage in storages:
            self._locations[storage] = (memory, offset)
            offset += arena.aligned(storage.nbytes)

    def _place_all(self, layout: Layout) -> None:
        """Gives memory to everything but bound buffers."""
        for storage, n_elements in layout.objects.items():
            self._locations[storage] = (np.empty(n_elements, object), 0)
        others = dict.fromkeys(self.live_out)
        for instruction in self.instructions:
            touched = (*instruction.reads, *instruction.writes)
            others.update((s, None) for s in touched if s.kind != ARENA)
            self._written.update(s for s in instruction.writes if s.kind == BOUND)
        self._bound = {storage: [] for storage in others if storage.kind == BOUND}
        offsets, self.arena_bytes = layout.arena
        constant_bytes = sum(s.nbytes for s in self._locations if s.kind == ARENA)
        persistent_bytes = sum(s.nbytes for s in others if s.kind == PERSISTENT and s.array is None)
        self._check_limit(self.arena_bytes + constant_bytes + persistent_bytes)
        if self._guard:
            others.update(dict.fromkeys(offsets))
        elif offsets:
            memory = arena.allocate(self.arena_bytes)
            self._locations.update((storage, (memory, at)) for storage, at in offsets.items())
        if not self._guard:
            self._gather(others)
        for storage in others:
            self._place_alone(storage)

    def _gather(self, storages: Iterable[Storage]) -> None:
        """Copies small constants to one place: so no run reads them out of all parts of a file."""
        small = [
            storage
            for storage in storages
            if storage.kind == CONSTANT and 0 < storage.nbytes <= SMALL
            if storage not in self._locations and not storage.array.dtype.hasobject
        ]
        self._place_together(small)
        for storage in small:
            memory, first = self._locations[storage]
            source = storage.array.reshape(-1).view(np.uint8)
            memory[first : first + storage.nbytes] = source

    def _place_alone(self, storage: Storage) -> None:
        """Gives a storage the memory it brought, or memory of its own."""
        if storage in self._locations or storage.kind == BOUND:
            return
        if storage.kind == ARENA:
            self._locations[storage] = (self._allocate(storage.nbytes), 0)
            return
        if storage.array is None:
            storage.array = self._allocate(storage.nbytes)
        array = storage.array
        address = self._addresses.get(storage) or arena.address(array)
        must_move = self._guard or address % storage.alignment
        if must_move and storage.kind == CONSTANT and not array.dtype.hasobject:
            array = self._allocate(storage.nbytes)
            array[:] = storage.array.reshape(-1).view(np.uint8)
            address = arena.address(array)
        self._locations[storage] = (array, 0)
        self._addresses[storage] = address

    def _make_segments(self, layout: Layout) -> None:
        instructions, pools = self.instructions, None
        spans = [(0, len(instructions))] if instructions else []
        if any(type(x) is not Instruction for x in instructions):
            from .branches import segments  # few programs have several

            spans = segments(instructions)
        for first, stop in spans:
            resolve_targets(instructions[first:stop])
        table = self._table(_natives(instructions))
        if self.threads > 1:
            from ..run import thread_pool

            pools = thread_pool.pool_set(self.threads)
        numbers = {id(instructions[first]): number for number, (first, _) in enumerate(spans)}
        row = 0  # of the table
        for first, stop in spans:
            head, group = instructions[first], _natives(instructions[first:stop])
            if isinstance(head, HostStep):
                self._segments.append(head)
            elif isinstance(head, Branch) and head.target not in (None, *group):
                self._segments.append(Jump(head, numbers[id(head.target)]))
            else:
                within = range(first, stop)
                fused = [x.shifted(-first) for x in layout.fusions if x.first in within]
                part = table[row : row + len(group)]
                self._segments.append(PlanRunner(group, part, self._faults, pools, fusions=fused))
            row += len(group)

    def _table(self, instructions: Sequence[Instruction | Branch]) -> np.ndarray:
        """The plan's table of `instructions`; writes their records."""
        content: list[int] = []
        starts: list[int] = []
        addresses: dict[Storage | int, int] = {**self._addresses}  # of storages and of owners
        for instruction in instructions:
            starts.append(len(content))
            record = instruction.record
            record[abi.FAULT] = self._faults_address
            for argument, buffer in zip(instruction.arguments, instruction.buffers, strict=True):
                storage = buffer.storage
                if storage.kind == BOUND:
                    self._bound[storage].append((len(content) + argument.slot, buffer.offset))
                    continue
                base = addresses.get(storage)
                if base is None:
                    owner, first = self._locations[storage]
                    memory = addresses.get(id(owner))
                    if memory is None:
                        memory = addresses[id(owner)] = arena.address(owner)
                    base = addresses[storage] = memory + first
                record[argument.slot] = base + buffer.offset
            content += record
        self._records = np.array(content, np.int64)
        base = arena.address(self._records)
        table = [
            (instruction.entry, base + abi.WORD * start, 1, 0)
            for instruction, start in zip(instructions, starts, strict=True)
        ]
        return np.array(table, np.int64).reshape(len(instructions), abi.INSTRUCTION_WORDS)

    def _view(self, buffer: Buffer) -> np.ndarray:
        owner, first = self._locations[buffer.storage]
        if buffer.dtype.hasobject:
            return window(owner, buffer)
        view = np.ndarray(buffer.shape, buffer.dtype, owner, first + buffer.offset)
        if buffer.storage.kind == CONSTANT:
            view.flags.writeable = False
        return view

    def _require_open(self) -> None:
        if self._closed:
            raise RuntimeError("the program is closed; make a new one to add instructions")


def _moves_twice(instructions: Iterable[AnyInstruction]) -> bool:
    """Whether something is moved that another move has put where it is."""
    moves = [x for x in instructions if x.name in (MOVE, COPY)]
    moved = {storage for x in moves for storage in x.writes}
    return any(storage in moved for x in moves for storage in x.reads)


def _natives(instructions: Iterable[AnyInstruction]) -> list[Instruction | Branch]:
    return [x for x in instructions if not isinstance(x, HostStep)]


def _flat(array: np.ndarray) -> np.ndarray:
    if array.dtype.hasobject:
        return array.reshape(-1)
    return array.reshape(-1).view(np.uint8)
