"""Loops and conditions in machine code: instructions of a body between branches of one program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from ..plan.buffer import arena
from .layout import move

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..plan.buffer import Buffer
    from ..plan.instruction import Branch
    from ..plan.program import Program


class Body(Protocol):
    """Instructions that are not part of a program yet, and what they compute."""

    @property
    def values(self) -> Sequence[Buffer]:
        """The results; some may be operands."""
        ...

    def emit(self, program: Program) -> None:
        """Adds the instructions."""
        ...


def choose(
    program: Program, flag: Buffer, then: Body, otherwise: Body, outs: Sequence[Buffer]
) -> None:
    """outs = the values of `then` if the bool `flag` holds, else those of `otherwise`.

    `outs` are persistent and of the shapes and dtypes that both give.
    """
    switch(program, [flag], [then, otherwise], outs)


def switch(
    program: Program, flags: Sequence[Buffer], bodies: Sequence[Body], outs: Sequence[Buffer]
) -> None:
    """outs = the values of the body whose flag is the first that holds; of the last where none is.

    There is a bool for each body but the last. `outs` are as those of `choose`.
    """
    ends: list[Branch] = []
    for flag, body in zip(flags, bodies[:-1], strict=True):
        to_next = program.branch(unless=flag)
        body.emit(program)
        move_all(program, body.values, outs)
        ends.append(program.branch())
        to_next.target = program.branch()
    bodies[-1].emit(program)
    move_all(program, bodies[-1].values, outs)
    end = program.branch()
    for branch in ends:
        branch.target = end


def loop(
    program: Program,
    initial: Sequence[Buffer],
    carried: Sequence[Buffer],
    condition: Body,
    iteration: Body,
    again: Body | None = None,
) -> None:
    """carried = initial; while the condition's value holds: carried = the values of `iteration`.

    What is carried is not in `initial`, or the same buffer where no iteration changes it. With
    `again`, which is the condition once more, what the iterations have in common is done once,
    after the first look at the condition.
    """
    varying = [i for i, buffer in enumerate(carried) if buffer.storage is not initial[i].storage]
    targets = [carried[i] for i in varying]
    move_all(program, [initial[i] for i in varying], targets)
    leave: list[Branch] = []
    if again is not None:
        condition.emit(program)
        leave.append(program.branch(unless=condition.values[0]))
    head = program.branch()
    if again is None:
        condition.emit(program)
        leave.append(program.branch(unless=condition.values[0]))
    iteration.emit(program)
    move_all(program, [iteration.values[i] for i in varying], targets)
    if again is not None:
        again.emit(program)
        leave.append(program.branch(unless=again.values[0]))
    program.branch(to=head)
    end = program.branch()
    for branch in leave:
        branch.target = end


def move_all(program: Program, values: Sequence[Buffer], targets: Sequence[Buffer]) -> None:
    """target = value for all at once, also where a value lies in another's target."""
    storages = [target.storage for target in targets]
    sources: list[Buffer] = []
    for value, target in zip(values, targets, strict=True):
        if value.storage in storages and value.storage is not target.storage:
            copied = arena(value.shape, value.dtype)
            move(program, value, copied)
            value = copied
        sources.append(value)
    for value, target in zip(sources, targets, strict=True):
        if value.storage is not target.storage:
            move(program, value, target)
