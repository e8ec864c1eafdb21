"""LSTM_SEQUENCE and RNN_SEQUENCE as TFLite's fused operators.

Their states are variable tensors, which LiteRT keeps from run to run. An operator writes them here,
so that each run begins with what the source begins with, whatever ran before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..ir.builder import Builder
from ..ir.dims import Extent
from ..ir.graph import Graph, Op, Tensor
from ..lowering.moves import as_type, int32s
from .rewrite import builder, constant_of

N_STATES = {"LSTM_SEQUENCE": 2, "RNN_SEQUENCE": 1}
N_PEEPHOLES = 3
N_NORMS = 4
FIRST_STATE = 6
"""The position of the hidden state among the operands."""


def write_states(graph: Graph) -> int:
    """Gives sequences that start from zeros variables as states; one operator writes them all.

        x -> LSTM_SEQUENCE -> y
            becomes      SPLIT(zeros) -> h, c;  LSTM_SEQUENCE(x, h, c) -> y

    Where the batch is unknown, the zeros are made of x:

        x: [n, steps, k] -> x[:, 0, :1] -> ZEROS_LIKE -> TILE -> [n, all units]

    or of an input of the graph, where the shape of x is known to LiteRT only while the model runs:
    it gives variables their memory before.
    """
    groups: dict[Extent, list[Op]] = {}
    for op in graph.ops:
        if op.kind in N_STATES and op.input(FIRST_STATE) is None:
            x = op.inputs[0]
            assert x is not None and x.sizes is not None
            groups.setdefault(x.sizes[_batch_axis(op)], []).append(op)
    for ops in groups.values():
        units = [op.output.dims[-1] or 0 for op in ops for _ in range(N_STATES[op.kind])]
        states = iter(_zeros(graph, ops[0], units))
        for op in ops:
            for i in range(N_STATES[op.kind]):
                op.set_input(FIRST_STATE + i, next(states))
    return len(groups)


def _batch_axis(op: Op) -> int:
    return 1 if constant_of(op.inputs[5]) else 0


def _zeros(graph: Graph, op: Op, units: Sequence[int]) -> list[Tensor]:
    """Variables of [batch, n] for each n of `units`, which are zeros whenever a run begins."""
    x, axis, b = op.inputs[0], _batch_axis(op), builder(graph, op)
    assert x is not None and x.sizes is not None
    batch = x.dims[axis]
    if batch is not None:
        zeros = b.constant(np.zeros((batch, sum(units)), np.float32))
        states = [b.ZEROS_LIKE(zeros)] if len(units) == 1 else _split(b, zeros, units)
    else:
        early = _input_of_size(graph, x.sizes[axis]) if _is_late(x) else None
        if early is None:
            zeros = b.TILE(_column_of_zeros(b, x, axis), int32s([1, sum(units)]))
            states = [zeros] if len(units) == 1 else _split(b, zeros, units)
        else:  # no SPLIT, which a delegate may take and run late
            b = builder(graph, graph.ops[0])
            column = _first_zeros(b, *early)
            states = [b.TILE(column, int32s([1, n])) for n in units]
    for state in states:
        state.is_variable = True
    return states


def _is_late(x: Tensor) -> bool:
    """Whether LiteRT knows the shape of a tensor only while the model runs: that of a loop or a
    branch, or one that a computed operand says.
    """
    pending, seen = [x], {x}
    while pending:
        op = pending.pop().producer
        if op is None or all(tensor.is_static for tensor in op.outputs):
            continue
        if op.graphs or any(not t.is_constant and t.dtype == np.int32 for t in op.inputs[1:] if t):
            return True
        pending += [t for t in op.present_inputs if t not in seen]
        seen.update(op.present_inputs)
    return False


def _input_of_size(graph: Graph, size: Extent) -> tuple[Tensor, int] | None:
    """An input of the graph, and its dimension of a size."""
    for x in graph.inputs:
        if x.sizes is not None and size in x.sizes and x.dtype.kind in "fiub":
            return x, x.sizes.index(size)
    return None


def _first_zeros(b: Builder, x: Tensor, axis: int) -> Tensor:
    """[n, 1] zeros, for dimension `axis` of a tensor, by operators that no delegate takes."""
    for other in reversed(range(len(x.dims))):
        if other != axis:
            x = b.GATHER(x, np.int32(0), axis=other)
    return b.EXPAND_DIMS(b.ZEROS_LIKE(as_type(x, np.float32, b)), np.int32(1))


def _column_of_zeros(b: Builder, x: Tensor, axis: int) -> Tensor:
    """[batch, 1] zeros."""
    bounds = np.asarray([[0, 0, 0], [1, 1, 1], [1, 1, 1]], np.int32)
    batch = 1 << axis
    return b.ZEROS_LIKE(
        b.STRIDED_SLICE(x, *bounds, begin_mask=batch, end_mask=batch, shrink_axis_mask=2 >> axis)
    )


def _split(b: Builder, x: Tensor, widths: Sequence[int]) -> list[Tensor]:
    """The columns of `x` in parts."""
    axis, count = np.asarray(1, np.int32), len(widths)
    if len(set(widths)) == 1:
        return list(b.SPLIT(axis, x, num_splits=count))
    return list(b.SPLIT_V(x, int32s(widths), axis, num_splits=count))


def write_rnn(op: Op, b: Builder) -> list[Tensor] | None:
    """UNIDIRECTIONAL_SEQUENCE_RNN."""
    operands = (*rnn_parameters(op), *states_of(op, b))
    return [b.UNIDIRECTIONAL_SEQUENCE_RNN(op.inputs[0], *operands, **options_of_sequence(op))]


def rnn_parameters(op: Op) -> tuple[Tensor, ...]:
    """The weights and bias of an RNN_SEQUENCE, which is two products in TensorFlow's files."""
    for weights in op.inputs[1:3]:
        weights.n_source = _value(weights).size
    return op.inputs[1:4]


