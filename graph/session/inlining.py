"""Functions as instructions of their caller's program: loops, branches and calls in machine code.

A function can when the shapes of all it computes are known; what has no instructions is a step in
Python among them. Another one is run by Python as a plan of its own (kernels/control.py).

Variables that a function writes have a value before: which branch is taken, and whether a loop has
an iteration, is not known while compiling.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...engine.families import control
from ...engine.families.elementwise import elementwise
from ...engine.plan.buffer import Buffer, arena, constant, persistent
from ...schema import dtypes, errors
from ..core.calls import call_type, called_function
from ..core.graph import Operation
from ..core.shapes import is_static
from ..emit.growing_memory import grows
from ..emit.list_buffer import ListBuffer, NotNative, materialized, memory_of, moved
from .compiling import Compiler
from .inlined_loops import Loop
from .recording import Emitted, Recording, called, items_of, parts_of, protect, storages

if TYPE_CHECKING:
    from ..core.signatures.attributes import FunctionRef
    from .stage import Stage as PlanStage


def inline(
    caller: Compiler, stage: PlanStage, op: Operation, position: int
) -> Sequence[Buffer] | None:
    """The results of an operation that calls functions; None where Python has to run them."""
    way = WAYS.get(call_type(op))
    if way is None:
        return None
    try:
        return way(caller, stage, op, position)
    except (NotNative, errors.OpError):  # said when it is run, if it ever is
        return None


def _recorded(
    caller: Compiler,
    stage: PlanStage,
    op: Operation,
    position: int,
    references: Sequence[FunctionRef],
    first: int,
) -> list[Recording]:
    """The functions among which an operation chooses, whose arguments begin at input `first`."""
    behind = caller.in_use(stage, position)
    while True:
        recordings: list[Recording] = []
        for reference in references:
            body, operands = called(caller, stage, op, reference, first)
            free = {items_of(x) for x in operands if isinstance(x, ListBuffer)} - behind
            recordings.append(Recording(caller, body, operands, storages(operands) - free))
        if not protect(caller, stage, op, position, recordings):
            return recordings


def _call(caller: Compiler, stage: PlanStage, op: Operation, position: int) -> list[Buffer]:
    """The function's instructions."""
    reference = called_function(op) or op.get_attr("f")
    (recording,) = _recorded(caller, stage, op, position, [reference], 0)
    recording.emit(stage.program)
    return recording.values


def _branch(caller: Compiler, stage: PlanStage, op: Operation, position: int) -> list[Buffer]:
    """The instructions of both functions; a condition that is known chooses now."""
    flag = stage.operands[op.inputs[0]]
    if flag.dtype != np.bool_ or flag.ndim:
        raise NotNative
    branches: list[FunctionRef] = [op.get_attr("then_branch"), op.get_attr("else_branch")]
    chosen = None if flag.value is None else int(not flag.value)
    return _chosen(caller, stage, op, position, branches, chosen, lambda: [flag])


def _case(caller: Compiler, stage: PlanStage, op: Operation, position: int) -> list[Buffer]:
    """The instructions of all functions; an index out of range chooses the last one."""
    index = stage.operands[op.inputs[0]]
    branches = op.get_attr("branches")
    others = range(len(branches) - 1)

    def flags() -> list[Buffer]:
        results = [arena((), np.bool_) for _ in others]
        for i, out in enumerate(results):
            number = constant(np.array(i, index.dtype))
            elementwise(stage.program, "compare.equal", (index, number), out)
        return results

    chosen = None
    if index.value is not None:
        chosen = int(index.value) if int(index.value) in others else len(others)
    return _chosen(caller, stage, op, position, branches, chosen, flags)


