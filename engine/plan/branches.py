"""Branches: instructions that say which one comes next, for loops and conditions in a program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import abi

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .buffer import Buffer, Storage
    from .instruction import AnyInstruction, Tag


class _Flag:
    """Where a branch's record has the address of its flag."""

    slot = abi.FLAG


class Branch:
    """Goes on at `target`, unless the bool `flag` holds; always when there is none.

    Attributes:
        target: the Branch to go on at; None goes on at the instruction after this one.
    """

    __slots__ = ("arguments", "buffers", "reads", "record", "tag", "target")
    name, entry, split, is_pure = "branch", 0, None, False
    writes: tuple[Storage, ...] = ()
    elementwise = None

    def __init__(self, flag: Buffer | None, target: Branch | None, tag: Tag) -> None:
        self.buffers = () if flag is None else (flag,)
        self.arguments = (_Flag,) * len(self.buffers)
        self.reads = [buffer.storage for buffer in self.buffers]
        self.target, self.tag = target, tag
        self.record = [0] * abi.BRANCH_WORDS

    def chunks(self, threads: int = 1, time: float | None = None) -> int:
        """0, by which the plan runner knows it from a kernel."""
        return 0


def resolve_targets(instructions: Sequence[AnyInstruction]) -> None:
    """Writes the position of its target into the record of each branch among `instructions`.

    Raises ValueError when that is not among them.
    """
    positions = {id(x): i for i, x in enumerate(instructions) if isinstance(x, Branch)}
    for i, instruction in enumerate(instructions):
        if isinstance(instruction, Branch):
            target = instruction.target
            position = i + 1 if target is None else positions.get(id(target))
            if position is None:
                raise ValueError("no host step may stand between a branch and its target")
            instruction.record[abi.TARGET] = position


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
        target = getattr(instruction, "target", None)
        if id(target) in positions:
            spans.append((positions[id(target)], i))
        if isinstance(instruction, Branch):
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
