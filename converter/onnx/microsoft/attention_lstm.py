"""com.microsoft: an LSTM that looks at a memory after each step (Bahdanau's attention)."""

from __future__ import annotations

import numpy as np

from ...lowering.moves import as_int32, int32s, like, positions, transposed
from ..recurrent import Cell, dense, lstm_step, no_state, of_cell, of_direction
from ..registry import lower
from .attention import LOWEST
from .fused import DOMAIN


def _prepared(node, b, d, x, weights, tensors):
    """Splits the weights, that of the input and that of what was seen; nothing is seen at first."""
    query, keys, scores = (of_direction(b, node.inputs[i], d) for i in (8, 9, 10))
    memory, lengths, layer = node.inputs[11], node.input(12), node.input(13)
    tensors["query"] = transposed(query, (1, 0), b)
    tensors["keys"] = dense(b, memory, transposed(keys, (1, 0), b))
    tensors["scores"] = b.EXPAND_DIMS(scores, np.int32(0))
    tensors["memory"] = memory
    seen_size = memory.dims[2]
    if lengths is not None:
        ends = b.EXPAND_DIMS(as_int32(lengths, b), np.int32(1))
        is_hidden = b.GREATER_EQUAL(positions(memory, 1, b), ends)
        tensors["hidden"] = b.SELECT_V2(is_hidden, b.constant(LOWEST), like(memory, 0, b))
    if layer is not None:
        tensors["layer"] = transposed(of_direction(b, layer, d), (1, 0), b)
        seen_size = layer.dims[2]
    n_inputs = x.dims[2]
    node.require(None not in (seen_size, n_inputs), "the numbers of features must be known")
    sizes = int32s([n_inputs, seen_size])
    of_input, tensors["seen"] = b.SPLIT_V(weights, sizes, np.int32(1), num_splits=2)
    return of_input, [no_state(b, x, seen_size)]


def _step(b, layer, x, states, tensors):
    """A step of an LSTM whose input is x and what it saw, and what it sees then."""
    h, c, seen = states
    h, c = lstm_step(b, layer, b.ADD(x, dense(b, seen, tensors["seen"])), [h, c], tensors)
    return [h, c, _seen(b, h, tensors)]


def _seen(b, h, tensors):
    """softmax(scores . tanh(keys + h query)) memory; beside h through a layer if there is one."""
    query = b.EXPAND_DIMS(dense(b, h, tensors["query"]), np.int32(1))
    scores = dense(b, b.TANH(b.ADD(tensors["keys"], query)), tensors["scores"])
    scores = b.SQUEEZE(scores, squeeze_dims=[2])
    if "hidden" in tensors:
        scores = b.ADD(scores, tensors["hidden"])
    shares = b.EXPAND_DIMS(b.SOFTMAX(scores, beta=1.0), np.int32(1))
    seen = b.SQUEEZE(b.BATCH_MATMUL(shares, tensors["memory"]), squeeze_dims=[1])
    if "layer" not in tensors:
        return seen
    return dense(b, b.CONCATENATION(h, seen, axis=1), tensors["layer"])


CELL = Cell(4, ("Sigmoid", "Tanh", "Tanh"), 2, _step, _prepared)


@lower(f"{DOMAIN}AttnLSTM")
def attention_lstm(node, b):
    """All outputs, and the last states, of each direction."""
    return of_cell(node, b, CELL)
