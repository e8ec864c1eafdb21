"""Recurrent networks of quantized integers, bit for bit as TFLite's kernels compute them.

A row is a whole sequence, an item is one of its batch. What the inputs give to the gates is there
before the sequence begins, with 12 bits after the point: `inout_gates`, with columns beyond the
last gate up to a multiple of 32. Weights are packed as _matvec.py says.
"""

from numba import int16, int32, int64

from ...build.fixedpoint import NEAREST_SHIFT, inverse_root, scaled, scaled_near
from ...build.kernel import address, inline, kernel
from ...records import SequencePart
from ..float32._matvec import matvec_i8
from ..int16._fixed16 import high, logistic, product, tanh, total
from ._sequence import CELL, FORGET, INPUT, OUTPUT, row_of_step

_LOW, _HIGH = -(1 << 15), (1 << 15) - 1
HIDDEN_ZERO, OUT_ZERO, HIDDEN_MULTIPLIER, HIDDEN_SHIFT = range(4)
PROJECTION_MULTIPLIER, PROJECTION_SHIFT, CELL_SHIFT, CELL_CLIP, PROJECTION_CLIP = range(4, 9)
"""What `numbers` of `lstm` are."""
MULTIPLIER, SHIFT, MIN_VARIANCE = range(3)
"""What a term is; only those of norms have the last."""


@inline
def add_scaled(counts, term, gate):
    """gate += counts * term, held within int16; a term is multiplier and shift."""
    multiplier, shift = term[MULTIPLIER], term[SHIFT]
    if shift >= NEAREST_SHIFT:
        for i in range(gate.size):
            value = gate[i] + scaled_near(int64(counts[i]), multiplier, shift)
            gate[i] = min(max(value, _LOW), _HIGH)
    else:
        for i in range(gate.size):
            value = gate[i] + scaled(int64(counts[i]), multiplier, shift)
            gate[i] = min(max(value, _LOW), _HIGH)


@inline
def add_peephole(weights, cell, term, gate, begin, end, n_out):
    """gate += weights * cell * term, held within int16.

    TFLite takes all that it does at a time for one row, in parts of `n_out` elements: where a
    projection makes results shorter than the cell, weights are shifted and the last cells have
    none. The gate begins at `begin` in that row, and weights end at `end`.
    """
    multiplier, shift = term[MULTIPLIER], term[SHIFT]
    for i in range(min(gate.size, end - begin)):
        weight = int64(weights[(begin + i) % n_out if n_out < gate.size else i])
        value = gate[i] + scaled(weight * cell[i], multiplier, shift)
        gate[i] = min(max(value, _LOW), _HIGH)


