"""Plain recurrent cells step by step: LiteRT has no integer kernel of a sequence of them.

x -> UNIDIRECTIONAL_SEQUENCE_RNN -> y        becomes

x -> UNPACK -> x0, x1, ...
x0 -> FULLY_CONNECTED -> TANH -> h0
x1 -> FULLY_CONNECTED -> ADD(FULLY_CONNECTED(h0)) -> TANH -> h1 ...;  PACK(h0, h1, ...) -> y
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ...schema.tables import ACTIVATION_FUNCTION_TYPE
from ..passes.rewrite import builder
from .cell_rewrite import is_zeros, remove_unread

if TYPE_CHECKING:
    from ..ir.builder import Builder
    from ..ir.graph import Graph, Op, Tensor
    from .cells import SchemesOf

KIND = "UNIDIRECTIONAL_SEQUENCE_RNN"
WEIGHTS, RECURRENT, BIAS, STATE = range(1, 5)
MOST_STEPS = 128
"""Steps up to which a sequence is written out: each takes four operators of the file."""
NAMES = {number: name for name, number in ACTIVATION_FUNCTION_TYPE.items()}
WRITTEN = ("NONE", "RELU", "RELU6", "RELU_N1_TO_1", "TANH")


def unroll_cells(graphs: Iterable[Graph], schemes_of: SchemesOf) -> None:
    """Writes out the plain cells of float graphs that are to work on integers."""
    for graph in graphs:
        for op in list(graph.ops):
            if op.kind == KIND and schemes_of(op) and is_unrollable(op):
                unroll(graph, op)


def is_unrollable(op: Op, firsts: tuple[int, ...] = (WEIGHTS,)) -> bool:
    """Whether a sequence is of known length, and begins with zeros in every run.

    Args:
        op: plain cells.
        firsts: where the weights of each direction are.
    """
    steps = op.inputs[0].dims[step_axis(op)] if op.inputs[0].rank == 3 else None
    if steps is None or not 0 < steps <= MOST_STEPS:
        return False
    for first in firsts:
        *parts, state = (op.inputs[first - WEIGHTS + i] for i in (WEIGHTS, RECURRENT, BIAS, STATE))
        if state.producer is None or not is_zeros(state):
            return False
        if not all(part.is_constant for part in parts):
            return False
    return NAMES[op.options.fused_activation_function] in WRITTEN


def step_axis(op: Op) -> int:
    """The axis of the steps."""
    return 0 if op.options.time_major else 1


def unroll(graph: Graph, op: Op) -> None:
    """Puts operators for each step in the place of `op`."""
    b, axis, x = builder(graph, op), step_axis(op), op.inputs[0]
    weights, recurrent, bias = (op.inputs[i] for i in (WEIGHTS, RECURRENT, BIAS))
    rows = b.op("UNPACK", x, num=x.dims[axis], axis=axis, n_outputs=x.dims[axis])
    rows = [rows] if not isinstance(rows, list | tuple) else rows
    hidden: list[Tensor] = []
    for row in rows:
        total = b.FULLY_CONNECTED(row, weights, bias)
        if hidden:
            total = b.ADD(total, b.FULLY_CONNECTED(hidden[-1], recurrent, None))
        hidden.append(activated(b, total, NAMES[op.options.fused_activation_function]))
    y, old, state = (
        b.PACK(*hidden, values_count=len(hidden), axis=axis),
        op.output,
        op.inputs[STATE],
    )
    y.origin, y.name = old.origin, old.name
    graph.replace(old, y)
    graph.remove(op)
    remove_unread(graph, state.producer)


def activated(b: Builder, x: Tensor, name: str) -> Tensor:
    """`x` behind an activation."""
    return x if name == "NONE" else b.op(name, x)
