"""What a program is made of: kernel calls, Python steps, and branches, which say what is next."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from .. import abi
from .buffer import ARENA, CONSTANT, Buffer, Storage, arena, constant

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import TypeAlias

    from ..build.declaration import Argument, Number
    from ..build.image import Image

    AnyInstruction: TypeAlias = "Instruction | HostStep | Branch"
    Tag: TypeAlias = object
    """Whatever the maker of a program wants to find again with its instructions."""

MOVE, COPY = "layout.move", "copy.copy"  # the kernels that only move elements
UNTIMED_CHUNKS = 32  # of an instruction that may take long, as long as it was never timed
MIN_PARALLEL_BYTES = 1 << 18  # touched by an instruction to be split untimed; it takes 5 us or more
MIN_PARALLEL_TIME = 1_000  # nanoseconds of an instruction to be split; handing one over costs 150
MIN_STEALING_TIME = 30_000  # nanoseconds of an instruction whose chunks idle threads may steal
MAX_CHUNK_TIME = 10_000_000  # nanoseconds of a chunk, so that a run can be interrupted


class Instruction:
    """A kernel call in a program.

    Attributes:
        elementwise: the position of the result among the buffers, and those of the operands as
            large as it that it may lie on, where the kernel declares that; else None.
    """

    __slots__ = (
        *("_read", "_written", "arguments", "buffers", "elementwise", "entry", "key", "name"),
        *("numbers", "reads", "record", "split", "tag", "writes"),
    )
    is_pure = True  # the same result from the same operands

    def __init__(
        self,
        name: str,
        buffers: tuple[Buffer, ...],
        numbers: Mapping[str, Number],
        split: int | None,
        tag: Tag,
    ) -> None:
        self.name, self.buffers, self.numbers = name, buffers, numbers
        self.split, self.tag = split, tag
        self.record: list[int] = []  # filled in by `bind`
        self.entry: int | None = None
        self.elementwise: tuple[int, tuple[int, ...]] | None = None

    @property
    def request(self) -> str:
        """The request for the instruction's code (image.py)."""
        if self.record:
            return f"{self.name.partition('.')[0]}.{self.key}"
        return f"{self.name}({','.join(buffer.dtype.name for buffer in self.buffers)})"

    def bind(self, code: Image) -> None:
        """Checks the arguments against the declaration in the image of the kernel's module.

        The code need not be compiled yet; `entry` is None then.
        """
        module, _, kernel = self.name.partition(".")
        declaration = code.declaration(kernel)
        if declaration is None:
            known = ", ".join(code.kernels)
            raise ValueError(f"no kernel '{self.name}'; {module} has {known}")
        self.key, self.record = declaration.bind(self.buffers, self.numbers)
        if self.split is not None and self.split < 0:
            raise ValueError(f"{self.name}: split must not be negative, got {self.split}")
        self.record[abi.ITEMS] = 1 if self.split is None else self.split
        self.entry = code.addresses.get(self.key)
        self.arguments: list[Argument] = declaration.arrays
        self._read, self._written = declaration.read, declaration.written
        if declaration.in_place is not None:
            result, operands = declaration.in_place
            size = self.buffers[result].size
            self.elementwise = result, tuple(i for i in operands if self.buffers[i].size == size)
        self.attach()
        if len({buffer.storage for buffer in self.buffers}) < len(self.buffers):
            self._check_overlap()

    def attach(self) -> None:
        """Notes which storages are read and which are written."""
        buffers = self.buffers
        self.reads = [buffers[i].storage for i in self._read]
        self.writes = [buffers[i].storage for i in self._written]

    def replace(self, storages: Mapping[Storage, Storage]) -> None:
        """Lets it work on other storages, by those it works on."""
        self.buffers = tuple(
            Buffer(b.dtype, b.shape, storages.get(b.storage, b.storage), b.offset)
            for b in self.buffers
        )
        self.attach()

    def _check_overlap(self) -> None:
        """Refuses to write what the instruction also reads, unless it is the very same bytes."""
        spans = [(b.storage, b.offset, b.offset + b.nbytes) for b in self.buffers]
        for argument, (storage, first, end) in zip(self.arguments, spans, strict=True):
            if not argument.writes:
                continue
            for other, (other_storage, start, stop) in zip(self.arguments, spans, strict=True):
                same = other_storage is storage and argument is not other
                if same and first < stop and start < end and (first, end) != (start, stop):
                    raise ValueError(
                        f"{self.name}: '{argument.name}' must not overlap '{other.name}',"
                        f" got bytes {first} to {end} and {start} to {stop} of one storage"
                    )

    @property
    def nbytes(self) -> int:
        """Bytes of all that it touches."""
        total = 0
        for buffer in self.buffers:
            total += prod(buffer.shape) * buffer.dtype.itemsize
        return total

    def chunks(self, threads: int = 1, time: float | None = None) -> int:
        """How many parts `threads` threads do the instruction in; results do not depend on it.

        `time` is the nanoseconds the instruction took before, if that is known.
        """
        if self.split is None or self.split < 2:
            return 1
        if time is None:
            may_be_long = self.nbytes >= MIN_PARALLEL_BYTES
            per_thread = -(-UNTIMED_CHUNKS // threads) if may_be_long else 0
        else:
            per_thread = -(-time // MAX_CHUNK_TIME) if time >= MIN_PARALLEL_TIME else 0
            if per_thread and threads > 1 and time >= MIN_STEALING_TIME:
                per_thread = max(per_thread, abi.MAX_PER_THREAD)
        return int(min(self.split, max(per_thread * threads, 1)))


class Batch:
    """The arguments of an instruction that makes a row of results of each row of numbers.

    Args:
        scratch: size and dtype of the array that it works in.
        width: numbers of a row of results.
        tag: of the instruction.
    """

    def __init__(self, scratch: tuple[int, str], width: int, tag: Tag) -> None:
        self.scratch, self.width, self.tag = scratch, width, tag
        self._rows: dict[tuple[int, ...], int] = {}
        self._storage = Storage(ARENA, 0)

    def result(self, row: tuple[int, ...]) -> Buffer:
        """Where the results of a row will be; those of equal rows are the same."""
        nbytes = self.width * abi.WORD
        position = self._rows.setdefault(row, len(self._rows))
        self._storage.nbytes = len(self._rows) * nbytes
        return Buffer(np.int64, (self.width,), self._storage, position * nbytes)

    def arguments(self) -> tuple[Buffer, Buffer, Buffer]:
        """All rows, the scratch, and all results."""
        rows = np.array([*self._rows], np.int64)
        size, dtype = self.scratch
        results = Buffer(np.int64, (len(rows), self.width), self._storage)
        return constant(rows), arena((size,), dtype), results


class HostStep:
    """A Python function in a program, between native instructions."""

    __slots__ = ("function", "inputs", "outputs", "reads", "tag", "writes")
    name = "host"
    is_pure = False
    elementwise = split = entry = None

    def __init__(
        self,
        function: Callable[..., object],
        inputs: tuple[Buffer, ...],
        outputs: tuple[Buffer, ...],
        tag: Tag,
    ) -> None:
        self.function, self.inputs, self.outputs, self.tag = function, inputs, outputs, tag
        self.reads = [buffer.storage for buffer in inputs]
        self.writes = [buffer.storage for buffer in outputs]
        if any(storage.kind == CONSTANT for storage in self.writes):
            raise ValueError(f"a host step must not write to a constant: {outputs}")

    @property
    def buffers(self) -> tuple[Buffer, ...]:
        """Everything the function is given."""
        return (*self.inputs, *self.outputs)


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


class Jump:
    """A branch from one segment to another.

    Attributes:
        branch: What it was made of; not taken when its flag holds.
        target: The number of the segment to go on with.
    """

    __slots__ = ("branch", "target")

    def __init__(self, branch: Branch, target: int):
        self.branch, self.target = branch, target


def resolve_targets(instructions: Sequence[AnyInstruction]) -> None:
    """Writes the position of its target into the record of each branch among `instructions`.

    A branch to elsewhere, which machine code does not take, stays as it is.
    """
    positions = {id(x): i for i, x in enumerate(instructions) if isinstance(x, Branch)}
    for i, instruction in enumerate(instructions):
        if isinstance(instruction, Branch):
            target = instruction.target
            position = i + 1 if target is None else positions.get(id(target), 0)
            instruction.record[abi.TARGET] = position
