"""UnidirectionalSequenceGru: a gated recurrent unit over a sequence.

Source: LiteRT's operator of this name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...schema.dtypes import tf_name
from ..checks import rank
from ..numpy_calls import by_numpy
from .registry import custom, exactly

if TYPE_CHECKING:
    from ..plan.node import HostCall, Node


@custom("UnidirectionalSequenceGru")
def unidirectional_sequence_gru(node: Node) -> HostCall:
    """The states at each step, and the last one.

    [r u] = sigmoid([x h] gate' + b), c = tanh([x h*r] candidate' + d), h = (1 - u) c + u h
    """
    x, state, *weights = exactly(node, 6)
    rank(node, "input", x, 3)
    rank(node, "the state", state, 2)
    for operand in (x, state, *weights):
        node.require(operand.dtype == np.float32, f"{tf_name(operand.dtype)} is not supported")
    n_time, n_batch, n_input = x.shape
    n = state.shape[1]
    node.require_equal(
        state.shape[0], n_batch, f"there must be {n_batch} states, got {state.shape[0]}"
    )
    expected = ((2 * n, n_input + n), (2 * n,), (n, n_input + n), (n,))
    for operand, shape in zip(weights, expected, strict=True):
        node.require_equal(
            operand.shape, shape, f"'{operand.name}' must have shape {shape}, got {operand.shape}"
        )

    def run(x: np.ndarray, state: np.ndarray, *weights: np.ndarray) -> list[np.ndarray]:
        gate, gate_bias, candidate, candidate_bias = weights
        states = np.empty((n_time, n_batch, n), np.float32)
        for t in range(n_time):
            both = np.concatenate([x[t], state], 1) @ gate.T + gate_bias
            reset, update = np.split(1 / (1 + np.exp(-both)), 2, axis=1)
            proposed = np.concatenate([x[t], state * reset], 1) @ candidate.T + candidate_bias
            state = (1 - update) * np.tanh(proposed) + update * state
            states[t] = state
        return [states, state]

    return by_numpy(node, run, ((n_time, n_batch, n), np.float32), ((n_batch, n), np.float32))
