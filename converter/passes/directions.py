"""A sequence forwards and backwards, as one operator."""

from __future__ import annotations

from ..ir.builder import Builder
from ..ir.graph import Graph, Op, Tensor
from .driver import rewrite
from .rewrite import builder, constant_of, producer_of
from .sequences import (
    FIRST_STATE,
    lstm_parameters,
    options_of_sequence,
    rnn_parameters,
    states_of,
)

N_AUXILIARY = 9


@rewrite("LSTM_SEQUENCE", "RNN_SEQUENCE")
def fuse_directions(graph: Graph, op: Op) -> bool:
    """Makes one operator of a layer that reads a sequence and one that reads it backwards.

        x -> LSTM_SEQUENCE -> y;  x -> REVERSE_V2 -> LSTM_SEQUENCE -> REVERSE_V2 -> z
            becomes      x -> BIDIRECTIONAL_SEQUENCE_LSTM -> y, z

    Holds off where the second is read in another order, as by what takes its last step, where
    states are computed, and on an RNN with the steps first, whose 8-bit weights LiteRT multiplies
    wrongly. The results stay apart: LiteRT joins those of batches in a wrong order.
    """
    reverse = producer_of(op.inputs[0], "REVERSE_V2")
    if op.kind == "RNN_SEQUENCE" and constant_of(op.inputs[5]):
        return False
    if reverse is None or not _is_along_steps(op, reverse):
        return False
    back = graph.sole_reader(op.output)
    if back is None or back.kind != "REVERSE_V2" or not _is_along_steps(op, back):
        return False
    forward = next((x for x in reverse.inputs[0].readers if _is_same_layer(x, op)), None)
    if forward is None:
        return False
    first = min((op, forward), key=graph.position)
    y, z = _bidirectional(builder(graph, first), forward, op)
    for old, new in ((forward.output, y), (back.output, z)):
        new.origin, new.name = old.origin, old.name
        graph.replace(old, new)
    for removed in (back, op, forward):
        graph.remove(removed)
    return True


def _is_along_steps(op: Op, reverse: Op) -> bool:
    """Whether a REVERSE_V2 reverses the steps of the sequences of `op`."""
    axes, time_major = constant_of(reverse.inputs[1]), constant_of(op.inputs[5])
    return axes is not None and (axes % 3).tolist() == [0 if time_major else 1]


def _is_same_layer(first: Op, second: Op) -> bool:
    """Whether two sequences are of one kind, with one activation, and start from zeros."""
    return (
        first.kind == second.kind
        and options_of_sequence(first) == options_of_sequence(second)
        and all(_starts_from_zeros(op) for op in (first, second))
    )


def _starts_from_zeros(op: Op) -> bool:
    state = op.input(FIRST_STATE)
    return state is None or state.is_variable


def _bidirectional(b: Builder, forward: Op, backward: Op) -> tuple[Tensor, Tensor]:
    """The builtin, without peepholes, projections and auxiliary input."""
    x, options = forward.inputs[0], options_of_sequence(forward)
    states = [states_of(op, b) for op in (forward, backward)]
    if forward.kind == "RNN_SEQUENCE":
        operands = [
            operand
            for op, (state,) in zip((forward, backward), states, strict=True)
            for operand in (*rnn_parameters(op), state)
        ]
        return b.op(
            "BIDIRECTIONAL_SEQUENCE_RNN", x, *operands, None, None, None, n_outputs=2, **options
        )
    operands = [*lstm_parameters(forward, b), *lstm_parameters(backward, b), *states[0], *states[1]]
    omitted = [None] * N_AUXILIARY
    return b.op("BIDIRECTIONAL_SEQUENCE_LSTM", x, *operands, *omitted, n_outputs=2, **options)
