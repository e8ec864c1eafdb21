"""Only what some results need."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ..core.graph import Graph, Operation, Tensor
from ..core.order import data_and_control_inputs, data_inputs, ordered
from .rebuild import Copy, rebuild


def prune(graph: Graph, fetches: Iterable[Tensor | Operation] | None = None) -> Graph:
    """A copy of `graph` with only the operations that `fetches` need, and its inputs.

    A control edge from an operation that neither has nor waits for any state orders nothing, and is
    left out. `fetches` become the outputs and control outputs of the copy; by default those of the
    graph stay.
    """
    if fetches is None:
        fetches = [*(graph.outputs or ()), *graph.control_outputs]
    fetches = list(fetches)
    stateful = _operations_with_state(graph)

    def controls(op: Operation) -> list[Operation]:
        return [other for other in op.control_inputs if other in stateful]

    def replace(op: Operation, copy: Copy) -> bool:
        ordering = controls(op)
        if len(ordering) == len(op.control_inputs):
            return False
        ends = dict.fromkeys(new for other in ordering for new in copy.controls[other])
        new = copy.add(op, control_inputs=ends)
        copy.maps_to(op, new.outputs, [new])
        return True

    def before(op: Operation) -> list[Operation]:
        return data_inputs(op) + controls(op)

    pruned = rebuild(graph, _needed(graph, fetches, controls), replace, before)
    pruned.outputs = [pruned.get_tensor(t.name) for t in fetches if isinstance(t, Tensor)]
    pruned.control_outputs = [
        pruned.get_operation(op.name) for op in fetches if isinstance(op, Operation)
    ]
    return pruned


def _needed(
    graph: Graph,
    fetches: list[Tensor | Operation],
    controls: Callable[[Operation], list[Operation]],
) -> list[Operation]:
    """The operations that `fetches` need, around loops too, in the graph's order."""
    pending = [item.op if isinstance(item, Tensor) else item for item in fetches]
    needed = set(pending)
    while pending:
        op = pending.pop()
        for other in [tensor.op for tensor in op.inputs] + controls(op):
            if other not in needed:
                needed.add(other)
                pending.append(other)
    return [op for op in graph.operations if op in needed]


def _operations_with_state(graph: Graph) -> set[Operation]:
    """The operations that have state or an effect, or come after one that has."""
    stateful: set[Operation] = set()
    for op in ordered(graph.operations, data_and_control_inputs):
        signature = op.signature
        if (
            signature is None
            or signature.is_stateful
            or any(before in stateful for before in data_and_control_inputs(op))
        ):
            stateful.add(op)
    return stateful
