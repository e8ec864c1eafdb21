"""Common subexpressions: instructions that would do again what one before has done are left out.

Operators that read the same tensor often begin with the same instruction, such as the one that
rounds it to int8, which then is needed once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from typing import TYPE_CHECKING

from .buffer import ARENA, Buffer, Storage
from .instruction import Instruction

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from collections.abc import Set as AbstractSet
    from typing import TypeAlias

    from .instruction import AnyInstruction

    Operands: TypeAlias = "list[Instruction | None]"
    """Who has written what an instruction reads, None where nobody has."""


def eliminate_common(
    instructions: Sequence[AnyInstruction], live_out: AbstractSet[Storage]
) -> list[AnyInstruction]:
    """`instructions` without the repeated ones, whose readers read the results of the first.

    An instruction repeats another if both run whenever one does (no branch leads in between), do
    the same to the same bytes, and nobody else writes to their results. If these are `live_out`, or
    read by a host step, it stays.
    """
    writers = Counter(storage for x in instructions for storage in x.writes)
    used = {*live_out}.union(*(x.reads for x in instructions if not isinstance(x, Instruction)))
    remaining: list[AnyInstruction] = []
    earlier: dict[Hashable, list[tuple[Instruction, Operands]]] = {}
    replacements: dict[Storage, Storage] = {}
    last_writers: dict[Storage, Instruction] = {}
    for instruction in instructions:
        if not isinstance(instruction, Instruction):
            earlier.clear()
            remaining.append(instruction)
            continue
        reads, writes = instruction.reads, instruction.writes
        if replacements and not replacements.keys().isdisjoint(reads):
            _replace_reads(instruction, replacements)
            reads = instruction.reads
        first = None
        if all(s.kind == ARENA and writers[s] == 1 for s in writes):
            operands = [last_writers.get(storage) for storage in reads]
            others = earlier.setdefault((instruction.name, *reads), [])
            repeated = (x for x, its in others if its == operands and _same(x, instruction))
            first = next(repeated, None)
            if first is None:
                others.append((instruction, operands))
        if first is None or not used.isdisjoint(writes):
            remaining.append(instruction)
            for storage in writes:
                last_writers[storage] = instruction
        else:
            replacements.update(zip(writes, first.writes, strict=True))
    return remaining


def _same(first: Instruction, second: Instruction) -> bool:
    """Whether two instructions that read the same storages do the same to the same bytes."""
    return (
        first.key == second.key
        and first.record == second.record
        and [s.nbytes for s in first.writes] == [s.nbytes for s in second.writes]
        and [x.offset for x in first.buffers] == [x.offset for x in second.buffers]
    )


def _replace_reads(instruction: Instruction, replacements: Mapping[Storage, Storage]) -> None:
    """Lets an instruction read other storages."""
    instruction.buffers = tuple(
        Buffer(b.dtype, b.shape, replacements.get(b.storage, b.storage), b.offset)
        for b in instruction.buffers
    )
    instruction.attach()
