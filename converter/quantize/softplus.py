"""The logarithm of 1 + exp(x), in operators whose integers lose little.

    x -> EXP -> ADD 1 -> LOG -> y       becomes

    x -> RELU -> a;  x -> ABS -> LOGISTIC -> LOG -> b;  a - b -> y

The range of EXP grows with the largest x: its integers, and the segments of the table of LOG, are
too wide for what lies near 1. LOGISTIC of a positive number lies between 0.5 and 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from ..passes.rewrite import (
    activation_of,
    builder,
    hand_over,
    ops_of,
    producer_of,
    scalar_of,
    split_constant,
)
from .cell_rewrite import remove_unread
from .rules import is_float32, rules_of

if TYPE_CHECKING:
    from ..ir.graph import Graph, Op, Tensor
    from .scheme import Scheme

KINDS = ("RELU", "ABS", "LOGISTIC", "LOG", "SUB")


def rewrite_softplus(graphs: Iterable[Graph], schemes_of: Callable[[Op], list[Scheme]]) -> None:
    """Writes softplus that is to work on integers in its other form."""
    for graph in graphs:
        for op in ops_of(graph, "LOG"):
            x = softplus_operand(graph, op)
            if x is not None and has_kernels(schemes_of(op)):
                replace(graph, op, x)


def has_kernels(schemes: list[Scheme]) -> bool:
    """Whether the first scheme has integer kernels for the other form."""
    return bool(schemes) and all(kind in rules_of(schemes[0].code) for kind in KINDS)


def parts_in_float(graph: Graph, scheme: Scheme) -> set[Tensor]:
    """What lies within a softplus that a scheme has no kernels for, with EXP and LOG in float.

    Its sum alone would be in integers, of a range that grows with exp(x).
    """
    if rules_of(scheme.code).keys() & {"EXP", "LOG"}:
        return set()
    logs = [op for op in ops_of(graph, "LOG") if softplus_operand(graph, op) is not None]
    sums = [op.inputs[0].producer for op in logs]
    parts = {tensor for op in sums if op is not None for tensor in (op.output, *op.inputs)}
    return {tensor for tensor in parts if not tensor.is_constant}


def softplus_operand(graph: Graph, log: Op) -> Tensor | None:
    """The x of log(1 + exp(x)); None for another logarithm, or where a part is read elsewhere."""
    add = producer_of(log.inputs[0], "ADD")
    parts = None if add is None or activation_of(add) else split_constant(add)
    if add is None or parts is None or scalar_of(add.inputs[parts[2]]) != 1:
        return None
    exp = producer_of(parts[0], "EXP")
    if exp is None or not is_float32(log.output):
        return None
    if any(len(op.output.readers) > 1 or graph.is_output(op.output) for op in (add, exp)):
        return None
    return exp.inputs[0]


def replace(graph: Graph, log: Op, x: Tensor) -> None:
    """Puts the other form in the place of a softplus."""
    b = builder(graph, log)
    hand_over(b.SUB(b.RELU(x), b.LOG(b.LOGISTIC(b.ABS(x)))), log.output)
    remove_unread(graph, log)
