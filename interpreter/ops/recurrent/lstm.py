"""UNIDIRECTIONAL_SEQUENCE_LSTM, BIDIRECTIONAL_SEQUENCE_LSTM and LSTM."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ....engine.families import recurrent
from ....engine.families.layout import fill, move
from ....engine.plan.buffer import arena, constant
from ....engine.plan.view import View
from ...checks import rank, required
from ...plan.node import Node, Operand
from ...registry import op
from .lstm_basic import basic_lstm
from .lstm_int8 import INTERMEDIATES, lstm_int8
from .lstm_quantized import lstm_quantized
from .rnn import (
    auxiliary,
    dequantized,
    in_directions,
    initialized,
    layout_of,
    observation_of,
    require_float32,
    require_float32_input,
    state_of,
    weights_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ....engine.plan.buffer import Buffer
    from ....engine.plan.program import Program
    from ...plan.node import Emit, Prepared


TRACED_PARTS = (0, 1, 3, 2, 4)
"""Where the intermediate tensors of the parts of a trace stand."""
ORDER = (0, 1, 3, 2)
"""Gates as the kernels have them, input, forget, output, new, among those of the file."""


@dataclass(frozen=True)
class OperandOffsets:
    """Where the inputs of a direction stand.

    Attributes:
        first: the position before the weights of its input gate.
        states: of hidden and cell state.
        norms: of the first coefficients, or None.
        auxiliary: of the weights of the auxiliary input, or None.
    """

    first: int
    states: tuple[int, int]
    norms: int | None = None
    auxiliary: int | None = None

    def four(self, node: Node, start: int | None) -> list[Operand | None]:
        """Four inputs from `start` on, in the kernels' order."""
        if start is None:
            return [None] * 4
        return [node.optional(start + i) for i in ORDER]


ONE = OperandOffsets(0, (18, 19), norms=20)
FORWARD, BACKWARD = (
    OperandOffsets(0, (35, 36), auxiliary=40),
    OperandOffsets(17, (37, 38), auxiliary=44),
)


@dataclass(frozen=True)
class Parts:
    """The inputs of one direction, by gate in the kernels' order; None for what is omitted."""

    weights: list[Operand | None]
    recurrent: list[Operand | None]
    peepholes: list[Operand | None]
    biases: list[Operand | None]
    projection: Operand | None
    projection_bias: Operand | None
    norms: list[Operand | None]
    auxiliary: list[Operand | None]

    @property
    def coupled(self) -> bool:
        """Whether the input gate is one less the forget gate."""
        return self.weights[0] is None

    def gates(self, operands: list[Operand | None]) -> list[Operand]:
        """The operands of the gates there are."""
        return [part for part in operands if part is not None]


@op("UNIDIRECTIONAL_SEQUENCE_LSTM")
def unidirectional_sequence_lstm(node: Node) -> Prepared:
    """LSTM at each step of a sequence [batch, steps, k], or the other way when `time_major`."""
    x, *_ = required(node, 1)
    return _one_direction(node, x, layout_of(node, x))


@op("LSTM")
def lstm(node: Node) -> Prepared:
    """One step of long short-term memory, of [batch, k]."""
    if node.options.kernel_type:
        return basic_lstm(node)
    x, *_ = required(node, 1)
    rank(node, "input", x, 2)
    return _one_direction(node, x, recurrent.SequenceLayout(x.shape[0], 1, True))


@op("BIDIRECTIONAL_SEQUENCE_LSTM")
def bidirectional_sequence_lstm(node: Node) -> Emit:
    """A sequence forwards and backwards; the results lie side by side with `merge_outputs`.

    An auxiliary input with its own weights is added in both directions; without, it is what the
    second one takes.
    """
    x, *_ = required(node, 1)
    backward_input, auxiliary_input = auxiliary(node, x, 39, 41, 45)
    layout = layout_of(node, x)
    first, second = _parts(node, FORWARD), _parts(node, BACKWARD)
    units = [_sizes(node, parts)[1] for parts in (first, second)]
    merged = bool(node.options.merge_outputs)
    layouts = in_directions(layout, units[0], merged)
    out = node.result((*x.shape[:2], sum(units)), np.float32) if merged else None
    more = [] if auxiliary_input is None else [auxiliary_input]
    forward = _real(node, [x, *more], first, FORWARD, layouts[0], out)
    backward = _real(node, [backward_input, *more], second, BACKWARD, layouts[1], out)

    def emit(program: Program) -> None:
        forward(program)
        backward(program)

    return emit