def write_lstm(op: Op, b: Builder) -> list[Tensor] | None:
    """UNIDIRECTIONAL_SEQUENCE_LSTM."""
    operands = (*lstm_parameters(op, b), *states_of(op, b), *[None] * N_NORMS)
    return [b.UNIDIRECTIONAL_SEQUENCE_LSTM(op.inputs[0], *operands, **options_of_sequence(op))]


def lstm_parameters(op: Op, b: Builder) -> list[Tensor | None]:
    """What builtins take of an LSTM_SEQUENCE: weights and biases for each gate, nothing else.

    Where TensorFlow does not fuse the layer, the gates' weights stay one matrix in its file.
    """
    parts: list[Tensor] = []
    for tensor in op.inputs[1:4]:
        whole = _value(tensor)
        parts += map(b.constant, np.split(whole, 4))
        if not op.implements:
            for part in parts[-4:]:
                part.n_source = whole.size
    return [*parts[:8], *[None] * N_PEEPHOLES, *parts[8:], None, None]


def _value(tensor: Tensor | None) -> np.ndarray:
    if tensor is None:
        raise ValueError("an operand of a sequence is missing")
    return tensor.data


def options_of_sequence(op: Op) -> dict[str, Any]:
    """The options of the builtin that a sequence becomes."""
    return {
        "time_major": bool(_value(op.inputs[5])),
        "fused_activation_function": int(_value(op.inputs[4])),
    }


def states_of(op: Op, b: Builder) -> list[Tensor]:
    """The variables of a sequence; those of states that the source gives are copies."""
    states = []
    for state in op.inputs[FIRST_STATE:]:
        if state is None:
            raise ValueError("a state of a sequence is missing")
        if not state.is_variable:
            state = b.SLICE(state, int32s([0, 0]), int32s([-1, -1]))
            state.is_variable = True
        states.append(state)
    return states
