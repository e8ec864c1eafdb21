"""Ops that find or mark places: one-hot vectors, the largest, sums up to each, orders reversed."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from ...engine.families import reductions
from ...engine.families.layout import fill, move
from ...engine.plan.buffer import Buffer, arena
from ...engine.plan.view import View
from .registry import emit
from .shapes import result, results

if TYPE_CHECKING:
    from ...engine.plan.program import Program
    from ..session.stage import Site
    from .registry import Emitted

_INDICES: frozenset[np.dtype] = frozenset(map(np.dtype, ("int32", "int64")))
_WIDEST = 8
"""Bytes of the elements that kernels move."""
_TOP: frozenset[np.dtype] = frozenset(map(np.dtype, ("float32", "int32", "int64")))


def _moves(x: Buffer) -> bool:
    return not x.dtype.hasobject and x.dtype.itemsize <= _WIDEST


@emit("OneHot")
def one_hot(
    program: Program, op: Site, indices: Buffer, depth: Buffer, on: Buffer, off: Buffer
) -> Emitted:
    """`on` where the new dimension counts the index, `off` elsewhere."""
    if indices.dtype not in _INDICES or not _moves(on) or (on.size, off.size) != (1, 1):
        return None
    out = result(op)
    if out is None:
        return None
    axis = op.get_attr("axis") % (indices.ndim + 1)
    before, after = prod(indices.shape[:axis]), prod(indices.shape[axis:])
    fill(program, off, out)
    if out.size:
        rows, marked = indices.reshape((before, after)), (before, out.shape[axis], after)
        program.call("scatter.one_hot", rows, on.ravel(), out.reshape(marked), split=before)
    return out


@emit("ReverseV2")
def reverse(program: Program, op: Site, x: Buffer, axes: Buffer) -> Emitted:
    """`x` backwards along some axes."""
    out = result(op)
    if out is None or axes.value is None or not _moves(x):
        return None
    view = View.of(x)
    for axis in {int(axis) % x.ndim for axis in axes.value.ravel()}:
        view = view.part(axis, x.shape[axis] - 1, x.shape[axis], -1)
    move(program, view, out)
    return out


@emit("TopKV2")
def top_k(program: Program, op: Site, x: Buffer, k: Buffer) -> Emitted:
    """The largest of each row in falling order, and where they are."""
    outputs = results(op)
    if outputs is None or x.dtype not in _TOP or outputs[1].dtype != np.int32:
        return None
    values, indices = outputs
    if values.size:
        rows, n = prod(x.shape[:-1]), values.shape[-1]
        operands = [x.reshape((rows, x.shape[-1])), values.reshape((rows, n))]
        program.call("search.top", *operands, indices.reshape((rows, n)), split=rows)
    return [values, indices]


@emit("Cumsum")
def cumsum(program: Program, op: Site, x: Buffer, axis: Buffer) -> Emitted:
    """Sums up to each element along an axis."""
    if axis.value is None or axis.value.size != 1 or x.dtype not in _TOP or not x.ndim:
        return None
    at = int(axis.value.item())
    if not -x.ndim <= at < x.ndim:
        return None
    out = arena(x.shape, x.dtype)
    if x.size:
        exclusive, reverse = bool(op.get_attr("exclusive")), bool(op.get_attr("reverse"))
        reductions.cumulate(program, x, at % x.ndim, out, exclusive=exclusive, reverse=reverse)
    return out