def _one_direction(node: Node, x: Operand, layout: recurrent.SequenceLayout) -> Emit:
    parts = _parts(node, ONE)
    if x.dtype == np.int8 and node.kind == "LSTM" and len(node.intermediates) == INTERMEDIATES:
        return lstm_int8(node, x, parts, ONE.states, layout, _sizes(node, parts))
    if x.dtype == np.int8:
        return lstm_quantized(node, x, parts, ONE.states, layout, _sizes(node, parts))
    return _real(node, [x], parts, ONE, layout)


def _parts(node: Node, offsets: OperandOffsets) -> Parts:
    """The inputs of one direction; refuses a set of them that makes no cell."""
    first = offsets.first
    peepholes = [node.optional(first + i) for i in (9, 10, 11)]
    parts = Parts(
        offsets.four(node, first + 1),
        offsets.four(node, first + 5),
        peepholes,
        offsets.four(node, first + 12),
        node.optional(first + 16),
        node.optional(first + 17),
        offsets.four(node, offsets.norms),
        offsets.four(node, offsets.auxiliary),
    )
    expected = [not parts.coupled, True, True, True]
    for name, operands in (
        ("input weights", parts.weights),
        ("recurrent weights", parts.recurrent),
        ("biases", parts.biases),
    ):
        node.require(
            [x is not None for x in operands] == expected,
            f"{name} must be given for all gates, or for all but the input gate",
        )
    if any(peepholes):
        node.require(
            [x is not None for x in peepholes] == [not parts.coupled, True, True],
            "peephole weights must be given for all gates or for none",
        )
    if any(parts.norms):
        node.require(
            [x is not None for x in parts.norms] == expected,
            "layer norm coefficients must be given for all gates or for none",
        )
    node.require(
        parts.projection is not None or parts.projection_bias is None,
        "a projection bias must come with projection weights",
    )
    for name in ("cell_clip", "proj_clip"):
        limit = getattr(node.options, name)
        node.require(limit >= 0, f"{name} must be 0 or more, got {limit}")
    return parts


def _sizes(node: Node, parts: Parts) -> tuple[int, int]:
    """(cells, elements of a result); refuses parts of other sizes."""
    forget = parts.weights[1]
    n, depth = forget.shape if forget is not None and forget.ndim == 2 else (0, 0)
    node.require(n > 0, "input weights must have 2 dimensions and at least one row")
    n_out = n if parts.projection is None else parts.projection.shape[0]
    square = (n, n_out)
    if getattr(node.options, "diagonal_recurrent_tensors", False):
        square = (n,)
    expected_shapes = [(part, (n, depth)) for part in parts.gates(parts.weights)]
    expected_shapes += [(part, square) for part in parts.gates(parts.recurrent)]
    more = (*parts.peepholes, *parts.biases, *parts.norms)
    expected_shapes += [(part, (n,)) for part in more if part is not None]
    if parts.projection is not None:
        expected_shapes.append((parts.projection, (n_out, n)))
    if parts.projection_bias is not None:
        expected_shapes.append((parts.projection_bias, (n_out,)))
    for part, shape in expected_shapes:
        node.require(
            part.shape == shape, f"'{part.name}' must have shape {shape}, got {part.shape}"
        )
    return n, n_out


def _real(
    node: Node,
    inputs: Sequence[Operand],
    parts: Parts,
    offsets: OperandOffsets,
    layout: recurrent.SequenceLayout,
    out: Operand | None = None,
) -> Emit:
    """`emit` of one direction over float32."""
    n, n_out = _sizes(node, parts)
    pairs: list[tuple[Buffer, recurrent.Weights]] = []
    for x, gate_weights in zip(inputs, (parts.weights, parts.auxiliary), strict=False):
        require_float32_input(node, x)
        weights = weights_of(node, parts.gates(gate_weights))
        for part in weights.rows:
            node.require(
                part.shape == (n, x.shape[-1]),
                f"input weights must have shape ({n}, {x.shape[-1]}), got {part.shape}",
            )
        pairs.append((recurrent.rows_of(x), weights))
    states = (
        state_of(node, offsets.states[0], layout.batch, n_out),
        state_of(node, offsets.states[1], layout.batch, n),
    )
    if out is None:
        out = node.result((*inputs[0].shape[:-1], n_out), np.float32)
    build = _cell(node, parts, n, offsets.first)

    def emit(program: Program) -> None:
        memory = initialized(program, states[0]), initialized(program, states[1])
        rows, observation = recurrent.rows_of(out), observation_of(node)
        trace = None
        if observation is not None and node.intermediates:
            trace = arena((pairs[0][0].shape[0], recurrent.N_TRACED * n), np.float32)
        recurrent.lstm(program, pairs, build(program), memory, rows, layout, trace)
        if observation is not None:
            outputs = dict(zip(offsets.states, memory, strict=True))
            observation.inner(program, node, outputs, _traced(program, node, parts, trace))

    return emit


