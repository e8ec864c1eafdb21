"""Fusion: neighbouring elementwise instructions run together, block by block.

Instructions that make each element of a result of the elements in its place
(`Instruction.elementwise`) need not be run one after the other: while a block of what one has
written is in the nearest cache, the next goes on with it. The results are the same bytes. In the
table of a plan the first instruction of a fusion stands for all of them and the next is a branch
behind the last, so that positions mean the same as without.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .. import abi
from . import arena
from .instruction import Instruction

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from .buffer import Storage
    from .instruction import AnyInstruction

BLOCK = 1 << 16  # bytes that the instructions of a fusion touch in one block
_EVEN = 64  # elements that a block should be a multiple of, so that kernels have no tail


class Fusion:
    """The instructions from position `first` to `last`, which touch `nbytes` in `split` blocks.

    It has what `Instruction.chunks` needs to know.
    """

    __slots__ = ("first", "last", "nbytes", "split")
    chunks = Instruction.chunks

    def __init__(self, first: int, last: int, split: int, nbytes: int) -> None:
        self.first, self.last, self.split, self.nbytes = first, last, split, nbytes

    @property
    def fields(self) -> tuple[int, int, int, int]:
        """The arguments that make it."""
        return self.first, self.last, self.split, self.nbytes

    def shifted(self, n_positions: int) -> Fusion:
        """The same fusion for instructions that stand `n_positions` further on."""
        return Fusion(self.first + n_positions, self.last + n_positions, self.split, self.nbytes)


def fusions(instructions: Sequence[AnyInstruction]) -> list[Fusion]:
    """The fusions of `instructions` that pay, in order."""
    fused: list[Fusion] = []
    first, group = 0, None
    for i, instruction in enumerate([*instructions, None]):
        if group is not None and group.add(instruction):
            continue
        if group is not None and (n_blocks := group.n_blocks()) > 1 and i - first > 1:
            nbytes = sum(x.nbytes for x in instructions[first:i] if isinstance(x, Instruction))
            fused.append(Fusion(first, i - 1, n_blocks, nbytes))
        group, first = _Group(), i
        if not group.add(instruction):
            group = None
    return fused


class _Group:
    """What the instructions of a fusion touch, to tell which may follow."""

    def __init__(self) -> None:
        self._size: tuple[int, int] | None = None
        self._windows: dict[Storage, tuple[int, int] | None] = {}
        """(offset, item size) where elements are touched in their place; None: elsewhere."""
        self._written: set[Storage] = set()

    def add(self, instruction: AnyInstruction | None) -> bool:
        """Adds an instruction, where all touch what one of them writes at the same place only.

        Gives whether that is so.
        """
        if instruction is None or instruction.elementwise is None or instruction.split is None:
            return False
        result, operands = instruction.elementwise
        size = (instruction.split, instruction.buffers[result].size)
        windows, elementwise = dict(self._windows), (result, *operands)
        for i, buffer in enumerate(instruction.buffers):
            window = (buffer.offset, buffer.itemsize) if i in elementwise else None
            if windows.setdefault(buffer.storage, window) != window:
                windows[buffer.storage] = None
        written = {*self._written, instruction.buffers[result].storage}
        if self._size not in (None, size) or any(windows[s] is None for s in written):
            return False
        self._size, self._windows, self._written = size, windows, written
        return True

    def n_blocks(self) -> int:
        """How many blocks the instructions are run in: of even size where that can be."""
        items, size = self._size or (1, 0)
        widths = [window[1] for window in self._windows.values() if window is not None]
        least = min(-(-size * sum(widths) // BLOCK), items)
        for n_blocks in range(least, 2 * least):
            if items % n_blocks == 0 and size // n_blocks % _EVEN == 0:
                return n_blocks
        return least


def lifetimes(
    alive: Mapping[Storage, Sequence[int]],
    instructions: Sequence[AnyInstruction],
    fused: Iterable[Fusion],
) -> dict[Storage, list[int]]:
    """`alive` as planner.py has it, where what a fusion touches lasts from its start to its end.

    Its instructions are run at the same time, so none may take memory that another has freed.
    """
    spans = {storage: list(span) for storage, span in alive.items()}
    for fusion in fused:
        members = instructions[fusion.first : fusion.last + 1]
        touched = {buffer.storage for x in members for buffer in x.buffers}
        for storage in touched.intersection(spans):
            first, last = spans[storage]
            spans[storage] = [
                fusion.first if first in range(fusion.first, fusion.last + 1) else first,
                fusion.last if last in range(fusion.first, fusion.last + 1) else last,
            ]
    return spans


def fused_table(
    table: np.ndarray, fused: Sequence[Fusion], entry: int
) -> tuple[np.ndarray, np.ndarray]:
    """A plan's table in which instructions are run fused, and the records it needs.

    `entry` is the address of the kernel that runs several instructions as one.
    """
    table = table.copy()
    content: list[int] = []
    starts: list[int] = []
    for fusion in fused:
        members = table[fusion.first : fusion.last + 1, [abi.ENTRY, abi.RECORD]]
        starts.append(len(content))
        content += [0, fusion.split, len(members), *members.ravel().tolist()]
        content += [0, 0, 0, fusion.last + 1]  # the record of a branch
    records = np.array(content, np.int64)
    for fusion, start in zip(fused, starts, strict=True):
        address = arena.address(records) + abi.WORD * start
        size = abi.FIRST_MEMBER + 2 * (fusion.last - fusion.first + 1)
        table[fusion.first, [abi.ENTRY, abi.RECORD]] = entry, address
        table[fusion.first + 1, [abi.ENTRY, abi.RECORD]] = 0, address + abi.WORD * size
    return table, records
