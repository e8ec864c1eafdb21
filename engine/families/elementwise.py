"""Operations on elements of several operands, the smaller repeated by numpy's rule."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ..buffer import constant
from ..view import broadcast_strides, collapse, contiguous_strides


def elementwise(program, kernel, operands, out, *more):
    """Adds the row `out = kernel(*operands)`; nothing when `out` has no elements.

    Args:
        program: where the row goes.
        kernel: its name; it takes the operands and `out` in one dimension each, then
            `geometry` (kernels/_pairs.py says what that is), then `more`.
        operands: Buffers whose shapes broadcast to that of `out`.
        out: the result.
        more: further buffers.
    """
    size = out.size
    if size:
        geometry = _geometry(out.shape, *[operand.shape for operand in operands])
        flat = [operand.ravel() for operand in operands]
        program.call(kernel, *flat, out.ravel(), geometry, *more, split=size)


@lru_cache(1024)
def _geometry(shape, *shapes):
    """The buffer `geometry` for a result of `shape` and operands of `shapes`."""
    strides = [broadcast_strides(contiguous_strides(s), s, shape) for s in shapes]
    columns = collapse(shape, contiguous_strides(shape), *strides)
    if not columns[0]:  # one element
        columns = [(1,)] + [(0,)] * (1 + len(shapes))
    return constant(np.array([columns[0], *columns[2:]], np.int64))


def broadcast_shape(*shapes):
    """The shape numpy's rule gives; None when the shapes do not fit together."""
    first, *others = shapes
    if all(other == first for other in others):
        return first
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        return None
