"""UNIDIRECTIONAL_SEQUENCE_LSTM and LSTM over quantized int8, with 16 bits for the cell.

The scales stand at the tensors and, for values inside the cell, at five intermediate tensors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ....engine.families import recurrent, recurrent_i8
from ....engine.plan.buffer import constant
from ....schema.dtypes import tf_name
from ...checks import required_input
from ..quantized import quantization_of
from .lstm_int8 import INTERMEDIATES
from .rnn import initialized, state_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from ....engine.plan.buffer import Buffer
    from ....engine.plan.program import Program
    from ...plan.node import Emit, Node, Operand, TensorDeclaration
    from .lstm import Parts


GATE_SCALE = np.float32(2.0**-12)
"""Of the gates' sums, where no layer norm says another."""

_INTERMEDIATES = 5


def lstm_quantized(
    node: Node,
    x: Operand,
    parts: Parts,
    positions: tuple[int, int],
    layout: recurrent.SequenceLayout,
    sizes: tuple[int, int],
) -> Emit:
    """`emit` of one direction; `positions` are of the states, `sizes` cells and results."""
    n, n_out = sizes
    node.require(
        len(node.intermediates) == _INTERMEDIATES,
        f"int8 needs {_INTERMEDIATES} intermediate tensors with scales"
        f"{f' or {INTERMEDIATES}' * (node.kind == 'LSTM')}, got {len(node.intermediates)}",
    )
    _check_types(node, parts)
    hidden = state_of(node, positions[0], layout.batch, n_out)
    memory = state_of(node, positions[1], layout.batch, n)
    initial_states = [required_input(node, i) for i in positions]
    for state, dtype in zip(initial_states, (np.int8, np.int16), strict=True):
        node.require(
            state.dtype == dtype,
            f"'{state.name}' must be {np.dtype(dtype)}, got {tf_name(state.dtype)}",
        )
    cell = _cell(node, x, parts, *initial_states)
    out = node.result((*x.shape[:-1], n_out), np.int8)
    weights = recurrent.Weights(tuple(parts.gates(parts.weights)))

    def emit(program: Program) -> None:
        recurrent_i8.lstm(
            program,
            recurrent.rows_of(x),
            weights,
            cell(program),
            (initialized(program, hidden), initialized(program, memory)),
            recurrent.rows_of(out),
            layout,
        )

    return emit


def _check_types(node: Node, parts: Parts) -> None:
    """Refuses inputs that are not of the types the integer cell takes."""
    int8_weights = [*parts.weights, *parts.recurrent, parts.projection]
    rows: list[tuple[list[Operand | None], type[np.signedinteger]]] = [
        (int8_weights, np.int8),
        ([*parts.peepholes, *parts.norms], np.int16),
        ([*parts.biases, parts.projection_bias], np.int32),
    ]
    for operands, dtype in rows:
        for part in operands:
            node.require(
                part is None or part.dtype == dtype,
                f"'{part and part.name}' must be {np.dtype(dtype)}, "
                f"got {part and tf_name(part.dtype)}",
            )


def _scale(node: Node, part: Operand | TensorDeclaration | None) -> np.float32:
    """The one scale of an input, 1 of an omitted one."""
    if part is None:
        return np.float32(1)
    quantization = quantization_of(node, part, f"'{part.name}'")
    node.require(
        not quantization.is_per_channel and quantization.scale > 0,
        f"'{part.name}' must have one positive scale, got {quantization.scales.tolist()}",
    )
    return np.float32(quantization.scale)


def _cell(
    node: Node, x: Operand, parts: Parts, hidden: Operand, memory: Operand
) -> Callable[[Program], recurrent_i8.LSTM]:
    """A function that adds to a program what makes an engine's LSTM of the parts."""
    inner = [node.intermediates[i] for i in (0, 1, 3, 2)]
    if any(parts.norms):
        gates = [
            _scale(node, tensor) if norm is not None else np.float32(1)
            for tensor, norm in zip(inner, parts.norms, strict=True)
        ]
    else:
        gates = [GATE_SCALE] * 4
    hidden_params = quantization_of(node, node.intermediates[4], "intermediate tensor 4")
    hidden_scale, exponent = np.float32(hidden_params.scale), _exponent(node, memory)
    x_scale, state_scale = _scale(node, x), _scale(node, hidden)

    def scales(operands: Sequence[Operand | None], factor: np.float32) -> tuple[np.float32, ...]:
        return tuple(
            np.float32(_scale(node, part) * factor / gate)
            for part, gate in zip(operands, gates, strict=True)
        )

    cell_scale = 2.0**exponent
    peepholes = tuple(
        np.float32(np.float64(cell_scale) * _scale(node, part) / gate)
        for part, gate in zip(parts.peepholes, gates[:3], strict=True)
    )
    projected = np.float32(_scale(node, parts.projection) * hidden_scale / state_scale)
    zero_points = [
        quantization_of(node, y, y.name).zero_point for y in (x, node.intermediates[4], hidden)
    ]
    if parts.projection is not None:  # TFLite takes its zero point off, and adds it again
        zero_points[1] *= -1
    fields = (
        scales(parts.weights, x_scale),
        scales(parts.recurrent, state_scale),
        peepholes,
        tuple(_scale(node, norm) for norm in parts.norms),
        np.float32(np.float64(2.0**-15) / hidden_scale * 2.0**-15),
        projected,
        tuple(zero_points),
        exponent,
        _clips(node, memory),
    )
    biases = tuple(parts.gates(parts.biases))

    def build(program: Program) -> recurrent_i8.LSTM:
        n = biases[0].shape[0]
        peeps = _stacked(program, parts.peepholes, n, np.int16) if any(parts.peepholes) else None
        norms = None
        if any(parts.norms):
            norms = (
                _stacked(program, parts.norms, n, np.int16),
                _stacked(program, parts.biases, n, np.int32),
            )
        return recurrent_i8.LSTM(
            () if norms else biases,
            recurrent.Weights(tuple(parts.gates(parts.recurrent))),
            peeps,
            norms,
            parts.projection,
            parts.projection_bias,
            *fields,
        )

    return build


def _exponent(node: Node, memory: Operand) -> int:
    """The power of two that is the scale of the cell state."""
    scale = _scale(node, memory)
    fraction, exponent = np.frexp(scale)
    node.require(
        abs(fraction - 0.5) < 1e-3,
        f"the scale of the cell state must be a power of 2, got {scale}",
    )
    exponent = int(exponent) - 1
    node.require(
        -30 <= exponent <= -9, f"the scale of the cell state must be 2**-30 to 2**-9, got {scale}"
    )
    return exponent


def _clips(node: Node, memory: Operand) -> tuple[int, int]:
    """Quantized limits of cell and projection."""
    options = node.options
    limits = (
        (options.cell_clip, _scale(node, memory), 1 << 15),
        (
            options.proj_clip,
            np.float32(quantization_of(node, node.outputs[0], "the output").scale),
            1 << 7,
        ),
    )
    cell, projection = (_clip(*limit) for limit in limits)
    return cell, projection


def _clip(clip: float, scale: np.float32, reach: int) -> int:
    steps = float(np.float32(clip) / scale) if clip > 0 else 0.0
    return int(min(max(steps, -reach), reach - 1))


def _stacked(
    program: Program, parts: Sequence[Buffer | None], n: int, dtype: npt.DTypeLike
) -> Buffer:
    """Rows of `n` elements as a matrix, an omitted one as zeros."""
    rows = [constant(np.zeros((1, n), dtype)) if x is None else x.reshape((1, n)) for x in parts]
    return recurrent.concatenate_rows(program, rows, len(rows), dtype)
