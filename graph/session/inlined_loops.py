"""Loops as instructions of their caller's program.

while c(x): x = f(x)        becomes      c; leave; head; f; x = ...; c; leave; branch to head
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Sequence
from math import ceil, prod
from typing import TYPE_CHECKING

import numpy as np

from ...engine.families import control
from ...engine.plan.buffer import Buffer, Storage, arena, constant, persistent
from ...schema import dtypes
from ..core.graph import Operation, Tensor
from ..core.shapes import is_static
from ..emit import nested_lists
from ..emit.growing_memory import grows
from ..emit.list_buffer import (
    MAX_LIST_BYTES,
    ListBuffer,
    NotNative,
    materialized,
    memory_of,
    moved,
)
from .compiling import Compiler, needed
from .kernels.control import Body
from .recording import Emitted, Recording, called, items_of, parts_of, protect, storages

if TYPE_CHECKING:
    from ...engine.plan.program import Program
    from .stage import Stage as PlanStage

MAX_PASSES = 8
"""How often a loop is compiled until what is known of its lists stays the same."""

COMPARISONS = {"Greater": (-1, 0), "GreaterEqual": (-1, 1), "Less": (1, 0), "LessEqual": (1, 1)}
"""By the type of a condition: in which direction a counter comes to its limit, and whether an
iteration begins with it there.
"""


class Loop:
    """A loop while it is compiled.

    Attributes:
        live: The places of the variables that something depends on.
        changing: Those that the body gives another value.
        bound: How many iterations there are at most, None where nothing says so.
        is_exact: Whether it ends after as many in any case.
        growing: The places of lists whose number of elements nothing bounds.
        separate: Of them, those that need other memory than before the loop.
        shared: Those that lie in memory that others read later.
    """

    def __init__(self, caller: Compiler, stage: PlanStage, op: Operation, position: int):
        self.caller, self.stage, self.op, self.position = caller, stage, op, position
        self.condition, _ = called(caller, stage, op, op.get_attr("cond"), 0)
        self.body, self.operands = called(caller, stage, op, op.get_attr("body"), 0)
        pairs = [*zip(self.body.inputs, self.body.outputs, strict=True)]
        same = {i for i, (x, y) in enumerate(pairs) if x is y or y.dtype == dtypes.RESOURCE}
        self.live = self._live(same)
        self.changing = [i for i in sorted(self.live) if i not in same]
        self.bound: int | None = None
        self.is_exact = False
        self.growing, self.separate, self.shared = set[int](), set[int](), set[int]()
        self.memory: dict[int, Buffer] = {}

    def _live(self, same: set[int]) -> set[int]:
        """What the condition reads, what is read behind the loop, and what these depend on."""
        last_use = self.caller.last_use
        waiting = {i for i, output in enumerate(self.op.outputs) if output in last_use}
        waiting |= _read_by(self.condition, [*self.condition.outputs, *self.condition.controls])
        waiting |= _read_by(self.body, self.body.controls)
        live: set[int] = set()
        while waiting:
            i = waiting.pop()
            live.add(i)
            if i not in same:
                waiting |= _read_by(self.body, [self.body.outputs[i]]) - live
        return live

    def results(self) -> list[Buffer]:
        """Adds the instructions; gives the variables after the loop."""
        program = self.stage.program
        starts, grown = {i: self.operands[i] for i in self.changing}, dict[int, int]()
        behind = self.caller.in_use(self.stage, self.position)
        for _ in range(MAX_PASSES):
            carried = {
                i: self._carried(i, start, grown.get(i, 0), behind) for i, start in starts.items()
            }
            check, iteration = self._record(carried)
            if protect(self.caller, self.stage, self.op, self.position, (check, iteration)):
                self.operands = [self.stage.operands[tensor] for tensor in self.op.inputs]
                starts = {i: self.operands[i] for i in self.changing}
                continue
            after = {i: iteration.values[i] for i in self.changing}
            learned = {i: _learned(starts[i], after[i]) for i in self.changing}
            n_pushed = {i: x.n_pushed for i, x in after.items() if isinstance(x, ListBuffer)}
            pushed = {i: n for i, n in n_pushed.items() if n}
            before = len(self.growing) + len(self.separate)
            self._note_memory(carried, after)
            is_same = before == len(self.growing) + len(self.separate)
            if is_same and pushed == grown and all(learned[i] is starts[i] for i in self.changing):
                break
            starts, grown = learned, pushed
        else:
            raise NotNative
        self._require_kinds(carried, after)
        initial = {i: self._initial(program, starts[i], carried[i]) for i in self.changing}
        parts = [[parts_of(x[i]) for i in self.changing] for x in (initial, carried, after)]
        first, during, later = ([p for part in column for p in part] for column in parts)
        again = self._check(carried)
        body = Emitted(iteration, later)
        control.loop(program, first, during, check, body, again)
        for i, start in starts.items():
            self._note_length(start, carried[i], grown.get(i, 0))
        results = {i: self._after(i, buffer, iteration) for i, buffer in carried.items()}
        return [results.get(i, operand) for i, operand in enumerate(self.operands)]

    def _record(self, carried: dict[int, Buffer]) -> tuple[Recording, Recording]:
        check = self._check(carried)
        operands = [carried.get(i, x) for i, x in enumerate(self.operands)]
        fixed = storages(x for i, x in enumerate(self.operands) if i not in carried)
        fixed |= storages(carried[i] for i in self.shared)
        iteration = Recording(self.caller, self.body, operands, fixed, self.changing)
        self._find_bound(check, iteration)
        return check, iteration

    def _check(self, carried: dict[int, Buffer]) -> Recording:
        operands = [carried.get(i, x) for i, x in enumerate(self.operands)]
        check = Recording(self.caller, self.condition, operands, storages(operands))
        flag = check.values[0]
        if flag.dtype != np.bool_ or flag.ndim:
            raise NotNative
        return check

    def _carried(self, i: int, start: Buffer, n_pushed: int, behind: Container[Storage]) -> Buffer:
        """Memory for a variable; a list of which too little is known has none."""
        if not isinstance(start, ListBuffer):
            if start.dtype.hasobject:
                raise NotNative
            return arena(start.shape, start.dtype)
        if start.levels:
            return self._carried_levels(i, start, n_pushed, behind)
        if not is_static(start.element):
            if n_pushed:
                raise NotNative
            return ListBuffer(start.element_dtype, start.element, start.length, inner=start.inner)
        capacity, length = self._capacity(start, n_pushed), start.length
        nbytes = (
            0 if capacity is None else capacity * prod(start.element) * start.element_dtype.itemsize
        )
        if capacity is None or i in self.growing or start.grows or nbytes > MAX_LIST_BYTES:
            items, length = self._memory(i, start, n_pushed, behind), persistent((), np.int32)
        else:
            if (n_pushed and isinstance(length, int)) or isinstance(length, Buffer):
                length = arena((), np.int32)
            items = arena((capacity, *start.element), start.element_dtype)
        return ListBuffer(start.element_dtype, start.element, length, items, inner=start.inner)

    def _carried_levels(
        self, i: int, start: ListBuffer, n_pushed: int, behind: Container[Storage]
    ) -> ListBuffer:
        """A list of lists of any lengths, which stays in its memory."""
        is_read = any(part.storage in behind for part in start.parts)
        if i in self.separate or (is_read and n_pushed > 0):
            raise NotNative
        self.growing.add(i)
        if is_read:
            self.shared.add(i)
        return nested_lists.carried(start)

    def _capacity(self, start: ListBuffer, n_pushed: int) -> int | None:
        """For how many elements there has to be room; None where nothing says that."""
        if n_pushed <= 0:
            if start.items is not None:
                return start.items.shape[0]
            return start.length if isinstance(start.length, int) else None
        if self.bound is None or not isinstance(start.length, int):
            return None
        return start.length + n_pushed * self.bound

    def _memory(
        self, i: int, start: ListBuffer, n_pushed: int, behind: Container[Storage]
    ) -> Buffer:
        """Memory that grows for a list: what it has before the loop, where that may be changed.

        What others read later stays there as long as the iterations only take elements off it.
        """
        self.growing.add(i)
        self.shared.discard(i)
        before = start.items if start.grows else None
        if before is not None and i not in self.separate:
            if before.storage not in behind:
                return before
            if n_pushed <= 0:
                self.shared.add(i)
                return before
        if i not in self.memory:
            self.memory[i] = memory_of(start)
        return self.memory[i]

    def _note_memory(self, carried: dict[int, Buffer], after: dict[int, Buffer]) -> None:
        """Notes which lists grow, and which cannot stay where they are before the loop."""
        places = Counter(items_of(carried[i]) for i in self.growing)
        for i, x in after.items():
            if isinstance(x, ListBuffer) and x.grows:
                is_alone = i not in self.growing or places[items_of(carried[i])] == 1
                if i in self.growing and not (is_alone and items_of(x) is items_of(carried[i])):
                    self.separate.add(i)
                self.growing.add(i)

    def _initial(self, program: Program, start: Buffer, carried: Buffer) -> Buffer:
        """What is moved to a variable's memory before the loop."""
        if not isinstance(carried, ListBuffer):
            return start
        assert isinstance(start, ListBuffer) and carried.items is not None
        if carried.levels:
            return nested_lists.counted(start)
        if carried.grows:
            in_place = start.items is not None and start.items.storage is carried.items.storage
            whole = start if in_place else moved(program, start, carried.items)
            return ListBuffer(whole.element_dtype, whole.element, whole.count, whole.items)
        whole = materialized(program, start, carried.items.shape[0])
        assert whole.items is not None
        if whole.items.shape != carried.items.shape:
            items = arena(carried.items.shape, carried.items.dtype)
            control.move_all(program, [whole.items], [items.part(0, whole.items.shape[0])])
            whole.items = items
        if isinstance(carried.length, Buffer) and isinstance(whole.length, int):
            length = constant(np.int32(whole.length))
            whole = ListBuffer(
                whole.element_dtype, whole.element, length, whole.items, inner=whole.inner
            )
        return whole

    def _require_kinds(self, carried: dict[int, Buffer], after: dict[int, Buffer]) -> None:
        """The body must give what it was given, in kind."""
        for i, x in carried.items():
            if _kinds(x) != _kinds(after[i]):
                raise NotNative
            places = [[part.storage for part in parts_of(y) if grows(part)] for y in (x, after[i])]
            if places[0] != places[1]:
                raise NotNative

    def _note_length(self, start: Buffer, carried: Buffer, n_pushed: int) -> None:
        """A list that grows by the same in each of a known number of iterations has its length."""
        is_bounded = self.is_exact and self.bound is not None
        if is_bounded and isinstance(carried, ListBuffer) and not carried.grows:
            assert isinstance(start, ListBuffer) and self.bound is not None
            if isinstance(start.length, int):
                carried.length = start.length + n_pushed * self.bound
        if isinstance(carried, ListBuffer):
            carried.n_pushed = 0

    def _find_bound(self, check: Recording, iteration: Recording) -> None:
        """Finds a counter that a number limits in the condition."""
        self.bound, self.is_exact = None, False
        tensors, parts = [self.condition.outputs[0]], 0
        while tensors:
            op = tensors.pop().op
            if op.type in ("Identity", "LogicalAnd"):
                tensors += op.inputs
                continue
            parts += 1
            n = self._iterations(op, check, iteration) if op.type in COMPARISONS else None
            if n is not None:
                self.bound = n if self.bound is None else min(n, self.bound)
        self.is_exact = self.bound is not None and parts == 1

    def _iterations(self, op: Operation, check: Recording, iteration: Recording) -> int | None:
        """How often a counter is on the one side of its limit."""
        place = _place(self.condition, op.inputs[0])
        limit = check.value_of(op.inputs[1])
        if place is None or limit is None or limit.ndim or place not in self.changing:
            return None
        start, step = self.operands[place].value, self._step(place, iteration)
        sign, includes_limit = COMPARISONS[op.type]
        if start is None or start.ndim or step is None or sign * step <= 0:
            return None
        distance = sign * (int(limit) - int(start)) + includes_limit
        return max(0, ceil(distance / abs(step)))

    def _step(self, place: int, iteration: Recording) -> int | None:
        """What every iteration adds to a variable; None where that is not always the same."""
        after = self.body.outputs[place]
        while after.op.type == "Identity":
            after = after.op.inputs[0]
        if after.dtype not in (np.int32, np.int64) or after.op.type not in ("Add", "AddV2", "Sub"):
            return None
        values = [iteration.value_of(tensor) for tensor in after.op.inputs]
        positions = [_place(self.body, tensor) for tensor in after.op.inputs]
        sign = -1 if after.op.type == "Sub" else 1
        if place not in positions[: 1 if sign < 0 else 2]:
            return None
        step = values[1 - positions.index(place)]
        return None if step is None or step.ndim else sign * int(step)

    def _after(self, i: int, carried: Buffer, iteration: Recording) -> Buffer:
        """A variable behind the loop: a number where it counts iterations of which all is known."""
        start, step = self.operands[i].value, self._step(i, iteration)
        if self.bound is None or not self.is_exact or carried.shape:
            return carried
        if start is not None and step is not None:
            total = int(start) + step * self.bound
            limits = np.iinfo(carried.dtype.name)
            if limits.min <= total <= limits.max:
                return constant(np.array(total, carried.dtype))
        return carried


