"""Common subexpressions: instructions that would do again what one before has done are left out.

Operators that read the same tensor often begin with the same instruction, such as the one that
rounds it to int8, which then is needed once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from typing import TYPE_CHECKING

from .buffer import ARENA, Storage
from .instruction import Instruction

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet
    from typing import TypeAlias

    from .instruction import AnyInstruction

    Operands: TypeAlias = "tuple[Instruction | None, ...]"
    """The last writer of each operand of an instruction; None where there is none."""


def eliminate_common(
    instructions: Sequence[AnyInstruction], live_out: AbstractSet[Storage]
) -> list[AnyInstruction]:
    """`instructions` without the repeated ones, whose readers read the results of the first.

    An instruction repeats another if both run whenever one does (no branch leads in between), do
    the same to the same bytes, and their results have no other writer. If these are `live_out`, or
    read by a host step, it stays.
    """
    writers = Counter(storage for x in instructions for storage in x.writes)
    used = {*live_out}.union(*(x.reads for x in instructions if not isinstance(x, Instruction)))
    remaining: list[AnyInstruction] = []
    earlier: dict[Hashable, tuple[Instruction, Operands] | None] = {}
    """kernel and storages read -> the one instruction, or None: there are several in `first_of`"""
    first_of: dict[Hashable, Instruction] = {}
    replacements: dict[Storage, Storage] = {}
    last_writers: dict[Storage, Instruction] = {}
    for instruction in instructions:
        if not isinstance(instruction, Instruction):
            earlier.clear()
            first_of.clear()
            remaining.append(instruction)
            continue
        if replacements and not replacements.keys().isdisjoint(instruction.reads):
            instruction.replace(replacements)
        first = instruction
        if all(s.kind == ARENA and writers[s] == 1 for s in instruction.writes):
            operands = tuple([last_writers.get(storage) for storage in instruction.reads])
            reads = (instruction.name, *instruction.reads)
            if reads not in earlier:  # nearly all: no more need be known of them
                earlier[reads] = instruction, operands
            else:
                other, earlier[reads] = earlier[reads], None
                if other is not None:
                    first_of[_expression(*other)] = other[0]
                first = first_of.setdefault(_expression(instruction, operands), instruction)
        if first is instruction or not used.isdisjoint(instruction.writes):
            remaining.append(instruction)
            for storage in instruction.writes:
                last_writers[storage] = instruction
        else:
            replacements.update(zip(instruction.writes, first.writes, strict=True))
    return remaining


def _expression(instruction: Instruction, operands: Operands) -> Hashable:
    """What it does, and to which bytes: equal for instructions that give the same."""
    return (
        (instruction.name, instruction.key, tuple(instruction.record)),
        (tuple(instruction.reads), operands),
        tuple([storage.nbytes for storage in instruction.writes]),
        tuple([buffer.offset for buffer in instruction.buffers]),
    )
