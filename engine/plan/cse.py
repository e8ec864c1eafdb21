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

    from .instruction import AnyInstruction


def eliminate_common(
    instructions: Sequence[AnyInstruction], live_out: AbstractSet[Storage]
) -> list[AnyInstruction]:
    """`instructions` without the repeated ones, whose readers read the results of the first.

    An instruction repeats another if both run whenever one does (no branch leads in between), do
    the same to the same bytes, and nobody else writes to their results. If these are `live_out`, or
    read by a host step, it stays.
    """
    writers = Counter(storage for x in instructions for storage in x.writes)
    calls = [_call(x) if isinstance(x, Instruction) else None for x in instructions]
    times = Counter(calls)
    used = {*live_out}.union(*(x.reads for x in instructions if not isinstance(x, Instruction)))
    remaining: list[AnyInstruction] = []
    first_of: dict[Hashable, Instruction] = {}
    replacements: dict[Storage, Storage] = {}
    last_writers: dict[Storage, Instruction] = {}
    for instruction, call in zip(instructions, calls, strict=True):
        if not isinstance(instruction, Instruction):
            first_of.clear()
            remaining.append(instruction)
            continue
        if not replacements.keys().isdisjoint(instruction.reads):
            _replace_reads(instruction, replacements)
        first = instruction
        if times[call] > 1:
            is_only_writer = all(s.kind == ARENA and writers[s] == 1 for s in instruction.writes)
            if is_only_writer:
                expression = call, _operands(instruction, last_writers)
                first = first_of.setdefault(expression, instruction)
        if first is instruction or not used.isdisjoint(instruction.writes):
            remaining.append(instruction)
            last_writers.update((storage, instruction) for storage in instruction.writes)
        else:
            replacements.update(zip(instruction.writes, first.writes, strict=True))
    return remaining


def _call(instruction: Instruction) -> Hashable:
    """What an instruction does: equal for instructions that do the same to any bytes."""
    return instruction.name, instruction.key, tuple(instruction.record)


def _operands(instruction: Instruction, last_writers: Mapping[Storage, Instruction]) -> Hashable:
    """The bytes that it does it to: equal for instructions that find the same ones."""
    reads = tuple((storage, last_writers.get(storage)) for storage in instruction.reads)
    sizes = tuple(storage.nbytes for storage in instruction.writes)
    offsets = tuple(buffer.offset for buffer in instruction.buffers)
    return reads, sizes, offsets


def _replace_reads(instruction: Instruction, replacements: Mapping[Storage, Storage]) -> None:
    """Lets an instruction read other storages."""
    instruction.buffers = tuple(
        Buffer(b.dtype, b.shape, replacements.get(b.storage, b.storage), b.offset)
        for b in instruction.buffers
    )
    instruction.attach()
