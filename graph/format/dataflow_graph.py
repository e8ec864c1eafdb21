"""Branches and loops as TensorFlow 1 writes them, as they stand in the graph: frames and deadness.

A loop is a frame: Enter brings a value into it, Exit out of it, NextIteration to its next
iteration. A Switch kills one of its outputs; what reads something dead is dead, and a Merge gives
the input that is alive.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

from ...schema import dtypes
from ..core.function_graph import VARIABLES
from ..core.graph import Operation, Tensor
from ..core.operation_errors import failed
from ..core.order import copied_from, ordered

if TYPE_CHECKING:
    import numpy as np

ENTERS = ("Enter", "RefEnter")
EXITS = ("Exit", "RefExit")
ITERATIONS = ("NextIteration", "RefNextIteration")
MERGES = ("Merge", "RefMerge")
SWITCHES = ("RefSwitch", "Switch")
TRIGGER = "ControlTrigger"
CONTROL = frozenset((*ENTERS, *EXITS, *ITERATIONS, *MERGES, *SWITCHES, "LoopCond"))
"""The operations that branches and loops are made of."""
_PASSING = frozenset((*CONTROL, "Identity", "RefIdentity"))
"""Operations whose first output is their first input, where it is alive."""

Literal: TypeAlias = "tuple[object, int]"
"""A condition and its value; an operation and -1 where it is not known what lets it live."""
Deadness: TypeAlias = "frozenset[Literal]"
"""Literals that all have to hold for something to be alive."""
ALWAYS: Deadness = frozenset()


def has_control_flow(operations: Iterable[Operation]) -> bool:
    """Whether operations are executed as dataflow: some may be dead, or run several times."""
    return any(op.type in CONTROL for op in operations)


def reached(
    fetches: Iterable[Tensor | Operation],
    fed: Collection[Tensor],
    before: Callable[[Operation], Iterable[Operation]] | None = None,
) -> list[Operation]:
    """All that `fetches` need, back edges of loops included, in the order of the graph.

    `before` says what an operation needs: by default all that it reads and waits for.
    """
    stack = [item.op if isinstance(item, Tensor) else item for item in fetches if item not in fed]
    seen = set(stack)
    while stack:
        op = stack.pop()
        for other in _before(op, fed) if before is None else before(op):
            if other not in seen:
                seen.add(other)
                stack.append(other)
    return [op for op in next(iter(seen)).graph.operations if op in seen] if seen else []


def _is_fed(op: Operation, fed: Collection[Tensor]) -> bool:
    return bool(op.outputs) and all(tensor in fed for tensor in op.outputs)


def _before(op: Operation, fed: Collection[Tensor]) -> Iterator[Operation]:
    """What an operation reads or waits for and is not fed."""
    yield from (tensor.op for tensor in op.inputs if tensor not in fed)
    yield from (other for other in op.control_inputs if not _is_fed(other, fed))


class Frame:
    """A loop; or the graph around all loops, which has no name.

    Attributes:
        name: What its Enter operations say.
        parent: The frame around it.
        operations: Those within, its Enter and Exit operations among them, but not those of loops
            within it.
        children: The loops within it.
    """

    def __init__(self, name: str, parent: Frame | None):
        self.name, self.parent = name, parent
        self.operations: list[Operation] = []
        self.children: list[Frame] = []

    def of_type(self, types: Collection[str]) -> list[Operation]:
        """Its operations of some types."""
        return [op for op in self.operations if op.type in types]

    def is_within(self, other: Frame) -> bool:
        """Whether it is another one or a loop within it."""
        frame: Frame | None = self
        while frame is not None and frame is not other:
            frame = frame.parent
        return frame is not None


class ControlFlow:
    """The frames of what is run, and what each operation has to have to be alive.

    Args:
        operations: What is run.
        fed: The tensors that have a value before.
        reads_around: Whether operations of loops may read what is around them without an Enter, and
            a branch may give what is around it, as where functions with constants were inlined.

    Attributes:
        frames: The frame of each operation; an Exit is of the loop that it leaves.
        waiting: Those that wait for an operation.
        deadness: Of each operation; for a Switch of itself, not of its outputs.

    Raises:
        InvalidArgumentError: An operation reads tensors of different frames.
        Cycle: Operations wait for one another.
    """

    def __init__(
        self, operations: Sequence[Operation], fed: Collection[Tensor], reads_around: bool = False
    ):
        self.fed, self.reads_around = fed, reads_around
        self.root = Frame("", None)
        self.frames: dict[Operation, Frame] = {}
        self.order = ordered(operations, self.before)
        self.waiting: dict[Operation, list[Operation]] = {}
        for op in self.order:
            for other in op.control_inputs:
                self.waiting.setdefault(other, []).append(op)
        self._find_frames()
        self._irregular: set[Frame] = set()
        self.deadness: dict[Operation, Deadness] = {}
        self._find_deadness()

    def before(self, op: Operation) -> list[Operation]:
        """What runs before an operation in the same iteration; loops run as a whole."""
        return [x for x in _before(op, self.fed) if x.type not in ITERATIONS]

    def frame_behind(self, op: Operation) -> Frame:
        """The frame of what reads the results of an operation."""
        frame = self.frames[op]
        return frame.parent if op.type in EXITS and frame.parent is not None else frame

    def _find_frames(self) -> None:
        named: dict[str, Frame] = {}
        for op in self.order:
            frame = self._common_frame(op)
            if op.type in ENTERS:
                name = op.get_attr("frame_name").decode()
                inner = named.get(name)
                if inner is None:
                    inner = named[name] = Frame(name, frame)
                    frame.children.append(inner)
                if inner.parent is not frame:
                    raise failed(op, f"Mismatched parent frames for frame '{name}'")
                frame = inner
            self.frames[op] = frame
            frame.operations.append(op)

    def _common_frame(self, op: Operation) -> Frame:
        """The frame of all that an operation reads and waits for."""
        first: Operation | None = None
        for other in self.before(op):
            frame = self.frame_behind(other)
            if first is not None and self.reads_around:
                if frame.is_within(self.frame_behind(first)):
                    first = other
                    continue
                if self.frame_behind(first).is_within(frame):
                    continue
            if first is not None and frame is not self.frame_behind(first):
                raise failed(
                    op,
                    f"{{{{node {op.name}}}}} has inputs from different frames. The input "
                    f"{{{{node {first.name}}}}} is in frame '{self.frame_behind(first).name}'. "
                    f"The input {{{{node {other.name}}}}} is in frame '{frame.name}'.",
                )
            first = first or other
        fed = any(tensor in self.fed for tensor in op.inputs)
        if first is None or (fed and self.frame_behind(first) is self.root):
            return self.root
        if fed:
            raise failed(
                op,
                f"{{{{node {op.name}}}}} has inputs from different frames: what is fed is in frame "
                f"'', {{{{node {first.name}}}}} in frame '{self.frame_behind(first).name}'",
            )
        return self.frame_behind(first)

    def _find_deadness(self) -> None:
        """Deadness of all; loops whose variables do not live together are `_irregular`."""
        while True:
            self.deadness.clear()
            for op in self.order:
                self.deadness[op] = self._deadness_of(op)
            frames = {self.frames[op] for op in self.order} - {self.root} - self._irregular
            irregular = {frame for frame in frames if not self._lives_together(frame)}
            if not irregular:
                return
            self._irregular |= irregular

    def is_regular(self, frame: Frame) -> bool:
        """Whether all variables of a loop live, or none, in each iteration and behind it."""
        return frame not in self._irregular

    def of_tensor(self, tensor: Tensor) -> Deadness:
        """What lets a tensor live."""
        if tensor in self.fed:
            return ALWAYS
        op = tensor.op
        if op.type not in SWITCHES:
            return self.deadness[op]
        return self.deadness[op] | {(copied_from(op.inputs[1]), tensor.value_index)}

    def _deadness_of(self, op: Operation) -> Deadness:
        if op.type == TRIGGER:
            return ALWAYS
        if op.type in MERGES:
            return self._of_merge(op)
        if op.type in EXITS:
            frame = self.frames[op]
            return frozenset([(op, -1)]) if frame in self._irregular else self.around(frame)
        parts = [self.of_tensor(tensor) for tensor in op.inputs]
        waits = [x for x in op.control_inputs if x in self.deadness and x.type not in ITERATIONS]
        return ALWAYS.union(*parts, *(self.deadness[x] for x in waits))

    def _of_merge(self, op: Operation) -> Deadness:
        first = [t for t in op.inputs if t in self.fed or t.op.type not in ITERATIONS]
        if len(first) < len(op.inputs):
            if self.frames[op] in self._irregular or not first:
                return frozenset([(op, -1)])
            return ALWAYS.union(*map(self.of_tensor, first))
        sides = self.sides(op)
        both = frozenset[Literal].intersection(*sides)
        if len(sides) == 2:
            beside = [side - both for side in sides]
            if all(len(x) == 1 for x in beside):
                ((condition, value),), ((other, other_value),) = beside
                if condition is other and {value, other_value} == {0, 1}:
                    return both
        return both | {(op, -1)}

    def sides(self, merge: Operation) -> list[Deadness]:
        """What lets each input of a Merge live."""
        sides = [self.of_tensor(tensor) for tensor in merge.inputs]
        if not self.reads_around or len(sides) != 2:
            return sides
        for i, (around, inside) in enumerate((sides, sides[::-1])):
            literal = self._innermost(merge.inputs[1 - i], inside - around)
            if around < inside and literal is not None:
                condition, value = literal
                sides[i] = inside - {literal} | {(condition, 1 - value)}
        return sides

    def _innermost(self, tensor: Tensor, literals: Deadness) -> Literal | None:
        """The literal of the first Switch before a tensor that is of one of some conditions."""
        waiting, seen = [tensor], {tensor}
        for earlier in waiting:
            op = earlier.op
            if op.type in SWITCHES:
                literal = (copied_from(op.inputs[1]), earlier.value_index)
                if literal in literals:
                    return literal
            before = [x for x in op.inputs if x not in seen and x.op.type not in ITERATIONS]
            waiting += before
            seen.update(before)
        return None

    def around(self, frame: Frame) -> Deadness:
        """What lets the variables of a loop live in the first iteration."""
        enters = [op for op in frame.of_type(ENTERS) if not op.get_attr("is_constant")]
        return self.deadness[enters[0]] if enters else ALWAYS

    def _lives_together(self, frame: Frame) -> bool:
        """Whether all variables of a loop live, or none, in each iteration and behind it."""
        around = self.around(frame)
        for enter in frame.of_type(ENTERS):
            if not self.deadness[enter] <= around:
                return False
            if not enter.get_attr("is_constant") and self.deadness[enter] != around:
                return False
        conditions = frame.of_type(["LoopCond"])
        if len(conditions) != 1 or self.deadness[conditions[0]] != around:
            return False
        condition = conditions[0].outputs[0]
        ends = ((EXITS, 0), (ITERATIONS, 1))
        return all(
            self.of_tensor(op.inputs[0]) == around | {(condition, value)}
            and all(self.deadness[x] <= around | {(condition, value)} for x in op.control_inputs)
            for types, value in ends
            for op in frame.of_type(types)
        )


def variable_of(tensor: Tensor) -> Operation | None:
    """The operation of the variable that a tensor is a handle of, or a reference to."""
    seen: set[Tensor] = set()
    while tensor not in seen:
        seen.add(tensor)
        op = tensor.op
        if op.type in (*VARIABLES, "VarHandleOp"):
            return op
        is_reference = tensor.is_reference
        if not op.inputs or not (is_reference or tensor.dtype == dtypes.RESOURCE):
            return None
        if op.type in MERGES:
            variables = {variable_of(t) for t in op.inputs if t.op.type not in ITERATIONS}
            return next(iter(variables)) if len(variables) == 1 else None
        if not is_reference and op.type not in _PASSING:
            return None
        tensor = op.inputs[0]
    return None


def constant_of(tensor: Tensor) -> np.ndarray | None:
    """The value of a tensor that is a constant's wherever it is alive."""
    while tensor.op.type in _PASSING and tensor.op.type not in (*MERGES, *ITERATIONS):
        if tensor.value_index and tensor.op.type not in SWITCHES:
            return None
        tensor = tensor.op.inputs[0]
    if tensor.op.type != "Const":
        return None
    return tensor.op.get_attr("value")
