"""Moving elements: transposing, slicing, concatenating, repeating and filling are all one copy."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from ..plan.buffer import Buffer, arena, constant
from ..plan.instruction import COPY, MOVE
from ..plan.view import View, geometry_of

if TYPE_CHECKING:
    from ..plan.program import Program

_COMPLEX128 = 16


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
    geometry, rows = geometry_of(source.shape, source.strides, target.strides)
    program.call(
        MOVE,
        source.buffer.ravel(),
        target.buffer.ravel(),
        geometry,
        split=rows,
        x_start=source.offset,
        out_start=target.offset,
    )


def repeat_channels(program: Program, x: Buffer, times: int) -> Buffer:
    """`x` with each channel `times` times."""
    if times == 1:
        return x
    out = arena((*x.shape, times), x.dtype)
    move(program, View.of(x).insert(x.ndim, times), out)
    return out.reshape((*x.shape[:-1], x.shape[-1] * times))


def copy(program: Program, source: Buffer, target: Buffer) -> None:
    """Appends `target[...] = source[...]` of whole buffers.

    Where no instruction reads the source afterwards, the target takes over its memory and nothing
    is moved: what is then written into the target is written in place. Nor is anything where they
    are the same memory from the start.
    """
    if source.size and source.storage is not target.storage:
        source, target = source.ravel(), target.ravel()
        program.call(COPY, source, target, split=source.size)


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
