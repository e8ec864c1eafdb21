"""Recurrent networks over reals: LSTM, plain cells and SVDF, a row for a whole sequence."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, prod
from typing import Any

import numpy as np

from ..plan.buffer import Buffer, arena, constant
from ..plan.view import View
from ..tiling import PANEL
from . import gemm, gemm_f32, quantized_gemm
from .elementwise import elementwise
from .gemm import NO_CLAMP
from .layout import fill, move

_ANY = np.array(NO_CLAMP, np.float32)
_LONGEST = 1 << 28  # products in one row, some 50 ms: a run is interrupted between rows


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
class Walk:
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

    def parts(self, products, *rows):
        """Short walks that make this one: (numbers for a kernel, the part of each of `rows`).

        `products` is how many a step needs for one of the batch; `rows` are buffers that have a row
        for each step of each of the batch.
        """
        batch_pitch, step_pitch = (1, self.batch) if self.time_major else (self.steps, 1)
        most = max(1, _LONGEST // max(1, self.batch * products))
        starts = range(0, self.steps, most)
        for start in reversed(starts) if self.backward else starts:
            steps = min(most, self.steps - start)
            n_rows = (self.batch - 1) * batch_pitch + (steps - 1) * step_pitch + 1
            numbers = {
                "steps": steps,
                "batch_pitch": batch_pitch,
                "step_pitch": step_pitch,
                "backward": int(self.backward),
                "column": self.column,
            }
            yield numbers, [x.part(start * step_pitch, n_rows) for x in rows]


def joined(program, parts, n_rows, dtype):
    """The parts above one another, and zeros up to `n_rows` rows; done once for constants."""
    tail = parts[0].shape[1:]
    if len(parts) == 1 and parts[0].shape[0] == n_rows:
        return parts[0]
    out, start = arena((n_rows, *tail), dtype), 0
    for part in parts:
        move(program, part, View.of(out).part(0, start, part.shape[0]))
        start += part.shape[0]
    if start < n_rows:
        nothing = constant(np.zeros(1, dtype))
        fill(program, nothing, View.of(out).part(0, start, n_rows - start))
    return out


def padded(n):
    """`n` up to whole panels."""
    return PANEL * ceil(n / PANEL)


def gates(program, inputs, biases, asymmetric) -> Buffer:
    """What inputs give to the gates of all steps: [rows, columns up to whole panels].

    Args:
        program: where the rows go.
        inputs: pairs of rows [*, k] and their Weights.
        biases: one for each part of the weights, or None.
        asymmetric: whether rounded rows have a zero point.
    """
    found: Any = None
    for x, weights in inputs:
        n = sum(part.shape[0] for part in weights.rows)
        width = padded(n)
        out = arena((x.shape[0], width), np.float32)
        bias = None
        if biases is not None and found is None:
            bias = joined(program, biases, width, np.float32)
        matrix = joined(program, weights.rows, width, weights.rows[0].dtype)
        if weights.scales is None:
            gemm.matmul(program, x, matrix, bias, out, transpose_b=True)
        else:
            scheme = quantized_gemm.Hybrid(column_scales(weights, width), asymmetric, NO_CLAMP)
            quantized_gemm.matmul(program, x, matrix, bias, out, transpose_b=True, scheme=scheme)
        if found is not None:
            both = arena(out.shape, np.float32)
            elementwise(program, "arithmetic.add", (found, out), both, constant(_ANY))
            out = both
        found = out
    return found


def column_scales(weights, width):
    """The scale of each column up to `width`."""
    counts = [part.shape[0] for part in weights.rows]
    scales = np.repeat(np.float32(weights.scales), counts)
    return np.concatenate([scales, np.ones(width - scales.size, np.float32)])


def packed(program, weights):
    """(name of the product, packed weights, scales of the columns) for a kernel."""
    counts = [part.shape[0] for part in weights.rows]
    depth, width = weights.rows[0].shape[1], padded(sum(counts))
    if weights.scales is None:
        matrix = joined(program, weights.rows, sum(counts), np.float32)
        panels = gemm_f32.packed(program, matrix.reshape((1, *matrix.shape)), None, True)
        return "float32", panels.reshape(panels.shape[1:]), constant(np.zeros(1, np.float32))
    matrix = joined(program, weights.rows, sum(counts), np.int8)
    panels = arena((width // PANEL, ceil(depth / 2), PANEL, 2), np.int8)
    program.call("recurrent_f32.pack", matrix, panels, split=panels.shape[0])
    return "hybrid", panels, constant(column_scales(weights, width))


def _rooms(walk, widest, columns):
    """What hybrid kernels work in: the rounded state and sums, for each of the batch."""
    room = arena((walk.batch, widest + 1), np.int16)
    return room, arena((walk.batch, columns), np.int32)


@dataclass(frozen=True, eq=False)
class LSTM:
    """What stands in an LSTM cell; gates are in the order input, forget, output, new.

    Attributes:
        recurrent: weights of the state, a part for each gate; no input gate when it is coupled.
        biases: one for each gate.
        peepholes: [3, n] float32 of input, forget and output, or None.
        norms: [4, 2, n] float32, coefficients and biases of each gate, or None.
        projection: Weights, or None.
        projection_bias: or None.
        activation: number of the activation.
        clips: limits of cell and projection; 0 for none.
        asymmetric: whether rounded rows have a zero point.
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