def _traced(program: Program, node: Node, parts: Parts, trace: Buffer | None) -> dict[int, Buffer]:
    """The values that intermediate tensors stand for, of a trace."""
    if trace is None:
        return {}
    traced = [part for part, norm in enumerate(parts.norms) if norm is not None]
    if parts.projection is not None:
        traced.append(recurrent.N_TRACED - 1)
    values: dict[int, Buffer] = {}
    for part in traced:
        n = trace.shape[1] // recurrent.N_TRACED
        values[TRACED_PARTS[part]] = x = arena((trace.shape[0], n), np.float32)
        move(program, View.of(trace).part(1, part * n, n), View.of(x))
    return values


def _cell(node: Node, parts: Parts, n: int, first: int) -> Callable[[Program], recurrent.LSTM]:
    """A function that adds to a program what makes an engine's LSTM of the parts."""
    options = node.options
    diagonal = bool(getattr(options, "diagonal_recurrent_tensors", False))
    gate_weights = parts.gates(parts.recurrent)
    if diagonal:
        weights = recurrent.Weights(tuple(require_float32(node, part) for part in gate_weights))
    else:
        weights = weights_of(node, gate_weights)
    biases = tuple(require_float32(node, part) for part in parts.gates(parts.biases))
    peepholes = [dequantized(node, first + i) for i in (9, 10, 11)]
    norms = [None if part is None else require_float32(node, part) for part in parts.norms]
    projection = None if parts.projection is None else weights_of(node, [parts.projection])
    bias = parts.projection_bias
    bias = None if bias is None else require_float32(node, bias)
    clips = float(options.cell_clip), float(options.proj_clip)

    def build(program: Program) -> recurrent.LSTM:
        with_norms = any(norms)
        return recurrent.LSTM(
            _diagonals(program, weights.rows, n) if diagonal else weights,
            None if with_norms else biases,
            _stacked(program, peepholes, n) if any(peepholes) else None,
            _norms(program, norms, biases, n) if with_norms else None,
            projection,
            bias,
            int(options.fused_activation_function),
            clips,
            bool(getattr(options, "asymmetric_quantize_inputs", False)),
        )

    return build


def _stacked(program: Program, parts: Sequence[Buffer | None], n: int) -> Buffer:
    """Rows of `n` elements as a matrix, an omitted one as zeros."""
    rows = [
        constant(np.zeros((1, n), np.float32)) if x is None else x.reshape((1, n)) for x in parts
    ]
    return recurrent.concatenate_rows(program, rows, len(rows), np.float32)


def _norms(
    program: Program, norms: Sequence[Buffer | None], biases: Sequence[Buffer], n: int
) -> Buffer:
    """Coefficients and biases of each gate: [4, 2, n]."""
    all_biases = [*[None] * (len(norms) - len(biases)), *biases]
    rows = [row for pair in zip(norms, all_biases, strict=True) for row in pair]
    return _stacked(program, rows, n).reshape((len(norms), 2, n))


def _diagonals(program: Program, diagonals: Sequence[Buffer], n: int) -> recurrent.Weights:
    """Weights whose matrices have `diagonals` and are 0 elsewhere."""
    matrices: list[Buffer] = []
    for diagonal in diagonals:
        matrix = arena((n, n), np.float32)
        fill(program, constant(np.zeros(1, np.float32)), matrix)
        move(program, diagonal, View(matrix, (n,), (n + 1,)))
        matrices.append(matrix)
    return recurrent.Weights(tuple(matrices))
