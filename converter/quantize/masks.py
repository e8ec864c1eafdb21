"""Large negative numbers that nothing is meant to choose, and that would take a range's steps.

    mask, x, -1e9 -> SELECT_V2 -> y -> SOFTMAX     y reaches from below the smallest x to the
                                                   largest, and -1e9 is cut off there
    x, m -> ADD -> y -> SOFTMAX                    so are m and y, and constants that make m
    t, -1e9 -> MUL -> m                            in [0, 1] and far below 0

What is cut off lies so far below the largest number of its row that all of it together gives less
than half a step of the result. Holds off where anything else reads y.

    x, -1e9 -> PADV2 -> y -> MAX_POOL_2D           the smallest x pads as well
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import log
from typing import NamedTuple

import numpy as np

from ...schema.operators import known
from ..ir.graph import Graph, Op, Tensor
from ..passes.rewrite import constant_of, producer_of, scalar_of
from .needs import Range, constant_range, hull
from .rules import is_float32
from .scheme import Scheme

MANY = 128  # elements of a row of unknown length
FAR = 10  # times what x takes, that a mask must reach below 0
FURTHEST = 1e6  # the same, beyond which MUL has no kernel with steps small enough
SELECTS = ("SELECT", "SELECT_V2")


class Row(NamedTuple):
    """What goes into a SOFTMAX.

    Attributes:
        op: the operator that masks.
        moved: its result, and what is moved from that.
        margin: how far below the largest of a row numbers are that together give less than half a
            step.
    """

    op: Op
    moved: Sequence[Tensor]
    margin: float


def cut_masks(
    graph: Graph,
    ranges: Mapping[Tensor, Range],
    schemes_of: Callable[[Op], Sequence[Scheme]],
) -> dict[Tensor, Range]:
    """Cuts masks off in place; the ranges of what is masked, and of masks.

    Args:
        graph: a float graph.
        ranges: as measured.
        schemes_of: the schemes in which an operator may work on integers.
    """
    cut: dict[Tensor, Range] = {}
    for op in graph.ops:
        if op.kind == "MAX_POOL_2D" and schemes_of(op):
            cut |= cut_padding(graph, op, ranges)
        schemes = schemes_of(op) if op.kind == "SOFTMAX" and is_float32(op.output) else []
        moved = list(moved_before(op, graph)) if schemes else []
        producer = moved[-1].producer if moved else None
        if producer is None or not schemes_of(producer):
            continue
        row = Row(producer, moved, margin_of(op, schemes[0]))
        if producer.kind in SELECTS:
            cut |= cut_select(row, ranges)
        elif producer.kind == "ADD":
            cut |= cut_sum(row, ranges)
    return cut


def margin_of(op: Op, scheme: Scheme) -> float:
    """That of a SOFTMAX whose result is of a scheme's integers."""
    size = op.inputs[0].shape[-1] if op.inputs[0].shape else None
    integers = scheme.integers
    n_steps = integers.high - (0 if integers.symmetric else integers.low)
    return log(2 * n_steps * (size or MANY)) / (op.options.beta or 1.0)


def moved_before(op: Op, graph: Graph) -> Iterable[Tensor]:
    """The input of `op`, and what it is moved from, as far back as nothing else reads it."""
    tensor, reader = op.inputs[0], op
    while graph.sole_reader(tensor) is reader:
        yield tensor
        producer = tensor.producer
        if producer is None or "moves" not in known(producer.kind).traits:
            return
        operands = [x for x in producer.inputs if is_float32(x)]
        if len(operands) != 1:
            return
        tensor, reader = operands[0], producer


def cut_select(row: Row, ranges: Mapping[Tensor, Range]) -> dict[Tensor, Range]:
    """Cuts off a constant that a SELECT puts far below what else it gives."""
    for i, j in ((1, 2), (2, 1)):
        x, fill = row.op.inputs[i], row.op.inputs[j]
        if x not in ranges or not fill.is_constant or not fill.data.size:
            continue
        low, high = ranges[x]
        if fill.data.max() < low - row.margin:
            clip_constant(row.op, j, low - row.margin)
            return dict.fromkeys(row.moved, (low - row.margin, high))
    return {}


def cut_sum(row: Row, ranges: Mapping[Tensor, Range]) -> dict[Tensor, Range]:
    """Cuts off a mask that is added."""
    for i in (0, 1):
        x, mask = row.op.inputs[i], row.op.inputs[1 - i]
        extent = range_of_mask(mask, ranges)
        if x not in ranges or extent is None or not is_float32(mask):
            continue
        low, high = ranges[x]
        width = high - low + row.margin
        if extent[1] < 0 or extent[0] > -FAR * width:
            continue
        cut = dict.fromkeys(row.moved, (low - row.margin, high + extent[1]))
        if mask.is_constant:
            clip_constant(row.op, 1 - i, -width)
        elif len(mask.readers) == 1:
            cut_maker(mask.producer, width, ranges)
            cut[mask] = -width, extent[1]
        return cut
    return {}


def range_of_mask(mask: Tensor, ranges: Mapping[Tensor, Range]) -> Range | None:
    """From where to where a mask reaches, be it infinite; None where nothing tells it."""
    producer = mask.producer
    if mask.is_constant:
        return constant_range(mask)
    if producer is not None and producer.kind in SELECTS:
        operands = producer.inputs[1:]
        if all(operand.is_constant for operand in operands):
            return hull(constant_range(operands[0]), constant_range(operands[1]))
    return ranges.get(mask)


def cut_maker(op: Op | None, width: float, ranges: Mapping[Tensor, Range]) -> None:
    """Cuts the constants off that make a mask: of a SELECT, or the factor of a MUL."""
    if op is not None and op.kind in SELECTS:
        for i in (1, 2):
            if op.inputs[i].is_constant:
                clip_constant(op, i, -width)
    elif op is not None and op.kind == "MUL":
        for i in (0, 1):
            factor, (_, high) = scalar_of(op.inputs[i]), ranges.get(op.inputs[1 - i], (0.0, 0.0))
            if factor is not None and high > 0 and factor * high < -FURTHEST * width:
                clip_constant(op, i, -FAR * width / high)


def cut_padding(graph: Graph, op: Op, ranges: Mapping[Tensor, Range]) -> dict[Tensor, Range]:
    """Cuts off what pads an image below all of it, where no window lies within the padding."""
    padded = op.inputs[0]
    pad = producer_of(padded, "PADV2")
    amounts = None if pad is None else constant_of(pad.inputs[1])
    if pad is None or amounts is None or graph.sole_reader(padded) is not op:
        return {}
    x, value = pad.inputs[0], scalar_of(pad.inputs[2])
    windows = 1, op.options.filter_height, op.options.filter_width, 1
    if x not in ranges or value is None or (amounts >= np.reshape(windows, (-1, 1))).any():
        return {}
    low, high = ranges[x]
    if value >= low:
        return {}
    clip_constant(pad, 2, low)
    return {padded: (low, high)}


def clip_constant(op: Op, i: int, low: float) -> None:
    """Gives `op` a constant input without numbers below `low`."""
    tensor = op.inputs[i]
    array = np.maximum(tensor.data, np.float32(low))
    op.set_input(i, Tensor(tensor.name, tensor.dtype, tensor.sizes, array))
