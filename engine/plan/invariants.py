"""Instructions that do the same in every iteration of a loop are done once, before it.

head; pack w; multiply x, packed w; branch to head      becomes      pack w; head; multiply ...
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from .branches import loops
from .buffer import ARENA
from .instruction import Branch, Instruction

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .buffer import Storage
    from .instruction import AnyInstruction


def hoist_invariants(instructions: Sequence[AnyInstruction]) -> list[AnyInstruction]:
    """`instructions` with those before a loop that depend on nothing that changes within it.

    An instruction moves if it runs whenever the loop's first instruction does (it stands before any
    branch inside of the loop), reads nothing that the loop writes, and is the only one anywhere to
    write its results.
    """
    spans = loops(instructions)
    if not spans:
        return list(instructions)
    writers = Counter(storage for x in instructions for storage in x.writes)
    order = list(instructions)
    for head, back in [(instructions[first], instructions[last]) for first, last in spans]:
        first, last = order.index(head), order.index(back)
        varying = Counter(storage for x in order[first : last + 1] for storage in x.writes)
        hoisted: list[AnyInstruction] = []
        remaining: list[AnyInstruction] = []
        may_move = True
        for x in order[first + 1 : last]:
            may_move = may_move and not isinstance(x, Branch)
            if may_move and _is_invariant(x, varying, writers):
                hoisted.append(x)
                varying.subtract(x.writes)
            else:
                remaining.append(x)
        order[first:last] = [*hoisted, head, *remaining]
    return order


def _is_invariant(x: AnyInstruction, varying: Counter[Storage], writers: Counter[Storage]) -> bool:
    return (
        isinstance(x, Instruction)
        and x.is_pure
        and not any(varying[storage] for storage in x.reads)
        and all(storage.kind == ARENA and writers[storage] == 1 for storage in x.writes)
    )
