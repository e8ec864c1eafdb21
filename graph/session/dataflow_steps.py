"""The steps of a frame: what runs on the values of one iteration, of which dead ones are None."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np

from ...engine.plan.buffer import PERSISTENT
from ...schema import dtypes
from ..core.operation_errors import failed
from ..format.dataflow_graph import constant_of, variable_of
from .executor import Plan
from .plan_pool import PlanPool
from .plan_variables import REFERENCES

if TYPE_CHECKING:
    from ..core.graph import Operation, Tensor
    from .executor import Times
    from .state import State

Values: TypeAlias = "list[np.ndarray | None]"
ALIVE = np.empty((), object)
"""In the place of an operation that ran, and of a handle of a variable."""
MAX_PLANS = 32
"""Plans kept for one group, one for each set of shapes."""


class Runnable(Protocol):
    """A step."""

    def run(self, values: Values, times: Times | None) -> None:
        """Runs where all it needs is alive."""
        ...


class Iterated(Protocol):
    """The steps of a loop."""

    nexts: list[tuple[list[int], list[int]]]

    def empty(self) -> Values:
        """Places without values."""
        ...

    def run_once(self, values: Values, times: Times | None) -> None:
        """Runs one iteration."""
        ...


def _is_alive(values: Values, slots: Sequence[int]) -> bool:
    return all(values[i] is not None for i in slots)


class Forward:
    """Hands on its first input."""

    def __init__(self, inputs: Sequence[int], outputs: Sequence[int]):
        self.inputs, self.outputs = inputs, outputs

    def run(self, values: Values, times: Times | None) -> None:
        """Does nothing where something is dead."""
        if _is_alive(values, self.inputs):
            for i in self.outputs:
                values[i] = values[self.inputs[0]]


class Trigger:
    """Lets what waits for it run, whatever is dead."""

    def __init__(self, output: int):
        self.output = output

    def run(self, values: Values, times: Times | None) -> None:
        """Is alive."""
        values[self.output] = ALIVE


class Switch:
    """Hands its first input on to the output that its second one chooses."""

    def __init__(self, op: Operation, inputs: Sequence[int], outputs: Sequence[int]):
        self.op, self.inputs, self.outputs = op, inputs, outputs

    def run(self, values: Values, times: Times | None) -> None:
        """Leaves the other output dead."""
        if not _is_alive(values, self.inputs):
            return
        condition = values[self.inputs[1]]
        assert condition is not None  # it is alive
        if condition.ndim:
            sizes = ",".join(map(str, condition.shape))
            words = f"The second input must be a scalar, but it has shape [{sizes}]"
            raise failed(self.op, words)
        values[self.outputs[int(bool(condition))]] = values[self.inputs[0]]
        values[self.outputs[2]] = ALIVE


class Merge:
    """Gives the first of its inputs that is alive, and which it is."""

    def __init__(self, inputs: Sequence[int], outputs: Sequence[int]):
        self.inputs, self.outputs = inputs, outputs

    def run(self, values: Values, times: Times | None) -> None:
        """Is dead where all inputs are."""
        for index, i in enumerate(self.inputs):
            if values[i] is not None:
                value, which, itself = self.outputs
                values[value], values[itself] = values[i], ALIVE
                values[which] = np.array(index, np.int32)
                return


class Group:
    """Operations that live under the same conditions, compiled as a run of their own.

    Args:
        state: What the Session keeps.
        n_threads: How many threads share the instructions.
        members: The operations, in order.
        inputs: The slots of what they read from others.
        waits: The slots of what they wait for.
        outputs: The slots of what others read.
        awaited: The slots of those that others wait for.
        fetched: The outputs that the run is asked for.
        is_repeated: Whether it may run more than once in a run, so that what it gives is copied.
    """

    def __init__(
        self,
        state: State,
        n_threads: int,
        members: Sequence[Operation],
        inputs: Mapping[Tensor, int],
        waits: Sequence[int],
        outputs: Mapping[Tensor, int],
        awaited: Sequence[int],
        fetched: Collection[Tensor],
        is_repeated: bool,
    ):
        self.state, self.n_threads, self.members = state, n_threads, list(members)
        self.is_repeated = is_repeated
        self.needs = [*inputs.values(), *waits]
        self.handles: dict[Tensor, Operation] = {}
        self.known: dict[Tensor, np.ndarray] = {}
        self.inputs: dict[Tensor, int] = {}
        for tensor, slot in inputs.items():
            variable, value = variable_of(tensor), constant_of(tensor)
            if variable is not None:
                self.handles[tensor] = variable
            elif value is not None:
                self.known[tensor] = value
            else:
                self.inputs[tensor] = slot
        is_handle = {tensor: variable_of(tensor) is not None for tensor in outputs}
        self.outputs = {t: slot for t, slot in outputs.items() if not is_handle[t]}
        self.alive = [*awaited, *(slot for t, slot in outputs.items() if is_handle[t])]
        self.references = {t: outputs[t] for t in fetched if is_handle[t] and t.is_reference}
        self.plans: PlanPool[tuple[tuple[tuple[int, ...], np.dtype], ...]] = PlanPool(MAX_PLANS)

    def run(self, values: Values, times: Times | None) -> None:
        """Runs all members where all they need is alive."""
        if not _is_alive(values, self.needs):
            return
        feeds: dict[Tensor, np.ndarray] = {}
        for tensor, slot in self.inputs.items():
            array = values[slot]
            assert array is not None  # it is alive
            feeds[tensor] = np.ascontiguousarray(array).reshape(array.shape)
        key = tuple((array.shape, array.dtype) for array in feeds.values())
        plan = self.plans.take(key)
        if plan is None or plan.is_stale:
            plan = self._plan(feeds)
        assert isinstance(plan, Plan)  # nothing else comes into this pool
        try:
            results = plan.fetch(feeds, times)
            for tensor, slot in self.outputs.items():
                array = results[tensor]
                values[slot] = array.copy() if self._is_overwritten(plan, tensor) else array
        finally:
            self.plans.give_back(key, plan)
        for slot in self.alive:
            values[slot] = ALIVE
        for tensor, slot in self.references.items():
            values[slot] = results[tensor]

    def _plan(self, feeds: Mapping[Tensor, np.ndarray]) -> Plan:
        shapes = {tensor: (array.shape, array.dtype) for tensor, array in feeds.items()}
        with self.state.lock:
            return Plan(
                self.state,
                [*self.outputs, *self.references],
                shapes,
                self.n_threads,
                operations=self.members,
                handles=self.handles,
                known=self.known,
            )

    def _is_overwritten(self, plan: Plan, tensor: Tensor) -> bool:
        """Whether others may write the memory of a result while it is read.

        What was read from a reference variable is its memory, and is to show what is assigned.
        """
        buffer = plan.reached.operands[tensor]
        if buffer.storage.kind == PERSISTENT and _reads_reference(tensor):
            return False
        return self.is_repeated or buffer.storage.kind == PERSISTENT


def _reads_reference(tensor: Tensor) -> bool:
    while not tensor.is_reference:
        if tensor.op.type != "Identity" or tensor.dtype == dtypes.RESOURCE:
            return False
        tensor = tensor.op.inputs[0]
    variable = variable_of(tensor)
    return variable is not None and variable.type in REFERENCES


class Loop:
    """All iterations of a loop.

    Args:
        state: What the Session keeps.
        level: What an iteration runs.
        enters: For each value that comes in the slots it needs and fills, and whether it stays.
        exits: For each one that goes out the slots it needs within, and those it fills outside.
    """

    def __init__(
        self,
        state: State,
        level: Iterated,
        enters: Sequence[tuple[Sequence[int], Sequence[int], bool]],
        exits: Sequence[tuple[Sequence[int], Sequence[int]]],
    ):
        self.state, self.level, self.enters, self.exits = state, level, enters, exits

    def run(self, values: Values, times: Times | None) -> None:
        """Iterates as long as something goes on to the next iteration."""
        level, check = self.level, self.state.control.check
        lasting = level.empty()
        first: dict[int, np.ndarray | None] = {}
        for needs, slots, stays in self.enters:
            if _is_alive(values, needs):
                for slot in slots:
                    if stays:
                        lasting[slot] = values[needs[0]]
                    else:
                        first[slot] = values[needs[0]]
        carried = first
        while True:
            check()
            inner = lasting.copy()
            for slot, value in carried.items():
                inner[slot] = value
            level.run_once(inner, times)
            for needs, slots in self.exits:
                if _is_alive(inner, needs):
                    for slot in slots:
                        values[slot] = inner[needs[0]]
            carried = {
                slot: inner[needs[0]]
                for needs, slots in level.nexts
                if _is_alive(inner, needs)
                for slot in slots
            }
            if not carried:
                return
