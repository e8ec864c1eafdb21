"""Results of constant instructions, such as packed weights, shared by the programs of one model.

Programs of one model often pack the same weights the same way: those of clones, of other input
sizes, of a subgraph that is called twice. What they make is known by what makes it: the kernels,
their numbers and the bytes they begin with, which lie in the model file or are few.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import ref

import numpy as np

from . import arena
from .buffer import CONSTANT
from .instruction import Instruction

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from .buffer import Storage
    from .instruction import AnyInstruction

FEW = 1 << 12
"""Bytes of a constant that is known by its value."""
_MOST = 1 << 12  # entries before those are looked for whose memory is gone


class SharedConstants:
    """Where results of constant instructions lie, as long as a program holds that memory.

    Args:
        content: the bytes of the model file, which must stay in their place.
    """

    def __init__(self, content: np.ndarray):
        self._start = arena.address(content)
        self._end = self._start + content.nbytes
        self._content = content
        self._entries: dict[Hashable, tuple[ref[np.ndarray], int]] = {}

    def keys(self, instructions: Sequence[AnyInstruction]) -> dict[Storage, Hashable]:
        """What each written storage will hold, for those that can be told."""
        written: dict[Storage, Hashable] = {}
        unknown: set[Storage] = set()
        for instruction in instructions:
            expression = None
            if isinstance(instruction, Instruction) and unknown.isdisjoint(instruction.reads):
                expression = self._expression(instruction, written)
            for position, storage in enumerate(instruction.writes):
                if expression is None or storage in unknown:
                    unknown.add(storage)
                    written.pop(storage, None)
                else:
                    written[storage] = (written.get(storage), expression, position)
        return written

    def find(self, key: Hashable) -> tuple[np.ndarray, int] | None:
        """(memory, first byte in it) of the constants with this key; None where there are none."""
        entry = self._entries.get(key)
        memory = None if entry is None else entry[0]()
        return None if entry is None or memory is None else (memory, entry[1])

    def keep(self, key: Hashable, memory: np.ndarray, first: int) -> None:
        """Notes where something lies that was just made."""
        if len(self._entries) >= _MOST:
            entries = [*self._entries.items()]  # another thread may be here
            self._entries = {k: entry for k, entry in entries if entry[0]() is not None}
        self._entries[key] = ref(memory), first

    def _expression(
        self, instruction: Instruction, written: Mapping[Storage, Hashable]
    ) -> Hashable | None:
        reads: list[Hashable] = []
        for storage in instruction.reads:
            key = written.get(storage)
            if key is None:
                key = self._leaf(storage)
            if key is None:
                return None
            reads.append(key)
        sizes = tuple([storage.nbytes for storage in instruction.writes])
        offsets = tuple([buffer.offset for buffer in instruction.buffers])
        roles = _roles([buffer.storage for buffer in instruction.buffers])
        record = tuple(instruction.record)
        return (instruction.name, instruction.key, record, tuple(reads), sizes, offsets, roles)

    def _leaf(self, storage: Storage) -> Hashable | None:
        array = storage.array
        if storage.kind != CONSTANT or array is None or array.dtype.hasobject:
            return None
        start = arena.address(array)
        if self._start <= start <= start + storage.nbytes <= self._end:
            return start, storage.nbytes
        return array.tobytes() if storage.nbytes <= FEW else None


def _roles(storages: Sequence[Storage]) -> tuple[int, ...]:
    """Which of the storages are the same, by the number each has when it first comes."""
    numbers: dict[Storage, int] = {}
    return tuple([numbers.setdefault(storage, len(numbers)) for storage in storages])


def to_make(
    instructions: Sequence[AnyInstruction],
    constants: Sequence[Storage],
    available: set[Storage],
) -> tuple[list[AnyInstruction], list[Storage]]:
    """The constant instructions to run, and the constants that they make.

    Those of `available` need not be made; what has to be written again, since an instruction that
    runs writes it too, is taken out of them.
    """
    while True:
        storages = [storage for storage in constants if storage not in available]
        needed, chosen = set(storages), list["AnyInstruction"]()
        for instruction in reversed(instructions):
            if not needed.isdisjoint(instruction.writes):
                chosen.append(instruction)
                needed.update(set(instruction.reads) - available)
        again = available & {storage for x in chosen for storage in x.writes}
        if not again:
            return chosen[::-1], storages
        available -= again
