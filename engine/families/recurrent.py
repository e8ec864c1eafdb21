"""Recurrent networks of float32: LSTM, RNN and SVDF, one instruction for a whole sequence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil, prod
from typing import TYPE_CHECKING

import numpy as np

from ..plan.buffer import Buffer, arena, constant
from ..plan.view import View
from ..records import SequencePart
from ..tiling import PANEL
from . import gemm, gemm_f32, quantization, quantized_gemm
from .elementwise import elementwise
from .layout import fill, move
from .products import NO_CLAMP

if TYPE_CHECKING:
    import numpy.typing as npt

    from ..plan.program import Program

N_TRACED = 5
"""Parts of a trace: the sums of input, forget, output and new, and what is projected."""
_NO_LIMITS = np.array(NO_CLAMP, np.float32)
_MAX_PRODUCTS = 1 << 28  # of one instruction, some 50 ms: a run is interrupted between them


@dataclass(frozen=True, eq=False)
class Weights:
    """A matrix [n, k] of rows that are multiplied with the inputs.

    Attributes:
        rows: the matrices above one another, float32 or int8.
        scales: of each of `rows`, of int8; else None.
    """

    rows: tuple[Buffer, ...]
    scales: tuple[float, ...] | None = None


@dataclass(frozen=True)
class SequenceLayout:
    """How a sequence lies in memory.

    Attributes:
        batch, steps: how many.
        time_major: whether all of one step come before those of the next.
        backward: whether the last step is the first.
        column: where a result begins in a row of `out`.
    """

    batch: int
    steps: int
    time_major: bool
    backward: bool = False
    column: int = 0

    def parts(self, products: int, *rows: Buffer) -> Iterator[tuple[SequencePart, list[Buffer]]]:
        """The sequence in shorter parts, with the part of each of `rows`.

        `products` is how many a step needs for one of the batch; `rows` are buffers that have a row
        for each step of each of the batch.
        """
        batch_pitch, step_pitch = (1, self.batch) if self.time_major else (self.steps, 1)
        most = max(1, _MAX_PRODUCTS // max(1, self.batch * products))
        starts = range(0, self.steps, most)
        for start in reversed(starts) if self.backward else starts:
            steps = min(most, self.steps - start)
            n_rows = (self.batch - 1) * batch_pitch + (steps - 1) * step_pitch + 1
            part = SequencePart(steps, batch_pitch, step_pitch, int(self.backward), self.column)
            yield part, [x.part(start * step_pitch, n_rows) for x in rows]


def concatenate_rows(
    program: Program, parts: Sequence[Buffer], n_rows: int, dtype: npt.DTypeLike
) -> Buffer:
    """The parts above one another, and zeros up to `n_rows` rows; done once for constants."""
    row_shape = parts[0].shape[1:]
    if len(parts) == 1 and parts[0].shape[0] == n_rows:
        return parts[0]
    out, start = arena((n_rows, *row_shape), dtype), 0
    for part in parts:
        move(program, part, View.of(out).part(0, start, part.shape[0]))
        start += part.shape[0]
    if start < n_rows:
        zero = constant(np.zeros(1, dtype))
        fill(program, zero, View.of(out).part(0, start, n_rows - start))
    return out


def padded(n: int) -> int:
    """`n` up to whole panels."""
    return PANEL * ceil(n / PANEL)


def gates(
    program: Program,
    inputs: Iterable[tuple[Buffer, Weights]],
    biases: Sequence[Buffer] | None,
    asymmetric: bool,
) -> Buffer:
    """What inputs give to the gates of all steps: [rows, columns up to whole panels].

    Args:
        program: where the instructions go.
        inputs: pairs of rows [*, k] and their Weights.
        biases: one for each part of the weights, or None.
        asymmetric: whether quantized rows have a zero point.
    """
    sums: Buffer | None = None
    for x, weights in inputs:
        n = sum(part.shape[0] for part in weights.rows)
        width = padded(n)
        out = arena((x.shape[0], width), np.float32)
        bias = None
        if biases is not None and sums is None:
            bias = concatenate_rows(program, biases, width, np.float32)
        matrix = concatenate_rows(program, weights.rows, width, weights.rows[0].dtype)
        if weights.scales is None:
            gemm.matmul(program, x, matrix, bias, out, transpose_b=True)
        else:
            scheme = quantization.Hybrid(column_scales(weights, width), asymmetric, NO_CLAMP)
            quantized_gemm.matmul(program, x, matrix, bias, out, transpose_b=True, scheme=scheme)
        if sums is not None:
            total = arena(out.shape, np.float32)
            elementwise(program, "arithmetic.add", (sums, out), total, constant(_NO_LIMITS))
            out = total
        sums = out
    assert sums is not None  # there is an input at least
    return sums


def column_scales(weights: Weights, width: int) -> np.ndarray:
    """The scale of each column up to `width`."""
    counts = [part.shape[0] for part in weights.rows]
    scales = np.repeat(np.asarray(weights.scales, np.float32), counts)
    return np.concatenate([scales, np.ones(width - scales.size, np.float32)])


def pack(program: Program, weights: Weights) -> tuple[str, Buffer, Buffer]:
    """(variant of the kernel, packed weights, scales of the columns) for a kernel."""
    counts = [part.shape[0] for part in weights.rows]
    depth, width = weights.rows[0].shape[1], padded(sum(counts))
    if weights.scales is None:
        matrix = concatenate_rows(program, weights.rows, sum(counts), np.float32)
        panels = gemm_f32.pack(
            program, matrix.reshape((1, *matrix.shape)), None, True, for_rows=True
        )
        return "float32", panels.reshape(panels.shape[1:]), constant(np.zeros(1, np.float32))
    matrix = concatenate_rows(program, weights.rows, sum(counts), np.int8)
    panels = arena((width // PANEL, ceil(depth / 2), PANEL, 2), np.int8)
    program.call("recurrent_f32.pack", matrix, panels, split=panels.shape[0])
    return "hybrid", panels, constant(column_scales(weights, width))


def _hybrid_scratch(layout: SequenceLayout, widest: int, columns: int) -> tuple[Buffer, Buffer]:
    """Scratch buffers of hybrid kernels: the quantized state and sums, for each of the batch."""
    state = arena((layout.batch, widest + 1), np.int16)
    return state, arena((layout.batch, columns), np.int32)


@dataclass(frozen=True, eq=False)
class LSTM:
    """Weights and attributes of an LSTM cell; gates are in the order input, forget, output, new.

    Attributes:
        recurrent: weights of the state, a part for each gate; no input gate when it is coupled.
        biases: one for each gate.
        peepholes: [3, n] float32 of input, forget and output, or None.
        norms: [4, 2, n] float32, coefficients and biases of each gate, or None.
        projection: Weights, or None.
        projection_bias: or None.
        activation: number of the activation.
        clips: limits of cell and projection; 0 for none.
        asymmetric: whether quantized rows have a zero point.
    """

    recurrent: Weights
    biases: tuple[Buffer, ...] | None
    peepholes: Buffer | None
    norms: Buffer | None
    projection: Weights | None
    projection_bias: Buffer | None
    activation: int
    clips: tuple[float, float]
    asymmetric: bool


def lstm(
    program: Program,
    inputs: Iterable[tuple[Buffer, Weights]],
    cell: LSTM,
    states: tuple[Buffer, Buffer],
    out: Buffer,
    layout: SequenceLayout,
    trace: Buffer | None = None,
) -> None:
    """A sequence of LSTM cells.

    Args:
        program: where the instructions go.
        inputs: pairs of rows [*, k] and their Weights, a part for each gate.
        cell: an LSTM.
        states: hidden [batch, n_out] and cell [batch, n], updated.
        out: [*, columns] float32.
        layout: how the sequence lies in memory.
        trace: None, or [*, N_TRACED * n] float32, which takes the sums of the gates and what is
            projected.
    """
    if not out.size:
        return
    sums = gates(program, inputs, cell.biases, cell.asymmetric)
    hidden, memory = states
    n = memory.shape[1]
    name, recurrent, scales = pack(program, cell.recurrent)
    columns, projected = sums.shape[1], 0
    projection, projection_scales = _empty(recurrent), scales
    bias = constant(np.zeros(1, np.float32))
    if cell.projection is not None:
        _, projection, projection_scales = pack(program, cell.projection)
        projected = PANEL * projection.shape[0]
        biases = [] if cell.projection_bias is None else [cell.projection_bias]
        zeros = constant(np.zeros(projected, np.float32))
        bias = concatenate_rows(program, biases, projected, np.float32) if biases else zeros
    widest = max(n, hidden.shape[1])
    hybrid_scratch = _hybrid_scratch(layout, widest, max(columns, projected))
    scratch = arena((layout.batch, n + projected), np.float32)
    products = recurrent.size + projection.size
    traced = arena((sums.shape[0], 0), np.float32) if trace is None else trace
    for part, (gate_rows, out_rows, traced_rows) in layout.parts(products, sums, out, traced):
        program.call(
            f"recurrent_f32.lstm_{name}",
            gate_rows,
            recurrent,
            scales,
            cell.peepholes or constant(np.zeros((0, n), np.float32)),
            cell.norms or constant(np.zeros((0, 2, n), np.float32)),
            projection,
            projection_scales,
            bias,
            hidden,
            memory,
            out_rows,
            traced_rows,
            scratch,
            *hybrid_scratch,
            split=layout.batch,
            coupled=int(len(cell.recurrent.rows) == 3),
            asymmetric=int(cell.asymmetric),
            activation=cell.activation,
            cell_clip=cell.clips[0],
            projection_clip=cell.clips[1],
            part=part,
        )


def rnn(
    program: Program,
    inputs: Iterable[tuple[Buffer, Weights]],
    recurrent: Weights,
    bias: Buffer,
    hidden: Buffer,
    out: Buffer,
    layout: SequenceLayout,
    *,
    activation: int,
    asymmetric: bool,
) -> None:
    """A sequence of RNN cells: hidden = activation(inputs + bias + hidden @ recurrent)."""
    if not out.size:
        return
    sums = gates(program, inputs, (bias,), asymmetric)
    name, weights, scales = pack(program, recurrent)
    hybrid_scratch = _hybrid_scratch(layout, hidden.shape[1], sums.shape[1])
    for part, (gate_rows, out_rows) in layout.parts(weights.size, sums, out):
        program.call(
            f"recurrent_f32.rnn_{name}",
            gate_rows,
            weights,
            scales,
            hidden,
            out_rows,
            *hybrid_scratch,
            split=layout.batch,
            asymmetric=int(asymmetric),
            activation=activation,
            part=part,
        )


def svdf(
    program: Program,
    x: Buffer,
    features: Weights,
    times: Buffer,
    bias: Buffer | None,
    state: Buffer,
    out: Buffer,
    *,
    activation: int,
    asymmetric: bool,
) -> None:
    """One step of filters over time; `features` are Weights, `times` [filters, memory]."""
    if not out.size:
        return
    sums = gates(program, [(x, features)], None, asymmetric)
    filters = times.shape[0]
    activations = arena((x.shape[0], filters), np.float32)
    move(program, View.of(sums).part(1, 0, filters), View.of(activations))
    units = out.shape[1]
    program.call(
        "recurrent_f32.svdf",
        activations,
        times,
        constant(np.zeros(units, np.float32)) if bias is None else bias,
        state,
        out,
        split=x.shape[0],
        activation=activation,
    )


def _empty(like: Buffer) -> Buffer:
    return constant(np.zeros((0, *like.shape[1:]), like.dtype))


def rows_of(x: Buffer) -> Buffer:
    """`x` [*, *, k] as rows."""
    return x.reshape((prod(x.shape[:-1]), x.shape[-1]))