@inline
def normalize(gate, weights, bias, term):
    """gate = ((gate - mean) / deviation * weights + bias) * term, which has a least variance."""
    n = gate.size
    sums = squares = int64(0)
    for i in range(n):
        value = int64(gate[i])
        sums += value
        squares += value * value
    mean = int64(quotient(sums * 1024, n))
    variance = squares * ((1 << 20) // n) - mean * mean
    variance = quotient(variance, 1 << 20)
    if variance < 1:
        variance = term[MIN_VARIANCE]
    inverse, shift = inverse_root(variance)
    for i in range(n):
        value = scaled(1024 * int64(gate[i]) - mean, inverse, -shift)
        value = value * weights[i] + bias[i]
        value = quotient(value + 512 if value > 0 else value - 512, 1024)
        value = scaled(int64(int32(value)), term[MULTIPLIER], term[SHIFT] + 12)
        gate[i] = min(max(value, _LOW), _HIGH)


@inline
def quotient(a, b):
    """a / b of whole numbers, b > 0, rounded towards zero."""
    return a // b if a >= 0 else -(-a // b)


@inline
def each_logistic(gate):
    """gate = logistic(gate)"""
    for i in range(gate.size):
        gate[i] = logistic(int32(gate[i]))


@inline
def each_tanh(x, bits, out):
    """out = tanh(x), which has `bits` bits before the point"""
    for i in range(x.size):
        out[i] = tanh(int32(x[i]), int32(bits))


@inline
def update(cell, forget_gate, input_gate, cell_gate, coupled, shift):
    """cell = forget_gate * cell + input_gate * cell_gate; coupled gates sum up to 1."""
    for i in range(cell.size):
        decayed = product(int32(forget_gate[i]), int32(cell[i]), int32(15))
        input_factor = int32(_HIGH) - int32(forget_gate[i]) if coupled else int32(input_gate[i])
        cell[i] = total(decayed, product(int32(input_factor), int32(cell_gate[i]), int32(shift)))


@inline
def multiply(hidden, zero, weights, inputs, counts):
    """counts = (hidden - zero) @ weights"""
    for i in range(hidden.size):
        inputs[i] = int16(hidden[i]) - zero
    inputs[hidden.size] = 0
    for j in range(counts.size):
        counts[j] = 0
    matvec_i8(address(inputs), address(weights), weights.shape[0], hidden.size, address(counts))


@kernel(
    "inout_gates:int16[rows,*] recurrent:int8[*,*,32,2] recurrent_terms:int64[4,2] "
    "peepholes:int16[*,n] peephole_terms:int64[3,2] norms:int16[*,n] norm_biases:int32[*,n] "
    "norm_terms:int64[4,3] projection:int8[*,*,32,2] projection_bias:int32[*] "
    "inout_hidden:int8[batch,*] inout_cell:int16[batch,n] out:int8[rows,*] "
    "scratch_value:int16[batch,n] scratch_small:int8[batch,n] scratch_inputs:int16[batch,*] "
    "scratch_counts:int32[batch,*] numbers:int64[*] "
    "part:SequencePart coupled:i batch_as_row:i",
    SequencePart=SequencePart,
)
def lstm(
    inout_gates, recurrent, recurrent_terms, peepholes, peephole_terms, norms, norm_biases,
    norm_terms, projection, projection_bias, inout_hidden, inout_cell, out, scratch_value,
    scratch_small, scratch_inputs, scratch_counts, numbers, part, coupled, batch_as_row,
    first, last, fault,
):  # fmt: skip
    """A sequence of LSTM cells; gates are in the order input, forget, output, new.

    `numbers` are zero points, scales as multiplier and shift, how far the product of a gate and a
    new value is shifted to become a cell's, and limits, 0 for none.
    """
    n_batch, n, n_out = inout_cell.shape[0], inout_cell.shape[1], inout_hidden.shape[1]
    begin = 0 if coupled else n
    zero, out_zero = numbers[HIDDEN_ZERO], numbers[OUT_ZERO]
    cell_shift, clip, projection_clip = (
        numbers[CELL_SHIFT],
        numbers[CELL_CLIP],
        numbers[PROJECTION_CLIP],
    )
    bits = cell_shift - 15
    for batch in range(first, last):
        hidden, cell = inout_hidden[batch], inout_cell[batch]
        start, end = (batch * n, n_batch * n_out) if batch_as_row else (0, n_out)
        value, small = scratch_value[batch], scratch_small[batch]
        inputs, counts = scratch_inputs[batch], scratch_counts[batch]
        for step in range(part.steps):
            row = row_of_step(part, batch, step)
            gates = inout_gates[row]
            multiply(hidden, out_zero, recurrent, inputs, counts)
            forget_gate, input_gate = gates[begin : begin + n], gates[:n]
            output_gate = gates[begin + n : begin + 2 * n]
            cell_gate = gates[begin + 2 * n : begin + 3 * n]
            if not coupled:
                add_scaled(counts[:n], recurrent_terms[INPUT], input_gate)
            add_scaled(counts[begin : begin + n], recurrent_terms[FORGET], forget_gate)
            add_scaled(counts[begin + n : begin + 2 * n], recurrent_terms[OUTPUT], output_gate)
            add_scaled(counts[begin + 2 * n : begin + 3 * n], recurrent_terms[CELL], cell_gate)
            if peepholes.shape[0] > 0:
                if not coupled:
                    add_peephole(
                        peepholes[INPUT], cell, peephole_terms[INPUT], input_gate, start, end, n_out
                    )
                add_peephole(
                    peepholes[FORGET], cell, peephole_terms[FORGET], forget_gate, start, end, n_out
                )
            if norms.shape[0] > 0:
                if not coupled:
                    normalize(input_gate, norms[INPUT], norm_biases[INPUT], norm_terms[INPUT])
                normalize(forget_gate, norms[FORGET], norm_biases[FORGET], norm_terms[FORGET])
                normalize(cell_gate, norms[CELL], norm_biases[CELL], norm_terms[CELL])
            each_logistic(gates[: begin + n])
            each_tanh(cell_gate, 3, cell_gate)
            update(cell, forget_gate, input_gate, cell_gate, coupled, cell_shift)
            if clip > 0:
                for i in range(n):
                    cell[i] = min(max(int64(cell[i]), -clip), clip)
            if peepholes.shape[0] > 0:
                add_peephole(
                    peepholes[OUTPUT], cell, peephole_terms[OUTPUT], output_gate, start, end, n_out
                )
            if norms.shape[0] > 0:
                normalize(output_gate, norms[OUTPUT], norm_biases[OUTPUT], norm_terms[OUTPUT])
            each_logistic(output_gate)
            if bits >= 0:
                each_tanh(cell, bits, value)
            else:  # TFLite has no tanh of so few bits, and goes on with what its memory holds
                for i in range(n):
                    value[i] = 0 if coupled else input_gate[i]
            multiplier, shift = numbers[HIDDEN_MULTIPLIER], numbers[HIDDEN_SHIFT]
            if shift >= NEAREST_SHIFT:
                for i in range(n):
                    result = scaled_near(int64(output_gate[i]) * value[i], multiplier, shift) + zero
                    small[i] = min(max(result, -128), 127)
            else:
                for i in range(n):
                    result = scaled(int64(output_gate[i]) * value[i], multiplier, shift) + zero
                    small[i] = min(max(result, -128), 127)
            if projection.shape[0] == 0:
                for i in range(n_out):
                    hidden[i] = small[i]
            else:
                multiply(small, zero, projection, inputs, counts)
                multiplier, shift = numbers[PROJECTION_MULTIPLIER], numbers[PROJECTION_SHIFT]
                for i in range(n_out):
                    result = int64(counts[i] + projection_bias[i])
                    result = scaled(result, multiplier, shift) + out_zero
                    result = min(max(result, -128), 127)
                    if projection_clip > 0:
                        result = min(max(result, -projection_clip), projection_clip)
                    hidden[i] = result
            target = out[row, part.column : part.column + n_out]
            for i in range(n_out):
                target[i] = hidden[i]


@kernel(
    "features:int16[batch,filters] weights:int16[filters,memory] bias:int32[units] "
    "inout_state:int16[batch,*] out:int8[batch,units] multiplier:i shift:i zero_point:i"
)
def svdf(
    features, weights, bias, inout_state, out, multiplier, shift, zero_point, first, last, fault
):
    """out[u] = scaled(bias[u] + sum over the filters of u of weights * their last features)

    The state holds the last features of each filter, the newest at the end. An item is one of the
    batch.
    """
    memory, rank = weights.shape[1], weights.shape[0] // out.shape[1]
    for batch in range(first, last):
        state, target = inout_state[batch], out[batch]
        for unit in range(target.size):
            sums = int64(bias[unit])
            for filter in range(unit * rank, (unit + 1) * rank):
                past = state[filter * memory : (filter + 1) * memory]
                for i in range(memory - 1):
                    past[i] = past[i + 1]
                past[memory - 1] = features[batch, filter]
                for i in range(memory):
                    sums += int64(weights[filter, i]) * past[i]
            result = scaled(int64(int32(sums)), multiplier, shift) + zero_point
            target[unit] = min(max(result, -128), 127)


@kernel(
    "gates:int16[batch,*] inout_state:int16[batch,n] out:uint8[batch,n] out_state:int16[batch,n]"
)
def basic(gates, inout_state, out, out_state, first, last, fault):
    """One step of the plain LSTM, whose gates are in the order input, new, forget, output.

    The state has 4 bits before the point, the gates 3; the result is 128 at 0.
    """
    n = out.shape[1]
    for batch in range(first, last):
        input_gate, cell_gate = gates[batch, :n], gates[batch, n : 2 * n]
        forget_gate, output_gate = gates[batch, 2 * n : 3 * n], gates[batch, 3 * n : 4 * n]
        state, target, copied = inout_state[batch], out[batch], out_state[batch]
        for i in range(n):
            gated = high(logistic(int32(input_gate[i])), tanh(int32(cell_gate[i]), int32(3)))
            decayed = high(logistic(int32(forget_gate[i])), int32(state[i]))
            value = total(product(gated, int32(1), int32(4)), decayed)
            state[i] = value
            copied[i] = value
            result = high(logistic(int32(output_gate[i])), tanh(value, int32(4)))
            result = product(result, int32(1), int32(8))
            target[i] = min(max(int64(result), -128), 127) + 128
