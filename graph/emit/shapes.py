"""The shapes of results where operations are compiled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...engine.plan.buffer import Buffer, arena
from ..core.infer import infer_shapes
from ..core.registry import row_of
from ..core.shapes import is_static

if TYPE_CHECKING:
    from ..session.stage import Site


def results(op: Site) -> list[Buffer] | None:
    """A new buffer for each output of `op`; None when a size depends on data."""
    inferred = infer_shapes(op, row_of(op.type))
    shapes = [shape for shape in inferred if is_static(shape)]
    if len(shapes) < len(inferred):
        return None
    return [
        arena(shape, tensor.dtype, tensor.name)
        for shape, tensor in zip(shapes, op.outputs, strict=True)
    ]


def result(op: Site) -> Buffer | None:
    """A new buffer for the first output of `op`; None when its size depends on data."""
    outputs = results(op)
    return None if outputs is None else outputs[0]
