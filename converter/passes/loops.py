"""Loops that count: which values of a WHILE count, stay as they are, or collect results."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..ir import dims
from ..ir.dims import Extent
from ..ir.graph import Op, Tensor
from .rewrite import NONE, activation_of, constant_of, producer_of


class Counter(NamedTuple):
    """A value that grows or shrinks by one in each iteration.

    Attributes:
        start: its value in the first iteration.
        step: 1 or -1.
    """

    start: Extent
    step: int


class CountedLoop:
    """A WHILE that runs as often as a size says.

    Attributes:
        op: the WHILE.
        count: how many iterations there are.
        counters: position among the values -> Counter.
        invariants: the positions of values that no iteration changes.
        updated: the positions of all others.
    """

    def __init__(self, op: Op, count: Extent, counters: dict[int, Counter]) -> None:
        self.op, self.count, self.counters = op, count, counters
        self.body = op.graphs[1]
        self.invariants = _invariants(op)
        known = {*self.invariants, *counters}
        self.updated = [i for i in range(len(op.inputs)) if i not in known]

    def is_forward(self, i: int) -> bool:
        """Whether value `i` counts 0, 1, ... up to the number of iterations."""
        counter = self.counters.get(i)
        return counter is not None and counter.step == 1 and _same(counter.start, 0)

    def is_backward(self, i: int) -> bool:
        """Whether value `i` counts from the last iteration's number down to 0."""
        counter = self.counters.get(i)
        if counter is None or counter.step != -1:
            return False
        return _same(dims.add(counter.start, 1), self.count)

    def position(self, tensor: Tensor | None) -> int | None:
        """Which of the loop's values a tensor of its body is; None where it is none."""
        return next((i for i, x in enumerate(self.body.inputs) if x is tensor), None)


def counted_loop(op: Op) -> CountedLoop | None:
    """The loop that a WHILE is where every condition for another iteration says the same number."""
    if op.kind != "WHILE" or len(op.graphs[0].outputs) != 1:
        return None
    counters = _counters(op)
    counts = [_count(op, test, counters) for test in tests_of(op.graphs[0].outputs[0])]
    first = counts[0]
    if first is None or any(n is None or not _same(n, first) for n in counts):
        return None
    return CountedLoop(op, first, counters)


def _same(first: Extent, second: Extent) -> bool:
    return first is second or bool(first == second)


def _invariants(op: Op) -> frozenset[int]:
    body = op.graphs[1]
    pairs = enumerate(zip(body.inputs, body.outputs, strict=True))
    return frozenset(i for i, (entering, leaving) in pairs if entering is leaving)


def _counters(op: Op) -> dict[int, Counter]:
    """The values to which the body adds 1 or -1."""
    body, counters = op.graphs[1], {}
    for i, (entering, leaving) in enumerate(zip(body.inputs, body.outputs, strict=True)):
        addition, start = producer_of(leaving, "ADD"), extent_of(op.input(i))
        if addition is None or start is None or activation_of(addition) != NONE:
            continue
        x, step = addition.inputs
        amount = constant_of(step)
        if x is entering and amount is not None and amount.shape == () and abs(amount) == 1:
            counters[i] = Counter(start, int(amount))
    return counters


def extent_of(tensor: Tensor | None) -> Extent | None:
    """The size that an integer scalar is; None where it is not known."""
    if tensor is None or tensor.dtype.kind != "i" or tensor.shape != ():
        return None
    if tensor.value is not None:
        return int(tensor.value)
    if tensor.elements is not None:
        return tensor.elements.extents.item()
    return None


def tests_of(condition: Tensor) -> list[Op | None]:
    """The comparisons that must all hold for another iteration."""
    both = producer_of(condition, "LOGICAL_AND")
    if both is None:
        return [condition.producer]
    return [test for x in both.inputs if x is not None for test in tests_of(x)]


def _count(op: Op, test: Op | None, counters: dict[int, Counter]) -> Extent | None:
    """How many iterations a comparison of a counter with a limit lets run."""
    if test is None or test.kind not in ("LESS", "GREATER_EQUAL"):
        return None
    inputs = op.graphs[0].inputs
    positions = [next((i for i, x in enumerate(inputs) if x is y), None) for y in test.inputs]
    counter = None if positions[0] is None else counters.get(positions[0])
    limit = extent_of(test.inputs[1])
    if limit is None and positions[1] is not None and positions[1] in _invariants(op):
        limit = extent_of(op.input(positions[1]))
    if counter is None or limit is None:
        return None
    if test.kind == "LESS" and counter.step == 1:
        return dims.subtract(limit, counter.start)
    if test.kind == "GREATER_EQUAL" and counter.step == -1:
        return dims.add(dims.subtract(counter.start, limit), 1)
    return None


def collected(loop: CountedLoop, i: int) -> tuple[Tensor, int | None] | None:
    """(what each iteration writes into value `i`, the counter that says where); None for others.

        value, x -> DYNAMIC_UPDATE_SLICE(value, EXPAND_DIMS(x, 0), [counter, 0, ...]) -> value

    The counter is None where a value of one row takes what the last iteration writes.
    """
    entering, update = (
        loop.body.inputs[i],
        producer_of(loop.body.outputs[i], "DYNAMIC_UPDATE_SLICE"),
    )
    if update is None or update.inputs[0] is not entering or not entering.sizes:
        return None
    row, begin = producer_of(update.inputs[1], "EXPAND_DIMS"), update.inputs[2]
    if row is None or (axis := constant_of(row.inputs[1])) is None or np.any(axis != 0):
        return None
    known_begin = constant_of(begin)
    if known_begin is not None:
        is_last = not known_begin.any() and _same(entering.sizes[0], 1)
        return (row.inputs[0], None) if is_last else None
    parts = producer_of(begin, "CONCATENATION")
    if parts is None or len(parts.inputs) != 2 or not _same(entering.sizes[0], loop.count):
        return None
    index, zeros = producer_of(parts.inputs[0], "RESHAPE"), constant_of(parts.inputs[1])
    counter = loop.position(index.inputs[0]) if index is not None else None
    if counter is None or counter not in loop.counters or zeros is None or zeros.any():
        return None
    return row.inputs[0], counter
