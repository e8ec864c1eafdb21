"""What branches make of the instructions around them: loops, segments, what may be left out."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from .instruction import Branch, HostStep

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


def segments(instructions: Sequence[AnyInstruction]) -> list[tuple[int, int]]:
    """(first position, the one behind the last) of each part that is run in one piece.

        a; step; b; branch to a      becomes      a | step | b | branch to a

    One is a host step; a branch out of the segment that it would else be part of; or native
    instructions, of which only the first is a branch's target from elsewhere.
    """
    positions = {id(x): i for i, x in enumerate(instructions) if isinstance(x, Branch)}
    branches = [
        (i, positions[id(x.target)])
        for i, x in enumerate(instructions)
        if isinstance(x, Branch) and x.target is not None
    ]
    steps = [i for i, x in enumerate(instructions) if isinstance(x, HostStep)]
    cuts = {0, len(instructions), *steps, *(i + 1 for i in steps)}
    before = -1
    while branches and len(cuts) != before:
        before = len(cuts)
        numbers = _numbers(cuts, len(instructions))
        for i, target in branches:
            if numbers[i] != numbers[target]:
                cuts.update((i, i + 1, target))
    return [*pairwise(sorted(cuts))]


def _numbers(cuts: set[int], length: int) -> list[int]:
    """Of each position, the number of its segment."""
    numbers: list[int] = []
    number = -1
    for i in range(length):
        number += i in cuts
        numbers.append(number)
    return numbers