def _learned(start: Buffer, after: Buffer) -> Buffer:
    """What a variable is before the loop, with the shape of elements that the body gives."""
    if not (isinstance(start, ListBuffer) and isinstance(after, ListBuffer)):
        return start
    if after.levels and not start.levels:
        if start.items is not None or start.length != 0:
            raise NotNative
        return nested_lists.empty(after.levels)
    if start.levels or start.element == after.element or not is_static(after.element):
        return start
    return ListBuffer(
        after.element_dtype,
        after.element,
        start.length,
        start.items,
        start.written,
        inner=after.inner,
    )


def _place(body: Body, tensor: Tensor) -> int | None:
    while tensor.op.type == "Identity":
        tensor = tensor.op.inputs[0]
    return body.inputs.index(tensor) if tensor in body.inputs else None


def _read_by(body: Body, fetches: Sequence[Tensor | Operation]) -> set[int]:
    """The places of the arguments that some results depend on."""
    positions = {tensor: i for i, tensor in enumerate(body.inputs) if tensor is not None}
    read = {positions[tensor] for tensor in fetches if tensor in positions}
    for op in needed(fetches, positions):
        read |= {positions[tensor] for tensor in op.inputs if tensor in positions}
    return read


def _kinds(x: Buffer) -> list[tuple[tuple[int, ...], np.dtype]]:
    if isinstance(x, ListBuffer) and x.items is None:
        raise NotNative
    return [(part.shape, part.dtype) for part in parts_of(x)]
