"""Branches of TensorFlow 1 whose predicate is a constant, such as `is_training`."""

from __future__ import annotations

import numpy as np

from ...graph.core.graph import Graph, Operation, Tensor
from ...graph.core.order import is_back_edge
from ...graph.core.signatures.attributes import FunctionRef
from ...graph.format.inline import inline
from ...graph.format.rebuild import Copy, rebuild
from ...schema.errors import ModelError

SWITCH, MERGE, PLACEHOLDER_WITH_DEFAULT = "Switch", "Merge", "PlaceholderWithDefault"
KINDS = ("Enter", MERGE, SWITCH)
CALLING = ("If", "StatelessIf", "Case", "StatelessCase")


def has_branches(operations) -> bool:
    """Whether some of the operations may not run: control edges among them have a meaning."""
    return any(op.type.removeprefix("Ref") in KINDS for op in operations)


def resolve_branches(graph: Graph) -> Graph:
    r"""`graph`, or a copy with only the branches taken, where a predicate is known.

                  / 0 -> a \
        x -> Switch         Merge -> y     becomes      x -> b -> y
        True -/   \ 1 -> b /

    Of an If and a Case, the function that is taken is inlined. A placeholder with a default that is
    no input of the graph has its default. Loops, and branches whose predicate is computed, stay as
    they are.

    Raises ModelError when an output belongs to a branch that is not taken.
    """
    while any(op.type in (SWITCH, PLACEHOLDER_WITH_DEFAULT, *CALLING) for op in graph.operations):
        resolver = _Resolver(graph)
        resolved = rebuild(graph, None, resolver)
        for tensor in graph.outputs or ():
            if tensor in resolver.dead_tensors:
                raise ModelError(
                    f"The output '{tensor.name}' belongs to a branch that is not taken"
                )
        if not resolver.has_calls:
            return resolved
        graph = inline(resolved)
    return graph


class _Resolver:
    """Follows what a branch that is not taken leaves without a value."""

    def __init__(self, graph: Graph):
        self.inputs = set(graph.inputs or ())
        self.dead_tensors: set[Tensor] = set()
        self.dead_operations: set[Operation] = set()
        self.has_calls = False

    def __call__(self, op: Operation, copy: Copy) -> bool:
        if op.type == MERGE:
            return self._merge(op, copy)
        waits = any(before in self.dead_operations for before in op.control_inputs)
        if waits or any(tensor in self.dead_tensors for tensor in op.inputs):
            self._drop(op, copy, op.outputs)
            return True
        if op.type == PLACEHOLDER_WITH_DEFAULT and op.outputs[0] not in self.inputs:
            value = copy.tensors[op.inputs[0]]
            copy.maps_to(op, [value], [value.op])
            return True
        if op.type in CALLING:
            return self._call(op, copy)
        return op.type == SWITCH and self._switch(op, copy)

    def _call(self, op: Operation, copy: Copy) -> bool:
        """Replaces an If or a Case by a call of the function that is taken."""
        taken = _branch_taken(op, copy.tensors[op.inputs[0]].value)
        if taken is None:
            return False
        branch, function = taken
        name = f"{op.name}/{branch}"  # operations beside the If have names like cond/Identity
        attrs = {"Tin": op.get_attr("Tin"), "Tout": op.get_attr("Tout"), "f": function}
        inputs, controls = copy.inputs(op)[1:], copy.control_inputs(op)
        call = copy.graph.add("StatefulPartitionedCall", name, inputs, attrs, controls)
        copy.maps_to(op, call.outputs, [call])
        self.has_calls = True
        return True

    def _switch(self, op: Operation, copy: Copy) -> bool:
        predicate = copy.tensors[op.inputs[1]].value
        if predicate is None or predicate.dtype != np.bool_:
            return False
        branch = int(predicate)
        copy.maps_to(op, [copy.tensors[op.inputs[0]]] * 2, [])
        self.dead_tensors.add(op.outputs[1 - branch])
        return True

    def _merge(self, op: Operation, copy: Copy) -> bool:
        if any(is_back_edge(op.type, tensor.op.type) for tensor in op.inputs):
            return False
        alive = [i for i, tensor in enumerate(op.inputs) if tensor not in self.dead_tensors]
        if len(alive) > 1:
            return False
        if not alive:
            self._drop(op, copy, op.outputs)
            return True
        index = copy.graph.constant(np.int32(alive[0]), f"{op.name}/value_index")
        value = copy.tensors[op.inputs[alive[0]]]
        copy.maps_to(op, [value, index], [value.op])
        return True

    def _drop(self, op: Operation, copy: Copy, outputs: list[Tensor]) -> None:
        """Leaves an operation out; nothing that is copied reads what stands for it."""
        self.dead_operations.add(op)
        self.dead_tensors.update(outputs)
        copy.maps_to(op, outputs, [])


def _branch_taken(op: Operation, selector: np.ndarray | None) -> tuple[str, FunctionRef] | None:
    """Which function an If or a Case calls, None where it depends on the model's inputs."""
    if selector is None or selector.ndim or selector.dtype.kind not in "biuf":
        return None
    if not op.type.endswith("Case"):
        branch = "then_branch" if selector else "else_branch"
        return branch, op.get_attr(branch)
    branches = op.get_attr("branches")
    index = int(selector) if 0 <= selector < len(branches) else len(branches) - 1
    return f"branch_{index}", branches[index]
