"""Moving elements: transposing, slicing, concatenating, repeating and filling are all one copy."""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from ..plan.buffer import Buffer, constant
from ..plan.view import View, collapse

if TYPE_CHECKING:
    from ..plan.program import Program

_COMPLEX128 = 16
_MIN_RANK = 2  # the kernel's two innermost loops
_FEW_ROWS = 16


def move(program: Program, source: Buffer | View, target: Buffer | View) -> None:
    """Appends the instruction `target[...] = source[...]`; nothing when there are no elements.

    Args:
        program: where the instruction goes.
        source: a Buffer or View.
        target: a Buffer or View of the same shape.
    """
    source, target = (x if isinstance(x, View) else View.of(x) for x in (source, target))
    if source.shape != target.shape:
        raise ValueError(f"cannot move a view of shape {source.shape} to {target.shape}")
    if source.buffer.itemsize == _COMPLEX128 == target.buffer.itemsize:
        source, target = _as_pairs(source), _as_pairs(target)
    if not prod(source.shape):
        return
    for view in (source, target):
        low, high = view.reach
        if low < 0 or high >= view.buffer.size:
            raise ValueError(f"view reaches [{low}, {high}] of {view.buffer.size} elements")
    geometry, rows = _geometry(source.shape, source.strides, target.strides)
    program.call(
        "layout.move",
        source.buffer.ravel(),
        target.buffer.ravel(),
        geometry,
        split=rows,
        x_start=source.offset,
        out_start=target.offset,
    )


def copy(program: Program, source: Buffer, target: Buffer) -> None:
    """Appends `target[...] = source[...]` of whole buffers.

    Where no instruction reads the source afterwards, the target takes over its memory and nothing
    is moved: what is then written into the target is written in place. Nor is anything where they
    are the same memory from the start.
    """
    if source.size and source.storage is not target.storage:
        source, target = source.ravel(), target.ravel()
        program.call("copy.copy", source, target, split=source.size)


def _as_pairs(view: View) -> View:
    """Elements of 16 bytes as two of 8 each, along a new last dimension."""
    buffer = view.buffer
    pairs = Buffer(np.uint64, (2 * buffer.size,), buffer.storage, buffer.offset)
    strides = (*(2 * stride for stride in view.strides), 1)
    return View(pairs, (*view.shape, 2), strides, 2 * view.offset)


def fill(program: Program, value: Buffer, target: Buffer | View) -> None:
    """Appends the instruction `target[...] = value`, a Buffer of one element."""
    target = target if isinstance(target, View) else View.of(target)
    move(program, View.of(value, ()).broadcast(target.shape), target)


@lru_cache(1024)
def _geometry(
    shape: tuple[int, ...], strides: tuple[int, ...], target_strides: tuple[int, ...]
) -> tuple[Buffer, int]:
    """The buffer `geometry` and its number of items: few dimensions, the target in order."""
    dims = zip(shape, strides, target_strides, strict=True)
    dims = sorted(dims, key=lambda dim: -abs(dim[2]))
    columns = collapse(*zip(*dims, strict=True)) if dims else [()] * 3
    missing = _MIN_RANK - len(columns[0])
    sizes = [1] * missing + list(columns[0])
    steps, target_steps = ([0] * missing + list(column) for column in columns[1:])
    if abs(steps[-1]) > 1:
        # next to the innermost dimension the one the source runs along: both fill cache lines
        runs = [d for d in range(len(sizes) - 1) if abs(steps[d]) == 1]
        for row in (sizes, steps, target_steps) if runs else ():
            row.insert(len(row) - 2, row.pop(runs[-1]))
    elif len(sizes) > _MIN_RANK and sizes[-2] < _FEW_ROWS:
        # many rows one after another: what is between takes longer than short rows
        longest = max(range(len(sizes) - 1), key=sizes.__getitem__)
        for row in (sizes, steps, target_steps):
            row.insert(len(row) - 2, row.pop(longest))
    table = np.array([sizes, steps, target_steps], np.int64)
    return constant(table), prod(sizes[:-1])


def write_box(program: Program, update: Buffer, starts: Buffer, out: Buffer) -> None:
    """Adds what writes `update` over a part of `out`, at `starts` (int64), held so that it fits."""
    if not update.size:
        return
    view = View.of(out)
    if not out.ndim:
        view, starts = view.insert(0), constant(np.zeros(1, np.int64))
    geometry = [update.shape or (1,), view.shape, view.strides]
    program.call(
        "scatter.update_slice",
        update.ravel(),
        starts,
        constant(np.array(geometry, np.int64)),
        out.ravel(),
        split=update.size // geometry[0][-1],
    )
