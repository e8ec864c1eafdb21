"""Variables in a plan: when they are read and written, and what is copied before.

What was read through the handle of a resource variable is a value: it stays when the variable is
written. What was read from a reference variable, by Identity, Reshape and their like, is its
memory: who has to wait for a write sees what was written, and so does who fetches it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from math import inf, prod
from typing import TYPE_CHECKING, cast

import numpy as np

from ...engine.families.layout import move
from ...engine.plan.buffer import Buffer, Storage, arena
from ...engine.plan.program import Program
from ...schema import dtypes
from ..core.calls import CALLS, call_type
from ..core.graph import Operation, Tensor
from ..core.operation_errors import failed
from ..core.order import data_and_control_inputs
from ..core.registry import row_of
from ..core.shapes import Shape, is_static, shown
from .exchanges import with_called
from .run_errors import uninitialized
from .state import State

if TYPE_CHECKING:
    from .delegated import Step
    from .stage import Stage

REFERENCES = ("Variable", "VariableV2")
VARIABLES = (*REFERENCES, "VarHandleOp")
ASSIGNMENTS = ("Assign", "AssignVariableOp")
QUESTIONS = ("IsVariableInitialized", "VarIsInitializedOp")
READS = ("ReadVariableOp",)
CALLERS = (
    *(*CALLS, "Case", "If", "StatelessCase", "StatelessIf", "StatelessWhile"),
    *("SymbolicGradient", "While"),
)
"""Operations that run functions, which may write variables."""


class PlanVariables:
    """The variables that a plan uses.

    Args:
        state: The Session's variables.
        order: The plan's operations, and parts of delegates.
        last_use: Where in the plan's order each tensor is read last.
        put_off: Operations that run later than where they stand: with which one each.
    """

    def __init__(
        self,
        state: State,
        order: Sequence[Step],
        last_use: Mapping[Tensor, float],
        put_off: Mapping[Operation, Operation],
    ):
        self.state = state
        self.last_use = last_use
        self._order, self._put_off = order, put_off
        self._references: set[str] = set()
        self._passed_on: set[str] = set()
        self._operations: dict[Storage, Operation] = {}
        self._is_for_one_run = False
        self.buffers: dict[str, Buffer] = {}
        self.assigned: set[str] = set()
        self.calls: dict[Operation, tuple[int, int]] = {}
        self.awaited: set[str] = set()

    @cached_property
    def _positions(self) -> dict[Operation, int]:
        """Where each operation stands in the plan's order."""
        return {
            op: i
            for i, step in enumerate(self._order)
            for op in ([step] if isinstance(step, Operation) else step.operations)
        }

    @property
    def are_stale(self) -> bool:
        """Whether the memory of one was replaced, or a call changed by gradients, since.

        Also where one of those got its value without which a function is run by Python (`awaited`).
        """
        if self._is_for_one_run or (self.awaited and self.awaited <= self.state.initialized):
            return True
        current = self.state.buffers
        return any(current.get(key) is not buffer for key, buffer in self.buffers.items()) or any(
            (len(op.inputs), len(op.outputs)) != sizes for op, sizes in self.calls.items()
        )

    def require(self, stage: Stage, op: Operation, buffer: Buffer) -> None:
        """Notes that `op` reads a variable, which must have a value by then."""
        key = self.state.key_of(buffer.storage)
        if runs_functions(op):
            self.calls[op] = len(op.inputs), len(op.outputs)
            if key is not None and any(is_handle(t) for t in op.inputs):
                self._passed_on.add(key)
                position = self._positions[op] if key in self._references else -1
                self.protect(stage, buffer, position)  # the function may write it
                if key in self.assigned:  # and reads what this run has written
                    stage.program.host(partial(self.state.initialized.add, key), (), ())
                return
        if key is None or key in self.assigned:
            return
        if key in self._passed_on and key not in self.state.initialized:
            stage.program.host(partial(self._check, op, key), (), ())
        else:
            stage.notes.reads.setdefault(key, op)

    def _check(self, op: Operation, key: str) -> None:
        """Raises an error where a variable still has no value, though a function might write it."""
        if key not in self.state.initialized:
            raise uninitialized(op, key)

    def inherit(self, caller: PlanVariables) -> None:
        """Takes over what is known of variables where a function of this plan's is called."""
        self.assigned |= caller.assigned
        self._references |= caller._references

    def protect_all(self, stage: Stage, keys: Iterable[str], position: int) -> None:
        """Notes that the operation at `position` may write variables; does what `protect` does."""
        for key in keys:
            before = position if key in self._references else position - 1
            self.protect(stage, self.state.buffers[key], before)
            stage.notes.writes.add(key)

    def written(self, stage: Stage, buffer: Buffer) -> None:
        """Notes that a variable has a value from here on."""
        key = self.state.key_of(buffer.storage)
        if key is not None:
            self.assigned.add(key)
            stage.notes.writes.add(key)

    def protect(self, stage: Stage, target: Buffer, position: int) -> None:
        """Copies what was read from a variable and still has readers, before it is written.

        Of a reference variable only for readers that do not wait for the write.
        """
        key = self.state.key_of(target.storage)
        copies: dict[tuple[tuple[int, ...], int], Buffer] = {}
        for tensor, buffer in stage.operands.items():
            if buffer.storage is not target.storage or is_handle(tensor):
                continue
            if self.last_use.get(tensor, -1) > position:
                if key in self._references and self._sees_write(tensor, buffer, position):
                    continue
                place = (buffer.shape, buffer.offset)
                if place not in copies:
                    copies[place] = self._copied(stage, buffer)
                stage.operands[tensor] = copies[place]

    def _sees_write(self, tensor: Tensor, buffer: Buffer, position: int) -> bool:
        """Whether a read of a reference variable has a reader that waits for a write.

        The write is the operation at `position`. What is fetched is looked at when all is done.
        """
        if buffer.nbytes != buffer.storage.nbytes:
            return False
        positions = self._positions
        readers = [op for op in tensor.consumers() if op in positions]
        ends = [(op, self._put_off[op]) for op in readers if op in self._put_off]
        if any(positions[op] < position < positions[end] for op, end in ends):
            return False
        if self.last_use[tensor] == inf:
            return True
        write, seen = self._order[position], set[Operation]()
        waiting = [op for op in readers if positions[op] > position]
        while waiting:
            op = waiting.pop()
            if op is write:
                return True
            if op not in seen and positions.get(op, inf) > position:
                seen.add(op)
                waiting += data_and_control_inputs(op)
        return False

    def _copied(self, stage: Stage, buffer: Buffer) -> Buffer:
        copy = arena(buffer.shape, buffer.dtype)
        copy_rows(stage.program, buffer, copy)
        return copy

    def variable(self, stage: Stage, op: Operation, position: int) -> Buffer:
        """The memory of a variable; of one without a declared shape once it has a value."""
        key, shape, dtype = self.state.variable_key(op), op.get_attr("shape"), op.get_attr("dtype")
        buffer = self.state.buffers.get(key)
        was_reshaped = op.type in REFERENCES and key in self.state.initialized
        if is_static(shape) and not (was_reshaped and buffer is not None):
            buffer = self.state.buffer(key, shape, dtype)
        elif buffer is None or buffer.dtype != dtype:
            buffer = self.state.buffer(key, (0,), dtype)
        if op.type in REFERENCES:
            self._references.add(key)
        self.buffers[key] = buffer
        self._operations[buffer.storage] = op
        return buffer

    def may_resize(self, op: Operation, buffers: Iterable[Buffer]) -> bool:
        """Whether what an operation calls may give a variable among its operands another shape.

        Whether it does is known when it has run, so that the plan is for one run.
        """
        operations = (self._operations.get(buffer.storage) for buffer in buffers)
        if all(x is None or is_static(x.get_attr("shape")) for x in operations):
            return False
        may = any(x.type in ASSIGNMENTS for x in with_called([op]))
        self._is_for_one_run |= may
        return may

    def _handle(self, stage: Stage, tensor: Tensor, position: int) -> Buffer:
        """The memory of a variable; what it has now, where a function gave it another shape."""
        buffer = stage.operands[tensor]
        op = self._operations.get(buffer.storage)
        if op is None or self.state.key_of(buffer.storage) is not None:
            return buffer
        key = self.state.variable_key(op)
        before = self.buffers[key]
        fresh = self.variable(stage, op, position)
        self.buffers[key] = before  # what was read before lies there: the plan is for one run
        for handle, other in list(stage.operands.items()):
            if other.storage is buffer.storage and is_handle(handle):
                stage.operands[handle] = fresh
        return fresh

    def assign(self, stage: Stage, op: Operation, position: int) -> list[Buffer]:
        """Gives a variable a value; other memory when the shape is another one."""
        handle, value = self._handle(stage, op.inputs[0], position), stage.operands[op.inputs[1]]
        self.require(stage, op, value)
        self.protect(stage, handle, position)
        key = self.state.key_of(handle.storage)
        if key is None:
            raise failed(op, "Assign takes a variable")
        if handle.shape != value.shape:
            self._check_shape(op, handle, value)
            handle = self._resized(stage, key, handle, value)
        if value.storage is not handle.storage:
            copy_rows(stage.program, value, handle)
        self.written(stage, handle)
        return [handle] if op.outputs else []

    def _resized(self, stage: Stage, key: str, handle: Buffer, value: Buffer) -> Buffer:
        """The memory of a variable that gets another shape: its own where that is as large.

        What was read before stays where it was, so that the plan is for one run.
        """
        was_read = key in stage.notes.reads
        if key in self._references and prod(handle.shape) == prod(value.shape):
            fresh = self.state.reshaped(key, value.shape)
        else:
            fresh = self.state.buffer(key, value.shape, value.dtype)
        if was_read:
            self.state.initialized.add(key)
        else:
            self.buffers[key] = fresh
        for tensor, buffer in list(stage.operands.items()):
            if buffer.storage is handle.storage and is_handle(tensor):
                stage.operands[tensor] = fresh
        return fresh

    def _check_shape(self, op: Operation, handle: Buffer, value: Buffer) -> None:
        declared = cast("Shape", op.inputs[0].op.attrs.get("shape"))
        validates = is_static(declared) if op.type != "Assign" else op.get_attr("validate_shape")
        if validates:
            raise failed(
                op,
                f"Assign requires shapes of both tensors to match. lhs shape= "
                f"{shown(handle.shape)} rhs shape= {shown(value.shape)}",
            )

    def read(self, stage: Stage, op: Operation, position: int) -> Buffer:
        """What a variable holds now; no copy unless it is written before the last reader."""
        buffer = self._handle(stage, op.inputs[0], position)
        self.require(stage, op, buffer)
        return buffer

    def question(self, stage: Stage, op: Operation, position: int) -> Buffer:
        """Whether a variable has a value."""
        key = self.state.key_of(stage.operands[op.inputs[0]].storage)
        out, assigned = arena((), np.bool_), key in self.assigned

        def step(target: np.ndarray) -> None:
            target[...] = assigned or key in self.state.initialized

        stage.program.host(step, (), (out,))
        return out


