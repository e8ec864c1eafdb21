"""Comparisons of what booleans are as numbers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..ir.graph import Graph, Op
from .driver import rewrite
from .extremes import MIRRORED
from .rewrite import builder, constant_of, producer_of, same_shape, swap

COMPARISONS: dict[str, Callable[[np.ndarray, float], np.ndarray]] = {
    "EQUAL": np.equal,
    "NOT_EQUAL": np.not_equal,
    "GREATER": np.greater,
    "GREATER_EQUAL": np.greater_equal,
    "LESS": np.less,
    "LESS_EQUAL": np.less_equal,
}
NUMBERS = np.array([0.0, 1.0])
"""What False and True are as numbers."""


@rewrite(*COMPARISONS)
def compare_casts(graph: Graph, op: Op) -> bool:
    """Takes booleans for the comparison of themselves as numbers.

        b: bool -> CAST -> GREATER(0)      becomes      b
        b: bool -> CAST -> EQUAL(0)        becomes      b -> LOGICAL_NOT

    The constant may come first. Holds off where the result does not depend on b, and where it is
    broadcast to another shape.
    """
    for kind, x, y in (
        (op.kind, *op.inputs),
        (MIRRORED.get(op.kind, op.kind), *reversed(op.inputs)),
    ):
        cast, limit = producer_of(x, "CAST"), constant_of(y)
        if cast is None or limit is None or limit.dtype.kind not in "iuf":
            continue
        flags = cast.inputs[0]
        if flags.dtype != np.bool_ or y.quantization or not same_shape(flags, op.output):
            continue
        results = {tuple(COMPARISONS[kind](NUMBERS, n).tolist()) for n in np.unique(limit)}
        if results == {(False, True)}:
            graph.replace(op.output, flags)
            graph.remove(op)
            return True
        if results == {(True, False)}:
            swap(graph, op, builder(graph, op).LOGICAL_NOT(flags))
            return True
    return False
