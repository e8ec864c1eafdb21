"""Groups of TF operations that are one TFLite operator, and that TFLite cannot write apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ...graph.graph import Graph, Operation, Tensor

ROOT_HALF = 0.5**0.5
NEAR = 1e-4  # relative; sources hold these constants in float32 or float16


@dataclass(frozen=True)
class Composite:
    """One builtin in place of everything between `inputs` and an operation's output."""

    kind: str
    inputs: tuple[Tensor, ...]


def recognise(graph: Graph) -> dict[Operation, Composite]:
    """The operations whose output a composite gives."""
    found = {}
    for op in graph.operations:
        x = gelu_input(op) if op.type == "Mul" else None
        if x is not None:
            found[op] = Composite("GELU", (x,))
    return found


def gelu_input(op: Operation) -> Tensor | None:
    """The x of Hendrycks and Gimpel's GELU (arXiv:1606.08415) in its exact form.

        0.5 * x * (1 + erf(x / sqrt(2)))      or      0.5 * x * erfc(-x / sqrt(2))

    in any order of the factors. None when `op` is no such product.
    """
    scale, factors = product(op.outputs[0])
    if len(factors) != 2 or not near(scale, 0.5):
        return None
    for x, gate in (factors, factors[::-1]):
        argument = gate_argument(gate)
        if argument is None:
            continue
        slope, inner = product(argument[0])
        if inner == [x] and near(slope * argument[1], ROOT_HALF):
            return x
    return None


def gate_argument(gate: Tensor) -> tuple[Tensor, float] | None:
    """(y, sign) when `gate` is 1 + erf(y), or erfc(y) with the sign -1."""
    op = gate.op
    if op.type == "Erfc":
        return op.inputs[0], -1.0
    if op.type not in ("Add", "AddV2"):
        return None
    for one, erf in (op.inputs, op.inputs[::-1]):
        if number(one) == 1 and erf.op.type == "Erf":
            return erf.op.inputs[0], 1.0
    return None


def product(tensor: Tensor) -> tuple[float, list[Tensor]]:
    """A tensor as a number times tensors: Mul, Neg and RealDiv by a number are opened."""
    value = number(tensor)
    if value is not None:
        return value, []
    op = tensor.op
    if op.type == "Neg":
        scale, factors = product(op.inputs[0])
        return -scale, factors
    if op.type == "Mul":
        (first, left), (second, right) = (product(t) for t in op.inputs)
        return first * second, left + right
    divisor = number(op.inputs[1]) if op.type == "RealDiv" else None
    if divisor:
        scale, factors = product(op.inputs[0])
        return scale / divisor, factors
    return 1.0, [tensor]


def number(tensor: Tensor) -> float | None:
    """The value of a constant that is one number."""
    if tensor.op.type != "Const":
        return None
    value = np.asarray(tensor.op.get_attr("value"))
    if value.dtype.kind != "f" or value.size == 0 or not np.all(value == value.flat[0]):
        return None
    return float(value.flat[0])


def near(value: float, want: float) -> bool:
    """Whether a constant is meant."""
    return abs(value - want) <= NEAR * abs(want)
