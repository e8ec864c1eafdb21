"""What all functions have in common that branches and loops of Switch and Merge become."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from ..core.graph import Operation, Tensor
from .dataflow_graph import ENTERS, EXITS, ITERATIONS, SWITCHES, Frame, reached
from .element_shapes import ElementShapes

if TYPE_CHECKING:
    import numpy as np

    from .dataflow_graph import ControlFlow, Deadness

    Feeds = Mapping[Tensor, tuple[tuple[int, ...], np.dtype]]
    Item = Operation | Frame
    """What lives or is dead as a whole: an operation or a loop."""

PASSING = frozenset((*SWITCHES, *ENTERS, "LoopCond"))
"""Operations that have no place in functions: their results are their first inputs."""
PLACED = frozenset((*PASSING, *EXITS, *ITERATIONS))
_Known = TypeVar("_Known", bound=Hashable)


class NotFunctionalizable(Exception):
    """Something lives under conditions that are not those of branches and loops."""


class Run:
    """What is to be done by functions.

    Attributes:
        flow: The frames and the deadness of all that is run.
        fetches, feeds: Of the run.
        has_effects: Whether operations that nothing is computed from run, too, and all in order.
        needed: What is run.
        origins: Operations of the functions -> those of the graph.
        elements: The shapes of elements of arrays.
        readers: What reads each tensor, around operations without a place.
        members: The operations of each loop, with those of loops within.
    """

    def __init__(
        self,
        flow: ControlFlow,
        feeds: Feeds,
        fetches: Sequence[Tensor | Operation],
        has_effects: bool,
    ):
        self.flow, self.feeds, self.fetches, self.has_effects = flow, feeds, fetches, has_effects
        before = None if has_effects else self._read_and_decided
        self.needed = set(reached(fetches, feeds, before))
        self.origins: dict[Operation, Operation] = {}
        self.elements = ElementShapes(flow.order, self.source)
        fetched = [self.source(item) for item in fetches if isinstance(item, Tensor)]
        self.readers: dict[Tensor, list[Operation]] = {tensor: [] for tensor in fetched}
        for op in flow.order if has_effects else [x for x in flow.order if x in self.needed]:
            for tensor in () if op.type in PASSING and not self.brings(op) else op.inputs:
                self.readers.setdefault(self.source(tensor), []).append(op)
        self.members = {frame: self._members(frame) for frame in set(flow.frames.values())}

    def _read_and_decided(self, op: Operation) -> list[Operation]:
        """What an operation reads, and what decides on whether it lives."""
        conditions = [x.op for x, _ in self.flow.deadness[op] if isinstance(x, Tensor)]
        return [*(tensor.op for tensor in op.inputs if tensor not in self.feeds), *conditions]

    def is_fed(self, op: Operation) -> bool:
        """Whether all results of an operation are fed."""
        return all(tensor in self.feeds for tensor in op.outputs)

    def _members(self, frame: Frame) -> set[Operation]:
        """The operations of a loop and of those within it."""
        members = set(frame.operations)
        return members.union(*(self._members(child) for child in frame.children))

    @staticmethod
    def brings(op: Operation) -> bool:
        """Whether an operation brings the first value of a loop's variable."""
        return op.type in ENTERS and not op.get_attr("is_constant")

    def source(self, tensor: Tensor) -> Tensor:
        """The tensor that has the value, where it is alive."""
        while tensor not in self.feeds and tensor.op.type in PASSING and not self.brings(tensor.op):
            tensor = tensor.op.inputs[0]
        return tensor

    def waits(self, op: Operation) -> list[Operation]:
        """What an operation waits for besides what it reads."""
        waits = list(op.control_inputs)
        for tensor in op.inputs:
            while tensor not in self.feeds and tensor.op.type in PASSING:
                waits += tensor.op.control_inputs
                tensor = tensor.op.inputs[0]
        return waits

    def deadness(self, item: Item) -> Deadness:
        """The literals that have to hold for something to live."""
        return self.flow.around(item) if isinstance(item, Frame) else self.flow.deadness[item]

    def is_needed(self, item: Item) -> bool:
        """Whether something is computed from an item."""
        return any(op in self.needed for op in self.inner(item))

    def inner(self, item: Item) -> Collection[Operation]:
        """The operations that an item is."""
        return self.members[item] if isinstance(item, Frame) else (item,)

    def before(self, item: Item) -> list[Operation]:
        """What an item needs, whatever frame that is of."""
        if isinstance(item, Operation):
            return self.flow.before(item)
        members = self.members[item]
        operations = members if self.flow.reads_around else item.of_type(ENTERS)
        return [x for op in operations for x in self.flow.before(op) if x not in members]

    def nearest(self, item: Item, known: Mapping[Operation, _Known]) -> list[_Known]:
        """What is known of the operations that an item needs, behind those without a place."""
        units: dict[_Known, None] = {}
        seen, stack = set[Operation](), self.before(item)
        while stack:
            op = stack.pop()
            if op in seen:
                continue
            seen.add(op)
            if op in known:
                units[known[op]] = None
            elif op.type in PASSING:
                stack += self.flow.before(op)
        return list(units)
