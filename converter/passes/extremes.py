"""Comparisons with infinity, also of what may be the extreme of infinities.

The largest of a row of -inf is -inf in XNNPACK and the lowest finite number in TFLite's reference
kernel: such comparisons are written so that they hold of both. What no reduction gives is compared
with the last finite number, too, as infinite constants become that in the file.
"""

from __future__ import annotations

import numpy as np

from ..ir.builder import Builder
from ..ir.graph import Graph, Op, Tensor
from .driver import rewrite
from .rewrite import RESHAPES, builder, constant_of, is_float, producer_of, swap

EXTREMES = {"REDUCE_MAX": -np.inf, "REDUCE_MIN": np.inf}
"""What the extreme of infinities is."""

COMPARISONS = {
    ("REDUCE_MAX", "EQUAL"): "LESS_EQUAL",
    ("REDUCE_MAX", "LESS_EQUAL"): "LESS_EQUAL",
    ("REDUCE_MAX", "NOT_EQUAL"): "GREATER",
    ("REDUCE_MAX", "GREATER"): "GREATER",
    ("REDUCE_MIN", "EQUAL"): "GREATER_EQUAL",
    ("REDUCE_MIN", "GREATER_EQUAL"): "GREATER_EQUAL",
    ("REDUCE_MIN", "NOT_EQUAL"): "LESS",
    ("REDUCE_MIN", "LESS"): "LESS",
}
"""By the extreme and how it is compared with its infinity: how with the last finite number."""

BEYOND = {
    ("EQUAL", np.inf): "GREATER",
    ("GREATER_EQUAL", np.inf): "GREATER",
    ("LESS", np.inf): "LESS_EQUAL",
    ("EQUAL", -np.inf): "LESS",
    ("LESS_EQUAL", -np.inf): "LESS",
    ("GREATER", -np.inf): "GREATER_EQUAL",
}
"""How any number is compared with infinity: how with the last finite one."""

MIRRORED = {
    "GREATER": "LESS",
    "GREATER_EQUAL": "LESS_EQUAL",
    "LESS": "GREATER",
    "LESS_EQUAL": "GREATER_EQUAL",
}
"""Comparisons with their operands exchanged; the others stay."""


@rewrite("EQUAL", "NOT_EQUAL", *MIRRORED)
def compare_extremes(graph: Graph, op: Op) -> bool:
    """Compares extremes with the last finite number in the place of infinity.

        x -> REDUCE_MAX -> m;  EQUAL(m, -inf) -> y     becomes      LESS_EQUAL(m, lowest) -> y
        GREATER(ABS(m), largest) -> y                  becomes      GREATER_EQUAL(ABS(m), largest)
        EQUAL(SUB(m, m), 0) -> y                       becomes      LESS(ABS(m), largest) -> y
        EQUAL(x, inf) -> y                             becomes      GREATER(x, largest) -> y

    Also NOT_EQUAL, REDUCE_MIN and inf, the constant first, and reshapes behind the reduction.
    Holds off when the extreme is compared with another number.
    """
    for kind, x, y in (
        (op.kind, *op.inputs),
        (MIRRORED.get(op.kind, op.kind), *reversed(op.inputs)),
    ):
        value = constant_of(y)
        if x is None or value is None or not is_float(y) or np.unique(value).size != 1:
            continue
        b = builder(graph, op)
        compared = _compared(kind, x, float(value.flat[0]), b)
        if compared is not None:
            comparison, left, limit = compared
            limits = b.constant(np.full(value.shape, limit, value.dtype))
            swap(graph, op, b.op(comparison, left, limits))
            return True
    return False


def _compared(kind: str, x: Tensor, value: float, b: Builder) -> tuple[str, Tensor, float] | None:
    """(comparison, what is compared, the number it is compared with) instead of x with `value`."""
    from ml_dtypes import finfo

    largest = float(finfo(x.dtype).max)
    reduction = _extreme(x)
    if reduction is not None and value == EXTREMES[reduction.kind]:
        comparison = COMPARISONS.get((reduction.kind, kind))
        return None if comparison is None else (comparison, x, np.copysign(largest, value))
    size = producer_of(x, "ABS")
    if kind == "GREATER" and size is not None and value == largest and _extreme(size.inputs[0]):
        return "GREATER_EQUAL", x, largest
    difference = producer_of(x, "SUB")
    if kind == "EQUAL" and difference is not None and value == 0:
        first, second = difference.inputs
        if first is second and _extreme(first):
            return "LESS", b.ABS(first), largest
    if reduction is None and (kind, value) in BEYOND:
        return BEYOND[kind, value], x, np.copysign(largest, value)
    return None


def _extreme(x: Tensor | None) -> Op | None:
    """The reduction that `x` is the extreme of, seen through reshapes."""
    while (view := producer_of(x, *RESHAPES)) is not None:
        x = view.inputs[0]
    return producer_of(x, *EXTREMES)
