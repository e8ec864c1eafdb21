"""Functions as instructions that their caller's program can take, and what they read and give."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...engine.plan.buffer import Buffer, Storage, constant
from ...engine.plan.program import Program
from ...engine.run.stages import Stage
from ...schema import dtypes
from ..core.function_graph import ABSENT
from ..core.graph import Operation, Tensor
from ..core.registry import Row
from ..emit.list_buffer import ListBuffer, NotNative
from .compiling import Compiler
from .kernels.control import Body, body_of
from .plan_variables import ASSIGNMENTS, runs_functions
from .stage import Site, StageVariables

if TYPE_CHECKING:
    from ..core.signatures.attributes import FunctionRef
    from .stage import Stage as PlanStage

MAX_INLINED = 4096
"""Operations that one function, with all it calls, may add to its caller's program."""
UNUSED = constant(np.zeros(0, np.uint8))
"""In the place of a result that nobody needs."""


class Recording(Compiler):
    """The operations of a function as instructions that are not part of a program yet.

    Args:
        caller: What compiles the operation that calls it.
        body: The function.
        operands: Its arguments.
        fixed: Memory that it must not change.
        outputs: Which of its results are needed; all by default.

    Attributes:
        before: The memory of its arguments.
        values: The results; `UNUSED` in the place of those that are not wanted, and of handles.

    Raises:
        NotNative: Something of it has to be done by Python.
    """

    def __init__(
        self,
        caller: Compiler,
        body: Body,
        operands: Sequence[Buffer],
        fixed: set[Storage],
        outputs: Iterable[int] | None = None,
    ):
        pairs = {t: x for t, x in zip(body.inputs, operands, strict=True) if t is not None}
        positions = range(len(body.outputs)) if outputs is None else sorted(outputs)
        positions = [i for i in positions if body.outputs[i].dtype != dtypes.RESOURCE]
        fetches = [body.outputs[i] for i in positions]
        super().__init__(caller.state, [*fetches, *body.controls], pairs, caller.n_threads)
        if len(self.order) > MAX_INLINED:
            raise NotNative
        self.variables.inherit(caller.variables)
        self._caller = caller
        self.fixed, self.before = fixed, storages(operands)
        program = Program(threads=self.n_threads)
        self.stage: PlanStage = Stage(program, pairs, {}, StageVariables())
        for number, op in enumerate(self.operations):
            program.tag = op
            if not self._add(self.stage, op, number):
                raise NotNative
        touched = self.stage.notes.reads.keys() | self.stage.notes.writes
        if not touched <= self.state.initialized | caller.variables.assigned:
            caller.variables.awaited.update(touched)
            raise NotNative
        self.outputs = body.outputs
        self.values = [UNUSED] * len(body.outputs)
        for i in positions:
            self.values[i] = self.stage.operands[body.outputs[i]]
        caller.variables.buffers.update(self.variables.buffers)
        caller.variables.calls.update(self.variables.calls)
        caller.variables.awaited.update(self.variables.awaited)

    def value_of(self, tensor: Tensor) -> np.ndarray | None:
        """What is known of a tensor while compiling."""
        buffer = self.stage.operands.get(tensor)
        return None if buffer is None else buffer.value

    def is_absent(self, i: int) -> bool:
        """Whether a result only stands for a value that another branch has."""
        return ABSENT in self.outputs[i].op.attrs

    def emit(self, program: Program) -> None:
        """Adds the instructions; once."""
        program.append(self.stage.program)

    def in_use(self, stage: PlanStage, position: int) -> set[Storage]:
        """Also what must not be changed."""
        return super().in_use(stage, position) | self.fixed

    def _inline(
        self, compiler: Compiler, stage: PlanStage, op: Operation, position: int
    ) -> Sequence[Buffer] | None:
        return self._caller._inline(compiler, stage, op, position)

    def _add_one(self, stage: PlanStage, op: Operation, position: int) -> bool:
        if op.type in ASSIGNMENTS:
            variable, value = (stage.operands[tensor] for tensor in op.inputs)
            if variable.shape != value.shape:  # its memory is replaced where that is compiled
                raise NotNative
        return super()._add_one(stage, op, position)

    def _box(self, stage: PlanStage, tensor: Tensor) -> Buffer:
        raise NotNative

    def _add_step(
        self, stage: PlanStage, site: Site, row: Row | None, buffers: Sequence[Buffer]
    ) -> bool:
        if runs_functions(site.op):
            raise NotNative
        return super()._add_step(stage, site, row, buffers)


class Emitted:
    """Values and instructions, as loops and branches of the engine take them."""

    def __init__(self, recording: Recording, values: Sequence[Buffer]):
        self.values = values
        self.emit = recording.emit


def called(
    caller: Compiler, stage: PlanStage, op: Operation, reference: FunctionRef, first: int
) -> tuple[Body, list[Buffer]]:
    """A function that an operation calls, and the operands; NotNative for a recursive one."""
    caller.variables.calls[op] = len(op.inputs), len(op.outputs)
    body = body_of(caller.state, op, reference, op.inputs[first:])
    if body.calls_itself:
        raise NotNative
    return body, [stage.operands[tensor] for tensor in op.inputs[first:]]


def protect(
    caller: Compiler,
    stage: PlanStage,
    op: Operation,
    position: int,
    recordings: Iterable[Recording],
) -> bool:
    """Copies what was read from variables that functions write, for those who read it later.

    Gives whether the functions have to be recorded anew, as such a copy is among the operands.
    """
    operands = [stage.operands[tensor] for tensor in op.inputs]
    for recording in recordings:
        caller.variables.protect_all(stage, recording.stage.notes.writes, position)
    return any(stage.operands[t] is not x for t, x in zip(op.inputs, operands, strict=True))


def storages(buffers: Iterable[Buffer]) -> set[Storage]:
    """The memory of operands or results."""
    return {
        part.storage
        for buffer in buffers
        for part in (buffer.parts if isinstance(buffer, ListBuffer) else [buffer])
    }


def items_of(x: Buffer) -> Storage | None:
    """The memory of a list's elements."""
    return None if not isinstance(x, ListBuffer) or x.items is None else x.items.storage


def parts_of(x: Buffer) -> list[Buffer]:
    """What an operand or result consists of: a list of several buffers."""
    return x.parts if isinstance(x, ListBuffer) else [x]