HANDLERS: dict[str, Callable[[PlanVariables, Stage, Operation, int], Buffer | Sequence[Buffer]]] = {
    **dict.fromkeys(VARIABLES, PlanVariables.variable),
    **dict.fromkeys(ASSIGNMENTS, PlanVariables.assign),
    **dict.fromkeys(QUESTIONS, PlanVariables.question),
    **dict.fromkeys(READS, PlanVariables.read),
}
"""How the operations on variables are compiled: (variables, stage, operation, position)."""


def is_about_variables(op: Operation) -> bool:
    """Whether an operation makes, reads or writes a variable."""
    row = row_of(op.type)
    return op.type in HANDLERS or (row is not None and bool(row.writes))


def copy_rows(program: Program, source: Buffer, target: Buffer) -> None:
    """Adds what copies a buffer to another one of its shape."""
    if source.dtype.hasobject:
        program.host(_copy, (source,), (target,))
    else:
        move(program, source, target)


def _copy(source: np.ndarray, target: np.ndarray) -> None:
    target[...] = source


def runs_functions(op: Operation) -> bool:
    """Whether an operation calls functions, also as its type is the name of one."""
    return call_type(op) in CALLERS


def is_handle(tensor: Tensor) -> bool:
    """Whether a tensor stands for a variable rather than for a value of it."""
    return tensor.dtype == dtypes.RESOURCE or tensor.is_reference
