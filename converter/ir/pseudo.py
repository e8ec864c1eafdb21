"""Operators that sources mean and TFLite lacks: legal in the IR until `legalize` writes them out.

    ERF x                      2 / sqrt(pi) * the integral of exp(-t**2) from 0 to x
    SOFTPLUS x                 log(exp(x) + 1)
    LAYER_NORM x axes epsilon  (x - mean) / sqrt(variance + epsilon) over some axes

The set is closed: each has its row here and its rule in passes/legalize.py.
"""

from __future__ import annotations

from collections.abc import Callable
from math import erf

import numpy as np

from ...interpreter import registry
from ...interpreter.checks import required
from ...interpreter.node import DynamicResult, Node
from ...schema import flatbuffer, operators
from ...schema.flatbuffer import Record
from ...schema.operators import Operator, parsed

ROWS = """
ERF - x -> y:x ; elementwise bounded
LAYER_NORM - x axes epsilon -> y:x ; rank=x axes=axes
SOFTPLUS - x -> y:x ; elementwise
"""
"""In the form of schema/operator_table.py."""

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
    """The shape of the first operand; the value in float64 where all operands are known."""
    (x, *_) = required(node, 1)
    node.require(x.dtype.name in FLOATS, f"{x.dtype} is not supported, only {', '.join(FLOATS)}")
    function = VALUES[node.kind]

    def compute(x: np.ndarray, *others: np.ndarray | None) -> list[np.ndarray]:
        return [function(x.astype(np.float64), *others).astype(x.dtype)]

    return node.dynamic_result(compute, [x.shape])


def _layer_norm(x: np.ndarray, axes: np.ndarray, epsilon: np.ndarray) -> np.ndarray:
    axis = tuple(axes.ravel())
    variance = x.var(axis, keepdims=True)
    return (x - x.mean(axis, keepdims=True)) / np.sqrt(variance + np.float64(epsilon))


VALUES: dict[str, Callable[..., np.ndarray]] = {
    "ERF": np.vectorize(erf, [np.float64]),
    "LAYER_NORM": _layer_norm,
    "SOFTPLUS": lambda x: np.logaddexp(x, 0.0),
}
"""Pseudo-operator -> what it gives of float64."""
