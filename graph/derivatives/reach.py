"""To which variables of a loop gradients of some of its results may flow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ..core.function_graph import FunctionGraph
from ..core.signatures.attributes import FunctionRef
from .backward_graph import flows, source_of

if TYPE_CHECKING:
    from ..core.graph import Graph, Tensor

LOOPS = ("While", "StatelessWhile")


def reached_variables(body: Graph, results: Iterable[int]) -> list[int]:
    """Their positions, in order: those that a path leads to from `results`, in any turn."""
    inputs, outputs = body.inputs or (), body.outputs or ()
    arguments = {tensor: i for i, tensor in enumerate(inputs)}
    if isinstance(body, FunctionGraph):
        arguments |= {source_of(body, tensor): i for i, tensor in enumerate(inputs)}
    reached = set(results)
    pending = [outputs[i] for i in reached]
    seen: set[Tensor] = set()
    while pending:
        tensor = pending.pop()
        if tensor in seen or not flows(tensor):
            continue
        seen.add(tensor)
        place = arguments.get(tensor)
        if place is None:
            pending += _operands(tensor)
        elif place not in reached:
            reached.add(place)
            pending.append(outputs[place])
    return sorted(reached)


def _operands(tensor: Tensor) -> Sequence[Tensor]:
    """What an operation computes a tensor from; of a loop inside, what reaches this result."""
    op = tensor.op
    reference = op.attrs.get("body") if op.type in LOOPS else None
    if not isinstance(reference, FunctionRef):
        return op.inputs
    body = op.graph.functions.body(reference)
    return [op.inputs[i] for i in reached_variables(body, [tensor.value_index])]
