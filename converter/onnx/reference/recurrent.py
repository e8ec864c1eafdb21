"""RNN, GRU and LSTM in numpy, as ONNX defines them.

The ONNX project's evaluator leaves out `activations`, `clip`, `input_forget` and `sequence_lens`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

Array = np.ndarray
Function = Callable[[Array], Array]

ACTIVATIONS: dict[str, tuple[Callable[..., Array], tuple[float, ...]]] = {
    "affine": (lambda x, a, b: a * x + b, (1.0, 0.0)),
    "elu": (lambda x, a: np.where(x < 0, a * np.expm1(np.minimum(x, 0)), x), (1.0,)),
    "hardsigmoid": (lambda x, a, b: np.clip(a * x + b, 0, 1), (0.2, 0.5)),
    "leakyrelu": (lambda x, a: np.where(x < 0, a * x, x), (0.01,)),
    "relu": (lambda x: np.maximum(x, 0), ()),
    "scaledtanh": (lambda x, a, b: a * np.tanh(b * x), (1.0, 1.0)),
    "sigmoid": (lambda x: 1 / (1 + np.exp(-x)), ()),
    "softplus": (lambda x: np.logaddexp(0, x), ()),
    "softsign": (lambda x: x / (1 + np.abs(x)), ()),
    "tanh": (np.tanh, ()),
    "thresholdedrelu": (lambda x, a: np.where(x > a, x, 0), (1.0,)),
}
"""The function, and the defaults of its alpha and beta."""

STATES = {"RNN": ("Tanh",), "GRU": ("Sigmoid", "Tanh"), "LSTM": ("Sigmoid", "Tanh", "Tanh")}
"""The kinds of layers with their default activations."""


class _Parameters:
    """One direction's weights, and the options of the node."""

    def __init__(self, attributes: Mapping[str, Any], operands: Sequence[Any], d: int) -> None:
        self.W, self.R = (operands[i][d].astype(np.float64) for i in (1, 2))
        bias = operands[3]
        n = len(self.W)
        self.wb, self.rb = np.zeros((2, n)) if bias is None else np.split(bias[d], 2)
        peepholes = operands[7] if len(operands) > 7 else None
        size = self.R.shape[1]
        self.peepholes = np.zeros(3 * size) if peepholes is None else peepholes[d]
        self.clip = attributes.get("clip", np.inf)
        self.is_linear = attributes.get("linear_before_reset", 0)
        self.is_coupled = attributes.get("input_forget", 0)

    def limited(self, function: Function, x: Array) -> Array:
        """The activation of what is clipped."""
        return function(np.clip(x, -self.clip, self.clip))


def _rnn(p: _Parameters, functions: Sequence[Function], x: Array, states: list[Array]):
    (f,), (h,) = functions, states
    return [p.limited(f, x @ p.W.T + h @ p.R.T + p.wb + p.rb)]


def _gru(p: _Parameters, functions: Sequence[Function], x: Array, states: list[Array]):
    (f, g), (h,) = functions, states
    wz, wr, wh = np.split(x @ p.W.T + p.wb, 3, axis=1)
    rz, rr, _ = np.split(h @ p.R.T + p.rb, 3, axis=1)
    update, reset = p.limited(f, wz + rz), p.limited(f, wr + rr)
    weights, bias = np.split(p.R, 3)[2], np.split(p.rb, 3)[2]
    hidden = reset * (h @ weights.T + bias) if p.is_linear else (reset * h) @ weights.T + bias
    return [(1 - update) * p.limited(g, wh + hidden) + update * h]


def _lstm(p: _Parameters, functions: Sequence[Function], x: Array, states: list[Array]):
    (f, g, activation), (h, c) = functions, states
    i, o, forget, cell = np.split(x @ p.W.T + h @ p.R.T + p.wb + p.rb, 4, axis=1)
    pi, po, pf = np.split(p.peepholes, 3)
    i = p.limited(f, i + pi * c)
    forget = 1 - i if p.is_coupled else p.limited(f, forget + pf * c)
    c = forget * c + i * p.limited(g, cell)
    return [p.limited(f, o + po * c) * activation(c), c]


CELLS = {"RNN": _rnn, "GRU": _gru, "LSTM": _lstm}


def _functions(attributes: Mapping[str, Any], names: Sequence[str]) -> Iterator[Function]:
    """The activations, which take alphas and betas in turn."""
    parameters = [list(attributes.get(f"activation_{n}", ())) for n in ("alpha", "beta")]
    for name in names:
        function, defaults = ACTIVATIONS[name.lower()]
        values = [
            left.pop(0) if left else default
            for left, default in zip(parameters, defaults, strict=False)
        ]
        yield lambda x, function=function, values=values: function(x, *values)


def recurrent(kind: str, attributes: Mapping[str, Any], *operands: Any) -> tuple[Array, ...]:
    """All outputs of a layer, and its last states, in the types of its first operand."""
    operands = (*operands, *[None] * (8 - len(operands)))
    x, lengths = operands[0], operands[4]
    by_batch = attributes.get("layout", 0)
    starts = [s if s is None or not by_batch else s.swapaxes(0, 1) for s in operands[5:7]]
    rows = x.swapaxes(0, 1) if by_batch else x
    lengths = np.full(rows.shape[1], len(rows)) if lengths is None else lengths
    n_directions, _, size = operands[2].shape
    names = [n.decode() for n in attributes.get("activations", ())]
    functions = list(_functions(attributes, names or STATES[kind] * n_directions))
    per_direction = len(functions) // n_directions
    n_states = 2 if kind == "LSTM" else 1
    outputs = np.zeros((len(rows), n_directions, rows.shape[1], size))
    finals = np.zeros((n_states, n_directions, rows.shape[1], size))
    directions = {b"forward": (False,), b"reverse": (True,), b"bidirectional": (False, True)}
    backwards = directions[attributes.get("direction", b"forward")]
    for d in range(n_directions):
        parameters = _Parameters(attributes, operands, d)
        of_direction = functions[d * per_direction : (d + 1) * per_direction]
        for n, length in enumerate(lengths):
            steps = range(length)[::-1] if backwards[d] else range(length)
            states = [np.zeros((1, size)) if s is None else s[d, n : n + 1] for s in starts]
            states = states[:n_states]
            for t in steps:
                row = rows[t, n : n + 1].astype(np.float64)
                states = CELLS[kind](parameters, of_direction, row, states)
                outputs[t, d, n] = states[0][0]
            for i, state in enumerate(states):
                finals[i, d, n] = state[0]
    if by_batch:
        outputs, finals = outputs.transpose(2, 0, 1, 3), finals.swapaxes(1, 2)
    return tuple(np.asarray(y, x.dtype) for y in (outputs, *finals))
