"""Runs with branches and loops as TensorFlow 1 writes them, of Switch, Merge and frames.

The operations between those of control flow that live under the same conditions are a group, which
is compiled as any run is (executor.py), once for each set of shapes. A frame runs its groups,
switches and merges in an order that never changes; what misses something alive is left out. One
iteration ends before the next begins, as with parallel_iterations=1.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING
from weakref import finalize

from ...schema import errors
from ..core.calls import refuse_expansion
from ..core.graph import Operation, Tensor
from ..core.hooks import hook
from ..core.order import ordered
from ..format.dataflow_graph import (
    CONTROL,
    ENTERS,
    EXITS,
    ITERATIONS,
    MERGES,
    SWITCHES,
    TRIGGER,
    ControlFlow,
    Frame,
    has_control_flow,
    reached,
)
from ..format.functionalize import functionalize
from .compiling import needed
from .dataflow_steps import Forward, Group, Loop, Merge, Switch, Trigger
from .devices import require_local_jobs
from .exchanges import TAKING, exchanging, scheduled
from .executor import Plan, Times
from .plan_pool import RunPlan
from .run_limits import check_counts
from .state import State

if TYPE_CHECKING:
    import numpy as np

    from ..format.dataflow_graph import Deadness
    from ..format.functionalize import Functional
    from .dataflow_steps import Runnable, Values
    from .delegated import DelegationReport, SessionDelegate, Step

    Feeds = Mapping[Tensor, tuple[tuple[int, ...], np.dtype]]
    Unit = Operation | Frame | tuple[int, Deadness]
    """A step of a frame: an operation, a loop within, or a group by its depth and deadness."""


@hook("plan")
def plan_of(
    state: State,
    fetches: Sequence[Tensor | Operation],
    feeds: Feeds,
    n_threads: int = 1,
    delegates: Sequence[SessionDelegate] = (),
) -> RunPlan:
    """Fetches compiled; delegates take no part of what has loops or branches of TensorFlow 1."""
    operations = needed(fetches, feeds)
    if not has_control_flow(operations):
        return Plan(state, fetches, feeds, n_threads, delegates, operations)
    operations = reached(fetches, feeds)
    check_counts(state.limits, operations)
    flow = ControlFlow(operations, feeds)
    _check_fetches(fetches, feeds, flow)
    functional = functionalize(flow, fetches, feeds)
    if functional is None:
        return DataflowPlan(state, fetches, flow, n_threads)
    return FunctionalPlan(state, fetches, feeds, n_threads, functional)


def run_plan_of(
    state: State,
    fetches: Sequence[Tensor | Operation],
    feeds: Feeds,
    n_threads: int,
    delegates: Sequence[SessionDelegate],
) -> RunPlan:
    """`plan_of` for a session's run, of which other processes may run parts; not for functions."""
    operations = needed(fetches, feeds)
    refuse_expansion(operations, allows_recursion=True)
    if state.task is None:
        require_local_jobs(operations)
    if state.task is not None and state.is_elsewhere(operations):
        from .cluster.spread import SpreadPlan  # sockets are for clusters alone

        return SpreadPlan(state, fetches, feeds, n_threads, operations)
    return plan_of(state, fetches, feeds, n_threads, delegates)


def _check_fetches(
    fetches: Iterable[Tensor | Operation], feeds: Collection[Tensor], flow: ControlFlow
) -> None:
    """Raises InvalidArgumentError for a fetch within a loop."""
    for tensor in _tensors(fetches):
        if tensor not in feeds and flow.frame_behind(tensor.op) is not flow.root:
            frame = flow.frame_behind(tensor.op).name
            words = f"{tensor.name} is within the loop '{frame}' and cannot be fetched"
            raise errors.InvalidArgumentError(None, tensor.op, words)


