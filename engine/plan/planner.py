"""Which instructions run once, how long each storage is alive, and where it lies in the arena.

An instruction here is anything with `buffers`, `reads` and `writes`, the latter tuples of storages,
and `is_pure`, which is false for what must run every time (host steps). Positions are those of
instructions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from . import fusion
from .arena import aligned
from .buffer import ARENA, CONSTANT, PERSISTENT
from .instruction import Branch

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from .buffer import Buffer, Storage
    from .fusion import Fusion
    from .instruction import AnyInstruction

MAX_SHARING = 2048  # storages that share memory; the smallest beyond these get memory of their own


class Layout:
    """What is decided about a program before it gets any memory.

    Attributes:
        constant_positions: positions of the constant instructions, which run once.
        constants: the storages these write and the other instructions read.
        scratch: {storage: offset}, bytes in all, of what only they need.
        arena: the same for intermediate results of the other instructions.
        objects: {storage: number of elements} of what holds Python objects.
        fusions: those among the other instructions.
        instructions: all of them.
        fresh: the persistent storages that have no memory yet.
    """

    __slots__ = (
        *("arena", "constant_positions", "constants", "fresh", "fusions", "instructions"),
        *("objects", "scratch"),
    )

    def __init__(
        self,
        instructions: Sequence[AnyInstruction],
        constant_positions: AbstractSet[int],
        constants: Sequence[Storage],
        scratch: tuple[dict[Storage, int], int],
        arena: tuple[dict[Storage, int], int],
        objects: dict[Storage, int] | None = None,
        fusions: Sequence[Fusion] = (),
    ):
        self.constant_positions, self.constants = constant_positions, constants
        self.scratch, self.arena = scratch, arena
        self.objects, self.fusions = objects or {}, fusions
        self.instructions = instructions
        self.fresh = {
            storage
            for instruction in instructions
            for storage in (*instruction.reads, *instruction.writes)
            if storage.kind == PERSISTENT and storage.array is None
        }

    def partition(
        self, instructions: Sequence[AnyInstruction]
    ) -> tuple[list[AnyInstruction], list[AnyInstruction]]:
        """The constant instructions, and the others."""
        return _partition(instructions, self.constant_positions)


def layout(
    instructions: Sequence[AnyInstruction],
    live_out: AbstractSet[Storage],
    deferred: Sequence[AnyInstruction] = (),
) -> Layout:
    """The Layout of a program's instructions when `live_out` are readable at its end.

    Those that are `deferred` are run where they stand, though they may be constant.
    """
    positions, objects = constant_instructions(instructions, deferred), _objects(instructions)
    first, others = _partition(instructions, positions)
    constants: list[Storage] = []
    scratch: tuple[dict[Storage, int], int] = {}, 0
    if first:
        read = {*live_out}.union(*(instruction.reads for instruction in others))
        written = dict.fromkeys(storage for x in first for storage in x.writes)
        constants = [storage for storage in written if storage in read]
        alive = lifetimes(first, (), {*constants})
        scratch = assign(alive, overlays(first, alive))
    alive = lifetimes(others, live_out, {*constants})
    for storage in objects:
        alive.pop(storage, None)
    fused = fusion.fusions(others)
    over = overlays(others, alive, fused)
    arena = assign(fusion.lifetimes(alive, others, fused), over)
    return Layout(instructions, positions, constants, scratch, arena, objects, fused)


def _partition(
    instructions: Sequence[AnyInstruction], constant: AbstractSet[int]
) -> tuple[list[AnyInstruction], list[AnyInstruction]]:
    pairs = [*enumerate(instructions)]
    return [x for i, x in pairs if i in constant], [x for i, x in pairs if i not in constant]


def _objects(instructions: Iterable[AnyInstruction]) -> dict[Storage, int]:
    return {
        buffer.storage: buffer.storage.nbytes // buffer.itemsize
        for instruction in instructions
        for buffer in instruction.buffers
        if buffer.dtype.hasobject and buffer.storage.kind == ARENA
    }


def constant_instructions(
    instructions: Sequence[AnyInstruction], deferred: Sequence[AnyInstruction] = ()
) -> set[int]:
    """The positions of the instructions whose result is the same in every run.

    These read only constants and what such instructions wrote, and write only arena storages that
    no other instruction writes. Those that are `deferred` are left out.
    """
    varying = _handed_on(instructions)
    varying.update(storage for instruction in deferred for storage in instruction.writes)
    constant: set[int] = set()
    before = -1
    while len(varying) != before:
        before = len(varying)
        constant.clear()
        for i, instruction in enumerate(instructions):
            is_constant = instruction.is_pure
            for storage in instruction.reads:
                kind = storage.kind
                if kind != CONSTANT and (kind != ARENA or storage in varying):
                    is_constant = False
                    break
            for storage in instruction.writes:
                if storage.kind != ARENA or storage in varying:
                    is_constant = False
            if is_constant:
                constant.add(i)
            else:
                varying.update(storage for storage in instruction.writes if storage.kind == ARENA)
    return constant


def _handed_on(instructions: Sequence[AnyInstruction]) -> set[Storage]:
    """Storages that are written before a loop and in it: other bytes in each iteration."""
    handed_on: set[Storage] = set()
    for first, last in _loops(instructions):
        within = {storage for x in instructions[first:last] for storage in x.writes}
        handed_on |= within.intersection(s for x in instructions[:first] for s in x.writes)
    return handed_on


def _loops(instructions: Sequence[AnyInstruction]) -> list[tuple[int, int]]:
    if not any(type(x) is Branch for x in instructions):
        return []
    from .branches import loops  # few programs have any

    return loops(instructions)


def lifetimes(
    instructions: Sequence[AnyInstruction], live_out: Iterable[Storage], known: Container[Storage]
) -> dict[Storage, list[int]]:
    """{storage: [first position, last position]} of every arena storage that is not in `known`.

    Raises ValueError when an instruction reads what no instruction before has written.
    """
    alive: dict[Storage, list[int]] = {}
    end = len(instructions)
    for i, instruction in enumerate(instructions):
        for storage in instruction.reads:
            if storage.kind == ARENA and storage not in known:
                span = alive.get(storage)
                if span is None and not storage.nbytes:  # nothing that could be written
                    span = alive[storage] = [i, i]
                if span is None:
                    name = storage.name or f"a buffer of {storage.nbytes} bytes"
                    raise ValueError(
                        f"{instruction.name}: reads {name} before any instruction has written it"
                    )
                span[1] = i
        for storage in instruction.writes:
            if storage.kind == ARENA and storage not in known:
                alive.setdefault(storage, [i, i])[1] = i
    for first, last in _loops(instructions):
        for span in alive.values():
            if span[0] < first <= span[1] < last:  # read again in the next iteration
                span[1] = last
    for storage in live_out:
        if storage in alive:
            alive[storage][1] = end
    return alive


def overlays(
    instructions: Sequence[AnyInstruction],
    alive: Mapping[Storage, Sequence[int]],
    fused: Iterable[Fusion] = (),
) -> dict[Storage, Storage]:
    """{storage: storage whose memory it takes over}, where an instruction may work in place.

    The instruction is the first to write the one and the last to read the other, all of both. The
    instructions of a fusion run at the same time: none of those before may touch more of that
    either.
    """
    over: dict[Storage, Storage] = {}
    starts: dict[int, int] = {}
    for fusion_ in fused:
        starts.update((i, fusion_.first) for i in range(fusion_.first, fusion_.last + 1))
    for i, instruction in enumerate(instructions):
        if instruction.elementwise is None:
            continue
        position, operands = instruction.elementwise
        result = instruction.buffers[position]
        if not _is_whole(result) or alive.get(result.storage, (-1,))[0] != i:
            continue
        at_once = instructions[starts.get(i, i) : i + 1]
        dying = [
            x.storage
            for x in (instruction.buffers[k] for k in operands)
            if x.itemsize == result.itemsize and alive.get(x.storage, (-1, -1))[1] == i
            if all(_is_elementwise(other, x.storage) for other in at_once)
        ]
        if dying:  # the one written last is still near
            over[result.storage] = max(dying, key=lambda storage: alive[storage][0])
    return over


def _is_whole(buffer: Buffer) -> bool:
    return buffer.nbytes == buffer.storage.nbytes


def _is_elementwise(instruction: AnyInstruction, storage: Storage) -> bool:
    """Whether each item of an instruction touches no more of a storage than its own elements."""
    if instruction.elementwise is None:
        return False
    result, operands = instruction.elementwise
    positions = (result, *operands)
    touched = [(i, x) for i, x in enumerate(instruction.buffers) if x.storage is storage]
    return all(i in positions and _is_whole(x) for i, x in touched)


def assign(
    alive: Mapping[Storage, Sequence[int]], over: Mapping[Storage, Storage] | None = None
) -> tuple[dict[Storage, int], int]:
    """({storage: offset}, bytes in all) so that what is alive at once does not overlap.

    Greedy by size: the largest first, each into the smallest gap it fits among those placed
    before that are alive at the same time. A storage lies where the one does that it is `over`,
    unless that takes more room: then none of them does.

    Offsets are not kept apart modulo 4096, where loads may seem to meet stores: most tensors are
    multiples of that, and no model's time changed by more than 0.5 % when they were.
    """
    offsets, total = _assign_over(alive, over or {})
    if over and total > _peak(alive):  # else nothing takes less
        apart = _assign_over(alive, {})
        if apart[1] < total:
            return apart
    return offsets, total


def _peak(alive: Mapping[Storage, Sequence[int]]) -> int:
    """The bytes of what is alive at the same time, where these are most."""
    spans = np.array([*alive.values()], np.int64)
    sizes = [aligned(storage.nbytes) for storage in alive]
    changes = np.zeros(int(spans.max()) + 2, np.int64)
    np.add.at(changes, spans[:, 0], sizes)
    np.subtract.at(changes, spans[:, 1] + 1, sizes)
    return int(changes.cumsum().max())


def _assign_over(
    alive: Mapping[Storage, Sequence[int]], over: Mapping[Storage, Storage]
) -> tuple[dict[Storage, int], int]:
    roots = {storage: _root(storage, over) for storage in alive}
    spans: dict[Storage, list[int]] = {}
    for storage, root in roots.items():
        first, last = spans.get(root, alive[storage])
        spans[root] = [min(first, alive[storage][0]), max(last, alive[storage][1])]
    offsets, total = _offsets(spans)
    return {storage: offsets[root] for storage, root in roots.items()}, total


def _root(storage: Storage, over: Mapping[Storage, Storage]) -> Storage:
    while storage in over:
        storage = over[storage]
    return storage


def _offsets(alive: Mapping[Storage, Sequence[int]]) -> tuple[dict[Storage, int], int]:
    order = sorted(alive, key=lambda storage: (-storage.nbytes, alive[storage]))
    offsets: dict[Storage, int] = {}
    total = 0
    spans = np.array([alive[storage] for storage in order[:MAX_SHARING]], np.int64).reshape(-1, 2)
    firsts, lasts = spans[:, 0], spans[:, 1]
    overlap = (firsts <= lasts[:, None]) & (lasts >= firsts[:, None])
    extents: list[tuple[int, int]] = []
    for i, storage in enumerate(order[:MAX_SHARING]):
        size = aligned(storage.nbytes)
        positions: list[int] = overlap[i, :i].nonzero()[0].tolist()
        offset = _gap(sorted([extents[k] for k in positions]), size)
        offsets[storage] = offset
        extents.append((offset, offset + size))
        total = max(total, offset + size)
    for storage in order[MAX_SHARING:]:
        offsets[storage] = total
        total += aligned(storage.nbytes)
    return offsets, total


def _gap(extents: Iterable[tuple[int, int]], size: int) -> int:
    """The start of the smallest gap between `extents` that holds `size` bytes, or their end."""
    best, best_size, end = None, 0, 0
    for start, stop in extents:
        gap = start - end
        if gap >= size and (best is None or gap < best_size):
            best, best_size = end, gap
        end = max(end, stop)
    return end if best is None else best
