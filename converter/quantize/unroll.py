"""Recurrent cells step by step, where LiteRT has no integer kernel of a sequence of them.

x -> UNIDIRECTIONAL_SEQUENCE_RNN -> y        becomes

x -> UNPACK -> x0, x1, ...
x0 -> FULLY_CONNECTED -> TANH -> h0
x1 -> FULLY_CONNECTED -> ADD(FULLY_CONNECTED(h0)) -> TANH -> h1 ...;  PACK(h0, h1, ...) -> y

An LSTM is written so where it must not stay float: its operator has no kernel of int16, nor of
other activations than TANH.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import numpy as np

from ...schema.tables import ACTIVATION_FUNCTION_TYPE
from ..ir.graph import Tensor
from ..lowering.moves import int32s
from ..passes.rewrite import builder
from .cell_rewrite import is_zeros, remove_unread
from .cells import GATES, LSTM
from .rules import rule_of

if TYPE_CHECKING:
    from ..ir.builder import Builder
    from ..ir.graph import Graph, Op
    from .cells import SchemesOf
    from .scheme import Scheme

    Step = Callable[[Builder, Tensor, list[Tensor]], list[Tensor]]

KIND = "UNIDIRECTIONAL_SEQUENCE_RNN"
WEIGHTS, RECURRENT, BIAS, STATE = range(1, 5)
MOST_STEPS = 128
"""Steps up to which a sequence is written out: each takes four operators of the file."""
NAMES = {number: name for name, number in ACTIVATION_FUNCTION_TYPE.items()}
LSTM_OPERANDS = tuple(
    form.format(gate) for form in ("input_to_{}", "recurrent_to_{}", "{}_bias") for gate in GATES
)
WRITTEN = ("NONE", "RELU", "RELU6", "RELU_N1_TO_1", "TANH")


def unroll_cells(graphs: Iterable[Graph], schemes_of: SchemesOf, strict: bool) -> None:
    """Writes out the cells of float graphs that are to work on integers.

    Args:
        graphs: float graphs.
        schemes_of: the schemes in which an operator may work on integers.
        strict: whether an LSTM without a kernel must not stay float, as it does in TensorFlow.
    """
    for graph in graphs:
        for op in list(graph.ops):
            schemes = schemes_of(op)
            if op.kind == KIND and schemes and is_unrollable(op):
                unroll(graph, op, plain_step(op), (STATE,))
            elif strict and schemes and lacks_kernel(op, schemes[0]) and is_plain_lstm(op):
                states = tuple(LSTM.position(name) for name in LSTM.states)
                unroll(graph, op, lstm_step(op), states)


def lacks_kernel(op: Op, scheme: Scheme) -> bool:
    """Whether an operator is an LSTM that has no kernel in a scheme."""
    return op.kind == LSTM.operands and rule_of(op, scheme) is None


def is_unrollable(op: Op, firsts: tuple[int, ...] = (WEIGHTS,)) -> bool:
    """Whether a sequence is of known length, and begins with zeros in every run.

    Args:
        op: plain cells.
        firsts: where the weights of each direction are.
    """
    if not is_short(op):
        return False
    for first in firsts:
        *parts, state = (op.inputs[first - WEIGHTS + i] for i in (WEIGHTS, RECURRENT, BIAS, STATE))
        if state.producer is None or not is_zeros(state):
            return False
        if not all(part.is_constant for part in parts):
            return False
    return NAMES[op.options.fused_activation_function] in WRITTEN


def is_short(op: Op) -> bool:
    """Whether a sequence has a known number of steps that is not too large."""
    steps = op.inputs[0].dims[step_axis(op)] if op.inputs[0].rank == 3 else None
    return steps is not None and 0 < steps <= MOST_STEPS


def is_plain_lstm(op: Op) -> bool:
    """Whether an LSTM of a known number of steps begins with zeros, and has four gates and no more.

    Peepholes, projections, layer norm and limits are more.
    """
    options, present = op.options, [LSTM.operand(op, name) for name in LSTM_OPERANDS]
    others = [name for name in (*LSTM.weights, *LSTM.biases) if name not in LSTM_OPERANDS]
    return (
        is_short(op)
        and all(tensor is not None and tensor.is_constant for tensor in present)
        and all(LSTM.operand(op, name) is None for name in others)
        and all(is_zeros(LSTM.operand(op, name)) for name in LSTM.states)
        and not options.cell_clip
        and NAMES[options.fused_activation_function] in WRITTEN
    )


def step_axis(op: Op) -> int:
    """The axis of the steps."""
    return 0 if op.options.time_major else 1


def unroll(graph: Graph, op: Op, step: Step, states: tuple[int, ...]) -> None:
    """Puts operators for each step in the place of `op`.

    Args:
        graph: the graph.
        op: the cells.
        step: gives the states after a step; the first is what the cells give.
        states: where the operands are that they begin with, zeros.
    """
    b, axis, x = builder(graph, op), step_axis(op), op.inputs[0]
    rows = b.op("UNPACK", x, num=x.dims[axis], axis=axis, n_outputs=x.dims[axis])
    rows = [rows] if not isinstance(rows, list | tuple) else rows
    hidden: list[Tensor] = []
    current: list[Tensor] = []
    for row in rows:
        current = step(b, row, current)
        hidden.append(current[0])
    y, old = b.PACK(*hidden, values_count=len(hidden), axis=axis), op.output
    writers = [op.inputs[i].producer for i in states]
    y.origin, y.name = old.origin, old.name
    graph.replace(old, y)
    graph.remove(op)
    for writer in dict.fromkeys(writers):
        remove_unread(graph, writer)


def plain_step(op: Op) -> Step:
    """h' = activation(W x + b + R h)."""
    weights, recurrent, bias = (op.inputs[i] for i in (WEIGHTS, RECURRENT, BIAS))
    name = NAMES[op.options.fused_activation_function]

    def step(b: Builder, x: Tensor, states: list[Tensor]) -> list[Tensor]:
        total = b.FULLY_CONNECTED(x, weights, bias)
        if states:
            total = b.ADD(total, b.FULLY_CONNECTED(states[0], recurrent, None))
        return [activated(b, total, name)]

    return step