class FunctionalPlan:
    """Fetches of a graph whose branches and loops have become functions.

    Attributes:
        positions: Where operations stand in the run.
    """

    report: DelegationReport | None = None

    def __init__(
        self,
        state: State,
        fetches: Sequence[Tensor | Operation],
        feeds: Feeds,
        n_threads: int,
        functional: Functional,
    ):
        self._tensors = functional.tensors
        self._fetched = _tensors(fetches)
        state.origins.update(functional.origins)
        items: list[Tensor | Operation] = []
        for item in fetches:
            if isinstance(item, Tensor):
                items.append(functional.tensors[item])
            else:
                items += functional.operations.get(item, [])
        shapes = {functional.tensors[tensor]: shape for tensor, shape in feeds.items()}
        self._plan = Plan(state, items, shapes, n_threads)
        finalize(self, state.forget, [*functional.origins])

    @property
    def positions(self) -> Mapping[Step, int]:
        """Where each operation stands in the run."""
        return self._plan.positions

    @property
    def is_stale(self) -> bool:
        """Whether a variable was given other memory since."""
        return self._plan.is_stale

    def fetch(
        self, feeds: Mapping[Tensor, np.ndarray], times: Times | None = None
    ) -> dict[Tensor, np.ndarray]:
        """Runs; gives the arrays of the fetched tensors, which the next run overwrites.

        Raises:
            OpError: An operation failed; the message ends with its name.
        """
        known = self._tensors
        arrays = self._plan.fetch({known[tensor]: x for tensor, x in feeds.items()}, times)
        return {tensor: arrays[known[tensor]] for tensor in self._fetched}


class DataflowPlan:
    """Fetches of a graph with Switch, Merge and frames, executed as they stand there."""

    report: DelegationReport | None = None
    is_stale = False

    def __init__(
        self,
        state: State,
        fetches: Sequence[Tensor | Operation],
        flow: ControlFlow,
        n_threads: int,
    ):
        self.state, self.n_threads, self.flow = state, n_threads, flow
        self.positions: dict[Step, int] = {op: i for i, op in enumerate(self.flow.order)}
        self.fetched = {item: i for i, item in enumerate(_tensors(fetches))}
        self.level = Level(self, self.flow.root)

    def fetch(
        self, feeds: Mapping[Tensor, np.ndarray], times: Times | None = None
    ) -> dict[Tensor, np.ndarray]:
        """Runs; gives the arrays of the fetched tensors.

        Raises:
            InvalidArgumentError: One of them is dead.
            OpError: An operation failed; the message ends with its name.
        """
        slots, values = self.level.slots, self.level.empty()
        for tensor, array in feeds.items():
            if tensor in slots:
                values[slots[tensor]] = array
        self.level.run_once(values, times)
        results: dict[Tensor, np.ndarray] = {}
        for tensor, i in self.fetched.items():
            value = feeds[tensor] if tensor in feeds else values[slots[tensor]]
            if value is None:
                words = f"Retval[{i}] does not have value"
                raise errors.InvalidArgumentError(None, None, words)
            results[tensor] = value
        return results