def lstm(program, inputs, cell, states, out, walk):
    """A sequence of LSTM cells.

    Args:
        program: where the rows go.
        inputs: pairs of rows [*, k] and their Weights, a part for each gate.
        cell: an LSTM.
        states: hidden [batch, n_out] and cell [batch, n], updated.
        out: [*, columns] float32.
        walk: how the rows lie.
    """
    if not out.size:
        return
    sums = gates(program, inputs, cell.biases, cell.asymmetric)
    hidden, memory = states
    n = memory.shape[1]
    name, recurrent, scales = packed(program, cell.recurrent)
    columns, projected = sums.shape[1], 0
    projection, its_scales = _empty(recurrent), scales
    bias = constant(np.zeros(1, np.float32))
    if cell.projection is not None:
        _, projection, its_scales = packed(program, cell.projection)
        projected = PANEL * projection.shape[0]
        parts = [] if cell.projection_bias is None else [cell.projection_bias]
        nothing = constant(np.zeros(projected, np.float32))
        bias = joined(program, parts, projected, np.float32) if parts else nothing
    widest = max(n, hidden.shape[1])
    rooms = _rooms(walk, widest, max(columns, projected))
    room = arena((walk.batch, n + projected), np.float32)
    for numbers, (gate_rows, out_rows) in walk.parts(recurrent.size + projection.size, sums, out):
        program.call(
            f"recurrent_f32.lstm_{name}",
            gate_rows,
            recurrent,
            scales,
            cell.peepholes or constant(np.zeros((0, n), np.float32)),
            cell.norms or constant(np.zeros((0, 2, n), np.float32)),
            projection,
            its_scales,
            bias,
            hidden,
            memory,
            out_rows,
            room,
            *rooms,
            split=walk.batch,
            coupled=int(len(cell.recurrent.rows) == 3),
            asymmetric=int(cell.asymmetric),
            activation=cell.activation,
            cell_clip=cell.clips[0],
            projection_clip=cell.clips[1],
            **numbers,
        )


def rnn(program, inputs, recurrent, bias, hidden, out, walk, *, activation, asymmetric):
    """A sequence of plain cells: hidden = activation(inputs + bias + hidden @ recurrent)."""
    if not out.size:
        return
    sums = gates(program, inputs, (bias,), asymmetric)
    name, weights, scales = packed(program, recurrent)
    rooms = _rooms(walk, hidden.shape[1], sums.shape[1])
    for numbers, (gate_rows, out_rows) in walk.parts(weights.size, sums, out):
        program.call(
            f"recurrent_f32.rnn_{name}",
            gate_rows,
            weights,
            scales,
            hidden,
            out_rows,
            *rooms,
            split=walk.batch,
            asymmetric=int(asymmetric),
            activation=activation,
            **numbers,
        )


def svdf(program, x, features, times, bias, state, out, *, activation, asymmetric):
    """One step of filters over time; `features` are Weights, `times` [filters, memory]."""
    if not out.size:
        return
    sums = gates(program, [(x, features)], None, asymmetric)
    filters = times.shape[0]
    exact = arena((x.shape[0], filters), np.float32)
    move(program, View.of(sums).part(1, 0, filters), View.of(exact))
    units = out.shape[1]
    program.call(
        "recurrent_f32.svdf",
        exact,
        times,
        constant(np.zeros(units, np.float32)) if bias is None else bias,
        state,
        out,
        split=x.shape[0],
        activation=activation,
    )


def _empty(like):
    return constant(np.zeros((0, *like.shape[1:]), like.dtype))


def rows_of(x):
    """`x` [*, *, k] as rows."""
    return x.reshape((prod(x.shape[:-1]), x.shape[-1]))
