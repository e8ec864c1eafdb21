"""Moves of elements that another move has put where they are read: one move does for both.

    x -> move -> y -> move -> z      becomes      x -> move -> z

Likewise what is moved together, to be copied to other memory whole, is moved there: the elements of
that memory itself, too, where they all go the same way.

    v -> move, w -> move -> y -> copy -> v      becomes      v -> shift, w -> move -> v
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, cast

from .buffer import ARENA, BOUND, CONSTANT, Buffer
from .instruction import COPY, MOVE, Branch, Instruction
from .view import MIN_RANK, collapse, geometry_of, table_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from collections.abc import Set as AbstractSet
    from typing import TypeAlias

    from .buffer import Storage
    from .instruction import AnyInstruction, Tag

    Make: TypeAlias = Callable[[str, tuple[Buffer, ...], dict[str, int], int, Tag], Instruction]
    """Makes a bound instruction of its name, buffers, numbers, items and tag."""
    Dimension: TypeAlias = tuple[int, int, int]
    """Of a move: size, and the elements between neighbours in the source and in the target."""

SHIFT = "layout.shift"
MAX_READERS = 4  # of what is not moved where it can be read in one piece


def merge_moves(
    instructions: Sequence[AnyInstruction], live_out: AbstractSet[Storage], make: Make
) -> list[AnyInstruction]:
    """`instructions` with fewer moves; those that are `live_out` are still written."""
    remaining = [*instructions]
    if any(type(x) is Branch for x in remaining):
        return remaining
    remaining = _read_at_source(remaining, live_out, make)
    for copy in [x for x in remaining if isinstance(x, Instruction) and x.name == COPY]:
        remaining = _write_at_target(remaining, copy, live_out, make)
    return remaining


def _read_at_source(
    instructions: list[AnyInstruction], live_out: AbstractSet[Storage], make: Make
) -> list[AnyInstruction]:
    """Lets moves read where the one before reads, whose result nothing else needs."""
    moves = [x for x in instructions if x.name == MOVE]
    writers, readers = _users(instructions, {s for x in moves for s in (*x.reads, *x.writes)})
    left_out: set[int] = set()
    for i, move in enumerate(instructions):
        if move.name != MOVE or not isinstance(move, Instruction):
            continue
        source, moved = (buffer.storage for buffer in move.buffers[:2])
        users = readers.get(moved, [])
        if moved.kind != ARENA or moved in live_out or source.kind == CONSTANT:
            continue
        if writers[moved] != [i] or not 0 < len(users) <= MAX_READERS:
            continue
        if not all(_leaves(x, source) for x in instructions[i + 1 : users[-1] + 1]):
            continue
        merged = [_merged(move, instructions[user], make) for user in users]
        if all(merged):
            for user, other in zip(users, merged, strict=True):
                instructions[user] = other or instructions[user]
            readers[source] = sorted({*readers[source], *users} - {i})
            left_out.add(i)
    return [x for i, x in enumerate(instructions) if i not in left_out]


def _write_at_target(
    instructions: list[AnyInstruction],
    copy: Instruction,
    live_out: AbstractSet[Storage],
    make: Make,
) -> list[AnyInstruction]:
    """Lets moves write where `copy` would bring what they have put together: bound memory.

    Nothing that may fail stands between them, and nobody sees the target in the meantime. At most
    one of them reads the target itself: it is then the first.
    """
    (whole, variable), position = copy.buffers, instructions.index(copy)
    target = variable.storage
    moved = whole.storage
    writers, readers = _users(instructions, {moved})
    parts = writers.get(moved, [])
    if (moved.kind, target.kind) != (ARENA, BOUND) or moved in live_out:
        return instructions
    if not parts or parts[-1] > position:
        return instructions
    if any(x.nbytes != x.storage.nbytes for x in copy.buffers):
        return instructions
    moves = [x for i in parts if isinstance(x := instructions[i], Instruction) and x.name == MOVE]
    n_elements = sum(_size(x) for x in moves if x.buffers[1].itemsize == whole.itemsize)
    if len(moves) < len(parts) or n_elements != whole.size:  # then each element is written once
        return instructions
    others = [x for x in instructions[parts[0] : position] if x not in moves]
    touched = {target, moved}
    if any(
        x.name not in (MOVE, COPY) or not touched.isdisjoint((*x.reads, *x.writes)) for x in others
    ):
        return instructions
    if not all(_leaves(x, target) for x in instructions[position + 1 : readers[moved][-1] + 1]):
        return instructions
    shifts = [x for x in moves if target in x.reads]
    first: list[AnyInstruction] = []
    for move in shifts:
        geometry = _shift_geometry(move)
        if geometry is None or len(shifts) > 1:
            return instructions
        x_start, out_start = _starts(move)
        if x_start != out_start:
            starts = {"x_start": x_start, "out_start": out_start}
            memory = Buffer(move.buffers[0].dtype, (whole.size,), target)
            first.append(
                make(SHIFT, (memory, table_of(geometry)), starts, geometry[0][0], move.tag)
            )
    behind = [x for x in instructions[parts[0] : position] if x not in shifts]
    remaining = [*instructions[: parts[0]], *first, *behind, *instructions[position + 1 :]]
    for x in remaining:
        if isinstance(x, Instruction) and (moved in x.reads or moved in x.writes):
            x.replace({moved: target})
    return remaining


def _users(
    instructions: Sequence[AnyInstruction], storages: set[Storage]
) -> tuple[dict[Storage, list[int]], dict[Storage, list[int]]]:
    """The positions of the instructions that write, and of those that read, each of `storages`."""
    writers: dict[Storage, list[int]] = {}
    readers: dict[Storage, list[int]] = {}
    for i, instruction in enumerate(instructions):
        for users, touched in (writers, instruction.writes), (readers, instruction.reads):
            if not storages.isdisjoint(touched):
                for storage in storages.intersection(touched):
                    users.setdefault(storage, []).append(i)
    return writers, readers


def _leaves(instruction: AnyInstruction, storage: Storage) -> bool:
    """Whether an instruction leaves what is in a storage as it is."""
    return type(instruction) is Instruction and storage not in instruction.writes


def _dimensions(move: Instruction) -> list[Dimension]:
    """Those of a move that have more than one element, outermost in the target first."""
    table = move.buffers[2].value
    assert table is not None  # it is a constant
    columns: list[Dimension] = [*zip(*table.tolist(), strict=True)]
    return sorted((d for d in columns if d[0] != 1), key=lambda d: -abs(d[2]))


def _starts(move: Instruction) -> tuple[int, int]:
    """Where it begins in the source and in the target, in elements."""
    return cast("int", move.numbers["x_start"]), cast("int", move.numbers["out_start"])


def _size(move: Instruction) -> int:
    return prod(size for size, _, _ in _dimensions(move))


def _merged(first: Instruction, second: AnyInstruction, make: Make) -> Instruction | None:
    """A move from where `first` reads to where `second` writes; None where one does not do.

    `second` reads what `first` has written: all of it, in order.
    """
    if second.name != MOVE or not isinstance(second, Instruction):
        return None
    x, moved, y = first.buffers[0], first.buffers[1], second.buffers[0]
    dims, size = _dimensions(first), 1
    for n, _, step in reversed(dims):
        if step != size:
            return None
        size *= n
    is_whole = size == moved.size and moved.nbytes == moved.storage.nbytes == y.nbytes
    (position, offset), (start, out_start) = _starts(first), _starts(second)
    if offset or not is_whole or moved.itemsize != y.itemsize:
        return None
    digits = [start // step % n for n, _, step in dims]
    position += sum(digit * dim[1] for digit, dim in zip(digits, dims, strict=True))
    low, high = [*digits], [*digits]  # the digits of the positions that `second` reads
    merged: list[Dimension] = []
    for dim in _dimensions(second):
        parts = _by_digit(dim, dims)
        if parts is None:
            return None
        for place, (n, step, target_step) in parts:
            reach = low if step < 0 else high
            reach[place] += (n - 1) * step
            merged.append((n, step * dims[place][1], target_step))
    if any(digit < 0 for digit in low) or any(
        i >= dim[0] for i, dim in zip(high, dims, strict=True)
    ):
        return None
    geometry, items = geometry_of(*zip(*merged, strict=True)) if merged else geometry_of((), (), ())
    starts = {"x_start": position, "out_start": out_start}
    return make(MOVE, (x, second.buffers[1], geometry), starts, items, second.tag)


def _by_digit(
    dimension: Dimension, dims: Sequence[Dimension]
) -> list[tuple[int, Dimension]] | None:
    """A dimension that runs along one dimension each of `dims`, by its index; None if it cannot.

    `dims` are those of a move whose target is one piece; the result's source steps count along it.
    """
    n, step, target_step = dimension
    parts: list[tuple[int, Dimension]] = []
    if not dims:
        return None
    while n > 1:
        place = next((i for i, dim in enumerate(dims) if dim[2] <= abs(step)), len(dims) - 1)
        size, _, unit = dims[place]
        factor, remainder = divmod(abs(step), unit)
        count = n if factor * (n - 1) < size else size // factor
        if remainder or count < 1 or n % count or (count < n and size % factor):
            return None
        parts.append((place, (count, factor if step > 0 else -factor, target_step)))
        n, step, target_step = n // count, step * count, target_step * count
    return parts


def _shift_geometry(move: Instruction) -> list[Dimension] | None:
    """The geometry of a move within its target; None where not all go the same way.

    The elements of one index of the first dimension stay apart from those of others.
    """
    dims = _dimensions(move)
    if any(step != target_step or step < 1 for _, step, target_step in dims):
        return None
    sizes, steps = collapse([n for n, _, _ in dims], [step for _, step, _ in dims])
    if steps[-1:] not in ((), (1,)):
        return None
    x_start, out_start = _starts(move)
    distance = abs(x_start - out_start)
    reach = sum((n - 1) * step for n, step in zip(sizes[1:], steps[1:], strict=True))
    n_missing = MIN_RANK - len(sizes)
    if n_missing <= 0 and steps[0] <= reach + distance:
        n_missing = 1
    return [(1, 0, 0)] * n_missing + [(n, step, step) for n, step in zip(sizes, steps, strict=True)]
