"""Recurrent networks of float32: a row is a whole sequence, an item is one of its batch.

What the inputs give to the gates is there before the sequence begins, as one matrix product for
all steps: `inout_gates`, with columns beyond the last gate up to a multiple of 32. Weights are
packed as _matvec.py says. Weights of int8 are multiplied with the state rounded to 8 bits.
"""

import math

from numba import float32, float64, int32

from ...build.kernel import address, inline, kernel
from ...records import SequencePart
from ...tiling import PANEL
from ..float32._matvec import matvec_f32, matvec_i8
from ._gates import NONE, activate, each_logistic, logistic, tanh
from ._sequence import CELL, FORGET, INPUT, OUTPUT, row_of_step

_WEIGHTS, _BIASES = range(2)  # rows of a norm
HIDDEN = 4  # the part of a trace behind those of the gates


@kernel("weights:int8[n,k] out:int8[panels,*,32,2]")
def pack(weights, out, first, last, fault):
    """out[p, i, j] = weights[32 p + j, 2 i : 2 i + 2]; an item is a panel."""
    n, depth = weights.shape
    for panel in range(first, last):
        target = out[panel]
        for j in range(PANEL):
            column = panel * PANEL + j
            for k in range(2 * target.shape[0]):
                inside = column < n and k < depth
                target[k // 2, j, k % 2] = weights[column, k] if inside else 0


@inline
def float32_product(x, weights, scales, asymmetric, inputs, counts, sums):
    """sums += x @ weights"""
    matvec_f32(address(x), address(weights), weights.shape[0], x.size, address(sums))


@inline
def _nearest(value):
    """`value` rounded to nearest, halves away from zero."""
    value64 = float64(value)
    return int32(value64 + math.copysign(0.5, value64))


@inline
def hybrid_product(x, weights, scales, asymmetric, inputs, counts, sums):
    """sums += x @ weights, `x` rounded to 8 bits by a scale of its own."""
    low, high = float32(0.0), float32(0.0)
    for i in range(x.size):
        low = min(low, x[i])
        high = max(high, x[i])
    scale, zero = max(high, -low) / float32(127.0), 0
    inverse = float32(127.0) / max(high, -low)
    if asymmetric:
        scale64 = float64(high - low) / 255.0
        from_low, from_high = -128.0 - low / scale64, 127.0 - high / scale64
        nearer_low = 128.0 + abs(low / scale64) < 127.0 + abs(high / scale64)
        zero = min(max(_nearest(from_low if nearer_low else from_high), -128), 127)
        scale = float32(scale64)
        inverse = float32(1.0) / scale
    if low == high:
        return
    least = -128 if asymmetric else -127
    for i in range(x.size):
        value = x[i] * inverse
        rounded = int32(value + float32(math.copysign(0.5, value)))  # as in int8/_row_numbers.py
        inputs[i] = min(max(rounded + zero, least), 127) - zero
    inputs[x.size] = 0
    for j in range(counts.size):
        counts[j] = 0
    matvec_i8(address(inputs), address(weights), weights.shape[0], x.size, address(counts))
    for j in range(sums.size):
        sums[j] += float32(counts[j]) * (scale * scales[j])


@inline
def normalize(x, norm):
    """x = (x - mean) / deviation * norm[_WEIGHTS] + norm[_BIASES]"""
    total = 0.0
    for i in range(x.size):
        total += float64(x[i])
    mean, total = total / x.size, 0.0
    for i in range(x.size):
        total += (x[i] - mean) * (x[i] - mean)
    inverse = float32(1.0 / math.sqrt(total / x.size + 1e-8))
    middle = float32(mean)
    for i in range(x.size):
        x[i] = (x[i] - middle) * inverse * norm[_WEIGHTS, i] + norm[_BIASES, i]


@inline
def clip(x, limit):
    """x within [-limit, limit]; a limit of 0 is none."""
    if limit > float32(0.0):
        for i in range(x.size):
            x[i] = min(max(x[i], -limit), limit)


@inline
def add_peephole(gate, weights, cell):
    """gate += weights * cell"""
    for i in range(gate.size):
        gate[i] += weights[i] * cell[i]


@inline
def update(cell, forget_gate, input_gate, cell_gate, coupled):
    """cell = forget_gate * cell + input_gate * cell_gate; coupled gates sum up to 1."""
    if coupled:
        for i in range(cell.size):
            cell[i] = forget_gate[i] * cell[i] + (float32(1.0) - forget_gate[i]) * cell_gate[i]
    else:
        for i in range(cell.size):
            cell[i] = forget_gate[i] * cell[i] + input_gate[i] * cell_gate[i]


@inline
def keep(x, row, part):
    """Part `part` of a row of the trace: the values of a gate, or those before a projection."""
    for i in range(x.size):
        row[part * x.size + i] = x[i]


def lstm(product):
    """The kernel of a sequence of LSTM cells.

    `out_trace` has no columns, or takes what each gate sums up and what is projected in each step.
    """

    def sequence(
        inout_gates, recurrent, scales, peepholes, norms, projection, projection_scales,
        projection_bias, inout_hidden, inout_cell, out, out_trace, scratch, scratch_inputs,
        scratch_counts, part, coupled, asymmetric, activation, cell_clip, projection_clip, first,
        last, fault,
    ):  # fmt: skip
        n, n_out = inout_cell.shape[1], inout_hidden.shape[1]
        begin = 0 if coupled else n
        has_peepholes, has_norms = peepholes.shape[0] > 0, norms.shape[0] > 0
        has_trace = out_trace.shape[1] > 0
        for batch in range(first, last):
            hidden, cell = inout_hidden[batch], inout_cell[batch]
            value, projected = scratch[batch, :n], scratch[batch, n:]
            inputs, counts = scratch_inputs[batch], scratch_counts[batch]
            for step in range(part.steps):
                row = row_of_step(part, batch, step)
                gates = inout_gates[row]
                product(hidden, recurrent, scales, asymmetric, inputs, counts, gates)
                forget_gate, input_gate = gates[begin : begin + n], gates[:n]
                output_gate = gates[begin + n : begin + 2 * n]
                cell_gate = gates[begin + 2 * n : begin + 3 * n]
                if has_peepholes:
                    add_peephole(forget_gate, peepholes[FORGET], cell)
                    if not coupled:
                        add_peephole(input_gate, peepholes[INPUT], cell)
                if has_trace:
                    if not coupled:
                        keep(input_gate, out_trace[row], INPUT)
                    keep(forget_gate, out_trace[row], FORGET)
                    keep(cell_gate, out_trace[row], CELL)
                if has_norms:
                    if not coupled:
                        normalize(input_gate, norms[INPUT])
                    normalize(forget_gate, norms[FORGET])
                    normalize(cell_gate, norms[CELL])
                each_logistic(gates[: begin + n])
                activate(cell_gate, activation, cell_gate)
                update(cell, forget_gate, input_gate, cell_gate, coupled)
                clip(cell, cell_clip)
                if has_peepholes:
                    add_peephole(output_gate, peepholes[OUTPUT], cell)
                if has_trace:
                    keep(output_gate, out_trace[row], OUTPUT)
                if has_norms:
                    normalize(output_gate, norms[OUTPUT])
                each_logistic(output_gate)
                if activation == NONE:  # TFLite leaves the memory as it is: the new values
                    for i in range(n):
                        value[i] = cell_gate[i]
                else:
                    activate(cell, activation, value)
                target = out[row, part.column : part.column + n_out]
                if projection.shape[0] == 0:
                    for i in range(n):
                        hidden[i] = output_gate[i] * value[i]
                else:
                    for i in range(n):
                        value[i] *= output_gate[i]
                    if has_trace:
                        keep(value, out_trace[row], HIDDEN)
                    for i in range(projected.size):
                        projected[i] = projection_bias[i]
                    product(
                        value, projection, projection_scales, asymmetric, inputs, counts, projected
                    )
                    clip(projected, projection_clip)
                    for i in range(n_out):
                        hidden[i] = projected[i]
                for i in range(n_out):
                    target[i] = hidden[i]

    return sequence


def rnn(product):
    """The kernel of a sequence of plain cells: hidden = activation(gates + hidden @ recurrent)."""

    def sequence(
        inout_gates, recurrent, scales, inout_hidden, out, scratch_inputs, scratch_counts, part,
        asymmetric, activation, first, last, fault,
    ):  # fmt: skip
        n = inout_hidden.shape[1]
        for batch in range(first, last):
            hidden = inout_hidden[batch]
            inputs, counts = scratch_inputs[batch], scratch_counts[batch]
            for step in range(part.steps):
                row = row_of_step(part, batch, step)
                gates = inout_gates[row]
                product(hidden, recurrent, scales, asymmetric, inputs, counts, gates)
                activate(gates[:n], activation, hidden)
                target = out[row, part.column : part.column + n]
                for i in range(n):
                    target[i] = hidden[i]

    return sequence


_STATE = (
    "out:float32[rows,*] {scratch}scratch_inputs:int16[batch,*] scratch_counts:int32[batch,*] "
    "part:SequencePart"
)
_LSTM = (
    "inout_gates:float32[rows,*] recurrent:{weights} scales:float32[*] peepholes:float32[*,n] "
    "norms:float32[*,2,n] projection:{weights} projection_scales:float32[*] "
    "projection_bias:float32[*] inout_hidden:float32[batch,*] inout_cell:float32[batch,n] "
    f"{_STATE.format(scratch='out_trace:float32[rows,*] scratch:float32[batch,*] ')} coupled:i "
    "asymmetric:i activation:i "
    "cell_clip:float32 projection_clip:float32"
)
_RNN = (
    "inout_gates:float32[rows,*] recurrent:{weights} scales:float32[*] "
    f"inout_hidden:float32[batch,*] {_STATE.format(scratch='')} asymmetric:i activation:i"
)
for _name, _weights, _product in (
    ("float32", "float32[*,*,32]", float32_product),
    ("hybrid", "int8[*,*,32,2]", hybrid_product),
):
    for _kind, _words, _cell in (("lstm", _LSTM, lstm), ("rnn", _RNN, rnn)):
        kernel(_words.format(weights=_weights), name=f"{_kind}_{_name}", SequencePart=SequencePart)(
            _cell(_product)
        )


@kernel(
    "features:float32[batch,filters] weights:float32[filters,memory] bias:float32[units] "
    "inout_state:float32[batch,*] out:float32[batch,units] activation:i"
)
def svdf(features, weights, bias, inout_state, out, activation, first, last, fault):
    """out[u] = activation(bias[u] + sum over the filters of u of weights * their last features)

    The state holds the last features of each filter, the newest at the end. An item is one of the
    batch.
    """
    memory, rank = weights.shape[1], weights.shape[0] // out.shape[1]
    for batch in range(first, last):
        state, target = inout_state[batch], out[batch]
        for unit in range(target.size):
            total = bias[unit]
            for filter in range(unit * rank, (unit + 1) * rank):
                past = state[filter * memory : (filter + 1) * memory]
                for i in range(memory - 1):
                    past[i] = past[i + 1]
                past[memory - 1] = features[batch, filter]
                for i in range(memory):
                    total += weights[filter, i] * past[i]
            target[unit] = total
        activate(target, activation, target)


@kernel(
    "gates:float32[batch,*] inout_state:float32[batch,n] out:float32[batch,n] "
    "out_state:float32[batch,n]"
)
def basic(gates, inout_state, out, out_state, first, last, fault):
    """One step of the plain LSTM, whose gates are in the order input, new, forget, output."""
    n = out.shape[1]
    for batch in range(first, last):
        input_gate, cell_gate = gates[batch, :n], gates[batch, n : 2 * n]
        forget_gate, output_gate = gates[batch, 2 * n : 3 * n], gates[batch, 3 * n : 4 * n]
        state, target, copied = inout_state[batch], out[batch], out_state[batch]
        for i in range(n):
            decayed = logistic(forget_gate[i]) * state[i]
            value = logistic(input_gate[i]) * tanh(cell_gate[i]) + decayed
            state[i] = value
            copied[i] = value
            target[i] = logistic(output_gate[i]) * tanh(value)