def _chosen(
    caller: Compiler,
    stage: PlanStage,
    op: Operation,
    position: int,
    branches: Sequence[FunctionRef],
    chosen: int | None,
    flags: Callable[[], list[Buffer]],
) -> list[Buffer]:
    """The results of the branch that is `chosen`, or of that whose flag is the first that holds."""
    if chosen is not None:
        branches = branches[chosen : chosen + 1]
    recordings = _recorded(caller, stage, op, position, branches, 1)
    if len(recordings) == 1:
        recordings[0].emit(stage.program)
        return recordings[0].values
    if any(tensor.dtype == dtypes.RESOURCE for x in recordings for tensor in x.outputs):
        raise NotNative
    outs = [_joined(recordings, i) for i in range(len(op.outputs))]
    bodies = [
        Emitted(x, [part for value in x.values for part in parts_of(value)]) for x in recordings
    ]
    parts = [part for out in outs for part in parts_of(out)]
    control.switch(stage.program, flags(), bodies, parts)
    return list(outs)


def _joined(recordings: Sequence[Recording], i: int) -> Buffer:
    """Where a result of any of the functions goes; NotNative where they give unlike ones.

    What one of them does not have, only the others' gradients read.
    """
    present = [x.values[i] for x in recordings if not x.is_absent(i)]
    model = present[0] if present else recordings[0].values[i]
    for recording in recordings:
        if recording.is_absent(i) and present:
            recording.values[i] = persistent(model.shape, model.dtype)
        x = recording.values[i]
        if (x.shape, x.dtype) != (model.shape, model.dtype):
            raise NotNative
    if isinstance(model, ListBuffer):
        return _joined_list(recordings, i)
    if model.dtype.hasobject:
        raise NotNative
    return persistent(model.shape, model.dtype)


def _joined_list(recordings: Sequence[Recording], i: int) -> ListBuffer:
    """The list that any of the functions gives, each of which puts its own where it belongs.

    That is where the list is before, if one of them changes it there.
    """
    values = [recording.values[i] for recording in recordings]
    listed = [x for x in values if isinstance(x, ListBuffer)]
    model = next((x for x in listed if is_static(x.element)), listed[0])
    kinds = {(x.element_dtype, x.inner) for x in listed if x.items is not None or x.length != 0}
    elements = {x.element for x in listed if is_static(x.element)}
    has_levels = any(x.levels for x in listed)
    if has_levels or len(listed) < len(values) or len(kinds) > 1 or len(elements) != 1:
        raise NotNative
    lengths = {x.length for x in listed}
    may_grow = len(lengths) > 1 or not isinstance(model.length, int) or any(x.grows for x in listed)
    alike = [x if is_static(x.element) else _empty_like(model) for x in listed]
    places = {items_of(x) for x in alike}
    items = alike[0].items if len(places) == 1 else None
    others = {items_of(x) for r in recordings for j, x in enumerate(r.values) if j != i}
    for recording, x in zip(recordings, alike, strict=True):
        is_free = items_of(x) in recording.before - recording.fixed - others
        if items is None and is_free:
            items = x.items
    if items is None or grows(items) != may_grow:
        if isinstance(model.length, int) and is_static(model.element) and not may_grow:
            items = persistent((model.length, *model.element), model.element_dtype)
        else:
            items = memory_of(model)
    for recording, x in zip(recordings, alike, strict=True):
        program = recording.stage.program
        if may_grow:
            x = x if items_of(x) is items.storage else moved(program, x, items)
            x = ListBuffer(x.element_dtype, x.element, x.count, x.items, inner=x.inner)
        recording.values[i] = materialized(program, x)
    length = persistent((), np.int32) if may_grow else model.length
    return ListBuffer(model.element_dtype, model.element, length, items, inner=model.inner)


def _empty_like(x: ListBuffer) -> ListBuffer:
    """A list of such elements as another one has, without any."""
    return ListBuffer(x.element_dtype, x.element, 0, inner=x.inner)


def _loop(caller: Compiler, stage: PlanStage, op: Operation, position: int) -> list[Buffer]:
    """A loop's instructions."""
    return Loop(caller, stage, op, position).results()


WAYS = {
    "Case": _case,
    "If": _branch,
    "PartitionedCall": _call,
    "StatefulPartitionedCall": _call,
    "StatelessCase": _case,
    "StatelessIf": _branch,
    "StatelessWhile": _loop,
    "SymbolicGradient": _call,
    "While": _loop,
}
"""How operations that call functions are compiled."""
