"""Copies of graphs in which some operations become others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from ..core.graph import Graph, Operation, Tensor
from ..core.order import data_and_control_inputs, is_back_edge, ordered

if TYPE_CHECKING:
    from ..core.protocols import AttrValue


class Copy:
    """A graph that is being made from another one.

    `graph` is the new graph; `tensors` maps tensors of the old one to those of the new one, and
    `controls` an old operation to the new ones that have to be waited for in its place.
    """

    def __init__(self, graph: Graph):
        self.graph = graph
        self.tensors: dict[Tensor, Tensor] = {}
        self.controls: dict[Operation, list[Operation]] = {}

    def inputs(self, op: Operation) -> list[Tensor | None]:
        """What the new graph has for the inputs of `op`; None for a back edge not made yet."""
        return [
            None if is_back_edge(op.type, tensor.op.type) else self.tensors[tensor]
            for tensor in op.inputs
        ]

    def control_inputs(self, op: Operation) -> list[Operation]:
        """What the new graph has for the control inputs of `op`, each once."""
        controls = (new for before in op.control_inputs for new in self.controls.get(before, ()))
        return list(dict.fromkeys(controls))

    def add(
        self,
        op: Operation,
        name: str | None = None,
        control_inputs: Iterable[Operation] | None = None,
        attrs: Mapping[str, AttrValue] | None = None,
    ) -> Operation:
        """Copies `op` into the new graph, by default under its own name."""
        controls = self.control_inputs(op) if control_inputs is None else control_inputs
        return self.graph.add(
            op.type,
            op.name if name is None else name,
            self.inputs(op),
            op.attrs if attrs is None else attrs,
            controls,
            op.device,
            len(op.outputs),
            op if attrs is None or attrs is op.attrs else None,
        )

    def maps_to(self, op: Operation, tensors: Iterable[Tensor], ends: Iterable[Operation]) -> None:
        """Notes that `tensors` are the new outputs of `op`, and `ends` what to wait for."""
        self.tensors.update(zip(op.outputs, tensors, strict=True))
        self.controls[op] = list(ends)

    def close_loops(self, op: Operation) -> None:
        """Makes the back edges of a copied Merge."""
        for position, tensor in enumerate(op.inputs):
            if is_back_edge(op.type, tensor.op.type):
                self.tensors[op.outputs[0]].op.set_input(position, self.tensors[tensor])


def rebuild(
    graph: Graph,
    operations: Iterable[Operation] | None = None,
    replace: Callable[[Operation, Copy], bool] | None = None,
    before: Callable[[Operation], Iterable[Operation]] = data_and_control_inputs,
) -> Graph:
    """A copy of `graph`, or of those `operations` and all they read.

    Args:
        graph: Is left as it is.
        operations: What to copy besides the graph's inputs; everything by default. Outputs that are
            not copied are outputs no more.
        replace: Called with each operation after those it reads; returns False to have it copied,
            or True after it told `Copy.maps_to` what takes its place.
        before: What an operation waits for; control edges from elsewhere are left out.
    """
    copy = Copy(Graph(graph.functions))
    selected = graph.operations if operations is None else operations
    inputs = [tensor.op for tensor in graph.inputs or ()]
    order = _with_loops([*inputs, *selected], before)
    for op in order:
        if replace is None or not replace(op, copy):
            new = copy.add(op)
            copy.maps_to(op, new.outputs, [new])
    for op in order:
        copy.close_loops(op)
    if graph.inputs is not None:
        copy.graph.inputs = [copy.tensors[tensor] for tensor in graph.inputs]
    if graph.outputs is not None:
        copied = [tensor for tensor in graph.outputs if tensor in copy.tensors]
        copy.graph.outputs = [copy.tensors[tensor] for tensor in copied]
    ends = [new for op in graph.control_outputs for new in copy.controls.get(op, ())]
    copy.graph.control_outputs = list(dict.fromkeys([*copy.graph.control_outputs, *ends]))
    return copy.graph


def _with_loops(
    operations: list[Operation], before: Callable[[Operation], Iterable[Operation]]
) -> list[Operation]:
    """`operations` and all they need in order, what closes their loops included."""
    order = ordered(operations, before)
    while True:
        included = set(order)
        ends = [
            tensor.op
            for op in order
            for tensor in op.inputs
            if tensor.op not in included and is_back_edge(op.type, tensor.op.type)
        ]
        if not ends:
            return order
        order = ordered([*order, *ends], before)