def lstm_step(op: Op) -> Step:
    """c' = s(f) * c + s(i) * a(g), h' = s(o) * a(c'); the gates are parts of one product."""
    source, hidden, biases = (
        np.concatenate([some_data(op, form.format(gate)) for gate in GATES])
        for form in ("input_to_{}", "recurrent_to_{}", "{}_bias")
    )
    name = NAMES[op.options.fused_activation_function]
    axis = int32s(1).reshape(())

    def step(b: Builder, x: Tensor, states: list[Tensor]) -> list[Tensor]:
        total = b.FULLY_CONNECTED(x, weights, bias)
        if states:
            total = b.ADD(total, b.FULLY_CONNECTED(states[0], recurrent, None))
        i, f, g, o = b.SPLIT(axis, total, num_splits=len(GATES))
        memory = b.MUL(b.LOGISTIC(i), activated(b, g, name))
        if states:
            memory = b.ADD(b.MUL(b.LOGISTIC(f), states[1]), memory)
        return [b.MUL(b.LOGISTIC(o), activated(b, memory, name)), memory]

    weights, recurrent, bias = (
        Tensor(f"{op.output.name}/{name}", array.dtype, array.shape, array)
        for name, array in (("weights", source), ("recurrent", hidden), ("bias", biases))
    )
    return step


def some_data(op: Op, name: str) -> np.ndarray:
    """The elements of an operand that is there."""
    tensor = LSTM.operand(op, name)
    assert tensor is not None  # asked before
    return tensor.data


def activated(b: Builder, x: Tensor, name: str) -> Tensor:
    """`x` behind an activation."""
    return x if name == "NONE" else b.op(name, x)
