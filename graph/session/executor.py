"""From fetches to programs: what a Session runs.

A plan is a chain of stages (engine/run/stages.py), whose operations compiling.py compiles.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ...engine.plan.buffer import Buffer, bound, constant
from ...engine.run.stages import ReadValue, RunAlone
from ..core.graph import Operation, Tensor
from ..core.hooks import implementation
from .compiling import Compiler, needed
from .delegated import Offer
from .inlining import inline
from .kernels.python import start_function
from .plan_variables import ASSIGNMENTS
from .run_errors import uninitialized
from .run_limits import check_size
from .side_by_side import side_by_side
from .state import State

if TYPE_CHECKING:
    from .delegated import SessionDelegate, Step
    from .stage import Stage as PlanStage

Times: TypeAlias = list[tuple[object, float]]


class Plan(Compiler):
    """Fetches compiled for feeds of certain shapes.

    Args:
        state: The Session's variables.
        fetches: Tensors to compute and operations to run.
        feeds: Shape and dtype of each fed tensor.
        n_threads: How many threads share the instructions.
        delegates: Who may run parts of it.
        operations: What to run, in which order; all that `fetches` need, else.
        handles: The variables' operations for tensors that are handles of them.
        known: The values of tensors that are constants.

    Attributes:
        report: What the delegates took; None without delegates.

    Raises:
        InvalidArgumentError: A placeholder is not fed, or shapes do not go together.
        UnimplementedError: An operation has no kernel.
    """

    def __init__(
        self,
        state: State,
        fetches: Sequence[Tensor | Operation],
        feeds: Mapping[Tensor, tuple[tuple[int, ...], np.dtype]],
        n_threads: int = 1,
        delegates: Sequence[SessionDelegate] = (),
        operations: Sequence[Operation] | None = None,
        handles: Mapping[Tensor, Operation] | None = None,
        known: Mapping[Tensor, np.ndarray] | None = None,
    ):
        order, self.report = None, None
        if delegates:
            survey = Survey(state, fetches, feeds, n_threads)
            order, self.report = implementation("delegated")(survey.offer(), delegates)
        open_tensors = [*feeds, *(handles or ()), *(known or ())]
        if operations is None:
            operations = needed(fetches, open_tensors)
        operations, groups = side_by_side(operations)
        super().__init__(state, fetches, open_tensors, n_threads, order, operations)
        self._groups = {} if delegates else groups
        for tensor, (shape, _) in feeds.items():
            check_size(state.limits, tensor.op, tensor.name, shape)
        operands = {t: bound(shape, dtype, t.name) for t, (shape, dtype) in feeds.items()}
        first = self._empty(operands, {}, operands)
        for tensor, op in (handles or {}).items():
            first.operands[tensor] = self.variables.variable(first, op, 0)
        for tensor, value in (known or {}).items():
            first.operands[tensor] = constant(value, tensor.name)
        self.first = self.reached = self._stage(first, 0)

    @property
    def positions(self) -> Mapping[Step, int]:
        """Where each operation stands in the run."""
        return self._positions

    @cached_property
    def _positions(self) -> dict[Step, int]:
        return {step: position for position, step in enumerate(self.order)}

    @property
    def is_stale(self) -> bool:
        """Whether a variable was given other memory since."""
        return self.variables.are_stale

    def fetch(
        self, feeds: Mapping[Tensor, np.ndarray], times: Times | None = None
    ) -> dict[Tensor, np.ndarray]:
        """Runs; gives the arrays of the fetched tensors, which the next run overwrites.

        Adds (operation, seconds) of each instruction and step to `times`, if it is given.

        Raises:
            OpError: An operation failed; the message ends with its name.
        """
        self.control = self.state.control
        fed = self.run({**feeds}) if times is None else self.run_timed(times, {**feeds})
        return {tensor: self._value(self.reached, tensor, fed) for tensor in self.fetched}

    def _inline(
        self, compiler: Compiler, stage: PlanStage, op: Operation, position: int
    ) -> Sequence[Buffer] | None:
        return inline(compiler, stage, op, position)

    def _prepare(
        self, stage: PlanStage, position: int
    ) -> ReadValue[Tensor] | RunAlone[Tensor] | None:
        op = self.order[position]
        for member in self._groups.get(op, ()) if isinstance(op, Operation) else ():
            buffers = [self._box(stage, tensor) for tensor in member.inputs]
            for buffer in buffers:
                self.variables.require(stage, member, buffer)
            stage.program.host(partial(start_function, member, self.state), buffers, ())
        return super()._prepare(stage, position)

    def _stage(self, stage: PlanStage, position: int) -> PlanStage:
        with self.state.lock:
            return super()._stage(stage, position)

    def _run_stage(self, stage: PlanStage, fed: dict[Tensor, np.ndarray], resume: bool) -> None:
        for key, op in stage.notes.reads.items():
            if key not in self.state.initialized:
                raise uninitialized(op, key)
        super()._run_stage(stage, fed, resume)
        self.state.initialized |= stage.notes.writes


class Survey(Plan):
    """A run prepared for its sizes alone: it gets no memory and is not run."""

    _is_surveyed = True

    def offer(self) -> Offer:
        """What delegates may take of it."""
        first = self.first
        return Offer(self.operations, first.stop, first.operands, set(self.fetched), self.n_threads)

    def _prepare(
        self, stage: PlanStage, position: int
    ) -> ReadValue[Tensor] | RunAlone[Tensor] | None:
        op = self.order[position]
        if isinstance(op, Operation) and op.type in ASSIGNMENTS:
            variable, value = (stage.operands[tensor] for tensor in op.inputs)
            if variable.shape != value.shape:  # its memory is replaced where that is compiled
                return RunAlone(op, op.inputs, op.outputs, lambda *arrays: ())
        return super()._prepare(stage, position)

    def _close(self, stage: PlanStage, readable: set[Tensor]) -> None:
        """Nothing has to be ready."""