class Level:
    """The steps of one frame, and where its values lie while an iteration runs.

    Attributes:
        slots: The slot of each tensor, and of each operation that others wait for.
    """

    def __init__(self, plan: DataflowPlan, frame: Frame):
        self.plan, self.frame, self.flow = plan, frame, plan.flow
        self.slots: dict[Tensor | Operation, int] = {}
        self.steps: list[Runnable] = []
        self._units: dict[Operation, Unit] = {}
        self._members: dict[Unit, list[Operation]] = {}
        self._sort()
        for unit in self._ordered():
            self.steps.append(self._step(unit))
        self.nexts = [(self.needs(op), self.outputs(op)) for op in frame.of_type(ITERATIONS)]

    def empty(self) -> Values:
        """Places without values."""
        return [None] * len(self.slots)

    def run_once(self, values: Values, times: Times | None) -> None:
        """Runs one iteration on what it gets."""
        for step in self.steps:
            step.run(values, times)

    def slot(self, item: Tensor | Operation) -> int:
        """The slot of a value, or of the completion of an operation."""
        return self.slots.setdefault(item, len(self.slots))

    def needs(self, op: Operation, n_inputs: int | None = None) -> list[int]:
        """The slots that must be alive for an operation to run."""
        items: list[Tensor | Operation] = [*op.inputs[:n_inputs], *self.waits(op)]
        return [self.slot(item) for item in items]

    def waits(self, op: Operation) -> list[Operation]:
        """The operations of the run that an operation waits for, and does not get by a feed."""
        return [x for x in op.control_inputs if x in self.flow.frames]

    def outputs(self, op: Operation) -> list[int]:
        """The slots of the results of an operation, and of itself."""
        return [self.slot(item) for item in (*op.outputs, op)]

    def _unit_of(self, op: Operation) -> Unit | None:
        """The step by which something comes about; None for what comes from outside."""
        frame = self.flow.frames[op]
        if frame is self.frame:
            return self._units.get(op)
        return frame if op.type in EXITS else None

    def _sort(self) -> None:
        """Puts operations into groups: of equal deadness, with no other step in between.

        What may wait for others of the run is a group of its own.
        """
        apart = (*ENTERS, *EXITS, *ITERATIONS)
        inside = {
            op: op
            for op in self.flow.order
            if self.flow.frames[op] is self.frame and op.type not in apart
        }

        def before(item: Operation | Frame) -> list[Operation | Frame]:
            operations = item.of_type(ENTERS) if isinstance(item, Frame) else [item]
            reads = (x for op in operations for x in self.flow.before(op))
            items = (self.flow.frames[x] if x.type in EXITS else inside.get(x) for x in reads)
            return [x for x in items if x is not None and x is not item]

        takers = {op for op in inside if any(x.type in TAKING for x in exchanging([op]))}
        depths: dict[Operation | Frame, int] = {}
        for item in ordered([*inside, *self.frame.children], before):
            is_step = isinstance(item, Frame) or item.type in CONTROL or item.type == TRIGGER
            depth = 0
            for other in before(item):
                is_apart = isinstance(other, Frame) or isinstance(self._units[other], Operation)
                is_apart = is_apart or other in takers
                depth = max(depth, depths[other] + int(is_apart and not is_step))
            depths[item] = depth
            if isinstance(item, Frame):
                continue
            if is_step:
                self._units[item] = item
                continue
            alone: Deadness = frozenset([(item, -1)] if item in takers else [])
            unit = self._units[item] = (depth, self.flow.deadness[item] | alone)
            self._members.setdefault(unit, []).append(item)

    def _ordered(self) -> list[Unit]:
        """The steps, each behind what it needs."""
        members = {unit: [unit] for unit in self._units.values() if isinstance(unit, Operation)}
        listed: dict[Unit, list[Operation]] = {**members, **self._members}
        listed |= {frame: frame.of_type(ENTERS) for frame in self.frame.children}

        def before(unit: Unit) -> list[Unit]:
            units = [self._unit_of(x) for op in listed[unit] for x in self.flow.before(op)]
            return [x for x in units if x is not None and x != unit]

        return scheduled([*listed], before, lambda unit: listed[unit])

    def _step(self, unit: Unit) -> Runnable:
        if isinstance(unit, Frame):
            return self._loop(unit)
        if isinstance(unit, tuple):
            return self._group(self._members[unit])
        if unit.type == TRIGGER:
            return Trigger(self.slot(unit))
        if unit.type in SWITCHES:
            return Switch(unit, self.needs(unit), self.outputs(unit))
        if unit.type in MERGES:
            inputs = [self.slot(tensor) for tensor in unit.inputs]
            return Merge(inputs, self.outputs(unit))
        return Forward(self.needs(unit), self.outputs(unit))

    def _group(self, members: Sequence[Operation]) -> Group:
        inside = set(members)
        inputs = dict.fromkeys(t for op in members for t in op.inputs if t.op not in inside)
        inputs |= dict.fromkeys(t for op in members for t in op.inputs if t in self.flow.fed)
        waits = dict.fromkeys(x for op in members for x in self.waits(op) if x not in inside)
        outputs = [
            tensor
            for op in members
            for tensor in op.outputs
            if tensor not in self.flow.fed
            and (
                tensor in self.plan.fetched
                or any(x in self.flow.frames and x not in inside for x in tensor.consumers())
            )
        ]
        awaited = [
            op for op in members if any(x not in inside for x in self.flow.waiting.get(op, ()))
        ]
        return Group(
            self.plan.state,
            self.plan.n_threads,
            members,
            {tensor: self.slot(tensor) for tensor in inputs},
            [self.slot(op) for op in waits],
            {tensor: self.slot(tensor) for tensor in outputs},
            [self.slot(op) for op in awaited],
            [tensor for tensor in outputs if tensor in self.plan.fetched],
            is_repeated=self.frame is not self.flow.root,
        )

    def _loop(self, frame: Frame) -> Loop:
        inner = Level(self.plan, frame)
        enters = [
            (self.needs(op), inner.outputs(op), bool(op.get_attr("is_constant")))
            for op in frame.of_type(ENTERS)
        ]
        exits = [(inner.needs(op), self.outputs(op)) for op in frame.of_type(EXITS)]
        return Loop(self.plan.state, inner, enters, exits)


def _tensors(fetches: Iterable[Tensor | Operation]) -> list[Tensor]:
    return list(dict.fromkeys(item for item in fetches if isinstance(item, Tensor)))
