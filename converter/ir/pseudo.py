"""Operators that sources mean and TFLite lacks: legal in the IR until `legalize` writes them out.

    ERF x                      2 / sqrt(pi) * the integral of exp(-t**2) from 0 to x
    SOFTPLUS x                 log(exp(x) + 1)
    LAYER_NORM x axes epsilon  (x - mean) / sqrt(variance + epsilon) over some axes
    RNN_SEQUENCE               h = a(x @ weights.T + h @ recurrent.T + bias) at each step of x
    LSTM_SEQUENCE              the same of gates i, f, g, o one under another in the weights:
                               c = s(f) * c + s(i) * a(g), h = s(o) * a(c)

Sequences are [batch, steps, k], or [steps, batch, k] where `time_major` is true; the result are all
h. States start from zeros where they are omitted. `activation` is the number of a in the schema,
and s the logistic function.

The set is closed: each has its row here and its rule in passes/legalize.py.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import erf

import numpy as np

from ...interpreter import registry
from ...interpreter.checks import rank, required
from ...interpreter.plan.node import DynamicResult, Node
from ...schema import flatbuffer, operators
from ...schema.flatbuffer import Record
from ...schema.operators import Operator, parsed
from ...schema.tables import ACTIVATION_FUNCTION_TYPE

ROWS = """
ERF - x -> y:x ; elementwise bounded
LAYER_NORM - x axes epsilon -> y:x ; rank=x axes=axes
LSTM_SEQUENCE - x weights recurrent bias activation time_major [hidden] [cell] -> y:x ; rank=3
RNN_SEQUENCE - x weights recurrent bias activation time_major [hidden] -> y:x ; rank=3
SOFTPLUS - x -> y:x ; elementwise
"""
"""In the form of schema/operator_table.py."""

SEQUENCES = ("LSTM_SEQUENCE", "RNN_SEQUENCE")
FLOATS = ("float32", "float16", "bfloat16")
PSEUDO = {row.kind: row for row in map(parsed, ROWS.strip().splitlines())}


def operator(kind: str) -> Operator:
    """The row of a builtin or pseudo-operator; raises LookupError when there is none."""
    return PSEUDO[kind] if kind in PSEUDO else operators.known(kind)


def options_class(kind: str) -> type[Record] | None:
    """The options record of an operator; None for one without, as all pseudo-operators are."""
    return None if kind in PSEUDO else flatbuffer.options_class(kind)


def having(word: str) -> frozenset[str]:
    """The builtin and pseudo-operators with a trait or a fact."""
    return operators.having(word) | {kind for kind, row in PSEUDO.items() if row.has(word)}


def is_pure(kind: str) -> bool:
    """Whether an operator only computes its results, and the same from equal operands."""
    return kind in PSEUDO or registry.is_pure(kind)


def prepare_of(kind: str) -> registry.Prepare:
    """What checks a node and infers its results; raises LookupError when there is none."""
    return _prepare if kind in PSEUDO else registry.prepare_of(kind)


def _prepare(node: Node) -> DynamicResult:
    """The shape of the first operand, or of the states at all steps; the value in float64 where all
    operands are known.
    """
    (x, *_) = required(node, 1)
    node.require(x.dtype.name in FLOATS, f"{x.dtype} is not supported, only {', '.join(FLOATS)}")
    function = VALUES[node.kind]

    def compute(x: np.ndarray, *others: np.ndarray | None) -> list[np.ndarray]:
        return [function(x.astype(np.float64), *others).astype(x.dtype)]

    shape = x.shape
    if node.kind in SEQUENCES:
        rank(node, "x", x, 3)
        shape = (*x.shape[:2], required(node, 3)[2].shape[1])
    return node.dynamic_result(compute, [shape])


def _layer_norm(x: np.ndarray, axes: np.ndarray, epsilon: np.ndarray) -> np.ndarray:
    axis = tuple(axes.ravel())
    variance = x.var(axis, keepdims=True)
    return (x - x.mean(axis, keepdims=True)) / np.sqrt(variance + np.float64(epsilon))


def _sequence(
    n_states: int,
    x: np.ndarray,
    weights: np.ndarray,
    recurrent: np.ndarray,
    bias: np.ndarray,
    activation: np.ndarray,
    time_major: np.ndarray,
    *states: np.ndarray | None,
) -> np.ndarray:
    """The first state after each step, of cells with one or two states."""
    function = ACTIVATIONS[int(activation)]
    steps = x if time_major else x.swapaxes(0, 1)
    shape = (steps.shape[1], recurrent.shape[1])
    h, c = (
        np.zeros(shape) if state is None else state.astype(np.float64)
        for state in (*states, None, None)[:2]
    )
    rows = []
    for step in steps:
        sums = step @ weights.T + h @ recurrent.T + bias
        if n_states == 1:
            h = function(sums)
        else:
            i, f, g, o = np.split(sums, 4, axis=1)
            c = _logistic(f) * c + _logistic(i) * function(g)
            h = _logistic(o) * function(c)
        rows.append(h)
    y = np.stack(rows) if rows else np.zeros((0, *shape))
    return y if time_major else y.swapaxes(0, 1)


def _logistic(x: np.ndarray) -> np.ndarray:
    return np.exp(-np.logaddexp(0.0, -x))


def _clamped(limits: tuple[float, float], x: np.ndarray) -> np.ndarray:
    return np.clip(x, *limits)


ACTIVATIONS: dict[int, Callable[[np.ndarray], np.ndarray]] = {
    ACTIVATION_FUNCTION_TYPE["NONE"]: lambda x: x,
    **{
        ACTIVATION_FUNCTION_TYPE[kind]: partial(_clamped, operators.known(kind).limits)
        for kind in ("RELU", "RELU_N1_TO_1", "RELU6")
    },
    ACTIVATION_FUNCTION_TYPE["TANH"]: np.tanh,
}
"""Of sequences, by their number in the schema."""
VALUES: dict[str, Callable[..., np.ndarray]] = {
    "ERF": np.vectorize(erf, [np.float64]),
    "LAYER_NORM": _layer_norm,
    "LSTM_SEQUENCE": partial(_sequence, 2),
    "RNN_SEQUENCE": partial(_sequence, 1),
    "SOFTPLUS": lambda x: np.logaddexp(x, 0.0),
}
"""Pseudo-operator -> what it gives of float64."""
