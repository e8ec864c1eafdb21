"""RNN, UNIDIRECTIONAL_SEQUENCE_RNN, BIDIRECTIONAL_SEQUENCE_RNN and SVDF."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ....engine.families import recurrent
from ....engine.families.layout import move
from ....engine.plan.buffer import Buffer, arena, constant
from ....schema.dtypes import tf_name
from ...checks import rank, required, required_input
from ...plan.node import Node
from ...registry import op
from ..arithmetic import bytes_of, scales_of
from .svdf_quantized import svdf_quantized

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ....engine.plan.program import Program
    from ...plan.node import Emit, Operand, Prepared
    from ...plan.observation import Observation


_HYBRID = ("int8", "uint8", "int4", "int2")


@op("RNN")
def rnn(node: Node) -> Prepared:
    """hidden = activation(x @ weights + hidden @ recurrent + bias), which is also the result."""
    x, *_ = required(node, 5)
    rank(node, "input", x, 2)
    layout = recurrent.SequenceLayout(x.shape[0], 1, True)
    return _emit_all([_cell(node, [(x, 1)], (2, 3, 4), layout)])


@op("UNIDIRECTIONAL_SEQUENCE_RNN")
def unidirectional_sequence_rnn(node: Node) -> Prepared:
    """RNN at each step of a sequence [batch, steps, k], or the other way when `time_major`."""
    x, *_ = required(node, 5)
    return _emit_all([_cell(node, [(x, 1)], (2, 3, 4), layout_of(node, x))])


@op("BIDIRECTIONAL_SEQUENCE_RNN")
def bidirectional_sequence_rnn(node: Node) -> Prepared:
    """A sequence forwards and backwards; the results lie side by side with `merge_outputs`.

    An auxiliary input with weights of its own is added in both directions; without, it is what the
    second one takes when `time_major`, else TFLite does not look at it.
    """
    operands = required(node, 9)
    x = operands[0]
    layout = layout_of(node, x)
    backward_input, other = auxiliary(node, x, 9, 10, 11)
    if not layout.time_major:
        backward_input = x
    units = [operands[i].shape[0] for i in (1, 5)]
    merged = bool(node.options.merge_outputs)
    forward, backward = in_directions(layout, units[0], merged)
    first, second = [(x, 1)], [(backward_input, 5)]
    if other is not None:
        first.append((other, 10))
        second.append((other, 11))
    out = None
    if merged:
        out = node.result((*x.shape[:2], sum(units)), np.float32)
    cells = [_cell(node, first, (2, 3, 4), forward, out)]
    cells.append(_cell(node, second, (6, 7, 8), backward, out))
    return _emit_all(cells)


@op("SVDF")
def svdf(node: Node) -> Prepared:
    """Filters over the features of the last inputs: rank of them make a result, by sums.

    `weights_feature` [filters, k] make a feature of each input, `weights_time` [filters, memory]
    weigh the last features, which the state keeps.
    """
    x, features, times = required(node, 3)
    rank(node, "input", x, 2)
    batch, depth = x.shape
    n_rank = int(node.options.rank)
    node.require(
        features.ndim == 2 and features.shape[1] == depth,
        f"weights_feature must have shape (filters, {depth}), got {features.shape}",
    )
    filters = features.shape[0]
    node.require(
        n_rank > 0 and filters % n_rank == 0,
        f"rank must divide the {filters} filters, got {n_rank}",
    )
    node.require(
        times.ndim == 2 and times.shape[0] == filters and times.shape[1] > 0,
        f"weights_time must have shape ({filters}, memory), got {times.shape}",
    )
    bias, units = node.optional(3), filters // n_rank
    node.require(
        bias is None or bias.shape == (units,),
        f"bias must have shape ({units},), got {bias and bias.shape}",
    )
    state = state_of(node, 4, batch, filters * times.shape[1])
    if x.dtype == np.int8:
        return svdf_quantized(node, x, features, times, bias, state)
    require_float32_input(node, x)
    weights = weights_of(node, [features])
    times = dequantized(node, 2)
    assert times is not None
    bias = None if bias is None else require_float32(node, bias)
    out = node.result((batch, units), np.float32)

    def emit(program: Program) -> None:
        memory = initialized(program, state)
        recurrent.svdf(
            program,
            x,
            weights,
            times,
            bias,
            memory,
            out,
            activation=int(node.options.fused_activation_function),
            asymmetric=bool(node.options.asymmetric_quantize_inputs),
        )
        observation = observation_of(node)
        if observation is not None:
            observation.inner(program, node, {4: memory}, {})

    return emit


def dequantized(node: Node, i: int) -> Buffer | None:
    """Weights that are input `i`, those of 8 bits as float32."""
    part = node.optional(i)
    if part is None or part.dtype == np.float32:
        return part
    node.require(part.dtype.name in _HYBRID, f"{tf_name(part.dtype)} is not supported yet")
    value = node.constant(i)
    quantized = value.view(np.int8) if value.dtype == np.uint8 else value
    return constant(quantized.astype(np.float32) * scales_of(node, part)[0])


def auxiliary(node: Node, x: Operand, place: int, *weights: int) -> tuple[Operand, Operand | None]:
    """(what the second direction takes, what is added to both or None)."""
    other = node.optional(place)
    if other is None:
        return x, None
    node.require(
        other.shape[:2] == x.shape[:2],
        f"auxiliary input must have the steps and batch of the input, got {other.shape}",
    )
    has_weights = [node.optional(i) is not None for i in weights]
    node.require(
        all(has_weights) or not any(has_weights),
        "weights of the auxiliary input must be given for both directions or for none",
    )
    return (x, other) if all(has_weights) else (other, None)


def layout_of(node: Node, x: Operand) -> recurrent.SequenceLayout:
    """How the sequence `x` lies in memory."""
    rank(node, "input", x, 3)
    time_major = bool(node.options.time_major)
    batch, steps = x.shape[:2] if not time_major else x.shape[1::-1]
    return recurrent.SequenceLayout(batch, steps, time_major)


def in_directions(
    layout: recurrent.SequenceLayout, units: int, merged: bool
) -> tuple[recurrent.SequenceLayout, recurrent.SequenceLayout]:
    """`layout` forwards, and backwards beside `units` columns of it when `merged`."""
    column = units if merged else 0
    backward = recurrent.SequenceLayout(layout.batch, layout.steps, layout.time_major, True, column)
    return layout, backward


def state_of(node: Node, i: int, batch: int, n: int) -> Buffer:
    """Variable `i`, which holds `n` elements for each of the batch."""
    state = node.optional(i)
    if state is None:
        node.fail(f"input {i}, a state, is missing")
    node.require(
        node.scope is None or state.storage.kind == "bound" or _is_variable(node, i),
        f"input {i} '{state.name}' must be a variable tensor",
    )
    node.require(
        state.size == batch * n,
        f"state '{state.name}' must have shape ({batch}, {n}), got {state.shape}",
    )
    return state.reshape((batch, n))


def _is_variable(node: Node, i: int) -> bool:
    """Whether the file says of input `i` that it keeps its value."""
    if node.planner is None:
        return False
    spec = node.planner.spec
    return spec.tensors[spec.operators[node.index].inputs[i]].is_variable


def initialized(program: Program, state: Buffer) -> Buffer:
    """The memory in which a run updates `state`: the variable's, which keeps it for the next run.

    What an operator computes is copied in every run, so that each begins with it, as in LiteRT,
    where that operator writes into the variable.
    """
    if state.storage.kind == "bound":
        return state
    memory = arena(state.shape, state.dtype)
    move(program, state, memory)
    return memory


def observation_of(node: Node) -> Observation | None:
    """What measures the values of the model that `node` is of; None when nothing does."""
    return None if node.scope is None else node.scope.observation


def weights_of(node: Node, operands: Sequence[Operand]) -> recurrent.Weights:
    """The Weights of operands [n, k], all float32 or all quantized to 8 bits or less."""
    quantized = {operand.dtype.name in _HYBRID for operand in operands}
    for operand in operands:
        rank(node, f"'{operand.name}'", operand, 2)
        node.require(
            operand.dtype == np.float32 or operand.dtype.name in _HYBRID,
            f"{tf_name(operand.dtype)} is not supported yet",
        )
    node.require(len(quantized) == 1, "weights must be all float32 or all 8-bit integers")
    if quantized == {False}:
        return recurrent.Weights(tuple(operands))
    scales: list[float] = []
    for operand in operands:
        matrix_scales = scales_of(node, operand)
        node.require(
            matrix_scales.size == 1,
            f"'{operand.name}' must have one scale, got {matrix_scales.size}",
        )
        scales.append(float(matrix_scales[0]))
    return recurrent.Weights(tuple(bytes_of(node, x) for x in operands), tuple(scales))


def require_float32(node: Node, operand: Operand) -> Operand:
    """`operand`, which must be of float32."""
    node.require(
        operand.dtype == np.float32,
        f"'{operand.name}' must be float32, got {tf_name(operand.dtype)}",
    )
    return operand


def _cell(
    node: Node,
    inputs: Sequence[tuple[Operand, int]],
    positions: tuple[int, int, int],
    layout: recurrent.SequenceLayout,
    out: Operand | None = None,
) -> Emit:
    """`emit` of one direction: `positions` are of recurrent weights, bias and state."""
    state_weights, bias = (required_input(node, i) for i in positions[:2])
    n = state_weights.shape[0]
    rank(node, "recurrent weights", state_weights, 2)
    node.require(
        state_weights.shape[1] == n,
        f"recurrent weights must be square, got shape {state_weights.shape}",
    )
    pairs: list[tuple[Buffer, recurrent.Weights]] = []
    for x, position in inputs:
        weights = required_input(node, position)
        require_float32_input(node, x)
        node.require(
            weights.ndim == 2 and weights.shape == (n, x.shape[-1]),
            f"weights must have shape ({n}, {x.shape[-1]}), got {weights.shape}",
        )
        pairs.append((recurrent.rows_of(x), weights_of(node, [weights])))
    node.require(bias.size == n, f"bias must have {n} elements, got shape {bias.shape}")
    hidden = state_of(node, positions[2], layout.batch, n)
    before = inputs[0][0].shape[:-1]
    if out is None:
        out = node.result((*before, n), np.float32)
    recurrent_weights = weights_of(node, [state_weights])
    bias_row = require_float32(node, bias).ravel()

    def emit(program: Program) -> None:
        recurrent.rnn(
            program,
            pairs,
            recurrent_weights,
            bias_row,
            initialized(program, hidden),
            recurrent.rows_of(out),
            layout,
            activation=int(node.options.fused_activation_function),
            asymmetric=bool(node.options.asymmetric_quantize_inputs),
        )

    return emit


def require_float32_input(node: Node, x: Operand) -> None:
    """Refuses inputs of another dtype than float32."""
    node.require(x.dtype == np.float32, f"{tf_name(x.dtype)} is not supported yet")


def _emit_all(emits: Sequence[Emit]) -> Emit:
    def emit(program: Program) -> None:
        for emit_direction in emits:
            emit_direction(program)

    return emit
