"""Handles of tensor arrays and stacks that are known while compiling, as memory of the engine."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from ...engine.plan.buffer import PERSISTENT, Buffer, Storage, arena

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ...engine.plan.program import Program


class HandleBuffer(Buffer, ABC):
    """A handle: no memory itself, but what instructions on it read and write is known."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(np.dtype(object), (2,), Storage(PERSISTENT, 0))

    @abstractmethod
    def family(self) -> Sequence[HandleBuffer]:
        """The handles that become objects with this one, itself among them."""

    @abstractmethod
    def parts(self) -> Sequence[Buffer]:
        """The memory that `objects` reads."""

    @abstractmethod
    def objects(self, arrays: Iterator[np.ndarray]) -> Sequence[np.ndarray]:
        """A handle in Python for each of `family`, from the arrays of `parts`."""


def box(program: Program, handle: HandleBuffer) -> dict[Buffer, Buffer]:
    """Makes objects of a handle and its family: from now on Python alone may use them."""
    outs = [arena((2,), np.dtype(object)) for _ in handle.family()]

    def copy(*arrays: np.ndarray) -> None:
        targets = arrays[len(arrays) - len(outs) :]
        for target, value in zip(targets, handle.objects(iter(arrays)), strict=True):
            target[:] = value

    program.host(copy, handle.parts(), outs)
    return dict(zip(handle.family(), outs, strict=True))
