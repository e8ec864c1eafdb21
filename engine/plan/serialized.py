"""Programs as plain data, so that another process need not make their instructions again.

`serialize` gives what `marshal` takes: the records of all instructions with their pointers left
out, and for each pointer the region of memory it goes to and how far into that.
`SerializedProgram` is the program of it: it gives the regions their memory, fills the pointers in
and runs the constant instructions. Constants in the model file stay there, but for the small ones
that each run reads: these lie together.

The programs of one plan in a process share what its constant instructions made, such as packed
weights. With a cache entry, all processes do: the first one stores it beside the plan, and each
maps that file after its digest was checked. Mapped constants lie in the system's page cache, in one
copy and in small pages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakValueDictionary, ref

import numpy as np

from .. import abi
from ..build import image
from ..run.plan_runner import PlanRunner, loaded
from . import arena
from .buffer import ARENA, BOUND, CONSTANT, PERSISTENT, Buffer, Storage
from .instruction import Branch, HostStep, Instruction, resolve_targets
from .program import MOST_CHUNKS, SMALL, AnyBuffer, Program

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Mapping, Sequence
    from typing import TypeAlias

    from ..run.disk_cache import CacheEntry
    from .fusion import Fusion
    from .instruction import AnyInstruction, Tag
    from .planner import Layout

    InstructionLine: TypeAlias = "tuple[int, str, str, str, int | None, int, Tag]"
    """start of the record, module, key, name, split, bytes, tag"""
    BranchLine: TypeAlias = "tuple[int, None, int | None, bool, None, int, Tag]"
    """start of the record, None, position of the target, whether it has a flag, None, 0, tag"""
    SerializedTable: TypeAlias = "tuple[bytes, bytes, list[InstructionLine | BranchLine]]"
    """records, pointers, lines"""
    ImageFile: TypeAlias = "tuple[str, str, image.Stamp]"
    """module, path, stamp"""
    SerializedBound: TypeAlias = "tuple[str, tuple[int, ...], bool]"
    """dtype, shape, whether it is written"""
    SerializedKept: TypeAlias = "tuple[str, tuple[int, ...], int, int, int]"
    """dtype, shape, offset, and region and offset of the storage"""
    SerializedFields: TypeAlias = tuple[
        list[ImageFile],
        SerializedTable,  # of the constant instructions
        SerializedTable,  # of the others
        list[tuple[int, int, int, int]],  # fusions
        tuple[int, ...],  # sizes of the regions
        bytes,
        list[SerializedBound],
        list[SerializedKept],
    ]

MOST_BYTES = 1 << 22
"""Of constants that are not in the file; a program with more is not serialized."""

_FAULTS, _CONTENT, _BLOB, _CONSTANTS, _SCRATCH, _ARENA, _PERSISTENT, _FIRST_BOUND = range(8)
"""Regions. After the last come the bound buffers, each a region of its own."""


class _Unserializable(Exception):
    """A program with Python functions or objects in it, or too large."""


class _Serializer:
    """Says where in which region each storage lies.

    Args:
        layout: what was decided about the program.
        content: the model file, as bytes in an array.
        bound: the bound storages, in their order.
        read: the storages that each run reads.
    """

    def __init__(
        self,
        layout: Layout,
        content: np.ndarray,
        bound: Iterable[Storage],
        read: Container[Storage],
    ) -> None:
        self._start, self._size = arena.address(content), content.nbytes
        self._read, self._fresh = read, layout.fresh
        self.blob, self.persistent_bytes = bytearray(), 0
        self._locations: dict[Storage, tuple[int, int]] = {
            s: (_FIRST_BOUND + i, 0) for i, s in enumerate(bound)
        }
        for region, (offsets, _) in (_SCRATCH, layout.scratch), (_ARENA, layout.arena):
            self._locations.update((s, (region, offset)) for s, offset in offsets.items())
        self.constant_bytes = 0
        for storage in layout.constants:
            self._locations[storage] = (_CONSTANTS, self.constant_bytes)
            self.constant_bytes += arena.aligned(storage.nbytes)

    def location(self, storage: Storage) -> tuple[int, int]:
        """(region, offset) of a storage."""
        location = self._locations.get(storage)
        if location is None:
            location = self._locations[storage] = self._new_location(storage)
        return location

    def _new_location(self, storage: Storage) -> tuple[int, int]:
        array = storage.array
        if storage.kind == PERSISTENT and storage in self._fresh:
            offset = self.persistent_bytes
            self.persistent_bytes += arena.aligned(storage.nbytes)
            return _PERSISTENT, offset
        if storage.kind != CONSTANT or array is None or array.dtype.hasobject:
            raise _Unserializable
        offset = arena.address(array) - self._start
        is_gathered = storage.nbytes <= SMALL and storage in self._read
        is_inside = 0 <= offset <= offset + storage.nbytes <= self._size
        if is_inside and not is_gathered and not offset % storage.alignment:
            return _CONTENT, offset
        if len(self.blob) + storage.nbytes > MOST_BYTES:
            raise _Unserializable
        self.blob += bytes(-len(self.blob) % arena.ALIGNMENT)
        offset = len(self.blob)
        self.blob += array.tobytes()
        return _BLOB, offset

    def table(
        self, instructions: Iterable[AnyInstruction], tag: Callable[..., Tag]
    ) -> SerializedTable:
        """The records of instructions, pointers as (word, region, offset), and other fields."""
        content: list[int] = []
        pointers: list[tuple[int, int, int]] = []
        lines: list[InstructionLine | BranchLine] = []
        for instruction in instructions:
            if isinstance(instruction, HostStep):
                raise _Unserializable
            start = len(content)
            for argument, buffer in zip(instruction.arguments, instruction.buffers, strict=True):
                region, first = self.location(buffer.storage)
                pointers.append((start + argument.slot, region, first + buffer.offset))
            if isinstance(instruction, Branch):
                target = None if instruction.target is None else instruction.record[abi.TARGET]
                has_flag = bool(instruction.buffers)
                lines.append((start, None, target, has_flag, None, 0, tag(instruction.tag)))
            else:
                pointers.append((start + abi.FAULT, _FAULTS, 0))
                module, key = instruction.name.partition(".")[0], instruction.key
                name, split, nbytes = instruction.name, instruction.split, instruction.nbytes
                lines.append((start, module, key, name, split, nbytes, tag(instruction.tag)))
            content += instruction.record
        columns = np.array(pointers, np.int64).reshape(-1, 3).T
        records = np.array(content, np.int64)
        records[columns[0]] = 0
        return records.tobytes(), columns.tobytes(), lines


def serialize(
    program: Program,
    layout: Layout,
    content: np.ndarray,
    bound: Sequence[Buffer],
    readable: Sequence[Buffer],
    tag: Callable[..., Tag],
) -> SerializedFields | None:
    """A program as plain data; None where that cannot be. It may have run already.

    Args:
        program: the program.
        layout: what its `close` decided.
        content: the bytes of the model file, as an array of uint8.
        bound: all its bound buffers.
        kept: the buffers to be read after a run.
        tag: function that gives plain data for an instruction's tag.
    """
    constant, instructions = layout.partition(layout.instructions)
    read = {storage for instruction in instructions for storage in instruction.reads}
    serializer = _Serializer(layout, content, [buffer.storage for buffer in bound], read)
    written = {storage for instruction in instructions for storage in instruction.writes}
    try:
        if layout.objects:
            return None
        resolve_targets(instructions)
        tables = serializer.table(constant, tag), serializer.table(instructions, tag)
        sizes = (
            *(0, 0, 0, serializer.constant_bytes, layout.scratch[1], layout.arena[1]),
            serializer.persistent_bytes,
        )
        return (
            _images(layout.instructions, program.threads),
            *tables,
            [x.fields for x in layout.fusions],
            sizes,
            bytes(serializer.blob),
            [(b.dtype.str, b.shape, b.storage in written) for b in bound],
            [(b.dtype.str, b.shape, b.offset, *serializer.location(b.storage)) for b in readable],
        )
    except _Unserializable:
        return None


def _images(instructions: Iterable[AnyInstruction], threads: int) -> list[ImageFile]:
    """(module, path, stamp) of the image files that are needed."""
    needed: dict[str, set[str]] = {}
    for module in ["launch"] if threads == 1 else ["launch", "threads"]:
        needed[module] = set(loaded(module).addresses)
    for instruction in instructions:
        if isinstance(instruction, Instruction) and instruction.entry:
            needed.setdefault(instruction.name.partition(".")[0], set()).add(instruction.key)
    images: set[ImageFile] = set()
    for module, keys in needed.items():
        files = image.files(module)
        if not keys <= files.keys():
            raise _Unserializable
        images.update((module, *files[key]) for key in keys)
    return sorted(images)


class PackedConstants:
    """The packed constants of one plan.

    Args:
        entry: that of the plan, where they are shared among processes.
    """

    def __init__(self, entry: CacheEntry | None = None):
        self._entry = entry
        self._region: ref[np.ndarray] | None = None

    def find(self, n_bytes: int) -> np.ndarray | None:
        """The constants as read-only bytes; None when they must be computed."""
        region = None if self._region is None else self._region()
        if region is None and self._entry is not None:
            region = self._entry.mapped(n_bytes)
            if region is not None:
                self._region = ref(region)
        return region

    def keep(self, region: np.ndarray) -> np.ndarray:
        """Stores constants that were just made; what to use instead of them, as bytes."""
        if self._entry is not None and self._entry.store_mapped(region):
            mapped = self._entry.mapped(region.nbytes)
            region = region if mapped is None else mapped
        self._region = ref(region)
        return region


_IN_PROCESS: WeakValueDictionary[tuple[str, bool], PackedConstants] = WeakValueDictionary()


def packed_constants(entry: CacheEntry, shared: bool) -> PackedConstants:
    """Those of the plan with this entry; all its programs in this process get the same object."""
    key = entry.key, shared
    packed = _IN_PROCESS.get(key)
    if packed is None:
        # Two threads may be here at once; both get the object of the first.
        packed = _IN_PROCESS.setdefault(key, PackedConstants(entry if shared else None))
    return packed


class _SerializedInstruction(Instruction):
    """An instruction whose record is filled in already."""

    __slots__ = ("_nbytes",)

    def __init__(self, name: str, split: int | None, nbytes: int, entry: int, tag: Tag) -> None:
        super().__init__(name, (), {}, split, tag)
        self._nbytes, self.entry = nbytes, entry

    @property
    def nbytes(self) -> int:
        """Bytes of all that it touches."""
        return self._nbytes


class SerializedProgram(Program):
    """A program from what `serialize` has given.

    Attributes:
        bound_buffers: its bound buffers, in their order.
        readable: the buffers to be read after a run.

    Args:
        fields: what `serialize` has given.
        content: the bytes of the model file.
        threads: how many threads share the instructions.
        packed: where the results of constant instructions lie.
        memory_limit: as for any program.

    Raises LookupError when a kernel it needs is not compiled any more.
    """

    def __init__(
        self,
        fields: SerializedFields,
        content: np.ndarray,
        threads: int,
        packed: PackedConstants,
        memory_limit: int | None = None,
    ) -> None:
        super().__init__(memory_limit, threads=threads)
        self._packed = packed
        images, self._constant_table, self._main_table = fields[:3]
        fused, self._sizes, self._blob, bound, readable = fields[3:]
        self._images = {file[0]: image.adopt(*file) for file in images}
        self._content = content
        self._fusions = _fusions(fused)
        self.bound_buffers = [_buffer(dtype, shape, BOUND) for dtype, shape, _ in bound]
        pairs = zip(self.bound_buffers, bound, strict=True)
        self._written = {buffer.storage for buffer, (_, _, is_written) in pairs if is_written}
        self._readable_locations = readable
        self.readable: list[Buffer] = []

    def close(
        self,
        bind: Mapping[AnyBuffer, np.ndarray] | None = None,
        note: Callable[[Layout], object] | None = None,
    ) -> None:
        """As for any program."""
        self._require_open()
        arena.check_limit(sum(self._sizes), self.memory_limit)
        packed = self._packed.find(self._sizes[_CONSTANTS]) if self._constant_table[2] else None
        sizes = [*self._sizes]
        if packed is not None:
            sizes[_CONSTANTS] = sizes[_SCRATCH] = 0
        regions = [arena.allocate(size) for size in sizes]
        regions[_FAULTS] = self._faults = np.zeros((MOST_CHUNKS, abi.FAULT_WORDS), np.int64)
        regions[_CONTENT] = self._content
        regions[_BLOB] = arena.allocate(len(self._blob))
        regions[_BLOB][:] = np.frombuffer(self._blob, np.uint8)
        if self._constant_table[2]:
            if packed is None:
                packed = self._pack(regions)
            regions[_CONSTANTS] = packed
            regions[_SCRATCH] = np.empty(0, np.uint8)
        bases = self._bases(regions)
        self._records, table, natives, pointers = self._deserialize(self._main_table, bases)
        self.instructions = [*natives]
        pools = None
        if self.threads > 1:
            from ..run import thread_pool

            pools = thread_pool.pool_set(self.threads)
        if natives:
            runner = PlanRunner(natives, table, self._faults, pools, fusions=self._fusions)
            self._segments = [runner]
        self._memory = regions  # what the records point to
        self._bind_and_keep(regions, pointers)
        self.arena_bytes = self._sizes[_ARENA]
        self._closed = True
        for buffer, array in (bind or {}).items():
            self.rebind(buffer, array)

    def _pack(self, regions: Sequence[np.ndarray]) -> np.ndarray:
        """Runs the constant instructions; the region of their results."""
        self._records, table, constant, _ = self._deserialize(
            self._constant_table, self._bases(regions)
        )
        PlanRunner(constant, table, self._faults, trials=0).run()
        return self._packed.keep(regions[_CONSTANTS])

    def _bases(self, regions: Sequence[np.ndarray]) -> list[int]:
        """Where the regions begin, those of bound buffers at 0."""
        return [arena.address(region) for region in regions] + [0] * len(self.bound_buffers)

    def _deserialize(
        self, serialized: SerializedTable, bases: Sequence[int]
    ) -> tuple[np.ndarray, np.ndarray, list[Instruction | Branch], np.ndarray]:
        """(records, table, instructions, pointers) of a serialized table."""
        content, pointers, lines = serialized
        records = np.frombuffer(content, np.int64).copy()
        columns = np.frombuffer(pointers, np.int64).reshape(3, -1)
        words, regions, offsets = columns
        records[words] = np.array(bases, np.int64)[regions] + offsets
        instructions: list[Instruction | Branch] = []
        entries: list[int] = []
        for line in lines:
            if line[1] is None:
                instructions.append(Branch(None, None, line[6]))
                entries.append(0)
            else:
                _, module, key, name, split, nbytes, tag = line
                entries.append(self._images[module].addresses[key])
                instructions.append(_SerializedInstruction(name, split, nbytes, entries[-1], tag))
        for instruction, line in zip(instructions, lines, strict=True):
            if isinstance(instruction, Branch) and line[1] is None and line[2] is not None:
                target = instructions[line[2]]
                assert isinstance(target, Branch)
                instruction.target = target
        base = arena.address(records)
        table = [
            (entry, base + abi.WORD * line[0], 1, 0)
            for entry, line in zip(entries, lines, strict=True)
        ]
        shape = len(instructions), abi.INSTRUCTION_WORDS
        return records, np.array(table, np.int64).reshape(shape), instructions, columns

    def _bind_and_keep(self, regions: Sequence[np.ndarray], pointers: np.ndarray) -> None:
        words, numbers, offsets = pointers
        for i, buffer in enumerate(self.bound_buffers):
            is_in_place = numbers == _FIRST_BOUND + i
            pairs = zip(words[is_in_place].tolist(), offsets[is_in_place].tolist(), strict=True)
            self._bound[buffer.storage] = [*pairs]
        self._unbound.update(self._bound)
        for dtype, shape, offset, region, first in self._readable_locations:
            buffer = _buffer(dtype, shape, ARENA, offset)
            if region >= _FIRST_BOUND:
                buffer.storage = self.bound_buffers[region - _FIRST_BOUND].storage
            else:
                self._locations[buffer.storage] = (regions[region], first)
            self.live_out.add(buffer.storage)
            self.readable.append(buffer)


def _buffer(dtype: str, shape: Sequence[int], kind: str, offset: int = 0) -> Buffer:
    buffer = Buffer(dtype, shape, Storage(kind, 0), offset)
    buffer.storage.nbytes = buffer.nbytes
    return buffer


def _fusions(fields: Iterable[tuple[int, int, int, int]]) -> list[Fusion]:
    if not fields:
        return []
    from .fusion import Fusion  # few plans have any

    return [Fusion(*numbers) for numbers in fields]
