"""What branches make of the instructions around them: loops, and what may be left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .instruction import Branch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .instruction import AnyInstruction


def is_conditional(instructions: Sequence[AnyInstruction], instruction: AnyInstruction) -> bool:
    """Whether a branch may lead past one of the instructions."""
    order = [id(x) for x in instructions]
    position = order.index(id(instruction))
    targets = [id(x.target) for x in instructions[:position] if isinstance(x, Branch)]
    return not set(targets).isdisjoint(order[position + 1 :])


def loops(instructions: Sequence[AnyInstruction]) -> list[tuple[int, int]]:
    """(first, last) positions of all loops, inner ones before those around them."""
    positions: dict[int, int] = {}
    spans: list[tuple[int, int]] = []
    for i, instruction in enumerate(instructions):
        if isinstance(instruction, Branch):
            if id(instruction.target) in positions:
                spans.append((positions[id(instruction.target)], i))
            positions[id(instruction)] = i
    return sorted(spans, key=lambda span: span[1] - span[0])


def per_iteration(instructions: Sequence[AnyInstruction], times: Sequence[int]) -> list[float]:
    """`times` of instructions, each for one iteration of the innermost loop around it.

    A branch's time is how often it was taken.
    """
    averages: list[float] = list(times)
    for first, last in reversed(loops(instructions)):
        n_iterations = max(times[last], 1)
        averages[first:last] = [time / n_iterations for time in times[first:last]]
    return averages
