"""What a MetaGraphDef says of branches and loops: CondContextDef and WhileContextDef messages."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from ...schema import proto

if TYPE_CHECKING:
    from ..core.graph import Operation, Tensor
    from ..core.protocols import AttrValue


class FlowContext(ABC):
    """One branch of a condition, or a loop.

    Attributes:
        collection: The collection that lists the outermost ones.
        name: Its name.
        outer: What is directly around it.
        nested: The branches and loops within it.
        pivots: What operations without inputs wait for, so that they live as long as it does.
    """

    collection: str

    def __init__(self, name: str, outer: FlowContext | None, pivots: list[Operation]):
        self.name = name
        self.pivots = pivots
        self.nested: list[FlowContext] = []
        self._values: dict[str, None] = {}
        self._external: dict[str, str] = {}
        self.outer = outer
        if outer is not None:
            outer.nested.append(self)

    @abstractmethod
    def is_free(self, inputs: Sequence[Tensor | None]) -> bool:
        """Whether nothing of these inputs tells when an operation lives."""

    @abstractmethod
    def message(self, rename: Callable[[str], str]) -> proto.Message:
        """Its message, with all names renamed."""

    def include(self, tensors: Iterable[Tensor]) -> None:
        """Notes tensors within it."""
        self._values.update((tensor.name, None) for tensor in tensors)

    def bring(self, outside: Tensor, inside: Tensor) -> None:
        """Notes what stands within it for a tensor outside."""
        self._values.update({outside.name: None, inside.name: None})
        self._external[outside.name] = inside.name

    def _fill(self, message: proto.Message, rename: Callable[[str], str]) -> proto.Message:
        """What both messages have."""
        message.context_name = rename(self.name)
        message.values_def.values.extend(sorted(map(rename, self._values)))
        for outside, inside in self._external.items():
            message.values_def.external_values[rename(outside)] = rename(inside)
        for context in self.nested:
            field = "cond_ctxt" if isinstance(context, BranchContext) else "while_ctxt"
            getattr(message.nested_contexts.add(), field).CopyFrom(context.message(rename))
        return message


class BranchContext(FlowContext):
    """One branch of a condition."""

    collection = "cond_context"

    def __init__(
        self, name: str, outer: FlowContext | None, pivot: Operation, predicate: Tensor, side: int
    ):
        super().__init__(name, outer, [pivot])
        self._predicate, self._side = predicate, side
        self._pivot = pivot.outputs[0]
        self.bring(predicate, predicate)
        self._values[self._pivot.name] = None

    def include(self, tensors: Iterable[Tensor]) -> None:
        """Notes tensors within it and what is around it."""
        listed = list(tensors)
        super().include(listed)
        if self.outer is not None:
            self.outer.include(listed)

    def is_free(self, inputs: Sequence[Tensor | None]) -> bool:
        """Whether there are none: all from around comes through a Switch."""
        return not inputs

    def message(self, rename: Callable[[str], str]) -> proto.Message:
        """A CondContextDef."""
        message = proto.CondContextDef(
            pred_name=rename(self._predicate.name),
            pivot_name=rename(self._pivot.name),
            branch=self._side,
        )
        return self._fill(message, rename)


class LoopContext(FlowContext):
    """A loop.

    Attributes:
        enters, merges, bodies, exits: What brings its variables in, holds them, gives them to the
            body, and out.
        condition: Its LoopCond.
        keeps_gradients: Whether gradients flow through it.
    """

    collection = "while_context"

    def __init__(self, name: str, outer: FlowContext | None, parallel_iterations: AttrValue):
        super().__init__(name, outer, [])
        self._parallel_iterations = parallel_iterations
        self.enters: list[Operation] = []
        self.merges: list[Operation] = []
        self.bodies: list[Operation] = []
        self.exits: list[Operation] = []
        self.condition: Operation | None = None
        self.keeps_gradients = True

    def is_free(self, inputs: Sequence[Tensor | None]) -> bool:
        """Whether all are the same in all iterations."""
        return all(tensor is not None and _is_invariant(tensor.op) for tensor in inputs)

    def message(self, rename: Callable[[str], str]) -> proto.Message:
        """A WhileContextDef."""
        assert self.condition is not None  # the writer has set it
        message = proto.WhileContextDef(
            parallel_iterations=self._parallel_iterations,
            back_prop=self.keeps_gradients,
            pivot_name=rename(self.condition.outputs[0].name),
            pivot_for_pred_name=rename(self.merges[0].outputs[0].name),
            pivot_for_body_name=rename(self.bodies[0].outputs[0].name),
            loop_exit_names=[rename(op.outputs[0].name) for op in self.exits],
            loop_enter_names=[rename(op.outputs[0].name) for op in self.enters],
        )
        return self._fill(message, rename)


def _is_invariant(op: Operation) -> bool:
    return op.type in ("Enter", "RefEnter") and bool(op.get_attr("is_constant"))
