"""Results of constant instructions, such as packed weights, shared by the programs of one model.

Programs of one model often pack the same weights the same way: those of clones, of other input
sizes, of a subgraph that is called twice. What they make is known by what makes it: the kernels,
their numbers and the bytes they begin with, which lie in the model file or are few.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import ref

import numpy as np

from .. import abi
from . import arena
from .buffer import CONSTANT
from .instruction import Instruction

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence
    from typing import TypeAlias

    from .buffer import Storage
    from .instruction import AnyInstruction

    _Place: TypeAlias = "tuple[ref[np.ndarray], int]"
    """Memory, as long as it is there, and the first byte in it."""

FEW = 1 << 15
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
        self._entries: dict[Hashable, _Place] = {}
        self._first: tuple[Sequence[AnyInstruction], dict[Storage, _Place]] | None = None

    def keys(self, instructions: Sequence[AnyInstruction]) -> dict[Storage, Hashable]:
        """What each written storage will hold, for those that can be told.

        Nothing is told before there is something to share.
        """
        if self._first is None and not self._entries:
            return {}
        first, self._first = self._first, None
        if first is not None:
            keys, places = self._keys(first[0]), first[1]
            self._entries.update((keys[s], place) for s, place in places.items() if s in keys)
        return self._keys(instructions)

    def _keys(self, instructions: Sequence[AnyInstruction]) -> dict[Storage, Hashable]:
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

    def keep(
        self,
        instructions: Sequence[AnyInstruction],
        keys: Mapping[Storage, Hashable],
        places: Mapping[Storage, tuple[np.ndarray, int]],
    ) -> None:
        """Notes where lies what was just made: (memory, first byte in it) of each storage.

        `keys` are those of the instructions. What the first program has made gets its own when
        another one asks, as most models have one alone.
        """
        noted = {storage: (ref(memory), first) for storage, (memory, first) in places.items()}
        if not self._entries:
            self._first = instructions, noted
            return
        if len(self._entries) >= _MOST:
            entries = [*self._entries.items()]  # another thread may be here
            self._entries = {k: entry for k, entry in entries if entry[0]() is not None}
        self._entries.update((keys[s], place) for s, place in noted.items() if s in keys)

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
        record = [*instruction.record]
        for word in (abi.FAULT, *(argument.slot for argument in instruction.arguments)):
            record[word] = 0  # an address, once it has run
        return (
            instruction.name,
            instruction.key,
            tuple(record),
            tuple(reads),
            sizes,
            offsets,
            roles,
        )

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
