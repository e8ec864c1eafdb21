"""A run divided among the tasks of a cluster, and the parts of it that a process runs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ....schema.dtypes import RESOURCE, VARIANT
from ....schema.errors import UnimplementedError
from ...core.calls import call_type, with_called
from ...core.device_spec import DeviceSpec
from ...core.graph import Operation, Tensor
from ..executor import Plan
from ..plan_pool import PlanPool
from ..plan_variables import CALLERS, READS, is_handle

if TYPE_CHECKING:
    import numpy as np

    from ..state import State

READERS = (*READS, *CALLERS, "ResourceGather", "ResourceGatherNd", "VariableShape")
"""Operations that only read resource variables, themselves or in functions."""
MAX_PLANS = 64
"""Compiled parts that are kept for a session."""


class Place(NamedTuple):
    """A task of a cluster."""

    job: str
    task: int

    @property
    def name(self) -> str:
        """As devices name it."""
        return f"/job:{self.job}/replica:0/task:{self.task}"


class Part(NamedTuple):
    """What a task runs without waiting for others in between.

    Attributes:
        place: The task.
        operations: What to run, in this order.
        feeds: The tensors that come from elsewhere.
        results: The tensors that others read, or that are fetched.
    """

    place: Place
    operations: list[Operation]
    feeds: list[Tensor]
    results: list[Tensor]


def divided(
    operations: Sequence[Operation],
    fetches: Iterable[Tensor | Operation],
    feeds: Iterable[Tensor],
    place_of: Callable[[Operation], Place],
) -> list[list[Part]]:
    """The parts of a run, one list after the other; those of a list need not wait for one another.

    A part is what stands on one task behind as many changes from task to task. What only stands for
    a variable, queue or table is of no part: it goes with those that use it.

    Args:
        operations: What the run needs, each behind what it reads and waits for.
        fetches: What is fetched.
        feeds: What is fed.
        place_of: The task that runs an operation.

    Raises:
        UnimplementedError: An operation would use what another task keeps, other than to read a
            variable.
    """
    division = _Division(operations, set(feeds), place_of)
    exported = {item for item in fetches if isinstance(item, Tensor)} | division.crossing()
    exported -= division.fed
    for tensor in exported:
        if tensor.op in division.storages:
            division.members.setdefault((0, division.places[tensor.op]), [])
    parts: dict[int, list[Part]] = {}
    for (level, place), members in sorted(division.members.items(), key=lambda item: item[0]):
        parts.setdefault(level, []).append(division.part(place, level, members, exported))
    return [parts[level] for level in sorted(parts)]


class _Division:
    """Where the operations of a run stand, and behind how many changes from task to task.

    Attributes:
        fed: The tensors that are fed.
        places: The task of each operation.
        storages: Operations that only stand for what their task keeps.
        levels: Behind how many changes each operation stands.
        members: The other operations, by level and task.
    """

    def __init__(
        self,
        operations: Sequence[Operation],
        fed: set[Tensor],
        place_of: Callable[[Operation], Place],
    ):
        self.fed, self._operations = fed, operations
        self.places: dict[Operation, Place] = {}
        self.storages: set[Operation] = set()
        self.levels: dict[Operation, int] = {}
        self.members: dict[tuple[int, Place], list[Operation]] = {}
        for op in operations:
            place = self.places[op] = self._place(op, place_of)
            read = [tensor for tensor in op.inputs if tensor not in fed]
            for tensor in read:
                if self.places[tensor.op] != place:
                    _check_use(op, tensor)
            before = [tensor.op for tensor in read]
            before += [other for other in op.control_inputs if other in self.levels]
            level = max(
                (self.levels[other] + (self.places[other] != place) for other in before), default=0
            )
            self.levels[op] = level
            if self._stands_for_storage(op, place):
                self.storages.add(op)
            else:
                self.members.setdefault((level, place), []).append(op)

    def _place(self, op: Operation, place_of: Callable[[Operation], Place]) -> Place:
        """The task of an operation: what changes a variable, queue or table stands where that is.

        So does what reads one, where its device leaves the task open.
        """
        if call_type(op) not in READERS or DeviceSpec.from_string(op.device or "").job is None:
            for tensor in op.inputs:
                if tensor.op in self.storages and _is_used(op, tensor):
                    return self.places[tensor.op]
        return place_of(op)

    def _stands_for_storage(self, op: Operation, place: Place) -> bool:
        """Whether an operation only stands for a variable, a queue or a table.

        What Identity reads of a reference variable is its memory, to which later parts may write.
        """
        if op.type == "Identity" and not op.control_inputs and op.inputs[0].is_reference:
            source = op.inputs[0].op
            return source in self.storages and self.places[source] == place
        return not op.inputs and any(map(is_handle, op.outputs))

    def crossing(self) -> set[Tensor]:
        """The tensors that one part computes and another one reads."""
        return {
            tensor
            for op in self._operations
            for tensor in op.inputs
            if tensor not in self.fed
            and (
                self.places[tensor.op] != self.places[op]
                or (tensor.op not in self.storages and self.levels[tensor.op] != self.levels[op])
            )
        }

    def part(
        self, place: Place, level: int, members: Sequence[Operation], exported: Iterable[Tensor]
    ) -> Part:
        """One part, with what it is fed and what it gives."""
        inside = set(members)
        read = [t for op in members for t in op.inputs if t.op not in inside and t not in self.fed]
        used = [t for t in read if t.op in self.storages and self._is_within(t, place)]
        results = [tensor for tensor in exported if tensor.op in inside]
        if level == 0:
            variables = [
                t for t in exported if t.op in self.storages and self.places[t.op] == place
            ]
            used += variables
            results += variables
        storages = dict.fromkeys(
            op for t in used for op in (*(source.op for source in t.op.inputs), t.op)
        )
        feeds = dict.fromkeys(t for op in members for t in op.inputs if t in self.fed)
        feeds |= dict.fromkeys(
            t for t in read if t.op not in storages or self.places[t.op] != place
        )
        return Part(place, [*storages, *members], [*feeds], results)

    def _is_within(self, tensor: Tensor, place: Place) -> bool:
        """Whether a part has the operation that stands for a tensor, or a copy of it."""
        return self.places[tensor.op] == place or is_mirrored(tensor)


def is_mirrored(tensor: Tensor) -> bool:
    """Whether a part that reads a variable of another task has a copy of it."""
    return tensor.dtype == RESOURCE


def _is_used(op: Operation, tensor: Tensor) -> bool:
    """Whether an operation takes what a tensor stands for rather than its value."""
    arguments = () if op.signature is None else op.signature.inputs
    return tensor.dtype == RESOURCE or (
        tensor.is_reference and any(argument.is_reference for argument in arguments)
    )


def _check_use(op: Operation, tensor: Tensor) -> None:
    """Raises UnimplementedError where an operation does more than read what another task keeps."""
    if not _is_used(op, tensor) and tensor.dtype != VARIANT:
        return
    users = (x for x in with_called([op]) if any(t.dtype == RESOURCE for t in x.inputs))
    if tensor.op.type == "VarHandleOp" and all(call_type(x) in READERS for x in users):
        return
    raise UnimplementedError(
        None,
        op,
        f"'{op.name}' ({op.type}) on {op.device or 'the task of the session'} uses "
        f"'{tensor.op.name}', which is kept on {tensor.op.device or 'that task'}: put both on one "
        "task",
    )


class PartRunner:
    """Runs parts in this process.

    Args:
        state: What they keep.
        n_threads: How many threads share the instructions.
        refused: Types of operations that it does not run.
    """

    def __init__(self, state: State, n_threads: int, refused: Collection[str] = ()):
        self.state, self.n_threads = state, n_threads
        self._refused = refused
        self._plans: PlanPool[object] = PlanPool(MAX_PLANS)

    def run(
        self,
        operations: Sequence[Operation],
        results: Sequence[Tensor],
        feeds: Mapping[Tensor, np.ndarray],
    ) -> dict[Tensor, np.ndarray]:
        """The results of a part, in arrays of their own.

        Raises what `Plan.fetch` does, and UnimplementedError for an operation that is refused.
        """
        mirrors = {tensor: array for tensor, array in feeds.items() if is_mirrored(tensor)}
        for tensor, array in mirrors.items():
            self.state.write(self.state.variable_key(tensor.op), array)
        variables = [tensor for tensor in results if is_mirrored(tensor)]
        values = {t: self.state.value(self.state.variable_key(t.op)) for t in variables}
        feeds = {tensor: array for tensor, array in feeds.items() if tensor not in mirrors}
        results = [tensor for tensor in results if tensor not in values]
        shapes = {tensor: (array.shape, array.dtype) for tensor, array in feeds.items()}
        key = (tuple(operations), tuple(results), tuple(shapes.items()))
        plan = self._plans.take(key)
        try:
            if plan is None or plan.is_stale:
                self._check(operations)
                with self.state.lock:
                    plan = Plan(self.state, results, shapes, self.n_threads, operations=operations)
            arrays = plan.fetch(feeds)
            return values | {tensor: arrays[tensor].copy() for tensor in results}
        finally:
            if plan is not None:
                self._plans.give_back(key, plan)

    def _check(self, operations: Sequence[Operation]) -> None:
        for op in with_called(operations) if self._refused else ():
            if op.type in self._refused:
                raise UnimplementedError(
                    None,
                    op,
                    f"'{op.name}' ({op.type}) calls a Python function of another process than that "
                    "of its task; put it on the task whose process builds the graph",
                )
