"""UNIDIRECTIONAL_SEQUENCE_LSTM, BIDIRECTIONAL_SEQUENCE_LSTM and LSTM."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...engine.families import recurrent
from ...engine.families.layout import fill, move
from ...engine.plan.buffer import arena, constant
from ...engine.plan.view import View
from ..checks import rank, required
from ..node import Node, Operand
from ..registry import op
from .lstm_basic import basic_lstm
from .lstm_quantized import lstm_quantized
from .recurrent import (
    auxiliary,
    dequantized,
    in_directions,
    reals,
    refuse_stored,
    state_of,
    walk_of,
    weights_of,
)

ORDER = (0, 1, 3, 2)
"""Gates as the kernels have them, input, forget, output, new, among those of the file."""


@dataclass(frozen=True)
class Places:
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


ONE = Places(0, (18, 19), norms=20)
FORWARD, BACKWARD = Places(0, (35, 36), auxiliary=40), Places(17, (37, 38), auxiliary=44)


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

    def gates(self, given: list[Operand | None]) -> list[Operand]:
        """What is given for the gates there are."""
        return [part for part in given if part is not None]


@op("UNIDIRECTIONAL_SEQUENCE_LSTM")
def unidirectional_sequence_lstm(node):
    """LSTM at each step of a sequence [batch, steps, k], or the other way when `time_major`."""
    x, *_ = required(node, 1)
    return _one_direction(node, x, walk_of(node, x))


@op("LSTM")
def lstm(node):
    """One step of long short-term memory, of [batch, k]."""
    if node.options.kernel_type:
        return basic_lstm(node)
    x, *_ = required(node, 1)
    rank(node, "input", x, 2)
    return _one_direction(node, x, recurrent.SequenceLayout(x.shape[0], 1, True))


@op("BIDIRECTIONAL_SEQUENCE_LSTM")
def bidirectional_sequence_lstm(node):
    """A sequence forwards and backwards; the results lie side by side with `merge_outputs`.

    An auxiliary input with weights of its own is added in both directions; without, it is what the
    second one takes.
    """
    x, *_ = required(node, 1)
    given, other = auxiliary(node, x, 39, 41, 45)
    walk = walk_of(node, x)
    first, second = _parts(node, FORWARD), _parts(node, BACKWARD)
    units = [_sizes(node, parts)[1] for parts in (first, second)]
    merged = bool(node.options.merge_outputs)
    walks = in_directions(walk, units[0], merged)
    out = node.result((*x.shape[:2], sum(units)), np.float32) if merged else None
    more = [] if other is None else [other]
    forward = _real(node, [x, *more], first, FORWARD, walks[0], out)
    backward = _real(node, [given, *more], second, BACKWARD, walks[1], out)

    def emit(program):
        forward(program)
        backward(program)

    return emit


def _one_direction(node, x, walk):
    parts = _parts(node, ONE)
    if x.dtype == np.int8:
        return lstm_quantized(node, x, parts, ONE.states, walk, _sizes(node, parts))
    return _real(node, [x], parts, ONE, walk)


def _parts(node, places):
    """The inputs of one direction; refuses a set of them that makes no cell."""
    first = places.first
    peepholes = [node.optional(first + i) for i in (9, 10, 11)]
    parts = Parts(
        places.four(node, first + 1),
        places.four(node, first + 5),
        peepholes,
        places.four(node, first + 12),
        node.optional(first + 16),
        node.optional(first + 17),
        places.four(node, places.norms),
        places.four(node, places.auxiliary),
    )
    expected = [not parts.coupled, True, True, True]
    for name, given in (
        ("input weights", parts.weights),
        ("recurrent weights", parts.recurrent),
        ("biases", parts.biases),
    ):
        node.require(
            [x is not None for x in given] == expected,
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
    return parts


def _sizes(node, parts):
    """(cells, elements of a result); refuses parts of other sizes."""
    n, depth = parts.weights[1].shape if parts.weights[1].ndim == 2 else (0, 0)
    node.require(n > 0, "input weights must have 2 dimensions and at least one row")
    n_out = n if parts.projection is None else parts.projection.shape[0]
    square = (n, n_out)
    if getattr(node.options, "diagonal_recurrent_tensors", False):
        square = (n,)
    wanted = [(part, (n, depth)) for part in parts.gates(parts.weights)]
    wanted += [(part, square) for part in parts.gates(parts.recurrent)]
    more = (*parts.peepholes, *parts.biases, *parts.norms)
    wanted += [(part, (n,)) for part in more if part is not None]
    if parts.projection is not None:
        wanted.append((parts.projection, (n_out, n)))
    if parts.projection_bias is not None:
        wanted.append((parts.projection_bias, (n_out,)))
    for part, shape in wanted:
        node.require(
            part.shape == shape, f"'{part.name}' must have shape {shape}, got {part.shape}"
        )
    return n, n_out


def _real(node, inputs, parts, places, walk, out=None):
    """`emit` of one direction over reals."""
    n, n_out = _sizes(node, parts)
    pairs = []
    for x, given in zip(inputs, (parts.weights, parts.auxiliary), strict=False):
        refuse_stored(node, x)
        weights = weights_of(node, parts.gates(given))
        for part in weights.rows:
            node.require(
                part.shape == (n, x.shape[-1]),
                f"input weights must have shape ({n}, {x.shape[-1]}), got {part.shape}",
            )
        pairs.append((recurrent.rows_of(x), weights))
    states = (
        state_of(node, places.states[0], walk.batch, n_out),
        state_of(node, places.states[1], walk.batch, n),
    )
    if out is None:
        out = node.result((*inputs[0].shape[:-1], n_out), np.float32)
    build = _cell(node, parts, n, places.first)

    def emit(program):
        recurrent.lstm(program, pairs, build(program), states, recurrent.rows_of(out), walk)

    return emit


def _cell(node, parts, n, first):
    """A function that adds to a program what makes an engine's LSTM of the parts."""
    options = node.options
    diagonal = bool(getattr(options, "diagonal_recurrent_tensors", False))
    given = parts.gates(parts.recurrent)
    if diagonal:
        weights = recurrent.Weights(tuple(reals(node, part) for part in given))
    else:
        weights = weights_of(node, given)
    biases = tuple(reals(node, part) for part in parts.gates(parts.biases))
    peepholes = [dequantized(node, first + i) for i in (9, 10, 11)]
    norms = [None if part is None else reals(node, part) for part in parts.norms]
    projection = None if parts.projection is None else weights_of(node, [parts.projection])
    bias = parts.projection_bias
    bias = None if bias is None else reals(node, bias)
    clips = max(float(options.cell_clip), 0.0), max(float(options.proj_clip), 0.0)

    def build(program):
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


def _stacked(program, parts, n):
    """Rows of `n` elements as a matrix, an omitted one as zeros."""
    rows = [
        constant(np.zeros((1, n), np.float32)) if x is None else x.reshape((1, n)) for x in parts
    ]
    return recurrent.concatenate_rows(program, rows, len(rows), np.float32)


def _norms(program, norms, biases, n):
    """Coefficients and biases of each gate: [4, 2, n]."""
    biases = [None] * (len(norms) - len(biases)) + list(biases)
    rows = [row for pair in zip(norms, biases, strict=True) for row in pair]
    return _stacked(program, rows, n).reshape((len(norms), 2, n))


def _diagonals(program, diagonals, n):
    """Weights whose matrices have `diagonals` and are 0 elsewhere."""
    made = []
    for diagonal in diagonals:
        matrix = arena((n, n), np.float32)
        fill(program, constant(np.zeros(1, np.float32)), matrix)
        move(program, diagonal, View(matrix, (n,), (n + 1,)))
        made.append(matrix)
    return recurrent.Weights(tuple(made))
