"""Recurrent networks of int8 and int16: one instruction for a whole sequence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from ..plan.buffer import Buffer, arena, constant
from ..tiling import PANEL
from . import quantization, quantized_gemm
from .multipliers import quantize_multiplier
from .recurrent import SequenceLayout, Weights, concatenate_rows, padded

if TYPE_CHECKING:
    import numpy.typing as npt

    from ..plan.program import Program

_INT16_LIMITS = (-(1 << 15), (1 << 15) - 1)


@dataclass(frozen=True, eq=False)
class LSTM:
    """Weights and scales of a quantized LSTM cell; gates in the order input, forget, output, new.

    Attributes:
        biases: int32, one for each gate; added by the norms where there are some.
        recurrent: int8 weights of the state, a part for each gate; no input gate when it is
            coupled.
        peepholes: [3, n] int16 of input, forget and output, or None.
        norms: [4, n] int16 coefficients and [4, n] int32 biases, or None.
        projection: int8 [n_out, n], or None.
        projection_bias: int32, or None.
        input_scales, recurrent_scales: to those of the gates, 4 each.
        peephole_scales: to those of the gates, 3.
        norm_scales: of the coefficients, 4.
        hidden_scale, projection_scale: of the products to those of hidden value and result.
        zero_points: of input, hidden value and result.
        cell_exponent: the scale of the cell is 2 ** cell_exponent.
        clips: quantized limits of cell and projection; 0 for none.
    """

    biases: tuple[Buffer, ...]
    recurrent: Weights
    peepholes: Buffer | None
    norms: tuple[Buffer, Buffer] | None
    projection: Buffer | None
    projection_bias: Buffer | None
    input_scales: tuple[float | np.floating, ...]
    recurrent_scales: tuple[float | np.floating, ...]
    peephole_scales: tuple[float | np.floating, ...]
    norm_scales: tuple[float | np.floating, ...]
    hidden_scale: float | np.floating
    projection_scale: float | np.floating
    zero_points: tuple[int, ...]
    cell_exponent: int
    clips: tuple[int, int]


def lstm(
    program: Program,
    x: Buffer,
    weights: Weights,
    cell: LSTM,
    states: tuple[Buffer, Buffer],
    out: Buffer,
    layout: SequenceLayout,
) -> None:
    """A sequence of LSTM cells.

    Args:
        program: where the instructions go.
        x: rows [*, k] int8.
        weights: Weights of the input, a part for each gate.
        cell: an LSTM.
        states: hidden [batch, n_out] int8 and cell [batch, n] int16, updated.
        out: [*, n_out] int8.
        layout: how the sequence lies in memory.
    """
    if not out.size:
        return
    sums = _gates(program, x, weights, cell)
    hidden, memory = states
    n, n_out = memory.shape[1], hidden.shape[1]
    panels, n_projected = _pack(program, cell.recurrent.rows), 0
    projection, bias = constant(np.zeros((0, 1, PANEL, 2), np.int8)), _zeros(1, np.int32)
    if cell.projection is not None:
        projection = _pack(program, (cell.projection,))
        n_projected = padded(n_out)
        bias = _zeros(n_out, np.int32) if cell.projection_bias is None else cell.projection_bias
    norms = cell.norms or (_zeros((0, n), np.int16), _zeros((0, n), np.int32))
    widest = max(n, n_out)
    scratch = (
        arena((layout.batch, n), np.int16),
        arena((layout.batch, n), np.int8),
        arena((layout.batch, widest + 1), np.int16),
        arena((layout.batch, max(sums.shape[1], n_projected)), np.int32),
    )
    for part, (gate_rows, out_rows) in layout.parts(panels.size + projection.size, sums, out):
        program.call(
            "recurrent_i8.lstm",
            gate_rows,
            panels,
            _terms(cell.recurrent_scales),
            cell.peepholes or _zeros((0, n), np.int16),
            _terms(cell.peephole_scales),
            *norms,
            _norm_terms(cell.norm_scales),
            projection,
            bias,
            hidden,
            memory,
            out_rows,
            *scratch,
            _numbers(cell),
            split=layout.batch,
            coupled=int(len(cell.recurrent.rows) == 3),
            batch_as_row=int(layout.time_major),
            part=part,
        )


def svdf(
    program: Program,
    x: Buffer,
    features: Buffer,
    times: Buffer,
    bias: Buffer | None,
    state: Buffer,
    out: Buffer,
    *,
    scales: tuple[float, float],
    zero_points: tuple[int, int],
) -> None:
    """One step of filters over time, as in recurrent_f32.py.

    `scales` are of the features and of the results; `zero_points` of x and out.
    """
    if not out.size:
        return
    filters = times.shape[0]
    sums = arena((x.shape[0], filters), np.int16)
    scheme = quantization.Quantized(
        np.full(filters, scales[0]), (zero_points[0], 0, 0), _INT16_LIMITS
    )
    quantized_gemm.matmul(program, x, features, None, sums, transpose_b=True, scheme=scheme)
    multiplier, shift = quantize_multiplier(scales[1])
    program.call(
        "recurrent_i8.svdf",
        sums,
        times,
        _zeros(out.shape[1], np.int32) if bias is None else bias,
        state,
        out,
        split=x.shape[0],
        multiplier=multiplier,
        shift=shift,
        zero_point=zero_points[1],
    )


def _gates(program: Program, x: Buffer, weights: Weights, cell: LSTM) -> Buffer:
    """What the input gives to the gates of all steps, int16."""
    counts = [part.shape[0] for part in weights.rows]
    width = padded(sum(counts))
    scales = cell.input_scales[-len(counts) :]
    columns = np.repeat(np.asarray(scales, np.float64), counts)
    columns = np.concatenate([columns, np.ones(width - columns.size)])
    bias = None if cell.norms else concatenate_rows(program, cell.biases, width, np.int32)
    matrix = concatenate_rows(program, weights.rows, width, np.int8)
    out = arena((x.shape[0], width), np.int16)
    scheme = quantization.Quantized(columns, (cell.zero_points[0], 0, 0), _INT16_LIMITS)
    quantized_gemm.matmul(program, x, matrix, bias, out, transpose_b=True, scheme=scheme)
    return out


def _pack(program: Program, parts: Sequence[Buffer]) -> Buffer:
    """Matrices above one another as kernels/float32/_matvec.py reads them."""
    n, depth = sum(part.shape[0] for part in parts), parts[0].shape[1]
    matrix = concatenate_rows(program, parts, n, np.int8)
    panels = arena((ceil(n / PANEL), ceil(depth / 2), PANEL, 2), np.int8)
    program.call("recurrent_f32.pack", matrix, panels, split=panels.shape[0])
    return panels


def _terms(scales: Sequence[float | np.floating]) -> Buffer:
    return constant(np.array([quantize_multiplier(scale) for scale in scales], np.int64))


def _norm_terms(scales: Sequence[float | np.floating]) -> Buffer:
    """Multiplier, shift and the least variance of each gate."""
    rows = [
        (*quantize_multiplier(scale), max(1, int(np.float32(10000) * scale))) for scale in scales
    ]
    return constant(np.array(rows, np.int64))


def _numbers(cell: LSTM) -> Buffer:
    """What the kernel calls `numbers`."""
    _, hidden_zero, out_zero = cell.zero_points
    scales = (*quantize_multiplier(cell.hidden_scale), *quantize_multiplier(cell.projection_scale))
    row = (hidden_zero, out_zero, *scales, 30 + cell.cell_exponent, *cell.clips)
    return constant(np.array(row, np.int64))


def _zeros(shape: int | tuple[int, ...], dtype: npt.DTypeLike) -> Buffer:
    return constant(np.zeros(shape, dtype))
