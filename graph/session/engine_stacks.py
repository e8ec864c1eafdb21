"""Stacks of TensorFlow 1 as memory of the engine: what gradients of loops keep."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from ...engine.plan.buffer import Buffer, arena, persistent
from ..emit.growing_memory import growing
from .engine_handles import HandleBuffer
from .tensor_arrays import Stack, handle_of

if TYPE_CHECKING:
    from ...engine.plan.program import Program
    from .stage import Site

UNLIMITED = 1 << 62


class StackBuffer(HandleBuffer):
    """A stack in memory of the engine.

    Attributes:
        name: The operation's, for messages.
        max_size: How many elements it holds at most.
        count: int64 [1].
        element: The shape of the elements, once one was put there.
        items: [room, size of an element]; None where there is no element yet.
    """

    __slots__ = ("count", "element", "items", "max_size", "name")

    def __init__(self, name: str, max_size: int):
        super().__init__()
        self.name, self.max_size = name, max_size
        self.count = persistent((1,), np.int64)
        self.element: tuple[int, ...] | None = None
        self.items: Buffer | None = None

    def take(self, x: Buffer) -> Buffer | None:
        """The memory for elements like `x`; None where there can be none."""
        if self.items is None:
            self.items, self.element = growing((x.size,), x.dtype, self.name), x.shape
        if self.items is None or (self.element, self.items.dtype) != (x.shape, x.dtype):
            return None
        return self.items

    def family(self) -> Sequence[HandleBuffer]:
        """Itself."""
        return [self]

    def parts(self) -> Sequence[Buffer]:
        """How many elements there are, and these."""
        return [self.count] if self.items is None else [self.count, self.items]

    def objects(self, arrays: Iterator[np.ndarray]) -> Sequence[np.ndarray]:
        """The stack as an object."""
        stack = Stack(self.name, -1 if self.max_size == UNLIMITED else self.max_size)
        n = int(next(arrays)[0])
        if self.items is not None and self.element is not None:
            rows = next(arrays)
            for row in rows[:n]:
                stack.push(row.reshape(self.element).copy())
        return [handle_of(stack)]


def create(program: Program, op: Site, inputs: Sequence[Buffer]) -> Sequence[Buffer] | None:
    """A stack without elements, whose limit has to be known."""
    limit = inputs[0].value
    if limit is None or limit.ndim:
        return None
    stack = StackBuffer(op.name, int(limit) if limit >= 0 else UNLIMITED)
    program.call("stacks.clear", stack.count)
    return [stack]


def push(program: Program, op: Site, inputs: Sequence[Buffer]) -> Sequence[Buffer] | None:
    """Puts an element there."""
    stack, x = inputs
    if not isinstance(stack, StackBuffer):
        return None
    items = stack.take(x)
    if items is None:
        return None
    program.call("stacks.push", x.ravel(), stack.count, items, max_size=stack.max_size)
    return [x]


def pop(program: Program, op: Site, inputs: Sequence[Buffer]) -> Sequence[Buffer] | None:
    """Takes the last element, where the shape of the elements is known."""
    (stack,) = inputs
    if not isinstance(stack, StackBuffer) or stack.element is None or stack.items is None:
        return None
    out = arena(stack.element, stack.items.dtype)
    program.call("stacks.pop", stack.count, stack.items, out.reshape((prod(out.shape),)))
    return [out]


ROWS = {"StackV2": create, "StackPushV2": push, "StackPopV2": pop}
