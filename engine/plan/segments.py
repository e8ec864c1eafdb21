"""How a program is cut: what one plan runner runs, host steps, and branches past these.

a; step; b; branch to a      becomes      [a]  step  [b]  branch to [a]
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from .instruction import Branch, HostStep

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .instruction import AnyInstruction


def spans(instructions: Sequence[AnyInstruction]) -> list[tuple[int, int]]:
    """(first position, the one behind the last) of each segment.

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
        segments = _numbers(cuts, len(instructions))
        for i, target in branches:
            if segments[i] != segments[target]:
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


class Jump:
    """A branch from one segment to another.

    Attributes:
        branch: What it was made of; not taken when its flag holds.
        target: The number of the segment to go on with.
    """

    __slots__ = ("branch", "target")

    def __init__(self, branch: Branch, target: int):
        self.branch, self.target = branch, target
