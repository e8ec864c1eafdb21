"""Loops over a known number of steps, step by step: what enters and leaves a WHILE is float32.

    x, h -> WHILE(h' = f(GATHER(x, i), h); rows[i] = h') -> rows, h        becomes

    GATHER(x, 0) -> f(h) -> h0;  GATHER(x, 1) -> f(h0) -> h1 ...;  PACK(h0, h1, ...) -> rows

Only where no float operator may stay, as the file grows with every step.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from ..ir.graph import Op, Tensor
from ..lowering.moves import int32s
from ..passes.driver import run_until_settled
from ..passes.fold import fold_constants, remove_dead_code
from ..passes.loops import CountedLoop, Counter, collected, counted_loop
from ..passes.rewrite import builder
from .cell_rewrite import remove_unread
from .rules import touches_float32
from .unroll import MOST_STEPS

if TYPE_CHECKING:
    from ..ir.builder import Builder
    from ..ir.graph import Graph
    from .cells import SchemesOf

Names = dict[Tensor, Tensor]


def unroll_loops(graphs: Iterable[Graph], schemes_of: SchemesOf) -> None:
    """Writes out the loops of float graphs that are to work on integers."""
    for graph in graphs:
        n_unrolled = 0
        for op in [op for op in graph.ops if op.kind == "WHILE" and touches_float32(op)]:
            loop = counted_loop(op)
            if loop is not None and schemes_of(op) and is_unrollable(loop):
                unroll_loop(graph, loop)
                n_unrolled += 1
        if n_unrolled:
            run_until_settled(graph, [fold_constants, remove_dead_code])


def is_unrollable(loop: CountedLoop) -> bool:
    """Whether a loop has a known number of steps that is not too large, and calls nothing."""
    n = loop.count
    if not isinstance(n, int) or not 0 < n <= MOST_STEPS:
        return False
    return not any(op.graphs for op in loop.body.ops)


def unroll_loop(graph: Graph, loop: CountedLoop) -> None:
    """Puts the body of a loop in its place, once for each step."""
    op, body, n_steps = loop.op, loop.body, loop.count
    assert isinstance(n_steps, int)  # asked before
    b = builder(graph, op)
    collects = {i: row for i in loop.updated if (row := collected(loop, i)) is not None}
    rows: dict[int, list[Tensor]] = {i: [] for i in collects}
    values = list(op.inputs)
    for step in range(n_steps):
        tensors: Names = dict(zip(body.inputs, values, strict=True))
        for i, counter in loop.counters.items():
            if isinstance(counter.start, int):
                number = np.asarray(counter.start + counter.step * step, body.inputs[i].dtype)
                tensors[body.inputs[i]] = b.constant(number)
        for inner in body.ops:
            if not writes_row(inner, loop, rows):
                copy_into(graph, op, inner, tensors, step)
        for i, (row, _) in collects.items():
            rows[i].append(tensors[row])
        values = [values[i] if i in rows else tensors.get(y, y) for i, y in enumerate(body.outputs)]
    for i, (_, position) in collects.items():
        values[i] = joined(b, rows[i], None if position is None else loop.counters[position])
    sources = [tensor.producer for tensor in op.present_inputs]
    for old, new in zip(op.outputs, values, strict=True):
        if new.origin is None and new.producer is not None:
            new.origin = old.origin
        graph.replace(old, new)
    graph.remove(op)
    for source in dict.fromkeys(sources):
        remove_unread(graph, source)


def joined(b: Builder, parts: list[Tensor], counter: Counter | None) -> Tensor:
    """The rows that steps have written; where there is one, that of the last step."""
    if counter is None:
        return b.EXPAND_DIMS(parts[-1], int32s(0).reshape(()))
    ordered = parts[::-1] if counter.step < 0 else parts
    return b.PACK(*ordered, values_count=len(parts), axis=0)


def writes_row(op: Op, loop: CountedLoop, rows: Iterable[int]) -> bool:
    """Whether `op` puts a step's result among the rows that are collected."""
    return any(loop.body.outputs[i] in op.outputs for i in rows)


def copy_into(graph: Graph, anchor: Op, op: Op, tensors: Names, step: int) -> None:
    """A copy of an operator of the body before `anchor`; adds its results to `tensors`."""
    results = [Tensor(f"{y.name}/{step}", y.dtype, y.sizes) for y in op.outputs]
    tensors.update(zip(op.outputs, results, strict=True))
    inputs = [None if x is None else tensors.get(x, x) for x in op.inputs]
    new = Op(
        op.kind,
        inputs,
        results,
        copy.copy(op.options),
        custom_code=op.custom_code,
        custom_options=op.custom_options,
        origin=op.origin,
    )
    graph.insert_before(anchor, new)
