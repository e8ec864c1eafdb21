"""The shapes of results where operations are compiled."""

from __future__ import annotations

from ...engine.plan.buffer import Buffer, arena
from ..core.infer import infer_shapes
from ..core.registry import row_of
from ..core.shapes import is_static


def results(op) -> list[Buffer] | None:
    """A new buffer for each output of `op`; None when a size depends on data."""
    shapes = infer_shapes(op, row_of(op.type))
    static_shapes = [shape for shape in shapes if is_static(shape)]
    if len(static_shapes) < len(shapes):
        return None
    return [
        arena(shape, tensor.dtype, tensor.name)
        for shape, tensor in zip(static_shapes, op.outputs, strict=True)
    ]


def result(op) -> Buffer | None:
    """A new buffer for the first output of `op`; None when its size depends on data."""
    found = results(op)
    return None if found is None else found[0]
