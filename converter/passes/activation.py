"""Clipping becomes RELU, RELU6 or RELU_N1_TO_1, and those move into the op before."""

from __future__ import annotations

import numpy as np

from ...schema.operators import known
from ...schema.tables import ACTIVATION_FUNCTION_TYPE
from ..ir.graph import Graph, Op, Tensor
from .driver import rewrite
from .rewrite import (
    FUSES_ACTIVATION,
    NONE,
    activation_of,
    builder,
    is_float,
    producer_of,
    scalar_of,
    split_constant,
    swap,
    with_options,
)

FUSED = {kind: ACTIVATION_FUNCTION_TYPE[kind] for kind in ("RELU", "RELU6", "RELU_N1_TO_1")}

RANGE_OF: dict[str, tuple[float | None, float | None]] = {
    kind: (known(kind).limits[0], None if kind == "RELU" else known(kind).limits[1])
    for kind in FUSED
}
RANGES = {bounds: kind for kind, bounds in RANGE_OF.items()}


@rewrite("MAXIMUM", "MINIMUM", *FUSED)
def recognise_clipping(graph: Graph, op: Op) -> bool:
    """Turns MAXIMUM and MINIMUM with constants into the RELU that clips so.

        x -> MAXIMUM(0) -> MINIMUM(6) -> y      becomes      x -> RELU6 -> y
        x -> MAXIMUM(0) -> y                    becomes      x -> RELU -> y

    Also MINIMUM first, and RELU in place of MAXIMUM(0). Holds off when the value in between has
    another reader or is an output, and on bounds that no RELU has.
    """
    is_clipped = is_float(op.output) and op.output.dtype != np.float64  # which no RELU takes
    bounds = bounds_of(op) if is_clipped else None
    if bounds is None:
        return False
    x, low, high = bounds
    inner = x.producer
    inner_bounds = None if inner is None else bounds_of(inner)
    if inner is not None and inner_bounds is not None and graph.sole_reader(x) is op:
        kind = RANGES.get(_merged(inner_bounds, (low, high)))
        if kind is not None:
            swap(graph, op, builder(graph, op).op(kind, inner_bounds[0]))
            graph.remove(inner)
            return True
    kind = RANGES.get((low, high))
    if kind is None or op.kind == kind:
        return False
    swap(graph, op, builder(graph, op).op(kind, x))
    return True


def bounds_of(op: Op) -> tuple[Tensor, float | None, float | None] | None:
    """(x, low, high) of an op that clips x; None for another op."""
    if op.kind in RANGE_OF:
        return (op.inputs[0], *RANGE_OF[op.kind])
    parts = split_constant(op) if op.kind in ("MAXIMUM", "MINIMUM") else None
    if parts is None:
        return None
    x, _, position = parts
    bound = scalar_of(op.inputs[position])
    if bound is None or x.sizes != op.output.sizes:
        return None
    return (x, bound, None) if op.kind == "MAXIMUM" else (x, None, bound)


def _merged(first: tuple, then: tuple) -> tuple[float | None, float | None]:
    """The bounds of clipping twice."""
    _, low, high = first
    low_then, high_then = then
    lows = [bound for bound in (low, low_then) if bound is not None]
    highs = [bound for bound in (high, high_then) if bound is not None]
    if lows and highs and max(lows) > min(highs):
        return (None, None)
    return (max(lows, default=None), min(highs, default=None))


@rewrite(*FUSED)
def fuse_activation(graph: Graph, op: Op) -> bool:
    """Moves RELU, RELU6 and RELU_N1_TO_1 into the op before.

        x -> CONV_2D -> y -> RELU -> z      becomes      x -> CONV_2D(RELU) -> z

    Holds off when y has another reader or is an output, or the op has no fused activation or has
    another one already.
    """
    y = op.inputs[0]
    before = producer_of(y, *FUSES_ACTIVATION)
    if before is None or not is_float(y) or graph.sole_reader(y) is not op:
        return False
    if activation_of(before) not in (NONE, FUSED[op.kind]):
        return False
    with_options(before, fused_activation_function=FUSED[op.kind])
    graph.absorb(before, op)
    return True
