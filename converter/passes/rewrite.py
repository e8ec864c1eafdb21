"""What passes look at and build with."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ...schema.tables import ACTIVATION_FUNCTION_TYPE
from ..ir.builder import Builder
from ..ir.graph import Graph, Op, Tensor
from ..ir.pseudo import having

NONE = ACTIVATION_FUNCTION_TYPE["NONE"]


def names(text: str) -> frozenset[str]:
    """The words of `text`."""
    return frozenset(text.split())


UNARY = having("elementwise")
BINARY = having("broadcast")
COMMUTATIVE = having("commutative")
REDUCTIONS = having("reduction")
RESHAPES = having("view")
LINEAR = having("linear")
FUSES_ACTIVATION = having("activation")


def ops_of(graph: Graph, *kinds: str) -> list[Op]:
    """The ops of these kinds, as they are now."""
    return [op for op in graph.ops if op.kind in kinds]


def producer_of(tensor: Tensor | None, *kinds: str) -> Op | None:
    """The op that gives `tensor` where it is of one of these kinds, else None."""
    if tensor is None or tensor.producer is None or tensor.producer.kind not in kinds:
        return None
    return tensor.producer


def may_learn(value: np.ndarray) -> bool:
    """Whether a constant may be weights: several real numbers."""
    return value.dtype.kind == "f" and value.size > 1


def constant_of(tensor: Tensor | None) -> np.ndarray | None:
    """The data of a constant tensor; None for all others."""
    return tensor.value if tensor is not None and tensor.is_constant else None


def scalar_of(tensor: Tensor | None) -> float | None:
    """The number in a constant of one element; None for all others."""
    value = constant_of(tensor)
    if value is None or value.size != 1 or value.dtype.kind not in "iuf":
        return None
    return value.ravel()[0].item()


def split_constant(op: Op) -> tuple[Tensor, np.ndarray, int] | None:
    """(other input, constant, position of the constant) of an op with two inputs, one constant."""
    if len(op.inputs) != 2:
        return None
    for i in (1, 0):
        value, other = constant_of(op.inputs[i]), op.inputs[1 - i]
        if value is not None and other is not None and not other.is_constant:
            return other, value, i
    return None


def activation_of(op: Op) -> int:
    """The number of the op's fused activation; NONE for ops that cannot have one."""
    return getattr(op.options, "fused_activation_function", NONE)


def same_shape(first: Tensor, second: Tensor) -> bool:
    """Whether both have the same dimensions, unknown ones included."""
    return first.sizes is not None and first.sizes == second.sizes


def is_float(tensor: Tensor | None) -> bool:
    """Whether it holds real floats."""
    return tensor is not None and (tensor.dtype.kind == "f" or tensor.dtype.name == "bfloat16")


def with_options(op: Op, **fields: Any) -> None:
    """Gives `op` a copy of its options with other values in `fields`."""
    op.options = type(op.options)(**{**options_of(op), **fields})


def options_of(op: Op) -> dict[str, Any]:
    """The fields of the op's options, as keywords for the Builder."""
    options = op.options
    return {} if options is None else {n: getattr(options, n) for n in type(options).__slots__}


def builder(graph: Graph, op: Op) -> Builder:
    """A Builder whose ops go right before `op` and carry its origin."""
    return Builder(graph, before=op)


def builder_after(graph: Graph, tensor: Tensor) -> Builder:
    """A Builder whose ops go right after the op that gives `tensor`, and carry its origin."""
    if tensor.producer is None:
        raise ValueError(f"'{tensor.name}' must be the result of an op")
    b = Builder(graph, before=graph.ops[graph.position(tensor.producer) + 1])
    b.origin(tensor.producer.origin)
    return b


def shares_graphs(graph: Graph, op: Op) -> bool:
    """Whether another operator calls the graphs that `op` calls."""
    return sum(other.graphs == op.graphs for other in graph.ops if other.graphs) > 1


def replace_results(
    graph: Graph, op: Op, positions: Iterable[int], results: Iterable[Tensor]
) -> None:
    """Lets `results` stand for the results of `op` at `positions`, and removes `op`.

    They take over the names and what is known of the sizes. Nobody may read the others.
    """
    for i, result in zip(positions, results, strict=True):
        old = op.outputs[i]
        result.origin, result.name, result.sizes = old.origin, old.name, old.sizes
        graph.replace(old, result)
    graph.remove(op)


def swap(graph: Graph, op: Op, result: Tensor) -> None:
    """Lets `result` stand for the result of `op`, to which it is equal, and removes `op`."""
    old = op.output
    if result.producer is not None and result.origin is None:
        result.origin = old.origin
        result.name = old.name
    graph.replace(old, result)
    graph.remove(op)


def hand_over(result: Tensor, old: Tensor) -> None:
    """Lets the op that gives `result`, which nothing reads, give `old`, and the other way round.

    x -> A -> old -> ...; x -> B -> result      becomes      x -> B -> old -> ...; x -> A -> result
    """
    new_op, old_op = result.producer, old.producer
    if new_op is None or old_op is None:
        raise ValueError(f"'{result.name}' and '{old.name}' must be results of ops")
    new_op.outputs[new_op.outputs.index(result)] = old
    old_op.outputs[old_op.outputs.index(old)] = result
    result.producer, old.producer = old_op, new_op
